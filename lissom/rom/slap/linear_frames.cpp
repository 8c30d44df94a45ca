#include "lissom/rom/slap/linear_frames.hpp"

#include <Eigen/QR>

#include <algorithm>

#include "lissom/core/polar.hpp"
#include "lissom/linalg/blas.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Matrix3d block_of(const VectorXd& entries) {
  return Eigen::Map<const Matrix3d>(entries.data());
}

// (1, eta) of all states
MatrixXd with_ones(const MatrixXd& states) {
  MatrixXd e(states.rows() + 1, states.cols());
  e.row(0).setOnes();
  e.bottomRows(states.rows()) = states;
  return e;
}

}  // namespace

MatrixXd fit_frame(const MatrixXd& w, const MatrixXd& states, const std::vector<Matrix3d>& missing) {
  constexpr double lambda = 1e-4;
  const Index fields = w.rows() / 3, count = states.cols(), columns = states.rows() + 1;
  MatrixXd delta = MatrixXd::Zero(9, columns);
  if (fields == 0 || count == 0) return delta;
  // rows: the three directions of each state, then the price of c; columns of the right side: those of c'
  const MatrixXd W = product(w, with_ones(states));
  MatrixXd left = MatrixXd::Zero(3 * count + fields, fields), right = MatrixXd::Zero(3 * count + fields, 3);
  for (Index t = 0; t < count; ++t) {
    left.middleRows<3>(3 * t) = W.col(t).reshaped(3, fields);
    right.middleRows<3>(3 * t) = missing[static_cast<size_t>(t)];
  }
  const double largest = left.colwise().norm().maxCoeff();
  if (!(largest > 0)) return delta;
  left.bottomRows(fields).diagonal().setConstant(lambda * largest);
  const MatrixXd c = Eigen::HouseholderQR<MatrixXd>(left).solve(right);
  for (Index q = 0; q < columns; ++q) {
    const Matrix3d own = w.col(q).reshaped(3, fields) * c;
    delta.col(q) = own.reshaped();
  }
  return delta;
}

MatrixXd deformation_amplitudes(const SlapPart& part) {
  const Index s = part.fields.cols();
  if (!part.has_nodes() || s <= 4) return MatrixXd::Zero(0, part.A.cols());
  MatrixXd rigid(part.points.cols(), 4);
  rigid.col(0).setOnes();
  rigid.rightCols<3>() = part.points.transpose();
  rigid.rightCols<3>().rowwise() -= part.points.rowwise().mean().transpose();
  rigid.colwise().normalize();
  const MatrixXd overlap = transposed_product(rigid, MatrixXd(part.fields.rightCols(s - 4)));
  if (overlap.cwiseAbs().maxCoeff() > 1e-9 * part.fields.colwise().norm().maxCoeff())
    return MatrixXd::Zero(0, part.A.cols());
  return part.coefficients.bottomRows(3 * (s - 4));
}

double fit_linear_axes(const SlapPart& part, const MatrixXd& w, const MatrixXd& states, double limit,
                       SlapFrame& frame) {
  const MatrixXd e = with_ones(states);
  std::vector<Matrix3d> missing;
  for (Index t = 0; t < e.cols(); ++t)
    missing.push_back(polar(block_of(frame.moment * e.col(t))).A - block_of(part.A * e.col(t)));
  const MatrixXd delta = fit_frame(w, states, missing);
  double worst = 0;
  for (Index t = 0; t < e.cols(); ++t)
    worst = std::max(worst, (block_of(delta * e.col(t)) - missing[static_cast<size_t>(t)]).norm());
  frame.linear_axes.resize(0, 0);
  if (worst <= limit) frame.linear_axes = part.A + delta;
  return worst;
}

double fit_linear_axes(const SlapModel& model, SlapFrame& frame) {
  const SlapPart& part = model.parts[static_cast<size_t>(frame.part)];
  // far from all states nothing is fitted, and nothing is known
  if (model.training.samples.cols() == 0) return 0;
  return fit_linear_axes(part, deformation_amplitudes(part), model.training.samples, linear_axes_limit,
                         frame);
}

}  // namespace lissom

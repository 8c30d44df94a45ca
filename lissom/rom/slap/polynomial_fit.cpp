#include "lissom/rom/slap/polynomial_fit.hpp"

#include <fmt/format.h>
#include <Eigen/Cholesky>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "lissom/core/error.hpp"
#include "lissom/linalg/tall_svd.hpp"
#include "lissom/rom/slap/linear_frames.hpp"
#include "lissom/rom/slap/slap_kernel.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::VectorXd;
// coefficients are differences of large numbers: rows are added up with more digits, and rounded once
using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using LongMatrix3 = Eigen::Matrix<long double, 3, 3>;

Index monomials_of(Index m) {
  return (m + 1) * (m + 2) / 2;
}

// e_q e_p in the order of SlapPolynomial::monomial
VectorXd monomials_at(const Eigen::Ref<const VectorXd>& eta) {
  const Index m = eta.size();
  VectorXd values(monomials_of(m));
  Index at = 0;
  for (Index q = 0; q <= m; ++q)
    for (Index p = q; p <= m; ++p) values[at++] = (q == 0 ? 1 : eta[q - 1]) * (p == 0 ? 1 : eta[p - 1]);
  return values;
}

// dy/deta (rows by m) of packed rows
MatrixXd slopes_of(const MatrixXd& S, const Eigen::Ref<const VectorXd>& eta) {
  const Index m = eta.size();
  MatrixXd J = MatrixXd::Zero(S.rows(), m);
  Index at = 0;
  for (Index q = 0; q <= m; ++q)
    for (Index p = q; p <= m; ++p, ++at) {
      if (q > 0) J.col(q - 1) += S.col(at) * (p == 0 ? 1 : eta[p - 1]);
      if (p > 0) J.col(p - 1) += S.col(at) * (q == 0 ? 1 : eta[q - 1]);
    }
  return J;
}

// What the fit knows of a part.
struct FittedPart {
  MatrixXd delta;  // 9 by m + 1
  Matrix3d frame(const SlapPart& part, const VectorXd& e) const {
    const VectorXd B = (part.A + delta) * e;
    return Eigen::Map<const Matrix3d>(B.data());
  }
};

LongMatrix3 long_block(const MatrixXd& X, Index q) {
  return Eigen::Map<const Matrix3d>(X.col(q).data()).cast<long double>();
}

// The rows of C (or C_damping) of a part as quadratic forms of e.
LongMatrix rows_of_part(const MatrixXd& C, const SlapPart& part, const FittedPart& fit) {
  const Index n = part.A.cols(), m = n - 1;
  std::vector<LongMatrix3> B, delta;
  for (Index q = 0; q < n; ++q) {
    delta.push_back(long_block(fit.delta, q));
    B.push_back(long_block(part.A, q) + delta.back());
  }
  // c_E is symmetric in all that counts, as the exact kernel takes it
  MatrixXd C_E = C.leftCols(9);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < i; ++j) {
      const VectorXd mean = 0.5 * (C_E.col(3 * i + j) + C_E.col(3 * j + i));
      C_E.col(3 * i + j) = C_E.col(3 * j + i) = mean;
    }
  const LongMatrix of_E = C_E.cast<long double>(), of_R = C.rightCols(C.cols() - 9).cast<long double>();
  LongMatrix S = LongMatrix::Zero(C.rows(), monomials_of(m));
  for (Index q = 0; q < n; ++q)
    for (Index p = q; p < n; ++p) {
      LongMatrix3 strain = 0.5L * (B[q].transpose() * B[p] + B[p].transpose() * B[q]) -
                           B[p].transpose() * delta[q] - B[q].transpose() * delta[p];
      LongMatrix3 of_q = B[p].transpose(), of_p = B[q].transpose();
      if (p == q) strain *= 0.5L;
      if (p == 0) strain.diagonal().array() -= 0.5L;
      const Index at = SlapPolynomial::monomial(q, p, m);
      S.col(at) = of_E * strain.reshaped() + of_R.middleCols(9 * q, 9) * of_q.reshaped();
      if (p != q) S.col(at) += of_R.middleCols(9 * p, 9) * of_p.reshaped();
    }
  return S;
}

LongMatrix stacked(const std::vector<LongMatrix>& blocks, Index columns) {
  Index rows = 0;
  for (const LongMatrix& block : blocks) rows += block.rows();
  LongMatrix all(rows, columns);
  Index first = 0;
  for (const LongMatrix& block : blocks) {
    all.middleRows(first, block.rows()) = block;
    first += block.rows();
  }
  return all;
}

// The same |y|^2 in fewer rows. QR of the rows, never a factor of S'S, which would lose half the digits; then
// only what dy/deta (and y, if it is asked for) needs at the states.
MatrixXd fewer_rows(LongMatrix S, const MatrixXd& states, bool with_y, double cut) {
  const Index m = states.rows(), columns = S.cols();
  constexpr Index most = 60;
  const Index stride = (states.cols() + most - 1) / most;
  if (S.rows() > columns) {
    // each monomial in units of its largest value
    VectorXd largest = VectorXd::Zero(columns);
    for (Index t = 0; t < states.cols(); ++t)
      largest = largest.cwiseMax(monomials_at(states.col(t)).cwiseAbs());
    for (Index k = 0; k < columns; ++k)
      if (!(largest[k] > 0)) largest[k] = 1;
    const Eigen::Matrix<long double, Eigen::Dynamic, 1> scale = largest.cast<long double>();
    const LongMatrix scaled = S * scale.asDiagonal();
    const Eigen::HouseholderQR<LongMatrix> qr(scaled);
    const LongMatrix R = qr.matrixQR().topRows(columns).triangularView<Eigen::Upper>();
    S = R * scale.cwiseInverse().asDiagonal();
  }
  const MatrixXd rounded = S.cast<double>();
  if (cut <= 0) return rounded;
  // each kind relative to its largest
  const Index count = (states.cols() + stride - 1) / stride;
  MatrixXd Y(S.rows(), count * (m + (with_y ? 1 : 0)));
  for (Index i = 0; i < count; ++i) {
    const VectorXd eta = states.col(i * stride);
    const MatrixXd J = slopes_of(rounded, eta);
    for (Index r = 0; r < m; ++r) Y.col(r * count + i) = J.col(r);
    if (with_y) Y.col(m * count + i) = (S * monomials_at(eta).cast<long double>()).cast<double>();
  }
  for (Index kind = 0; kind < Y.cols() / count; ++kind) {
    auto own = Y.middleCols(kind * count, count);
    const double norm = own.colwise().norm().maxCoeff();
    if (norm > 0) own /= norm;
  }
  const TallSvd svd = dense_svd(Y);
  Index rank = 0;
  while (rank < svd.sigma.size() && svd.sigma[rank] > cut * svd.sigma[0]) ++rank;
  const LongMatrix kept = svd.W.leftCols(rank).cast<long double>();
  return (kept.transpose() * S).cast<double>();
}

// z of a part (slap_model.hpp).
VectorXd exact_z(const Matrix3d& E, const Matrix3d& R, const VectorXd& e) {
  VectorXd z(9 * (e.size() + 1));
  z.head<9>() = E.reshaped();
  for (Index q = 0; q < e.size(); ++q) z.segment<9>(9 * (q + 1)) = e[q] * R.reshaped();
  return z;
}

VectorXd with_one(const Eigen::Ref<const VectorXd>& eta) {
  VectorXd e(eta.size() + 1);
  e << 1, eta;
  return e;
}

}  // namespace

struct PolynomialCheck::Impl {
  explicit Impl(const SlapModel& of)
      : model(of), exact(of, false), room(exact), force(of.order()), rest(VectorXd::Zero(of.order())) {}
  const SlapModel& model;
  SlapKernel exact;
  SlapKernel::Room room;
  VectorXd force, rest;
};

PolynomialCheck::PolynomialCheck(const SlapModel& model) : impl_(std::make_unique<Impl>(model)) {
  LISSOM_ASSERT(model.polynomial);
}
PolynomialCheck::~PolynomialCheck() = default;
PolynomialCheck::PolynomialCheck(PolynomialCheck&&) noexcept = default;
PolynomialCheck& PolynomialCheck::operator=(PolynomialCheck&&) noexcept = default;

PolynomialError PolynomialCheck::at(const Eigen::Ref<const VectorXd>& eta) {
  Impl& own = *impl_;
  const SlapModel& model = own.model;
  own.exact.update(eta, own.rest, own.room);
  own.force.setZero();
  own.exact.add_force(own.room, own.force);
  const MatrixXd& S = model.polynomial->S;
  const VectorXd y = S * monomials_at(eta);
  const MatrixXd J = slopes_of(S, eta);
  const VectorXd difference = J.transpose() * y - own.force;
  constexpr double w0 = 2 * std::numbers::pi * 10;
  MatrixXd stiffness = w0 * w0 * model.M;
  stiffness.noalias() += J.transpose() * J;
  // in units of metres, so that those of the coordinates have no say
  const VectorXd scale = model.scale.cwiseInverse();
  stiffness = (scale.asDiagonal() * stiffness * scale.asDiagonal()).eval();
  const Eigen::LDLT<MatrixXd> factor(stiffness);
  PolynomialError error;
  error.displacement = factor.solve(scale.cwiseProduct(difference)).norm();
  const double whole = factor.solve(scale.cwiseProduct(own.force)).norm();
  if (whole > 0) error.relative = error.displacement / whole;
  return error;
}

std::string too_far_for_polynomial(const SlapModel& model, double limit) {
  const SlapPolynomial& form = *model.polynomial;
  Index worst = 0;
  if (form.misfit.maxCoeff(&worst) > polynomial_misfit_limit)
    return fmt::format(
        "body '{}' is strained by up to {:.2g}, {:.2g} of which no frame fits (the limit is {:g})",
        model.parts[static_cast<size_t>(worst)].name, form.strain[worst], form.misfit[worst],
        polynomial_misfit_limit);
  if (form.displacement > limit)
    return fmt::format("it would move nodes by up to {:.2g} m in the training states (the limit is {:.2g} m)",
                       form.displacement, limit);
  return {};
}

void add_polynomial(SlapModel& model, const std::vector<MatrixXd>& w,
                    const Eigen::Ref<const MatrixXd>& states, const PolynomialOptions& options) {
  LISSOM_ASSERT(w.size() == model.parts.size() && states.rows() == model.order() && states.cols() > 0);
  const Index columns = monomials_of(model.order()), count = states.cols();
  SlapPolynomial form;
  form.cut = options.cut;
  form.strain = form.misfit = VectorXd::Zero(static_cast<Index>(model.parts.size()));

  // rotations and strains of all states
  const SlapKernel kernel(model, false);
  SlapKernel::Room room(kernel);
  const VectorXd rest = VectorXd::Zero(model.order());
  std::vector<std::vector<Matrix3d>> R(model.parts.size()), E(model.parts.size());
  for (Index t = 0; t < count; ++t) {
    kernel.update(VectorXd(states.col(t)), rest, room);
    for (size_t p = 0; p < model.parts.size(); ++p) {
      R[p].push_back(kernel.rotation(room, p));
      E[p].push_back(kernel.strain(room, p));
    }
  }

  // a frame for each part, fitted at every second state and looked at in all of them
  const MatrixXd half = states(Eigen::all, Eigen::seqN(0, (count + 1) / 2, 2));
  std::vector<LongMatrix> elastic, damping;
  std::vector<FittedPart> fits;
  for (size_t p = 0; p < model.parts.size(); ++p) {
    const SlapPart& part = model.parts[p];
    std::vector<Matrix3d> missing;
    for (Index t = 0; t < count; t += 2) {
      const auto i = static_cast<size_t>(t);
      missing.push_back(-R[p][i].transpose() * E[p][i]);
    }
    FittedPart fit{fit_frame(w[p], half, missing)};
    for (Index t = 0; t < count; ++t) {
      const auto i = static_cast<size_t>(t);
      const Matrix3d F = R[p][i] * fit.frame(part, with_one(states.col(t))) - Matrix3d::Identity();
      const auto at = static_cast<Index>(p);
      form.strain[at] = std::max(form.strain[at], E[p][i].norm());
      form.misfit[at] = std::max(form.misfit[at], F.norm());
    }
    elastic.push_back(rows_of_part(part.C, part, fit));
    if (part.C_damping.size() > 0) damping.push_back(rows_of_part(part.C_damping, part, fit));
    fits.push_back(std::move(fit));
  }
  const LongMatrix all = stacked(elastic, columns);

  // rows against C z
  double worst = 0, largest = 0;
  for (Index t = 0; t < count; ++t) {
    const VectorXd e = with_one(states.col(t));
    const VectorXd y = (all * monomials_at(states.col(t)).cast<long double>()).cast<double>();
    double squares = 0, errors = 0;
    Index first = 0;
    for (size_t p = 0; p < model.parts.size(); ++p) {
      const MatrixXd& C = model.parts[p].C;
      const auto i = static_cast<size_t>(t);
      const VectorXd exact = C * exact_z(E[p][i], R[p][i], e);
      squares += exact.squaredNorm();
      errors += (y.segment(first, C.rows()) - exact).squaredNorm();
      first += C.rows();
    }
    worst = std::max(worst, errors);
    largest = std::max(largest, squares);
  }
  if (largest > 0) form.row_error = std::sqrt(worst / largest);

  form.S = fewer_rows(all, states, true, options.cut);
  if (!damping.empty()) form.S_damping = fewer_rows(stacked(damping, columns), states, false, options.cut);

  for (SlapFrame& frame : model.frames) {
    if (!frame.rotates()) continue;
    const double arm = frame.arm.norm();
    const double limit = std::min(linear_axes_limit, arm > 0 ? options.tolerance / arm : linear_axes_limit);
    const auto p = static_cast<size_t>(frame.part);
    form.axes_misfit =
        std::max(form.axes_misfit, fit_linear_axes(model.parts[p], w[p], half, limit, frame));
  }

  model.polynomial = std::move(form);
  PolynomialCheck check(model);
  for (Index t = 0; t < count; ++t)
    model.polynomial->displacement =
        std::max(model.polynomial->displacement, check.at(states.col(t)).displacement);
}

}  // namespace lissom

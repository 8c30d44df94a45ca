#include "lissom/rom/slap/slap_space.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>

#include "lissom/cms/gcms_model.hpp"
#include "lissom/core/polar.hpp"
#include "lissom/fe/modes.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/symmetric_eigen.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr int affine_columns = 4;  // fields {1, X}
// rows of C whose part outside of the others is below this say what the others say
constexpr double redundant_row = 1e-10;

// Takes out of F what lies in the span of Q (orthonormal), twice.
void deflate(const MatrixXd& Q, MatrixXd& F) {
  for (int pass = 0; pass < 2; ++pass) {
    const MatrixXd h = transposed_product(Q, F);
    gemm(false, false, -1, Q, h, 1, F);
  }
}

// Orthonormal {1, X}: the constant, then the centred coordinates.
MatrixXd affine_fields(const std::string& name, const Eigen::Matrix3Xd& points) {
  const Index n = points.cols();
  MatrixXd Q(n, affine_columns);
  Q.col(0).setConstant(1 / std::sqrt(static_cast<double>(n)));
  const Vector3d centre = points.rowwise().mean();
  MatrixXd X = (points.colwise() - centre).transpose();
  const double size = X.norm();
  X -= Q.col(0) * (Q.col(0).transpose() * X);
  const Eigen::ColPivHouseholderQR<MatrixXd> qr(X);
  if (!(std::abs(qr.matrixR()(2, 2)) > 1e-9 * size))
    fail_input("body '{}': its nodes lie in a plane or on a line, where no rotation can be told", name);
  Q.rightCols(3) = qr.householderQ() * MatrixXd::Identity(n, 3);
  return Q;
}

// The positions of a part's nodes against those at rest: sum x x0' over the nodes (3 by 3), x0 centred.
Matrix3d moment_about_rest(const SlapSpacePart& part, const Eigen::Ref<const VectorXd>& y) {
  const Eigen::Map<const MatrixXd> Y(y.data(), 3, part.fields());
  MatrixXd rest = part.rest;
  rest.row(0).setZero();  // the constant field holds the mean
  return Y * rest;
}

}  // namespace

SlapSpacePart make_slap_part(const std::string& name, const FeModel& bare,
                             const Eigen::Ref<const MatrixXd>& modes, const MatrixXd& modal_damping,
                             double tolerance) {
  const std::vector<int> nodes = nodes_that_move(bare);
  const Index n = static_cast<Index>(nodes.size()), count = modes.cols();
  if (bare.node_mass.size() != static_cast<int>(bare.points.cols()))
    fail_input(
        "body '{}': SLAP needs a mass matrix m (x) I_3, without coupling of directions and the same along x, "
        "y and z, but that of {} is none",
        name, bare.source);
  LISSOM_ASSERT(count == 0 || modes.rows() == 3 * bare.points.cols());
  if (n < affine_columns + 3 * count && n < 8)
    fail_input("body '{}' has {} nodes, too few for a flexible body", name, n);

  SlapSpacePart part;
  part.name = name;
  part.points = bare.points(Eigen::all, nodes);
  part.node_ids.reserve(nodes.size());
  for (const int node : nodes) part.node_ids.push_back(bare.node_ids[node]);
  const MatrixXd rigid = affine_fields(name, part.points);

  // the modes' fields, each mode as a whole of length one; what the others do not have yet
  MatrixXd F(n, 3 * count);
  for (Index j = 0; j < count; ++j) {
    for (Index i = 0; i < n; ++i)
      for (int k = 0; k < 3; ++k) F(i, 3 * j + k) = modes(3 * nodes[i] + k, j);
    const double length = F.middleCols(3 * j, 3).norm();
    if (length > 0) F.middleCols(3 * j, 3) /= length;
  }
  if (count > 0) deflate(rigid, F);
  Index flexible = 0;
  MatrixXd Q_flexible;
  if (count > 0) {
    const Eigen::ColPivHouseholderQR<MatrixXd> qr(F);
    const Index most = std::min<Index>(F.cols(), n - affine_columns);
    while (flexible < most && std::abs(qr.matrixR()(flexible, flexible)) > tolerance) ++flexible;
    Q_flexible = qr.householderQ() * MatrixXd::Identity(n, flexible);
    // round-off of small columns points anywhere
    deflate(rigid, Q_flexible);
    Q_flexible = Eigen::HouseholderQR<MatrixXd>(Q_flexible).householderQ() * MatrixXd::Identity(n, flexible);
  }
  part.Q.resize(n, affine_columns + flexible);
  part.Q << rigid, Q_flexible;

  part.K = project_stiffness(bare.K, part.Q);
  const SymmetricMatrix node_mass = submatrix(bare.node_mass, nodes);
  MatrixXd mQ(n, part.Q.cols());
  multiply(node_mass, part.Q, mQ);
  part.m = transposed_product(part.Q, mQ);
  part.m = (0.5 * (part.m + part.m.transpose())).eval();
  if (modal_damping.size() > 0) {
    // amplitudes of the modes, P y = Phi' M x
    MatrixXd P(count, 3 * part.Q.cols()), direction(n, count);
    for (int k = 0; k < 3; ++k) {
      for (Index i = 0; i < n; ++i) direction.row(i) = modes.row(3 * nodes[i] + k);
      P(Eigen::all, Eigen::seqN(k, part.Q.cols(), 3)) = transposed_product(direction, mQ);
    }
    part.D = transposed_product(P, product(modal_damping, P));
  }
  part.mass = part.m(0, 0) * static_cast<double>(n);  // field 0 is 1 / sqrt(n)
  part.rest = transposed_product(part.Q, MatrixXd(part.points.transpose()));
  // the coordinates are in the affine fields alone
  part.rest.bottomRows(flexible).setZero();
  return part;
}

Eigen::Matrix3Xd node_positions(const SlapSpacePart& part, const Eigen::Ref<const VectorXd>& y) {
  MatrixXd x(3, part.Q.rows());
  gemm(false, true, 1, Eigen::Map<const MatrixXd>(y.data(), 3, part.fields()), part.Q, 0, x);
  return x;
}

SlapPlace make_slap_place(const SlapSpacePart& part, int part_index, const std::string& name,
                          const std::vector<int>& nodes, const Vector3d& origin, const Matrix3d& axes) {
  LISSOM_ASSERT(!nodes.empty());
  SlapPlace place;
  place.name = name;
  place.part = part_index;
  place.axes = axes;
  for (const int node : nodes) place.node_ids.push_back(part.node_ids[static_cast<size_t>(node)]);
  const double share = 1 / static_cast<double>(nodes.size());
  Vector3d mean = Vector3d::Zero();
  place.position = VectorXd::Zero(part.fields());
  for (const int node : nodes) {
    mean += share * part.points.col(node);
    place.position += share * part.Q.row(node).transpose();
  }
  Matrix3d spread = Matrix3d::Zero();
  MatrixXd moment = MatrixXd::Zero(3, part.fields());
  for (const int node : nodes) {
    const Vector3d X = part.points.col(node) - mean;
    spread += share * X * X.transpose();
    moment += share * X * part.Q.row(node);
  }
  // the second moments are squares of distances
  const Vector3d squares =
      Eigen::SelfAdjointEigenSolver<Matrix3d>(spread, Eigen::EigenvaluesOnly).eigenvalues();
  if (squares[1] > 1e-12 * squares[2]) {
    place.moment = std::move(moment);
    place.arm = origin - mean;
  }
  place.rest = mean + place.arm;
  return place;
}

VectorXd affine_weights(const Eigen::Ref<const Eigen::Matrix3Xd>& nodes, const Vector3d& point,
                        double& miss) {
  LISSOM_ASSERT(nodes.cols() > 0);
  // conditions: weights sum to one and put the nodes at the point, lengths divided by their spread
  const Vector3d mean = nodes.rowwise().mean();
  double size = (nodes.colwise() - mean).colwise().norm().maxCoeff();
  if (size == 0) size = 1;
  MatrixXd B(4, nodes.cols());
  B.row(0).setOnes();
  B.bottomRows<3>() = (nodes.colwise() - mean) / size;
  Eigen::Vector4d b;
  b << 1, (point - mean) / size;
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> solver;
  solver.setThreshold(1e-9);
  solver.compute(B);
  const VectorXd weights = solver.solve(b);
  miss = size * (B * weights - b).norm();
  return weights;
}

SlapPlace make_weighted_place(const SlapSpacePart& part, int part_index, const std::string& name,
                              const std::vector<int>& nodes, const Eigen::Ref<const VectorXd>& weights) {
  SlapPlace place;
  place.name = name;
  place.part = part_index;
  place.position = VectorXd::Zero(part.fields());
  for (size_t j = 0; j < nodes.size(); ++j)
    place.position += weights[static_cast<Index>(j)] * part.Q.row(nodes[j]).transpose();
  return place;
}

SlapSpace make_slap_space(std::vector<SlapSpacePart> parts, std::vector<SlapPlace> places,
                          std::vector<SlapPair> pairs, bool project_on_joints) {
  SlapSpace space;
  space.parts = std::move(parts);
  space.places = std::move(places);
  space.pairs = std::move(pairs);
  int size = 0;
  for (const SlapSpacePart& part : space.parts) {
    space.offsets.push_back(size);
    size += 3 * part.fields();
  }

  space.C = MatrixXd::Zero(3 * static_cast<Index>(space.pairs.size()), size);
  space.c = VectorXd::Zero(space.C.rows());
  for (size_t i = 0; i < space.pairs.size(); ++i) {
    const Index row = 3 * static_cast<Index>(i);
    const auto add = [&](const SlapPlace& place, double sign) {
      if (place.part < 0) {
        space.c.segment<3>(row) -= sign * place.ground;
        return;
      }
      for (Index a = 0; a < place.position.size(); ++a)
        space.C.block<3, 3>(row, space.offsets[place.part] + 3 * a).diagonal().array() +=
            sign * place.position[a];
    };
    add(space.pairs[i].first, -1);
    add(space.pairs[i].second, 1);
  }
  space.project = project_on_joints;
  if (space.C.rows() > 0) {
    // rows of length one, so that the threshold means the same for all
    MatrixXd rows = space.C;
    for (Index i = 0; i < rows.rows(); ++i) {
      const double length = rows.row(i).norm();
      if (length > 0) rows.row(i) /= length;
    }
    const Eigen::ColPivHouseholderQR<MatrixXd> qr(rows.transpose());
    Index rank = 0;
    while (rank < std::min(rows.rows(), rows.cols()) && std::abs(qr.matrixR()(rank, rank)) > redundant_row)
      ++rank;
    const MatrixXd all = qr.householderQ() * MatrixXd::Identity(size, size);
    space.Z = all.rightCols(size - rank);
  }
  return space;
}

VectorXd linearised_frequencies(const SlapSpace& space, const Eigen::Ref<const VectorXd>& y, int count) {
  const int size = space.dimension(), kernel = space.kernel_dimension();
  MatrixXd K = MatrixXd::Zero(size, size), M = MatrixXd::Zero(size, size);
  for (size_t i = 0; i < space.parts.size(); ++i) {
    const SlapSpacePart& part = space.parts[i];
    const Index first = space.offsets[i], s = part.fields();
    // the part's stiffness in global axes: A maps the part's to the global ones
    const Matrix3d A = polar(moment_about_rest(part, y.segment(first, 3 * s))).A;
    for (Index a = 0; a < s; ++a)
      for (Index b = 0; b < s; ++b) {
        K.block<3, 3>(first + 3 * a, first + 3 * b) = A * part.K.block<3, 3>(3 * a, 3 * b) * A.transpose();
        M.block<3, 3>(first + 3 * a, first + 3 * b).diagonal().setConstant(part.m(a, b));
      }
  }
  if (space.Z.size() > 0) {
    K = transposed_product(space.Z, product(K, space.Z));
    M = transposed_product(space.Z, product(M, space.Z));
  }
  // L^-1 K L^-T with M = L L'
  const Eigen::LLT<MatrixXd> llt(M);
  if (llt.info() != Eigen::Success) fail("the mass matrix of the mechanism is not positive definite");
  llt.matrixL().solveInPlace(K);
  K.transposeInPlace();
  llt.matrixL().solveInPlace(K);
  K = (0.5 * (K + K.transpose())).eval();
  // eigenvalues are known to round-off of the largest
  const double zero = 1e-13 * K.cwiseAbs().rowwise().sum().maxCoeff();
  const VectorXd values = symmetric_eigen(K, 0, std::min(count, kernel), false).values;
  VectorXd hz(values.size());
  for (Index i = 0; i < values.size(); ++i) hz[i] = values[i] > zero ? hertz(values[i]) : 0;
  return hz;
}

}  // namespace lissom

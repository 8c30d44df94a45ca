#include "lissom/cms/gcms_model.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

#include <cmath>
#include <unordered_map>

#include "lissom/core/polar.hpp"
#include "lissom/linalg/blas.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

void check(const FeModel& bare, const ReducedBody& reduced) {
  const Index n = reduced.points.cols();
  if (n == 0 || reduced.modes.rows() != 3 * n)
    fail_input("{}: GCMS needs the modes of the reduced body '{}' at all nodes, and none are there",
               bare.source, reduced.name);
  if (bare.points.cols() != n || bare.node_ids != reduced.node_ids)
    fail_input(
        "{}: GCMS needs the modes of the reduced body '{}' at all {} nodes, but they are there at {}; reduce "
        "it "
        "without choosing nodes",
        bare.source, reduced.name, bare.points.cols(), n);
  if (bare.node_mass.size() != n)
    fail_input(
        "{}: GCMS needs a mass matrix m (x) I_3, without coupling of directions and the same along x, y and "
        "z, "
        "but that of this body is none",
        bare.source);
  if (reduced.size() <= reduced.rigid_count)
    fail_input("{}: GCMS needs flexible modes, but the reduced body '{}' has none", bare.source,
               reduced.name);
}

// The rows of S at nodes that follow: with f the fields of the modes there, less their rigid part, the
// combination that makes the basis of f at all other nodes. Columns are divided by sqrt(lambda) as in
// scalar_gcms_basis, so that combinations are no larger than the truncation makes them.
void fill_followers(const GcmsSpace& space, const GcmsBasis& basis, const SymmetricMatrix& node_mass,
                    const MatrixXd& Phi, const std::vector<int>& followers, GcmsModel& model) {
  if (followers.empty()) return;
  const Index flexible = space.R.rows() - rigid_columns, fields = space.R.cols() - rigid_columns;
  MatrixXd mS(basis.S.rows(), basis.kept);
  multiply(node_mass, basis.S.rightCols(basis.kept), mS);
  const MatrixXd C = transposed_product(space.Q.rightCols(flexible), mS);
  MatrixXd F = space.R.bottomRightCorner(flexible, fields);
  for (Index j = 0; j < fields; ++j) F.col(j) /= std::sqrt(space.eigenvalues[j / 3]);
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> fit;
  fit.setThreshold(1e-10);
  fit.compute(F);
  const MatrixXd W = fit.solve(C);

  const Index count = static_cast<Index>(followers.size());
  MatrixXd rigid(count, rigid_columns), f(count, fields);
  for (Index k = 0; k < count; ++k) {
    rigid(k, 0) = 1 / std::sqrt(model.mass);
    rigid.row(k).tail<3>() = (model.points.col(followers[k]) - model.centre).transpose() * model.T;
    for (Index j = 0; j < fields; ++j) f(k, j) = Phi(3 * followers[k] + j % 3, j / 3);
  }
  f -= product(rigid, space.R.topRightCorner(rigid_columns, fields));
  for (Index j = 0; j < fields; ++j) f.col(j) /= std::sqrt(space.eigenvalues[j / 3]);
  const MatrixXd rows = product(f, W);
  for (Index k = 0; k < count; ++k) {
    model.S.row(followers[k]).head<rigid_columns>() = rigid.row(k);
    model.S.row(followers[k]).tail(basis.kept) = rows.row(k);
  }
}

}  // namespace

std::vector<int> nodes_that_move(const FeModel& bare) {
  std::vector<int> nodes;
  for (size_t i = 0; i < bare.dofs.size(); ++i) {
    const Dof& dof = bare.dofs[i];
    const int direction = static_cast<int>(i % 3);
    if (direction == 0) nodes.push_back(dof.node);
    if (dof.node < 0 || dof.direction != direction || dof.node != nodes.back() ||
        (nodes.size() > 1 && direction == 0 && nodes[nodes.size() - 2] >= dof.node))
      fail_input(
          "{}: GCMS needs three degrees of freedom, x y z, at each node in node order, but number {} is not; "
          "assemble the body without its spiders",
          bare.source, i + 1);
  }
  return nodes;
}

GcmsFrame gcms_frame(const GcmsModel& model, const std::string& name, const std::vector<int>& nodes) {
  LISSOM_ASSERT(!nodes.empty());
  GcmsFrame frame;
  frame.name = name;
  const double share = 1 / static_cast<double>(nodes.size());
  frame.position = VectorXd::Zero(model.fields());
  for (const int node : nodes) {
    frame.mean += share * model.points.col(node);
    frame.position += share * model.S.row(node).transpose();
  }
  frame.origin = frame.mean;
  Matrix3d spread = Matrix3d::Zero();
  MatrixXd moment = MatrixXd::Zero(3, model.fields());
  for (const int node : nodes) {
    const Vector3d X = model.points.col(node) - frame.mean;
    spread += share * X * X.transpose();
    moment += share * X * model.S.row(node);
  }
  // the second moments are squares of distances
  const Vector3d squares =
      Eigen::SelfAdjointEigenSolver<Matrix3d>(spread, Eigen::EigenvaluesOnly).eigenvalues();
  if (squares[1] > 1e-12 * squares[2]) frame.moment = std::move(moment);
  return frame;
}

void remove_rigid_part(GcmsModel& model) {
  const Index n = model.K_hat.rows();
  model.K_hat.leftCols<3>().setZero();
  model.K_hat.topRows<3>().setZero();
  if (model.P.size() > 0) model.P.leftCols<3>().setZero();
  // rotations of the position at rest, q_a = row a of T^-1, are omega x q_a in the nine affine coordinates
  const Matrix3d rest = model.T.inverse();
  Eigen::Matrix<double, 9, 3> turns;
  for (int a = 0; a < 3; ++a) turns.middleRows<3>(3 * a) = -skew(rest.row(a));
  const Eigen::Matrix<double, 9, 3> R =
      Eigen::HouseholderQR<Eigen::Matrix<double, 9, 3>>(turns).householderQ() *
      Eigen::Matrix<double, 9, 3>::Identity();
  const MatrixXd right = model.K_hat.middleCols<9>(3) * R;
  model.K_hat.middleCols<9>(3) -= right * R.transpose();
  const MatrixXd left = R.transpose() * model.K_hat.middleRows<9>(3);
  model.K_hat.middleRows<9>(3) -= R * left;
  model.K_hat = (0.5 * (model.K_hat + model.K_hat.transpose())).eval();
  LISSOM_ASSERT(model.K_hat.rows() == n && n >= 12);
  if (model.P.size() > 0) {
    const MatrixXd part = model.P.middleCols<9>(3) * R;
    model.P.middleCols<9>(3) -= part * R.transpose();
  }
}

GcmsModel make_gcms_model(const FeModel& bare, const ReducedBody& reduced,
                          const std::vector<std::vector<int>>& tied, const ScalarGcmsOptions& options) {
  check(bare, reduced);
  LISSOM_ASSERT(tied.empty() || tied.size() == reduced.interfaces.size());
  const int n = static_cast<int>(reduced.points.cols());
  const std::vector<int> nodes = nodes_that_move(bare);
  if (static_cast<int>(3 * nodes.size()) != bare.dof_count() || nodes.empty())
    fail_input("{}: GCMS needs three degrees of freedom at each node, but there are {} for {} nodes",
               bare.source, bare.dof_count(), nodes.size());

  // the modes at all nodes, and at those that move by themselves
  GcmsModel model;
  const Index count = reduced.size() - reduced.rigid_count;
  model.Xi = reduced.eigenvectors.rightCols(count);
  const MatrixXd Phi = product(reduced.modes, model.Xi);
  std::vector<int> rows, followers;
  std::vector<char> moves(n, 0);
  for (const int node : nodes) {
    moves[node] = 1;
    for (int d = 0; d < 3; ++d) rows.push_back(3 * node + d);
  }
  for (int node = 0; node < n; ++node)
    if (!moves[node]) followers.push_back(node);
  const MatrixXd Phi_moving = Phi(rows, Eigen::all);
  const SymmetricMatrix node_mass = submatrix(bare.node_mass, nodes);
  const GcmsSpace space = gcms_space(bare.points(Eigen::all, nodes), node_mass, bare.K, Phi_moving,
                                     VectorXd(reduced.eigenvalues.tail(count)));
  const GcmsBasis basis = scalar_gcms_basis(space, node_mass, options);

  model.mass = space.mass;
  model.centre = space.centre;
  model.T = space.T;
  model.points = reduced.points;
  model.node_ids = reduced.node_ids;
  model.S.resize(n, basis.S.cols());
  model.S(nodes, Eigen::all) = basis.S;
  fill_followers(space, basis, node_mass, Phi, followers, model);
  model.K_hat = basis.K_hat;

  // amplitudes: Phi' M (S (x) I_3), as the modes have unit mass
  MatrixXd mS(basis.S.rows(), basis.S.cols());
  multiply(node_mass, basis.S, mS);
  model.P.resize(count, 3 * mS.cols());
  for (int d = 0; d < 3; ++d)
    model.P(Eigen::all, Eigen::seqN(d, mS.cols(), 3)) =
        transposed_product(Phi_moving(Eigen::seqN(d, mS.rows(), 3), Eigen::all), mS);
  if (reduced.D.size() > 0) model.D_modal = transposed_product(model.Xi, product(reduced.D, model.Xi));
  remove_rigid_part(model);

  std::unordered_map<std::int64_t, int> index;
  for (int node = 0; node < n; ++node) index[model.node_ids[node]] = node;
  for (size_t i = 0; i < reduced.interfaces.size(); ++i) {
    const InterfaceFrame& interface = reduced.interfaces[i];
    std::vector<int> of_frame;
    if (!tied.empty()) of_frame = tied[i];
    if (of_frame.empty())
      for (const std::int64_t id : interface.node_ids) of_frame.push_back(index.at(id));
    model.frames.push_back(gcms_frame(model, interface.name, of_frame));
    model.frames.back().origin = interface.origin;
    model.frames.back().axes = interface.axes;
  }
  return model;
}

}  // namespace lissom

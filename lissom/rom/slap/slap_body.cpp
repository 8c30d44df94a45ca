#include "lissom/rom/slap/slap_body.hpp"

#include <fmt/ranges.h>
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <unordered_map>

#include "lissom/core/polar.hpp"
#include "lissom/core/text.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/symmetric_eigen.hpp"
#include "lissom/rom/slap/linear_frames.hpp"
#include "lissom/rom/slap/polynomial_kernel.hpp"
#include "lissom/rom/slap/slap_kernel.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using ConstBlock = Eigen::Map<const Matrix3d>;

struct Marker {
  MatrixXd position;  // 3 by m + 1
  MatrixXd moment;    // 9 by m + 1; empty without rotation
  // from the mean of the nodes to the marker, and its axes, in the part's frame
  std::array<Vector3d, 4> arms;
  // where its twelve numbers are linear in eta: 12 by m + 1; else empty
  Matrix12Xd L;
  bool rotates() const { return moment.size() > 0; }
};

// m = L e of a place without axes, or with axes that are linear in e
Matrix12Xd linear_map(const Marker& marker, const MatrixXd& axes) {
  Matrix12Xd L = Matrix12Xd::Zero(12, marker.position.cols());
  L.topRows<3>() = marker.position;
  if (!marker.rotates()) return L;
  for (Index q = 0; q < L.cols(); ++q)
    for (int k = 0; k < 4; ++k) L.col(q).segment<3>(3 * k) += ConstBlock(axes.col(q).data()) * marker.arms[k];
  return L;
}

// X e, e = (1, eta)
template <class Vector>
auto affine(const MatrixXd& X, const Vector& eta) {
  return X.col(0) + X.rightCols(X.cols() - 1).lazyProduct(eta);
}

// The nodes of a part (indices) as a frame. Without rotation where they lie on a line (to 1e-6 of their
// distances).
SlapFrame frame_of_nodes(const SlapPart& part, int part_index, const std::string& name,
                         const std::vector<int>& nodes) {
  SlapFrame frame;
  frame.name = name;
  frame.part = part_index;
  const Index s = part.fields.cols(), columns = part.coefficients.cols();
  const double share = 1 / static_cast<double>(nodes.size());
  VectorXd mean = VectorXd::Zero(s);
  Vector3d centre = Vector3d::Zero();
  for (const int node : nodes) {
    mean += share * part.fields.row(node).transpose();
    centre += share * part.points.col(node);
  }
  MatrixXd moment = MatrixXd::Zero(s, 3);
  Matrix3d spread = Matrix3d::Zero();
  for (const int node : nodes) {
    const Vector3d X = part.points.col(node) - centre;
    moment += share * part.fields.row(node).transpose() * X.transpose();
    spread += share * X * X.transpose();
  }
  frame.position = MatrixXd::Zero(3, columns);
  MatrixXd turning = MatrixXd::Zero(9, columns);
  for (Index a = 0; a < s; ++a) {
    const auto field = part.coefficients.middleRows<3>(3 * a);
    frame.position += mean[a] * field;
    for (int j = 0; j < 3; ++j) turning.middleRows<3>(3 * j) += moment(a, j) * field;
  }
  // the second moments are squares of distances
  const Vector3d squares =
      Eigen::SelfAdjointEigenSolver<Matrix3d>(spread, Eigen::EigenvaluesOnly).eigenvalues();
  if (squares[1] > 1e-12 * squares[2]) frame.moment = std::move(turning);
  return frame;
}

class SlapBody final : public Body {
 public:
  SlapBody(const std::string& name, const SlapModel& model);

  std::string formulation() const override { return "slap"; }
  std::vector<std::string> part_names() const override {
    std::vector<std::string> names;
    for (const SlapPart& part : model_.parts) names.push_back(part.name);
    return names;
  }
  int coordinates() const override { return m_; }
  int own_constraints() const override { return 0; }
  int flexible_modes() const override { return m_; }
  bool constant_mass() const override { return true; }
  std::unique_ptr<Workspace> workspace() const override { return std::make_unique<Work>(*this); }

  void add_residual(const Vector& q, const Vector& v, const Vector& a, double w, const Vector3d& gravity,
                    Workspace& workspace, Eigen::Ref<VectorXd> r) const override;
  void jacobian(const Vector& q, const Vector& v, const Vector& a, double w, const Vector3d& gravity,
                double cq, double cv, double ca, Workspace& workspace, Eigen::Ref<MatrixXd> J) const override;
  void mass(const Vector&, Workspace&, Eigen::Ref<MatrixXd> M) const override { M = model_.M; }

  int add_marker(const MarkerSpec& spec) override;
  bool marker_rotates(int marker) const override { return markers_[marker].rotates(); }
  void marker(int marker, const Vector& q, const Vector& v, bool gradients, Workspace& workspace,
              MarkerKinematics& out) const override;
  void add_marker_hessian(int marker, const Vector& q, const Vector12d& w, double factor,
                          Workspace& workspace, Eigen::Ref<MatrixXd> H) const override;
  const Matrix12Xd* linear_marker(int marker) const override {
    const Matrix12Xd& L = markers_[marker].L;
    return L.size() > 0 ? &L : nullptr;
  }

  // Where the training began, whatever the placement: the parts are where they are.
  void place(const Placement&, Eigen::Ref<VectorXd> q, Eigen::Ref<VectorXd> v) const override {
    q = model_.start;
    v = model_.start_rate;
  }
  double mass() const override { return mass_; }
  Energy energy(const Vector& q, const Vector& v, const Vector3d& gravity,
                Workspace& workspace) const override;
  Eigen::Matrix3Xd node_positions(const Vector& q) const override;
  Eigen::Matrix3Xd node_velocities(const Vector& q, const Vector& v) const override;
  const std::vector<std::int64_t>& node_ids() const override { return node_ids_; }
  std::vector<NodeGroup> node_groups() const override { return groups_; }
  DeformationBasis deformation_basis(int group) const override {
    const SlapPart& part = model_.parts[recovery_.at(static_cast<size_t>(group)).part];
    return {DeformationKind::Fields, 3 * static_cast<int>(part.fields.cols()), &part.fields};
  }
  void deformation(int group, const Vector& q, Eigen::Ref<VectorXd> d) const override;
  Eigen::Matrix3Xd local_displacements(int group, const Vector& q) const override;
  void displacement_scale(Eigen::Ref<VectorXd> scale) const override { scale = model_.scale; }
  std::string coordinate_name(int i) const override { return fmt::format("mode {}", i + 1); }
  double radius() const override { return model_.radius; }

 private:
  struct Work final : Workspace {
    explicit Work(const SlapBody& body) : inertia(body.m_), omega(3, body.m_), L(3, body.m_) {
      if (body.polynomial_)
        polynomial.emplace(*body.polynomial_);
      else
        exact.emplace(*body.exact_);
    }
    // of the one that runs
    std::optional<SlapKernel::Room> exact;
    std::optional<PolynomialKernel::Room> polynomial;
    VectorXd inertia;
    Eigen::Matrix3Xd omega, L;  // of markers
  };

  // What the deformation of a part with nodes is counted from.
  struct Recovery {
    int part = 0;
    Eigen::Matrix3Xd rest;  // 3 by s: amplitudes of the nodes at rest, their mean at the origin
    VectorXd constant;      // s: amplitudes of the field 1
    VectorXd mean;          // s: mean of the fields over the nodes
  };
  Recovery make_recovery(int part) const;

  // `use` gets the kernel that runs, and its room, at q and v
  template <class Use>
  void with_forces(const Vector& q, const Vector& v, Work& room, Use use) const {
    if (polynomial_) {
      polynomial_->update(q, v, *room.polynomial);
      use(*polynomial_, *room.polynomial);
    } else {
      exact_->update(q, v, *room.exact);
      use(*exact_, *room.exact);
    }
  }

  int find_part(const MarkerSpec& spec) const;
  SlapFrame find_frame(const MarkerSpec& spec, int part) const;
  SlapFrame find_nodes(const MarkerSpec& spec, int part) const;

  SlapModel model_;
  // one of the two
  std::optional<SlapKernel> exact_;
  std::optional<PolynomialKernel> polynomial_;
  int m_;
  double mass_ = 0;
  std::vector<std::int64_t> node_ids_;
  std::vector<NodeGroup> groups_;
  std::vector<Recovery> recovery_;                                 // of each group
  std::vector<std::unordered_map<std::int64_t, int>> node_index_;  // of each part
  std::vector<Marker> markers_;
};

const SlapModel& checked(const std::string& name, const SlapModel& model) {
  const std::string wrong = inconsistency_of(model);
  if (!wrong.empty()) fail_input("body '{}': the reduced mechanism does not fit together, {}", name, wrong);
  // in coordinates with a diagonal of ones, so that their units have no say
  const int m = model.order();
  const VectorXd diagonal = model.M.diagonal();
  bool positive = diagonal.minCoeff() > 0;
  double smallest = 0;
  if (positive) {
    const VectorXd root = diagonal.cwiseSqrt().cwiseInverse();
    smallest = symmetric_eigen(root.asDiagonal() * model.M * root.asDiagonal(), 0, 1, false).values[0];
    positive = smallest > 1e-13 * m;
  }
  if (!positive)
    fail_input(
        "body '{}': the mass matrix of the reduced mechanism is singular (smallest eigenvalue {:.1e}, "
        "diagonal scaled to one); train it with fewer modes",
        name, smallest);
  return model;
}

SlapBody::SlapBody(const std::string& name, const SlapModel& model)
    : Body(name), model_(checked(name, model)), m_(model_.order()) {
  if (model_.polynomial)
    polynomial_.emplace(*model_.polynomial, m_);
  else
    exact_.emplace(model_);
  for (const SlapPart& part : model_.parts) {
    mass_ += part.mass;
    std::unordered_map<std::int64_t, int>& index = node_index_.emplace_back();
    if (!part.has_nodes()) continue;
    groups_.push_back(
        {part.name, static_cast<int>(node_ids_.size()), static_cast<int>(part.node_ids.size())});
    recovery_.push_back(make_recovery(static_cast<int>(node_index_.size()) - 1));
    node_ids_.insert(node_ids_.end(), part.node_ids.begin(), part.node_ids.end());
    for (size_t i = 0; i < part.node_ids.size(); ++i) index[part.node_ids[i]] = static_cast<int>(i);
  }
}

// Amplitudes Y of the fields F that make [1 X]: F Y = [1 X]. Trained fields are orthonormal, for which F' is
// the inverse, to the last digit after one correction; others take the normal equations.
SlapBody::Recovery SlapBody::make_recovery(int index) const {
  const SlapPart& part = model_.parts[index];
  const Index n = part.fields.rows(), s = part.fields.cols();
  MatrixXd X(n, 4);
  X.col(0).setOnes();
  X.rightCols<3>() = part.points.transpose();
  X.rightCols<3>().rowwise() -= part.points.rowwise().mean().transpose();
  MatrixXd Y = transposed_product(part.fields, X);
  MatrixXd left = X - product(part.fields, Y);
  if (left.cwiseAbs().maxCoeff() > 1e-6 * X.cwiseAbs().maxCoeff()) {
    const Eigen::LDLT<MatrixXd> normal(transposed_product(part.fields, part.fields));
    Y = normal.solve(Y);
    left = X - product(part.fields, Y);
    Y += normal.solve(transposed_product(part.fields, left));
  } else {
    Y += transposed_product(part.fields, left);
  }
  LISSOM_ASSERT(Y.rows() == s);
  Recovery recovery;
  recovery.part = index;
  recovery.constant = Y.col(0);
  recovery.rest = Y.rightCols<3>().transpose();
  recovery.mean = part.fields.colwise().mean();
  return recovery;
}

// In the axes that the elastic forces are computed in: R makes R A S0 symmetric.
void SlapBody::deformation(int group, const Vector& q, Eigen::Ref<VectorXd> d) const {
  const Recovery& recovery = recovery_.at(static_cast<size_t>(group));
  const SlapPart& part = model_.parts[recovery.part];
  const Vector9d A = affine(part.A, q);
  const Matrix3d R = polar(ConstBlock(A.data()) * part.S0).A.transpose();
  d = affine(part.coefficients, q);
  Eigen::Map<Eigen::Matrix3Xd> y(d.data(), 3, recovery.rest.cols());
  const Vector3d mean = y * recovery.mean;
  y -= mean * recovery.constant.transpose();
  for (Index a = 0; a < y.cols(); ++a) y.col(a) = R * Vector3d(y.col(a)) - recovery.rest.col(a);
}

Eigen::Matrix3Xd SlapBody::local_displacements(int group, const Vector& q) const {
  const SlapPart& part = model_.parts[recovery_.at(static_cast<size_t>(group)).part];
  const Index s = part.fields.cols();
  VectorXd d(3 * s);
  deformation(group, q, d);
  MatrixXd u(3, part.fields.rows());
  gemm(false, true, 1, Eigen::Map<const MatrixXd>(d.data(), 3, s), part.fields, 0, u);
  return u;
}

void SlapBody::add_residual(const Vector& q, const Vector& v, const Vector& a, double w,
                            const Vector3d& gravity, Workspace& workspace, Eigen::Ref<VectorXd> r) const {
  Work& room = static_cast<Work&>(workspace);
  room.inertia = w * a + model_.mass_damping * v;
  r.noalias() += model_.M.lazyProduct(room.inertia);
  with_forces(q, v, room, [&](const auto& kernel, auto& at) { kernel.add_force(at, r); });
  r.noalias() -= model_.centre.rightCols(m_).transpose().lazyProduct(gravity);
}

void SlapBody::jacobian(const Vector& q, const Vector& v, const Vector&, double w, const Vector3d&, double cq,
                        double cv, double ca, Workspace& workspace, Eigen::Ref<MatrixXd> J) const {
  Work& room = static_cast<Work&>(workspace);
  J = (ca * w + cv * model_.mass_damping) * model_.M;
  with_forces(q, v, room, [&](const auto& kernel, auto& at) { kernel.add_tangent(cq, cv, at, J); });
}

int SlapBody::find_part(const MarkerSpec& spec) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < model_.parts.size(); ++i) {
    names.push_back(model_.parts[i].name);
    if (names.back() == spec.part) return static_cast<int>(i);
  }
  if (spec.part.empty()) {
    if (names.size() == 1) return 0;
    fail_input("'{}' is a reduced mechanism: say which of its parts a marker is on; it has {}", name(),
               fmt::join(names, ", "));
  }
  fail_input("body '{}' has no part '{}'{}; it has {}", name(), spec.part, did_you_mean(spec.part, names),
             fmt::join(names, ", "));
}

SlapFrame SlapBody::find_frame(const MarkerSpec& spec, int part) const {
  std::vector<std::string> names;
  for (const SlapFrame& frame : model_.frames)
    if (frame.part == part) {
      if (frame.name == spec.name) return frame;
      names.push_back(frame.name);
    }
  fail_input("part '{}' of body '{}' has no interface '{}'{}; it has {}", model_.parts[part].name, name(),
             spec.name, did_you_mean(spec.name, names),
             names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

SlapFrame SlapBody::find_nodes(const MarkerSpec& spec, int part) const {
  const SlapPart& owner = model_.parts[part];
  if (spec.node_ids.empty())
    fail_input("a marker of part '{}' of body '{}' names no node", owner.name, name());
  std::vector<std::string> names;
  for (const SlapFrame& frame : model_.frames) {
    if (frame.part != part) continue;
    if (spec.node_ids.size() == 1 && frame.name == fmt::format("node {}", spec.node_ids.front()))
      return frame;
    names.push_back(frame.name);
  }
  if (!owner.has_nodes())
    fail_input(
        "part '{}' of body '{}' was kept without its nodes, so that nothing can be attached to {} {}; it "
        "has {}. Name the place when the model is trained, or keep the nodes",
        owner.name, name(), spec.node_ids.size() == 1 ? "node" : "nodes", fmt::join(spec.node_ids, ", "),
        names.empty() ? "no places" : fmt::format("{}", fmt::join(names, ", ")));
  std::vector<int> nodes;
  for (const std::int64_t id : spec.node_ids) {
    const auto found = node_index_[part].find(id);
    if (found == node_index_[part].end()) {
      const auto [first, last] = std::minmax_element(owner.node_ids.begin(), owner.node_ids.end());
      fail_input("part '{}' of body '{}' has no node {}; it has {} nodes from {} to {}", owner.name, name(),
                 id, owner.node_ids.size(), *first, *last);
    }
    nodes.push_back(found->second);
  }
  SlapFrame frame = frame_of_nodes(owner, part, spec.name, nodes);
  // the part has its fields: axes are fitted as those of the places were
  if (model_.polynomial && frame.rotates()) fit_linear_axes(model_, frame);
  return frame;
}

int SlapBody::add_marker(const MarkerSpec& spec) {
  if (spec.kind == MarkerSpec::Kind::Point)
    fail_input(
        "body '{}' is a reduced mechanism and has markers at interfaces and nodes of its parts only, not "
        "at "
        "a point; name a node or an interface there",
        name());
  const int part = find_part(spec);
  const SlapFrame frame =
      spec.kind == MarkerSpec::Kind::Interface ? find_frame(spec, part) : find_nodes(spec, part);
  Marker marker;
  marker.position = frame.position;
  marker.moment = frame.moment;
  marker.arms[0] = frame.arm;
  for (int k = 0; k < 3; ++k) marker.arms[1 + k] = spec.axes.col(k);
  if (!marker.rotates() || frame.linear_axes.size() > 0) marker.L = linear_map(marker, frame.linear_axes);
  markers_.push_back(std::move(marker));
  return static_cast<int>(markers_.size()) - 1;
}

// With arms u_0 (of the position) and u_1..3 (the axes): m = (position, 0) + A u, dm = A [omega]x u and
// omega, d omega of polar.hpp; the moment is affine in eta.
void SlapBody::marker(int number, const Vector& q, const Vector& v, bool gradients, Workspace& workspace,
                      MarkerKinematics& out) const {
  const Marker& marker = markers_[number];
  Work& room = static_cast<Work&>(workspace);
  out.rotates = marker.rotates();
  out.J.resize(12, m_);
  if (gradients) {
    out.V.resize(12, m_);
    out.V.setZero();
  }
  if (marker.L.size() > 0) {
    out.J = marker.L.rightCols(m_);
    out.m.noalias() = marker.L.col(0) + out.J.lazyProduct(q);
    out.rate.noalias() = out.J.lazyProduct(v);
    return;
  }
  out.J.topRows<3>() = marker.position.rightCols(m_);
  out.m.setZero();
  out.rate.setZero();
  out.m.head<3>() = affine(marker.position, q);
  out.rate.head<3>().noalias() = marker.position.rightCols(m_).lazyProduct(v);

  const Vector9d C = affine(marker.moment, q), C_rate = marker.moment.rightCols(m_).lazyProduct(v);
  const Polar p = polar(ConstBlock(C.data()));
  const Vector3d omega = p.omega(ConstBlock(C_rate.data()));
  for (int r = 0; r < m_; ++r) room.omega.col(r) = p.omega(ConstBlock(marker.moment.data() + 9 * (r + 1)));
  Eigen::Matrix<double, 12, 3> X, X_rate;  // -A [u]x and -A [omega x u]x
  for (int k = 0; k < 4; ++k) {
    const Vector3d& u = marker.arms[k];
    const Vector3d turned = omega.cross(u);
    out.m.segment<3>(3 * k) += p.A * u;
    out.rate.segment<3>(3 * k) += p.A * turned;
    X.middleRows<3>(3 * k) = -p.A * skew(u);
    X_rate.middleRows<3>(3 * k) = -p.A * skew(turned);
  }
  out.J.bottomRows<9>().noalias() = X.bottomRows<9>().lazyProduct(room.omega);
  out.J.topRows<3>().noalias() += X.topRows<3>().lazyProduct(room.omega);
  if (!gradients) return;
  for (int r = 0; r < m_; ++r) {
    const ConstBlock moment(marker.moment.data() + 9 * (r + 1));
    out.V.col(r) = X_rate * room.omega.col(r) + X * p.omega_derivative(ConstBlock(C_rate.data()), moment);
  }
}

void SlapBody::add_marker_hessian(int number, const Vector& q, const Vector12d& w, double factor,
                                  Workspace& workspace, Eigen::Ref<MatrixXd> H) const {
  const Marker& marker = markers_[number];
  if (marker.L.size() > 0) return;
  Work& room = static_cast<Work&>(workspace);
  const Vector9d C = affine(marker.moment, q);
  const Polar p = polar(ConstBlock(C.data()));
  Matrix3d W = Matrix3d::Zero();
  for (int k = 0; k < 4; ++k) W += factor * w.segment<3>(3 * k) * marker.arms[k].transpose();
  const Polar::Second second = p.second(W);
  // omega' middle omega - L' omega - omega' L, L_r = (tr(B_r) I - B_r)' y
  for (int r = 0; r < m_; ++r) {
    const ConstBlock moment(marker.moment.data() + 9 * (r + 1));
    room.omega.col(r) = p.omega(moment);
    room.L.col(r) = trace_minus(p.A.transpose() * moment).transpose() * second.y;
  }
  for (int s = 0; s < m_; ++s) {
    const Vector3d omega = room.omega.col(s), t = second.middle * omega - room.L.col(s);
    H.col(s).noalias() += room.omega.transpose().lazyProduct(t) - room.L.transpose().lazyProduct(omega);
  }
}

Body::Energy SlapBody::energy(const Vector& q, const Vector& v, const Vector3d& gravity,
                              Workspace& workspace) const {
  Work& room = static_cast<Work&>(workspace);
  Energy energy;
  with_forces(q, v, room, [&](const auto& kernel, const auto& at) {
    energy.elastic = kernel.energy(at);
    energy.damping_power = kernel.damping_power(at);
  });
  room.inertia.noalias() = model_.M.lazyProduct(v);
  energy.kinetic = 0.5 * v.dot(room.inertia);
  const Vector3d centre = affine(model_.centre, q);
  energy.gravity = -gravity.dot(centre);
  energy.momentum = model_.centre.rightCols(m_).lazyProduct(v);
  const Index n = m_ + 1;
  for (Index i = 0; i < n; ++i) {
    const double e = i == 0 ? 1 : q[i - 1];
    energy.angular_momentum += e * Vector3d(model_.angular.middleCols(i * n + 1, m_).lazyProduct(v));
  }
  energy.damping_power += model_.mass_damping * v.dot(room.inertia);
  return energy;
}

Eigen::Matrix3Xd SlapBody::node_positions(const Vector& q) const {
  MatrixXd x(3, node_ids_.size());
  Index first = 0;
  for (const SlapPart& part : model_.parts) {
    if (!part.has_nodes()) continue;
    const Index n = part.fields.rows(), s = part.fields.cols();
    const VectorXd y = affine(part.coefficients, q);
    gemm(false, true, 1, Eigen::Map<const MatrixXd>(y.data(), 3, s), part.fields, 0, x.middleCols(first, n));
    first += n;
  }
  return x;
}

Eigen::Matrix3Xd SlapBody::node_velocities(const Vector&, const Vector& v) const {
  MatrixXd x(3, node_ids_.size());
  Index first = 0;
  for (const SlapPart& part : model_.parts) {
    if (!part.has_nodes()) continue;
    const Index n = part.fields.rows(), s = part.fields.cols();
    const VectorXd y = part.coefficients.rightCols(m_) * v;
    gemm(false, true, 1, Eigen::Map<const MatrixXd>(y.data(), 3, s), part.fields, 0, x.middleCols(first, n));
    first += n;
  }
  return x;
}

}  // namespace

std::unique_ptr<Body> make_slap_body(const std::string& name, const SlapModel& model) {
  return std::make_unique<SlapBody>(name, model);
}

double slap_elastic(const SlapModel& model, const Eigen::Ref<const VectorXd>& eta, Eigen::Ref<VectorXd> force,
                    MatrixXd* tangent) {
  const int m = model.order();
  LISSOM_ASSERT(eta.size() == m && force.size() == m);
  const SlapKernel kernel(model, false);
  SlapKernel::Room room(kernel);
  kernel.update(eta, eta, room);
  force.setZero();
  kernel.add_force(room, force);
  if (tangent) {
    tangent->setZero(m, m);
    kernel.add_tangent(1, 0, room, *tangent);
  }
  return kernel.energy(room);
}

VectorXd slap_frequencies(const SlapModel& model, const Eigen::Ref<const VectorXd>& eta) {
  const int m = model.order();
  VectorXd force(m);
  MatrixXd K;
  slap_elastic(model, eta, force, &K);
  const Eigen::LLT<MatrixXd> M(model.M);
  if (M.info() != Eigen::Success) fail_input("the mass matrix of the reduced mechanism is singular");
  // L^-1 K L^-T
  const MatrixXd half = M.matrixL().solve(K), both = M.matrixL().solve(half.transpose());
  VectorXd values = symmetric_eigen(both, 0, m, false).values;
  for (double& value : values)
    value = std::copysign(std::sqrt(std::abs(value)), value) / (2 * std::numbers::pi);
  return values;
}

}  // namespace lissom

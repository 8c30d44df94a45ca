#include "lissom/mbs/gcms_body.hpp"

#include <fmt/ranges.h>
#include <Eigen/Geometry>
#include <Eigen/LU>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "lissom/core/polar.hpp"
#include "lissom/core/text.hpp"
#include "lissom/linalg/blas.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, 3>;         // s by 3: a row for each field
using ModeColumns = Eigen::Matrix<double, 3, Eigen::Dynamic>;  // 3 by s: the coordinates q as they are
using Matrix39 = Eigen::Matrix<double, 3, 9>;
using Matrix12x3 = Eigen::Matrix<double, 12, 3>;

auto as_columns(const Body::Vector& q) {
  return Eigen::Map<const ModeColumns>(q.data(), 3, q.size() / 3);
}
// the 3s numbers of `rows`, all x, then all y, then all z
auto stacked(Rows& rows) {
  return Eigen::Map<VectorXd>(rows.data(), rows.size());
}

// Blocks [x_a]x one below the other, stacked as above: 3s by 3.
void cross_blocks(const Rows& x, MatrixXd& out) {
  const Index s = x.rows();
  for (int j = 0; j < 3; ++j) {
    const int k = (j + 1) % 3, l = (j + 2) % 3;
    // x x e_j has x_l along k and -x_k along l
    out.col(j).segment(j * s, s).setZero();
    out.col(j).segment(k * s, s) = x.col(l);
    out.col(j).segment(l * s, s) = -x.col(k);
  }
}

struct GcmsMarker {
  VectorXd position;  // s
  MatrixXd moment;    // 3 by s; empty without rotation
  // from the mean of the nodes to the marker, and its axes, in the body's frame
  std::array<Vector3d, 4> arms;
};

class GcmsBody final : public Body {
 public:
  GcmsBody(const std::string& name, const GcmsModel& model);

  std::string formulation() const override { return "gcms"; }
  int coordinates() const override { return 3 * s_; }
  int own_constraints() const override { return 0; }
  int flexible_modes() const override { return 3 * s_ - 6; }
  bool constant_mass() const override { return true; }
  std::unique_ptr<Workspace> workspace() const override { return std::make_unique<Work>(s_, modes_); }

  void add_residual(const Vector& q, const Vector& v, const Vector& a, double w, const Vector3d& gravity,
                    Workspace& workspace, Eigen::Ref<VectorXd> r) const override;
  void jacobian(const Vector& q, const Vector& v, const Vector& a, double w, const Vector3d& gravity,
                double cq, double cv, double ca, Workspace& workspace, Eigen::Ref<MatrixXd> J) const override;
  void mass(const Vector&, Workspace&, Eigen::Ref<MatrixXd> M) const override { M.setIdentity(); }

  int add_marker(const MarkerSpec& spec) override;
  bool marker_rotates(int marker) const override { return markers_[marker].moment.size() > 0; }
  void marker(int marker, const Vector& q, const Vector& v, bool gradients, Workspace& workspace,
              MarkerKinematics& out) const override;
  void add_marker_hessian(int marker, const Vector& q, const Vector12d& w, double factor,
                          Workspace& workspace, Eigen::Ref<MatrixXd> H) const override;

  void place(const Placement& placement, Eigen::Ref<VectorXd> q, Eigen::Ref<VectorXd> v) const override;
  double mass() const override { return model_.mass; }
  Energy energy(const Vector& q, const Vector& v, const Vector3d& gravity,
                Workspace& workspace) const override;
  Eigen::Matrix3Xd node_positions(const Vector& q) const override;
  Eigen::Matrix3Xd node_velocities(const Vector& q, const Vector& v) const override;
  const std::vector<std::int64_t>& node_ids() const override { return model_.node_ids; }
  DeformationBasis deformation_basis(int) const override {
    return {DeformationKind::Fields, 3 * s_, &model_.S};
  }
  void deformation(int group, const Vector& q, Eigen::Ref<VectorXd> d) const override;
  Eigen::Matrix3Xd local_displacements(int group, const Vector& q) const override;
  std::optional<Vector3d> frame_spin(const Vector& q, const Vector& v) const override {
    const Polar p = polar(as_columns(q).middleCols<3>(1) * rest_);
    return p.A * p.omega(as_columns(v).middleCols<3>(1) * rest_);
  }
  void displacement_scale(Eigen::Ref<VectorXd> scale) const override;
  std::string coordinate_name(int i) const override;
  double radius() const override { return radius_; }

 private:
  struct Work final : Workspace {
    Work(int s, int modes)
        : z(s, 3),
          z_rate(s, 3),
          b(s, 3),
          f(s, 3),
          eta(modes),
          damped(modes),
          cross(3 * s, 3),
          KZ(3 * s, 3),
          DZ(3 * s, 3),
          DB(3 * s, 3),
          Rc(3 * s, 9),
          column(3 * s),
          G(3 * s, 3),
          L(3 * s, 3) {}
    Polar p;
    Rows z;       // z_a, the deformation in the body's axes
    Rows z_rate;  // its rate, less that of rotating the rest
    Rows b;       // A' v_a
    Rows f;       // K_hat z + D z_rate
    VectorXd eta, damped;
    MatrixXd cross, KZ, DZ, DB, Rc;
    VectorXd column;
    MatrixXd G, L;  // 3s by 3, of markers
    Vector3d omega = Vector3d::Zero();
  };

  bool damped() const { return model_.D_modal.size() > 0; }
  // A, z, and with damping omega, b and z_rate.
  void deform(const Vector& q, const Vector& v, Work& w) const;
  // f at this deformation and its rate.
  void elastic_force(Work& w) const;
  // out (3s) = D_ x, by way of the modes.
  template <class In, class Out>
  void damp(const In& x, Work& w, Out&& out) const {
    w.eta.noalias() = P_ * x;
    w.damped.noalias() = model_.D_modal * w.eta;
    out.noalias() = P_.transpose() * w.damped;
  }
  // y = H^-1 tau, tau = sum z_a x f_a.
  Vector3d turning(const Work& w) const;

  GcmsModel model_;
  int s_, modes_;
  Matrix3d rest_;       // row a - 1 is rest_a = m_a of C = sum q_a m_a', a = 1..3
  MatrixXd K_, D_, P_;  // of stacked coordinates; D_ = P' D_modal P
  double root_mass_, radius_ = 0;
  std::vector<GcmsMarker> markers_;
  std::unordered_map<std::int64_t, int> node_index_;
};

GcmsBody::GcmsBody(const std::string& name, const GcmsModel& model) : Body(name), model_(model) {
  s_ = model_.fields();
  const Index n = 3 * static_cast<Index>(s_);
  const auto wrong = [&](const std::string& what) {
    fail_input("body '{}': the GCMS data do not fit together, {}", name, what);
  };
  if (s_ < 4 || model_.S.rows() == 0) wrong(fmt::format("{} fields at {} nodes", s_, model_.S.rows()));
  if (model_.K_hat.rows() != n || model_.K_hat.cols() != n)
    wrong(
        fmt::format("K_hat is {} by {}, expected {} by {}", model_.K_hat.rows(), model_.K_hat.cols(), n, n));
  if (model_.points.cols() != model_.S.rows() ||
      static_cast<Index>(model_.node_ids.size()) != model_.S.rows())
    wrong(fmt::format("{} points and {} node numbers for {} rows of S", model_.points.cols(),
                      model_.node_ids.size(), model_.S.rows()));
  if (!(model_.mass > 0)) wrong(fmt::format("the mass is {} kg", model_.mass));
  modes_ = static_cast<int>(model_.P.rows());
  if (model_.P.size() > 0 && model_.P.cols() != n)
    wrong(fmt::format("P has {} columns, expected {}", model_.P.cols(), n));
  if (damped() && (model_.D_modal.rows() != modes_ || model_.D_modal.cols() != modes_))
    wrong(fmt::format("D_modal is {} by {} for {} modes", model_.D_modal.rows(), model_.D_modal.cols(),
                      modes_));
  if (model_.Xi.size() > 0 && model_.Xi.cols() != modes_)
    wrong(fmt::format("Xi has {} columns for {} modes", model_.Xi.cols(), modes_));
  // that is what tells the basis from others
  root_mass_ = std::sqrt(model_.mass);
  const Eigen::Matrix3Xd arms = model_.points.colwise() - model_.centre;
  const MatrixXd affine = arms.transpose() * model_.T;
  radius_ = std::sqrt(arms.colwise().squaredNorm().maxCoeff());
  if (((model_.S.col(0).array() * root_mass_ - 1).abs() > 1e-9).any() ||
      ((model_.S.middleCols<3>(1) - affine).cwiseAbs().maxCoeff() > 1e-9 * affine.cwiseAbs().maxCoeff()))
    wrong("the first fields are not 1 / sqrt(mass) and (X - x_c) T, as those of the scalar basis are");
  if (!(std::abs(model_.T.determinant()) > 0)) wrong("T is singular");
  rest_ = model_.T.inverse();
  for (const GcmsFrame& frame : model_.frames)
    if (frame.position.size() != s_ || (frame.rotates() && frame.moment.cols() != s_))
      wrong(fmt::format("frame '{}' has not {} fields", frame.name, s_));

  // x of all fields, then y, then z
  std::vector<int> order;
  for (int l = 0; l < 3; ++l)
    for (int a = 0; a < s_; ++a) order.push_back(3 * a + l);
  K_ = model_.K_hat(order, order);
  if (model_.P.size() > 0) P_ = model_.P(Eigen::all, order);
  if (damped()) {
    MatrixXd DP(modes_, n);
    gemm(false, false, 1, model_.D_modal, P_, 0, DP);
    D_.resize(n, n);
    gemm(true, false, 1, P_, DP, 0, D_);
  }
  for (size_t i = 0; i < model_.node_ids.size(); ++i) node_index_[model_.node_ids[i]] = static_cast<int>(i);
}

void GcmsBody::deform(const Vector& q, const Vector& v, Work& w) const {
  const auto Q = as_columns(q);
  w.p = polar(Q.middleCols<3>(1) * rest_);
  w.z.noalias() = Q.transpose().lazyProduct(w.p.A);
  // translation is no deformation
  w.z.row(0).setZero();
  w.z.middleRows<3>(1) -= rest_;
  if (!damped()) return;
  const auto V = as_columns(v);
  w.omega = w.p.omega(V.middleCols<3>(1) * rest_);
  w.b.noalias() = V.transpose().lazyProduct(w.p.A);
  for (int j = 0; j < 3; ++j) {
    const int k = (j + 1) % 3, l = (j + 2) % 3;
    w.z_rate.col(j) = w.b.col(j) + w.omega[l] * w.z.col(k) - w.omega[k] * w.z.col(l);
  }
}

void GcmsBody::elastic_force(Work& w) const {
  stacked(w.f).noalias() = K_ * stacked(w.z);
  if (!damped()) return;
  w.eta.noalias() = P_ * stacked(w.z_rate);
  w.damped.noalias() = model_.D_modal * w.eta;
  stacked(w.f).noalias() += P_.transpose() * w.damped;
}

Vector3d GcmsBody::turning(const Work& w) const {
  const Matrix3d N = w.z.transpose().lazyProduct(w.f);
  return -w.p.H_inverse * (2 * skew_vector(N));
}

void GcmsBody::add_residual(const Vector& q, const Vector& v, const Vector& a, double w,
                            const Vector3d& gravity, Workspace& workspace, Eigen::Ref<VectorXd> r) const {
  Work& room = static_cast<Work&>(workspace);
  deform(q, v, room);
  elastic_force(room);
  Eigen::Map<ModeColumns> force(r.data(), 3, s_);
  r += w * a;
  // A f - G' tau, G_a = H^-1 [m_a]x A'
  force.noalias() += room.p.A.lazyProduct(room.f.transpose());
  const Vector3d y = turning(room);
  for (int k = 0; k < 3; ++k) force.col(1 + k) += room.p.A * rest_.row(k).transpose().cross(y);
  force.col(0) -= root_mass_ * gravity;
}

// With D = dz/dq = A' + [z + rest]x G and Y = d(z_rate)/dq,
//   J = cq (D' K D + D' D_ Y + second derivatives of z, times f) + cv D' D_ D + ca w.
// K and D_ annihilate rotations of the rest. What is not A (..) A' touches the nine columns and rows of the
// affine fields only (notation as in polar.hpp; B of the velocity is B_v):
//   second derivatives  G' (sym(N + U [y]x) - tr(N) I) G + L G + G' L',  N = sum (z + rest)_a f_a',
//                       L_a = A (m_a y' - y m_a' - [f_a]x)
//   Y = -[omega]x A' + ([b]x - [omega]x [z + rest]x) G + [z + rest]x d omega/dq.
void GcmsBody::jacobian(const Vector& q, const Vector& v, const Vector&, double w, const Vector3d&, double cq,
                        double cv, double ca, Workspace& workspace, Eigen::Ref<MatrixXd> J) const {
  Work& room = static_cast<Work&>(workspace);
  deform(q, v, room);
  elastic_force(room);
  const Matrix3d A = room.p.A, At = A.transpose();
  const bool damping = damped();

  // A (cq K + D_ E) A', columns first
  const Matrix3d E = cv * Matrix3d::Identity() - cq * skew(room.omega), EAt = E * At;
  const Index s = s_;
  for (Index b = 0; b < s; ++b)
    for (int j = 0; j < 3; ++j) {
      room.column =
          (cq * A(j, 0)) * K_.col(b) + (cq * A(j, 1)) * K_.col(s + b) + (cq * A(j, 2)) * K_.col(2 * s + b);
      if (damping)
        room.column += EAt(0, j) * D_.col(b) + EAt(1, j) * D_.col(s + b) + EAt(2, j) * D_.col(2 * s + b);
      double* to = J.col(3 * b + j).data();
      const double *x = room.column.data(), *y = x + s, *z = y + s;
      for (Index a = 0; a < s; ++a)
        for (int i = 0; i < 3; ++i) to[3 * a + i] = A(i, 0) * x[a] + A(i, 1) * y[a] + A(i, 2) * z[a];
    }

  // derivative of the rotation, and of its rate
  Matrix39 G, dOmega = Matrix39::Zero();
  for (int k = 0; k < 3; ++k) G.middleCols<3>(3 * k) = room.p.H_inverse * skew(rest_.row(k)) * At;
  if (damping) {
    const Matrix3d B = room.b.middleRows<3>(1).transpose() * rest_;
    dOmega = (trace_minus(B) - skew(room.p.U * room.omega)) * G;
    for (int k = 0; k < 3; ++k) {
      const Vector3d m = rest_.row(k);
      dOmega.middleCols<3>(3 * k) +=
          (room.omega * m.transpose() - m.dot(room.omega) * Matrix3d::Identity()) * At;
    }
    dOmega = (-room.p.H_inverse * dOmega).eval();
  }

  // K D and D_ (cq Y + cv D), less what was done
  cross_blocks(room.z, room.cross);
  for (int j = 0; j < 3; ++j) room.KZ.col(j).noalias() = K_ * room.cross.col(j);
  if (damping) {
    for (int j = 0; j < 3; ++j) damp(room.cross.col(j), room, room.DZ.col(j));
    // [b]x - [omega]x [z + rest]x, column j: b x e_j - omega x ((z + rest) x e_j)
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) room.column.segment(k * s, s) = room.omega[j] * -room.z.col(k);
      // omega x (x x e_j) = x omega_j - e_j (omega . x)
      room.column.segment(j * s, s).noalias() += room.z * room.omega;
      for (int a = 0; a < 3; ++a)
        for (int k = 0; k < 3; ++k) {
          room.column[k * s + 1 + a] -= rest_(a, k) * room.omega[j];
          if (k == j) room.column[k * s + 1 + a] += rest_.row(a).dot(room.omega);
        }
      const int k = (j + 1) % 3, l = (j + 2) % 3;
      room.column.segment(k * s, s) += room.b.col(l);
      room.column.segment(l * s, s) -= room.b.col(k);
      damp(room.column, room, room.DB.col(j));
    }
    room.DB *= cq;
    room.DB += cq * room.KZ + cv * room.DZ;
    room.Rc.noalias() = room.DB.lazyProduct(G);
    const Matrix39 weighted = cq * dOmega;
    room.Rc.noalias() += room.DZ.lazyProduct(weighted);
  } else {
    const Matrix39 weighted = cq * G;
    room.Rc.noalias() = room.KZ.lazyProduct(weighted);
  }

  // second derivatives
  const Vector3d y = turning(room);
  Matrix3d N = room.z.transpose().lazyProduct(room.f);
  N += rest_.transpose() * room.f.middleRows<3>(1);
  const Matrix3d inner = N + room.p.U * skew(y);
  const Matrix3d middle = 0.5 * (inner + inner.transpose()) - N.trace() * Matrix3d::Identity();

  for (Index a = 0; a < s; ++a) {
    Matrix39 Ra;
    Matrix3d Ya;
    for (int l = 0; l < 3; ++l) {
      Ra.row(l) = room.Rc.row(l * s + a);
      Ya.col(l) = cq * room.KZ.row(l * s + a).transpose();
    }
    if (damping) {
      Matrix3d Da;
      for (int l = 0; l < 3; ++l) Da.col(l) = room.DZ.row(l * s + a).transpose();
      Ya += Da * E;
    }
    Matrix3d L = -skew(room.f.row(a));
    if (a >= 1 && a <= 3) {
      const Vector3d m = rest_.row(a - 1);
      L += m * y.transpose() - y * m.transpose();
    }
    L = (cq * A * L).eval();
    J.block<3, 9>(3 * a, 3) += A * Ra + L * G;
    J.block<9, 3>(3, 3 * a) += G.transpose() * (Ya * At + L.transpose());
  }
  const Matrix39 inside = room.cross.transpose().lazyProduct(room.Rc) + cq * middle * G;
  J.block<9, 9>(3, 3) += G.transpose() * inside;
  J.diagonal().array() += ca * w;
}

int GcmsBody::add_marker(const MarkerSpec& spec) {
  GcmsFrame frame;
  switch (spec.kind) {
    case MarkerSpec::Kind::Interface: {
      std::vector<std::string> names;
      const GcmsFrame* found = nullptr;
      for (const GcmsFrame& candidate : model_.frames) {
        names.push_back(candidate.name);
        if (candidate.name == spec.name) found = &candidate;
      }
      if (!found) {
        fail_input("body '{}' has no interface '{}'{}; it has {}", name(), spec.name,
                   did_you_mean(spec.name, names),
                   names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
      }
      frame = *found;
      break;
    }
    case MarkerSpec::Kind::Nodes: {
      std::vector<int> nodes;
      for (const std::int64_t id : spec.node_ids) {
        const auto found = node_index_.find(id);
        if (found == node_index_.end()) {
          const auto [first, last] = std::minmax_element(model_.node_ids.begin(), model_.node_ids.end());
          fail_input("body '{}' has no node {}; it has {} nodes from {} to {}", name(), id,
                     model_.node_ids.size(), *first, *last);
        }
        nodes.push_back(found->second);
      }
      if (nodes.empty()) fail_input("a marker of body '{}' names no node", name());
      frame = gcms_frame(model_, spec.name, nodes);
      break;
    }
    case MarkerSpec::Kind::Point:
      fail_input(
          "body '{}' is flexible and has markers at interfaces and nodes only, not at a point; name a node "
          "or "
          "an interface there",
          name());
  }
  GcmsMarker marker;
  marker.position = frame.position;
  marker.moment = frame.moment;
  marker.arms[0] = frame.rotates() ? Vector3d(frame.origin - frame.mean) : Vector3d(Vector3d::Zero());
  for (int k = 0; k < 3; ++k) marker.arms[1 + k] = spec.axes.col(k);
  markers_.push_back(std::move(marker));
  return static_cast<int>(markers_.size()) - 1;
}

// With arms u_0 (of the position) and u_1..3 (the axes): m = (position, 0) + A u, dm = A [omega]x u, and G, d
// omega/dq as above, for all fields.
void GcmsBody::marker(int number, const Vector& q, const Vector& v, bool gradients, Workspace&,
                      MarkerKinematics& out) const {
  const GcmsMarker& marker = markers_[number];
  const auto Q = as_columns(q), V = as_columns(v);
  const Index n = 3 * static_cast<Index>(s_);
  out.rotates = marker.moment.size() > 0;
  out.J.resize(12, n);
  out.m.setZero();
  out.rate.setZero();
  out.m.head<3>().noalias() = Q.lazyProduct(marker.position);
  out.rate.head<3>().noalias() = V.lazyProduct(marker.position);
  if (gradients) out.V.resize(12, n);
  if (!out.rotates) {
    out.J.setZero();
    for (Index a = 0; a < s_; ++a) out.J.block<3, 3>(0, 3 * a).diagonal().setConstant(marker.position[a]);
    if (gradients) out.V.setZero();
    return;
  }

  const Matrix3d C = Q.lazyProduct(marker.moment.transpose());
  const Polar p = polar(C);
  const Matrix3d B = p.A.transpose() * Matrix3d(V.lazyProduct(marker.moment.transpose()));
  const Vector3d omega = p.H_inverse * (2 * skew_vector(B));
  Matrix12x3 X, X_rate;  // -A [u]x and -A [omega x u]x
  for (int k = 0; k < 4; ++k) {
    const Vector3d& u = marker.arms[k];
    const Vector3d turned = omega.cross(u);
    out.m.segment<3>(3 * k) += p.A * u;
    out.rate.segment<3>(3 * k) += p.A * turned;
    X.middleRows<3>(3 * k) = -p.A * skew(u);
    X_rate.middleRows<3>(3 * k) = -p.A * skew(turned);
  }
  const Matrix12x3 XH = X * p.H_inverse;
  const Matrix3d At = p.A.transpose();
  const Matrix12x3 of_G = (X_rate - XH * (trace_minus(B) - skew(p.U * omega))) * p.H_inverse;
  const Vector12d XH_omega = XH * omega;
  for (Index a = 0; a < s_; ++a) {
    const Vector3d m = marker.moment.col(a);
    const Matrix3d turn = skew(m) * At;
    out.J.middleCols<3>(3 * a).noalias() = XH * turn;
    out.J.block<3, 3>(0, 3 * a).diagonal().array() += marker.position[a];
    if (!gradients) continue;
    const Matrix12x3 rest = m.dot(omega) * XH - XH_omega * m.transpose();
    out.V.middleCols<3>(3 * a).noalias() = of_G * turn + rest * At;
  }
}

void GcmsBody::add_marker_hessian(int number, const Vector& q, const Vector12d& w, double factor,
                                  Workspace& workspace, Eigen::Ref<MatrixXd> H) const {
  const GcmsMarker& marker = markers_[number];
  if (marker.moment.size() == 0) return;
  Work& room = static_cast<Work&>(workspace);
  const Polar p = polar(as_columns(q).lazyProduct(marker.moment.transpose()));
  Matrix3d W = Matrix3d::Zero();
  for (int k = 0; k < 4; ++k) W += factor * w.segment<3>(3 * k) * marker.arms[k].transpose();
  const Polar::Second second = p.second(W);
  // G' middle G - L G - G' L', L_a = A (m_a y' - y m_a'); G here is its transpose
  for (Index a = 0; a < s_; ++a) {
    const Vector3d m = marker.moment.col(a);
    room.G.middleRows<3>(3 * a).noalias() = -p.A * skew(m) * p.H_inverse;
    room.L.middleRows<3>(3 * a).noalias() = p.A * (m * second.y.transpose() - second.y * m.transpose());
  }
  for (Index b = 0; b < 3 * static_cast<Index>(s_); ++b) {
    const Vector3d g = room.G.row(b), t = second.middle * g - room.L.row(b).transpose();
    H.col(b) += t[0] * room.G.col(0) + t[1] * room.G.col(1) + t[2] * room.G.col(2) - g[0] * room.L.col(0) -
                g[1] * room.L.col(1) - g[2] * room.L.col(2);
  }
}

void GcmsBody::place(const Placement& placement, Eigen::Ref<VectorXd> q, Eigen::Ref<VectorXd> v) const {
  q.setZero();
  v.setZero();
  const Vector3d centre = placement.rotation * model_.centre;
  q.head<3>() = root_mass_ * (placement.position + centre);
  v.head<3>() = root_mass_ * (placement.velocity + placement.angular_velocity.cross(centre));
  for (int k = 0; k < 3; ++k) {
    const Vector3d at = placement.rotation * rest_.row(k).transpose();
    q.segment<3>(3 + 3 * k) = at;
    v.segment<3>(3 + 3 * k) = placement.angular_velocity.cross(at);
  }
}

Body::Energy GcmsBody::energy(const Vector& q, const Vector& v, const Vector3d& gravity,
                              Workspace& workspace) const {
  Work& room = static_cast<Work&>(workspace);
  deform(q, v, room);
  Energy energy;
  stacked(room.f).noalias() = K_ * stacked(room.z);
  energy.elastic = 0.5 * stacked(room.f).dot(stacked(room.z));
  energy.kinetic = 0.5 * v.squaredNorm();
  energy.gravity = -root_mass_ * gravity.dot(q.head<3>());
  energy.momentum = root_mass_ * v.head<3>();
  for (Index a = 0; a < s_; ++a) energy.angular_momentum += q.segment<3>(3 * a).cross(v.segment<3>(3 * a));
  if (damped()) {
    room.eta.noalias() = P_ * stacked(room.z_rate);
    room.damped.noalias() = model_.D_modal * room.eta;
    energy.damping_power = room.eta.dot(room.damped);
  }
  return energy;
}

Eigen::Matrix3Xd GcmsBody::node_positions(const Vector& q) const {
  MatrixXd x(3, model_.S.rows());
  gemm(false, true, 1, as_columns(q), model_.S, 0, x);
  return x;
}

// places are linear in q
Eigen::Matrix3Xd GcmsBody::node_velocities(const Vector&, const Vector& v) const {
  return node_positions(v);
}

void GcmsBody::deformation(int, const Vector& q, Eigen::Ref<VectorXd> d) const {
  const auto Q = as_columns(q);
  const Matrix3d A = polar(Q.middleCols<3>(1) * rest_).A;
  Eigen::Map<ModeColumns> z(d.data(), 3, s_);
  z.noalias() = A.transpose().lazyProduct(Q);
  z.col(0).setZero();  // translation is no deformation
  z.middleCols<3>(1) -= rest_.transpose();
}

Eigen::Matrix3Xd GcmsBody::local_displacements(int group, const Vector& q) const {
  VectorXd d(coordinates());
  deformation(group, q, d);
  MatrixXd u(3, model_.S.rows());
  gemm(false, true, 1, as_columns(d), model_.S, 0, u);
  return u;
}

void GcmsBody::displacement_scale(Eigen::Ref<VectorXd> scale) const {
  for (Index a = 0; a < s_; ++a) scale.segment<3>(3 * a).setConstant(model_.S.col(a).cwiseAbs().maxCoeff());
}

std::string GcmsBody::coordinate_name(int i) const {
  const char axis = static_cast<char>('x' + i % 3);
  if (i < 3) return fmt::format("position {}", axis);
  if (i < 12) return fmt::format("rotation and stretch {} {}", i / 3, axis);
  return fmt::format("field {} {}", i / 3 - 3, axis);
}

}  // namespace

std::unique_ptr<Body> make_gcms_body(const std::string& name, const GcmsModel& model) {
  return std::make_unique<GcmsBody>(name, model);
}

}  // namespace lissom

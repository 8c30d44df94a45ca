// Equations of motion in a floating frame, with the rotation matrix R as nine free numbers first. A point is
// at r = x + R u, u = X + Phi eta; its acceleration is r'' = x'' + R'' u + 2 R' u' + R u''. The forces of
// inertia (principle of d'Alembert), with int u = 0 of the mean axes (frame_inertia.hpp):
//   on x     m x''
//   on R     int r'' u'        = R'' S + 2 R' V + R W,   S = int u u', V = int (du/dt) u', W = int (d2u/dt2)
//   u' on eta   int Phi' R' r''   = A parts(R'R'') + 2 A_v parts(R'R') + eta''
// with A (N by 9) of u and Phi, A_v of du/dt and Phi. S, V, W are matrix_of nine numbers: V of A' eta', W of
// A' eta''. R'R = I was used for the factor of eta'', and that R' dR/dt is skew for the second term on eta,
// which leaves three of its nine products: both hold wherever the own constraints and their rate do, and
// elsewhere change no more than what the constraints' multipliers balance.
//
// Rotation coordinates s enter by R(s), L = dR/ds (9 by K): dR/dt = L s', d2R/dt2 = L(s) s'' + L(s') s',
// forces L' F. K = 4, L linear in the Euler parameters; or K = 9, L = I.
#include "lissom/mbs/floating_frame.hpp"

#include <Eigen/Dense>

#include <cmath>

#include "lissom/core/rotation.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/column_products.hpp"
#include "lissom/mbs/frame_inertia.hpp"
#include "lissom/mbs/frame_marker.hpp"

namespace lissom {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

constexpr int euler = 4, matrix = 9;
using MatrixX9d = Eigen::Matrix<double, Eigen::Dynamic, 9>;

// Damping between two modes counts as none below this, relative to their own.
constexpr double diagonal_tolerance = 1e-9;
// How far principal moments of a rigid body may break the triangle inequality: numbers of three digits do.
constexpr double triangle_tolerance = 1e-3;
constexpr double symmetry_tolerance = 1e-6;
// On a rotation matrix that a body is placed with.
constexpr double placement_tolerance = 1e-6;

// 3 by 3 from nine numbers, columns one below the other.
template <class Column>
Matrix3d square(const Column& column) {
  Matrix3d B;
  Eigen::Map<Vector9d>(B.data()) = column;
  return B;
}
Vector9d column_of(const Matrix3d& B) {
  return Eigen::Map<const Vector9d>(B.data());
}

// All that does not change.
struct FrameData {
  std::string formulation;
  FrameInertia inertia;
  VectorXd stiffness;     // K_ff, a diagonal
  VectorXd damping;       // D_ff where it is a diagonal; empty without damping
  MatrixXd full_damping;  // D_ff where it is not
  MatrixXd modes;         // reduced coordinates by N
  FramePlaces places;
  double radius = 0;
  VectorXd mode_scale;  // N
};

template <int K>
class FloatingFrame final : public Body {
 public:
  using RotationGradient = Eigen::Matrix<double, 9, K>;
  using MatrixXK = Eigen::Matrix<double, Eigen::Dynamic, K>;

  struct Room final : Workspace {
    explicit Room(int N) : A(N, 9), A_v(N, 9), A_a(N, 9), coupling(N, K), block(N, N) {}
    MatrixX9d A, A_v, A_a;  // of u, du/dt, d2u/dt2 and Phi
    MatrixXK coupling;
    MatrixXd block;
    // R, dR/dt and L, for the rotation coordinates s and s' that they were made from
    Eigen::Matrix<double, K, 1> at = Eigen::Matrix<double, K, 1>::Zero(), at_rate = at;
    Matrix3d R, R_v;
    RotationGradient L;
    bool turned = false;
  };

  FloatingFrame(const std::string& name, FrameData data)
      : Body(name), data_(std::move(data)), N_(data_.inertia.modes()) {}

  std::string formulation() const override { return data_.formulation; }
  int coordinates() const override { return 3 + K + N_; }
  int own_constraints() const override { return K == euler ? 1 : 6; }
  int flexible_modes() const override { return N_; }
  bool constant_mass() const override { return false; }
  std::unique_ptr<Workspace> workspace() const override { return std::make_unique<Room>(N_); }

  void add_residual(const Vector& q, const Vector& v, const Vector& a, double w, const Vector3d& gravity,
                    Workspace& workspace, Eigen::Ref<VectorXd> r) const override;
  void jacobian(const Vector& q, const Vector& v, const Vector& a, double w, const Vector3d& gravity,
                double cq, double cv, double ca, Workspace& workspace, Eigen::Ref<MatrixXd> J) const override;
  void mass(const Vector& q, Workspace& workspace, Eigen::Ref<MatrixXd> M) const override;

  void own_constraint(const Vector& q, Eigen::Ref<VectorXd> g) const override;
  void own_gradient(const Vector& q, Eigen::Ref<MatrixXd> G) const override;
  void add_own_hessian(const Vector& lambda, double factor, Eigen::Ref<MatrixXd> H) const override;

  int add_marker(const MarkerSpec& spec) override {
    markers_.push_back(make_frame_marker(data_.places, spec));
    return static_cast<int>(markers_.size()) - 1;
  }
  bool marker_rotates(int marker) const override { return markers_.at(marker).rotates; }
  void marker(int marker, const Vector& q, const Vector& v, bool gradients, Workspace& workspace,
              MarkerKinematics& out) const override;
  bool projects_forces() const override { return true; }
  void marker_motion(int marker, const Vector& q, const Vector& v, bool axes, Workspace& workspace,
                     MarkerKinematics& out) const override;
  void add_marker_force(int marker, const Vector& q, const Vector& v, const Vector12d& f,
                        Workspace& workspace, Eigen::Ref<VectorXd> r) const override;
  void add_marker_hessian(int marker, const Vector& q, const Vector12d& w, double factor,
                          Workspace& workspace, Eigen::Ref<MatrixXd> H) const override;

  void place(const Placement& placement, Eigen::Ref<VectorXd> q, Eigen::Ref<VectorXd> v) const override;
  double mass() const override { return data_.inertia.mass; }
  Energy energy(const Vector& q, const Vector& v, const Vector3d& gravity,
                Workspace& workspace) const override;
  Eigen::Matrix3Xd node_positions(const Vector& q) const override;
  Eigen::Matrix3Xd node_velocities(const Vector& q, const Vector& v) const override;
  const std::vector<std::int64_t>& node_ids() const override { return data_.places.node_ids; }
  DeformationBasis deformation_basis(int group) const override;
  void deformation(int group, const Vector& q, Eigen::Ref<VectorXd> d) const override;
  Eigen::Matrix3Xd local_displacements(int group, const Vector& q) const override;
  std::optional<Vector3d> frame_spin(const Vector& q, const Vector& v) const override {
    if (N_ == 0) return std::nullopt;
    return skew_vector(times(gradient(q), v) * rotation(q).transpose());
  }
  void displacement_scale(Eigen::Ref<VectorXd> scale) const override;
  std::string coordinate_name(int i) const override;
  double radius() const override { return data_.radius; }

 private:
  // R, its derivatives with respect to time and its gradient L at one state.
  struct Rotation {
    Matrix3d R, R_v, R_a;
    RotationGradient L;
  };
  static RotationGradient gradient(const Vector& q) {
    if constexpr (K == euler)
      return parameter_gradient(q.segment<4>(3));
    else
      return RotationGradient::Identity();
  }
  static Matrix3d rotation(const Vector& q) {
    if constexpr (K == euler)
      return rotation_from_parameters(q.segment<4>(3));
    else
      return square(q.template segment<K>(3));
  }
  // Markers of a body are asked for one after the other.
  static void turn(const Vector& q, const Vector& v, Room& room) {
    const auto s = q.template segment<K>(3), s_v = v.template segment<K>(3);
    if (room.turned && s == room.at && s_v == room.at_rate) return;
    room.at = s;
    room.at_rate = s_v;
    room.L = gradient(q);
    room.R = rotation(q);
    room.R_v = times(room.L, v);
    room.turned = true;
  }
  static Matrix3d times(const RotationGradient& L, const Vector& v) {
    return square((L * v.template segment<K>(3)).eval());
  }
  static Rotation rotation(const Vector& q, const Vector& v, const Vector& a, double w) {
    Rotation s;
    s.L = gradient(q);
    s.R = rotation(q);
    s.R_v = times(s.L, v);
    s.R_a = w * times(s.L, a);
    if constexpr (K == euler) s.R_a += times(gradient(v), v);
    return s;
  }

  // Second moment of the deformed body; 6..8 of A' eta cancel.
  Matrix3d second_moment(const MatrixX9d& A, const Eigen::Ref<const VectorXd>& eta) const {
    Matrix3d S = data_.inertia.second_moment;
    if (N_ == 0) return S;
    Vector9d z = Vector9d::Zero(), at_rest = Vector9d::Zero();
    column_dots(N_, 6, A.data(), N_, eta.data(), z.data());
    column_dots(N_, 6, data_.inertia.position.data(), N_, eta.data(), at_rest.data());
    return S + matrix_of(z + at_rest);
  }
  Matrix3d moment(const MatrixX9d& A, const Eigen::Ref<const VectorXd>& w) const {
    if (N_ == 0) return Matrix3d::Zero();
    Vector9d z;
    column_dots(N_, 9, A.data(), N_, w.data(), z.data());
    return matrix_of(z);
  }

  // What a marker's place and angles are in the frame: y_0 = o + U_t eta and theta = U_r eta, and their rates.
  struct InFrame {
    Vector3d y, y_v, theta, theta_v;
  };
  InFrame in_frame(const FrameMarker& mark, const Eigen::Ref<const VectorXd>& eta) const {
    InFrame s{mark.origin, Vector3d::Zero(), Vector3d::Zero(), Vector3d::Zero()};
    if (N_ == 0) return s;
    Eigen::Matrix<double, 6, 1> x = Eigen::Matrix<double, 6, 1>::Zero();
    column_dots(N_, mark.rotates ? 6 : 3, mark.by_mode.data(), N_, eta.data(), x.data());
    s.y += x.head<3>();
    s.theta = x.tail<3>();
    return s;
  }
  InFrame in_frame(const FrameMarker& mark, const Eigen::Ref<const VectorXd>& eta,
                   const Eigen::Ref<const VectorXd>& eta_v) const {
    InFrame s = in_frame(mark, eta);
    if (N_ == 0) return s;
    Eigen::Matrix<double, 6, 1> x = Eigen::Matrix<double, 6, 1>::Zero();
    column_dots(N_, mark.rotates ? 6 : 3, mark.by_mode.data(), N_, eta_v.data(), x.data());
    s.y_v = x.head<3>();
    s.theta_v = x.tail<3>();
    return s;
  }

  FrameData data_;
  int N_;
  std::vector<FrameMarker> markers_;
};

template <int K>
void FloatingFrame<K>::add_residual(const Vector& q, const Vector& v, const Vector& a, double w,
                                    const Vector3d& gravity, Workspace& workspace,
                                    Eigen::Ref<VectorXd> r) const {
  auto& room = static_cast<Room&>(workspace);
  const FrameInertia& inertia = data_.inertia;
  const auto eta = q.tail(N_), eta_v = v.tail(N_), eta_a = a.tail(N_);
  const Rotation s = rotation(q, v, a, w);

  r.template head<3>() += inertia.mass * (w * a.template head<3>() - gravity);

  Matrix3d F = s.R_a * inertia.second_moment;
  if (N_ > 0) {
    inertia.of_place(eta, room.A);
    F = s.R_a * second_moment(room.A, eta) + 2 * s.R_v * moment(room.A, eta_v) +
        w * s.R * moment(room.A, eta_a);
    // the three products that a skew R'R' leaves
    inertia.of_skew_motion(eta_v, room.A_v);
    auto f = r.tail(N_);
    const Vector9d turning = parts(s.R.transpose() * s.R_a);
    const Vector3d coriolis = 2 * skew_vector(s.R.transpose() * s.R_v);
    add_column_product(N_, 9, room.A.data(), N_, turning.data(), f.data());
    add_column_product(N_, 3, room.A_v.data() + 6 * N_, N_, coriolis.data(), f.data());
    f += w * eta_a + data_.stiffness.cwiseProduct(eta);
    if (data_.damping.size() > 0) f += data_.damping.cwiseProduct(eta_v);
    if (data_.full_damping.size() > 0) f.noalias() += data_.full_damping * eta_v;
  }
  r.template segment<K>(3).noalias() += s.L.transpose() * column_of(F);
}

template <int K>
void FloatingFrame<K>::jacobian(const Vector& q, const Vector& v, const Vector& a, double w, const Vector3d&,
                                double cq, double cv, double ca, Workspace& workspace,
                                Eigen::Ref<MatrixXd> J) const {
  auto& room = static_cast<Room&>(workspace);
  const FrameInertia& inertia = data_.inertia;
  const auto eta = q.tail(N_), eta_v = v.tail(N_), eta_a = a.tail(N_);
  const Rotation s = rotation(q, v, a, w);
  ca *= w;

  J.topRows(3).setZero();
  J.leftCols(3).setZero();
  J.template topLeftCorner<3, 3>().diagonal().setConstant(ca * inertia.mass);

  // what a change of the rotation coordinates does to R, dR/dt and d2R/dt2
  RotationGradient to_R = cq * s.L, to_R_v = cv * s.L, to_R_a = ca * s.L;
  if constexpr (K == euler) {
    const RotationGradient L_v = gradient(v);
    to_R_v += cq * L_v;
    to_R_a += 2 * cv * L_v + cq * w * gradient(a);
  }

  if (N_ > 0) {
    inertia.of_place(eta, room.A);
    inertia.of_motion(eta_v, room.A_v);
    inertia.of_motion(eta_a, room.A_a);
    room.A_a *= w;
  }
  const Matrix3d S = second_moment(room.A, eta), V = moment(room.A, eta_v), W = w * moment(room.A, eta_a);

  // rotation by rotation
  RotationGradient F;
  for (int k = 0; k < K; ++k)
    F.col(k) = column_of(square(to_R_a.col(k)) * S + 2 * square(to_R_v.col(k)) * V + square(to_R.col(k)) * W);
  auto J_rr = J.template block<K, K>(3, 3);
  if constexpr (K == euler)
    J_rr = s.L.transpose() * F + cq * parameter_hessian(s.R_a * S + 2 * s.R_v * V + s.R * W);
  else
    J_rr = F;
  if (N_ == 0) return;

  // rotation by deformation: S changes with the first six of 2 A, V and W with A, A_v and A_a, the last three
  // of which change sign with the order of the modes; and deformation by rotation
  Eigen::Matrix<double, 9, K> from_A, from_A_v, from_A_a, to_A;
  Eigen::Matrix<double, 3, K> to_A_v;
  for (int k = 0; k < K; ++k) {
    const Matrix3d L = square(s.L.col(k)), D = square(to_R.col(k));
    const Vector9d x = parts(s.R.transpose() * L), y = parts(s.R_v.transpose() * L);
    from_A.col(k) = ca * x + 2 * cv * y;
    from_A.col(k).template head<6>() += 2 * cq * parts(s.R_a.transpose() * L).template head<6>();
    from_A_v.col(k) = 2 * cq * y;
    from_A_a.col(k) = cq * x;
    to_A.col(k) = parts(D.transpose() * s.R_a + s.R.transpose() * square(to_R_a.col(k)));
    to_A_v.col(k) = 2 * skew_vector(D.transpose() * s.R_v + s.R.transpose() * square(to_R_v.col(k)));
  }
  from_A_v.template bottomRows<3>() *= -1;
  from_A_a.template bottomRows<3>() *= -1;
  room.coupling =
      room.A.lazyProduct(from_A) + room.A_v.lazyProduct(from_A_v) + room.A_a.lazyProduct(from_A_a);
  J.template block<K, Eigen::Dynamic>(3, 3 + K, K, N_) = room.coupling.transpose();
  J.template block<Eigen::Dynamic, K>(3 + K, 3, N_, K) =
      room.A.lazyProduct(to_A) + room.A_v.template rightCols<3>().lazyProduct(to_A_v);

  // deformation by deformation: the nine matrices, transposed
  Vector9d y = cq * parts(s.R.transpose() * s.R_a);
  y.tail<3>() += 2 * cv * skew_vector(s.R.transpose() * s.R_v);
  y.tail<3>() *= -1;
  const Eigen::Map<const MatrixX9d> Y(inertia.deformation.data(), N_ * N_, 9);
  auto J_ee = J.bottomRightCorner(N_, N_);
  Eigen::Map<VectorXd>(room.block.data(), N_ * N_).noalias() = Y * y;
  J_ee = room.block;
  J_ee.diagonal() += cq * data_.stiffness;
  J_ee.diagonal().array() += ca;
  if (data_.damping.size() > 0) J_ee.diagonal() += cv * data_.damping;
  if (data_.full_damping.size() > 0) J_ee += cv * data_.full_damping;
}

template <int K>
void FloatingFrame<K>::mass(const Vector& q, Workspace& workspace, Eigen::Ref<MatrixXd> M) const {
  auto& room = static_cast<Room&>(workspace);
  const RotationGradient L = gradient(q);
  const Matrix3d R = rotation(q);
  M.setZero();
  M.template topLeftCorner<3, 3>().diagonal().setConstant(data_.inertia.mass);
  if (N_ > 0) data_.inertia.of_place(q.tail(N_), room.A);
  const Matrix3d S = second_moment(room.A, q.tail(N_));
  RotationGradient LS;
  Eigen::Matrix<double, 9, K> to_A;
  for (int k = 0; k < K; ++k) {
    LS.col(k) = column_of(square(L.col(k)) * S);
    to_A.col(k) = parts(R.transpose() * square(L.col(k)));
  }
  M.template block<K, K>(3, 3).noalias() = L.transpose() * LS;
  if (N_ == 0) return;
  room.coupling = room.A.lazyProduct(to_A);
  M.template block<Eigen::Dynamic, K>(3 + K, 3, N_, K) = room.coupling;
  M.template block<K, Eigen::Dynamic>(3, 3 + K, K, N_) = room.coupling.transpose();
  M.bottomRightCorner(N_, N_).diagonal().setOnes();
}

// p'p - 1; or r1.r1 - 1, r2.r2 - 1, r3.r3 - 1, r1.r2, r2.r3, r3.r1
template <int K>
void FloatingFrame<K>::own_constraint(const Vector& q, Eigen::Ref<VectorXd> g) const {
  if constexpr (K == euler) {
    g[0] = q.segment<4>(3).squaredNorm() - 1;
  } else {
    const Matrix3d R = rotation(q);
    for (int i = 0; i < 3; ++i) {
      g[i] = R.col(i).squaredNorm() - 1;
      g[3 + i] = R.col(i).dot(R.col((i + 1) % 3));
    }
  }
}

template <int K>
void FloatingFrame<K>::own_gradient(const Vector& q, Eigen::Ref<MatrixXd> G) const {
  G.setZero();
  if constexpr (K == euler) {
    G.block<1, 4>(0, 3) = 2 * q.segment<4>(3).transpose();
  } else {
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3;
      G.block<1, 3>(i, 3 + 3 * i) = 2 * q.segment<3>(3 + 3 * i).transpose();
      G.block<1, 3>(3 + i, 3 + 3 * i) = q.segment<3>(3 + 3 * j).transpose();
      G.block<1, 3>(3 + i, 3 + 3 * j) = q.segment<3>(3 + 3 * i).transpose();
    }
  }
}

template <int K>
void FloatingFrame<K>::add_own_hessian(const Vector& lambda, double factor, Eigen::Ref<MatrixXd> H) const {
  const auto add = [&](int i, int j, double value) {
    H.block<3, 3>(3 + 3 * i, 3 + 3 * j).diagonal().array() += factor * value;
  };
  if constexpr (K == euler) {
    H.block<4, 4>(3, 3).diagonal().array() += 2 * factor * lambda[0];
  } else {
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3;
      add(i, i, 2 * lambda[i]);
      add(i, j, lambda[3 + i]);
      add(j, i, lambda[3 + i]);
    }
  }
}

// Every part of a marker is R y with a vector y of the frame: y_0 = o + U_t eta, y_k = B(theta) a_k.
template <int K>
void FloatingFrame<K>::marker_motion(int number, const Vector& q, const Vector& v, bool axes,
                                     Workspace& workspace, MarkerKinematics& out) const {
  const FrameMarker& mark = markers_[number];
  auto& room = static_cast<Room&>(workspace);
  turn(q, v, room);
  const Matrix3d &R = room.R, &R_v = room.R_v;
  const InFrame s = in_frame(mark, q.tail(N_), v.tail(N_));
  out.rotates = mark.rotates;
  out.m.head<3>() = q.template head<3>() + R * s.y;
  out.rate.head<3>() = v.template head<3>() + R_v * s.y + R * s.y_v;
  if (!axes) return;
  if (!mark.rotates) {
    out.m.tail<9>().setZero();
    out.rate.tail<9>().setZero();
    return;
  }
  for (int row = 3; row < 12; row += 3) {
    const Vector3d axis = mark.axes.col(row / 3 - 1), turned = s.theta.cross(axis);
    const Vector3d turned_v = s.theta_v.cross(axis);
    const Vector3d y = axis + turned + s.theta.cross(turned) / 2;
    const Vector3d y_v = turned_v + (s.theta_v.cross(turned) + s.theta.cross(turned_v)) / 2;
    out.m.segment<3>(row).noalias() = R * y;
    out.rate.segment<3>(row).noalias() = R_v * y + R * y_v;
  }
}

// r += J' f: forces and moments in the frame, then those on the rotation coordinates, L' (sum f y'), and on the modes,
// U_t' R' f_0 + U_r' sum (dy_k/dtheta)' R' f_k.
template <int K>
void FloatingFrame<K>::add_marker_force(int number, const Vector& q, const Vector& v, const Vector12d& f,
                                        Workspace& workspace, Eigen::Ref<VectorXd> r) const {
  const FrameMarker& mark = markers_[number];
  auto& room = static_cast<Room&>(workspace);
  turn(q, v, room);
  const Matrix3d& R = room.R;
  const InFrame s = in_frame(mark, q.tail(N_));
  r.template head<3>() += f.head<3>();
  Matrix3d F = f.head<3>() * s.y.transpose();
  Eigen::Matrix<double, 6, 1> in_frame;
  in_frame.head<3>() = R.transpose() * f.head<3>();
  in_frame.tail<3>().setZero();
  for (int row = 3; row < 12 && mark.rotates; row += 3) {
    const Vector3d axis = mark.axes.col(row / 3 - 1), turned = s.theta.cross(axis), force = f.segment<3>(row);
    if (force.isZero(0)) continue;
    F += force * (axis + turned + s.theta.cross(turned) / 2).transpose();
    const Vector3d g = R.transpose() * force;
    in_frame.tail<3>() += axis.cross(g) + (turned.cross(g) + axis.cross(g.cross(s.theta))) / 2;
  }
  r.template segment<K>(3) += room.L.transpose().lazyProduct(column_of(F));
  if (N_ > 0)
    add_column_product(N_, mark.rotates ? 6 : 3, mark.by_mode.data(), N_, in_frame.data(), r.data() + 3 + K);
}

template <int K>
void FloatingFrame<K>::marker(int number, const Vector& q, const Vector& v, bool gradients, Workspace&,
                              MarkerKinematics& out) const {
  const FrameMarker& mark = markers_[number];
  const RotationGradient L = gradient(q);
  const Matrix3d R = rotation(q), R_v = times(L, v);
  RotationGradient L_v;
  if constexpr (K == euler)
    if (gradients) L_v = gradient(v);
  const int n = coordinates();
  // the rows of axes that are not there are zero, and stay so
  const bool had_axes = out.rotates || out.J.cols() != n;
  const bool had_axis_gradients = out.rotates || out.V.cols() != n;
  out.rotates = mark.rotates;
  out.J.resize(12, n);
  if (had_axes) out.J.setZero();
  out.J.template topLeftCorner<3, 3>().setIdentity();
  if (gradients) {
    out.V.resize(12, n);
    if (had_axis_gradients) out.V.setZero();
  }
  const auto eta = q.tail(N_), eta_v = v.tail(N_);

  // position: x + R y, y = origin + U eta
  {
    Vector3d y = mark.origin, y_v = Vector3d::Zero();
    for (int j = 0; j < N_; ++j) {
      const Vector3d U = mark.translation.col(j);
      y += eta[j] * U;
      y_v += eta_v[j] * U;
      out.J.template block<3, 1>(0, 3 + K + j).noalias() = R * U;
    }
    out.m.head<3>() = q.template head<3>() + R * y;
    out.rate.head<3>() = v.template head<3>() + R_v * y + R * y_v;
    for (int k = 0; k < K; ++k) {
      out.J.template block<3, 1>(0, 3 + k).noalias() = square(L.col(k)) * y;
      if (!gradients) continue;
      out.V.template block<3, 1>(0, 3 + k).noalias() = square(L.col(k)) * y_v;
      if constexpr (K == euler) out.V.template block<3, 1>(0, 3 + k) += square(L_v.col(k)) * y;
    }
    if (gradients && N_ > 0) out.V.block(0, 3 + K, 3, N_) = R_v.lazyProduct(mark.translation);
  }
  if (!mark.rotates) {
    out.m.tail<9>().setZero();
    out.rate.tail<9>().setZero();
    return;
  }

  // axes: R y, y = B(theta) axis, E = dy/dtheta
  Vector3d theta = Vector3d::Zero(), theta_v = Vector3d::Zero();
  if (N_ > 0) {
    theta.noalias() = mark.rotation * eta;
    theta_v.noalias() = mark.rotation * eta_v;
  }
  for (int row = 3; row < 12; row += 3) {
    const Vector3d axis = mark.axes.col(row / 3 - 1);
    const Vector3d turned = theta.cross(axis);
    const Vector3d y = axis + turned + theta.cross(turned) / 2;
    const Matrix3d E = -skew(axis) - (skew(turned) + skew(theta) * skew(axis)) / 2;
    const Vector3d y_v = E * theta_v;
    out.m.segment<3>(row).noalias() = R * y;
    out.rate.segment<3>(row).noalias() = R_v * y + R * y_v;
    for (int k = 0; k < K; ++k) {
      out.J.template block<3, 1>(row, 3 + k).noalias() = square(L.col(k)) * y;
      if (!gradients) continue;
      out.V.template block<3, 1>(row, 3 + k).noalias() = square(L.col(k)) * y_v;
      if constexpr (K == euler) out.V.template block<3, 1>(row, 3 + k) += square(L_v.col(k)) * y;
    }
    if (N_ == 0) continue;
    const Matrix3d RE = R * E;
    out.J.block(row, 3 + K, 3, N_) = RE.lazyProduct(mark.rotation);
    if (gradients) {
      const Matrix3d E_v = -(skew(theta_v.cross(axis)) + skew(theta_v) * skew(axis)) / 2;
      const Matrix3d RE_v = R_v * E + R * E_v;
      out.V.block(row, 3 + K, 3, N_) = RE_v.lazyProduct(mark.rotation);
    }
  }
}

template <int K>
void FloatingFrame<K>::add_marker_hessian(int number, const Vector& q, const Vector12d& w, double factor,
                                          Workspace& workspace, Eigen::Ref<MatrixXd> H) const {
  auto& room = static_cast<Room&>(workspace);
  const FrameMarker& mark = markers_[number];
  const RotationGradient L = gradient(q);
  const Matrix3d R = rotation(q);
  Vector3d theta = Vector3d::Zero(), y = mark.origin;
  if (N_ > 0) y.noalias() += mark.translation * q.tail(N_);
  if (N_ > 0 && mark.rotates) theta.noalias() = mark.rotation * q.tail(N_);

  // sum over the parts of w R y: F = sum w y', the rows of `by_theta` w' (dR) E for each rotation coordinate
  Matrix3d F = w.head<3>() * y.transpose();
  Eigen::Matrix<double, 3, K> by_place, by_theta = Eigen::Matrix<double, 3, K>::Zero();
  for (int k = 0; k < K; ++k) by_place.col(k).noalias() = square(L.col(k)).transpose() * w.head<3>();
  Matrix3d by_angles = Matrix3d::Zero();
  for (int part = 1; part < 4 && mark.rotates; ++part) {
    const Vector3d axis = mark.axes.col(part - 1), weight = w.segment<3>(3 * part);
    const Vector3d turned = theta.cross(axis), f = R.transpose() * weight;
    F += weight * (axis + turned + theta.cross(turned) / 2).transpose();
    if (N_ == 0) continue;
    const Matrix3d E = -skew(axis) - (skew(turned) + skew(theta) * skew(axis)) / 2;
    for (int k = 0; k < K; ++k) by_theta.col(k) += E.transpose() * (square(L.col(k)).transpose() * weight);
    by_angles += (f * axis.transpose() + axis * f.transpose()) / 2 - f.dot(axis) * Matrix3d::Identity();
  }
  if constexpr (K == euler) H.template block<K, K>(3, 3) += factor * parameter_hessian(F);
  if (N_ == 0) return;
  room.coupling = mark.translation.transpose().lazyProduct(factor * by_place);
  if (mark.rotates) room.coupling += mark.rotation.transpose().lazyProduct(factor * by_theta);
  H.block(3 + K, 3, N_, K) += room.coupling;
  H.block(3, 3 + K, K, N_) += room.coupling.transpose();
  if (!mark.rotates) return;
  const Matrix3d angles = factor * by_angles;
  for (int j = 0; j < N_; ++j) {
    const Vector3d column = angles * mark.rotation.col(j);
    H.col(3 + K + j).tail(N_) += mark.rotation.transpose().lazyProduct(column);
  }
}

template <int K>
void FloatingFrame<K>::place(const Placement& placement, Eigen::Ref<VectorXd> q,
                             Eigen::Ref<VectorXd> v) const {
  if (!is_rotation(placement.rotation, placement_tolerance))
    fail_input(
        "body '{}' is placed with a matrix that is no rotation; its columns must be three unit vectors at "
        "right angles, right-handed",
        name());
  q.setZero();
  v.setZero();
  // the nearest parameters of unit length, and their matrix: own constraints hold to rounding
  const Eigen::Vector4d p = parameters_from_rotation(placement.rotation);
  const Matrix3d R = rotation_from_parameters(p);
  const Vector3d arm = R * data_.inertia.centre;
  q.template head<3>() = placement.position + arm;
  v.template head<3>() = placement.velocity + placement.angular_velocity.cross(arm);
  if constexpr (K == euler) {
    q.segment<4>(3) = p;
    v.segment<4>(3) = parameter_rate(p, placement.angular_velocity);
  } else {
    q.template segment<K>(3) = column_of(R);
    v.template segment<K>(3) = column_of(skew(placement.angular_velocity) * R);
  }
}

template <int K>
Body::Energy FloatingFrame<K>::energy(const Vector& q, const Vector& v, const Vector3d& gravity,
                                      Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  const auto eta = q.tail(N_), eta_v = v.tail(N_);
  const Vector3d x = q.template head<3>(), x_v = v.template head<3>();
  const Matrix3d R = rotation(q), R_v = times(gradient(q), v);
  if (N_ > 0) data_.inertia.of_place(eta, room.A);
  const Matrix3d S = second_moment(room.A, eta), V = moment(room.A, eta_v);
  const double m = data_.inertia.mass;
  Energy result;
  result.kinetic = m * x_v.squaredNorm() / 2 + (R_v * S).cwiseProduct(R_v).sum() / 2 +
                   (R * V).cwiseProduct(R_v).sum() + eta_v.squaredNorm() / 2;
  result.elastic = data_.stiffness.cwiseProduct(eta).dot(eta) / 2;
  result.gravity = -m * gravity.dot(x);
  result.momentum = m * x_v;
  result.angular_momentum = x.cross(result.momentum) + 2 * skew_vector((R_v * S + R * V) * R.transpose());
  if (data_.damping.size() > 0) result.damping_power = data_.damping.cwiseProduct(eta_v).dot(eta_v);
  if (data_.full_damping.size() > 0) {
    room.coupling.col(0).noalias() = data_.full_damping * eta_v;
    result.damping_power = eta_v.dot(room.coupling.col(0));
  }
  return result;
}

template <int K>
Eigen::Matrix3Xd FloatingFrame<K>::node_positions(const Vector& q) const {
  Eigen::Matrix3Xd place = data_.places.nodes;
  if (N_ > 0) Eigen::Map<VectorXd>(place.data(), place.size()).noalias() += data_.places.modes * q.tail(N_);
  const Matrix3d R = rotation(q);
  for (Eigen::Index i = 0; i < place.cols(); ++i)
    place.col(i) = q.template head<3>() + R * Vector3d(place.col(i));
  return place;
}

// x' + R' (X + Phi eta) + R Phi eta'
template <int K>
Eigen::Matrix3Xd FloatingFrame<K>::node_velocities(const Vector& q, const Vector& v) const {
  Eigen::Matrix3Xd place = data_.places.nodes;
  const Matrix3d R = rotation(q), R_v = times(gradient(q), v);
  MatrixXd both;  // displacements and their rates, 3 n by 2
  if (N_ > 0) {
    MatrixXd eta(N_, 2);
    eta << q.tail(N_), v.tail(N_);
    both.resize(place.size(), 2);
    gemm(false, false, 1, data_.places.modes, eta, 0, both);
    Eigen::Map<VectorXd>(place.data(), place.size()) += both.col(0);
  }
  for (Eigen::Index i = 0; i < place.cols(); ++i) {
    Vector3d velocity = v.template head<3>() + R_v * place.col(i);
    if (N_ > 0) velocity += R * both.col(1).template segment<3>(3 * i);
    place.col(i) = velocity;
  }
  return place;
}

template <int K>
Body::DeformationBasis FloatingFrame<K>::deformation_basis(int) const {
  if (N_ == 0) return {};
  return {DeformationKind::Modes, static_cast<int>(data_.modes.rows()), nullptr};
}

template <int K>
void FloatingFrame<K>::deformation(int, const Vector& q, Eigen::Ref<VectorXd> d) const {
  if (N_ > 0) d.noalias() = data_.modes * q.tail(N_);
}

template <int K>
Eigen::Matrix3Xd FloatingFrame<K>::local_displacements(int, const Vector& q) const {
  Eigen::Matrix3Xd u = Eigen::Matrix3Xd::Zero(3, data_.places.nodes.cols());
  if (N_ > 0) Eigen::Map<VectorXd>(u.data(), u.size()).noalias() = data_.places.modes * q.tail(N_);
  return u;
}

template <int K>
void FloatingFrame<K>::displacement_scale(Eigen::Ref<VectorXd> scale) const {
  scale.template head<3>().setOnes();
  // R is of second order in the Euler parameters: a change of one turns by up to twice as much
  scale.template segment<K>(3).setConstant(K == euler ? 2 * data_.radius : data_.radius);
  scale.tail(N_) = data_.mode_scale;
}

template <int K>
std::string FloatingFrame<K>::coordinate_name(int i) const {
  if (i < 3) return "position";
  return i < 3 + K ? "rotation" : fmt::format("mode {}", i - 2 - K);
}

// Radius of gyration about the centre, where no place is farther.
double radius_of(const FrameData& data) {
  const double gyration = std::sqrt(std::max(0.0, data.inertia.second_moment.trace()) / data.inertia.mass);
  return std::max(data.places.radius(), gyration);
}

FrameData flexible_data(const std::string& name, const ReducedBody& reduced, std::string formulation) {
  FrameData data;
  data.formulation = std::move(formulation);
  data.modes = flexible_natural_modes(reduced);
  const auto N = data.modes.cols();
  data.inertia = frame_inertia(reduced, data.modes);
  data.stiffness = reduced.eigenvalues.tail(N);
  if (reduced.D.size() > 0) {
    MatrixXd D = data.modes.transpose() * (reduced.D * data.modes);
    D = ((D + D.transpose()) / 2).eval();
    const VectorXd own = D.diagonal().cwiseAbs().cwiseSqrt();
    const MatrixXd between = MatrixXd(D.diagonal().asDiagonal()) - D;
    if ((between.cwiseAbs().array() <= diagonal_tolerance * (own * own.transpose()).array()).all())
      data.damping = D.diagonal();
    else
      data.full_damping = D;
  }
  data.places = frame_places(name, reduced, data.inertia.centre, data.modes);
  data.radius = radius_of(data);
  data.mode_scale.resize(N);
  for (int j = 0; j < N; ++j) data.mode_scale[j] = data.places.largest_displacement(j);
  return data;
}

void check_inertia(const RigidBodySpec& spec) {
  const Matrix3d& I = spec.inertia;
  if (!(spec.mass > 0) || !std::isfinite(spec.mass))
    fail_input("rigid body '{}': mass is {} kg, expected a positive number", spec.name, spec.mass);
  if (!I.allFinite() || !spec.centre.allFinite())
    fail_input("rigid body '{}': centre and inertia must be finite numbers", spec.name);
  if (!((I - I.transpose()).cwiseAbs().maxCoeff() <= symmetry_tolerance * I.cwiseAbs().maxCoeff()))
    fail_input("rigid body '{}': the inertia is not symmetric; give Ixy and Iyx the same value", spec.name);
  const Vector3d moments = Eigen::SelfAdjointEigenSolver<Matrix3d>(I, Eigen::EigenvaluesOnly).eigenvalues();
  if (!(moments[0] > 0))
    fail_input(
        "rigid body '{}': the principal moments of inertia are {:.6g}, {:.6g}, {:.6g} kg m2, expected all "
        "positive; give a thin body the small moment that it has about its own axis",
        spec.name, moments[0], moments[1], moments[2]);
  if (moments[2] > (moments[0] + moments[1]) * (1 + triangle_tolerance))
    fail_input(
        "rigid body '{}': no body has the principal moments of inertia {:.6g}, {:.6g}, {:.6g} kg m2, because "
        "the largest is more than the sum of the others; they are about the centre of mass, with products "
        "of inertia of the sign that makes the matrix Ixy = - int x y dm",
        spec.name, moments[0], moments[1], moments[2]);
}

}  // namespace

std::unique_ptr<Body> make_rigid_body(const RigidBodySpec& spec) {
  check_inertia(spec);
  FrameData data;
  data.formulation = "rigid";
  data.inertia.mass = spec.mass;
  data.inertia.centre = spec.centre;
  const Matrix3d I = (spec.inertia + spec.inertia.transpose()) / 2;
  data.inertia.second_moment = I.trace() / 2 * Matrix3d::Identity() - I;
  data.places.body = spec.name;
  data.places.centre = spec.centre;
  data.places.points = spec.points;
  LISSOM_ASSERT(static_cast<size_t>(spec.nodes.cols()) == spec.node_ids.size());
  data.places.nodes = spec.nodes.colwise() - spec.centre;
  data.places.node_ids = spec.node_ids;
  data.radius = radius_of(data);
  return std::make_unique<FloatingFrame<euler>>(spec.name, std::move(data));
}

std::unique_ptr<Body> make_rigid_body(const std::string& name, const ReducedBody& reduced) {
  FrameData data;
  data.formulation = "rigid";
  const MatrixXd none(reduced.size(), 0);
  data.inertia = frame_inertia(reduced, none);
  data.places = frame_places(name, reduced, data.inertia.centre, none);
  data.radius = radius_of(data);
  return std::make_unique<FloatingFrame<euler>>(name, std::move(data));
}

std::unique_ptr<Body> make_ffrf_body(const std::string& name, const ReducedBody& reduced) {
  return std::make_unique<FloatingFrame<euler>>(name, flexible_data(name, reduced, "ffrf"));
}

std::unique_ptr<Body> make_fncf_body(const std::string& name, const ReducedBody& reduced) {
  return std::make_unique<FloatingFrame<matrix>>(name, flexible_data(name, reduced, "fncf"));
}

}  // namespace lissom

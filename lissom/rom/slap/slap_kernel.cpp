#include "lissom/rom/slap/slap_kernel.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include <cmath>
#include <cstring>

#include "lissom/core/error.hpp"
#include "lissom/core/polar.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Block = Eigen::Map<Matrix3d>;
using ConstBlock = Eigen::Map<const Matrix3d>;

// above this the rotation is found by a polar decomposition
constexpr double small_strain = 0.02;

// ax(B - B')
template <class Matrix>
Vector3d axial(const Matrix& B) {
  return {B(2, 1) - B(1, 2), B(0, 2) - B(2, 0), B(1, 0) - B(0, 1)};
}

// [a]x B
template <class Matrix>
Matrix3d cross(const Vector3d& a, const Matrix& B) {
  Matrix3d result;
  for (int j = 0; j < 3; ++j) {
    result(0, j) = a[1] * B(2, j) - a[2] * B(1, j);
    result(1, j) = a[2] * B(0, j) - a[0] * B(2, j);
    result(2, j) = a[0] * B(1, j) - a[1] * B(0, j);
  }
  return result;
}

// E_ij = X_ij s_i / (s_i + s_j) in the principal axes of S0, for X of each of the six entries
Eigen::Matrix<double, 9, 6> spread_of(const Matrix3d& S0) {
  const Eigen::SelfAdjointEigenSolver<Matrix3d> eigen(S0);
  const Matrix3d Q = eigen.eigenvectors();
  const Vector3d s = eigen.eigenvalues();
  constexpr int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  Eigen::Matrix<double, 9, 6> result;
  for (int n = 0; n < 6; ++n) {
    Matrix3d X = Matrix3d::Zero();
    X(pairs[n][0], pairs[n][1]) = X(pairs[n][1], pairs[n][0]) = 1;
    Matrix3d E = Q.transpose() * X * Q;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) E(i, j) *= s[i] / (s[i] + s[j]);
    const Matrix3d turned = Q * E * Q.transpose();
    result.col(n) = Eigen::Map<const Vector9d>(turned.data());
  }
  return result;
}

// z = [vec E; e_q vec R]
void fill_state(const Matrix3d& E, const Matrix3d& R, const double* eta, int m, double* z) {
  std::memcpy(z, E.data(), 9 * sizeof(double));
  std::memcpy(z + 9, R.data(), 9 * sizeof(double));
  for (int q = 0; q < m; ++q)
    for (int k = 0; k < 9; ++k) z[18 + 9 * q + k] = eta[q] * R.data()[k];
}

// sum e_q F_q
Matrix3d weighted_blocks(const double* f, const double* eta, int m) {
  Matrix3d W = ConstBlock(f + 9);
  for (int q = 0; q < m; ++q)
    for (int k = 0; k < 9; ++k) W.data()[k] += eta[q] * f[18 + 9 * q + k];
  return W;
}

// g_r += B : A_r + F_r : R
void add_projection(const Matrix3d& B, const MatrixXd& A, const Matrix3d& R, const double* f, VectorXd& g) {
  for (Index r = 0; r < g.size(); ++r) {
    const double *a = A.data() + 9 * (r + 1), *F = f + 9 * (r + 2);
    double sum[3] = {0, 0, 0};
    for (int k = 0; k < 9; k += 3)
      for (int l = 0; l < 3; ++l) sum[l] += B.data()[k + l] * a[k + l] + R.data()[k + l] * F[k + l];
    g[r] += sum[0] + sum[1] + sum[2];
  }
}

bool same_bits(const VectorXd& x, const SlapKernel::Vector& y) {
  return std::memcmp(x.data(), y.data(), static_cast<size_t>(x.size()) * sizeof(double)) == 0;
}

}  // namespace

SlapKernel::SlapKernel(const SlapModel& model, bool damping) : m_(model.order()) {
  for (const SlapPart& part : model.parts) {
    Part own;
    own.name = part.name;
    own.S0 = part.S0;
    own.A = part.A;
    own.maps = AffineMaps(part.A);
    own.spread = spread_of(part.S0);
    // rotations do no work, to the last bit: what is left of them in C has no say
    MatrixXd C = part.C;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < i; ++j) {
        const VectorXd mean = 0.5 * (C.col(3 * i + j) + C.col(3 * j + i));
        C.col(3 * i + j) = C.col(3 * j + i) = mean;
      }
    own.C = PaddedRows(C);
    own.damped = damping && part.C_damping.size() > 0;
    if (own.damped) own.C_damping = PaddedRows(part.C_damping);
    damped_ = damped_ || own.damped;
    parts_.push_back(std::move(own));
  }
}

SlapKernel::Room::Room(const SlapKernel& kernel)
    : parts_(kernel.parts_.size()),
      eta_(kernel.m_),
      v_(VectorXd::Zero(kernel.m_)),
      G_(3, kernel.m_),
      Lambda_(3, kernel.m_),
      Z_(kernel.m_, 9 * (kernel.m_ + 2)),
      product_(kernel.m_, kernel.m_) {
  if (kernel.damped_) Z_rate_ = PaddedRows(kernel.m_, 9 * (kernel.m_ + 2));
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = kernel.parts_[i];
    PartRoom& room = parts_[i];
    room.z = AlignedArray(part.C.columns);
    room.f = AlignedArray(part.C.columns);
    room.y = AlignedArray(part.C.rows);
    room.g = VectorXd::Zero(kernel.m_);
    room.Y = PaddedRows(kernel.m_, part.C.rows);
    if (!part.damped) continue;
    room.z_rate = AlignedArray(part.C.columns);
    room.f_damping = AlignedArray(part.C.columns);
    room.y_rate = AlignedArray(part.C_damping.rows);
    room.Y_damping = PaddedRows(kernel.m_, part.C_damping.rows);
    room.Y_rate = PaddedRows(kernel.m_, part.C_damping.rows);
  }
}

void SlapKernel::update(const Vector& eta, const Vector& v, Room& room) const {
  if (room.filled_ && same_bits(room.eta_, eta) && (!damped_ || same_bits(room.v_, v))) return;
  room.filled_ = false;
  for (size_t i = 0; i < parts_.size(); ++i) {
    find_rotation(parts_[i], eta.data(), room.parts_[i]);
    find_forces(parts_[i], eta, room.parts_[i]);
    if (parts_[i].damped) find_damping(parts_[i], eta, v, room.parts_[i]);
  }
  room.eta_ = eta;
  if (damped_) room.v_ = v;
  room.filled_ = true;
}

void SlapKernel::find_rotation(const Part& part, const double* eta, PartRoom& room) const {
  Matrix3d A;
  Vector6d strain;
  part.maps.strain(eta, A, strain);
  const Matrix3d C = cofactors(A);
  const double det = A.col(0).dot(C.col(0));
  if (strain.cwiseAbs().maxCoeff() < small_strain && det > 0) {
    // E + E' = strain - E'E; what is left after a pass is about the change times |E|
    Matrix3d& E = room.E;
    Eigen::Map<Vector9d> entries(E.data());
    entries.noalias() = part.spread.lazyProduct(strain);
    for (int pass = 0; pass < 30; ++pass) {
      Vector6d X;
      X << E.col(0).squaredNorm(), E.col(1).squaredNorm(), E.col(2).squaredNorm(), E.col(0).dot(E.col(1)),
          E.col(0).dot(E.col(2)), E.col(1).dot(E.col(2));
      X = strain - X;
      const Vector9d next = part.spread.lazyProduct(X);
      const double change = (next - entries).cwiseAbs().maxCoeff();
      entries = next;
      if (change < 3e-17) break;
    }
    room.RA = E;
    room.RA.diagonal().array() += 1;
    const Matrix3d A_inverse = C.transpose() * (1 / det);
    room.R.noalias() = room.RA.lazyProduct(A_inverse);
    room.P.noalias() = room.RA.lazyProduct(part.S0);
    // positive definite at such strains
    const Matrix3d H = trace_minus(room.P), K = cofactors(H);
    room.H_inverse = K * (1 / H.col(0).dot(K.col(0)));
    return;
  }
  try {
    const Polar p = polar(A * part.S0);
    room.R = p.A.transpose();
    room.P = p.U;
    room.H_inverse = p.H_inverse;
  } catch (const Error& error) {
    fail("part '{}' has lost its rotation: {}", part.name, error.what());
  }
  room.RA = room.R * A;
  room.E = room.RA - Matrix3d::Identity();
}

void SlapKernel::find_forces(const Part& part, const Vector& eta, PartRoom& room) const {
  fill_state(room.E, room.R, eta.data(), m_, room.z.data());
  row_gram_product(part.C, room.z.data(), room.y.data(), room.f.data());
  double squares = 0;
  for (Index i = 0; i < part.C.rows; ++i) squares += room.y[i] * room.y[i];
  room.energy = 0.5 * squares;
  // the moment of the forces; E in place of R A, as they do no work in a rotation
  const ConstBlock F(room.f.data());
  const Matrix3d W = weighted_blocks(room.f.data(), eta.data(), m_);
  const Matrix3d M = F.lazyProduct(room.E.transpose()) + W.lazyProduct(room.R.transpose());
  room.tau = axial(M);
  // g_r = F_E : R A_r + F_r : R + G_r . tau, G_r = -H^-1 ax(R A_r S0 - ..)
  const Vector3d u = room.H_inverse * room.tau;
  const Matrix3d inner = F - cross(u, part.S0), B = room.R.transpose().lazyProduct(inner);
  room.g.setZero();
  add_projection(B, part.A, room.R, room.f.data(), room.g);
}

void SlapKernel::find_damping(const Part& part, const Vector& eta, const Vector& v, PartRoom& room) const {
  Matrix3d A_rate = Matrix3d::Zero();
  for (int r = 0; r < m_; ++r) A_rate += v[r] * ConstBlock(part.A.data() + 9 * (r + 1));
  room.RA_rate = room.R * A_rate;
  room.theta = -room.H_inverse * axial((room.RA_rate * part.S0).eval());
  // z' = [vec([theta]x R A + R A'); v_q vec R + e_q vec([theta]x R)]
  double* z = room.z_rate.data();
  const Matrix3d R_rate = cross(room.theta, room.R);
  fill_state(cross(room.theta, room.RA) + room.RA_rate, R_rate, eta.data(), m_, z);
  for (int q = 0; q < m_; ++q) Block(z + 9 * (q + 2)) += v[q] * room.R;
  row_gram_product(part.C_damping, z, room.y_rate.data(), room.f_damping.data());
  room.power = 0;
  for (Index i = 0; i < part.C_damping.rows; ++i) room.power += room.y_rate[i] * room.y_rate[i];
  const ConstBlock F(room.f_damping.data());
  const Matrix3d W = weighted_blocks(room.f_damping.data(), eta.data(), m_);
  const Vector3d tau = axial((F * room.RA.transpose() + W * room.R.transpose()).eval());
  const Vector3d u = room.H_inverse * tau;
  add_projection(room.R.transpose() * (F - cross(u, part.S0)), part.A, room.R, room.f_damping.data(), room.g);
  room.tau += tau;
}

double SlapKernel::energy(const Room& room) const {
  double sum = 0;
  for (const PartRoom& part : room.parts_) sum += part.energy;
  return sum;
}

double SlapKernel::damping_power(const Room& room) const {
  double sum = 0;
  for (const PartRoom& part : room.parts_) sum += part.power;
  return sum;
}

void SlapKernel::add_force(const Room& room, Eigen::Ref<VectorXd> g) const {
  for (const PartRoom& part : room.parts_) g += part.g;
}

const Matrix3d& SlapKernel::rotation(const Room& room, size_t part) const {
  return room.parts_[part].R;
}

const Matrix3d& SlapKernel::strain(const Room& room, size_t part) const {
  return room.parts_[part].E;
}

// With f the sum of elastic and damping forces, z_r = dz/deta_r:
//   dg_r/deta_s = z_r' C'C z_s + z_r' C_d'C_d dz'/deta_s + f . d2z/deta_r deta_s,   dg_r/dv_s = z_r' C_d'C_d
//   z_s.
// The last term of the first is G' middle G + G' Lambda + Lambda' G with u = H^-1 tau, Q_r = R A_r S0,
//   middle   = sym(N - [u]x P) - tr(N) I,   N = F_E (R A)' + (sum e_q F_q) R',
//   Lambda_r = ax(N_r - N_r') - (tr(Q_r) I - Q_r') u,   N_r = F_E (R A_r)' + F_r R',
// and the rate of rotation theta = G v changes by
//   H d_s theta = -(tr(Q_v) I - Q_v) G_s - (tr(Q_s) I - Q_s) theta + G_s x P theta,   Q_v = R A' S0.
void SlapKernel::add_tangent(double cq, double cv, Room& room, Eigen::Ref<MatrixXd> J) const {
  LISSOM_ASSERT(room.filled_);
  const VectorXd &eta = room.eta_, &v = room.v_;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    PartRoom& own = room.parts_[i];
    const Matrix3d &R = own.R, &RA = own.RA;
    const Matrix3d Rt = R.transpose();
    const Vector3d u = own.H_inverse * own.tau;
    const double *f = own.f.data(), *fd = own.f_damping.data();
    Matrix3d F = ConstBlock(f), W = weighted_blocks(f, eta.data(), m_);
    if (part.damped) {
      F += ConstBlock(fd);
      W += weighted_blocks(fd, eta.data(), m_);
    }
    const Matrix3d N = F * RA.transpose() + W * Rt, inner = N - cross(u, own.P);
    const Matrix3d middle = 0.5 * (inner + inner.transpose()) - N.trace() * Matrix3d::Identity();
    const Vector3d P_theta = own.P * own.theta;
    const Matrix3d H_v = trace_minus(own.RA_rate * part.S0), R_rate = cross(own.theta, R);

    for (int r = 0; r < m_; ++r) {
      const Matrix3d RA_r = R * ConstBlock(part.A.data() + 9 * (r + 1)), Q_r = RA_r * part.S0;
      const Vector3d G_r = -own.H_inverse * axial(Q_r);
      Matrix3d F_r = ConstBlock(f + 9 * (r + 2));
      if (part.damped) F_r += ConstBlock(fd + 9 * (r + 2));
      const Matrix3d N_r = F * RA_r.transpose() + F_r * Rt;
      room.G_.col(r) = G_r;
      room.Lambda_.col(r) = axial(N_r) - Q_r.trace() * u + Q_r.transpose() * u;
      // z_r
      const Matrix3d GR = cross(G_r, R), E_r = cross(G_r, RA) + RA_r;
      double* z = room.Z_.row(r);
      fill_state(E_r, GR, eta.data(), m_, z);
      Block(z + 9 * (r + 2)) += R;
      if (!part.damped) continue;
      // dz'/deta_r
      const Vector3d turn = own.H_inverse * (G_r.cross(P_theta) - H_v * G_r - trace_minus(Q_r) * own.theta);
      double* d = room.Z_rate_.row(r);
      fill_state(cross(turn, RA) + cross(own.theta, E_r) + cross(G_r, own.RA_rate),
                 cross(turn, R) + cross(own.theta, GR), eta.data(), m_, d);
      for (int q = 0; q < m_; ++q) Block(d + 9 * (q + 2)) += v[q] * GR;
      Block(d + 9 * (r + 2)) += R_rate;
    }

    row_products(part.C, room.Z_, m_, own.Y);
    row_products(own.Y, own.Y, m_, room.product_);
    for (int s = 0; s < m_; ++s) {
      const Vector3d G_s = room.G_.col(s), t = middle * G_s + room.Lambda_.col(s);
      for (int r = s; r < m_; ++r) {
        const double K = room.product_.row(s)[r] + room.G_.col(r).dot(t) + room.Lambda_.col(r).dot(G_s);
        J(r, s) += cq * K;
        if (r > s) J(s, r) += cq * K;
      }
    }
    if (!part.damped) continue;
    row_products(part.C_damping, room.Z_, m_, own.Y_damping);
    row_products(part.C_damping, room.Z_rate_, m_, own.Y_rate);
    // cq Y_rate + cv Y_damping, into the former
    const Index count = own.Y_rate.columns * m_;
    for (Index k = 0; k < count; ++k)
      own.Y_rate.values[k] = cq * own.Y_rate.values[k] + cv * own.Y_damping.values[k];
    row_products(own.Y_damping, own.Y_rate, m_, room.product_);
    for (int s = 0; s < m_; ++s)
      for (int r = 0; r < m_; ++r) J(r, s) += room.product_.row(s)[r];
  }
}

}  // namespace lissom

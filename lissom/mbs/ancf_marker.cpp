#include "lissom/mbs/ancf_marker.hpp"

#include <Eigen/Geometry>

#include <cmath>

#include "lissom/core/simd.hpp"

namespace lissom {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

// The tangent t = s/|s| and its derivatives by s: P/|s| with P = I - t t', and
//   d2t[x, y] = -((t.x) P y + (t.y) P x + (x.P y) t) / |s|^2.
struct Tangent {
  Vector3d t;
  Matrix3d P, first;
  double inverse;

  explicit Tangent(const Vector3d& s) {
    const double length = s.norm();
    if (!(length > 0))
      fail(
          "the slope of an ANCF beam vanished at a marker, which has no direction there; the beam is crushed "
          "to nothing: make the step smaller, or the load");
    inverse = 1 / length;
    t = s * inverse;
    P = Matrix3d::Identity() - t * t.transpose();
    first = P * inverse;
  }
  // y -> d2t[x, y]
  Matrix3d second(const Vector3d& x) const {
    const Vector3d Px = P * x;
    return -inverse * inverse * (t.dot(x) * P + Px * t.transpose() + t * Px.transpose());
  }
  // (x, y) -> g.d2t[x, y]
  Matrix3d weighted(const Vector3d& g) const {
    const Vector3d Pg = P * g;
    return -inverse * inverse * (t * Pg.transpose() + Pg * t.transpose() + t.dot(g) * P);
  }
};

// An axis as a function of t, f(t), with what it is at rest: a. Planar: linear in t. Spatial, with h = t0 + t
// and e = 1 + t0.t: f = a - (h.a) h/e + 2 (t0.a) t.
struct Axis {
  bool planar;
  Vector3d a, t0, h;
  double e, ha;
  Vector3d across, normal;  // z x a, z x t0

  Axis(const AncfMarker& marker, int k, const Vector3d& t)
      : planar(marker.dimension == 2),
        a(marker.rest_axes.col(k)),
        t0(marker.rest_tangent),
        h(t0 + t),
        e(1 + t0.dot(t)),
        ha(h.dot(a)),
        across(Vector3d::UnitZ().cross(a)),
        normal(Vector3d::UnitZ().cross(t0)) {
    if (!planar && !(e > 1e-12))
      fail(
          "a spatial ANCF beam has turned by half a turn at a marker, where its axes are not defined (a "
          "cable "
          "has no twist to tell them by); put the joint or load at another place, or attach it to a rigid "
          "body");
  }
  Vector3d value(const Vector3d& t) const {
    if (planar) return Vector3d(0, 0, a.z()) + t0.dot(t) * in_plane() + normal.dot(t) * across;
    return a - ha / e * h + 2 * t0.dot(a) * t;
  }
  Matrix3d first() const {
    if (planar) return in_plane() * t0.transpose() + across * normal.transpose();
    Matrix3d F = h * (ha / e * t0 - a).transpose() / e;
    F.diagonal().array() += 2 * t0.dot(a) - ha / e;
    return F;
  }
  // y -> d2f[x, y]
  Matrix3d second(const Vector3d& x) const {
    if (planar) return Matrix3d::Zero();
    const double ax = a.dot(x), tx = t0.dot(x);
    Matrix3d F = (-x * a.transpose() + h * (ax * t0 + tx * a).transpose() / e +
                  ha / e * (x - 2 * tx / e * h) * t0.transpose()) /
                 e;
    F.diagonal().array() += (-ax + ha * tx / e) / e;
    return F;
  }
  // (x, y) -> g.d2f[x, y]
  Matrix3d weighted(const Vector3d& g) const {
    if (planar) return Matrix3d::Zero();
    const double gh = g.dot(h);
    const Matrix3d half = -a * g.transpose() / e + (gh * a + ha * g) * t0.transpose() / (e * e) -
                          ha * gh / (e * e * e) * t0 * t0.transpose();
    return half + half.transpose();
  }

 private:
  Vector3d in_plane() const { return {a.x(), a.y(), 0}; }
};

// Rows 3 .. 11 of J (12 by k) = B S, B (9 by 3) and S (3 by k) column after column.
LISSOM_SIMD void turn_columns(Eigen::Index k, const double* B, const double* S, double* J) {
  for (Eigen::Index j = 0; j < k; ++j, S += 3, J += 12) {
    const double x = S[0], y = S[1], z = S[2];
#pragma omp simd
    for (int i = 0; i < 9; ++i) J[3 + i] = B[i] * x + B[9 + i] * y + B[18 + i] * z;
  }
}

}  // namespace

void evaluate_ancf_marker(const AncfMarker& marker, const Eigen::Ref<const Eigen::VectorXd>& x,
                          const Eigen::Ref<const Eigen::VectorXd>& rate, bool gradients,
                          MarkerKinematics& out) {
  const Eigen::Index k = marker.R.cols();
  out.rotates = marker.rotates;
  out.J.resize(12, k);
  if (gradients) out.V.setZero(12, k);
  out.m.head<3>() = marker.r0 + marker.R.lazyProduct(x);
  out.rate.head<3>() = marker.R.lazyProduct(rate);
  out.J.topRows<3>() = marker.R;
  if (!marker.rotates) {
    out.m.tail<9>().setZero();
    out.rate.tail<9>().setZero();
    out.J.bottomRows<9>().setZero();
    return;
  }
  const Vector3d s = marker.s0 + marker.S.lazyProduct(x), s_rate = marker.S.lazyProduct(rate);
  const Tangent tangent(s);
  const Vector3d t_rate = tangent.first * s_rate;
  Eigen::Matrix<double, 9, 3> by_s, second;
  for (int i = 0; i < 3; ++i) {
    const Axis axis(marker, i, tangent.t);
    const Matrix3d F = axis.first();
    by_s.middleRows<3>(3 * i) = F * tangent.first;
    out.m.segment<3>(3 + 3 * i) = axis.value(tangent.t);
    if (gradients)
      second.middleRows<3>(3 * i) = axis.second(t_rate) * tangent.first + F * tangent.second(s_rate);
  }
  out.rate.tail<9>() = by_s.lazyProduct(s_rate);
  turn_columns(k, by_s.data(), marker.S.data(), out.J.data());
  if (gradients) turn_columns(k, second.data(), marker.S.data(), out.V.data());
}

void add_ancf_marker_hessian(const AncfMarker& marker, const Eigen::Ref<const Eigen::VectorXd>& x,
                             const Vector12d& w, double factor, Eigen::Ref<Eigen::MatrixXd> H) {
  // the position is linear
  if (!marker.rotates) return;
  const Vector3d s = marker.s0 + marker.S.lazyProduct(x);
  const Tangent tangent(s);
  Vector3d by_t = Vector3d::Zero();
  Matrix3d second = Matrix3d::Zero();
  for (int i = 0; i < 3; ++i) {
    const Axis axis(marker, i, tangent.t);
    const Vector3d weight = w.segment<3>(3 + 3 * i);
    by_t += axis.first().transpose() * weight;
    second += axis.weighted(weight);
  }
  const Matrix3d by_s = factor * (tangent.first * second * tangent.first + tangent.weighted(by_t));
  for (Eigen::Index j = 0; j < H.cols(); ++j) {
    const Vector3d y = by_s * marker.S.col(j);
    H.col(j) += marker.S.transpose().lazyProduct(y);
  }
}

}  // namespace lissom

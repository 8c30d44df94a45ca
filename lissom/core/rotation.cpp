#include "lissom/core/rotation.hpp"

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <cmath>

namespace lissom {

using Eigen::Matrix3d;
using Eigen::Matrix4d;
using Eigen::Vector3d;
using Eigen::Vector4d;

Matrix3d skew(const Vector3d& v) {
  Matrix3d B;
  B << 0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0;
  return B;
}

Vector3d skew_vector(const Matrix3d& B) {
  return Vector3d(B(2, 1) - B(1, 2), B(0, 2) - B(2, 0), B(1, 0) - B(0, 1)) / 2;
}

bool is_rotation(const Matrix3d& R, double tolerance) {
  // written so that NaN fails
  return (R.transpose() * R - Matrix3d::Identity()).cwiseAbs().maxCoeff() <= tolerance && R.determinant() > 0;
}

Matrix3d rotation_from_parameters(const Vector4d& p) {
  const Vector3d e = p.tail<3>();
  Matrix3d R = 2 * e * e.transpose() + 2 * p[0] * skew(e);
  R.diagonal().array() += p[0] * p[0] - e.squaredNorm();
  return R;
}

Matrix94d parameter_gradient(const Vector4d& p) {
  const double a = 2 * p[0], x = 2 * p[1], y = 2 * p[2], z = 2 * p[3];
  Matrix94d L;
  L.col(0) << a, z, -y, -z, a, x, y, -x, a;
  L.col(1) << x, y, z, y, -x, a, z, -a, -x;
  L.col(2) << -y, x, -a, x, y, z, a, z, -y;
  L.col(3) << -z, a, x, -a, -z, y, x, y, z;
  return L;
}

Matrix4d parameter_hessian(const Matrix3d& F) {
  Matrix4d H;
  H(0, 0) = 2 * F.trace();
  H.block<3, 1>(1, 0) = 4 * skew_vector(F);
  H.block<1, 3>(0, 1) = H.block<3, 1>(1, 0).transpose();
  H.block<3, 3>(1, 1) = 2 * (F + F.transpose());
  H.block<3, 3>(1, 1).diagonal().array() -= 2 * F.trace();
  return H;
}

Vector4d parameters_from_rotation(const Matrix3d& R) {
  // 4 p p' holds sums of entries of R; its column with the largest diagonal entry gives p
  const Vector3d d = R.diagonal();
  const Vector4d squares(1 + d.sum(), 1 + d[0] - d[1] - d[2], 1 + d[1] - d[2] - d[0], 1 + d[2] - d[0] - d[1]);
  int largest = 0;
  squares.maxCoeff(&largest);
  Vector4d p;
  if (largest == 0) {
    p << squares[0], 2 * skew_vector(R);
  } else {
    const int k = largest - 1;
    p << 2 * skew_vector(R)[k], R.col(k) + R.row(k).transpose();
    p[largest] = squares[largest];
  }
  return p.normalized();
}

Vector4d parameter_rate(const Vector4d& p, const Vector3d& angular_velocity) {
  const Vector3d e = p.tail<3>();
  Vector4d rate;
  rate << -e.dot(angular_velocity), p[0] * angular_velocity + angular_velocity.cross(e);
  return rate / 2;
}

Matrix3d rotation_from_vector(const Vector3d& v) {
  const double half = v.norm() / 2;
  Vector4d p;
  p << std::cos(half), v * (half > 0 ? std::sin(half) / (2 * half) : 0.5);
  return rotation_from_parameters(p);
}

Vector3d vector_from_rotation(const Matrix3d& R) {
  Vector4d p = parameters_from_rotation(R);
  if (p[0] < 0) p = -p;
  const double sine = p.tail<3>().norm();
  // angle / sin(angle/2) is 2 to rounding where the sine is below 1e-8
  return p.tail<3>() * (sine > 1e-8 ? 2 * std::atan2(sine, p[0]) / sine : 2);
}

}  // namespace lissom

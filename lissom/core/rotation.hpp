// Rotations in space: matrices, Euler parameters, rotation vectors.
//
// Notation: p = (p0, e) the four Euler parameters, |p| = 1 of a rotation;
//   R(p) = (p0^2 - e'e) I + 2 e e' + 2 p0 [e]x,
// homogeneous of second order in all four, so that R(p) = L(p) p / 2 with L = dR/dp linear in p, and the
// derivatives are exact for parameters that are not of unit length as well (R is then |p|^2 a rotation).
#pragma once

#include <Eigen/Core>

namespace lissom {

using Vector9d = Eigen::Matrix<double, 9, 1>;
using Matrix94d = Eigen::Matrix<double, 9, 4>;

// [v]x w = v x w.
Eigen::Matrix3d skew(const Eigen::Vector3d& v);
// The v of the skew part of B: (B - B')/2 = [v]x.
Eigen::Vector3d skew_vector(const Eigen::Matrix3d& B);

// Whether R'R = I and det R = 1, entries to `tolerance`.
bool is_rotation(const Eigen::Matrix3d& R, double tolerance = 1e-9);

Eigen::Matrix3d rotation_from_parameters(const Eigen::Vector4d& p);
// L(p) = dR/dp, 9 by 4, the columns of R one below the other.
Matrix94d parameter_gradient(const Eigen::Vector4d& p);
// Second derivative of sum_ij F_ij R_ij(p) with respect to p: constant, symmetric.
Eigen::Matrix4d parameter_hessian(const Eigen::Matrix3d& F);
// Euler parameters of a rotation matrix, the largest of them positive: no division by a small number.
Eigen::Vector4d parameters_from_rotation(const Eigen::Matrix3d& R);
// dp/dt of a frame that turns with `angular_velocity` [rad/s], in the global frame.
Eigen::Vector4d parameter_rate(const Eigen::Vector4d& p, const Eigen::Vector3d& angular_velocity);

// The rotation by |v| about v [rad], and back: |v| up to pi.
Eigen::Matrix3d rotation_from_vector(const Eigen::Vector3d& v);
Eigen::Vector3d vector_from_rotation(const Eigen::Matrix3d& R);

}  // namespace lissom

// The rotation nearest to a 3 by 3 matrix, and its derivatives.
//
// Notation: C = A U, A a rotation (det +1), U = A' C symmetric, H = tr(U) I - U. A maximises tr(A' C), which
// it does uniquely where H is positive definite: singular values s_1 >= s_2 >= s_3 with s_2 + s_3 > 0, or s_2
// > s_3 where det C < 0. Rank two (moments of coplanar points) is enough.
//
// For a change dC let B = A' dC. Then dA = A [omega]x with
//   omega = H^-1 ax(B - B'),   ax(B) = (B_32, B_13, B_21)
// (errata of paper 002), and for two changes, the first held while A goes along the second,
//   d omega_1 = -H^-1 ( (tr(B_1) I - B_1) omega_2 + (tr(B_2) I - B_2) omega_1 + omega_2 x U omega_1 ).
#pragma once

#include <Eigen/Core>

#include "lissom/core/rotation.hpp"

namespace lissom {

Eigen::Matrix3d trace_minus(const Eigen::Matrix3d& B);  // tr(B) I - B
Eigen::Matrix3d cofactors(const Eigen::Matrix3d& X);    // det(X) X^-T, also of singular X

struct Polar {
  Eigen::Matrix3d A = Eigen::Matrix3d::Identity();
  Eigen::Matrix3d U = Eigen::Matrix3d::Identity();
  Eigen::Matrix3d H_inverse = 0.5 * Eigen::Matrix3d::Identity();

  // omega, in the axes before the rotation, for a change dC.
  Eigen::Vector3d omega(const Eigen::Matrix3d& dC) const;
  // Of omega(dC_1) along dC_2.
  Eigen::Vector3d omega_derivative(const Eigen::Matrix3d& dC_1, const Eigen::Matrix3d& dC_2) const;

  // The second derivative of sum W_ij A_ij as a form in omega and B of two changes:
  //   omega_1' middle omega_2 - y' (tr(B_1) I - B_1) omega_2 - y' (tr(B_2) I - B_2) omega_1.
  struct Second {
    Eigen::Matrix3d middle;  // symmetric
    Eigen::Vector3d y;
  };
  Second second(const Eigen::Matrix3d& W) const;
};

// Accurate to round-off over the gap s_2 + s_3. Throws Error where no rotation is nearest: the smallest
// eigenvalue of H below 1e-12 of the largest singular value, or entries that are not finite.
Polar polar(const Eigen::Matrix3d& C);

}  // namespace lissom

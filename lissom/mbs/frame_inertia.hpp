// Inertia of a body in a floating frame, ready for the equations of motion: the invariants of the reduced
// body, about its centre of mass and over its flexible natural modes.
//
// Notation: u = X + Phi eta the place of a point in the frame, X from the centre of mass at rest, Phi its N
// flexible modes, int .. the sum over the masses. Natural modes of a free body are orthogonal to its rigid
// motions, int Phi = 0 and int X x Phi = 0 (the mean-axis frame): so int u = 0 for every eta, x is the centre
// of mass of the deformed body as well, and translation has nothing to do with rotation and deformation.
//
// What is left are nine combinations of products u_b Phi_c, numbered by those of a 3 by 3 matrix B:
//   0..2 the diagonal, 3..5 the sums xy + yx, yz + zy, zx + xz, 6..8 the axial vector yz - zy, ..
// parts(B) are the factors of B on them, matrix_of(z) is its adjoint: sum_ij B_ij matrix_of(z)_ij =
// parts(B)'z.
#pragma once

#include <Eigen/Core>

#include <string>

#include "lissom/cms/reduced_body.hpp"
#include "lissom/core/rotation.hpp"

namespace lissom {

inline Vector9d parts(const Eigen::Matrix3d& B) {
  Vector9d z;
  z << B(0, 0), B(1, 1), B(2, 2), (B(0, 1) + B(1, 0)) / 2, (B(1, 2) + B(2, 1)) / 2, (B(2, 0) + B(0, 2)) / 2,
      (B(2, 1) - B(1, 2)) / 2, (B(0, 2) - B(2, 0)) / 2, (B(1, 0) - B(0, 1)) / 2;
  return z;
}

inline Eigen::Matrix3d matrix_of(const Vector9d& z) {
  Eigen::Matrix3d B;
  B << 2 * z[0], z[3] - z[8], z[5] + z[7], z[3] + z[8], 2 * z[1], z[4] - z[6], z[5] - z[7], z[4] + z[6],
      2 * z[2];
  return B / 2;
}

struct FrameInertia {
  double mass = 0;                                          // [kg]
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();         // of mass at rest, in the body's own frame [m]
  Eigen::Matrix3d second_moment = Eigen::Matrix3d::Zero();  // int X X' [kg m2]
  Eigen::Matrix<double, Eigen::Dynamic, 9> position{0, 9};  // N by 9: of X and Phi; 6..8 are zero
  // N by 9 N: nine matrices Y_k of Phi and Phi side by side, entry (i, j) with Phi_i before Phi_j; the first
  // six are symmetric, the last three skew. Y_0 + Y_1 + Y_2 = I.
  Eigen::MatrixXd deformation;
  // The same as 9 N by N, column j being the nine Y_k' e_j one below the other: nine numbers for each mode are one
  // product.
  Eigen::MatrixXd by_mode;

  int modes() const { return static_cast<int>(position.rows()); }
  auto matrix(int k) const { return deformation.middleCols(k * modes(), modes()); }
  // Nine numbers for each mode: of u and Phi, position + Y' eta; and Y' w alone, of Phi w and Phi.
  void of_place(const Eigen::Ref<const Eigen::VectorXd>& eta,
                Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 9>> result) const;
  void of_motion(const Eigen::Ref<const Eigen::VectorXd>& w,
                 Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 9>> result) const;
  // The last three columns of it alone.
  void of_skew_motion(const Eigen::Ref<const Eigen::VectorXd>& w,
                      Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 9>> result) const;
};

// N by (flexible modes): the reduced body's natural modes without the rigid ones. Throws InputError when it
// is not a free body.
Eigen::MatrixXd flexible_natural_modes(const ReducedBody& reduced);

// Over the columns of `modes` (reduced coordinates by N; none for a rigid body). Throws InputError: the body
// has no invariants (its mass is not m (x) I_3), no mass, or the modes move its mean axes.
FrameInertia frame_inertia(const ReducedBody& reduced, const Eigen::MatrixXd& modes);

}  // namespace lissom

// Interpolation of subspaces on the Grassmann manifold (paper 004, Eqs. 19-23; Amsallem and Farhat).
// Subspaces are given by matrices with orthonormal columns, N by r.
#pragma once

#include <Eigen/Core>

#include <vector>

namespace lissom {

// Principal angles between two subspaces of the same dimension [rad], ascending; accurate for small ones
// (sines) and near a right angle.
Eigen::VectorXd principal_angles(const Eigen::MatrixXd& U, const Eigen::MatrixXd& V);

// The tangent at U0 (N by r) that leads to U: Eq. 19. Throws Error where an angle is within `margin` of a
// right angle, where the logarithm is not defined: the message says the angle.
Eigen::MatrixXd grassmann_log(const Eigen::MatrixXd& U0, const Eigen::MatrixXd& U, double margin = 1e-6);
// And back: Eq. 21; orthonormal.
Eigen::MatrixXd grassmann_exp(const Eigen::MatrixXd& U0, const Eigen::MatrixXd& tangent);

// Lagrange weights at x of values given at points (p by k): on a full grid the products of the weights in
// each direction (Eq. 23); of one parameter Eq. 20; of other sets of points those of the polynomial of lowest
// degree that fits (least squares of monomials of total degree, the shortest weights). Sum to one.
Eigen::VectorXd lagrange_weights(const Eigen::MatrixXd& points, const Eigen::VectorXd& x);

}  // namespace lissom

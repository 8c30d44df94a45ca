// The directions in which a mechanism can move: the kernel of G, with respect to its mass.
#pragma once

#include <Eigen/Core>

#include "lissom/mbs/equations.hpp"

namespace lissom {

// Basis of the kernel of G (m by n, independent rows), n by n - m, orthonormal once coordinates are measured
// in metres.
Eigen::MatrixXd kernel_basis(const Equations& equations, const Eigen::MatrixXd& G);

// dr/dq, dr/dv and M (n by n each) of a state, as dense matrices.
struct MotionMatrices {
  Eigen::MatrixXd K, C, M;
};
MotionMatrices motion_matrices(Equations& equations, const State& state);

// "body 'rod', position along x": the coordinate that moves most in a direction z (n).
std::string name_direction(const Equations& equations, const Eigen::VectorXd& z);

}  // namespace lissom

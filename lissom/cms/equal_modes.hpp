// Pairs of modes of equal frequency: any turn of the pair is a pair of modes too, and which one comes out is
// an accident of the eigen-solver. Methods that look at single modes (Algorithm 1 of paper 002) need a rule.
#pragma once

#include <Eigen/Core>

namespace lissom {

// Turns every pair of neighbouring columns of `modes` (3n by N, x y z of node after node, of equal norm)
// whose eigenvalues agree to `tolerance` (relative): the first one gets the largest motion along the axis (x
// before y before z) along which the pair moves most, and then both are turned on by `angle` [rad]. Three or
// more equal eigenvalues are left alone. Returns the number of pairs.
int turn_equal_modes(Eigen::MatrixXd& modes, const Eigen::Ref<const Eigen::VectorXd>& eigenvalues,
                     double angle, double tolerance = 1e-6);

}  // namespace lissom

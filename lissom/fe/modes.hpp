// Natural modes of an elastic body: K phi = lambda M phi.
#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace lissom {

// Frequency [Hz] of an eigenvalue omega^2 [rad2/s2]; 0 for a negative one, which is round-off of a rigid
// motion.
inline double hertz(double eigenvalue) {
  return std::sqrt(std::max(0.0, eigenvalue)) / (2 * std::numbers::pi);
}

// Modes in ascending order of eigenvalue.
struct ModeSet {
  Eigen::VectorXd eigenvalues;     // lambda = omega^2 [rad2/s2], one per mode
  Eigen::VectorXd frequencies_hz;  // omega / (2 pi) [Hz]
  Eigen::MatrixXd shapes;          // dofs by modes, Phi^T M Phi = 1 [1/sqrt(kg) for translations]
  Eigen::VectorXd residuals;       // relative residual of each pair, dimensionless
  // modes by 6: effective masses along x, y, z [kg] and effective moments of inertia about axes through the
  // centre of mass [kg m2]
  Eigen::MatrixXd effective_mass;
  int rigid_count = 0;  // the first so many modes are rigid-body modes

  // how they were computed
  std::vector<std::string> fixed_sets;  // node sets whose degrees of freedom were held; empty: free body
  std::string mass_kind;                // "consistent" or "lumped"; empty when it is not known
  double shift = 0;                     // of the factorised K - shift M [rad2/s2]

  int count() const { return static_cast<int>(eigenvalues.size()); }
};

}  // namespace lissom

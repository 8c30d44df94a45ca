#include "lissom/cms/equal_modes.hpp"

#include <array>
#include <cmath>

#include "lissom/core/error.hpp"

namespace lissom {

int turn_equal_modes(Eigen::MatrixXd& modes, const Eigen::Ref<const Eigen::VectorXd>& eigenvalues,
                     double angle, double tolerance) {
  LISSOM_ASSERT(modes.rows() % 3 == 0 && modes.cols() == eigenvalues.size());
  const Eigen::Index n = modes.rows() / 3, count = eigenvalues.size();
  const auto equal = [&](Eigen::Index i) {
    return i >= 0 && i + 1 < count &&
           std::abs(eigenvalues[i + 1] - eigenvalues[i]) <= tolerance * std::abs(eigenvalues[i]);
  };
  int pairs = 0;
  for (Eigen::Index i = 0; i + 1 < count; ++i) {
    if (!equal(i) || equal(i - 1) || equal(i + 1)) continue;
    // the pair's motion along each axis; of equals the first
    std::array<Eigen::Matrix2d, 3> motion;
    for (int k = 0; k < 3; ++k) {
      const Eigen::MatrixXd part = modes.middleCols(i, 2)(Eigen::seqN(k, n, 3), Eigen::all);
      motion[k] = part.transpose() * part;
    }
    int axis = 0;
    for (int k = 1; k < 3; ++k)
      if (motion[k].trace() > 1.01 * motion[axis].trace()) axis = k;
    // cos b phi_1 + sin b phi_2 moves most along the axis
    const Eigen::Matrix2d& G = motion[axis];
    const double b = 0.5 * std::atan2(2 * G(0, 1), G(0, 0) - G(1, 1)) + angle;
    Eigen::Matrix2d turn;
    turn << std::cos(b), -std::sin(b), std::sin(b), std::cos(b);
    const Eigen::MatrixXd turned = modes.middleCols(i, 2) * turn;
    modes.middleCols(i, 2) = turned;
    ++pairs;
    ++i;
  }
  return pairs;
}

}  // namespace lissom

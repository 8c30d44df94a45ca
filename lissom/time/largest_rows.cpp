#include "lissom/time/largest_rows.hpp"

#include <fmt/format.h>

#include <cmath>

namespace lissom {

int largest_motion_row(const Equations& equations, const Eigen::Ref<const Eigen::VectorXd>& r) {
  const Eigen::VectorXd& scale = equations.displacement_scale();
  int row = 0;
  double largest = -1;
  for (int i = 0; i < equations.coordinates(); ++i) {
    if (!std::isfinite(r[i])) return i;
    const double size = std::abs(r[i]) / (scale[i] > 0 ? scale[i] : 1);
    if (size > largest) {
      largest = size;
      row = i;
    }
  }
  return row;
}

int largest_joint_row(const Equations& equations, const Eigen::Ref<const Eigen::VectorXd>& x) {
  const int n = equations.coordinates();
  int row = -1;
  double largest = -1;
  bool joint = false;
  for (int i = 0; i < equations.constraints(); ++i) {
    if (!std::isfinite(x[i])) return n + i;
    const bool of_joint = equations.is_joint_row(n + i);
    // the first joint takes over from all that are none
    if (of_joint == joint ? std::abs(x[i]) > largest : of_joint) {
      joint = of_joint;
      largest = std::abs(x[i]);
      row = n + i;
    }
  }
  return row;
}

std::string name_largest(const Equations& equations, const State& state) {
  std::string text;
  if (equations.coordinates() > 0) {
    // accelerations in m/s2: by the scale, where forces go by its inverse
    const Eigen::VectorXd& scale = equations.displacement_scale();
    const Eigen::VectorXd a = state.a.cwiseProduct(scale).cwiseProduct(scale);
    text = "largest acceleration: " + equations.row_name(largest_motion_row(equations, a));
  }
  if (const int row = largest_joint_row(equations, state.lambda); row >= 0)
    text += "; largest reaction: " + equations.row_name(row);
  return text;
}

}  // namespace lissom

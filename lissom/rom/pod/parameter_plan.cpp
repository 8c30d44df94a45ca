#include "lissom/rom/pod/parameter_plan.hpp"

#include <numeric>
#include <random>

#include "lissom/core/error.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd full_factorial(const std::vector<std::vector<double>>& values) {
  size_t count = 1;
  for (const auto& list : values) count *= list.size();
  MatrixXd points(static_cast<Index>(values.size()), static_cast<Index>(count));
  for (size_t k = 0; k < count; ++k) {
    size_t rest = k;
    for (size_t p = values.size(); p-- > 0; rest /= values[p].size())
      points(static_cast<Index>(p), static_cast<Index>(k)) = values[p][rest % values[p].size()];
  }
  return points;
}

MatrixXd latin_hypercube(const VectorXd& lower, const VectorXd& upper, int n, int seed) {
  LISSOM_ASSERT(n > 0 && lower.size() == upper.size());
  // distributions of the standard library differ between machines, the generator does not
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  MatrixXd points(lower.size(), n);
  std::vector<int> part(static_cast<size_t>(n));
  for (Index p = 0; p < lower.size(); ++p) {
    std::iota(part.begin(), part.end(), 0);
    for (size_t i = part.size(); i-- > 1;)
      std::swap(part[i], part[static_cast<size_t>(uniform() * static_cast<double>(i + 1))]);
    for (int k = 0; k < n; ++k)
      points(p, k) = lower[p] + (upper[p] - lower[p]) * (part[static_cast<size_t>(k)] + uniform()) / n;
  }
  return points;
}

MatrixXd corners_and_centre(const VectorXd& lower, const VectorXd& upper) {
  const Index p = lower.size(), corners = Index{1} << p;
  MatrixXd points(p, corners + 1);
  for (Index k = 0; k < corners; ++k)
    for (Index i = 0; i < p; ++i) points(i, k) = (k >> i & 1) != 0 ? upper[i] : lower[i];
  points.col(corners) = (lower + upper) / 2;
  return points;
}

}  // namespace lissom

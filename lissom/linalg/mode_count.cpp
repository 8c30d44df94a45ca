#include "lissom/linalg/mode_count.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lissom/core/error.hpp"
#include "lissom/core/resources.hpp"

namespace lissom {

namespace {

// Growth that leaves about half of the digits: the count is that of a matrix with entries off by 1e-8 of the
// largest of their row at most, and as a rule by far less.
constexpr double most_growth = 1e8;
constexpr int most_tries = 5;
// Two values further apart than this (relative) are two.
constexpr double apart = 1e-6;

}  // namespace

ModeCount count_below(const SymmetricMatrix& K, const SymmetricMatrix& M, Cholesky& factor, double shift,
                      double width) {
  const Timer timer;
  ModeCount result;
  for (int t = 0; t < most_tries; ++t) {
    result.below = shift;
    const Inertia inertia = factor.refactor_indefinite(add(K, -shift, M));
    result.growth = inertia.growth;
    if (inertia.growth <= most_growth) {
      result.counted = inertia.negative;
      break;
    }
    shift -= width;
    width *= 2;
  }
  result.seconds = timer.seconds();
  return result;
}

CountPlace count_place(const Eigen::Ref<const Eigen::VectorXd>& values, double roundoff) {
  CountPlace place;
  // downwards from the last value, to where a gap is wide enough to count in
  for (Eigen::Index k = values.size() - 1; k >= 0; --k) {
    const double gap = std::max(apart * std::abs(values[k]), 8 * roundoff);
    const double below = k > 0 ? values[k] - values[k - 1] : std::numeric_limits<double>::infinity();
    if (below < 2 * gap) continue;
    place.shift = values[k] - gap;
    // what the factorisation may move by still lies in the same gap
    place.width = std::min(gap, (below - gap) / 32);
    place.found = static_cast<int>(k);
    return place;
  }
  return place;
}

CountedPairs lowest_counted(EigenSolver& solver, const SymmetricMatrix& K, const SymmetricMatrix& M,
                            Cholesky& factor, double shift, int count,
                            const std::function<double(const Eigen::VectorXd&)>& roundoff,
                            const ProgressHook& progress) {
  constexpr int most_rounds = 4;
  CountedPairs result;
  for (int round = 0;; ++round) {
    result.pairs = solver.lowest(count, progress);
    const CountPlace place =
        count_place(result.pairs.values, roundoff(result.pairs.vectors.col(result.pairs.values.size() - 1)));
    // where the list has no gap, or begins with all that it has, nothing lies below
    if (!(place.shift > std::max(0.0, shift))) return result;
    if (progress) progress("counting the modes", -1);
    const double seconds = result.count.seconds;
    result.count = count_below(K, M, factor, place.shift, place.width);
    result.count.seconds += seconds;
    result.count.found = place.found;
    if (result.count.missing() <= 0) return result;
    if (round == most_rounds)
      fail(
          "{} eigenvalues lie below {:.9g} by Sylvester's law of inertia, but the eigen-solver found {} of "
          "them in {} attempts; a larger block may help",
          result.count.counted, result.count.below, result.count.found, most_rounds + 1);
    result.lost += result.count.missing();
    factor.refactor(add(K, -shift, M));
    solver.expect_lost(result.count.missing());
  }
}

}  // namespace lissom

// How many eigenvalues of K x = lambda M x lie below a shift: counted, not found.
//
// Sylvester's law of inertia: K - sigma M = L S L' has as many negative signs in S as there are eigenvalues
// below sigma. One factorisation, which re-uses the ordering and the symbolic analysis of the one that the
// eigen-solver worked with, tells whether any was missed, whatever the solver did.
//
// "The N lowest" are proven by a count just below the last of them: if as many eigenvalues lie there as were
// found there, those found are the lowest. A count above the last one would ask which copies of a multiple
// eigenvalue lie beyond the end of the list, which does not matter. The place is chosen between values found,
// so near to the last one that what could hide in between is that value itself to a millionth.
#pragma once

#include <Eigen/Core>

#include <functional>

#include "lissom/core/progress.hpp"
#include "lissom/linalg/cholesky.hpp"
#include "lissom/linalg/eigen_solver.hpp"
#include "lissom/linalg/sparse.hpp"

namespace lissom {

struct ModeCount {
  double below = 0;   // the shift [rad2/s2]
  int counted = -1;   // eigenvalues below it; -1: not counted
  int found = -1;     // those that the solver has below it
  double growth = 1;  // of the factorisation (Inertia)
  double seconds = 0;

  bool known() const { return counted >= 0; }
  bool confirmed() const { return known() && counted == found; }
  int missing() const { return known() ? counted - found : 0; }
};

// Counts below `shift`, or a little lower (by `width`, then twice that, and so on, five places in all) where
// the factorisation is no good: a pivot is zero or the growth above 1e8. `factor` holds a factorisation of a
// matrix of this pattern and is overwritten; `counted` is -1 where nothing helped.
ModeCount count_below(const SymmetricMatrix& K, const SymmetricMatrix& M, Cholesky& factor, double shift,
                      double width);

// Where to count for a list of eigenvalues, ascending: below the last one by 1e-6 of it or by eight times the
// round-off, and not upon another one. `roundoff` [rad2/s2] is what K's entries
// leave open. 0 where the list begins with no gap that is wider, and nothing can be counted.
struct CountPlace {
  double shift = 0, width = 0;
  int found = 0;  // values below
};
CountPlace count_place(const Eigen::Ref<const Eigen::VectorXd>& values, double roundoff);

// The `count` lowest pairs of a solver with `shift`, and their count. Where the count tells of pairs that the
// solver has lost, it goes on with as many random directions, four times at most, and throws Error where they
// do not come to light. `roundoff` says of an eigenvector what K's entries leave open of its eigenvalue. The
// factor is that of the count afterwards: refactor it for further solves.
struct CountedPairs {
  EigenPairs pairs;
  ModeCount count;
  int lost = 0;  // pairs that only the count has brought to light
};
CountedPairs lowest_counted(EigenSolver& solver, const SymmetricMatrix& K, const SymmetricMatrix& M,
                            Cholesky& factor, double shift, int count,
                            const std::function<double(const Eigen::VectorXd&)>& roundoff,
                            const ProgressHook& progress = {});

}  // namespace lissom

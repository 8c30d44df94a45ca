// Static equilibrium of Equations at a time: positions and multipliers such that nothing accelerates,
//
//   r(q, v = 0, a = 0, lambda, t) = 0,   g(q, t) = 0.
//
// Newton's method with the exact matrix, shortened where the full step leads away. Where that fails, or ends
// in an unstable equilibrium away from the start, the positions follow the forces instead (pseudo-transient
// continuation, K + mu M with mu -> 0), which ends in stable ones.
#pragma once

#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/mbs/equations.hpp"

namespace lissom {

struct EquilibriumOptions {
  double tolerance = 1e-10;  // of the last displacement, relative to the size of the system
  int newton_iterations = 40;
  int transient_iterations = 500;
  bool stability = true;  // look for unstable and free directions; dense, n^3
};

struct Equilibrium {
  State state;            // v = a = 0
  int iterations = 0;     // of both methods
  double residual = 0;    // [N] largest unbalanced force
  double force = 0;       // [N] largest force that is balanced, for comparison
  double moved = 0;       // [m] largest displacement from the guess
  bool followed = false;  // found by following the forces
  // Square of the lowest frequency about it, smallest eigenvalue of K against M within the constraints
  // [1/s2]; negative where it is unstable. Zero without degrees of freedom.
  double lowest = 0;
  bool stable = true;  // no negative one
  // What moves in the unstable direction, and what nothing holds: "body 'rod', position along x".
  std::string unstable_direction;
  std::vector<std::string> free_directions;
};

// From a guess whose q, t and lambda count. Throws Error where there is none (names the body or coordinate
// with the force that nothing balances), where constraints depend on each other (a dead centre), or where
// it is not found.
Equilibrium find_equilibrium(Equations& equations, const State& guess, const EquilibriumOptions& options = {},
                             const ProgressHook& progress = {});

// Tells as warnings whether it is unstable, and what is free.
void warn_of(const Equilibrium& equilibrium, Diagnostics& diagnostics);

}  // namespace lissom

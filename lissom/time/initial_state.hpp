// Consistent initial conditions: positions on the constraints, velocities along them, and the accelerations
// and multipliers that belong to both.
#pragma once

#include <memory>

#include "lissom/core/archive.hpp"
#include "lissom/mbs/equations.hpp"

namespace lissom {

struct InitialStateOptions {
  double tolerance = 1e-13;  // of g, relative to the size of the system
  int max_iterations = 50;
};

struct InitialState {
  State state;
  int iterations = 0;            // of the assembly
  double moved = 0;              // [m] largest displacement by the assembly
  double velocity_change = 0;    // [m/s] largest one by the projection
  double constraint_before = 0;  // largest |g| before
};

// Nearest to (q, v) in the norm of displacement_scale() for positions and of M for velocities. Throws Error
// naming the constraint with the largest residual when the positions cannot be assembled, or when the
// velocities and prescribed motions contradict each other. `turns`: those of q, where they were counted.
InitialState make_consistent(Equations& equations, double t, const Eigen::VectorXd& q,
                             const Eigen::VectorXd& v, const InitialStateOptions& options = {},
                             const Turns& turns = {});

// a and lambda of a state from [M G'; G 0]. Keeps its matrix, so that nothing is allocated in later calls.
class AccelerationSolver {
 public:
  explicit AccelerationSolver(Equations& equations);
  ~AccelerationSolver();
  // Fills state.a and state.lambda from t, q and v. Throws Error where the matrix is singular.
  void solve(State& state);
  // A constant mass matrix is factorised once.
  void archive(Archive& archive);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Puts states that have drifted back onto g = 0 (largest |g| below `tolerance` times length()) and its rate,
// with the least change in the norm of M; for the integrators that do not solve for it. Keeps its matrix, so
// that nothing is allocated in later calls.
class Projector {
 public:
  explicit Projector(Equations& equations);
  ~Projector();
  // Returns the largest displacement [m]. Accelerations and multipliers stay as they are. Throws Error where
  // it does not succeed.
  double project(State& state, double tolerance);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
// The same, once.
double project(Equations& equations, State& state, double tolerance);

}  // namespace lissom

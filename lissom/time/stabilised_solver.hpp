// The nonlinear equations of one step of a backward differentiation formula in the stabilised index-2 form of
// Gear, Gupta and Leimkuhler (J. Comput. Appl. Math. 12-13, 1985): positions and velocities both on the
// constraints. With the leading coefficient alpha [1/s] of the formula find v, lambda and mu such that
//
//   q = q_hat + (v - W G' mu) / alpha,   a = a_hat + alpha v,
//   M(q) a + h(q, v, t) + G' lambda = 0,   g(q, t) = 0,   G v + dg/dt = 0,
//
// W = diag(1 / displacement_scale^2), so that mu pushes the points of the bodies and not their parameters. mu
// vanishes with the error of a step; its G is the one of the predicted positions, which changes nothing in
// what is solved but makes the derivatives exact.
#pragma once

#include <memory>
#include <string>

#include "lissom/core/archive.hpp"
#include "lissom/time/integrate.hpp"

namespace lissom {

class StabilisedSolver {
 public:
  StabilisedSolver(Equations& equations, const NewtonOptions& options, IntegrationSummary& summary);
  ~StabilisedSolver();

  // `state` holds the predicted q, v, a = a_hat + alpha v and lambda, with t of the end of the step, and q =
  // q_hat + v / alpha; afterwards the solution. Returns false where it does not converge; failure() says why.
  bool solve(double alpha, State& state);
  const std::string& failure() const;
  // Factorise afresh in the next call.
  void forget();
  // What the next call depends on, the matrix included.
  void archive(Archive& archive);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lissom

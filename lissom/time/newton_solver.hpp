// The nonlinear equations of one implicit step, the same for all index-3 methods: with q = q0 + d, v = v0 +
// cv d, a = a0 + ca d, find d and lambda such that
//
//   w M(q) a + h(q, v, t) + G' lambda + f = 0,     g(q, t) = 0.
//
// Scaled after Arnold and Bruels (and Bottasso): rows of the equations of motion by 1 / ca, multipliers by
// typical_mass ca, so that the condition does not grow as the step shrinks. The factorised matrix is kept
// while it converges (NewtonOptions::reuse_rate) and cv, ca, w stay within a factor.
#pragma once

#include <memory>
#include <string>

#include "lissom/core/archive.hpp"
#include "lissom/time/integrate.hpp"

namespace lissom {

struct ImplicitStep {
  double t = 0;                        // of the end of the step
  double cv = 0, ca = 0;               // [1/s, 1/s2]
  double w = 1;                        // inertia weight
  const Eigen::VectorXd* f = nullptr;  // (n) constant part, or none
};

class NewtonSolver {
 public:
  NewtonSolver(Equations& equations, const NewtonOptions& options, IntegrationSummary& summary);
  ~NewtonSolver();

  // `state` holds q0, v0, a0 and a guess of lambda; afterwards q, v, a, lambda with t. Returns false when it
  // does not converge, diverges or meets numbers that are not finite; the state is then of no use, and
  // failure() says why: "body 'rod', rotation: residual 3 N m; joint 'hinge': 2e-3 m". A failure with an old
  // matrix is tried again with a new one first.
  bool solve(const ImplicitStep& step, State& state);
  // Iterations of the last call, its estimated convergence rate, and the last displacement increment [m].
  int iterations() const;
  double rate() const;
  double increment() const;
  const std::string& failure() const;
  // dv (n) with about G dv = rate (m) and least kinetic energy, by the matrix that is kept; zero where there
  // is none.
  void velocity_change(const Eigen::VectorXd& rate, Eigen::VectorXd& dv);
  // Factorise afresh in the next call.
  void forget();
  // What the next call depends on, the matrix included.
  void archive(Archive& archive);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lissom

// One call for a whole run, and the pendulum with one angle, for the tests of the integrators.
#pragma once

#include <cmath>

#include "lissom/time/integrate.hpp"
#include "tests/time/test_equations.hpp"

namespace lissom::test {

struct Run {
  std::vector<State> steps, samples;
  IntegrationSummary summary;
  const State& end() const { return samples.back(); }
};

inline Run run(Equations& equations, const State& initial, const IntegratorOptions& options) {
  Run result;
  Diagnostics diagnostics;
  IntegrationOutput output;
  output.step = [&](const State& s) { result.steps.push_back(s); };
  output.sample = [&](const State& s) { result.samples.push_back(s); };
  integrate(equations, initial, options, output, result.summary, diagnostics);
  return result;
}

// A point of 2 kg on a rod of 1 m, the angle from hanging down as the only coordinate: the same motion as the
// CartesianPendulum, as an ordinary differential equation.
class AnglePendulum : public SmallEquations {
 public:
  double L = 1, mass = 2, gravity = 9.81;

  AnglePendulum() : SmallEquations(1, 0, 1, 2) {}
  bool constant_mass() const override { return true; }
  State at(double angle) {
    return make_consistent(*this, 0, Eigen::VectorXd::Constant(1, angle), Eigen::VectorXd::Zero(1)).state;
  }
  double energy(const State& s) const {
    return mass * L * (L * s.v[0] * s.v[0] / 2 - gravity * std::cos(s.q[0]));
  }
  void residual(const State& s, double w, Eigen::Ref<Eigen::VectorXd> r) override {
    r[0] = w * mass * L * L * s.a[0] + mass * gravity * L * std::sin(s.q[0]);
  }

 protected:
  void derivatives(const State& s, double w) override {
    K_(0, 0) = mass * gravity * L * std::cos(s.q[0]);
    M_(0, 0) = w * mass * L * L;
  }
};

// Period of a pendulum of 1 m released at rest: 4 sqrt(L/g) K(sin(angle/2)).
inline double pendulum_period(double angle) {
  return 4 * std::sqrt(1 / 9.81) * std::comp_ellint_1(std::sin(angle / 2));
}

// Slope of log error over log of the number of steps, sign turned: the order as a user meets it.
inline double slope(double steps1, double error1, double steps2, double error2) {
  return -std::log(error2 / error1) / std::log(steps2 / steps1);
}

}  // namespace lissom::test

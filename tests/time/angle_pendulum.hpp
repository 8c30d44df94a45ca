// The pendulum with one angle, its period, and orders over several runs, for the tests of the integrators.
#pragma once

#include <cmath>

#include "tests/time/run.hpp"
#include "tests/time/test_equations.hpp"

namespace lissom::test {

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

// The order as a user meets it: slope of log error over log of the number of steps, sign turned, by least
// squares.
inline double fitted_order(const std::vector<double>& steps, const std::vector<double>& errors) {
  const auto n = static_cast<double>(steps.size());
  double x = 0, y = 0, xx = 0, xy = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const double u = std::log(steps[i]), w = std::log(errors[i]);
    x += u;
    y += w;
    xx += u * u;
    xy += u * w;
  }
  return -(n * xy - x * y) / (n * xx - x * x);
}

}  // namespace lissom::test

#include <gtest/gtest.h>

#include "tests/time/angle_pendulum.hpp"

namespace lissom::runge_kutta_test {
namespace {

using namespace test;

IntegratorOptions runge_kutta(double tolerance, double end) {
  IntegratorOptions o;
  o.integrator = Integrator::RungeKutta;
  o.tolerance = tolerance;
  o.end = end;
  o.newton.tolerance = 1e-13;
  return o;
}

TEST(RungeKutta, HasOrderFiveAndErrorsInProportionToTheTolerance) {
  const double angle = 2, period = pendulum_period(angle);
  AnglePendulum free;
  CartesianPendulum constrained;
  for (bool ode : {true, false}) {
    Equations& equations = ode ? static_cast<Equations&>(free) : constrained;
    const State start = ode ? free.at(angle) : constrained.at(angle);
    std::vector<double> steps, errors;
    for (double tolerance : {1e-8, 1e-9, 1e-10}) {
      const Recording r = run(equations, start, runge_kutta(tolerance, period));
      steps.push_back(static_cast<double>(r.summary.steps));
      errors.push_back((r.last().q - start.q).norm());
      // about a hundred steps, of which the errors partly cancel
      EXPECT_LT(errors.back(), 10 * tolerance);
    }
    EXPECT_NEAR(fitted_order(steps, errors), 5, 0.4);
  }
}

TEST(RungeKutta, KeepsEnergyAndConstraintsOfAPendulum) {
  CartesianPendulum pendulum;
  const State start = pendulum.at(2);
  IntegratorOptions o = runge_kutta(1e-10, 10);
  o.sample = 0.01;
  const Recording r = run(pendulum, start, o);
  ASSERT_EQ(r.samples.size(), 1001u);
  for (int k = 0; k <= 1000; ++k) {
    const State& s = r.samples[k];
    EXPECT_EQ(s.t, k == 1000 ? 10 : k * 0.01);
    EXPECT_LT(std::abs(pendulum.energy(s) - pendulum.energy(start)) / (2 * 9.81 * 2), 1e-6);
    // samples between steps are put back onto the constraints as well
    EXPECT_LT(std::abs(pendulum.length_error(s)), 1e-12);
    EXPECT_LT(std::abs(s.q.dot(s.v)), 1e-12);
  }
}

TEST(RungeKutta, InterpolatesWithFourthOrder) {
  // one step of h from the same state, half-way against a fine solution: local error h^5
  AnglePendulum pendulum;
  const State start = pendulum.at(2);
  double errors[2];
  for (int i : {0, 1}) {
    const double h = i == 0 ? 0.1 : 0.05;
    IntegratorOptions o = runge_kutta(0.1, h);
    o.step = h;
    o.sample = h / 2;
    const Recording r = run(pendulum, start, o);
    ASSERT_EQ(r.summary.steps, 1);
    ASSERT_EQ(r.samples.size(), 3u);
    const State exact = reference(pendulum, start, h / 2, 1000);
    errors[i] = std::abs(r.samples[1].v[0] - exact.v[0]);
  }
  // between fourth and fifth power of the step, and one more where the leading term is odd in time
  EXPECT_GT(std::log2(errors[0] / errors[1]), 4.5);
}

TEST(RungeKutta, FollowsAPrescribedMotion) {
  DrivenSpring driven;
  IntegratorOptions o = runge_kutta(1e-9, 3);
  o.sample = 0.1;
  for (const State& s : run(driven, driven.start(), o).samples) {
    const State exact = driven.exact(s.t);
    // a hundred steps of 1e-9 m; reactions k dq and m a at stiffness 20 N/m
    EXPECT_LT((s.q - exact.q).norm(), 2e-8) << s.t;
    EXPECT_LT((s.v - exact.v).norm(), 2e-7) << s.t;
    EXPECT_NEAR(s.lambda[0], exact.lambda[0], 1e-6) << s.t;
  }
}

TEST(RungeKutta, TakesAMassMatrixThatDependsOnPositions) {
  for (bool constrained : {false, true}) {
    PolarPendulum pendulum(constrained);
    const State start = pendulum.at(1.2, 0.5);
    const State exact = reference(pendulum, start, 1.5, 20000);
    const Recording r = run(pendulum, start, runge_kutta(1e-10, 1.5));
    EXPECT_LT((r.last().q - exact.q).norm(), 1e-8);
    EXPECT_LT((r.last().v - exact.v).norm(), 1e-7);
  }
}

TEST(RungeKutta, SaysWhereItCannotGoOn) {
  CartesianPendulum pendulum;
  pendulum.push = [](double t) { return t > 0.25 ? std::nan("") : 0.0; };
  try {
    run(pendulum, pendulum.at(1), runge_kutta(1e-6, 1));
    FAIL();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("runge-kutta at 0.25 s"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace lissom::runge_kutta_test

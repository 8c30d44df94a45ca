#include <gtest/gtest.h>

#include "tests/time/angle_pendulum.hpp"

namespace lissom::cvode_test {
namespace {

using namespace test;

IntegratorOptions cvode(double tolerance, double end) {
  IntegratorOptions o;
  o.integrator = Integrator::Cvode;
  o.tolerance = tolerance;
  o.end = end;
  o.newton.tolerance = 1e-13;
  return o;
}

TEST(Cvode, ErrorsFallWithTheTolerance) {
  const double angle = 2, period = pendulum_period(angle);
  AnglePendulum free;
  CartesianPendulum constrained;
  for (bool ode : {true, false}) {
    Equations& equations = ode ? static_cast<Equations&>(free) : constrained;
    const State start = ode ? free.at(angle) : constrained.at(angle);
    for (double tolerance : {1e-6, 1e-8, 1e-10}) {
      const Recording r = run(equations, start, cvode(tolerance, period));
      // a few hundred steps, each off by the tolerance
      EXPECT_LT((r.last().q - start.q).norm(), 300 * tolerance);
      EXPECT_GT(r.summary.residuals, r.summary.steps);
      EXPECT_GT(r.summary.jacobians, 0);
    }
  }
}

TEST(Cvode, KeepsEnergyAndConstraintsOfAPendulum) {
  CartesianPendulum pendulum;
  const State start = pendulum.at(2);
  IntegratorOptions o = cvode(1e-11, 10);
  o.sample = 0.01;
  const Recording r = run(pendulum, start, o);
  ASSERT_EQ(r.samples.size(), 1001u);
  for (int k = 0; k <= 1000; ++k) {
    const State& s = r.samples[k];
    EXPECT_EQ(s.t, k == 1000 ? 10 : k * 0.01);
    EXPECT_LT(std::abs(pendulum.energy(s) - pendulum.energy(start)) / (2 * 9.81 * 2), 1e-6);
    EXPECT_LT(std::abs(pendulum.length_error(s)), 1e-12);
    EXPECT_LT(std::abs(s.q.dot(s.v)), 1e-12);
  }
}

TEST(Cvode, TakesLongStepsWhereTheMotionIsStiff) {
  // time constants of 1e-6 s, and a run of 10 s; critical damping
  Oscillator oscillator;
  oscillator.stiffness = 1.5e12;
  oscillator.damping = 2.9e6;
  oscillator.force = 1.5e11;
  const Recording r = run(oscillator, oscillator.at(0, 0), cvode(1e-6, 10));
  EXPECT_NEAR(r.last().q[0], 0.1, 1e-6);
  // explicit methods would need 1e7
  EXPECT_LT(r.summary.steps, 1000);
}

TEST(Cvode, FollowsAPrescribedMotionAndTakesMassesThatDependOnPositions) {
  DrivenSpring driven;
  IntegratorOptions o = cvode(1e-9, 3);
  o.sample = 0.1;
  for (const State& s : run(driven, driven.start(), o).samples) {
    const State exact = driven.exact(s.t);
    // some hundred steps of 1e-9 m
    EXPECT_LT((s.q - exact.q).norm(), 5e-7) << s.t;
    EXPECT_LT((s.v - exact.v).norm(), 5e-6) << s.t;
    EXPECT_NEAR(s.lambda[0], exact.lambda[0], 1e-5) << s.t;
  }
  for (bool constrained : {false, true}) {
    PolarPendulum pendulum(constrained);
    const State start = pendulum.at(1.2, 0.5);
    const State exact = reference(pendulum, start, 1.5, 20000);
    EXPECT_LT((run(pendulum, start, cvode(1e-10, 1.5)).last().q - exact.q).norm(), 1e-7);
  }
}

TEST(Cvode, BeginsAgainAfterAJump) {
  Oscillator oscillator;
  oscillator.force = 30;
  oscillator.jump_at = 0.7;
  oscillator.breaks = {0.7};
  for (const State& s : run(oscillator, oscillator.at(0.1, 0), cvode(1e-10, 2)).samples)
    EXPECT_NEAR(s.q[0], oscillator.exact(s.t, 0.1, 0)[0], 5e-8) << s.t;
}

TEST(Cvode, FailsWithAMessageOfItsOwnAndPrintsNothing) {
  CartesianPendulum pendulum;
  pendulum.push = [](double t) { return t > 0.25 ? std::nan("") : 0.0; };
  testing::internal::CaptureStderr();
  std::string message;
  try {
    run(pendulum, pendulum.at(1), cvode(1e-6, 1));
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_NE(message.find("cvode at 0.2"), std::string::npos) << message;
  EXPECT_NE(message.find("not finite"), std::string::npos) << message;
}

}  // namespace
}  // namespace lissom::cvode_test

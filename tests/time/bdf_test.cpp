#include <gtest/gtest.h>

#include <numbers>

#include "tests/time/angle_pendulum.hpp"

namespace lissom::bdf_test {
namespace {

using namespace test;

IntegratorOptions bdf(int index, double tolerance, double end) {
  IntegratorOptions o;
  o.integrator = Integrator::Bdf;
  o.index = index;
  o.tolerance = tolerance;
  o.end = end;
  o.newton.tolerance = 1e-13;
  return o;
}

class BdfOfIndex : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Both, BdfOfIndex, ::testing::Values(2, 3));

TEST_P(BdfOfIndex, HasTheOrderOfItsFormula) {
  // over one period of a pendulum, against the elliptic integral
  const double angle = 2, period = pendulum_period(angle);
  CartesianPendulum pendulum;
  const State start = pendulum.at(angle);
  for (int k = 1; k <= 5; ++k) {
    // small enough that the start matters little, large enough for round-off
    const std::vector<double> tolerances = k == 1   ? std::vector<double>{1e-4, 1e-5, 1e-6}
                                           : k <= 3 ? std::vector<double>{1e-6, 1e-7, 1e-8, 1e-9}
                                                    : std::vector<double>{1e-7, 1e-8, 1e-9, 1e-10, 1e-11};
    std::vector<double> steps, errors;
    for (double tolerance : tolerances) {
      IntegratorOptions o = bdf(GetParam(), tolerance, period);
      o.max_order = k;
      const Recording r = run(pendulum, start, o);
      steps.push_back(static_cast<double>(r.summary.steps));
      errors.push_back((r.last().q - start.q).norm());
    }
    // steps are not quite in proportion and errors of phase change sign, hence a range
    const double order = fitted_order(steps, errors);
    EXPECT_GT(order, k - 0.3);
    EXPECT_LT(order, k + 0.8);
  }
}

TEST_P(BdfOfIndex, KeepsEnergyAndConstraintsOfAPendulum) {
  CartesianPendulum pendulum;
  const State start = pendulum.at(2);
  const Recording r = run(pendulum, start, bdf(GetParam(), 1e-11, 10));
  double drift = 0, gap = 0, rate = 0;
  for (const State& s : r.steps) {
    drift = std::max(drift, std::abs(pendulum.energy(s) - pendulum.energy(start)));
    gap = std::max(gap, std::abs(pendulum.length_error(s)));
    rate = std::max(rate, std::abs(s.q.dot(s.v)));
  }
  // relative to the energy between top and bottom
  EXPECT_LT(drift / (2 * 9.81 * 2), 1e-6);
  EXPECT_LT(gap, 1e-12);
  // held by index 2 up to Newton's 1e-13 m times alpha, about 1e3/s; by index 3 to the order of the method
  EXPECT_LT(rate, GetParam() == 2 ? 1e-10 : 1e-6);
}

TEST_P(BdfOfIndex, FollowsAPrescribedMotion) {
  DrivenSpring driven;
  IntegratorOptions o = bdf(GetParam(), 1e-9, 3);
  o.sample = 0.1;
  const Recording r = run(driven, driven.start(), o);
  ASSERT_EQ(r.samples.size(), 31u);
  for (const State& s : r.samples) {
    const State exact = driven.exact(s.t);
    // every step off by the tolerance, all in one direction; such an error adds itself times 1 + 1/2 + ... +
    // 1/5 to the motion (alpha h of the formula). Velocities at 6 rad/s
    const double allowed = 2.3 * static_cast<double>(r.summary.steps) * o.tolerance;
    EXPECT_LT((s.q - exact.q).norm(), allowed) << s.t;
    EXPECT_LT((s.v - exact.v).norm(), 6.3 * allowed) << s.t;
    // one order less in index 3 where the step changes
    EXPECT_NEAR(s.lambda[0], exact.lambda[0], GetParam() == 2 ? 1e-4 : 0.02) << s.t;
  }
}

TEST_P(BdfOfIndex, TakesAMassMatrixThatDependsOnPositions) {
  for (bool constrained : {false, true}) {
    PolarPendulum pendulum(constrained);
    const State start = pendulum.at(1.2, 0.5);
    const State exact = reference(pendulum, start, 1.5, 20000);
    const Recording r = run(pendulum, start, bdf(GetParam(), 1e-10, 1.5));
    // global over local error as with the pendulum, some hundreds
    EXPECT_LT((r.last().q - exact.q).norm(), 1e-7);
    EXPECT_LT((r.last().v - exact.v).norm(), 1e-6);
  }
}

TEST_P(BdfOfIndex, NewtonConvergesQuadraticallyWithAFreshMatrix) {
  PolarPendulum pendulum(true);
  const State start = pendulum.at(1.2, 3);
  IntegratorOptions o = bdf(GetParam(), 1e-5, 1);
  o.newton.reuse_rate = 0;
  const Recording r = run(pendulum, start, o);
  // predictions are off by 1e-4 or so: then 1e-8, 1e-16, and one to see it; a wrong term takes many more
  EXPECT_LT(static_cast<double>(r.summary.newton_iterations) / (r.summary.steps + r.summary.rejected), 3.6);
}

TEST(Bdf, IsNotShiftedByAStepLoad) {
  // a sudden force at the start, and one later at a time it knows of
  for (double jump : {0.0, 0.7}) {
    Oscillator oscillator;
    oscillator.force = 30;
    oscillator.jump_at = jump;
    if (jump > 0) oscillator.breaks = {jump};
    const Recording r = run(oscillator, oscillator.at(0, 0), bdf(3, 1e-10, 2));
    for (const State& s : r.samples) {
      const Eigen::Vector2d exact = oscillator.exact(s.t, 0, 0);
      // half a step of the usual 2e-3 s would be 5e-3 m; global error some hundred times the local one
      EXPECT_NEAR(s.q[0], exact[0], 5e-8) << s.t;
      EXPECT_NEAR(s.v[0], exact[1], 5e-7) << s.t;
    }
  }
}

TEST(Bdf, AStiffModeAtRestDoesNotKeepItsStepsShort) {
  // frequencies of 1.75 and 4,200 rad/s, three periods of the slow one; the fast one rings by a hundredth of a
  // micrometre, less than any tolerance, and with 40 micrometres a second
  StiffPair pair;
  Eigen::Matrix2d shapes;
  Eigen::Vector2d w;
  pair.modes(shapes, w);
  const double end = 3 * 2 * std::numbers::pi / w[0];
  for (double tolerance : {1e-5, 1e-6, 1e-7}) {
    const Recording r = run(pair, pair.at(0.5, 1e-8), bdf(3, tolerance, end));
    // 100 to 180 alone, in steps of a thirtieth of the slow period or so; errors of all steps in one direction, times the 2.3
    // of the formula of order 5, and of velocities as much again
    EXPECT_LT(r.summary.steps + r.summary.rejected, 300) << tolerance;
    EXPECT_LT((r.last().q - pair.exact(end, 0.5, 0).q).norm(),
              5 * static_cast<double>(r.summary.steps) * tolerance)
        << tolerance;
  }
}

TEST(Bdf, ErrorsOfAFreelyVibratingBodyStayInProportionToTheTolerance) {
  // ten periods without damping; phase errors of every step add up
  Oscillator oscillator;
  oscillator.damping = 0;
  const double end = 10 * 2 * std::numbers::pi / std::sqrt(oscillator.stiffness / oscillator.mass);
  for (const double amplitude : {0.3, 1e-3}) {
    std::vector<double> errors;
    for (double tolerance : {1e-5, 1e-6, 1e-7, 1e-8, 1e-9}) {
      const Recording r = run(oscillator, oscillator.at(amplitude, 0), bdf(3, tolerance, end));
      errors.push_back(std::abs(r.last().q[0] - oscillator.exact(end, amplitude, 0)[0]));
      EXPECT_LT(errors.back(), 5 * static_cast<double>(r.summary.steps) * tolerance) << tolerance;
    }
    // four digits of tolerance, and five times as many steps
    EXPECT_LT(errors.back(), 5e-3 * errors.front());
  }
}

TEST(Bdf, BothModesOfAStiffPairAreRightWhereBothSwing) {
  // 70 periods of the stiff one
  StiffPair pair;
  pair.stiff = 4e3;
  const double slow = 0.5, fast = 1e-3;
  for (double tolerance : {1e-7, 1e-9}) {
    const Recording r = run(pair, pair.at(slow, fast), bdf(3, tolerance, 3));
    EXPECT_LT((r.last().q - pair.exact(3, slow, fast).q).norm(),
              5 * static_cast<double>(r.summary.steps) * tolerance)
        << tolerance;
  }
}

TEST(Bdf, APendulumOnAStiffSpringIsAsQuickAsOnARod) {
  // free, and its spring as long as gravity makes it: its own vibration, of 1,000 rad/s, is hardly excited
  PolarPendulum pendulum(false);
  pendulum.stiffness = 2e6;
  const double stretch = pendulum.mass * pendulum.gravity * std::cos(1.2) / pendulum.stiffness;
  const State start =
      make_consistent(pendulum, 0, Eigen::Vector2d(1.2, pendulum.L + stretch), Eigen::Vector2d(0, 0)).state;
  const State exact = reference(pendulum, start, 1.5, 30000);
  for (double tolerance : {1e-6, 1e-8}) {
    const Recording r = run(pendulum, start, bdf(3, tolerance, 1.5));
    EXPECT_LT(r.summary.steps + r.summary.rejected, 300) << tolerance;
    // global over local error of some hundreds
    EXPECT_LT((r.last().q - exact.q).norm(), 1e3 * tolerance) << tolerance;
  }
}

// What remains of the deformation of an ElasticRider, and the summary: 32 micrometres on 0.7 m, and 10 that ring at 500
// rad/s, undamped, over 24 periods.
double error_of_deformation(IntegratorOptions o, IntegrationSummary& summary, Diagnostics& diagnostics) {
  ElasticRider rider;
  rider.stiffness = 1e5;
  rider.ring = 1e-5;
  o.end = 0.3;
  const Recording r = run(rider, rider.at(0), o);
  summary = r.summary;
  diagnostics = r.diagnostics;
  double error = 0;
  for (const State& s : r.steps) error = std::max(error, std::abs(s.q[1] - rider.deformation(s.t)));
  return error / (rider.give() + rider.ring);
}

TEST(DeformationNorm, SeesDeformationsThatAreSmallBesideTheMotion) {
  IntegrationSummary summary;
  Diagnostics diagnostics;
  for (const Integrator integrator :
       {Integrator::Bdf, Integrator::GeneralizedAlpha, Integrator::RungeKutta}) {
    IntegratorOptions o = bdf(3, 1e-5, 0);
    o.integrator = integrator;
    o.adaptive = true;
    o.max_order = 2;
    // errors of positions alone leave it to itself
    o.elastic_tolerance = 1;
    const double alone = error_of_deformation(o, summary, diagnostics);
    // Runge-Kutta's own stability keeps steps short
    EXPECT_GT(alone, integrator == Integrator::RungeKutta ? 0.1 : 0.3) << name_of(integrator);
    // errors of all steps in one direction: some hundreds times the tolerance of one
    for (const double tolerance : {1e-3, 1e-4}) {
      o.elastic_tolerance = tolerance;
      const double error = error_of_deformation(o, summary, diagnostics);
      EXPECT_LT(error, tolerance * static_cast<double>(summary.steps)) << name_of(integrator);
      EXPECT_LT(summary.deformation_error, 1.0001 * tolerance) << name_of(integrator);
      EXPECT_TRUE(diagnostics.empty());
    }
  }
}

TEST(DeformationNorm, IsWatchedWhereItIsNotControlled) {
  IntegrationSummary summary;
  Diagnostics diagnostics;
  for (const Integrator integrator : {Integrator::Bdf, Integrator::Cvode}) {
    IntegratorOptions o = bdf(3, 1e-4, 0);
    o.integrator = integrator;
    error_of_deformation(o, summary, diagnostics);
    // cvode's order is lower here, and a step errs by 0.037; 0.1 is worth a warning
    EXPECT_GT(summary.deformation_error, integrator == Integrator::Bdf ? 0.1 : 0.02) << name_of(integrator);
    EXPECT_EQ(summary.deformation_part, "spring");
    EXPECT_EQ(diagnostics.empty(), summary.deformation_error <= 0.1) << name_of(integrator);
  }
}

TEST(Bdf, ReactionsAreRightFromTheFirstStepOn) {
  CartesianPendulum pendulum;
  const State start = pendulum.at(0.5, 3);
  const Recording r = run(pendulum, start, bdf(3, 1e-6, 0.5));
  for (const State& s : r.steps) {
    // tension m (v^2 / L + g cos) of about 36 N; order 1 would begin with 9 N less
    const double tension = pendulum.mass * (s.v.squaredNorm() - pendulum.gravity * s.q[1]);
    EXPECT_NEAR(s.lambda[0], tension, 0.05) << s.t;
  }
}

TEST(Bdf, SamplesLieOnTheGridAndOnTheMotion) {
  CartesianPendulum pendulum;
  const State start = pendulum.at(2);
  IntegratorOptions o = bdf(2, 1e-9, 1);
  o.sample = 1.0 / 128;
  const Recording r = run(pendulum, start, o);
  ASSERT_EQ(r.samples.size(), 129u);
  const State exact = reference(pendulum, start, 0.5, 20000);
  for (int k = 0; k <= 128; ++k) {
    EXPECT_EQ(r.samples[k].t, k / 128.0);
    // between steps the polynomial is as far off as a step
    EXPECT_NEAR(pendulum.length_error(r.samples[k]), 0, 3e-8);
    EXPECT_NEAR(pendulum.energy(r.samples[k]), pendulum.energy(start), 2e-5);
  }
  EXPECT_LT((r.samples[64].q - exact.q).norm(), 5e-7);
}

TEST(Bdf, SaysWhereItCannotGoOn) {
  CartesianPendulum pendulum;
  pendulum.push = [](double t) { return t > 0.25 ? std::nan("") : 0.0; };
  try {
    run(pendulum, pendulum.at(1), bdf(3, 1e-6, 1));
    FAIL();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("bdf at 0.25 s"), std::string::npos) << message;
    EXPECT_NE(message.find("body 'bob'"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace lissom::bdf_test

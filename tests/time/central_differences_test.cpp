#include <gtest/gtest.h>

#include "lissom/time/stepper.hpp"
#include "tests/time/angle_pendulum.hpp"

namespace lissom::central_differences_test {
namespace {

using namespace test;

IntegratorOptions central_differences(double step, double end) {
  IntegratorOptions o;
  o.integrator = Integrator::CentralDifferences;
  o.step = step;
  o.end = end;
  return o;
}

std::string message_of(Equations& equations, const State& start, const IntegratorOptions& o) {
  try {
    run(equations, start, o);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CentralDifferences, HaveOrderTwo) {
  AnglePendulum pendulum;
  const State start = pendulum.at(2);
  const double period = pendulum_period(2);
  // damping: forces of the velocities must not cost an order
  Oscillator oscillator;
  oscillator.damping = 3;
  const State plucked = oscillator.at(0.2, 0);
  std::vector<double> at_angle, damped;
  for (int n : {500, 1000, 2000}) {
    // half a period, where the other side is reached with a velocity of zero: errors of phase are seen there
    at_angle.push_back(
        std::abs(run(pendulum, start, central_differences(period / n, period / 2)).last().v[0]));
    const State end = run(oscillator, plucked, central_differences(1.0 / n, 1)).last();
    damped.push_back(std::abs(end.q[0] - oscillator.exact(1, 0.2, 0)[0]));
  }
  // next terms are of fourth and third order
  EXPECT_NEAR(last_order(at_angle), 2, 0.02);
  EXPECT_NEAR(last_order(damped), 2, 0.05);
}

TEST(CentralDifferences, KeepEnergyWithoutDrift) {
  AnglePendulum pendulum;
  const State start = pendulum.at(1);
  const Recording r = run(pendulum, start, central_differences(1e-3, 20));
  // symplectic: it swings with (omega h)^2 / 8, and does not grow
  double largest = 0;
  for (const State& s : r.steps)
    largest = std::max(largest, std::abs(pendulum.energy(s) - pendulum.energy(start)));
  EXPECT_LT(largest / (2 * 9.81), 3e-6);
}

TEST(CentralDifferences, EndWhereTheyMustWithStepsNoLongerThanAsked) {
  Oscillator oscillator;
  oscillator.force = 5;
  oscillator.jump_at = 0.123;
  oscillator.breaks = {0.123};
  IntegratorOptions o = central_differences(0.01, 0.5);
  o.sample = 0.05;
  const Recording r = run(oscillator, oscillator.at(0, 0), o);
  EXPECT_LE(r.summary.largest_step, 0.01 * (1 + 1e-9));
  ASSERT_EQ(r.samples.size(), 11u);
  for (const State& s : r.samples)
    // (omega h)^2 / 24 omega t of the amplitude 0.25 m
    EXPECT_NEAR(s.q[0], oscillator.exact(s.t, 0, 0)[0], 0.25 * 0.003 / 24 * 2.5 * 2) << s.t;
}

TEST(CentralDifferences, RefuseAStepAboveTheLimitOfStability) {
  Oscillator oscillator;
  oscillator.damping = 0;
  const double limit = 2 / std::sqrt(oscillator.stiffness / oscillator.mass);
  const State start = oscillator.at(0.1, 0);
  const std::string message = message_of(oscillator, start, central_differences(1.02 * limit, 100));
  EXPECT_NE(message.find(fmt::format("limit of stability, {:.4g} s", limit)), std::string::npos) << message;
  // and not one below it
  EXPECT_EQ(message_of(oscillator, start, central_differences(0.98 * limit, 100)), "no error");
}

TEST(CentralDifferences, StopWhenTheMotionGrows) {
  // so stiff when pulled out that the limit at the start says nothing
  class Hardening : public Oscillator {
   public:
    void residual(const State& s, double w, Eigen::Ref<Eigen::VectorXd> r) override {
      r[0] = w * mass * s.a[0] + stiffness * s.q[0] + 1e6 * s.q[0] * s.q[0] * s.q[0];
    }
  } spring;
  const State start =
      make_consistent(spring, 0, Eigen::VectorXd::Constant(1, 0), Eigen::VectorXd::Constant(1, 50)).state;
  const std::string message = message_of(spring, start, central_differences(0.02, 10));
  EXPECT_NE(message.find("grows beyond all bounds"), std::string::npos) << message;
}

TEST(CentralDifferences, TakeNoConstraints) {
  CartesianPendulum pendulum;
  EXPECT_THROW(run(pendulum, pendulum.at(1), central_differences(1e-3, 1)), InputError);
  IntegrationSummary summary;
  try {
    make_central_differences(pendulum, central_differences(1e-3, 1), summary);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("joint 'rod'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lissom::central_differences_test

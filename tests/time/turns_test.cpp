// Springs that wind up over several turns, with every integrator: the turns are counted at accepted steps,
// belong to the state, and go on after a resumption.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "lissom/mbs/archive_state.hpp"
#include "lissom/time/equilibrium.hpp"
#include "tests/mbs/system_support.hpp"

namespace lissom::turns_test {
namespace {

using namespace test;
using Eigen::Vector3d;

constexpr double k = 10, inertia = 1, speed = 17.9;
const double omega = std::sqrt(k / inertia), amplitude = speed / omega;  // 5.66 rad

// A wheel on a hinge about z with a torsion spring, which starts at rest angle with `speed`.
struct Wheel {
  System system;

  explicit Wheel(double spin = speed, bool driven = false, const TimeFunction& torque = 0.0) {
    Placement placement = at(Vector3d::Zero());
    placement.angular_velocity = {0, 0, spin};
    const int wheel = add_rigid(system, "wheel", 2, {1, 1, inertia}, placement);
    join_at(system, "hinge", JointKind::Revolute, -1, wheel, Vector3d::Zero());
    if (driven)
      join_at(system, "drive", JointKind::Angle, -1, wheel, Vector3d::Zero(), Eigen::Matrix3d::Identity(),
              TimeFunction::expression("6.283185307179586 * t"));
    Load spring;
    spring.name = "spring";
    spring.kind = LoadKind::TorsionSpring;
    spring.first = system.add_ground_marker(Vector3d::Zero());
    spring.second = point(system, wheel, Vector3d::Zero());
    spring.stiffness = k;
    system.add_load(spring);
    Load motor;
    motor.name = "motor";
    motor.kind = LoadKind::Torque;
    motor.first = point(system, wheel, Vector3d::Zero());
    motor.components = {0.0, 0.0, torque};
    system.add_load(motor);
  }
};

struct Method {
  std::string name;
  IntegratorOptions options;
  double error;  // of angles, relative to the amplitude, over two periods
};

std::vector<Method> methods() {
  IntegratorOptions o;
  o.end = 4;
  std::vector<Method> list;
  // second order: the phase is off by (omega h)^2 / 12 a radian, Euler parameters of fast turns by as much
  o.step = 2e-3;
  o.integrator = Integrator::GeneralizedAlpha;
  o.rho_inf = 0.9;
  list.push_back({"generalized-alpha", o, 5e-3});
  o.integrator = Integrator::HhtI3;
  o.alpha = -0.02;
  list.push_back({"hht-i3", o, 2e-2});
  o.step = 0;
  o.adaptive = true;
  o.tolerance = 1e-7;
  list.push_back({"hht-i3, adaptive", o, 2e-2});
  o.adaptive = false;
  // 1e3 times what is allowed in a step
  o.integrator = Integrator::Bdf;
  list.push_back({"bdf", o, 1e-3});
  o.index = 2;
  list.push_back({"bdf of index 2", o, 1e-3});
  o.integrator = Integrator::RungeKutta;
  list.push_back({"runge-kutta", o, 1e-4});
  o.integrator = Integrator::Cvode;
  list.push_back({"cvode", o, 1e-3});
  return list;
}

TEST(Turns, AFreeTorsionSpringSwingsOverSeveralTurnsAsTheoryHasIt) {
  for (Method method : methods()) {
    const Wheel wheel;
    SystemEquations equations(wheel.system);
    method.options.sample = 0.0137;  // between steps
    double worst = 0, largest = 0;
    IntegrationOutput output;
    output.sample = [&](State state) {
      const double springs = equations.energy(state).springs, torque = equations.load_magnitude(0, state);
      equations.count_turns(state);
      const double angle = state.turns.angle[0], exact = amplitude * std::sin(omega * state.t);
      worst = std::max(worst, std::abs(angle - exact) / amplitude);
      largest = std::max(largest, std::abs(angle));
      // forces, energy and the angle itself say the same
      EXPECT_NEAR(torque, k * angle, 1e-9) << method.name;
      EXPECT_NEAR(springs, k * angle * angle / 2, 1e-9) << method.name;
    };
    IntegrationSummary summary;
    Diagnostics diagnostics;
    integrate(equations, start(wheel.system, equations), method.options, output, summary, diagnostics);
    EXPECT_LT(worst, method.error) << method.name;
    EXPECT_NEAR(largest, amplitude, method.error * amplitude) << method.name;
  }
}

TEST(Turns, AResumedRunOfAWoundSpringIsTheSameToTheLastBit) {
  const auto same = [](const Eigen::VectorXd& x, const Eigen::VectorXd& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), sizeof(double) * x.size()) == 0;
  };
  for (Method method : methods()) {
    method.options.end = 0.9;
    const Wheel wheel;
    SystemEquations equations(wheel.system);
    const State initial = start(wheel.system, equations);
    std::string saved;
    State last;
    IntegrationOutput output;
    output.step = [&](const State& state) { last = state; };
    output.between = [&](const IntegrationOutput::Save& save, bool) {
      // wound by most of a turn
      if (!saved.empty() || last.turns.angle.size() == 0 || last.turns.angle[0] < 5) return;
      Archive archive;
      save(archive);
      saved = archive.bytes();
    };
    IntegrationSummary summary;
    Diagnostics diagnostics;
    integrate(equations, initial, method.options, output, summary, diagnostics);
    ASSERT_FALSE(saved.empty()) << method.name;
    const State whole = last;
    // equations that have seen nothing
    SystemEquations fresh(wheel.system);
    Archive archive(saved);
    output.between = nullptr;
    integrate(fresh, initial, method.options, output, summary, diagnostics, {}, &archive);
    EXPECT_EQ(last.t, whole.t) << method.name;
    EXPECT_TRUE(same(last.q, whole.q) && same(last.v, whole.v) && same(last.a, whole.a)) << method.name;
    EXPECT_TRUE(same(last.turns.angle, whole.turns.angle)) << method.name;
  }
}

TEST(Turns, ADrivenSpringTakesMoreTorqueWithEveryTurn) {
  const Wheel wheel(2 * std::numbers::pi, true);
  const SystemCheck check = check_of(wheel.system);
  SystemEquations equations(wheel.system, check.kept);
  IntegratorOptions options;
  options.integrator = Integrator::Kinematics;
  options.step = 0.03;
  options.sample = 0.01;
  options.end = 3;
  IntegrationOutput output;
  int samples = 0;
  output.sample = [&](const State& state) {
    ++samples;
    // samples between steps are interpolated, with (0.03 * 2 pi)^6 / 46080 of the positions off
    EXPECT_NEAR(equations.load_magnitude(0, state), k * 2 * std::numbers::pi * state.t, 1e-6);
  };
  IntegrationSummary summary;
  Diagnostics diagnostics;
  integrate(equations, start(wheel.system, equations), options, output, summary, diagnostics);
  EXPECT_EQ(samples, 301);
}

TEST(Turns, EquilibriaAreFollowedOverSeveralTurns) {
  // T = 120 N m at the end: 12 rad
  const Wheel wheel(0, false, TimeFunction::expression("120 * t"));
  SystemEquations equations(wheel.system);
  IntegratorOptions options;
  options.integrator = Integrator::Static;
  options.step = 0.1;
  options.end = 1;
  IntegrationOutput output;
  output.sample = [&](const State& state) {
    // the tolerance of equilibria, 1e-10 of the size, over a lever of no length
    ASSERT_EQ(state.turns.angle.size(), 1);
    EXPECT_NEAR(state.turns.angle[0], 12 * state.t, 1e-7);
    EXPECT_NEAR(equations.load_magnitude(0, state), 120 * state.t, 1e-6);
  };
  IntegrationSummary summary;
  Diagnostics diagnostics;
  integrate(equations, start(wheel.system, equations), options, output, summary, diagnostics);
}

TEST(Turns, CountingTwiceChangesNothingAndAJumpOfTheLoadLosesNone) {
  // pushed back hard in the middle of the second turn
  const Wheel wheel(speed, false, TimeFunction::table({0, 0.4, 0.4000001, 4}, {0, 0, -30, -30}));
  SystemEquations equations(wheel.system);
  IntegratorOptions options;
  options.integrator = Integrator::RungeKutta;
  options.tolerance = 1e-9;
  options.end = 3;
  options.sample = 0.05;
  IntegrationOutput output;
  output.sample = [&](State state) {
    equations.count_turns(state);
    const Turns once = state.turns;
    equations.count_turns(state);
    EXPECT_EQ(once.angle, state.turns.angle);
    // about -3 rad from 0.4 s on
    const double there = amplitude * std::sin(omega * 0.4), rate = speed * std::cos(omega * 0.4);
    const double late = state.t - 0.4;
    const double after = -3 + (there + 3) * std::cos(omega * late) + rate / omega * std::sin(omega * late);
    const double exact = state.t <= 0.4 ? amplitude * std::sin(omega * state.t) : after;
    // 1e3 times what is allowed in a step
    EXPECT_NEAR(once.angle[0], exact, 1e-5 * amplitude) << state.t;
  };
  IntegrationSummary summary;
  Diagnostics diagnostics;
  integrate(equations, start(wheel.system, equations), options, output, summary, diagnostics);
}

}  // namespace
}  // namespace lissom::turns_test

// Inputs: loads that are driven from outside, and what drives them while a system moves.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "lissom/core/error.hpp"
#include "tests/mbs/system_support.hpp"
#include "tests/time/run.hpp"

namespace lissom::inputs_test {
namespace {

using namespace test;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

Load load_of(LoadKind kind, const std::string& name, MarkerRef first, const std::string& input) {
  Load load;
  load.name = name;
  load.kind = kind;
  load.first = first;
  load.input = input;
  return load;
}

// A double pendulum with a force that follows, a torque between its bars and a line force to the ground.
struct Pendulum {
  System system;

  // Inputs, or the functions of time that take their place.
  explicit Pendulum(bool driven) {
    const TimeFunction push = TimeFunction::expression("sin(20*t)"),
                       pull = TimeFunction::expression("1 - 3*t");
    const int a = add_bar(system, "a", 1, {0, 0, 0}, {1, 0, 0});
    const int b = add_bar(system, "b", 0.5, {1, 0, 0}, {1.6, 0.3, 0});
    join_at(system, "hinge", JointKind::Revolute, -1, a, {0, 0, 0});
    join_at(system, "knee", JointKind::Revolute, a, b, {1, 0, 0});
    const auto scaled = [&](const TimeFunction& f, double by) {
      return driven ? TimeFunction(by) : f.scaled(by);
    };
    Load force = load_of(LoadKind::Force, "force", point(system, b, {0.3, 0, 0}), driven ? "push" : "");
    force.following = true;
    force.components = {0.0, scaled(push, 3), scaled(push, -0.5)};
    system.add_load(force);
    Load torque = load_of(LoadKind::Torque, "torque", point(system, a, {0.5, 0, 0}), driven ? "pull" : "");
    torque.second = point(system, b, {-0.3, 0, 0});
    torque.has_second = true;
    torque.components = {0.0, 0.0, scaled(pull, 0.7)};
    system.add_load(torque);
    Load line = load_of(LoadKind::LineForce, "line", point(system, a, {0.2, 0, 0}), driven ? "push" : "");
    line.second = system.add_ground_marker({0.3, -1, 0});
    line.has_second = true;
    line.magnitude = scaled(push, 2);
    system.add_load(line);
    if (!driven) return;
    system.set_input("push", push);
    system.set_input("pull", pull);
  }
};

TEST(Inputs, AreNamedOnceInTheOrderOfTheLoads) {
  const Pendulum pendulum(true);
  ASSERT_EQ(pendulum.system.inputs().size(), 2u);
  EXPECT_EQ(pendulum.system.inputs()[0].name, "push");
  EXPECT_EQ(pendulum.system.find_input("pull"), 1);
  EXPECT_EQ(pendulum.system.find_input("force"), -1);
}

TEST(Inputs, ThatAreFunctionsOfTimeMoveTheSystemAsTheSameLoadsWithoutInputsDo) {
  IntegratorOptions options;
  options.end = 0.5;
  options.step = 1e-3;
  std::vector<VectorXd> ends;
  for (const bool driven : {false, true}) {
    const Pendulum pendulum(driven);
    SystemEquations equations(pendulum.system);
    ends.push_back(run(equations, start(pendulum.system, equations), options).last().q);
  }
  // the same products in another order
  EXPECT_LT((ends[1] - ends[0]).norm(), 1e-11);
}

TEST(Inputs, ForcesPerUnitAreTheDerivativeOfTheResidual) {
  const Pendulum pendulum(true);
  SystemEquations equations(pendulum.system);
  State state = start(pendulum.system, equations);
  state.v.setLinSpaced(-1, 1);
  MatrixXd F(equations.coordinates(), 2);
  equations.input_forces(state, F);
  const auto residual = [&](double push, double pull) {
    equations.hold_inputs(Eigen::Vector2d(push, pull));
    VectorXd r(equations.coordinates());
    equations.residual(state, 1, r);
    return r;
  };
  // linear in u: any step gives the derivative but for round-off
  const VectorXd at = residual(2, -3);
  EXPECT_LT((residual(7, -3) - at + 5 * F.col(0)).norm(), 1e-12 * at.norm());
  EXPECT_LT((residual(2, 1) - at + 4 * F.col(1)).norm(), 1e-12 * at.norm());
  EXPECT_GT(F.col(0).norm(), 1);
  EXPECT_GT(F.col(1).norm(), 0.1);
}

TEST(Inputs, JacobiansHoldUnderInputs) {
  const Pendulum pendulum(true);
  SystemEquations equations(pendulum.system);
  equations.hold_inputs(Eigen::Vector2d(4, -2));
  const State state = start(pendulum.system, equations);
  const int n = equations.coordinates();
  NewtonMatrix matrix(n + equations.constraints(), equations.blocks(), NewtonMatrix::Storage::Dense);
  equations.jacobian(state, 1, {1, 0, 0, 0, 0}, matrix);
  VectorXd unit = VectorXd::Zero(n + equations.constraints()), column(unit.size()), ahead(n), behind(n);
  for (int i = 0; i < n; ++i) {
    State there = state;
    there.q[i] += 1e-6;
    equations.residual(there, 1, ahead);
    there.q[i] -= 2e-6;
    equations.residual(there, 1, behind);
    unit.setZero();
    unit[i] = 1;
    matrix.multiply(unit, column);
    // central differences of second order
    EXPECT_LT((column.head(n) - (ahead - behind) / 2e-6).norm(), 1e-6 * (1 + column.norm()));
  }
}

// A mass of 2 kg on rails along x, pushed by the input.
struct Slider {
  System system;
  Slider() {
    const int mass = add_rigid(system, "mass", 2, {1, 1, 1}, at(Vector3d::Zero()));
    join_at(system, "rails", JointKind::Prismatic, -1, mass, Vector3d::Zero(),
            turned(std::acos(0.0), Vector3d::UnitY()));
    Load push = load_of(LoadKind::Force, "motor", point(system, mass, Vector3d::Zero()), "push");
    push.components = {1.0, 0.0, 0.0};
    system.add_load(push);
  }
};

// Under a force that is held the acceleration is constant, and the positions at the instants follow exactly:
//   x+ = x + T v + T^2 u / (2 m),   v+ = v + T u / m.
TEST(SampledControl, MovesAMassAsTheExactRecursionDoes) {
  const double T = 5e-3, kp = 80, kd = 20, goal = 0.3;
  for (const Integrator method : {Integrator::GeneralizedAlpha, Integrator::RungeKutta, Integrator::Bdf}) {
    Slider slider;
    SystemEquations equations(slider.system);
    IntegratorOptions options;
    options.integrator = method;
    options.end = 0.5;
    options.step = method == Integrator::GeneralizedAlpha ? 2e-3 : 0;  // two and a half steps an instant
    options.sample = T;
    options.tolerance = 1e-9;
    std::vector<double> x, times;
    IntegrationOutput output;
    output.control.period = T;
    output.control.act = [&](const State& state) {
      times.push_back(state.t);
      x.push_back(state.q[0]);
      equations.hold_inputs(VectorXd::Constant(1, kp * (goal - state.q[0]) - kd * state.v[0]));
    };
    IntegrationSummary summary;
    Diagnostics diagnostics;
    integrate(equations, start(slider.system, equations), options, output, summary, diagnostics);
    ASSERT_EQ(x.size(), 100u);
    double exact = 0, v = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      EXPECT_NEAR(times[k], static_cast<double>(k) * T, 1e-12);
      // round-off of a hundred starts; BDF has errors of the order of its tolerance
      EXPECT_NEAR(x[k], exact, method == Integrator::Bdf ? 2e-6 : 1e-10) << k;
      const double u = kp * (goal - exact) - kd * v;
      exact += T * v + T * T * u / 4;
      v += T * u / 2;
    }
    EXPECT_GT(exact, 0.25);
  }
}

// A small mass on a spring so stiff that a step is 32 of its periods: a controller that jumps at every step must not
// set it ringing. What moves is a rigid mass of 2.1 kg, but for F / k of 1e-7 m.
TEST(SampledControl, ModesThatStepsDoNotResolveFollow) {
  for (const Integrator method : {Integrator::GeneralizedAlpha, Integrator::HhtI3}) {
    Slider slider;
    const double k = 1e9, m = 0.1;
    const int small = add_rigid(slider.system, "small", m, {1, 1, 1}, at({1, 0, 0}));
    join_at(slider.system, "its rails", JointKind::Prismatic, -1, small, {1, 0, 0},
            turned(std::acos(0.0), Vector3d::UnitY()));
    Load spring = load_of(LoadKind::Spring, "spring", point(slider.system, 0, Vector3d::Zero()), "");
    spring.second = point(slider.system, small, Vector3d::Zero());
    spring.has_second = true;
    spring.stiffness = k;
    spring.length = 1;
    slider.system.add_load(spring);
    SystemEquations equations(slider.system);
    IntegratorOptions options;
    options.integrator = method;
    const double T = options.step = options.sample = 2e-3;
    options.end = 0.5;
    ASSERT_GT(std::sqrt(k / m) * T / (2 * std::numbers::pi), 30);
    std::vector<double> x;
    double energy = 0;
    IntegrationOutput output;
    output.control.period = T;
    output.control.act = [&](const State& state) {
      x.push_back(state.q[0]);
      energy = std::max(energy, equations.energy(state).springs);
      equations.hold_inputs(VectorXd::Constant(1, 80 * (0.3 - state.q[0]) - 20 * state.v[0]));
    };
    IntegrationSummary summary;
    Diagnostics diagnostics;
    integrate(equations, start(slider.system, equations), options, output, summary, diagnostics);
    ASSERT_EQ(x.size(), 250u);
    double exact = 0, v = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      // steps of second order on a system of 6 rad/s, in proportion to the 0.3 m that it moves
      EXPECT_NEAR(x[i], exact, 2e-5) << name_of(method) << " " << i;
      const double a = (80 * (0.3 - exact) - 20 * v) / (2 + m);
      exact += T * v + T * T * a / 2;
      v += T * a;
    }
    // pulled by m a, at most 24 N / 21 at the start, and twice that for the first step: F^2 / 2k
    EXPECT_LT(energy, 4 * 1.2 * 1.2 / (2 * k));
  }
}

TEST(SampledControl, ASampleAtAnInstantHasTheAccelerationOfTheNewInput) {
  Slider slider;
  SystemEquations equations(slider.system);
  IntegratorOptions options;
  options.end = 3e-3;
  options.step = options.sample = 1e-3;
  double u = 0;
  std::vector<double> a;
  IntegrationOutput output;
  output.control.period = 1e-3;
  output.control.act = [&](const State&) { equations.hold_inputs(VectorXd::Constant(1, u += 6)); };
  output.sample = [&](const State& state) { a.push_back(state.a[0]); };
  IntegrationSummary summary;
  Diagnostics diagnostics;
  integrate(equations, start(slider.system, equations), options, output, summary, diagnostics);
  ASSERT_EQ(a.size(), 4u);
  EXPECT_NEAR(a[0], 3, 1e-12);
  EXPECT_NEAR(a[1], 6, 1e-12);
  EXPECT_NEAR(a[2], 9, 1e-12);
  EXPECT_NEAR(a[3], 9, 1e-9);  // the end is no instant
}

std::string refusal(const IntegratorOptions& options, double period, bool resume = false) {
  Slider slider;
  SystemEquations equations(slider.system);
  IntegrationOutput output;
  output.control.period = period;
  output.control.act = [](const State&) {};
  IntegrationSummary summary;
  Diagnostics diagnostics;
  Archive archive;
  try {
    integrate(equations, start(slider.system, equations), options, output, summary, diagnostics, {},
              resume ? &archive : nullptr);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(SampledControl, WhatCannotBeIsRefusedByName) {
  IntegratorOptions options;
  options.end = 0.1;
  options.step = 2e-3;
  EXPECT_NE(refusal(options, 1e-3).find("called every 0.001 s, and the step is longer, 0.002 s"),
            std::string::npos);
  EXPECT_NE(refusal(options, 0).find("the controller's period is 0 s"), std::string::npos);
  EXPECT_NE(refusal(options, 2e-3, true).find("cannot be resumed"), std::string::npos);
  EXPECT_EQ(refusal(options, 2e-3), "");
}

TEST(Inputs, WhatCannotBeIsRefusedByName) {
  Slider slider;
  try {
    slider.system.set_input("pus", 1.0);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "there is no input 'pus' (did you mean 'push'?); there are: push");
  }
  Load spring = load_of(LoadKind::Spring, "s", point(slider.system, 0, Vector3d::Zero()), "push");
  spring.second = slider.system.add_ground_marker({1, 0, 0});
  EXPECT_THROW(slider.system.add_load(spring), InputError);
}

}  // namespace
}  // namespace lissom::inputs_test

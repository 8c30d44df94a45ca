#include "lissom/mbs/sensor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "tests/mbs/marker_support.hpp"
#include "tests/mbs/system_support.hpp"

namespace lissom::sensor_test {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace test;

Sensor sensor(const std::string& name, SensorKind kind, MarkerRef marker, int index = -1) {
  Sensor out;
  out.name = name;
  out.kind = kind;
  out.marker = marker;
  out.index = index;
  return out;
}

// A bar of 1 m that turns about a vertical axis with 3 rad/s, a torsion spring at rest around it.
struct Turning {
  System system;
  MarkerRef tip;
  static constexpr double speed = 3;

  Turning() {
    const int bar = add_bar(system, "bar", 2, {0, 0, 0}, {1, 0, 0});
    join_at(system, "hinge", JointKind::Revolute, -1, bar, Vector3d::Zero());
    join(system, "drive", JointKind::Angle, system.joints()[0].first, system.joints()[0].second,
         TimeFunction::expression("3 * t"));
    tip = point_in_space(system, bar, {1, 0, 0});
    Load load;
    load.name = "coil";
    load.kind = LoadKind::TorsionSpring;
    load.first = system.joints()[0].first;
    load.second = system.joints()[0].second;
    load.stiffness = 5;
    system.add_load(load);
  }
  // the state at a time, exactly
  State at_time(SystemEquations& equations, double t) const {
    VectorXd q, v;
    system.initial(q, v);
    Placement placement = system.placement(0);
    const Matrix3d R = turned(speed * t, Vector3d::UnitZ());
    placement.position = R * placement.position;
    placement.rotation = R * placement.rotation;
    placement.angular_velocity = Vector3d(0, 0, speed);
    placement.velocity = placement.angular_velocity.cross(placement.position);
    State state;
    state.t = t;
    state.q = q;
    state.v = v;
    system.bodies()[0]->place(placement, state.q, state.v);
    state.a = VectorXd::Zero(q.size());
    state.lambda = VectorXd::Zero(equations.constraints());
    AccelerationSolver(equations).solve(state);
    return state;
  }
};

TEST(Sensor, ColumnsHaveNamesAndUnits) {
  const Turning model;
  std::vector<Sensor> sensors;
  for (const auto& [name, kind] : sensor_names()) {
    if (kind == SensorKind::Drive) continue;  // the joint is not driven
    sensors.push_back(sensor(name, kind, model.tip, 0));
    if (!is_stress(kind)) continue;
    StressPlace& place = sensors.back().stress;
    place.body = 0;
    place.node_ids = {17, 4};
    place.modes.resize(12, 0);
    place.components = {6, 2};
  }
  const SensorBank bank(model.system, sensors);
  std::map<std::string, std::array<int, 3>> columns;
  for (const SensorColumn& column : bank.columns())
    columns[column.name] = {column.length, column.mass, column.time};
  EXPECT_EQ(columns.size(), 41u);
  EXPECT_EQ(columns.at("position.x"), (std::array{1, 0, 0}));
  EXPECT_EQ(columns.at("velocity.y"), (std::array{1, 0, -1}));
  EXPECT_EQ(columns.at("acceleration.z"), (std::array{1, 0, -2}));
  EXPECT_EQ(columns.at("rotation.rx"), (std::array{0, 0, 0}));
  EXPECT_EQ(columns.at("angular-velocity.wz"), (std::array{0, 0, -1}));
  EXPECT_EQ(columns.at("reaction.fx"), (std::array{1, 1, -2}));
  EXPECT_EQ(columns.at("reaction.tz"), (std::array{2, 1, -2}));
  EXPECT_EQ(columns.at("joint-angle.angle"), (std::array{0, 0, 0}));
  EXPECT_EQ(columns.at("joint-displacement.distance"), (std::array{1, 0, 0}));
  EXPECT_EQ(columns.at("load.value"), (std::array{2, 1, -2}));  // of a torsion spring
  EXPECT_EQ(columns.at("energy.total"), (std::array{2, 1, -2}));
  EXPECT_EQ(columns.at("stress.von_mises"), (std::array{-1, 1, -2}));
  EXPECT_EQ(columns.at("stress.zz"), (std::array{-1, 1, -2}));
  EXPECT_EQ(columns.at("stress.node"), (std::array{0, 0, 0}));
  EXPECT_EQ(columns.at("strain.zz"), (std::array{0, 0, 0}));
  EXPECT_EQ(si_unit({"s", -1, 1, -2}), "Pa");
}

TEST(Sensor, UniformRotationIsSeenByAll) {
  const Turning model;
  SystemEquations equations(model.system);
  std::vector<Sensor> sensors;
  // the joint is not driven
  for (const auto& [name, kind] : sensor_names())
    if (!is_stress(kind) && kind != SensorKind::Drive) sensors.push_back(sensor(name, kind, model.tip, 0));
  SensorBank bank(model.system, sensors);
  bank.start(equations, model.at_time(equations, 0));
  VectorXd values(bank.columns().size());
  const auto value = [&](const std::string& name) {
    for (size_t i = 0; i < bank.columns().size(); ++i)
      if (bank.columns()[i].name == name) return values[i];
    ADD_FAILURE() << name;
    return 0.0;
  };
  const double w = Turning::speed;
  Turns turns;
  // five turns, eight samples each: angles go on counting, of the spring too
  for (int i = 0; i <= 40; ++i) {
    const double t = i * 2 * std::numbers::pi / (8 * w), angle = w * t;
    State state = model.at_time(equations, t);
    state.turns = turns;
    equations.count_turns(state);
    turns = state.turns;
    bank.step(equations, state);
    bank.evaluate(equations, state, values);
    // round-off of numbers up to some ten
    const double eps = 1e-12;
    EXPECT_NEAR(value("position.x"), std::cos(angle), eps);
    EXPECT_NEAR(value("displacement.x"), std::cos(angle) - 1, eps);
    EXPECT_NEAR(value("velocity.y"), w * std::cos(angle), eps);
    EXPECT_NEAR(value("joint-angle.angle"), angle, eps);
    EXPECT_NEAR(value("rotation.rz"), angle, eps);
    EXPECT_NEAR(value("rotation.rx"), 0, eps);
    EXPECT_NEAR(value("angular-velocity.wz"), w, eps);
    EXPECT_NEAR(value("joint-displacement.distance"), 0, eps);
    EXPECT_NEAR(value("energy.kinetic"), 0.5 * 2.0 / 3 * w * w, eps);
    EXPECT_NEAR(value("energy.total"), value("energy.kinetic") + value("energy.springs"), eps);
    // second derivatives of the expression are differences, to 1e-9 of its size
    EXPECT_NEAR(value("acceleration.x"), -w * w * std::cos(angle), 1e-6);
    EXPECT_NEAR(value("angular-acceleration.az"), 0, 1e-6);
    // m w^2 L / 2 towards the hinge
    EXPECT_NEAR(value("reaction.fx"), -w * w * std::cos(angle), 1e-6);
    EXPECT_NEAR(value("load.value"), 5 * angle, 1e-10);
  }
}

TEST(Sensor, AnglesAreCountedAtStepsOfMoreThanHalfATurnAndBetweenThem) {
  const Turning model;
  SystemEquations equations(model.system);
  SensorBank bank(model.system, {sensor("angle", SensorKind::JointAngle, model.tip, 0),
                                 sensor("rotation", SensorKind::Rotation, model.tip)});
  bank.start(equations, model.at_time(equations, 0));
  VectorXd values(bank.columns().size()), again(values.size());
  // steps of 4 rad, samples a third into the step before
  for (int i = 1; i <= 100; ++i) {
    const double h = 4 / Turning::speed, t = i * h, before = t - 2 * h / 3;
    bank.step(equations, model.at_time(equations, t));
    for (const double sample : {before, t}) {
      bank.evaluate(equations, model.at_time(equations, sample), values);
      const double angle = Turning::speed * sample;
      // round-off of 400 rad, and of whole turns as a small rotation about no axis
      EXPECT_NEAR(values[0], angle, 1e-10);
      EXPECT_NEAR(values[3], angle, 1e-6);
      // evaluating remembers nothing
      bank.evaluate(equations, model.at_time(equations, sample), again);
      EXPECT_EQ(values, again);
    }
  }
  Diagnostics diagnostics;
  bank.warn(diagnostics);
  EXPECT_TRUE(diagnostics.empty());
}

TEST(Sensor, AnAngleThatGoesElsewhereThanItsSpeedsSayIsAWarning) {
  const Turning model;
  SystemEquations equations(model.system);
  SensorBank bank(model.system, {sensor("angle", SensorKind::JointAngle, model.tip, 0)});
  State state = model.at_time(equations, 0);
  state.v.setZero();
  bank.start(equations, state);
  // 2 rad in a step between two states at rest, as in statics
  state = model.at_time(equations, 2 / Turning::speed);
  state.v.setZero();
  bank.step(equations, state);
  Diagnostics diagnostics;
  bank.warn(diagnostics);
  ASSERT_NE(diagnostics.find("sensor.turns"), nullptr);
  EXPECT_NE(diagnostics.find("sensor.turns")->message.find("turns of sensor 'angle' may be miscounted"),
            std::string::npos);
}

TEST(Sensor, AccelerationsAreDerivativesOfVelocitiesInAnyMotion) {
  System system;
  Placement placement = at({0.3, 0.1, 0.2}, turned(0.4, {1, 2, 3}));
  placement.angular_velocity = {2, -1, 3};
  placement.velocity = {0.5, 1, -1};
  const int body = add_rigid(system, "b", 2, {1, 2, 2.5}, placement);
  system.set_gravity({0, 0, -9.81});
  const MarkerRef tip = point(system, body, {0.4, 0.5, 0.6}, turned(1, {3, 2, 1}));
  SystemEquations equations(system);
  const State state = start(system, equations);
  SensorBank bank(
      system,
      {sensor("v", SensorKind::Velocity, tip), sensor("w", SensorKind::AngularVelocity, tip),
       sensor("a", SensorKind::Acceleration, tip), sensor("c", SensorKind::AngularAcceleration, tip)});
  bank.start(equations, state);
  const auto values_at = [&](const VectorXd& s) {
    State moved = state;
    moved.q += s[0] * state.v + s[0] * s[0] / 2 * state.a;
    moved.v += s[0] * state.a;
    VectorXd values(12);
    bank.evaluate(equations, moved, values);
    return values;
  };
  const VectorXd values = values_at(VectorXd::Zero(1));
  const VectorXd rates = differences(values_at, VectorXd::Zero(1), 1e-3);
  // h^4 = 1e-12 times fifth derivatives of some hundred
  EXPECT_LT((values.tail<6>() - rates.head<6>()).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_GT(values.tail<3>().norm(), 0.1);
}

}  // namespace
}  // namespace lissom::sensor_test

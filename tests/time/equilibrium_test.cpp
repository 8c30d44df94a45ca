#include "lissom/time/equilibrium.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/mbs/system_support.hpp"

namespace lissom::equilibrium_test {
namespace {

using namespace lissom::test;
using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double g = 9.81, mass = 2, arm = 0.3, J = 0.05;

// Turns about y at the origin, its centre of mass `arm` away in the direction (cos, 0, -sin) of the angle.
void make_pendulum(System& system, double angle) {
  const Matrix3d R = turned(angle, Vector3d::UnitY());
  const int body = add_rigid(system, "bob", mass, {J, J, J}, at(R * Vector3d(arm, 0, 0), R));
  const Matrix3d axes = turned(-std::numbers::pi / 2, Vector3d::UnitX());
  join_at(system, "hinge", JointKind::Revolute, -1, body, Vector3d::Zero(), axes);
  system.set_gravity({0, 0, -g});
}

Equilibrium equilibrium_of(System& system, double t = 0) {
  const SystemCheck check = check_of(system);
  SystemEquations equations(system, check.kept);
  State state = start(system, equations);
  state.t = t;
  return find_equilibrium(equations, state);
}

double sag(const Equilibrium& found) {
  return found.state.q[2];
}

TEST(Equilibrium, OfAPendulumIsBelowItsHinge) {
  // the horizontal one has no stiffness at all, the one at -80 degrees a negative one
  for (const double degrees : {0.0, 30.0, 89.0, -45.0, -80.0}) {
    System system;
    make_pendulum(system, degrees * std::numbers::pi / 180);
    const Equilibrium found = equilibrium_of(system);
    EXPECT_TRUE(found.stable) << degrees;
    // quadratic convergence ends at round-off; the height is flat there
    EXPECT_NEAR(sag(found), -arm, 1e-12) << degrees;
    EXPECT_NEAR(found.state.q[0], 0, 1e-8 * arm) << degrees;
    // square of the frequency of small swings
    EXPECT_NEAR(found.lowest, mass * g * arm / (J + mass * arm * arm), 1e-9 * found.lowest);
  }
}

TEST(Equilibrium, UprightIsReportedAsUnstable) {
  System system;
  make_pendulum(system, -std::numbers::pi / 2);
  const Equilibrium found = equilibrium_of(system);
  EXPECT_FALSE(found.stable);
  EXPECT_NEAR(sag(found), arm, 1e-12);
  EXPECT_NEAR(found.lowest, -mass * g * arm / (J + mass * arm * arm), 1e-9 * std::abs(found.lowest));
  EXPECT_NE(found.unstable_direction.find("bob"), std::string::npos);
  Diagnostics diagnostics;
  warn_of(found, diagnostics);
  EXPECT_NE(diagnostics.find("static.unstable"), nullptr);
}

TEST(Equilibrium, OfAMassOnASpringIsItsWeightOverTheStiffness) {
  System system;
  const int body = add_rigid(system, "weight", mass, {J, J, J}, at({0, 0, -0.5}));
  join_at(system, "guide", JointKind::Prismatic, -1, body, {0, 0, -0.5});
  Load spring;
  spring.name = "spring";
  spring.kind = LoadKind::Spring;
  spring.stiffness = 400;
  spring.length = 0.5;
  spring.first = system.add_ground_marker(Vector3d::Zero());
  spring.second = point(system, body, Vector3d::Zero());
  spring.has_second = true;
  system.add_load(spring);
  system.set_gravity({0, 0, -g});
  const Equilibrium found = equilibrium_of(system);
  // a linear problem: round-off
  EXPECT_NEAR(sag(found), -0.5 - mass * g / 400, 1e-12);
  EXPECT_NEAR(found.lowest, 400 / mass, 1e-8);
  EXPECT_TRUE(found.free_directions.empty());
}

TEST(Equilibrium, OfAFreeBodyWithBalancedForcesNamesWhatNothingHolds) {
  System system;
  const int body =
      add_rigid(system, "floater", mass, {J, J, J}, at({1, 2, 3}, turned(0.4, Vector3d::UnitZ())));
  for (const double side : {-1.0, 1.0}) {
    Load pull;
    pull.name = side < 0 ? "left" : "right";
    pull.first = point(system, body, {0.2 * side, 0, 0});
    pull.components = {TimeFunction(50 * side), TimeFunction(0.0), TimeFunction(0.0)};
    system.add_load(pull);
  }
  const Equilibrium found = equilibrium_of(system);
  EXPECT_TRUE(found.stable);
  // three translations, and the rotation about the line of the two forces
  EXPECT_EQ(found.free_directions.size(), 4u);
  // it has turned into that line: the body's x axis is global x
  EXPECT_LT(found.residual, 1e-6);
}

TEST(Equilibrium, OfAFallingBodyIsRefusedWithTheForceThatNothingBalances) {
  System system;
  add_rigid(system, "stone", mass, {J, J, J}, at({0, 0, 1}));
  system.set_gravity({0, 0, -g});
  try {
    equilibrium_of(system);
    FAIL() << "found an equilibrium of a falling stone";
  } catch (const Error& e) {
    const std::string message = e.what();
    EXPECT_NE(message.find("nothing holds body 'stone', position along z"), std::string::npos) << message;
    EXPECT_NE(message.find("19.62 N"), std::string::npos) << message;
  }
}

TEST(Equilibrium, OfABodyThatATorqueTurnsIsRefused) {
  System system;
  make_pendulum(system, 0.3);
  Load torque;
  torque.name = "motor";
  torque.kind = LoadKind::Torque;
  torque.first = point(system, 0, Vector3d::Zero());
  // more than the weight can hold: m g arm = 5.9 N m
  torque.components = {TimeFunction(0.0), TimeFunction(7.0), TimeFunction(0.0)};
  system.add_load(torque);
  try {
    equilibrium_of(system);
    FAIL() << "found an equilibrium of a body that turns";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("'bob'"), std::string::npos) << e.what();
  }
}

TEST(Equilibrium, FollowsPrescribedMotionsAndLoadsOfItsTime) {
  // a weight on a lever that is turned by a prescribed angle: nothing is free, the motion holds it
  System system;
  const int body = add_rigid(system, "lever", mass, {J, J, J}, at({arm, 0, 0}));
  const Matrix3d axes = turned(-std::numbers::pi / 2, Vector3d::UnitX());
  const MarkerRef ground = system.add_ground_marker(Vector3d::Zero(), axes);
  const MarkerRef hub = point_in_space(system, body, Vector3d::Zero(), axes);
  join(system, "hinge", JointKind::Revolute, ground, hub);
  join(system, "drive", JointKind::Angle, ground, hub, TimeFunction::expression("0.5*t"));
  system.set_gravity({0, 0, -g});
  const Equilibrium found = equilibrium_of(system, 0.8);
  EXPECT_NEAR(found.state.q[0], arm * std::cos(0.4), 1e-10);
  EXPECT_NEAR(std::abs(found.state.q[2]), arm * std::sin(0.4), 1e-10);
  EXPECT_TRUE(found.state.v.isZero(0));
}

}  // namespace
}  // namespace lissom::equilibrium_test

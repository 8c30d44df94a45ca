#include "lissom/mbs/load.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/mbs/marker_support.hpp"

namespace lissom::load_test {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace test;

LoadEvaluation evaluate(const Load& load, const VectorXd& m, const VectorXd& rate, double t = 0.5) {
  LoadEvaluation out;
  evaluate_load(load, t, m.head<12>(), rate.head<12>(), m.tail<12>(), rate.tail<12>(), true, out);
  return out;
}

// one of every kind, with all that can be asked of it
std::vector<Load> all_loads() {
  std::vector<Load> loads;
  for (const LoadKind kind : {LoadKind::Force, LoadKind::Torque})
    for (const bool following : {false, true})
      for (const bool has_second : {false, true}) {
        Load load;
        load.kind = kind;
        load.following = following;
        load.has_second = has_second;
        load.components = {0.7, -0.4, TimeFunction::table({0, 1}, {0, 2})};
        loads.push_back(load);
      }
  Load load;
  load.kind = LoadKind::LineForce;
  load.magnitude = TimeFunction::table({0, 1}, {0, 2});
  loads.push_back(load);
  load.stiffness = 3;
  load.damping = 0.4;
  load.length = 0.6;
  load.preload = TimeFunction::table({0, 1}, {0, 1});
  for (const LoadKind kind : {LoadKind::Spring, LoadKind::TorsionSpring}) {
    load.kind = kind;
    loads.push_back(load);
  }
  load = {};
  load.kind = LoadKind::Bushing;
  load.K = {3, 2, 1};
  // bearings and shafts: a free axis, one with a damper alone, one with stiffness alone
  load.k = {1.5, 0, 0.5};
  loads.push_back(load);
  load.c = {0, 0.3, 0.2};
  loads.push_back(load);
  load.k = {0, 0, 0.5};
  loads.push_back(load);
  load.k.setZero();
  loads.push_back(load);
  load.c.setZero();
  load.k = {1.5, 1, 0.5};
  loads.push_back(load);
  load.C = {0.3, 0.2, 0.1};
  load.c = {0.1, 0.4, 0.2};
  loads.push_back(load);
  return loads;
}

std::string label(const Load& load) {
  return std::string(name_of(load.kind)) + (load.following ? ", following" : "") +
         (load.has_second ? ", two bodies" : "") + (is_damped(load) ? ", damped" : "");
}

// second marker turned by up to 2 rad against the first and everything slightly out of shape, as it is within
// a Newton iteration
VectorXd random_markers(Random& random, double angle) {
  const Matrix3d R = random.rotation(1.3);
  VectorXd m(24);
  m << marker_at(random.vector(3), R), marker_at(random.vector(3), R * random.rotation(angle));
  return m + 0.02 * random.vector(24);
}

// differences of fourth order with h = 1e-3: 1e-12 times fifth derivatives of up to some thousand (of 1/l and
// of angles near their limits)
constexpr double difference_tolerance = 2e-8;

TEST(Load, DerivativesAreThoseOfDifferences) {
  Random random(1);
  double worst = 0;
  for (const Load& load : all_loads())
    for (const double angle : {0.0, 0.02, 0.6, 0.9, 2.0}) {
      const VectorXd m = random_markers(random, angle), rate = random.vector(24);
      const LoadEvaluation out = evaluate(load, m, rate);
      const MatrixXd by_m =
          differences([&](const VectorXd& x) { return VectorXd(evaluate(load, x, rate).force); }, m);
      const MatrixXd by_rate =
          differences([&](const VectorXd& x) { return VectorXd(evaluate(load, m, x).force); }, rate);
      const double error = std::max((out.by_position - by_m).cwiseAbs().maxCoeff(),
                                    (out.by_rate - by_rate).cwiseAbs().maxCoeff());
      worst = std::max(worst, error);
      EXPECT_LT(error, difference_tolerance) << label(load) << ", " << angle;
      EXPECT_EQ(out.by_rate.norm() > 0, is_damped(load)) << label(load);
      // without derivatives the force is the same
      LoadEvaluation again;
      evaluate_load(load, 0.5, m.head<12>(), rate.head<12>(), m.tail<12>(), rate.tail<12>(), false, again);
      EXPECT_EQ(again.force, out.force);
    }
  RecordProperty("worst", fmt::format("{:.1e}", worst));
}

TEST(Load, ForcesOfSpringsAreGradientsOfTheirPotential) {
  Random random(2);
  for (Load load : all_loads()) {
    if (!holds(load.kind)) continue;
    load.damping = 0;
    load.C.setZero();
    load.c.setZero();
    load.preload = 0;
    for (const double angle : {0.02, 0.6, 2.0}) {
      const VectorXd m = random_markers(random, angle), rest = VectorXd::Zero(24);
      const MatrixXd gradient = differences(
          [&](const VectorXd& x) { return VectorXd::Constant(1, evaluate(load, x, rest).potential); }, m);
      const LoadEvaluation out = evaluate(load, m, rest);
      EXPECT_LT((out.force + gradient.transpose()).cwiseAbs().maxCoeff(), difference_tolerance)
          << label(load);
      // and so their derivative is symmetric, to round-off
      EXPECT_LT((out.by_position - out.by_position.transpose()).norm(), 1e-13) << label(load);
    }
  }
}

TEST(Load, PowerIsThatOfAppliedForcesAndDampersLessTheChangeOfThePotential) {
  Random random(3);
  for (const Load& load : all_loads()) {
    const VectorXd m = random_markers(random, 0.5), rate = random.vector(24);
    const MatrixXd potential_rate = differences(
        [&](const VectorXd& s) {
          return VectorXd::Constant(1, evaluate(load, m + s[0] * rate, rate).potential);
        },
        VectorXd::Zero(1));
    const LoadEvaluation out = evaluate(load, m, rate);
    EXPECT_NEAR(out.force.dot(rate), out.applied_power - out.damping_power - potential_rate(0, 0),
                difference_tolerance)
        << label(load);
    EXPECT_GE(out.damping_power, 0);
  }
}

TEST(Load, BetweenTwoBodiesSumsToNothing) {
  Random random(4);
  for (const Load& load : all_loads()) {
    const bool one_sided =
        (load.kind == LoadKind::Force || load.kind == LoadKind::Torque) && !load.has_second;
    if (one_sided) continue;
    const Matrix3d R = random.rotation(1);
    Vector12d first = marker_at(random.vector(3), R);
    Vector12d second = marker_at(random.vector(3), R * random.rotation(0.5));
    VectorXd m(24), rate(24);
    m << first, second;
    rate << rigid_rate(first, random.vector(3), random.vector(3)),
        rigid_rate(second, random.vector(3), random.vector(3));
    const LoadEvaluation out = evaluate(load, m, rate);
    const Vector12d f = out.force.head<12>(), F = out.force.tail<12>();
    // round-off of forces of size one
    EXPECT_LT((f.head<3>() + F.head<3>()).norm(), 1e-14) << label(load);
    if (load.kind == LoadKind::Force) continue;  // of which the points may differ
    const auto about_origin = [](const Vector12d& g, const Vector12d& at) -> Vector3d {
      return torque_of(g, at) + at.head<3>().cross(g.head<3>());
    };
    EXPECT_LT((about_origin(f, first) + about_origin(F, second)).norm(), 1e-13) << label(load);
  }
}

TEST(Load, FollowingForceKeepsToTheAxesOfItsMarker) {
  Load load;
  load.kind = LoadKind::Force;
  load.components = {1, 2, 3};
  const Matrix3d R = Eigen::AngleAxisd(0.8, Vector3d(1, 1, 0).normalized()).toRotationMatrix();
  VectorXd m(24);
  m << marker_at(Vector3d(1, 0, 0), R), marker_at(Vector3d::Zero());
  EXPECT_EQ(Vector3d(evaluate(load, m, VectorXd::Zero(24)).force.head<3>()), Vector3d(1, 2, 3));
  load.following = true;
  const LoadEvaluation out = evaluate(load, m, VectorXd::Zero(24));
  EXPECT_LT((out.force.head<3>() - R * Vector3d(1, 2, 3)).norm(), 1e-15);  // round-off
  EXPECT_NEAR(out.magnitude, std::sqrt(14.0), 1e-14);
  load.kind = LoadKind::Torque;
  const LoadEvaluation torque = evaluate(load, m, VectorXd::Zero(24));
  EXPECT_LT((torque_of(torque.force.head<12>(), m.head<12>()) - R * Vector3d(1, 2, 3)).norm(), 1e-14);
}

TEST(Load, SpringPullsItsMarkersTogetherAndALineForcePushesThemApart) {
  Load load;
  load.kind = LoadKind::Spring;
  load.stiffness = 100;
  load.damping = 10;
  load.length = 1;
  load.preload = 3;
  VectorXd m(24), rate = VectorXd::Zero(24);
  m << marker_at(Vector3d(0, 0, 0)), marker_at(Vector3d(0, 1.5, 0));
  rate[13] = 0.2;
  const LoadEvaluation out = evaluate(load, m, rate);
  EXPECT_DOUBLE_EQ(out.magnitude, 100 * 0.5 + 10 * 0.2 + 3);
  EXPECT_DOUBLE_EQ(out.force[1], 55);
  EXPECT_DOUBLE_EQ(out.force[13], -55);
  EXPECT_DOUBLE_EQ(out.potential, 12.5);
  load.kind = LoadKind::LineForce;
  load.magnitude = 7;
  EXPECT_DOUBLE_EQ(evaluate(load, m, rate).force[13], 7);
}

TEST(Load, SpringWithoutDirectionSaysSo) {
  Load load;
  load.kind = LoadKind::Spring;
  load.name = "s";
  load.stiffness = 100;
  load.length = 1;
  VectorXd m(24);
  m << marker_at(Vector3d(1, 2, 3)), marker_at(Vector3d(1, 2, 3));
  try {
    evaluate(load, m, VectorXd::Zero(24));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("spring 's' has no direction"), std::string::npos);
  }
  // one of no length at rest is linear and needs none
  load.length = 0;
  const LoadEvaluation out = evaluate(load, m, VectorXd::Zero(24));
  EXPECT_EQ(out.force.norm(), 0);
  EXPECT_DOUBLE_EQ(out.by_position(12, 12), -100);
  EXPECT_DOUBLE_EQ(out.by_position(12, 0), 100);
}

TEST(Load, BushingAtRestGivesNothingAndRotationsGiveTheirStiffnessTimesTheAngle) {
  Load load = all_loads().back();
  Random random(5);
  const Matrix3d R = random.rotation(1);
  const Vector3d p = random.vector(3);
  VectorXd m(24);
  m << marker_at(p, R), marker_at(p, R);
  EXPECT_LT(evaluate(load, m, VectorXd::Zero(24)).force.norm(), 1e-15);

  // about one of its axes the torque is k theta, whatever the size of theta
  for (int axis = 0; axis < 3; ++axis)
    for (const double theta : {1e-6, 0.3, -0.7, 1.2, 2.5}) {
      const Matrix3d turned = R * Eigen::AngleAxisd(theta, Vector3d::Unit(axis)).toRotationMatrix();
      m.tail<12>() = marker_at(p, turned);
      const LoadEvaluation out = evaluate(load, m, VectorXd::Zero(24));
      const Vector3d T = torque_of(out.force.tail<12>(), m.tail<12>());
      // round-off, which derivatives of angle / sine raise by 1 / sin(2.5)^4 = 8
      EXPECT_LT((T + load.k[axis] * theta * R.col(axis)).norm(), 1e-13) << axis << ", " << theta;
    }
  // small ones about any axis: the rest is of second order, theta^2 = 1e-12
  const Vector3d theta = 1e-6 * random.vector(3);
  m.tail<12>() = marker_at(p, R * Eigen::AngleAxisd(theta.norm(), theta.normalized()).toRotationMatrix());
  const LoadEvaluation out = evaluate(load, m, VectorXd::Zero(24));
  const Vector3d T = torque_of(out.force.tail<12>(), m.tail<12>());
  EXPECT_LT((T + R * load.k.cwiseProduct(theta)).norm(), 5e-12);
  // and dampers oppose the relative angular velocity
  const Vector3d omega = random.vector(3);
  VectorXd rate = VectorXd::Zero(24);
  m.tail<12>() = m.head<12>();
  rate.tail<12>() = rigid_rate(m.tail<12>(), Vector3d::Zero(), omega);
  const Vector3d damping = torque_of(evaluate(load, m, rate).force.tail<12>(), m.tail<12>());
  EXPECT_LT((damping + R * load.c.cwiseProduct(R.transpose() * omega)).norm(), 1e-14);
}

TEST(Load, TorsionSpringStartsWithinHalfATurnOfItsRestAngle) {
  Load load;
  load.kind = LoadKind::TorsionSpring;
  load.stiffness = 2;
  load.length = 2.5;
  VectorXd m(24);
  m.head<12>() = marker_at(Vector3d::Zero());
  const auto torque_at = [&](double angle) {
    m.tail<12>() =
        marker_at(Vector3d::Zero(), Eigen::AngleAxisd(angle, Vector3d::UnitZ()).toRotationMatrix());
    const LoadEvaluation out = evaluate(load, m, VectorXd::Zero(24));
    EXPECT_NEAR(torque_of(out.force.tail<12>(), m.tail<12>())[2], -out.magnitude, 1e-14);
    return out.magnitude;
  };
  // also across pi, where atan2 jumps; round-off
  for (const double deviation : {-3.1, -1.0, 0.0, 0.5, 0.7, 3.1})
    EXPECT_NEAR(torque_at(2.5 + deviation), 2 * deviation, 1e-13);
  // as long as nothing was counted: beyond half a turn it is wound from the other side
  const double beyond = std::numbers::pi + 0.1;
  EXPECT_NEAR(torque_at(2.5 + beyond), 2 * (beyond - 2 * std::numbers::pi), 1e-13);
}

TEST(Load, TurnsAreCountedFromTheLastAngleAndTheRates) {
  // a torsion spring, and a bushing that holds one axis alone
  std::vector<Load> loads(2);
  loads[0].kind = LoadKind::TorsionSpring;
  loads[0].stiffness = 2;
  loads[0].length = 0.5;
  loads[1].kind = LoadKind::Bushing;
  loads[1].k = {0, 0, 2};
  for (const Load& load : loads) {
    ASSERT_TRUE(counts_turns(load));
    VectorXd m(24), rate = VectorXd::Zero(24);
    m.head<12>() = marker_at(Vector3d::Zero());
    const auto energy = [&](double angle, double speed, const CountedAngle& last, double t) {
      m.tail<12>() =
          marker_at(Vector3d::Zero(), Eigen::AngleAxisd(angle, Vector3d::UnitZ()).toRotationMatrix());
      rate.tail<12>() = rigid_rate(m.tail<12>(), Vector3d::Zero(), speed * Vector3d::UnitZ());
      LoadEvaluation out;
      evaluate_load(load, t, m.head<12>(), rate.head<12>(), m.tail<12>(), rate.tail<12>(), false, out, 1,
                    &last);
      // round-off of angles of some hundred
      EXPECT_NEAR(out.angle.angle, angle, 1e-12);
      EXPECT_NEAR(out.angle.rate, speed, 1e-12);
      EXPECT_EQ(out.angle.t, t);
      return out.potential;
    };
    const double rest = load.length;
    for (const double angle : {-40.0, -3.5, 0.1, 6.0, 9.5, 300.0}) {
      const double y = angle - rest;
      EXPECT_NEAR(energy(angle, 0, {1, angle - 3, 0}, 1.1), y * y, 1e-9);
      EXPECT_NEAR(energy(angle, 0, {1, angle + 3, 0}, 1.1), y * y, 1e-9);
      // 50 rad in a step, speeding up from 400 to 600 rad/s
      EXPECT_NEAR(energy(angle, 600, {1, angle - 50, 400}, 1.1), y * y, 1e-9);
      // and back in time, as samples between steps may be
      EXPECT_NEAR(energy(angle, 600, {1.1, angle + 50, 400}, 1.0), y * y, 1e-9);
      // vibrations that a step does not resolve: rates say nothing
      EXPECT_NEAR(energy(angle, 1e5, {1, angle - 1, -1e5}, 1.1), y * y, 1e-9);
    }
  }
}

TEST(Load, ABushingTurnsOnAboutItsFreeAxisAndHoldsTheOthers) {
  Random random(8);
  for (int axis = 0; axis < 3; ++axis) {
    Load load;
    load.kind = LoadKind::Bushing;
    load.k = {3, 2, 4};
    load.k[axis] = 0;
    EXPECT_FALSE(counts_turns(load));
    const Matrix3d R = random.rotation(1);
    const Vector3d d = R.col(axis);
    VectorXd m(24);
    m.head<12>() = marker_at(Vector3d::Zero(), R);
    for (const double twist : {0.3, 2.0, 3.14, std::numbers::pi, 4.0, 6.0, 100.0}) {
      const Matrix3d turning = Eigen::AngleAxisd(twist, Vector3d::Unit(axis)).toRotationMatrix();
      // turned about its axis it holds nothing back
      m.tail<12>() = marker_at(Vector3d::Zero(), R * turning);
      EXPECT_LT(evaluate(load, m, VectorXd::Zero(24)).force.norm(), 1e-13) << twist;
      // tilted as well, about another of its axes: k times the tilt, however far it is turned
      for (const double tilt : {1e-3, 0.4, 2.0}) {
        const int other = (axis + 1) % 3;
        const Matrix3d swing = Eigen::AngleAxisd(tilt, Vector3d::Unit(other)).toRotationMatrix();
        m.tail<12>() = marker_at(Vector3d::Zero(), R * swing * turning);
        const LoadEvaluation out = evaluate(load, m, VectorXd::Zero(24));
        const Vector3d T = torque_of(out.force.tail<12>(), m.tail<12>());
        EXPECT_LT((T + load.k[other] * tilt * R.col(other)).norm(), 1e-12) << twist << ", " << tilt;
        EXPECT_NEAR(out.potential, load.k[other] * tilt * tilt / 2, 1e-13);
        EXPECT_NEAR(T.dot(d), 0, 1e-12);
      }
    }
  }
}

TEST(Load, ABushingWithStiffnessAboutAllAxesEndsAtHalfATurn) {
  Load load;
  load.kind = LoadKind::Bushing;
  load.name = "mount";
  load.k = {3, 2, 4};
  VectorXd m(24);
  const Matrix3d half = Eigen::AngleAxisd(std::numbers::pi, Vector3d::UnitZ()).toRotationMatrix();
  m << marker_at(Vector3d::Zero()), marker_at(Vector3d::Zero(), half);
  const auto message = [&] {
    try {
      evaluate(load, m, VectorXd::Zero(24));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message().find("bushing 'mount' is turned by half a turn"), std::string::npos) << message();
  // a bearing about z goes on; one about x is tilted by that much
  load.k[2] = 0;
  EXPECT_EQ(message(), "");
  load.k = {0, 2, 4};
  EXPECT_NE(message().find("bushing 'mount' is tilted by half a turn"), std::string::npos) << message();
}

TEST(Load, TorsionSpringWithoutAnAngleSaysSo) {
  Load load;
  load.kind = LoadKind::TorsionSpring;
  load.name = "clock";
  VectorXd m(24);
  m << marker_at(Vector3d::Zero()),
      marker_at(Vector3d::Zero(),
                Eigen::AngleAxisd(std::numbers::pi / 2, Vector3d::UnitY()).toRotationMatrix());
  try {
    evaluate(load, m, VectorXd::Zero(24));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("torsion-spring 'clock' has no angle"), std::string::npos);
  }
}

}  // namespace
}  // namespace lissom::load_test

#include "lissom/mbs/joint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/mbs/marker_support.hpp"

namespace lissom::joint_test {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace test;
using Gradient = Eigen::Matrix<double, Eigen::Dynamic, 12>;
using BothGradient = Eigen::Matrix<double, Eigen::Dynamic, 24>;

Joint joint_of(JointKind kind) {
  Joint joint;
  joint.name = "j";
  joint.kind = kind;
  // a cubic table: twice differentiable, derivatives exact
  joint.motion = TimeFunction::table({0, 1, 2, 3}, {1.1, 1.4, 0.9, 1.2}, TimeFunction::Interpolation::Cubic);
  return joint;
}

VectorXd value(const Joint& joint, double t, const VectorXd& m) {
  VectorXd g(joint.constraints());
  joint_constraint(joint, t, m.head<12>(), m.tail<12>(), g);
  return g;
}

MatrixXd gradient(const Joint& joint, double t, const VectorXd& m) {
  Gradient first(joint.constraints(), 12), second(joint.constraints(), 12);
  joint_gradient(joint, t, m.head<12>(), m.tail<12>(), first, second);
  MatrixXd both(joint.constraints(), 24);
  both << first, second;
  return both;
}

// Rows are quadratic in the markers, so that differences of any width are exact but for round-off of 1e-16
// over a step of 1e-3; the bound leaves a factor of ten.
constexpr double quadratic_tolerance = 1e-11;
// those in time are of order h^4 = 1e-12 times the fifth derivative
constexpr double time_tolerance = 1e-9;

TEST(Joint, GradientsHessiansAndTimeDerivativesAreThoseOfDifferences) {
  Random random(1);
  for (const auto& [name, kind] : joint_names()) {
    const Joint joint = joint_of(kind);
    const int k = joint.constraints();
    for (int repeat = 0; repeat < 5; ++repeat) {
      const VectorXd m = random.vector(24), lambda = random.vector(k);
      // inside one interval of the table
      const double t = 1.5 + 0.4 * random.number();
      const MatrixXd by_m = differences([&](const VectorXd& x) { return value(joint, t, x); }, m);
      EXPECT_LT((gradient(joint, t, m) - by_m).cwiseAbs().maxCoeff(), quadratic_tolerance) << name;

      Eigen::Matrix<double, 24, 24> H;
      joint_hessian(joint, t, lambda, m.head<12>(), m.tail<12>(), H);
      const MatrixXd by_mm = differences(
          [&](const VectorXd& x) { return VectorXd(gradient(joint, t, x).transpose() * lambda); }, m);
      EXPECT_LT((H - by_mm).cwiseAbs().maxCoeff(), quadratic_tolerance) << name;
      EXPECT_EQ((H - H.transpose()).norm(), 0) << name;

      VectorXd rate(k), second_rate(k);
      BothGradient gradient_rate(k, 24);
      const auto rates = [&](double time) {
        joint_time_derivatives(joint, time, m.head<12>(), m.tail<12>(), rate, second_rate, gradient_rate);
      };
      const VectorXd time = VectorXd::Constant(1, t);
      const MatrixXd by_t = differences([&](const VectorXd& x) { return value(joint, x[0], m); }, time);
      const MatrixXd by_tt = differences(
          [&](const VectorXd& x) {
            rates(x[0]);
            return rate;
          },
          time);
      const MatrixXd by_tm = differences(
          [&](const VectorXd& x) {
            const MatrixXd G = gradient(joint, x[0], m);
            return VectorXd(G.reshaped());
          },
          time);
      rates(t);
      EXPECT_LT((rate - by_t).cwiseAbs().maxCoeff(), time_tolerance) << name;
      EXPECT_LT((second_rate - by_tt).cwiseAbs().maxCoeff(), time_tolerance) << name;
      EXPECT_LT((gradient_rate.reshaped() - by_tm).cwiseAbs().maxCoeff(), time_tolerance) << name;
      EXPECT_EQ(rate.norm() > 0, is_driven(kind)) << name;
    }
  }
}

TEST(Joint, LeavesTheMotionsFreeThatItsNameSays) {
  // rigid velocity of the second marker (v, omega) in axes of the joint, and which joints let it pass
  struct Motion {
    int component;  // 0..2 translation, 3..5 rotation
    std::vector<JointKind> free;
  };
  using enum JointKind;
  const std::vector<Motion> motions = {
      {0, {Planar, PointOnPlane, Angle, Displacement}},
      {1, {Planar, PointOnPlane, Angle, Displacement, Distance}},
      {2, {Cylindrical, Prismatic, PointOnLine, Angle, Distance}},
      {3, {Spherical, PointOnLine, PointOnPlane, Distance, Displacement, Universal, Angle}},
      {4, {Spherical, PointOnLine, PointOnPlane, Distance, Displacement, Universal, Angle}},
      {5, {Spherical, Revolute, Cylindrical, Planar, PointOnLine, PointOnPlane, Distance, Displacement}}};
  Random random(2);
  for (const auto& [name, kind] : joint_names()) {
    Joint joint;
    joint.kind = kind;
    joint.motion = kind == Distance ? 0.5 : 0.0;
    const Eigen::Matrix3d R = random.rotation(1);
    const Vector3d p = random.vector(3);
    const Vector12d first = marker_at(p, R);
    Vector12d second = first;
    if (kind == Distance) second.head<3>() += 0.5 * R.col(0);
    VectorXd m(24);
    m << first, second;
    // joints hold where the frames coincide; round-off of numbers of size one
    EXPECT_LT(value(joint, 0, m).norm(), 1e-15) << name;
    for (const Motion& motion : motions) {
      Vector3d v = Vector3d::Zero(), omega = Vector3d::Zero();
      (motion.component < 3 ? v : omega) = R.col(motion.component % 3);
      const Vector12d rate = rigid_rate(second, v, omega);
      const double g_rate = (gradient(joint, 0, m).rightCols<12>() * rate).norm();
      const bool is_free = std::find(motion.free.begin(), motion.free.end(), kind) != motion.free.end();
      EXPECT_EQ(g_rate < 1e-14, is_free) << name << ", motion " << motion.component << ": " << g_rate;
    }
  }
}

TEST(Joint, AngleTurnsTheWayItsFunctionSays) {
  Joint joint;
  joint.kind = JointKind::Angle;
  joint.motion = 0.7;
  const Vector12d first = marker_at(Vector3d(1, 2, 3));
  const Eigen::Matrix3d R = Eigen::AngleAxisd(0.9, Vector3d::UnitZ()).toRotationMatrix();
  VectorXd g(1);
  joint_constraint(joint, 0, first, marker_at(Vector3d(1, 2, 3), R), g);
  EXPECT_NEAR(g[0], std::sin(0.9 - 0.7), 1e-15);  // round-off
}

TEST(Joint, DistanceMustBePositive) {
  Joint joint;
  joint.name = "rod";
  joint.kind = JointKind::Distance;
  joint.motion = 0;
  VectorXd g(1);
  try {
    joint_constraint(joint, 0, marker_at(Vector3d::Zero()), marker_at(Vector3d::Ones()), g);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("joint 'rod' prescribes the distance 0 m"), std::string::npos);
  }
}

TEST(Joint, RowKindsCountLikeTheRowsOfTheTable) {
  const std::map<JointKind, int> angles = {{JointKind::Revolute, 2},  {JointKind::Cylindrical, 2},
                                           {JointKind::Prismatic, 3}, {JointKind::Universal, 1},
                                           {JointKind::Fixed, 3},     {JointKind::Planar, 2},
                                           {JointKind::Angle, 1}};
  Random random(3);
  for (const auto& [name, kind] : joint_names()) {
    int count = 0;
    const Joint joint = joint_of(kind);
    const VectorXd m = random.vector(24);
    const MatrixXd G = gradient(joint, 1, m);
    for (int row = 0; row < constraints_of(kind); ++row) {
      const bool is_angle = row_kind(kind, row) == RowKind::Angle;
      count += is_angle;
      // a row that does not know positions is an angle
      const bool knows_positions = G.row(row).segment<3>(0).norm() > 0;
      EXPECT_EQ(is_angle, !knows_positions) << name << ", row " << row;
    }
    const auto expected = angles.find(kind);
    EXPECT_EQ(count, expected == angles.end() ? 0 : expected->second) << name;
  }
}

TEST(Marker, TorquesAndAngularVelocityAreThoseOfTheAxes) {
  Random random(4);
  MarkerKinematics marker;
  marker.m = marker_at(random.vector(3), random.rotation(2));
  const Vector3d T = random.vector(3), omega = random.vector(3);
  marker.rate = rigid_rate(marker.m, random.vector(3), omega);
  // round-off
  EXPECT_LT((torque_of(torque_on_axes(T, marker.m), marker.m) - T).norm(), 1e-14);
  EXPECT_LT((marker.angular_velocity() - omega).norm(), 1e-14);
  EXPECT_NEAR(torque_on_axes(T, marker.m).dot(marker.rate), T.dot(omega), 1e-14);
  EXPECT_EQ(marker.axes().col(1), marker.axis(1));
}

}  // namespace
}  // namespace lissom::joint_test

#include "lissom/core/rotation.hpp"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <cmath>
#include <numbers>
#include <random>

namespace lissom::rotation_test {
namespace {

using Eigen::Matrix3d;
using Eigen::Matrix4d;
using Eigen::Vector3d;
using Eigen::Vector4d;

// numbers of order one through a few products
constexpr double rounding = 1e-14;

class Rotations : public ::testing::Test {
 protected:
  std::mt19937 random{3};
  std::normal_distribution<double> normal;
  template <int n>
  Eigen::Matrix<double, n, 1> vector() {
    return Eigen::Matrix<double, n, 1>::NullaryExpr([&] { return normal(random); });
  }
};

TEST_F(Rotations, SkewMatricesAreCrossProducts) {
  const Vector3d v = vector<3>(), w = vector<3>();
  EXPECT_LT((skew(v) * w - v.cross(w)).norm(), rounding);
  Matrix3d symmetric = w * w.transpose();
  EXPECT_LT((skew_vector(symmetric + skew(v)) - v).norm(), rounding);
}

TEST_F(Rotations, ParametersAgreeWithEigensQuaternions) {
  for (int repeat = 0; repeat < 100; ++repeat) {
    const Vector4d p = vector<4>().normalized();
    const Matrix3d R = rotation_from_parameters(p);
    EXPECT_LT((R - Eigen::Quaterniond(p[0], p[1], p[2], p[3]).toRotationMatrix()).norm(), rounding);
    EXPECT_TRUE(is_rotation(R, rounding));
    const Vector4d back = parameters_from_rotation(R);
    EXPECT_LT((back * (back.dot(p) > 0 ? 1 : -1) - p).norm(), rounding);
  }
}

TEST(Rotation, HalfTurnsHaveParametersToo) {
  // each of the four may be zero, three of them at once
  for (const Vector3d& axis : {Vector3d(1, 0, 0), Vector3d(0, 1, 0), Vector3d(0, 0, 1), Vector3d(0, 0.6, 0.8),
                               Vector3d(-0.6, 0, 0.8), Vector3d(0.6, -0.8, 0)}) {
    for (const double angle : {0.0, 1e-9, std::numbers::pi / 2, std::numbers::pi - 1e-9, std::numbers::pi}) {
      const Matrix3d R = Eigen::AngleAxisd(angle, axis).toRotationMatrix();
      const Vector4d p = parameters_from_rotation(R);
      EXPECT_NEAR(p.norm(), 1, rounding);
      EXPECT_LT((rotation_from_parameters(p) - R).norm(), rounding) << angle;
      EXPECT_LT((rotation_from_vector(vector_from_rotation(R)) - R).norm(), rounding) << angle;
      EXPECT_NEAR(vector_from_rotation(R).norm(), angle, rounding);
    }
  }
}

TEST_F(Rotations, VectorsTurnAboutThemselvesByTheirLength) {
  const Vector3d v = vector<3>();
  const Matrix3d R = Eigen::AngleAxisd(v.norm(), v.normalized()).toRotationMatrix();
  EXPECT_LT((rotation_from_vector(v) - R).norm(), rounding);
  EXPECT_EQ(rotation_from_vector(Vector3d::Zero()), Matrix3d::Identity());
}

TEST_F(Rotations, DerivativesAreThoseOfAQuadraticFormOffTheUnitSphereToo) {
  const Vector4d p = vector<4>(), d = vector<4>();
  const auto column = [](const Matrix3d& R) { return Eigen::Map<const Vector9d>(R.data()).eval(); };
  // a central difference of a quadratic is exact, whatever the step
  const Vector9d slope =
      (column(rotation_from_parameters(p + d)) - column(rotation_from_parameters(p - d))) / 2;
  EXPECT_LT((parameter_gradient(p) * d - slope).norm(), 100 * rounding);
  EXPECT_LT((parameter_gradient(p) * p / 2 - column(rotation_from_parameters(p))).norm(), 100 * rounding);
  Matrix3d F;
  F << vector<3>(), vector<3>(), vector<3>();
  const Matrix4d H = parameter_hessian(F);
  EXPECT_EQ(H, H.transpose());
  EXPECT_LT((H * d - parameter_gradient(d).transpose() * column(F)).norm(), 100 * rounding);
}

TEST_F(Rotations, RatesTurnTheFrame) {
  const Vector4d p = vector<4>().normalized();
  const Vector3d omega = vector<3>();
  const Vector4d rate = parameter_rate(p, omega);
  EXPECT_NEAR(rate.dot(p), 0, rounding);
  Matrix3d R_v;
  Eigen::Map<Vector9d>(R_v.data()) = parameter_gradient(p) * rate;
  EXPECT_LT((R_v - skew(omega) * rotation_from_parameters(p)).norm(), 10 * rounding);
}

TEST(Rotation, ReflectionsAndNaNAreNoRotations) {
  Matrix3d R = Matrix3d::Identity();
  EXPECT_TRUE(is_rotation(R));
  R(2, 2) = -1;
  EXPECT_FALSE(is_rotation(R));
  R(2, 2) = 1.001;
  EXPECT_FALSE(is_rotation(R));
  R(2, 2) = std::nan("");
  EXPECT_FALSE(is_rotation(R));
}

}  // namespace
}  // namespace lissom::rotation_test

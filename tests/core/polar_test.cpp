#include "lissom/core/polar.hpp"

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <Eigen/LU>
#include <Eigen/SVD>

#include <random>

#include "lissom/core/error.hpp"

namespace lissom::polar_test {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

class PolarTest : public testing::Test {
 protected:
  std::mt19937 random{17};
  std::uniform_real_distribution<double> uniform{-1, 1};

  Matrix3d matrix() {
    return Matrix3d::NullaryExpr([&] { return uniform(random); });
  }
  Matrix3d rotation() {
    const Eigen::Vector4d p = Eigen::Vector4d::NullaryExpr([&] { return uniform(random); });
    return Eigen::Quaterniond(p.normalized()).toRotationMatrix();
  }
  // with these singular values, the last with a sign
  Matrix3d with(const Vector3d& s) { return rotation() * s.asDiagonal() * rotation(); }
};

Matrix3d by_svd(const Matrix3d& C) {
  const Eigen::JacobiSVD<Matrix3d> svd(C, Eigen::ComputeFullU | Eigen::ComputeFullV);
  const double sign = (svd.matrixU() * svd.matrixV().transpose()).determinant();
  return svd.matrixU() * Vector3d(1, 1, sign).asDiagonal() * svd.matrixV().transpose();
}

std::string message_of(const Matrix3d& C) {
  try {
    polar(C);
  } catch (const Error& error) {
    return error.what();
  }
  return "no Error";
}

TEST_F(PolarTest, IsTheRotationOfTheSingularValueDecomposition) {
  for (const Vector3d& s : {Vector3d(1, 1, 1), Vector3d(3, 2, 1), Vector3d(1, 1e-3, 1e-4),
                            Vector3d(1, 0.5, 0), Vector3d(1, 1e-4, 0), Vector3d(1, 0.7, -0.2),
                            Vector3d(1, 0.5, -0.499), Vector3d(1e-9, 2e-10, 1e-10), Vector3d(1e12, 1e12, 0)})
    for (int repeat = 0; repeat < 50; ++repeat) {
      const Matrix3d C = with(s);
      const Polar p = polar(C);
      // an error of C of 1e-16 turns A by that over the gap; the two ways differ by some of these
      const double gap = (s[1] + s[2]) / s[0];
      EXPECT_LT((p.A - by_svd(C)).norm(), 2e-14 / gap) << s.transpose();
      EXPECT_LT((p.A.transpose() * p.A - Matrix3d::Identity()).norm(), 2e-15);
      EXPECT_NEAR(p.A.determinant(), 1, 1e-14);
      EXPECT_LT((p.A * p.U - C).norm(), 1e-14 * s[0]);
      EXPECT_LT((p.H_inverse * trace_minus(p.U) - Matrix3d::Identity()).norm(), 1e-14 / gap);
    }
}

TEST_F(PolarTest, RefusesMatricesWithoutANearestRotation) {
  // a line, a reflection with equal smallest values, a point reflection
  for (const Vector3d& s : {Vector3d(1, 0, 0), Vector3d(1, 0.4, -0.4), Vector3d(2, 2, -2)})
    for (int repeat = 0; repeat < 200; ++repeat) {
      const std::string message = message_of(with(s));
      EXPECT_NE(message.find("singular values"), std::string::npos) << s.transpose() << ": " << message;
    }
  EXPECT_NE(message_of(Matrix3d::Zero()).find("zero or not finite"), std::string::npos);
  EXPECT_NE(message_of(Matrix3d::Constant(NAN)).find("zero or not finite"), std::string::npos);
}

TEST_F(PolarTest, DerivativesAgreeWithDifferences) {
  const double h = 1e-5;
  for (const Vector3d& s : {Vector3d(3, 2, 1), Vector3d(1, 0.5, 0), Vector3d(1, 0.8, -0.3)})
    for (int repeat = 0; repeat < 20; ++repeat) {
      const Matrix3d C = with(s), d1 = matrix(), d2 = matrix(), W = matrix();
      const Polar p = polar(C), up = polar(C + h * d2), down = polar(C - h * d2);
      // central differences: h^2 times third derivatives (of the order of 1/gap^3, gap 0.5), round-off 1e-11
      const Matrix3d dA = (up.A - down.A) / (2 * h);
      EXPECT_LT((p.A * skew(p.omega(d2)) - dA).norm(), 2e-8);
      const Vector3d domega = (up.omega(d1) - down.omega(d1)) / (2 * h);
      EXPECT_LT((p.omega_derivative(d1, d2) - domega).norm(), 2e-7);
      // the form of second(), symmetric in the two changes
      const auto form = [&](const Matrix3d& a, const Matrix3d& b) {
        const Polar::Second second = p.second(W);
        const Vector3d omega_a = p.omega(a), omega_b = p.omega(b);
        return omega_a.dot(second.middle * omega_b) -
               second.y.dot(trace_minus(p.A.transpose() * a) * omega_b) -
               second.y.dot(trace_minus(p.A.transpose() * b) * omega_a);
      };
      const auto first = [&](const Polar& at) { return W.cwiseProduct(at.A * skew(at.omega(d1))).sum(); };
      EXPECT_NEAR(form(d1, d2), (first(up) - first(down)) / (2 * h), 4e-7);
      EXPECT_NEAR(form(d1, d2), form(d2, d1), 1e-12);
    }
}

TEST_F(PolarTest, TurnsWithTheMatrix) {
  const Matrix3d C = with({2, 1, 0.1}), R = rotation();
  EXPECT_LT((polar(R * C).A - R * polar(C).A).norm(), 1e-14);
  // a symmetric positive matrix is not turned at all
  EXPECT_LT((polar(Matrix3d(C.transpose() * C)).A - Matrix3d::Identity()).norm(), 1e-13);
}

}  // namespace
}  // namespace lissom::polar_test

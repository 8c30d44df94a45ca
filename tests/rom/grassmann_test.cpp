#include "lissom/rom/pod/grassmann.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <cmath>
#include <numbers>
#include <random>

#include "lissom/core/error.hpp"

namespace lissom::grassmann_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd random_orthonormal(Index rows, Index columns, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  const MatrixXd X = MatrixXd::NullaryExpr(rows, columns, [&] { return normal(generator); });
  return Eigen::HouseholderQR<MatrixXd>(X).householderQ() * MatrixXd::Identity(rows, columns);
}

// Distance of two subspaces: sine of the largest angle.
double apart(const MatrixXd& U, const MatrixXd& V) {
  return (V - U * (U.transpose() * V)).norm();
}

// Columns (cos t, sin t) in planes (i, r + i) of R^(2 r).
MatrixXd turned(const VectorXd& angles) {
  const Index r = angles.size();
  MatrixXd U = MatrixXd::Zero(2 * r, r);
  for (Index i = 0; i < r; ++i) {
    U(i, i) = std::cos(angles[i]);
    U(r + i, i) = std::sin(angles[i]);
  }
  return U;
}

TEST(Grassmann, AnglesAreThoseOfPlanesTurnedByKnownOnes) {
  const VectorXd angles = (VectorXd(5) << 1e-12, 1e-6, 0.3, 1.2, std::numbers::pi / 2 - 1e-9).finished();
  // any basis of the subspace will do, so turn the columns among each other
  const MatrixXd V = turned(angles) * random_orthonormal(5, 5, 3), U = turned(VectorXd::Zero(5));
  const VectorXd found = principal_angles(U, V);
  // round-off of orthonormal columns, absolute: sines tell small ones, cosines those near a right angle
  for (Index i = 0; i < 5; ++i) EXPECT_NEAR(found[i], angles[i], 5e-15) << i;
}

TEST(Grassmann, ExponentialBringsTheLogarithmBack) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const MatrixXd U0 = random_orthonormal(40, 6, seed), U = random_orthonormal(40, 6, seed + 10);
    const MatrixXd tangent = grassmann_log(U0, U);
    // horizontal: orthogonal to the subspace it is tangent to
    EXPECT_LT((U0.transpose() * tangent).norm(), 1e-14);
    const MatrixXd back = grassmann_exp(U0, tangent);
    // angles here are up to 1.5, where the tangent of them magnifies round-off by tens
    EXPECT_LT(apart(U, back), 1e-13);
    EXPECT_LT((back.transpose() * back - MatrixXd::Identity(6, 6)).norm(), 1e-14);
    // and the length of the tangent is that of the angles
    EXPECT_NEAR(tangent.norm(), principal_angles(U0, U).norm(), 1e-13);
  }
}

TEST(Grassmann, HalfTheTangentLeadsToHalfTheAngle) {
  const VectorXd angles = (VectorXd(2) << 0.4, 1.1).finished();
  const MatrixXd U0 = turned(VectorXd::Zero(2));
  const MatrixXd half = grassmann_exp(U0, 0.5 * grassmann_log(U0, turned(angles)));
  // in a plane the geodesic is a turn at constant speed; a few roundings
  EXPECT_LT(apart(turned(0.5 * angles), half), 1e-15 * 4);
  EXPECT_LT((half - turned(0.5 * angles)).norm(), 1e-15 * 4);
}

TEST(Grassmann, NoTangentAtAllLeavesTheBasisAsItIs) {
  const MatrixXd U0 = random_orthonormal(12, 3, 5);
  EXPECT_LT((grassmann_exp(U0, grassmann_log(U0, U0)) - U0).norm(), 1e-14);
}

TEST(Grassmann, ARightAngleIsRefusedWithItsAngle) {
  const MatrixXd U0 = turned(VectorXd::Zero(2));
  const VectorXd angles = (VectorXd(2) << 0.2, std::numbers::pi / 2).finished();
  try {
    grassmann_log(U0, turned(angles));
    FAIL() << "no error";
  } catch (const InputError&) {
    FAIL() << "not the user's input";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("90.000000 degrees"), std::string::npos) << error.what();
  }
  // and next to it, unless the margin is smaller
  VectorXd near = angles;
  near[1] -= 1e-7;
  EXPECT_THROW(grassmann_log(U0, turned(near)), Error);
  EXPECT_NO_THROW(grassmann_log(U0, turned(near), 1e-9));
}

TEST(Grassmann, SubspacesOfDifferentDimensionsAreRefused) {
  EXPECT_THROW(principal_angles(random_orthonormal(8, 2, 1), random_orthonormal(8, 3, 1)), Error);
  EXPECT_THROW(grassmann_log(random_orthonormal(8, 2, 1), random_orthonormal(9, 2, 1)), Error);
}

// sum w_i f(x_i) - f(x)
template <class Function>
double miss(const MatrixXd& points, const VectorXd& x, const Function& f) {
  const VectorXd w = lagrange_weights(points, x);
  double sum = -f(x);
  for (Index i = 0; i < points.cols(); ++i) sum += w[i] * f(points.col(i));
  return sum;
}

TEST(LagrangeWeights, ReproduceACubicFromFourLoadFactors) {
  const MatrixXd points = (MatrixXd(1, 4) << 0.25, 0.5, 0.75, 1).finished();
  const VectorXd x = VectorXd::Constant(1, 0.935);
  const auto cubic = [](const VectorXd& p) { return 2 - p[0] + 3 * std::pow(p[0], 3); };
  // weights of size one, values of size five
  EXPECT_NEAR(miss(points, x, cubic), 0, 1e-14);
  EXPECT_NEAR(lagrange_weights(points, x).sum(), 1, 1e-15);
  // and not a quartic, whose error is the product of distances: 0.935 is no sample
  const auto quartic = [](const VectorXd& p) { return std::pow(p[0], 4); };
  EXPECT_NEAR(miss(points, x, quartic), -(0.685 * 0.435 * 0.185 * -0.065), 1e-14);
}

TEST(LagrangeWeights, OnAGridAreProductsInAnyOrderOfTheSamples) {
  MatrixXd points(2, 9);
  const int order[9] = {4, 0, 8, 2, 6, 1, 3, 7, 5};
  for (int i = 0; i < 9; ++i) {
    const double row = order[i] / 3, column = order[i] % 3;
    points.col(i) << 0.1 + 0.05 * row * row, 2 + 0.5 * column;
  }
  const VectorXd x = (VectorXd(2) << 0.17, 2.8).finished();
  // every power up to two in each direction, among them x^2 y^2, which total degree would not give
  for (int a = 0; a <= 2; ++a)
    for (int b = 0; b <= 2; ++b)
      EXPECT_NEAR(miss(points, x, [&](const VectorXd& p) { return std::pow(p[0], a) * std::pow(p[1], b); }),
                  0, 1e-13)
          << a << b;
}

TEST(LagrangeWeights, OfScatteredSamplesReproduceWhatTheirNumberAllows) {
  std::mt19937 generator(4);
  std::uniform_real_distribution<double> uniform(0.5, 3);
  const MatrixXd points = MatrixXd::NullaryExpr(2, 8, [&] { return uniform(generator); });
  const VectorXd x = (VectorXd(2) << 1.4, 2.1).finished();
  // eight samples: all six of degree two; the two more meet the values at the samples
  for (int a = 0; a <= 2; ++a)
    for (int b = 0; a + b <= 2; ++b)
      EXPECT_NEAR(miss(points, x, [&](const VectorXd& p) { return std::pow(p[0], a) * std::pow(p[1], b); }),
                  0, 1e-11)
          << a << b;
  EXPECT_NEAR(lagrange_weights(points, x).sum(), 1, 1e-12);
  for (Index i = 0; i < points.cols(); ++i) {
    const VectorXd at = lagrange_weights(points, points.col(i));
    // interpolation: one at its own sample, zero at the others, to the condition of eight points
    EXPECT_LT((at - VectorXd::Unit(8, i)).norm(), 1e-10) << i;
  }
}

TEST(LagrangeWeights, OfSamplesOnALineInThePlaneAreThoseOfTheLine) {
  MatrixXd points(2, 3);
  points << 0, 1, 2, 0, 2, 4;
  const VectorXd x = (VectorXd(2) << 0.5, 1).finished();
  const VectorXd line = lagrange_weights(points.topRows(1), x.head(1));
  // nothing but round-off
  EXPECT_LT((lagrange_weights(points, x) - line).norm(), 1e-13);
}

TEST(LagrangeWeights, AParameterThatNeverVariesHasNoSay) {
  MatrixXd points(2, 3);
  points << 1, 2, 3, 7, 7, 7;
  const VectorXd x = (VectorXd(2) << 1.5, 7).finished();
  EXPECT_LT((lagrange_weights(points, x) - lagrange_weights(points.topRows(1), x.head(1))).norm(), 1e-15);
}

TEST(LagrangeWeights, TwoScatteredSamplesAtOnePlaceAreRefused) {
  MatrixXd points(2, 3);
  points << 0, 1, 1, 0, 2, 2;
  EXPECT_THROW(lagrange_weights(points, VectorXd::Ones(2)), Error);
}

}  // namespace
}  // namespace lissom::grassmann_test

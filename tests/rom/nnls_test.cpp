#include "lissom/rom/pod/nnls.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <cmath>
#include <limits>
#include <random>

namespace lissom::nnls_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd noise(Index rows, Index columns, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(rows, columns, [&] { return normal(generator); });
}

// The smallest residual over all sets of columns whose least-squares weights are not negative: the minimum is
// that of one of them.
double brute_force(const MatrixXd& A, const VectorXd& b) {
  double best = b.norm();
  for (int set = 1; set < (1 << A.cols()); ++set) {
    std::vector<Index> columns;
    for (Index j = 0; j < A.cols(); ++j)
      if (set >> j & 1) columns.push_back(j);
    MatrixXd part(A.rows(), static_cast<Index>(columns.size()));
    for (size_t j = 0; j < columns.size(); ++j) part.col(static_cast<Index>(j)) = A.col(columns[j]);
    const VectorXd w = part.colPivHouseholderQr().solve(b);
    if (w.minCoeff() >= 0) best = std::min(best, (part * w - b).norm());
  }
  return best / b.norm();
}

TEST(Nnls, FindsTheMinimumThatAllSubsetsOfColumnsHave) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const Index rows = 4 + seed % 6, columns = 3 + seed % 7;
    const MatrixXd A = noise(rows, columns, seed);
    const VectorXd b = noise(rows, 1, 100 + seed);
    const NnlsResult found = nnls(A, b);
    EXPECT_TRUE(found.minimum || found.residual < 1e-12) << seed;
    // two ways to the same least squares: round-off
    EXPECT_NEAR(found.residual, brute_force(A, b), 1e-12) << seed;
    EXPECT_GE(found.weights.minCoeff(), 0) << seed;
  }
}

TEST(Nnls, TheMinimumSatisfiesTheConditionsOfKuhnAndTucker) {
  const MatrixXd A = noise(60, 200, 7);
  const VectorXd b = noise(60, 1, 8) + 0.5 * A.rowwise().sum();
  NnlsOptions options;
  options.tolerance = 0;
  const MatrixXd tall = A.leftCols(40);
  const NnlsResult found = nnls(tall, b, options);
  ASSERT_TRUE(found.minimum);
  const VectorXd gradient = tall.transpose() * (b - tall * found.weights);
  for (Index j = 0; j < tall.cols(); ++j) {
    const double scale = tall.col(j).norm() * b.norm();
    // zero where the weight is positive, not positive where it is zero; round-off of sixty products
    if (found.weights[j] > 0)
      EXPECT_NEAR(gradient[j], 0, 1e-13 * scale) << j;
    else
      EXPECT_LT(gradient[j], 1e-13 * scale) << j;
  }
  for (const int j : found.active) EXPECT_GT(found.weights[j], 0);
}

TEST(Nnls, StopsAtTheToleranceWithFewColumns) {
  // b is a positive sum of all 300 columns, which lie near a subspace of dimension ten
  const MatrixXd A = noise(80, 10, 1) * noise(10, 300, 2) + 1e-6 * noise(80, 300, 3);
  const VectorXd b = A.rowwise().sum();
  NnlsOptions options;
  options.tolerance = 1e-3;
  const NnlsResult found = nnls(A, b, options);
  EXPECT_TRUE(found.reached);
  EXPECT_LE(found.residual, 1e-3);
  // as many as the subspace has dimensions, or next to it
  EXPECT_LE(found.active.size(), 11u);
  EXPECT_NEAR((A * found.weights - b).norm() / b.norm(), found.residual, 1e-12);
}

TEST(Nnls, LengthsOfColumnsHaveNoSayInTheChoice) {
  const MatrixXd A = noise(30, 50, 5);
  const VectorXd b = A.leftCols(4).rowwise().sum();
  VectorXd factors(50);
  for (Index j = 0; j < 50; ++j) factors[j] = std::pow(10.0, static_cast<double>(j % 9) - 4);
  NnlsOptions options;
  options.tolerance = 1e-8;
  const NnlsResult plain = nnls(A, b, options), scaled = nnls(A * factors.asDiagonal(), b, options);
  EXPECT_EQ(plain.active, scaled.active);
  // condition of a handful of random columns times round-off
  for (const int j : plain.active) EXPECT_NEAR(scaled.weights[j] * factors[j], plain.weights[j], 1e-10);
}

TEST(Nnls, EqualAndZeroColumnsDoNotStopIt) {
  MatrixXd A = noise(10, 6, 9);
  A.col(3) = A.col(2);
  A.col(5).setZero();
  const VectorXd b = A.col(2) + 2 * A.col(0);
  const NnlsResult found = nnls(A, b);
  EXPECT_LT(found.residual, 1e-13);
  EXPECT_EQ(found.weights[5], 0);
  EXPECT_NEAR(found.weights[2] + found.weights[3], 1, 1e-12);
}

TEST(Nnls, WhatOnlyNegativeWeightsCouldMeetIsLeft) {
  const MatrixXd A = noise(8, 1, 3).cwiseAbs();
  const NnlsResult found = nnls(A, -A.col(0));
  EXPECT_TRUE(found.minimum);
  EXPECT_TRUE(found.active.empty());
  EXPECT_EQ(found.residual, 1);
  // and nothing is asked for
  EXPECT_TRUE(nnls(A, VectorXd::Zero(8)).reached);
}

TEST(Nnls, TheNumberOfColumnsCanBeLimited) {
  const MatrixXd A = noise(40, 30, 11);
  const VectorXd b = A.rowwise().sum();
  NnlsOptions options;
  options.most_active = 5;
  const NnlsResult found = nnls(A, b, options);
  EXPECT_EQ(found.active.size(), 5u);
  EXPECT_FALSE(found.reached);
  EXPECT_FALSE(found.minimum);
}

}  // namespace
}  // namespace lissom::nnls_test

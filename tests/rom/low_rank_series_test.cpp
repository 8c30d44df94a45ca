#include "lissom/rom/low_rank_series.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "lissom/fe/stress_recovery.hpp"

namespace lissom::low_rank_series_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

MatrixXd gaussian(Index rows, Index cols, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(rows, cols, [&] { return normal(random); });
}

double largest_point(const MatrixXd& X, Index c) {
  double largest = 0;
  for (Index k = 0; k < X.cols(); ++k)
    for (Index i = 0; i < X.rows() / c; ++i)
      largest = std::max(largest,
                         c == 3 ? X.col(k).segment<3>(3 * i).norm() : von_mises(X.col(k).segment<6>(6 * i)));
  return largest;
}

LowRankSeries represented(const MatrixXd& X, PointMeasure measure, double relative, Index at_once = 16) {
  LowRankBuilder builder(X.rows() / (measure == PointMeasure::Length ? 3 : 6), measure);
  for (Index first = 0; first < X.cols(); first += at_once) {
    MatrixXd block = X.middleCols(first, std::min(at_once, X.cols() - first));
    builder.add(block);
  }
  return builder.finish(relative * builder.largest());
}

// What the series says of itself, against the data.
void expect_honest(const LowRankSeries& series, const MatrixXd& X, Index c, double relative) {
  const MatrixXd shown = series.basis.cast<double>() * series.amplitudes.cast<double>();
  const double error = largest_point(X - shown, c), largest = largest_point(X, c);
  EXPECT_LE(error, relative * largest);
  // it is a bound, and not a loose one
  EXPECT_LE(error, series.error + 1e-14 * largest);
  EXPECT_LE(series.error, 1.05 * error + 1e-6 * largest);
  EXPECT_NEAR(series.largest, largest_point(shown, c), 1e-12 * largest);
  EXPECT_FALSE(series.reached_limit);
}

TEST(LowRankSeries, FewShapesAreFoundExactly) {
  const MatrixXd X = gaussian(90, 4, 1) * gaussian(4, 70, 2);
  const LowRankSeries series = represented(X, PointMeasure::Length, 1e-5);
  EXPECT_EQ(series.basis.cols(), 4);
  expect_honest(series, X, 3, 1e-5);
  // columns are scaled so that 16 bits suffice for them
  for (Index k = 0; k < 4; ++k) EXPECT_EQ(series.basis.col(k).cwiseAbs().maxCoeff(), 1);
}

TEST(LowRankSeries, EveryPointKeepsTheErrorOnRandomData) {
  // singular values that fall slowly: the rank is between nothing and everything
  MatrixXd X = gaussian(150, 60, 3);
  for (Index k = 0; k < 60; ++k) X.col(k) *= std::pow(0.7, static_cast<double>(k));
  X = (X * gaussian(60, 60, 4)).eval();
  for (const double relative : {1e-1, 1e-3, 1e-5}) {
    const LowRankSeries series = represented(X, PointMeasure::Length, relative);
    EXPECT_GT(series.basis.cols(), 0);
    EXPECT_LT(series.basis.cols(), 60);
    expect_honest(series, X, 3, relative);
  }
}

TEST(LowRankSeries, AWaveThatRunsKeepsTheErrorAtEveryFrame) {
  // a bump on a rotating ring, of which no few singular values tell the whole
  constexpr Index n = 80, frames = 200;
  MatrixXd X(3 * n, frames);
  for (Index k = 0; k < frames; ++k)
    for (Index i = 0; i < n; ++i) {
      const double phi = 2 * M_PI * (static_cast<double>(i) / n - static_cast<double>(k) / frames);
      const double bump = std::exp(-3 * (1 - std::cos(phi)));
      X.col(k).segment<3>(3 * i) << bump * std::cos(phi), bump * std::sin(phi), 0.1 * bump;
    }
  const LowRankSeries series = represented(X, PointMeasure::Length, 1e-4);
  expect_honest(series, X, 3, 1e-4);
  EXPECT_LT(series.basis.cols(), 40);
}

TEST(LowRankSeries, PressureDoesNotCountInVonMisesStress) {
  const MatrixXd X = gaussian(60, 5, 5) * gaussian(5, 30, 6);
  const LowRankSeries series = represented(X, PointMeasure::VonMises, 1e-4);
  expect_honest(series, X, 6, 1e-4);
  // pressure alone is zero, and needs no shape
  MatrixXd pressure = MatrixXd::Zero(60, 30);
  for (Index i = 0; i < 10; ++i) pressure.middleRows(6 * i, 3).setConstant(static_cast<double>(i) + 1);
  LowRankBuilder builder(10, PointMeasure::VonMises);
  builder.add(pressure);
  EXPECT_EQ(builder.finish(1e-12).basis.cols(), 0);
}

TEST(LowRankSeries, FramesThatAreCombinationsAreThoseOfTheProduct) {
  MatrixXd X = gaussian(60, 6, 7);
  const MatrixXd C = gaussian(6, 50, 8), frames = X * C;
  LowRankBuilder builder(20, PointMeasure::Length);
  builder.add(X);
  const LowRankSeries series = builder.finish(1e-4 * largest_point(frames, 3), C);
  expect_honest(series, frames, 3, 1e-4);
}

TEST(LowRankSeries, RoundOffHasNoShapesAndIsPartOfTheError) {
  MatrixXd X = gaussian(90, 2, 10) * gaussian(2, 40, 11);
  X.leftCols(10) = 1e-9 * gaussian(90, 10, 12);
  const double noise = largest_point(X.leftCols(10), 3);
  LowRankBuilder builder(30, PointMeasure::Length, 1e-7);
  MatrixXd block = X;
  builder.add(block);
  const LowRankSeries series = builder.finish(1e-4);
  EXPECT_EQ(series.basis.cols(), 2);
  EXPECT_TRUE(series.amplitudes.leftCols(10).isZero(1e-12F));
  EXPECT_GE(series.error, noise);
  expect_honest(series, X, 3, 1e-4);
}

TEST(LowRankSeries, ZeroHasNoShapesAndALimitIsTold) {
  const LowRankSeries zero = represented(MatrixXd::Zero(30, 10), PointMeasure::Length, 1e-4);
  EXPECT_EQ(zero.basis.cols(), 0);
  EXPECT_EQ(zero.basis.rows(), 30);
  EXPECT_EQ(zero.amplitudes.cols(), 10);
  EXPECT_EQ(zero.error, 0);
  // room for two shapes where ten are needed
  const MatrixXd X = gaussian(30, 10, 9);
  LowRankBuilder builder(10, PointMeasure::Length, 0, 2 * 8 * 30);
  MatrixXd block = X;
  builder.add(block);
  const LowRankSeries series = builder.finish(1e-6);
  EXPECT_TRUE(series.reached_limit);
  EXPECT_EQ(series.basis.cols(), 2);
  const MatrixXd shown = series.basis.cast<double>() * series.amplitudes.cast<double>();
  EXPECT_GE(series.error, largest_point(X - shown, 3));
}

}  // namespace
}  // namespace lissom::low_rank_series_test

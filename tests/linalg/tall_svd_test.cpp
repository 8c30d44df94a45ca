#include "lissom/linalg/tall_svd.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>
#include <limits>
#include <random>

#include "lissom/core/error.hpp"
#include "lissom/core/resources.hpp"
#include "lissom/linalg/blas.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::tall_svd_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd noise(Index rows, Index columns, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(rows, columns, [&] { return normal(generator); });
}

MatrixXd orthonormal(Index rows, Index columns, unsigned seed) {
  const Eigen::HouseholderQR<MatrixXd> qr(noise(rows, columns, seed));
  return qr.householderQ() * MatrixXd::Identity(rows, columns);
}

// U diag(sigma) V' with singular values that are known.
MatrixXd matrix_of(Index rows, Index columns, const VectorXd& sigma) {
  return orthonormal(rows, sigma.size(), 1) * sigma.asDiagonal() *
         orthonormal(columns, sigma.size(), 2).transpose();
}

TallSvd in_blocks(MatrixXd X, Index block, double tolerance = 1e-14, Index max_rank = 0, Index count = 0) {
  TallSvdBuilder builder(X.rows(), tolerance, max_rank);
  for (Index first = 0; first < X.cols(); first += block)
    builder.add(X.middleCols(first, std::min(block, X.cols() - first)));
  EXPECT_EQ(builder.columns(), X.cols());
  return builder.finish(count);
}

void expect_decomposition(const MatrixXd& X, const TallSvd& svd, double tolerance) {
  EXPECT_LT((svd.W * svd.sigma.asDiagonal() * svd.V.transpose() - X).norm(), tolerance * X.norm());
  // rounding of a few orthogonal transformations
  EXPECT_LT(svd.orthogonality, 5e-15);
  EXPECT_LT((svd.V.transpose() * svd.V - MatrixXd::Identity(svd.V.cols(), svd.V.cols())).norm(),
            1e-14 * std::sqrt(static_cast<double>(svd.V.cols())));
  for (Index i = 1; i < svd.sigma.size(); ++i) EXPECT_GE(svd.sigma[i - 1], svd.sigma[i]);
}

VectorXd decades(int count, double smallest) {
  return VectorXd::NullaryExpr(count, [&](Index i) {
    return std::pow(smallest, static_cast<double>(i) / static_cast<double>(count - 1));
  });
}

TEST(TallSvd, SingularValuesOverThirteenDecadesAreThoseOfTheMatrix) {
  const VectorXd sigma = decades(40, 1e-13);
  const MatrixXd X = matrix_of(2000, 200, sigma);
  const TallSvd in_memory = dense_svd(X);
  for (const Index block : {1, 7, 32, 64, 200}) {
    const TallSvd svd = in_blocks(X, block);
    ASSERT_GE(svd.sigma.size(), 40) << block;
    // seven roundings of the largest, 1, as below: with kernels of BLAS for Zen both are off by some
    EXPECT_LT((svd.sigma.head(40) - in_memory.sigma.head(40)).cwiseAbs().maxCoeff(), 1.5e-15) << block;
    EXPECT_LT((svd.sigma.head(40) - sigma).cwiseAbs().maxCoeff(), 1.5e-15) << block;
    EXPECT_LT(svd.sigma.size(), 45) << "rounding was taken for data, blocks of " << block;
    expect_decomposition(X, svd, 1e-14);
    EXPECT_FALSE(svd.reached_limit);
    EXPECT_LT(svd.left_out, 1e-14 * 20);  // the tolerance, in each of some directions
  }
}

TEST(TallSvd, AgreesWithTheMatrixInMemory) {
  // small columns first, so that the largest grows while blocks come
  MatrixXd X = matrix_of(500, 90, decades(30, 1e-10));
  for (Index j = 0; j < X.cols(); ++j) X.col(j) *= std::pow(10, -6 + 0.1 * static_cast<double>(j));
  const TallSvd whole = dense_svd(X), svd = in_blocks(X, 16);
  ASSERT_LE(svd.sigma.size(), whole.sigma.size());
  const double largest = whole.sigma[0];
  EXPECT_LT((svd.sigma - whole.sigma.head(svd.sigma.size())).cwiseAbs().maxCoeff(), 1e-14 * largest);
  expect_decomposition(X, svd, 1e-14);
  expect_decomposition(X, whole, 1e-14);
}

TEST(TallSvd, NoiseOfFullRankWorks) {
  const MatrixXd X = noise(700, 150, 3);
  const TallSvd svd = in_blocks(X, 32);
  EXPECT_EQ(svd.sigma.size(), 150);
  expect_decomposition(X, svd, 1e-14);
  EXPECT_LT((svd.sigma - dense_svd(X).sigma).cwiseAbs().maxCoeff(), 1e-14 * svd.sigma[0]);
}

TEST(TallSvd, MoreColumnsThanRowsAndNothingAtAllWork) {
  const MatrixXd X = noise(20, 100, 4);
  for (const Index block : {8, 33, 100}) {
    const TallSvd svd = in_blocks(X, block);
    EXPECT_EQ(svd.sigma.size(), 20);
    EXPECT_FALSE(svd.reached_limit);
    expect_decomposition(X, svd, 1e-14);
  }
  const TallSvd zero = in_blocks(MatrixXd::Zero(30, 5), 2);
  EXPECT_EQ(zero.W.rows(), 30);
  EXPECT_EQ(zero.sigma.size(), 0);
  EXPECT_EQ(zero.V.rows(), 5);
  EXPECT_EQ(in_blocks(MatrixXd(30, 0), 2).V.rows(), 0);
  EXPECT_EQ(dense_svd(X).sigma.size(), 20);
  EXPECT_EQ(dense_svd(MatrixXd::Zero(3, 0)).sigma.size(), 0);
}

TEST(TallSvd, RepeatedColumnsAddNothing) {
  const MatrixXd X = matrix_of(400, 20, decades(20, 1e-3));
  MatrixXd twice(400, 40);
  twice << X, X;
  const TallSvd once = in_blocks(X, 10), svd = in_blocks(twice, 10);
  ASSERT_EQ(svd.sigma.size(), 20);
  EXPECT_LT((svd.sigma - std::sqrt(2) * once.sigma).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(TallSvd, TheLimitOfTheRankIsKeptAndSaid) {
  const VectorXd sigma = decades(30, 1e-6);
  const MatrixXd X = matrix_of(300, 60, sigma);
  const TallSvd svd = in_blocks(X, 60, 1e-14, 10);
  EXPECT_EQ(svd.sigma.size(), 10);
  EXPECT_TRUE(svd.reached_limit);
  // of a single block the best ten directions are kept, and the rest is the sum of the other squares
  EXPECT_LT((svd.sigma - sigma.head(10)).cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_NEAR(svd.left_out, sigma.tail(20).norm(), 1e-14);
  const TallSvd few = in_blocks(X, 8, 1e-14, 10);
  EXPECT_EQ(few.sigma.size(), 10);
  EXPECT_TRUE(few.reached_limit);
  EXPECT_LE((few.W * few.sigma.asDiagonal() * few.V.transpose() - X).norm(), few.left_out * (1 + 1e-12));
}

TEST(TallSvd, FewerVectorsAreTheFirstOnes) {
  const MatrixXd X = noise(200, 40, 5);
  const TallSvd all = in_blocks(X, 16), few = in_blocks(X, 16, 1e-14, 0, 5);
  ASSERT_EQ(few.W.cols(), 5);
  EXPECT_EQ(few.V.cols(), 5);
  // the products run over other shapes, hence rounding
  EXPECT_LT((few.W - all.W.leftCols(5)).norm(), 1e-13);
  EXPECT_LT((few.sigma - all.sigma.head(5)).norm(), 1e-13);
}

TEST(TallSvd, ANumberThatIsNotFiniteIsAnError) {
  MatrixXd X = noise(50, 4, 6);
  X(3, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(message_of<Error>([&] { in_blocks(X, 2); }).find("not finite"), std::string::npos);
  EXPECT_NE(message_of<Error>([&] { dense_svd(X); }).find("not finite"), std::string::npos);
}

TEST(TallSvd, TheResultDoesNotDependOnTheNumberOfThreads) {
  const MatrixXd X = matrix_of(20000, 64, decades(20, 1e-8));
  const TallSvd many = in_blocks(X, 32);
  const BlasThreads one;
  const TallSvd single = in_blocks(X, 32);
  EXPECT_TRUE(many.W == single.W && many.sigma == single.sigma && many.V == single.V);
}

// the sanitizer keeps freed memory for a while
#if defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
#else
constexpr bool sanitized = false;
#endif

// 60,000 coordinates by 1,000 snapshots: 480 MB that are never in memory together. Not a benchmark, whose
// limits would depend on the machine; memory does not.
TEST(TallSvd, TallDataNeedNotFitIntoMemory) {
  const Index n = 60000, k = 1000, rank = 40, block = 64;
  const MatrixXd U = noise(n, rank, 7);
  const MatrixXd coefficients = decades(40, 1e-12).asDiagonal() * noise(rank, k, 8);
  const size_t before = peak_memory_bytes();
  TallSvdBuilder builder(n);
  MatrixXd X(n, block);
  const Timer timer;
  double making = 0;
  for (Index first = 0; first < k; first += block) {
    const Index columns = std::min(block, k - first);
    const Timer one;
    gemm(false, false, 1, U, coefficients.middleCols(first, columns), 0, X.leftCols(columns));
    making += one.seconds();
    builder.add(X.leftCols(columns));
  }
  EXPECT_GE(builder.rank(), 40);
  EXPECT_LT(builder.rank(), 44);
  const TallSvd svd = builder.finish();
  EXPECT_LT(svd.orthogonality, 5e-15);
  RecordProperty("seconds", fmt::format("{:.2f}", timer.seconds() - making));
  // Q and W are 20 MB each, a block and its copies 31 MB each
  if (!sanitized) {
    EXPECT_LT(peak_memory_bytes(), before + (200UL << 20));
  }
}

}  // namespace
}  // namespace lissom::tall_svd_test

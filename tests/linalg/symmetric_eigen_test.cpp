#include "lissom/linalg/symmetric_eigen.hpp"

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include <cmath>
#include <limits>
#include <random>

#include "lissom/core/error.hpp"

namespace lissom::symmetric_eigen_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd random_symmetric(int n, int seed) {
  std::minstd_rand random(seed);
  std::normal_distribution<double> normal;
  const MatrixXd X = MatrixXd::NullaryExpr(n, n, [&] { return normal(random); });
  return X + X.transpose();
}

TEST(SymmetricEigen, EveryPieceOfTheSpectrumIsThatOfAnotherSolver) {
  for (const int n : {1, 2, 7, 40}) {
    const MatrixXd A = random_symmetric(n, n);
    const Eigen::SelfAdjointEigenSolver<MatrixXd> expected(A);
    // round-off: some n times 1e-16
    const double tolerance = 1e-13 * A.norm();
    for (int first = 0; first < n; first += 3)
      for (const int count : {1, (n - first + 1) / 2, n - first}) {
        const VectorXd values = expected.eigenvalues().segment(first, count);
        const SymmetricEigen found = symmetric_eigen(A, first, count, true);
        EXPECT_LT((found.values - values).norm(), tolerance);
        EXPECT_LT((A * found.vectors - found.vectors * found.values.asDiagonal()).norm(), tolerance);
        // what LAPACK's own tests ask of dsyevr: 30 n roundings, whichever kernels BLAS takes
        EXPECT_LT((found.vectors.transpose() * found.vectors - MatrixXd::Identity(count, count)).norm(),
                  30 * n * std::numeric_limits<double>::epsilon());
        const SymmetricEigen alone = symmetric_eigen(A, first, count, false);
        EXPECT_LT((alone.values - values).norm(), tolerance);
        EXPECT_EQ(alone.vectors.size(), 0);
      }
  }
}

TEST(SymmetricEigen, OnlyTheLowerTriangleIsRead) {
  const MatrixXd A = random_symmetric(12, 5);
  MatrixXd lower = A;
  lower.triangularView<Eigen::StrictlyUpper>().setConstant(NAN);
  EXPECT_EQ(symmetric_eigen(lower, 2, 4, false).values, symmetric_eigen(A, 2, 4, false).values);
}

TEST(SymmetricEigen, EqualValuesHaveOrthonormalVectors) {
  const SymmetricEigen found = symmetric_eigen(MatrixXd::Identity(9, 9), 3, 4, true);
  EXPECT_EQ(found.values, VectorXd::Ones(4));
  EXPECT_LT((found.vectors.transpose() * found.vectors - MatrixXd::Identity(4, 4)).norm(), 1e-14);
}

// A matrix as a Krylov space of a body leaves it: clusters, and entries that span sixteen orders.
MatrixXd graded(int n, int seed) {
  MatrixXd A = random_symmetric(n, seed);
  VectorXd scale(n);
  for (int i = 0; i < n; ++i) scale[i] = std::pow(10.0, -8.0 * (i / 4) / (n / 4));
  return scale.asDiagonal() * A * scale.asDiagonal();
}

TEST(SymmetricEigen, TheDriversThatTakeOverFindTheSame) {
  for (const MatrixXd& A : {random_symmetric(30, 4), graded(40, 5), MatrixXd(MatrixXd::Identity(12, 12))}) {
    const int n = static_cast<int>(A.rows());
    const Eigen::SelfAdjointEigenSolver<MatrixXd> expected(A);
    for (const EigenDriver driver : {EigenDriver::Dsyevr, EigenDriver::Dsyevd, EigenDriver::Dsyev})
      for (const bool vectors : {false, true}) {
        const SymmetricEigen found = symmetric_eigen_from(driver, A, 2, n - 5, vectors);
        EXPECT_LT((found.values - expected.eigenvalues().segment(2, n - 5)).norm(), 1e-14 * n * A.norm());
        if (!vectors) continue;
        EXPECT_LT((A * found.vectors - found.vectors * found.values.asDiagonal()).norm(),
                  1e-14 * n * A.norm());
        EXPECT_LT((found.vectors.transpose() * found.vectors - MatrixXd::Identity(n - 5, n - 5)).norm(),
                  1e-13);
      }
  }
}

TEST(SymmetricEigen, ANumberThatIsNoneIsRefused) {
  MatrixXd A = random_symmetric(6, 3);
  A(3, 2) = NAN;
  EXPECT_THROW(symmetric_eigen(A, 0, 2, false), Error);
  EXPECT_THROW(symmetric_eigen(A, 0, 6, true), Error);
}

}  // namespace
}  // namespace lissom::symmetric_eigen_test

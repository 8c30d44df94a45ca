// L U by fours of small matrices near to positive definite ones.
#include "lissom/linalg/small_factor.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <random>
#include <vector>

#include "lissom/linalg/row_products.hpp"

namespace lissom::small_factor_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(SmallLuByFours, SolvesMatricesOfEverySize) {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  for (int n = 1; n <= 20; ++n) {
    const int width = (n + 3) / 4 * 4;
    AlignedArray A(width * n), L(width * n), x(width);
    VectorXd inverse(n);
    const VectorXd smallest = VectorXd::Zero(n);
    // twice with the same arrays: nothing of the first is left
    for (int time = 0; time < 2; ++time) {
      const MatrixXd B = MatrixXd::NullaryExpr(n, n, [&] { return normal(random); });
      const MatrixXd C = MatrixXd::NullaryExpr(n, n, [&] { return normal(random); });
      const MatrixXd M = MatrixXd::Identity(n, n) + B * B.transpose() / n + 0.1 * C;
      const VectorXd b = VectorXd::NullaryExpr(n, [&] { return normal(random); });
      for (int c = 0; c < n; ++c)
        for (int i = 0; i < n; ++i) A[c * width + i] = M(i, c);
      for (int i = 0; i < n; ++i) x[i] = b[i];
      ASSERT_EQ(small_lu_by_fours(n, width, A.data(), L.data(), inverse.data(), smallest.data()), -1);
      small_lu_by_fours_solve(n, width, A.data(), L.data(), inverse.data(), x.data());
      const Eigen::Map<const VectorXd> found(x.data(), n);
      // conditions of some ten
      EXPECT_LT((M * found - b).norm(), 1e-13 * (1 + b.norm())) << n;
      for (int i = n; i < width; ++i) EXPECT_EQ(x[i], 0);
    }
  }
}

TEST(SmallLuByFours, SaysAtWhichColumnThePivotIsTooSmall) {
  const int n = 3, width = 4;
  AlignedArray A(width * n), L(width * n);
  MatrixXd M = MatrixXd::Identity(n, n);
  M(1, 1) = -1;
  for (int c = 0; c < n; ++c)
    for (int i = 0; i < n; ++i) A[c * width + i] = M(i, c);
  VectorXd inverse(n);
  const VectorXd smallest = VectorXd::Constant(n, 1e-8);
  EXPECT_EQ(small_lu_by_fours(n, width, A.data(), L.data(), inverse.data(), smallest.data()), 1);
}

}  // namespace
}  // namespace lissom::small_factor_test

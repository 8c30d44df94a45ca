#include "lissom/linalg/column_products.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <Eigen/LU>

#include "lissom/linalg/small_factor.hpp"

namespace lissom::column_products_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// numbers without pattern
double number(int i, int j) {
  return std::sin(1 + 3.7 * i + 11.3 * j);
}

TEST(ColumnProducts, AreThoseOfEigenForAnySizeAndStride) {
  for (int rows = 0; rows < 19; ++rows)
    for (int columns = 0; columns < 11; ++columns)
      for (const int more : {0, 3}) {
        const int stride = rows + more;
        MatrixXd A(stride, columns);
        for (int j = 0; j < columns; ++j)
          for (int i = 0; i < stride; ++i) A(i, j) = number(i, j);
        VectorXd x(columns), z(rows), y(rows + 1), d = VectorXd::Constant(columns + 1, 7);
        for (int j = 0; j < columns; ++j) x[j] = number(j, 20);
        for (int i = 0; i < rows; ++i) z[i] = number(i, 30);
        for (int i = 0; i <= rows; ++i) y[i] = number(i, 40);
        const double behind = y[rows];
        const VectorXd sum = y.head(rows) + A.topRows(rows) * x, dots = A.topRows(rows).transpose() * z;
        add_column_product(rows, columns, A.data(), stride, x.data(), y.data());
        column_dots(rows, columns, A.data(), stride, z.data(), d.data());
        // round-off of twenty products of about one
        EXPECT_LT((y.head(rows) - sum).lpNorm<1>(), 1e-14 * (1 + rows)) << rows << ' ' << columns;
        EXPECT_LT((d.head(columns) - dots).lpNorm<1>(), 1e-14 * (1 + columns)) << rows << ' ' << columns;
        // and nothing beyond
        EXPECT_EQ(y[rows], behind);
        EXPECT_EQ(d[columns], 7);
      }
}

TEST(SmallLu, SolvesWithFactorsOfAnySize) {
  for (int n = 1; n < 90; n += n < 20 ? 1 : 23) {
    MatrixXd A(n, n);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) A(i, j) = number(i, j) + (i == (j + 1) % n ? 4 : 0);
    MatrixXd factors = A;
    std::vector<int> pivots(n);
    small_lu(n, factors.data(), pivots.data());
    VectorXd x(n);
    for (int i = 0; i < n; ++i) x[i] = number(i, 50);
    const VectorXd b = x;
    small_lu_solve(n, factors.data(), pivots.data(), x.data());
    const VectorXd exact = A.fullPivLu().solve(b);
    EXPECT_LT((x - exact).norm(), 1e-10 * (1 + exact.norm())) << n;
  }
}

}  // namespace
}  // namespace lissom::column_products_test

#include "lissom/linalg/tile_products.hpp"

#include <gtest/gtest.h>

#include <random>

namespace lissom::tile_products_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd noise(Index rows, Index columns, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(rows, columns, [&] { return normal(generator); });
}

TEST(SymmetricTiles, MultiplyAsTheMatrixDoes) {
  for (const Index n : {1, 3, 4, 5, 8, 78, 231}) {
    MatrixXd A = noise(n, n, static_cast<unsigned>(n));
    A = (A + A.transpose()).eval();
    const VectorXd x = noise(n, 1, 1);
    // only the lower triangle may be read
    MatrixXd lower = A.triangularView<Eigen::Lower>();
    const SymmetricTiles tiles(lower);
    ASSERT_EQ(tiles.size(), n);
    AlignedArray in(tiles.padded()), out(tiles.padded());
    std::copy(x.data(), x.data() + n, in.data());
    tiles.multiply(in.data(), out.data());
    // sums of n products in another order
    EXPECT_LT((Eigen::Map<VectorXd>(out.data(), n) - A * x).norm(), 1e-15 * A.norm() * x.norm()) << n;
  }
}

TEST(TileProduct, IsThatOfTheMatrices) {
  for (const Index n : {1, 4, 7, 11, 20, 33})
    for (const Index rows : {1, 6, 30}) {
      const MatrixXd P = noise(rows, n, 1), Y = noise(rows, n, 2);
      const PaddedRows p(P), y(Y);
      AlignedArray C(p.columns * p.columns);
      tile_product(rows, n, p.row(0), y.row(0), p.columns, false, C.data());
      const Eigen::Map<MatrixXd> found(C.data(), p.columns, p.columns);
      EXPECT_LT((found.topLeftCorner(n, n) - P.transpose() * Y).norm(), 1e-14 * P.norm() * Y.norm()) << n;
      AlignedArray half(p.columns * p.columns);
      tile_product(rows, n, p.row(0), y.row(0), p.columns, true, half.data());
      for (Index j = 0; j < n; ++j)
        for (Index i = j; i < n; ++i) EXPECT_EQ(half[j * p.columns + i], found(i, j));
    }
}

TEST(MixRows, MultipliesEachGroupByItsMatrix) {
  const Index m = 3, groups = 4, n = 10;
  const MatrixXd P = noise(m * groups, n, 5), H = noise(m, m * groups, 6);
  const PaddedRows p(P);
  PaddedRows y(m * groups, n);
  mix_rows(groups, m, H.data(), p.row(0), p.columns, y.row(0));
  for (Index g = 0; g < groups; ++g) {
    const MatrixXd expected = H.middleCols(m * g, m) * P.middleRows(m * g, m);
    for (Index a = 0; a < m; ++a)
      for (Index k = 0; k < n; ++k) EXPECT_NEAR(y.row(m * g + a)[k], expected(a, k), 1e-14);
  }
}

}  // namespace
}  // namespace lissom::tile_products_test

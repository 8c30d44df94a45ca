#include "lissom/linalg/row_products.hpp"

#include <gtest/gtest.h>
#include <Eigen/Core>

namespace lissom::row_products_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(RowProducts, AreThoseOfTheMatrixWhateverItsSize) {
  for (const int rows : {1, 4, 7, 30})
    for (const int columns : {1, 8, 27, 72}) {
      const MatrixXd C = MatrixXd::Random(rows, columns), Z = MatrixXd::Random(columns, 5);
      const PaddedRows padded(C), vectors(MatrixXd(Z.transpose()));
      EXPECT_EQ(padded.rows % 4, 0);
      EXPECT_EQ(padded.columns % 8, 0);
      AlignedArray y(padded.rows), f(padded.columns);
      const auto of_y = [&] { return VectorXd(Eigen::Map<const VectorXd>(y.data(), rows)); };
      // sums of at most 72 products of numbers below one
      const double tolerance = 1e-14;
      row_product(padded, vectors.row(2), y.data());
      EXPECT_LT((of_y() - C * Z.col(2)).cwiseAbs().maxCoeff(), tolerance);
      // f is overwritten
      f[0] = 7;
      row_gram_product(padded, vectors.row(3), y.data(), f.data());
      const VectorXd expected = C * Z.col(3);
      EXPECT_LT((of_y() - expected).cwiseAbs().maxCoeff(), tolerance);
      EXPECT_LT(
          (Eigen::Map<const VectorXd>(f.data(), columns) - C.transpose() * expected).cwiseAbs().maxCoeff(),
          30 * tolerance);
      PaddedRows Y(5, padded.rows);
      row_products(padded, vectors, 5, Y);
      for (int j = 0; j < 5; ++j)
        EXPECT_LT((Eigen::Map<const VectorXd>(Y.row(j), rows) - C * Z.col(j)).cwiseAbs().maxCoeff(),
                  tolerance);
    }
}

}  // namespace
}  // namespace lissom::row_products_test

#include "lissom/linalg/newton_matrix.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include <limits>
#include <random>

#include "tests/allocation_counter.hpp"

namespace lissom {
namespace {

using Storage = NewtonMatrix::Storage;

// A chain of blocks of `size` that overlap by one row, as bodies that share a joint; numbers at random with
// a strong diagonal.
struct Chain {
  int n = 0;
  std::vector<MatrixBlock> blocks;
  std::vector<Eigen::MatrixXd> values;
  Eigen::MatrixXd dense;

  Chain(int links, int size) : n(links * (size - 1) + 1), dense(Eigen::MatrixXd::Zero(n, n)) {
    std::mt19937 generator(7);
    std::normal_distribution<double> normal;
    for (int link = 0; link < links; ++link) {
      MatrixBlock block;
      // not in order, so that rows are scattered
      for (int i = size - 1; i >= 0; --i) block.rows.push_back(link * (size - 1) + i);
      for (int i = 0; i < size; ++i) block.columns.push_back(link * (size - 1) + i);
      Eigen::MatrixXd V(size, size);
      for (int c = 0; c < size; ++c)
        for (int r = 0; r < size; ++r)
          V(r, c) = normal(generator) + (block.rows[r] == block.columns[c] ? 3 : 0);
      for (int c = 0; c < size; ++c)
        for (int r = 0; r < size; ++r) dense(block.rows[r], block.columns[c]) += V(r, c);
      blocks.push_back(block);
      values.push_back(V);
    }
  }

  void fill(NewtonMatrix& matrix, double factor = 1) const {
    matrix.set_zero();
    for (size_t b = 0; b < blocks.size(); ++b) matrix.add(static_cast<int>(b), values[b], factor);
  }
};

TEST(NewtonMatrix, SumsOverlappingBlocksAndSolvesAsEigenDoes) {
  // 13: our own LU, 61: LAPACK's
  for (const int links : {3, 15})
    for (const Storage storage : {Storage::Dense, Storage::Sparse}) {
      const Chain chain(links, 5);
      NewtonMatrix matrix(chain.n, chain.blocks, storage);
      EXPECT_EQ(matrix.is_sparse(), storage == Storage::Sparse);
      for (const double factor : {1.0, -2.5}) {
        chain.fill(matrix, factor);
        // sums of two numbers in another order at most
        EXPECT_LT((matrix.dense() - factor * chain.dense).cwiseAbs().maxCoeff(), 1e-14);
        ASSERT_TRUE(matrix.factorise());
        const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(chain.n, -1, 2);
        Eigen::VectorXd x = b, y(chain.n);
        matrix.solve_in_place(x);
        // condition below 1e3
        EXPECT_LT((x - (factor * chain.dense).partialPivLu().solve(b)).norm(), 1e-11 * x.norm());
        matrix.multiply(x, y);
        EXPECT_LT((y - b).norm(), 1e-12 * b.norm());
      }
    }
}

TEST(NewtonMatrix, IsSparseWhereThatPaysOnly) {
  const Chain chain(200, 6), small(5, 6), full(1, 300);
  EXPECT_TRUE(NewtonMatrix(chain.n, chain.blocks).is_sparse());
  EXPECT_FALSE(NewtonMatrix(small.n, small.blocks).is_sparse());
  EXPECT_FALSE(NewtonMatrix(full.n, full.blocks).is_sparse());
}

TEST(NewtonMatrix, SaysWhichUnknownNothingDetermines) {
  for (const int links : {3, 15})
    for (const Storage storage : {Storage::Dense, Storage::Sparse}) {
      const Chain chain(links, 5);
      std::vector<MatrixBlock> blocks = chain.blocks;
      // one more unknown, whose row repeats another one: a redundant constraint
      const int n = chain.n + 1;
      std::vector<int> all(n);
      for (int i = 0; i < n; ++i) all[i] = i;
      blocks.push_back({{n - 1}, all});
      blocks.push_back({all, {n - 1}});
      NewtonMatrix matrix(n, blocks, storage);
      chain.fill(matrix);
      Eigen::MatrixXd row = Eigen::MatrixXd::Zero(1, n);
      row.leftCols(n - 1) = chain.dense.row(4) * 0.3;
      matrix.add(static_cast<int>(chain.blocks.size()), row);
      EXPECT_FALSE(matrix.factorise());
      EXPECT_EQ(matrix.singular_row(), n - 1);
      // regular once its own entry is there
      row.setZero();
      row(0, n - 1) = 1;
      matrix.add(static_cast<int>(chain.blocks.size()), row);
      EXPECT_TRUE(matrix.factorise());
    }
}

TEST(NewtonMatrix, RowsAndColumnsOfDifferentUnitsAreNotSingular) {
  for (const int links : {3, 15})
    for (const Storage storage : {Storage::Dense, Storage::Sparse}) {
      const Chain chain(links, 5);
      // stiffness in N/m beside constraints in metres, amplitudes beside positions
      Eigen::VectorXd left(chain.n), right(chain.n);
      for (int i = 0; i < chain.n; ++i) {
        left[i] = std::pow(10.0, (i * 7) % 23 - 11);
        right[i] = std::pow(10.0, (i * 5) % 17 - 8);
      }
      NewtonMatrix matrix(chain.n, chain.blocks, storage);
      matrix.set_zero();
      for (size_t b = 0; b < chain.blocks.size(); ++b) {
        Eigen::MatrixXd V = chain.values[b];
        for (int c = 0; c < V.cols(); ++c)
          for (int r = 0; r < V.rows(); ++r)
            V(r, c) *= left[chain.blocks[b].rows[r]] * right[chain.blocks[b].columns[c]];
        matrix.add(static_cast<int>(b), V);
      }
      EXPECT_TRUE(matrix.factorise()) << links;
    }
}

TEST(NewtonMatrix, NumbersThatAreNotFiniteAreNotFactorised) {
  for (const Storage storage : {Storage::Dense, Storage::Sparse})
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      Chain chain(3, 5);
      chain.values[1](2, 3) = bad;
      NewtonMatrix matrix(chain.n, chain.blocks, storage);
      chain.fill(matrix);
      EXPECT_FALSE(matrix.factorise());
      EXPECT_EQ(matrix.singular_row(), chain.blocks[1].rows[2]);
    }
}

#if LISSOM_COUNTS_MALLOC
TEST(NewtonMatrix, DoesNotAllocateAfterConstruction) {
  for (const int links : {3, 15})
    for (const Storage storage : {Storage::Dense, Storage::Sparse}) {
      const Chain chain(links, 5);
      NewtonMatrix matrix(chain.n, chain.blocks, storage);
      Eigen::VectorXd x = Eigen::VectorXd::Ones(chain.n);
      chain.fill(matrix);
      ASSERT_TRUE(matrix.factorise());
      matrix.solve_in_place(x);
      const long before = test::allocations;
      for (int repeat = 0; repeat < 10; ++repeat) {
        chain.fill(matrix);
        // UMFPACK keeps its factors in memory of its own, new with every factorisation
        if (storage == Storage::Dense) {
          ASSERT_TRUE(matrix.factorise());
        }
        matrix.solve_in_place(x);
      }
      EXPECT_EQ(test::allocations - before, 0) << links;
    }
}
#endif

}  // namespace
}  // namespace lissom

#include "lissom/linalg/newton_matrix.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <limits>
#include <random>

#include "tests/allocation_counter.hpp"

namespace lissom::newton_matrix_test {
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
  // 13 and 61 rows
  for (const int links : {3, 15})
    for (const Storage storage : {Storage::Dense, Storage::Banded, Storage::Sparse}) {
      const Chain chain(links, 5);
      NewtonMatrix matrix(chain.n, chain.blocks, storage);
      EXPECT_EQ(matrix.storage(), storage);
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

// A tree of blocks, each of which meets two others: no order makes its band narrow.
std::vector<MatrixBlock> tree(int links, int size) {
  std::vector<MatrixBlock> blocks;
  for (int link = 0; link < links; ++link) {
    std::vector<int> rows = {link == 0 ? 0 : (link - 1) / 2 * size + size - 1 - (link % 2)};
    for (int i = 0; i < size; ++i) rows.push_back(link * size + i);
    blocks.push_back({rows, rows});
  }
  return blocks;
}

TEST(NewtonMatrix, TakesTheStorageThatPays) {
  const Chain chain(200, 6), small(5, 6), full(1, 300);
  EXPECT_EQ(NewtonMatrix(chain.n, chain.blocks).storage(), Storage::Banded);
  EXPECT_EQ(NewtonMatrix(small.n, small.blocks).storage(), Storage::Dense);
  EXPECT_EQ(NewtonMatrix(full.n, full.blocks).storage(), Storage::Dense);
  EXPECT_EQ(NewtonMatrix(600 * 6, tree(600, 6)).storage(), Storage::Sparse);
}

// The chain made symmetric, in blocks whose rows are their columns.
struct SymmetricChain : Chain {
  SymmetricChain(int links, int size, double diagonal) : Chain(links, size) {
    dense.setZero();
    for (size_t b = 0; b < blocks.size(); ++b) {
      blocks[b].rows = blocks[b].columns;
      values[b] = Eigen::MatrixXd(values[b] + values[b].transpose()) / 2;
      values[b].diagonal().array() += diagonal;
      for (int c = 0; c < size; ++c)
        for (int r = 0; r < size; ++r) dense(blocks[b].rows[r], blocks[b].columns[c]) += values[b](r, c);
    }
  }
};

TEST(NewtonMatrix, SymmetricOnesAreSolvedFromOneHalfWhetherDefiniteOrNot) {
  // sizes of blocks: one for each width that has a loop of its own, and one beyond
  for (const int size : {5, 9, 11, 14, 20})
    for (const double diagonal : {20.0, 0.0})
      for (const Storage storage : {Storage::Dense, Storage::Banded}) {
        const SymmetricChain chain(8, size, diagonal);
        const double smallest = chain.dense.selfadjointView<Eigen::Lower>().eigenvalues().minCoeff();
        ASSERT_EQ(smallest > 0, diagonal > 0);
        NewtonMatrix matrix(chain.n, chain.blocks, storage, NewtonMatrix::Symmetry::Symmetric);
        EXPECT_TRUE(matrix.is_symmetric());
        chain.fill(matrix);
        EXPECT_LT((matrix.dense() - chain.dense).cwiseAbs().maxCoeff(), 1e-13);
        ASSERT_TRUE(matrix.factorise());
        const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(chain.n, -1, 2);
        Eigen::VectorXd x = b, y(chain.n);
        matrix.solve_in_place(x);
        // condition up to about 1e4 where indefinite
        EXPECT_LT((x - chain.dense.partialPivLu().solve(b)).norm(), 1e-10 * x.norm());
        matrix.multiply(x, y);
        EXPECT_LT((y - b).norm(), 1e-11 * b.norm());
      }
}

TEST(NewtonMatrix, OfASymmetricBlockAndItsTransposeEachEntryCountsOnce) {
  Eigen::MatrixXd A(2, 3), D = Eigen::MatrixXd::Identity(5, 5) * 9;
  A << 1, 2, 3, 4, 5, 6;
  // the second pair overlaps its own transpose
  const std::vector<MatrixBlock> blocks = {{{0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}},
                                           {{3, 0}, {1, 4, 2}},
                                           {{1, 4, 2}, {3, 0}},
                                           {{0, 1}, {1, 2, 0}},
                                           {{1, 2, 0}, {0, 1}}};
  Eigen::MatrixXd sum = D;
  for (const int b : {1, 3})
    for (int r = 0; r < 2; ++r)
      for (int c = 0; c < 3; ++c) {
        sum(blocks[b].rows[r], blocks[b].columns[c]) += A(r, c);
        sum(blocks[b].columns[c], blocks[b].rows[r]) += A(r, c);
      }
  for (const Storage storage : {Storage::Dense, Storage::Banded}) {
    NewtonMatrix matrix(5, blocks, storage, NewtonMatrix::Symmetry::Symmetric);
    matrix.set_zero();
    matrix.add(0, D);
    for (const int b : {1, 3}) {
      matrix.add(b, A);
      matrix.add(b + 1, Eigen::MatrixXd(A.transpose()));
    }
    EXPECT_LT((matrix.dense() - sum).cwiseAbs().maxCoeff(), 1e-15);
  }
}

TEST(NewtonMatrix, ASymmetricOneThatIsNotFiniteIsSingular) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    for (const Storage storage : {Storage::Dense, Storage::Banded}) {
      const SymmetricChain chain(5, 6, 20);
      NewtonMatrix matrix(chain.n, chain.blocks, storage, NewtonMatrix::Symmetry::Symmetric);
      for (const int place : {0, 3, 5}) {
        chain.fill(matrix);
        Eigen::MatrixXd V = Eigen::MatrixXd::Zero(6, 6);
        V(place, place) = bad;
        matrix.add(2, V);
        EXPECT_FALSE(matrix.factorise());
        EXPECT_EQ(matrix.singular_row(), chain.blocks[2].rows[place]);
      }
    }
}

TEST(NewtonMatrix, SaysWhichUnknownNothingDetermines) {
  for (const int links : {3, 15})
    for (const Storage storage : {Storage::Dense, Storage::Banded, Storage::Sparse}) {
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
    for (const Storage storage : {Storage::Dense, Storage::Banded, Storage::Sparse}) {
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
  for (const Storage storage : {Storage::Dense, Storage::Banded, Storage::Sparse})
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
    for (const Storage storage : {Storage::Dense, Storage::Banded, Storage::Sparse}) {
      const Chain chain(links, 5);
      NewtonMatrix matrix(chain.n, chain.blocks, storage);
      Eigen::VectorXd x = Eigen::VectorXd::Ones(chain.n);
      chain.fill(matrix);
      ASSERT_TRUE(matrix.factorise());
      matrix.solve_in_place(x);
      const long before = test::allocations;
      for (int repeat = 0; repeat < 10; ++repeat) {
        chain.fill(matrix);
        // a sparse factorisation makes room for its factors anew, a band for a refused attempt
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
}  // namespace lissom::newton_matrix_test

// Our numerical factorisation against Eigen's, and its tasks by themselves.
#include "lissom/linalg/supernodal.hpp"

#include <gtest/gtest.h>
#include <Eigen/SparseCholesky>

#include <random>

#include "lissom/core/parallel.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/cholesky.hpp"
#include "lissom/linalg/ordering.hpp"
#include "lissom/linalg/symbolic.hpp"
#include "tests/linalg/test_matrices.hpp"

namespace lissom::supernodal_test {
namespace {

using test::laplacian;

// sets the number of threads for a test and puts it back
class Threads {
 public:
  explicit Threads(int count) : before_(thread_count()) { set_thread_count(count); }
  ~Threads() { set_thread_count(before_); }

 private:
  int before_;
};

SymmetricMatrix from_dense(const Eigen::MatrixXd& dense) {
  const Eigen::MatrixXd lower = dense.triangularView<Eigen::Lower>();
  SymmetricMatrix A{lower.sparseView()};
  A.lower.makeCompressed();
  return A;
}

// a dense positive definite matrix with eigenvalues between n and about 5 n
SymmetricMatrix dense_matrix(int n) {
  const Eigen::MatrixXd R = Eigen::MatrixXd::Random(n, n);
  return from_dense(R * R.transpose() + n * Eigen::MatrixXd::Identity(n, n));
}

// copies of A without any connection
SymmetricMatrix forest(const SymmetricMatrix& A, int copies) {
  const int n = A.size();
  std::vector<Eigen::Triplet<double>> entries;
  for (int c = 0; c < copies; ++c)
    for (int j = 0; j < n; ++j)
      for (SparseMatrix::InnerIterator it(A.lower, j); it; ++it)
        entries.emplace_back(c * n + it.row(), c * n + j, it.value() * (1 + 0.01 * (c % 17)));
  SymmetricMatrix F{SparseMatrix(n * copies, n * copies)};
  F.lower.setFromTriplets(entries.begin(), entries.end());
  return F;
}

// a dense block of `hub` rows, with which every point of a grid is connected: one huge supernode on top
SymmetricMatrix grid_with_hub(int side, int hub) {
  const SymmetricMatrix grid = laplacian(side, side, side);
  const int n = grid.size();
  std::vector<Eigen::Triplet<double>> entries;
  for (int j = 0; j < n; ++j) {
    for (SparseMatrix::InnerIterator it(grid.lower, j); it; ++it)
      entries.emplace_back(it.row(), j, it.value());
    entries.emplace_back(n + j % hub, j, -0.01);
  }
  for (int j = 0; j < hub; ++j) {
    for (int i = j; i < hub; ++i) entries.emplace_back(n + i, n + j, i == j ? 2.0 * hub : 1.0 / (1 + i + j));
  }
  SymmetricMatrix A{SparseMatrix(n + hub, n + hub)};
  A.lower.setFromTriplets(entries.begin(), entries.end());
  return A;
}

// P A P^T, its lower triangle, in the order in which our factorisation eliminates.
SparseMatrix in_order_of_elimination(const SymmetricMatrix& A, std::vector<int>& order) {
  order = analyse_supernodes(A, nested_dissection(A, {})).structure.order;
  std::vector<int> place(order.size());
  for (size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<int>(k);
  std::vector<Eigen::Triplet<double>> entries;
  for (int j = 0; j < A.size(); ++j)
    for (SparseMatrix::InnerIterator it(A.lower, j); it; ++it)
      entries.emplace_back(std::max(place[it.row()], place[j]), std::min(place[it.row()], place[j]),
                           it.value());
  SparseMatrix lower(A.size(), A.size());
  lower.setFromTriplets(entries.begin(), entries.end());
  return lower;
}

// Compares L with that of Eigen's simplicial factorisation in the same order, solves, and expects the same
// bits for every number of threads.
void check(const SymmetricMatrix& A) {
  std::vector<int> order;
  const Eigen::SimplicialLLT<SparseMatrix, Eigen::Lower, Eigen::NaturalOrdering<int>> eigen(
      in_order_of_elimination(A, order));
  ASSERT_EQ(eigen.info(), Eigen::Success);
  const SparseMatrix L = eigen.matrixL();
  const double scale = L.coeffs().cwiseAbs().maxCoeff();
  const int n = A.size(), k = 5;
  const Eigen::MatrixXd X = Eigen::MatrixXd::Random(n, k);
  Eigen::MatrixXd B(n, k);
  multiply(A, X, B);

  SparseMatrix first_L;
  Eigen::MatrixXd first_Y;
  for (int threads : {1, 2, 4}) {
    const Threads set(threads);
    const Cholesky ours(A);
    const SparseMatrix mine = ours.lower_factor();
    Eigen::MatrixXd Y = B;
    ours.solve_in_place(Y);
    if (threads == 1) {
      // sums of at most a few thousand products in another order, condition numbers below 1000
      const SparseMatrix difference = mine - L;
      EXPECT_LT(difference.coeffs().abs().maxCoeff(), 1e-13 * scale);
      // entries that supernodes store and L does not have are zero to the bit
      EXPECT_LE((mine.coeffs() != 0).count(), L.nonZeros());
      EXPECT_LT((Y - X).cwiseAbs().maxCoeff(), 1e-11);
      first_L = mine;
      first_Y = Y;
    } else {
      EXPECT_TRUE((mine.coeffs() == first_L.coeffs()).all()) << threads << " threads";
      EXPECT_TRUE((Y.array() == first_Y.array()).all()) << threads << " threads";
    }
  }
}

TEST(Supernodal, AGridHasTheFactorOfEigen) {
  check(laplacian(23, 22, 21));
}

TEST(Supernodal, OneHugeSupernodeAboveManySmallOnesHasTheFactorOfEigen) {
  check(grid_with_hub(11, 900));
}

TEST(Supernodal, AForestOfTinyTreesHasTheFactorOfEigen) {
  check(forest(laplacian(3, 2, 1), 3000));
}

TEST(Supernodal, AForestOfLargerTreesHasTheFactorOfEigen) {
  check(forest(laplacian(9, 9, 9), 7));
}

TEST(Supernodal, ADenseMatrixHasTheFactorOfEigen) {
  check(dense_matrix(701));
}

TEST(Supernodal, ADiagonalMatrixHasTheFactorOfEigen) {
  check(test::diagonal_matrix(Eigen::VectorXd::LinSpaced(500, 1, 3)));
}

TEST(Supernodal, AMatrixOfOneRowHasTheFactorOfEigen) {
  const SymmetricMatrix A = from_dense(Eigen::MatrixXd::Constant(1, 1, 4.0));
  check(A);
  EXPECT_EQ(Cholesky(A).lower_factor().coeff(0, 0), 2.0);
}

TEST(Supernodal, AnyNumberOfRightHandSidesIsSolvedForAlsoInABlockOfALargerMatrix) {
  const SymmetricMatrix A = laplacian(16, 15, 14);
  const Threads set(2);
  const Cholesky factor(A);
  for (int k : {1, 2, 3, 8, 16, 64, 65, 130, 7}) {
    const Eigen::MatrixXd X = Eigen::MatrixXd::Random(A.size(), k);
    Eigen::MatrixXd all = Eigen::MatrixXd::Constant(A.size() + 3, k + 1, 99.0);
    all.block(2, 0, A.size(), k) = A.full() * X;
    factor.solve_in_place(all.block(2, 0, A.size(), k));
    EXPECT_LT((all.block(2, 0, A.size(), k) - X).cwiseAbs().maxCoeff(), 1e-12) << k;
    EXPECT_TRUE((all.topRows(2).array() == 99).all() && (all.bottomRows(1).array() == 99).all() &&
                (all.col(k).array() == 99).all());
  }
}

TEST(Supernodal, MoreThreadsThanAtTheFactorisationMayComeToTheSolve) {
  const SymmetricMatrix A = laplacian(16, 15, 14);
  const Threads one(1);
  const Cholesky factor(A);
  const Threads four(4);
  Eigen::MatrixXd B = A.full() * Eigen::MatrixXd::Ones(A.size(), 3);
  factor.solve_in_place(B);
  EXPECT_LT((B - Eigen::MatrixXd::Ones(A.size(), 3)).cwiseAbs().maxCoeff(), 1e-12);
}

// The first row, in the order of elimination, at which the leading part of A is no longer positive definite:
// the smallest k for which an L D L' of the first k rows has a pivot that is not positive.
int first_indefinite_row(const SymmetricMatrix& A) {
  std::vector<int> order;
  const SparseMatrix lower = in_order_of_elimination(A, order);
  const Eigen::SimplicialLDLT<SparseMatrix, Eigen::Lower, Eigen::NaturalOrdering<int>> eigen(lower);
  const Eigen::VectorXd pivots = eigen.vectorD();
  for (int k = 0; k < A.size(); ++k)
    if (!(pivots[k] > 0)) return order[k];
  return -1;
}

// That row is reported for each number of threads; no run may hang.
void check_failure(const SymmetricMatrix& A) {
  const auto failing_rows = [&] {
    try {
      const Cholesky factor(A);
    } catch (const NotPositiveDefinite& e) {
      return e.rows;
    }
    return std::vector<int>{};
  };
  const std::vector<int> expected = {first_indefinite_row(A)};
  ASSERT_GE(expected[0], 0);
  for (int threads : {1, 2, 4}) {
    const Threads set(threads);
    for (int repeat = 0; repeat < 2; ++repeat) EXPECT_EQ(failing_rows(), expected) << threads << " threads";
  }
}

TEST(Supernodal, TheFirstNegativePivotIsReportedWhereverInTheTreeItIs) {
  // 40 points spread over subtrees and separators, one at a time, and then two together
  const SymmetricMatrix A = laplacian(15, 15, 15);
  for (int row = 7; row < A.size(); row += 347) {
    SymmetricMatrix B = A;
    B.lower.coeffRef(row, row) = -1;
    check_failure(B);
    B.lower.coeffRef(A.size() - row, A.size() - row) = -1;
    check_failure(B);
  }
}

TEST(Supernodal, AnIndefiniteDenseMatrixAndAForestAreReported) {
  SymmetricMatrix A = dense_matrix(600);
  A.lower.coeffRef(599, 599) = 0.1;
  check_failure(A);
  SymmetricMatrix F = forest(laplacian(9, 9, 9), 6);
  for (int c = 0; c < 6; ++c) F.lower.coeffRef(c * 729 + 300, c * 729 + 300) = -2;
  check_failure(F);
}

TEST(Supernodal, AFactorRecoversFromAFailure) {
  const SymmetricMatrix A = laplacian(14, 14, 14);
  SymmetricMatrix bad = A;
  bad.lower.coeffRef(1000, 1000) = -1;
  const Threads set(2);
  Cholesky factor(A);
  EXPECT_THROW(factor.refactor(bad), NotPositiveDefinite);
  factor.refactor(A);
  Eigen::MatrixXd B = A.full() * Eigen::MatrixXd::Ones(A.size(), 2);
  factor.solve_in_place(B);
  EXPECT_LT((B - Eigen::MatrixXd::Ones(A.size(), 2)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(DependentTasks, EveryTaskRunsAfterThoseThatItWaitsFor) {
  // task t waits for t/2 and t-1-t%7, in turns; what it has done is seen by those after it
  const int count = 5000;
  for (int threads : {1, 2, 4}) {
    DependentTasks tasks(count);
    for (int repeat = 0; repeat < 3; ++repeat) {
      std::vector<int> finished(count, 0), stage(count, 0);
      const int failed = tasks.run(threads, [&](int t, int) {
        for (; stage[t] < 2 && t > 0; ++stage[t]) {
          const int needed = stage[t] == 0 ? t / 2 : std::max(0, t - 1 - t % 7);
          if (!tasks.done(needed)) return needed;
          if (!finished[needed]) return DependentTasks::kFailed;
        }
        ++finished[t];
        return DependentTasks::kDone;
      });
      EXPECT_EQ(failed, -1);
      EXPECT_EQ(std::count(finished.begin(), finished.end(), 1), count);
    }
  }
}

TEST(DependentTasks, TheLowestFailureIsReported) {
  DependentTasks tasks(1000);
  for (int repeat = 0; repeat < 50; ++repeat)
    EXPECT_EQ(tasks.run(4,
                        [&](int t, int) {
                          if (t > 400 && !tasks.done(t - 200)) return t - 200;
                          return t % 331 == 330 ? DependentTasks::kFailed : DependentTasks::kDone;
                        }),
              330);
}

TEST(Blas, AProductIsThatOfEigenForEveryShapeAndEveryNumberOfThreads) {
  const int shapes[][3] = {{3, 4, 5},    {40000, 8, 30},  {30, 8, 40000}, {12, 40000, 9},
                           {1, 1, 1000}, {300, 200, 250}, {7, 5, 0},      {1, 1, 5'000'000}};
  for (const auto& [m, n, k] : shapes)
    for (int form = 0; form < 4; ++form) {
      const bool ta = form & 1, tb = form & 2;
      if (k > 1'000'000 && form != 1) continue;
      const Eigen::MatrixXd A = Eigen::MatrixXd::Random(ta ? k : m, ta ? m : k),
                            B = Eigen::MatrixXd::Random(tb ? n : k, tb ? k : n),
                            C0 = Eigen::MatrixXd::Random(m, n);
      const Eigen::MatrixXd AA = ta ? A.transpose() : A, BB = tb ? B.transpose() : B;
      for (double beta : {0.0, 1.0, 0.5}) {
        const Eigen::MatrixXd expected = -2.0 * (AA * BB) + beta * C0;
        Eigen::MatrixXd first;
        for (int threads : {1, 2, 4}) {
          const Threads set(threads);
          Eigen::MatrixXd C = C0;
          if (beta == 0) C.setConstant(std::nan(""));  // must not be read
          gemm(ta, tb, -2, A, B, beta, C);
          // a sum of k numbers of order one, whose errors add up like a random walk
          EXPECT_LT((C - expected).cwiseAbs().maxCoeff(), 1e-14 * (10 + 5 * std::sqrt(k)));
          if (threads == 1) first = C;
          EXPECT_TRUE((C.array() == first.array()).all()) << m << " " << n << " " << k;
        }
      }
    }
}

TEST(Blas, OneThreadForBlasLeavesOpenMpItsOwn) {
  const Threads set(3);
  for (int threads : {2, 1}) {
    const BlasThreads guard(threads);
    EXPECT_EQ(blas_info().threads, threads);
  }
  EXPECT_EQ(thread_count(), 3);
}

}  // namespace
}  // namespace lissom::supernodal_test

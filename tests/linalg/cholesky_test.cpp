#include "lissom/linalg/cholesky.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "lissom/core/resources.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/ordering.hpp"
#include "tests/linalg/test_matrices.hpp"

namespace lissom::cholesky_test {
namespace {

using test::laplacian;

TEST(Sparse, TheProductWithHalfAMatrixIsThatOfTheWhole) {
  const SymmetricMatrix A = laplacian(4, 5, 6);
  for (int k : {1, 2, 3, 4, 5, 7, 8, 11}) {
    const Eigen::MatrixXd X = Eigen::MatrixXd::Random(A.size(), k);
    Eigen::MatrixXd Y(A.size(), k);
    multiply(A, X, Y);
    EXPECT_LT((Y - A.full() * X).cwiseAbs().maxCoeff(), 1e-14);  // sums of seven numbers of order one
  }
}

TEST(Sparse, ASubmatrixKeepsTheRowsAskedFor) {
  const SymmetricMatrix A = laplacian(3, 3, 3);
  const std::vector<int> keep = {0, 1, 5, 13, 26};
  const Eigen::MatrixXd full = Eigen::MatrixXd(SparseMatrix(A.full())),
                        part = Eigen::MatrixXd(SparseMatrix(submatrix(A, keep).full()));
  for (size_t i = 0; i < keep.size(); ++i)
    for (size_t j = 0; j < keep.size(); ++j) EXPECT_EQ(part(i, j), full(keep[i], keep[j]));
}

TEST(Ordering, EveryRowOccursOnceAndRowsOfANodeFollowEachOther) {
  const SymmetricMatrix A = laplacian(9, 9, 9);
  std::vector<int> group(A.size());
  for (int i = 0; i < A.size(); ++i) group[i] = 100 - i / 3 % 50 + (i / 150) * 1000;
  const std::vector<int> order = nested_dissection(A, group);
  std::vector<int> seen(A.size(), 0);
  for (int row : order) ++seen[row];
  for (int count : seen) EXPECT_EQ(count, 1);
  for (size_t k = 1; k < order.size(); ++k)
    if (group[order[k]] == group[order[k - 1]]) {
      EXPECT_LT(order[k - 1], order[k]);
    }
}

TEST(Cholesky, SolvesForManyRightHandSidesAtOnce) {
  const SymmetricMatrix A = laplacian(12, 11, 10);
  const Cholesky factor(A);
  const Eigen::MatrixXd X = Eigen::MatrixXd::Random(A.size(), 13);
  Eigen::MatrixXd B = A.full() * X;
  factor.solve_in_place(B);
  EXPECT_LT((B - X).cwiseAbs().maxCoeff(), 1e-12);  // the condition number is about 60
}

TEST(Cholesky, RefactorsWithTheOldOrdering) {
  SymmetricMatrix A = laplacian(6, 6, 6);
  Cholesky factor(A);
  A.lower *= 2;
  factor.refactor(A);
  Eigen::MatrixXd B = A.full() * Eigen::MatrixXd::Ones(A.size(), 1);
  factor.solve_in_place(B);
  EXPECT_LT((B - Eigen::MatrixXd::Ones(A.size(), 1)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Cholesky, AnIndefiniteMatrixIsNamedAsSuch) {
  SymmetricMatrix A = laplacian(4, 4, 4);
  A.lower.coeffRef(17, 17) = -1;
  try {
    Cholesky factor(A);
    FAIL() << "expected NotPositiveDefinite";
  } catch (const NotPositiveDefinite& e) {
    EXPECT_FALSE(e.rows.empty());
    EXPECT_NE(std::string(e.what()).find("not positive definite"), std::string::npos);
  }
}

TEST(Cholesky, RowsThatHangLooseAreFound) {
  // two springs in a row with nothing that holds them: singular, though every diagonal entry is positive
  SymmetricMatrix A{SparseMatrix(3, 3)};
  const std::vector<Eigen::Triplet<double>> entries = {
      {0, 0, 1.}, {1, 0, -1.}, {1, 1, 2.}, {2, 1, -1.}, {2, 2, 1.}};
  A.lower.setFromTriplets(entries.begin(), entries.end());
  try {
    Cholesky factor(A);
    FAIL() << "expected NotPositiveDefinite";
  } catch (const NotPositiveDefinite& e) {
    EXPECT_EQ(e.rows.size(), 1u);
  }
}

TEST(Cholesky, NaNIsRefused) {
  SymmetricMatrix A = laplacian(3, 3, 3);
  A.lower.valuePtr()[5] = std::nan("");
  EXPECT_THROW(Cholesky{A}, Error);
}

TEST(Cholesky, TooLittleMemoryIsSaidBeforeTheAttemptWithWhatWouldBeNeeded) {
  const SymmetricMatrix A = laplacian(40, 40, 40);
  rlimit old{};
  getrlimit(RLIMIT_AS, &old);
  rlimit small = old;
  // leave room for the analysis, but not for the factor (about 100 MB)
  const size_t all = available_memory_bytes();
  ASSERT_GT(all, size_t{1} << 30);
  FILE* statm = std::fopen("/proc/self/statm", "r");
  unsigned long pages = 0;
  ASSERT_EQ(std::fscanf(statm, "%lu", &pages), 1);
  std::fclose(statm);
  small.rlim_cur = pages * 4096 + (60ul << 20);
  setrlimit(RLIMIT_AS, &small);
  std::string message;
  try {
    Cholesky factor(A);
  } catch (const OutOfMemory& e) {
    message = e.what();
  }
  setrlimit(RLIMIT_AS, &old);
  EXPECT_NE(message.find("needs"), std::string::npos) << message;
  EXPECT_NE(message.find("are free"), std::string::npos) << message;
}

TEST(Blas, TheLibraryLoadedIsOpenBlas) {
  const BlasInfo info = blas_info();
  EXPECT_TRUE(info.is_openblas) << info.file;
  EXPECT_NE(info.file.find("openblas"), std::string::npos) << info.file;
}

}  // namespace
}  // namespace lissom::cholesky_test

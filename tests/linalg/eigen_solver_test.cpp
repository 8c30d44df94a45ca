#include "lissom/linalg/eigen_solver.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "tests/linalg/test_matrices.hpp"

extern "C" {
void dsaupd_(int* ido, const char* bmat, int* n, const char* which, int* nev, double* tol, double* resid,
             int* ncv, double* v, int* ldv, int* iparam, int* ipntr, double* workd, double* workl,
             int* lworkl, int* info);
void dseupd_(int* rvec, const char* howmny, int* select, double* d, double* z, int* ldz, double* sigma,
             const char* bmat, int* n, const char* which, int* nev, double* tol, double* resid, int* ncv,
             double* v, int* ldv, int* iparam, int* ipntr, double* workd, double* workl, int* lworkl,
             int* info);
}

namespace lissom::eigen_solver_test {
namespace {

using test::diagonal_matrix;
using test::laplacian;
using test::laplacian_eigenvalues;

struct Problem {
  SymmetricMatrix K, M;
  double shift;
  Cholesky factor;
  Problem(SymmetricMatrix K_, SymmetricMatrix M_, double shift_)
      : K(std::move(K_)), M(std::move(M_)), shift(shift_), factor(add(K, -shift_, M)) {}
  EigenPairs lowest(int count, EigenSolverOptions options = {}) const {
    EigenSolver solver(K, M, factor, shift, Eigen::MatrixXd(K.size(), 0), options);
    return solver.lowest(count);
  }
};

SymmetricMatrix identity(int n) {
  return diagonal_matrix(Eigen::VectorXd::Ones(n));
}

// The reference: ARPACK in shift-invert mode on the same factorisation.
std::vector<double> arpack_lowest(const Problem& p, int count) {
  int n = p.K.size(), ido = 0, nev = count, ncv = std::min(n, 2 * count + 20), info = 0;
  int lworkl = ncv * (ncv + 8), iparam[11] = {}, ipntr[14] = {};
  double tol = 1e-12, sigma = p.shift;
  iparam[0] = 1, iparam[2] = 1000, iparam[3] = 1, iparam[6] = 3;
  std::vector<double> resid(n), v(size_t(n) * ncv), workd(3 * n), workl(lworkl);
  while (true) {
    dsaupd_(&ido, "G", &n, "LM", &nev, &tol, resid.data(), &ncv, v.data(), &n, iparam, ipntr, workd.data(),
            workl.data(), &lworkl, &info);
    if (ido == 99) break;
    Eigen::Map<Eigen::VectorXd> x(&workd[ipntr[0] - 1], n), y(&workd[ipntr[1] - 1], n);
    if (ido == 2) {
      y = p.M.full() * x;
      continue;
    }
    Eigen::MatrixXd b = ido == 1 ? Eigen::MatrixXd(Eigen::Map<Eigen::VectorXd>(&workd[ipntr[2] - 1], n))
                                 : Eigen::MatrixXd(p.M.full() * x);
    p.factor.solve_in_place(b);
    y = b;
  }
  EXPECT_EQ(info, 0);
  int rvec = 0, ldz = n;
  std::vector<int> select(ncv);
  std::vector<double> d(nev);
  dseupd_(&rvec, "A", select.data(), d.data(), v.data(), &ldz, &sigma, "G", &n, "LM", &nev, &tol,
          resid.data(), &ncv, v.data(), &n, iparam, ipntr, workd.data(), workl.data(), &lworkl, &info);
  EXPECT_EQ(info, 0);
  std::sort(d.begin(), d.end());
  return d;
}

// eigenvalues of order one and a condition number of about 1e3: 1e-11 is a hundred times round-off
void expect_values(const EigenPairs& pairs, const std::vector<double>& exact, int count,
                   const std::string& what) {
  ASSERT_EQ(pairs.values.size(), count);
  for (int i = 0; i < count; ++i) EXPECT_NEAR(pairs.values[i], exact[i], 1e-11) << what << ", mode " << i;
  EXPECT_LT(pairs.residuals.maxCoeff(), 2e-9) << what;
  EXPECT_LT(pairs.orthogonality, 1e-12) << what;
}

TEST(EigenSolver, FindsEveryCopyOfMultipleEigenvaluesWhateverTheBlock) {
  const Problem p(laplacian(12, 12, 12), identity(12 * 12 * 12), -0.01);
  const auto exact = laplacian_eigenvalues(12, 12, 12);
  for (int block : {1, 2, 3, 8}) {
    EigenSolverOptions options;
    options.block = block;
    for (int count : {1, 2, 10, 40})
      expect_values(p.lowest(count, options), exact, count, fmt::format("block {}", block));
  }
}

TEST(EigenSolver, RecoversAnEigenvalueWithMoreCopiesThanTheBlockHasColumns) {
  // sixteen copies of the lowest eigenvalue, in uncoupled blocks of a matrix, seen through a block of one
  Eigen::VectorXd d(600);
  for (int i = 0; i < d.size(); ++i) d[i] = i < 16 ? 1.0 : 1.0 + 0.05 * (i - 15);
  const Problem p(diagonal_matrix(d), identity(600), -0.5);
  EigenSolverOptions options;
  options.block = 1;
  const EigenPairs pairs = p.lowest(20, options);
  for (int i = 0; i < 20; ++i) EXPECT_NEAR(pairs.values[i], d[i], 1e-11) << i;
  EXPECT_GT(pairs.recovered, 0);
}

// `first` copies of 1, then `second` copies of `value`, the others from `beyond` on.
Eigen::VectorXd two_clusters(int first, int second, double value, double beyond, int n = 300) {
  Eigen::VectorXd d(n);
  for (int i = 0; i < n; ++i)
    d[i] = i < first ? 1.0 : i < first + second ? value : beyond * (1 + 0.01 * (i - first - second));
  return d;
}

// A copy of the first cluster that is found late pushes one of the second cluster out of the range, and the
// last value in the range is the same before and after.
TEST(EigenSolver, FindsEveryCopyOfTwoClusters) {
  int spectra = 0, wrong = 0;
  for (const int first : {11, 17, 24, 40})
    for (const int second : {5, 40})
      for (const double value : {1.3, 20.0})
        for (const int count : {12, 18, 30}) {
          const Eigen::VectorXd d = two_clusters(first, second, value, 1e4);
          const Problem p(diagonal_matrix(d), identity(static_cast<int>(d.size())), -0.1);
          const EigenPairs pairs = p.lowest(count);
          ++spectra;
          // the smallest gap is 0.3, and residuals of 1e-9 leave far less than 1e-8 of a value
          const bool right =
              ((pairs.values - d.head(count)).array().abs() < 1e-8 * d.head(count).array()).all();
          if (!right) ++wrong;
          EXPECT_TRUE(right) << first << " times 1, " << second << " times " << value << ", " << count
                             << " asked for: mode " << count << " is " << pairs.values[count - 1];
          EXPECT_LT(pairs.orthogonality, 1e-11);
        }
  EXPECT_EQ(spectra, 48);
  EXPECT_EQ(wrong, 0);
}

TEST(EigenSolver, FindsEveryCopyAlsoInTheRangeOfALaterCall) {
  // the cluster of 40 lies beyond the first range, so that its check says nothing about it
  Eigen::VectorXd d(500);
  for (int i = 0; i < d.size(); ++i) d[i] = i < 12 ? 1 + 0.1 * i : i < 52 ? 3.0 : 4 + 0.2 * (i - 52);
  const Problem p(diagonal_matrix(d), identity(500), -0.1);
  for (const int block : {1, 3, 8}) {
    EigenSolverOptions options;
    options.block = block;
    EigenSolver solver(p.K, p.M, p.factor, p.shift, Eigen::MatrixXd(500, 0), options);
    for (const int count : {6, 10, 40, 60}) {
      const EigenPairs pairs = solver.lowest(count);
      for (int i = 0; i < count; ++i)
        EXPECT_NEAR(pairs.values[i], d[i], 1e-9) << "block " << block << ", mode " << i << " of " << count;
    }
  }
}

TEST(EigenSolver, AgreesWithArpack) {
  Eigen::VectorXd mass(14 * 9 * 7);
  for (int i = 0; i < mass.size(); ++i) mass[i] = 1 + 0.5 * std::sin(1.7 * i);
  const Problem p(laplacian(14, 9, 7), diagonal_matrix(mass), -0.02);
  const auto reference = arpack_lowest(p, 25);
  expect_values(p.lowest(25), reference, 25, "against ARPACK");
}

TEST(EigenSolver, GoesOnFromWhereItStoppedWhenMoreModesAreAskedFor) {
  const Problem p(laplacian(13, 12, 11), identity(13 * 12 * 11), -0.01);
  const auto exact = laplacian_eigenvalues(13, 12, 11);
  EigenSolver solver(p.K, p.M, p.factor, p.shift, Eigen::MatrixXd(p.K.size(), 0));
  const EigenPairs first = solver.lowest(10);
  const EigenPairs more = solver.lowest(40);
  expect_values(more, exact, 40, "continued");
  EigenSolverOptions same_block;
  same_block.block = 3;
  // the continued run re-uses the first space; only the check of residuals (10 solves) comes on top
  EXPECT_LT(more.solves, first.solves + p.lowest(40, same_block).solves);
}

// The basis comes near the whole space: what remains is smaller than a block, and no new block fits.
TEST(EigenSolver, GoesOnAlsoWhenTheBasisNearlyFillsTheSpace) {
  for (const int n : {140, 177, 200}) {
    Eigen::VectorXd exact(n);
    for (int i = 0; i < n; ++i) exact[i] = 1 + 0.7 * i + 0.01 * i * i;
    const Problem p(diagonal_matrix(exact), identity(n), -0.5);
    EigenSolverOptions options;
    options.block = 8;
    EigenSolver solver(p.K, p.M, p.factor, p.shift, Eigen::MatrixXd(n, 0), options);
    for (const int count : {9, 15, 17, 19, 20, 21, 22, 23, 26, 28, 29, 33, 36, 40, 60, 90, n}) {
      const EigenPairs pairs = solver.lowest(count);
      EXPECT_LT((pairs.values.array() / exact.head(count).array() - 1).abs().maxCoeff(), 1e-11)
          << n << ", " << count;
      EXPECT_LT(pairs.residuals.maxCoeff(), 2e-9) << n << ", " << count;
      EXPECT_LT(pairs.orthogonality, 1e-11) << n << ", " << count;
    }
  }
}

TEST(EigenSolver, ASmallBasisRestartsAndStillConverges) {
  const Problem p(laplacian(12, 11, 10), identity(12 * 11 * 10), -0.01);
  EigenSolverOptions options;
  options.max_basis = 36;
  const EigenPairs pairs = p.lowest(15, options);
  EXPECT_GT(pairs.restarts, 0);
  expect_values(pairs, laplacian_eigenvalues(12, 11, 10), 15, "restarted");
}

TEST(EigenSolver, TinyProblemsAreSolvedCompletely) {
  for (int n = 1; n <= 12; ++n) {
    const Problem p(laplacian(n, 1, 1), identity(n), -0.1);
    expect_values(p.lowest(n), laplacian_eigenvalues(n, 1, 1), n, fmt::format("n = {}", n));
  }
}

TEST(EigenSolver, KnownZeroModesAreTakenOver) {
  // a chain of masses free in space: the constant vector is the rigid mode
  const int n = 200;
  SymmetricMatrix K{SparseMatrix(n, n)};
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < n; ++i) {
    entries.emplace_back(i, i, i == 0 || i == n - 1 ? 1.0 : 2.0);
    if (i + 1 < n) entries.emplace_back(i + 1, i, -1.0);
  }
  K.lower.setFromTriplets(entries.begin(), entries.end());
  const SymmetricMatrix M = identity(n);
  const double shift = -1e-4;
  const Cholesky factor(add(K, -shift, M));
  const Eigen::MatrixXd rigid = Eigen::MatrixXd::Constant(n, 1, 1 / std::sqrt(double(n)));
  EigenSolver solver(K, M, factor, shift, rigid);
  const EigenPairs pairs = solver.lowest(8);
  for (int i = 0; i < 8; ++i)
    EXPECT_NEAR(pairs.values[i], 2 - 2 * std::cos(M_PI * i / n), 1e-13)
        << i;  // free chain; round-off of shift 1e-4
}

TEST(EigenSolver, AskingForMoreModesThanThereAreIsAnInputError) {
  const Problem p(laplacian(3, 1, 1), identity(3), -0.1);
  EXPECT_THROW(p.lowest(4), InputError);
  EXPECT_THROW(p.lowest(0), InputError);
}

TEST(EigenSolver, DenseAndLanczosAgree) {
  const Problem p(laplacian(7, 6, 5), identity(210), -0.01);
  const EigenPairs dense = dense_eigenpairs(p.K, p.M, 20);
  const EigenPairs lanczos = p.lowest(20);
  EXPECT_LT((dense.values - lanczos.values).cwiseAbs().maxCoeff(), 1e-11);
}

}  // namespace
}  // namespace lissom::eigen_solver_test

#include "lissom/linalg/schur.hpp"

#include <algorithm>

#include "lissom/core/error.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/fortran_blas.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Ref;
using Eigen::VectorXd;

namespace {

// LAPACK's matrices have at least one row.
int leading(const Ref<const MatrixXd>& A) {
  return static_cast<int>(std::max<Index>(1, A.outerStride()));
}

MatrixXd solve_triangular_sylvester(const Ref<const MatrixXd>& A, const char* op_a,
                                    const Ref<const MatrixXd>& B, const char* op_b, int sign, MatrixXd C) {
  const int m = static_cast<int>(A.rows()), n = static_cast<int>(B.rows());
  if (m == 0 || n == 0) return C;
  const int lda = leading(A), ldb = leading(B);
  double scale = 1;
  int info = 0;
  dtrsyl_(op_a, op_b, &sign, &m, &n, A.data(), &lda, B.data(), &ldb, C.data(), &m, &scale, &info);
  LISSOM_ASSERT(info >= 0);
  // a scale below one keeps numbers in range
  if (info > 0 || !(scale > 0) || !C.allFinite())
    fail("a matrix equation has no solution: two eigenvalues that must differ are the same to round-off");
  return C / scale;
}

}  // namespace

VectorXd balance_rows_and_columns(MatrixXd& A) {
  const int n = static_cast<int>(A.rows());
  VectorXd scale = VectorXd::Ones(n);
  if (n == 0) return scale;
  int low = 1, high = n, info = 0;
  dgebal_("S", &n, A.data(), &n, &low, &high, scale.data(), &info);
  LISSOM_ASSERT(info == 0);
  return scale;
}

RealSchur real_schur(MatrixXd A) {
  const int n = static_cast<int>(A.rows());
  LISSOM_ASSERT(A.cols() == n);
  if (!A.allFinite()) fail("a matrix whose eigenvalues are wanted has numbers that are not finite");
  RealSchur out;
  out.T = std::move(A);
  out.Q.resize(n, n);
  out.eigenvalues.resize(n);
  if (n == 0) return out;
  const BlasThreads one;
  VectorXd real(n), imaginary(n);
  int selected = 0, info = 0, query = -1;
  double best = 0;
  dgees_("V", "N", nullptr, &n, out.T.data(), &n, &selected, real.data(), imaginary.data(), out.Q.data(), &n,
         &best, &query, nullptr, &info);
  const int lwork = std::max(3 * n, static_cast<int>(best));
  VectorXd work(lwork);
  dgees_("V", "N", nullptr, &n, out.T.data(), &n, &selected, real.data(), imaginary.data(), out.Q.data(), &n,
         work.data(), &lwork, nullptr, &info);
  LISSOM_ASSERT(info >= 0);
  if (info > 0) fail("the eigenvalues of a matrix with {} rows were not found", n);
  out.eigenvalues.real() = real;
  out.eigenvalues.imag() = imaginary;
  return out;
}

int bring_to_top(RealSchur& schur, const std::vector<bool>& chosen) {
  const int n = static_cast<int>(schur.T.rows());
  LISSOM_ASSERT(static_cast<int>(chosen.size()) == n);
  if (n == 0) return 0;
  std::vector<int> select(chosen.begin(), chosen.end());
  VectorXd real(n), imaginary(n), work(std::max(1, n));
  int count = 0, info = 0, iwork = 0;
  const int lwork = std::max(1, n), liwork = 1;
  double s = 0, sep = 0;
  dtrsen_("N", "V", select.data(), &n, schur.T.data(), &n, schur.Q.data(), &n, real.data(), imaginary.data(),
          &count, &s, &sep, work.data(), &lwork, &iwork, &liwork, &info);
  LISSOM_ASSERT(info >= 0);
  if (info > 0) fail("eigenvalues that are to be separated are too close to each other");
  schur.eigenvalues.real() = real;
  schur.eigenvalues.imag() = imaginary;
  return count;
}

MatrixXd solve_sylvester(const Ref<const MatrixXd>& A, const Ref<const MatrixXd>& B, MatrixXd C) {
  return solve_triangular_sylvester(A, "N", B, "N", -1, std::move(C));
}

MatrixXd solve_lyapunov(const Ref<const MatrixXd>& A, bool transposed, MatrixXd C) {
  return solve_triangular_sylvester(A, transposed ? "T" : "N", A, transposed ? "N" : "T", 1, std::move(C));
}

}  // namespace lissom

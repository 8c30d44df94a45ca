#include "lissom/linalg/symmetric_eigen.hpp"

#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "lissom/core/error.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/fortran_blas.hpp"

namespace lissom {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

// What a driver found; nothing where it gave up. `info` receives LAPACK's word.
using Driver = std::optional<SymmetricEigen> (*)(MatrixXd A, int first, int count, bool vectors, int& info);

// Bisection and inverse iteration for a piece of the spectrum, relatively robust representations for all.
std::optional<SymmetricEigen> by_dsyevr(MatrixXd A, int first, int count, bool vectors, int& info) {
  const int n = static_cast<int>(A.rows());
  SymmetricEigen result;
  result.values.resize(n);
  if (vectors) result.vectors.resize(n, count);
  const int il = first + 1, iu = first + count, ldz = vectors ? n : 1;
  const double unused = 0;
  double no_vectors = 0;
  int found = 0, iwork_size = 0, query = -1;
  double work_size = 0;
  std::vector<int> support(2 * static_cast<size_t>(count));
  const auto call = [&](double* work, const int* lwork, int* iwork, const int* liwork) {
    dsyevr_(vectors ? "V" : "N", "I", "L", &n, A.data(), &n, &unused, &unused, &il, &iu, &unused, &found,
            result.values.data(), vectors ? result.vectors.data() : &no_vectors, &ldz, support.data(), work,
            lwork, iwork, liwork, &info);
  };
  call(&work_size, &query, &iwork_size, &query);
  int lwork = static_cast<int>(work_size), liwork = iwork_size;
  std::vector<double> work(lwork);
  std::vector<int> iwork(liwork);
  call(work.data(), &lwork, iwork.data(), &liwork);
  if (info != 0 || found != count) return std::nullopt;
  result.values.conservativeResize(count);
  return result;
}

// The piece asked for of all that a driver has computed in A's place.
SymmetricEigen piece(const MatrixXd& A, const VectorXd& values, int first, int count, bool vectors) {
  SymmetricEigen result;
  result.values = values.segment(first, count);
  if (vectors) result.vectors = A.middleCols(first, count);
  return result;
}

std::optional<SymmetricEigen> by_dsyevd(MatrixXd A, int first, int count, bool vectors, int& info) {
  const int n = static_cast<int>(A.rows()), query = -1;
  VectorXd values(n);
  double work_size = 0;
  int iwork_size = 0;
  const char* job = vectors ? "V" : "N";
  dsyevd_(job, "L", &n, A.data(), &n, values.data(), &work_size, &query, &iwork_size, &query, &info);
  const int lwork = static_cast<int>(work_size), liwork = iwork_size;
  std::vector<double> work(lwork);
  std::vector<int> iwork(liwork);
  dsyevd_(job, "L", &n, A.data(), &n, values.data(), work.data(), &lwork, iwork.data(), &liwork, &info);
  if (info != 0) return std::nullopt;
  return piece(A, values, first, count, vectors);
}

std::optional<SymmetricEigen> by_dsyev(MatrixXd A, int first, int count, bool vectors, int& info) {
  const int n = static_cast<int>(A.rows()), query = -1;
  VectorXd values(n);
  double work_size = 0;
  const char* job = vectors ? "V" : "N";
  dsyev_(job, "L", &n, A.data(), &n, values.data(), &work_size, &query, &info);
  const int lwork = static_cast<int>(work_size);
  std::vector<double> work(lwork);
  dsyev_(job, "L", &n, A.data(), &n, values.data(), work.data(), &lwork, &info);
  if (info != 0) return std::nullopt;
  return piece(A, values, first, count, vectors);
}

// Whether A X = X diag(values) and X' X = 1, tried on two random combinations of the columns: an error of one
// pair shows in every combination, and the products cost n^2 instead of n^3.
bool holds(const Eigen::Ref<const MatrixXd>& A, double size, const SymmetricEigen& found) {
  if (!found.values.allFinite()) return false;
  if (found.vectors.size() == 0) return true;
  std::minstd_rand random(20260101);
  std::normal_distribution<double> normal;
  const auto n = static_cast<double>(A.rows());
  // LAPACK promises a small multiple of n u; its own tests allow 30
  const double roundoff = 100 * n * std::numeric_limits<double>::epsilon();
  const MatrixXd& X = found.vectors;
  for (int probe = 0; probe < 2; ++probe) {
    const VectorXd g = VectorXd::NullaryExpr(X.cols(), [&] { return normal(random); });
    const VectorXd Xg = X * g;
    const VectorXd residual =
        A.selfadjointView<Eigen::Lower>() * Xg - X * found.values.cwiseProduct(g).eval();
    const VectorXd defect = X.transpose() * Xg - g;
    if (!(residual.norm() <= roundoff * size * g.norm()) || !(defect.norm() <= roundoff * g.norm()))
      return false;
  }
  return true;
}

}  // namespace

SymmetricEigen symmetric_eigen_from(EigenDriver driver, const Eigen::Ref<const MatrixXd>& A, int first,
                                    int count, bool vectors) {
  const int n = static_cast<int>(A.rows());
  LISSOM_ASSERT(A.cols() == n && first >= 0 && count >= 1 && first + count <= n);
  const BlasThreads one;
  const double size = A.triangularView<Eigen::Lower>().toDenseMatrix().norm();
  int info = 0;
  if (std::isfinite(size)) {
    constexpr Driver drivers[] = {by_dsyevr, by_dsyevd, by_dsyev};
    for (size_t k = static_cast<size_t>(driver); k < std::size(drivers); ++k)
      if (auto found = drivers[k](A, first, count, vectors, info); found && holds(A, size, *found))
        return std::move(*found);
  }
  fail(
      "the dense eigen-solver found none of the {} eigenvalues asked for of a matrix with {} rows (LAPACK "
      "dsyevr, dsyevd and dsyev; info = {}); is there a NaN in the matrix?",
      count, n, info);
}

SymmetricEigen symmetric_eigen(MatrixXd A, int first, int count, bool vectors) {
  return symmetric_eigen_from(EigenDriver::Dsyevr, A, first, count, vectors);
}

}  // namespace lissom

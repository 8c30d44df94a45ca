#include "lissom/linalg/symmetric_eigen.hpp"

#include <vector>

#include "lissom/core/error.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/fortran_blas.hpp"

namespace lissom {

SymmetricEigen symmetric_eigen(Eigen::MatrixXd A, int first, int count, bool vectors) {
  const int n = static_cast<int>(A.rows());
  LISSOM_ASSERT(A.cols() == n && first >= 0 && count >= 1 && first + count <= n);
  const BlasThreads one;
  SymmetricEigen result;
  result.values.resize(n);
  if (vectors) result.vectors.resize(n, count);
  const int il = first + 1, iu = first + count, ldz = vectors ? n : 1;
  const double unused = 0;
  double no_vectors = 0;
  int found = 0, info = 0, iwork_size = 0, query = -1;
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
  if (info != 0 || found != count || !result.values.head(count).allFinite())
    fail(
        "the dense eigen-solver found {} of {} eigenvalues (LAPACK dsyevr: {}); is there a NaN in the "
        "matrix?",
        found, count, info);
  result.values.conservativeResize(count);
  return result;
}

}  // namespace lissom

#include "lissom/linalg/blas.hpp"

#include <dlfcn.h>
#include <omp.h>

#include <climits>
#include <cstdlib>

#include "lissom/core/error.hpp"

extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
            const int*, const double*, const int*, const double*, double*, const int*);
// OpenBLAS' own calls, absent from other libraries
char* openblas_get_config() __attribute__((weak));
int openblas_get_num_threads() __attribute__((weak));
void openblas_set_num_threads(int) __attribute__((weak));
}

namespace lissom {

BlasInfo blas_info() {
  BlasInfo info;
  Dl_info where{};
  if (dladdr(reinterpret_cast<void*>(&dgemm_), &where) && where.dli_fname) {
    char resolved[PATH_MAX];
    info.file = realpath(where.dli_fname, resolved) ? resolved : where.dli_fname;
  }
  info.is_openblas = openblas_get_config != nullptr;
  if (info.is_openblas) info.config = openblas_get_config();
  if (openblas_get_num_threads) info.threads = openblas_get_num_threads();
  return info;
}

void configure_blas_threads() {
  if (openblas_set_num_threads && openblas_get_num_threads() != omp_get_max_threads())
    openblas_set_num_threads(omp_get_max_threads());
}

void gemm(bool transpose_a, bool transpose_b, double alpha, const Eigen::Ref<const Eigen::MatrixXd>& A,
          const Eigen::Ref<const Eigen::MatrixXd>& B, double beta, Eigen::Ref<Eigen::MatrixXd> C) {
  const int m = static_cast<int>(C.rows()), n = static_cast<int>(C.cols());
  const int k = static_cast<int>(transpose_a ? A.rows() : A.cols());
  LISSOM_ASSERT((transpose_a ? A.cols() : A.rows()) == m && (transpose_b ? B.rows() : B.cols()) == n &&
                (transpose_b ? B.cols() : B.rows()) == k);
  if (m == 0 || n == 0) return;
  const auto stride = [](Eigen::Index outer, Eigen::Index rows) {
    return static_cast<int>(std::max({outer, rows, Eigen::Index(1)}));
  };
  const int lda = stride(A.outerStride(), A.rows()), ldb = stride(B.outerStride(), B.rows()),
            ldc = stride(C.outerStride(), C.rows());
  dgemm_(transpose_a ? "T" : "N", transpose_b ? "T" : "N", &m, &n, &k, &alpha, A.data(), &lda, B.data(), &ldb,
         &beta, C.data(), &ldc);
}

}  // namespace lissom

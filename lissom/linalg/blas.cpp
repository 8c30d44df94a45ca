#include "lissom/linalg/blas.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "lissom/core/error.hpp"
#include "lissom/core/parallel.hpp"
#include "lissom/linalg/fortran_blas.hpp"

extern "C" {
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

BlasThreads::BlasThreads(int threads) : openmp_threads_(thread_count()) {
  // the OpenMP build changes the caller's number of OpenMP threads along with its own, others do not
  if (openblas_set_num_threads && openblas_get_num_threads() != threads) openblas_set_num_threads(threads);
  set_thread_count(threads);
}

BlasThreads::~BlasThreads() {
  set_thread_count(openmp_threads_);
}

void gemm(bool transpose_a, bool transpose_b, double alpha, const Eigen::Ref<const Eigen::MatrixXd>& A,
          const Eigen::Ref<const Eigen::MatrixXd>& B, double beta, Eigen::Ref<Eigen::MatrixXd> C) {
  const Eigen::Index m = C.rows(), n = C.cols(), k = transpose_a ? A.rows() : A.cols();
  LISSOM_ASSERT((transpose_a ? A.cols() : A.rows()) == m && (transpose_b ? B.rows() : B.cols()) == n &&
                (transpose_b ? B.cols() : B.rows()) == k);
  if (m == 0 || n == 0) return;
  const int threads = thread_count();
  const BlasThreads one_thread_each;
  const auto stride = [](Eigen::Index outer, Eigen::Index rows) {
    return static_cast<int>(std::max({outer, rows, Eigen::Index(1)}));
  };
  const int lda = stride(A.outerStride(), A.rows()), ldb = stride(B.outerStride(), B.rows()),
            ldc = stride(C.outerStride(), C.rows());
  // distance of neighbouring rows of op(A), C and columns of op(B), C, and of terms of the sum
  const Eigen::Index a_row = transpose_a ? lda : 1, a_term = transpose_a ? 1 : lda,
                     b_term = transpose_b ? ldb : 1, b_column = transpose_b ? 1 : ldb;
  const auto call = [&](Eigen::Index rows, Eigen::Index columns, Eigen::Index terms, const double* a,
                        const double* b, double factor, double* c, int ld) {
    const int mm = static_cast<int>(rows), nn = static_cast<int>(columns), kk = static_cast<int>(terms);
    dgemm_(transpose_a ? "T" : "N", transpose_b ? "T" : "N", &mm, &nn, &kk, &alpha, a, &lda, b, &ldb, &factor,
           c, &ld);
  };

  // pieces of the longest dimension, enough for 16 threads, each worth a thread's while; small products stay
  // with the caller: on a busy machine another thread may come later than the work takes
  const Eigen::Index longest = std::max({m, n, k});
  const Eigen::Index shortest_piece = std::max<Eigen::Index>(64, 2'000'000 * longest / (m * n * k + 1));
  const Eigen::Index pieces = std::clamp<Eigen::Index>(longest / shortest_piece, 1, 64);
  const auto cut = [&](Eigen::Index piece) { return longest * piece / pieces; };
  if (pieces < 4) {
    call(m, n, k, A.data(), B.data(), beta, C.data(), ldc);
    return;
  }
  if (longest != k) {
    const bool by_rows = longest == m;
    parallel_for(pieces, 1, threads, [&](Eigen::Index piece) {
      const Eigen::Index from = cut(piece), count = cut(piece + 1) - from;
      if (by_rows)
        call(count, n, k, A.data() + from * a_row, B.data(), beta, C.data() + from, ldc);
      else
        call(m, count, k, A.data(), B.data() + from * b_column, beta, C.data() + from * ldc, ldc);
    });
    return;
  }
  // a long sum: partial sums side by side, added up in their order
  Eigen::MatrixXd partial(m, n * pieces);
  parallel_for(pieces, 1, threads, [&](Eigen::Index piece) {
    const Eigen::Index from = cut(piece), count = cut(piece + 1) - from;
    call(m, n, count, A.data() + from * a_term, B.data() + from * b_term, 0.0, partial.data() + piece * n * m,
         static_cast<int>(m));
  });
  if (beta == 0)
    C.setZero();  // whatever stood there, NaN included
  else if (beta != 1)
    C *= beta;
  for (Eigen::Index piece = 0; piece < pieces; ++piece) C += partial.middleCols(piece * n, n);
}

Eigen::MatrixXd product(const Eigen::Ref<const Eigen::MatrixXd>& A,
                        const Eigen::Ref<const Eigen::MatrixXd>& B) {
  Eigen::MatrixXd C(A.rows(), B.cols());
  gemm(false, false, 1, A, B, 0, C);
  return C;
}

Eigen::MatrixXd transposed_product(const Eigen::Ref<const Eigen::MatrixXd>& A,
                                   const Eigen::Ref<const Eigen::MatrixXd>& B) {
  Eigen::MatrixXd C(A.cols(), B.cols());
  gemm(true, false, 1, A, B, 0, C);
  return C;
}

}  // namespace lissom

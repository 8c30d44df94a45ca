// The BLAS in use: which library, how many threads, and the one product that Lissom calls itself.
#pragma once

#include <Eigen/Core>

#include <string>

namespace lissom {

struct BlasInfo {
  std::string file;    // shared library that serves dgemm, links resolved
  std::string config;  // what OpenBLAS says of itself; empty for another library
  int threads = 1;
  bool is_openblas = false;
};
BlasInfo blas_info();

// Sets OpenBLAS' thread count to that of OpenMP (all cores unless OMP_NUM_THREADS says otherwise). Threads
// that spin while they wait would steal the cores from each other between CHOLMOD's many small calls: see
// docs/theory/factorisation.md.
void configure_blas_threads();

// C = alpha op(A) op(B) + beta C through BLAS: Eigen's own kernels are compiled for the oldest x86-64,
// OpenBLAS picks the processor's.
void gemm(bool transpose_a, bool transpose_b, double alpha, const Eigen::Ref<const Eigen::MatrixXd>& A,
          const Eigen::Ref<const Eigen::MatrixXd>& B, double beta, Eigen::Ref<Eigen::MatrixXd> C);

}  // namespace lissom

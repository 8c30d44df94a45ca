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

// While it lives, BLAS calls of this thread, and of regions (core/parallel.hpp) that it opens, run on `threads` threads:
// one, unless a baseline is measured. Lissom runs its own threads over large pieces of work and lets each
// call BLAS for itself; were BLAS to divide calls of a few microseconds, its threads would meet at a spinning
// barrier in each of them, which gains little on an idle machine and costs a factor of ten on a busy one.
// OpenBLAS' OpenMP build takes its number from OpenMP, outside of active regions, whatever it was told
// before: hence thread_count() is `threads` as well in the meantime, and regions are told how many they have.
class BlasThreads {
 public:
  explicit BlasThreads(int threads = 1);
  ~BlasThreads();
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;

 private:
  int openmp_threads_;
};

// C = alpha op(A) op(B) + beta C through BLAS: Eigen's own kernels are compiled for the oldest x86-64,
// OpenBLAS picks the processor's. The longest of the three dimensions is cut into pieces for the
// threads; the pieces, and the order in which partial sums are added, do not depend on the number of threads,
// hence neither does the result.
void gemm(bool transpose_a, bool transpose_b, double alpha, const Eigen::Ref<const Eigen::MatrixXd>& A,
          const Eigen::Ref<const Eigen::MatrixXd>& B, double beta, Eigen::Ref<Eigen::MatrixXd> C);

// A B, and A' B.
Eigen::MatrixXd product(const Eigen::Ref<const Eigen::MatrixXd>& A,
                        const Eigen::Ref<const Eigen::MatrixXd>& B);
Eigen::MatrixXd transposed_product(const Eigen::Ref<const Eigen::MatrixXd>& A,
                                   const Eigen::Ref<const Eigen::MatrixXd>& B);

}  // namespace lissom

#include "lissom/core/parallel.hpp"

// What compilers call for `#pragma omp parallel` and `#pragma omp barrier`, libgomp's interface since version 4.0, and
// the functions of the OpenMP standard
extern "C" {
void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags);
void GOMP_barrier();
int omp_get_max_threads();
void omp_set_num_threads(int);
int omp_get_thread_num();
int omp_get_num_threads();
int omp_in_parallel();
}

namespace lissom {

int thread_count() {
  return omp_get_max_threads();
}

void set_thread_count(int threads) {
  omp_set_num_threads(threads);
}

bool in_parallel() {
  return omp_in_parallel() != 0;
}

void team_barrier() {
  GOMP_barrier();
}

namespace detail {

void run_team(int threads, void (*body)(void*), void* data) {
  GOMP_parallel(body, data, static_cast<unsigned>(std::max(threads, 1)), 0);
}

int team_thread() {
  return omp_get_thread_num();
}

int team_threads() {
  return omp_get_num_threads();
}

}  // namespace detail

}  // namespace lissom

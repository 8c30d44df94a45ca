#include "lissom/linalg/column_products.hpp"

#include "lissom/core/simd.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lissom {

namespace {

#if defined(__x86_64__)
// The first n of four lanes.
LISSOM_AVX2 inline __m256i first_lanes(int n) {
  alignas(32) static const long long ones[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ones + 4 - n));
}

// y += the sum of four columns, each with its factor; what is beyond the last four rows is masked, so that nothing goes
// one by one
LISSOM_AVX2 inline void add_four(int rows, const double* const* column, const double* x, double* y) {
  const __m256d s = _mm256_broadcast_sd(x), t = _mm256_broadcast_sd(x + 1), u = _mm256_broadcast_sd(x + 2),
                v = _mm256_broadcast_sd(x + 3);
  const double *a = column[0], *b = column[1], *c = column[2], *d = column[3];
  int i = 0;
  for (; i + 3 < rows; i += 4) {
    __m256d sum = _mm256_fmadd_pd(s, _mm256_loadu_pd(a + i), _mm256_loadu_pd(y + i));
    sum = _mm256_fmadd_pd(t, _mm256_loadu_pd(b + i), sum);
    sum = _mm256_fmadd_pd(u, _mm256_loadu_pd(c + i), sum);
    _mm256_storeu_pd(y + i, _mm256_fmadd_pd(v, _mm256_loadu_pd(d + i), sum));
  }
  if (i == rows) return;
  const __m256i mask = first_lanes(rows - i);
  __m256d sum = _mm256_fmadd_pd(s, _mm256_maskload_pd(a + i, mask), _mm256_maskload_pd(y + i, mask));
  sum = _mm256_fmadd_pd(t, _mm256_maskload_pd(b + i, mask), sum);
  sum = _mm256_fmadd_pd(u, _mm256_maskload_pd(c + i, mask), sum);
  _mm256_maskstore_pd(y + i, mask, _mm256_fmadd_pd(v, _mm256_maskload_pd(d + i, mask), sum));
}

LISSOM_AVX2 void add_avx2(int rows, int columns, const double* A, long stride, const double* x, double* y) {
  int j = 0;
  for (; j + 3 < columns; j += 4, A += 4 * stride) {
    const double* const column[4] = {A, A + stride, A + 2 * stride, A + 3 * stride};
    add_four(rows, column, x + j, y);
  }
  if (j == columns) return;
  // factors of zero in place of columns that are not there
  const int left = columns - j;
  const double* const column[4] = {A, left > 1 ? A + stride : A, left > 2 ? A + 2 * stride : A, A};
  const double factor[4] = {x[j], left > 1 ? x[j + 1] : 0, left > 2 ? x[j + 2] : 0, 0};
  add_four(rows, column, factor, y);
}

LISSOM_AVX2 inline __m256d dot_four(int rows, const double* const* column, const double* x) {
  const double *a = column[0], *b = column[1], *c = column[2], *d = column[3];
  __m256d s = _mm256_setzero_pd(), t = s, u = s, v = s;
  int i = 0;
  for (; i + 3 < rows; i += 4) {
    const __m256d z = _mm256_loadu_pd(x + i);
    s = _mm256_fmadd_pd(z, _mm256_loadu_pd(a + i), s);
    t = _mm256_fmadd_pd(z, _mm256_loadu_pd(b + i), t);
    u = _mm256_fmadd_pd(z, _mm256_loadu_pd(c + i), u);
    v = _mm256_fmadd_pd(z, _mm256_loadu_pd(d + i), v);
  }
  if (i < rows) {
    const __m256i mask = first_lanes(rows - i);
    const __m256d z = _mm256_maskload_pd(x + i, mask);
    s = _mm256_fmadd_pd(z, _mm256_maskload_pd(a + i, mask), s);
    t = _mm256_fmadd_pd(z, _mm256_maskload_pd(b + i, mask), t);
    u = _mm256_fmadd_pd(z, _mm256_maskload_pd(c + i, mask), u);
    v = _mm256_fmadd_pd(z, _mm256_maskload_pd(d + i, mask), v);
  }
  const __m256d st = _mm256_hadd_pd(s, t), uv = _mm256_hadd_pd(u, v);
  return _mm256_add_pd(_mm256_permute2f128_pd(st, uv, 0x20), _mm256_permute2f128_pd(st, uv, 0x31));
}

LISSOM_AVX2 void dots_avx2(int rows, int columns, const double* A, long stride, const double* x, double* y) {
  int j = 0;
  for (; j + 3 < columns; j += 4, A += 4 * stride) {
    const double* const column[4] = {A, A + stride, A + 2 * stride, A + 3 * stride};
    _mm256_storeu_pd(y + j, dot_four(rows, column, x));
  }
  if (j == columns) return;
  const int left = columns - j;
  const double* const column[4] = {A, left > 1 ? A + stride : A, left > 2 ? A + 2 * stride : A, A};
  _mm256_maskstore_pd(y + j, first_lanes(left), dot_four(rows, column, x));
}
#endif

}  // namespace

void add_column_product(int rows, int columns, const double* A, int stride, const double* x, double* y) {
#if defined(__x86_64__)
  if (has_avx2()) return add_avx2(rows, columns, A, stride, x, y);
#endif
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) y[i] += A[static_cast<long>(j) * stride + i] * x[j];
}

void column_dots(int rows, int columns, const double* A, int stride, const double* x, double* y) {
#if defined(__x86_64__)
  if (has_avx2()) return dots_avx2(rows, columns, A, stride, x, y);
#endif
  for (int j = 0; j < columns; ++j) {
    double sum = 0;
    for (int i = 0; i < rows; ++i) sum += A[static_cast<long>(j) * stride + i] * x[i];
    y[j] = sum;
  }
}

}  // namespace lissom

#include "lissom/linalg/row_products.hpp"

#include <algorithm>
#include <new>

#include "lissom/core/error.hpp"
#include "lissom/core/simd.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lissom {

namespace {

using Eigen::Index;

constexpr size_t cache_line = 64;

Index rounded_up(Index n, Index step) {
  return (n + step - 1) / step * step;
}

// y_i = c_i . z of four rows
void four_rows(const double* c, Index width, const double* z, double* y) {
  for (int i = 0; i < 4; ++i) {
    const double* row = c + i * width;
    double sum[4] = {0, 0, 0, 0};
    for (Index j = 0; j < width; j += 4)
      for (int l = 0; l < 4; ++l) sum[l] += row[j + l] * z[j + l];
    y[i] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
}

// f += y_0 c_0 + .. + y_3 c_3
void add_four_rows(const double* c, Index width, const double* y, double* f) {
  const double *c0 = c, *c1 = c0 + width, *c2 = c1 + width, *c3 = c2 + width;
  for (Index j = 0; j < width; ++j) f[j] += (y[0] * c0[j] + y[1] * c1[j]) + (y[2] * c2[j] + y[3] * c3[j]);
}

#if defined(__x86_64__)
// the sums of four vectors as one
LISSOM_AVX2 inline __m256d sums_of(__m256d a, __m256d b, __m256d c, __m256d d) {
  const __m256d ab = _mm256_hadd_pd(a, b), cd = _mm256_hadd_pd(c, d);
  return _mm256_add_pd(_mm256_permute2f128_pd(ab, cd, 0x20), _mm256_permute2f128_pd(ab, cd, 0x31));
}

LISSOM_AVX2 inline __m256d four_rows_avx2(const double* c, Index width, const double* z) {
  const double *c0 = c, *c1 = c0 + width, *c2 = c1 + width, *c3 = c2 + width;
  __m256d a0 = _mm256_setzero_pd(), a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
  // two sums a row, so that additions do not wait for each other
  for (Index j = 0; j < width; j += 8) {
    const __m256d x = _mm256_load_pd(z + j), y = _mm256_load_pd(z + j + 4);
    a0 = _mm256_fmadd_pd(_mm256_load_pd(c0 + j), x, a0);
    a1 = _mm256_fmadd_pd(_mm256_load_pd(c1 + j), x, a1);
    a2 = _mm256_fmadd_pd(_mm256_load_pd(c2 + j), x, a2);
    a3 = _mm256_fmadd_pd(_mm256_load_pd(c3 + j), x, a3);
    b0 = _mm256_fmadd_pd(_mm256_load_pd(c0 + j + 4), y, b0);
    b1 = _mm256_fmadd_pd(_mm256_load_pd(c1 + j + 4), y, b1);
    b2 = _mm256_fmadd_pd(_mm256_load_pd(c2 + j + 4), y, b2);
    b3 = _mm256_fmadd_pd(_mm256_load_pd(c3 + j + 4), y, b3);
  }
  return sums_of(_mm256_add_pd(a0, b0), _mm256_add_pd(a1, b1), _mm256_add_pd(a2, b2), _mm256_add_pd(a3, b3));
}

LISSOM_AVX2 void row_product_avx2(const PaddedRows& C, const double* z, double* y) {
  for (Index i = 0; i < C.rows; i += 4) _mm256_store_pd(y + i, four_rows_avx2(C.row(i), C.columns, z));
}

LISSOM_AVX2 void row_gram_product_avx2(const PaddedRows& C, const double* z, double* y, double* f) {
  const Index width = C.columns;
  for (Index i = 0; i < C.rows; i += 4) {
    const double *c0 = C.row(i), *c1 = c0 + width, *c2 = c1 + width, *c3 = c2 + width;
    _mm256_store_pd(y + i, four_rows_avx2(c0, width, z));
    const __m256d y0 = _mm256_broadcast_sd(y + i), y1 = _mm256_broadcast_sd(y + i + 1),
                  y2 = _mm256_broadcast_sd(y + i + 2), y3 = _mm256_broadcast_sd(y + i + 3);
    for (Index j = 0; j < width; j += 4) {
      __m256d sum = _mm256_load_pd(f + j);
      sum = _mm256_fmadd_pd(y0, _mm256_load_pd(c0 + j), sum);
      sum = _mm256_fmadd_pd(y1, _mm256_load_pd(c1 + j), sum);
      sum = _mm256_fmadd_pd(y2, _mm256_load_pd(c2 + j), sum);
      sum = _mm256_fmadd_pd(y3, _mm256_load_pd(c3 + j), sum);
      _mm256_store_pd(f + j, sum);
    }
  }
}

// four rows of C by two of Z at a time
LISSOM_AVX2 void two_products_avx2(const PaddedRows& C, const double* u, const double* v, double* yu,
                                   double* yv) {
  const Index width = C.columns;
  for (Index i = 0; i < C.rows; i += 4) {
    const double *c0 = C.row(i), *c1 = c0 + width, *c2 = c1 + width, *c3 = c2 + width;
    __m256d a0 = _mm256_setzero_pd(), a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
    for (Index j = 0; j < width; j += 4) {
      const __m256d x = _mm256_load_pd(u + j), y = _mm256_load_pd(v + j);
      const __m256d r0 = _mm256_load_pd(c0 + j), r1 = _mm256_load_pd(c1 + j);
      const __m256d r2 = _mm256_load_pd(c2 + j), r3 = _mm256_load_pd(c3 + j);
      a0 = _mm256_fmadd_pd(r0, x, a0);
      a1 = _mm256_fmadd_pd(r1, x, a1);
      a2 = _mm256_fmadd_pd(r2, x, a2);
      a3 = _mm256_fmadd_pd(r3, x, a3);
      b0 = _mm256_fmadd_pd(r0, y, b0);
      b1 = _mm256_fmadd_pd(r1, y, b1);
      b2 = _mm256_fmadd_pd(r2, y, b2);
      b3 = _mm256_fmadd_pd(r3, y, b3);
    }
    _mm256_store_pd(yu + i, sums_of(a0, a1, a2, a3));
    _mm256_store_pd(yv + i, sums_of(b0, b1, b2, b3));
  }
}
#endif

}  // namespace

AlignedArray::AlignedArray(Index size) : size_(size) {
  const size_t bytes = static_cast<size_t>(rounded_up(std::max<Index>(size, 1) * 8, cache_line));
  data_.reset(static_cast<double*>(std::aligned_alloc(cache_line, bytes)));
  if (!data_) throw std::bad_alloc();
  std::fill_n(data_.get(), bytes / 8, 0.0);
}

PaddedRows::PaddedRows(Index n, Index width)
    : rows(rounded_up(n, 4)), columns(rounded_up(width, 8)), values(rows * columns) {}

PaddedRows::PaddedRows(const Eigen::Ref<const Eigen::MatrixXd>& C) : PaddedRows(C.rows(), C.cols()) {
  for (Index i = 0; i < C.rows(); ++i)
    for (Index j = 0; j < C.cols(); ++j) row(i)[j] = C(i, j);
}

void row_product(const PaddedRows& C, const double* z, double* y) {
#if defined(__x86_64__)
  if (has_avx2()) return row_product_avx2(C, z, y);
#endif
  for (Index i = 0; i < C.rows; i += 4) four_rows(C.row(i), C.columns, z, y + i);
}

void row_gram_product(const PaddedRows& C, const double* z, double* y, double* f) {
  std::fill_n(f, C.columns, 0.0);
#if defined(__x86_64__)
  if (has_avx2()) return row_gram_product_avx2(C, z, y, f);
#endif
  for (Index i = 0; i < C.rows; i += 4) {
    four_rows(C.row(i), C.columns, z, y + i);
    add_four_rows(C.row(i), C.columns, y + i, f);
  }
}

void row_products(const PaddedRows& C, const PaddedRows& Z, Index count, PaddedRows& Y) {
  LISSOM_ASSERT(Z.columns == C.columns && Y.columns >= C.rows && Z.rows >= count && Y.rows >= count);
  Index j = 0;
#if defined(__x86_64__)
  if (has_avx2())
    for (; j + 1 < count; j += 2) two_products_avx2(C, Z.row(j), Z.row(j + 1), Y.row(j), Y.row(j + 1));
#endif
  for (; j < count; ++j) row_product(C, Z.row(j), Y.row(j));
}

}  // namespace lissom

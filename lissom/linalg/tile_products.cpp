#include "lissom/linalg/tile_products.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>

#include "lissom/core/simd.hpp"

namespace lissom {

namespace {

using Eigen::Index;

#if defined(__x86_64__)
// Sums of four vectors, as one.
LISSOM_AVX2 inline __m256d four_sums(__m256d a, __m256d b, __m256d c, __m256d d) {
  const __m256d ab = _mm256_hadd_pd(a, b), cd = _mm256_hadd_pd(c, d);
  return _mm256_add_pd(_mm256_permute2f128_pd(ab, cd, 0x20), _mm256_permute2f128_pd(ab, cd, 0x31));
}

// Each tile below the diagonal is used twice: down its columns, and across.
LISSOM_AVX2 void symmetric_avx2(Index blocks, const double* A, const double* x, double* y) {
  for (Index i = 0; i < blocks; ++i) _mm256_store_pd(y + 4 * i, _mm256_setzero_pd());
  for (Index b = 0; b < blocks; ++b) {
    const __m256d x0 = _mm256_broadcast_sd(x + 4 * b), x1 = _mm256_broadcast_sd(x + 4 * b + 1),
                  x2 = _mm256_broadcast_sd(x + 4 * b + 2), x3 = _mm256_broadcast_sd(x + 4 * b + 3);
    __m256d own = _mm256_load_pd(y + 4 * b);
    own = _mm256_fmadd_pd(_mm256_load_pd(A), x0, own);
    own = _mm256_fmadd_pd(_mm256_load_pd(A + 4), x1, own);
    own = _mm256_fmadd_pd(_mm256_load_pd(A + 8), x2, own);
    own = _mm256_fmadd_pd(_mm256_load_pd(A + 12), x3, own);
    A += 16;
    __m256d s0 = _mm256_setzero_pd(), s1 = s0, s2 = s0, s3 = s0;
    for (Index i = b + 1; i < blocks; ++i, A += 16) {
      const __m256d a0 = _mm256_load_pd(A), a1 = _mm256_load_pd(A + 4), a2 = _mm256_load_pd(A + 8),
                    a3 = _mm256_load_pd(A + 12), xi = _mm256_load_pd(x + 4 * i);
      __m256d yi = _mm256_load_pd(y + 4 * i);
      yi = _mm256_fmadd_pd(a0, x0, yi);
      s0 = _mm256_fmadd_pd(a0, xi, s0);
      yi = _mm256_fmadd_pd(a1, x1, yi);
      s1 = _mm256_fmadd_pd(a1, xi, s1);
      yi = _mm256_fmadd_pd(a2, x2, yi);
      s2 = _mm256_fmadd_pd(a2, xi, s2);
      yi = _mm256_fmadd_pd(a3, x3, yi);
      s3 = _mm256_fmadd_pd(a3, xi, s3);
      _mm256_store_pd(y + 4 * i, yi);
    }
    _mm256_store_pd(y + 4 * b, _mm256_add_pd(own, four_sums(s0, s1, s2, s3)));
  }
}

// Eight rows by four columns of C at a time, or four by four.
LISSOM_AVX2 void tile_product_avx2(Index rows, Index n, const double* P, const double* Y, Index stride,
                                   bool lower, double* C) {
  for (Index l = 0; l < n; l += 4) {
    Index k = lower ? l : 0;
    for (; k + 4 < n; k += 8) {
      __m256d u0 = _mm256_setzero_pd(), u1 = u0, u2 = u0, u3 = u0, v0 = u0, v1 = u0, v2 = u0, v3 = u0;
      const double *p = P + k, *y = Y + l;
      for (Index i = 0; i < rows; ++i, p += stride, y += stride) {
        const __m256d pu = _mm256_load_pd(p), pv = _mm256_load_pd(p + 4);
        const __m256d y0 = _mm256_broadcast_sd(y), y1 = _mm256_broadcast_sd(y + 1),
                      y2 = _mm256_broadcast_sd(y + 2), y3 = _mm256_broadcast_sd(y + 3);
        u0 = _mm256_fmadd_pd(pu, y0, u0);
        v0 = _mm256_fmadd_pd(pv, y0, v0);
        u1 = _mm256_fmadd_pd(pu, y1, u1);
        v1 = _mm256_fmadd_pd(pv, y1, v1);
        u2 = _mm256_fmadd_pd(pu, y2, u2);
        v2 = _mm256_fmadd_pd(pv, y2, v2);
        u3 = _mm256_fmadd_pd(pu, y3, u3);
        v3 = _mm256_fmadd_pd(pv, y3, v3);
      }
      double* c = C + l * stride + k;
      _mm256_store_pd(c, u0);
      _mm256_store_pd(c + 4, v0);
      _mm256_store_pd(c + stride, u1);
      _mm256_store_pd(c + stride + 4, v1);
      _mm256_store_pd(c + 2 * stride, u2);
      _mm256_store_pd(c + 2 * stride + 4, v2);
      _mm256_store_pd(c + 3 * stride, u3);
      _mm256_store_pd(c + 3 * stride + 4, v3);
    }
    if (k >= n) continue;
    __m256d u0 = _mm256_setzero_pd(), u1 = u0, u2 = u0, u3 = u0;
    const double *p = P + k, *y = Y + l;
    for (Index i = 0; i < rows; ++i, p += stride, y += stride) {
      const __m256d pu = _mm256_load_pd(p);
      u0 = _mm256_fmadd_pd(pu, _mm256_broadcast_sd(y), u0);
      u1 = _mm256_fmadd_pd(pu, _mm256_broadcast_sd(y + 1), u1);
      u2 = _mm256_fmadd_pd(pu, _mm256_broadcast_sd(y + 2), u2);
      u3 = _mm256_fmadd_pd(pu, _mm256_broadcast_sd(y + 3), u3);
    }
    double* c = C + l * stride + k;
    _mm256_store_pd(c, u0);
    _mm256_store_pd(c + stride, u1);
    _mm256_store_pd(c + 2 * stride, u2);
    _mm256_store_pd(c + 3 * stride, u3);
  }
}

LISSOM_AVX2 void mix_rows_avx2(Index groups, Index m, const double* H, const double* P, Index stride,
                               double* Y) {
  for (Index g = 0; g < groups; ++g, H += m * m, P += m * stride, Y += m * stride)
    for (Index a = 0; a < m; ++a)
      for (Index k = 0; k < stride; k += 4) {
        __m256d sum = _mm256_mul_pd(_mm256_broadcast_sd(H + a), _mm256_load_pd(P + k));
        for (Index b = 1; b < m; ++b)
          sum = _mm256_fmadd_pd(_mm256_broadcast_sd(H + a + b * m), _mm256_load_pd(P + b * stride + k), sum);
        _mm256_store_pd(Y + a * stride + k, sum);
      }
}
#endif

void symmetric_plain(Index blocks, const double* A, const double* x, double* y) {
  std::fill(y, y + 4 * blocks, 0.0);
  for (Index b = 0; b < blocks; ++b) {
    for (int c = 0; c < 4; ++c)
      for (int r = 0; r < 4; ++r) y[4 * b + r] += A[4 * c + r] * x[4 * b + c];
    A += 16;
    for (Index i = b + 1; i < blocks; ++i, A += 16)
      for (int c = 0; c < 4; ++c)
        for (int r = 0; r < 4; ++r) {
          y[4 * i + r] += A[4 * c + r] * x[4 * b + c];
          y[4 * b + c] += A[4 * c + r] * x[4 * i + r];
        }
  }
}

void tile_product_plain(Index rows, Index n, const double* P, const double* Y, Index stride, bool lower,
                        double* C) {
  const Index padded = (n + 3) / 4 * 4;
  for (Index l = 0; l < padded; ++l)
    for (Index k = lower ? l / 4 * 4 : 0; k < padded; ++k) {
      double sum = 0;
      for (Index i = 0; i < rows; ++i) sum += P[i * stride + k] * Y[i * stride + l];
      C[l * stride + k] = sum;
    }
}

void mix_rows_plain(Index groups, Index m, const double* H, const double* P, Index stride, double* Y) {
  for (Index g = 0; g < groups; ++g, H += m * m, P += m * stride, Y += m * stride)
    for (Index a = 0; a < m; ++a)
      for (Index k = 0; k < stride; ++k) {
        double sum = 0;
        for (Index b = 0; b < m; ++b) sum += H[a + b * m] * P[b * stride + k];
        Y[a * stride + k] = sum;
      }
}

}  // namespace

SymmetricTiles::SymmetricTiles(const Eigen::Ref<const Eigen::MatrixXd>& A)
    : size_(A.rows()), blocks_((A.rows() + 3) / 4), values_(8 * blocks_ * (blocks_ + 1)) {
  double* value = values_.data();
  for (Index b = 0; b < blocks_; ++b)
    for (Index i = b; i < blocks_; ++i)
      for (Index c = 4 * b; c < 4 * b + 4; ++c)
        for (Index r = 4 * i; r < 4 * i + 4; ++r, ++value)
          if (r < size_ && c < size_) *value = r >= c ? A(r, c) : A(c, r);
}

void SymmetricTiles::multiply(const double* x, double* y) const {
#if defined(__x86_64__)
  if (has_avx2()) return symmetric_avx2(blocks_, values_.data(), x, y);
#endif
  symmetric_plain(blocks_, values_.data(), x, y);
}

void tile_product(Index rows, Index n, const double* P, const double* Y, Index stride, bool lower,
                  double* C) {
#if defined(__x86_64__)
  if (has_avx2()) return tile_product_avx2(rows, n, P, Y, stride, lower, C);
#endif
  tile_product_plain(rows, n, P, Y, stride, lower, C);
}

void mix_rows(Index groups, Index m, const double* H, const double* P, Index stride, double* Y) {
#if defined(__x86_64__)
  if (has_avx2()) return mix_rows_avx2(groups, m, H, P, stride, Y);
#endif
  mix_rows_plain(groups, m, H, P, stride, Y);
}

}  // namespace lissom

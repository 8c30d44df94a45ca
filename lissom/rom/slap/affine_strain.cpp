// Compiled without contraction to fused multiply-adds (CMakeLists.txt): sums here are exact only as written.
#include "lissom/rom/slap/affine_strain.hpp"

#include <cmath>

#include "lissom/core/simd.hpp"

namespace lissom {

namespace {

using Eigen::Index;

// (1 by 12 for each q; the sum over q in hi + lo)
constexpr int padded = 12;
// entries of a symmetric matrix: (row, column)
constexpr int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

// s + error = a + b, exactly
LISSOM_INLINE void two_sum(double a, double b, double& s, double& error) {
  s = a + b;
  const double bb = s - a;
  error = (a - (s - bb)) + (b - bb);
}

// p + error = a b, exactly: by a fused multiply-add, or by halves of 26 bits
template <bool fused>
LISSOM_INLINE void two_product(double a, double b, double& p, double& error) {
  p = a * b;
  if constexpr (fused) {
    error = __builtin_fma(a, b, -p);
  } else {
    constexpr double splitter = 134217729;  // 2^27 + 1
    const double ca = splitter * a, cb = splitter * b;
    const double ah = ca - (ca - a), bh = cb - (cb - b), al = a - ah, bl = b - bh;
    error = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
  }
}

template <bool fused>
LISSOM_INLINE void strain_of(const double* maps, Index count, const double* eta, double* A, double* strain) {
  // A with twice the digits
  double hi[padded], lo[padded] = {};
  for (int i = 0; i < padded; ++i) hi[i] = maps[i];
  for (Index q = 1; q < count; ++q) {
    const double e = eta[q - 1];
    const double* map = maps + padded * q;
    for (int i = 0; i < padded; ++i) {
      double p, p_error, s, s_error;
      two_product<fused>(e, map[i], p, p_error);
      two_sum(hi[i], p, s, s_error);
      hi[i] = s;
      lo[i] += p_error + s_error;
    }
  }
  for (int i = 0; i < padded; ++i) {
    const double s = hi[i] + lo[i];
    lo[i] -= s - hi[i];
    hi[i] = s;
  }
  for (int i = 0; i < 9; ++i) A[i] = hi[i];

  // A'A - I: column i times column j, and what the products leave
  constexpr int lanes = 8;
  double ah[3][lanes] = {}, al[3][lanes] = {}, bh[3][lanes] = {}, bl[3][lanes] = {};
  double sum[lanes] = {-1, -1, -1, 0, 0, 0, 0, 0}, rest[lanes] = {};
  for (int k = 0; k < 3; ++k)
    for (int n = 0; n < 6; ++n) {
      const int i = 3 * pairs[n][0] + k, j = 3 * pairs[n][1] + k;
      ah[k][n] = hi[i];
      al[k][n] = lo[i];
      bh[k][n] = hi[j];
      bl[k][n] = lo[j];
    }
  for (int k = 0; k < 3; ++k)
    for (int n = 0; n < lanes; ++n) {
      double p, p_error, s, s_error;
      two_product<fused>(ah[k][n], bh[k][n], p, p_error);
      two_sum(sum[n], p, s, s_error);
      sum[n] = s;
      rest[n] += (p_error + s_error) + (ah[k][n] * bl[k][n] + al[k][n] * bh[k][n]);
    }
  for (int n = 0; n < 6; ++n) strain[n] = sum[n] + rest[n];
}

#if defined(LISSOM_AVX2)
LISSOM_AVX2 void strain_fused(const double* maps, Index count, const double* eta, double* A, double* strain) {
  strain_of<true>(maps, count, eta, A, strain);
}
#endif
void strain_plain(const double* maps, Index count, const double* eta, double* A, double* strain) {
  strain_of<false>(maps, count, eta, A, strain);
}

}  // namespace

AffineMaps::AffineMaps(const Eigen::Ref<const Eigen::MatrixXd>& A)
    : count_(A.cols()), values_(padded * A.cols()) {
  for (Index q = 0; q < A.cols(); ++q)
    for (int i = 0; i < 9; ++i) values_[padded * q + i] = A(i, q);
}

void AffineMaps::strain(const double* eta, Eigen::Matrix3d& A, Vector6d& strain) const {
#if defined(LISSOM_AVX2)
  if (has_avx2()) return strain_fused(values_.data(), count_, eta, A.data(), strain.data());
#endif
  strain_plain(values_.data(), count_, eta, A.data(), strain.data());
}

}  // namespace lissom

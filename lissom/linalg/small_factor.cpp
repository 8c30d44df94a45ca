#include "lissom/linalg/small_factor.hpp"

#include <algorithm>
#include <cmath>

#include "lissom/core/error.hpp"
#include "lissom/core/simd.hpp"
#include "lissom/linalg/column_products.hpp"

namespace lissom {

// Four columns at a time: first these, then what they do to the columns behind them.
void small_lu(int n, double* A, int* pivots) {
  const auto column = [&](int k) { return A + static_cast<long>(k) * n; };
  double factor[4];
  for (int first = 0; first < n; first += 4) {
    const int last = std::min(first + 4, n);
    for (int k = first; k < last; ++k) {
      double* const own = column(k);
      int p = k;
      for (int i = k + 1; i < n; ++i)
        if (std::abs(own[i]) > std::abs(own[p])) p = i;
      pivots[k] = p;
      if (own[p] == 0) continue;
      if (p != k)
        for (int j = 0; j < n; ++j) std::swap(column(j)[k], column(j)[p]);
      const double inverse = 1 / own[k];
      for (int i = k + 1; i < n; ++i) own[i] *= inverse;
      for (int j = k + 1; j < last; ++j) {
        factor[0] = -column(j)[k];
        if (k + 1 < n) add_column_product(n - k - 1, 1, own + k + 1, n, factor, column(j) + k + 1);
      }
    }
    for (int j = last; j < n; ++j) {
      double* const target = column(j);
      bool any = false;
      for (int k = first; k < last; ++k) {
        factor[k - first] = -target[k];
        any |= target[k] != 0;
        for (int i = k + 1; i < last; ++i) target[i] -= column(k)[i] * target[k];
      }
      if (any) add_column_product(n - last, last - first, column(first) + last, n, factor, target + last);
    }
  }
}

// Four columns at a time, so that x is gone through a quarter as often: their triangle first, then what is below or above
// of it.
void small_lu_solve(int n, const double* A, const int* pivots, double* x) {
  for (int k = 0; k < n; ++k) std::swap(x[k], x[pivots[k]]);
  const auto column = [&](int k) { return A + static_cast<long>(k) * n; };
  double y[4];
  for (int k = 0; k < n; k += 4) {
    const int last = std::min(k + 4, n);
    for (int c = k; c < last; ++c) {
      y[c - k] = -x[c];
      for (int i = c + 1; i < last; ++i) x[i] -= column(c)[i] * x[c];
    }
    if (last < n) add_column_product(n - last, last - k, column(k) + last, n, y, x + last);
  }
  for (int end = n; end > 0;) {
    const int k = (end - 1) / 4 * 4;
    for (int c = end - 1; c >= k; --c) {
      x[c] /= column(c)[c];
      y[c - k] = -x[c];
      for (int i = k; i < c; ++i) x[i] -= column(c)[i] * x[c];
    }
    if (k > 0) add_column_product(k, end - k, column(k), n, y, x);
    end = k;
  }
}

namespace {

using FourEntries = double __attribute__((vector_size(32), may_alias));

LISSOM_INLINE const FourEntries& four_entries(const double* x) {
  return *reinterpret_cast<const FourEntries*>(x);
}
LISSOM_INLINE FourEntries& four_entries(double* x) {
  return *reinterpret_cast<FourEntries*>(x);
}

}  // namespace

LISSOM_SIMD int small_lu_by_fours(int n, int width, double* A, double* L, double* inverse,
                                  const double* smallest) {
  for (int k = 0; k < n; ++k) {
    double *column = A + static_cast<long>(k) * width, *l = L + static_cast<long>(k) * width;
    if (!(column[k] > smallest[k])) return k;
    const double inverse_k = inverse[k] = 1 / column[k];
    // below the diagonal to L, which is zero above, so that whole fours may be taken
    const int first = (k + 1) / 4 * 4;
    for (int i = first; i < width; i += 4) four_entries(l + i) = four_entries(column + i) * inverse_k;
    for (int i = first; i <= k; ++i) l[i] = 0;
    for (int i = k; i < n; ++i) column[i] = 0;
    for (int j = k + 1; j < n; ++j) {
      double* target = A + static_cast<long>(j) * width;
      const double factor = target[k];
      for (int i = first; i < width; i += 4) four_entries(target + i) -= factor * four_entries(l + i);
    }
  }
  return -1;
}

LISSOM_SIMD void small_lu_by_fours_solve(int n, int width, const double* A, const double* L,
                                         const double* inverse, double* x) {
  for (int k = 0; k + 1 < n; ++k) {
    const double* l = L + static_cast<long>(k) * width;
    const double factor = x[k];
    for (int i = (k + 1) / 4 * 4; i < width; i += 4) four_entries(x + i) -= factor * four_entries(l + i);
  }
  for (int k = n - 1; k >= 0; --k) {
    const double* u = A + static_cast<long>(k) * width;
    const double factor = x[k] *= inverse[k];
    for (int i = 0; i < k; i += 4) four_entries(x + i) -= factor * four_entries(u + i);
  }
}

namespace {

// One column of L D L', and what it changes in those up to `last`.
LISSOM_INLINE bool eliminate_column(int n, int k, int last, double* A, double* inverse,
                                    const double* smallest) {
  double* column = A + static_cast<long>(k) * n;
  if (!(column[k] > smallest[k])) return false;
  const double inverse_k = inverse[k] = 1 / column[k];
  for (int j = k + 1; j < last; ++j) {
    double* target = A + static_cast<long>(j) * n;
    const double factor = column[j] * inverse_k;
#pragma omp simd
    for (int i = j; i < n; ++i) target[i] -= factor * column[i];
  }
  return true;
}

}  // namespace

// Four columns at a time, so that the rest is gone through a quarter as often.
LISSOM_SIMD int small_ldlt(int n, double* A, double* inverse, const double* smallest) {
  for (int k = 0; k < n; k += 4) {
    const int last = std::min(k + 4, n);
    for (int c = k; c < last; ++c)
      if (!eliminate_column(n, c, last, A, inverse, smallest)) return c;
    double* c0 = A + static_cast<long>(k) * n;
    if (last < n) {
      const double *c1 = c0 + n, *c2 = c1 + n, *c3 = c2 + n;
      for (int j = last; j < n; ++j) {
        double* target = A + static_cast<long>(j) * n;
        const double f0 = c0[j] * inverse[k], f1 = c1[j] * inverse[k + 1], f2 = c2[j] * inverse[k + 2],
                     f3 = c3[j] * inverse[k + 3];
#pragma omp simd
        for (int i = j; i < n; ++i) target[i] -= (f0 * c0[i] + f1 * c1[i]) + (f2 * c2[i] + f3 * c3[i]);
      }
    }
    for (int c = k; c < last; ++c)
      for (int i = c + 1; i < n; ++i) A[static_cast<long>(c) * n + i] *= inverse[c];
  }
  return -1;
}

LISSOM_SIMD void small_ldlt_solve(int n, const double* A, const double* inverse, double* x) {
  const int blocked = n - n % 4;
  for (int k = 0; k < blocked; k += 4) {
    const double *c0 = A + static_cast<long>(k) * n, *c1 = c0 + n, *c2 = c1 + n, *c3 = c2 + n;
    const double x0 = x[k], x1 = x[k + 1] - c0[k + 1] * x0;
    const double x2 = (x[k + 2] - c0[k + 2] * x0) - c1[k + 2] * x1;
    const double x3 = (x[k + 3] - c0[k + 3] * x0 - c1[k + 3] * x1) - c2[k + 3] * x2;
    x[k + 1] = x1;
    x[k + 2] = x2;
    x[k + 3] = x3;
#pragma omp simd
    for (int i = k + 4; i < n; ++i) x[i] -= (c0[i] * x0 + c1[i] * x1) + (c2[i] * x2 + c3[i] * x3);
  }
  for (int k = blocked; k < n; ++k)
    for (int i = k + 1; i < n; ++i) x[i] -= A[static_cast<long>(k) * n + i] * x[k];
  for (int k = 0; k < n; ++k) x[k] *= inverse[k];
  for (int k = n - 1; k >= blocked; --k)
    for (int i = k + 1; i < n; ++i) x[k] -= A[static_cast<long>(k) * n + i] * x[i];
  for (int k = blocked - 4; k >= 0; k -= 4) {
    const double *c0 = A + static_cast<long>(k) * n, *c1 = c0 + n, *c2 = c1 + n, *c3 = c2 + n;
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (int i = k + 4; i < n; ++i) {
      s0 += c0[i] * x[i];
      s1 += c1[i] * x[i];
      s2 += c2[i] * x[i];
      s3 += c3[i] * x[i];
    }
    const double x3 = x[k + 3] - s3, x2 = x[k + 2] - s2 - c2[k + 3] * x3;
    const double x1 = (x[k + 1] - s1 - c1[k + 3] * x3) - c1[k + 2] * x2;
    x[k] = (x[k] - s0 - c0[k + 3] * x3 - c0[k + 2] * x2) - c0[k + 1] * x1;
    x[k + 1] = x1;
    x[k + 2] = x2;
    x[k + 3] = x3;
  }
}

namespace {

// P is the width where it is known to the compiler, 0 otherwise.
template <int P>
LISSOM_INLINE int ldlt(int n, int width, double* A, double* inverse, const double* smallest) {
  const int p = P > 0 ? P : width;
  const long stride = p + 1;
  for (int j = 0; j < n; ++j) {
    double* column = A + j * stride;
    if (!(column[0] > smallest[j])) return j;
    const double inverse_j = inverse[j] = 1 / column[0];
    for (int k = 1; k <= p; ++k) {
      double* target = column + k * stride;
      const double factor = column[k] * inverse_j;
#pragma omp simd
      for (int i = k; i <= p; ++i) target[i - k] -= factor * column[i];
    }
    for (int k = 1; k <= p; ++k) column[k] *= inverse_j;
  }
  return -1;
}

template <int P>
LISSOM_INLINE void ldlt_solve(int n, int width, const double* A, const double* inverse, double* x) {
  const int p = P > 0 ? P : width;
  const long stride = p + 1;
  for (int j = 0; j < std::min(n, p); ++j) {
    double sum = x[j];
    for (int k = j; k >= 1; --k) sum -= A[(j - k) * stride + k] * x[j - k];
    x[j] = sum;
  }
  for (int j = p; j < n; ++j) {
    const double* last =
        A + (j - 1) * stride + 1;  // column j - k has its entry of row j k (stride - 1) before
    double even = 0, odd = x[j];
#pragma GCC unroll 16
    for (int k = p; k >= 2; --k) {
      const double term = last[-(k - 1) * (stride - 1)] * x[j - k];
      (k % 2 == 0 ? even : odd) -= term;
    }
    x[j] = (even + odd) - last[0] * x[j - 1];
  }
  for (int j = 0; j < n; ++j) x[j] *= inverse[j];
  std::fill(x + n, x + n + p, 0.0);
  for (int j = n - 1; j >= 0; --j) {
    const double* column = A + j * stride;
    double even = 0, odd = x[j];
#pragma GCC unroll 16
    for (int k = p; k >= 2; --k) {
      const double term = column[k] * x[j + k];
      (k % 2 == 0 ? even : odd) -= term;
    }
    x[j] = (even + odd) - column[1] * x[j + 1];
  }
}

LISSOM_SIMD int ldlt_7(int n, double* A, double* d, const double* s) {
  return ldlt<7>(n, 7, A, d, s);
}
LISSOM_SIMD int ldlt_9(int n, double* A, double* d, const double* s) {
  return ldlt<9>(n, 9, A, d, s);
}
LISSOM_SIMD int ldlt_11(int n, double* A, double* d, const double* s) {
  return ldlt<11>(n, 11, A, d, s);
}
LISSOM_SIMD int ldlt_15(int n, double* A, double* d, const double* s) {
  return ldlt<15>(n, 15, A, d, s);
}
LISSOM_SIMD int ldlt_any(int n, int p, double* A, double* d, const double* s) {
  return ldlt<0>(n, p, A, d, s);
}
LISSOM_SIMD void solve_7(int n, const double* A, const double* d, double* x) {
  ldlt_solve<7>(n, 7, A, d, x);
}
LISSOM_SIMD void solve_9(int n, const double* A, const double* d, double* x) {
  ldlt_solve<9>(n, 9, A, d, x);
}
LISSOM_SIMD void solve_11(int n, const double* A, const double* d, double* x) {
  ldlt_solve<11>(n, 11, A, d, x);
}
LISSOM_SIMD void solve_15(int n, const double* A, const double* d, double* x) {
  ldlt_solve<15>(n, 15, A, d, x);
}
LISSOM_SIMD void solve_any(int n, int p, const double* A, const double* d, double* x) {
  ldlt_solve<0>(n, p, A, d, x);
}

}  // namespace

int band_width(int half_bandwidth) {
  for (const int p : {7, 9, 11, 15})
    if (half_bandwidth <= p) return p;
  return half_bandwidth;
}

int band_ldlt(int n, int p, double* A, double* inverse, const double* smallest) {
  switch (p) {
    case 7:
      return ldlt_7(n, A, inverse, smallest);
    case 9:
      return ldlt_9(n, A, inverse, smallest);
    case 11:
      return ldlt_11(n, A, inverse, smallest);
    case 15:
      return ldlt_15(n, A, inverse, smallest);
    default:
      return ldlt_any(n, p, A, inverse, smallest);
  }
}

void band_ldlt_solve(int n, int p, const double* A, const double* inverse, double* x) {
  switch (p) {
    case 7:
      return solve_7(n, A, inverse, x);
    case 9:
      return solve_9(n, A, inverse, x);
    case 11:
      return solve_11(n, A, inverse, x);
    case 15:
      return solve_15(n, A, inverse, x);
    default:
      return solve_any(n, p, A, inverse, x);
  }
}

LISSOM_SIMD void band_lu(int n, int kl, int ku, double* A, int* pivots) {
  // at step k the rows k .. k + kl have entries in the columns k .. k + ku + kl; column c of row i is at
  // offset c - i + kl of that row
  const long width = 2L * kl + ku + 1;
  const int reach = ku + kl;
  for (int k = 0; k < n; ++k) {
    const int last = std::min(n - 1, k + kl);
    int p = k;
    double largest = std::abs(A[k * width + kl]);
    for (int i = k + 1; i <= last; ++i) {
      const double x = std::abs(A[i * width + (k - i + kl)]);
      if (x > largest) {
        largest = x;
        p = i;
      }
    }
    pivots[k] = p;
    if (largest == 0) continue;
    double* row_k = A + k * width + kl;
    const int columns = std::min(reach, n - 1 - k);
    if (p != k) {
      double* row_p = A + p * width + (k - p + kl);
      for (int c = 0; c <= columns; ++c) std::swap(row_k[c], row_p[c]);
    }
    const double inverse = 1 / row_k[0];
    for (int i = k + 1; i <= last; ++i) {
      double* row_i = A + i * width + (k - i + kl);
      if (row_i[0] == 0) continue;
      const double factor = row_i[0] *= inverse;
      for (int c = 1; c <= columns; ++c) row_i[c] -= factor * row_k[c];
    }
  }
}

LISSOM_SIMD void band_lu_solve(int n, int kl, int ku, const double* A, const int* pivots, double* x) {
  const long width = 2L * kl + ku + 1;
  for (int k = 0; k < n; ++k) {
    std::swap(x[k], x[pivots[k]]);
    const int last = std::min(n - 1, k + kl);
    for (int i = k + 1; i <= last; ++i) x[i] -= A[i * width + (k - i + kl)] * x[k];
  }
  for (int k = n - 1; k >= 0; --k) {
    const double* row = A + k * width + kl;
    const int columns = std::min(ku + kl, n - 1 - k);
    double sum = x[k];
    for (int c = 1; c <= columns; ++c) sum -= row[c] * x[k + c];
    x[k] = sum / row[0];
  }
}

}  // namespace lissom

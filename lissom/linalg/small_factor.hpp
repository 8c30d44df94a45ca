// Factorisations of small dense and of narrow banded matrices, for which calls of LAPACK cost more than they
// do. Nothing is allocated here.
#pragma once

namespace lissom {

// ---- dense, n by n, column after column

// LU with row exchanges; pivots (n) from zero.
void small_lu(int n, double* A, int* pivots);
void small_lu_solve(int n, const double* A, const int* pivots, double* x);

// L U without row exchanges, of a matrix near to a positive definite one, by fours: columns are `width`
// apart, a multiple of four, n or more, with zeros beyond n; arrays start at multiples of 32 bytes. A
// becomes U without its diagonal, of which `inverse` (n) is one over, L (as A) the strict lower triangle;
// all else in both is zero. Returns the first column whose pivot is not above `smallest` of it (n), or -1.
int small_lu_by_fours(int n, int width, double* A, double* L, double* inverse, const double* smallest);
// x has `width` entries, zero beyond n.
void small_lu_by_fours_solve(int n, int width, const double* A, const double* L, const double* inverse,
                             double* x);

// L D L' of a symmetric positive definite matrix, from its lower triangle and into it, `inverse` (n) being
// 1/D. Returns the first column whose pivot is not above `smallest` of it (n; see below), or -1.
int small_ldlt(int n, double* A, double* inverse, const double* smallest);
void small_ldlt_solve(int n, const double* A, const double* inverse, double* x);

// ---- symmetric banded: column j has its entries on and below the diagonal at A[j * (p + 1) + 0 .. p]; there
// are n + p columns, the last p zero. p is one of those that band_width() returns.

// The smallest width not below the half bandwidth for which there is a loop.
int band_width(int half_bandwidth);
int band_ldlt(int n, int p, double* A, double* inverse, const double* smallest);
// x has room for n + p numbers.
void band_ldlt_solve(int n, int p, const double* A, const double* inverse, double* x);

// ---- banded, kl below and ku above the diagonal, LU with row exchanges: row i has the columns i - kl .. i +
// ku + kl at A[i * (2 kl + ku + 1)], the last kl of them room; entries beyond the matrix are zero.
void band_lu(int n, int kl, int ku, double* A, int* pivots);
void band_lu_solve(int n, int kl, int ku, const double* A, const int* pivots, double* x);

}  // namespace lissom

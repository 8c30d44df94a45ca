// BLAS and LAPACK by their Fortran names: every argument is a pointer, matrices stand column after column.
#pragma once

extern "C" {
// C = alpha op(A) op(B) + beta C
void dgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha,
            const double* A, const int* lda, const double* B, const int* ldb, const double* beta, double* C,
            const int* ldc);
// y = alpha op(A) x + beta y
void dgemv_(const char* op, const int* m, const int* n, const double* alpha, const double* A, const int* lda,
            const double* x, const int* incx, const double* beta, double* y, const int* incy);
// C = alpha A A^T + beta C, one triangle of it
void dsyrk_(const char* triangle, const char* op, const int* n, const int* k, const double* alpha,
            const double* A, const int* lda, const double* beta, double* C, const int* ldc);
// B = alpha op(A)^-1 B or alpha B op(A)^-1 with triangular A
void dtrsm_(const char* side, const char* triangle, const char* op, const char* diagonal, const int* m,
            const int* n, const double* alpha, const double* A, const int* lda, double* B, const int* ldb);
// Cholesky factorisation; info > 0 is the first row without a positive pivot, from one
void dpotrf_(const char* triangle, const int* n, double* A, const int* lda, int* info);
// LU factorisation with row exchanges; info > 0 is the first column with a zero pivot, from one
void dgetrf_(const int* m, const int* n, double* A, const int* lda, int* pivots, int* info);
// eigenvalues il..iu (from one) of a symmetric matrix, ascending, and their vectors; A is overwritten
void dsyevr_(const char* vectors, const char* range, const char* triangle, const int* n, double* A,
             const int* lda, const double* vl, const double* vu, const int* il, const int* iu,
             const double* tolerance, int* found, double* values, double* Z, const int* ldz, int* support,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info);
// all eigenvalues of a symmetric matrix, ascending, by divide and conquer; the vectors take A's place
void dsyevd_(const char* vectors, const char* triangle, const int* n, double* A, const int* lda,
             double* values, double* work, const int* lwork, int* iwork, const int* liwork, int* info);
// the same by QR iteration: slower, and does not fail where the others may
void dsyev_(const char* vectors, const char* triangle, const int* n, double* A, const int* lda,
            double* values, double* work, const int* lwork, int* info);
// QR factorisation: R in the upper triangle, reflectors below it
void dgeqrf_(const int* m, const int* n, double* A, const int* lda, double* tau, double* work,
             const int* lwork, int* info);
// C = op(Q) C or C op(Q) with the Q of k such reflectors
void dormqr_(const char* side, const char* op, const int* m, const int* n, const int* k, const double* A,
             const int* lda, const double* tau, double* C, const int* ldc, double* work, const int* lwork,
             int* info);
// the first n columns of the Q of k such reflectors, in their place
void dorgqr_(const int* m, const int* n, const int* k, double* A, const int* lda, const double* tau,
             double* work, const int* lwork, int* info);
// singular value decomposition by divide and conquer (S: thin U and V^T); A is overwritten
void dgesdd_(const char* job, const int* m, const int* n, double* A, const int* lda, double* S, double* U,
             const int* ldu, double* VT, const int* ldvt, double* work, const int* lwork, int* iwork,
             int* info);
// the same by QR iteration: slower, and does not fail where dgesdd may
void dgesvd_(const char* job_u, const char* job_v, const int* m, const int* n, double* A, const int* lda,
             double* S, double* U, const int* ldu, double* VT, const int* ldvt, double* work,
             const int* lwork, int* info);
// rows and columns of a general matrix scaled to like sizes by powers of two (job S); scale (n)
void dgebal_(const char* job, const int* n, double* A, const int* lda, int* low, int* high, double* scale,
             int* info);
// real Schur form A = Q T Q^T of a general matrix, T in A's place; sort is "N" here, select not called
void dgees_(const char* vectors, const char* sort, int (*select)(const double*, const double*), const int* n,
            double* A, const int* lda, int* selected, double* real, double* imaginary, double* Q,
            const int* ldq, double* work, const int* lwork, int* bwork, int* info);
// the selected eigenvalues of a Schur form brought to its top
void dtrsen_(const char* job, const char* vectors, const int* select, const int* n, double* T, const int* ldt,
             double* Q, const int* ldq, double* real, double* imaginary, int* selected, double* s,
             double* sep, double* work, const int* lwork, int* iwork, const int* liwork, int* info);
// op(A) X + sign X op(B) = scale C for A and B in Schur form, X in C's place
void dtrsyl_(const char* op_a, const char* op_b, const int* sign, const int* m, const int* n, const double* A,
             const int* lda, const double* B, const int* ldb, double* C, const int* ldc, double* scale,
             int* info);
}

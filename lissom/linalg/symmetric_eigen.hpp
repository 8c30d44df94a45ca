// Some eigenvalues of a dense symmetric matrix, through LAPACK.
#pragma once

#include <Eigen/Core>

namespace lissom {

struct SymmetricEigen {
  Eigen::VectorXd values;   // ascending
  Eigen::MatrixXd vectors;  // n by count, orthonormal; empty when not asked for
};

// The eigenvalues number first .. first + count - 1 (from 0) of A (n by n; the lower triangle is read), each
// with an absolute error of round-off times |A|.
//
// LAPACK's dsyevr, which computes just the piece asked for, gives up on some matrices (info = 1, bodies with
// averaging spiders were among them). Divide and conquer (dsyevd) and then QR iteration (dsyev) take over,
// which compute everything. Vectors of any of them are accepted only where they satisfy A X = X diag(values)
// and X' X = 1 to round-off, so that it does not matter which one answered. Throws Error where none does (NaN
// in A).
SymmetricEigen symmetric_eigen(Eigen::MatrixXd A, int first, int count, bool vectors);

// The same, beginning with a driver further down that list; tests look at each of them.
enum class EigenDriver : unsigned char { Dsyevr, Dsyevd, Dsyev };
SymmetricEigen symmetric_eigen_from(EigenDriver driver, const Eigen::Ref<const Eigen::MatrixXd>& A, int first,
                                    int count, bool vectors);

}  // namespace lissom

// Some eigenvalues of a dense symmetric matrix, through LAPACK.
#pragma once

#include <Eigen/Core>

namespace lissom {

struct SymmetricEigen {
  Eigen::VectorXd values;   // ascending
  Eigen::MatrixXd vectors;  // n by count, orthonormal; empty when not asked for
};

// The eigenvalues number first .. first + count - 1 (from 0) of A (n by n; the lower triangle is read), each
// with an absolute error of round-off times |A|. Throws Error where LAPACK finds none (NaN in A).
SymmetricEigen symmetric_eigen(Eigen::MatrixXd A, int first, int count, bool vectors);

}  // namespace lissom

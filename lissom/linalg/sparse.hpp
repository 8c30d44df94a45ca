// Sparse matrices: Eigen's compressed columns. A symmetric matrix is stored as its lower triangle only, and
// says so by its type, so that nobody multiplies with half a matrix by mistake.
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>

namespace lissom {

using SparseMatrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

// A symmetric n by n matrix by its lower triangle, compressed, rows ascending in each column.
struct SymmetricMatrix {
  SparseMatrix lower;

  int size() const { return static_cast<int>(lower.rows()); }
  // The view that Eigen multiplies correctly.
  auto full() const { return lower.selfadjointView<Eigen::Lower>(); }
  Eigen::VectorXd diagonal() const { return lower.diagonal(); }
};

// Y = A X with two threads' worth of parallelism over the columns of X and the rows of A; Y is n by k.
void multiply(const SymmetricMatrix& A, const Eigen::Ref<const Eigen::MatrixXd>& X,
              Eigen::Ref<Eigen::MatrixXd> Y);

}  // namespace lissom

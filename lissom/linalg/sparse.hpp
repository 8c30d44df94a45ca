// Sparse matrices: Eigen's compressed columns. A symmetric matrix is stored as its lower triangle only, and
// says so by its type, so that nobody multiplies with half a matrix by mistake.
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include <span>

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

// Y = A X, with A n by n and X, Y n by k; the columns are shared out to threads four at a time, so that A is
// read from memory once for four of them.
void multiply(const SymmetricMatrix& A, const Eigen::Ref<const Eigen::MatrixXd>& X,
              Eigen::Ref<Eigen::MatrixXd> Y);

// A + factor B; the pattern is the union of both.
SymmetricMatrix add(const SymmetricMatrix& A, double factor, const SymmetricMatrix& B);

// The rows and columns `keep` (ascending) of A.
SymmetricMatrix submatrix(const SymmetricMatrix& A, std::span<const int> keep);

}  // namespace lissom

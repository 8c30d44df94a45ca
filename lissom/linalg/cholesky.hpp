// Sparse Cholesky factorisation A = P^T L L^T P on a METIS ordering of nodes (ordering.hpp): symbolic.hpp
// finds the supernodes, supernodal.hpp computes L and solves with it, on all threads.
#pragma once

#include <Eigen/Core>

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "lissom/core/error.hpp"
#include "lissom/linalg/sparse.hpp"

namespace lissom {

// A is not (numerically) positive definite. `rows` are the rows of A whose pivot vanished or went negative.
class NotPositiveDefinite : public Error {
 public:
  NotPositiveDefinite(const std::string& message, std::vector<int> rows_)
      : Error(message), rows(std::move(rows_)) {}
  std::vector<int> rows;
};

// More memory is needed than there is.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

struct CholeskyStats {
  double nonzeros = 0;  // of L, as stored
  double flops = 0;     // of the numerical factorisation
  double bytes = 0;     // of L
  double ordering_seconds = 0, symbolic_seconds = 0, numeric_seconds = 0;
};

// What the pivots of an indefinite factorisation A = P^T L S L^T P say, S = diag(+1, -1).
struct Inertia {
  int negative = 0;  // pivots, and by Sylvester's law of inertia eigenvalues of A, below zero
  // The largest of sum_j L_ij^2 over the largest |A_ij| of the row, at least 1: 1 where A is positive
  // definite. A leading block that has an eigenvalue next to zero makes it large, because nothing is pivoted.
  // The signs are those of a matrix that differs from A by no more than about growth times round-off of its entries.
  double growth = 1;
};

class Cholesky {
 public:
  // Factorises A. `group[i]` is the node of row i (see nested_dissection); empty orders rows. `progress` is
  // told the fraction of the numerical work that is done. Throws NotPositiveDefinite, and OutOfMemory, before
  // the attempt, when L does not fit in what the machine has left.
  explicit Cholesky(const SymmetricMatrix& A, std::span<const int> group = {},
                    const std::function<void(double)>& progress = {});
  ~Cholesky();
  Cholesky(Cholesky&&) noexcept;
  Cholesky& operator=(Cholesky&&) noexcept;

  // X <- A^-1 X for all columns of X (n by k) at once. Uses workspace of this object: one caller at a time;
  // nothing is allocated unless k is larger than before.
  void solve_in_place(Eigen::Ref<Eigen::MatrixXd> X) const;

  // Factorises a matrix of the same pattern anew, re-using ordering and symbolic analysis.
  void refactor(const SymmetricMatrix& A);

  // The same for a matrix that may have negative eigenvalues: L S L^T without pivoting, of which
  // solve_in_place() makes use, too. A pivot that is exactly zero, or not a number, makes the growth
  // infinite; then nothing is known.
  Inertia refactor_indefinite(const SymmetricMatrix& A);

  // L (n by n, rows and columns in the order of elimination) as a sparse matrix: a copy, for tests.
  SparseMatrix lower_factor() const;

  int size() const;
  const CholeskyStats& stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lissom

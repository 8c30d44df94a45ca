// The lowest eigenpairs of K x = lambda M x by block Lanczos on the shifted inverse.
//
// Notation: sigma < 0 the shift (0 where K is positive definite, as that of a body held at its interfaces),
// OP = (K - sigma M)^-1 M, self-adjoint in the inner product of M, with eigenvalues theta = 1 / (lambda -
// sigma); V the M-orthonormal Krylov basis, T = V^T M OP V.
//
// Method: block Lanczos with full re-orthogonalisation (twice), thick restart when the basis is full
// (Krylov-Schur), and a check for lost multiplicities: before it stops, random directions are mixed into the
// running block; an eigenvector that the first block could not see (because its eigenvalue has more copies
// than the block has columns) shows up as a new Ritz value in the range, which moves the values behind it,
// and the solver goes on until a check moves none of them. Each call of lowest() makes a check of its own.
#pragma once

#include <Eigen/Core>

#include <memory>

#include "lissom/core/progress.hpp"
#include "lissom/linalg/cholesky.hpp"
#include "lissom/linalg/sparse.hpp"

namespace lissom {

struct EigenSolverOptions {
  int block = 0;            // columns solved at once; 0 chooses by the number of pairs
  double tolerance = 1e-9;  // on |OP x - theta x|_M / theta; the error of theta is about its square
  int max_basis = 0;        // columns of V; 0 takes what usually needs no restart
  int max_steps = 500;      // block steps of one call before it gives up
  // Compute the residuals anew from the result, a solve per pair; otherwise they are those of the Lanczos
  // recurrence, which full re-orthogonalisation keeps true.
  bool verify = true;
  // Look for lost copies of multiple eigenvalues before it stops. Off only where a test wants to see that the
  // count (mode_count.hpp) finds what a careless solver loses.
  bool look_for_lost = true;
};

struct EigenPairs {
  Eigen::VectorXd values;     // lambda, ascending
  Eigen::MatrixXd vectors;    // n by count, M-orthonormal
  Eigen::VectorXd residuals;  // |OP x - theta x|_M / theta: an eigenvalue lies within
                              // residual * (lambda - sigma) of each value
  double orthogonality = 0;   // largest entry of |X^T M X - I|
  double shift = 0;
  int solves = 0;  // right-hand sides solved so far, over all calls
  int restarts = 0;
  int recovered = 0;  // pairs that only the multiplicity check brought to light
};

class EigenSolver {
 public:
  // `factor` is the factorisation of K - shift M, positive definite, or indefinite where shift > 0: then the
  // pairs are those next above the shift. It and the matrices must outlive the solver. `known` (n by
  // r, may be empty) are M-orthonormal vectors known to span an eigenspace with lambda = 0: rigid-body modes.
  EigenSolver(const SymmetricMatrix& K, const SymmetricMatrix& M, const Cholesky& factor, double shift,
              const Eigen::Ref<const Eigen::MatrixXd>& known, EigenSolverOptions options = {});
  ~EigenSolver();

  // The next call mixes so many random directions into the running block before it stops, because a count has
  // told that pairs are missing.
  void expect_lost(int missing);

  // The `count` lowest pairs above the shift, or all lowest where it is negative. Calling again
  // with a larger count goes on from the space built so far. Throws
  // Error when it does not converge, and InputError when count exceeds the number of rows.
  EigenPairs lowest(int count, const ProgressHook& progress = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// All eigenpairs of a small problem by a dense method; n by n, ascending.
EigenPairs dense_eigenpairs(const SymmetricMatrix& K, const SymmetricMatrix& M, int count);

}  // namespace lissom

// Invariant subspaces and linear matrix equations of dense matrices without symmetry, through LAPACK.
#pragma once

#include <Eigen/Core>

#include <vector>

namespace lissom {

// D (n) of powers of two, so that rows and columns of D^-1 A D are of like size; A becomes that. Exact.
Eigen::VectorXd balance_rows_and_columns(Eigen::MatrixXd& A);

// A = Q T Q', T quasi upper triangular: pairs of conjugate eigenvalues are blocks of two rows.
struct RealSchur {
  Eigen::MatrixXd T, Q;
  Eigen::VectorXcd eigenvalues;  // in the order of T's diagonal
};
// Throws Error where A is not finite or the iteration does not converge.
RealSchur real_schur(Eigen::MatrixXd A);
// Brings those eigenvalues to the top, in their order; both of a pair or neither. Returns how many there are.
// Throws Error where two of different groups are too close to be told apart.
int bring_to_top(RealSchur& schur, const std::vector<bool>& chosen);

// X with A X - X B = C, and with A X + X A' = C or A' X + X A = C, for A and B in Schur form. Throws Error where
// eigenvalues that must differ (those of A and B; of A and -A) do not.
Eigen::MatrixXd solve_sylvester(const Eigen::Ref<const Eigen::MatrixXd>& A,
                                const Eigen::Ref<const Eigen::MatrixXd>& B, Eigen::MatrixXd C);
Eigen::MatrixXd solve_lyapunov(const Eigen::Ref<const Eigen::MatrixXd>& A, bool transposed,
                               Eigen::MatrixXd C);

}  // namespace lissom

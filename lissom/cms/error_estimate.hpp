// A-posteriori errors of the natural modes of a reduced body, without the eigenproblem of the whole one.
//
// Notation (paper 001): s interior, b interface; A = M_s Psi + M_c with Psi the constraint modes; Phi_d,
// kappa the fixed-interface modes kept and their eigenvalues, kappa_next the lowest one left out; F_rs =
// K_s^-1 - Phi_d Lambda_d^-1 Phi_d' (never formed);
//   B = F_rs A,  B_2 = F_rs M_s B,  X_b = A' B,  X_2 = B' M_s B,  X_3 = B' M_s B_2,  X_4 = B_2' M_s B_2 (all
//   N_b by N_b).
// chi_bar an eigenvalue of the reduced body and xi the interface part of its vector, which has unit modal
// mass.
//
// Plain basis (modes and constraint modes):
//   Eq. 45      chi_bar xi' X_b xi, the "lower" estimate
//   Eqs. 42-43  (chi_bar + chi_bar^2 / kappa_n) xi' X_b xi, n the flexible number; called an upper bound,
//   which it is not zeta_2      chi_bar xi' X_b xi + chi_bar^2 xi' X_2 xi (Eq. 36 without its neglects)
// Basis enriched with the residual vectors B v (X_b v = theta X_2 v): with b = v y_B, a = b - chi_bar xi
//   r'e = a' X_b a - 2 chi_bar a' X_2 b + chi_bar^2 b' X_3 b,  e' M_s e = a' X_2 a - 2 chi_bar a' X_3 b +
//   chi_bar^2 b' X_4 b, zeta_2 = r'e / chi_bar + e' M_s e.
// Enclosure, for either basis: the modes left out change the interface's dynamic stiffness at t by -t^2 R(t),
//   R(t) = sum a_j a_j' / (kappa_j - t) <= R_U = X_b + s X_2 + s^2 X_3 + s^3 X_4 / (1 - s / kappa_next)   for
//   t <= s < kappa_next
// as symmetric matrices, so that the whole body has no more eigenvalues below t <= s than the plain pencil
// with K_b reduced by s^2 R_U. With s = chi_bar_n and mu_n that pencil's n-th eigenvalue (rigid ones
// counted), min(mu_n, s) <= chi_n <= s. (The errata stop the series after X_2 / (1 - s / kappa_next), which
// is wider; X_3 and X_4 are there for zeta_2 anyway.) What is proven is proven of the matrices as they are
// stored and solved with, so that the bound has two more terms at each end: the round-off of the small
// eigenproblem, and what round-off of K's entries makes of the body's own eigenvalue (EstimateOptions).
#pragma once

#include <Eigen/Core>

#include "lissom/cms/error_table.hpp"
#include "lissom/cms/reduced_pencil.hpp"

namespace lissom {

// What the interior modes that were left out would do at the interface.
struct ResidualTerms {
  Eigen::MatrixXd X_b, X_2, X_3, X_4;
  double kappa_next = 0;  // infinite when every mode is kept
  Eigen::VectorXd floor;  // N_b: diagonal entries of X_2 below are round-off; may be empty
};

// The residual vectors, made orthonormal: B v with v' X_2 v = I and v' X_b v = diag(theta).
struct ResidualVectors {
  Eigen::MatrixXd v;      // N_b by r
  Eigen::VectorXd theta;  // r, ascending
};
// Directions that X_2, scaled to a unit diagonal, cannot tell apart (below 1e-12) are dropped: r <= N_b.
ResidualVectors orthonormal_residuals(const Eigen::Ref<const Eigen::MatrixXd>& X_b,
                                      const Eigen::Ref<const Eigen::MatrixXd>& X_2);
// The same without the columns of B that are round-off, as they are where the modes kept leave nothing of A.
ResidualVectors orthonormal_residuals(const ResidualTerms& terms);

// A reduced body in small matrices, with what is needed to judge it.
struct ReducedProblem {
  ReducedPencil plain;     // fixed-interface modes kept, and constraint modes
  Eigen::VectorXd kappa;   // all fixed-interface eigenvalues known, ascending (for Eqs. 42-43)
  ResidualTerms residual;  // of what is not kept
  bool enriched = false;   // the residual vectors are part of the basis
};

// The basis whose modes are the result: the plain one, or the enriched one, whose residual vectors follow the
// modes.
ReducedPencil pencil_of(const ReducedProblem& problem, const ResidualVectors& vectors);

struct EstimateOptions {
  int rigid_count = 0;
  int range = 0;       // flexible modes looked at
  bool bounds = true;  // the enclosure too, which costs an eigenvalue per mode
  double bound_goal =
      0;  // stop at the first bound above bound_limit() of it, leaving those of other modes unknown; 0
          // computes all
  // [rad2/s2], one per flexible mode in range (the last one stands for those behind it; empty: none)
  Eigen::VectorXd roundoff = {};
};

// What the bound of a flexible mode (from 0) must meet: the goal, or what round-off leaves of it. Round-off
// stands at both ends of the enclosure; as much again is left to the modes that are not kept.
double bound_limit(const EstimateOptions& options, int flexible, double eigenvalue);

// The error of each flexible mode in range (fewer if the reduced body has fewer). The paper's two estimates
// are given for plain bases only. `modes` receives the reduced modes, rigid ones included, if it is not null.
std::vector<ModeError> estimate_errors(const ReducedProblem& problem, const EstimateOptions& options,
                                       ReducedModes* modes = nullptr);

}  // namespace lissom

// The eigenproblem of a body reduced with all its constraint modes kept.
//
// Notation: interior coordinates that are orthonormal in M and diagonal in K, lambda (n_i); P (n_i by N_b)
// their coupling to the interface in M; K_b, M_b (N_b by N_b) of the constraint modes. The pencil is
//   K_bar = [ diag(lambda)  0  ]     M_bar = [ I   P   ]
//           [ 0            K_b ]             [ P'  M_b ].
// With C C' = M_b - P' P it is similar to the standard problem of the symmetric "arrow"
//   H = [ diag(lambda)   E ]    E = -diag(lambda) P C^-T,   G = C^-1 (K_b + P' diag(lambda) P) C^-T,
//       [ E'             G ]
// of which a change of K_b alters G alone.
#pragma once

#include <Eigen/Core>

namespace lissom {

struct ReducedPencil {
  Eigen::VectorXd lambda;
  Eigen::MatrixXd P, K_b, M_b;

  int interior() const { return static_cast<int>(lambda.size()); }
  int interface() const { return static_cast<int>(K_b.rows()); }
  int size() const { return interior() + interface(); }
  Eigen::MatrixXd stiffness() const;  // K_bar
  Eigen::MatrixXd mass() const;       // M_bar
};

struct ReducedModes {
  Eigen::VectorXd values;   // ascending
  Eigen::MatrixXd vectors;  // size by count, M_bar-orthonormal; interior rows first
};

class PencilSolver {
 public:
  // Throws Error where M_b - P' P is not positive definite: interface degrees of freedom without mass of
  // their own.
  explicit PencilSolver(const ReducedPencil& pencil);

  // The lowest `count` modes.
  ReducedModes lowest(int count) const;
  // C^-1 X C^-T of a symmetric X (N_b by N_b), as eigenvalue() wants it: many changes of K_b are sums of a
  // few matrices.
  Eigen::MatrixXd transformed(const Eigen::Ref<const Eigen::MatrixXd>& X) const;
  // Eigenvalue number n (from 0) with K_b reduced by W, of which transformed(W) is given.
  double eigenvalue(int n, const Eigen::Ref<const Eigen::MatrixXd>& transformed_W) const;
  // What round-off may have done to an eigenvalue: a few units in the last place of the largest one.
  double roundoff() const { return roundoff_; }

 private:
  int interior_, interface_;
  double roundoff_ = 0;
  Eigen::MatrixXd H_;  // lower triangle
  Eigen::MatrixXd C_;  // lower triangular
  Eigen::MatrixXd P_;
};

}  // namespace lissom

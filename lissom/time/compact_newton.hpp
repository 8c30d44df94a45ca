// The nonlinear equations of one implicit step (newton_solver.hpp) for compact equations
// (Equations::is_compact): a new matrix in every iteration, as it costs little more than a residual, so
// that nearly every step takes one. It stops on the increment as NewtonSolver does, so that results are as
// exact. NewtonOptions::reuse_rate has no say.
//
// The matrix is factorised without exchanges of rows: it is near to the mass matrix, which is positive
// definite (L U by fours; L D L' of larger symmetric ones). Where a pivot comes out too small for that, the
// matrix is made again and rows are exchanged. Nothing is allocated after construction.
#pragma once

#include <Eigen/Core>

#include <string>
#include <vector>

#include "lissom/core/archive.hpp"
#include "lissom/linalg/row_products.hpp"
#include "lissom/time/integrate.hpp"
#include "lissom/time/newton_solver.hpp"

namespace lissom {

class CompactNewton {
 public:
  CompactNewton(Equations& equations, const NewtonOptions& options, IntegrationSummary& summary);

  // As NewtonSolver::solve(), without `f`.
  bool solve(const ImplicitStep& step, State& state);
  const std::string& failure() const { return failure_; }
  void archive(Archive& archive) { archive(curvature_); }

 private:
  // The matrix and minus the residual; then the matrix factorised.
  bool make(const ImplicitStep& step, const State& state);
  bool factorise(const ImplicitStep& step, const State& state);

  Equations& equations_;
  const NewtonOptions options_;
  IntegrationSummary& summary_;
  const int n_;
  const int width_;
  const bool by_halves_;  // L D L'
  const double length_;
  double curvature_;
  Eigen::VectorXd r_, inverse_, smallest_;
  Eigen::MatrixXd J_;
  AlignedArray x_, U_, L_;
  std::vector<int> pivots_;
  bool exchanged_ = false;  // J_ is factorised with exchanges of rows
  std::string failure_;
};

}  // namespace lissom

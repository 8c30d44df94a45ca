// Non-negative least squares: w >= 0 that makes |A w - b| small, by the active set method of Lawson and
// Hanson (Solving Least Squares Problems, 1974, chapter 23), stopped as soon as the residual is small enough:
// then few weights are positive, which is what empirical quadrature wants.
#pragma once

#include <Eigen/Core>

#include <vector>

namespace lissom {

struct NnlsOptions {
  double tolerance = 0;    // stops at |A w - b| <= tolerance |b|; 0: goes on to the minimum
  int most_active = 0;     // so many positive weights at most; 0: as many as A has rows or columns
  int max_iterations = 0;  // 0: three times the number of columns
};

struct NnlsResult {
  Eigen::VectorXd weights;  // n, >= 0
  std::vector<int> active;  // the positive ones, ascending
  double residual = 0;      // |A w - b| / |b|; 0 where b is zero
  bool reached = false;     // the tolerance
  bool minimum = false;     // no weight can be raised to make the residual smaller: it is the minimum
  int iterations = 0;
};

// A (m by n), b (m). Columns are compared by the angle that they make with the residual, so that their
// lengths have no say. The active columns are kept as Q R, updated as columns come and go.
NnlsResult nnls(const Eigen::MatrixXd& A, const Eigen::VectorXd& b, const NnlsOptions& options = {});

}  // namespace lissom

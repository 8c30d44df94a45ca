// LU factorisation with row pivoting of an unsymmetric sparse matrix whose pattern never changes: columns are
// ordered once. Eigen's supernodal SparseLU does the work, compiled here alone. On Newton matrices of trees
// and loops of 6 to 800 bodies it took a third to three quarters of UMFPACK's time.
#pragma once

#include <memory>
#include <span>
#include <vector>

namespace lissom {

class SparseLu {
 public:
  // The pattern by columns: rows of column c are row[start[c] .. start[c+1]), ascending.
  SparseLu(int n, std::span<const int> start, std::span<const int> row);
  ~SparseLu();
  SparseLu(SparseLu&&) noexcept;
  SparseLu& operator=(SparseLu&&) noexcept;

  // About how many microseconds a factorisation takes, from one with random numbers: the same on every
  // machine, so that choices made by it are too.
  double estimated_microseconds() const;

  // Factorises the matrix whose rows are scaled by `row_scale` (n). Where a column has no pivot at all the
  // factors are of no use, and missing_pivot() is that column; otherwise -1.
  void factorise(std::span<const double> values, std::span<const double> row_scale);
  int missing_pivot() const;
  // Pivots by column of the matrix.
  std::span<const double> pivots() const;

  // x <- A^-1 x; x is the unscaled right-hand side. Uses workspace of this object and allocates nothing.
  void solve_in_place(std::span<double> x) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lissom

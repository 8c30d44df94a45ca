// Products of small dense matrices in tiles of four by four, for kernels that are called a million times a
// second and whose time is that of reading the matrix. Compiled for AVX2 and for any x86-64; the processor
// decides, once. Arrays are aligned as AlignedArray, and filled up with zeros to a multiple of four.
#pragma once

#include <Eigen/Core>

#include "lissom/linalg/row_products.hpp"

namespace lissom {

// A symmetric matrix by its lower half, tile after tile of each four columns: half the memory of the matrix,
// read in one stream.
class SymmetricTiles {
 public:
  SymmetricTiles() = default;
  // Reads the lower triangle of A.
  explicit SymmetricTiles(const Eigen::Ref<const Eigen::MatrixXd>& A);
  Eigen::Index size() const { return size_; }
  Eigen::Index padded() const { return 4 * blocks_; }
  // y = A x, both padded() long.
  void multiply(const double* x, double* y) const;

 private:
  Eigen::Index size_ = 0, blocks_ = 0;
  AlignedArray values_;
};

// C(k, l) = sum_i P(i, k) Y(i, l), i < rows, for k, l < n; of `lower` only tiles on and below the diagonal.
// P and Y row by row with `stride` (a multiple of four, >= n); C column by column with the same stride.
void tile_product(Eigen::Index rows, Eigen::Index n, const double* P, const double* Y, Eigen::Index stride,
                  bool lower, double* C);

// Rows Y_a = sum_b H(a, b) P_b, a, b < m, of `groups` groups of m rows each with its own H, column by column.
void mix_rows(Eigen::Index groups, Eigen::Index m, const double* H, const double* P, Eigen::Index stride,
              double* Y);

}  // namespace lissom

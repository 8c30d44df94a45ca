// The square matrix of a Newton iteration, unsymmetric, filled block by block from small dense matrices,
// factorised and solved with: dense (LAPACK) where it is small or full, sparse (UMFPACK) otherwise, with the
// symbolic part done once. Where the blocks stand never changes, so nothing is allocated after construction,
// but for the factors that UMFPACK keeps. Rows are scaled by their largest entry; units may differ.
#pragma once

#include <Eigen/Core>

#include <memory>
#include <span>
#include <vector>

namespace lissom {

// A dense block of a matrix: the rows and columns that it may fill, all combinations of them.
struct MatrixBlock {
  std::vector<int> rows, columns;
};

class NewtonMatrix {
 public:
  enum class Storage { Automatic, Dense, Sparse };

  // n by n, able to hold the blocks. Automatic is dense up to some hundred rows and for full matrices.
  NewtonMatrix(int n, const std::vector<MatrixBlock>& blocks, Storage storage = Storage::Automatic);
  ~NewtonMatrix();
  NewtonMatrix(NewtonMatrix&&) noexcept;
  NewtonMatrix& operator=(NewtonMatrix&&) noexcept;

  int size() const;
  bool is_sparse() const;

  void set_zero();
  // Adds `values` (rows of the block by its columns) times `factor`. The block is one of the constructor's,
  // by its number.
  void add(int block, const Eigen::Ref<const Eigen::MatrixXd>& values, double factor = 1);

  // Factorises what is there. Returns false where the matrix is singular to working precision or has entries
  // that are not finite; singular_row() then says where: the unknown for which the elimination found nothing
  // left, or the row that is zero or not finite.
  bool factorise();
  int singular_row() const;
  // The right-hand side becomes the solution.
  void solve_in_place(Eigen::Ref<Eigen::VectorXd> x) const;

  // y = A x with the matrix before it was factorised; for tests and refinement.
  void multiply(const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::VectorXd> y) const;
  Eigen::MatrixXd dense() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lissom

// The square matrix of a Newton iteration, filled block by block from small dense matrices, factorised and
// solved with: dense where it is small or full, banded where its graph is a chain (beams), sparse
// (sparse_lu.hpp) otherwise, with the symbolic part done once. A matrix that is said to be symmetric is first
// taken to be positive definite (L D L', half the room); where it is not, it is factorised as any other.
// Where the blocks stand never changes, so nothing is allocated after construction, but for the factors of a
// sparse one. Rows of unsymmetric matrices are scaled by their largest entry; units may differ.
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
  enum class Storage { Automatic, Dense, Banded, Sparse };
  enum class Symmetry { None, Symmetric };

  // n by n, able to hold the blocks. Automatic takes what will be fastest. Of a symmetric matrix (dense or
  // banded; a sparse one makes no use of it) blocks with the same rows and columns count by their lower
  // triangle, and of a block and its transpose, both of which are to be there, one is used.
  NewtonMatrix(int n, const std::vector<MatrixBlock>& blocks, Storage storage = Storage::Automatic,
               Symmetry symmetry = Symmetry::None);
  ~NewtonMatrix();
  NewtonMatrix(NewtonMatrix&&) noexcept;
  NewtonMatrix& operator=(NewtonMatrix&&) noexcept;

  int size() const;
  Storage storage() const;    // never Automatic
  bool is_symmetric() const;  // one half is stored

  void set_zero();
  // Adds `values` (rows of the block by its columns) times `factor`. The block is one of the constructor's,
  // by its number.
  void add(int block, const Eigen::Ref<const Eigen::MatrixXd>& values, double factor = 1);

  // The entries themselves, for those who fill many small blocks: entry (i, j) of a block is values()[
  // places(block)[i + j * its rows]], zero before set_zero() and what is added. Of a symmetric matrix the
  // half that is not used has a place of its own.
  double* values();
  const int* places(int block) const;

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

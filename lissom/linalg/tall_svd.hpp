// Singular value decomposition of a tall matrix that arrives in blocks of columns and is never held as a
// whole: X (n by k) = W diag(sigma) V'.
//
// An orthonormal basis Q of the columns so far grows by what each block adds: the block is projected twice on
// Q, and directions of the rest above `tolerance` times the largest column norm so far are taken in. With
// H = Q' X (r by k) kept, the decomposition of the small H gives that of X: a true one, and not through X' X,
// whose squares would bury singular values below 1e-8 of the largest.
#pragma once

#include <Eigen/Core>

#include <vector>

namespace lissom {

struct TallSvd {
  Eigen::MatrixXd W;           // n by r, orthonormal
  Eigen::VectorXd sigma;       // r, descending
  Eigen::MatrixXd V;           // k by r, orthonormal
  double orthogonality = 0;    // largest entry of |W' W - I|, measured
  double left_out = 0;         // Frobenius norm of what the tolerance left out, at most
  bool reached_limit = false;  // max_rank stopped the growth: the decomposition is that of a projection
};

class TallSvdBuilder {
 public:
  // `max_rank` limits memory to 8 n max_rank bytes and a few blocks; 0: no limit.
  explicit TallSvdBuilder(Eigen::Index rows, double tolerance = 1e-14, Eigen::Index max_rank = 0);
  // Any number of columns at a time; several tens are quickest. Overwrites the block.
  void add(Eigen::Ref<Eigen::MatrixXd> block);
  Eigen::Index columns() const { return columns_; }
  Eigen::Index rank() const { return rank_; }
  // W has at most `count` columns (0: all). The builder is used up.
  TallSvd finish(Eigen::Index count = 0);

 private:
  Eigen::MatrixXd Q_;               // n by capacity, of which rank_ columns count
  std::vector<Eigen::MatrixXd> H_;  // coefficients of each block
  Eigen::Index rank_ = 0, columns_ = 0, max_rank_ = 0;
  double tolerance_ = 0, largest_ = 0, left_out_ = 0;
  bool reached_limit_ = false;
};

// Of a matrix in memory, n >= k or not, through LAPACK; W and V have min(n, k) columns.
TallSvd dense_svd(const Eigen::Ref<const Eigen::MatrixXd>& X);

}  // namespace lissom

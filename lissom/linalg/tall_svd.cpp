#include "lissom/linalg/tall_svd.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lissom/core/error.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/fortran_blas.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Calls f(work, lwork, info) twice: for the size of its work space, and for its work.
template <class F>
int with_work(F f) {
  int info = 0, size = -1;
  double best = 0;
  f(&best, &size, &info);
  size = std::max(1, static_cast<int>(best));
  std::vector<double> work(size);
  f(work.data(), &size, &info);
  return info;
}

// X = U diag(S) VT.
struct SmallSvd {
  MatrixXd U, VT;
  VectorXd S;
};

SmallSvd lapack_svd(MatrixXd X) {
  const BlasThreads one;
  const int n = static_cast<int>(X.rows()), k = static_cast<int>(X.cols()), r = std::min(n, k);
  SmallSvd out{MatrixXd(n, r), MatrixXd(r, k), VectorXd(r)};
  if (r == 0) return out;
  // LAPACK may loop for ever over a NaN
  if (!X.allFinite()) fail("singular values are asked of a matrix with a number that is not finite");
  MatrixXd A = X;
  std::vector<int> iwork(8 * static_cast<size_t>(r));
  int info = with_work([&](double* work, const int* lwork, int* status) {
    dgesdd_("S", &n, &k, A.data(), &n, out.S.data(), out.U.data(), &n, out.VT.data(), &r, work, lwork,
            iwork.data(), status);
  });
  // divide and conquer gives up on a few matrices; QR iteration finds the same numbers
  if (info > 0)
    info = with_work([&](double* work, const int* lwork, int* status) {
      dgesvd_("S", "S", &n, &k, X.data(), &n, out.S.data(), out.U.data(), &n, out.VT.data(), &r, work, lwork,
              status);
    });
  if (info != 0)
    fail("the singular value decomposition of a {} by {} matrix failed (LAPACK: {})", n, k, info);
  return out;
}

double largest_off_identity(const MatrixXd& W) {
  if (W.cols() == 0) return 0;
  MatrixXd G(W.cols(), W.cols());
  gemm(true, false, 1, W, W, 0, G);
  G.diagonal().array() -= 1;
  return G.cwiseAbs().maxCoeff();
}

// The Householder QR of A in A itself.
struct Reflectors {
  VectorXd tau;
  explicit Reflectors(MatrixXd& A) : tau(std::min(A.rows(), A.cols())) {
    const int n = static_cast<int>(A.rows()), b = static_cast<int>(A.cols());
    const int info = with_work([&](double* work, const int* lwork, int* status) {
      dgeqrf_(&n, &b, A.data(), &n, tau.data(), work, lwork, status);
    });
    LISSOM_ASSERT(info == 0);
  }
};

// Orthonormal columns that span those of A.
void orthonormalise(MatrixXd& A) {
  const BlasThreads one;
  const Reflectors qr(A);
  const int n = static_cast<int>(A.rows()), b = static_cast<int>(A.cols());
  const int info = with_work([&](double* work, const int* lwork, int* status) {
    dorgqr_(&n, &b, &b, A.data(), &n, qr.tau.data(), work, lwork, status);
  });
  LISSOM_ASSERT(info == 0);
}

// Left singular vectors of A (n by b), each of length one, with all min(n, b) singular values. The QR first
// makes the decomposition one of a small matrix.
struct Directions {
  MatrixXd qr;  // reflectors and R
  VectorXd tau;
  SmallSvd small;

  explicit Directions(MatrixXd A) : qr(std::move(A)) {
    const BlasThreads one;
    tau = Reflectors(qr).tau;
    const Index m = tau.size();
    small = lapack_svd(qr.topRows(m).triangularView<Eigen::Upper>());
  }
  const VectorXd& values() const { return small.S; }
  MatrixXd first(Index count) const {
    const BlasThreads one;
    MatrixXd N = MatrixXd::Zero(qr.rows(), count);
    N.topRows(tau.size()) = small.U.leftCols(count);
    const int n = static_cast<int>(N.rows()), s = static_cast<int>(count), m = static_cast<int>(tau.size());
    const int info = with_work([&](double* work, const int* lwork, int* status) {
      dormqr_("L", "N", &n, &s, &m, qr.data(), &n, tau.data(), N.data(), &n, work, lwork, status);
    });
    LISSOM_ASSERT(info == 0);
    return N;
  }
};

}  // namespace

TallSvdBuilder::TallSvdBuilder(Index rows, double tolerance, Index max_rank)
    : max_rank_(max_rank > 0 ? std::min(max_rank, rows) : rows), tolerance_(tolerance) {
  LISSOM_ASSERT(rows >= 0 && max_rank >= 0 && tolerance >= 0);
  Q_.resize(rows, 0);
}

void TallSvdBuilder::add(Eigen::Ref<MatrixXd> block) {
  LISSOM_ASSERT(block.rows() == Q_.rows());
  const Index b = block.cols();
  columns_ += b;
  if (b == 0) return;
  const double norm = block.colwise().norm().maxCoeff();
  if (!block.allFinite()) fail("singular values are asked of data with a number that is not finite");
  largest_ = std::max(largest_, norm);

  // twice is enough: the second projection takes out what rounding left of the first
  MatrixXd H = MatrixXd::Zero(rank_, b);
  const auto Q = Q_.leftCols(rank_);
  if (rank_ > 0) {
    MatrixXd part(rank_, b);
    for (int pass = 0; pass < 2; ++pass) {
      gemm(true, false, 1, Q, block, 0, part);
      gemm(false, false, -1, Q, part, 1, block);
      H += part;
    }
  }

  const double threshold = tolerance_ * largest_;
  const double rest = block.norm();
  if (rest <= threshold) {  // no direction can be above
    left_out_ = std::hypot(left_out_, rest);
    H_.push_back(std::move(H));
    return;
  }

  const Directions directions{MatrixXd(block)};
  const VectorXd& values = directions.values();
  Index above = 0;
  while (above < values.size() && values[above] > threshold) ++above;
  const Index taken = std::min(above, max_rank_ - rank_);
  // where Q spans the whole space already, what is left is rounding
  reached_limit_ = reached_limit_ || (taken < above && max_rank_ < Q_.rows());
  left_out_ = std::hypot(left_out_, values.tail(values.size() - taken).norm());
  if (taken > 0) {
    // a small singular value divides the rounding of the large columns: what its vector has of Q goes out
    MatrixXd N = directions.first(taken);
    if (rank_ > 0) {
      MatrixXd part(rank_, taken);
      for (int pass = 0; pass < 2; ++pass) {
        gemm(true, false, 1, Q, N, 0, part);
        gemm(false, false, -1, Q, part, 1, N);
        orthonormalise(N);
      }
    }
    // reflections leave lengths short by a few roundings, which would be missing from the singular values
    N.colwise().normalize();
    H.conservativeResize(rank_ + taken, b);
    gemm(true, false, 1, N, block, 0, H.bottomRows(taken));
    // room for more than is needed; pages that are not touched cost nothing, and realloc moves none
    if (Q_.cols() < rank_ + taken)
      Q_.conservativeResize(Eigen::NoChange,
                            std::min(max_rank_, std::max(rank_ + taken, Q_.cols() + Q_.cols() / 2 + 16)));
    Q_.middleCols(rank_, taken) = N;
    rank_ += taken;
  }
  H_.push_back(std::move(H));
}

TallSvd TallSvdBuilder::finish(Index count) {
  TallSvd out;
  out.left_out = left_out_;
  out.reached_limit = reached_limit_;
  MatrixXd H = MatrixXd::Zero(rank_, columns_);
  Index column = 0;
  for (const MatrixXd& part : H_) {
    H.block(0, column, part.rows(), part.cols()) = part;
    column += part.cols();
  }
  H_.clear();
  SmallSvd small = lapack_svd(std::move(H));
  const Index all = small.S.size(), kept = count > 0 ? std::min(count, all) : all;
  out.sigma = small.S.head(kept);
  out.V = small.VT.topRows(kept).transpose();

  // W = Q U in Q's own place, some rows at a time
  constexpr Index rows_at_a_time = 4096;
  const MatrixXd U = small.U.leftCols(kept);
  for (Index row = 0; row < Q_.rows() && kept > 0; row += rows_at_a_time) {
    const Index rows = std::min(rows_at_a_time, Q_.rows() - row);
    const MatrixXd piece = Q_.block(row, 0, rows, rank_);
    gemm(false, false, 1, piece, U, 0, Q_.block(row, 0, rows, kept));
  }
  Q_.conservativeResize(Eigen::NoChange, kept);
  out.W = std::move(Q_);
  Q_.resize(0, 0);
  rank_ = 0;
  out.orthogonality = largest_off_identity(out.W);
  return out;
}

TallSvd dense_svd(const Eigen::Ref<const MatrixXd>& X) {
  SmallSvd small = lapack_svd(X);
  TallSvd out;
  out.W = std::move(small.U);
  out.sigma = std::move(small.S);
  out.V = small.VT.transpose();
  out.orthogonality = largest_off_identity(out.W);
  return out;
}

}  // namespace lissom

#include "lissom/rom/pod/nnls.hpp"

#include <Eigen/Jacobi>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lissom/core/error.hpp"
#include "lissom/linalg/blas.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Q R of the active columns, in the order in which they came.
class ActiveSet {
 public:
  ActiveSet(const VectorXd& b, Index most) : b_(b), Q_(b.size(), most), R_(most, most), y_(most) {
    R_.setZero();
  }
  int size() const { return static_cast<int>(columns_.size()); }
  int column(int i) const { return columns_[static_cast<size_t>(i)]; }

  // False, and nothing done, where the column (of length one) depends on those there are.
  bool add(int index, const Eigen::Ref<const VectorXd>& column) {
    const Index k = size();
    auto q = Q_.col(k);
    q = column;
    VectorXd h = VectorXd::Zero(k);
    for (int pass = 0; pass < 2; ++pass) {
      const VectorXd part = Q_.leftCols(k).transpose() * q;
      q.noalias() -= Q_.leftCols(k) * part;
      h += part;
    }
    const double length = q.norm();
    if (!(length > 1e-10)) return false;
    q /= length;
    R_.col(k).head(k) = h;
    R_(k, k) = length;
    y_[k] = q.dot(b_);
    columns_.push_back(index);
    return true;
  }

  // Leaves an upper Hessenberg R behind; rotations make it triangular again.
  void remove(int i) {
    const Index k = size();
    for (Index j = i; j + 1 < k; ++j) R_.col(j).head(k) = R_.col(j + 1).head(k);
    for (Index j = i; j + 1 < k; ++j) {
      Eigen::JacobiRotation<double> turn;
      turn.makeGivens(R_(j, j), R_(j + 1, j));
      R_.block(j, j, 2, k - 1 - j).applyOnTheLeft(0, 1, turn.adjoint());
      Q_.leftCols(k).applyOnTheRight(j, j + 1, turn);
      R_(j + 1, j) = 0;
    }
    for (Index j = i; j + 1 < k; ++j) y_[j] = Q_.col(j).dot(b_);
    R_.col(k - 1).setZero();
    R_.row(k - 1).setZero();
    columns_.erase(columns_.begin() + i);
  }

  VectorXd solution() const {
    const Index k = size();
    return R_.topLeftCorner(k, k).triangularView<Eigen::Upper>().solve(y_.head(k));
  }
  void residual(VectorXd& r) const {
    const Index k = size();
    r = b_;
    r.noalias() -= Q_.leftCols(k) * y_.head(k);
  }

 private:
  const VectorXd& b_;
  MatrixXd Q_, R_;
  VectorXd y_;  // Q' b
  std::vector<int> columns_;
};

}  // namespace

NnlsResult nnls(const MatrixXd& A, const VectorXd& b, const NnlsOptions& options) {
  const Index m = A.rows(), n = A.cols();
  LISSOM_ASSERT(b.size() == m);
  NnlsResult out;
  out.weights = VectorXd::Zero(n);
  const double size = b.norm();
  if (!(size > 0) || n == 0) {
    out.reached = out.minimum = !(size > 0);
    out.residual = size > 0 ? 1 : 0;
    return out;
  }
  const VectorXd lengths = A.colwise().norm();
  VectorXd inverse(n);
  for (Index j = 0; j < n; ++j) inverse[j] = lengths[j] > 0 ? 1 / lengths[j] : 0;
  const Index limit = std::min(m, n);
  const Index most = options.most_active > 0 ? std::min<Index>(options.most_active, limit) : limit;
  const long iterations = options.max_iterations > 0 ? options.max_iterations : 3 * n;

  // weights of columns of length one, of active columns in their order
  ActiveSet active(b, std::min(limit, most + 1));
  std::vector<double> w;
  std::vector<bool> barred(static_cast<size_t>(n), false), used(static_cast<size_t>(n), false);
  VectorXd r = b, g(n);
  const double noise = 10 * std::numeric_limits<double>::epsilon() * std::sqrt(static_cast<double>(m)) * size;
  while (true) {
    if (r.norm() <= options.tolerance * size) {
      out.reached = true;
      break;
    }
    if (active.size() >= most || out.iterations >= iterations) break;
    ++out.iterations;
    gemm(true, false, 1, A, r, 0, g);
    g.array() *= inverse.array();
    // the steepest column that makes it into the set with a positive weight
    VectorXd z;
    bool entered = false;
    while (!entered) {
      Index best = -1;
      for (Index j = 0; j < n; ++j)
        if (!used[static_cast<size_t>(j)] && !barred[static_cast<size_t>(j)] && g[j] > noise &&
            (best < 0 || g[j] > g[best]))
          best = j;
      if (best < 0) break;
      if (active.add(static_cast<int>(best), A.col(best) * inverse[best])) {
        z = active.solution();
        if (z[z.size() - 1] > 0) {
          used[static_cast<size_t>(best)] = true;
          w.push_back(0);
          entered = true;
          break;
        }
        active.remove(active.size() - 1);
      }
      barred[static_cast<size_t>(best)] = true;
    }
    if (!entered) {
      out.minimum = true;
      break;
    }
    // back along the line to the solution to where the first weight vanishes, until none does
    while (z.size() > 0 && !(z.minCoeff() > 0)) {
      double step = 1;
      for (Index i = 0; i < z.size(); ++i)
        if (!(z[i] > 0))
          step = std::min(step, w[static_cast<size_t>(i)] / (w[static_cast<size_t>(i)] - z[i]));
      double largest = 0;
      for (Index i = 0; i < z.size(); ++i) {
        double& weight = w[static_cast<size_t>(i)];
        weight += step * (z[i] - weight);
        largest = std::max(largest, weight);
      }
      bool removed = false;
      for (int i = active.size() - 1; i >= 0; --i)
        if (!(z[i] > 0) && w[static_cast<size_t>(i)] <= 1e-14 * largest) {
          used[static_cast<size_t>(active.column(i))] = false;
          active.remove(i);
          w.erase(w.begin() + i);
          removed = true;
        }
      LISSOM_ASSERT(removed);
      z = active.solution();
    }
    w.assign(z.data(), z.data() + z.size());
    const double before = r.norm();
    active.residual(r);
    // a column that was refused may be good again once the residual has changed
    if (r.norm() < (1 - 1e-12) * before) std::fill(barred.begin(), barred.end(), false);
  }

  for (int i = 0; i < active.size(); ++i) {
    const int j = active.column(i);
    out.weights[j] = w[static_cast<size_t>(i)] * inverse[j];
    out.active.push_back(j);
  }
  std::sort(out.active.begin(), out.active.end());
  VectorXd left = -b;
  for (const int j : out.active) left += out.weights[j] * A.col(j);
  out.residual = left.norm() / size;
  return out;
}

}  // namespace lissom

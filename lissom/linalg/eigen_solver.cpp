#include "lissom/linalg/eigen_solver.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "lissom/core/error.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/fortran_blas.hpp"
#include "lissom/linalg/symmetric_eigen.hpp"

namespace lissom {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct EigenSolver::Impl {
  const SymmetricMatrix& K;
  const SymmetricMatrix& M;
  const Cholesky& factor;
  double sigma;
  EigenSolverOptions options;

  int n = 0;
  int known = 0;  // leading columns of V that are exact
  MatrixXd V;     // n by capacity; the first m columns are the basis
  MatrixXd T;     // capacity by capacity; the leading m by m part is V^T M OP V
  int m = 0;
  MatrixXd P;   // n by b: the next block, orthonormal to V
  MatrixXd MP;  // M P
  MatrixXd R;   // b by m: OP V = V T + P R, so the residual of a Ritz vector V s is |R s|
  std::mt19937_64 random{20260101};
  int solves = 0, restarts = 0, recovered = 0;
  int expected = 0;  // pairs that a count has told to be missing

  // largest Ritz values of the basis when it was last looked at, descending, with the residual of each
  // relative to itself
  VectorXd theta, relative;
  MatrixXd S;

  Impl(const SymmetricMatrix& K_, const SymmetricMatrix& M_, const Cholesky& f, double s,
       EigenSolverOptions o)
      : K(K_), M(M_), factor(f), sigma(s), options(o), n(K_.size()) {}

  MatrixXd random_block(int columns);
  void orthogonalise(MatrixXd& U, int columns_of_V, MatrixXd* H) const;
  MatrixXd orthonormalise(MatrixXd& U, MatrixXd& MU, int columns_of_V, double floor);
  void reserve(int columns);
  void step();
  void ritz(int wanted);
  void restart(int keep);
  void widen(int extra);
};

// Random vectors smoothed by one application of OP would start faster, but a plain random start sees every
// eigenvector.
MatrixXd EigenSolver::Impl::random_block(int columns) {
  std::normal_distribution<double> normal;
  MatrixXd X(n, columns);
  for (Eigen::Index i = 0; i < X.size(); ++i) X.data()[i] = normal(random);
  return X;
}

// U <- U - V (V^T M U), twice; the coefficients are added to H (columns_of_V by b).
void EigenSolver::Impl::orthogonalise(MatrixXd& U, int columns_of_V, MatrixXd* H) const {
  if (columns_of_V == 0) return;
  MatrixXd Z(n, U.cols()), C(columns_of_V, U.cols());
  const auto basis = V.leftCols(columns_of_V);
  for (int pass = 0; pass < 2; ++pass) {
    multiply(M, U, Z);
    gemm(true, false, 1, basis, Z, 0, C);
    gemm(false, false, -1, basis, C, 1, U);
    if (H) *H += C;
  }
}

// Makes the columns of U M-orthonormal among themselves and returns the factor F with U_before = U_after F.
// Directions that vanish, or are shorter than `floor`, are replaced by random ones orthogonal to V, with zero
// rows in F. MU becomes M U_after; it follows the changes of U, so that M is multiplied with once only.
MatrixXd EigenSolver::Impl::orthonormalise(MatrixXd& U, MatrixXd& MU, int columns_of_V, double floor) {
  const int b = static_cast<int>(U.cols());
  MatrixXd F = MatrixXd::Identity(b, b), G(b, b), changed(n, b);
  MU.resize(n, b);
  multiply(M, U, MU);
  bool replaced = false;
  for (int pass = 0; pass < 3; ++pass) {
    gemm(true, false, 1, U, MU, 0, G);
    // scaling columns to unit length first keeps graded blocks accurate
    const VectorXd scale = G.diagonal().cwiseMax(0).cwiseSqrt();
    VectorXd inverse_scale(b);
    for (int k = 0; k < b; ++k) inverse_scale[k] = scale[k] > (pass == 0 ? floor : 0.0) ? 1 / scale[k] : 0;
    G = inverse_scale.asDiagonal() * G * inverse_scale.asDiagonal();
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eig(G);
    const VectorXd& d = eig.eigenvalues();
    // U = U_new sqrt(d) Q^T diag(scale)
    MatrixXd transform(b, b), back(b, b);
    std::vector<int> vanished;
    for (int k = 0; k < b; ++k) {
      if (d[k] > 1e-13) {
        transform.col(k) = (inverse_scale.asDiagonal() * eig.eigenvectors().col(k)) / std::sqrt(d[k]);
        back.row(k) = std::sqrt(d[k]) * (eig.eigenvectors().col(k).transpose() * scale.asDiagonal());
      } else {
        transform.col(k).setZero();
        back.row(k).setZero();
        vanished.push_back(k);
      }
    }
    gemm(false, false, 1, U, transform, 0, changed);
    U.swap(changed);
    gemm(false, false, 1, MU, transform, 0, changed);
    MU.swap(changed);
    F = (back * F).eval();
    if (!vanished.empty()) {
      MatrixXd fresh = random_block(static_cast<int>(vanished.size()));
      orthogonalise(fresh, columns_of_V, nullptr);
      for (size_t k = 0; k < vanished.size(); ++k) {
        const VectorXd x = fresh.col(static_cast<Eigen::Index>(k));
        U.col(vanished[k]) = x / std::sqrt(x.dot(M.full() * x));
      }
      multiply(M, U, MU);
      replaced = true;
    } else if (pass >= 1) {
      break;
    }
  }
  if (replaced) {
    orthogonalise(U, columns_of_V, nullptr);
    multiply(M, U, MU);
  }
  return F;
}

void EigenSolver::Impl::reserve(int columns) {
  columns = std::min(columns, n);
  if (columns <= V.cols()) return;
  V.conservativeResize(n, columns);
  T.conservativeResize(columns, columns);
}

// One block step: the pending block joins the basis, OP is applied to it, and what sticks out becomes the
// next block.
void EigenSolver::Impl::step() {
  const int b = static_cast<int>(P.cols());
  LISSOM_ASSERT(m + b <= V.cols());
  V.middleCols(m, b) = P;
  MatrixXd U = MP;
  factor.solve_in_place(U);
  solves += b;
  MatrixXd H = MatrixXd::Zero(m + b, b);
  orthogonalise(U, m + b, &H);
  T.block(0, m, m + b, b) = H;
  T.block(m, 0, b, m) = H.topRows(m).transpose();
  T.block(m, m, b, b) = 0.5 * (H.bottomRows(b) + H.bottomRows(b).transpose());
  m += b;
  const MatrixXd F = orthonormalise(U, MP, m, 1e-14 * T.diagonal().head(m).cwiseAbs().maxCoeff());
  P = std::move(U);
  R = MatrixXd::Zero(b, m);
  R.rightCols(b) = F;
}

// The `wanted` largest Ritz values.
void EigenSolver::Impl::ritz(int wanted) {
  wanted = std::min(wanted, m);
  SymmetricEigen eigen = symmetric_eigen(T.topLeftCorner(m, m), m - wanted, wanted, true);
  theta = eigen.values.reverse();
  S = eigen.vectors.rowwise().reverse();
  relative.resize(wanted);
  const MatrixXd RS = R * S;
  for (int i = 0; i < wanted; ++i) relative[i] = RS.col(i).norm() / std::abs(theta[i]);
}

// Keeps the `keep` best Ritz vectors as the basis; the pending block stays.
void EigenSolver::Impl::restart(int keep) {
  MatrixXd kept(n, keep);
  gemm(false, false, 1, V.leftCols(m), S.leftCols(keep), 0, kept);
  V.leftCols(keep) = kept;
  R = (R * S.leftCols(keep)).eval();
  T.topLeftCorner(keep, keep) = theta.head(keep).asDiagonal();
  m = keep;
  ++restarts;
}

// Adds random directions, orthogonal to everything so far, to the pending block.
void EigenSolver::Impl::widen(int extra) {
  const int b = static_cast<int>(P.cols());
  MatrixXd Q = random_block(extra);
  reserve(m + b + extra);
  V.middleCols(m, b) = P;  // step() will do so anyway
  orthogonalise(Q, m + b, nullptr);
  MatrixXd MQ;
  orthonormalise(Q, MQ, m + b, 0);
  P.conservativeResize(n, b + extra);
  P.rightCols(extra) = Q;
  MP.conservativeResize(n, b + extra);
  MP.rightCols(extra) = MQ;
  R.conservativeResize(b + extra, m);
  R.bottomRows(extra).setZero();
}

EigenSolver::EigenSolver(const SymmetricMatrix& K, const SymmetricMatrix& M, const Cholesky& factor,
                         double shift, const Eigen::Ref<const MatrixXd>& known, EigenSolverOptions options)
    : impl_(std::make_unique<Impl>(K, M, factor, shift, options)) {
  Impl& s = *impl_;
  LISSOM_ASSERT((shift < 0 || known.cols() == 0) && M.size() == s.n && factor.size() == s.n);
  s.known = static_cast<int>(known.cols());
  if (s.known > 0) {
    LISSOM_ASSERT(known.rows() == s.n);
    s.reserve(s.known);
    s.V.leftCols(s.known) = known;
    s.T.topLeftCorner(s.known, s.known) = MatrixXd::Identity(s.known, s.known) / (-shift);
    s.m = s.known;
  }
}

EigenSolver::~EigenSolver() = default;

void EigenSolver::expect_lost(int missing) {
  // a block that is much wider than the solver's own costs more than it finds; what is left comes next time
  constexpr int most = 64;
  impl_->expected = std::min(missing, most);
}

EigenPairs EigenSolver::lowest(int count, const ProgressHook& progress) {
  Impl& s = *impl_;
  if (count < 1) fail_input("the number of modes asked for is {}, expected 1 or more", count);
  if (count > s.n)
    fail_input("{} modes were asked for, but the body has only {} degrees of freedom", count, s.n);

  const int wanted_block = s.options.block > 0 ? s.options.block : std::clamp((count + 3) / 4, 3, 8);
  const int b = s.P.cols() > 0 ? static_cast<int>(s.P.cols()) : wanted_block;
  const int usual_width = std::max(2, wanted_block / 3), check_width = std::max(usual_width, s.expected);
  const int least = count + 2 * (b + check_width);
  // room for convergence without restart, but not for the whole space
  const int room = s.n - 2 * (b + check_width);
  const int capacity = s.options.max_basis > 0
                           ? s.options.max_basis
                           : std::min(3 * count + 8 * (b + check_width) + s.known, std::max(room, least));
  if (capacity < least)
    fail_input("a basis of {} columns is too small for {} modes, expected {} or more", capacity, count,
               least);
  // a good part of the spectrum is better had from a dense solver
  if (capacity > room || 2 * least > s.n) {
    s.expected = 0;
    if (!(s.sigma > 0)) return dense_eigenpairs(s.K, s.M, count);
    // those above the shift
    EigenPairs all = dense_eigenpairs(s.K, s.M, s.n);
    const auto below = static_cast<int>((all.values.array() < s.sigma).count());
    if (below + count > s.n)
      fail_input("{} modes were asked for above the shift, but there are only {}", count, s.n - below);
    all.values = all.values.segment(below, count).eval();
    all.vectors = all.vectors.middleCols(below, count).eval();
    all.residuals = all.residuals.segment(below, count).eval();
    return all;
  }
  s.reserve(capacity);

  // a start block, on the first call
  if (s.P.cols() == 0) {
    s.P = s.random_block(b);
    s.orthogonalise(s.P, s.m, nullptr);
    s.orthonormalise(s.P, s.MP, s.m, 0);
    s.R = MatrixXd::Zero(b, s.m);
  }

  // extend the space until the wanted pairs have converged and the last check has brought nothing new
  const bool look = s.options.look_for_lost || s.expected > 0;
  int checks = look ? 0 : 1, steps_since_check = look ? 0 : 3, m_at_ritz = 0;
  VectorXd at_check;  // the `count` largest Ritz values when the last check began
  for (int step = 0;; ++step) {
    if (step >= s.options.max_steps)
      fail(
          "the eigen-solver did not converge within {} block steps: mode {} has a relative residual of "
          "{:.1e}, "
          "expected {:.1e}; fewer modes or a larger block may help",
          step, count, s.relative.size() >= count ? s.relative.head(count).maxCoeff() : 1.0,
          s.options.tolerance);
    // the block that follows must fit into what the basis leaves of the space, or it could not be orthogonal
    const int limit = static_cast<int>(std::min(s.V.cols(), s.n - s.P.cols()));
    if (s.m + s.P.cols() > limit) {
      const int keep = std::min<int>(s.m, count + (limit - count) / 3);
      s.ritz(keep);
      s.restart(keep);
      m_at_ritz = 0;
    }
    s.step();
    ++steps_since_check;
    // the Ritz values cost m^3, a step n m: look when the basis has grown by a tenth
    if (s.m < count || (10 * s.m < 11 * m_at_ritz && s.m + s.P.cols() <= limit)) continue;
    s.ritz(count + 4 * (b + check_width));
    m_at_ritz = s.m;

    const double worst = s.relative.head(count).maxCoeff();
    const double kth = s.theta[count - 1];
    if (progress)
      progress("eigenvalues",
               std::clamp(std::log10(std::max(worst, 1e-300)) / std::log10(s.options.tolerance), 0., 1.));
    // residuals of 1e-3 leave an error of about 1e-6 in theta: the count of values in the range is known by
    // then. Every call checks with directions of its own: those of an earlier one have shown what they saw,
    // and an eigenvalue of the new range may have more copies than they are columns.
    if (checks == 0 && worst < 1e-3) {
      s.widen(check_width);
      checks = 1, steps_since_check = 0, at_check = s.theta.head(count);
    }
    if (!look) {
      if (worst > s.options.tolerance) continue;
      break;
    }
    // the random directions need about three steps until a lost eigenvector dominates them; while its Ritz
    // value still climbs towards the range, its residual reaches into the range
    if (worst > s.options.tolerance || checks == 0 || steps_since_check < 3) continue;
    bool climbing = false;
    for (int j = count; j < s.theta.size(); ++j)
      climbing |= s.theta[j] * (1 + s.relative[j]) > kth * (1 + 1e-5);
    if (climbing) continue;
    // a new value in the range pushes those behind it down by one place. It need not show at the last place:
    // where a second cluster of equal values reaches from inside the range to beyond it, the last place is
    // taken by one of them before and after
    const auto grown = (s.theta.head(count).array() > at_check.array() * (1 + 1e-5)).count();
    if (grown > 0) {
      ++s.recovered;
      s.widen(usual_width);
      ++checks, steps_since_check = 0, at_check = s.theta.head(count);
      continue;
    }
    break;
  }

  s.expected = 0;

  // Ritz vectors and their true residuals
  EigenPairs pairs;
  pairs.shift = s.sigma;
  pairs.vectors.resize(s.n, count);
  gemm(false, false, 1, s.V.leftCols(s.m), s.S.leftCols(count), 0, pairs.vectors);
  MatrixXd MX(s.n, count), Y, G(count, count);
  multiply(s.M, pairs.vectors, MX);
  gemm(true, false, 1, pairs.vectors, MX, 0, G);
  pairs.orthogonality = (G - MatrixXd::Identity(count, count)).cwiseAbs().maxCoeff();
  pairs.values = s.theta.head(count).cwiseInverse().array() + s.sigma;
  pairs.residuals = s.relative.head(count);
  if (s.options.verify) {
    Y = MX;
    s.factor.solve_in_place(Y);
    s.solves += count;
    for (int i = 0; i < count; ++i) Y.col(i) -= s.theta[i] * pairs.vectors.col(i);
    multiply(s.M, Y, MX);
    for (int i = 0; i < count; ++i)
      pairs.residuals[i] = std::sqrt(std::max(0.0, Y.col(i).dot(MX.col(i)))) / s.theta[i];
  }

  // far below the shift, 1/theta + sigma is a difference of equal numbers: the energy says it better
  for (int i = 0; i < count; ++i) {
    if (pairs.values[i] < -1e-6 * s.sigma)
      pairs.values[i] = pairs.vectors.col(i).dot(s.K.full() * pairs.vectors.col(i));
    if (!std::isfinite(pairs.values[i])) fail("the eigen-solver met NaN at mode {}", i + 1);
  }
  // which leaves the zeros of a free body in the order of their round-off
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int c) { return pairs.values[a] < pairs.values[c]; });
  pairs.values = pairs.values(order).eval();
  pairs.residuals = pairs.residuals(order).eval();
  pairs.vectors = pairs.vectors(Eigen::all, order).eval();
  pairs.solves = s.solves;
  pairs.restarts = s.restarts;
  pairs.recovered = s.recovered;
  return pairs;
}

EigenPairs dense_eigenpairs(const SymmetricMatrix& K, const SymmetricMatrix& M, int count) {
  const int n = K.size();
  if (count < 1 || count > n) fail_input("{} modes were asked for, expected 1 to {}", count, n);
  const BlasThreads one;
  MatrixXd Kd(K.lower), L(M.lower);
  Kd.triangularView<Eigen::StrictlyUpper>() = Kd.transpose();
  // M = L L', and the standard problem L^-1 K L^-T y = lambda y, x = L^-T y
  int info = 0;
  dpotrf_("L", &n, L.data(), &n, &info);
  if (info != 0) fail("the mass matrix is not positive definite");
  const double unit = 1;
  MatrixXd H = Kd;
  dtrsm_("L", "L", "N", "N", &n, &n, &unit, L.data(), &n, H.data(), &n);
  dtrsm_("R", "L", "T", "N", &n, &n, &unit, L.data(), &n, H.data(), &n);
  SymmetricEigen eigen = symmetric_eigen(std::move(H), 0, count, true);
  EigenPairs pairs;
  pairs.values = std::move(eigen.values);
  pairs.vectors = std::move(eigen.vectors);
  dtrsm_("L", "L", "T", "N", &n, &count, &unit, L.data(), &n, pairs.vectors.data(), &n);
  const MatrixXd& X = pairs.vectors;
  MatrixXd MX(n, count), KX(n, count), G(count, count);
  multiply(M, X, MX);
  multiply(K, X, KX);
  gemm(true, false, 1, X, MX, 0, G);
  pairs.orthogonality = (G - MatrixXd::Identity(count, count)).cwiseAbs().maxCoeff();
  pairs.residuals.resize(count);
  const double scale = std::max(std::abs(pairs.values[count - 1]), 1e-300);
  for (int i = 0; i < count; ++i)
    pairs.residuals[i] = (KX.col(i) - pairs.values[i] * MX.col(i)).norm() / (scale * MX.col(i).norm());
  return pairs;
}

}  // namespace lissom

#include "lissom/time/equilibrium.hpp"

#include <fmt/ranges.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lissom/core/error.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/time/largest_rows.hpp"
#include "lissom/time/tangent_space.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

// of the size of the system: the longest step of Newton's method, and the one that following aims at
constexpr double longest_step = 0.5, usual_step = 0.15;

// Directions of the mechanism with their stiffness: K z = omega^2 M z within the constraints.
struct Stiffness {
  VectorXd values;         // omega^2, ascending; real parts where K is not symmetric
  MatrixXd directions;     // n by d
  std::vector<bool> zero;  // to working precision
};

Stiffness projected_stiffness(Equations& equations, const State& state) {
  const int n = equations.coordinates(), m = equations.constraints();
  MatrixXd G(m, n);
  if (m > 0) equations.constraint_gradient(state.t, state.q, G);
  const MotionMatrices motion = motion_matrices(equations, state);
  MatrixXd N = kernel_basis(equations, G);
  const Index d = N.cols();
  Stiffness out;
  if (d == 0) return out;
  // N' M N = 1
  const MatrixXd mass = transposed_product(N, product(motion.M, N));
  const Eigen::LLT<MatrixXd> factor(mass);
  if (factor.info() != Eigen::Success)
    fail("at {:.6g} s a direction of the mechanism has no mass, so that its stability cannot be told",
         state.t);
  N = factor.matrixL().solve(N.transpose()).transpose();
  const MatrixXd K = transposed_product(N, product(motion.K, N));
  MatrixXd vectors(d, d);
  out.values.resize(d);
  if ((K - K.transpose()).norm() <= 1e-9 * K.norm()) {
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen((K + K.transpose()) / 2);
    out.values = eigen.eigenvalues();
    vectors = eigen.eigenvectors();
  } else {
    // forces that follow the body: stable where all squares of frequencies are positive
    const Eigen::EigenSolver<MatrixXd> eigen(K);
    std::vector<Index> order(d);
    for (Index i = 0; i < d; ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](Index a, Index b) {
      return eigen.eigenvalues()[a].real() < eigen.eigenvalues()[b].real();
    });
    for (Index i = 0; i < d; ++i) {
      out.values[i] = eigen.eigenvalues()[order[i]].real();
      vectors.col(i) = eigen.eigenvectors().col(order[i]).real().normalized();
    }
  }
  out.directions = product(N, vectors);
  const MatrixXd size = motion.K.cwiseAbs();
  for (Index i = 0; i < d; ++i) {
    // the quotient once more: free of the round-off of the stiff directions
    const VectorXd z = out.directions.col(i), Kz = motion.K * z;
    const double value = z.dot(Kz), round_off = z.cwiseAbs().dot(size * z.cwiseAbs());
    const bool small = std::abs(out.values[i]) < 1e-6 * std::abs(out.values[d - 1]);
    if (small) out.values[i] = value;
    out.zero.push_back(std::abs(value) <= 1e-11 * round_off + 1e-15 * std::abs(out.values[d - 1]));
  }
  return out;
}

class Solver {
 public:
  Solver(Equations& equations, const State& guess, const EquilibriumOptions& options,
         const ProgressHook& progress)
      : equations_(equations),
        options_(options),
        progress_(progress),
        n_(equations.coordinates()),
        m_(equations.constraints()),
        length_(equations.length()),
        c_(equations.typical_mass() * 1e4),
        guess_(guess),
        matrix_(n_ + m_, equations.blocks(), NewtonMatrix::Storage::Automatic, equations.symmetry()),
        scale_(equations.displacement_scale()),
        r_(n_),
        g_(m_),
        x_(n_ + m_) {
    for (double& s : scale_)
      if (!(s > 0)) s = length_;
    guess_.v = guess_.a = VectorXd::Zero(n_);
    if (guess_.lambda.size() != m_) guess_.lambda = VectorXd::Zero(m_);
    equations_.count_turns(guess_);
    state_ = guess_;
    least_multipliers(guess_);
    evaluate(guess_);
    force_ = applied(guess_);
  }

  Equilibrium solve() {
    Equilibrium out;
    state_ = guess_;
    const bool direct = newton();
    if (direct) out = result();
    const bool away = direct && out.moved > 1e-6 * length_;
    if (!direct || (away && !out.stable)) {
      state_ = guess_;
      if (follow()) {
        const Equilibrium other = result();
        // an unstable one gives way to a stable one
        if (!direct || other.stable) {
          out = other;
          out.followed = true;
        }
      } else if (!direct) {
        give_up();
      }
    }
    out.iterations = iterations_;
    return out;
  }

 private:
  double displacement(const Eigen::Ref<const VectorXd>& dq) const {
    return dq.cwiseProduct(scale_).lpNorm<Eigen::Infinity>();
  }
  double force_of(const Eigen::Ref<const VectorXd>& r) const {
    return r.cwiseQuotient(scale_).lpNorm<Eigen::Infinity>();
  }

  void evaluate(const State& state) {
    equations_.residual(state, 1, r_);
    if (m_ > 0) equations_.constraint(state.t, state.q, g_);
  }

  // Size of the forces that are to be balanced [N].
  double applied(const State& state) {
    State without = state;
    without.lambda.setZero();
    VectorXd h(n_);
    equations_.residual(without, 1, h);
    return std::max(force_of(h), force_of(r_ - h));
  }

  // Multipliers that leave the least forces unbalanced.
  void least_multipliers(State& state) {
    if (m_ == 0) return;
    state.lambda.setZero();
    evaluate(state);
    MatrixXd G(m_, n_);
    equations_.constraint_gradient(state.t, state.q, G);
    const MatrixXd A = scale_.cwiseInverse().asDiagonal() * G.transpose();
    state.lambda = -Eigen::ColPivHouseholderQR<MatrixXd>(A).solve(r_.cwiseQuotient(scale_));
  }

  bool is_balanced(double step) {
    if (!r_.allFinite() || !(step <= options_.tolerance * length_)) return false;
    const double round_off = 16 * std::numeric_limits<double>::epsilon() * (length_ + displacement(state_.q));
    if (m_ > 0 && g_.lpNorm<Eigen::Infinity>() > std::max(1e-13 * length_, round_off)) return false;
    // small against what is balanced, or (no load at all) against what would move anything in a lifetime; or
    // no more than the round-off of stiff bodies, which moves nothing
    const double forces = std::max(force_, applied(state_));
    return force_of(r_) <= 1e-8 * forces + 1e-12 * equations_.typical_mass() ||
           step <= 1e-3 * options_.tolerance * length_;
  }

  // x_ = change of q and c times the change of lambda, of the residual in r_ and g_.
  void solve_newton() {
    x_.head(n_) = -r_;
    if (m_ > 0) x_.tail(m_) = -c_ * g_;
    matrix_.solve_in_place(x_);
  }

  void count() {
    ++iterations_;
    if (progress_) progress_("static equilibrium", -1);
  }

  // Full steps, shortened until the next one would be shorter.
  bool newton() {
    evaluate(state_);
    if (force_ <= 1e-12 * equations_.typical_mass() && is_balanced(0)) return true;
    double last = std::numeric_limits<double>::infinity();
    for (int k = 0; k < options_.newton_iterations; ++k) {
      count();
      if (!r_.allFinite()) return false;
      equations_.jacobian(state_, 1, {1, 0, 0, c_, c_}, matrix_);
      if (!matrix_.factorise()) return false;
      solve_newton();
      if (!x_.allFinite()) return false;
      const VectorXd step = x_;
      const double size = displacement(step.head(n_));
      const State from = state_;
      double factor = std::min(1.0, longest_step * length_ / std::max(size, 1e-300));
      bool better = false;
      for (int cut = 0; cut < 8 && !better; ++cut, factor /= 2) {
        state_.q = from.q + factor * step.head(n_);
        state_.lambda = from.lambda + factor * c_ * step.tail(m_);
        evaluate(state_);
        if (!r_.allFinite() || !g_.allFinite()) continue;
        solve_newton();
        const double next = displacement(x_.head(n_));
        better = next <= (1 - factor / 4) * size || size <= options_.tolerance * length_;
        last = std::min(size, next);
      }
      if (!better) return false;
      equations_.count_turns(state_);
      if (is_balanced(last)) return true;
    }
    return false;
  }

  // Along the forces: (K + mu M) dq + G' lambda = -h, with mu for steps of a usual length.
  bool follow() {
    double mu = 0, before = 0;
    least_multipliers(state_);
    {
      // as far as the accelerations lead
      equations_.jacobian(state_, 1, {0, 0, 1, c_, c_}, matrix_);
      if (!matrix_.factorise()) fail_singular();
      evaluate(state_);
      if (m_ > 0) g_.setZero();
      solve_newton();
      mu = displacement(x_.head(n_)) / (usual_step * length_);
      if (!(mu > 0)) mu = 1;
      floor_ = 1e-10 * mu;
    }
    State next = state_;
    for (int k = 0; k < options_.transient_iterations; ++k) {
      count();
      evaluate(state_);
      equations_.jacobian(state_, 1, {1, 0, mu, c_, c_}, matrix_);
      if (!matrix_.factorise()) {
        if (matrix_.singular_row() >= n_) fail_singular();
        mu *= 7;
        continue;
      }
      solve_newton();
      const VectorXd dq = x_.head(n_);
      const double size = displacement(dq);
      // downhill: the forces do work, whatever the constraints still have to correct
      const double work = -dq.dot(r_) - (m_ > 0 ? c_ * x_.tail(m_).dot(g_) : 0.0);
      const double drift = m_ > 0 ? g_.lpNorm<Eigen::Infinity>() : 0;
      const bool uphill = work < 0 && size > 1e-6 * length_ && drift < 0.1 * size;
      if (!x_.allFinite() || size > 2 * usual_step * length_ || uphill) {
        if (mu > 1e20 * std::max(floor_, 1e-30)) return false;
        mu *= 4;
        continue;
      }
      next = state_;
      next.q += dq;
      next.lambda += c_ * x_.tail(m_);
      evaluate(next);
      if (!r_.allFinite() || !g_.allFinite()) {
        mu *= 4;
        continue;
      }
      state_ = next;
      equations_.count_turns(state_);
      if (is_balanced(size) && mu <= 1e3 * floor_) return true;
      if (displacement(state_.q - guess_.q) > 100 * length_) return false;
      // shorter steps come with less of mu, as long as they do become shorter
      double change = std::clamp(size / (usual_step * length_), 0.1, 2.0);
      if (before > 0 && size > before) change = std::max(change, 0.7);
      before = size;
      mu = std::max(mu * change, floor_);
    }
    return false;
  }

  [[noreturn]] void fail_singular() const {
    const int row = matrix_.singular_row();
    fail(
        "at {:.6g} s the static equilibrium is singular: {} depends on the other constraints there (a dead "
        "centre, or a joint too many)",
        state_.t, row >= 0 ? equations_.row_name(row) : "a constraint");
  }

  // What pulls where nothing holds.
  [[noreturn]] void give_up() {
    least_multipliers(state_);
    evaluate(state_);
    std::vector<std::string> lines;
    if (r_.allFinite()) {
      const Stiffness stiffness = projected_stiffness(equations_, state_);
      for (Index i = 0; i < stiffness.directions.cols(); ++i) {
        const VectorXd z = stiffness.directions.col(i);
        const double pull = std::abs(z.dot(r_)) / displacement(z);
        if (!stiffness.zero[i] || pull <= 1e-6 * force_) continue;
        lines.push_back(
            fmt::format("nothing holds {}, and {:.4g} N pull there", name_direction(equations_, z), pull));
      }
    }
    if (!lines.empty())
      fail("there is no static equilibrium at {:.6g} s: {}. Add a joint, a spring or a load that balances it",
           state_.t, fmt::join(lines, "; "));
    const int row = largest_motion_row(equations_, r_);
    fail(
        "no static equilibrium was found at {:.6g} s in {} iterations: {:.4g} N stay unbalanced at {}, which "
        "has moved by {:.3g} m. A load that turns or pushes on without end has none; otherwise start nearer "
        "to "
        "it",
        state_.t, iterations_, std::abs(r_[row]) / scale_[row], equations_.row_name(row),
        displacement(state_.q - guess_.q));
  }

  Equilibrium result() {
    Equilibrium out;
    evaluate(state_);
    out.state = state_;
    out.residual = force_of(r_);
    out.force = std::max(force_, applied(state_));
    out.moved = displacement(state_.q - guess_.q);
    if (!options_.stability || n_ == m_) return out;
    const Stiffness stiffness = projected_stiffness(equations_, state_);
    out.lowest = stiffness.values[0];
    for (Index i = 0; i < stiffness.values.size(); ++i)
      if (stiffness.zero[i])
        out.free_directions.push_back(name_direction(equations_, stiffness.directions.col(i)));
    out.stable = stiffness.zero[0] || stiffness.values[0] >= 0;
    if (!out.stable) out.unstable_direction = name_direction(equations_, stiffness.directions.col(0));
    return out;
  }

  Equations& equations_;
  const EquilibriumOptions& options_;
  const ProgressHook& progress_;
  const int n_, m_;
  const double length_, c_;
  State guess_, state_;
  NewtonMatrix matrix_;
  VectorXd scale_, r_, g_, x_;
  double force_ = 0;  // [N] at the guess
  double floor_ = 0;  // of mu
  int iterations_ = 0;
};

}  // namespace

Equilibrium find_equilibrium(Equations& equations, const State& guess, const EquilibriumOptions& options,
                             const ProgressHook& progress) {
  LISSOM_ASSERT(guess.q.size() == equations.coordinates());
  if (!guess.q.allFinite()) fail("the positions that the static equilibrium starts from are not finite");
  return Solver(equations, guess, options, progress).solve();
}

void warn_of(const Equilibrium& equilibrium, Diagnostics& diagnostics) {
  if (!equilibrium.stable)
    diagnostics.warn(
        "static.unstable",
        fmt::format("the static equilibrium at {:.6g} s is unstable: {} would leave it, growing as "
                    "exp({:.3g} t)",
                    equilibrium.state.t, equilibrium.unstable_direction, std::sqrt(-equilibrium.lowest)));
  if (!equilibrium.free_directions.empty())
    diagnostics.warn(
        "static.free",
        fmt::format("nothing holds {}: the stiffness is zero there, so that the static equilibrium "
                    "at {:.6g} s is one of many (or a bifurcation); the nearest one is taken",
                    fmt::join(equilibrium.free_directions, ", "), equilibrium.state.t));
}

}  // namespace lissom

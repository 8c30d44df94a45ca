#include "lissom/time/newton_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lissom/core/error.hpp"
#include "lissom/mbs/archive_state.hpp"
#include "lissom/time/largest_rows.hpp"

namespace lissom {

namespace {

// ca may change so much, either way, before a matrix is no longer tried: a step by a factor of 1.4
constexpr double largest_change = 2;
// a new matrix costs about as much as so many more iterations with the old one
constexpr double worth_iterations = 2;
// a matrix that needed more than so many is not tried again in the next step
constexpr int most_with_old = 4;
// A new matrix is exact: the increment after it is about curvature * increment * (largest increment, of
// displacements or multipliers) / length. So much is assumed to begin with, and more once seen.
constexpr double usual_curvature = 10;
// The rate that a kept matrix had in earlier steps counts so much in the first iteration of the next ones, and for so
// many of them until one has measured it again: it grows as the motion leads away from where the matrix was made.
constexpr double remembered_rate_factor = 2;
constexpr int most_unmeasured = 4;
// At this tolerance and below a step is judged by what its own iterations show: what a remembered rate lets
// pass is small beside the tolerance, but not beside what extrapolation or a training makes of differences.
constexpr double measured_tolerance = 1e-12;
// multipliers may be so much less exact than displacements: their errors do not accumulate
constexpr double multiplier_factor = 1e3;

}  // namespace

struct NewtonSolver::Impl {
  Equations& equations;
  const NewtonOptions options;
  IntegrationSummary& summary;
  const int n, m;
  const double mass, length;
  NewtonMatrix matrix;

  bool has_matrix = false;
  double matrix_ca = 0, matrix_cv = 0, matrix_w = 0;
  State matrix_state;  // where it was made
  double curvature = usual_curvature;

  Eigen::VectorXd x, residual;  // n + m: increment, unscaled residual of it
  Eigen::VectorXd q0, v0, a0, lambda0;

  int iterations = 0, last_iterations = 0;
  double rate = 0, increment = 0, last_ca = 0;
  std::string failure;
  bool fresh_before = false;  // the iteration before had a matrix of its own iterate
  // the matrix's rates in earlier steps, 0 while there are none, and how many steps ended without one since
  double remembered = 0, remembered_lambda = 0;
  int unmeasured = 0;

  Impl(Equations& eq, const NewtonOptions& o, IntegrationSummary& s)
      : equations(eq),
        options(o),
        summary(s),
        n(eq.coordinates()),
        m(eq.constraints()),
        mass(eq.typical_mass()),
        length(eq.length()),
        matrix(n + m, eq.blocks(), NewtonMatrix::Storage::Automatic, eq.symmetry()),
        x(n + m),
        residual(n + m),
        q0(n),
        v0(n),
        a0(n),
        lambda0(m) {
    x.setZero();
    matrix_state.q = matrix_state.v = matrix_state.a = q0;  // room
    matrix_state.lambda = lambda0;
    LISSOM_ASSERT(mass > 0 && length > 0);
  }

  // Residual at the state; false where something is not finite.
  bool evaluate(const ImplicitStep& step, const State& state) {
    ++summary.residuals;
    equations.residual(state, step.w, residual.head(n));
    if (step.f) residual.head(n) += *step.f;
    equations.constraint(state.t, state.q, residual.tail(m));
    return residual.allFinite();
  }

  bool make_matrix(const ImplicitStep& step, const State& state) {
    const JacobianWeights weights{1 / step.ca, step.cv / step.ca, 1, mass, mass};
    has_matrix = false;
    ++summary.jacobians;
    equations.jacobian(state, step.w, weights, matrix);
    ++summary.factorisations;
    if (!matrix.factorise()) return false;
    has_matrix = true;
    matrix_ca = step.ca;
    matrix_cv = step.cv;
    matrix_w = step.w;
    remembered = remembered_lambda = 0;
    unmeasured = 0;
    if (&state != &matrix_state) matrix_state = state;
    return true;
  }

  // Body and joint that are farthest from what is asked of them. Where the joints all but meet, it is the one
  // whose reaction does not come to rest.
  void describe_residuals() {
    failure.clear();
    if (n > 0) {
      const int row = largest_motion_row(equations, residual.head(n));
      failure = fmt::format("{}: residual {:.3g}", equations.row_name(row), residual[row]);
    }
    int row = largest_joint_row(equations, residual.tail(m));
    if (row < 0) return;
    if (!(std::abs(residual[row]) <= 1e-10 * length)) {
      failure += fmt::format("; {}: gap {:.3g}", equations.row_name(row), residual[row]);
      return;
    }
    row = largest_joint_row(equations, x.tail(m));
    failure +=
        fmt::format("; {}: reaction changes by {:.3g}", equations.row_name(row), mass * last_ca * x[row]);
  }

  void not_finite() {
    describe_residuals();
    failure = "numbers that are not finite; " + failure;
  }

  // One run of iterations, beginning with the matrix there is if `old`. False: no convergence, and `failure`
  // says why unless the matrix was old.
  bool iterate(const ImplicitStep& step, State& state, bool old) {
    last_ca = step.ca;
    const double tolerance = options.tolerance * length;
    const Eigen::VectorXd& scale = equations.displacement_scale();
    if (!evaluate(step, state)) {
      not_finite();
      return false;
    }
    if (!old && !make_matrix(step, state)) {
      singular();
      return false;
    }
    bool fresh = !old;  // nothing was solved yet with this matrix
    double previous = 0, previous_lambda = 0, previous_size = 0;
    for (int k = 1; k <= options.max_iterations; ++k) {
      ++iterations;
      ++summary.newton_iterations;
      const double gap = m > 0 ? residual.tail(m).lpNorm<Eigen::Infinity>() : 0;
      x.head(n) = residual.head(n) / -step.ca;
      x.tail(m) = -mass * residual.tail(m);
      matrix.solve_in_place(x);
      if (!x.allFinite()) {
        not_finite();
        return false;
      }
      state.q += x.head(n);
      state.v += step.cv * x.head(n);
      state.a += step.ca * x.head(n);
      state.lambda += (mass * step.ca) * x.tail(m);
      increment = n > 0 ? x.head(n).cwiseProduct(scale).lpNorm<Eigen::Infinity>() : 0;
      // multipliers as increments in metres too, what they push the mass by; the larger one of the two is
      // what the next iteration leaves an error in the multipliers of
      const double pushed = m > 0 ? x.tail(m).lpNorm<Eigen::Infinity>() : 0;
      const double d_lambda = pushed * mass * step.ca, size = std::max(increment, pushed);

      // the rate of the increments; a matrix of this very iterate does better, quadratically; the first one
      // with an old matrix is taken to halve the error at least, or to do about as well as in the steps before
      const bool measured = previous > 0;
      double theta = 0.5, theta_lambda = 0.5, seen = 0;
      if (!measured && remembered > 0 && unmeasured < most_unmeasured &&
          options.tolerance > measured_tolerance) {
        theta = std::min(theta, remembered_rate_factor * remembered);
        theta_lambda = std::min(theta_lambda, remembered_rate_factor * remembered_lambda);
      }
      if (measured) {
        theta = rate = increment / previous;
        theta_lambda = std::max(theta, std::min(size / previous_size, 0.99));
        seen = increment > tolerance ? theta_lambda : theta;
        if (fresh_before)
          curvature = std::max(curvature, 2 * theta_lambda * length / previous_size);
        else
          remember(theta, theta_lambda, k == 2);
      }
      if (fresh) {
        const double quadratic = curvature * size / length;
        theta = std::min(theta, quadratic);
        theta_lambda = std::min(theta_lambda, quadratic);
      } else if (measured) {
        // a matrix from before the last increment cannot be better than by how far that one led away; a small
        // increment after a large one is no rate yet, and constraints may be left open
        const double away = std::min(curvature * previous_size / length, 0.5);
        theta = std::max(theta, away);
        theta_lambda = std::max(theta_lambda, away);
      }

      const auto geometric = [](double t) {
        return t < 1 ? t / (1 - t) : std::numeric_limits<double>::infinity();
      };
      const double error = geometric(theta) * increment;
      const double size_lambda = m > 0 ? state.lambda.lpNorm<Eigen::Infinity>() : 0;
      const double round_off = 16 * std::numeric_limits<double>::epsilon() * length;
      // what is left of the constraints too: angles may be open where displacements are small
      const bool displacements =
          (error <= tolerance && geometric(theta) * gap <= 10 * tolerance) || increment <= round_off;
      // multipliers relative to their size; where they cannot be had as exactly, they come to rest while
      // displacements are three digits beyond the tolerance
      const bool multipliers = m == 0 ||
                               geometric(theta_lambda) * size * mass * step.ca <=
                                   multiplier_factor * options.tolerance * size_lambda ||
                               d_lambda <= mass * step.ca * round_off ||
                               (measured && error <= 1e-3 * tolerance && d_lambda > 0.3 * previous_lambda);
      if (displacements && multipliers) {
        if (!measured) ++unmeasured;
        return true;
      }

      if (!evaluate(step, state)) {
        not_finite();
        return false;
      }
      // slow or diverging: a new matrix here, unless this one is of the last iterate already
      const bool full_newton = options.reuse_rate <= 0;
      bool renew = full_newton;
      if (measured && !full_newton) {
        const double goal = std::max(tolerance, round_off);
        const double remaining =
            seen < 1 ? std::log(goal / std::max(error, goal)) / std::log(seen) : worth_iterations + 1;
        renew = seen > options.reuse_rate || remaining > worth_iterations;
      }
      if (measured && seen > 2 && (fresh_before || full_newton) && k > 2) {
        describe_residuals();
        failure = fmt::format("increments grow ({:.3g} m after {:.3g} m); {}", increment, previous, failure);
        return false;
      }
      fresh_before = fresh;
      fresh = false;
      previous = increment;
      previous_lambda = d_lambda;
      previous_size = size;
      if (renew) {
        if (old && seen >= 1) return false;  // from the beginning, with a matrix of the prediction
        old = false;
        if (!make_matrix(step, state)) {
          singular();
          return false;
        }
        fresh = true;
      }
    }
    describe_residuals();
    failure = fmt::format("increments of still {:.3g} m after {} iterations; {}", increment,
                          options.max_iterations, failure);
    return false;
  }

  // Rates of one step are those of its largest errors, and of round-off in the end: the first one of a step counts, and
  // what was worse in earlier steps is forgotten little by little.
  void remember(double theta, double theta_lambda, bool first) {
    if (!first) return;
    remembered = std::max(theta, 0.5 * remembered);
    remembered_lambda = std::max(theta_lambda, 0.5 * remembered_lambda);
    unmeasured = 0;
  }

  void singular() {
    const int row = matrix.singular_row();
    failure = fmt::format("the Newton matrix is singular{}",
                          row >= 0 ? " at " + equations.row_name(row) : std::string());
  }
};

NewtonSolver::NewtonSolver(Equations& equations, const NewtonOptions& options, IntegrationSummary& summary)
    : impl_(std::make_unique<Impl>(equations, options, summary)) {}
NewtonSolver::~NewtonSolver() = default;

bool NewtonSolver::solve(const ImplicitStep& step, State& state) {
  Impl& s = *impl_;
  LISSOM_ASSERT(step.ca > 0 && state.q.size() == s.n && state.lambda.size() == s.m);
  state.t = step.t;
  s.last_iterations = s.iterations;
  s.iterations = 0;
  s.rate = 0;
  s.curvature = std::max(usual_curvature, 0.99 * s.curvature);
  const double change = s.has_matrix ? step.ca / s.matrix_ca : 0;
  const bool old = s.has_matrix && s.options.reuse_rate > 0 && s.last_iterations <= most_with_old &&
                   s.matrix_w == step.w && change < largest_change && change > 1 / largest_change;
  if (old) {
    s.q0 = state.q;
    s.v0 = state.v;
    s.a0 = state.a;
    s.lambda0 = state.lambda;
    s.fresh_before = false;
    if (s.iterate(step, state, true)) return true;
    state.q = s.q0;
    state.v = s.v0;
    state.a = s.a0;
    state.lambda = s.lambda0;
  }
  s.fresh_before = false;
  if (s.iterate(step, state, false)) return true;
  s.has_matrix = false;
  return false;
}

int NewtonSolver::iterations() const {
  return impl_->iterations;
}
double NewtonSolver::rate() const {
  return impl_->rate;
}
double NewtonSolver::increment() const {
  return impl_->increment;
}
const std::string& NewtonSolver::failure() const {
  return impl_->failure;
}
void NewtonSolver::velocity_change(const Eigen::VectorXd& rate, Eigen::VectorXd& dv) {
  Impl& s = *impl_;
  dv.setZero(s.n);
  if (!s.has_matrix) return;
  s.x.head(s.n).setZero();
  s.x.tail(s.m) = s.mass * rate;
  s.matrix.solve_in_place(s.x);
  dv = s.x.head(s.n);
}
void NewtonSolver::forget() {
  impl_->has_matrix = false;
}

void NewtonSolver::archive(Archive& archive) {
  Impl& s = *impl_;
  archive(s.has_matrix, s.matrix_ca, s.matrix_cv, s.matrix_w, s.curvature, s.iterations, s.last_iterations,
          s.rate, s.increment, s.last_ca, s.fresh_before);
  if (!s.has_matrix) return;
  // those of the matrix, which making it anew forgets
  double remembered = s.remembered, remembered_lambda = s.remembered_lambda;
  int unmeasured = s.unmeasured;
  archive(remembered, remembered_lambda, unmeasured);
  archive(s.matrix_state);
  if (!archive.loading()) return;
  // the same numbers by the same way make the same factors
  ImplicitStep step;
  step.t = s.matrix_state.t;
  step.cv = s.matrix_cv;
  step.ca = s.matrix_ca;
  step.w = s.matrix_w;
  if (!s.make_matrix(step, s.matrix_state)) fail_input("has a Newton matrix that is singular");
  s.remembered = remembered;
  s.remembered_lambda = remembered_lambda;
  s.unmeasured = unmeasured;
}

}  // namespace lissom

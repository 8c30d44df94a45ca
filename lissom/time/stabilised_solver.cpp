#include "lissom/time/stabilised_solver.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "lissom/core/error.hpp"
#include "lissom/mbs/archive_state.hpp"
#include "lissom/time/largest_rows.hpp"

namespace lissom {

namespace {

// alpha may change so much before a matrix is no longer tried
constexpr double largest_step_change = 1.4;

std::vector<MatrixBlock> full_block(int size) {
  std::vector<int> all(size);
  std::iota(all.begin(), all.end(), 0);
  return {{all, all}};
}

}  // namespace

// Unknowns are d = dv / alpha, dlambda / (mass alpha^2) and dmu / alpha, rows of motion are divided by
// alpha^2, those of the constraints multiplied by the mass and those of their rates by mass / alpha: entries
// then do not depend on the step as it shrinks.
struct StabilisedSolver::Impl {
  Equations& equations;
  const NewtonOptions options;
  IntegrationSummary& summary;
  const int n, m;
  const double mass, length;
  NewtonMatrix part;    // n + m, as the equations fill it
  NewtonMatrix matrix;  // n + 2 m
  bool has_matrix = false;
  double matrix_alpha = 0;
  State matrix_state;           // where it was made
  Eigen::MatrixXd matrix_push;  // and its push
  Eigen::VectorXd W, x, residual, dq;
  Eigen::MatrixXd J, G, C, push;  // push = W G'
  State guess;
  std::string failure;

  Impl(Equations& eq, const NewtonOptions& o, IntegrationSummary& s)
      : equations(eq),
        options(o),
        summary(s),
        n(eq.coordinates()),
        m(eq.constraints()),
        mass(eq.typical_mass()),
        length(eq.length()),
        part(n + m, eq.blocks()),
        matrix(n + 2 * m, full_block(n + 2 * m), NewtonMatrix::Storage::Dense),
        x(n + 2 * m),
        residual(n + 2 * m),
        dq(n),
        J(n + 2 * m, n + 2 * m),
        G(m, n),
        C(m, n),
        push(n, m) {
    matrix_state.q = matrix_state.v = matrix_state.a = Eigen::VectorXd::Zero(n);  // room
    matrix_state.lambda = Eigen::VectorXd::Zero(m);
    matrix_push = push;
    const Eigen::VectorXd& scale = eq.displacement_scale();
    W = scale.unaryExpr([](double s_i) { return s_i > 0 ? 1 / (s_i * s_i) : 0; });
  }

  bool evaluate(const State& s) {
    ++summary.residuals;
    equations.residual(s, 1, residual.head(n));
    equations.constraint(s.t, s.q, residual.segment(n, m));
    equations.constraint_rate(s.t, s.q, s.v, residual.tail(m));
    return residual.allFinite();
  }

  bool make_matrix(double alpha, const State& s) {
    has_matrix = false;
    summary.jacobians += 2;
    // stiffness alone, for the columns of mu
    equations.jacobian(s, 1, {1, 0, 0, 1, 1}, part);
    J.setZero();
    J.topLeftCorner(n, n) = part.dense().topLeftCorner(n, n) / (alpha * alpha);
    J.topRightCorner(n, m).noalias() = -J.topLeftCorner(n, n) * push;
    equations.jacobian(s, 1, {0, 1 / alpha, 1, 1, 1}, part);
    J.topLeftCorner(n, n) += part.dense().topLeftCorner(n, n);
    equations.constraint_gradient(s.t, s.q, G);
    equations.constraint_rate_gradient(s.t, s.q, s.v, C);
    C /= alpha;
    J.block(0, n, n, m) = mass * G.transpose();
    J.block(n, 0, m, n) = mass * G;
    J.block(n, n + m, m, m).noalias() = -mass * G * push;
    J.block(n + m, 0, m, n) = mass * (G + C);
    J.block(n + m, n + m, m, m).noalias() = -mass * C * push;
    matrix.set_zero();
    matrix.add(0, J);
    ++summary.factorisations;
    if (!matrix.factorise()) {
      const int row = matrix.singular_row();
      failure = fmt::format("the Newton matrix is singular{}",
                            row < 0 ? "" : " at " + equations.row_name(row < n + m ? row : row - m));
      return false;
    }
    has_matrix = true;
    matrix_alpha = alpha;
    if (&s != &matrix_state) matrix_state = s;
    matrix_push = push;
    return true;
  }

  void describe(const std::string& why) {
    failure = why;
    if (n > 0) {
      const int row = largest_motion_row(equations, residual.head(n));
      failure += fmt::format("; {}: residual {:.3g}", equations.row_name(row), residual[row]);
    }
    int row = largest_joint_row(equations, residual.segment(n, m));
    if (row < 0) return;
    failure += fmt::format("; {}: gap {:.3g}", equations.row_name(row), residual[row]);
    row = largest_joint_row(equations, residual.tail(m));
    failure += fmt::format("; {}: its rate {:.3g}", equations.row_name(row), residual[m + row]);
  }

  // Iterations from where the state is, with the matrix there is if `old`.
  bool iterate(double alpha, State& s, bool old) {
    const Eigen::VectorXd& scale = equations.displacement_scale();
    const double tolerance = options.tolerance * length;
    const double round_off = 16 * std::numeric_limits<double>::epsilon() * length;
    if (!evaluate(s)) {
      describe("numbers that are not finite");
      return false;
    }
    if (!old && !make_matrix(alpha, s)) return false;
    double previous = 0;
    for (int k = 1; k <= options.max_iterations; ++k) {
      ++summary.newton_iterations;
      x.head(n) = residual.head(n) / -(alpha * alpha);
      x.segment(n, m) = -mass * residual.segment(n, m);
      x.tail(m) = -mass / alpha * residual.tail(m);
      matrix.solve_in_place(x);
      if (!x.allFinite()) {
        describe("numbers that are not finite");
        return false;
      }
      dq = x.head(n);
      dq.noalias() -= push * x.tail(m);
      s.q += dq;
      s.v += alpha * x.head(n);
      s.a += alpha * alpha * x.head(n);
      s.lambda += mass * alpha * alpha * x.segment(n, m);
      const double increment = std::max(dq.cwiseProduct(scale).lpNorm<Eigen::Infinity>(),
                                        x.head(n).cwiseProduct(scale).lpNorm<Eigen::Infinity>());
      double theta = previous > 0 ? increment / previous : 1;
      // what the prediction was off goes first and fast; an old matrix does not keep that rate
      if (old) theta = std::max(theta, 0.1);
      if (increment <= round_off || (theta < 1 && theta / (1 - theta) * increment <= tolerance)) return true;
      if (!evaluate(s)) {
        describe("numbers that are not finite");
        return false;
      }
      if (k > 1 && theta > 2 && !old) {
        describe(fmt::format("increments grow ({:.3g} m after {:.3g} m)", increment, previous));
        return false;
      }
      if (k > 1 && old && theta >= 1) return false;
      if (options.reuse_rate <= 0 || (k > 1 && theta > options.reuse_rate)) {
        if (!make_matrix(alpha, s)) return false;
        old = false;
      }
      previous = increment;
    }
    describe(fmt::format("no convergence within {} iterations", options.max_iterations));
    return false;
  }
};

StabilisedSolver::StabilisedSolver(Equations& equations, const NewtonOptions& options,
                                   IntegrationSummary& summary)
    : impl_(std::make_unique<Impl>(equations, options, summary)) {}
StabilisedSolver::~StabilisedSolver() = default;

bool StabilisedSolver::solve(double alpha, State& state) {
  Impl& s = *impl_;
  LISSOM_ASSERT(alpha > 0 && state.q.size() == s.n && state.lambda.size() == s.m);
  s.equations.constraint_gradient(state.t, state.q, s.G);
  s.push = s.W.asDiagonal() * s.G.transpose();
  const double change = s.has_matrix ? alpha / s.matrix_alpha : 0;
  if (s.options.reuse_rate > 0 && change < largest_step_change && change > 1 / largest_step_change) {
    s.guess = state;
    if (s.iterate(alpha, state, true)) return true;
    state = s.guess;
  }
  if (s.iterate(alpha, state, false)) return true;
  s.has_matrix = false;
  return false;
}

const std::string& StabilisedSolver::failure() const {
  return impl_->failure;
}

void StabilisedSolver::forget() {
  impl_->has_matrix = false;
}

void StabilisedSolver::archive(Archive& archive) {
  Impl& s = *impl_;
  archive(s.has_matrix, s.matrix_alpha);
  if (!s.has_matrix) return;
  archive(s.matrix_state, s.matrix_push);
  if (!archive.loading()) return;
  // the same numbers by the same way make the same factors
  s.push = s.matrix_push;
  if (!s.make_matrix(s.matrix_alpha, s.matrix_state)) fail_input("has a Newton matrix that is singular");
}

}  // namespace lissom

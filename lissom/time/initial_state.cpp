#include "lissom/time/initial_state.hpp"

#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lissom/core/error.hpp"
#include "lissom/mbs/archive_state.hpp"
#include "lissom/time/largest_rows.hpp"

namespace lissom {

namespace {

// "joint 'hinge' (0.01)": the constraint with the largest entry of x.
std::string largest_constraint(const Equations& equations, const Eigen::VectorXd& x) {
  Eigen::Index row = 0;
  if (x.allFinite())
    x.cwiseAbs().maxCoeff(&row);
  else
    while (std::isfinite(x[row])) ++row;
  return fmt::format("{} ({:.3g})", equations.row_name(equations.coordinates() + static_cast<int>(row)),
                     x[row]);
}

double largest(const Eigen::VectorXd& x) {
  return x.size() > 0 ? x.lpNorm<Eigen::Infinity>() : 0;
}

// The equations' blocks and every entry of the diagonal after them.
std::vector<MatrixBlock> with_diagonal(const Equations& equations) {
  std::vector<MatrixBlock> blocks = equations.blocks();
  for (int i = 0; i < equations.coordinates(); ++i) blocks.push_back({{i}, {i}});
  return blocks;
}

// Largest displacement of an increment dq [m].
double displacement(const Equations& equations, const Eigen::Ref<const Eigen::VectorXd>& dq) {
  return dq.size() > 0 ? dq.cwiseProduct(equations.displacement_scale()).lpNorm<Eigen::Infinity>() : 0;
}

// [M c G'; c G 0] with c = typical_mass, factorised at a state of which only t and q count.
struct MassAndConstraints {
  Equations& equations;
  const int n, m;
  const double mass;
  NewtonMatrix matrix;
  State state;
  bool constant = false;  // factorised for good
  Eigen::VectorXd x;

  explicit MassAndConstraints(Equations& eq)
      : equations(eq),
        n(eq.coordinates()),
        m(eq.constraints()),
        mass(eq.typical_mass()),
        matrix(n + m, eq.blocks(), NewtonMatrix::Storage::Automatic, eq.symmetry()),
        x(n + m) {
    state.v = state.a = Eigen::VectorXd::Zero(n);
    state.lambda = Eigen::VectorXd::Zero(m);
  }

  bool factorise(double t, const Eigen::VectorXd& q) {
    if (constant) return true;
    state.t = t;
    state.q = q;
    equations.jacobian(state, 1, {0, 0, 1, mass, mass}, matrix);
    if (!matrix.factorise()) return false;
    constant = m == 0 && equations.constant_mass();
    return true;
  }

  // Of the rows that depend on each other a joint's, if there is one: factorisation ends at the constraints
  // of the bodies themselves, which come last and are never to blame.
  int dependent_row() const {
    Eigen::MatrixXd G(m, n);
    equations.constraint_gradient(state.t, state.q, G);
    G.rowwise().normalize();
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(G.transpose());
    // G' y = 0 with y = 1 at the last row of all
    const int rank = std::min(n, m - 1);
    Eigen::VectorXd y = Eigen::VectorXd::Zero(m);
    y[rank] = -1;
    y.head(rank) = qr.matrixR()
                       .topLeftCorner(rank, rank)
                       .triangularView<Eigen::Upper>()
                       .solve(Eigen::VectorXd(qr.matrixR().col(rank).head(rank)));
    y = qr.colsPermutation() * y;
    return largest_joint_row(equations, y) - n;
  }

  [[noreturn]] void fail_singular(double t) const {
    const int row = matrix.singular_row();
    const std::string where = row >= 0 ? equations.row_name(row) : "an unknown place";
    if (row >= n)
      fail(
          "at {:.6g} s a constraint of {} depends on the others: the mechanism is at a singular position, or "
          "a joint is one too many",
          t, equations.row_name(n + dependent_row()));
    fail("at {:.6g} s nothing determines the acceleration of {}: it has no mass and no constraint", t, where);
  }

  // x becomes the change of velocities that cancels `rate` with least kinetic energy, and its impulses.
  void cancel(const Eigen::VectorXd& rate) {
    x.head(n).setZero();
    x.tail(m) = -mass * rate;
    matrix.solve_in_place(x);
  }
};

// Velocities onto G v + dg/dt = 0 at factorised (t, q); returns the largest change [m/s].
double project_velocities(MassAndConstraints& kkt, double t, const Eigen::VectorXd& q, Eigen::VectorXd& v,
                          Eigen::VectorXd& rate) {
  double change = 0;
  // the second round takes away the round-off of a large change
  for (int round = 0; round < 2; ++round) {
    kkt.equations.constraint_rate(t, q, v, rate);
    kkt.cancel(rate);
    v += kkt.x.head(kkt.n);
    change = std::max(change, displacement(kkt.equations, kkt.x.head(kkt.n)));
  }
  kkt.equations.constraint_rate(t, q, v, rate);
  return change;
}

}  // namespace

InitialState make_consistent(Equations& equations, double t, const Eigen::VectorXd& q,
                             const Eigen::VectorXd& v, const InitialStateOptions& options,
                             const Turns& turns) {
  const int n = equations.coordinates(), m = equations.constraints();
  LISSOM_ASSERT(q.size() == n && v.size() == n);
  const Eigen::VectorXd& scale = equations.displacement_scale();
  const double length = equations.length();
  InitialState result;
  State& state = result.state;
  state.t = t;
  state.q = q;
  state.v = v;
  state.a = Eigen::VectorXd::Zero(n);
  state.lambda = Eigen::VectorXd::Zero(m);
  state.turns = turns;
  if (!q.allFinite() || !v.allFinite()) fail("initial positions or velocities are not finite");

  Eigen::VectorXd g(m), trial(m), x(n + m);
  if (m > 0) {
    equations.constraint(t, state.q, g);
    if (!g.allFinite())
      fail("constraints are not finite at the initial positions: {}", largest_constraint(equations, g));
    result.constraint_before = largest(g);
    // least squares with equations: [S2 G'; G 0] [dq; mu] = [S2 (q0 - q); -g] leads to the nearest point,
    // without the pull towards q0 to a point nearby, but from farther away
    NewtonMatrix matrix(n + m, with_diagonal(equations));
    const int first = static_cast<int>(equations.blocks().size());
    Eigen::MatrixXd entry(1, 1);
    bool nearest = true;
    double step = 0, previous_step = 0;
    bool done = result.constraint_before <= options.tolerance * length;
    while (!done) {
      if (result.iterations == options.max_iterations)
        fail(
            "the mechanism cannot be assembled: after {} iterations {} is the constraint farthest from being "
            "met. Check the positions of its markers and the lengths of the bodies, or place the bodies "
            "nearer to where they belong",
            result.iterations, largest_constraint(equations, g));
      ++result.iterations;
      equations.jacobian(state, 0, {0, 0, 0, 1, 1}, matrix);
      for (int i = 0; i < n; ++i) {
        entry(0, 0) = scale[i] > 0 ? scale[i] * scale[i] : length * length;
        matrix.add(first + i, entry);
      }
      if (!matrix.factorise()) {
        const int row = matrix.singular_row();
        fail(
            "the mechanism cannot be assembled: {} is a constraint that depends on the others at these "
            "positions (a dead centre, or one joint too many); largest residual: {}",
            row >= 0 ? equations.row_name(row) : "?", largest_constraint(equations, g));
      }
      x.head(n).setZero();
      if (nearest) x.head(n) = scale.cwiseAbs2().cwiseProduct(q - state.q);
      x.tail(m) = -g;
      matrix.solve_in_place(x);
      if (!x.allFinite())
        fail("the mechanism cannot be assembled: largest residual {}", largest_constraint(equations, g));

      // a shorter step where the full one leads away
      const double before = largest(g);
      const Eigen::VectorXd from = state.q;
      double factor = 1;
      for (int cut = 0;; ++cut) {
        state.q = from + factor * x.head(n);
        equations.constraint(t, state.q, trial);
        if (trial.allFinite() && (nearest || largest(trial) < before)) break;
        if (cut == 8) break;
        factor /= 2;
      }
      if (!trial.allFinite())
        fail("the mechanism cannot be assembled: {} is not finite", largest_constraint(equations, trial));
      g = trial;
      previous_step = step;
      step = factor * displacement(equations, x.head(n));
      const double round_off =
          8 * std::numeric_limits<double>::epsilon() * (length + displacement(equations, state.q));
      const bool met = largest(g) <= options.tolerance * length;
      if (nearest) {
        // the pull comes to rest, or does not
        done = met && step <= std::max(1e-10 * length, round_off);
        if (!done && result.iterations >= 3 && step > 0.5 * previous_step) nearest = false;
        if (nearest && result.iterations >= options.max_iterations / 2) nearest = false;
        if (!nearest && met) done = true;
      } else {
        done = met || (step <= round_off && largest(g) <= 1e-9 * length);
      }
    }
    result.moved = displacement(equations, state.q - q);
  }

  MassAndConstraints kkt(equations);
  if (!kkt.factorise(t, state.q)) kkt.fail_singular(t);
  if (m > 0) {
    Eigen::VectorXd rate(m);
    result.velocity_change = project_velocities(kkt, t, state.q, state.v, rate);
    // round-off of G v: velocities in metres, and what was taken away
    const double speed = displacement(equations, state.v) + result.velocity_change;
    if (!rate.allFinite() || largest(rate) > 1e-8 * (speed + options.tolerance * length))
      fail(
          "velocities and prescribed motions contradict each other: {} cannot be met at {:.6g} s. Check "
          "initial velocities and the rates of prescribed motions",
          largest_constraint(equations, rate), t);
  }
  AccelerationSolver(equations).solve(state);
  return result;
}

struct AccelerationSolver::Impl {
  MassAndConstraints kkt;
  Eigen::VectorXd curvature;
  explicit Impl(Equations& equations) : kkt(equations), curvature(equations.constraints()) {}
};

AccelerationSolver::AccelerationSolver(Equations& equations) : impl_(std::make_unique<Impl>(equations)) {}
AccelerationSolver::~AccelerationSolver() = default;

void AccelerationSolver::solve(State& state) {
  MassAndConstraints& kkt = impl_->kkt;
  const int n = kkt.n, m = kkt.m;
  if (!kkt.factorise(state.t, state.q)) kkt.fail_singular(state.t);
  state.a.setZero(n);
  state.lambda.setZero(m);
  kkt.equations.residual(state, 0, kkt.x.head(n));
  kkt.x.head(n) *= -1;
  if (m > 0) {
    kkt.equations.constraint_curvature(state.t, state.q, state.v, impl_->curvature);
    kkt.x.tail(m) = -kkt.mass * impl_->curvature;
  }
  kkt.matrix.solve_in_place(kkt.x);
  state.a = kkt.x.head(n);
  state.lambda = kkt.mass * kkt.x.tail(m);
  if (!kkt.x.allFinite()) fail("accelerations at {:.6g} s are not finite", state.t);
}

void AccelerationSolver::archive(Archive& archive) {
  MassAndConstraints& kkt = impl_->kkt;
  archive(kkt.constant);
  if (!kkt.constant) return;
  archive(kkt.state);
  if (!archive.loading()) return;
  // factors of the same numbers are the same ones
  kkt.constant = false;
  if (!kkt.factorise(kkt.state.t, Eigen::VectorXd(kkt.state.q))) fail_input("has a singular mass matrix");
}

struct Projector::Impl {
  MassAndConstraints kkt;
  Eigen::VectorXd g, q0;
  explicit Impl(Equations& equations)
      : kkt(equations), g(equations.constraints()), q0(equations.coordinates()) {}
};

Projector::Projector(Equations& equations) : impl_(std::make_unique<Impl>(equations)) {}
Projector::~Projector() = default;

double Projector::project(State& state, double tolerance) {
  MassAndConstraints& kkt = impl_->kkt;
  Eigen::VectorXd& g = impl_->g;
  Equations& equations = kkt.equations;
  if (kkt.m == 0) return 0;
  const double limit = tolerance * equations.length();
  impl_->q0 = state.q;
  if (!kkt.factorise(state.t, state.q)) kkt.fail_singular(state.t);
  // the drift is small: one matrix does for a few iterations
  constexpr int most = 12;
  double step = std::numeric_limits<double>::infinity();
  for (int k = 0;; ++k) {
    equations.constraint(state.t, state.q, g);
    const double round_off =
        8 * std::numeric_limits<double>::epsilon() * (equations.length() + displacement(equations, state.q));
    if (largest(g) <= limit || (step <= round_off && largest(g) <= 1e-9 * equations.length())) break;
    if (k == most || !g.allFinite())
      fail("at {:.6g} s the state cannot be put back onto the constraints: {} is farthest from being met",
           state.t, largest_constraint(equations, g));
    if (k > 0 && k % 3 == 0 && !kkt.factorise(state.t, state.q)) kkt.fail_singular(state.t);
    kkt.cancel(g);
    state.q += kkt.x.head(kkt.n);
    step = displacement(equations, kkt.x.head(kkt.n));
  }
  project_velocities(kkt, state.t, state.q, state.v, g);
  impl_->q0 = state.q - impl_->q0;
  return displacement(equations, impl_->q0);
}

double project(Equations& equations, State& state, double tolerance) {
  return Projector(equations).project(state, tolerance);
}

}  // namespace lissom

// Generalized-alpha for differential-algebraic equations of index 3 (M. Arnold, O. Bruels: Convergence of the
// generalized-alpha scheme for constrained mechanical systems, Multibody Syst. Dyn. 18, 2007). With the
// accelerations q'' and the algorithmic ones a,
//
//   q(n+1) = q(n) + h v(n) + h^2 ((1/2 - beta) a(n) + beta a(n+1))
//   v(n+1) = v(n) + h ((1 - gamma) a(n) + gamma a(n+1))
//   (1 - am) a(n+1) + am a(n) = (1 - af) q''(n+1) + af q''(n)
//   M q'' + h + G' lambda = 0 and g = 0 at n+1.
//
// HHT-I3 (paper 004, Eqs. 4-5) is am = 0, af = -alpha: where M is constant the last two lines are Eq. 4.
// Where it is not, Eq. 4 multiplies M(q(n+1)) with an acceleration of another time, which costs an order; the
// form here keeps it.
//
// a(n) stands for q'' at t(n) + (am - af) h, and the velocities of a solution with g = 0 at every step differ
// from those of G v + dg/dt = 0 by c h^2 q''' across the constraints, c = 1/6 - beta - (am - af) / 2 (expand
// the first line at the exact solution). Starting with neither leaves an error of first order in the
// multipliers, for ever with rho_inf = 1; hence both are corrected at the start and where the step changes.
//
// Across the constraints, with g = 0 at every step, the method has a double root of -rho_inf: near one, what
// Newton's method leaves over grows with the square of the number of steps. There the velocities across the
// constraints are replaced by the mean of two successive ones, which takes the alternating part away and
// changes the rest by h^3.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lissom/core/error.hpp"
#include "lissom/time/largest_rows.hpp"
#include "lissom/time/newton_solver.hpp"
#include "lissom/time/step_control.hpp"
#include "lissom/time/stepper.hpp"

namespace lissom {

namespace {

struct AlphaMethod {
  double am = 0, af = 0, beta = 0, gamma = 0;
  double shift() const { return am - af; }
  double offset() const { return 1.0 / 6 - beta - shift() / 2; }
  // less the double root across the constraints
  double rho() const { return 2 / (gamma + 0.5) - 1; }
};

AlphaMethod generalized_alpha(double rho) {
  AlphaMethod p;
  p.am = (2 * rho - 1) / (rho + 1);
  p.af = rho / (rho + 1);
  p.gamma = 0.5 - p.shift();
  p.beta = (p.gamma + 0.5) * (p.gamma + 0.5) / 4;
  return p;
}

AlphaMethod hht(double alpha) {
  AlphaMethod p;
  p.af = -alpha;
  p.gamma = 0.5 - alpha;
  p.beta = (1 - alpha) * (1 - alpha) / 4;
  return p;
}

class AlphaStepper final : public TrialStepper {
 public:
  AlphaStepper(Equations& equations, const AlphaMethod& method, const IntegratorOptions& options,
               IntegrationSummary& summary)
      : equations_(equations),
        p_(method),
        options_(options),
        summary_(summary),
        newton_(equations, options.newton, summary),
        n_(equations.coordinates()),
        m_(equations.constraints()),
        matrix_(n_ + m_, equations.blocks(), NewtonMatrix::Storage::Automatic, equations.symmetry()),
        deformations_(equations, options, DeformationNorm::Use::Control),
        stabilised_(m_ > 0 && method.rho() > 0.9 - 1e-9),
        x_(n_ + m_),
        r_(n_),
        curvature_(m_),
        curvature_ahead_(m_),
        G_(m_, n_),
        G_ahead_(m_, n_) {}

  void start(const State& initial) override {
    fixed_.start(initial.t);
    now_ = before_ = next_ = initial;
    a_ = a_before_ = a_next_ = initial.a;
    a_step_ = initial.a;
    v_step_ = initial.v;
    rate_ = Eigen::VectorXd::Zero(n_);
    constraint_rate_ = Eigen::VectorXd::Zero(m_);
    last_h_ = prepared_h_ = 0;
    linear_guess_ = true;
    newton_.forget();
  }

  void step(double stop) override {
    if (options_.adaptive)
      controlled_step(stop);
    else
      fixed_step(stop);
    ++summary_.steps;
    const double h = now_.t - before_.t;
    summary_.smallest_step = summary_.smallest_step > 0 ? std::min(summary_.smallest_step, h) : h;
    summary_.largest_step = std::max(summary_.largest_step, h);
  }

  const State& state() const override { return now_; }
  const State& previous() const override { return before_; }

  void interpolate(double t, State& out) const override {
    interpolate_hermite(before_, now_, t, out);
    // q and v fit together only up to h^3, of which two derivatives would make h
    const double s = (t - before_.t) / (now_.t - before_.t);
    out.a = (1 - s) * before_.a + s * now_.a;
  }

  bool try_step(double h, double end) override {
    if (!attempt(h, end)) return false;
    accept(h);
    return true;
  }

  void mark() override {
    marked_.now = now_;
    marked_.before = before_;
    marked_.a = a_;
    marked_.a_before = a_before_;
    marked_.constraint_rate = constraint_rate_;
    marked_.last_h = last_h_;
    marked_.linear_guess = linear_guess_;
  }

  void take_back() override {
    now_ = marked_.now;
    before_ = marked_.before;
    a_ = marked_.a;
    a_before_ = marked_.a_before;
    constraint_rate_ = marked_.constraint_rate;
    last_h_ = marked_.last_h;
    linear_guess_ = marked_.linear_guess;
    prepared_h_ = 0;
  }

  const std::string& failure() const override { return newton_.failure(); }

  void archive(Archive& archive) override {
    archive(newton_, now_, before_, next_, a_, a_before_, a_next_, a_step_, v_step_, constraint_rate_, rate_,
            fixed_.has_grid, fixed_.t0, last_h_, prepared_h_, wanted_h_, fixed_.halvings, linear_guess_,
            deformations_);
  }

 private:
  void fixed_step(double stop) {
    std::string first_failure;
    for (;;) {
      const auto [dt, end] = fixed_.next(now_.t, options_.step, stop);
      if (attempt(dt, end)) {
        accept(dt);
        fixed_.accepted(now_.t);
        return;
      }
      ++summary_.rejected;
      if (first_failure.empty()) first_failure = newton_.failure();
      ++fixed_.halvings;
      if (dt / 2 < smallest() || fixed_.halvings > FixedSteps::most_halvings) give_up(dt, first_failure);
    }
  }

  void controlled_step(double stop) {
    const double longest = options_.max_step > 0 ? options_.max_step : stop - now_.t;
    if (wanted_h_ <= 0) wanted_h_ = first_step(stop);
    std::string first_failure;
    double tried = std::min(wanted_h_, longest);
    int rejections = 0;
    for (;;) {
      double dt = tried, end = now_.t + dt;
      if (end > stop - 1e-3 * dt) {
        end = stop;
        dt = stop - now_.t;
      } else if (end + dt > stop) {
        dt = (stop - now_.t) / 2;  // two equal ones rather than a tiny last one
        end = now_.t + dt;
      }
      double factor = 0.25, error = 0;
      if (attempt(dt, end)) {
        error = step_error(dt, rejections);
        factor = std::clamp(0.8 / std::cbrt(std::max(error, 1e-9)), 0.2, 2.0);
        if (error <= 1) {
          accept(dt);
          deformations_.accept(summary_);
          // small changes are not worth a new matrix; a step cut short by `stop` says little of the next
          if (factor < 0.9 || (factor > 1.25 && dt * factor > wanted_h_))
            wanted_h_ = std::max(std::min(dt * factor, longest), options_.min_step);
          return;
        }
      } else if (first_failure.empty()) {
        first_failure = newton_.failure();
      }
      ++summary_.rejected;
      ++rejections;
      // the smallest step itself is tried before giving up
      if (dt <= smallest() * (1 + 1e-9))
        give_up(dt, error > 1
                        ? fmt::format("its error is {:.3g} times the tolerance ({}); a larger tolerance{} "
                                      "would let it pass",
                                      error, name_largest(equations_, next_),
                                      options_.min_step > 0 ? " or a smaller min_step" : "")
                        : first_failure);
      tried = wanted_h_ = std::max(dt * std::min(factor, 0.8), smallest());
    }
  }

  // Local error of a step over what is allowed: of the displacements, as their root mean square, and of the
  // deformations.
  double step_error(double h, int rejections) {
    const double factor = std::abs(p_.beta - 1.0 / 6) * h * h;
    a_step_error_ = (a_next_ - a_step_).cwiseProduct(equations_.displacement_scale());
    const double metres = factor * a_step_error_.norm() / std::sqrt(static_cast<double>(n_));
    a_step_error_ = factor * (a_next_ - a_step_);
    return std::max(metres / (options_.tolerance * equations_.length()),
                    deformations_.error(next_.q, a_step_error_, rejections));
  }

  // As if the accelerations changed altogether within it: short enough, and it grows soon.
  double first_step(double stop) const {
    const double whole = stop - now_.t;
    if (options_.step > 0) return options_.step;
    const double a =
        now_.a.cwiseProduct(equations_.displacement_scale()).norm() / std::sqrt(static_cast<double>(n_));
    const double limit = options_.tolerance * equations_.length();
    const double first = a > 0 ? std::sqrt(limit / (std::abs(p_.beta - 1.0 / 6) * a)) : whole;
    return std::max(std::min(whole / 100, first), options_.min_step);
  }

  double smallest() const {
    return std::max({options_.min_step, 64 * std::numeric_limits<double>::epsilon() * std::abs(now_.t),
                     1e-14 * std::abs(options_.end - fixed_.t0)});
  }

  [[noreturn]] void give_up(double h, const std::string& reason) const {
    fail(
        "at {:.6g} s no step down to {:.3g} s succeeds: {}. Try a smaller step, a larger tolerance of the "
        "Newton iteration, or check loads, springs and joints there (a lock, a dead centre, a contact that "
        "is too stiff)",
        now_.t, h, reason);
  }

  // Algorithmic accelerations and velocities to step from, for a step of h.
  void prepare(double h) {
    if (h == prepared_h_) return;
    prepared_h_ = h;
    if (last_h_ == 0) {
      prepare_start(h);
      return;
    }
    a_step_ = a_;
    v_step_ = now_.v;
    if (h == last_h_) return;
    a_step_ += p_.shift() * (h / last_h_ - 1) * (a_ - a_before_);
    if (m_ == 0 || p_.offset() == 0) return;
    // the velocities' offset goes with h^2
    equations_.constraint_rate(now_.t, now_.q, now_.v, curvature_);
    if (!make_matrix(h)) return;
    x_.head(n_).setZero();
    x_.tail(m_) = equations_.typical_mass() * (h * h / (last_h_ * last_h_) - 1) * curvature_;
    matrix_.solve_in_place(x_);
    v_step_ += x_.head(n_);
  }

  // The same from exact q'', by q''': the difference of the residual and of d2g/dt2 a little later says what
  // q''' must cancel. Solved with the matrix of the step instead of M, which leaves what the step resolves
  // as it is and keeps stiff modes from being kicked.
  void prepare_start(double h) {
    a_step_ = now_.a;
    v_step_ = now_.v;
    if (!make_matrix(h)) return;
    const double ahead = 0.01 * h, mass = equations_.typical_mass();
    equations_.residual(now_, 1, r_);
    if (m_ > 0) {
      equations_.constraint_curvature(now_.t, now_.q, now_.v, curvature_);
      equations_.constraint_gradient(now_.t, now_.q, G_);
    }
    next_ = now_;
    next_.t += ahead;
    next_.q += ahead * (now_.v + ahead / 2 * now_.a);
    next_.v += ahead * now_.a;
    equations_.residual(next_, 1, x_.head(n_));
    summary_.residuals += 2;
    x_.head(n_) = (r_ - x_.head(n_)) / ahead;
    if (m_ > 0) {
      equations_.constraint_curvature(next_.t, next_.q, next_.v, curvature_ahead_);
      equations_.constraint_gradient(next_.t, next_.q, G_ahead_);
      curvature_ = (curvature_ - curvature_ahead_) / ahead;
      curvature_.noalias() += ((G_ - G_ahead_) * now_.a) / ahead;
      x_.tail(m_) = mass * curvature_;
    }
    if (!x_.allFinite()) return;
    matrix_.solve_in_place(x_);
    rate_ = x_.head(n_);
    if (!rate_.allFinite()) return;
    a_step_ += p_.shift() * h * rate_;
    if (m_ == 0) return;
    // its part across the constraints
    x_.head(n_).setZero();
    x_.tail(m_) = mass * curvature_;
    matrix_.solve_in_place(x_);
    v_step_ += p_.offset() * h * h * x_.head(n_);
    constraint_rate_ = p_.offset() * h * h * curvature_;
  }

  double ca(double h) const { return (1 - p_.am) / ((1 - p_.af) * p_.beta * h * h); }
  double cv(double h) const { return p_.gamma / (p_.beta * h); }

  bool make_matrix(double h) {
    const double mass = equations_.typical_mass();
    ++summary_.jacobians;
    ++summary_.factorisations;
    equations_.jacobian(now_, 1, {1 / ca(h), cv(h) / ca(h), 1, mass, mass}, matrix_);
    return matrix_.factorise();
  }

  // a(n+1) of the accelerations in next_.
  void set_algorithmic() {
    a_next_ = ((1 - p_.af) * next_.a + p_.af * now_.a - p_.am * a_step_) / (1 - p_.am);
  }

  bool attempt(double h, double end) {
    prepare(h);
    // prediction: accelerations and multipliers as they were, or along a line where that was nearer last time
    const double slope = last_h_ > 0 && linear_guess_ ? h / last_h_ : 0;
    next_.a = now_.a + slope * (now_.a - before_.a);
    next_.lambda = now_.lambda + slope * (now_.lambda - before_.lambda);
    next_.turns = now_.turns;
    set_algorithmic();
    next_.q = now_.q + h * v_step_ + h * h * ((0.5 - p_.beta) * a_step_ + p_.beta * a_next_);
    next_.v = v_step_ + h * ((1 - p_.gamma) * a_step_ + p_.gamma * a_next_);
    ImplicitStep implicit;
    implicit.t = end;
    implicit.cv = cv(h);
    implicit.ca = ca(h);
    // the change of velocities in accept() wants the direction of the constraints at the end of this step
    if (stabilised_) newton_.forget();
    if (!newton_.solve(implicit, next_)) return false;
    set_algorithmic();
    return true;
  }

  void accept(double h) {
    if (last_h_ > 0) {
      double constant = 0, linear = 0;
      const Eigen::VectorXd& scale = equations_.displacement_scale();
      for (int i = 0; i < n_; ++i) {
        const double change = next_.a[i] - now_.a[i];
        const double line = change - h / last_h_ * (now_.a[i] - before_.a[i]);
        constant = std::max(constant, scale[i] * std::abs(change));
        linear = std::max(linear, scale[i] * std::abs(line));
      }
      linear_guess_ = linear < constant;
    }
    std::swap(before_, now_);
    std::swap(now_, next_);
    a_before_.swap(a_step_);
    a_.swap(a_next_);
    if (stabilised_) {
      // rates of both ends for this length of the step; their mean is what goes on
      equations_.constraint_rate(now_.t, now_.q, now_.v, curvature_);
      if (last_h_ > 0 && last_h_ != h) constraint_rate_ *= h * h / (last_h_ * last_h_);
      constraint_rate_ = (constraint_rate_ + curvature_) / 2;
      curvature_ = constraint_rate_ - curvature_;
      newton_.velocity_change(curvature_, rate_);
      now_.v += rate_;
    }
    equations_.count_turns(now_);
    last_h_ = h;
    prepared_h_ = 0;
  }

  Equations& equations_;
  const AlphaMethod p_;
  const IntegratorOptions options_;
  IntegrationSummary& summary_;
  NewtonSolver newton_;
  const int n_, m_;
  NewtonMatrix matrix_;
  DeformationNorm deformations_;
  const bool stabilised_;

  State now_, before_, next_;
  Eigen::VectorXd a_, a_before_, a_next_;  // algorithmic accelerations
  Eigen::VectorXd a_step_, v_step_;        // those at the beginning of a step, corrected for its length
  Eigen::VectorXd constraint_rate_;        // G v + dg/dt of the last step
  Eigen::VectorXd rate_, a_step_error_;
  Eigen::VectorXd x_, r_, curvature_, curvature_ahead_;
  Eigen::MatrixXd G_, G_ahead_;

  // what accept() changes, as it was at mark()
  struct {
    State now, before;
    Eigen::VectorXd a, a_before, constraint_rate;
    double last_h = 0;
    bool linear_guess = true;
  } marked_;

  FixedSteps fixed_;
  double last_h_ = 0;      // 0: nothing before
  double prepared_h_ = 0;  // a_step_ and v_step_ are for this step
  double wanted_h_ = 0;    // of step control
  bool linear_guess_ = true;
};

}  // namespace

std::unique_ptr<Stepper> make_generalized_alpha(Equations& equations, const IntegratorOptions& options,
                                                IntegrationSummary& summary) {
  return std::make_unique<AlphaStepper>(equations, generalized_alpha(options.rho_inf), options, summary);
}

std::unique_ptr<TrialStepper> make_trial_alpha(Equations& equations, const IntegratorOptions& options,
                                               IntegrationSummary& summary) {
  return std::make_unique<AlphaStepper>(equations, generalized_alpha(options.rho_inf), options, summary);
}

std::unique_ptr<Stepper> make_hht_i3(Equations& equations, const IntegratorOptions& options,
                                     IntegrationSummary& summary) {
  return std::make_unique<AlphaStepper>(equations, hht(options.alpha), options, summary);
}

}  // namespace lissom

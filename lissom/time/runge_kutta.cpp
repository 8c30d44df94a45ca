// Dormand and Prince, A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6 (1980): order 5
// with an estimate of order 4, and the continuous extension of order 4 by Hairer, Norsett, Wanner, Solving
// Ordinary Differential Equations I, II.6. Here y = (q, v), with accelerations from the index-1 equations.

#include <array>
#include <cmath>

#include "lissom/time/initial_state.hpp"
#include "lissom/time/largest_rows.hpp"
#include "lissom/time/step_control.hpp"
#include "lissom/time/stepper.hpp"

namespace lissom {

namespace {

constexpr int stages = 7;
constexpr double c[stages] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
constexpr double A[stages][stages - 1] = {
    {},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
// weights of order 5 less those of order 4
constexpr double E[stages] = {71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                              -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
// of the continuous extension
constexpr double D[stages] = {-12715105075.0 / 11282082432,  0,
                              87487479700.0 / 32700410799,   -10690763975.0 / 1880347072,
                              701980252875.0 / 199316789632, -1453857185.0 / 822651844,
                              69997945.0 / 29380423};
// PI control (Gustafsson): h grows by 0.9 err^-alpha err_before^beta
constexpr double beta = 0.04, alpha = 0.2 - 0.75 * beta;

// q and v of one stage's derivative, or of a coefficient of the extension
struct Pair {
  Eigen::VectorXd q, v;
};

class RungeKutta final : public Stepper {
 public:
  RungeKutta(Equations& equations, const IntegratorOptions& options, IntegrationSummary& summary)
      : equations_(equations),
        options_(options),
        summary_(summary),
        norm_(equations, options),
        deformations_(equations, options, DeformationNorm::Use::Control),
        accelerations_(equations),
        projector_(equations) {
    const int n = equations.coordinates();
    for (auto* group : {&k_[0], &k_[1], &k_[2], &k_[3], &k_[4], &k_[5], &k_[6], &error_, &shift_})
      group->q = group->v = Eigen::VectorXd::Zero(n);
    for (Pair& r : r_) r.q = r.v = Eigen::VectorXd::Zero(n);
  }

  void start(const State& initial) override {
    state_ = previous_ = trial_ = initial;
    norm_.start(initial.t);
    accelerate(state_);
    // errors of a first step are about (h / T)^5
    const double scale = norm_.time_scale(state_);
    h_ = options_.step > 0 ? options_.step : 0.5 * std::pow(std::min(options_.tolerance, 1e-2), 0.2) * scale;
    error_before_ = 1e-4;
  }

  void step(double stop) override {
    int rejections = 0;
    for (;;) {
      if (options_.max_step > 0) h_ = std::min(h_, options_.max_step);
      const TrimmedStep trimmed = trim_step(state_.t, h_, stop);
      const double least = smallest_step(options_, state_.t, norm_.horizon());
      std::string why;
      const double err = attempt(trimmed, rejections, why);
      if (err <= 1) {
        accept(trimmed);
        double factor = 0.9 * std::pow(std::max(err, 1e-10), -alpha) * std::pow(error_before_, beta);
        factor = std::clamp(factor, 0.2, rejections > 0 ? 1.0 : 10.0);
        error_before_ = std::max(err, 1e-4);
        // a step cut by `stop` says little about longer ones
        h_ = trimmed.h < h_ ? std::max(trimmed.h * factor, h_) : trimmed.h * factor;
        return;
      }
      ++summary_.rejected;
      ++rejections;
      h_ = trimmed.h * (std::isfinite(err) ? std::max(0.2, 0.9 * std::pow(err, -alpha)) : 0.1);
      if (h_ < least)
        fail(
            "runge-kutta at {:.9g} s: the error of a step stays above the tolerance of {:g} even at {:.3g} s"
            "{}. The motion may have a jump there, or be stiff: try cvode or generalized-alpha, or a larger "
            "tolerance",
            state_.t, options_.tolerance, trimmed.h,
            fmt::format(" ({}{}{})", why, why.empty() ? "" : "; ", name_largest(equations_, state_)));
    }
  }

  const State& state() const override { return state_; }
  const State& previous() const override { return previous_; }

  void interpolate(double t, State& out) const override {
    const double h = state_.t - previous_.t;
    const double x = h > 0 ? (t - previous_.t) / h : 1, y = 1 - x;
    out.t = t;
    out.q = previous_.q + x * (r_[0].q + shift_.q + y * (r_[1].q + x * (r_[2].q + y * r_[3].q)));
    out.v = previous_.v + x * (r_[0].v + shift_.v + y * (r_[1].v + x * (r_[2].v + y * r_[3].v)));
    out.turns = previous_.turns;
    if (!equations_.is_ode()) projector_.project(out, options_.newton.tolerance);
    accelerations_.solve(out);
  }

  void archive(Archive& archive) override {
    archive(norm_, deformations_, accelerations_, state_, previous_, trial_, h_, error_before_);
    for (Pair& r : r_) archive(r.q, r.v);
    archive(shift_.q, shift_.v);
  }

 private:
  void accelerate(State& s) const {
    accelerations_.solve(s);
    ++summary_.residuals;
  }

  // Tries a step; returns its error. Where a stage leads out of what can be evaluated, infinity and `why`.
  double attempt(const TrimmedStep& step, int rejections, std::string& why) {
    const double h = step.h;
    k_[0].q = state_.v;
    k_[0].v = state_.a;
    trial_.turns = state_.turns;
    try {
      for (int i = 1; i < stages; ++i) {
        trial_.t = i >= 5 ? step.end : state_.t + c[i] * h;
        trial_.q = state_.q;
        trial_.v = state_.v;
        for (int j = 0; j < i; ++j) {
          if (A[i][j] == 0) continue;
          trial_.q += h * A[i][j] * k_[j].q;
          trial_.v += h * A[i][j] * k_[j].v;
        }
        accelerate(trial_);
        k_[i].q = trial_.v;
        k_[i].v = trial_.a;
      }
    } catch (const Error& error) {
      why = error.what();
      return std::numeric_limits<double>::infinity();
    }
    error_.q.setZero();
    error_.v.setZero();
    for (int i = 0; i < stages; ++i) {
      error_.q += h * E[i] * k_[i].q;
      error_.v += h * E[i] * k_[i].v;
    }
    const double time = std::min(norm_.time_scale(state_), norm_.time_scale(trial_));
    const double err = std::max({norm_.positions(error_.q), norm_.velocities(error_.v, time),
                                 deformations_.error(trial_.q, error_.q, rejections)});
    if (err > 1 || equations_.is_ode()) return err;
    // back onto the constraints
    shift_.q = trial_.q;
    shift_.v = trial_.v;
    try {
      projector_.project(trial_, options_.newton.tolerance);
      accelerate(trial_);
    } catch (const Error& error) {
      why = error.what();
      return std::numeric_limits<double>::infinity();
    }
    shift_.q = trial_.q - shift_.q;
    shift_.v = trial_.v - shift_.v;
    return err;
  }

  void accept(const TrimmedStep& step) {
    const double h = step.h;
    deformations_.accept(summary_);
    std::swap(previous_, state_);
    std::swap(state_, trial_);
    state_.t = step.end;
    equations_.count_turns(state_);
    // coefficients of the extension belong to the step before it was put back; interpolate() adds that
    extend(h, &Pair::q, &State::q);
    extend(h, &Pair::v, &State::v);
    count_step(summary_, h);
  }

  void extend(double h, Eigen::VectorXd Pair::*part, Eigen::VectorXd State::*of) {
    r_[0].*part = state_.*of - previous_.*of - shift_.*part;
    r_[1].*part = h * (k_[0].*part) - r_[0].*part;
    r_[2].*part = r_[0].*part - h * (k_[6].*part) - r_[1].*part;
    (r_[3].*part).setZero();
    for (int i = 0; i < stages; ++i) r_[3].*part += h * D[i] * (k_[i].*part);
  }

  Equations& equations_;
  const IntegratorOptions options_;
  IntegrationSummary& summary_;
  ErrorNorm norm_;
  DeformationNorm deformations_;
  mutable AccelerationSolver accelerations_;
  mutable Projector projector_;
  State state_, previous_, trial_;
  double h_ = 0, error_before_ = 1e-4;
  std::array<Pair, stages> k_;
  std::array<Pair, 4> r_;
  Pair error_, shift_;
};

}  // namespace

std::unique_ptr<Stepper> make_runge_kutta(Equations& equations, const IntegratorOptions& options,
                                          IntegrationSummary& summary) {
  return std::make_unique<RungeKutta>(equations, options, summary);
}

}  // namespace lissom

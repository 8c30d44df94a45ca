// Generalized-alpha in steps of h and, beside it, in steps of h / 2, combined (Richardson):
//
//   y = (4 y_half - y_whole) / 3,
//
// of positions, velocities, accelerations and multipliers alike, all of which have errors of h^2 (with the starting
// values of generalized_alpha.cpp also at index 3). Both runs go on by themselves, so that stability and damping are
// those of generalized-alpha: extrapolating into the next step would make stiff modes grow. What is left over is of
// h^4 with rho_inf = 1; below, numerical damping leaves errors of h^3, of which y holds a sixth of those of the run
// of h, with a coefficient that is small where rho_inf is near 1.
//
// Smooth loads are needed in every step, and steps end at the kinks that are known (integrate.cpp).
//
// Errors of the two runs grow along the motion, and their squares do not drop out. Where they are not small any more,
// |y_half - y_whole|^2 / length beyond the tolerance, both begin again from y, put back onto the constraints.
//
// A third of the difference is the error of the half steps alone, to leading order: the summary has the largest one, and
// what y itself is off is less. Steps are fixed: generalized-alpha with steps that change often lets stiff modes grow that
// it does not resolve, and so it does with controlled steps here (four-bar ROM: a million times their energy).
#include <algorithm>

#include "lissom/core/error.hpp"
#include "lissom/time/initial_state.hpp"
#include "lissom/time/step_control.hpp"
#include "lissom/time/stepper.hpp"

namespace lissom {

namespace {

// what Newton's method leaves in the velocities is not small beside errors of fourth order
constexpr double newton_at_most = 1e-12;

IntegratorOptions options_of_runs(IntegratorOptions options) {
  options.newton.tolerance = std::min(options.newton.tolerance, newton_at_most);
  return options;
}

class ExtrapolatedAlpha final : public Stepper {
 public:
  ExtrapolatedAlpha(Equations& equations, const IntegratorOptions& options, IntegrationSummary& summary)
      : equations_(equations),
        options_(options),
        summary_(summary),
        norm_(equations, options),
        whole_(make_trial_alpha(equations, options_of_runs(options), summary)),
        half_(make_trial_alpha(equations, options_of_runs(options), summary)),
        projector_(equations) {}

  void start(const State& initial) override {
    norm_.start(initial.t);
    fixed_.start(initial.t);
    now_ = before_ = next_ = initial;
    together(initial);
  }

  void step(double stop) override {
    std::string first_failure;
    for (;;) {
      const TrimmedStep step = fixed_.next(now_.t, options_.step, stop);
      if (attempt(step)) {
        accept(step);
        return;
      }
      ++summary_.rejected;
      whole_->take_back();
      half_->take_back();
      if (first_failure.empty()) first_failure = failure_;
      ++fixed_.halvings;
      if (step.h / 2 < smallest_step(options_, now_.t, norm_.horizon()) ||
          fixed_.halvings > FixedSteps::most_halvings)
        fail(
            "extrapolated-alpha at {:.6g} s: no step down to {:.3g} s succeeds: {}. Try a smaller step, or "
            "check loads, springs and joints there",
            now_.t, step.h, first_failure);
    }
  }

  const State& state() const override { return now_; }
  const State& previous() const override { return before_; }
  void interpolate(double t, State& out) const override { interpolate_hermite(before_, now_, t, out); }

  void archive(Archive& archive) override {
    archive(*whole_, *half_, norm_, now_, before_, next_, difference_, fixed_.has_grid, fixed_.t0,
            fixed_.halvings);
  }

 private:
  // Both runs from here on.
  void together(const State& state) {
    whole_->start(state);
    half_->start(state);
    difference_ = change_ = Eigen::VectorXd::Zero(state.q.size());
  }

  bool attempt(const TrimmedStep& step) {
    whole_->mark();
    half_->mark();
    const double middle = now_.t + step.h / 2;
    for (TrialStepper* run : {whole_.get(), half_.get()}) {
      const bool solved = run == whole_.get()
                              ? run->try_step(step.h, step.end)
                              : run->try_step(step.h / 2, middle) && run->try_step(step.h / 2, step.end);
      if (solved) continue;
      failure_ = run->failure();
      return false;
    }
    const State &one = whole_->state(), &two = half_->state();
    next_.t = step.end;
    next_.q = two.q + (two.q - one.q) / 3;
    next_.v = two.v + (two.v - one.v) / 3;
    next_.a = two.a + (two.a - one.a) / 3;
    next_.lambda = two.lambda + (two.lambda - one.lambda) / 3;
    next_.turns = now_.turns;
    change_ = two.q - one.q - difference_;
    return true;
  }

  void accept(const TrimmedStep& step) {
    std::swap(before_, now_);
    std::swap(now_, next_);
    equations_.count_turns(now_);
    difference_ += change_;
    count_step(summary_, step.h);
    fixed_.accepted(now_.t);
    const double metres = norm_.positions(difference_) * norm_.allowed();
    const double apart = metres / equations_.length();
    summary_.half_step_error = std::max(summary_.half_step_error, metres / 3);
    if (apart * apart > options_.tolerance) begin_again();
  }

  // Both runs from where they have come to together: the state is put back onto the constraints, because what it is off
  // would stand in the accelerations divided by h^2. Its accelerations stay as they are: those of the equations at this
  // very state would set modes ringing that the steps do not resolve.
  void begin_again() {
    if (!equations_.is_ode()) projector_.project(now_, newton_at_most);
    together(now_);
  }

  Equations& equations_;
  const IntegratorOptions options_;
  IntegrationSummary& summary_;
  ErrorNorm norm_;
  std::unique_ptr<TrialStepper> whole_, half_;
  State now_, before_, next_;
  Projector projector_;
  // positions of the half steps less those of the whole ones, and what a step adds to it
  Eigen::VectorXd difference_, change_;
  std::string failure_;
  FixedSteps fixed_;
};

}  // namespace

std::unique_ptr<Stepper> make_extrapolated_alpha(Equations& equations, const IntegratorOptions& options,
                                                 IntegrationSummary& summary) {
  return std::make_unique<ExtrapolatedAlpha>(equations, options, summary);
}

}  // namespace lissom

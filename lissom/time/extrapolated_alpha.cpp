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
// In a step the difference of the two runs grows by e, three quarters of the local error of the whole step. A third of
// it is what the half steps are off, which is what step control knows; relative to the size of what moves it is r, of
// third order in the step, and the error of y is taken for r^(4/3).
#include <algorithm>
#include <cmath>

#include "lissom/core/error.hpp"
#include "lissom/time/initial_state.hpp"
#include "lissom/time/largest_rows.hpp"
#include "lissom/time/step_control.hpp"
#include "lissom/time/stepper.hpp"

namespace lissom {

namespace {

// what Newton's method leaves in the velocities is not small beside errors of fourth order
constexpr double newton_at_most = 1e-12;

IntegratorOptions options_of_runs(IntegratorOptions options) {
  options.newton.tolerance = std::min(options.newton.tolerance, newton_at_most);
  options.adaptive = false;
  return options;
}

class ExtrapolatedAlpha final : public Stepper {
 public:
  ExtrapolatedAlpha(Equations& equations, const IntegratorOptions& options, IntegrationSummary& summary)
      : equations_(equations),
        options_(options),
        summary_(summary),
        norm_(equations, options),
        deformations_(equations, options),
        whole_(make_trial_alpha(equations, options_of_runs(options), summary)),
        half_(make_trial_alpha(equations, options_of_runs(options), summary)),
        accelerations_(equations),
        projector_(equations) {}

  void start(const State& initial) override {
    norm_.start(initial.t);
    fixed_.start(initial.t);
    now_ = before_ = next_ = initial;
    together(initial);
  }

  void step(double stop) override {
    std::string first_failure;
    int rejections = 0;
    if (options_.adaptive && !(wanted_h_ > 0)) wanted_h_ = first_step(stop);
    for (;;) {
      if (options_.max_step > 0) wanted_h_ = std::min(wanted_h_, options_.max_step);
      const TrimmedStep step =
          options_.adaptive ? trim_step(now_.t, wanted_h_, stop) : fixed_.next(now_.t, options_.step, stop);
      const bool solved = attempt(step);
      const double error = solved && options_.adaptive ? error_of_trial(rejections) : 0;
      if (solved && error <= 1) {
        accept(step);
        if (options_.adaptive) {
          // steps as equal as possible
          const double factor = std::clamp(0.85 / std::pow(std::max(error, 1e-8), 0.25), 0.5, 2.0);
          const double wish = step.h * factor;
          if (factor < 0.9 || (factor > 1.25 && wish > wanted_h_)) wanted_h_ = wish;
        } else {
          fixed_.accepted(now_.t);
        }
        return;
      }
      ++summary_.rejected;
      ++rejections;
      whole_->take_back();
      half_->take_back();
      if (!solved && first_failure.empty()) first_failure = failure_;
      const double smallest = smallest_step(options_, now_.t, norm_.horizon());
      if (options_.adaptive)
        wanted_h_ = step.h * (solved ? std::clamp(0.85 / std::pow(error, 0.25), 0.2, 0.8) : 0.25);
      else
        ++fixed_.halvings;
      const bool tries_on = options_.adaptive
                                ? wanted_h_ >= smallest
                                : step.h / 2 >= smallest && fixed_.halvings <= FixedSteps::most_halvings;
      if (!tries_on)
        fail(
            "extrapolated-alpha at {:.6g} s: no step down to {:.3g} s succeeds: {}. Try a smaller step, or "
            "check loads, springs and joints there: it wants loads without kinks that it does not know, and "
            "generalized-alpha bears more",
            now_.t, step.h,
            first_failure.empty() ? fmt::format("the error stays above the tolerance of {:g} ({})",
                                                options_.tolerance, name_largest(equations_, next_))
                                  : first_failure);
    }
  }

  const State& state() const override { return now_; }
  const State& previous() const override { return before_; }
  void interpolate(double t, State& out) const override { interpolate_hermite(before_, now_, t, out); }

  void archive(Archive& archive) override {
    archive(*whole_, *half_, norm_, deformations_, now_, before_, next_, difference_, accelerations_,
            fixed_.has_grid, fixed_.t0, fixed_.halvings, wanted_h_);
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

  double error_of_trial(int rejections) {
    e_ = change_ / 3;
    const auto combined = [](double error, double tolerance) {
      return std::pow(error * tolerance, 4.0 / 3) / tolerance;
    };
    return std::max(combined(norm_.positions(e_), options_.tolerance),
                    combined(deformations_.error(next_.q, e_, rejections), deformations_.tolerance()));
  }

  // As if accelerations changed altogether within a step: a hundredth of that length is short enough.
  double first_step(double stop) const {
    if (options_.step > 0) return options_.step;
    const double scale = norm_.time_scale(now_);
    return std::min(stop - now_.t, 0.3 * std::pow(std::min(options_.tolerance, 1e-2), 0.25) * scale);
  }

  void accept(const TrimmedStep& step) {
    if (options_.adaptive) deformations_.accept(summary_);
    std::swap(before_, now_);
    std::swap(now_, next_);
    equations_.count_turns(now_);
    difference_ += change_;
    count_step(summary_, step.h);
    const double apart = norm_.positions(difference_) * options_.tolerance;
    if (apart * apart > options_.tolerance) begin_again();
  }

  // Both runs from where they have come to together: the state is put back onto the constraints, because what it is off
  // would stand in the accelerations divided by h^2.
  void begin_again() {
    projector_.project(now_, newton_at_most);
    accelerations_.solve(now_);
    together(now_);
  }

  Equations& equations_;
  const IntegratorOptions options_;
  IntegrationSummary& summary_;
  ErrorNorm norm_;
  DeformationNorm deformations_;
  std::unique_ptr<TrialStepper> whole_, half_;
  State now_, before_, next_;
  AccelerationSolver accelerations_;
  Projector projector_;
  // positions of the half steps less those of the whole ones, and what a step adds to it
  Eigen::VectorXd difference_, change_, e_;
  std::string failure_;
  FixedSteps fixed_;
  double wanted_h_ = 0;  // of step control
};

}  // namespace

std::unique_ptr<Stepper> make_extrapolated_alpha(Equations& equations, const IntegratorOptions& options,
                                                 IntegrationSummary& summary) {
  return std::make_unique<ExtrapolatedAlpha>(equations, options, summary);
}

}  // namespace lissom

#include "lissom/time/integrate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "lissom/core/error.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/time/choose_integrator.hpp"
#include "lissom/time/initial_state.hpp"
#include "lissom/time/stepper.hpp"

namespace lissom {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr double infinity = std::numeric_limits<double>::infinity();
// error of a step in a body's deformation that is worth a warning
constexpr double much_of_deformation = 0.1;

bool has_fixed_step(const IntegratorOptions& o) {
  switch (o.integrator) {
    case Integrator::ExtrapolatedAlpha:
    case Integrator::CentralDifferences:
    case Integrator::Static:
    case Integrator::Kinematics:
      return true;
    case Integrator::GeneralizedAlpha:
    case Integrator::HhtI3:
      return !o.adaptive;
    default:
      return false;
  }
}

std::unique_ptr<Stepper> make_stepper(Equations& equations, const IntegratorOptions& options,
                                      IntegrationSummary& summary) {
  switch (options.integrator) {
    case Integrator::GeneralizedAlpha:
      return make_generalized_alpha(equations, options, summary);
    case Integrator::ExtrapolatedAlpha:
      return make_extrapolated_alpha(equations, options, summary);
    case Integrator::HhtI3:
      return make_hht_i3(equations, options, summary);
    case Integrator::Bdf:
      return make_bdf(equations, options, summary);
    case Integrator::CentralDifferences:
      return make_central_differences(equations, options, summary);
    case Integrator::RungeKutta:
      return make_runge_kutta(equations, options, summary);
    case Integrator::Cvode:
      return make_cvode(equations, options, summary);
    case Integrator::Static:
      return make_static(equations, options, summary);
    case Integrator::Kinematics:
      return make_kinematics(equations, options, summary);
    case Integrator::Auto:
      break;  // replaced before
  }
  LISSOM_ASSERT(false);
  return nullptr;
}

// Names the first coordinate or multiplier that is not finite, if any.
void check_finite(const Equations& equations, const State& state, std::string_view when) {
  // what is not finite makes the sum so, too
  if (std::isfinite(state.q.sum() + state.v.sum() + state.a.sum() + state.lambda.sum())) return;
  const auto check = [&](const Eigen::VectorXd& x, const char* what, int first) {
    if (x.allFinite()) return;
    int i = 0;
    while (std::isfinite(x[i])) ++i;
    fail("{} of {} is not finite {} ({:.6g} s). Try a smaller step, and check the loads there", what,
         equations.row_name(first + i), when, state.t);
  };
  check(state.q, "the position", 0);
  check(state.v, "the velocity", 0);
  check(state.a, "the acceleration", 0);
  check(state.lambda, "the reaction", equations.coordinates());
}

// One run, from start to end.
class Run {
 public:
  Run(Equations& equations, const State& initial, const IntegratorOptions& options,
      const IntegrationOutput& output, IntegrationSummary& summary, const ProgressHook& progress)
      : equations_(equations),
        options_(options),
        output_(output),
        summary_(summary),
        progress_(progress),
        start_(initial.t),
        round_off_(8 * std::numeric_limits<double>::epsilon() *
                   std::max(std::abs(initial.t), std::abs(options.end))),
        sample_(initial) {
    for (double t : equations.breaks_above(options.tolerance))
      if (t > start_ + round_off_ && t < options.end - round_off_) breaks_.push_back(t);
    std::sort(breaks_.begin(), breaks_.end());
  }

  void operator()(const State& initial, Archive* resume) {
    summary_.end = start_;
    check_finite(equations_, initial, "at the start");
    if (resume) equations_.archive_rows(*resume);
    std::unique_ptr<Stepper> stepper = make_stepper(equations_, options_, summary_);
    if (resume) {
      if (progress_) progress_("going back to where it was", -1);
      archive(*resume, *stepper);
      seconds_before_ = summary_.seconds;
    } else {
      State counted = initial;
      equations_.count_turns(counted);
      if (output_.control.act) {
        act(counted);
        follow_control(counted);
      }
      stepper->start(counted);
      if (options_.sample > 0)
        give_samples(*stepper, start_, true);
      else
        give(output_.sample, stepper->state());
    }

    const IntegrationOutput::Save save = [&](Archive& to) {
      if (!saving_) saving_ = Clock::now();
      summary_.seconds = seconds();
      equations_.archive_rows(to);
      archive(to, *stepper);
    };
    long next_control = 1;
    double told = 0;
    while (summary_.end < options_.end) {
      const bool stopped = output_.stop && output_.stop();
      if (output_.between) {
        saving_.reset();
        output_.between(save, stopped);
        if (saving_) summary_.output_seconds += seconds_since(*saving_);
      }
      if (stopped) {
        summary_.stopped = true;
        return;
      }
      const auto next_break = std::upper_bound(breaks_.begin(), breaks_.end(), summary_.end + round_off_);
      // up to just before a jump, and on from just after it: each side with its own loads
      const double at_break = next_break != breaks_.end() ? *next_break : infinity;
      const double at_control = control_time(next_control);
      const double jump = std::min(at_break, at_control);
      const bool has_break = jump < infinity;
      const double stop = has_break ? std::nextafter(jump, -infinity) : options_.end;
      stepper->step(stop);
      check_finite(equations_, stepper->state(), "after a step");
      if (output_.step) give_step(stepper->state());
      if (stepper->state().t == stop && has_break) {
        give_samples(*stepper, jump - 2 * round_off_, false);
        const bool controlled = at_control <= jump + round_off_;
        if (controlled) {
          act(stepper->state());
          ++next_control;
        }
        start_again(*stepper, jump, controlled && at_break > jump + round_off_);
        summary_.end = jump;
        give_samples(*stepper, jump, true);
      } else {
        summary_.end = stepper->state().t;
        give_samples(*stepper, summary_.end, false);
      }
      if (summary_.end < options_.end && equations_.choose_rows(stepper->state()))
        stepper = begin_with_other_rows(stepper->state());
      const double fraction = (summary_.end - start_) / (options_.end - start_);
      if (progress_ && (fraction >= told + 1e-3 || fraction >= 1)) {
        told = fraction;
        progress_("integrating", fraction);
      }
    }
  }

  // Spent so far, before a resumption too.
  double seconds() const { return seconds_before_ + seconds_since(begin_); }

 private:
  void archive(Archive& archive, Stepper& stepper) {
    bool has_solvers = accelerations_ != nullptr;
    archive(stepper, samples_, samples_done_, sample_, has_solvers);
    if (has_solvers) {
      make_solvers();
      archive(*accelerations_);
    }
    // last, because reading the stepper may count
    archive(summary_);
  }

  // Counted, so that nothing adds up; none after the end.
  double control_time(long k) const {
    if (!output_.control.act) return infinity;
    const double t = start_ + static_cast<double>(k) * output_.control.period;
    return t < options_.end - round_off_ ? t : infinity;
  }

  void act(const State& state) {
    const auto before = Clock::now();
    output_.control.act(state);
    summary_.output_seconds += seconds_since(before);
  }

  // Steps may be shorter than it takes to read the clock: after the first ones what they tell is measured
  // at every 17th of them, and the others count as these, whose rare long ones (another program's turn)
  // count less.
  void give_step(const State& state) {
    constexpr int first = 64, every = 17;
    if (told_ >= first && told_ % every != 0) {
      output_.step(state);
      summary_.output_seconds += step_seconds_;
    } else {
      const auto before = Clock::now();
      output_.step(state);
      const double seconds = seconds_since(before);
      summary_.output_seconds += seconds;
      const double usual = told_ == 0 ? seconds : std::min(seconds, 4 * step_seconds_);
      step_seconds_ += (usual - step_seconds_) / std::min(told_ + 1L, 16L);
    }
    ++told_;
  }

  void make_solvers() {
    if (accelerations_) return;
    accelerations_ = std::make_unique<AccelerationSolver>(equations_);
    projector_ = std::make_unique<Projector>(equations_);
  }

  void give(const std::function<void(const State&)>& to, const State& state) {
    if (!to) return;
    summary_.seconds = seconds();
    const auto before = Clock::now();
    to(state);
    summary_.output_seconds += seconds_since(before);
  }

  // The time of sample k: counted, so that nothing adds up; the last one is the end itself.
  double sample_time(long k) const {
    const double t = start_ + static_cast<double>(k) * options_.sample;
    return t > options_.end - 1e-6 * options_.sample ? options_.end : t;
  }

  // All samples up to a time that the last step covers; `restarted`: only the state itself is there.
  void give_samples(const Stepper& stepper, double until, bool restarted) {
    if (options_.sample <= 0) {
      // every step; a state just before a jump gives way to the one after it
      if (!restarted && until < stepper.state().t) return;
      if (restarted) {
        sample_ = stepper.state();
        sample_.t = until;
        give(output_.sample, sample_);
      } else {
        give(output_.sample, stepper.state());
      }
      return;
    }
    while (!samples_done_) {
      const double t = sample_time(samples_);
      if (t > until + round_off_) return;
      if (restarted || std::abs(t - stepper.state().t) <= round_off_)
        sample_ = stepper.state();
      else
        stepper.interpolate(t, sample_);
      sample_.t = t;
      give(output_.sample, sample_);
      samples_done_ = t == options_.end;
      ++samples_;
    }
  }

  // Accelerations and multipliers after inputs have changed. A controller jumps at every call, and modes that the
  // steps h do not resolve would be set ringing by each of these jumps if they took the accelerations of the
  // instant. They follow as the implicit step itself lets them: da of (M + h^2 K / 4 + h C / 2) da + G' dlambda = -r
  // and G da = 0, with r what is left of the equations of motion at the accelerations of before. Where nothing is
  // stiff, and for methods that resolve everything, that is the acceleration of the new inputs.
  void follow_control(State& state) {
    const bool implicit = options_.integrator == Integrator::GeneralizedAlpha ||
                          options_.integrator == Integrator::ExtrapolatedAlpha ||
                          options_.integrator == Integrator::HhtI3;
    if (!implicit || !(options_.step > 0)) {
      make_solvers();
      return accelerations_->solve(state);
    }
    const int n = equations_.coordinates(), m = equations_.constraints();
    if (!follower_)
      follower_ = std::make_unique<NewtonMatrix>(n + m, equations_.blocks(), NewtonMatrix::Storage::Automatic,
                                                 equations_.symmetry());
    const double h = options_.step, c = m > 0 ? equations_.typical_mass() : 1;
    equations_.jacobian(state, 1, {h * h / 4, h / 2, 1, c, c}, *follower_);
    if (!follower_->factorise())
      fail(
          "at {:.6g} s the accelerations cannot follow the controller: {} has no mass and no constraint, or "
          "depends "
          "on others",
          state.t, equations_.row_name(std::max(0, follower_->singular_row())));
    Eigen::VectorXd x = Eigen::VectorXd::Zero(n + m);
    equations_.residual(state, 1, x.head(n));
    x = -x;
    follower_->solve_in_place(x);
    state.a += x.head(n);
    state.lambda += c * x.tail(m);
  }

  // After a jump: velocities as prescribed motions now want them, accelerations of the new loads. Where only
  // inputs jump, `by_control`, motions go on as they were.
  void start_again(Stepper& stepper, double jump, bool by_control) {
    make_solvers();
    State state = stepper.state();
    state.t = std::nextafter(jump, infinity);
    if (by_control) {
      follow_control(state);
    } else {
      projector_->project(state, 1e-12);
      accelerations_->solve(state);
    }
    // with the rates of after the jump
    equations_.count_turns(state);
    stepper.start(state);
  }

  // Solvers and stepper for other rows of the constraints. Positions are put onto them, which moves them by what
  // redundant joints contradict each other, and multipliers are theirs.
  std::unique_ptr<Stepper> begin_with_other_rows(State state) {
    accelerations_.reset();
    projector_.reset();
    follower_.reset();
    make_solvers();
    projector_->project(state, 1e-12);
    accelerations_->solve(state);
    auto stepper = make_stepper(equations_, options_, summary_);
    stepper->start(state);
    return stepper;
  }

  Equations& equations_;
  const IntegratorOptions& options_;
  const IntegrationOutput& output_;
  IntegrationSummary& summary_;
  const ProgressHook& progress_;
  const double start_, round_off_;
  std::vector<double> breaks_;
  long samples_ = 0;  // given so far
  bool samples_done_ = false;
  State sample_;
  const Clock::time_point begin_ = Clock::now();
  double seconds_before_ = 0;
  long told_ = 0;  // of give_step(), with what it takes usually
  double step_seconds_ = 0;
  std::optional<Clock::time_point> saving_;  // since when, between two steps
  std::unique_ptr<AccelerationSolver> accelerations_;
  std::unique_ptr<Projector> projector_;
  std::unique_ptr<NewtonMatrix> follower_;  // of follow_control()
};

}  // namespace

const std::vector<std::pair<std::string, Integrator>>& integrator_names() {
  static const std::vector<std::pair<std::string, Integrator>> names = {
      {"generalized-alpha", Integrator::GeneralizedAlpha},
      {"extrapolated-alpha", Integrator::ExtrapolatedAlpha},
      {"hht-i3", Integrator::HhtI3},
      {"bdf", Integrator::Bdf},
      {"central-differences", Integrator::CentralDifferences},
      {"runge-kutta", Integrator::RungeKutta},
      {"cvode", Integrator::Cvode},
      {"static", Integrator::Static},
      {"kinematics", Integrator::Kinematics},
      {"auto", Integrator::Auto}};
  return names;
}

std::string_view name_of(Integrator integrator) {
  for (const auto& entry : integrator_names())
    if (entry.second == integrator) return entry.first;
  LISSOM_ASSERT(false);
  return {};
}

std::vector<std::string> IntegratorOptions::problems(const Equations* equations) const {
  std::vector<std::string> list;
  // a number out of [low, high], or not a number
  const auto range = [&](const char* name, double value, double low, double high, const char* expected) {
    if (!(value >= low && value <= high))
      list.push_back(fmt::format("{} is {}, expected {}", name, value, expected));
  };
  constexpr double tiny = std::numeric_limits<double>::min(), huge = std::numeric_limits<double>::max();
  const std::string method(name_of(integrator));

  range("end", end, -huge, huge, "a time [s]");
  if (has_fixed_step(*this))
    range("step", step, tiny, huge, fmt::format("a positive time [s]: {} has a fixed step", method).c_str());
  else
    range("step", step, 0, huge, "a positive time [s], or 0 to have it chosen");
  // more than a disk holds, or anybody waits for
  if (has_fixed_step(*this) && step > 0 && end / step > 1e10)
    list.push_back(
        fmt::format("step is {}, which makes {:.3g} steps, expected 1e10 at most", step, end / step));
  if (sample > 0 && end / sample > 1e9)
    list.push_back(
        fmt::format("sample is {}, which makes {:.3g} samples, expected 1e9 at most", sample, end / sample));
  range("sample", sample, 0, huge, "a positive time [s], or 0 for every step");
  range("min_step", min_step, 0, huge, "a positive time [s], or 0 for no limit");
  range("max_step", max_step, 0, huge, "a positive time [s], or 0 for no limit");
  if (max_step > 0 && min_step > max_step)
    list.push_back(
        fmt::format("min_step is {} and max_step {}, expected the larger one last", min_step, max_step));
  if (integrator == Integrator::GeneralizedAlpha || integrator == Integrator::ExtrapolatedAlpha)
    range("rho_inf", rho_inf, 0, 1, "0 .. 1");
  if (integrator == Integrator::HhtI3) range("alpha", alpha, -0.3, 0, "-0.3 .. 0");
  if (integrator == Integrator::Bdf) {
    range("index", index, 2, 3, "2 or 3");
    range("max_order", max_order, 1, 5, "1 .. 5");
  }
  if (adaptive && integrator == Integrator::CentralDifferences)
    list.push_back("central-differences has a fixed step; take runge-kutta for a controlled one");
  if (adaptive && integrator == Integrator::ExtrapolatedAlpha)
    list.push_back("extrapolated-alpha has a fixed step; take generalized-alpha or bdf for a controlled one");
  if (adaptive && (integrator == Integrator::Static || integrator == Integrator::Kinematics))
    list.push_back(fmt::format("{} has a fixed step: leave out adaptive", method));
  if (!has_fixed_step(*this) || integrator == Integrator::ExtrapolatedAlpha)
    range("tolerance", tolerance, 1e-14, 0.1, "1e-14 .. 0.1");
  range("elastic_tolerance", elastic_tolerance, 1e-12, 1, "1e-12 .. 1");
  range("newton tolerance", newton.tolerance, 1e-15, 0.1, "1e-15 .. 0.1");
  range("newton max_iterations", newton.max_iterations, 2, 1000, "2 .. 1000");
  range("newton reuse_rate", newton.reuse_rate, 0, 0.9, "0 .. 0.9");
  if (equations) {
    if (equations->coordinates() == 0) list.push_back("there is nothing that moves: no coordinates");
    if (integrator == Integrator::CentralDifferences && !equations->is_ode())
      list.push_back(
          fmt::format("central-differences is for equations without constraints, and there are {}; take "
                      "generalized-alpha",
                      equations->constraints()));
    const int freedom = equations->coordinates() - equations->constraints();
    if (integrator == Integrator::Kinematics && freedom != 0)
      list.push_back(fmt::format(
          "kinematics is for mechanisms whose motion is prescribed altogether, and {} degree{} of "
          "freedom {} left: drive {} with a motion, and make flexible bodies formulation = \"rigid\" "
          "(in a case, for one), or take generalized-alpha or static",
          freedom, freedom == 1 ? "" : "s", freedom == 1 ? "is" : "are", freedom == 1 ? "it" : "them"));
  }
  return list;
}

void integrate(Equations& equations, const State& initial, const IntegratorOptions& given,
               const IntegrationOutput& output, IntegrationSummary& summary, Diagnostics& diagnostics,
               const ProgressHook& progress, Archive* resume) {
  std::vector<std::string> problems = given.problems(&equations);
  const IntegratorChoice choice = problems.empty()
                                      ? choose_integrator(equations, initial, given, bool(output.control.act))
                                      : IntegratorChoice{given, {}};
  const IntegratorOptions& options = choice.options;
  // an equilibrium may be all there is
  if (!(options.end > initial.t || (options.integrator == Integrator::Static && options.end == initial.t)))
    problems.push_back(
        fmt::format("end is {} s, expected a time after the start at {} s", options.end, initial.t));
  const double period = output.control.period;
  if (output.control.act && !(period > 0 && std::isfinite(period)))
    problems.push_back(fmt::format("the controller's period is {} s, expected a positive time", period));
  else if (output.control.act && has_fixed_step(options) && period < options.step * (1 - 1e-9))
    problems.push_back(fmt::format(
        "the controller is called every {:g} s, and the step is longer, {:g} s: take step = {:g} or "
        "less, or a slower controller",
        period, options.step, period));
  if (output.control.act && resume)
    problems.push_back("a run with a controller cannot be resumed: what it remembers is not known");
  if (!problems.empty()) fail_input("integrator: {}", fmt::join(problems, "; "));
  LISSOM_ASSERT(initial.q.size() == equations.coordinates() && initial.v.size() == equations.coordinates() &&
                initial.a.size() == equations.coordinates() &&
                initial.lambda.size() == equations.constraints());

  const BlasThreads one;
  summary = {};
  summary.integrator = options.integrator;
  summary.choice = choice.reason;
  Run run(equations, initial, options, output, summary, progress);
  const auto finish = [&] {
    summary.seconds = run.seconds();
    if (has_fixed_step(options) && summary.rejected > 0)
      diagnostics.warn(
          "time.halved-steps",
          fmt::format("{} steps did not converge and were halved, down to {:.3g} s instead of {:.3g} s",
                      summary.rejected, summary.smallest_step, options.step));
    if (summary.deformation_error > much_of_deformation)
      diagnostics.warn(
          "time.deformation-error",
          fmt::format(
              "errors of steps reach {:.2g} of the largest deformation of '{}' (root of elastic energies): "
              "what is elastic in it, stress and reactions, may be wrong by more. {}",
              summary.deformation_error, summary.deformation_part,
              options.integrator == Integrator::Cvode || options.integrator == Integrator::Bdf
                  ? "The formulas of bdf and cvode beyond order 2 control errors of positions only: take a "
                    "smaller tolerance, bdf with max_order = 2, or generalized-alpha with adaptive = true"
                  : "Take a smaller elastic_tolerance"));
  };
  try {
    run(initial, resume);
  } catch (...) {
    finish();
    throw;
  }
  finish();
}

void IntegrationSummary::archive(Archive& archive) {
  archive(steps, rejected, newton_iterations, residuals, jacobians, factorisations, smallest_step,
          largest_step, seconds, output_seconds, end, deformation_error, deformation_part, half_step_error);
}

}  // namespace lissom

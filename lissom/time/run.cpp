#include "lissom/time/run.hpp"

#include <fmt/ranges.h>

#include <cmath>
#include <limits>

#include "lissom/core/archive.hpp"
#include "lissom/core/error.hpp"
#include "lissom/time/turn_watch.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

// Samples while their number is not known yet.
struct Series {
  RunOptions::Keep keep = RunOptions::Keep::States;
  Index samples = 0;
  std::vector<double> t, y, q, v, a, turns;
  std::vector<BalanceSample> balance;

  void add(const State& state, const VectorXd& outputs, const VectorXd& counted) {
    ++samples;
    if (keep == RunOptions::Keep::Nothing) return;
    const auto append = [](std::vector<double>& list, const VectorXd& x) {
      list.insert(list.end(), x.data(), x.data() + x.size());
    };
    t.push_back(state.t);
    append(y, outputs);
    if (keep == RunOptions::Keep::Outputs) return;
    append(q, state.q);
    append(v, state.v);
    append(a, state.a);
    append(turns, counted);
  }

  void move_to(Trajectory& out) {
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const auto kept = static_cast<Index>(t.size());
    // one after the other, so that not everything is there twice
    const auto columns = [&](std::vector<double>& from, Eigen::MatrixXd& to) {
      const Index rows = kept > 0 ? static_cast<Index>(from.size()) / kept : 0;
      to = Eigen::Map<const Eigen::MatrixXd>(from.data(), rows, keep == RunOptions::Keep::States ? kept : 0);
      from = {};
    };
    out.samples = samples;
    out.t = Eigen::Map<const VectorXd>(t.data(), kept);
    out.y = Eigen::Map<const RowMajor>(y.data(), kept, static_cast<Index>(out.outputs.size()));
    y = {};
    columns(q, out.q);
    columns(v, out.v);
    columns(a, out.a);
    columns(turns, out.turns);
    out.balance = std::move(balance);
  }
};

// Each as a sentence.
std::vector<std::string> problems_of(const Start& start, const IntegratorOptions& options) {
  SystemEquations& equations = *start.equations;
  const double from = start.initial.state.t;
  std::vector<std::string> problems = options.problems(&equations);
  const bool statics = options.integrator == Integrator::Static;
  if (!(options.end > from || (statics && options.end == from)))
    problems.push_back(
        fmt::format("end is {} s, expected a time after {:g}, where it starts", options.end, from));
  if (problems.empty() && options.integrator == Integrator::CentralDifferences)
    if (const double limit = stability_limit(equations, start.initial.state); options.step > limit)
      problems.push_back(fmt::format(
          "step is {:g} s, above the limit of stability of central-differences at the start, {:.4g} s (2 "
          "over the highest frequency of {:.4g} rad/s); take {:.2g} s or less, or an implicit method such as "
          "generalized-alpha",
          options.step, limit, 2 / limit, 0.8 * limit));
  return problems;
}

}  // namespace

void expect_inputs(const std::vector<std::string>& names, const VectorXd& u, double t) {
  LISSOM_ASSERT(u.size() == static_cast<Index>(names.size()));
  for (size_t k = 0; k < names.size(); ++k)
    if (const double value = u[static_cast<Index>(k)]; !std::isfinite(value))
      fail("the controller gave {} for the input '{}' at t = {:.6g} s, expected a finite number", value,
           names[k], t);
}

Turns Trajectory::turns_at(Index sample) const {
  if (turns.rows() == 0) return {};
  return {t[sample], turns.col(sample), VectorXd::Zero(turns.rows())};
}

struct SystemRun::Impl {
  const Start& start;
  RunOptions options;
  SystemEquations& equations;
  SensorBank bank;
  Balance balance;
  TurnWatch turns;
  ElasticRange range;
  bool winds = false;
  Series series;
  IntegrationSummary summary;
  VectorXd y;
  ControlNames names;
  State replayed;  // the last sample of add()

  Impl(const Start& from, RunOptions given)
      : start(from),
        options(std::move(given)),
        equations(*start.equations),
        bank((expect_good(), equations.system()), options.sensors),
        balance(equations, start.initial.state, options.integrator.end),
        range(equations) {
    bank.start(equations, start.reference());
    y.resize(static_cast<Index>(bank.columns().size()));
    series.keep = options.keep;
    winds = !equations.turn_names().empty() && options.keep == RunOptions::Keep::States;
    replayed.turns = start.initial.state.turns;
  }

  void expect_good() const {
    // an earlier run from the same start may have chosen other rows
    equations.keep_rows(start.check.kept);
    const auto problems = problems_of(start, options.integrator);
    if (!problems.empty()) fail_input("{}", fmt::join(problems, "; "));
    if (options.controller.act && equations.system().inputs().empty())
      fail_input(
          "there is a controller, and no load has an input; one is made by factor = {{ input = \"NAME\" }}");
  }

  // What every step tells.
  void watch(const State& state) {
    bank.step(equations, state);
    balance.step(state);
    turns.step(state);
    range.step(state);
  }

  void sample(const State& state, std::span<RunObserver* const> observers) {
    bank.evaluate(equations, state, y);
    if (winds) {
      // which may lie between two steps
      State counted = state;
      equations.count_turns(counted);
      series.add(state, y, counted.turns.angle);
    } else {
      series.add(state, y, {});
    }
    if (options.balance) series.balance.push_back(balance.at(state));
    const RunSample now{state, y, summary, [&] { return balance.at(state); }};
    for (RunObserver* observer : observers) observer->sample(now);
  }

  // The inputs from here on.
  void control(const State& state, VectorXd& measured, VectorXd& u) {
    const std::vector<Input>& inputs = equations.system().inputs();
    balance.jump_after(state);
    bank.evaluate(equations, state, measured);
    for (size_t k = 0; k < inputs.size(); ++k)
      u[static_cast<Index>(k)] =
          inputs[k].value ? (*inputs[k].value)(state.t) : std::numeric_limits<double>::quiet_NaN();
    options.controller.act(state.t, measured, u);
    expect_inputs(names.inputs, u, state.t);
    equations.hold_inputs(u);
  }
};

SystemRun::SystemRun(const Start& start, RunOptions options)
    : impl_(std::make_unique<Impl>(start, std::move(options))) {}

SystemRun::~SystemRun() = default;

const SensorBank& SystemRun::bank() const {
  return impl_->bank;
}

void SystemRun::add(const State& state, const VectorXd& y, const BalanceSample& balance) {
  Impl& d = *impl_;
  // turns are counted from one sample to the next, as well as samples allow it
  Turns before = std::move(d.replayed.turns);
  d.replayed = state;
  d.replayed.turns = std::move(before);
  if (d.options.keep == RunOptions::Keep::States) d.equations.count_turns(d.replayed);
  d.series.add(state, y, d.replayed.turns.angle);
  if (d.options.balance) d.series.balance.push_back(balance);
}

void SystemRun::go(std::span<RunObserver* const> observers, Diagnostics& diagnostics,
                   const ProgressHook& progress, Archive* resume) {
  Impl& d = *impl_;
  const auto archive_watchers = [&](Archive& archive) {
    archive(d.bank, d.balance, d.turns, d.range);
    for (RunObserver* observer : observers) observer->archive(archive);
  };
  if (resume) {
    archive_watchers(*resume);
  } else {
    State first = d.start.initial.state;
    d.equations.count_turns(first);
    d.turns.step(first);
    d.range.step(first);
  }
  IntegrationOutput output;
  output.step = [&](const State& state) { d.watch(state); };
  output.sample = [&](const State& state) { d.sample(state, observers); };
  output.stop = d.options.stop;
  if (!observers.empty())
    output.between = [&](const IntegrationOutput::Save& save, bool stopped) {
      const auto save_all = [&](Archive& archive) {
        archive_watchers(archive);
        save(archive);
      };
      for (RunObserver* observer : observers) observer->between(save_all, d.summary, stopped);
    };
  if (d.options.controller.act) {
    const std::vector<Input>& inputs = d.equations.system().inputs();
    d.names = {};
    for (size_t k = 0; k < d.bank.columns().size(); ++k) {
      d.names.outputs.push_back(d.bank.columns()[k].name);
      d.names.at_once.push_back(depends_on_inputs(d.bank.sensor_of(static_cast<int>(k)).kind));
    }
    for (const Input& input : inputs) d.names.inputs.push_back(input.name);
    if (d.options.controller.begin) d.options.controller.begin(d.names);
    output.control.period = d.options.controller.period;
    output.control.act = [&d, y = d.y, u = VectorXd(static_cast<Index>(inputs.size()))](
                             const State& state) mutable { d.control(state, y, u); };
  }
  integrate(d.equations, d.start.initial.state, d.options.integrator, output, d.summary, diagnostics,
            progress, resume);
}

void SystemRun::warn(const std::string& suffix, Diagnostics& diagnostics) const {
  impl_->turns.warn(impl_->equations.turn_names(), diagnostics);
  impl_->bank.warn(diagnostics);
  impl_->range.warn(suffix, diagnostics);
  warn_of_drift(impl_->balance, impl_->options.integrator, suffix, diagnostics);
}

Trajectory SystemRun::take() {
  Trajectory out;
  out.outputs = impl_->bank.columns();
  impl_->series.move_to(out);
  out.integration = impl_->summary;
  out.drift = impl_->balance.summary();
  out.beyond_elasticity = impl_->range.left();
  return out;
}

Trajectory run(const Start& start, const RunOptions& options, Diagnostics& diagnostics,
               std::span<RunObserver* const> observers, const ProgressHook& progress) {
  SystemRun run(start, options);
  run.go(observers, diagnostics, progress);
  run.warn("", diagnostics);
  Trajectory trajectory = run.take();
  if (trajectory.integration.stopped) fail("the run was stopped at t = {:.6g} s", trajectory.integration.end);
  return trajectory;
}

Trajectory run(const System& system, const RunOptions& options, Diagnostics& diagnostics,
               std::span<RunObserver* const> observers, const ProgressHook& progress) {
  const Start start = make_start(system, StartOptions{}, diagnostics, progress);
  return run(start, options, diagnostics, observers, progress);
}

}  // namespace lissom

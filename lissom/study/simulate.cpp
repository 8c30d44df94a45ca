#include "lissom/study/simulate.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>

#include "lissom/core/text.hpp"
#include "lissom/io/result_file.hpp"
#include "lissom/io/rom_file.hpp"
#include "lissom/io/table.hpp"
#include "lissom/time/initial_state.hpp"

namespace lissom {

using Eigen::Vector3d;
using Eigen::VectorXd;
using nlohmann::json;

namespace {

// ------------------------------------------------------------------------------------------------- output

// sensors.csv, line by line: what was written is there whatever comes.
class CsvWriter {
 public:
  CsvWriter(const std::filesystem::path& path, const std::vector<std::string>& columns)
      : path_(path), file_(std::fopen(path.c_str(), "wb"), std::fclose) {
    if (!file_) fail("{}: cannot be written: {}", path.string(), std::strerror(errno));
    std::string line = "t";
    for (const std::string& column : columns) line += "," + quoted(column);
    write(line + "\n");
    flush();
  }

  // Shortest digits that read back as the same numbers.
  void add(double t, const VectorXd& values) {
    line_ = fmt::format("{}", t);
    for (const double value : values) fmt::format_to(std::back_inserter(line_), ",{}", value);
    line_ += '\n';
    write(line_);
  }

  void flush() {
    if (std::fflush(file_.get()) != 0) fail_writing();
  }

 private:
  static std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
  }
  void write(const std::string& line) {
    if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size()) fail_writing();
  }
  [[noreturn]] void fail_writing() const {
    fail("{}: cannot be written: {}", path_.string(), std::strerror(errno));
  }

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::string line_;
};

// Factor from the study's unit to SI.
double factor_of(const SensorColumn& column, const UnitSystem& units) {
  return std::pow(units.length, column.length) * std::pow(units.mass, column.mass) *
         std::pow(units.time, column.time);
}

// ------------------------------------------------------------------------------------------------ balance

// Energy, momentum and constraints over a run. The work of loads, motions and damping is the integral of
// their power over the steps, by parabolas through the last three of them.
class Balance {
 public:
  Balance(SystemEquations& equations, const State& initial) : equations_(equations) {
    g_.resize(equations.system().constraint_rows());
    const SystemEnergy energy = equations.energy(initial);
    initial_ = energy;
    last_ = previous_ = before_ = record(initial.t, energy);
    start_ = initial.t;
    track(energy);
    constraint_drift_ = largest_constraint(initial);
    mass_ = 0;
    for (const auto& body : equations.system().bodies()) mass_ += body->mass();
    isolated_ = is_isolated();
    const std::vector<int>& kept = equations.kept_rows();
    for (int row = 0; row < g_.size(); ++row)
      if (std::find(kept.begin(), kept.end(), row) == kept.end()) left_out_.push_back(row);
    breaks_ = equations.break_times();
  }

  void step(const State& state) {
    if (state.t == last_.t) return;
    pass_jump();
    const SystemEnergy energy = equations_.energy(state);
    before_ = previous_;
    previous_ = last_;
    last_ = record(state.t, energy);
    const bool three = before_.t < previous_.t;
    last_.work_in = previous_.work_in + integral(three, &Record::power_in);
    last_.dissipated = previous_.dissipated + integral(three, &Record::power_out);
    if (is_break(state.t)) before_jump_ = state;
    track(energy);
    energy_drift_ = std::max(energy_drift_, std::abs(drift(energy, last_)));
    constraint_drift_ = std::max(constraint_drift_, largest_constraint(state));
    check_left_out(state.t);
    const Vector3d impulse = mass_ * equations_.system().gravity() * (state.t - start_);
    momentum_drift_ = std::max(momentum_drift_, (energy.momentum - initial_.momentum - impulse).norm());
    angular_drift_ = std::max(angular_drift_, (energy.angular_momentum - initial_.angular_momentum).norm());
  }

  // Of a state at or near the last steps.
  ResultBalance at(const State& state) {
    ResultBalance out;
    out.energy = equations_.energy(state);
    const Record& from = last_.t <= state.t ? last_ : previous_;
    const Record now = record(state.t, out.energy);
    const double h = state.t - from.t;
    out.work_in = from.work_in + h * (from.power_in + now.power_in) / 2;
    out.dissipated = from.dissipated + h * (from.power_out + now.power_out) / 2;
    Record there = now;
    there.work_in = out.work_in;
    there.dissipated = out.dissipated;
    out.energy_drift = drift(out.energy, there);
    out.constraint_drift = largest_constraint(state);
    return out;
  }

  // Largest ones over the steps; the first relative to the largest energy.
  double energy_drift() const { return scale_ > 0 ? energy_drift_ / scale_ : energy_drift_; }
  double energy_scale() const { return scale_; }
  double constraint_drift() const { return constraint_drift_; }
  // Relative to the momentum that the kinetic energy allows; nothing where something acts from outside.
  std::optional<double> momentum_drift() const {
    const double scale = std::sqrt(2 * mass_ * kinetic_);
    if (!isolated_ || !(scale > 0)) return std::nullopt;
    return momentum_drift_ / scale;
  }
  std::optional<double> angular_momentum_drift() const {
    if (!isolated_ || !equations_.system().gravity().isZero(0) || !(angular_ > 0)) return std::nullopt;
    return angular_drift_ / angular_;
  }
  const SystemEnergy& initial() const { return initial_; }
  double work_in() const { return last_.work_in; }
  double dissipated() const { return last_.dissipated; }

 private:
  struct Record {
    double t = 0, power_in = 0, power_out = 0, work_in = 0, dissipated = 0;
  };
  static Record record(double t, const SystemEnergy& e) {
    return {t, e.load_power + e.motion_power, e.damping_power, 0, 0};
  }
  double drift(const SystemEnergy& energy, const Record& r) const {
    return energy.total() - initial_.total() - r.work_in + r.dissipated;
  }
  // Steps end just before a jump of the loads.
  bool is_break(double t) const {
    return std::any_of(breaks_.begin(), breaks_.end(),
                       [&](double b) { return t < b && b - t <= 1e-12 * std::abs(b); });
  }
  // After a jump the power is another one; the work goes on from there.
  void pass_jump() {
    if (!before_jump_) return;
    State& state = *before_jump_;
    state.t = std::nextafter(state.t, std::numeric_limits<double>::infinity());
    Record after = record(state.t, equations_.energy(state));
    after.work_in = last_.work_in;
    after.dissipated = last_.dissipated;
    last_ = previous_ = after;
    before_jump_.reset();
  }
  // Over the last step, by the parabola through the last three powers, or by a line.
  double integral(bool three, double Record::*power) const {
    const double h = last_.t - previous_.t, a = previous_.*power, b = last_.*power;
    double sum = h * (a + b) / 2;
    if (three) {
      const double k = previous_.t - before_.t;
      const double second = ((b - a) / h - (a - before_.*power) / k) / (h + k);
      sum -= second * h * h * h / 6;
    }
    return sum;
  }
  void track(const SystemEnergy& e) {
    scale_ = std::max(scale_, e.kinetic + e.elastic + std::abs(e.gravity - initial_.gravity) + e.springs);
    kinetic_ = std::max(kinetic_, e.kinetic);
    angular_ = std::max(angular_, e.angular_momentum.norm());
  }
  double largest_constraint(const State& state) {
    if (g_.size() == 0) return 0;
    equations_.all_constraints(state.t, state.q, g_);
    return g_.cwiseAbs().maxCoeff();
  }
  // Constraints left out as redundant are satisfied as long as they say what the others say. Later motions
  // may contradict each other all the same.
  void check_left_out(double t) const {
    for (const int row : left_out_)
      if (std::abs(g_[row]) > 1e-5 * equations_.length())
        fail(
            "at {:.6g} s {} contradicts the others: it was left out as redundant, and is now {:.3g} m (or "
            "sine "
            "of the angle) away from what it asks for; check its motion and the directions of the axes",
            t, equations_.constraint_name(row), std::abs(g_[row]));
  }
  // Whether only gravity acts from outside.
  bool is_isolated() const {
    const System& system = equations_.system();
    for (const Joint& joint : system.joints())
      if (joint.first.body < 0 || joint.second.body < 0) return false;
    for (const Load& load : system.loads())
      if (!load.has_second || load.first.body < 0 || load.second.body < 0) return false;
    return true;
  }

  SystemEquations& equations_;
  SystemEnergy initial_;
  Record last_, previous_, before_;
  std::vector<double> breaks_;
  std::vector<int> left_out_;  // constraint rows
  std::optional<State> before_jump_;
  VectorXd g_;
  double start_ = 0, mass_ = 0;
  double scale_ = 0, kinetic_ = 0, angular_ = 0;
  double energy_drift_ = 0, constraint_drift_ = 0, momentum_drift_ = 0, angular_drift_ = 0;
  bool isolated_ = false;
};

// ---------------------------------------------------------------------------------------------- the start

struct Start {
  SystemCheck check;
  std::unique_ptr<SystemEquations> equations;
  InitialState initial;
};

Start make_start(StudySystem& built, const StudyFile& study, Diagnostics& diagnostics) {
  Start start;
  start.check = check_study_system(built, study, diagnostics);
  const System& system = *built.system;
  start.equations = std::make_unique<SystemEquations>(system, start.check.kept);
  start.initial = make_consistent(*start.equations, 0, built.q, built.v);
  if (!start.check.gaps.empty()) {
    // what depends on what may look different once the joints meet
    const SystemCheck assembled = check_system(system, 0, start.initial.state.q);
    if (assembled.kept != start.check.kept) {
      start.check = assembled;
      start.equations = std::make_unique<SystemEquations>(system, assembled.kept);
      const InitialState again = make_consistent(*start.equations, 0, start.initial.state.q, built.v);
      const double moved = start.initial.moved;
      start.initial = again;
      start.initial.moved = std::max(moved, again.moved);
    }
    const double elastic = start.equations->energy(start.initial.state).elastic;
    diagnostics.warn(
        "simulate.assembled",
        fmt::format(
            "the bodies were moved by up to {:.3g} m so that the joints meet{}", start.initial.moved,
            elastic > 0 ? fmt::format("; flexible ones were deformed, which holds {:.3g} J", elastic) : ""));
  }
  // constraints that look redundant may contradict the others
  VectorXd g(system.constraint_rows());
  start.equations->all_constraints(0, start.initial.state.q, g);
  Eigen::Index worst = 0;
  if (g.size() > 0 && g.cwiseAbs().maxCoeff(&worst) > 1e-8 * start.equations->length())
    fail(
        "the mechanism cannot be assembled: {} stays {:.3g} m away from what it asks for once all others are "
        "satisfied; the joints contradict each other, or the bodies do not reach so far",
        start.equations->constraint_name(static_cast<int>(worst)), std::abs(g[worst]));
  const bool velocity_given = std::any_of(study.bodies.begin(), study.bodies.end(), [](const BodySpec& body) {
    return !body.placement.velocity.isZero(0) || !body.placement.angular_velocity.isZero(0);
  });
  const double speed = start.equations->displacement_scale().cwiseProduct(built.v).lpNorm<Eigen::Infinity>();
  if (velocity_given && start.initial.velocity_change > 1e-6 * speed)
    diagnostics.warn(
        "simulate.velocity",
        fmt::format("the velocities given do not fit the joints and motions; they were changed by "
                    "up to {:.3g} m/s",
                    start.initial.velocity_change));
  return start;
}

// Nodes that are written: those of a body, or of a part of it.
struct NodeOutput {
  int body = 0;
  NodeGroup group;
};

std::vector<NodeOutput> node_outputs(const System& system, const SimulateSpec& simulate,
                                     Diagnostics& diagnostics) {
  std::vector<NodeOutput> all, outputs;
  std::vector<std::string> names;
  for (size_t b = 0; b < system.bodies().size(); ++b)
    for (const NodeGroup& group : system.bodies()[b]->node_groups()) {
      all.push_back({static_cast<int>(b), group});
      names.push_back(group.name);
    }
  // parts of a mechanism that was kept without their nodes
  for (size_t b = 0; b < system.bodies().size(); ++b)
    for (const std::string& part : system.bodies()[b]->part_names()) {
      if (std::find(names.begin(), names.end(), part) != names.end()) continue;
      all.push_back({static_cast<int>(b), {part, 0, 0}});
      names.push_back(part);
    }
  for (const std::string& name : simulate.all_nodes ? names : simulate.nodes) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const NodeOutput& one) { return one.group.name == name; });
    if (found == all.end())
      fail_input(simulate.where, "simulate.nodes: there is no body '{}'{}; there are: {}", name,
                 did_you_mean(name, names), fmt::join(names, ", "));
    if (found->group.count == 0)
      diagnostics.warn("simulate.no-nodes." + name,
                       fmt::format("the body '{}' has no nodes to be written", name));
    else
      outputs.push_back(*found);
  }
  return outputs;
}

// How far a reduced mechanism has left its training.
class Trust {
 public:
  explicit Trust(std::shared_ptr<const SlapModel> rom) : rom_(std::move(rom)) {}
  bool known() const { return rom_ && rom_->training.samples.cols() > 0; }

  // The distance at a sample; 0 where nothing is known.
  double at(const State& state) {
    if (!known()) return 0;
    const double distance = distance_from_training(rom_->training, state.q);
    if (distance > largest_ || !any_) {
      largest_ = distance;
      at_ = state.t;
    }
    any_ = true;
    if (distance > trust_threshold && !outside_since_) {
      outside_since_ = state.t;
      first_outside_ = distance;
    }
    return distance;
  }

  void warn(Diagnostics& diagnostics) const {
    if (!outside_since_) return;
    diagnostics.warn(
        "simulate.trust",
        fmt::format(
            "the motion leaves what the model was trained on at t = {:.6g} s (distance {:.3g} where "
            "training states are at most 1 apart; the largest is {:.3g} at t = {:.6g} s): compare with "
            "model = \"full\", or add a run with such a load to 'runs' of [train]",
            *outside_since_, first_outside_, largest_, at_));
  }
  // For the message of a run that fails: it may be why.
  std::string left_before() const {
    return outside_since_ ? fmt::format("; the motion had left what the model was trained on at t = {:.6g} s",
                                        *outside_since_)
                          : "";
  }
  json to_json() const {
    return {{"largest", largest_},
            {"at", at_},
            {"outside_since", outside_since_ ? json(*outside_since_) : json(nullptr)},
            {"threshold", trust_threshold}};
  }
  std::string text() const {
    if (!known()) return "not known: the model has no training states";
    return fmt::format("at most {:.3g} from the training, at t = {:.6g} s{}", largest_, at_,
                       outside_since_ ? fmt::format("; it is left at t = {:.6g} s", *outside_since_)
                                      : fmt::format("; {:g} and more would have left it", trust_threshold));
  }

 private:
  std::shared_ptr<const SlapModel> rom_;
  bool any_ = false;
  double largest_ = 0, at_ = 0, first_outside_ = 0;
  std::optional<double> outside_since_;
};

ResultHeader make_header(const StudyFile& study, const Start& start, const SensorBank& bank,
                         const std::vector<NodeOutput>& nodes, bool has_trust) {
  const System& system = start.equations->system();
  ResultHeader header;
  header.title = study.title;
  header.case_name = study.case_name;
  header.study = study.text;
  header.integrator = name_of(study.simulation->simulate->integrator.integrator);
  for (size_t b = 0; b < system.bodies().size(); ++b) {
    const Body& body = *system.bodies()[b];
    header.bodies.push_back({body.name(), body.formulation(), system.offset(static_cast<int>(b)),
                             body.coordinates(), body.flexible_modes()});
  }
  const int n = start.equations->coordinates();
  for (int row = 0; row < start.equations->constraints(); ++row)
    header.constraints.push_back(start.equations->row_name(n + row));
  for (const SensorColumn& column : bank.columns()) {
    header.sensors.push_back(column.name);
    header.sensor_units.push_back(si_unit(column));
  }
  for (const NodeOutput& output : nodes) {
    const auto& ids = system.bodies()[output.body]->node_ids();
    const auto first = ids.begin() + output.group.first;
    header.nodes.push_back({output.group.name, {first, first + output.group.count}});
  }
  header.has_trust = has_trust;
  return header;
}

json optional_number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(*value) : json(nullptr);
}

json energy_json(const SystemEnergy& energy) {
  return {{"kinetic", energy.kinetic},
          {"elastic", energy.elastic},
          {"gravity", energy.gravity},
          {"springs", energy.springs},
          {"total", energy.total()}};
}

// Of the study's bodies, or of the model that it names.
StudySystem make_system(const StudyFile& study, BodyStore& store, Diagnostics& diagnostics,
                        const ProgressHook& progress) {
  if (study.rom.empty()) return build_system(study, store, diagnostics, progress);
  return build_rom_system(study, read_rom_file(study.rom, diagnostics).model, diagnostics);
}

// Before the bodies are reduced, which may take long.
void check_request(const StudyFile& study, const std::filesystem::path& folder,
                   const SimulationOptions& options) {
  if (!study.simulation || !study.simulation->simulate)
    fail_input("{}: there is no table [simulate]; add one with end and step", study.path.string());
  if (options.write_files) check_output_folder(folder);
}

}  // namespace

SimulationRun inspect_simulation(const StudyFile& study, BodyStore& store, Diagnostics& diagnostics,
                                 const ProgressHook& progress) {
  const StudySystem built = make_system(study, store, diagnostics, progress);
  // gaps and the like are told, not refused
  const SystemCheck check = check_system(*built.system, 0, built.q);
  SimulationRun run;
  run.text = describe(*built.system, check);
  run.summary = system_json(*built.system, check);
  run.summary["sensors"] = json::array();
  const SensorBank bank(*built.system, built.sensors);
  for (const SensorColumn& column : bank.columns()) run.summary["sensors"].push_back(column.name);
  if (study.simulation->simulate)
    run.summary["integrator"] = name_of(study.simulation->simulate->integrator.integrator);
  return run;
}

SimulationRun simulate(const StudyFile& study, const std::filesystem::path& folder, BodyStore& store,
                       Diagnostics& diagnostics, const ProgressHook& progress,
                       const SimulationOptions& options) {
  check_request(study, folder, options);
  LISSOM_ASSERT(!study.simulation->simulate->slap || !study.rom.empty());
  return simulate(study, folder, make_system(study, store, diagnostics, progress), diagnostics, progress,
                  options);
}

SimulationRun simulate(const StudyFile& study, const std::filesystem::path& folder, StudySystem given,
                       Diagnostics& diagnostics, const ProgressHook& progress,
                       const SimulationOptions& options) {
  check_request(study, folder, options);
  const SimulationSpec& spec = *study.simulation;
  const SimulateSpec& simulate = *spec.simulate;

  // a start that satisfies the system
  const auto kept_system = std::make_shared<StudySystem>(std::move(given));
  StudySystem& built = *kept_system;
  const System& system = *built.system;
  if (progress) progress("initial conditions", -1);
  Start start = make_start(built, study, diagnostics);
  SystemEquations& equations = *start.equations;
  const State& initial = start.initial.state;
  auto problems = simulate.integrator.problems(&equations);
  if (!(simulate.integrator.end > 0))
    problems.push_back(
        fmt::format("end is {} s, expected a time after 0, where it starts", simulate.integrator.end));
  // before anything is written
  if (problems.empty() && simulate.integrator.integrator == Integrator::CentralDifferences)
    if (const double limit = stability_limit(equations, initial); simulate.integrator.step > limit)
      problems.push_back(fmt::format(
          "step is {:g} s, above the limit of stability of central-differences at the start, {:.4g} s (2 "
          "over "
          "the highest frequency of {:.4g} rad/s); take {:.2g} s or less, or an implicit method such as "
          "generalized-alpha",
          simulate.integrator.step, limit, 2 / limit, 0.8 * limit));
  if (!problems.empty()) fail_input(simulate.where, "simulate: {}", fmt::join(problems, "; "));
  SensorBank bank(system, built.sensors);
  bank.start(equations, initial);
  Balance balance(equations, initial);

  SimulationRun run;
  const size_t columns = bank.columns().size();
  VectorXd values(static_cast<Eigen::Index>(columns)), shown(static_cast<Eigen::Index>(columns));
  VectorXd unit_factors(static_cast<Eigen::Index>(columns));
  for (size_t c = 0; c < columns; ++c) {
    run.columns.push_back(bank.columns()[c].name);
    unit_factors[static_cast<Eigen::Index>(c)] = factor_of(bank.columns()[c], spec.units);
  }
  const std::vector<NodeOutput> outputs = node_outputs(system, simulate, diagnostics);
  Trust trust(built.rom);

  std::optional<CsvWriter> csv;
  std::optional<ResultWriter> result;
  const std::filesystem::path csv_path = folder / "sensors.csv", result_path = folder / "result.h5";
  if (options.write_files) {
    std::error_code ec;
    std::filesystem::create_directories(folder, ec);
    if (ec) fail("{}: the folder cannot be made: {}", folder.string(), ec.message());
    csv.emplace(csv_path, run.columns);
    result.emplace(result_path, make_header(study, start, bank, outputs, trust.known()));
  }

  // every step counts in the balance, samples are written
  std::vector<double> times, series, seconds, q, v, a;
  std::vector<Eigen::Matrix3Xd> nodes(outputs.size());
  Timer since_flush;
  IntegrationOutput output;
  output.step = [&](const State& state) { balance.step(state); };
  output.sample = [&](const State& state) {
    bank.evaluate(equations, state, values);
    shown = values.cwiseQuotient(unit_factors);
    times.push_back(state.t / spec.units.time);
    series.insert(series.end(), shown.data(), shown.data() + shown.size());
    seconds.push_back(state.t);
    q.insert(q.end(), state.q.data(), state.q.data() + state.q.size());
    v.insert(v.end(), state.v.data(), state.v.data() + state.v.size());
    a.insert(a.end(), state.a.data(), state.a.data() + state.a.size());
    const double distance = trust.at(state);
    if (!options.write_files) return;
    csv->add(times.back(), shown);
    Eigen::Matrix3Xd positions;  // of all nodes of a body, whose groups follow each other
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto& [b, group] = outputs[i];
      if (i == 0 || outputs[i - 1].body != b) {
        const Body& body = *system.bodies()[b];
        positions = body.node_positions(state.q.segment(system.offset(b), body.coordinates()));
      }
      nodes[i] = positions.middleCols(group.first, group.count);
    }
    result->add(state, values, balance.at(state), nodes, distance);
    if (since_flush.seconds() < 1) return;
    csv->flush();
    result->flush();
    since_flush = Timer();
  };
  output.stop = options.stop;

  IntegrationSummary summary;
  const auto kept = [&] {
    return options.write_files && !times.empty()
               ? fmt::format("\nwhat was computed until t = {:.6g} s is kept in {} and {}",
                             times.back() * spec.units.time, csv_path.string(), result_path.string())
               : std::string();
  };
  try {
    integrate(equations, initial, simulate.integrator, output, summary, diagnostics, progress);
  } catch (const Error& e) {
    if (csv) csv->flush();
    if (result) result->finish(summary, e.what());
    const std::string message = fmt::format("{}{}{}", e.what(), trust.left_before(), kept());
    if (dynamic_cast<const InputError*>(&e)) throw InputError(message);
    throw Error(message);
  }
  if (csv) csv->flush();
  if (result) result->finish(summary, "");
  if (summary.stopped) fail("the simulation was stopped at t = {:.6g} s{}", summary.end, kept());

  run.time = Eigen::Map<const VectorXd>(times.data(), static_cast<Eigen::Index>(times.size()));
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  run.sensors = Eigen::Map<const RowMajor>(series.data(), static_cast<Eigen::Index>(times.size()),
                                           static_cast<Eigen::Index>(columns));
  const auto samples = static_cast<Eigen::Index>(times.size());
  run.sample_times = Eigen::Map<const VectorXd>(seconds.data(), samples);
  run.q = Eigen::Map<const Eigen::MatrixXd>(q.data(), system.coordinates(), samples);
  run.v = Eigen::Map<const Eigen::MatrixXd>(v.data(), system.coordinates(), samples);
  run.a = Eigen::Map<const Eigen::MatrixXd>(a.data(), system.coordinates(), samples);
  run.built = kept_system;
  trust.warn(diagnostics);

  json& j = run.summary;
  j = system_json(system, start.check);
  j["integrator"] = name_of(simulate.integrator.integrator);
  j["end"] = summary.end;
  j["steps"] = summary.steps;
  j["rejected"] = summary.rejected;
  j["newton_iterations"] = summary.newton_iterations;
  j["residuals"] = summary.residuals;
  j["jacobians"] = summary.jacobians;
  j["factorisations"] = summary.factorisations;
  j["smallest_step"] = summary.smallest_step;
  j["largest_step"] = summary.largest_step;
  j["seconds"] = summary.seconds;
  j["output_seconds"] = summary.output_seconds;
  j["samples"] = times.size();
  j["energy_drift"] = balance.energy_drift();
  j["constraint_drift"] = balance.constraint_drift();
  j["momentum_drift"] = optional_number(balance.momentum_drift());
  j["angular_momentum_drift"] = optional_number(balance.angular_momentum_drift());
  j["energy"] = {{"initial", energy_json(balance.initial())},
                 {"scale", balance.energy_scale()},
                 {"work_in", balance.work_in()},
                 {"dissipated", balance.dissipated()}};
  j["start"] = {{"moved", start.initial.moved},
                {"iterations", start.initial.iterations},
                {"velocity_change", start.initial.velocity_change}};
  j["sensors"] = run.columns;
  if (built.rom) j["trust"] = trust.known() ? trust.to_json() : json(nullptr);
  if (options.write_files) {
    j["out"] = folder.string();
    j["files"] = {"sensors.csv", "result.h5"};
  }

  run.text = describe(system, start.check);
  const auto line = [&](std::string_view what, const std::string& value) {
    run.text += fmt::format("{:<18}{}\n", what, value);
  };
  line("integrator", fmt::format("{}, {} steps ({} rejected), {} Newton iterations, {} factorisations",
                                 name_of(simulate.integrator.integrator), summary.steps, summary.rejected,
                                 summary.newton_iterations, summary.factorisations));
  line("steps", fmt::format("{:.3g} to {:.3g} s, {} samples", summary.smallest_step, summary.largest_step,
                            times.size()));
  line("time", fmt::format("{} for {:.6g} s", format_seconds(summary.seconds), summary.end));
  line("energy drift", fmt::format("{:.2e} of {:.4g} J", balance.energy_drift(), balance.energy_scale()));
  line("constraint drift", fmt::format("{:.2e} m", balance.constraint_drift()));
  if (balance.momentum_drift()) line("momentum drift", fmt::format("{:.2e}", *balance.momentum_drift()));
  if (balance.angular_momentum_drift())
    line("ang. mom. drift", fmt::format("{:.2e}", *balance.angular_momentum_drift()));
  if (built.rom) line("trust", trust.text());
  return run;
}

}  // namespace lissom

#include "lissom/study/simulate.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

#include "lissom/core/archive.hpp"
#include "lissom/core/folder_lock.hpp"
#include "lissom/core/own_file.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/csv_writer.hpp"
#include "lissom/io/result_file.hpp"
#include "lissom/io/table.hpp"
#include "lissom/study/balance.hpp"
#include "lissom/study/checkpoint.hpp"
#include "lissom/study/elastic_range.hpp"
#include "lissom/study/pod_system.hpp"
#include "lissom/study/sensors_csv.hpp"
#include "lissom/study/start.hpp"
#include "lissom/study/statics.hpp"
#include "lissom/study/stress.hpp"
#include "lissom/study/summary_json.hpp"
#include "lissom/study/trust.hpp"
#include "lissom/study/turn_watch.hpp"

namespace lissom {

using Eigen::VectorXd;
using nlohmann::json;

namespace {

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

json energy_json(const SystemEnergy& energy) {
  return {{"kinetic", energy.kinetic},
          {"elastic", energy.elastic},
          {"gravity", energy.gravity},
          {"springs", energy.springs},
          {"total", energy.total()}};
}

// Before the bodies are reduced, which may take long.
void check_request(const StudyFile& study, const std::filesystem::path& folder,
                   const SimulationOptions& options) {
  if (!study.simulation || !study.simulation->simulate)
    fail_input("{}: there is no table [simulate]; add one with end and step", study.path.string());
  if (options.write_files) check_output_folder(folder);
  if (options.write_files && !options.resume)
    for (const char* name : {"sensors.csv", "result.h5"}) expect_replaceable(folder / name);
  // what cannot be resumed shall not wait for the bodies
  Diagnostics told_later;
  if (options.write_files && options.resume) find_resumable(study, folder, told_later);
}

// The samples of a run, as SimulationRun has them: their number, and what is kept of them.
struct Series {
  using Keep = SimulationOptions::Keep;
  Keep keep = Keep::States;
  Eigen::Index samples = 0;
  std::vector<double> times, sensors, si_sensors, seconds, q, v, a, turns;
  std::vector<ResultBalance> balance;

  void add(double t, const VectorXd& values, const VectorXd& shown, const State& state,
           const Turns& counted) {
    ++samples;
    if (keep == Keep::Nothing) return;
    const auto append = [](std::vector<double>& list, const VectorXd& x) {
      list.insert(list.end(), x.data(), x.data() + x.size());
    };
    times.push_back(t);
    append(si_sensors, values);
    append(sensors, shown);
    seconds.push_back(state.t);
    if (keep == Keep::Sensors) return;
    append(q, state.q);
    append(v, state.v);
    append(a, state.a);
    append(turns, counted.angle);
  }

  // The first samples of a file. Turns are counted from one to the next, as well as samples allow it.
  void add(const ResultFile& file, std::uint64_t count, const VectorXd& unit_factors, double time_unit,
           bool with_balance, SystemEquations& equations, const Turns& start) {
    if (keep == Keep::Nothing) {
      samples += static_cast<Eigen::Index>(count);
      return;
    }
    State state;
    state.turns = start;
    VectorXd values, shown;
    for (std::uint64_t k = 0; k < count; ++k) {
      const auto row = static_cast<Eigen::Index>(k);
      state.t = file.time[row];
      state.q = file.q.row(row);
      state.v = file.v.row(row);
      state.a = file.a.row(row);
      equations.count_turns(state);
      values = file.sensors.row(row);
      shown = values.cwiseQuotient(unit_factors);
      add(state.t / time_unit, values, shown, state, state.turns);
      if (with_balance) balance.push_back(file.balance[k]);
    }
  }

  void move_to(SimulationRun& run, int coordinates) {
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const auto columns = static_cast<Eigen::Index>(run.columns.size());
    const auto kept = static_cast<Eigen::Index>(times.size());
    // one after the other, so that not everything is there twice
    const auto rows = [&](std::vector<double>& from, Eigen::MatrixXd& to) {
      to = Eigen::Map<const RowMajor>(from.data(), kept, columns);
      from = {};
    };
    const auto states = [&](std::vector<double>& from, Eigen::MatrixXd& to, Eigen::Index size) {
      to = Eigen::Map<const Eigen::MatrixXd>(from.data(), size, keep == Keep::States ? kept : 0);
      from = {};
    };
    run.samples = samples;
    run.time = Eigen::Map<const VectorXd>(times.data(), kept);
    run.sample_times = Eigen::Map<const VectorXd>(seconds.data(), kept);
    rows(sensors, run.sensors);
    rows(si_sensors, run.si_sensors);
    const auto counted = kept > 0 ? static_cast<Eigen::Index>(turns.size()) / kept : 0;
    states(turns, run.turns, counted);
    states(q, run.q, coordinates);
    states(v, run.v, coordinates);
    states(a, run.a, coordinates);
    run.balance = std::move(balance);
  }
};

// At a sample, which may lie between two steps.
Turns turns_of(SystemEquations& equations, State state) {
  equations.count_turns(state);
  return std::move(state.turns);
}

[[noreturn]] void fail_other_bodies(const std::filesystem::path& folder) {
  fail_input(
      "{}: the bodies are not what they were when the run was begun, although the study is: a mesh, matrix "
      "or model file has changed, or this Lissom ({}) computes them otherwise; undo that, give another "
      "folder with --out, or run without --resume to start from the beginning",
      folder.string(), LISSOM_VERSION);
}

bool is_first_sample(const ResultFile& file, const State& initial) {
  if (file.samples() == 0) return false;
  const auto same = [](const Eigen::MatrixXd& rows, const VectorXd& expected) {
    return same_bits(VectorXd(rows.row(0)), expected);
  };
  return same(file.q, initial.q) && same(file.v, initial.v) && same(file.a, initial.a) &&
         same(file.lambda, initial.lambda);
}

// A run that is complete, as it was.
SimulationRun restore(SimulationRun run, const ResultFile& file, Series& series, const VectorXd& unit_factors,
                      double time_unit, bool with_balance, SystemEquations& equations, const Turns& turns,
                      const std::filesystem::path& folder) {
  series.add(file, static_cast<std::uint64_t>(file.samples()), unit_factors, time_unit, with_balance,
             equations, turns);
  series.move_to(run, static_cast<int>(file.q.cols()));
  run.summary = json::parse(file.end.report);
  run.summary["out"] = folder.string();
  run.summary["was_complete"] = true;
  run.text = file.end.text + fmt::format("{:<18}{}\n", "resumed", "not at all: the run was complete already");
  return run;
}

// The files of a run while it goes.
struct RunFiles {
  std::filesystem::path csv_path, result_path, checkpoint_path;
  std::optional<FolderLock> lock;
  std::optional<CsvWriter> csv;
  std::optional<ResultWriter> result;
  Timer since_flush, since_checkpoint;
  Eigen::Index unflushed = 0;  // numbers, about
  bool failed = false;         // something could not be written

  explicit RunFiles(const std::filesystem::path& folder)
      : csv_path(folder / "sensors.csv"),
        result_path(folder / "result.h5"),
        checkpoint_path(folder / "checkpoint.lissom") {}

  void create(const std::vector<std::string>& columns, const ResultHeader& header) {
    // an old one must not be taken for that of the new run
    std::error_code ec;
    if (std::filesystem::remove(checkpoint_path, ec); ec)
      fail("{}: an old checkpoint cannot be removed: {}", checkpoint_path.string(), ec.message());
    // a table is known as ours by the result beside it, which therefore comes first
    expect_replaceable(csv_path);
    result.emplace(result_path, header);
    csv.emplace(csv_path, columns);
  }

  void flush() {
    csv->flush();
    result->flush();
    since_flush = Timer();
    unflushed = 0;
  }

  // Remembers when writing fails.
  template <class Function>
  void guarded(Function&& write) {
    try {
      write();
    } catch (...) {
      failed = true;
      throw;
    }
  }

  // Closes them after a failure, as far as that is possible still, and says what is kept.
  std::string give_up(const ResultEnd& end) {
    try {
      csv->flush();
    } catch (const Error&) {
    }
    try {
      if (!failed) result->finish(end);
    } catch (const Error&) {
      failed = true;
    }
    std::string text;
    if (const auto until = result->flushed_until())
      text = fmt::format("\nwhat was computed until t = {:.6g} s is kept in {} and {}", *until,
                         csv_path.string(), result_path.string());
    if (!std::filesystem::exists(checkpoint_path)) return text;
    if (failed)
      text += "\nonce there is room to write, the same command with --resume goes on from there";
    else if (end.status == RunStatus::Stopped)
      text += "\nthe same command with --resume goes on from there";
    return text;
  }
};

// The joints that are part of the beams' coordinates; empty where there are none.
std::string describe_shared(const StudySystem& built) {
  if (built.shared_joints.empty()) return "";
  return fmt::format("Beams share coordinates in place of the joint{} '{}'.\n",
                     built.shared_joints.size() == 1 ? "" : "s", fmt::join(built.shared_joints, "', '"));
}

}  // namespace

ResultFrames SimulationRun::frames(const std::vector<Eigen::Index>& chosen) const {
  if (q.cols() < samples) return read_result_frames(result_path, chosen);
  return {sample_times(chosen), q(Eigen::all, chosen)};
}

Turns SimulationRun::turns_at(Eigen::Index sample) const {
  if (turns.rows() == 0) return {};
  return {sample_times[sample], turns.col(sample), VectorXd::Zero(turns.rows())};
}

SimulationRun inspect_simulation(const StudyFile& study, BodyStore& store, Diagnostics& diagnostics,
                                 const ProgressHook& progress) {
  const StudySystem built = make_system(study, store, diagnostics, progress);
  // gaps and the like are told, not refused
  const SystemCheck check = check_system(*built.system, 0, built.q);
  SimulationRun run;
  run.text = describe(*built.system, check);
  run.summary = system_json(*built.system, check);
  run.text += describe_shared(built);
  if (!built.shared_joints.empty()) run.summary["shared_joints"] = built.shared_joints;
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
  LISSOM_ASSERT(!needs_training(study));
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
  Start start = make_start(built, study, diagnostics, std::nullopt, progress);
  SystemEquations& equations = *start.equations;
  const State& initial = start.initial.state;
  auto problems = simulate.integrator.problems(&equations);
  const bool statics = simulate.integrator.integrator == Integrator::Static;
  if (!(simulate.integrator.end > 0 || (statics && simulate.integrator.end == simulate.begin)))
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
  if (simulate.stress) check_stress(*simulate.stress, built);
  SensorBank bank(system, built.sensors);
  bank.start(equations, start.reference());
  Balance balance(equations, initial);
  TurnWatch turns;
  ElasticRange range(equations);

  SimulationRun run;
  const size_t columns = bank.columns().size();
  VectorXd values(static_cast<Eigen::Index>(columns)), shown(static_cast<Eigen::Index>(columns));
  VectorXd unit_factors(static_cast<Eigen::Index>(columns));
  for (size_t c = 0; c < columns; ++c) {
    run.columns.push_back(bank.columns()[c].name);
    run.sensor_units.push_back(si_unit(bank.columns()[c]));
    unit_factors[static_cast<Eigen::Index>(c)] = unit_factor(bank.columns()[c], spec.units);
  }
  const std::vector<NodeOutput> outputs = node_outputs(system, simulate, diagnostics);
  Trust trust(training_of(built), built.rom ? "add a run with such a load to 'runs' of [train]"
                                            : "train on more samples ([train.parameters], plan)");
  run.built = kept_system;

  RunFiles files(folder);
  Series series;
  // stress and ParaView look at all states once more
  if (options.write_files && !simulate.stress && !simulate.paraview) series.keep = options.keep;
  Checkpoint checkpoint;
  std::optional<Archive> resumed;
  std::optional<double> resumed_at;
  if (options.write_files) {
    std::error_code ec;
    std::filesystem::create_directories(folder, ec);
    if (ec) fail("{}: the folder cannot be made: {}", folder.string(), ec.message());
    run.result_path = files.result_path;
    files.lock.emplace(folder);
    Resumable from;
    if (options.resume) from = find_resumable(study, folder, diagnostics);
    checkpoint.study = study.text;
    checkpoint.case_name = study.case_name;
    checkpoint.start = fingerprint(equations, initial);
    ResultHeader header = make_header(study, start, bank, outputs, trust.known());
    if (from.complete || from.checkpoint) {
      if (progress) progress("reading what is there", -1);
      ResultReadOptions without_nodes;
      without_nodes.nodes = false;
      const ResultFile file = read_result_file(files.result_path, diagnostics, without_nodes);
      if (from.complete) {
        // the first sample of statics is the equilibrium, not what was placed
        if (!statics && !is_first_sample(file, initial)) fail_other_bodies(folder);
        // killed between its last two acts
        std::filesystem::remove(files.checkpoint_path, ec);
        files.csv.emplace(files.csv_path, run.columns, CsvWriter::Again{});
        rebuild_csv(*files.csv, file, static_cast<std::uint64_t>(file.samples()), unit_factors,
                    spec.units.time);
        return restore(std::move(run), file, series, unit_factors, spec.units.time, options.balance,
                       equations, initial.turns, folder);
      }
      if (!same_bits(from.checkpoint->start, checkpoint.start)) fail_other_bodies(folder);
      if (static_cast<std::uint64_t>(file.samples()) < from.checkpoint->samples)
        fail_input("{}: has {} samples, and had {} when the run was saved; it was changed since",
                   files.result_path.string(), file.samples(), from.checkpoint->samples);
      if (from.checkpoint->lissom_version != LISSOM_VERSION)
        diagnostics.warn("simulate.version." + folder.string(),
                         fmt::format("the run was begun by Lissom {} and resumed by {}",
                                     from.checkpoint->lissom_version, LISSOM_VERSION));
      if (simulate.integrator.integrator == Integrator::Cvode)
        diagnostics.warn(
            "simulate.repeated." + folder.string(),
            "cvode keeps its history to itself: the steps since the start, or since the last jump "
            "of the loads, were repeated to resume the run");
      series.add(file, from.checkpoint->samples, unit_factors, spec.units.time, options.balance, equations,
                 initial.turns);
      resumed.emplace(std::move(from.checkpoint->state));
      (*resumed)(bank, balance, turns, range, trust);
      resumed_at = from.checkpoint->t;
      files.csv.emplace(files.csv_path, run.columns, CsvWriter::Again{});
      rebuild_csv(*files.csv, file, from.checkpoint->samples, unit_factors, spec.units.time);
      files.result.emplace(files.result_path, header, from.checkpoint->samples);
    } else {
      files.create(run.columns, header);
    }
  }

  const bool winds = !equations.turn_names().empty() && series.keep == SimulationOptions::Keep::States;
  if (!resumed) {
    State first = initial;
    equations.count_turns(first);
    turns.step(first);
    range.step(first);
  }
  // every step counts in the balance, samples are written
  IntegrationSummary summary;
  std::vector<Eigen::Matrix3Xd> nodes(outputs.size());
  IntegrationOutput output;
  output.step = [&](const State& state) {
    bank.step(equations, state);
    balance.step(state);
    turns.step(state);
    range.step(state);
  };
  output.sample = [&](const State& state) {
    bank.evaluate(equations, state, values);
    shown = values.cwiseQuotient(unit_factors);
    const double t = state.t / spec.units.time;
    series.add(t, values, shown, state, winds ? turns_of(equations, state) : Turns{});
    const double distance = trust.at(state);
    if (!options.write_files && !options.balance) return;
    const ResultBalance now = balance.at(state);
    if (options.balance) series.balance.push_back(now);
    if (!options.write_files) return;
    Eigen::Matrix3Xd positions;  // of all nodes of a body, whose groups follow each other
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto& [b, group] = outputs[i];
      if (i == 0 || outputs[i - 1].body != b) {
        const Body& body = *system.bodies()[b];
        positions = body.node_positions(state.q.segment(system.offset(b), body.coordinates()));
      }
      nodes[i] = positions.middleCols(group.first, group.count);
    }
    files.guarded([&] {
      files.csv->add(t, shown);
      files.result->add(state, values, now, nodes, summary, distance);
      // a disk that is full loses what was not flushed: a second, or a megabyte
      files.unflushed += 3 * state.q.size() + state.lambda.size() + 2 * values.size() + 40;
      for (const Eigen::Matrix3Xd& x : nodes) files.unflushed += x.size();
      if (files.since_flush.seconds() >= 1 || files.unflushed >= 1 << 17) files.flush();
    });
  };
  output.stop = options.stop;
  // the first checkpoint at once, so that the study is known from then on
  bool saved = resumed.has_value();
  if (options.write_files)
    output.between = [&](const IntegrationOutput::Save& save, bool stopped) {
      if (saved && !stopped && files.since_checkpoint.seconds() < options.checkpoint) return;
      files.guarded([&] {
        files.flush();
        Archive archive;
        archive(bank, balance, turns, range, trust);
        save(archive);
        checkpoint.t = summary.end;
        checkpoint.samples = files.result->samples();
        checkpoint.csv_bytes = files.csv->bytes();
        checkpoint.state = archive.bytes();
        write_checkpoint(checkpoint, files.checkpoint_path);
      });
      saved = true;
      files.since_checkpoint = Timer();
    };

  ResultEnd end;
  try {
    IntegratorOptions integrator = simulate.integrator;
    // the tensor gives the tangent with the force, unless beams are damped: a new matrix costs next to
    // nothing
    if (built.pod && built.pod->report().force == PodForce::Tensor && built.pod->symmetric())
      integrator.newton.reuse_rate = 0;
    integrate(equations, initial, integrator, output, summary, diagnostics, progress,
              resumed ? &*resumed : nullptr);
    if (options.write_files) files.guarded([&] { files.flush(); });
  } catch (const Error& e) {
    end.status = RunStatus::Failed;
    end.failure = e.what();
    end.summary = summary;
    const std::string kept = options.write_files ? files.give_up(end) : "";
    const std::string message = fmt::format("{}{}{}", e.what(), trust.left_before(), kept);
    if (dynamic_cast<const InputError*>(&e)) throw InputError(message);
    throw Error(message);
  }
  if (summary.stopped) {
    end.status = RunStatus::Stopped;
    end.summary = summary;
    fail("the simulation was stopped at t = {:.6g} s{}", summary.end,
         options.write_files ? files.give_up(end) : "");
  }

  series.move_to(run, system.coordinates());
  trust.warn(diagnostics);
  turns.warn(equations.turn_names(), diagnostics);
  bank.warn(diagnostics);
  // every case says it for itself
  const std::string suffix = study.case_name.empty() ? "" : "." + study.case_name;
  range.warn(suffix, diagnostics);
  warn_of_drift(balance, simulate.integrator, suffix, diagnostics);

  json& j = run.summary;
  j = system_json(system, start.check);
  if (!built.shared_joints.empty()) j["shared_joints"] = built.shared_joints;
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
  j["samples"] = series.samples;
  // equilibria have no motion that would do the work
  j["energy_drift"] = statics ? json(nullptr) : json(balance.energy_drift());
  j["constraint_drift"] = balance.constraint_drift();
  j["momentum_drift"] = json_number(balance.momentum_drift());
  j["angular_momentum_drift"] = json_number(balance.angular_momentum_drift());
  j["energy"] = {{"initial", energy_json(balance.initial())},
                 {"scale", balance.energy_scale()},
                 {"work_in", balance.work_in()},
                 {"dissipated", balance.dissipated()}};
  if (const json left = range.to_json(); !left.empty()) j["elastic_range"] = left;
  j["start"] = {{"moved", start.initial.moved},
                {"iterations", start.initial.iterations},
                {"velocity_change", start.initial.velocity_change}};
  if (start.equilibrium) j["equilibrium"] = equilibrium_json(*start.equilibrium);
  j["sensors"] = run.columns;
  if (built.pod) j["pod"] = pod_use_json(built, start.check);
  if (training_of(built)) j["trust"] = trust.known() ? trust.to_json() : json(nullptr);
  if (options.write_files) {
    j["out"] = folder.string();
    j["files"] = {"sensors.csv", "result.h5"};
    if (resumed_at) j["resumed_at"] = *resumed_at;
  }

  run.text = describe(system, start.check) + describe_shared(built);
  const auto line = [&](std::string_view what, const std::string& value) {
    run.text += fmt::format("{:<18}{}\n", what, value);
  };
  line("integrator", fmt::format("{}, {} steps ({} rejected), {} Newton iterations, {} factorisations",
                                 name_of(simulate.integrator.integrator), summary.steps, summary.rejected,
                                 summary.newton_iterations, summary.factorisations));
  line("steps", fmt::format("{:.3g} to {:.3g} s, {} samples", summary.smallest_step, summary.largest_step,
                            series.samples));
  line("time", fmt::format("{} for {:.6g} s", format_seconds(summary.seconds), summary.end));
  if (!statics)
    line("energy drift", fmt::format("{:.2e} of {:.4g} J", balance.energy_drift(), balance.energy_scale()));
  line("constraint drift", fmt::format("{:.2e} m", balance.constraint_drift()));
  if (balance.momentum_drift()) line("momentum drift", fmt::format("{:.2e}", *balance.momentum_drift()));
  if (balance.angular_momentum_drift())
    line("ang. mom. drift", fmt::format("{:.2e}", *balance.angular_momentum_drift()));
  run.text += describe_pod_use(built, start.check);
  if (training_of(built)) line("trust", trust.text());
  if (simulate.stress)
    report_stress(study, options.write_files ? folder : std::filesystem::path(), run, diagnostics, progress);
  if (resumed_at) line("resumed", fmt::format("at {:.6g} s", *resumed_at));
  if (!options.write_files) return run;

  end.status = RunStatus::Complete;
  end.summary = summary;
  end.report = j.dump(-1, ' ', false, json::error_handler_t::replace);
  end.text = run.text;
  try {
    files.guarded([&] { files.result->finish(end); });
  } catch (const Error& e) {
    fail("{}{}", e.what(), files.give_up(end));
  }
  std::error_code ec;
  std::filesystem::remove(files.checkpoint_path, ec);
  return run;
}

}  // namespace lissom

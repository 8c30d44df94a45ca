#include "lissom/study/simulate.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "lissom/core/archive.hpp"
#include "lissom/core/folder_lock.hpp"
#include "lissom/core/own_file.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/csv_writer.hpp"
#include "lissom/io/result_file.hpp"
#include "lissom/io/table.hpp"
#include "lissom/rom/slap/polynomial_watch.hpp"
#include "lissom/rom/slap/trust.hpp"
#include "lissom/study/checkpoint.hpp"
#include "lissom/study/pod_system.hpp"
#include "lissom/study/sensors_csv.hpp"
#include "lissom/study/statics.hpp"
#include "lissom/study/stress.hpp"
#include "lissom/study/summary_json.hpp"

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
  if (options.controller.act && options.resume)
    fail_input("a run with a controller cannot be resumed: what the controller remembers is not known");
  if (!options.controller.act)
    for (const std::string& name : inputs_without_value(*study.simulation))
      fail_input(study.simulation->simulate->where, "simulate.inputs: {}", missing_input(name));
  // what cannot be resumed shall not wait for the bodies
  Diagnostics told_later;
  if (options.write_files && options.resume) find_resumable(study, folder, told_later);
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

// Writes what a run leaves while it goes on, and keeps an eye on how far a reduced mechanism is from its training.
class StudyObserver final : public RunObserver {
 public:
  StudyObserver(const StudyFile& study, const SimulationOptions& options, const System& system, Trust& trust,
                PolynomialWatch& watch, RunFiles& files, std::vector<NodeOutput> outputs,
                const VectorXd& unit_factors)
      : options_(options),
        system_(system),
        trust_(trust),
        watch_(watch),
        files_(files),
        outputs_(std::move(outputs)),
        unit_factors_(unit_factors),
        time_unit_(study.simulation->units.time),
        nodes_(outputs_.size()) {
    checkpoint.study = study.text;
    checkpoint.case_name = study.case_name;
  }

  Checkpoint checkpoint;
  bool saved = false;  // the first one is written at once, so that the study is known from then on

  void sample(const RunSample& now) override {
    const double distance = trust_.at(now.state);
    watch_.at(now.state);
    if (!options_.write_files) return;
    Eigen::Matrix3Xd positions;  // of all nodes of a body, whose groups follow each other
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const auto& [b, group] = outputs_[i];
      if (i == 0 || outputs_[i - 1].body != b) {
        const Body& body = *system_.bodies()[b];
        positions = body.node_positions(now.state.q.segment(system_.offset(b), body.coordinates()));
      }
      nodes_[i] = positions.middleCols(group.first, group.count);
    }
    shown_ = now.y.cwiseQuotient(unit_factors_);
    const BalanceSample balance = now.balance();
    files_.guarded([&] {
      files_.csv->add(now.state.t / time_unit_, shown_);
      files_.result->add(now.state, now.y, balance, nodes_, now.summary, distance);
      // a disk that is full loses what was not flushed: a second, or a megabyte
      files_.unflushed += 3 * now.state.q.size() + now.state.lambda.size() + 2 * now.y.size() + 40;
      for (const Eigen::Matrix3Xd& x : nodes_) files_.unflushed += x.size();
      if (files_.since_flush.seconds() >= 1 || files_.unflushed >= 1 << 17) files_.flush();
    });
  }

  void between(const IntegrationOutput::Save& save, const IntegrationSummary& summary,
               bool stopped) override {
    if (!options_.write_files) return;
    if (saved && !stopped && files_.since_checkpoint.seconds() < options_.checkpoint) return;
    files_.guarded([&] {
      files_.flush();
      Archive archive;
      save(archive);
      checkpoint.t = summary.end;
      checkpoint.samples = files_.result->samples();
      checkpoint.csv_bytes = files_.csv->bytes();
      checkpoint.state = archive.bytes();
      write_checkpoint(checkpoint, files_.checkpoint_path);
    });
    saved = true;
    files_.since_checkpoint = Timer();
  }

  void archive(Archive& archive) override { archive(trust_, watch_); }

 private:
  const SimulationOptions& options_;
  const System& system_;
  Trust& trust_;
  PolynomialWatch& watch_;
  RunFiles& files_;
  std::vector<NodeOutput> outputs_;
  const VectorXd& unit_factors_;
  double time_unit_;
  std::vector<Eigen::Matrix3Xd> nodes_;
  VectorXd shown_;
};

// The samples that a file has already go to the run.
void replay(const ResultFile& file, std::uint64_t count, SystemRun& run) {
  State state;
  VectorXd y;
  for (std::uint64_t k = 0; k < count; ++k) {
    const auto row = static_cast<Eigen::Index>(k);
    state.t = file.time[row];
    state.q = file.q.row(row);
    state.v = file.v.row(row);
    state.a = file.a.row(row);
    y = file.sensors.row(row);
    run.add(state, y, file.balance[k]);
  }
}

void expect_resumable(const ResultFile& file, const Checkpoint& saved, const Checkpoint& now,
                      const RunFiles& files, const std::filesystem::path& folder, const StudyFile& study,
                      Diagnostics& diagnostics) {
  if (!same_bits(saved.start, now.start)) fail_other_bodies(folder);
  if (static_cast<std::uint64_t>(file.samples()) < saved.samples)
    fail_input("{}: has {} samples, and had {} when the run was saved; it was changed since",
               files.result_path.string(), file.samples(), saved.samples);
  if (saved.lissom_version != LISSOM_VERSION)
    diagnostics.warn("simulate.version." + folder.string(),
                     fmt::format("the run was begun by Lissom {} and resumed by {}", saved.lissom_version,
                                 LISSOM_VERSION));
  if (study.simulation->simulate->integrator.integrator == Integrator::Cvode)
    diagnostics.warn("simulate.repeated." + folder.string(),
                     "cvode keeps its history to itself: the steps since the start, or since the last jump "
                     "of the loads, were repeated to resume the run");
}

json elastic_range_json(const std::vector<ElasticLimit>& limits) {
  json list = json::array();
  const auto passed = [](const ElasticLimit::Passed& limit, const char* largest) {
    return json{{"since", limit.since}, {largest, limit.largest}, {"at", limit.at}};
  };
  for (const ElasticLimit& limit : limits) {
    json one = {{"body", limit.body}};
    if (limit.spin) {
      one["spin"] = passed(*limit.spin, "largest");
      one["spin"]["first_frequency"] = limit.first_frequency;
    }
    if (limit.rotation) {
      one["rotation"] = passed(*limit.rotation, "largest_degrees");
      one["rotation"]["node"] = limit.node;
    }
    list.push_back(std::move(one));
  }
  return list;
}

json trust_json(const Trust& trust) {
  if (!trust.known()) return nullptr;
  return {{"largest", trust.largest()},
          {"at", trust.largest_at()},
          {"outside_since", json_number(trust.outside_since())},
          {"threshold", trust_threshold}};
}

json polynomial_json(const PolynomialWatch& watch) {
  const auto number = [](double value) { return std::isfinite(value) ? json(value) : json(nullptr); };
  return {{"largest", number(watch.largest())},
          {"at", watch.largest_at()},
          {"relative", number(watch.relative())},
          {"limit", watch.limit()},
          {"outside_since", json_number(watch.outside_since())}};
}

bool is_static(const StudyFile& study) {
  return study.simulation->simulate->integrator.integrator == Integrator::Static;
}

json simulation_json(const StudyFile& study, const Start& start, const StudySystem& built,
                     const SimulationRun& run, const Trust& trust, const PolynomialWatch& watch) {
  const IntegrationSummary& summary = run.integration;
  const BalanceSummary& drift = run.drift;
  json j = system_json(*built.system, start.check);
  if (!built.shared_joints.empty()) j["shared_joints"] = built.shared_joints;
  j["integrator"] = name_of(study.simulation->simulate->integrator.integrator);
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
  j["samples"] = run.samples;
  // equilibria have no motion that would do the work
  j["energy_drift"] = is_static(study) ? json(nullptr) : json(drift.energy_drift);
  j["constraint_drift"] = drift.constraint_drift;
  j["momentum_drift"] = json_number(drift.momentum_drift);
  j["angular_momentum_drift"] = json_number(drift.angular_momentum_drift);
  j["energy"] = {{"initial", energy_json(drift.initial)},
                 {"scale", drift.energy_scale},
                 {"work_in", drift.work_in},
                 {"dissipated", drift.dissipated}};
  if (json left = elastic_range_json(run.beyond_elasticity); !left.empty())
    j["elastic_range"] = std::move(left);
  j["start"] = {{"moved", start.initial.moved},
                {"iterations", start.initial.iterations},
                {"velocity_change", start.initial.velocity_change}};
  if (start.equilibrium) j["equilibrium"] = equilibrium_json(*start.equilibrium);
  j["sensors"] = run.columns;
  if (built.pod) j["pod"] = pod_use_json(built, start.check);
  if (training_of(built)) j["trust"] = trust_json(trust);
  if (built.rom) j["kernel"] = built.rom->polynomial ? "polynomial" : "exact";
  if (watch.known()) j["polynomial"] = polynomial_json(watch);
  return j;
}

std::string line_of(std::string_view what, const std::string& value) {
  return fmt::format("{:<18}{}\n", what, value);
}

std::string describe_run(const StudyFile& study, const Start& start, const StudySystem& built,
                         const SimulationRun& run, const Trust& trust, const PolynomialWatch& watch) {
  const IntegrationSummary& summary = run.integration;
  const BalanceSummary& drift = run.drift;
  std::string text = describe(*built.system, start.check) + describe_shared(built);
  text += line_of("integrator",
                  fmt::format("{}, {} steps ({} rejected), {} Newton iterations, {} factorisations",
                              name_of(study.simulation->simulate->integrator.integrator), summary.steps,
                              summary.rejected, summary.newton_iterations, summary.factorisations));
  text += line_of("steps", fmt::format("{:.3g} to {:.3g} s, {} samples", summary.smallest_step,
                                       summary.largest_step, run.samples));
  text += line_of("time", fmt::format("{} for {:.6g} s", format_seconds(summary.seconds), summary.end));
  if (!is_static(study))
    text +=
        line_of("energy drift", fmt::format("{:.2e} of {:.4g} J", drift.energy_drift, drift.energy_scale));
  text += line_of("constraint drift", fmt::format("{:.2e} m", drift.constraint_drift));
  if (drift.momentum_drift) text += line_of("momentum drift", fmt::format("{:.2e}", *drift.momentum_drift));
  if (drift.angular_momentum_drift)
    text += line_of("ang. mom. drift", fmt::format("{:.2e}", *drift.angular_momentum_drift));
  text += describe_pod_use(built, start.check);
  if (training_of(built)) text += line_of("trust", trust.text());
  if (watch.known()) text += line_of("polynomial", watch.text());
  return text;
}

// What the study asks of a run.
RunOptions run_options(const StudyFile& study, const StudySystem& built, const SimulationOptions& options) {
  const SimulateSpec& simulate = *study.simulation->simulate;
  RunOptions out;
  out.integrator = simulate.integrator;
  // the tensor gives the tangent with the force, unless beams are damped: a new matrix costs next to nothing
  if (built.pod && built.pod->report().force == PodForce::Tensor && built.pod->symmetric())
    out.integrator.newton.reuse_rate = 0;
  out.sensors = built.sensors;
  out.controller = options.controller;
  // stress and ParaView look at all states once more
  if (options.write_files && !simulate.stress && !simulate.paraview) out.keep = options.keep;
  out.balance = options.balance;
  out.stop = options.stop;
  return out;
}

}  // namespace

ResultFrames SimulationRun::frames(const std::vector<Eigen::Index>& chosen) const {
  if (q.cols() < samples) return read_result_frames(result_path, chosen);
  return {t(chosen), q(Eigen::all, chosen)};
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

  // a start that satisfies the system, and a run that could go; all before anything is written
  const auto built = std::make_shared<StudySystem>(std::move(given));
  if (progress) progress("initial conditions", -1);
  const Start start = study_start(*built, study, diagnostics, std::nullopt, progress);
  const State& initial = start.initial.state;
  std::optional<SystemRun> motion;
  try {
    motion.emplace(start, run_options(study, *built, options));
  } catch (const InputError& e) {
    fail_input(simulate.where, "simulate: {}", e.what());
  }
  if (simulate.stress) check_stress(*simulate.stress, *built);

  SimulationRun run;
  run.built = built;
  const std::vector<SensorColumn>& columns = motion->bank().columns();
  VectorXd unit_factors(static_cast<Eigen::Index>(columns.size()));
  for (size_t c = 0; c < columns.size(); ++c) {
    run.columns.push_back(columns[c].name);
    run.sensor_units.push_back(si_unit(columns[c]));
    unit_factors[static_cast<Eigen::Index>(c)] = unit_factor(columns[c], spec.units);
  }
  const auto take = [&] {
    static_cast<Trajectory&>(run) = motion->take();
    run.time = run.t / spec.units.time;
    run.sensors = run.y.array().rowwise() / unit_factors.transpose().array();
  };
  const std::vector<NodeOutput> outputs = node_outputs(*built->system, simulate, diagnostics);
  Trust trust(training_of(*built), built->rom ? "add a run with such a load to 'runs' of [train]"
                                              : "train on more samples ([train.parameters], plan)");
  RunFiles files(folder);
  PolynomialWatch watch(built->rom.get());
  StudyObserver observer(study, options, *built->system, trust, watch, files, outputs, unit_factors);
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
    observer.checkpoint.start = fingerprint(*start.equations, initial);
    const ResultHeader header = make_header(study, start, motion->bank(), outputs, trust.known());
    if (from.complete || from.checkpoint) {
      if (progress) progress("reading what is there", -1);
      ResultReadOptions without_nodes;
      without_nodes.nodes = false;
      const ResultFile file = read_result_file(files.result_path, diagnostics, without_nodes);
      // the first sample of statics is the equilibrium, not what was placed
      if (from.complete && !is_static(study) && !is_first_sample(file, initial)) fail_other_bodies(folder);
      if (from.checkpoint)
        expect_resumable(file, *from.checkpoint, observer.checkpoint, files, folder, study, diagnostics);
      const std::uint64_t count =
          from.complete ? static_cast<std::uint64_t>(file.samples()) : from.checkpoint->samples;
      // killed between its last two acts
      if (from.complete) std::filesystem::remove(files.checkpoint_path, ec);
      files.csv.emplace(files.csv_path, run.columns, CsvWriter::Again{});
      rebuild_csv(*files.csv, file, count, unit_factors, spec.units.time);
      replay(file, count, *motion);
      if (from.complete) {
        // a run that is complete, as it was
        take();
        run.summary = json::parse(file.end.report);
        run.summary["out"] = folder.string();
        run.summary["was_complete"] = true;
        run.text = file.end.text + line_of("resumed", "not at all: the run was complete already");
        return run;
      }
      resumed.emplace(std::move(from.checkpoint->state));
      resumed_at = from.checkpoint->t;
      observer.saved = true;
      files.result.emplace(files.result_path, header, count);
    } else {
      files.create(run.columns, header);
    }
  }

  ResultEnd end;
  RunObserver* const observers[] = {&observer};
  try {
    motion->go(observers, diagnostics, progress, resumed ? &*resumed : nullptr);
    if (options.write_files) files.guarded([&] { files.flush(); });
  } catch (const Error& e) {
    take();
    end.status = RunStatus::Failed;
    end.failure = e.what();
    end.summary = run.integration;
    const std::string kept = options.write_files ? files.give_up(end) : "";
    const std::string message = fmt::format("{}{}{}", e.what(), trust.left_before(), kept);
    if (dynamic_cast<const InputError*>(&e)) throw InputError(message);
    throw Error(message);
  }
  take();
  end.summary = run.integration;
  if (run.integration.stopped) {
    end.status = RunStatus::Stopped;
    fail("the simulation was stopped at t = {:.6g} s{}", run.integration.end,
         options.write_files ? files.give_up(end) : "");
  }
  trust.warn(diagnostics);
  watch.warn(diagnostics);
  // every case says it for itself
  motion->warn(study.case_name.empty() ? "" : "." + study.case_name, diagnostics);

  json& j = run.summary;
  j = simulation_json(study, start, *built, run, trust, watch);
  if (options.write_files) {
    j["out"] = folder.string();
    j["files"] = {"sensors.csv", "result.h5"};
    if (resumed_at) j["resumed_at"] = *resumed_at;
  }
  run.text = describe_run(study, start, *built, run, trust, watch);
  if (simulate.stress)
    report_stress(study, options.write_files ? folder : std::filesystem::path(), run, diagnostics, progress);
  if (resumed_at) run.text += line_of("resumed", fmt::format("at {:.6g} s", *resumed_at));
  if (!options.write_files) return run;

  end.status = RunStatus::Complete;
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

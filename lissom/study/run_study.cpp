#include "lissom/study/run_study.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <utility>

#include "lissom/core/atomic_file.hpp"
#include "lissom/core/folder_lock.hpp"
#include "lissom/core/own_file.hpp"
#include "lissom/core/resources.hpp"
#include "lissom/io/output_names.hpp"
#include "lissom/io/table.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/study/analyses.hpp"
#include "lissom/study/beam_groups.hpp"
#include "lissom/study/body_store.hpp"
#include "lissom/study/compare.hpp"
#include "lissom/study/gcms.hpp"
#include "lissom/study/linear_run.hpp"
#include "lissom/study/linear_training.hpp"
#include "lissom/study/paraview.hpp"
#include "lissom/study/preflight.hpp"
#include "lissom/study/reduce.hpp"
#include "lissom/study/simulate.hpp"
#include "lissom/study/sweep_table.hpp"
#include "lissom/study/sweep_work.hpp"
#include "lissom/study/train.hpp"
#include "lissom/study/versions.hpp"
#include "lissom/study/view.hpp"

namespace lissom {

using nlohmann::json;

namespace {

class StudyRunner {
 public:
  StudyRunner(const StudyFile& study, const std::filesystem::path& out, Diagnostics& diagnostics,
              const ProgressHook& progress, const StudyRunOptions& options)
      : study_(study),
        out_(out),
        all_diagnostics_(diagnostics),
        progress_(progress),
        options_(options),
        store_(study.train.has_value() && study.train->is_slap(),
               wants_paraview(study) || (options.view && options.write_files), stress_needs(study)) {}

  StudyRunner(const StudyRunner&) = delete;
  StudyRunner& operator=(const StudyRunner&) = delete;
  ~StudyRunner() { hand_over(""); }

  // Passes warnings on; the place, a case, comes before them.
  void hand_over(const std::string& place) {
    for (const Warning& warning : diagnostics_.warnings())
      for (long k = 0; k < warning.count; ++k)
        all_diagnostics_.warn(warning.key, place + warning.message, warning.where);
    diagnostics_ = {};
  }

  // Before any body is reduced, or anything written. Throws InputError with everything that can be known to
  // be wrong with the study and its cases. What was read is used later.
  void look_ahead() {
    Preflight preflight(Preflight::For::Run, diagnostics_, progress_);
    preflight.look(study_);
    preflight.throw_if_any();
    loaded_ = std::move(preflight.bodies());
  }

  // What one body asks for itself: modes, reduction, component modes.
  json run_body(const BodySpec& spec, const std::filesystem::path& out, std::string& text) {
    done_.insert(spec.reduction_key);
    if (spec.without_mesh()) return simple_body(spec, text);
    FeBody body = loaded(spec);
    text += fmt::format("{}\n{}", spec.name, describe_mesh(body));
    json result = mesh_json(body);
    if (spec.modes) {
      build_model(body, diagnostics_, progress_);
      solve_modes(body, diagnostics_, progress_);
      std::vector<std::string> files;
      if (options_.write_files) {
        files = write_body_results(body, out, body.seconds, diagnostics_, progress_);
        if (options_.view)
          if (const std::string view = write_body_view(body, out, diagnostics_, progress_); !view.empty())
            files.push_back(view);
      }
      text += "\n" + describe_modes(body) + "\n";
      result.update(modes_json(body));
      result["files"] = files;
    }
    if (spec.reduce) {
      const Reduction reduction = reduce_body(body, diagnostics_, progress_);
      GcmsModel gcms;
      if (needs_gcms(spec)) gcms = make_gcms_model(body, reduction.body, diagnostics_, progress_);
      result["reduce"] = reduction_json(reduction);
      if (!gcms.empty()) result["reduce"]["gcms_fields"] = gcms.fields();
      text += "\n" + describe_reduction(reduction) + "\n";
      for (const auto& [phase, seconds] : reduction.seconds.phases()) body.seconds.add(phase, seconds);
      if (options_.write_files)
        for (const std::string& file :
             write_reduction(body, reduction, out, body.seconds, diagnostics_, progress_, &gcms))
          result["files"].push_back(file);
      if (options_.write_files && options_.view)
        if (const std::string view = write_reduction_view(body, reduction.body, out, diagnostics_, progress_);
            !view.empty())
          result["files"].push_back(view);
      store_.keep(body, reduction.body, gcms, diagnostics_);
    }
    if (spec.gcms) {
      const GcmsResult gcms = compute_gcms(body, diagnostics_, progress_);
      result["gcms"] = gcms_json(gcms);
      if (options_.write_files) result["files"].push_back(write_gcms_results(gcms, out));
      text += "\n" + describe_gcms(gcms) + "\n";
      for (const auto& [phase, seconds] : gcms.seconds.phases()) body.seconds.add(phase, seconds);
    }
    result["seconds"] = to_json(body.seconds);
    return result;
  }

  // A folder of a case for itself, where anything is written.
  std::optional<FolderLock> locked(const std::filesystem::path& folder) const {
    std::optional<FolderLock> lock;
    if (options_.write_files) lock.emplace(folder);
    return lock;
  }

  // Whether it was carried out for the study or another case.
  bool is_done(const BodySpec& spec) const { return done_.contains(spec.reduction_key); }

  SimulationRun run_simulation(const StudyFile& study, const std::filesystem::path& out, bool files = true,
                               RunOptions::Keep keep = RunOptions::Keep::States) {
    SimulationOptions options;
    options.keep = keep;
    options.write_files = files && options_.write_files;
    options.stop = options_.stop;
    options.resume = options_.resume;
    options.checkpoint = options_.checkpoint;
    if (const auto linear = linear_of(study)) {
      // solved anew in no time
      options.resume = false;
      return simulate_linear(study, out, *linear, diagnostics_, options);
    }
    if (!needs_training(study)) return simulate(study, out, store_, diagnostics_, progress_, options);
    return simulate(study, out, make_system(study), diagnostics_, progress_, options);
  }

  // The system of a study: of its bodies, of the model that it names, or of the one trained here.
  StudySystem make_system(const StudyFile& study) {
    if (!needs_training(study)) return lissom::make_system(study, store_, diagnostics_, progress_);
    if (study.train->pod) {
      const PodFile& model = pod_trained(*study.train).rom;
      return make_pod_system(study, model, store_, diagnostics_, progress_,
                             pod_system_options(*study.train->pod, model));
    }
    const Training& training = trained(*study.train);
    const SlapModel model =
        study.train->order ? training.model(checked_order(study, training)) : training.rom.model;
    StudySystem built = build_rom_system(study, model, diagnostics_);
    // values of elements need the meshes, which the model does not have
    for (GroupStress& group : built.stress)
      for (const BodySpec& body : study.bodies)
        if (body.name == group.name && store_.has(body))
          group.mesh = store_.get(body, diagnostics_, progress_).mesh;
    return built;
  }

  // The linear model that a study simulates, by its training or from a file; nothing where it is another one.
  std::optional<LinearMechanism> linear_of(const StudyFile& study) {
    if (is_linear_file(study.rom))
      return linear_mechanism(read_linear_file(study.rom, diagnostics_), study.rom);
    if (!needs_training(study) || !study.train->linear) return std::nullopt;
    return LinearMechanism{linear_trained(study).rom, *study.simulation};
  }

  // method = "linear", of the study, a case or a point of a sweep itself: nothing has to be simulated for it.
  const LinearTraining& linear_trained(const StudyFile& study) {
    if (const auto found = linear_trainings_.find(study.case_name); found != linear_trainings_.end())
      return found->second;
    const StudyFile asked = with_full_model(study);
    const auto make = [&] { return lissom::make_system(asked, store_, diagnostics_, progress_); };
    return linear_trainings_
        .emplace(study.case_name, train_linear(asked, make, diagnostics_, progress_, options_.stop))
        .first->second;
  }

  // [train] of the study with method = "linear".
  void add_linear_training(const std::filesystem::path& out, std::string& text, json& summary) {
    const LinearTraining& training = linear_trained(study_);
    text += "\ntraining\n" + describe_linear_training(training);
    summary["training"] = linear_training_json(training);
    if (options_.write_files) summary["training"]["files"] = write_linear_training(training, out);
  }

  Analyses run_analyses(const StudyFile& study) {
    if (!study.linearise && !study.response) return {};
    if (const auto linear = linear_of(study)) {
      Analyses out;
      out.linearisation = as_linearisation(linear->file.model);
      if (study.response) out.response = study_response(*out.linearisation, *study.response);
      return out;
    }
    return analyse(
        study, [&] { return make_system(study); }, diagnostics_, progress_, options_.stop);
  }

  // [linearise] and [response], with their files.
  void add_analyses(const StudyFile& study, const std::filesystem::path& out, std::string& text,
                    json& summary) {
    const Analyses analyses = run_analyses(study);
    text += describe_analyses(study, analyses);
    add_to_summary(analyses, summary);
    if (!options_.write_files || !analyses.linearisation) return;
    json& files = summary["linearisation"]["files"];
    files = write_analyses(analyses, out);
    // shapes are not known any more
    if (linear_of(study)) return;
    if (study.linearise && study.linearise->paraview) {
      if (show_modes(study, *analyses.linearisation, out / "system_modes.exo"))
        files.push_back("system_modes.exo");
    }
    if (!options_.view) return;
    const std::string view = write_system_modes_view(
        study, *analyses.linearisation, study.linearise ? study.linearise->modes : 20,
        [&] { return make_system(study); },
        [&] { return meshes_to_show(study, store_, diagnostics_, progress_); }, out, diagnostics_, progress_);
    if (!view.empty()) files.push_back(view);
  }

  // The modes of the whole mechanism on the meshes; false where there are none.
  bool show_modes(const StudyFile& study, const Linearisation& model, const std::filesystem::path& path) {
    const auto count = static_cast<Eigen::Index>(
        std::min<size_t>(static_cast<size_t>(study.linearise->modes), model.modes.size()));
    if (count == 0) {
      diagnostics_.warn("linearise.paraview." + study.case_name,
                        "there are no modes to be shown in ParaView: the mechanism has no degree of freedom");
      return false;
    }
    Eigen::VectorXd frequencies(count), damping(count);
    for (Eigen::Index i = 0; i < count; ++i) {
      frequencies[i] = model.modes[static_cast<size_t>(i)].frequency;
      damping[i] = model.modes[static_cast<size_t>(i)].damping;
    }
    const StudySystem built = make_system(study);
    write_system_modes(*built.system, model.q, model.shapes.leftCols(count), frequencies, damping,
                       meshes_to_show(study, store_, diagnostics_, progress_), path, diagnostics_);
    return true;
  }

  // What the study asks for at one point of a sweep, as numbers; files only where a folder is given.
  SweepValues run_point(const StudyFile& study, const std::filesystem::path& folder) {
    SimulationRun run;
    const bool simulated = study.simulation && study.simulation->simulate;
    if (simulated) run = run_simulation(study, folder, !folder.empty(), RunOptions::Keep::Outputs);
    const Analyses analyses = run_analyses(study);
    if (!folder.empty()) write_analyses(analyses, folder);
    return sweep_values(simulated ? &run : nullptr, analyses, study.linearise ? study.linearise->modes : 20);
  }

  // [sweep]; false where this process has only helped others with it.
  bool add_sweep(const std::filesystem::path& out, std::string& text, json& summary) {
    const bool any = std::any_of(study_.sweep.begin(), study_.sweep.end(), [](const ParameterPoint& point) {
      return (point.study.simulation && point.study.simulation->simulate) || point.study.linearise ||
             point.study.response;
    });
    if (!study_.sweep.empty() && !any)
      fail_input("{}: there is nothing to be swept: add [simulate], [linearise] or [response]",
                 study_.path.string());
    StudySweepOptions sweep = options_.sweep;
    sweep.resume = sweep.resume || options_.resume;
    const auto runner = [&](const StudyFile& study, const std::filesystem::path& folder,
                            Diagnostics& diagnostics) {
      hand_over("");
      const SweepValues values = run_point(study, folder);
      diagnostics = std::exchange(diagnostics_, {});
      return values;
    };
    hand_over("");
    const SweepOutcome outcome =
        run_points(study_, out, runner, diagnostics_, progress_, options_.stop, sweep);
    folder_lock_ = outcome.folder_lock;
    if (!outcome.finished) {
      text += fmt::format(
          "{} of {} points were computed here, {}\n", outcome.computed, outcome.manifest.points.size(),
          outcome.manifest.complete() ? "and all are done" : "others are still being computed elsewhere");
      return false;
    }
    // once what many points say of the same bodies
    for (const StudyPoint& point : outcome.manifest.points)
      for (const Warning& warning : point.warnings)
        if (!all_diagnostics_.find(warning.key) && !diagnostics_.find(warning.key))
          diagnostics_.warn(warning.key, warning.message, warning.where);
    const SweepTable table = sweep_table(outcome.manifest);
    const int failed = table.failed();
    if (failed == static_cast<int>(table.rows.size()))
      fail("every point of the sweep failed, the first one with: {}", table.rows[0].problem);
    if (failed > 0)
      diagnostics_.warn("sweep.failed", fmt::format("{} of {} points of the sweep failed; sweep.csv says why",
                                                    failed, table.rows.size()));
    text += "\n" + describe_sweep(table);
    summary["sweep"] = sweep_json(table);
    write_sweep(table, out / "sweep.csv");
    summary["sweep"]["files"] = {"sweep.csv", "sweep.json"};
    return true;
  }

  // The run on the meshes: its view, and for ParaView where the study asks for it.
  void show(const StudyFile& study, SimulationRun& run, const std::filesystem::path& out) {
    // a linear model has no nodes
    if (!options_.write_files || !run.built) return;
    const SimulateSpec& simulate = *study.simulation->simulate;
    const auto meshes = [&] { return meshes_to_show(study, store_, diagnostics_, progress_); };
    if (simulate.paraview) write_motion(run, *simulate.paraview, meshes(), out, diagnostics_, progress_);
    if (options_.view) write_motion_view(run, study, meshes, out, diagnostics_, progress_);
  }

  // The training that a [train] asks for, carried out once; runs made so far are not made again.
  const Training& trained(const TrainSpec& spec) {
    const auto [it, is_new] = trainings_.try_emplace(training_key(spec));
    if (is_new) {
      StudyFile study = study_;
      study.train = spec;
      it->second = train(study, store_, motions, diagnostics_, progress_, options_.stop);
    }
    return it->second;
  }

  PodTrainingOptions pod_options(const std::filesystem::path& folder) const {
    PodTrainingOptions options;
    if (options_.write_files) options.folder = folder;
    options.runner = options_.runner;
    options.stop = options_.stop;
    options.resume = options_.resume;
    options.checkpoint = options_.checkpoint;
    return options;
  }

  // The same with method = "pod"; files are written at once, so that they are kept whatever comes. Tests are
  // those of the study itself.
  PodTraining& pod_trained(const TrainSpec& spec) {
    const std::string key = pod_training_key(*spec.pod);
    if (const auto found = pod_trainings_.find(key); found != pod_trainings_.end()) return found->second;
    StudyFile study = study_;
    study.train = spec;
    const std::filesystem::path folder =
        pod_trainings_.empty() ? out_ : out_ / fmt::format("training-{}", pod_trainings_.size() + 1);
    PodTraining& training =
        pod_trainings_.emplace(key, train_pod(study, store_, diagnostics_, progress_, pod_options(folder)))
            .first->second;
    if (options_.write_files) write_pod_training(training, folder);
    return training;
  }

  // [train] of the study with method = "pod", and its tests.
  void add_pod_training(const std::filesystem::path& out, std::string& text, json& summary) {
    PodTraining& training = pod_trained(*study_.train);
    text += "\ntraining\n" + describe_pod_training(training);
    test_pod(study_, store_, training, diagnostics_, progress_, pod_options(out));
    if (!training.tests.empty()) text += "\n" + describe_pod_tests(training);
    summary["training"] = pod_training_json(training);
    if (!options_.write_files) return;
    json& files = summary["training"]["files"];
    files = write_pod_training(training, out);
    for (const std::string& file : write_pod_tests(training, out)) files.push_back(file);
  }

  // Of a case that does not share the study's; told once.
  const Training* own_training(const StudyFile& study) {
    if (!needs_training(study) || !study_.train || !study.train->is_slap()) return nullptr;
    const std::string key = training_key(*study.train);
    if (key == training_key(*study_.train) || !told_.insert(key).second) return nullptr;
    return &trainings_.at(key);
  }

  // The residual of the full model at the instants that a reduced run asks for.
  void check(const StudyFile& study, SimulationRun& run) {
    if (study.simulation->simulate->check_at.empty()) return;
    if (!needs_training(study) || !study.train->is_slap()) {
      diagnostics_.warn("simulate.check", "check_at is for SLAP models that are trained in the same run");
      return;
    }
    const std::vector<ModelCheck> checks =
        check_model(trained(*study.train), study, run, study.simulation->simulate->check_at, diagnostics_);
    run.summary["checks"] = checks_json(checks);
    run.text += describe_checks(checks);
  }

  TrainingMotions motions;  // full runs so far, by case

 private:
  static int checked_order(const StudyFile& study, const Training& training) {
    if (*study.train->order > training.basis.rank())
      fail_input(study.train->where,
                 "train.order: is {}, but the training data have {} modes above round-off",
                 *study.train->order, training.basis.rank());
    return *study.train->order;
  }

  // As look_ahead() has read it, or now.
  FeBody loaded(const BodySpec& spec) {
    const auto found = loaded_.find(spec.reduction_key);
    if (found == loaded_.end()) return load_body(spec, diagnostics_, progress_);
    return std::move(loaded_.extract(found).mapped());
  }

  // Here, or in any case that uses the same reduction.
  bool needs_gcms(const BodySpec& spec) const {
    if (spec.reduce->gcms || spec.formulation == Formulation::Gcms) return true;
    for (const StudyCase& variant : study_.cases)
      for (const BodySpec& body : variant.study.bodies)
        if (body.formulation == Formulation::Gcms && body.reduction_key == spec.reduction_key) return true;
    return false;
  }

  // A body of numbers or from a reduced-body file.
  json simple_body(const BodySpec& spec, std::string& text) {
    if (spec.rigid) {
      text += fmt::format("{}\nrigid, {:.6g} kg\n", spec.name, spec.rigid->mass);
      return {{"formulation", "rigid"}, {"mass", spec.rigid->mass}};
    }
    if (spec.ancf) {
      text += describe_beam(*spec.ancf);
      return beam_json(*spec.ancf);
    }
    const StoredBody& stored = store_.get(spec, diagnostics_, progress_);
    const ReducedBody& body = stored.reduced;
    text += fmt::format("{}\nreduced, {} coordinates, {} flexible modes in range, from {}\n", spec.name,
                        body.size(), body.range, spec.reduced_file.string());
    return {{"formulation", std::string(name_of(spec.formulation))},
            {"reduced", spec.reduced_file.string()},
            {"coordinates", body.size()},
            {"range", body.range}};
  }

  const StudyFile& study_;
  const std::filesystem::path& out_;
  Diagnostics& all_diagnostics_;
  Diagnostics diagnostics_;  // since hand_over()
  ProgressHook progress_;    // its own, because points of a sweep are given a temporary one
  const StudyRunOptions& options_;
  BodyStore store_;
  std::map<std::string, FeBody> loaded_;  // by BodySpec::reduction_key, until they are run
  std::map<std::string, Training> trainings_;
  std::map<std::string, PodTraining> pod_trainings_;
  std::map<std::string, LinearTraining> linear_trainings_;
  std::shared_ptr<FolderLock> folder_lock_;  // of a sweep, until the summary is there
  std::set<std::string> told_;
  std::set<std::string> done_;
};

// What each run is compared with.
std::string reference_of(const StudyFile& study, const std::string& name) {
  for (const StudyCase& variant : study.cases)
    if (variant.study.case_name == name && variant.reference) return *variant.reference;
  return study.reference;
}

std::string shown_case(const std::string& name) {
  return name.empty() ? "the study itself" : name;
}

// The sensors of all runs against their reference, as a table and as JSON; differences over time as CSV.
std::string compare_runs(const StudyFile& study, const std::map<std::string, SimulationRun>& runs,
                         const std::filesystem::path& out, bool write_files, json& summary) {
  Table table({"case", "against", "sensor", "largest difference", "at t", "rms", "largest value"});
  summary["reference"] = study.reference;
  summary["cases"] = json::object();
  std::vector<std::string> references;
  for (const auto& [name, result] : runs) {
    const std::string reference = reference_of(study, name);
    if (name == reference || !runs.contains(reference)) continue;
    if (std::find(references.begin(), references.end(), shown_case(reference)) == references.end())
      references.push_back(shown_case(reference));
    const Comparison comparison =
        compare(compared_run(runs.at(reference), reference), compared_run(result, name));
    json sensors = json::object();
    for (const ColumnDifference& d : comparison.columns) {
      sensors[d.name] = {{"largest", d.largest}, {"at", d.at}, {"rms", d.rms}, {"scale", d.scale}};
      table.add({shown_case(name), shown_case(reference), d.name, fmt::format("{:.3e}", d.largest),
                 fmt::format("{:.6g}", d.at), fmt::format("{:.3e}", d.rms), fmt::format("{:.3e}", d.scale)});
    }
    json entry = {
        {"against", reference}, {"common_times", comparison.time.size()}, {"sensors", std::move(sensors)}};
    if (comparison.interpolated) entry["interpolated"] = true;
    std::vector<std::string> missing = comparison.only_a;
    missing.insert(missing.end(), comparison.only_b.begin(), comparison.only_b.end());
    if (!missing.empty()) entry["not_in_both"] = missing;
    if (write_files) {
      const std::filesystem::path file = out / name / "differences.csv";
      write_differences(comparison, file);
      entry["file"] = name.empty() ? "differences.csv" : name + "/differences.csv";
    }
    summary["cases"][name.empty() ? "study" : name] = std::move(entry);
  }
  return fmt::format("sensors compared with {}\n{}", fmt::join(references, ", "), table.str());
}

// Reduced mechanisms beside the full ones they stand for: unknowns, error of all nodes, time.
std::string compare_models(const StudyFile& study, const std::map<std::string, SimulationRun>& runs,
                           StudyRunner& runner, json& summary) {
  Table table({"case", "against", "unknowns", "equations", "epsilon", "distance from training", "time",
               "times faster", "times real time"});
  bool any = false;
  const auto seconds = [](const SimulationRun& run) {
    return run.summary.at("seconds").get<double>() - run.summary.at("output_seconds").get<double>();
  };
  for (const auto& [name, run] : runs) {
    const bool reduced = run.built && training_of(*run.built);
    const std::string reference = reference_of(study, name);
    const auto found = runs.find(reference);
    const double spent = seconds(run), end = run.summary.at("end");
    json& entry = summary[name.empty() ? "study" : name];
    const long unknowns = run.summary.at("coordinates").get<long>() +
                          (reduced && run.built->rom ? 0 : run.summary.at("constraints").get<long>());
    entry = {{"unknowns", unknowns}, {"seconds", spent}, {"real_time_factor", end / spent}};
    std::string epsilon = "-", faster = "-", trust = "-";
    if (reduced) {
      any = true;
      if (run.summary.contains("trust")) {
        entry["trust"] = run.summary.at("trust");
        const auto& largest = run.summary.at("trust").at("largest");
        if (largest.is_number()) trust = fmt::format("{:.2g}", largest.get<double>());
      }
      const StudyFile* own = &study;
      for (const StudyCase& variant : study.cases)
        if (variant.study.case_name == name) own = &variant.study;
      if (found != runs.end() && found->second.built && !training_of(*found->second.built) && own->train) {
        const NodalError error = own->train->pod
                                     ? nodal_error(found->second, run)
                                     : nodal_error(runner.trained(*own->train), found->second, run);
        entry["epsilon"] = error.epsilon;
        entry["largest_error"] = error.largest;
        entry["motion"] = error.motion;
        entry["against"] = reference;
        entry["times_faster"] = seconds(found->second) / spent;
        epsilon = fmt::format("{:.2e} m2", error.epsilon);
        faster = fmt::format("{:.1f}", seconds(found->second) / spent);
      }
    }
    table.add({shown_case(name), reduced ? shown_case(reference) : "", std::to_string(unknowns),
               unknowns == run.summary.at("coordinates").get<long>() ? "ODE" : "DAE", epsilon, trust,
               format_seconds(spent), faster, fmt::format("{:.3g}", end / spent)});
  }
  return any ? "\nmodels\n" + table.str() : "";
}

// One case with its bodies; messages and warnings begin with its name.
SimulationRun run_case(StudyRunner& runner, const StudyCase& variant, const std::filesystem::path& out,
                       std::string& text, json& summary) {
  const std::string& name = variant.study.case_name;
  SimulationRun run;
  const auto lock = runner.locked(out);
  runner.hand_over("");
  try {
    summary["changes"] = variant.changes;
    summary["bodies"] = json::object();
    for (const BodySpec& spec : variant.study.bodies)
      if (!runner.is_done(spec)) summary["bodies"][spec.name] = runner.run_body(spec, out, text);
    if (variant.study.simulation && variant.study.simulation->simulate) {
      run = runner.run_simulation(variant.study, out);
      if (const Training* own = runner.own_training(variant.study)) {
        summary["training"] = training_json(*own);
        text += fmt::format("\ncase {}: training\n{}", name, describe_training(*own));
      }
      runner.check(variant.study, run);
      runner.show(variant.study, run, out);
      summary["simulation"] = run.summary;
      text += fmt::format("\ncase {}: {}\n{}", name, fmt::join(variant.changes, ", "), run.text);
    }
    runner.add_analyses(variant.study, out, text, summary);
    runner.hand_over(fmt::format("case '{}': ", name));
  } catch (const InputError& e) {
    throw InputError(fmt::format("case '{}': {}", name, e.what()));
  } catch (const Error& e) {
    throw Error(fmt::format("case '{}': {}", name, e.what()));
  }
  return run;
}

// What every summary begins with.
void begin_summary(const StudyFile& study, json& summary) {
  summary["study"] = study.path.string();
  summary["title"] = study.title;
  summary["lissom_version"] = LISSOM_VERSION;
  summary["blas"] = blas_info().file;
  summary["machine"] = machine_name();
  summary["started"] = time_stamp();
}

// What it ends with, and its file.
void end_summary(const std::filesystem::path& out, const Diagnostics& diagnostics,
                 const StudyRunOptions& options, json& summary) {
  summary["warnings"] = to_json(diagnostics);
  summary["peak_memory_bytes"] = peak_memory_bytes();

  if (!options.write_files) return;
  std::error_code ec;
  std::filesystem::create_directories(out, ec);
  if (ec) fail("{}: the folder cannot be made: {}", out.string(), ec.message());
  // sets may be called by bytes that are no UTF-8
  AtomicFile file(out / "summary.json");
  file.write(summary.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  file.commit();
}

}  // namespace

StudyRun run_study(const StudyFile& study, const std::filesystem::path& out, Diagnostics& diagnostics,
                   const ProgressHook& progress, const StudyRunOptions& options) {
  if (options.write_files) check_output_folder(out);
  if (options.write_files && !options.resume) expect_writable_outputs(study, out);
  if (options.write_files && !study.sweep.empty()) expect_own_sweep_work(out);
  StudyRun run;
  json& summary = run.summary;
  begin_summary(study, summary);
  summary["bodies"] = json::object();
  StudyRunner runner(study, out, diagnostics, progress, options);
  runner.look_ahead();
  for (const BodySpec& spec : study.bodies)
    summary["bodies"][spec.name] = runner.run_body(spec, out, run.text);

  // JSON keeps no order
  for (const StudyCase& variant : study.cases) summary["case_order"].push_back(variant.study.case_name);

  // full models first: reduced ones are trained on them
  std::map<std::string, SimulationRun> runs;  // by case; the study itself is ""
  for (const bool reduced : {false, true}) {
    if (reduced && study.train && study.train->pod) {
      runner.add_pod_training(out, run.text, summary);
    } else if (reduced && study.train && study.train->linear) {
      runner.add_linear_training(out, run.text, summary);
    } else if (reduced && study.train) {
      const Training& training = runner.trained(*study.train);
      summary["training"] = training_json(training);
      run.text += "\ntraining\n" + describe_training(training);
      if (options.write_files) summary["training"]["files"] = write_training(training, out);
    }
    if (study.simulation && study.simulation->simulate && needs_training(study) == reduced) {
      // nobody looks at the samples of a single run again
      const bool alone = study.cases.empty() && !study.train;
      runs[""] = runner.run_simulation(study, out, true,
                                       alone ? RunOptions::Keep::Nothing : RunOptions::Keep::States);
      runner.check(study, runs[""]);
      runner.show(study, runs[""], out);
      summary["simulation"] = runs[""].summary;
      run.text += "\n" + runs[""].text;
      if (!reduced) runner.motions[""] = runs[""];
    }
    if (needs_training(study) == reduced) runner.add_analyses(study, out, run.text, summary);
    for (const StudyCase& variant : study.cases) {
      const std::string& name = variant.study.case_name;
      if (needs_training(variant.study) != reduced) continue;
      SimulationRun result = run_case(runner, variant, out / name, run.text, summary["cases"][name]);
      if (result.time.size() == 0) continue;
      if (!reduced && study.rom.empty()) runner.motions[name] = result;
      runs[name] = std::move(result);
    }
  }
  if (runs.size() > 1 && runs.contains(study.reference)) {
    run.text += "\n" + compare_runs(study, runs, out, options.write_files, summary["comparison"]);
    run.text += compare_models(study, runs, runner, summary["models"]);
  }
  if (!study.sweep.empty() && options.write_files) runner.add_sweep(out, run.text, summary);
  runner.hand_over("");
  end_summary(out, diagnostics, options, summary);
  return run;
}

StudyRun run_sweep(const StudyFile& study, const std::filesystem::path& out, Diagnostics& diagnostics,
                   const ProgressHook& progress, const StudyRunOptions& options) {
  for (const char* name : {"sweep.csv", "sweep.json", "summary.json"}) expect_replaceable(out / name);
  StudyRun run;
  begin_summary(study, run.summary);
  StudyRunner runner(study, out, diagnostics, progress, options);
  run.complete = runner.add_sweep(out, run.text, run.summary);
  runner.hand_over("");
  if (run.complete) end_summary(out, diagnostics, options, run.summary);
  return run;
}

void run_sweep_point(const std::filesystem::path& out, size_t point, const std::function<bool()>& stop) {
  const PointTask task = read_point_task(out, point);
  const ParameterPoint& own = task.study.sweep.front();
  const ClaimHolder here = own_holder();
  StudyPoint result;
  result.parameters = own.values;
  result.host = here.host;
  result.pid = here.pid;
  const Timer timer;
  Diagnostics diagnostics;
  StudyRunOptions options;
  options.stop = stop;
  options.view = false;
  options.write_files = task.keep_results;
  const std::filesystem::path folder = task.keep_results ? point_folder(out, point) : std::filesystem::path();
  try {
    StudyRunner runner(task.study, folder, diagnostics, {}, options);
    result.values = runner.run_point(own.study, folder);
    result.status = PointStatus::Done;
  } catch (const Error& e) {
    if (stop && stop()) throw;
    result.status = PointStatus::Failed;
    result.problem = e.what();
  } catch (const std::bad_alloc&) {
    result.status = PointStatus::Failed;
    result.problem = "out of memory";
  }
  result.warnings = diagnostics.warnings();
  result.seconds = timer.seconds();
  write_point_file(result, task.id, point, point_values_file(out, point));
}

}  // namespace lissom

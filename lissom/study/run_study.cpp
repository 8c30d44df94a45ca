#include "lissom/study/run_study.hpp"

#include <fmt/ranges.h>

#include <map>
#include <set>

#include "lissom/core/atomic_file.hpp"
#include "lissom/io/table.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/study/body_store.hpp"
#include "lissom/study/compare.hpp"
#include "lissom/study/gcms.hpp"
#include "lissom/study/reduce.hpp"
#include "lissom/study/simulate.hpp"

namespace lissom {

using nlohmann::json;

namespace {

class StudyRunner {
 public:
  StudyRunner(const StudyFile& study, Diagnostics& diagnostics, const ProgressHook& progress,
              const RunOptions& options)
      : study_(study), diagnostics_(diagnostics), progress_(progress), options_(options) {}

  // What one body asks for itself: modes, reduction, component modes.
  json run_body(const BodySpec& spec, const std::filesystem::path& out, std::string& text) {
    done_.insert(spec.reduction_key);
    if (spec.without_mesh()) return simple_body(spec, text);
    FeBody body = load_body(spec, diagnostics_, progress_);
    text += fmt::format("{}\n{}", spec.name, describe_mesh(body));
    json result = mesh_json(body);
    if (spec.modes) {
      build_model(body, diagnostics_, progress_);
      solve_modes(body, diagnostics_, progress_);
      std::vector<std::string> files;
      if (options_.write_files) files = write_body_results(body, out, body.seconds, progress_);
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
        for (const std::string& file : write_reduction(body, reduction, out, body.seconds, progress_, &gcms))
          result["files"].push_back(file);
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

  // Whether it was carried out for the study or another case.
  bool is_done(const BodySpec& spec) const { return done_.contains(spec.reduction_key); }

  SimulationRun run_simulation(const StudyFile& study, const std::filesystem::path& out) {
    SimulationOptions options;
    options.write_files = options_.write_files;
    options.stop = options_.stop;
    return simulate(study, out, store_, diagnostics_, progress_, options);
  }

 private:
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
  Diagnostics& diagnostics_;
  const ProgressHook& progress_;
  const RunOptions& options_;
  BodyStore store_;
  std::set<std::string> done_;
};

// The sensors of all runs against the reference, as a table and as JSON; differences over time as CSV.
std::string compare_runs(const StudyFile& study, const std::map<std::string, SimulationRun>& runs,
                         const std::filesystem::path& out, bool write_files, json& summary) {
  const auto shown = [&](const std::string& name) { return name.empty() ? "the study itself" : name; };
  Table table({"case", "sensor", "largest difference", "at t", "rms", "largest value"});
  summary["reference"] = study.reference;
  summary["cases"] = json::object();
  for (const auto& [name, result] : runs) {
    if (name == study.reference) continue;
    const SensorComparison comparison = compare_sensors(runs.at(study.reference), result);
    json sensors = json::object();
    for (const SensorDifference& d : comparison.sensors) {
      sensors[d.column] = {{"largest", d.largest}, {"at", d.at}, {"rms", d.rms}, {"scale", d.scale}};
      table.add({shown(name), d.column, fmt::format("{:.3e}", d.largest), fmt::format("{:.6g}", d.at),
                 fmt::format("{:.3e}", d.rms), fmt::format("{:.3e}", d.scale)});
    }
    json entry = {{"common_times", comparison.time.size()}, {"sensors", std::move(sensors)}};
    if (!comparison.missing.empty()) entry["not_in_both"] = comparison.missing;
    if (write_files) {
      const std::filesystem::path file = out / name / "differences.csv";
      write_differences(comparison, file);
      entry["file"] = name.empty() ? "differences.csv" : name + "/differences.csv";
    }
    summary["cases"][name.empty() ? "study" : name] = std::move(entry);
  }
  return fmt::format("compared with {}\n{}", shown(study.reference), table.str());
}

// One case with its bodies; messages begin with its name.
SimulationRun run_case(StudyRunner& runner, const StudyCase& variant, const std::filesystem::path& out,
                       std::string& text, json& summary) {
  const std::string& name = variant.study.case_name;
  SimulationRun run;
  try {
    summary["changes"] = variant.changes;
    summary["bodies"] = json::object();
    for (const BodySpec& spec : variant.study.bodies)
      if (!runner.is_done(spec)) summary["bodies"][spec.name] = runner.run_body(spec, out, text);
    if (variant.study.simulation && variant.study.simulation->simulate) {
      run = runner.run_simulation(variant.study, out);
      summary["simulation"] = run.summary;
      text += fmt::format("\ncase {}: {}\n{}", name, fmt::join(variant.changes, ", "), run.text);
    }
  } catch (const InputError& e) {
    throw InputError(fmt::format("case '{}': {}", name, e.what()));
  } catch (const Error& e) {
    throw Error(fmt::format("case '{}': {}", name, e.what()));
  }
  return run;
}

}  // namespace

StudyRun run_study(const StudyFile& study, const std::filesystem::path& out, Diagnostics& diagnostics,
                   const ProgressHook& progress, const RunOptions& options) {
  if (options.write_files) check_output_folder(out);
  StudyRun run;
  json& summary = run.summary;
  summary["study"] = study.path.string();
  summary["title"] = study.title;
  summary["lissom_version"] = LISSOM_VERSION;
  summary["blas"] = blas_info().file;
  summary["bodies"] = json::object();
  StudyRunner runner(study, diagnostics, progress, options);
  for (const BodySpec& spec : study.bodies)
    summary["bodies"][spec.name] = runner.run_body(spec, out, run.text);

  std::map<std::string, SimulationRun> runs;  // by case; the study itself is ""
  if (study.simulation && study.simulation->simulate) {
    runs[""] = runner.run_simulation(study, out);
    summary["simulation"] = runs[""].summary;
    run.text += "\n" + runs[""].text;
  }
  for (const StudyCase& variant : study.cases) {
    const std::string& name = variant.study.case_name;
    SimulationRun result = run_case(runner, variant, out / name, run.text, summary["cases"][name]);
    if (result.time.size() > 0) runs[name] = std::move(result);
  }
  if (runs.size() > 1 && runs.contains(study.reference)) {
    run.text += "\n" + compare_runs(study, runs, out, options.write_files, summary["comparison"]);
  }
  summary["warnings"] = to_json(diagnostics);
  summary["peak_memory_bytes"] = peak_memory_bytes();

  if (!options.write_files) return run;
  std::error_code ec;
  std::filesystem::create_directories(out, ec);
  if (ec) fail("{}: the folder cannot be made: {}", out.string(), ec.message());
  // sets may be called by bytes that are no UTF-8
  AtomicFile file(out / "summary.json");
  file.write(summary.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  file.commit();
  return run;
}

}  // namespace lissom

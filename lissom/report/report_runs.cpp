#include "lissom/report/report_runs.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <tuple>

#include "lissom/core/file_kind.hpp"
#include "lissom/io/study_resolve.hpp"
#include "lissom/report/report_json.hpp"
#include "lissom/report/report_parts.hpp"

namespace lissom {

using nlohmann::json;

namespace {

constexpr size_t most_shown = 8;

std::optional<ResultFile> read_result(ReportDraft& draft, const std::filesystem::path& file) {
  if (!is_there(file)) return std::nullopt;
  ResultReadOptions options;
  options.nodes = false;
  return read_result_file(file, *draft.diagnostics, options);
}

// A result that is damaged costs its own curves, not the report.
void read_into(ReportDraft& draft, ReportRun& run) {
  try {
    run.result = read_result(draft, run.folder / "result.h5");
  } catch (const InputError& e) {
    draft.warn(fmt::format("{}; its curves are left out", e.what()));
  }
}

void tell_state(ReportDraft& draft, const ReportRun& run) {
  if (!run.result || run.complete()) return;
  const ResultFile& result = *run.result;
  const std::string until = result.samples() > 0
                                ? fmt::format("{} samples until t = {:.6g} s are shown", result.samples(),
                                              result.time[result.samples() - 1])
                                : std::string("there are no samples yet");
  switch (result.end.status) {
    case RunStatus::Failed:
      draft.warn(fmt::format("the simulation of {} failed: {} ({})", run.label, result.end.failure, until));
      break;
    case RunStatus::Stopped:
      draft.warn(fmt::format("the simulation of {} was stopped before its end; {}; --resume goes on with it",
                             run.label, until));
      break;
    default:
      draft.warn(
          fmt::format("the simulation of {} is not complete: it still runs, or was killed; {}; "
                      "--resume goes on with it",
                      run.label, until));
  }
}

UnitSystem units_of(const std::string& study) {
  try {
    const TomlValue root = parse_toml(study, "study");
    if (const std::string* units = root.find_string("units")) return parse_unit_system(*units);
  } catch (const std::exception&) {
    // a result whose study was not kept
  }
  return {};
}

bool is_reduced(const ReportRun& run) {
  for (const json& body : part_of(run.simulation, "bodies")) {
    const std::string formulation = text_in(body, "formulation");
    if (formulation == "slap" || formulation == "pod" || formulation == "linear") return true;
  }
  return run.result && run.result->header.has_trust;
}

// The summary of the simulation that the file has itself, or what its header says.
json own_summary(const ResultFile& result) {
  if (json report = json::parse(result.end.report, nullptr, false); report.is_object()) return report;
  json j = {{"integrator", result.header.integrator}, {"samples", result.samples()}};
  j["bodies"] = json::array();
  long coordinates = 0;
  for (const ResultHeader::BodyEntry& body : result.header.bodies) {
    j["bodies"].push_back({{"name", body.name},
                           {"formulation", body.formulation},
                           {"coordinates", body.coordinates},
                           {"modes", body.modes}});
    coordinates += body.coordinates;
  }
  j["coordinates"] = coordinates;
  j["constraints"] = result.header.constraints.size();
  if (result.samples() == 0) return j;
  j["end"] = result.time[result.samples() - 1];
  if (!result.statistics.empty()) {
    const IntegrationSummary& last = result.statistics.back();
    j["steps"] = last.steps;
    j["rejected"] = last.rejected;
    j["newton_iterations"] = last.newton_iterations;
    j["factorisations"] = last.factorisations;
    j["smallest_step"] = last.smallest_step;
    j["largest_step"] = last.largest_step;
    j["seconds"] = last.seconds;
    j["output_seconds"] = last.output_seconds;
  }
  return j;
}

// Inside of its training, against the main reference, of the order that the training proposes or takes.
void choose_proposed(const ReportDraft& draft, ReportRuns& runs) {
  const json& training = part_of(draft.summary, "training");
  const std::string reference = text_in(part_of(draft.summary, "comparison"), "reference");
  std::tuple<bool, bool, int> best{false, false, -1};
  for (const ReportRun& run : runs.all) {
    if (!run.reduced || !run.model.is_object() || !part_of(run.model, "epsilon").is_number()) continue;
    const double unknowns = number_in(run.model, "unknowns");
    const int order = unknowns == number_in(training, "proposed") ? 2
                      : unknowns == number_in(training, "order")  ? 1
                                                                  : 0;
    const bool inside = !part_of(part_of(run.model, "trust"), "outside_since").is_number();
    const std::tuple rank{inside, text_in(run.model, "against") == reference, order};
    if (runs.proposed_index && rank <= best) continue;
    best = rank;
    runs.proposed_index = static_cast<size_t>(&run - runs.all.data());
  }
}

void choose_shown(const ReportDraft& draft, ReportRuns& runs) {
  const auto show = [&](const ReportRun* run) {
    if (!run || !run->result || run->result->samples() == 0 || runs.shown.size() >= most_shown) return;
    const auto index = static_cast<size_t>(run - runs.all.data());
    if (std::find(runs.shown.begin(), runs.shown.end(), index) == runs.shown.end())
      runs.shown.push_back(index);
  };
  show(runs.find(text_in(part_of(draft.summary, "comparison"), "reference")));
  if (runs.proposed()) show(runs.reference_of(*runs.proposed()));
  show(runs.proposed());
  show(runs.find(""));
  for (const bool reduced : {false, true})
    for (const ReportRun& run : runs.all)
      if (run.reduced == reduced) show(&run);
}

void finish_runs(ReportDraft& draft, ReportRuns& runs) {
  std::string study;
  for (ReportRun& run : runs.all) {
    if (run.result && !run.simulation.is_object()) run.simulation = own_summary(*run.result);
    run.reduced = is_reduced(run);
    tell_state(draft, run);
    // a file may say more names than it has columns
    if (run.result)
      for (Eigen::Index c = 0; c < run.result->sensors.cols(); ++c)
        run.columns.emplace(run.result->header.sensors[static_cast<size_t>(c)], c);
    if (run.result && study.empty()) study = run.result->header.study;
  }
  runs.units = units_of(study);
  runs.sensors = sensor_groups(runs.all);
  for (ReportRun& run : runs.all) {
    const std::string against = text_in(run.comparison, "against");
    if (!run.comparison.is_object()) continue;
    for (ReportRun& other : runs.all) other.is_reference = other.is_reference || other.name == against;
  }
  choose_proposed(draft, runs);
  choose_shown(draft, runs);
}

// Folders with a result below this one; those of a training's own runs are not cases.
std::vector<std::string> folders_with_results(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  const bool trained = is_there(folder / "samples.csv");
  std::error_code ec;
  for (auto it = std::filesystem::recursive_directory_iterator(folder, ec);
       !ec && it != std::filesystem::recursive_directory_iterator(); it.increment(ec)) {
    if (!it->is_directory(ec)) continue;
    const std::string name = it->path().lexically_relative(folder).generic_string();
    if ((trained && (name == "tests" || name.starts_with("training"))) || it.depth() >= 3)
      it.disable_recursion_pending();
    else if (is_there(it->path() / "result.h5"))
      names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::string shown_run(const std::string& name) {
  return name.empty() ? "the study itself" : name;
}

const ReportRun* ReportRuns::find(const std::string& name) const {
  for (const ReportRun& run : all)
    if (run.name == name) return &run;
  return nullptr;
}

const ReportRun* ReportRuns::reference_of(const ReportRun& run) const {
  const json& against = part_of(run.comparison.is_object() ? run.comparison : run.model, "against");
  return against.is_string() ? find(against.get<std::string>()) : nullptr;
}

ReportRuns read_runs(ReportDraft& draft) {
  ReportRuns runs;
  const json& summary = draft.summary;
  const json &models = part_of(summary, "models"),
             &compared = part_of(part_of(summary, "comparison"), "cases");
  const auto add = [&](const std::string& name, const json& own) {
    ReportRun run;
    run.name = name;
    run.label = shown_run(name);
    run.folder = name.empty() ? draft.folder : draft.folder / name;
    if (const std::filesystem::path inside = std::filesystem::path(name).lexically_normal();
        inside.is_absolute() || (!inside.empty() && *inside.begin() == "..")) {
      draft.warn(
          fmt::format("the case '{}' would lie outside of {} and is left out", name, draft.folder.string()));
      return;
    }
    run.simulation = part_of(own, "simulation");
    run.changes = texts_in(own, "changes");
    run.model = part_of(models, name.empty() ? "study" : name);
    run.comparison = part_of(compared, name.empty() ? "study" : name);
    const size_t before = draft.page.warnings.size();
    read_into(draft, run);
    if (run.simulation.is_object() && !run.result && draft.page.warnings.size() == before)
      draft.warn(fmt::format("{} is not there; the curves of {} are left out",
                             (run.folder / "result.h5").string(), run.label));
    if (run.result || run.simulation.is_object()) runs.all.push_back(std::move(run));
  };
  if (draft.progress) draft.progress("reading results", -1);
  add("", summary);
  if (const json& cases = part_of(summary, "cases"); cases.is_object()) {
    // as the study has them, then what it does not name
    std::set<std::string> added;
    if (const json& order = part_of(summary, "case_order"); order.is_array())
      for (const json& name : order)
        if (name.is_string() && cases.contains(name.get<std::string>()) &&
            added.insert(name.get<std::string>()).second)
          add(name.get<std::string>(), cases.at(name.get<std::string>()));
    for (const auto& [name, own] : cases.items())
      if (added.insert(name).second) add(name, own);
  } else if (!summary.contains("lissom_version")) {
    // a run that has not come to its end
    for (const std::string& name : folders_with_results(draft.folder)) add(name, {});
  }
  finish_runs(draft, runs);
  return runs;
}

ReportRuns read_run(ReportDraft& draft, const std::filesystem::path& file) {
  ReportRuns runs;
  ReportRun run;
  run.folder = file.parent_path();
  run.result = read_result(draft, file);
  if (!run.result) fail_input("{}: there is no such file", file.string());
  run.name = run.result->header.case_name;
  run.label = shown_run(run.name);
  runs.all.push_back(std::move(run));
  finish_runs(draft, runs);
  return runs;
}

std::optional<SensorError> place_error(const ReportRuns& runs, const ReportRun& run) {
  const ReportRun* reference = runs.reference_of(run);
  const json& sensors = part_of(run.comparison, "sensors");
  if (!reference || !reference->result || !sensors.is_object()) return std::nullopt;
  std::optional<SensorError> worst;
  for (const SensorGroup& group : runs.sensors) {
    if (group.unit != "m") continue;
    const double motion = range_of(*reference, group);
    for (const std::string& column : group.columns) {
      const json& entry = part_of(sensors, column);
      const double largest = number_in(entry, "largest") * runs.units.length;
      if (!std::isfinite(largest) || (worst && worst->largest >= largest)) continue;
      worst = {column, group.unit, largest, number_in(entry, "at") * runs.units.time, motion};
    }
  }
  return worst;
}

double node_error(const ReportDraft& draft, const ReportRun& run) {
  double nodes = 0;
  for (const json& body : part_of(draft.summary, "bodies")) nodes += number_in(body, "nodes");
  const double epsilon = number_in(run.model, "epsilon"), times = number_in(run.comparison, "common_times");
  return std::sqrt(epsilon / (nodes * times));
}

}  // namespace lissom

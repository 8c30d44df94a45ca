// The mechanism moving, and what it is made of.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "lissom/core/file_kind.hpp"
#include "lissom/io/view_file.hpp"
#include "lissom/report/report_json.hpp"
#include "lissom/report/report_parts.hpp"
#include "lissom/report/report_runs.hpp"

namespace lissom {

using nlohmann::json;

namespace {

using GroupsByName = std::unordered_map<std::string, std::vector<const SensorGroup*>>;

// The whole sensor whatever its units: the view knows it by its name.
ReportFigure curve_of(const ReportRuns& runs, const GroupsByName& groups, const std::string& sensor) {
  ReportFigure figure;
  std::vector<std::string> units;
  const auto found = groups.find(sensor);
  if (found == groups.end()) return figure;
  for (const SensorGroup* group : found->second) {
    ReportFigure part = sensor_figure(runs, *group);
    if (figure.title.empty())
      figure = std::move(part);
    else
      figure.series.insert(figure.series.end(), part.series.begin(), part.series.end());
    units.push_back(group->unit);
  }
  figure.id = "curve-" + report_id(sensor);
  figure.y.label = fmt::format("{} [{}]", sensor, fmt::join(units, ", "));
  return figure;
}

const json& simulation_of(const ReportRuns& runs) {
  static const json none;
  for (const ReportRun& run : runs.all)
    if (run.simulation.is_object()) return run.simulation;
  return none;
}

}  // namespace

void report_motion(ReportDraft& draft, const ReportRuns& runs) {
  if (runs.all.empty()) return;
  ReportView view;
  GroupsByName groups;
  for (const SensorGroup& group : runs.sensors) groups[group.name].push_back(&group);
  std::unordered_set<std::string> drawn;
  std::vector<std::string> without, left_out;
  for (size_t i = 0; i < runs.all.size(); ++i) {
    const ReportRun& run = runs.all[i];
    const bool shown = std::find(runs.shown.begin(), runs.shown.end(), i) != runs.shown.end();
    const bool has_view = is_there(run.folder / "motion.view.h5");
    if (shown && !has_view) without.push_back(run.label);
    if (!shown && has_view) left_out.push_back(run.label);
  }
  for (const size_t index : runs.shown) {
    const ReportRun& run = runs.all[index];
    const std::filesystem::path file = run.folder / "motion.view.h5";
    if (!is_there(file)) continue;
    if (draft.progress) draft.progress("reading views", -1);
    try {
      auto read = std::make_shared<View>(read_view_file(file, *draft.diagnostics));
      for (const ViewSensor& sensor : read->sensors) {
        if (!drawn.insert(sensor.name).second) continue;
        ReportFigure curve = curve_of(runs, groups, sensor.name);
        if (!curve.series.empty()) view.curves.push_back(std::move(curve));
      }
      view.runs.push_back({run.label, std::move(read)});
    } catch (const InputError& e) {
      draft.warn(fmt::format("{}; the motion is not shown", e.what()));
    }
  }
  ReportSection& section = draft.section("motion", "The motion");
  if (view.runs.empty()) {
    section.blocks.push_back(ReportText{
        "There is no view of the motion in these results (motion.view.h5): run the study again with this "
        "version to see the mechanism move."});
    return;
  }
  section.lead =
      "Play the motion, turn it with the mouse or the arrow keys, enlarge the deformation, colour the "
      "bodies, "
      "and pick a sensor to see its curve.";
  view.id = "motion";
  view.title = draft.page.title;
  if (view.runs.size() > 1)
    view.caption =
        fmt::format("{} runs of the mechanism, which can be laid over each other.", view.runs.size());
  const auto sentence = [&](const char* text, const std::vector<std::string>& names) {
    if (!names.empty())
      view.caption += fmt::format("{}{}: {}.", view.caption.empty() ? "" : " ", text, fmt::join(names, "; "));
  };
  sentence("Not in this view, to keep it light", left_out);
  sentence("Without a view in the results", without);
  section.blocks.push_back(std::move(view));
}

void report_mechanism(ReportDraft& draft, const ReportRuns& runs) {
  const json& simulation = simulation_of(runs);
  if (!simulation.is_object()) return;
  ReportSection& section = draft.section("mechanism", "The mechanism");
  section.lead =
      "Bodies are held together by joints; each joint takes degrees of freedom away, which the simulation "
      "sees as constraints.";
  if (const json& bodies = part_of(simulation, "bodies"); bodies.is_array() && !bodies.empty()) {
    ReportTable table{"bodies-of-mechanism",
                      "Bodies as the simulation sees them",
                      {"body", "formulation", "coordinates", "constraints of its own", "modes", "mass [kg]"},
                      {}};
    for (const json& body : bodies) {
      std::string name = text_in(body, "name");
      if (const auto parts = texts_in(body, "parts"); !parts.empty())
        name += fmt::format(" ({})", fmt::join(parts, ", "));
      table.rows.push_back(
          {name, text_in(body, "formulation"), report_number(number_in(body, "coordinates"), 9),
           report_number(number_in(body, "own_constraints"), 9), report_number(number_in(body, "modes"), 9),
           report_number(number_in(body, "mass"), 6)});
    }
    section.blocks.push_back(std::move(table));
  }
  const std::vector<std::string> shared = texts_in(simulation, "shared_joints");
  if (const json& joints = part_of(simulation, "joints"); joints.is_array() && !joints.empty()) {
    ReportTable table{"joints", "Joints", {"joint", "kind", "between", "constraints"}, {}};
    for (const json& joint : joints)
      table.rows.push_back({text_in(joint, "name"), text_in(joint, "kind"),
                            fmt::format("{}", fmt::join(texts_in(joint, "between"), ", ")),
                            report_number(number_in(joint, "constraints"), 9)});
    section.blocks.push_back(std::move(table));
  }
  if (!shared.empty())
    section.blocks.push_back(
        ReportText{fmt::format("Joints that need no equations, because the beams share the node there: {}.",
                               fmt::join(shared, ", "))});
  if (const json& loads = part_of(simulation, "loads"); loads.is_array() && !loads.empty()) {
    ReportTable table{"loads", "Loads", {"load", "kind"}, {}};
    for (const json& load : loads) table.rows.push_back({text_in(load, "name"), text_in(load, "kind")});
    section.blocks.push_back(std::move(table));
  }
  ReportFacts facts;
  const auto count = [&](const char* what, const char* key) {
    if (part_of(simulation, key).is_number())
      facts.rows.emplace_back(
          what, ReportValue(with_commas(number_in(simulation, key)), number_in(simulation, key)));
  };
  count("Coordinates", "coordinates");
  count("Constraints", "constraints");
  count("Degrees of freedom", "degrees_of_freedom");
  count("Degrees of freedom with every body rigid", "rigid_degrees_of_freedom");
  if (const std::string integrator = text_in(simulation, "integrator"); !integrator.empty())
    facts.rows.emplace_back("Integrator", ReportValue(integrator));
  if (const std::vector<std::string> redundant = texts_in(simulation, "redundant"); !redundant.empty())
    facts.rows.emplace_back("Redundant constraints",
                            ReportValue(fmt::format("{}", fmt::join(redundant, ", "))));
  if (!facts.rows.empty()) section.blocks.push_back(std::move(facts));

  ReportTable changes{"cases", "Cases: what each one has otherwise than the study", {"case", "changes"}, {}};
  for (const ReportRun& run : runs.all)
    if (!run.changes.empty())
      changes.rows.push_back({run.label, fmt::format("{}", fmt::join(run.changes, "; "))});
  if (changes.rows.size() > 8) {
    const std::string title =
        fmt::format("{} cases: what each one has otherwise than the study", changes.rows.size());
    changes.caption.clear();
    section.blocks.push_back(ReportDetails{title, {std::move(changes)}});
  } else if (!changes.rows.empty()) {
    section.blocks.push_back(std::move(changes));
  }
}

}  // namespace lissom

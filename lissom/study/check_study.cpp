#include "lissom/study/check_study.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

#include "lissom/core/text.hpp"
#include "lissom/io/output_names.hpp"
#include "lissom/io/study_file.hpp"
#include "lissom/study/preflight.hpp"

namespace lissom {

namespace {

using json = nlohmann::json;

std::string shortened(const std::string& text) {
  constexpr size_t most = 90;
  return text.size() > most ? text.substr(0, most - 3) + "..." : text;
}

std::string origin_of(const BodySpec& body) {
  if (body.rigid) return "rigid, from numbers";
  if (body.ancf)
    return fmt::format("beam of {} in {}", plural(static_cast<size_t>(body.ancf->beam.elements), "element"),
                       body.ancf->dimension == 2 ? "the plane" : "space");
  if (!body.reduced_file.empty()) return body.reduced_file.filename().string();
  if (!body.body_file.empty()) return body.body_file.filename().string();
  if (!body.stiffness.empty()) return "matrices " + body.stiffness.filename().string();
  return body.mesh.filename().string();
}

std::string model_of(const SimulateSpec& simulate) {
  for (const auto& [name, model] : mechanism_model_names())
    if (model == simulate.model) return name;
  return "";
}

void describe(const StudyFile& study, const std::map<std::string, std::string>& sizes, StudyCheck& check) {
  std::string& text = check.text;
  json& out = check.summary;
  text = fmt::format("{}: no problems\n\n{} ({})\n", study.path.string(), study.title, study.units.name);
  out["title"] = study.title;
  out["units"] = study.units.name;
  out["bodies"] = json::array();
  for (const BodySpec& body : study.bodies) {
    std::vector<std::string> steps;
    if (body.modes) steps.push_back(plural(static_cast<size_t>(body.modes->count), "mode"));
    if (body.reduce) steps.emplace_back("reduce");
    if (body.gcms) steps.emplace_back("gcms");
    const auto size = sizes.find(body.name);
    text += fmt::format("  body {}: {}{}{}{}\n", body.name, origin_of(body),
                        size == sizes.end() ? "" : fmt::format(" ({})", size->second),
                        body.ancf || body.rigid ? "" : fmt::format(", {}", name_of(body.formulation)),
                        steps.empty() ? "" : fmt::format("; {}", fmt::join(steps, ", ")));
    out["bodies"].push_back({{"name", body.name},
                             {"from", origin_of(body)},
                             {"formulation", std::string(name_of(body.formulation))},
                             {"steps", steps}});
  }
  if (!study.rom.empty()) text += fmt::format("  model {}\n", study.rom.string());
  if (!study.pod_rom.empty()) text += fmt::format("  model {}\n", study.pod_rom.string());
  const size_t joints = study.simulation ? study.simulation->joints.size() : 0;
  const size_t loads = study.simulation ? study.simulation->loads.size() : 0;
  const size_t sensors = study.simulation ? study.simulation->sensors.size() : 0;
  out["joints"] = joints;
  out["loads"] = loads;
  out["sensors"] = sensors;
  if (study.simulation)
    text += fmt::format("  {}, {}, {}\n", plural(joints, "joint"), plural(loads, "load"),
                        plural(sensors, "sensor"));
  if (study.train) text += fmt::format("  trains a reduced mechanism, method {}\n", study.train->method());
  out["trains"] = study.train.has_value();
  if (study.simulation && study.simulation->simulate) {
    const SimulateSpec& simulate = *study.simulation->simulate;
    const double unit = study.units.time;
    text += fmt::format(
        "  simulates the {} model to t = {:g}{} by {}\n", model_of(simulate), simulate.integrator.end / unit,
        simulate.integrator.step > 0 ? fmt::format(" in steps of {:g}", simulate.integrator.step / unit) : "",
        name_of(simulate.integrator.integrator));
    out["simulate"] = {{"model", model_of(simulate)},
                       {"end", simulate.integrator.end / unit},
                       {"step", simulate.integrator.step / unit},
                       {"integrator", std::string(name_of(simulate.integrator.integrator))}};
  }
  if (study.linearise) text += "  linearises the mechanism\n";
  if (study.response)
    text +=
        fmt::format("  frequency response from {:g} to {:g} Hz\n", study.response->from, study.response->to);
  std::vector<std::string> cases;
  for (const StudyCase& variant : study.cases) {
    cases.push_back(variant.study.case_name);
    if (cases.size() <= 10)
      text += fmt::format("  case {}: {}\n", variant.study.case_name,
                          shortened(fmt::format("{}", fmt::join(variant.changes, ", "))));
  }
  if (cases.size() > 10) text += fmt::format("  and {}\n", plural(cases.size() - 10, "further case"));
  out["cases"] = cases;
  if (!study.sweep.empty())
    text += fmt::format("  sweep of {}: {}\n", fmt::join(study.sweep_keys, ", "),
                        plural(study.sweep.size(), "point"));
  out["sweep_points"] = study.sweep.size();
  const std::vector<std::string> files = output_files(study);
  constexpr size_t most = 12;
  const std::vector<std::string> shown(files.begin(),
                                       files.begin() + static_cast<long>(std::min(most, files.size())));
  text += fmt::format(
      "  'lissom run' would write {}{}\n", fmt::join(shown, ", "),
      files.size() > most ? fmt::format(" and {}", plural(files.size() - most, "further file")) : "");
  out["files"] = files;
}

}  // namespace

json StudyCheck::problems_json() const {
  json list = json::array();
  for (const TomlProblem& problem : problems) {
    const std::string suggestion = problem.suggestion();
    list.push_back({{"file", problem.where.file},
                    {"line", problem.where.line},
                    {"key", problem.key},
                    {"message", problem.message},
                    {"suggestion", suggestion.empty() ? json() : json(suggestion)}});
  }
  return list;
}

StudyCheck check_study(const std::filesystem::path& path, const std::vector<StudySetting>& settings,
                       bool quick, Diagnostics& diagnostics, const ProgressHook& progress) {
  StudyCheck check;
  try {
    const StudyFile study = read_study_file(path, {}, settings);
    // points of a sweep that make no sense would fail one by one
    size_t number = 0;
    for (const ParameterPoint& point : study.sweep) {
      ++number;
      if (point.problem.empty()) continue;
      check.problems.push_back(problem_of(point.problem, {path.string(), 1}, "sweep"));
      check.problems.back().message += fmt::format(" (point {} of [sweep])", number);
    }
    Preflight preflight(Preflight::For::Check, diagnostics, progress);
    if (check.problems.empty() && !quick) {
      preflight.look(study);
      check.problems = preflight.problems();
    }
    if (check.problems.empty()) describe(study, preflight.sizes(), check);
  } catch (const StudyProblems& e) {
    check.problems = e.problems().list();
  } catch (const InputError& e) {
    check.problems.push_back({{path.string(), 0}, "", e.what()});
  }
  if (check.problems.empty()) return check;
  // by file and line, those of one line as they were found
  std::stable_sort(check.problems.begin(), check.problems.end(),
                   [](const TomlProblem& a, const TomlProblem& b) {
                     return std::pair(a.where.file, a.where.line) < std::pair(b.where.file, b.where.line);
                   });
  for (const TomlProblem& problem : check.problems) check.text += problem.line() + "\n";
  check.text += fmt::format("{}\n", plural(check.problems.size(), "problem"));
  return check;
}

}  // namespace lissom

#include "lissom/study/check_study.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "lissom/core/text.hpp"
#include "lissom/fe/named_nodes.hpp"
#include "lissom/io/reduced_body_file.hpp"
#include "lissom/io/rom_file.hpp"
#include "lissom/io/study_file.hpp"
#include "lissom/study/body.hpp"
#include "lissom/study/body_places.hpp"
#include "lissom/study/build_system.hpp"

namespace lissom {

namespace {

using json = nlohmann::json;

std::string plural(size_t count, const std::string& one, const std::string& many = "") {
  return fmt::format("{} {}", count, count == 1 ? one : many.empty() ? one + "s" : many);
}

// "study.toml:12: KEY: message" taken apart; what has no place of its own stands at `where`.
TomlProblem problem_of(const std::string& line, const SourcePos& where, const std::string& key) {
  TomlProblem problem{where, key, line};
  size_t colon = line.find(": ");
  if (!where.file.empty() && line.starts_with(where.file + ":") && colon != std::string::npos) {
    if (const auto number = parse_long(line.substr(where.file.size() + 1, colon - where.file.size() - 1)))
      problem.where.line = *number;
    problem.message = line.substr(colon + 2);
  } else if (!where.file.empty() && line.starts_with(where.file + ": ")) {
    problem.message = line.substr(where.file.size() + 2);
  }
  // what begins with a key, or with a joint, load or sensor by its name
  colon = problem.message.find(": ");
  if (colon == std::string::npos) return problem;
  const std::string first = problem.message.substr(0, colon);
  static const std::vector<std::pair<std::string, std::string>> tables = {
      {"joint '", "joints."}, {"load '", "loads."}, {"sensor '", "sensors."}};
  for (const auto& [begin, table] : tables)
    if (first.starts_with(begin))
      problem.key = table + first.substr(begin.size(), first.rfind('\'') - begin.size());
  const std::vector<std::string> known = study_schema().names();
  if (first.find_first_of(" '/:") == std::string::npos &&
      std::find(known.begin(), known.end(), first.substr(0, first.find_first_of(".["))) != known.end()) {
    problem.key = first;
    problem.message = problem.message.substr(colon + 2);
  }
  return problem;
}

// What files and meshes say of a study whose text is fine.
class Deep {
 public:
  Deep(std::vector<TomlProblem>& problems, Diagnostics& diagnostics, const ProgressHook& progress)
      : problems_(problems), diagnostics_(diagnostics), progress_(progress) {}

  // A study, or one of its cases. Bodies that have been looked at are not read again.
  void look(const StudyFile& study) {
    for (const BodySpec& spec : study.bodies)
      if (seen_.insert(spec.reduction_key).second) look(spec);
    if (!problems_.empty()) return;
    if (!study.rom.empty()) return look_at_rom(study);
    if (!study.simulation) return;
    for (const BodyPlaces::Problem& problem : places_.missing(study))
      add(problem.where, problem.key, problem.message, study.case_name);
    const bool cheap = std::all_of(study.bodies.begin(), study.bodies.end(),
                                   [](const BodySpec& body) { return body.rigid || body.ancf; });
    if (problems_.empty() && cheap && !study.bodies.empty() && study.pod_rom.empty()) system(study);
  }

  const std::map<std::string, std::string>& sizes() const { return sizes_; }

 private:
  void add(const SourcePos& where, const std::string& key, const std::string& message,
           const std::string& case_name = "") {
    std::string_view rest = message;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      TomlProblem problem = problem_of(std::string(rest.substr(0, end)), where, key);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (!case_name.empty()) problem.message += fmt::format(" (case '{}')", case_name);
      problems_.push_back(std::move(problem));
    }
  }

  void look(const BodySpec& spec) {
    const std::string key = "bodies." + spec.name;
    try {
      if (spec.rigid || spec.ancf) return;
      if (!spec.reduced_file.empty()) {
        const ReducedBody body = read_reduced_body_file(spec.reduced_file, diagnostics_).body;
        sizes_[spec.name] = plural(static_cast<size_t>(body.K.rows()), "coordinate");
        return;
      }
      const FeBody body = load_body(spec, diagnostics_, progress_);
      sizes_[spec.name] =
          body.mesh.node_count() > 0
              ? fmt::format("{}, {}", plural(static_cast<size_t>(body.mesh.node_count()), "node"),
                            plural(body.mesh.element_count(), "element"))
              : plural(static_cast<size_t>(body.model.dof_count()), "degree of freedom",
                       "degrees of freedom");
      // names alone; what they are good for shows when K is there
      const FeModel named = nodes_by_name(spec, body);
      if (spec.modes) names(named, spec.modes->fix, "to fix", spec.where, key + ".modes.fix");
      if (spec.reduce) {
        for (const InterfaceSpec& interface : spec.reduce->options.interfaces)
          names(named, interface.what, fmt::format("for interface '{}'", interface.name), interface.where,
                key + ".reduce.interfaces");
        for (const InterfaceSpec& load : spec.reduce->options.loads)
          names(named, load.what, fmt::format("for load '{}'", load.name), load.where, key + ".reduce.load");
        names(named, spec.reduce->options.nodes, "to keep", spec.reduce->where, key + ".reduce.nodes");
      }
      places_.add(spec, body);
    } catch (const InputError& e) {
      add(spec.where, key, e.what());
    }
  }

  void names(const FeModel& model, const std::vector<std::string>& list, const std::string& purpose,
             const SourcePos& where, const std::string& key) {
    for (const std::string& name : list) try {
        named_nodes(model, name, purpose);
      } catch (const InputError& e) {
        add(where, key, e.what());
      }
  }

  void look_at_rom(const StudyFile& study) {
    try {
      const RomFile file = read_rom_file(study.rom, diagnostics_);
      build_rom_system(study, file.model, diagnostics_);
    } catch (const InputError& e) {
      add({study.path.string(), 1}, "rom", e.what(), study.case_name);
    }
  }

  // Mechanisms of rigid bodies and beams are put together in no time.
  void system(const StudyFile& study) {
    try {
      BodyStore store(false, false, stress_needs(study));
      const StudySystem built = build_system(study, store, diagnostics_, progress_);
      check_study_system(built, study, diagnostics_);
    } catch (const InputError& e) {
      const bool runs = study.simulation->simulate.has_value();
      add(runs ? SourcePos{study.path.string(), study.simulation->simulate->where.line}
               : SourcePos{study.path.string(), 1},
          runs ? "simulate" : "joints", e.what(), study.case_name);
    }
  }

  std::vector<TomlProblem>& problems_;
  Diagnostics& diagnostics_;
  const ProgressHook& progress_;
  std::set<std::string> seen_;
  BodyPlaces places_;
  std::map<std::string, std::string> sizes_;
};

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

// The files that a run leaves, without folders of cases.
std::vector<std::string> files_of(const StudyFile& study) {
  std::vector<std::string> files = {"summary.json", "report.html"};
  for (const BodySpec& body : study.bodies) {
    if (body.modes) {
      for (const char* end : {".body.h5", "_modes.csv"}) files.push_back(body.name + end);
      if (body.paraview) files.push_back(body.name + "_modes.exo");
      if (!body.mesh.empty()) files.push_back(body.name + "_modes.view.h5");
    }
    if (body.reduce) {
      for (const char* end : {".reduced.h5", "_coordinates.csv", "_errors.csv"})
        files.push_back(body.name + end);
      if (body.reduce->paraview) files.push_back(body.name + "_free_modes.exo");
      if (body.reduce->options.nodes.empty()) files.push_back(body.name + "_free_modes.view.h5");
    }
    if (body.gcms) files.push_back(body.name + ".gcms.h5");
  }
  if (study.train) files.emplace_back("model.rom.h5");
  if (study.train && !study.train->pod) files.insert(files.end(), {"modes.csv", "orders.csv"});
  if (study.train && study.train->pod)
    files.insert(files.end(), {"samples.csv", "singular_values.csv", "principal_angles.csv"});
  if (study.simulation && study.simulation->simulate) {
    if (!study.simulation->sensors.empty()) files.emplace_back("sensors.csv");
    files.insert(files.end(), {"result.h5", "motion.view.h5"});
    if (study.simulation->simulate->paraview) files.emplace_back("motion.exo");
    if (study.simulation->simulate->stress) files.emplace_back("stress.h5");
  }
  if (study.linearise)
    files.insert(files.end(), {"linearisation.json", "linearisation.mat", "system_modes.view.h5"});
  if (study.response) files.insert(files.end(), {"response.csv", "response.json"});
  if (!study.sweep.empty()) files.emplace_back("sweep.csv");
  return files;
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
  if (study.train)
    text += fmt::format("  trains a reduced mechanism, method {}\n", study.train->pod ? "pod" : "slap");
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
  const std::vector<std::string> files = files_of(study);
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
    Deep deep(check.problems, diagnostics, progress);
    if (check.problems.empty() && !quick) {
      deep.look(study);
      for (const StudyCase& variant : study.cases) deep.look(variant.study);
    }
    if (check.problems.empty()) describe(study, deep.sizes(), check);
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

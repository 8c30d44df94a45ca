#include "lissom/io/output_names.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "lissom/core/own_file.hpp"
#include "lissom/core/text.hpp"

namespace lissom {

namespace {

namespace fs = std::filesystem;

// Everything that any verb writes at the top of a folder of results, but for the files of bodies.
constexpr const char* fixed_names[] = {
    "summary.json",         "report.html",       "result.h5",        "sensors.csv",
    "checkpoint.lissom",    "motion.view.h5",    "motion.exo",       "stress.h5",
    "differences.csv",      "comparison.json",   "model.rom.h5",     "modes.csv",
    "orders.csv",           "samples.csv",       "greedy.csv",       "singular_values.csv",
    "principal_angles.csv", "pod_test.csv",      "training",         "tests",
    "linearisation.json",   "linearisation.mat", "system_modes.exo", "system_modes.view.h5",
    "response.csv",         "response.json",     "sweep.csv",        "sweep.json",
    "sweep.lock",           ".lissom.lock",      "sweep-work",       "points"};
// Those of a body, behind its name.
constexpr const char* body_endings[] = {
    ".body.h5",    "_modes.csv", "_modes.exo",      "_modes.view.h5",      ".reduced.h5", "_coordinates.csv",
    "_errors.csv", "_sweep.csv", "_free_modes.exo", "_free_modes.view.h5", ".gcms.h5"};

// training-2, of a case that trains otherwise
bool is_further_training(const std::string& name) {
  constexpr std::string_view begin = "training-";
  return name.starts_with(begin) && name.size() > begin.size() &&
         std::all_of(name.begin() + begin.size(), name.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::vector<std::string> files_of_body(const BodySpec& body) {
  std::vector<std::string> files;
  if (body.modes) {
    for (const char* end : {".body.h5", "_modes.csv"}) files.push_back(body.name + end);
    if (body.paraview) files.push_back(body.name + "_modes.exo");
    if (!body.mesh.empty()) files.push_back(body.name + "_modes.view.h5");
  }
  if (body.reduce) {
    for (const char* end : {".reduced.h5", "_coordinates.csv", "_errors.csv"})
      files.push_back(body.name + end);
    if (!body.reduce->options.sweep.empty()) files.push_back(body.name + "_sweep.csv");
    if (body.reduce->paraview) files.push_back(body.name + "_free_modes.exo");
    if (body.reduce->options.nodes.empty()) files.push_back(body.name + "_free_modes.view.h5");
  }
  if (body.gcms) files.push_back(body.name + ".gcms.h5");
  return files;
}

void add_unique(std::vector<fs::path>& paths, const fs::path& path) {
  if (!path.empty() && std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
}

}  // namespace

std::vector<std::string> output_files(const StudyFile& study) {
  std::vector<std::string> files = {"summary.json", "report.html"};
  for (const BodySpec& body : study.bodies)
    for (std::string& file : files_of_body(body)) files.push_back(std::move(file));
  if (study.train) files.emplace_back("model.rom.h5");
  if (study.train && study.train->linear) files.emplace_back("hankel.csv");
  if (study.train && study.train->is_slap()) files.insert(files.end(), {"modes.csv", "orders.csv"});
  if (study.train && study.train->pod) {
    files.insert(files.end(), {"samples.csv", "singular_values.csv", "principal_angles.csv"});
    if (study.train->pod->plan == PodPlan::Greedy) files.emplace_back("greedy.csv");
    if (!study.train->pod->tests.empty()) files.emplace_back("pod_test.csv");
  }
  if (study.simulation && study.simulation->simulate) {
    if (!study.simulation->sensors.empty()) files.emplace_back("sensors.csv");
    files.insert(files.end(), {"result.h5", "motion.view.h5"});
    if (study.simulation->simulate->paraview) files.emplace_back("motion.exo");
    if (study.simulation->simulate->stress) files.emplace_back("stress.h5");
  }
  if (study.linearise || study.response)
    files.insert(files.end(), {"linearisation.json", "linearisation.mat", "system_modes.view.h5"});
  if (study.linearise && study.linearise->paraview) files.emplace_back("system_modes.exo");
  if (study.response) files.insert(files.end(), {"response.csv", "response.json"});
  if (!study.sweep.empty()) files.insert(files.end(), {"sweep.csv", "sweep.json"});
  return files;
}

void check_body_outputs(const StudyFile& study, TomlProblems& problems) {
  // the files of bodies among each other, and beside those of the mechanism
  std::map<std::string, const BodySpec*> taken;
  for (const char* name : fixed_names) taken[name] = nullptr;
  for (const BodySpec& body : study.bodies)
    for (const std::string& file : files_of_body(body)) {
      const auto [other, is_new] = taken.try_emplace(file, &body);
      if (!is_new)
        problems.add(
            body.where, "bodies." + body.name,
            fmt::format("its results would be called '{}', as those of {}: give the body another name", file,
                        other->second ? "body '" + other->second->name + "'" : "the mechanism"));
    }
}

std::string problem_of_case_name(const std::string& name, const std::vector<BodySpec>& bodies) {
  // some file systems do not tell small letters from capital ones
  const std::string small = to_lower(name);
  bool taken = is_further_training(small) || std::any_of(std::begin(fixed_names), std::end(fixed_names),
                                                         [&](const char* fixed) { return small == fixed; });
  for (const BodySpec& body : bodies)
    for (const char* end : body_endings) taken = taken || small == to_lower(body.name + end);
  return taken ? fmt::format(
                     "'{}' is what Lissom calls a file or folder of its own, beside which the results of the "
                     "case would go to a folder of this name: take another name",
                     name)
               : "";
}

void expect_writable_outputs(const StudyFile& study, const fs::path& out) {
  std::vector<std::string> lines;
  const auto look = [&](const StudyFile& one, const fs::path& folder) {
    for (const std::string& file : output_files(one)) try {
        // the report is made by who called the run
        if (file != "report.html") expect_replaceable(folder / file);
      } catch (const InputError& e) {
        if (std::find(lines.begin(), lines.end(), e.what()) == lines.end()) lines.emplace_back(e.what());
      }
  };
  look(study, out);
  for (const StudyCase& variant : study.cases) look(variant.study, out / variant.study.case_name);
  if (!lines.empty()) throw InputError(fmt::format("{}", fmt::join(lines, "\n")));
}

std::vector<fs::path> files_named_in(const StudyFile& study) {
  std::vector<fs::path> paths;
  add_unique(paths, study.path);
  add_unique(paths, study.rom);
  add_unique(paths, study.pod_rom);
  for (const BodySpec& body : study.bodies)
    for (const fs::path* path :
         {&body.mesh, &body.body_file, &body.reduced_file, &body.stiffness, &body.mass_matrix, &body.dofs})
      add_unique(paths, *path);
  if (study.train)
    for (const TrajectorySpec& trajectory : study.train->trajectories) {
      add_unique(paths, trajectory.file);
      // files of bodies, or arrays in the file above, which are no files
      add_unique(paths, trajectory.time);
      for (const auto* sources : {&trajectory.bodies, &trajectory.nodes})
        for (const auto& [body, source] : *sources) add_unique(paths, source);
    }
  for (const StudyCase& variant : study.cases)
    for (const fs::path& path : files_named_in(variant.study)) add_unique(paths, path);
  // of a sweep the files of its first points are enough to know those of all, unless they vary
  for (const ParameterPoint& point : study.sweep)
    for (const BodySpec& body : point.study.bodies)
      for (const fs::path* path : {&body.mesh, &body.body_file, &body.reduced_file}) add_unique(paths, *path);
  return paths;
}

}  // namespace lissom

#include "lissom/io/train_spec.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "lissom/core/file_kind.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/simulation_spec.hpp"
#include "lissom/io/toml_table.hpp"

namespace lissom {

namespace {

// A mechanism of more modes is not a small model any more, and its invariants grow with the square.
constexpr long most_modes = 500;

// Integer in 1 .. most, or the value as it was with a problem noted.
template <class Value>
void read_modes_up_to(TomlTable& table, const char* key, long most, const char* limit, Value& value) {
  const auto number = table.integer(key);
  if (!number) return;
  if (*number < 1 || *number > most)
    table.problem(key, fmt::format("is {}, expected 1 to {}{}", *number, most, limit));
  else
    value = static_cast<int>(*number);
}

void read_scaled(TomlTable& table, const char* key, double scale, double& value) {
  const auto number = table.number(key);
  if (!number) return;
  if (*number < 0)
    table.problem(key, fmt::format("is {}, expected 0 or more", *number));
  else
    value = *number * scale;
}

// { BODY = "array or file" }: names of bodies are checked; files, where there is no common one, too.
std::map<std::string, std::string> read_sources(TomlTable& table, const char* key,
                                                const std::vector<std::string>& bodies,
                                                const std::filesystem::path& folder, bool files) {
  std::map<std::string, std::string> sources;
  auto entries = table.table(key);
  if (!entries) return sources;
  for (const auto& [name, value] : table.value(key)->as_table()) {
    if (std::find(bodies.begin(), bodies.end(), name) == bodies.end()) {
      table.problem(key, fmt::format("there is no body '{}'{}; there are: {}", name,
                                     did_you_mean(name, bodies), fmt::join(bodies, ", ")));
      continue;
    }
    const auto text = entries->text(name);
    if (!text) continue;
    sources[name] = *text;
    if (!files) continue;
    sources[name] = (folder / *text).string();
    if (text->empty() || !is_there(sources[name]))
      table.problem(key, fmt::format("there is no file '{}', and no 'file' in which it could be an array",
                                     sources[name]));
  }
  return sources;
}

TrajectorySpec read_trajectory(TomlTable table, const UnitSystem& units,
                               const std::vector<std::string>& bodies, const std::filesystem::path& folder) {
  TrajectorySpec spec;
  spec.where = table.where();
  spec.units = units;
  if (const auto name = table.text("units")) {
    try {
      spec.units = parse_unit_system(*name);
    } catch (const InputError& e) {
      table.problem("units", e.what());
    }
  }
  const auto file = table.text("file");
  if (file) {
    spec.file = folder / *file;
    if (file->empty() || !is_there(spec.file))
      table.problem("file", fmt::format("there is no file '{}'", spec.file.string()));
  }
  const bool apart = !table.has("file");
  spec.bodies = read_sources(table, "bodies", bodies, folder, apart);
  spec.nodes = read_sources(table, "nodes", bodies, folder, apart);
  spec.time = table.text("time").value_or("");
  if (apart) {
    if (!table.has("bodies"))
      table.problem("file", "is missing: the file that holds all bodies, or bodies = { NAME = \"FILE\" }");
    else
      for (const std::string& body : bodies)
        if (!spec.bodies.contains(body))
          table.problem("bodies", fmt::format("the body '{}' has no file", body));
    // a CSV file has its times; others have a file of them
    if (!spec.time.empty()) {
      spec.time = (folder / spec.time).string();
      if (!is_there(spec.time)) table.problem("time", fmt::format("there is no file '{}'", spec.time));
    }
  }
  spec.displacements = table.boolean("displacements").value_or(false);
  spec.at_rest = table.boolean("at_rest").value_or(false);
  spec.name = table.text("name").value_or("");
  table.finish();
  return spec;
}

}  // namespace

TrainSpec read_train_spec(TomlTable& table, const TomlValue& root, const UnitSystem& units,
                          const std::vector<std::string>& bodies, const std::filesystem::path& folder) {
  TrainSpec spec;
  spec.where = table.where();
  enum class Method : std::uint8_t { Slap, Pod, Linear } method = Method::Slap;
  table.choice<Method>("method", {{"slap", Method::Slap}, {"pod", Method::Pod}, {"linear", Method::Linear}},
                       method);
  if (method == Method::Linear) {
    spec.recovery = spec.reconstruct = false;
    spec.linear = read_linear_train_spec(table, units);
    return spec;
  }
  if (method == Method::Pod) {
    spec.recovery = spec.reconstruct = false;
    spec.pod = read_pod_train_spec(table, root);
    return spec;
  }
  read_modes_up_to(table, "max_order", most_modes, "", spec.max_order);
  read_modes_up_to(table, "order", spec.max_order, " (max_order)", spec.order);
  read_modes_up_to(table, "reference", 1000000, "", spec.reference);
  read_scaled(table, "tolerance", units.length, spec.tolerance);
  read_scaled(table, "noise", units.length, spec.noise);
  read_scaled(table, "mass_damping", 1 / units.time, spec.mass_damping);
  table.choice<bool>("joints", {{"project", true}, {"data", false}}, spec.project_on_joints);
  table.choice<bool>("modes", {{"component", true}, {"data", false}}, spec.component_modes);
  table.choice<SlapForm>(
      "kernel",
      {{"auto", SlapForm::Automatic}, {"polynomial", SlapForm::Polynomial}, {"exact", SlapForm::Exact}},
      spec.form);
  spec.reconstruct = table.boolean("reconstruct").value_or(spec.reconstruct);
  spec.recovery = table.boolean("recovery").value_or(spec.recovery);
  if (const auto stress = table.boolean("stress")) {
    spec.stress_given = true;
    spec.stress = {*stress, *stress};
    if (*stress && !spec.recovery) table.problem("stress", "needs the nodes: leave out recovery = false");
  }

  // "study" is the study itself, as in summary.json
  std::set<std::string> seen;
  for (const std::string& run : table.texts("runs").value_or(std::vector<std::string>{})) {
    if (!seen.insert(run).second) table.problem("runs", fmt::format("'{}' comes twice", run));
    if (run.empty()) table.problem("runs", "a name is empty; \"study\" stands for the study itself");
    spec.runs.push_back(run == "study" ? "" : run);
  }
  for (TomlTable& trajectory : table.tables("trajectories"))
    spec.trajectories.push_back(read_trajectory(trajectory, units, bodies, folder));
  if (table.has("runs") && table.has("trajectories"))
    table.problem("runs",
                  "does not go with 'trajectories': motions come from this study's runs or from files");
  if (table.is_list("runs") && spec.runs.empty())
    table.problem("runs", "the list is empty, expected names of cases, or \"study\" for the study itself");
  if (!table.has("runs") && !table.has("trajectories")) spec.runs = {""};

  spec.places = table.texts("places").value_or(std::vector<std::string>{});
  for (const std::string& place : spec.places) {
    std::string rest;
    const std::string name = place.substr(0, place.find('.'));
    if (split_place(place, bodies, rest) < 0)
      table.problem("places", fmt::format("'{}': there is no body '{}'{}; expected \"BODY.PLACE\" of: {}",
                                          place, name, did_you_mean(name, bodies), fmt::join(bodies, ", ")));
    else if (rest.empty())
      table.problem("places", fmt::format("'{}': expected a place of the body behind the dot", place));
  }
  table.finish();
  return spec;
}

}  // namespace lissom

#include "lissom/io/analysis_spec.hpp"

#include <cmath>
#include <tuple>

#include "lissom/io/toml_table.hpp"

namespace lissom {

std::pair<LineariseSpec::About, double> read_about(TomlTable& table, const UnitSystem& units) {
  LineariseSpec::About state = LineariseSpec::About::Start;
  double at = 0;
  if (const TomlValue* about = table.value("about")) {
    if (about->is_string()) {
      table.choice<LineariseSpec::About>(
          "about", {{"start", LineariseSpec::About::Start}, {"static", LineariseSpec::About::Static}}, state);
    } else if (const auto time = table.number("about")) {
      state = *time == 0 ? LineariseSpec::About::Start : LineariseSpec::About::Time;
      at = *time * units.time;
      if (*time < 0) table.problem("about", fmt::format("is {}, expected a time from 0 on", *time));
    }
  }
  return {state, at};
}

LineariseSpec read_linearise_spec(TomlTable& table, const UnitSystem& units) {
  LineariseSpec spec;
  spec.where = table.where();
  std::tie(spec.about, spec.time) = read_about(table, units);
  if (const auto modes = table.integer("modes")) {
    if (*modes < 1 || *modes > 100000)
      table.problem("modes", fmt::format("is {}, expected 1 to 100000", *modes));
    else
      spec.modes = static_cast<int>(*modes);
  }
  if (const auto paraview = table.boolean("paraview")) spec.paraview = *paraview;
  table.finish();
  return spec;
}

ResponseSpec read_response_spec(TomlTable& table) {
  ResponseSpec spec;
  spec.where = table.where();
  for (const char* key : {"from", "to"}) {
    const auto number = table.number(key);
    if (number) (key[0] == 'f' ? spec.from : spec.to) = *number;
    if (!table.has(key)) table.problem(key, "is missing: a frequency [Hz]");
  }
  if (const auto points = table.integer("points"))
    spec.points = static_cast<int>(std::min<long>(std::max<long>(*points, -1), 100000000));
  table.choice<bool>("scale", {{"log", true}, {"linear", false}}, spec.logarithmic);
  spec.inputs = table.texts("inputs").value_or(std::vector<std::string>{});
  spec.outputs = table.texts("outputs").value_or(std::vector<std::string>{});
  if (table.has("from") && table.has("to"))
    for (const std::string& problem : spec.problems()) table.problem_here(problem);
  table.finish();
  return spec;
}

}  // namespace lissom

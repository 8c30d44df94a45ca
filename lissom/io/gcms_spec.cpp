#include "lissom/io/gcms_spec.hpp"

#include <numbers>
#include <set>
#include <tuple>

#include "lissom/io/toml_table.hpp"

namespace lissom {

namespace {

constexpr int default_modes = 12, most_modes = 300;

// modes = 12, or modes = [1, 2, 5]
std::vector<int> read_mode_numbers(TomlTable& table) {
  std::vector<int> modes;
  if (table.is_list("modes")) {
    std::set<long> seen;
    for (const long number : table.integers("modes").value_or(std::vector<long>{})) {
      if (number < 1 || number > 100000)
        table.problem("modes", fmt::format("{} is no number of a flexible mode, expected 1, 2, ...", number));
      else if (!seen.insert(number).second)
        table.problem("modes", fmt::format("mode {} is there twice", number));
      modes.push_back(static_cast<int>(number));
    }
    if (modes.empty()) table.problem("modes", "the list is empty, expected numbers of flexible modes");
    if (modes.size() > most_modes)
      table.problem("modes", fmt::format("has {} numbers, expected {} at most", modes.size(), most_modes));
    return modes;
  }
  const long count = table.integer("modes").value_or(default_modes);
  if (count < 1 || count > most_modes)
    table.problem("modes", fmt::format("is {}, expected 1 to {} flexible modes, or a list of their numbers",
                                       count, most_modes));
  else
    for (int i = 1; i <= count; ++i) modes.push_back(i);
  return modes;
}

}  // namespace

GcmsSpec read_gcms_spec(TomlTable& table) {
  GcmsSpec spec;
  spec.where = table.where();
  spec.modes = read_mode_numbers(table);
  using Bases = std::pair<bool, bool>;
  Bases bases{spec.scalar, spec.algorithm_1};
  table.choice<Bases>(
      "method", {{"scalar", {true, false}}, {"algorithm-1", {false, true}}, {"both", {true, true}}}, bases);
  std::tie(spec.scalar, spec.algorithm_1) = bases;
  if (const auto value = table.number("truncation")) {
    spec.scalar_options.truncation = *value;
    if (!(*value >= 0 && *value < 1))
      table.problem("truncation", fmt::format("is {}, expected a number from 0 to below 1", *value));
  }
  const auto is_cosine = [](double value) { return value > 0 && value <= 1; };
  if (const auto value = table.number("threshold")) {
    spec.algorithm_1_options.threshold = *value;
    if (!is_cosine(*value))
      table.problem("threshold", fmt::format("is {}, expected a cosine, above 0 and up to 1", *value));
  }
  if (const auto value = table.number("condition")) {
    spec.algorithm_1_options.desired_condition = *value;
    if (!(*value >= 1))
      table.problem("condition", fmt::format("is {}, expected a condition number, 1 or more", *value));
  }
  if (const auto degrees = table.number("pair_angle")) spec.pair_angle = *degrees * std::numbers::pi / 180;
  spec.thresholds = table.numbers("thresholds").value_or(std::vector<double>{});
  for (const double value : spec.thresholds)
    if (!is_cosine(value))
      table.problem("thresholds",
                    fmt::format("{} is no cosine, expected numbers above 0 and up to 1", value));
  table.finish();
  return spec;
}

}  // namespace lissom

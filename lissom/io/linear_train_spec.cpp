#include "lissom/io/linear_train_spec.hpp"

#include <tuple>

#include "lissom/io/toml_table.hpp"

namespace lissom {

LinearTrainSpec read_linear_train_spec(TomlTable& table, const UnitSystem& units) {
  LinearTrainSpec spec;
  std::tie(spec.about, spec.time) = read_about(table, units);
  LinearOptions& options = spec.options;
  table.choice(std::string_view("truncation"), linear_truncation_names(), options.truncation);
  if (const auto order = table.integer("order")) {
    if (*order < 1 || *order > 4000)
      table.problem("order", fmt::format("is {}, expected 1 to 4000", *order));
    else
      options.order = static_cast<int>(*order);
  }
  options.tolerance = table.number("tolerance").value_or(options.tolerance);
  options.highest = table.number("highest");
  options.statics = table.boolean("statics").value_or(options.statics);
  if (table.has("tolerance") && (options.truncation != LinearTruncation::Balanced || options.order))
    table.problem("tolerance", options.order
                                   ? "does not go with order: one of the two says how many states are kept"
                                   : "goes with truncation = \"balanced\"");
  for (const std::string& problem : options.problems()) table.problem_here(problem);
  table.finish();
  return spec;
}

}  // namespace lissom

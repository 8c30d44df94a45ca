// lissom compare: two results side by side, of this program or another.
#include "lissom/study/compare_job.hpp"

#include "apps/lissom/command.hpp"
#include "apps/lissom/shared_flags.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/core/text.hpp"

namespace lissom::app {

namespace {

struct CompareFlags {
  CompareJob job;
  std::string units_a, units_b;
  std::vector<std::string> map;
};

std::optional<UnitSystem> units_of(const std::string& flag, const std::string& name) {
  if (name.empty()) return std::nullopt;
  try {
    return parse_unit_system(name);
  } catch (const InputError& e) {
    fail_input("{}: {}", flag, e.what());
  }
}

void compare_files(const CompareFlags& flags, Command& command) {
  CompareJob job = flags.job;
  for (const std::string& pair : flags.map) {
    const size_t equals = pair.find('=');
    const std::string a(trim(std::string_view(pair).substr(0, equals)));
    if (equals == std::string::npos || a.empty() || trim(std::string_view(pair).substr(equals + 1)).empty())
      fail_input("--map: '{}' is no pair of names; expected \"NAME IN A=NAME IN B\"", pair);
    job.options.columns[a] = trim(std::string_view(pair).substr(equals + 1));
  }
  job.units_a = units_of("--units-a", flags.units_a);
  job.units_b = units_of("--units-b", flags.units_b);
  JobContext context = command.context();
  command.take(run_compare_job(job, context));
}

}  // namespace

Verb compare_verb() {
  const auto flags = std::make_shared<CompareFlags>();
  return {
      "compare",
      "Differences of two results over time",
      "Results with other sample times are interpolated. 'scripts/plot-comparison DIR' draws what --out has "
      "written.\n"
      "Examples:\n"
      "  lissom compare results/ffrf results/gcms --out difference\n"
      "  lissom compare results/result.h5 measured.csv --units-b mm-t-s --map \"tip.x=disp_x\"",
      {input("A", flags->job.a, "The reference: a result.h5, a folder with one, or a table (.csv)"),
       input("B", flags->job.b, "What is compared with it"),
       texts("--map", flags->map, "TEXT",
             "A column of A and the one of B that measures the same, \"tip.x=disp_x\"; may be repeated",
             true),
       units_flag("--units-a", flags->units_a, "Units of the table A (default: those of the study of B)"),
       units_flag("--units-b", flags->units_b, "Units of the table B (default: those of the study of A)"),
       flag("--no-nodes", flags->job.options.nodes, "Sensors and energies only", false),
       out_folder(flags->job.out, "Folder for differences.csv and comparison.json")},
      [flags](Command& command) { compare_files(*flags, command); }};
}

}  // namespace lissom::app

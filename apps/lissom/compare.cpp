// lissom compare: two results side by side, of this program or another.
#include "lissom/study/compare_job.hpp"

#include "apps/lissom/command.hpp"
#include "lissom/core/text.hpp"

namespace lissom::app {

namespace {

struct CompareFlags {
  std::string a, b, out, units_a, units_b;
  std::vector<std::string> map;
  bool no_nodes = false;
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
  CompareJob job;
  job.a = flags.a;
  job.b = flags.b;
  job.out = flags.out;
  job.options.nodes = !flags.no_nodes;
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

void add_compare(CLI::App& program, Command& command) {
  CLI::App* verb = program.add_subcommand("compare", "Differences of two results over time");
  auto flags = std::make_shared<CompareFlags>();
  verb->add_option("A", flags->a, "The reference: a result.h5, a folder with one, or a table (.csv)")
      ->required();
  verb->add_option("B", flags->b, "What is compared with it")->required();
  verb->add_option(
      "--map", flags->map,
      "A column of A and the one of B that measures the same, \"tip.x=disp_x\"; may be repeated");
  verb->add_option("--units-a", flags->units_a, "Units of the table A (default: those of the study of B)")
      ->check(not_empty());
  verb->add_option("--units-b", flags->units_b, "Units of the table B (default: those of the study of A)")
      ->check(not_empty());
  verb->add_flag("--no-nodes", flags->no_nodes, "Sensors and energies only");
  verb->add_option("--out", flags->out, "Folder for differences.csv and comparison.json")->check(not_empty());
  add_common_flags(*verb, command);
  verb->footer(
      "Results with other sample times are interpolated. 'scripts/plot-comparison DIR' draws what --out has "
      "written.\n"
      "Examples:\n"
      "  lissom compare results/ffrf results/gcms --out difference\n"
      "  lissom compare results/result.h5 measured.csv --units-b mm-t-s --map \"tip.x=disp_x\"");
  verb->callback([flags, &command] { compare_files(*flags, command); });
}

}  // namespace lissom::app

// lissom simulate: the simulation of a study, or of one of its cases, and nothing else.
#include <fmt/ranges.h>

#include "apps/lissom/command.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/study_file.hpp"
#include "lissom/study/simulate.hpp"

namespace lissom::app {

namespace {

struct SimulateFlags {
  std::string study, out, case_name;
};

// The study itself, or the case that was asked for.
const StudyFile& chosen(const StudyFile& study, const std::string& name) {
  if (name.empty()) return study;
  std::vector<std::string> names;
  for (const StudyCase& variant : study.cases) {
    if (variant.study.case_name == name) return variant.study;
    names.push_back(variant.study.case_name);
  }
  fail_input("--case: {} has no case '{}'{}; {}", study.path.string(), name, did_you_mean(name, names),
             names.empty() ? "it has none" : fmt::format("there are: {}", fmt::join(names, ", ")));
}

void simulate_study(const SimulateFlags& flags, Command& command) {
  if (!is_study(flags.study))
    fail_input("{}: is no study; 'lissom simulate' takes a .toml file with bodies, joints and [simulate]",
               flags.study);
  const StudyFile study = read_study_file(flags.study);
  const StudyFile& variant = chosen(study, flags.case_name);
  // by default where 'lissom run' would put it
  std::filesystem::path out = flags.out;
  if (flags.out.empty())
    out =
        std::filesystem::path(std::filesystem::path(flags.study).stem().string() + ".out") / flags.case_name;
  BodyStore store;
  SimulationOptions options;
  options.stop = stop_on_interrupt();
  SimulationRun run = simulate(variant, out, store, command.diagnostics, command.progress(), options);
  command.text = fmt::format("{}\n\n{}wrote {}\nwrote {}\n", study.title, run.text,
                             (out / "sensors.csv").string(), (out / "result.h5").string());
  command.json = std::move(run.summary);
  command.json["study"] = study.path.string();
  command.json["title"] = study.title;
  command.json["case"] = flags.case_name;
}

}  // namespace

void add_simulate(CLI::App& program, Command& command) {
  CLI::App* verb = program.add_subcommand("simulate", "Simulate the mechanism of a study");
  auto flags = std::make_shared<SimulateFlags>();
  verb->add_option("STUDY", flags->study, "The study file (.toml) with joints and [simulate]")->required();
  verb->add_option("--case", flags->case_name, "This case of the study instead of the study itself")
      ->check(not_empty());
  verb->add_option("--out", flags->out, "Folder for the results (default: NAME.out, or NAME.out/CASE)")
      ->check(not_empty());
  add_common_flags(*verb, command);
  verb->footer(
      "Writes sensors.csv (in the study's units) and result.h5 (in SI units). Ctrl-C ends the run and keeps "
      "what was computed.\n"
      "Examples:\n"
      "  lissom simulate examples/four-bar/study.toml --out results\n"
      "  lissom simulate study.toml --case gcms --json");
  verb->callback([flags, &command] { simulate_study(*flags, command); });
}

}  // namespace lissom::app

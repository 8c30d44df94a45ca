// lissom reduce: the reductions that a study file asks for, and nothing else.
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "apps/lissom/command.hpp"
#include "lissom/io/study_file.hpp"
#include "lissom/study/run_study.hpp"

namespace lissom::app {

namespace {

struct ReduceFlags {
  std::string study, out, body;
  std::optional<double> tolerance;
  bool no_files = false;
};

void reduce(const ReduceFlags& flags, Command& command) {
  if (!is_study(flags.study))
    fail_input(
        "{}: is no study; 'lissom reduce' takes a .toml file with [bodies.NAME.reduce], which says where the "
        "interfaces are",
        flags.study);
  StudyFile study = read_study_file(flags.study);
  std::vector<std::string> names;
  for (const BodySpec& body : study.bodies)
    if (body.reduce) names.push_back(body.name);
  if (names.empty())
    fail_input("{}: no body has a table [bodies.NAME.reduce]; add one with interfaces, modes and tolerance",
               flags.study);
  if (!flags.body.empty() && std::find(names.begin(), names.end(), flags.body) == names.end())
    fail_input("--body: '{}' is no body with a reduction; those of {} are: {}", flags.body, flags.study,
               fmt::join(names, ", "));
  std::erase_if(study.bodies, [&](const BodySpec& body) {
    return !body.reduce || (!flags.body.empty() && body.name != flags.body);
  });
  // this verb reduces: other wishes of the study are for 'lissom run'
  study.simulation.reset();
  study.cases.clear();
  for (BodySpec& body : study.bodies) {
    body.modes.reset();
    body.gcms.reset();
    if (!flags.tolerance) continue;
    if (body.reduce->options.selection.method == SelectionMethod::Fixed)
      fail_input("--tolerance: {} is reduced with method = \"fixed\", which keeps a given number of modes",
                 body.name);
    body.reduce->options.selection.tolerance = *flags.tolerance;
  }
  if (flags.tolerance && !(*flags.tolerance > 0 && *flags.tolerance < 1))
    fail_input("--tolerance: is {}, expected a relative error between 0 and 1, e.g. 0.001 for 0.1 %",
               *flags.tolerance);
  RunOptions options;
  options.write_files = !flags.no_files;
  const std::filesystem::path out =
      flags.out.empty() ? std::filesystem::path(flags.study).stem().string() + ".out" : flags.out;
  StudyRun result = run_study(study, out, command.diagnostics, command.progress(), options);
  command.text = result.text;
  if (options.write_files) command.text += fmt::format("wrote {}\n", (out / "summary.json").string());
  command.json = std::move(result.summary);
}

}  // namespace

void add_reduce(CLI::App& program, Command& command) {
  CLI::App* verb =
      program.add_subcommand("reduce", "Reduce the bodies of a study to the accuracy it asks for");
  auto flags = std::make_shared<ReduceFlags>();
  verb->add_option("STUDY", flags->study, "The study file (.toml) with [bodies.NAME.reduce]")->required();
  verb->add_option("--body", flags->body, "Only this body of the study")->check(not_empty());
  verb->add_option("--tolerance", flags->tolerance,
                   "In place of the study's: relative error of the eigenvalues");
  verb->add_option("--out", flags->out, "Folder for the results (default: NAME.out)")->check(not_empty());
  verb->add_flag("--no-files", flags->no_files, "Write nothing at all");
  add_common_flags(*verb, command);
  verb->footer(
      "Examples:\n"
      "  lissom reduce examples/connecting-rod/study.toml --out results\n"
      "  lissom reduce examples/cylinder/study.toml --tolerance 0.0001 --no-files");
  verb->callback([flags, &command] { reduce(*flags, command); });
}

}  // namespace lissom::app

// lissom reduce: the reductions that a study file asks for, and nothing else.
#include <optional>

#include "apps/lissom/command.hpp"
#include "apps/lissom/numbers.hpp"
#include "lissom/study/run_job.hpp"

namespace lissom::app {

namespace {

struct ReduceFlags {
  std::string study, out, body;
  std::optional<double> tolerance;
  bool no_files = false;
};

void reduce(const ReduceFlags& flags, Command& command) {
  ReduceJob job;
  job.study.file = flags.study;
  job.body = flags.body;
  job.tolerance = flags.tolerance;
  job.out = flags.out;
  job.write_files = !flags.no_files;
  JobContext context = command.context();
  command.take(run_reduce_job(job, context));
}

}  // namespace

void add_reduce(CLI::App& program, Command& command) {
  CLI::App* verb =
      program.add_subcommand("reduce", "Reduce the bodies of a study to the accuracy it asks for");
  auto flags = std::make_shared<ReduceFlags>();
  verb->add_option("STUDY", flags->study, "The study file (.toml) with [bodies.NAME.reduce]")->required();
  verb->add_option("--body", flags->body, "Only this body of the study")->check(not_empty());
  verb->add_option("--tolerance", flags->tolerance,
                   "In place of the study's: relative error of the eigenvalues")
      ->check(finite_number());
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

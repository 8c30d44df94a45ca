// lissom reduce: the reductions that a study file asks for, and nothing else.
#include <optional>

#include "apps/lissom/command.hpp"
#include "apps/lissom/shared_flags.hpp"
#include "apps/lissom/verbs.hpp"
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

Verb reduce_verb() {
  const auto flags = std::make_shared<ReduceFlags>();
  return {
      "reduce",
      "Reduce the bodies of a study to the accuracy it asks for",
      "Examples:\n"
      "  lissom reduce examples/connecting-rod/study.toml --out results\n"
      "  lissom reduce examples/cylinder/study.toml --tolerance 0.0001 --no-files",
      {study_argument(flags->study, "The study file (.toml) with [bodies.NAME.reduce]"),
       text("--body", flags->body, "Only this body of the study", ArgumentKind::Body),
       number("--tolerance", flags->tolerance, "In place of the study's: relative error of the eigenvalues",
              {.from = 0, .to = 1, .above_from = true}),
       out_folder(flags->out), flag("--no-files", flags->no_files, "Write nothing at all"), geometry_flag()},
      [flags](Command& command) { reduce(*flags, command); }};
}

}  // namespace lissom::app

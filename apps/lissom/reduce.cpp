// lissom reduce: the reductions that a study file asks for, and nothing else.
#include <optional>

#include "apps/lissom/command.hpp"
#include "apps/lissom/shared_flags.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/study/run_job.hpp"

namespace lissom::app {

Verb reduce_verb() {
  const auto job = std::make_shared<ReduceJob>();
  return {"reduce",
          "Reduce the bodies of a study to the accuracy it asks for",
          "Examples:\n"
          "  lissom reduce examples/connecting-rod/study.toml --out results\n"
          "  lissom reduce examples/cylinder/study.toml --tolerance 0.0001 --no-files",
          {study_argument(job->study.file, "The study file (.toml) with [bodies.NAME.reduce]"),
           text("--body", job->body, "Only this body of the study", ArgumentKind::Body),
           number("--tolerance", job->tolerance, "In place of the study's: relative error of the eigenvalues",
                  {.from = 0, .to = 1, .above_from = true}),
           out_folder(job->out), flag("--no-files", job->write_files, "Write nothing at all", false),
           geometry_flag()},
          [job](Command& command) {
            JobContext context = command.context();
            command.take(run_reduce_job(*job, context));
          }};
}

}  // namespace lissom::app

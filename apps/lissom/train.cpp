// lissom train: a mechanism reduced as a whole, from motions of a study or of another program.
#include <optional>

#include "apps/lissom/command.hpp"
#include "apps/lissom/shared_flags.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/study/train_job.hpp"

namespace lissom::app {

Verb train_verb() {
  const auto job = std::make_shared<TrainJob>();
  return {"train",
          "Reduce a whole mechanism to a small ordinary differential equation",
          "Writes model.rom.h5, which 'lissom simulate' runs, and what led to its order.\n"
          "Examples:\n"
          "  lissom train examples/four-bar-slap/study.toml --out results\n"
          "  lissom train study.toml --order 8 --json",
          {study_argument(job->study.file, "The study file (.toml) with joints and [train]"),
           whole_number("--order", job->order,
                        "Modes of the model, in place of the study's or of the proposal", 1),
           out_folder(job->out), flag("--no-files", job->write_files, "Write nothing at all", false),
           resume_flags(job->resume), set_flag(job->study.settings), geometry_flag()},
          [job](Command& command) {
            JobContext context = command.context();
            command.take(run_train_job(*job, context));
          }};
}

}  // namespace lissom::app

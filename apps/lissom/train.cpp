// lissom train: a mechanism reduced as a whole, from motions of a study or of another program.
#include <optional>

#include "apps/lissom/command.hpp"
#include "apps/lissom/shared_flags.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/study/train_job.hpp"

namespace lissom::app {

namespace {

struct TrainFlags {
  std::string study, out;
  std::optional<int> order;
  bool no_files = false;
  ResumeOptions resume;
  SettingFlags settings;
};

void train_study(const TrainFlags& flags, Command& command) {
  TrainJob job;
  job.study = {flags.study, {}, flags.settings.settings()};
  job.order = flags.order;
  job.out = flags.out;
  job.write_files = !flags.no_files;
  job.resume = flags.resume;
  JobContext context = command.context();
  command.take(run_train_job(job, context));
}

}  // namespace

Verb train_verb() {
  const auto flags = std::make_shared<TrainFlags>();
  return {"train",
          "Reduce a whole mechanism to a small ordinary differential equation",
          "Writes model.rom.h5, which 'lissom simulate' runs, and what led to its order.\n"
          "Examples:\n"
          "  lissom train examples/four-bar-slap/study.toml --out results\n"
          "  lissom train study.toml --order 8 --json",
          {study_argument(flags->study, "The study file (.toml) with joints and [train]"),
           whole_number("--order", flags->order,
                        "Modes of the model, in place of the study's or of the proposal", 1),
           out_folder(flags->out), flag("--no-files", flags->no_files, "Write nothing at all"),
           resume_flags(flags->resume), set_flag(flags->settings), geometry_flag()},
          [flags](Command& command) { train_study(*flags, command); }};
}

}  // namespace lissom::app

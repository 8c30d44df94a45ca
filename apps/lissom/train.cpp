// lissom train: a mechanism reduced as a whole, from motions of a study or of another program.
#include <optional>

#include "apps/lissom/command.hpp"
#include "lissom/study/train_job.hpp"

namespace lissom::app {

namespace {

struct TrainFlags {
  std::string study, out;
  std::optional<int> order;
  bool no_files = false;
  ResumeFlags resume;
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

void add_train(CLI::App& program, Command& command) {
  CLI::App* verb =
      program.add_subcommand("train", "Reduce a whole mechanism to a small ordinary differential equation");
  auto flags = std::make_shared<TrainFlags>();
  verb->add_option("STUDY", flags->study, "The study file (.toml) with joints and [train]")->required();
  takes_whole_number(verb->add_option("--order", flags->order,
                                      "Modes of the model, in place of the study's or of the proposal"),
                     1, std::numeric_limits<int>::max());
  verb->add_option("--out", flags->out, "Folder for the results (default: NAME.out)")->check(not_empty());
  verb->add_flag("--no-files", flags->no_files, "Write nothing at all");
  add_resume_flags(*verb, flags->resume);
  add_set_flag(*verb, flags->settings);
  add_geometry_flag(*verb);
  add_common_flags(*verb, command);
  verb->footer(
      "Writes model.rom.h5, which 'lissom simulate' runs, and what led to its order.\n"
      "Examples:\n"
      "  lissom train examples/four-bar-slap/study.toml --out results\n"
      "  lissom train study.toml --order 8 --json");
  verb->callback([flags, &command] { train_study(*flags, command); });
}

}  // namespace lissom::app

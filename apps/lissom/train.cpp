// lissom train: a mechanism reduced as a whole, from motions of a study or of another program.
#include <optional>

#include "apps/lissom/mechanism.hpp"
#include "lissom/io/study_file.hpp"
#include "lissom/study/train.hpp"

namespace lissom::app {

namespace {

struct TrainFlags {
  std::string study, out;
  std::optional<int> order;
  bool no_files = false;
  ResumeFlags resume;
};

void train_parametric(const TrainFlags& flags, StudyFile& study, const std::filesystem::path& out,
                      Command& command) {
  PodTrainSpec& spec = *study.train->pod;
  if (flags.order) {
    if (*flags.order < 1 || *flags.order > spec.options.max_rank)
      fail_input("--order: is {}, expected 1 to {} (max_order of [train])", *flags.order,
                 spec.options.max_rank);
    spec.order = flags.order;
  }
  if (!flags.no_files) check_output_folder(out);
  const std::filesystem::path folder = flags.no_files ? std::filesystem::path() : out;
  PodTraining training = trained_pod(study, study, {}, folder, flags.resume, command);
  // before the tests, so that it is kept whatever comes
  std::vector<std::string> files;
  if (!flags.no_files) files = write_pod_training(training, out);
  PodTrainingOptions options;
  options.folder = folder;
  options.stop = stop_on_interrupt();
  options.resume = flags.resume.resume;
  BodyStore store;
  test_pod(study, store, training, command.diagnostics, command.progress(), options);
  if (!flags.no_files)
    for (const std::string& file : write_pod_tests(training, out)) files.push_back(file);
  command.json = pod_training_json(training);
  command.text = fmt::format("{}\n\n{}", study.title, describe_pod_training(training));
  if (!training.tests.empty()) command.text += "\n" + describe_pod_tests(training);
  command.json["study"] = study.path.string();
  command.json["title"] = study.title;
  if (files.empty()) return;
  command.json["out"] = out.string();
  command.json["files"] = files;
  for (const std::string& file : files) command.text += fmt::format("wrote {}\n", (out / file).string());
}

void train_study(const TrainFlags& flags, Command& command) {
  if (!is_study(flags.study))
    fail_input("{}: is no study; 'lissom train' takes a .toml file with bodies, joints and [train]",
               flags.study);
  StudyFile study = read_study_file(flags.study);
  if (!study.train)
    fail_input("{}: there is no table [train]; an empty one trains on the study's own simulation",
               flags.study);
  const std::filesystem::path out =
      flags.out.empty() ? std::filesystem::path(flags.study).stem().string() + ".out" : flags.out;
  if (study.train->pod) return train_parametric(flags, study, out, command);
  if (flags.resume.resume)
    fail_input("--resume: goes with method = \"pod\" of [train], whose full simulations are kept");
  if (flags.order) {
    if (*flags.order < 1 || *flags.order > study.train->max_order)
      fail_input("--order: is {}, expected 1 to {} (max_order of [train])", *flags.order,
                 study.train->max_order);
    study.train->order = flags.order;
  }
  if (!flags.no_files) check_output_folder(out);
  BodyStore store(false, false, stress_needs(study));
  TrainingMotions motions;
  const Training training =
      train(study, store, motions, command.diagnostics, command.progress(), stop_on_interrupt());
  std::vector<std::string> files;
  if (!flags.no_files) files = write_training(training, out);

  command.json = training_json(training);
  command.json["study"] = study.path.string();
  command.json["title"] = study.title;
  command.text = fmt::format("{}\n\n{}", study.title, describe_training(training));
  if (files.empty()) return;
  command.json["out"] = out.string();
  command.json["files"] = files;
  for (const std::string& file : files) command.text += fmt::format("wrote {}\n", (out / file).string());
}

}  // namespace

void add_train(CLI::App& program, Command& command) {
  CLI::App* verb =
      program.add_subcommand("train", "Reduce a whole mechanism to a small ordinary differential equation");
  auto flags = std::make_shared<TrainFlags>();
  verb->add_option("STUDY", flags->study, "The study file (.toml) with joints and [train]")->required();
  verb->add_option("--order", flags->order, "Modes of the model, in place of the study's or of the proposal");
  verb->add_option("--out", flags->out, "Folder for the results (default: NAME.out)")->check(not_empty());
  verb->add_flag("--no-files", flags->no_files, "Write nothing at all");
  add_resume_flags(*verb, flags->resume);
  add_common_flags(*verb, command);
  verb->footer(
      "Writes model.rom.h5, which 'lissom simulate' runs, and what led to its order.\n"
      "Examples:\n"
      "  lissom train examples/four-bar-slap/study.toml --out results\n"
      "  lissom train study.toml --order 8 --json");
  verb->callback([flags, &command] { train_study(*flags, command); });
}

}  // namespace lissom::app

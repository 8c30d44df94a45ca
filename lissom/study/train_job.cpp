#include "lissom/study/train_job.hpp"

#include <algorithm>
#include <optional>

#include "lissom/core/folder_lock.hpp"
#include "lissom/io/output_names.hpp"
#include "lissom/study/mechanism.hpp"
#include "lissom/study/study_inputs.hpp"

namespace lissom {

namespace {

// Of any training: the study, and what was written.
void finish_training(TrainResult& result, const StudyFile& study, const std::filesystem::path& out,
                     const std::vector<std::string>& files) {
  result.json["study"] = study.path.string();
  result.json["title"] = study.title;
  if (files.empty()) return;
  result.out = out;
  result.json["out"] = out.string();
  result.json["files"] = files;
  for (const std::string& file : files) result.text += fmt::format("wrote {}\n", (out / file).string());
}

// Before anything is computed.
void check_training_folder(const StudyFile& study, const std::filesystem::path& out) {
  check_output_folder(out);
  for (const char* name : {"model.rom.h5", "hankel.csv", "modes.csv", "orders.csv", "samples.csv",
                           "singular_values.csv", "principal_angles.csv", "greedy.csv", "pod_test.csv"}) {
    const std::vector<std::string> files = output_files(study);
    if (std::find(files.begin(), files.end(), name) != files.end()) expect_replaceable(out / name);
  }
}

void check_order(int order, int largest) {
  if (order < 1 || order > largest)
    fail_input("--order: is {}, expected 1 to {} (max_order of [train])", order, largest);
}

TrainResult train_parametric(const TrainJob& job, StudyFile& study, const std::filesystem::path& out,
                             JobContext& context) {
  PodTrainSpec& spec = *study.train->pod;
  if (job.order) {
    check_order(*job.order, spec.options.max_rank);
    spec.order = job.order;
  }
  std::optional<FolderLock> lock;
  if (job.write_files) {
    check_training_folder(study, out);
    lock.emplace(out);
  }
  const std::filesystem::path folder = job.write_files ? out : std::filesystem::path();
  PodTraining training = trained_pod(job.study, study, study, folder, job.resume, context);
  // before the tests, so that it is kept whatever comes
  std::vector<std::string> files;
  if (job.write_files) files = write_pod_training(training, out);
  PodTrainingOptions options;
  options.folder = folder;
  options.stop = context.stop;
  options.resume = job.resume.resume;
  BodyStore store;
  test_pod(study, store, training, context.diagnostics, context.progress, options);
  if (job.write_files)
    for (const std::string& file : write_pod_tests(training, out)) files.push_back(file);
  TrainResult result;
  result.json = pod_training_json(training);
  result.text = fmt::format("{}\n\n{}", study.title, describe_pod_training(training));
  if (!training.tests.empty()) result.text += "\n" + describe_pod_tests(training);
  result.pod = std::make_shared<const PodTraining>(std::move(training));
  finish_training(result, study, out, files);
  return result;
}

TrainResult train_by_linearising(const TrainJob& job, StudyFile& study, const std::filesystem::path& out,
                                 JobContext& context) {
  if (job.resume.resume)
    fail_input("--resume: goes with method = \"pod\" of [train], whose full simulations are kept");
  if (job.order) {
    if (*job.order < 1) fail_input("--order: is {}, expected 1 or more", *job.order);
    LinearOptions& options = study.train->linear->options;
    if (options.truncation == LinearTruncation::None)
      fail_input("--order: does not go with truncation = \"none\" of [train], which keeps all states");
    options.order = *job.order;
    options.highest.reset();
  }
  std::optional<FolderLock> lock;
  if (job.write_files) {
    check_training_folder(study, out);
    lock.emplace(out);
  }
  TrainResult result;
  LinearTraining training = trained_linear(study, context);
  std::vector<std::string> files;
  if (job.write_files) files = write_linear_training(training, out);
  result.json = linear_training_json(training);
  result.text = fmt::format("{}\n\n{}", study.title, describe_linear_training(training));
  result.linear = std::make_shared<const LinearTraining>(std::move(training));
  finish_training(result, study, out, files);
  return result;
}

}  // namespace

TrainResult run_train_job(const TrainJob& job, JobContext& context) {
  if (!job.study.text && !is_study(job.study.file))
    fail_input("{}: is no study; 'lissom train' takes a .toml file with bodies, joints and [train]",
               job.study.file);
  GuardedStudy guarded = read_guarded(job.study);
  StudyFile& study = guarded.study;
  if (!study.train)
    fail_input("{}: there is no table [train]; an empty one trains on the study's own simulation",
               job.study.file);
  const std::filesystem::path out = job.out.empty() ? default_folder(job.study.file) : job.out;
  if (study.train->pod) return train_parametric(job, study, out, context);
  if (study.train->linear) return train_by_linearising(job, study, out, context);
  if (job.resume.resume)
    fail_input("--resume: goes with method = \"pod\" of [train], whose full simulations are kept");
  if (job.order) {
    check_order(*job.order, study.train->max_order);
    study.train->order = job.order;
  }
  std::optional<FolderLock> lock;
  if (job.write_files) {
    check_training_folder(study, out);
    lock.emplace(out);
  }
  BodyStore store(false, false, stress_needs(study));
  TrainingMotions motions;
  TrainResult result;
  result.slap = std::make_shared<const Training>(
      train(study, store, motions, context.diagnostics, context.progress, context.stop));
  std::vector<std::string> files;
  if (job.write_files) files = write_training(*result.slap, out);
  result.json = training_json(*result.slap);
  result.text = fmt::format("{}\n\n{}", study.title, describe_training(*result.slap));
  finish_training(result, study, out, files);
  return result;
}

}  // namespace lissom

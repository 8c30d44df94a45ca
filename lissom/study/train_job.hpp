// A mechanism reduced as a whole, from motions of a study or of another program.
#pragma once

#include <memory>

#include "lissom/study/job.hpp"
#include "lissom/study/linear_training.hpp"
#include "lissom/study/train.hpp"

namespace lissom {

struct TrainJob {
  StudyInput study;
  std::optional<int> order;   // in place of the study's or of the proposal
  std::filesystem::path out;  // empty: by default_folder()
  bool write_files = true;
  ResumeOptions resume;  // of method = "pod"
};

// One of the trainings, by the method of [train].
struct TrainResult : JobResult {
  std::shared_ptr<const Training> slap;
  std::shared_ptr<const PodTraining> pod;
  std::shared_ptr<const LinearTraining> linear;
  std::filesystem::path out;  // with model.rom.h5; empty: no files
};

// Throws InputError: no study, no [train], an order out of range, and what train() and train_pod() throw.
TrainResult run_train_job(const TrainJob& job, JobContext& context);

}  // namespace lissom

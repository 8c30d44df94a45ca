// A study file end to end with its report; and only its reductions.
#pragma once

#include "lissom/report/report.hpp"
#include "lissom/study/job.hpp"
#include "lissom/study/run_study.hpp"

namespace lissom {

struct RunJob {
  StudyInput study;
  std::filesystem::path out;  // empty: by default_folder()
  bool report = true;         // report.html and the views that it shows
  std::string command;        // that is shown in the report; empty: as the command line would be
  ResumeOptions resume;
};
struct RunResult : JobResult {
  std::string title;
  std::filesystem::path out;
  std::optional<WrittenReport> report;  // none where it could not be made, which is a warning
};
// Throws InputError for a reduced mechanism in place of a study, and what run_study() throws.
RunResult run_run_job(const RunJob& job, JobContext& context);

// Only the study's [sweep].
struct SweepJob {
  StudyInput study;
  std::filesystem::path out;  // empty: by default_folder()
  StudySweepOptions options;  // program, settings and text are those of the context and the study
};
struct SweepResult : JobResult {
  std::filesystem::path out;
  bool complete = true;  // false: others end the sweep
};
// Throws as run_sweep().
SweepResult run_sweep_job(const SweepJob& job, JobContext& context);

struct ReduceJob {
  StudyInput study;
  std::string body;                 // only this one; empty: all that have [bodies.NAME.reduce]
  std::optional<double> tolerance;  // in place of the study's
  std::filesystem::path out;        // empty: by default_folder()
  bool write_files = true;
};
// Throws InputError: no study, no body to reduce, a wrong tolerance, and what run_study() throws.
JobResult run_reduce_job(const ReduceJob& job, JobContext& context);

}  // namespace lissom

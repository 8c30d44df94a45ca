// A study file, carried out end to end.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <string>

#include "lissom/core/diagnostics.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/io/study_file.hpp"
#include "lissom/study/pod_training.hpp"
#include "lissom/study/sweep_run.hpp"

namespace lissom {

struct StudyRun {
  std::string text;        // the tables, for people
  nlohmann::json summary;  // what summary.json holds
  bool complete = true;    // false: a worker has done its part of a sweep, which others end
};

struct StudyRunOptions {
  bool write_files = true;     // without, no sweep either: it lives in its folder
  std::function<bool()> stop;  // of simulations: asked before every step
  // of simulations, see SimulationOptions
  bool resume = false;
  double checkpoint = 5;    // [s]
  bool view = true;         // leave views (io/view_file.hpp) beside the results
  TrainingRunner runner;    // of trainings with method = "pod": full simulations at a time
  StudySweepOptions sweep;  // its resume is set by that above
};

// Does everything that the study asks for, body by body, then its simulation, then every case in a folder of
// its own, whose sensors are compared with those of the reference; leaves the results and summary.json in
// `out`.
// The folder is made once something is there to be written; summary.json comes last, so that its presence
// means a complete run.
StudyRun run_study(const StudyFile& study, const std::filesystem::path& out, Diagnostics& diagnostics,
                   const ProgressHook& progress = {}, const StudyRunOptions& options = {});

// Only the study's [sweep]: leaves sweep.json, sweep.csv and summary.json in `out`. Throws InputError where
// there is none, and as run_points().
StudyRun run_sweep(const StudyFile& study, const std::filesystem::path& out, Diagnostics& diagnostics,
                   const ProgressHook& progress = {}, const StudyRunOptions& options = {});

// One point (from 0) of the sweep in `out` for the process that run_points() has started for it: its result
// is left for that, also where the point fails. Throws Error where `stop` asks for the end.
void run_sweep_point(const std::filesystem::path& out, size_t point, const std::function<bool()>& stop);

}  // namespace lissom

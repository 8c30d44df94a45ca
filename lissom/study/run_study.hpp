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

namespace lissom {

struct StudyRun {
  std::string text;        // the tables, for people
  nlohmann::json summary;  // what summary.json holds
};

struct RunOptions {
  bool write_files = true;
  std::function<bool()> stop;  // of simulations: asked before every step
  // of simulations, see SimulationOptions
  bool resume = false;
  double checkpoint = 5;  // [s]
  bool view = true;       // leave views (io/view_file.hpp) beside the results
  TrainingRunner runner;  // of trainings with method = "pod": full simulations at a time
};

// Does everything that the study asks for, body by body, then its simulation, then every case in a folder of
// its own, whose sensors are compared with those of the reference; leaves the results and summary.json in
// `out`.
// The folder is made once something is there to be written; summary.json comes last, so that its presence
// means a complete run.
StudyRun run_study(const StudyFile& study, const std::filesystem::path& out, Diagnostics& diagnostics,
                   const ProgressHook& progress = {}, const RunOptions& options = {});

// Only the study's [sweep]: leaves sweep.csv and summary.json in `out`. Throws InputError where there is
// none.
StudyRun run_sweep(const StudyFile& study, const std::filesystem::path& out, Diagnostics& diagnostics,
                   const ProgressHook& progress = {}, const RunOptions& options = {});

}  // namespace lissom

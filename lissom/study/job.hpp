// What a verb of the command line, or a call from Python, is given and gives: the jobs of this folder (*_job)
// parse no flags and print nothing, so that all who call them get the same.
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/io/study_file.hpp"
#include "lissom/study/pod_training.hpp"

namespace lissom {

// Who runs the job.
struct JobContext {
  Diagnostics& diagnostics;
  ProgressHook progress;
  std::function<bool()> stop;  // true: end in good order
  // The program `lissom`, which computes points of a sweep and full simulations of a training in processes of
  // their own; empty: all in this one, one after the other.
  std::filesystem::path program = {};
};

// A result for programs and for people.
struct JobResult {
  nlohmann::json json;
  std::string text;
};

// A study as it is given to a job: a file, or a text that was never in one.
struct StudyInput {
  std::string file;                    // of a text: where it would be, for file names in it
  std::optional<std::string> text;     // in place of the file's
  std::vector<StudySetting> settings;  // keys set otherwise

  // Throws InputError like read_study_file().
  StudyFile read(const std::filesystem::path& rom = {}) const;
  // For full simulations of a training; processes of their own need a file.
  TrainingRunner runner(const JobContext& context, double checkpoint) const;
};

// Goes on where a run ended; and seconds of computing between checkpoints.
struct ResumeOptions {
  bool resume = false;
  double checkpoint = 5;
};

// True for .toml.
bool is_study(const std::string& file);
// Whether the file is there and a mechanism reduced as a whole.
bool is_rom(const std::string& file);
// NAME.out of NAME.toml and NAME.rom.h5: where results go unless a folder is given.
std::filesystem::path default_folder(const std::string& file);

}  // namespace lissom

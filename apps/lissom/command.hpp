// What a running verb is given and gives: common flags, printing for people or for programs, exit codes.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/core/progress.hpp"

namespace lissom {
struct JobContext;
struct JobResult;
}  // namespace lissom

namespace lissom::app {

inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;       // the computation did not succeed
inline constexpr int exit_wrong_input = 2;  // the user's files or flags are wrong

// Everything a running verb needs; printed at the end in one go, so that JSON is never mixed with anything
// else.
struct Command {
  Command();

  bool json_output = false;
  bool quiet = false;              // no progress
  std::vector<std::string> given;  // the arguments that were: "FILE", "--out"
  Diagnostics diagnostics;
  const std::shared_ptr<nlohmann::json> json_object;
  nlohmann::json& json;       // the result for --json
  std::string text;           // the result for people, and
  std::string styled;         // behind it what is for a terminal: printable, but for colours of ours
  int exit_code = exit_done;  // of a verb that did its work and has bad news

  ProgressHook progress();
  // For a job: these diagnostics and this progress, Ctrl-C, trainings as processes of their own.
  JobContext context();
  void take(JobResult result);
  // Takes the progress bar off the terminal.
  void clear_progress() { printer_.reset(); }

 private:
  std::unique_ptr<ProgressPrinter> printer_;
};

// A hook that tells whether the user has pressed Ctrl-C since; the first time ends a simulation in good
// order, the second one the program.
std::function<bool()> stop_on_interrupt();

}  // namespace lissom::app

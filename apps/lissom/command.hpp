// What all verbs of the command line share: common flags, printing for people or for programs, exit codes.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/io/body_spec.hpp"
#include "lissom/io/study_keys.hpp"
#include "lissom/study/job.hpp"

namespace lissom::app {

inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;       // the computation did not succeed
inline constexpr int exit_wrong_input = 2;  // the user's files or flags are wrong

// Everything a running verb needs; printed at the end in one go, so that JSON is never mixed with anything
// else.
struct Command {
  bool json_output = false;
  bool quiet = false;  // no progress
  Diagnostics diagnostics;
  nlohmann::json json;        // the result for --json
  std::string text;           // the result for people, and
  std::string styled;         // behind it what is for a terminal: printable, but for colours of ours
  int exit_code = exit_done;  // of a verb that did its work and has bad news

  ProgressHook progress();
  // For a job: these diagnostics and this progress, Ctrl-C, trainings as processes of their own.
  JobContext context();
  void take(JobResult result) {
    json = std::move(result.json);
    text = std::move(result.text);
  }
  // Takes the progress bar off the terminal.
  void clear_progress() { printer_.reset(); }

 private:
  std::unique_ptr<ProgressPrinter> printer_;
};

// Adds --json and --quiet to a verb.
void add_common_flags(CLI::App& verb, Command& command);

// The flags that say what a body is: FILE, --material, --units, --mass-matrix and so on.
struct BodyFlags {
  std::string file;
  std::string material, units = "SI", mesh;
  std::string mass_matrix, dofs, stiffness_name, mass_name;
  bool permit_massless = false, drop_empty_rows = false;
  bool skip_elements = false;
  double mesh_size = 0;
  int mesh_order = 2;
  std::string mass;  // empty: consistent, or that of the matrices
};
void add_body_flags(CLI::App& verb, BodyFlags& flags);
// Throws InputError naming the flag.
BodySpec body_spec(const BodyFlags& flags);

// --trust-geometry, of all verbs that read meshes.
void add_geometry_flag(CLI::App& verb);

// Of verbs that simulate: --resume and --checkpoint.
using ResumeFlags = ResumeOptions;
void add_resume_flags(CLI::App& verb, ResumeFlags& flags);

// Of verbs that work on a mechanism: --set KEY=VALUE and --strict.
struct SettingFlags {
  std::vector<std::string> set;
  bool strict = false;
  // Throws InputError where one is not KEY=VALUE.
  std::vector<StudySetting> settings() const;
};
void add_setting_flags(CLI::App& verb, SettingFlags& flags);
// --set alone.
void add_set_flag(CLI::App& verb, SettingFlags& flags);

// The numbers that a flag takes: finite ones, all or those of a range.
struct FlagNumbers {
  double from = -std::numeric_limits<double>::infinity(), to = std::numeric_limits<double>::infinity();
  bool above_from = false;  // without `from` itself
};
// Every flag that takes a number goes through one of these. They refuse what CLI11 lets through, naming the
// flag, the text found and what is expected: nan, inf, numbers too large or too small for a double (1e-310
// has lost digits), hexadecimal and octal ones.
CLI::Option* takes_number(CLI::Option* flag, const FlagNumbers& numbers = {});
CLI::Option* takes_whole_number(CLI::Option* flag, long from, long to);

// Refuses an empty text, which would silently mean that a flag was not given.
CLI::Validator not_empty();

// A hook that tells whether the user has pressed Ctrl-C since; the first time ends a simulation in good
// order, the second one the program.
std::function<bool()> stop_on_interrupt();

// The verbs: each adds itself to the program and runs when it was chosen.
void add_inspect(CLI::App& program, Command& command);
void add_modes(CLI::App& program, Command& command);
void add_reduce(CLI::App& program, Command& command);
void add_run(CLI::App& program, Command& command);
void add_simulate(CLI::App& program, Command& command);
void add_train(CLI::App& program, Command& command);
void add_linearise(CLI::App& program, Command& command);
void add_response(CLI::App& program, Command& command);
void add_static(CLI::App& program, Command& command);
void add_assemble(CLI::App& program, Command& command);
void add_sweep(CLI::App& program, Command& command);
void add_compare(CLI::App& program, Command& command);
void add_report(CLI::App& program, Command& command);
void add_completion(CLI::App& program, Command& command);
void add_manual(CLI::App& program, Command& command);
void add_check(CLI::App& program, Command& command);
void add_new(CLI::App& program, Command& command);
void add_schema(CLI::App& program, Command& command);

}  // namespace lissom::app

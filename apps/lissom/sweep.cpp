// lissom sweep: the parameters of a study's [sweep], varied, every point in a process of its own.
#include "apps/lissom/command.hpp"
#include "apps/lissom/shared_flags.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/core/text.hpp"
#include "lissom/study/run_job.hpp"

namespace lissom::app {

namespace {

struct SweepFlags {
  SweepJob job;
  bool in_process = false;
  int point = 0;  // of the process of a point
};

// One point, for another process of this program.
void run_point(const SweepFlags& flags, Command& command) {
  command.quiet = true;
  run_sweep_point(flags.job.out, static_cast<size_t>(flags.point - 1), stop_on_interrupt());
}

void run_only_sweep(const SweepFlags& flags, Command& command) {
  if (flags.point > 0) return run_point(flags, command);
  SweepJob job = flags.job;
  job.options.launch = find_launch();
  // one of several prints for all
  const bool silent = job.options.launch.rank > 0;
  if (silent) command.quiet = true;
  JobContext context = command.context();
  if (flags.in_process) context.program.clear();
  SweepResult result = run_sweep_job(job, context);
  if (silent) {
    command.json_output = false;
    command.diagnostics = {};
    return;
  }
  command.text = std::move(result.text);
  command.json = std::move(result.json);
}

}  // namespace

Verb sweep_verb() {
  const auto flags = std::make_shared<SweepFlags>();
  SweepJob& job = flags->job;
  StudySweepOptions& options = job.options;
  const auto launcher = [&options](const std::string& text) {
    for (const std::string_view word : split_blanks(text)) options.launcher.emplace_back(word);
  };
  Argument in_process =
      flag("--in-process", flags->in_process,
           "No processes: one point after the other, bodies reduced once, and a crash ends all");
  in_process.excludes = "--launcher";
  Argument point = whole_number("--point", flags->point, "", 1, 100000);
  point.group = "";
  return {
      "sweep",
      "Vary the parameters that a study's [sweep] names",
      "Examples:\n  lissom sweep study.toml --out results\n  lissom sweep study.toml --out results --resume\n"
      "  mpirun -n 8 lissom sweep study.toml --out results",
      {study_argument(job.study.file),
       out_folder(job.out, "Folder for sweep.csv and sweep.json (default: NAME.out)"),
       whole_number("--jobs", options.jobs, "Points at a time (default: as many as cores)", 1, 100000),
       flag("--resume", options.resume, "Keep the points that are done and compute the others"),
       flag("--retry-failed", options.retry_failed, "As --resume, and points that failed once more"),
       number("--timeout", options.timeout, "Seconds after which a point is ended and has failed",
              {.from = 0, .above_from = true}),
       flag("--keep-results", options.keep_results, "Leave the files of every point in points/NNNNNN"),
       set_flag(job.study.settings),
       flag("--join", options.join, "Help with the sweep in the folder, from any machine that sees it"),
       number("--patience", options.patience,
              "Seconds without a sign of life after which a point of another machine is computed again "
              "(default 60)",
              {.from = 0, .above_from = true}),
       text_flag("--launcher", launcher,
                 "Command put before that of each point: \"srun -N1 -n1 --exclusive\"", ArgumentKind::Text),
       in_process, point, geometry_flag()},
      [flags](Command& command) { run_only_sweep(*flags, command); }};
}

}  // namespace lissom::app

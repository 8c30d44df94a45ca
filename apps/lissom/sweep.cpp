// lissom sweep: the parameters of a study's [sweep], varied, every point in a process of its own.
#include "apps/lissom/command.hpp"
#include "lissom/core/text.hpp"
#include "lissom/study/run_job.hpp"

namespace lissom::app {

namespace {

struct SweepFlags {
  std::string study, out, launcher;
  SettingFlags settings;
  StudySweepOptions options;
  bool in_process = false;
  long point = 0;  // of the process of a point
};

std::vector<std::string> launcher_words(const std::string& text) {
  std::vector<std::string> words;
  for (const std::string_view word : split_blanks(text)) words.emplace_back(word);
  return words;
}

// One point, for another process of this program.
void run_point(const SweepFlags& flags, Command& command) {
  command.quiet = true;
  run_sweep_point(flags.out, static_cast<size_t>(flags.point - 1), stop_on_interrupt());
}

void run_only_sweep(const SweepFlags& flags, Command& command) {
  if (flags.point > 0) return run_point(flags, command);
  SweepJob job;
  job.study = {flags.study, {}, flags.settings.settings()};
  job.out = flags.out;
  job.options = flags.options;
  job.options.launch = find_launch();
  job.options.launcher = launcher_words(flags.launcher);
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

void add_sweep(CLI::App& program, Command& command) {
  CLI::App* verb = program.add_subcommand("sweep", "Vary the parameters that a study's [sweep] names");
  auto flags = std::make_shared<SweepFlags>();
  StudySweepOptions& options = flags->options;
  verb->add_option("STUDY", flags->study, "The study file (.toml)")->required();
  verb->add_option("--out", flags->out, "Folder for sweep.csv and sweep.json (default: NAME.out)")
      ->check(not_empty());
  takes_whole_number(verb->add_option("--jobs", options.jobs, "Points at a time (default: as many as cores)"),
                     1, 100000);
  verb->add_flag("--resume", options.resume, "Keep the points that are done and compute the others");
  verb->add_flag("--retry-failed", options.retry_failed, "As --resume, and points that failed once more");
  takes_number(
      verb->add_option("--timeout", options.timeout, "Seconds after which a point is ended and has failed"),
      {.from = 0, .above_from = true});
  verb->add_flag("--keep-results", options.keep_results, "Leave the files of every point in points/NNNNNN");
  add_set_flag(*verb, flags->settings);
  verb->add_flag("--join", options.join, "Help with the sweep in the folder, from any machine that sees it");
  takes_number(verb->add_option("--patience", options.patience,
                                "Seconds without a sign of life after which a point of another machine is "
                                "computed again (default 60)"),
               {.from = 0, .above_from = true});
  auto* launcher = verb->add_option("--launcher", flags->launcher,
                                    "Command put before that of each point: \"srun -N1 -n1 --exclusive\"")
                       ->check(not_empty());
  verb->add_flag("--in-process", flags->in_process,
                 "No processes: one point after the other, bodies reduced once, and a crash ends all")
      ->excludes(launcher);
  takes_whole_number(verb->add_option("--point", flags->point)->group(""), 1, 100000);
  add_geometry_flag(*verb);
  add_common_flags(*verb, command);
  verb->footer(
      "Examples:\n  lissom sweep study.toml --out results\n  lissom sweep study.toml --out results --resume\n"
      "  mpirun -n 8 lissom sweep study.toml --out results");
  verb->callback([flags, &command] { run_only_sweep(*flags, command); });
}

}  // namespace lissom::app

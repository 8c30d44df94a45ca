// lissom run: a study file, end to end; lissom sweep: only its sweep.
#include "apps/lissom/command.hpp"
#include "apps/lissom/training_processes.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/rom_file.hpp"
#include "lissom/study/run_study.hpp"
#include "lissom/study/run_summary.hpp"

namespace lissom::app {

namespace {

struct RunFlags {
  std::string study, out;
  ResumeFlags resume;
  bool details = false;
};

void run(const RunFlags& flags, Command& command) {
  if (is_rom_file(flags.study))
    fail_input(
        "{}: is a reduced mechanism, not a study: 'lissom simulate' runs it, and a study may name it with "
        "rom",
        flags.study);
  const StudyFile study = read_study_file(flags.study);
  const std::filesystem::path out =
      flags.out.empty() ? std::filesystem::path(flags.study).stem().string() + ".out" : flags.out;
  RunOptions options;
  options.stop = stop_on_interrupt();
  options.resume = flags.resume.resume;
  options.checkpoint = flags.resume.checkpoint;
  options.runner = training_processes(flags.study, {}, flags.resume.checkpoint, options.stop);
  StudyRun result = run_study(study, out, command.diagnostics, command.progress(), options);
  if (flags.details) command.text = fmt::format("{}\n\n{}\n", study.title, result.text);
  command.styled = run_summary(result.summary, out, Terminal::of_stdout());
  command.styled += fmt::format("wrote {}\n", printable((out / "summary.json").string()));
  command.json = std::move(result.summary);
}

void run_only_sweep(const RunFlags& flags, Command& command) {
  const StudyFile study = read_study_file(flags.study);
  const std::filesystem::path out =
      flags.out.empty() ? std::filesystem::path(flags.study).stem().string() + ".out" : flags.out;
  RunOptions options;
  options.stop = stop_on_interrupt();
  options.runner = training_processes(flags.study, {}, flags.resume.checkpoint, options.stop);
  StudyRun result = run_sweep(study, out, command.diagnostics, command.progress(), options);
  command.text = fmt::format("{}\n{}wrote {}\n", study.title, result.text, (out / "sweep.csv").string());
  command.json = std::move(result.summary);
}

}  // namespace

void add_sweep(CLI::App& program, Command& command) {
  CLI::App* verb = program.add_subcommand("sweep", "Vary the parameters that a study's [sweep] names");
  auto flags = std::make_shared<RunFlags>();
  verb->add_option("STUDY", flags->study, "The study file (.toml)")->required();
  verb->add_option("--out", flags->out, "Folder for sweep.csv (default: NAME.out)")->check(not_empty());
  add_common_flags(*verb, command);
  verb->footer("Example:\n  lissom sweep study.toml --out results");
  verb->callback([flags, &command] { run_only_sweep(*flags, command); });
}

void add_run(CLI::App& program, Command& command) {
  CLI::App* verb = program.add_subcommand("run", "Carry out everything a study file asks for");
  auto flags = std::make_shared<RunFlags>();
  verb->add_option("STUDY", flags->study, "The study file (.toml)")->required();
  verb->add_option("--out", flags->out, "Folder for the results (default: NAME.out)")->check(not_empty());
  verb->add_flag("--details", flags->details, "Print everything, not only the summary");
  add_resume_flags(*verb, flags->resume);
  add_common_flags(*verb, command);
  verb->footer("Example:\n  lissom run examples/rod-modes/study.toml --out results");
  verb->callback([flags, &command] { run(*flags, command); });
}

}  // namespace lissom::app

// lissom sweep: the parameters of a study's [sweep], varied.
#include "apps/lissom/command.hpp"
#include "apps/lissom/training_processes.hpp"
#include "lissom/study/run_study.hpp"

namespace lissom::app {

namespace {

struct SweepFlags {
  std::string study, out;
  double checkpoint = 5;
};

void run_only_sweep(const SweepFlags& flags, Command& command) {
  const StudyFile study = read_study_file(flags.study);
  const std::filesystem::path out =
      flags.out.empty() ? std::filesystem::path(flags.study).stem().string() + ".out" : flags.out;
  RunOptions options;
  options.stop = stop_on_interrupt();
  options.runner = training_processes(flags.study, {}, flags.checkpoint, options.stop);
  StudyRun result = run_sweep(study, out, command.diagnostics, command.progress(), options);
  command.text = fmt::format("{}\n{}wrote {}\n", study.title, result.text, (out / "sweep.csv").string());
  command.json = std::move(result.summary);
}

}  // namespace

void add_sweep(CLI::App& program, Command& command) {
  CLI::App* verb = program.add_subcommand("sweep", "Vary the parameters that a study's [sweep] names");
  auto flags = std::make_shared<SweepFlags>();
  verb->add_option("STUDY", flags->study, "The study file (.toml)")->required();
  verb->add_option("--out", flags->out, "Folder for sweep.csv (default: NAME.out)")->check(not_empty());
  add_common_flags(*verb, command);
  verb->footer("Example:\n  lissom sweep study.toml --out results");
  verb->callback([flags, &command] { run_only_sweep(*flags, command); });
}

}  // namespace lissom::app

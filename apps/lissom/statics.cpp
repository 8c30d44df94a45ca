// lissom static and lissom assemble: where the bodies of a mechanism are when nothing moves.
#include "apps/lissom/mechanism.hpp"
#include "apps/lissom/numbers.hpp"
#include "lissom/study/analysis_jobs.hpp"

namespace lissom::app {

namespace {

struct StaticFlags {
  MechanismFlags mechanism;
  double at = 0;
  std::string out;
};

void find_static(const StaticFlags& flags, Command& command) {
  StaticJob job;
  job.mechanism = flags.mechanism.input();
  job.at = flags.at;
  job.out = flags.out;
  JobContext context = command.context();
  command.take(run_static_job(job, context));
}

void assemble_study(const MechanismFlags& flags, Command& command) {
  JobContext context = command.context();
  command.take(run_assemble_job(flags.input(), context));
}

}  // namespace

void add_static(CLI::App& program, Command& command) {
  CLI::App* verb = program.add_subcommand("static", "Static equilibrium of a mechanism, full or reduced");
  auto flags = std::make_shared<StaticFlags>();
  add_mechanism_flags(*verb, flags->mechanism);
  verb->add_option("--at", flags->at, "Time [s] whose loads and prescribed motions count (default 0)")
      ->check(finite_number());
  verb->add_option("--out", flags->out, "Folder for sensors.csv and result.h5 (default: no files)")
      ->check(not_empty());
  add_common_flags(*verb, command);
  verb->footer(
      "Positions in which all forces are in balance and nothing moves, beginning at the positions of the "
      "study; "
      "says whether it is stable.\n"
      "Examples:\n"
      "  lissom static study.toml\n"
      "  lissom static model.rom.h5 --at 0.5 --json");
  verb->callback([flags, &command] { find_static(*flags, command); });
}

void add_assemble(CLI::App& program, Command& command) {
  CLI::App* verb =
      program.add_subcommand("assemble", "Put the bodies of a study together from rough positions");
  auto flags = std::make_shared<MechanismFlags>();
  verb->add_option("STUDY", flags->file, "The study file (.toml)")->required();
  verb->add_option("--case", flags->case_name, "This case of the study instead of the study itself")
      ->check(not_empty());
  add_common_flags(*verb, command);
  verb->footer(
      "Prints position and rotation of every body as lines for the study.\nExample:\n  lissom assemble "
      "study.toml");
  verb->callback([flags, &command] { assemble_study(*flags, command); });
}

}  // namespace lissom::app

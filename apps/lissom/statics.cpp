// lissom static and lissom assemble: where the bodies of a mechanism are when nothing moves.
#include "apps/lissom/command.hpp"
#include "apps/lissom/shared_flags.hpp"
#include "apps/lissom/verbs.hpp"
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

Verb static_verb() {
  const auto flags = std::make_shared<StaticFlags>();
  return {"static",
          "Static equilibrium of a mechanism, full or reduced",
          "Positions in which all forces are in balance and nothing moves, beginning at the positions of the "
          "study; says whether it is stable.\n"
          "Examples:\n"
          "  lissom static study.toml\n"
          "  lissom static model.rom.h5 --at 0.5 --json",
          {mechanism_flags(flags->mechanism),
           number("--at", flags->at, "Time [s] whose loads and prescribed motions count (default 0)",
                  {.from = 0}),
           out_folder(flags->out, "Folder for sensors.csv and result.h5 (default: no files)")},
          [flags](Command& command) { find_static(*flags, command); }};
}

Verb assemble_verb() {
  const auto flags = std::make_shared<MechanismFlags>();
  return {"assemble",
          "Put the bodies of a study together from rough positions",
          "Prints position and rotation of every body as lines for the study.\nExample:\n  lissom assemble "
          "study.toml",
          {study_argument(flags->file), case_flag(flags->case_name), geometry_flag()},
          [flags](Command& command) { assemble_study(*flags, command); }};
}

}  // namespace lissom::app

// lissom static and lissom assemble: where the bodies of a mechanism are when nothing moves.
#include "apps/lissom/command.hpp"
#include "apps/lissom/shared_flags.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/study/analysis_jobs.hpp"

namespace lissom::app {

Verb static_verb() {
  const auto job = std::make_shared<StaticJob>();
  return {
      "static",
      "Static equilibrium of a mechanism, full or reduced",
      "Positions in which all forces are in balance and nothing moves, beginning at the positions of the "
      "study; says whether it is stable.\n"
      "Examples:\n"
      "  lissom static study.toml\n"
      "  lissom static model.rom.h5 --at 0.5 --json",
      {mechanism_flags(job->mechanism),
       number("--at", job->at, "Time [s] whose loads and prescribed motions count (default 0)", {.from = 0}),
       out_folder(job->out, "Folder for sensors.csv and result.h5 (default: no files)")},
      [job](Command& command) {
        JobContext context = command.context();
        command.take(run_static_job(*job, context));
      }};
}

Verb assemble_verb() {
  const auto mechanism = std::make_shared<MechanismInput>();
  return {"assemble",
          "Put the bodies of a study together from rough positions",
          "Prints position and rotation of every body as lines for the study.\nExample:\n  lissom assemble "
          "study.toml",
          {study_argument(mechanism->main.file), case_flag(mechanism->case_name), geometry_flag()},
          [mechanism](Command& command) {
            JobContext context = command.context();
            command.take(run_assemble_job(*mechanism, context));
          }};
}

}  // namespace lissom::app

// lissom simulate: the simulation of a study, or of one of its cases, or of a reduced mechanism, and nothing
// else.
#include "apps/lissom/command.hpp"
#include "apps/lissom/shared_flags.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/report/run_summary.hpp"
#include "lissom/study/simulate_job.hpp"

namespace lissom::app {

namespace {

void simulate_file(const SimulateJob& job, Command& command) {
  JobContext context = command.context();
  SimulateResult result = run_simulate_job(job, context);
  command.text = std::move(result.text);
  command.styled = sensor_curves(result.out / "sensors.csv", Terminal::of_stdout());
  command.json = std::move(result.json);
}

}  // namespace

Verb simulate_verb() {
  const auto job = std::make_shared<SimulateJob>();
  job->keep = false;
  MechanismInput& mechanism = job->mechanism;
  return {
      "simulate",
      "Simulate the mechanism of a study, or a reduced one",
      "Writes sensors.csv (in the study's units) and result.h5 (in SI units). Ctrl-C ends the run and keeps "
      "what was computed; --resume goes on from there, or from where a run was killed.\n"
      "Examples:\n"
      "  lissom simulate examples/four-bar/study.toml --out results\n"
      "  lissom simulate study.toml --case gcms --json\n"
      "  lissom simulate study.toml --resume\n"
      "  lissom simulate four-bar.rom.h5 --study other-load.toml\n"
      "  lissom simulate pendulum.rom.h5 --set mass1=0.2642 --set mass2=0.15 --strict",
      {input("FILE", mechanism.main.file,
             "The study file (.toml) with joints and [simulate], or a reduced mechanism (.rom.h5)"),
       rom_study_flag(mechanism, "loads, sensors and [simulate]"), case_flag(mechanism.case_name),
       out_folder(job->out, "Folder for the results (default: NAME.out, or NAME.out/CASE)"),
       flag("--no-view", job->view, "Write no view of the motion (motion.view.h5)", false),
       resume_flags(job->resume), set_flag(mechanism.main.settings), strict_flag(mechanism), geometry_flag()},
      [job](Command& command) { simulate_file(*job, command); }};
}

}  // namespace lissom::app

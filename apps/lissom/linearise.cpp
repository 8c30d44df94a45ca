// lissom linearise and lissom response: a mechanism about a state, as A, B, C, D, frequencies and responses.
#include "apps/lissom/command.hpp"
#include "apps/lissom/shared_flags.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/study/analysis_jobs.hpp"

namespace lissom::app {

namespace {

Arguments state_flags(LineariseJob& job) {
  return {mechanism_flags(job.mechanism),
          number("--at", job.at, "Time [s] of the run at which the state is taken (default: the start)",
                 {.from = 0}),
          flag("--static", job.statics, "About the static equilibrium")};
}

}  // namespace

Verb linearise_verb() {
  const auto job = std::make_shared<LineariseJob>();
  return {
      "linearise",
      "Frequencies and A, B, C, D of a mechanism about a state",
      "States are independent coordinates and their rates, inputs the forces and torques along their own "
      "directions, outputs the sensors; all in SI units.\n"
      "Examples:\n"
      "  lissom linearise study.toml --static\n"
      "  lissom linearise results/model.rom.h5 --out model.mat\n"
      "  lissom linearise results/model.rom.h5 --at 0.1 --json",
      {state_flags(*job), text("--out", job->out, "MATLAB file (.mat) for A, B, C, D, shapes and the names",
                               ArgumentKind::File)},
      [job](Command& command) {
        JobContext context = command.context();
        command.take(run_linearise_job(*job, context));
      }};
}

Verb response_verb() {
  const auto job = std::make_shared<ResponseJob>();
  return {
      "response",
      "Frequency response of a mechanism about a state",
      "Example:\n  lissom response study.toml --static --from 1 --to 1000 --out response.csv",
      {state_flags(job->state), number("--from", job->from, "Lowest frequency [Hz]", {.from = 0}),
       number("--to", job->to, "Highest frequency [Hz]", {.from = 0, .above_from = true}),
       whole_number("--points", job->points, "Number of frequencies (default 400)", 2, 10000000),
       flag(
           "--linear", [job] { job->logarithmic = false; }, "Frequencies evenly spaced instead of by ratio"),
       texts("--input", job->inputs, "LOAD ...", "Loads that excite (default: all)", true),
       texts("--output", job->outputs, "SENSOR ...", "Sensors that answer (default: all)", true),
       text("--out", job->state.out, "CSV file: f, then magnitude and phase of every pair",
            ArgumentKind::File)},
      [job](Command& command) {
        JobContext context = command.context();
        command.take(run_response_job(*job, context));
      }};
}

}  // namespace lissom::app

// lissom linearise and lissom response: a mechanism about a state, as A, B, C, D, frequencies and responses.
#include "apps/lissom/command.hpp"
#include "apps/lissom/shared_flags.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/study/analysis_jobs.hpp"

namespace lissom::app {

namespace {

struct LineariseFlags {
  MechanismFlags mechanism;
  std::optional<double> at;
  bool statics = false;
  std::string out;
  // of the response
  std::optional<double> from, to;
  std::optional<int> points;
  bool linear = false;
  std::vector<std::string> inputs, outputs;
};

Arguments state_flags(LineariseFlags& flags) {
  return {mechanism_flags(flags.mechanism),
          number("--at", flags.at, "Time [s] of the run at which the state is taken (default: the start)",
                 {.from = 0}),
          flag("--static", flags.statics, "About the static equilibrium")};
}

LineariseJob state_of(const LineariseFlags& flags) {
  LineariseJob job;
  job.mechanism = flags.mechanism.input();
  job.at = flags.at;
  job.statics = flags.statics;
  job.out = flags.out;
  return job;
}

void linearise_file(const LineariseFlags& flags, Command& command) {
  JobContext context = command.context();
  command.take(run_linearise_job(state_of(flags), context));
}

void respond(const LineariseFlags& flags, Command& command) {
  ResponseJob job;
  job.state = state_of(flags);
  job.from = flags.from;
  job.to = flags.to;
  job.points = flags.points;
  if (flags.linear) job.logarithmic = false;
  job.inputs = flags.inputs;
  job.outputs = flags.outputs;
  JobContext context = command.context();
  command.take(run_response_job(job, context));
}

}  // namespace

Verb linearise_verb() {
  const auto flags = std::make_shared<LineariseFlags>();
  return {"linearise",
          "Frequencies and A, B, C, D of a mechanism about a state",
          "States are independent coordinates and their rates, inputs the forces and torques along their own "
          "directions, outputs the sensors; all in SI units.\n"
          "Examples:\n"
          "  lissom linearise study.toml --static\n"
          "  lissom linearise results/model.rom.h5 --out model.mat\n"
          "  lissom linearise results/model.rom.h5 --at 0.1 --json",
          {state_flags(*flags),
           text("--out", flags->out, "MATLAB file (.mat) for A, B, C, D, shapes and the names",
                ArgumentKind::File)},
          [flags](Command& command) { linearise_file(*flags, command); }};
}

Verb response_verb() {
  const auto flags = std::make_shared<LineariseFlags>();
  Argument inputs = texts("--input", flags->inputs, "LOAD ...", "Loads that excite (default: all)");
  Argument outputs = texts("--output", flags->outputs, "SENSOR ...", "Sensors that answer (default: all)");
  inputs.several = outputs.several = true;
  return {
      "response",
      "Frequency response of a mechanism about a state",
      "Example:\n  lissom response study.toml --static --from 1 --to 1000 --out response.csv",
      {state_flags(*flags), number("--from", flags->from, "Lowest frequency [Hz]", {.from = 0}),
       number("--to", flags->to, "Highest frequency [Hz]", {.from = 0, .above_from = true}),
       whole_number("--points", flags->points, "Number of frequencies (default 400)", 2, 10000000),
       flag("--linear", flags->linear, "Frequencies evenly spaced instead of by ratio"), inputs, outputs,
       text("--out", flags->out, "CSV file: f, then magnitude and phase of every pair", ArgumentKind::File)},
      [flags](Command& command) { respond(*flags, command); }};
}

}  // namespace lissom::app

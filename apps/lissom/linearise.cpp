// lissom linearise and lissom response: a mechanism about a state, as A, B, C, D, frequencies and responses.
#include "apps/lissom/mechanism.hpp"
#include "apps/lissom/numbers.hpp"
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

void add_state_flags(CLI::App& verb, LineariseFlags& flags) {
  add_mechanism_flags(verb, flags.mechanism);
  verb.add_option("--at", flags.at, "Time [s] of the run at which the state is taken (default: the start)")
      ->check(finite_number());
  verb.add_flag("--static", flags.statics, "About the static equilibrium");
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

void add_linearise(CLI::App& program, Command& command) {
  CLI::App* verb =
      program.add_subcommand("linearise", "Frequencies and A, B, C, D of a mechanism about a state");
  auto flags = std::make_shared<LineariseFlags>();
  add_state_flags(*verb, *flags);
  verb->add_option("--out", flags->out, "MATLAB file (.mat) for A, B, C, D, shapes and the names")
      ->check(not_empty());
  add_common_flags(*verb, command);
  verb->footer(
      "States are independent coordinates and their rates, inputs the forces and torques along their own "
      "directions, outputs the sensors; all in SI units.\n"
      "Examples:\n"
      "  lissom linearise study.toml --static\n"
      "  lissom linearise results/model.rom.h5 --out model.mat\n"
      "  lissom linearise results/model.rom.h5 --at 0.1 --json");
  verb->callback([flags, &command] { linearise_file(*flags, command); });
}

void add_response(CLI::App& program, Command& command) {
  CLI::App* verb = program.add_subcommand("response", "Frequency response of a mechanism about a state");
  auto flags = std::make_shared<LineariseFlags>();
  add_state_flags(*verb, *flags);
  verb->add_option("--from", flags->from, "Lowest frequency [Hz]")->check(finite_number());
  verb->add_option("--to", flags->to, "Highest frequency [Hz]")->check(finite_number());
  verb->add_option("--points", flags->points, "Number of frequencies (default 400)");
  verb->add_flag("--linear", flags->linear, "Frequencies evenly spaced instead of by ratio");
  verb->add_option("--input", flags->inputs, "Loads that excite (default: all)");
  verb->add_option("--output", flags->outputs, "Sensors that answer (default: all)");
  verb->add_option("--out", flags->out, "CSV file: f, then magnitude and phase of every pair")
      ->check(not_empty());
  add_common_flags(*verb, command);
  verb->footer("Example:\n  lissom response study.toml --static --from 1 --to 1000 --out response.csv");
  verb->callback([flags, &command] { respond(*flags, command); });
}

}  // namespace lissom::app

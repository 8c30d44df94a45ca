// lissom linearise and lissom response: a mechanism about a state, as A, B, C, D, frequencies and responses.
#include "lissom/study/linearise.hpp"
#include "apps/lissom/mechanism.hpp"
#include "lissom/study/analyses.hpp"

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
  verb.add_option("--at", flags.at, "Time [s] of the run at which the state is taken (default: the start)");
  verb.add_flag("--static", flags.statics, "About the static equilibrium");
}

// The flags before what the study says.
LineariseSpec asked(const LineariseFlags& flags, const StudyFile& study) {
  LineariseSpec spec = study.linearise.value_or(LineariseSpec{});
  if (flags.at && flags.statics) fail_input("--at and --static name two states: give one of the two");
  if (flags.statics) spec.about = LineariseSpec::About::Static;
  if (!flags.at) return spec;
  if (!(*flags.at >= 0)) fail_input("--at: is {} s, expected a time from 0 on", *flags.at);
  if (*flags.at > 0 && (!study.simulation || !study.simulation->simulate))
    fail_input("--at: the study has no [simulate] that leads to that time");
  spec.about = *flags.at > 0 ? LineariseSpec::About::Time : LineariseSpec::About::Start;
  spec.time = *flags.at;
  return spec;
}

Linearisation linearised(const LineariseFlags& flags, const Mechanism& mechanism, Command& command) {
  return linearise_study(mechanism.study, asked(flags, mechanism.study), mechanism.make, command.diagnostics,
                         command.progress(), stop_on_interrupt());
}

void linearise_file(const LineariseFlags& flags, Command& command) {
  const Mechanism mechanism = open_mechanism(flags.mechanism, command);
  const Linearisation model = linearised(flags, mechanism, command);
  command.text = describe_linearisation(model, asked(flags, mechanism.study).modes);
  command.json = linearisation_json(model);
  if (flags.out.empty()) return;
  write_linearisation(model, flags.out);
  command.text += fmt::format("wrote {}\n", flags.out);
  command.json["file"] = flags.out;
}

void respond(const LineariseFlags& flags, Command& command) {
  const Mechanism mechanism = open_mechanism(flags.mechanism, command);
  const bool given = mechanism.study.response.has_value();
  ResponseSpec spec = mechanism.study.response.value_or(ResponseSpec{});
  if (!given && (!flags.from || !flags.to))
    fail_input("--from and --to: the study has no [response], so that both frequencies [Hz] are to be given");
  if (flags.from) spec.from = *flags.from;
  if (flags.to) spec.to = *flags.to;
  if (flags.points) spec.points = *flags.points;
  if (flags.linear) spec.logarithmic = false;
  if (!flags.inputs.empty()) spec.inputs = flags.inputs;
  if (!flags.outputs.empty()) spec.outputs = flags.outputs;
  const FrequencyResponse response = frequency_response(linearised(flags, mechanism, command), spec);
  command.text = describe_response(response);
  command.json = response_json(response);
  if (flags.out.empty()) return;
  write_response(response, flags.out);
  command.text += fmt::format("wrote {}\n", flags.out);
  command.json["file"] = flags.out;
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
  verb->add_option("--from", flags->from, "Lowest frequency [Hz]");
  verb->add_option("--to", flags->to, "Highest frequency [Hz]");
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

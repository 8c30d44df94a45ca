// lissom linearise: a reduced mechanism about a state, as A, B, C, D.
#include "lissom/study/linearise.hpp"
#include "apps/lissom/command.hpp"
#include "lissom/io/rom_file.hpp"
#include "lissom/io/study_file.hpp"

namespace lissom::app {

namespace {

struct LineariseFlags {
  std::string rom, study, out;
  std::optional<double> at;
};

void linearise_rom(const LineariseFlags& flags, Command& command) {
  if (!is_rom_file(flags.rom))
    fail_input(
        "{}: is no reduced mechanism; 'lissom linearise' takes a .rom.h5 file that 'lissom train' wrote",
        flags.rom);
  const RomFile rom = read_rom_file(flags.rom, command.diagnostics);
  const StudyFile study = flags.study.empty() ? parse_study(rom.study, rom.study_path, flags.rom)
                                              : read_study_file(flags.study, flags.rom);
  if (!study.simulation) fail_input("{}: has no loads and sensors", study.path.string());
  const StudySystem built = build_rom_system(study, rom.model, command.diagnostics);
  double t = 0;
  Eigen::VectorXd q = built.q, v = built.v;
  if (flags.at && *flags.at != 0) {
    if (!study.simulation->simulate) fail_input("--at: the study has no [simulate] that leads to that time");
    if (!(*flags.at > 0)) fail_input("--at: is {} s, expected a time from 0 on", *flags.at);
    StudyFile until = study;
    until.simulation->simulate->integrator.end = *flags.at;
    SimulationOptions options;
    options.write_files = false;
    options.stop = stop_on_interrupt();
    const SimulationRun run = simulate(until, {}, build_rom_system(study, rom.model, command.diagnostics),
                                       command.diagnostics, command.progress(), options);
    t = run.sample_times[run.sample_times.size() - 1];
    q = run.q.col(run.q.cols() - 1);
    v = run.v.col(run.v.cols() - 1);
  }
  const Linearisation model = linearise(built, t, q, v);
  command.text = describe_linearisation(model);
  command.json = linearisation_json(model);
  if (flags.out.empty()) return;
  write_linearisation(model, flags.out);
  command.text += fmt::format("wrote {}\n", flags.out);
  command.json["file"] = flags.out;
}

}  // namespace

void add_linearise(CLI::App& program, Command& command) {
  CLI::App* verb = program.add_subcommand("linearise", "A, B, C, D of a reduced mechanism about a state");
  auto flags = std::make_shared<LineariseFlags>();
  verb->add_option("ROM", flags->rom, "The model (.rom.h5)")->required();
  verb->add_option("--at", flags->at,
                   "Time [s] of its own run at which the state is taken (default: the start)");
  verb->add_option("--study", flags->study, "Another study's loads and sensors");
  verb->add_option("--out", flags->out, "MATLAB file (.mat) for A, B, C, D and the names")
      ->check(not_empty());
  add_common_flags(*verb, command);
  verb->footer(
      "States are the model's coordinates and their rates, inputs its forces and torques along their own "
      "directions, outputs its sensors; all in SI units.\n"
      "Examples:\n"
      "  lissom linearise results/model.rom.h5 --out model.mat\n"
      "  lissom linearise results/model.rom.h5 --at 0.1 --json");
  verb->callback([flags, &command] { linearise_rom(*flags, command); });
}

}  // namespace lissom::app

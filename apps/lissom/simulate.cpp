// lissom simulate: the simulation of a study, or of one of its cases, or of a reduced mechanism, and nothing
// else.
#include "lissom/study/simulate.hpp"
#include "apps/lissom/mechanism.hpp"
#include "lissom/study/paraview.hpp"
#include "lissom/study/run_summary.hpp"
#include "lissom/study/train.hpp"
#include "lissom/study/view.hpp"

namespace lissom::app {

namespace {

struct SimulateFlags {
  std::string file, study, out, case_name;
  ResumeFlags resume;
  SettingFlags settings;
  bool no_view = false;
};

// By default where 'lissom run' would put it.
std::filesystem::path folder_of(const SimulateFlags& flags, const std::string& case_name) {
  if (!flags.out.empty()) return flags.out;
  std::filesystem::path stem = std::filesystem::path(flags.file).stem();
  if (stem.extension() == ".rom") stem = stem.stem();
  const std::filesystem::path folder = stem.string() + ".out";
  return case_name.empty() ? folder : folder / case_name;
}

// The view, and for ParaView where the study asks for it.
void show(const SimulateFlags& flags, const StudyFile& variant, const std::function<BodyMeshes()>& meshes,
          const std::filesystem::path& out, SimulationRun& run, Command& command) {
  if (variant.simulation->simulate->paraview)
    write_motion(run, *variant.simulation->simulate->paraview, meshes(), out, command.diagnostics,
                 command.progress());
  if (!flags.no_view) write_motion_view(run, variant, meshes, out, command.diagnostics, command.progress());
}

// The bodies that a model was made of, as its own study describes them; their meshes need not be there any
// more, which only ParaView minds.
BodyMeshes meshes_of_model(const RomFile& rom, const StudyFile& variant, Command& command) {
  const auto& simulate = *variant.simulation->simulate;
  Diagnostics unasked;
  Diagnostics& diagnostics = simulate.paraview ? command.diagnostics : unasked;
  try {
    if (rom.study.empty()) fail_input("the model has no study in it");
    StudyFile full = parse_study(rom.study, rom.study_path);
    if (!full.simulation) fail_input("the study in the model has no simulation");
    full.simulation->simulate = simulate;
    BodyStore store;
    return meshes_to_show(full, store, diagnostics, command.progress());
  } catch (const InputError& e) {
    diagnostics.warn("paraview.meshes",
                     fmt::format("nothing is written for ParaView, the meshes cannot be read: {}", e.what()));
    return {};
  }
}

void report(const StudyFile& study, const StudyFile& variant, const std::filesystem::path& out,
            SimulationRun run, Command& command) {
  command.text = fmt::format("{}\n\n{}wrote {}\nwrote {}\n", study.title, run.text,
                             (out / "sensors.csv").string(), (out / "result.h5").string());
  if (run.summary.contains("view"))
    command.text +=
        fmt::format("wrote {}\n", (out / run.summary["view"]["file"].get<std::string>()).string());
  command.styled = sensor_curves(out / "sensors.csv", Terminal::of_stdout());
  command.json = std::move(run.summary);
  command.json["study"] = study.path.string();
  command.json["title"] = study.title;
  command.json["case"] = variant.case_name;
}

SimulationOptions simulation_options(const SimulateFlags& flags) {
  SimulationOptions options;
  options.stop = stop_on_interrupt();
  options.resume = flags.resume.resume;
  options.checkpoint = flags.resume.checkpoint;
  return options;
}

// A study or a case of it with a parametric model.
void simulate_pod(const SimulateFlags& flags, const StudyFile& study, const StudyFile& variant,
                  const PodFile& model, Command& command) {
  if (!variant.simulation || !variant.simulation->simulate)
    fail_input("{}: there is no table [simulate]; add one with end and step", study.path.string());
  const std::filesystem::path out = folder_of(flags, flags.case_name);
  check_output_folder(out);
  SimulationRun run = simulate(variant, out, pod_system(variant, model, flags.settings, command),
                               command.diagnostics, command.progress(), simulation_options(flags));
  BodyStore store;
  show(
      flags, variant, [&] { return meshes_to_show(variant, store, command.diagnostics, command.progress()); },
      out, run, command);
  report(study, variant, out, std::move(run), command);
}

void simulate_pod_file(const SimulateFlags& flags, Command& command) {
  const PodFile model = read_pod_file(flags.file, command.diagnostics);
  const StudyFile study =
      study_of_rom(model.study, model.study_path, flags.file, flags.study, flags.settings.settings());
  const std::string own_case = flags.study.empty() ? model.case_name : "";
  simulate_pod(flags, study, chosen_case(study, flags.case_name.empty() ? own_case : flags.case_name), model,
               command);
  command.json["rom"] = flags.file;
}

void simulate_rom(const SimulateFlags& flags, Command& command) {
  if (is_pod_file(flags.file)) return simulate_pod_file(flags, command);
  const RomFile rom = read_rom_file(flags.file, command.diagnostics);
  const StudyFile study =
      study_of_rom(rom.study, rom.study_path, flags.file, flags.study, flags.settings.settings());
  const std::string& own_case = flags.study.empty() ? rom.case_name : "";
  const StudyFile& variant = chosen_case(study, flags.case_name.empty() ? own_case : flags.case_name);
  // what was trained does not change any more
  for (const StudyCase& one : study.cases)
    for (const std::string& change : one.changes)
      if (&one.study == &variant &&
          (change.starts_with("train.") || change.starts_with("bodies.") || change.starts_with("joints.")))
        command.diagnostics.warn(
            "simulate.trained",
            fmt::format("the case '{}' sets {}, which is part of the model and stays as it "
                        "was trained",
                        variant.case_name, change));
  if (!variant.simulation || !variant.simulation->simulate)
    fail_input(
        "{}: there is no table [simulate]; add one with end and step, or name another study with --study",
        study.path.string());
  const std::filesystem::path out = folder_of(flags, flags.case_name);
  const SimulationOptions options = simulation_options(flags);
  BodyMeshes meshes;
  if (variant.simulation->simulate->paraview || !flags.no_view)
    meshes = meshes_of_model(rom, variant, command);
  SimulationRun run = simulate(variant, out, build_rom_system(variant, rom.model, command.diagnostics),
                               command.diagnostics, command.progress(), options);
  if (!meshes.empty() && variant.simulation->simulate->paraview)
    write_motion(run, *variant.simulation->simulate->paraview, meshes, out, command.diagnostics,
                 command.progress());
  if (!flags.no_view)
    write_motion_view(
        run, variant, [&] { return meshes; }, out, command.diagnostics, command.progress());
  report(study, variant, out, std::move(run), command);
  command.json["rom"] = flags.file;
}

void simulate_study(const SimulateFlags& flags, Command& command) {
  if (!flags.study.empty()) fail_input("--study goes with a ROM file, and {} is a study", flags.file);
  const StudyFile study = read_study_file(flags.file, {}, flags.settings.settings());
  const StudyFile& variant = chosen_case(study, flags.case_name);
  if (!variant.pod_rom.empty())
    return simulate_pod(flags, study, variant, read_pod_file(variant.pod_rom, command.diagnostics), command);
  const std::filesystem::path out = folder_of(flags, flags.case_name);
  BodyStore store(false, wants_paraview(variant) || !flags.no_view, stress_needs(study));
  const auto shown = [&] { return meshes_to_show(variant, store, command.diagnostics, command.progress()); };
  const SimulationOptions options = simulation_options(flags);
  const bool to_train = needs_training(variant);
  if (to_train && variant.train->pod) {
    check_output_folder(out);
    const PodTraining training =
        trained_pod(study, variant, flags.settings.settings(), out, flags.resume, command);
    const std::vector<std::string> files = write_pod_training(training, out);
    simulate_pod(flags, study, variant, training.rom, command);
    command.text = describe_pod_training(training) + "\n" + command.text;
    command.json["train"] = pod_training_json(training);
    command.json["train"]["files"] = files;
    return;
  }
  if (!to_train) {
    SimulationRun run = simulate(variant, out, store, command.diagnostics, command.progress(), options);
    show(flags, variant, shown, out, run, command);
    return report(study, variant, out, std::move(run), command);
  }
  // the model first: runs are the study's, settings of the training the case's
  check_output_folder(out);
  StudyFile asked = study;
  asked.train = variant.train;
  TrainingMotions motions;
  const Training training =
      train(asked, store, motions, command.diagnostics, command.progress(), options.stop);
  SimulationRun run =
      simulate(variant, out, build_rom_system(variant, training.rom.model, command.diagnostics),
               command.diagnostics, command.progress(), options);
  show(flags, variant, shown, out, run, command);
  report(study, variant, out, std::move(run), command);
  command.text = describe_training(training) + "\n" + command.text;
  command.json["train"] = training_json(training);
}

void simulate_file(const SimulateFlags& flags, Command& command) {
  if (is_study(flags.file)) return simulate_study(flags, command);
  if (!std::filesystem::exists(flags.file)) fail_input("{}: no such file", flags.file);
  if (!is_rom(flags.file))
    fail_input(
        "{}: is no study and no reduced mechanism; 'lissom simulate' takes a .toml file with bodies, joints "
        "and "
        "[simulate], or a .rom.h5 file, which 'lissom train' writes",
        flags.file);
  simulate_rom(flags, command);
}

}  // namespace

void add_simulate(CLI::App& program, Command& command) {
  CLI::App* verb = program.add_subcommand("simulate", "Simulate the mechanism of a study, or a reduced one");
  auto flags = std::make_shared<SimulateFlags>();
  verb->add_option("FILE", flags->file,
                   "The study file (.toml) with joints and [simulate], or a reduced mechanism (.rom.h5)")
      ->required();
  verb->add_option(
          "--study", flags->study,
          "Of a reduced mechanism: the loads, sensors and [simulate] of this study in place of its own")
      ->check(not_empty());
  verb->add_option("--case", flags->case_name, "This case of the study instead of the study itself")
      ->check(not_empty());
  verb->add_option("--out", flags->out, "Folder for the results (default: NAME.out, or NAME.out/CASE)")
      ->check(not_empty());
  verb->add_flag("--no-view", flags->no_view, "Write no view of the motion (motion.view.h5)");
  add_resume_flags(*verb, flags->resume);
  add_setting_flags(*verb, flags->settings);
  add_common_flags(*verb, command);
  verb->footer(
      "Writes sensors.csv (in the study's units) and result.h5 (in SI units). Ctrl-C ends the run and keeps "
      "what was computed; --resume goes on from there, or from where a run was killed.\n"
      "Examples:\n"
      "  lissom simulate examples/four-bar/study.toml --out results\n"
      "  lissom simulate study.toml --case gcms --json\n"
      "  lissom simulate study.toml --resume\n"
      "  lissom simulate four-bar.rom.h5 --study other-load.toml\n"
      "  lissom simulate pendulum.rom.h5 --set mass1=0.2642 --set mass2=0.15 --strict");
  verb->callback([flags, &command] { simulate_file(*flags, command); });
}

}  // namespace lissom::app

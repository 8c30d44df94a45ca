#include "lissom/study/simulate_job.hpp"

#include "lissom/core/folder_lock.hpp"
#include "lissom/study/paraview.hpp"
#include "lissom/study/study_inputs.hpp"
#include "lissom/study/train.hpp"
#include "lissom/study/view.hpp"

namespace lissom {

namespace {

std::filesystem::path folder_of(const SimulateJob& job) {
  if (!job.out.empty()) return job.out;
  const std::filesystem::path folder = default_folder(job.mechanism.main.file);
  return job.mechanism.case_name.empty() ? folder : folder / job.mechanism.case_name;
}

// From the first file, a training's may be, to the last, the view.
std::optional<FolderLock> lock_of(const SimulateJob& job, const std::filesystem::path& out) {
  if (!job.write_files) return std::nullopt;
  check_output_folder(out);
  return std::optional<FolderLock>(std::in_place, out);
}

SimulationOptions simulation_options(const SimulateJob& job, const JobContext& context) {
  SimulationOptions options;
  options.write_files = job.write_files;
  options.stop = context.stop;
  options.resume = job.resume.resume;
  options.checkpoint = job.resume.checkpoint;
  options.balance = job.balance;
  options.controller = job.controller;
  if (!job.keep) options.keep = RunOptions::Keep::Nothing;
  return options;
}

// The view, and for ParaView where the study asks for it.
void show(const SimulateJob& job, const StudyFile& variant, const std::function<BodyMeshes()>& meshes,
          const std::filesystem::path& out, SimulationRun& run, JobContext& context) {
  if (!job.write_files) return;
  if (variant.simulation->simulate->paraview)
    write_motion(run, *variant.simulation->simulate->paraview, meshes(), out, context.diagnostics,
                 context.progress);
  if (job.view) write_motion_view(run, variant, meshes, out, context.diagnostics, context.progress);
}

// The bodies that a model was made of, as its own study describes them; their meshes need not be there any
// more, which only ParaView minds.
BodyMeshes meshes_of_model(const RomFile& rom, const StudyFile& variant, JobContext& context) {
  const auto& simulate = *variant.simulation->simulate;
  Diagnostics unasked;
  Diagnostics& diagnostics = simulate.paraview ? context.diagnostics : unasked;
  try {
    if (rom.study.empty()) fail_input("the model has no study in it");
    StudyFile full = parse_study(rom.study, rom.study_path);
    if (!full.simulation) fail_input("the study in the model has no simulation");
    full.simulation->simulate = simulate;
    BodyStore store;
    return meshes_to_show(full, store, diagnostics, context.progress);
  } catch (const InputError& e) {
    diagnostics.warn("paraview.meshes",
                     fmt::format("nothing is written for ParaView, the meshes cannot be read: {}", e.what()));
    return {};
  }
}

SimulateResult result_of(const SimulateJob& job, const StudyFile& study, const StudyFile& variant,
                         const std::filesystem::path& out, SimulationRun run) {
  SimulateResult result;
  result.text = fmt::format("{}\n\n{}", study.title, run.text);
  if (job.write_files) {
    result.out = out;
    for (const char* name : {"sensors.csv", "result.h5"})
      result.text += fmt::format("wrote {}\n", (out / name).string());
    if (run.summary.contains("view"))
      result.text +=
          fmt::format("wrote {}\n", (out / run.summary["view"]["file"].get<std::string>()).string());
  }
  result.json = std::move(run.summary);
  result.json["study"] = study.path.string();
  result.json["title"] = study.title;
  result.json["case"] = variant.case_name;
  result.run = std::move(run);
  return result;
}

// A study or a case of it with a parametric model.
SimulateResult simulate_pod(const SimulateJob& job, const StudyFile& study, const StudyFile& variant,
                            const PodFile& model, JobContext& context) {
  if (!variant.simulation || !variant.simulation->simulate)
    fail_input("{}: there is no table [simulate]; add one with end and step", study.path.string());
  const std::filesystem::path out = folder_of(job);
  const auto lock = lock_of(job, out);
  SimulationRun run = simulate(variant, out, pod_system(variant, model, job.mechanism.strict, context),
                               context.diagnostics, context.progress, simulation_options(job, context));
  BodyStore store;
  show(
      job, variant, [&] { return meshes_to_show(variant, store, context.diagnostics, context.progress); },
      out, run, context);
  return result_of(job, study, variant, out, std::move(run));
}

SimulateResult simulate_pod_file(const SimulateJob& job, JobContext& context) {
  const MechanismInput& input = job.mechanism;
  const PodFile model = read_pod_file(input.main.file, context.diagnostics);
  const StudyFile study = study_of_rom(model.study, model.study_path, input);
  const std::string own_case = input.study ? "" : model.case_name;
  SimulateResult result = simulate_pod(
      job, study, chosen_case(study, input.case_name.empty() ? own_case : input.case_name), model, context);
  result.json["rom"] = input.main.file;
  return result;
}

// A study or a case of it with a linear model.
SimulateResult simulate_by_linear(const SimulateJob& job, const StudyFile& study, const StudyFile& variant,
                                  const LinearMechanism& mechanism, JobContext& context) {
  const std::filesystem::path out = folder_of(job);
  const auto lock = lock_of(job, out);
  return result_of(
      job, study, variant, out,
      simulate_linear(variant, out, mechanism, context.diagnostics, simulation_options(job, context)));
}

SimulateResult simulate_rom(const SimulateJob& job, JobContext& context) {
  const MechanismInput& input = job.mechanism;
  if (is_linear_file(input.main.file)) {
    const Mechanism mechanism = open_mechanism(input, context);
    SimulateResult result =
        simulate_by_linear(job, mechanism.study, mechanism.study, *mechanism.linear, context);
    result.json["rom"] = input.main.file;
    return result;
  }
  if (is_pod_file(input.main.file)) return simulate_pod_file(job, context);
  const RomFile rom = read_rom_file(input.main.file, context.diagnostics);
  const StudyFile study = study_of_rom(rom.study, rom.study_path, input);
  const std::string own_case = input.study ? "" : rom.case_name;
  const StudyFile& variant = chosen_case(study, input.case_name.empty() ? own_case : input.case_name);
  // what was trained does not change any more
  for (const StudyCase& one : study.cases)
    for (const std::string& change : one.changes)
      if (&one.study == &variant &&
          (change.starts_with("train.") || change.starts_with("bodies.") || change.starts_with("joints.")))
        context.diagnostics.warn(
            "simulate.trained",
            fmt::format("the case '{}' sets {}, which is part of the model and stays as it "
                        "was trained",
                        variant.case_name, change));
  if (!variant.simulation || !variant.simulation->simulate)
    fail_input(
        "{}: there is no table [simulate]; add one with end and step, or name another study with --study",
        study.path.string());
  const std::filesystem::path out = folder_of(job);
  const auto lock = lock_of(job, out);
  BodyMeshes meshes;
  if (job.write_files && (variant.simulation->simulate->paraview || job.view))
    meshes = meshes_of_model(rom, variant, context);
  SimulationRun run = simulate(variant, out, build_rom_system(variant, rom.model, context.diagnostics),
                               context.diagnostics, context.progress, simulation_options(job, context));
  if (job.write_files && !meshes.empty() && variant.simulation->simulate->paraview)
    write_motion(run, *variant.simulation->simulate->paraview, meshes, out, context.diagnostics,
                 context.progress);
  if (job.write_files && job.view)
    write_motion_view(
        run, variant, [&] { return meshes; }, out, context.diagnostics, context.progress);
  SimulateResult result = result_of(job, study, variant, out, std::move(run));
  result.json["rom"] = input.main.file;
  return result;
}

SimulateResult simulate_study(const SimulateJob& job, JobContext& context) {
  const MechanismInput& input = job.mechanism;
  if (input.study) fail_input("--study goes with a ROM file, and {} is a study", input.main.file);
  const GuardedStudy guarded = read_guarded(input.main);
  const StudyFile& study = guarded.study;
  const StudyFile& variant = chosen_case(study, input.case_name);
  if (!variant.pod_rom.empty())
    return simulate_pod(job, study, variant, read_pod_file(variant.pod_rom, context.diagnostics), context);
  if (is_linear_file(variant.rom))
    return simulate_by_linear(
        job, study, variant,
        linear_mechanism(read_linear_file(variant.rom, context.diagnostics), variant.rom), context);
  if (needs_training(variant) && variant.train->linear) {
    const LinearTraining training = trained_linear(variant, context);
    SimulateResult result =
        simulate_by_linear(job, study, variant, {training.rom, *variant.simulation}, context);
    result.text = describe_linear_training(training) + "\n" + result.text;
    result.json["train"] = linear_training_json(training);
    return result;
  }
  const std::filesystem::path out = folder_of(job);
  const auto lock = lock_of(job, out);
  BodyStore store(false, job.write_files && (wants_paraview(variant) || job.view), stress_needs(study));
  const auto shown = [&] { return meshes_to_show(variant, store, context.diagnostics, context.progress); };
  const SimulationOptions options = simulation_options(job, context);
  const bool to_train = needs_training(variant);
  if (to_train && variant.train->pod) {
    const std::filesystem::path folder = job.write_files ? out : std::filesystem::path();
    const PodTraining training = trained_pod(input.main, study, variant, folder, job.resume, context);
    std::vector<std::string> files;
    if (job.write_files) files = write_pod_training(training, out);
    SimulateResult result = simulate_pod(job, study, variant, training.rom, context);
    result.text = describe_pod_training(training) + "\n" + result.text;
    result.json["train"] = pod_training_json(training);
    if (job.write_files) result.json["train"]["files"] = files;
    return result;
  }
  if (!to_train) {
    SimulationRun run = simulate(variant, out, store, context.diagnostics, context.progress, options);
    show(job, variant, shown, out, run, context);
    return result_of(job, study, variant, out, std::move(run));
  }
  // the model first: runs are the study's, settings of the training the case's
  StudyFile asked = study;
  asked.train = variant.train;
  TrainingMotions motions;
  const Training training = train(asked, store, motions, context.diagnostics, context.progress, options.stop);
  SimulationRun run =
      simulate(variant, out, build_rom_system(variant, training.rom.model, context.diagnostics),
               context.diagnostics, context.progress, options);
  show(job, variant, shown, out, run, context);
  SimulateResult result = result_of(job, study, variant, out, std::move(run));
  result.text = describe_training(training) + "\n" + result.text;
  result.json["train"] = training_json(training);
  return result;
}

}  // namespace

SimulateResult run_simulate_job(const SimulateJob& job, JobContext& context) {
  if (job.mechanism.is_study()) return simulate_study(job, context);
  const std::string& file = job.mechanism.main.file;
  if (!std::filesystem::exists(file)) fail_input("{}: no such file", file);
  if (!is_rom(file))
    fail_input(
        "{}: is no study and no reduced mechanism; 'lissom simulate' takes a .toml file with bodies, joints "
        "and [simulate], or a .rom.h5 file, which 'lissom train' writes",
        file);
  std::vector<std::filesystem::path> files = {file};
  if (job.mechanism.study) files.emplace_back(job.mechanism.study->file);
  const InputGuard inputs(files);
  return simulate_rom(job, context);
}

}  // namespace lissom

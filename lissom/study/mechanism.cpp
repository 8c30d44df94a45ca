#include "lissom/study/mechanism.hpp"

#include <fmt/ranges.h>

#include "lissom/core/text.hpp"
#include "lissom/study/train.hpp"

namespace lissom {

const StudyFile& chosen_case(const StudyFile& study, const std::string& name) {
  if (name.empty()) return study;
  std::vector<std::string> names;
  for (const StudyCase& variant : study.cases) {
    if (variant.study.case_name == name) return variant.study;
    names.push_back(variant.study.case_name);
  }
  if (name == "study") return study;
  fail_input("--case: {} has no case '{}'{}; {}", study.path.string(), name, did_you_mean(name, names),
             names.empty() ? "it has none" : fmt::format("there are: {}", fmt::join(names, ", ")));
}

namespace {

// What was trained does not change any more, whatever a case says.
void warn_of_trained(const StudyFile& study, const std::string& name, Diagnostics& diagnostics) {
  for (const StudyCase& variant : study.cases)
    for (const std::string& change : variant.changes)
      if (variant.study.case_name == name &&
          (change.starts_with("train.") || change.starts_with("bodies.") || change.starts_with("joints.")))
        diagnostics.warn("simulate.trained",
                         fmt::format("the case '{}' sets {}, which is part of the model and stays as it "
                                     "was trained",
                                     name, change));
}

}  // namespace

StudyFile study_of_rom(const std::string& own, const std::string& path, const MechanismInput& input) {
  const std::string& file = input.main.file;
  const std::vector<StudySetting>& settings = input.main.settings;
  if (input.study) {
    if (!input.study->text && !is_study(input.study->file))
      fail_input("--study: '{}' is no study, expected a .toml file", input.study->file);
    StudyInput other = *input.study;
    other.settings.insert(other.settings.end(), settings.begin(), settings.end());
    return other.read(file);
  }
  // of a SLAP model nothing of its own training can be set any more
  for (const StudySetting& setting : settings)
    if (!is_pod_file(file) && (setting.key == "train" || setting.key.starts_with("train.")))
      fail_input(
          "--set: {} changes 'train' of the study, which the model has built in: set it for 'lissom train', "
          "which makes another model",
          setting.key);
  if (own.empty())
    fail_input("{}: has no study in it; --study names one with loads, sensors and [simulate]", file);
  try {
    return parse_study(own, path.empty() ? file : path, file, settings);
  } catch (const InputError& e) {
    // what was asked for is wrong, not the study
    if (!settings.empty()) throw;
    throw InputError(
        fmt::format("{}: the study in it cannot be used; --study names another one\n{}", file, e.what()));
  }
}

StudySystem pod_system(const StudyFile& variant, const PodFile& model, bool strict, JobContext& context) {
  if (strict) expect_in_range(model, variant.pod_parameters);
  BodyStore store;
  PodSystemOptions options;
  if (variant.train && variant.train->pod) options = pod_system_options(*variant.train->pod, model);
  return make_pod_system(variant, model, store, context.diagnostics, context.progress, options);
}

LinearTraining trained_linear(const StudyFile& variant, JobContext& context) {
  const StudyFile asked = with_full_model(variant);
  BodyStore store(false, false, stress_needs(asked));
  const auto make = [&] { return make_system(asked, store, context.diagnostics, context.progress); };
  return train_linear(asked, make, context.diagnostics, context.progress, context.stop);
}

std::unique_ptr<Rom> open_rom(const Mechanism& mechanism, JobContext& context) {
  if (mechanism.linear)
    return std::make_unique<LinearRom>(linear_rom(mechanism.study, *mechanism.linear, context.diagnostics));
  return std::make_unique<MechanismOde>(
      study_ode(mechanism.study, mechanism.make(), context.diagnostics, context.progress));
}

MechanismOde study_ode(const StudyFile& study, StudySystem built, Diagnostics& diagnostics,
                       const ProgressHook& progress) {
  if (!study.simulation)
    fail_input("{}: has no joints, loads or sensors, and so no motion", study.path.string());
  Start start = study_start(built, study, diagnostics, std::nullopt, progress);
  MechanismOde::Mechanism of;
  of.system = std::move(built.system);
  of.sensors = std::move(built.sensors);
  if (built.rom) {
    of.method = "slap";
    of.training = {built.rom, &built.rom->training};
  } else if (built.pod) {
    of.method = "pod";
    of.training = {of.system, &built.pod->training()};
  }
  try {
    return MechanismOde(std::move(of), std::move(start), diagnostics);
  } catch (const InputError& e) {
    fail_input("{}: {}", study.path.string(), e.what());
  }
}

PodTraining trained_pod(const StudyInput& input, const StudyFile& study, const StudyFile& variant,
                        const std::filesystem::path& folder, const ResumeOptions& resume,
                        JobContext& context) {
  StudyFile asked = study;
  asked.train = variant.train;
  PodTrainingOptions options;
  options.folder = folder;
  options.stop = context.stop;
  options.resume = resume.resume;
  options.checkpoint = resume.checkpoint;
  if (!folder.empty()) options.runner = input.runner(context, resume.checkpoint);
  BodyStore store;
  return train_pod(asked, store, context.diagnostics, context.progress, options);
}

namespace {

void take_linear(Mechanism& out, LinearMechanism linear) {
  out.linear = std::make_shared<const LinearMechanism>(std::move(linear));
  out.make = []() -> StudySystem {
    fail_input("a linear model has no bodies any more: simulate it, linearise it, or ask for its response");
  };
}

Mechanism open(const MechanismInput& input, JobContext& context) {
  Mechanism out;
  if (input.is_study()) {
    if (input.study) fail_input("--study goes with a ROM file, and {} is a study", input.main.file);
    const StudyFile study = input.main.read();
    out.study = chosen_case(study, input.case_name);
    out.title = study.title;
    const bool to_train = needs_training(out.study);
    if (to_train && out.study.train->pod) {
      const auto training =
          std::make_shared<const PodTraining>(trained_pod(input.main, study, out.study, {}, {}, context));
      out.make = [variant = out.study, training, strict = input.strict, &context] {
        return pod_system(variant, training->rom, strict, context);
      };
      return out;
    }
    if (to_train && out.study.train->linear) {
      take_linear(out, {trained_linear(out.study, context).rom, *out.study.simulation});
      return out;
    }
    if (is_linear_file(out.study.rom)) {
      take_linear(out, linear_mechanism(read_linear_file(out.study.rom, context.diagnostics), out.study.rom));
      return out;
    }
    if (!out.study.pod_rom.empty()) {
      const auto model =
          std::make_shared<const PodFile>(read_pod_file(out.study.pod_rom, context.diagnostics));
      out.make = [variant = out.study, model, strict = input.strict, &context] {
        return pod_system(variant, *model, strict, context);
      };
      return out;
    }
    // bodies are reduced once
    const auto store = std::make_shared<BodyStore>(to_train, false, stress_needs(study));
    if (to_train) {
      StudyFile asked = study;
      asked.train = out.study.train;
      TrainingMotions motions;
      const auto training = std::make_shared<const Training>(
          train(asked, *store, motions, context.diagnostics, context.progress, context.stop));
      out.make = [variant = out.study, training, &context] {
        return build_rom_system(variant, training->rom.model, context.diagnostics);
      };
    } else {
      out.make = [variant = out.study, store, &context] {
        return make_system(variant, *store, context.diagnostics, context.progress);
      };
    }
    return out;
  }
  if (!std::filesystem::exists(input.main.file)) fail_input("{}: no such file", input.main.file);
  if (!is_rom(input.main.file))
    fail_input(
        "{}: is no study and no reduced mechanism; expected a .toml file with bodies and joints, or a "
        ".rom.h5 file, which 'lissom train' writes",
        input.main.file);
  if (is_pod_file(input.main.file)) {
    const auto model = std::make_shared<const PodFile>(read_pod_file(input.main.file, context.diagnostics));
    const StudyFile study = study_of_rom(model->study, model->study_path, input);
    out.study =
        chosen_case(study, input.case_name.empty() && !input.study ? model->case_name : input.case_name);
    out.title = study.title;
    out.make = [variant = out.study, model, strict = input.strict, &context] {
      return pod_system(variant, *model, strict, context);
    };
    return out;
  }
  if (is_linear_file(input.main.file)) {
    LinearMechanism linear =
        linear_mechanism(read_linear_file(input.main.file, context.diagnostics), input.main.file);
    const StudyFile study = study_of_rom(linear.file.study, linear.file.study_path, input);
    const std::string own_case = input.study ? "" : linear.file.case_name;
    if (input.case_name != own_case) warn_of_trained(study, input.case_name, context.diagnostics);
    out.study = chosen_case(study, input.case_name.empty() ? own_case : input.case_name);
    out.title = study.title;
    take_linear(out, std::move(linear));
    return out;
  }
  const auto rom = std::make_shared<const RomFile>(read_rom_file(input.main.file, context.diagnostics));
  const StudyFile study = study_of_rom(rom->study, rom->study_path, input);
  const std::string own_case = !input.study ? rom->case_name : "";
  if (input.case_name != own_case) warn_of_trained(study, input.case_name, context.diagnostics);
  out.study = chosen_case(study, input.case_name.empty() ? own_case : input.case_name);
  out.title = study.title;
  out.make = [variant = out.study, rom, &context] {
    return build_rom_system(variant, rom->model, context.diagnostics);
  };
  return out;
}

}  // namespace

Mechanism open_mechanism(const MechanismInput& input, JobContext& context) {
  const ReadFiles read;
  Mechanism out = open(input, context);
  std::vector<std::filesystem::path> files = {input.main.file};
  if (input.study) files.emplace_back(input.study->file);
  out.inputs = guard_inputs(out.study, read, files);
  return out;
}

}  // namespace lissom

#include "apps/lissom/mechanism.hpp"

#include <fmt/ranges.h>

#include "apps/lissom/training_processes.hpp"
#include "lissom/core/text.hpp"
#include "lissom/study/train.hpp"

namespace lissom::app {

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

StudyFile study_of_rom(const std::string& own, const std::string& path, const std::string& file,
                       const std::string& study, const std::vector<StudySetting>& settings) {
  if (!study.empty()) {
    if (!is_study(study)) fail_input("--study: '{}' is no study, expected a .toml file", study);
    return read_study_file(study, file, settings);
  }
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

StudySystem pod_system(const StudyFile& variant, const PodFile& model, const SettingFlags& flags,
                       Command& command) {
  if (flags.strict) expect_in_range(model, variant.pod_parameters);
  BodyStore store;
  PodSystemOptions options;
  if (variant.train && variant.train->pod) options = pod_system_options(*variant.train->pod, model);
  return make_pod_system(variant, model, store, command.diagnostics, command.progress(), options);
}

PodTraining trained_pod(const StudyFile& study, const StudyFile& variant,
                        const std::vector<StudySetting>& settings, const std::filesystem::path& folder,
                        const ResumeFlags& resume, Command& command) {
  StudyFile asked = study;
  asked.train = variant.train;
  PodTrainingOptions options;
  options.folder = folder;
  options.stop = stop_on_interrupt();
  options.resume = resume.resume;
  options.checkpoint = resume.checkpoint;
  if (!folder.empty())
    options.runner = training_processes(study.path.string(), settings, resume.checkpoint, options.stop);
  BodyStore store;
  return train_pod(asked, store, command.diagnostics, command.progress(), options);
}

void add_mechanism_flags(CLI::App& verb, MechanismFlags& flags) {
  verb.add_option("FILE", flags.file, "The study file (.toml), or a reduced mechanism (.rom.h5)")->required();
  verb.add_option("--case", flags.case_name, "This case of the study instead of the study itself")
      ->check(not_empty());
  verb.add_option("--study", flags.study,
                  "Of a reduced mechanism: the loads and sensors of this study in place of its own")
      ->check(not_empty());
  add_setting_flags(verb, flags.settings);
}

Mechanism open_mechanism(const MechanismFlags& flags, Command& command) {
  Mechanism out;
  if (is_study(flags.file)) {
    if (!flags.study.empty()) fail_input("--study goes with a ROM file, and {} is a study", flags.file);
    const StudyFile study = read_study_file(flags.file, {}, flags.settings.settings());
    out.study = chosen_case(study, flags.case_name);
    out.title = study.title;
    const bool to_train = needs_training(out.study);
    if (to_train && out.study.train->pod) {
      const auto training = std::make_shared<const PodTraining>(
          trained_pod(study, out.study, flags.settings.settings(), {}, {}, command));
      out.make = [variant = out.study, training, settings = flags.settings, &command] {
        return pod_system(variant, training->rom, settings, command);
      };
      return out;
    }
    if (!out.study.pod_rom.empty()) {
      const auto model =
          std::make_shared<const PodFile>(read_pod_file(out.study.pod_rom, command.diagnostics));
      out.make = [variant = out.study, model, settings = flags.settings, &command] {
        return pod_system(variant, *model, settings, command);
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
          train(asked, *store, motions, command.diagnostics, command.progress(), stop_on_interrupt()));
      out.make = [variant = out.study, training, &command] {
        return build_rom_system(variant, training->rom.model, command.diagnostics);
      };
    } else {
      out.make = [variant = out.study, store, &command] {
        return make_system(variant, *store, command.diagnostics, command.progress());
      };
    }
    return out;
  }
  if (!std::filesystem::exists(flags.file)) fail_input("{}: no such file", flags.file);
  if (!is_rom(flags.file))
    fail_input(
        "{}: is no study and no reduced mechanism; expected a .toml file with bodies and joints, or a "
        ".rom.h5 file, which 'lissom train' writes",
        flags.file);
  if (is_pod_file(flags.file)) {
    const auto model = std::make_shared<const PodFile>(read_pod_file(flags.file, command.diagnostics));
    const StudyFile study =
        study_of_rom(model->study, model->study_path, flags.file, flags.study, flags.settings.settings());
    out.study = chosen_case(
        study, flags.case_name.empty() && flags.study.empty() ? model->case_name : flags.case_name);
    out.title = study.title;
    out.make = [variant = out.study, model, settings = flags.settings, &command] {
      return pod_system(variant, *model, settings, command);
    };
    return out;
  }
  const auto rom = std::make_shared<const RomFile>(read_rom_file(flags.file, command.diagnostics));
  const StudyFile study =
      study_of_rom(rom->study, rom->study_path, flags.file, flags.study, flags.settings.settings());
  const std::string own_case = flags.study.empty() ? rom->case_name : "";
  out.study = chosen_case(study, flags.case_name.empty() ? own_case : flags.case_name);
  out.title = study.title;
  out.make = [variant = out.study, rom, &command] {
    return build_rom_system(variant, rom->model, command.diagnostics);
  };
  return out;
}

}  // namespace lissom::app

// What a verb works on: the mechanism of a study or of one of its cases, or one that was reduced as a whole.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "apps/lissom/command.hpp"
#include "lissom/io/rom_file.hpp"
#include "lissom/io/study_file.hpp"
#include "lissom/study/build_system.hpp"
#include "lissom/study/pod_training.hpp"

namespace lissom::app {

struct MechanismFlags {
  std::string file, study, case_name;
  SettingFlags settings;
};
void add_mechanism_flags(CLI::App& verb, MechanismFlags& flags);

struct Mechanism {
  StudyFile study;  // or the case
  std::string title;
  std::function<StudySystem()> make;  // reduces bodies as needed, once
};
// Throws InputError: no such file or case, a file that is neither.
Mechanism open_mechanism(const MechanismFlags& flags, Command& command);

// The study itself (by name: "study"), or the case that was asked for.
const StudyFile& chosen_case(const StudyFile& study, const std::string& name);
// The study whose loads, sensors and [simulate] a model runs: its own, or the one that --study names. `own`
// is the text of its own, `path` where that was.
StudyFile study_of_rom(const std::string& own, const std::string& path, const std::string& file,
                       const std::string& study, const std::vector<StudySetting>& settings);
// A parametric model in place of a case's bodies, where --strict checks its parameters.
StudySystem pod_system(const StudyFile& variant, const PodFile& model, const SettingFlags& flags,
                       Command& command);
// The parametric model that a study or its case is to be trained for; files where `folder` is given.
PodTraining trained_pod(const StudyFile& study, const StudyFile& variant,
                        const std::vector<StudySetting>& settings, const std::filesystem::path& folder,
                        const ResumeFlags& resume, Command& command);

}  // namespace lissom::app

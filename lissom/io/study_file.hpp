// Study files (TOML): what is to be done, as the user wrote it. Carrying it out is lissom/study.
// The keys are described in docs/reference/study-file.md.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lissom/io/analysis_spec.hpp"
#include "lissom/io/body_spec.hpp"
#include "lissom/io/simulation_spec.hpp"
#include "lissom/io/train_spec.hpp"

namespace lissom {

struct StudyCase;
struct ParameterPoint;

struct StudyFile {
  std::filesystem::path path;
  std::string text;  // of the file
  std::string title;
  std::string case_name;  // empty: the study itself
  UnitSystem units;
  std::vector<BodySpec>
      bodies;                 // in the order of the file; file names are relative to the study file's folder
  std::filesystem::path rom;  // a reduced mechanism in place of bodies and joints; empty: none
  // a parametric one: the study is that of the mechanism itself, with bodies and joints
  std::filesystem::path pod_rom;
  Eigen::VectorXd pod_parameters;  // of method = "pod": the values that this study has
  std::optional<SimulationSpec> simulation;
  std::optional<TrainSpec> train;
  std::optional<LineariseSpec> linearise;
  std::optional<ResponseSpec> response;
  std::vector<std::string> sweep_keys;  // of [sweep], "loads.push.force"
  std::vector<ParameterPoint> sweep;    // all combinations, the last parameter fastest
  std::vector<StudyCase> cases;         // variants; these have none themselves
  std::string reference;                // case that the others are compared with; empty: the study itself
};

// A variant of a study: the whole study with some keys set otherwise.
struct StudyCase {
  StudyFile study;
  std::vector<std::string> changes;      // "simulate.step = 1e-05"
  std::optional<std::string> reference;  // what this one is compared with, in place of StudyFile::reference
};

// One combination of the parameters of a sweep: the whole study with these keys set.
struct ParameterPoint {
  StudyFile study;
  std::vector<std::string> values;  // as written, in the order of sweep_keys
  std::string problem;              // why the study with these values makes no sense; empty: it does
};

// What the study and its cases need of stress and strain, their trainings included.
StressOptions stress_needs(const StudyFile& study);

// Whether it simulates a reduced mechanism that is to be trained first.
bool needs_training(const StudyFile& study);

// Throws InputError listing every problem of the file at once, each with line and key.
// A study may be read for a reduced mechanism, `rom`: then only its loads, sensors, gravity and [simulate]
// count. Its bodies and [train] are not looked at, so that their files need not be there, and the joints are
// those of the model. Of a parametric one (kind "pod") the bodies, joints and parameters are those of the
// study that the model has in it.
// `settings` are keys, or names of training parameters, that are set otherwise, cases included; `text` is
// then that of the changed study.
StudyFile read_study_file(const std::filesystem::path& path, const std::filesystem::path& rom = {},
                          const std::vector<StudySetting>& settings = {});
StudyFile parse_study(const std::string& text, const std::filesystem::path& path,
                      const std::filesystem::path& rom = {}, const std::vector<StudySetting>& settings = {});

}  // namespace lissom

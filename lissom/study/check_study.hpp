// A study looked at without carrying it out: every problem, and what it would do.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/io/study_keys.hpp"
#include "lissom/io/toml_table.hpp"

namespace lissom {

struct StudyCheck {
  std::vector<TomlProblem> problems;
  std::string text;        // for people: the problems, or what the study would do
  nlohmann::json summary;  // what it would do; null where there are problems

  nlohmann::json problems_json() const;  // [{ file, line, key, message, suggestion }]
};

// Reads the study with its cases and the points of its sweep. Where nothing is wrong with the text, and it is
// not to be `quick`, it also reads meshes, matrices and models (geometries are meshed), looks whether
// spiders, interfaces and places are there, and puts mechanisms together that need no reduction. Writes
// nothing.
StudyCheck check_study(const std::filesystem::path& path, const std::vector<StudySetting>& settings,
                       bool quick, Diagnostics& diagnostics, const ProgressHook& progress = {});

}  // namespace lissom

// Study files (TOML): what is to be done, as the user wrote it. Carrying it out is lissom/study.
// The keys are described in docs/reference/study-file.md.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lissom/io/body_spec.hpp"

namespace lissom {

struct StudyFile {
  std::filesystem::path path;
  std::string title;
  std::vector<BodySpec>
      bodies;  // in the order of the file; file names are relative to the study file's folder
};

// Throws InputError listing every problem of the file at once, each with line and key.
StudyFile read_study_file(const std::filesystem::path& path);
StudyFile parse_study(const std::string& text, const std::filesystem::path& path);

}  // namespace lissom

// A linear model in one HDF5 file, in SI units, and the study it came from, which says what its loads are over
// time. The same format as SLAP models, of kind "linear". The schema is docs/reference/rom-file.md; change the two
// together.
#pragma once

#include <filesystem>
#include <string>

#include "lissom/core/diagnostics.hpp"
#include "lissom/rom/linear/linear_model.hpp"

namespace lissom {

struct LinearFile {
  LinearModel model;
  std::string study;       // text of the study file
  std::string study_path;  // where it was, for file names in it
  std::string case_name;   // of the study, whose loads are the model's own; empty: the study itself
  std::string lissom_version;
};

// Written to a temporary name and renamed. Throws Error.
void write_linear_file(const std::filesystem::path& path, const LinearFile& file);
// Throws InputError: no such file, not such a model, newer, truncated, damaged, inconsistent. Entries that
// this version does not know are warnings.
LinearFile read_linear_file(const std::filesystem::path& path, Diagnostics& diagnostics);
// Whether it is there, and a model of this kind.
bool is_linear_file(const std::filesystem::path& path);

}  // namespace lissom

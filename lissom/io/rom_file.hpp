// A SLAP model in one HDF5 file, in SI units: what runs it, where it was trained, the study it came from,
// and, if asked for, the nodes. The schema is docs/reference/rom-file.md; change the two together and raise
// rom_file_version when an older reader would misunderstand the file.
#pragma once

#include <filesystem>
#include <string>

#include "lissom/core/diagnostics.hpp"
#include "lissom/rom/slap/slap_model.hpp"
#include "lissom/rom/slap/slap_training.hpp"

namespace lissom {

inline constexpr const char* rom_file_format = "lissom-rom";
// Since 2 there are parametric models, of kind "pod" (pod_file.hpp). Since 3 SLAP models know where their
// bodies were placed, which free lengths and angles are counted from, how well they repeat their training,
// and the nodes of their places; parametric ones how well they do. A polynomial form of the forces is optional:
// older readers of version 3 leave it out with a warning and run the exact kernel.
inline constexpr int rom_file_version = 3;

struct RomFile {
  SlapModel model;
  std::string study;       // text of the study file: loads, sensors, integrator
  std::string study_path;  // where it was, for file names in it
  std::string case_name;   // of the study, whose loads are the model's own; empty: the study itself
  // of the training, for people and for `lissom inspect`
  Eigen::VectorXd singular_values, joint_violation, frequencies_hz;
  std::string why;  // the order
  std::string lissom_version;
};

// Written to a temporary name and renamed. Throws Error.
void write_rom_file(const std::filesystem::path& path, const RomFile& rom);
// Throws InputError: no such file, not a ROM, newer, truncated, damaged, inconsistent. Entries that this
// version does not know are warnings.
RomFile read_rom_file(const std::filesystem::path& path, Diagnostics& diagnostics);
// Of either kind.
bool is_rom_file(const std::filesystem::path& path);

}  // namespace lissom

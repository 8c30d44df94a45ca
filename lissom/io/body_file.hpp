// The body file: an elastic body (mesh, K and M, modes) in one HDF5 file, in SI units, that any program can
// read. The schema, dataset by dataset, is docs/reference/body-file.md; change the two together and raise
// body_file_version when an older reader would misunderstand the file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "lissom/core/diagnostics.hpp"
#include "lissom/fe/fe_model.hpp"
#include "lissom/fe/mesh.hpp"
#include "lissom/fe/modes.hpp"

namespace lissom {

inline constexpr int body_file_version = 1;

struct BodyFile {
  Mesh mesh;      // without nodes when only matrices were given
  FeModel model;  // without degrees of freedom when nothing has been assembled yet
  std::optional<ModeSet> modes;
};

// Writes under a temporary name and renames. Throws Error: no such folder, disk full.
void write_body_file(const std::filesystem::path& path, const BodyFile& body);

// Whether a file is an HDF5 file that calls itself a body file.
bool is_body_file(const std::filesystem::path& path);

// Reads a file of this or an older schema version; the result equals what was written bit by bit. Groups
// that this version does not know are warnings. Throws InputError: no such file, not an HDF5 file, not a body
// file, of a newer version, truncated, damaged, or inconsistent in itself (every index and size is checked).
BodyFile read_body_file(const std::filesystem::path& path, Diagnostics& diagnostics);

}  // namespace lissom

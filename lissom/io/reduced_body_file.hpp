// The reduced-body file: a ReducedBody in one HDF5 file, in SI units, that any program can read. The schema,
// dataset by dataset, is docs/reference/reduced-body-file.md; change the two together and raise
// reduced_body_file_version when an older reader would misunderstand the file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lissom/cms/gcms_model.hpp"
#include "lissom/cms/reduced_body.hpp"
#include "lissom/core/diagnostics.hpp"

namespace lissom {

inline constexpr int reduced_body_file_version = 2;  // 2: /gcms

struct ReducedBodyFile {
  ReducedBody body;
  GcmsModel gcms;                       // empty when the file has none
  std::vector<std::string> provenance;  // free text, line by line: how the body was obtained
  std::string lissom_version;           // that wrote the file; set by reading
};

// Writes under a temporary name and renames. Throws Error: no such folder, disk full, a body that is not
// consistent in itself (inconsistency_of). `gcms` is left out where it is null or empty.
void write_reduced_body_file(const std::filesystem::path& path, const ReducedBody& body,
                             const std::vector<std::string>& provenance = {},
                             const GcmsModel* gcms = nullptr);

// Whether a file is an HDF5 file that calls itself a reduced body.
bool is_reduced_body_file(const std::filesystem::path& path);

// The large parts that not every use needs. What is left out is empty afterwards, and not read from disk.
struct ReducedBodyParts {
  bool strain_modes = true;
  bool stress_modes = true;
};

// Reads a file of this or an older schema version; the result equals what was written bit by bit. Entries
// that this version does not know are warnings. Throws InputError: no such file, not an HDF5 file, not a
// reduced body, of a newer version, truncated, damaged, or inconsistent in itself (every index and size is
// checked, and that the numbers are finite where they must be).
ReducedBodyFile read_reduced_body_file(const std::filesystem::path& path, Diagnostics& diagnostics,
                                       const ReducedBodyParts& parts = {});

}  // namespace lissom

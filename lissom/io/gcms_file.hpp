// The GCMS file: the basis of a body, and all data of its figures, in one HDF5 file, in SI units. The schema,
// dataset by dataset, is docs/reference/gcms-file.md; change the two together and raise gcms_file_version
// when an older reader would misunderstand the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lissom/cms/gcms.hpp"

namespace lissom {

inline constexpr int gcms_file_version = 1;

struct GcmsFile {
  std::string name, source;            // of the body
  Eigen::Matrix3Xd points;             // 3 by n [m]
  std::vector<std::int64_t> node_ids;  // n, one per row of S
  // of the space before any step
  std::vector<std::string> labels;  // of its columns
  Eigen::VectorXd singular_values;
  Eigen::MatrixXd cosine;
  std::optional<GcmsBasis> scalar, algorithm_1;
  std::vector<GcmsSweepPoint> sweep;
};

// Writes under a temporary name and renames. Throws Error: no such folder, disk full.
void write_gcms_file(const std::filesystem::path& path, const GcmsFile& file);

// Reads the bases of a file of this or an older version. Throws InputError: no such file, not a GCMS file, of
// a newer version, truncated, damaged, or inconsistent in itself.
GcmsFile read_gcms_file(const std::filesystem::path& path);

}  // namespace lissom

// Stress of a simulation over whole meshes in one HDF5 file, in SI units: its maximum over time, and all of
// it at chosen instants. The schema is docs/reference/stress-file.md; change the two together and raise
// stress_file_version when an older reader would misunderstand the file.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"

namespace lissom {

inline constexpr int stress_file_version = 1;

// Six components xx yy zz xy yz zx in the axes of the body's mesh, shear strains engineering ones.
struct StressFileBody {
  std::string name, formulation;
  std::vector<std::int64_t> node_ids;  // n
  // Over all samples: von Mises' stress at its largest [Pa], and when [s]; empty where it was not asked for.
  Eigen::VectorXd peak, peak_time;  // n
  // At the file's k instants, averages over the elements of a node (zero at nodes without).
  Eigen::MatrixXd stress;  // 6 n by k [Pa]
  Eigen::MatrixXd strain;  // 6 n by k; empty where it was not asked for
  // Values of each element at its nodes, without averages; empty where they were not asked for. Those of
  // element e are numbers offsets[e] .. offsets[e + 1] of element_nodes.
  std::vector<std::int64_t> element_ids, element_offsets, element_nodes;
  Eigen::MatrixXd element_stress;  // 6 (number of element_nodes) by k [Pa]

  bool has_peak() const { return peak.size() > 0; }
  bool has_elements() const { return !element_ids.empty(); }
};

struct StressFile {
  std::string title, case_name;
  std::string study;         // the text of the study file
  Eigen::VectorXd at;        // k: instants, which are samples of the run [s]
  std::int64_t samples = 0;  // of the run, over which the maximum is
  std::vector<StressFileBody> bodies;
  std::string lissom_version;  // when read
};

// Written to a temporary name and renamed. Throws Error.
void write_stress_file(const std::filesystem::path& path, const StressFile& file);
// Throws InputError: no such file, not of this kind, newer, truncated, damaged. Entries that this version
// does not know are warnings.
StressFile read_stress_file(const std::filesystem::path& path, Diagnostics& diagnostics);
bool is_stress_file(const std::filesystem::path& path);

}  // namespace lissom

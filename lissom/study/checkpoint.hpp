// Where a simulation can go on: the file checkpoint.lissom beside its results.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "lissom/core/diagnostics.hpp"
#include "lissom/io/study_file.hpp"
#include "lissom/mbs/system.hpp"
#include "lissom/study/versions.hpp"

namespace lissom {

inline constexpr std::uint32_t checkpoint_version = 3;  // 2: with turns; 3: with energies of deformations

struct Checkpoint {
  std::string lissom_version = version();
  std::string study, case_name;  // text of the study file
  double t = 0;                  // [s] reached
  std::uint64_t samples = 0;     // of result.h5 that belong to it
  std::uint64_t csv_bytes = 0;   // of sensors.csv
  Eigen::VectorXd start;         // fingerprint() of the system
  std::string state;             // an Archive: sensors, balance, trust, then the integration
};

// Whole or not at all: an older one stays until the new one is complete. Throws Error.
void write_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& path);
// Throws InputError: not a checkpoint, of a newer version, damaged.
Checkpoint read_checkpoint(const std::filesystem::path& path);

// Numbers that are the same for the same system only: the initial state, and the residuals there and at a
// state nearby, in which everything moves and is deformed.
Eigen::VectorXd fingerprint(SystemEquations& equations, const State& initial);

// Whether two vectors are the same bit for bit.
bool same_bits(const Eigen::VectorXd& a, const Eigen::VectorXd& b);

// What is there to go on from.
struct Resumable {
  bool complete = false;  // result.h5 has it all
  std::optional<Checkpoint> checkpoint;
};

// Looks into the folder of a run; neither of the two where there is nothing, which is a warning. Throws
// InputError where it was another study (and says what differs), or files are missing or damaged.
Resumable find_resumable(const StudyFile& study, const std::filesystem::path& folder,
                         Diagnostics& diagnostics);

}  // namespace lissom

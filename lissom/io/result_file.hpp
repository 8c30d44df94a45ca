// The result of a simulation in one HDF5 file, in SI units: samples of everything, the study that it came
// from, and how the run went. It grows while the run goes and is readable at any time: a run that fails or is
// killed, or a disk that is full, leaves what it had, and a run that is resumed goes on in the same file. The
// schema is docs/reference/result-file.md; change the two together and raise result_file_version when an
// older reader would misunderstand the file.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/mbs/system.hpp"
#include "lissom/time/balance.hpp"
#include "lissom/time/integrate.hpp"

namespace lissom {

inline constexpr int result_file_version = 2;

// What does not change in a run.
struct ResultHeader {
  std::string title, case_name;
  std::string study;  // the text of the study file
  std::string integrator;
  struct BodyEntry {
    std::string name, formulation;
    int first = 0, coordinates = 0, modes = 0;  // first of its coordinates in q, their number
  };
  std::vector<BodyEntry> bodies;
  std::vector<std::string> constraints;  // what each multiplier belongs to
  std::vector<std::string> sensors;      // columns, "tip.x"
  std::vector<std::string> sensor_units;
  struct NodeEntry {
    std::string body;
    std::vector<std::int64_t> ids;
  };
  std::vector<NodeEntry> nodes;  // bodies whose nodes are written
  bool has_trust = false;        // a reduced mechanism that knows where it was trained
};

enum class RunStatus : std::uint8_t { Running, Complete, Stopped, Failed };
std::string_view name_of(RunStatus status);  // "running", "complete", "stopped", "failed"

// How a run went, for the end of its file.
struct ResultEnd {
  RunStatus status = RunStatus::Running;
  std::string failure;  // the message of one that failed
  IntegrationSummary summary;
  std::string report;  // the summary of the simulation as JSON, and
  std::string text;    // for people; both empty where there is none
};

class ResultWriter {
 public:
  // Creates the file, under another name until it is readable, replacing one that is there. Throws Error.
  ResultWriter(const std::filesystem::path& path, const ResultHeader& header);
  // Goes on in a file behind its first samples; those that follow are written over. The header is that of
  // the file, and no other process writes to it. Throws InputError where the file is another one or has fewer
  // samples, Error where it cannot be written.
  ResultWriter(const std::filesystem::path& path, const ResultHeader& header, std::uint64_t samples);
  // What was added since the last flush() may be lost without finish().
  ~ResultWriter();

  // `sensors` in SI units, `nodes` 3 by n for each of the header's entries, `trust` the distance from the
  // training where the header has it, `summary` the statistics so far. Throws Error (disk full).
  void add(const State& state, const Eigen::VectorXd& sensors, const BalanceSample& balance,
           const std::vector<Eigen::Matrix3Xd>& nodes, const IntegrationSummary& summary, double trust = 0);
  // Brings everything so far to the disk. Throws Error; what was flushed before stays readable then, and
  // nothing more can be written.
  void flush();
  // Samples added, and the time of the last one that was flushed here.
  std::uint64_t samples() const;
  std::optional<double> flushed_until() const;
  // How the run went. Closes the file.
  void finish(const ResultEnd& end);

 private:
  void create(const ResultHeader& header);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct ResultFile {
  ResultHeader header;
  Eigen::VectorXd time;                              // k [s]
  Eigen::MatrixXd q, v, a, lambda;                   // k rows
  Eigen::MatrixXd sensors;                           // k by columns, SI
  std::vector<BalanceSample> balance;                // k
  std::vector<std::vector<Eigen::Matrix3Xd>> nodes;  // of each of header.nodes, k samples [m]
  Eigen::VectorXd trust;                             // k, or empty: distance from the training
  std::vector<IntegrationSummary> statistics;        // k, since the start; of version 2 on
  // How it went; of a run that was killed, or that still runs, Running.
  ResultEnd end;
  std::string lissom_version;
  int samples() const { return static_cast<int>(time.size()); }
};

struct ResultReadOptions {
  bool samples = true;  // all of them, or none
  bool nodes = true;    // with the positions of the nodes, which may be most of the file
};

// Reads a file of this or an older version, also while it is written and after its writer was killed: the
// samples that all datasets have. Entries that this version does not know are warnings. Throws InputError: no
// such file, not a result, newer, truncated, damaged.
ResultFile read_result_file(const std::filesystem::path& path, Diagnostics& diagnostics,
                            const ResultReadOptions& options = {});

// Some samples by their number: times (k) [s], positions (coordinates by k). Throws InputError as above.
struct ResultFrames {
  Eigen::VectorXd time;
  Eigen::MatrixXd q;
};
ResultFrames read_result_frames(const std::filesystem::path& path, const std::vector<Eigen::Index>& samples);

bool is_result_file(const std::filesystem::path& path);

}  // namespace lissom

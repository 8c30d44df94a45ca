// The result of a simulation in one HDF5 file, in SI units: samples of everything, the study that it came
// from, and how the run went. It grows while the run goes, so that a run that fails leaves what it had. The
// schema is docs/reference/result-file.md; change the two together and raise result_file_version when an
// older reader would misunderstand the file.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/mbs/system.hpp"
#include "lissom/time/integrate.hpp"

namespace lissom {

inline constexpr int result_file_version = 1;

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

// What the balance of a run says at a sample. Drifts are those of this sample, not the largest so far.
struct ResultBalance {
  SystemEnergy energy;
  double work_in = 0, dissipated = 0;  // [J] since the start
  double energy_drift = 0;             // total - initial total - work_in + dissipated [J]
  double constraint_drift = 0;         // largest |g| [m]
};

class ResultWriter {
 public:
  // Creates the file under its own name, replacing one that is there. Throws Error.
  ResultWriter(const std::filesystem::path& path, const ResultHeader& header);
  // What was added last may be lost without finish().
  ~ResultWriter();

  // `sensors` in SI units, `nodes` 3 by n for each of the header's entries, `trust` the distance from the
  // training where the header has it. Throws Error (disk full).
  void add(const State& state, const Eigen::VectorXd& sensors, const ResultBalance& balance,
           const std::vector<Eigen::Matrix3Xd>& nodes, double trust = 0);
  // Brings everything so far to the disk.
  void flush();
  // How the run went; `failure` is empty where it came to its end. Closes the file.
  void finish(const IntegrationSummary& summary, const std::string& failure);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct ResultFile {
  ResultHeader header;
  Eigen::VectorXd time;                              // k [s]
  Eigen::MatrixXd q, v, a, lambda;                   // k rows
  Eigen::MatrixXd sensors;                           // k by columns, SI
  std::vector<ResultBalance> balance;                // k
  std::vector<std::vector<Eigen::Matrix3Xd>> nodes;  // of each of header.nodes, k samples [m]
  Eigen::VectorXd trust;                             // k, or empty: distance from the training
  // of a file that was finished
  bool finished = false;
  std::string failure;
  IntegrationSummary summary;
  std::string lissom_version;
  int samples() const { return static_cast<int>(time.size()); }
};

// Reads a file of this or an older version; of a run that did not finish the samples that all datasets have.
// Entries that this version does not know are warnings. Throws InputError: no such file, not a result, newer,
// truncated, damaged.
ResultFile read_result_file(const std::filesystem::path& path, Diagnostics& diagnostics);

bool is_result_file(const std::filesystem::path& path);

}  // namespace lissom

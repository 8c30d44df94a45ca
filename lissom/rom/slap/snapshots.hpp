// Nodal positions of a mechanism over time: what system reduction is trained on. A source hands them out in
// blocks, so that they need not fit into memory at once.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/mbs/system.hpp"

namespace lissom {

// One run. Samples in the order of time.
class SnapshotSource {
 public:
  struct Part {
    std::string name;                    // the body's
    std::vector<std::int64_t> node_ids;  // in the order of the data; empty where the data do not say
    int nodes = 0;
  };
  virtual ~SnapshotSource() = default;
  const std::vector<Part>& parts() const { return parts_; }
  const Eigen::VectorXd& times() const { return times_; }  // k [s]
  int samples() const { return static_cast<int>(times_.size()); }
  const std::string& name() const { return name_; }  // file or case, for messages
  // Global positions [m] of a part's nodes, X (3 nodes by count): x y z of node after node, one column per
  // sample first .. first + count - 1. Throws InputError where the data cannot be read.
  virtual void read(int part, int first, int count, Eigen::Ref<Eigen::MatrixXd> X) = 0;

 protected:
  std::string name_;
  std::vector<Part> parts_;
  Eigen::VectorXd times_;
};

using TrainingRuns = std::vector<std::unique_ptr<SnapshotSource>>;

// In memory: positions[part] is 3 nodes by k.
std::unique_ptr<SnapshotSource> make_snapshots(std::string name, std::vector<SnapshotSource::Part> parts,
                                               Eigen::VectorXd times, std::vector<Eigen::MatrixXd> positions);

// From coordinates q (n by k) of a system's run; positions are made when they are asked for. Bodies without
// nodes (rigid ones of numbers) are left out. `system` outlives the source.
std::unique_ptr<SnapshotSource> make_system_snapshots(std::string name, const System& system,
                                                      Eigen::VectorXd times, Eigen::MatrixXd q);

// What the data are compared with: the meshes, and places that joints hold together.
struct SnapshotPlace {  // a weighted mean of nodes, or a fixed point (part -1)
  int part = -1;        // index into SnapshotExpectation::parts
  std::vector<int> nodes;
  std::vector<double> weights;
  Eigen::Vector3d point = Eigen::Vector3d::Zero();  // of the ground [m]
};
struct SnapshotExpectation {
  struct Part {
    std::string name;
    std::vector<std::int64_t> node_ids;
    Eigen::Matrix3Xd points;  // at rest [m]
  };
  std::vector<Part> parts;
  struct Pair {
    std::string joint;
    SnapshotPlace first, second;
  };
  std::vector<Pair> pairs;
};

// The run with parts (by name) and nodes (by id, where the data have ids) in the expected order, for
// check_snapshots and the training; the run itself where nothing is to be changed. Parts and nodes beyond
// those expected are left out with a warning. Throws InputError: parts or nodes that are missing, ids given
// twice.
std::unique_ptr<SnapshotSource> reorder(std::unique_ptr<SnapshotSource> run,
                                        const SnapshotExpectation& expected, Diagnostics& diagnostics);

// What was found, for the summary of a training.
struct SnapshotReport {
  std::string run;
  int samples = 0;
  double start = 0, end = 0;                   // [s]
  double largest_step = 0, smallest_step = 0;  // [s]
  int decimals = 0;               // places after the decimal point of metres that the data carry (17: all)
  bool single_precision = false;  // all values of a part are 32-bit numbers
  double resolution = 0;          // [m] of the data: 10^-decimals or the spacing of floats, 0 if all
  double largest_stretch = 0;     // relative change of distances between nodes of a part, over all samples
  double largest_gap = 0;         // of the pairs [m]
  std::string largest_gap_joint;
  double motion = 0;  // largest displacement of a node since the first sample [m]
};

// Reads a run once, in blocks, and compares it with the meshes. Throws InputError, all problems at once:
// parts that are missing or not known, node counts or numbers that differ, nodes in another order (distances
// between nodes that no small deformation explains: stretch over 0.1), fewer than two samples, values that
// are not finite (sample and node), times that do not rise, mirrored parts. Warns of joint gaps over 1e-9 of
// the size, of data rounded coarser than 1e-11 m or 1e-10 of the size, of gaps in time (a step over 10 times
// the median), and of nodes that never move. Distances are those of each node to four far nodes and to one or
// two near ones, in some fifty samples; a mesh that is like itself in another order of its nodes cannot be
// told apart by them.
SnapshotReport check_snapshots(SnapshotSource& run, const SnapshotExpectation& expected,
                               Diagnostics& diagnostics);

}  // namespace lissom

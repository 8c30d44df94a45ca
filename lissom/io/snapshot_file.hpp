// Trajectories of nodes from files of any program: Lissom's own results, HDF5, NumPy .npy and .npz, MATLAB
// .mat (5, 7 and 7.3) and CSV. The page docs/howto/bring-trajectories.md shows the layouts.
//
// One array per body: samples by nodes by 3, or samples by 3 nodes (x y z of node after node); MATLAB's
// column order is undone. 3 by nodes by samples and 3 nodes by samples are taken, with a warning, where the
// numbers of nodes and times allow no other reading. CSV (a file for each body): a line a sample, "t" first,
// then x y z of node after node; a heading line may name columns "t,17.x,17.y,17.z,...", whose numbers are
// the node ids.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/core/error.hpp"
#include "lissom/core/units.hpp"
#include "lissom/rom/slap/snapshots.hpp"

namespace lissom {

// One run, as [[train.trajectories]] of a study says it.
struct TrajectorySpec {
  std::string name;            // for messages; the file's name if empty
  std::filesystem::path file;  // that holds all bodies; empty: one file per body
  // body -> name of its array in `file` (default: the body's name, then "BODY/positions" and
  // "nodes/BODY/positions"), or its own file, relative to the study's folder
  std::map<std::string, std::string> bodies;
  std::string time;                          // array of times in `file`, or a file; default "time", then "t"
  std::map<std::string, std::string> nodes;  // body -> array (or file) of node ids; default "BODY/node_ids",
                                             // "nodes/BODY/ids"; without any, the order of the mesh
  bool displacements = false;                // from the body's place at the start, in place of positions
  bool at_rest = false;                      // no velocity at the first sample; else the samples tell it
  UnitSystem units;                          // of the data; Lissom's own results are in SI
  SourcePos where;
};

// Opens a run; arrays are read when they are asked for, rows at a time where the format allows it (HDF5, .mat
// 7.3, .npy, stored members of .npz, CSV), as a whole otherwise. `body_names` are the study's bodies; `rest`
// their nodes in space at the start (3 by n, [m]), for displacements and to tell shapes apart, and `rest_ids`
// the ids of their columns, needed where displacements come with node ids. The nodes stay in the order of the
// data (rom/snapshots.hpp has reorder()). Throws InputError: files and arrays that are missing (with those
// that are there), shapes that are not those above, other kinds of data, damaged files.
std::unique_ptr<SnapshotSource> open_snapshots(
    const TrajectorySpec& spec, const std::vector<std::string>& body_names,
    const std::map<std::string, Eigen::Matrix3Xd>& rest, Diagnostics& diagnostics,
    const std::map<std::string, std::vector<std::int64_t>>& rest_ids = {});

}  // namespace lissom

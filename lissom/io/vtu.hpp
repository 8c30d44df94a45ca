// VTU files (VTK's XML UnstructuredGrid) for ParaView and friends: raw appended data, compressed with zlib in
// blocks that several threads work on, 64-bit sizes.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "lissom/fe/element_type.hpp"
#include "lissom/fe/mesh.hpp"

namespace lissom {

// VTK's number of a cell type: tet 10, 24 quadratic; hex 12, 25; wedge 13, 26.
std::uint8_t vtk_cell_type(ElementType type);

// Named values on the points, on the cells, or of the whole grid. The values are not copied and must outlive
// the array.
struct VtuArray {
  std::string name;
  int components = 1;  // values of one tuple; 3 is a vector
  std::variant<std::span<const double>, std::span<const std::int64_t>, std::span<const std::int32_t>,
               std::span<const std::uint8_t>>
      values;
};

struct VtuData {
  std::vector<VtuArray> points;  // one tuple per node
  std::vector<VtuArray> cells;   // one tuple per element
  std::vector<VtuArray> field;   // any number of tuples, e.g. a frequency
};

struct VtuOptions {
  // zlib's level, 0..9. Level 1 is three times as fast as 6, and coordinates hardly shrink further.
  int compression_level = 1;
  // Uncompressed bytes of a block: what a thread compresses at a time, and a reader must inflate at once.
  std::size_t block_size = 1 << 18;
};

// The mesh (its wedges turned to VTK's orientation, which is not ours) and the given arrays, and besides:
// node_id on the points, element_id and material (index, -1: none) on the cells, and for every set a mask of
// 0 and 1 named "set NAME". A mesh without elements is written with every node as a vertex, so that there is
// something to see. Throws Error when it cannot be written.
void write_vtu(const std::filesystem::path& path, const Mesh& mesh, const VtuData& data = {},
               const VtuOptions& options = {});

// How mode shapes are scaled for the eye.
enum class ModeScaling : std::uint8_t {
  BoundingBox,  // the largest nodal displacement is a tenth of the bounding box's diagonal
  MaxOne,       // the largest nodal displacement is 1
  AsGiven
};

struct ModesVtuOptions {
  // With BoundingBox, ParaView's "Warp By Vector" shows every mode well at its default factor of 1.
  ModeScaling scaling = ModeScaling::BoundingBox;
  VtuOptions vtu;
};

// One file per mode, mode_001.vtu and so on, and the collection modes.pvd that lists them. A ParaView user
// opens modes.pvd, applies "Warp By Vector" once, and steps through the modes with the time slider, where
// "time" is the mode's number (frequencies would not do: a body has several rigid-body modes at 0 Hz). All
// files have the same arrays, so that colours and filters stay while stepping: on the points the vector
// "displacement", besides what write_vtu() gives; as field data frequency_hz, mode, and displacement_scale,
// by which the given shape was multiplied. Frequencies are not part of the names, so that computing again
// replaces the files.
//
// `displacements` is 3 nodes by modes, x y z of node after node; `frequencies_hz` one per mode. Creates the
// folder if need be. Returns the path of modes.pvd. Throws Error when something cannot be written.
std::filesystem::path write_modes_vtu(const std::filesystem::path& folder, const Mesh& mesh,
                                      const Eigen::Ref<const Eigen::MatrixXd>& displacements,
                                      const Eigen::Ref<const Eigen::VectorXd>& frequencies_hz,
                                      const ModesVtuOptions& options = {});

}  // namespace lissom

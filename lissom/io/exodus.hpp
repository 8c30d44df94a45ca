// Exodus II files for ParaView: one mesh, written once, and fields on its nodes over time, in one file.
//
// The file is NetCDF's classic format with 64-bit offsets: a header, the mesh, then one record of fixed
// length for every time, so that adding a time is one write at the end, and then the number of records in the
// header is raised. A program that is killed leaves a file that can be opened with all times that were
// finished. docs/reference/paraview-files.md has what was measured before this form was chosen.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/fe/mesh.hpp"

namespace lissom {

// A body with its mesh. Its elements are one block of its name, or one for each type ("rod tet10", "rod
// hex8"), and its node sets are node sets. A mesh without elements is shown by its nodes, or as a beam by
// lines from each node to the next.
struct ExodusPart {
  std::string name;
  const Mesh* mesh = nullptr;  // used by the constructor only
  Eigen::Matrix3Xd points;     // where its nodes are before they are displaced [m]
  bool beam = false;
};

// Values on the nodes over time. Components: 1, 3 (x y z) or 6 (xx yy zz xy yz zx), which ParaView shows as a
// scalar, a vector or a symmetric tensor. ParaView moves the points by a vector whose name begins with "dis".
struct ExodusField {
  std::string name;
  int components = 1;
};

class ExodusWriter {
 public:
  // Writes the mesh. Elements have the attributes body (number of the part, from 0), material (index, -1:
  // none) and "set NAME" (0 or 1). Node and element numbers are those of the meshes; with several parts, a
  // power of ten times the part's number is added, which keeps them apart (3000017: node 17 of part 3). Where
  // they do not fit into 31 bits they are counted from 1, with a warning. Throws Error when the file cannot
  // be written.
  ExodusWriter(std::filesystem::path path, const std::string& title, const std::vector<ExodusPart>& parts,
               std::vector<ExodusField> fields, std::vector<std::string> globals, Diagnostics& diagnostics);
  ~ExodusWriter();
  ExodusWriter(const ExodusWriter&) = delete;
  ExodusWriter& operator=(const ExodusWriter&) = delete;

  Eigen::Index nodes() const { return nodes_; }  // of all parts, one after the other
  int times() const { return times_; }
  std::uint64_t record_bytes() const { return record_.size(); }

  // A time, with each field (components by nodes) and each global value; values are kept as float32, times
  // and globals as float64. Throws Error (disk full and the like); times before that are kept.
  void add(double time, std::span<const Eigen::MatrixXd> values, std::span<const double> globals = {});
  // Brings everything to the disk. Throws Error.
  void finish();

 private:
  void write(std::uint64_t offset, const char* bytes, std::size_t count);
  [[noreturn]] void refuse(int error) const;

  std::filesystem::path path_;
  int file_ = -1;
  Eigen::Index nodes_ = 0;
  std::vector<ExodusField> fields_;
  std::size_t globals_ = 0;
  int times_ = 0;
  std::uint64_t first_record_ = 0;  // [bytes]
  std::vector<char> record_;
};

// How mode shapes are scaled for the eye.
enum class ModeScaling : std::uint8_t {
  BoundingBox,  // the largest nodal displacement is a tenth of the bounding box's diagonal
  MaxOne,       // the largest nodal displacement is 1
  AsGiven
};
// The factor for a largest displacement of `largest` at points in a box; 1 for a mode that moves nothing.
double mode_scale(ModeScaling scaling, double largest, const Eigen::Ref<const Eigen::Matrix3Xd>& points);

// Modes of one body, where "time" is the mode's number (frequencies would not do: a body has several
// rigid-body modes at 0 Hz): the vector displacement, and as global values frequency_hz and
// displacement_scale, by which the given shape was multiplied. `displacements` is 3 nodes by modes, x y z of
// node after node; `frequencies_hz` one per mode. Throws Error when it cannot be written.
void write_modes_exodus(const std::filesystem::path& path, const std::string& name, const Mesh& mesh,
                        const Eigen::Ref<const Eigen::MatrixXd>& displacements,
                        const Eigen::Ref<const Eigen::VectorXd>& frequencies_hz, Diagnostics& diagnostics,
                        ModeScaling scaling = ModeScaling::BoundingBox);

}  // namespace lissom

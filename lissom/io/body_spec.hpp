// What a user asks of one body: where it comes from, what it is made of, its interfaces, its modes. A study
// file holds one for each body; the command line makes one from its flags.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lissom/core/units.hpp"
#include "lissom/fe/element.hpp"
#include "lissom/fe/material.hpp"
#include "lissom/fe/mesh_reader.hpp"
#include "lissom/fe/node_selection.hpp"
#include "lissom/fe/vibration.hpp"

namespace lissom {

// A spider to add to the mesh; lengths in the body's units.
struct SpiderSpec {
  std::string name;
  Spider::Kind kind = Spider::Kind::Rigid;
  NodeSelection nodes;
  std::optional<Eigen::Vector3d> reference;  // the mean of the nodes unless given
  SourcePos where;
};

struct BodySpec {
  std::string name = "body";
  SourcePos where;  // for messages

  // either a mesh (or geometry) ...
  std::filesystem::path mesh;
  GmshOptions gmsh;
  // ... or matrices, for which a mesh only gives the coordinates
  std::filesystem::path stiffness, mass_matrix, dofs;
  std::string stiffness_name, mass_name;
  bool permit_massless = false, drop_empty_rows = false;

  UnitSystem units;                  // of the files, and of the numbers in this struct
  std::optional<Material> material;  // for all elements, in place of the mesh's own
  MassKind mass = MassKind::Consistent;
  std::vector<SpiderSpec> spiders;

  bool from_matrices() const { return !stiffness.empty(); }

  // what to compute
  std::optional<VibrationOptions> modes;
  bool vtu = true;  // write the mode shapes for ParaView
};

}  // namespace lissom

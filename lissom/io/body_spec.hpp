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
#include "lissom/io/ancf_spec.hpp"
#include "lissom/io/gcms_spec.hpp"
#include "lissom/io/reduce_spec.hpp"
#include "lissom/mbs/body.hpp"
#include "lissom/mbs/floating_frame.hpp"

namespace lissom {

// A spider to add to the mesh; lengths in the body's units.
struct SpiderSpec {
  std::string name;
  Spider::Kind kind = Spider::Kind::Rigid;
  NodeSelection nodes;
  std::optional<Eigen::Vector3d> reference;  // the mean of the nodes unless given
  SourcePos where;
};

// How a body moves in a simulation.
enum class Formulation : std::uint8_t { Ffrf, Fncf, Gcms, Rigid, Ancf };
const std::vector<std::pair<std::string, Formulation>>& formulation_names();
std::string_view name_of(Formulation formulation);

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
  bool skip_elements = false;  // of a mesh: leave out shells, beams, masses and ties

  // ... or a body file that Lissom wrote, which has all of it, in SI units
  std::filesystem::path body_file;

  UnitSystem units;                  // of the files, and of the numbers in this struct
  std::optional<Material> material;  // for all elements, in place of the mesh's own
  MassKind mass = MassKind::Consistent;
  std::vector<SpiderSpec> spiders;

  // ... or a reduced body that Lissom wrote, in SI units
  std::filesystem::path reduced_file;
  // ... or a rigid body from numbers, in SI units, with its named points
  std::optional<RigidBodySpec> rigid;
  // ... or a beam, in SI units
  std::optional<AncfSpec> ancf;

  // its place in a simulation, in SI units
  Formulation formulation = Formulation::Ffrf;
  Placement placement;
  // What the reduced body depends on, as a text: bodies with the same key have the same reduction.
  std::string reduction_key;

  // there is no mesh and there are no matrices to read
  bool without_mesh() const { return rigid || ancf || !reduced_file.empty(); }
  // K and M come with the file and need no assembly
  bool has_matrices() const { return !stiffness.empty() || !body_file.empty(); }

  // what to compute
  std::optional<VibrationOptions> modes;
  bool paraview = true;  // write the mode shapes for ParaView
  std::optional<ReduceSpec> reduce;
  std::optional<GcmsSpec> gcms;
};

}  // namespace lissom

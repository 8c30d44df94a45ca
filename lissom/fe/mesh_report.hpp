// What a mesh is made of, and whether it is fit for computing (`lissom inspect`).
#pragma once

#include <Eigen/Core>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lissom/fe/mesh.hpp"

namespace lissom {

struct MeshReport {
  int nodes = 0, elements = 0;
  int nodes_not_finite = 0;  // with a coordinate that is no finite number; then nothing below can be trusted
  std::array<int, all_element_types.size()> elements_of_type = {};  // by ElementType

  Eigen::Vector3d lower = Eigen::Vector3d::Zero(), upper = Eigen::Vector3d::Zero();  // bounding box [m]
  double volume = 0;                                                                 // [m3]

  // Mass [kg], centre of mass [m] and inertia about it [kg m2] (diagonal int rho (y^2 + z^2), off-diagonal
  // -int rho x y); empty where an element has no density. Integrated with mass_rule().
  struct MassProperties {
    double mass = 0;
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();
    Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();
  };
  std::optional<MassProperties> mass;
  int elements_without_density = 0, elements_without_material = 0;

  // Quality: min det J / max |det J| over an element's corners and integration points; 1 for a constant
  // Jacobian, not above 0 for an element that is turned inside out somewhere.
  double worst_ratio = 1;
  int worst_element = -1;          // element index, or -1 when there is none
  int negative_elements = 0;       // with a Jacobian <= 0 at a corner or integration point
  std::vector<int> negative_list;  // the first ten of them, element indices

  // Parts that nothing connects, by elements and spiders; sizes in nodes, largest first. A free body has one.
  std::vector<int> component_sizes;

  int orphan_nodes = 0;     // of no element and no spider
  int first_orphan = -1;    // node index
  int duplicate_nodes = 0;  // within 1e-9 of the box's diagonal of a node counted before: a crack?
  std::array<int, 2> first_duplicate = {-1, -1};

  struct Named {
    std::string name;
    int size;
  };
  std::vector<Named> node_sets, element_sets;
  struct MaterialUse {
    std::string name;
    int elements;
  };
  std::vector<MaterialUse> materials;
  struct SpiderUse {
    std::string name;
    Spider::Kind kind;
    int nodes;
  };
  std::vector<SpiderUse> spiders;
};

// `density` replaces that of all materials. Never throws for a bad mesh: finding out is its purpose.
MeshReport report_mesh(const Mesh& mesh, std::optional<double> density = std::nullopt);

}  // namespace lissom

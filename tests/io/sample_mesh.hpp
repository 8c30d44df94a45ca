// A mesh with one element of each of the six types, side by side along x in boxes of 1 by 1 by 1, mid-side
// nodes in the middle of their edges, and with everything else that a mesh can hold.
#pragma once

#include "lissom/fe/mesh.hpp"

namespace lissom {

inline Mesh sample_mesh() {
  MeshBuilder builder("sample.msh");
  std::int64_t next_node = 11, next_element = 101;
  double shift = 0;
  for (ElementType type : all_element_types) {
    // corners in the order of element_type.hpp
    std::vector<Eigen::Vector3d> corners;
    if (corner_count(type) == 4)
      corners = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    else if (corner_count(type) == 8)
      corners = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    else
      corners = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}};
    for (const auto& [a, b] : mid_side_edges(type)) corners.push_back((corners[a] + corners[b]) / 2);
    std::vector<std::int64_t> nodes;
    for (const Eigen::Vector3d& x : corners) {
      builder.add_node(next_node, x + Eigen::Vector3d(shift, 0.1, -0.3), {"sample.msh", 1});
      nodes.push_back(next_node++);
    }
    const int material = static_cast<int>(next_element % 3) - 1;
    builder.add_element(type, next_element++, nodes, material, {"sample.msh", 2});
    shift += 1.5;
  }
  const std::vector<std::int64_t> some = {11, 13, 20}, elements = {102, 105};
  builder.add_to_node_set("left/right \"<&>\"", some, {});
  builder.add_to_node_set("none", {}, {});
  builder.add_to_element_set("inside", elements, {});
  builder.add_node(9000, {0, 0, 5}, {});
  builder.add_spider("hub", Spider::Kind::Averaging, 9000, {11, 12, 13}, {1, 2, 0.1}, {"sample.msh", 77});
  builder.add_spider("rigid", Spider::Kind::Rigid, 9000, {14, 15}, {}, {"sample.msh", 78});
  Mesh& mesh = builder.mesh();
  mesh.materials.resize(3);
  mesh.materials[0] = {"steel", Isotropic{210e9, 0.288}, {}, 7829.0, {"sample.msh", 5}};
  mesh.materials[1].name = "wood";
  mesh.materials[1].orthotropic = Orthotropic{12e9, 1e9, 0.5e9, 0.3, 0.4, 0.5, 1e8, 2e8, 3e8};
  mesh.materials[1].orthotropic->axes << 0, 0, 1, 1, 0, 0, 0, 1, 0;
  mesh.materials[2].name = "nothing known";
  return builder.finish();
}

}  // namespace lissom

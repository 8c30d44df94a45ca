// Nodes that the user picks: by id, by a set of the mesh, by a cylinder or a box.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lissom/fe/mesh.hpp"

namespace lissom {

struct NodeIds {
  std::vector<std::int64_t> ids;
};

struct NodeSetName {
  std::string name;
};

// Nodes whose distance from the axis lies in [radius_min, radius_max] and whose coordinate along the axis,
// counted from `point`, lies in [axial_min, axial_max]; all in metres. A bore of radius r:
// Cylinder::surface(point, axis, r, tolerance).
struct CylinderSelection {
  Eigen::Vector3d point = Eigen::Vector3d::Zero();
  Eigen::Vector3d axis = Eigen::Vector3d::UnitZ();  // need not be of unit length
  double radius_min = 0, radius_max = 0;
  double axial_min = -std::numeric_limits<double>::infinity();
  double axial_max = std::numeric_limits<double>::infinity();

  static CylinderSelection surface(const Eigen::Vector3d& point, const Eigen::Vector3d& axis, double radius,
                                   double tolerance);
};

// Nodes with lower <= x <= upper in each coordinate.
struct BoxSelection {
  Eigen::Vector3d lower, upper;
};

using NodeSelection = std::variant<NodeIds, NodeSetName, CylinderSelection, BoxSelection>;

// The nodes selected, ascending and unique. By id and set all nodes count; cylinder and box consider the
// nodes of elements only (a reference node in a bore's centre is not part of its face). Throws InputError for
// an unknown id or set, an axis of zero length, an empty range, and where nothing is selected (the message
// tells what lies nearest).
std::vector<int> select_nodes(const Mesh& mesh, const NodeSelection& selection);

}  // namespace lissom

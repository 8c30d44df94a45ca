// Shape functions of the six solid elements.
//
// Natural coordinates (r, s, t):
//   tets    r, s, t >= 0 and r + s + t <= 1; nodes 0..3 at the origin and at r = 1, s = 1, t = 1
//   hexes   [-1, 1]^3
//   wedges  triangle r, s >= 0, r + s <= 1 times t in [-1, 1]
// Nodes are in the order of element_type.hpp. Quadratic elements are the serendipity ones.
#pragma once

#include <Eigen/Core>

#include "lissom/fe/element_type.hpp"

namespace lissom {

// The nodes' natural coordinates, 3 by n.
Eigen::Matrix3Xd node_coordinates(ElementType type);

// N(xi), n values that sum to 1.
Eigen::VectorXd shape_values(ElementType type, const Eigen::Vector3d& xi);

// dN/dxi, 3 by n; the columns sum to zero.
Eigen::Matrix3Xd shape_gradients(ElementType type, const Eigen::Vector3d& xi);

}  // namespace lissom

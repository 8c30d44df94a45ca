// Integration rules over the natural coordinates of shape_functions.hpp.
#pragma once

#include <Eigen/Core>

#include <vector>

#include "lissom/fe/element_type.hpp"

namespace lissom {

struct QuadraturePoint {
  Eigen::Vector3d xi;
  double weight;
};
// Weights sum to the volume of the natural element: 1/6 (tet), 8 (hex), 1 (wedge).
using Quadrature = std::vector<QuadraturePoint>;

// Tet with 1, 4 or 15 points, exact for polynomials of total degree 1, 2, 5.
Quadrature tet_rule(int points);
// Hex with n^3 Gauss points, n = 1..3, exact for degree 2n - 1 in each coordinate.
Quadrature hex_rule(int n);
// Wedge: 1, 3 or 7 points in the triangle (exact for total degree 1, 2, 5) times n Gauss points, n = 1..3.
Quadrature wedge_rule(int triangle_points, int n);

// The points of the stiffness, the fewest that leave no zero-energy mode but the rigid ones on one element:
// tet4 1, tet10 4, hex8 2^3, hex20 3^3, wedge6 3 x 2, wedge15 3 x 3. These are CalculiX 2.20's, except that
// its two points on wedge6 (1 x 2) leave a seventh zero-energy mode.
Quadrature stiffness_rule(ElementType type);

// The points of the consistent mass, of volume and of inertia; exact for every linear element and for
// quadratic ones with straight sides (constant Jacobian):
// tet4 4, tet10 15, hex8 and hex20 3^3, wedge6 and wedge15 7 x 3.
Quadrature mass_rule(ElementType type);

}  // namespace lissom

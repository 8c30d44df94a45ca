#include "lissom/fe/shape_functions.hpp"

namespace lissom {

namespace {

using Eigen::Vector3d;

// A value with its gradient: products by the product rule, so that N and dN/dxi come from one formula. These
// functions only fill tables (once a type), so clarity goes before speed.
struct Dual {
  double value = 0;
  Vector3d gradient = Vector3d::Zero();
};
Dual operator+(const Dual& a, const Dual& b) {
  return {a.value + b.value, a.gradient + b.gradient};
}
Dual operator-(const Dual& a, const Dual& b) {
  return {a.value - b.value, a.gradient - b.gradient};
}
Dual operator*(const Dual& a, const Dual& b) {
  return {a.value * b.value, a.value * b.gradient + b.value * a.gradient};
}
Dual operator*(double c, const Dual& a) {
  return {c * a.value, c * a.gradient};
}
Dual constant(double c) {
  return {c, Vector3d::Zero()};
}

// corners of the hexes
constexpr int hex_corners[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                   {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};

// in barycentric coordinates L: L, or L (2L - 1) at corners and 4 L_i L_j on edges
void tet(ElementType type, const Dual (&xi)[3], Dual* N) {
  const Dual one = constant(1);
  const Dual L[4] = {one - xi[0] - xi[1] - xi[2], xi[0], xi[1], xi[2]};
  for (int a = 0; a < 4; ++a) N[a] = type == ElementType::Tet4 ? L[a] : L[a] * (2 * L[a] - one);
  int a = 4;
  for (const auto& [i, j] : mid_side_edges(type)) N[a++] = 4 * L[i] * L[j];
}

// trilinear, or the 20-node serendipity functions
void hex(ElementType type, const Dual (&xi)[3], Dual* N) {
  const Dual one = constant(1);
  for (int a = 0; a < 8; ++a) {
    const int* c = hex_corners[a];
    const Dual product = 0.125 * (one + c[0] * xi[0]) * (one + c[1] * xi[1]) * (one + c[2] * xi[2]);
    N[a] = type == ElementType::Hex8 ? product
                                     : product * (c[0] * xi[0] + c[1] * xi[1] + c[2] * xi[2] - constant(2));
  }
  int a = 8;
  for (const auto& [i, j] : mid_side_edges(type)) {
    // along its edge 1 - xi^2, across it linear
    Dual product = constant(0.25);
    for (int k = 0; k < 3; ++k) {
      const int mid = (hex_corners[i][k] + hex_corners[j][k]) / 2;
      product = product * (mid == 0 ? one - xi[k] * xi[k] : one + mid * xi[k]);
    }
    N[a++] = product;
  }
}

// triangle times line; in wedge15 the corners lose what the upright mid-side nodes (1 - t^2) take
void wedge(ElementType type, const Dual (&xi)[3], Dual* N) {
  const Dual one = constant(1), t = xi[2];
  const Dual L[3] = {one - xi[0] - xi[1], xi[0], xi[1]};
  const Dual bubble = one - t * t;
  for (int a = 0; a < 6; ++a) {
    const Dual& l = L[a % 3];
    const Dual height = a < 3 ? one - t : one + t;
    N[a] = type == ElementType::Wedge6 ? 0.5 * l * height : 0.5 * l * ((2 * l - one) * height - bubble);
  }
  int a = 6;
  for (const auto& [i, j] : mid_side_edges(type)) {
    if (j == i + 3)
      N[a++] = L[i] * bubble;
    else
      N[a++] = 2 * L[i % 3] * L[j % 3] * (i < 3 ? one - t : one + t);
  }
}

// N and dN/dxi of all nodes, at most 20
void evaluate(ElementType type, const Vector3d& x, Dual* N) {
  const Dual xi[3] = {{x[0], Vector3d::UnitX()}, {x[1], Vector3d::UnitY()}, {x[2], Vector3d::UnitZ()}};
  switch (type) {
    case ElementType::Tet4:
    case ElementType::Tet10:
      return tet(type, xi, N);
    case ElementType::Hex8:
    case ElementType::Hex20:
      return hex(type, xi, N);
    case ElementType::Wedge6:
    case ElementType::Wedge15:
      return wedge(type, xi, N);
  }
}

}  // namespace

Eigen::Matrix3Xd node_coordinates(ElementType type) {
  Eigen::Matrix3Xd x = Eigen::Matrix3Xd::Zero(3, node_count(type));
  const int corners = corner_count(type);
  for (int a = 0; a < corners; ++a) {
    if (corners == 8) {
      for (int k = 0; k < 3; ++k) x(k, a) = hex_corners[a][k];
    } else if (corners == 4) {
      if (a > 0) x(a - 1, a) = 1;
    } else {
      if (a % 3 > 0) x(a % 3 - 1, a) = 1;
      x(2, a) = a < 3 ? -1 : 1;
    }
  }
  // mid-side nodes in the middle of their edges
  int a = corners;
  for (const auto& [i, j] : mid_side_edges(type)) x.col(a++) = (x.col(i) + x.col(j)) / 2;
  return x;
}

Eigen::VectorXd shape_values(ElementType type, const Vector3d& xi) {
  Dual N[20];
  evaluate(type, xi, N);
  Eigen::VectorXd values(node_count(type));
  for (int a = 0; a < values.size(); ++a) values[a] = N[a].value;
  return values;
}

Eigen::Matrix3Xd shape_gradients(ElementType type, const Vector3d& xi) {
  Dual N[20];
  evaluate(type, xi, N);
  Eigen::Matrix3Xd gradients(3, node_count(type));
  for (int a = 0; a < gradients.cols(); ++a) gradients.col(a) = N[a].gradient;
  return gradients;
}

}  // namespace lissom

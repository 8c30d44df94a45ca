#include "lissom/fe/quadrature.hpp"

#include <cmath>

#include "lissom/core/error.hpp"

namespace lissom {

namespace {

struct LinePoint {
  double x, weight;
};

// Gauss-Legendre on [-1, 1]
std::vector<LinePoint> gauss(int n) {
  switch (n) {
    case 1:
      return {{0, 2}};
    case 2:
      return {{-std::sqrt(1.0 / 3), 1}, {std::sqrt(1.0 / 3), 1}};
    default:
      LISSOM_ASSERT(n == 3);
      return {{-std::sqrt(0.6), 5.0 / 9}, {0, 8.0 / 9}, {std::sqrt(0.6), 5.0 / 9}};
  }
}

struct TrianglePoint {
  double r, s, weight;
};

// centroid, three inner points, or Radon's seven; weights sum to 1/2
std::vector<TrianglePoint> triangle(int points) {
  const double third = 1.0 / 3, sixth = 1.0 / 6;
  if (points == 1) return {{third, third, 0.5}};
  if (points == 3) return {{sixth, sixth, sixth}, {4 * sixth, sixth, sixth}, {sixth, 4 * sixth, sixth}};
  LISSOM_ASSERT(points == 7);
  std::vector<TrianglePoint> rule = {{third, third, 9.0 / 80}};
  const double root = std::sqrt(15.0);
  for (const double sign : {-1.0, 1.0}) {
    const double a = (6 + sign * root) / 21, b = 1 - 2 * a, w = (155 + sign * root) / 2400;
    for (const auto& [r, s] : {std::pair(a, a), std::pair(b, a), std::pair(a, b)}) rule.push_back({r, s, w});
  }
  return rule;
}

}  // namespace

Quadrature tet_rule(int points) {
  if (points == 1) return {{Eigen::Vector3d::Constant(0.25), 1.0 / 6}};
  Quadrature rule;
  // the four points that have the barycentric coordinates (a, a, a, 1 - 3a)
  const auto add_four = [&](double a, double weight) {
    rule.push_back({Eigen::Vector3d::Constant(a), weight});
    for (int k = 0; k < 3; ++k) {
      Eigen::Vector3d xi = Eigen::Vector3d::Constant(a);
      xi[k] = 1 - 3 * a;
      rule.push_back({xi, weight});
    }
  };
  if (points == 4) {
    add_four((5 - std::sqrt(5.0)) / 20, 1.0 / 24);
    return rule;
  }
  // Walkington's and Keast's fifteen points
  LISSOM_ASSERT(points == 15);
  const double root = std::sqrt(15.0);
  rule.push_back({Eigen::Vector3d::Constant(0.25), 8.0 / 405});
  add_four((7 - root) / 34, (2665 + 14 * root) / 226800);
  add_four((7 + root) / 34, (2665 - 14 * root) / 226800);
  // six points with the barycentric coordinates (b, b, c, c)
  const double b = (10 - 2 * root) / 40, c = 0.5 - b, weight = 5.0 / 567;
  for (int k = 0; k < 3; ++k) {
    Eigen::Vector3d one = Eigen::Vector3d::Constant(b), two = Eigen::Vector3d::Constant(c);
    one[k] = c;
    two[k] = b;
    rule.push_back({one, weight});
    rule.push_back({two, weight});
  }
  return rule;
}

Quadrature hex_rule(int n) {
  Quadrature rule;
  for (const LinePoint& z : gauss(n))
    for (const LinePoint& y : gauss(n))
      for (const LinePoint& x : gauss(n))
        rule.push_back({Eigen::Vector3d(x.x, y.x, z.x), x.weight * y.weight * z.weight});
  return rule;
}

Quadrature wedge_rule(int triangle_points, int n) {
  Quadrature rule;
  for (const LinePoint& z : gauss(n))
    for (const TrianglePoint& p : triangle(triangle_points))
      rule.push_back({Eigen::Vector3d(p.r, p.s, z.x), p.weight * z.weight});
  return rule;
}

Quadrature stiffness_rule(ElementType type) {
  switch (type) {
    case ElementType::Tet4:
      return tet_rule(1);
    case ElementType::Tet10:
      return tet_rule(4);
    case ElementType::Hex8:
      return hex_rule(2);
    case ElementType::Hex20:
      return hex_rule(3);
    case ElementType::Wedge6:
      return wedge_rule(3, 2);
    case ElementType::Wedge15:
      return wedge_rule(3, 3);
  }
  LISSOM_ASSERT(false);
  return {};
}

Quadrature mass_rule(ElementType type) {
  switch (type) {
    case ElementType::Tet4:
      return tet_rule(4);
    case ElementType::Tet10:
      return tet_rule(15);
    case ElementType::Hex8:
    case ElementType::Hex20:
      return hex_rule(3);
    case ElementType::Wedge6:
    case ElementType::Wedge15:
      return wedge_rule(7, 3);
  }
  LISSOM_ASSERT(false);
  return {};
}

}  // namespace lissom

#include "lissom/fe/shape_functions.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lissom/fe/quadrature.hpp"

namespace lissom::shape_functions_test {
namespace {

// points inside every natural element
const Eigen::Vector3d inside[] = {{0.25, 0.25, 0.25}, {0.1, 0.3, 0.5}, {0.6, 0.05, 0.2}};

TEST(ShapeFunctions, AreOneAtTheirNodeAndZeroAtTheOthers) {
  for (const ElementType type : all_element_types) {
    const Eigen::Matrix3Xd nodes = node_coordinates(type);
    for (int a = 0; a < nodes.cols(); ++a)
      EXPECT_LT((shape_values(type, nodes.col(a)) - Eigen::VectorXd::Unit(nodes.cols(), a)).norm(), 1e-14)
          << name_of(type) << " node " << a;
  }
}

TEST(ShapeFunctions, SumToOneAndReproduceLinearAndQuadraticFields) {
  for (const ElementType type : all_element_types) {
    const Eigen::Matrix3Xd nodes = node_coordinates(type);
    for (const Eigen::Vector3d& xi : inside) {
      const Eigen::VectorXd N = shape_values(type, xi);
      EXPECT_NEAR(N.sum(), 1, 1e-14);
      EXPECT_LT((nodes * N - xi).norm(), 1e-14) << name_of(type);
      EXPECT_LT(shape_gradients(type, xi).rowwise().sum().norm(), 1e-14);
      if (!is_quadratic(type)) continue;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          EXPECT_NEAR(nodes.row(i).cwiseProduct(nodes.row(j)).dot(N), xi[i] * xi[j], 1e-14) << name_of(type);
    }
  }
}

TEST(ShapeFunctions, GradientsAgreeWithDifferences) {
  const double h = 1e-5;  // central differences: h^2 and 1e-16/h are both near 1e-10
  for (const ElementType type : all_element_types)
    for (const Eigen::Vector3d& xi : inside)
      for (int k = 0; k < 3; ++k) {
        const Eigen::Vector3d step = h * Eigen::Vector3d::Unit(k);
        const Eigen::VectorXd difference =
            (shape_values(type, xi + step) - shape_values(type, xi - step)) / (2 * h);
        EXPECT_LT((shape_gradients(type, xi).row(k).transpose() - difference).norm(), 1e-8) << name_of(type);
      }
}

double factorial(int n) {
  return std::tgamma(n + 1.0);
}
// int r^i s^j over the unit triangle; int r^i s^j t^k over the unit tet; int t^k over [-1, 1]
double triangle_integral(int i, int j) {
  return factorial(i) * factorial(j) / factorial(i + j + 2);
}
double tet_integral(int i, int j, int k) {
  return factorial(i) * factorial(j) * factorial(k) / factorial(i + j + k + 3);
}
double line_integral(int k) {
  return k % 2 ? 0.0 : 2.0 / (k + 1);
}

double integrate(const Quadrature& rule, int i, int j, int k) {
  double sum = 0;
  for (const QuadraturePoint& p : rule)
    sum += p.weight * std::pow(p.xi[0], i) * std::pow(p.xi[1], j) * std::pow(p.xi[2], k);
  return sum;
}

TEST(Quadrature, TetRulesAreExactToTheirDegreeAndNoFurther) {
  for (const auto& [points, degree] : {std::pair(1, 1), std::pair(4, 2), std::pair(15, 5)}) {
    const Quadrature rule = tet_rule(points);
    EXPECT_EQ(rule.size(), points);
    for (int i = 0; i <= degree; ++i)
      for (int j = 0; i + j <= degree; ++j)
        for (int k = 0; i + j + k <= degree; ++k)
          EXPECT_NEAR(integrate(rule, i, j, k), tet_integral(i, j, k), 1e-15) << points << i << j << k;
    EXPECT_GT(std::abs(integrate(rule, degree + 1, 0, 0) - tet_integral(degree + 1, 0, 0)), 1e-8);
  }
}

TEST(Quadrature, HexRulesAreExactToTheirDegreeInEachDirection) {
  for (int n = 1; n <= 3; ++n)
    for (int i = 0; i < 2 * n; ++i)
      for (int j = 0; j < 2 * n; ++j)
        for (int k = 0; k < 2 * n; ++k)
          EXPECT_NEAR(integrate(hex_rule(n), i, j, k), line_integral(i) * line_integral(j) * line_integral(k),
                      1e-14);
}

TEST(Quadrature, WedgeRulesAreProductsOfTriangleAndLine) {
  for (const auto& [points, degree] : {std::pair(1, 1), std::pair(3, 2), std::pair(7, 5)})
    for (int n = 1; n <= 3; ++n)
      for (int i = 0; i <= degree; ++i)
        for (int j = 0; i + j <= degree; ++j)
          for (int k = 0; k < 2 * n; ++k)
            EXPECT_NEAR(integrate(wedge_rule(points, n), i, j, k), triangle_integral(i, j) * line_integral(k),
                        1e-15);
}

TEST(Quadrature, StiffnessAndMassRulesHoldTheVolume) {
  const double volumes[] = {1.0 / 6, 1.0 / 6, 8, 8, 1, 1};
  for (const ElementType type : all_element_types) {
    EXPECT_NEAR(integrate(stiffness_rule(type), 0, 0, 0), volumes[static_cast<int>(type)], 1e-14);
    EXPECT_NEAR(integrate(mass_rule(type), 0, 0, 0), volumes[static_cast<int>(type)], 1e-14);
  }
}

}  // namespace
}  // namespace lissom::shape_functions_test

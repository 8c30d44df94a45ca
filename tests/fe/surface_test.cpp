#include "lissom/fe/surface.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <map>
#include <set>

#include "tests/fe/test_meshes.hpp"

namespace lissom::surface_test {
namespace {

using Eigen::Matrix3Xd;
using Eigen::Vector3d;

struct SurfaceSize {
  double volume = 0, area = 0;
};

// Divergence theorem over the triangles.
SurfaceSize size_of_surface(const Surface& surface, const Matrix3Xd& points) {
  SurfaceSize size;
  const auto point = [&](size_t i) { return Vector3d(points.col(surface.nodes[surface.triangles[i]])); };
  for (size_t t = 0; t < surface.triangles.size(); t += 3) {
    const Vector3d normal = (point(t + 1) - point(t)).cross(point(t + 2) - point(t)) / 2;
    size.area += normal.norm();
    size.volume += normal.dot(point(t)) / 3;
  }
  return size;
}

// Every directed edge once, and its opposite once.
bool is_closed(const Surface& surface) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> directed;
  for (size_t t = 0; t < surface.triangles.size(); t += 3)
    for (size_t i = 0; i < 3; ++i) ++directed[{surface.triangles[t + i], surface.triangles[t + (i + 1) % 3]}];
  for (const auto& [edge, count] : directed) {
    const auto opposite = directed.find({edge.second, edge.first});
    if (count != 1 || opposite == directed.end() || opposite->second != 1) return false;
  }
  return !directed.empty();
}

class SurfaceOfType : public ::testing::TestWithParam<ElementType> {};

TEST_P(SurfaceOfType, TheSurfaceOfABoxIsClosedAndLooksOutwards) {
  test::BoxOptions options;
  options.cells = {3, 2, 2};
  options.size = {3, 1, 0.5};
  const Mesh mesh = test::box_mesh(GetParam(), options);
  for (const bool corners : {false, true}) {
    const Surface surface = surface_of(mesh, {corners});
    EXPECT_TRUE(is_closed(surface));
    const SurfaceSize size = size_of_surface(surface, mesh.points);
    // sums of a few hundred products of order one
    EXPECT_NEAR(size.volume, 1.5, 1e-13);
    EXPECT_NEAR(size.area, 2 * (3 + 1.5 + 0.5), 1e-12);
    EXPECT_TRUE(std::is_sorted(surface.nodes.begin(), surface.nodes.end()));
    // exactly the nodes of the six sides, or the corners among them
    std::set<int> expected;
    for (const char* side : {"x0", "x1", "y0", "y1", "z0", "z1"})
      for (const int node : mesh.node_sets.at(side)) expected.insert(node);
    std::set<int> corner_nodes;
    for (int e = 0; e < mesh.element_count(); ++e)
      for (int a = 0; a < corner_count(GetParam()); ++a) corner_nodes.insert(mesh.element_nodes(e)[a]);
    if (corners) std::erase_if(expected, [&](int node) { return !corner_nodes.contains(node); });
    EXPECT_EQ(std::set<int>(surface.nodes.begin(), surface.nodes.end()), expected);
  }
}

TEST_P(SurfaceOfType, EdgesAreThoseOfTheElementsEachOnce) {
  const Mesh mesh = test::box_mesh(GetParam());
  const Surface surface = surface_of(mesh);
  std::set<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (size_t i = 0; i < surface.edges.size(); i += 2) {
    EXPECT_LT(surface.edges[i], surface.edges[i + 1]);
    EXPECT_TRUE(edges.emplace(surface.edges[i], surface.edges[i + 1]).second);
  }
  // 2 x 2 cells on six sides: 48 sides of cells, and a diagonal in each of the 24 faces of tets, or on top
  // and bottom of wedges (8); quadratic ones have two pieces
  const int corners = corner_count(GetParam());
  const size_t expected = 48 + (corners == 4 ? 24 : corners == 6 ? 8 : 0);
  EXPECT_EQ(edges.size(), expected * (is_quadratic(GetParam()) ? 2 : 1));
}

INSTANTIATE_TEST_SUITE_P(Surface, SurfaceOfType, ::testing::ValuesIn(all_element_types),
                         [](const auto& type) { return std::string(name_of(type.param)); });

TEST(Surface, ACurvedBoxIsNearerWithItsMidSideNodes) {
  // a quarter of a ring, whose volume and area are known
  test::BoxOptions options;
  options.cells = {4, 1, 1};
  options.map = [](const Vector3d& x) {
    const double angle = M_PI / 2 * x[0], r = 1 + x[1];
    return Vector3d(r * std::sin(angle), r * std::cos(angle), x[2]);
  };
  const Mesh mesh = test::box_mesh(ElementType::Hex20, options);
  const double volume = M_PI / 4 * (4 - 1);
  const double fine = size_of_surface(surface_of(mesh), mesh.points).volume;
  const double coarse = size_of_surface(surface_of(mesh, {true}), mesh.points).volume;
  // chords of 22.5 degrees lose 1 - sin(a)/a = 2.6 %, their halves a quarter of that; the facets of the ends
  // are plane
  EXPECT_NEAR(coarse / volume, std::sin(M_PI / 8) / (M_PI / 8), 1e-12);
  EXPECT_NEAR(fine / volume, std::sin(M_PI / 16) / (M_PI / 16), 2e-3);
  EXPECT_TRUE(is_closed(surface_of(mesh)));
}

TEST(Surface, ASimplifiedOneKeepsToItsLimitAndToNodesOfTheMesh) {
  test::BoxOptions options;
  options.cells = {12, 12, 12};
  const Mesh mesh = test::box_mesh(ElementType::Hex8, options);
  const Surface surface = surface_of(mesh);
  ASSERT_EQ(surface.points(), 13 * 13 * 13 - 11 * 11 * 11);
  for (const int limit : {500, 100, 8}) {
    const Surface simple = simplify(surface, mesh.points, limit);
    EXPECT_LE(simple.points(), limit);
    // cells are as small as they may be
    EXPECT_GE(simple.points(), limit / 4);
    EXPECT_FALSE(simple.triangles.empty());
    for (const int node : simple.nodes)
      EXPECT_TRUE(std::binary_search(surface.nodes.begin(), surface.nodes.end(), node));
    for (size_t t = 0; t < simple.triangles.size(); t += 3) {
      EXPECT_NE(simple.triangles[t], simple.triangles[t + 1]);
      EXPECT_NE(simple.triangles[t + 1], simple.triangles[t + 2]);
      EXPECT_NE(simple.triangles[t + 2], simple.triangles[t]);
    }
    // still a cube, more or less, and not inside out
    if (limit >= 100) {
      EXPECT_GT(size_of_surface(simple, mesh.points).volume, 0.6);
    }
  }
  EXPECT_EQ(simplify(surface, mesh.points, surface.points()).triangles, surface.triangles);
}

TEST(Surface, ASlenderOneKeepsItsSection) {
  test::BoxOptions options;
  options.cells = {40, 2, 2};
  options.size = {10, 0.1, 0.1};
  const Mesh mesh = test::box_mesh(ElementType::Hex8, options);
  for (const int limit : {8, 40}) {
    const Surface simple = simplify(surface_of(mesh), mesh.points, limit);
    EXPECT_LE(simple.points(), limit);
    EXPECT_GE(simple.points(), limit / 2);
    EXPECT_GT(size_of_surface(simple, mesh.points).volume, 0);
  }
}

}  // namespace
}  // namespace lissom::surface_test

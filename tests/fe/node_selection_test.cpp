#include "lissom/fe/node_selection.hpp"

#include <gtest/gtest.h>

#include "lissom/fe/spider.hpp"
#include "tests/fe/test_meshes.hpp"

namespace lissom::node_selection_test {
namespace {

using Eigen::Vector3d;
using namespace test;

// a quarter ring: inner radius 0.1, outer 0.3, axis z, height 0.2
Mesh ring() {
  BoxOptions options;
  options.cells = {2, 4, 2};
  options.size = {0.2, 1, 0.2};
  options.map = [](const Vector3d& x) {
    const double radius = 0.1 + x[0], angle = 1.5 * x[1];
    return Vector3d(radius * std::cos(angle), radius * std::sin(angle), x[2]);
  };
  return box_mesh(ElementType::Hex20, options);
}

std::string message_of(const Mesh& mesh, const NodeSelection& selection) {
  try {
    select_nodes(mesh, selection);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

TEST(NodeSelection, ACylinderFindsTheBore) {
  const Mesh mesh = ring();
  // the axis may be any point on it and any length
  const auto bore = CylinderSelection::surface(Vector3d(0, 0, 7), Vector3d(0, 0, -3), 0.1, 1e-9);
  EXPECT_EQ(select_nodes(mesh, bore), mesh.node_sets.at("x0"));
  CylinderSelection half = CylinderSelection::surface(Vector3d::Zero(), Vector3d::UnitZ(), 0.3, 1e-9);
  half.axial_min = 0.15;
  for (const int node : select_nodes(mesh, half)) EXPECT_GE(mesh.points(2, node), 0.15);
  EXPECT_LT(select_nodes(mesh, half).size(), mesh.node_sets.at("x1").size() / 2);
  // a range of radii takes everything
  EXPECT_EQ(select_nodes(mesh, CylinderSelection{Vector3d::Zero(), Vector3d::UnitZ(), 0.0, 1.0}).size(),
            mesh.node_count());
}

TEST(NodeSelection, BoxesIdsAndSetsAreFound) {
  Mesh mesh = ring();
  EXPECT_EQ(select_nodes(mesh, BoxSelection{Vector3d(-1, -1, 0), Vector3d(1, 1, 0)}),
            mesh.node_sets.at("z0"));
  EXPECT_EQ(select_nodes(mesh, NodeSetName{"y1"}), mesh.node_sets.at("y1"));
  EXPECT_EQ(select_nodes(mesh, NodeIds{{5, 2, 5}}), (std::vector<int>{1, 4}));
  // a reference node is none of the face's
  const auto all = BoxSelection{Vector3d(-1, -1, -1), Vector3d(1, 1, 1)};
  const auto before = select_nodes(mesh, all);
  add_spider(mesh, "s", Spider::Kind::Rigid, mesh.node_sets.at("x0"));
  EXPECT_EQ(select_nodes(mesh, all), before);
}

TEST(NodeSelection, WhatFindsNothingSaysWhatIsNear) {
  const Mesh mesh = ring();
  EXPECT_EQ(message_of(mesh, NodeIds{{3, 99999}}),
            fmt::format("node 99999 is selected, but box has no such node (its ids run from 1 to {})",
                        mesh.node_count()));
  EXPECT_EQ(message_of(mesh, NodeIds{}), "the list of node ids is empty");
  EXPECT_EQ(message_of(mesh, NodeSetName{"x3"}),
            "box has no node set 'x3', did you mean 'x0'?; its sets: x0, x1, y0, y1, z0, z1");
  EXPECT_EQ(message_of(mesh, CylinderSelection::surface(Vector3d::Zero(), Vector3d::UnitZ(), 0.09, 0.001)),
            "no node of box lies on the cylinder with radius 0.089 to 0.091 m; the nearest has radius 0.1 m");
  CylinderSelection far = CylinderSelection::surface(Vector3d::Zero(), Vector3d::UnitZ(), 0.1, 0.001);
  far.axial_min = 5;
  EXPECT_NE(message_of(mesh, far).find("none lies in its axial range"), std::string::npos);
  far.axial_max = 1;
  EXPECT_NE(message_of(mesh, far).find("axial range is empty"), std::string::npos);
  EXPECT_EQ(message_of(mesh, CylinderSelection::surface(Vector3d::Zero(), Vector3d::Zero(), 1, 0)),
            "the cylinder's axis has no direction");
  EXPECT_NE(message_of(mesh, CylinderSelection::surface(Vector3d::Zero(), Vector3d::UnitX(), 1, -1))
                .find("range of radii is empty"),
            std::string::npos);
  EXPECT_NE(message_of(mesh, BoxSelection{Vector3d(0, 0, 1.2), Vector3d(1, 1, 2)}).find("is 1 m away"),
            std::string::npos);
  EXPECT_NE(message_of(mesh, BoxSelection{Vector3d(0, 0, 1), Vector3d(1, 1, 0)}).find("the box is empty"),
            std::string::npos);
}

}  // namespace
}  // namespace lissom::node_selection_test

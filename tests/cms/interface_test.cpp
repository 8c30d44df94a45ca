#include "lissom/cms/interface.hpp"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include "lissom/fe/assembly.hpp"
#include "lissom/fe/spider.hpp"
#include "lissom/fe/vibration.hpp"
#include "tests/fe/test_meshes.hpp"

namespace lissom::interface_test {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using namespace test;

// a bar with a spider at each end and, as body loading makes them, sets with the spiders' references
FeModel bar(Spider::Kind left = Spider::Kind::Rigid) {
  BoxOptions options;
  options.cells = {3, 2, 1};
  options.size = {1, 0.3, 0.2};
  Mesh mesh = box_mesh(ElementType::Hex8, options);
  add_spider(mesh, "left", left, mesh.node_sets.at("x0"));
  add_spider(mesh, "right", Spider::Kind::Rigid, mesh.node_sets.at("x1"), Vector3d(1.2, 0.1, 0.3));
  for (const Spider& spider : mesh.spiders) mesh.node_sets[spider.name] = {spider.reference};
  mesh.node_sets["nothing"] = {};
  Diagnostics diagnostics;
  return assemble(mesh, {}, diagnostics);
}

InterfaceSpec spec_of(std::string name, std::vector<std::string> what, std::string directions = "") {
  InterfaceSpec spec;
  spec.name = std::move(name);
  spec.what = std::move(what);
  spec.directions = std::move(directions);
  return spec;
}

std::string message_of(const FeModel& model, const std::vector<InterfaceSpec>& specs) {
  try {
    find_interfaces(model, specs);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}
#define EXPECT_MESSAGE(model, specs, part) \
  EXPECT_NE(message_of(model, specs).find(part), std::string::npos) << message_of(model, specs)

// a node of the bar at a given x, by its id as the user writes it
std::string node_at(const FeModel& model, double x) {
  for (int i = 0; i < model.points.cols(); ++i)
    if (std::abs(model.points(0, i) - x) < 1e-12) return fmt::format("node {}", model.node_ids[i]);
  return "";
}

TEST(Interface, ASpiderGivesTheSixRowsOfItsReference) {
  for (const Spider::Kind kind : {Spider::Kind::Rigid, Spider::Kind::Averaging}) {
    const FeModel model = bar(kind);
    const auto found = find_interfaces(model, {spec_of("A", {"left"}), spec_of("B", {"right"})});
    ASSERT_EQ(found.size(), 2u);
    for (int i = 0; i < 2; ++i) {
      const int reference = static_cast<int>(model.points.cols()) - 2 + i;
      EXPECT_EQ(found[i].nodes, std::vector<int>{reference});
      ASSERT_EQ(found[i].rows.size(), 6u);
      for (int d = 0; d < 6; ++d) {
        EXPECT_EQ(model.dofs[found[i].rows[d]].node, reference);
        EXPECT_EQ(model.dofs[found[i].rows[d]].direction, d);
      }
      EXPECT_EQ(found[i].axes, Matrix3d::Identity());
    }
    EXPECT_EQ(found[0].name, "A");
    EXPECT_LT((found[0].origin - Vector3d(0, 0.15, 0.1)).norm(), 1e-15);
    EXPECT_EQ(found[1].origin, Vector3d(1.2, 0.1, 0.3));
  }
}

TEST(Interface, SetsAndNodesAreJoinedNodeByNodeAndDirectionByDirection) {
  const FeModel model = bar();
  const std::string node = node_at(model, 1.0 / 3);
  const auto found = find_interfaces(model, {spec_of("A", {node, "right", node}, "x z")});
  ASSERT_EQ(found[0].nodes.size(), 2u);
  EXPECT_LT(found[0].nodes[0], found[0].nodes[1]);
  ASSERT_EQ(found[0].rows.size(), 4u);
  for (int k = 0; k < 4; ++k) {
    EXPECT_EQ(model.dofs[found[0].rows[k]].node, found[0].nodes[k / 2]);
    EXPECT_EQ(model.dofs[found[0].rows[k]].direction, k % 2 == 0 ? 0 : 2);
  }
  const Vector3d mean = (model.points.col(found[0].nodes[0]) + model.points.col(found[0].nodes[1])) / 2;
  EXPECT_LT((found[0].origin - mean).norm(), 1e-15);
}

TEST(Interface, DirectionsMayStandTogetherOrApartInAnyOrder) {
  const FeModel model = bar();
  const auto directions_of = [&](const std::string& text) {
    std::vector<int> directions;
    const auto found = find_interfaces(model, {spec_of("A", {"left"}, text)});
    for (const int row : found[0].rows) directions.push_back(model.dofs[row].direction);
    return directions;
  };
  EXPECT_EQ(directions_of("xyz"), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(directions_of("rz, yx"), (std::vector<int>{0, 1, 5}));
  EXPECT_EQ(directions_of("X RX"), (std::vector<int>{0, 3}));
  EXPECT_EQ(directions_of("  "), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_MESSAGE(model, {spec_of("A", {"left"}, "xw")}, "found 'xw'");
  EXPECT_MESSAGE(model, {spec_of("A", {"left"}, "rxyz")}, "found 'rxyz'");
  EXPECT_MESSAGE(model, {spec_of("A", {"left"}, "r")}, "found 'r'");
  EXPECT_MESSAGE(model, {spec_of("A", {"left"}, "xyx")}, "the direction x comes twice in 'xyx'");
}

TEST(Interface, AxesAreTakenOverIfTheyAreAFrame) {
  const FeModel model = bar();
  InterfaceSpec spec = spec_of("A", {"left"});
  spec.axes = Eigen::AngleAxisd(0.4, Vector3d(1, 2, 3).normalized()).toRotationMatrix();
  EXPECT_EQ(find_interfaces(model, {spec})[0].axes, *spec.axes);
  const Matrix3d rotation = *spec.axes;
  for (const Matrix3d& bad : {Matrix3d(-rotation), Matrix3d(1.01 * rotation), Matrix3d(NAN * rotation)}) {
    spec.axes = bad;
    EXPECT_MESSAGE(model, {spec}, "interface 'A': its axes are not orthonormal and right-handed");
  }
}

TEST(Interface, WhatIsNotThereIsNamedWithWhatThereIs) {
  FeModel model = bar();
  EXPECT_MESSAGE(model, {spec_of("A", {"lefd"})},
                 "box: there is no node set 'lefd' for interface 'A' (did you mean 'left'?); the sets are: "
                 "left, nothing, right, x0, x1");
  EXPECT_MESSAGE(model, {spec_of("A", {"node 12345"})},
                 "there is no node 12345 for interface 'A'; the body has 26 nodes, numbered 1 to 26");
  EXPECT_MESSAGE(model, {spec_of("A", {"node x"})}, "there is no node x for interface 'A'");
  EXPECT_MESSAGE(model, {spec_of("A", {"nothing"})}, "the node set 'nothing' for interface 'A' is empty");
  EXPECT_MESSAGE(model, {spec_of("A", {})}, "interface 'A' has no nodes");
  EXPECT_MESSAGE(model, {spec_of("", {"left"})}, "an interface has no name");
  InterfaceSpec spec = spec_of("A", {"lefd"});
  spec.where = {"study.toml", 12};
  EXPECT_EQ(message_of(model, {spec}).find("study.toml:12: box: there is no node set"), 0u)
      << message_of(model, {spec});
  model.dofs.clear();
  EXPECT_MESSAGE(model, {spec_of("A", {"left"})},
                 "the rows of the matrices are not known to belong to nodes");
}

TEST(Interface, ANodeTiedByASpiderPointsToItsReference) {
  for (const Spider::Kind kind : {Spider::Kind::Rigid, Spider::Kind::Averaging}) {
    FeModel model = bar(kind);
    EXPECT_MESSAGE(model, {spec_of("A", {"x0"})}, "a spider ties it; use the spider's reference instead");
    EXPECT_MESSAGE(model, {spec_of("A", {"x0"})}, "('left', node 25)");
    EXPECT_MESSAGE(model, {spec_of("A", {"x1"})}, "('right', node 26)");
    // held nodes take the same way
    try {
      fixed_rows(model, {"x0"});
      FAIL() << "expected InputError";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("to fix has no degrees of freedom of its own: a spider ties"),
                std::string::npos)
          << error.what();
    }
  }
}

TEST(Interface, DirectionsThatANodeLacksAreNamed) {
  const FeModel model = bar();
  const std::string node = node_at(model, 1.0 / 3);
  EXPECT_MESSAGE(model, {spec_of("A", {node}, "x ry")},
                 node + " for interface 'A' has no rotation ry; its directions are x y z");
  // without directions a node gives what it has
  EXPECT_EQ(find_interfaces(model, {spec_of("A", {node, "left"}, " ")})[0].rows.size(), 9u);
}

TEST(Interface, ADegreeOfFreedomBelongsToOneInterfaceOnly) {
  const FeModel model = bar();
  EXPECT_MESSAGE(model, (std::vector{spec_of("A", {"left"}), spec_of("B", {"right", "left"}, "z")}),
                 "node 25 direction z is in the interfaces 'A' and 'B'");
  EXPECT_MESSAGE(model, (std::vector{spec_of("A", {"left"}), spec_of("A", {"right"})}),
                 "two interfaces are called 'A'");
  // different directions of one node may
  EXPECT_EQ(find_interfaces(model, {spec_of("A", {"left"}, "xyz"), spec_of("B", {"left"}, "rx")}).size(), 2u);
}

}  // namespace
}  // namespace lissom::interface_test

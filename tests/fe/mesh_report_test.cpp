#include "lissom/fe/mesh_report.hpp"
#include "lissom/fe/rigid_body.hpp"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include "lissom/fe/spider.hpp"
#include "tests/fe/test_meshes.hpp"

namespace lissom::mesh_report_test {
namespace {

using Eigen::Vector3d;
using namespace test;

BoxOptions brick() {
  BoxOptions options;
  options.cells = {3, 2, 2};
  options.size = {2, 0.5, 0.3};
  options.distortion = 0.2;
  return options;
}

TEST(MeshReport, ABricksMassPropertiesAreExactForEveryElement) {
  // moved and turned, to fill the whole inertia tensor
  const Eigen::Matrix3d R = Eigen::AngleAxisd(0.8, Vector3d(1, 2, 3).normalized()).toRotationMatrix();
  const Vector3d shift(10, -20, 5);
  const double mass = 7850 * 2 * 0.5 * 0.3;
  const Vector3d s(2, 0.5, 0.3);
  const Vector3d principal(s[1] * s[1] + s[2] * s[2], s[0] * s[0] + s[2] * s[2], s[0] * s[0] + s[1] * s[1]);
  const Eigen::Matrix3d inertia = R * Eigen::Matrix3d((mass / 12 * principal).asDiagonal()) * R.transpose();
  for (const ElementType type : all_element_types) {
    BoxOptions options = brick();
    options.map = [&](const Vector3d& x) { return Vector3d(R * x + shift); };
    const MeshReport report = report_mesh(box_mesh(type, options));
    EXPECT_NEAR(report.volume, 0.3, 1e-13);
    ASSERT_TRUE(report.mass);
    EXPECT_NEAR(report.mass->mass, mass, 1e-12 * mass);
    EXPECT_LT((report.mass->centre - (R * s / 2 + shift)).norm(), 1e-13);
    EXPECT_LT((report.mass->inertia - inertia).norm(), 1e-12 * inertia.norm()) << name_of(type);
    EXPECT_EQ(report.elements_of_type[static_cast<int>(type)], report.elements);
    EXPECT_GT(report.worst_ratio, 0.1);
    EXPECT_EQ(report.negative_elements, 0);
    EXPECT_EQ(report.component_sizes, (std::vector<int>{report.nodes}));
    EXPECT_EQ(report.duplicate_nodes, 0);
    EXPECT_EQ(report.orphan_nodes, 0);
  }
}

TEST(MeshReport, BoxSetsMaterialsAndTheGivenDensityAreReported) {
  Mesh mesh = box_mesh(ElementType::Tet10, brick());
  mesh.element_sets["some"] = {0, 1, 2};
  mesh.materials[0].density.reset();
  mesh.element_material[4] = -1;
  add_spider(mesh, "end", Spider::Kind::Averaging, mesh.node_sets.at("x0"));
  const MeshReport report = report_mesh(mesh);
  EXPECT_EQ(report.lower, Vector3d::Zero());
  EXPECT_EQ(report.upper, Vector3d(2, 0.5, 0.3));
  EXPECT_FALSE(report.mass);
  EXPECT_EQ(report.elements_without_density, report.elements);
  EXPECT_EQ(report.elements_without_material, 1);
  EXPECT_EQ(report.materials[0].name, "steel");
  EXPECT_EQ(report.materials[0].elements, report.elements - 1);
  EXPECT_EQ(report.node_sets.size(), 6);
  EXPECT_EQ(report.element_sets[0].size, 3);
  EXPECT_EQ(report.spiders[0].nodes, 25);
  EXPECT_NEAR(report_mesh(mesh, 1000).mass->mass, 300, 1e-10);
}

TEST(MeshReport, BadElementsAreFound) {
  Mesh mesh = box_mesh(ElementType::Tet10, brick());
  EXPECT_NEAR(report_mesh(mesh).worst_ratio, 1, 1e-12);  // straight tets have a constant Jacobian
  // a mid-side node beyond the quarter point turns the corner inside out, between the integration points
  const auto nodes = mesh.element_nodes(7);
  const int mid = nodes[4], from = nodes[0], to = nodes[1];
  mesh.points.col(mid) = 0.8 * mesh.points.col(from) + 0.2 * mesh.points.col(to);
  const MeshReport report = report_mesh(mesh);
  EXPECT_LT(report.worst_ratio, 0);
  EXPECT_GE(report.negative_elements, 1);
  EXPECT_TRUE(std::count(report.negative_list.begin(), report.negative_list.end(), 7));
  // an element turned over entirely
  Mesh turned = box_mesh(ElementType::Tet4);
  std::swap(turned.connectivity[1], turned.connectivity[2]);
  EXPECT_EQ(report_mesh(turned).worst_element, 0);
  EXPECT_EQ(report_mesh(turned).worst_ratio, -1);
  EXPECT_EQ(report_mesh(turned).negative_elements, 1);
}

TEST(MeshReport, CoordinatesThatAreNoNumbersAreCounted) {
  Mesh mesh = box_mesh(ElementType::Tet4);
  mesh.points(1, 3) = std::nan("");
  mesh.points(2, 5) = INFINITY;
  EXPECT_EQ(report_mesh(mesh).nodes_not_finite, 2);
  EXPECT_GT(report_mesh(mesh).negative_elements, 0);
}

TEST(MeshReport, LoosePartsOrphansAndDuplicatesAreCounted) {
  // two bricks side by side that share no node, but the coordinates of a face
  Mesh mesh = box_mesh(ElementType::Hex8);
  const Mesh other = box_mesh(ElementType::Hex8);
  const int n = mesh.node_count(), elements = mesh.element_count();
  mesh.points.conservativeResize(Eigen::NoChange, 2 * n + 1);
  for (int i = 0; i < n; ++i) {
    mesh.points.col(n + i) = other.points.col(i) + Vector3d(1, 0, 0);
    mesh.node_ids.push_back(1000 + i);
  }
  mesh.points.col(2 * n) = Vector3d(0.1, 0.2, 0.3);
  mesh.node_ids.push_back(9999);
  for (int e = 0; e < elements; ++e) {
    for (const int node : other.element_nodes(e)) mesh.connectivity.push_back(n + node);
    mesh.types.push_back(ElementType::Hex8);
    mesh.element_ids.push_back(1000 + e);
    mesh.element_material.push_back(0);
    mesh.offsets.push_back(static_cast<std::int64_t>(mesh.connectivity.size()));
  }
  MeshReport report = report_mesh(mesh);
  EXPECT_EQ(report.component_sizes, (std::vector<int>{n, n}));
  EXPECT_EQ(report.orphan_nodes, 1);
  EXPECT_EQ(report.first_orphan, 2 * n);
  EXPECT_EQ(report.duplicate_nodes, 9);
  const auto [first, second] = report.first_duplicate;
  EXPECT_LT((mesh.points.col(first) - mesh.points.col(second)).norm(), 1e-9);
  // a spider over both joins them
  add_spider(mesh, "join", Spider::Kind::Rigid, {0, 1, 2, n, n + 1, n + 2});
  report = report_mesh(mesh);
  EXPECT_EQ(report.component_sizes, (std::vector<int>{2 * n + 1}));
}

TEST(RigidBodyModes, CoverRotationalDegreesOfFreedomAndSkipNodelessOnes) {
  const Eigen::Matrix3Xd points = Vector3d(1, 2, 3);
  const std::vector<Dof> dofs = {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {-1, 0}};
  const Eigen::MatrixXd modes = rigid_body_modes(points, dofs, Vector3d(1, 0, 0));
  Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(7, 6);
  expected.topLeftCorner<6, 6>().setIdentity();
  // r = (0, 2, 3): e_x x r = (0, -3, 2), e_y x r = (3, 0, 0), e_z x r = (-2, 0, 0)
  expected.block<3, 3>(0, 3) << 0, 3, -2, -3, 0, 0, 2, 0, 0;
  EXPECT_EQ(modes, expected);
}

}  // namespace
}  // namespace lissom::mesh_report_test

#include "lissom/fe/solid_mesh.hpp"

#include <gtest/gtest.h>

#include "lissom/fe/assembly.hpp"
#include "lissom/fe/spider.hpp"
#include "tests/fe/test_meshes.hpp"

namespace lissom::solid_mesh_test {
namespace {

using namespace test;

TEST(SolidMesh, IsTheMeshBeforeItsSpidersCame) {
  const Mesh plain = box_mesh(ElementType::Hex8);
  EXPECT_TRUE(is_solid_mesh(plain));
  // a node that belongs to nothing in front of all others, and a spider
  Mesh mesh = plain;
  mesh.points.resize(3, plain.node_count() + 1);
  mesh.points << Eigen::Vector3d(9, 9, 9), plain.points;
  mesh.node_ids.insert(mesh.node_ids.begin(), 1000);
  for (int& node : mesh.connectivity) ++node;
  for (auto& [name, set] : mesh.node_sets)
    for (int& node : set) ++node;
  mesh.node_sets["lost"] = {0};
  EXPECT_FALSE(is_solid_mesh(mesh));
  add_spider(mesh, "pin", Spider::Kind::Rigid, mesh.node_sets.at("x0"));
  EXPECT_FALSE(is_solid_mesh(mesh));

  const Mesh solid = solid_mesh(mesh);
  EXPECT_TRUE(is_solid_mesh(solid));
  EXPECT_EQ(solid.points, plain.points);
  EXPECT_EQ(solid.node_ids, plain.node_ids);
  EXPECT_EQ(solid.connectivity, plain.connectivity);
  EXPECT_EQ(solid.node_sets, plain.node_sets);
  Diagnostics diagnostics;
  const FeModel model = assemble(solid, {}, diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_EQ(model.dof_count(), 3 * plain.node_count());
  EXPECT_EQ(model.recovery.size(), 0);
}

}  // namespace
}  // namespace lissom::solid_mesh_test

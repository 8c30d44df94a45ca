#include "lissom/fe/node_mass.hpp"

#include <gtest/gtest.h>

#include "lissom/fe/assembly.hpp"
#include "lissom/fe/spider.hpp"
#include "tests/fe/matrix_test_tools.hpp"
#include "tests/fe/test_meshes.hpp"

namespace lissom::node_mass_test {
namespace {

using Eigen::MatrixXd;
using namespace test;

// a bar with a node in the middle of the numbering that belongs to nothing
Mesh bar() {
  BoxOptions options;
  options.cells = {3, 2, 1};
  options.distortion = 0.1;
  Mesh mesh = box_mesh(ElementType::Tet10, options);
  const int orphan = 7;
  Eigen::Matrix3Xd points(3, mesh.node_count() + 1);
  points << mesh.points.leftCols(orphan), Eigen::Vector3d(5, 5, 5),
      mesh.points.rightCols(mesh.node_count() - orphan);
  mesh.points = points;
  mesh.node_ids.push_back(static_cast<std::int64_t>(mesh.node_ids.size()) + 1);
  for (int& node : mesh.connectivity) node += node >= orphan;
  for (auto& [name, nodes] : mesh.node_sets)
    for (int& node : nodes) node += node >= orphan;
  return mesh;
}

FeModel assembled(const Mesh& mesh, MassKind mass) {
  Diagnostics diagnostics;
  AssemblyOptions options;
  options.mass = mass;
  return assemble(mesh, options, diagnostics);
}

// m (x) I_3 over the rows of the model.
MatrixXd in_three_directions(const SymmetricMatrix& m, const std::vector<Dof>& dofs) {
  const MatrixXd full = dense(m);
  MatrixXd M = MatrixXd::Zero(dofs.size(), dofs.size());
  for (size_t i = 0; i < dofs.size(); ++i)
    for (size_t j = 0; j < dofs.size(); ++j)
      if (dofs[i].direction == dofs[j].direction) M(i, j) = full(dofs[i].node, dofs[j].node);
  return M;
}

TEST(NodeMass, AssemblyGivesTheMassOfAllNodesWhichSpidersDoNotChange) {
  for (const MassKind kind : {MassKind::Consistent, MassKind::Lumped}) {
    Mesh mesh = bar();
    const FeModel plain = assembled(mesh, kind);
    ASSERT_EQ(plain.node_mass.size(), mesh.node_count());
    EXPECT_TRUE(plain.node_mass.lower.isCompressed());
    // the same numbers, not close ones
    EXPECT_EQ(in_three_directions(plain.node_mass, plain.dofs), dense(plain.M));
    EXPECT_EQ(dense(plain.node_mass).col(7).norm(), 0);
    if (kind == MassKind::Lumped) {
      EXPECT_EQ(plain.node_mass.lower.nonZeros(), mesh.node_count() - 1);
    }

    // with spiders M = R' (m (x) I_3) R, with R the recovery
    add_spider(mesh, "left", Spider::Kind::Rigid, mesh.node_sets.at("x0"));
    add_spider(mesh, "right", Spider::Kind::Averaging, mesh.node_sets.at("x1"));
    const FeModel tied = assembled(mesh, kind);
    ASSERT_EQ(tied.node_mass.size(), mesh.node_count());
    EXPECT_EQ(dense(tied.node_mass).topLeftCorner(plain.node_mass.size(), plain.node_mass.size()),
              dense(plain.node_mass));
    std::vector<Dof> all;
    for (int i = 0; i < 3 * mesh.node_count(); ++i) all.push_back({i / 3, i % 3});
    const MatrixXd R = tied.recovery;
    const MatrixXd M = R.transpose() * in_three_directions(tied.node_mass, all) * R;
    // sums of some hundred terms in another order
    EXPECT_LT((M - dense(tied.M)).norm(), 1e-13 * M.norm());
  }
}

TEST(NodeMass, ItIsFoundInMatricesOfThatFormAndOnlyThere) {
  for (const MassKind kind : {MassKind::Consistent, MassKind::Lumped}) {
    const FeModel model = assembled(bar(), kind);
    EXPECT_EQ(dense(scalar_node_mass(model)), dense(model.node_mass));
    // entries that couple directions, or differ between them, beyond the tolerance and below it
    for (const auto& [row, column] : {std::pair{31, 30}, std::pair{34, 31}, std::pair{31, 31}}) {
      const double mass = model.M.lower.coeff(30, 30);
      for (const double factor : {1e-8, 1e-11}) {
        FeModel other = model;
        other.M.lower.coeffRef(row, column) += factor * mass;
        EXPECT_EQ(scalar_node_mass(other).size() > 0, factor < 1e-10) << row << ' ' << column;
      }
    }
    FeModel rotation = model;
    rotation.dofs[5].direction = 3;
    EXPECT_EQ(scalar_node_mass(rotation).size(), 0);
    FeModel nodeless = model;
    nodeless.dofs[5].node = -1;
    EXPECT_EQ(scalar_node_mass(nodeless).size(), 0);
  }
}

TEST(NodeMass, ImportedMatricesHaveItInAnyOrderOfRows) {
  const Mesh mesh = bar();
  const FeModel model = assembled(mesh, MassKind::Consistent);
  const int n = model.dof_count();
  const auto imported = [&](const SymmetricMatrix& A, int held) {
    ImportedMatrix result;
    result.source = "a.mtx";
    result.triangle = ImportedMatrix::Triangle::Full;
    result.rows = result.cols = n - held;
    // rows backwards, the last ones left out
    const MatrixXd full = dense(A);
    for (int i = 0; i < n - held; ++i) {
      const Dof dof = model.dofs[n - 1 - i];
      result.labels.push_back({model.node_ids[dof.node], dof.direction});
      for (int j = 0; j < n - held; ++j)
        if (full(n - 1 - i, n - 1 - j) != 0) result.entries.push_back({i, j, full(n - 1 - i, n - 1 - j)});
    }
    return result;
  };
  MatrixImport request;
  request.mesh = &mesh;
  Diagnostics diagnostics;
  const FeModel whole = make_fe_model(imported(model.K, 0), imported(model.M, 0), request, diagnostics);
  // both triangles are averaged: exact
  EXPECT_EQ(dense(whole.node_mass), dense(model.node_mass));
  // a node of an element without rows has mass that nobody knows
  const FeModel held = make_fe_model(imported(model.K, 3), imported(model.M, 3), request, diagnostics);
  EXPECT_EQ(held.node_mass.size(), 0);
}

}  // namespace
}  // namespace lissom::node_mass_test

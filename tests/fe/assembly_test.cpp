#include "lissom/fe/assembly.hpp"

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include <numbers>

#include "lissom/core/parallel.hpp"
#include "lissom/fe/mesh_report.hpp"
#include "lissom/fe/rigid_body.hpp"
#include "tests/fe/ccx.hpp"
#include "tests/fe/small_eigen.hpp"
#include "tests/fe/test_meshes.hpp"
#include "tests/packages.hpp"

namespace lissom::assembly_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using namespace test;

FeModel assembled(const Mesh& mesh, MassKind mass = MassKind::Consistent) {
  Diagnostics diagnostics;
  AssemblyOptions options;
  options.mass = mass;
  FeModel model = assemble(mesh, options, diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  return model;
}

std::string message_of(const Mesh& mesh, const AssemblyOptions& options = {}) {
  try {
    Diagnostics diagnostics;
    assemble(mesh, options, diagnostics);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

BoxOptions distorted_box() {
  BoxOptions options;
  options.cells = {3, 2, 2};
  options.size = {1.2, 0.7, 0.9};
  options.distortion = 0.2;
  return options;
}

TEST(Assembly, IsTheSumOfItsElementMatrices) {
  for (const ElementType type : all_element_types)
    for (const MassKind kind : {MassKind::Consistent, MassKind::Lumped}) {
      const Mesh mesh = box_mesh(type, distorted_box());
      const FeModel model = assembled(mesh, kind);
      MatrixXd K = MatrixXd::Zero(model.dof_count(), model.dof_count()), M = K;
      for (int e = 0; e < mesh.element_count(); ++e) {
        const auto x = element_points(mesh, e);
        const MatrixXd Ke = element_stiffness(type, x, steel()), me = element_mass(type, x, 7850, kind);
        const auto nodes = mesh.element_nodes(e);
        for (size_t a = 0; a < nodes.size(); ++a)
          for (size_t b = 0; b < nodes.size(); ++b) {
            K.block<3, 3>(3 * nodes[a], 3 * nodes[b]) += Ke.block<3, 3>(3 * a, 3 * b);
            M.block<3, 3>(3 * nodes[a], 3 * nodes[b]).diagonal().array() += me(a, b);
          }
      }
      EXPECT_LT((dense(model.K) - K).cwiseAbs().maxCoeff(), 1e-14 * K.cwiseAbs().maxCoeff()) << name_of(type);
      EXPECT_LT((dense(model.M) - M).cwiseAbs().maxCoeff(), 1e-14 * M.cwiseAbs().maxCoeff()) << name_of(type);
      if (kind == MassKind::Lumped) {
        EXPECT_EQ(model.M.lower.nonZeros(), model.dof_count());
      }
      EXPECT_EQ(model.recovery.size(), 0);
    }
}

TEST(Assembly, StoresLowerTrianglesWithAscendingRows) {
  const FeModel model = assembled(box_mesh(ElementType::Tet10, distorted_box()));
  for (const SparseMatrix* A : {&model.K.lower, &model.M.lower}) {
    ASSERT_TRUE(A->isCompressed());
    for (int col = 0; col < A->cols(); ++col) {
      int previous = col - 1;
      for (SparseMatrix::InnerIterator it(*A, col); it; ++it) {
        EXPECT_GT(it.row(), previous);
        previous = static_cast<int>(it.row());
      }
    }
  }
  // m (x) I_3 has about a third of K's entries: no room for unequal directions
  EXPECT_LT(model.M.lower.nonZeros(), 0.37 * model.K.lower.nonZeros());
}

TEST(Assembly, IsTheSameToTheLastBitForAnyNumberOfThreads) {
  BoxOptions options = distorted_box();
  options.cells = {9, 8, 6};  // 2592 tets: several chunks
  const Mesh mesh = box_mesh(ElementType::Tet10, options);
  const int before = thread_count();
  set_thread_count(1);
  const FeModel one = assembled(mesh);
  for (const int threads : {2, 3, 5}) {
    set_thread_count(threads);
    const FeModel many = assembled(mesh);
    const auto n = one.K.lower.nonZeros();
    ASSERT_EQ(many.K.lower.nonZeros(), n);
    EXPECT_TRUE(std::equal(one.K.lower.valuePtr(), one.K.lower.valuePtr() + n, many.K.lower.valuePtr()));
    EXPECT_TRUE(std::equal(one.M.lower.valuePtr(), one.M.lower.valuePtr() + one.M.lower.nonZeros(),
                           many.M.lower.valuePtr()));
  }
  set_thread_count(before);
}

TEST(PatchTest, ConstantStrainIsInEquilibriumOnDistortedMeshesOfEveryType) {
  Eigen::Matrix3d H;
  H << 1, 0.4, -0.3, 0.2, -0.6, 0.5, 0.1, -0.7, 0.8;
  H *= 1e-3;
  Eigen::Matrix<double, 6, 1> strain;
  strain << H(0, 0), H(1, 1), H(2, 2), H(0, 1) + H(1, 0), H(1, 2) + H(2, 1), H(2, 0) + H(0, 2);
  const BoxOptions options = distorted_box();
  for (const ElementType type : all_element_types) {
    const Mesh mesh = box_mesh(type, options);
    const FeModel model = assembled(mesh);
    const Eigen::Matrix3Xd u = H * mesh.points;
    const Eigen::Map<const VectorXd> q(u.data(), u.size());
    const VectorXd force = model.K.full() * q;
    // inner nodes carry no force: then the linear field solves the boundary value problem exactly
    std::vector<bool> outer(mesh.node_count(), false);
    for (const auto& [name, nodes] : mesh.node_sets)
      for (const int node : nodes) outer[node] = true;
    double inner_force = 0;
    int inner = 0;
    for (int i = 0; i < mesh.node_count(); ++i) {
      if (outer[i]) continue;
      ++inner;
      inner_force = std::max(inner_force, force.segment<3>(3 * i).cwiseAbs().maxCoeff());
    }
    EXPECT_GT(inner, 1);
    EXPECT_LT(inner_force, 1e-12 * force.cwiseAbs().maxCoeff()) << name_of(type);
    const double expected = options.size.prod() / 2 * strain.dot(elasticity_matrix(steel()) * strain);
    EXPECT_NEAR(q.dot(force) / 2, expected, 1e-12 * expected) << name_of(type);
  }
}

TEST(Assembly, RigidMotionsCostNoEnergyAndCarryTheBodysInertia) {
  for (const ElementType type : all_element_types) {
    BoxOptions options = distorted_box();
    options.map = curved;
    const Mesh mesh = box_mesh(type, options);
    const FeModel model = assembled(mesh);
    const MeshReport report = report_mesh(mesh);
    const MatrixXd rigid = rigid_body_modes(model.points, model.dofs, report.mass->centre);
    EXPECT_LT((model.K.full() * rigid).eval().cwiseAbs().maxCoeff(), 1e-13 * model.K.diagonal().maxCoeff());
    // the report integrates with the same points, so that they agree to round-off even on curved elements
    const MatrixXd inertia = rigid.transpose() * (model.M.full() * rigid);
    MatrixXd expected = MatrixXd::Zero(6, 6);
    expected.topLeftCorner<3, 3>().diagonal().setConstant(report.mass->mass);
    expected.bottomRightCorner<3, 3>() = report.mass->inertia;
    EXPECT_LT((inertia - expected).norm(), 1e-12 * expected.norm()) << name_of(type);
  }
}

TEST(Convergence, FreeBoxFrequenciesConvergeWithTheElementsOrder) {
  // first elastic eigenvalue of a free brick (a smooth mode) against 8^3 hex20 cells, whose own error, 1.5e-4
  // by extrapolation, is small beside those compared; errors fall as h^2 for linear, h^4 for quadratic
  // elements
  const auto first = [](ElementType type, int n) {
    BoxOptions options;
    options.cells = {n, n, n};
    options.size = {1, 0.8, 0.6};
    return lowest_eigenvalues(assembled(box_mesh(type, options)), 7, {}, 1e7)[6];
  };
  const double reference = first(ElementType::Hex20, 8);
  for (const ElementType type : all_element_types) {
    const double coarse = first(type, 3) / reference - 1, fine = first(type, 6) / reference - 1;
    const double order = std::log2(coarse / fine);
    // seen: tet4 1.87, tet10 3.41, hex8 1.97, hex20 4.06, wedge6 1.91, wedge15 3.55
    EXPECT_GT(coarse, 0) << name_of(type);
    EXPECT_GT(order, is_quadratic(type) ? 3.2 : 1.7) << name_of(type) << " " << coarse << " " << fine;
  }
}

TEST(Convergence, SlenderCantileverBendsAsBeamTheorySays) {
  // L/h = 20: shear and rotary inertia lower Euler-Bernoulli's first frequency by 0.3 %; nu and the clamp
  // raise it by about as much
  const double L = 1, h = 0.05;
  const double expected =
      std::pow(1.8751040687, 2) / (2 * std::numbers::pi) * std::sqrt(210e9 / 7850 * h * h / 12) / (L * L);
  for (const ElementType type :
       {ElementType::Hex8, ElementType::Hex20, ElementType::Wedge15, ElementType::Tet10}) {
    BoxOptions options;
    options.cells = {20, 1, 1};
    options.size = {L, h, h};
    const Mesh mesh = box_mesh(type, options);
    const FeModel model = assembled(mesh);
    const VectorXd f = to_hertz(lowest_eigenvalues(model, 2, dofs_of(model, mesh.node_sets.at("x0"))));
    // one element across: only an element that bends without locking comes near
    EXPECT_NEAR(f[0], expected, 0.01 * expected) << name_of(type);
    EXPECT_NEAR(f[1], f[0], 0.01 * expected) << name_of(type);
  }
}

TEST(AssemblyAgainstCalculix, TenFrequenciesAgreeOnCurvedMeshes) {
  ASSERT_TRUE(has_ccx()) << "ccx" << test::install_hint;
  const std::pair<ElementType, const char*> types[] = {{ElementType::Tet4, "C3D4"},
                                                       {ElementType::Tet10, "C3D10"},
                                                       {ElementType::Hex20, "C3D20"},
                                                       {ElementType::Wedge15, "C3D15"}};
  for (const auto& [type, name] : types) {
    BoxOptions options;
    options.cells = {5, 2, 2};
    options.size = {1, 0.3, 0.2};
    options.distortion = 0.15;
    options.map = curved;
    const Mesh mesh = box_mesh(type, options);
    const VectorXd expected = ccx_frequencies(mesh, name, "x0", 10);
    const FeModel model = assembled(mesh, MassKind::Calculix);
    const VectorXd f = to_hertz(lowest_eigenvalues(model, 10, dofs_of(model, mesh.node_sets.at("x0"))));
    // ccx prints seven digits
    EXPECT_LT(((f - expected).array() / expected.array()).abs().maxCoeff(), 1e-6) << name;
  }
}

TEST(Assembly, AMaterialForAllElementsReplacesTheirs) {
  Mesh mesh = box_mesh(ElementType::Tet4);
  const FeModel own = assembled(mesh);
  AssemblyOptions options;
  options.material = parse_material("E=420e9,nu=0.3,rho=3925");
  for (int& m : mesh.element_material) m = -1;
  Diagnostics diagnostics;
  const FeModel other = assemble(mesh, options, diagnostics);
  EXPECT_LT((other.K.lower - 2 * own.K.lower).norm(), 1e-13 * own.K.lower.norm());
  EXPECT_LT((2 * other.M.lower - own.M.lower).norm(), 1e-13 * own.M.lower.norm());
}

TEST(Assembly, OrphanNodesGetNoDegreesOfFreedomAndAWarning) {
  Mesh mesh = box_mesh(ElementType::Hex8);
  const FeModel without = assembled(mesh);
  // a loose node in front of the others
  Eigen::Matrix3Xd points(3, mesh.node_count() + 1);
  points << Eigen::Vector3d(9, 9, 9), mesh.points;
  mesh.points = points;
  mesh.node_ids.insert(mesh.node_ids.begin(), 1000);
  for (int& node : mesh.connectivity) ++node;
  Diagnostics diagnostics;
  const FeModel with = assemble(mesh, {}, diagnostics);
  ASSERT_NE(diagnostics.find("mesh.orphan-nodes"), nullptr);
  EXPECT_EQ(
      diagnostics.find("mesh.orphan-nodes")->message,
      "1 of 28 nodes belong to no element and no spider (the first is node 1000); they get no degrees of "
      "freedom");
  EXPECT_EQ((with.K.lower - without.K.lower).norm(), 0);
  EXPECT_EQ(with.dofs[0].node, 1);
  // recovery: zero rows for the loose node, one to one for the rest
  const MatrixXd R(with.recovery);
  EXPECT_EQ(R.topRows<3>().norm(), 0);
  EXPECT_EQ((R.bottomRows(without.dof_count()) - MatrixXd::Identity(81, 81)).norm(), 0);
}

TEST(Assembly, MissingAndBadMaterialsAreNamed) {
  Mesh mesh = box_mesh(ElementType::Hex8);
  mesh.element_material[3] = mesh.element_material[5] = -1;
  EXPECT_EQ(message_of(mesh),
            "box: 2 of 8 elements have no material (the first is element 4); give one for all elements with "
            "--material E=...,nu=...,rho=...");
  mesh = box_mesh(ElementType::Hex8);
  mesh.materials[0].defined_at = {"a.inp", 7};
  mesh.materials[0].density.reset();
  EXPECT_EQ(
      message_of(mesh),
      "a.inp:7: material 'steel' has no density; add it there, or give --material E=...,nu=...,rho=...");
  mesh.materials[0].density = -1;
  EXPECT_EQ(message_of(mesh), "a.inp:7: material 'steel' has the density -1 kg/m3, expected a positive one");
  mesh.materials[0].isotropic->E = 0;
  EXPECT_EQ(message_of(mesh), "a.inp:7: material 'steel': E = 0 Pa, expected a positive Young's modulus");
  mesh.materials[0].isotropic = Isotropic{1, 0.7};
  EXPECT_NE(message_of(mesh).find("nu = 0.7, expected Poisson's ratio between"), std::string::npos);
  Mesh empty;
  empty.source = "e.inp";
  EXPECT_NE(message_of(empty).find("e.inp: the mesh has no solid element"), std::string::npos);
}

TEST(Assembly, ElementsTurnedInsideOutAreListed) {
  Mesh mesh = box_mesh(ElementType::Tet4);
  const auto exchange = [&](int e) { std::swap(mesh.connectivity[4 * e + 1], mesh.connectivity[4 * e + 2]); };
  exchange(2);
  exchange(9);
  const std::string message = message_of(mesh);
  EXPECT_NE(
      message.find("box: 2 of 48 elements have a zero or negative Jacobian: 3, 10; the worst is element"),
      std::string::npos)
      << message;
  EXPECT_NE(message.find("check their node order and mid-side nodes"), std::string::npos) << message;
  for (int e = 0; e < mesh.element_count(); ++e)
    if (e != 2 && e != 9) exchange(e);
  EXPECT_NE(message_of(mesh).find("1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...;"), std::string::npos)
      << message_of(mesh);
  EXPECT_NE(message_of(mesh).find("node order is probably not the file format's"), std::string::npos);
}

}  // namespace
}  // namespace lissom::assembly_test

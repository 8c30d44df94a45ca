// Stress of reduced static solutions against CalculiX on the same mesh.
//
// ccx' nodal stresses have the digits of its extrapolation (1e-5 of tets, 1e-4 of hexes, see
// stress_recovery_test.cpp); its values at the integration points have seven. These are extrapolated here
// with exact coefficients and averaged over the elements of each node.
#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <cmath>
#include <fstream>

#include "lissom/cms/reduction.hpp"
#include "lissom/fe/assembly.hpp"
#include "lissom/fe/quadrature.hpp"
#include "lissom/fe/shape_functions.hpp"
#include "lissom/fe/stress_recovery.hpp"
#include "tests/cms/reduction_support.hpp"
#include "tests/fe/ccx.hpp"
#include "tests/packages.hpp"

namespace lissom::static_stress_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace test;

double off(const MatrixXd& found, const MatrixXd& expected) {
  return (found - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
}

Mesh cantilever(ElementType type) {
  BoxOptions options;
  options.cells = {6, 2, 2};
  options.size = {3, 0.5, 0.6};
  options.distortion = 0.1;
  return box_mesh(type, options);
}

// a force along z, in unequal parts on the nodes of face x1
VectorXd tip_force(const Mesh& mesh) {
  VectorXd f = VectorXd::Zero(3 * mesh.node_count());
  const std::vector<int>& face = mesh.node_sets.at("x1");
  for (size_t i = 0; i < face.size(); ++i) f[3 * face[i] + 2] = 1e5 * (1 + 0.1 * double(i));
  return f;
}

ReducedBody reduced_of(const Mesh& mesh, std::vector<InterfaceSpec> interfaces, int modes) {
  AssemblyOptions assembly;
  Diagnostics diagnostics;
  const FeModel model = assemble(mesh, assembly, diagnostics);
  ReductionOptions options;
  options.interfaces = std::move(interfaces);
  options.selection.method = SelectionMethod::Fixed;
  options.selection.count = modes;
  options.selection.residuals = false;
  options.selection.range = 1;
  return reduce(model, &mesh, options, diagnostics).body;
}

// K p = U' f with the interface "root" held.
VectorXd static_solution(const ReducedBody& body, const VectorXd& f) {
  // columns of the unit matrix: those of the coordinates that are free
  MatrixXd free(body.size(), body.size());
  int count = 0;
  for (int i = 0; i < body.size(); ++i) {
    const ReducedCoordinate& c = body.coordinates[static_cast<size_t>(i)];
    if (c.kind != CoordinateKind::Constraint ||
        body.interfaces[static_cast<size_t>(c.interface)].name != "root")
      free.col(count++) = VectorXd::Unit(body.size(), i);
  }
  const MatrixXd N = free.leftCols(count);
  const VectorXd load = body.modes.transpose() * f;
  return N * MatrixXd(N.transpose() * body.K * N).ldlt().solve(N.transpose() * load);
}

// Numbers of job.dat behind a heading that begins with `what`, `keys` columns in front left out.
MatrixXd dat_table(const std::filesystem::path& folder, const std::string& what, int keys, int columns) {
  std::ifstream in(folder / "job.dat");
  std::vector<double> values;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    const auto words = split_blanks(line);
    if (words.empty()) continue;
    if (!parse_long(words[0])) {
      inside = words[0] == what;
    } else if (inside) {
      for (int c = 0; c < columns; ++c) values.push_back(*parse_double(words[static_cast<size_t>(keys + c)]));
    }
  }
  return Eigen::Map<const MatrixXd>(values.data(), columns, static_cast<Index>(values.size()) / columns);
}

// Averages at the nodes (6 n) of ccx' stress at the integration points of all elements, in their order.
VectorXd nodal_stress(const Mesh& mesh, const Quadrature& rule, ElementType linear,
                      const std::filesystem::path& folder) {
  const MatrixXd points = dat_table(folder, "stresses", 2, 6);
  const Index count = static_cast<Index>(rule.size());
  EXPECT_EQ(points.cols(), count * mesh.element_count());
  MatrixXd at_points(count, count);
  for (Index p = 0; p < count; ++p) at_points.row(p) = shape_values(linear, rule[static_cast<size_t>(p)].xi);
  VectorXd sum = VectorXd::Zero(6 * mesh.node_count()), elements = VectorXd::Zero(mesh.node_count());
  for (int e = 0; e < mesh.element_count(); ++e) {
    const auto nodes = mesh.element_nodes(e);
    const Eigen::Matrix3Xd xi = node_coordinates(mesh.types[static_cast<size_t>(e)]);
    for (size_t a = 0; a < nodes.size(); ++a) {
      const Eigen::RowVectorXd to_node =
          Eigen::RowVectorXd(shape_values(linear, xi.col(static_cast<Index>(a)))) * at_points.inverse();
      Vector6d s = points.middleCols(count * e, count) * to_node.transpose();
      std::swap(s[4], s[5]);  // ccx has xz before yz
      sum.segment<6>(6 * nodes[a]) += s;
      elements[nodes[a]] += 1;
    }
  }
  for (int i = 0; i < mesh.node_count(); ++i) sum.segment<6>(6 * i) /= elements[i];
  return sum;
}

const std::vector<InterfaceSpec>& both_ends() {
  static const std::vector<InterfaceSpec> ends = {spec_of("root", {"x0"}), spec_of("tip", {"x1"})};
  return ends;
}

std::string loads_of(const Mesh& mesh, const VectorXd& f) {
  std::string step = "*STATIC\n*BOUNDARY\nx0, 1, 3\n*CLOAD\n";
  for (const int node : mesh.node_sets.at("x1"))
    step += fmt::format("{}, 3, {:.12e}\n", mesh.node_ids[node], f[3 * node + 2]);
  return step;
}

TEST(StaticStressAgainstCalculix, AReducedTet10CantileverAgreesToAMillionth) {
  ASSERT_TRUE(has_ccx()) << "ccx" << test::install_hint;
  const Mesh mesh = cantilever(ElementType::Tet10);
  const VectorXd f = tip_force(mesh);
  // constraint modes of all degrees of freedom that are held or loaded: exact
  const ReducedBody body = reduced_of(mesh, both_ends(), 4);
  const VectorXd p = static_solution(body, f);
  const auto folder = run_ccx(mesh, "C3D10", loads_of(mesh, f) + "*EL PRINT, ELSET=EALL\nS\n");
  const VectorXd ccx = nodal_stress(mesh, tet_rule(4), ElementType::Tet4, folder);
  std::filesystem::remove_all(folder);
  const double difference = off(body.stress_modes * p, ccx);
  std::cout << "C3D10 cantilever, static modes: stress differs by " << difference << "\n";
  // seven digits, extrapolated by 1.9
  EXPECT_LT(difference, 1e-6);
}

TEST(StaticStressAgainstCalculix, AReducedHex20CantileverAgreesToAMillionth) {
  ASSERT_TRUE(has_ccx()) << "ccx" << test::install_hint;
  const Mesh mesh = cantilever(ElementType::Hex20);
  const VectorXd f = tip_force(mesh);
  const ReducedBody body = reduced_of(mesh, both_ends(), 4);
  const VectorXd p = static_solution(body, f), u = body.modes * p;
  // the displacements: C3D20 is integrated as ours
  auto folder = run_ccx(mesh, "C3D20", loads_of(mesh, f) + "*NODE PRINT, NSET=NALL\nU\n");
  const MatrixXd moved = dat_table(folder, "displacements", 1, 3);
  std::filesystem::remove_all(folder);
  ASSERT_EQ(moved.cols(), mesh.node_count());
  EXPECT_LT(off(u, Eigen::Map<const VectorXd>(moved.data(), moved.size())), 1e-6);
  // their stress: C3D20R has its points where ours is taken
  std::string step = "*STATIC\n*BOUNDARY\n";
  for (int i = 0; i < 3 * mesh.node_count(); ++i)
    step += fmt::format("{}, {}, {}, {:.12e}\n", mesh.node_ids[i / 3], i % 3 + 1, i % 3 + 1, u[i]);
  folder = run_ccx(mesh, "C3D20R", step + "*EL PRINT, ELSET=EALL\nS\n");
  const VectorXd ccx = nodal_stress(mesh, hex_rule(2), ElementType::Hex8, folder);
  std::filesystem::remove_all(folder);
  const double difference = off(body.stress_modes * p, ccx);
  std::cout << "C3D20R cantilever, static modes: stress differs by " << difference << "\n";
  // seven digits, extrapolated by 2.5
  EXPECT_LT(difference, 1e-6);
}

TEST(StaticStressAgainstCalculix, WithFewModesItIsOffByTheModalError) {
  ASSERT_TRUE(has_ccx()) << "ccx" << test::install_hint;
  const Mesh mesh = cantilever(ElementType::Tet10);
  const VectorXd f = tip_force(mesh);
  const auto folder = run_ccx(mesh, "C3D10", loads_of(mesh, f) + "*EL PRINT, ELSET=EALL\nS\n");
  const VectorXd ccx = nodal_stress(mesh, tet_rule(4), ElementType::Tet4, folder);
  std::filesystem::remove_all(folder);
  const ReducedBody exact = reduced_of(mesh, both_ends(), 1);
  const VectorXd all = static_solution(exact, f);
  const double energy = all.dot(exact.K * all);
  double before = 1;
  for (const int modes : {2, 8, 30}) {
    // only the root is an interface: its fixed-interface modes answer the load
    const ReducedBody body = reduced_of(mesh, {spec_of("root", {"x0"})}, modes);
    const VectorXd p = static_solution(body, f);
    // energy that the modes leave out, as a Galerkin solution: relative error of the strain in the mean
    // square
    const double modal = std::sqrt(1 - p.dot(body.K * p) / energy);
    const double error = (body.stress_modes * p - ccx).norm() / ccx.norm();
    std::cout << modes << " modes: modal error " << modal << ", of the stress " << error << "\n";
    // the energy weighs volumes and moduli, the plain norm of nodes others: the same within a factor of two
    EXPECT_LT(error, 2 * modal);
    EXPECT_GT(error, modal / 2);
    EXPECT_LT(error, before);
    before = error;
  }
}

}  // namespace
}  // namespace lissom::static_stress_test

#include "lissom/fe/vibration.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <numbers>

#include "lissom/fe/assembly.hpp"
#include "lissom/fe/rigid_body.hpp"
#include "lissom/fe/spider.hpp"
#include "lissom/linalg/eigen_solver.hpp"
#include "tests/fe/test_meshes.hpp"

namespace lissom::vibration_test {
namespace {

using test::box_mesh;
using test::BoxOptions;

BoxOptions beam() {
  BoxOptions options;
  options.size = {1, 0.1, 0.08};
  options.cells = {10, 2, 2};
  return options;
}

FeModel model_of(const Mesh& mesh, MassKind mass = MassKind::Consistent) {
  Diagnostics diagnostics;
  AssemblyOptions options;
  options.mass = mass;
  return assemble(mesh, options, diagnostics);
}

Vibration modes_of(const FeModel& model, int count, std::vector<std::string> fix = {}) {
  Diagnostics diagnostics;
  VibrationOptions options;
  options.count = count;
  options.fix = std::move(fix);
  return compute_modes(model, options, diagnostics);
}

std::string message_of(const FeModel& model, const VibrationOptions& options) {
  Diagnostics diagnostics;
  try {
    compute_modes(model, options, diagnostics);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no InputError";
}

// Two copies of a mesh in one, the second moved by `shift`; coincident nodes are merged where `merge` says
// so.
Mesh two_of(const Mesh& one, const Eigen::Vector3d& shift, bool merge) {
  MeshBuilder builder("two.msh");
  std::vector<std::int64_t> second_id(one.node_count());
  for (int i = 0; i < one.node_count(); ++i) builder.add_node(i + 1, one.points.col(i), {});
  for (int i = 0; i < one.node_count(); ++i) {
    const Eigen::Vector3d x = one.points.col(i) + shift;
    second_id[i] = one.node_count() + i + 1;
    for (int j = 0; merge && j < one.node_count(); ++j)
      if ((one.points.col(j) - x).norm() < 1e-9) second_id[i] = j + 1;
    if (second_id[i] > one.node_count()) builder.add_node(second_id[i], x, {});
  }
  builder.mesh().materials = one.materials;
  for (int copy = 0; copy < 2; ++copy)
    for (int e = 0; e < one.element_count(); ++e) {
      std::vector<std::int64_t> nodes;
      for (int node : one.element_nodes(e)) nodes.push_back(copy == 0 ? node + 1 : second_id[node]);
      builder.add_element(one.types[e], copy * one.element_count() + e + 1, nodes, 0, {});
    }
  return builder.finish();
}

TEST(Vibration, AFreeBodyHasSixRigidModesAtRoundOffAndTheyAreItsTranslationsAndRotations) {
  for (ElementType type : all_element_types) {
    for (MassKind mass : {MassKind::Consistent, MassKind::Lumped}) {
      const Mesh mesh = box_mesh(type, beam());
      const FeModel model = model_of(mesh, mass);
      const Vibration v = modes_of(model, 10);
      ASSERT_EQ(v.modes.rigid_count, 6);
      // the largest eigenvalue is about 1e5 times the seventh squared: round-off of K leaves about 1e-4 of it
      // in Hz
      EXPECT_LT(v.modes.frequencies_hz[5], 1e-4 * v.modes.frequencies_hz[6]) << name_of(type);
      const double total = rigid_mass(model)->mass[0];
      for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 3; ++k)
          EXPECT_NEAR(v.modes.effective_mass(i, k), i == k ? total : 0, 1e-9 * total);
      EXPECT_LT(v.modes.effective_mass.bottomLeftCorner(4, 3).maxCoeff(), 1e-9 * total);
      EXPECT_LT(v.modes.residuals.maxCoeff(), 1e-8);
    }
  }
}

TEST(Vibration, AgreesWithADenseSolverOnAHeldBody) {
  BoxOptions small = beam();
  small.cells = {5, 1, 1};
  const FeModel model = model_of(box_mesh(ElementType::Tet10, small));
  const Vibration v = modes_of(model, 15, {"x0"});
  std::vector<int> keep;
  const std::vector<int> held = fixed_rows(model, {"x0"});
  for (int i = 0; i < model.dof_count(); ++i)
    if (!std::binary_search(held.begin(), held.end(), i)) keep.push_back(i);
  const EigenPairs dense = dense_eigenpairs(submatrix(model.K, keep), submatrix(model.M, keep), 15);
  for (int i = 0; i < 15; ++i) {
    // both lose digits to the spread of the eigenvalues, about 1e6 here
    EXPECT_NEAR(v.modes.eigenvalues[i] / dense.values[i], 1, 1e-8) << i;
  }
  for (int row : held) EXPECT_EQ(v.modes.shapes.row(row).cwiseAbs().maxCoeff(), 0);
}

TEST(Vibration, ASlenderCantileverHasTheFrequenciesOfBeamTheory) {
  BoxOptions slender;
  slender.size = {1, 0.01, 0.02};
  slender.cells = {40, 1, 1};
  Mesh mesh = box_mesh(ElementType::Hex20, slender);
  const Isotropic steel = *mesh.materials[0].isotropic;
  const Vibration v = modes_of(model_of(mesh), 2, {"x0"});
  const double rho = *mesh.materials[0].density;
  // Euler-Bernoulli, first bending about the weak and the strong axis: (1.875104)^2 / (2 pi) sqrt(E I / (rho
  // A L^4)); shear and rotary inertia take (h/L)^2 of it, the clamp's Poisson effect adds about as much: half
  // a per cent
  for (int k = 0; k < 2; ++k) {
    const double h = k == 0 ? 0.01 : 0.02;
    const double f =
        1.8751040687 * 1.8751040687 / (2 * std::numbers::pi) * std::sqrt(steel.E * h * h / 12 / rho);
    EXPECT_NEAR(v.modes.frequencies_hz[k] / f, 1, 5e-3);
  }
}

TEST(Vibration, TheAxialFrequencyOfACantileverConvergesToRodTheoryWithTheElementsOrder) {
  // without Poisson's effect a bar held at one end has exactly f = sqrt(E / rho) / (4 L); eigenvalues of
  // elements of degree p converge with h^(2 p)
  for (ElementType type : all_element_types) {
    double error[2];
    for (int refinement = 0; refinement < 2; ++refinement) {
      BoxOptions bar;
      bar.size = {1, 0.14, 0.14};  // no bending frequency near the axial one, which would mix with it
      const int n = 2 * (refinement + 1);
      bar.cells = {5 * n, n, n};
      Mesh mesh = box_mesh(type, bar);
      mesh.materials[0].isotropic->nu = 0;
      const Vibration v = modes_of(model_of(mesh), 8, {"x0"});
      Eigen::Index axial = 0;
      v.modes.effective_mass.col(0).maxCoeff(&axial);
      const double exact = std::sqrt(mesh.materials[0].isotropic->E / *mesh.materials[0].density) / 4;
      error[refinement] = v.modes.frequencies_hz[axial] / exact - 1;
    }
    const double order = std::log2(error[0] / error[1]);
    std::printf("%-8s error %.2e with 10 cells along it, %.2e with 20: order %.2f\n",
                std::string(name_of(type)).c_str(), error[0], error[1], order);
    EXPECT_GT(error[1], 0) << name_of(type);  // a consistent mass bounds frequencies from above
    // a wrong rule or node order costs a whole order; a quarter is left to meshes that are not yet fine
    EXPECT_NEAR(order, is_quadratic(type) ? 4 : 2, 0.25) << name_of(type);
  }
}

TEST(Vibration, ABodyHeldAtOneNodeStillTurnsAboutIt) {
  const FeModel model = model_of(box_mesh(ElementType::Hex20, beam()));
  const Vibration v = modes_of(model, 5, {"node 1"});
  EXPECT_EQ(v.modes.rigid_count, 3);
  EXPECT_LT(v.modes.frequencies_hz[2], 1e-4 * v.modes.frequencies_hz[3]);
}

TEST(Vibration, TwoUnconnectedPartsAreRefusedUnlessAllowed) {
  const FeModel model = model_of(two_of(box_mesh(ElementType::Hex8, beam()), {0, 1, 0}, false));
  VibrationOptions options;
  options.count = 14;
  const std::string message = message_of(model, options);
  EXPECT_NE(message.find("two.msh: the body falls apart into 2 parts"), std::string::npos) << message;
  EXPECT_NE(message.find("--allow-parts"), std::string::npos) << message;
  options.allow_parts = true;
  Diagnostics diagnostics;
  const Vibration v = compute_modes(model, options, diagnostics);
  EXPECT_EQ(v.modes.rigid_count, 12);
  EXPECT_NEAR(v.modes.frequencies_hz[12] / v.modes.frequencies_hz[13], 1, 1e-9);  // two equal parts
  EXPECT_NE(diagnostics.find("modes.parts"), nullptr);
}

TEST(Vibration, AHingeIsFoundAndItsNodesNamed) {
  // two boxes that share one edge only can turn against each other
  const FeModel model = model_of(two_of(box_mesh(ElementType::Hex8, beam()), {0, 0.1, 0.08}, true));
  VibrationOptions options;
  options.count = 9;
  Diagnostics diagnostics;
  const Vibration v = compute_modes(model, options, diagnostics);
  EXPECT_EQ(v.modes.rigid_count, 6);
  EXPECT_LT(v.modes.frequencies_hz[6], 1e-3 * v.modes.frequencies_hz[7]);
  const Warning* warning = diagnostics.find("modes.mechanism");
  ASSERT_NE(warning, nullptr);
  EXPECT_NE(warning->message.find("mode 7 costs no energy"), std::string::npos) << warning->message;
}

TEST(Vibration, ModelsWithoutCoordinatesHaveTheSameFrequencies) {
  FeModel model = model_of(box_mesh(ElementType::Tet10, beam()));
  const Vibration with = modes_of(model, 12);
  model.points.resize(3, 0);
  const Vibration without = modes_of(model, 12);
  EXPECT_EQ(without.modes.rigid_count, 0);
  for (int i = 6; i < 12; ++i)
    EXPECT_NEAR(without.modes.frequencies_hz[i] / with.modes.frequencies_hz[i], 1, 1e-8);
  EXPECT_LT(without.modes.frequencies_hz[5], 1e-3 * without.modes.frequencies_hz[6]);
}

TEST(Vibration, AnAveragingSpiderLeavesFreeFrequenciesAndARigidOneRaisesThem) {
  const Mesh plain = box_mesh(ElementType::Hex20, beam());
  const Vibration free = modes_of(model_of(plain), 12);
  Mesh averaged = plain, rigid = plain;
  add_spider(averaged, "tip", Spider::Kind::Averaging, plain.node_sets.at("x1"));
  add_spider(rigid, "tip", Spider::Kind::Rigid, plain.node_sets.at("x1"));
  const Vibration a = modes_of(model_of(averaged), 12), r = modes_of(model_of(rigid), 12);
  for (int i = 6; i < 12; ++i) {
    EXPECT_NEAR(a.modes.frequencies_hz[i] / free.modes.frequencies_hz[i], 1, 1e-8) << i;
    EXPECT_GT(r.modes.frequencies_hz[i], free.modes.frequencies_hz[i] * (1 - 1e-9)) << i;
  }
  EXPECT_EQ(a.modes.rigid_count, 6);
  EXPECT_EQ(r.modes.rigid_count, 6);
}

TEST(Vibration, ModesBetweenTwoFrequenciesAreThoseOfTheWholeList) {
  // of square section: bending modes come in pairs
  BoxOptions options = beam();
  options.size = {1, 0.1, 0.1};
  const FeModel model = model_of(box_mesh(ElementType::Hex8, options));
  const Vibration all = modes_of(model, 40);
  EXPECT_TRUE(all.counted.confirmed());
  const Eigen::VectorXd& hz = all.modes.frequencies_hz;
  const auto between = [&](int first, int last) {
    VibrationOptions slice;
    slice.from_hz = first == 0 ? 0 : 0.5 * (hz[first - 1] + hz[first]);
    slice.up_to_hz = 0.5 * (hz[last] + hz[last + 1]);
    Diagnostics diagnostics;
    const Vibration v = compute_modes(model, slice, diagnostics);
    EXPECT_TRUE(diagnostics.empty());
    return v;
  };
  // with the rigid motions, pairs at either end, far up
  for (const auto& [first, last] : {std::pair{0, 11}, std::pair{8, 15}, std::pair{20, 33}}) {
    // in the gaps of the list
    if (hz[last + 1] - hz[last] < 1e-3 * hz[last] ||
        (first > 0 && hz[first] - hz[first - 1] < 1e-3 * hz[first]))
      continue;
    const Vibration v = between(first, last);
    ASSERT_EQ(v.modes.count(), last - first + 1);
    EXPECT_EQ(v.below, first);
    EXPECT_TRUE(v.counted.confirmed());
    for (int i = std::max(first, 6); i <= last; ++i)
      EXPECT_NEAR(v.modes.frequencies_hz[i - first], hz[i], 1e-8 * hz[i]) << i;
    const Eigen::MatrixXd M = v.modes.shapes.transpose() * (model.M.full() * v.modes.shapes);
    EXPECT_LT((M - Eigen::MatrixXd::Identity(M.rows(), M.cols())).cwiseAbs().maxCoeff(), 1e-9);
  }
  VibrationOptions empty;
  empty.from_hz = 0.4 * hz[6], empty.up_to_hz = 0.6 * hz[6];
  EXPECT_NE(message_of(model, empty).find("no mode lies between"), std::string::npos);
  EXPECT_NE(message_of(model, empty).find("6 lie below"), std::string::npos);
  std::swap(empty.from_hz, empty.up_to_hz);
  EXPECT_NE(message_of(model, empty).find("less than up_to_hz"), std::string::npos);
}

TEST(Vibration, ACountFindsTheModesThatACrippledSolverLoses) {
  // a cube: pairs and triples of equal frequencies, of which one vector at a time sees one each
  BoxOptions options;
  options.size = {0.2, 0.2, 0.2};
  options.cells = {5, 5, 5};
  const FeModel model = model_of(box_mesh(ElementType::Hex8, options));
  const Vibration right = modes_of(model, 30);
  EXPECT_TRUE(right.counted.confirmed());
  VibrationOptions crippled;
  crippled.count = 30;
  crippled.block = 1;
  crippled.look_for_lost = false;
  crippled.count_modes = false;
  Diagnostics unaware, aware;
  const Vibration wrong = compute_modes(model, crippled, unaware);
  const double last = right.modes.eigenvalues[29];
  EXPECT_GT((wrong.modes.eigenvalues - right.modes.eigenvalues).cwiseAbs().maxCoeff(), 1e-3 * last);
  EXPECT_TRUE(unaware.empty());
  crippled.count_modes = true;
  const Vibration found = compute_modes(model, crippled, aware);
  EXPECT_LT((found.modes.eigenvalues - right.modes.eigenvalues).cwiseAbs().maxCoeff(), 1e-8 * last);
  EXPECT_TRUE(found.counted.confirmed());
  ASSERT_FALSE(aware.empty());
  EXPECT_NE(to_string(aware.warnings().front()).find("had missed"), std::string::npos);
}

TEST(Vibration, WrongRequestsAreNamed) {
  const FeModel model = model_of(box_mesh(ElementType::Hex8, beam()));
  VibrationOptions options;
  options.fix = {"x00"};
  EXPECT_NE(message_of(model, options).find("no node set 'x00' to fix (did you mean 'x0'?)"),
            std::string::npos)
      << message_of(model, options);
  options.fix = {"node 99999"};
  EXPECT_NE(message_of(model, options).find("there is no node 99999 to fix"), std::string::npos);
  options.fix.clear();
  options.count = 100000;
  EXPECT_NE(message_of(model, options).find("only 297 free degrees of freedom"), std::string::npos)
      << message_of(model, options);
  options.count = 5;
  FeModel massless = model;
  massless.M.lower.coeffRef(4, 4) = 0;
  EXPECT_NE(message_of(massless, options).find("1 degrees of freedom have no mass"), std::string::npos)
      << message_of(massless, options);
}

TEST(Vibration, AnIndefiniteStiffnessIsNamedWithItsNode) {
  FeModel model = model_of(box_mesh(ElementType::Hex8, beam()));
  model.K.lower.coeffRef(30, 30) = -1e12;
  Diagnostics diagnostics;
  VibrationOptions options;
  options.shift = -1e6;
  try {
    compute_modes(model, options, diagnostics);
    FAIL() << "expected NotPositiveDefinite";
  } catch (const NotPositiveDefinite& e) {
    EXPECT_NE(std::string(e.what()).find("the trouble is at node "), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace lissom::vibration_test

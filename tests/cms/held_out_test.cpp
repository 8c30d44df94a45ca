// Bodies on which earlier versions gave wrong answers: rings, gears, rods of slenderness 400, sheets, leaf
// springs, micrometres. The independent answer is a dense solution in long double, whose round-off is 2000
// times smaller, or beam and plate theory.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include <cmath>
#include <numbers>

#include "lissom/cms/mode_selection.hpp"
#include "lissom/cms/reduction.hpp"
#include "lissom/fe/vibration.hpp"
#include "tests/cms/reduction_support.hpp"

namespace lissom::held_out_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using namespace test;
using Precise = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

// The lowest eigenvalues of the whole body, rigid ones included, from K and M as they are stored.
VectorXd precise_eigenvalues(const FeModel& model, int count, double shift) {
  const Precise K = dense(model.K).cast<long double>(), M = dense(model.M).cast<long double>();
  const Eigen::GeneralizedSelfAdjointEigenSolver<Precise> eigen(M, K + static_cast<long double>(shift) * M,
                                                                Eigen::EigenvaluesOnly | Eigen::Ax_lBx);
  return (eigen.eigenvalues().reverse().head(count).cwiseInverse().array() - static_cast<long double>(shift))
      .matrix()
      .cast<double>();
}

SampleBody bar(const std::string& name, const Eigen::Vector3d& size, std::array<int, 3> cells,
               ElementType type = ElementType::Hex8) {
  BoxOptions options;
  options.cells = cells, options.size = size;
  Mesh mesh = box_mesh(type, options);
  add_spider(mesh, "end", Spider::Kind::Rigid, mesh.node_sets.at("x0"));
  return body_of(name, std::move(mesh), MassKind::Consistent, {spec_of("end", {"end"})});
}

struct RingOptions {
  double inner = 0.08, outer = 0.1, height = 0.02;  // [m]
  int sectors = 16, layers = 1;                     // around, across the wall
  int teeth = 0;                                    // every sectors / teeth-th sector has one
};
// A ring of bricks with sets "bore" and "rim" of nodes; with teeth a gear.
Mesh ring_mesh(const RingOptions& o) {
  MeshBuilder builder("ring");
  builder.mesh().materials.push_back(steel());
  const int rows = o.layers + 1 + (o.teeth > 0 ? 1 : 0);
  const auto id = [&](int r, int t, int z) { return std::int64_t{1} + z + 2 * (r + rows * (t % o.sectors)); };
  std::vector<char> used(2 * rows * o.sectors + 1, 0);
  std::int64_t element = 0;
  for (int t = 0; t < o.sectors; ++t)
    for (int r = 0; r + 1 < rows; ++r) {
      if (r >= o.layers && t % (o.sectors / o.teeth) != 0) continue;
      std::vector<std::int64_t> nodes;
      for (const int z : {0, 1})
        for (const auto& [dr, dt] : {std::pair{0, 0}, {1, 0}, {1, 1}, {0, 1}})
          nodes.push_back(id(r + dr, t + dt, z)), used[nodes.back()] = 1;
      builder.add_element(ElementType::Hex8, ++element, nodes, 0, {"ring", 0});
    }
  for (int t = 0; t < o.sectors; ++t)
    for (int r = 0; r < rows; ++r)
      for (const int z : {0, 1}) {
        const std::int64_t node = id(r, t, z);
        if (!used[node]) continue;
        const double radius = o.inner + (o.outer - o.inner) * r / o.layers;
        const double angle = 2 * std::numbers::pi * t / o.sectors;
        builder.add_node(node, {radius * std::cos(angle), radius * std::sin(angle), o.height * z},
                         {"ring", 0});
        if (r == 0) builder.add_to_node_set("bore", {&node, 1}, {"ring", 0});
        if (r == o.layers) builder.add_to_node_set("rim", {&node, 1}, {"ring", 0});
      }
  return builder.finish();
}

SampleBody ring(const std::string& name, const RingOptions& options, Spider::Kind kind) {
  Mesh mesh = ring_mesh(options);
  add_spider(mesh, "hub", kind, mesh.node_sets.at("bore"));
  return body_of(name, std::move(mesh), MassKind::Consistent, {spec_of("hub", {"hub"})});
}

std::vector<SampleBody> held_out_bodies() {
  std::vector<SampleBody> bodies;
  bodies.push_back(bar("rod of slenderness 400", {2, 0.005, 0.005}, {20, 1, 1}));
  bodies.push_back(bar("sheet", {1, 1, 0.0005}, {6, 6, 1}));
  bodies.push_back(bar("leaf spring", {0.5, 0.04, 0.001}, {20, 1, 1}));
  bodies.push_back(bar("micrometres", {2e-4, 5e-6, 2e-6}, {20, 1, 1}));
  bodies.push_back(ring("ring, averaging", {}, Spider::Kind::Averaging));
  bodies.push_back(ring("thin ring, averaging", {0.099, 0.1, 0.02, 24, 1, 0}, Spider::Kind::Averaging));
  bodies.push_back(ring("gear", {0.05, 0.1, 0.02, 16, 1, 8}, Spider::Kind::Rigid));
  // mm, t, s as they are: lengths a thousand times larger, E in N/mm2, density in t/mm3
  SampleBody mm = bar("rod in mm, t, s", {2000, 5, 5}, {20, 1, 1});
  for (double& x : std::span(mm.model.K.lower.valuePtr(), mm.model.K.lower.nonZeros())) x *= 1e-6;
  for (double& x : std::span(mm.model.M.lower.valuePtr(), mm.model.M.lower.nonZeros())) x *= 1e-12;
  bodies.push_back(std::move(mm));
  return bodies;
}

// |x|' |K| |x| of a shape with unit modal mass, times the round-off of a double: what the entries of K leave
// open of its eigenvalue.
double roundoff_of(const FeModel& model, const VectorXd& x) {
  return 1.1e-16 * x.cwiseAbs().dot(dense(model.K).cwiseAbs() * x.cwiseAbs());
}

TEST(HeldOut, NaturalModesAreThoseOfAPreciseSolution) {
  for (const SampleBody& body : held_out_bodies()) {
    Diagnostics diagnostics;
    VibrationOptions options;
    options.count = 16;
    const Vibration v = compute_modes(body.model, options, diagnostics);
    EXPECT_EQ(v.modes.rigid_count, 6) << body.name;
    EXPECT_TRUE(diagnostics.empty()) << body.name << ": " << diagnostics.warnings().front().message;
    const double first = v.modes.eigenvalues[6];
    // the shift follows the body: a spider's stiffness once made it 1e4 times too large
    EXPECT_LT(-v.modes.shift, 5 * first) << body.name;
    EXPECT_GT(-v.modes.shift, 1e-3 * first) << body.name;
    const VectorXd exact = precise_eigenvalues(body.model, 16, 0.1 * first);
    for (int i = 6; i < 16; ++i)
      EXPECT_NEAR(v.modes.eigenvalues[i], exact[i], 4 * roundoff_of(body.model, v.modes.shapes.col(i)))
          << body.name << ", mode " << i + 1;
    // gears and rings: bending modes come in pairs, and none of a pair is lost
    if (body.name.starts_with("gear") || body.name.starts_with("ring")) {
      for (const int i : {6, 8}) EXPECT_NEAR(v.modes.eigenvalues[i + 1] / v.modes.eigenvalues[i], 1, 1e-9);
    }
  }
}

TEST(HeldOut, NothingIsProvenBelowTheErrorAndRoundOffIsSaid) {
  int refused = 0;
  for (const SampleBody& body : held_out_bodies())
    for (const double tolerance : {1e-2, 1e-5, 1e-9}) {
      // a rigid spider on the edge of a sheet has no inertia of its own about it (thickness squared): an
      // error says so
      if (body.name.starts_with("sheet")) continue;
      Diagnostics diagnostics;
      CraigBampton components(body.model, body.interfaces, diagnostics);
      SelectionOptions options;
      options.tolerance = tolerance;
      const Selection s = select_modes(components, options, diagnostics);
      const std::string what = fmt::format("{} at {:g}", body.name, tolerance);
      EXPECT_EQ(components.rigid_count(), 6) << what;
      ASSERT_EQ(s.errors.modes.size(), 10) << what;
      const VectorXd exact = precise_eigenvalues(body.model, 16, 0.1 * s.errors.modes[0].eigenvalue);
      for (int k = 0; k < 10; ++k) {
        const double error = s.errors.modes[k].eigenvalue / exact[6 + k] - 1;
        EXPECT_LE(std::abs(error), s.errors.modes[k].bound) << what << ", flexible mode " << k + 1;
      }
      // proven, or said to be impossible: never one without the other
      const Warning* warning = diagnostics.find("reduce.roundoff");
      EXPECT_EQ(s.errors.certified, warning == nullptr) << what;
      EXPECT_EQ(s.reached, s.errors.certified) << what;
      EXPECT_TRUE(s.errors.certified || tolerance < 1e-2) << what;
      if (warning) {
        ++refused;
        EXPECT_NE(warning->message.find("is below what round-off leaves of this body's eigenvalues"),
                  std::string::npos)
            << warning->message;
      }
      // no body is pushed on towards a tolerance that it cannot reach
      EXPECT_LT(s.coordinates, 100) << what;
    }
  // rods, leaf, thin ring and micrometres at 1e-9; ring and gear reach it
  EXPECT_GE(refused, 4);
}

// 3.51602^2 and 22.3733^2: beam theory, clamped at one end and free; 3.4917: Leissa's square plate, clamped
// at one edge, nu = 0.3. The meshes are coarse, 20 elements along the rod and 6 by 6 of the plate.
TEST(HeldOut, RodsAndSheetsHaveTheFrequenciesOfTheory) {
  const double E = 210e9, rho = 7850;
  const SampleBody rod = bar("rod", {2, 0.005, 0.005}, {20, 1, 1});
  const double beam = E * 0.005 * 0.005 / 12 / (rho * 16);  // E I / (rho A L^4)
  Diagnostics diagnostics;
  CraigBampton held(rod.model, rod.interfaces, diagnostics);
  held.need_modes(6);
  EXPECT_NEAR(held.kappa()[0] / (12.3624 * beam), 1, 0.01);
  EXPECT_EQ(held.rigid_count(), 6);
  ReductionOptions options;
  options.interfaces = rod.specs;
  options.selection.range = 4;
  const Reduction reduced = reduce(rod.model, &rod.mesh, options, diagnostics);
  EXPECT_EQ(reduced.body.rigid_count, 6);
  EXPECT_TRUE(reduced.body.errors.certified);
  EXPECT_NEAR(reduced.body.eigenvalues[6] / (500.564 * beam), 1, 0.01);

  BoxOptions box;
  box.cells = {6, 6, 1}, box.size = {1, 1, 0.0005};
  const SampleBody sheet =
      body_of("sheet", box_mesh(ElementType::Hex8, box), MassKind::Consistent, {spec_of("edge", {"x0"})});
  CraigBampton edge(sheet.model, sheet.interfaces, diagnostics);
  edge.need_modes(4);
  const double D = E * std::pow(0.0005, 3) / (12 * (1 - 0.09));
  EXPECT_NEAR(edge.kappa()[0] / (3.4917 * 3.4917 * D / (rho * 0.0005)), 1, 0.04);  // 0.44 Hz
  EXPECT_EQ(edge.rigid_count(), 6);
  EXPECT_TRUE(diagnostics.empty()) << diagnostics.warnings().front().message;
}

// Two columns of bricks that share an edge, a spider at each far end: one can turn about the edge against the
// other, and the first "flexible" mode costs nothing.
SampleBody hinge() {
  MeshBuilder builder("hinge");
  builder.mesh().materials.push_back(steel());
  const auto id = [](int i, int j, int k) { return std::int64_t{1} + i + 10 * j + 100 * k; };
  std::int64_t element = 0;
  for (const int side : {0, 1})
    for (int i = 0; i < 4; ++i) {
      std::vector<std::int64_t> nodes;
      for (const int dk : {0, 1})
        for (const auto& [di, dj] : {std::pair{0, 0}, {1, 0}, {1, 1}, {0, 1}}) {
          nodes.push_back(id(i + di, side + dj, side + dk));
          if (!builder.has_node(nodes.back()))
            builder.add_node(nodes.back(), {0.1 * (i + di), 0.1 * (side + dj), 0.1 * (side + dk)},
                             {"hinge", 0});
          const bool outer = side == 0 ? dj == 0 : dj == 1;
          if (outer) builder.add_to_node_set(side == 0 ? "low" : "high", {&nodes.back(), 1}, {"hinge", 0});
        }
      builder.add_element(ElementType::Hex8, ++element, nodes, 0, {"hinge", 0});
    }
  Mesh mesh = builder.finish();
  add_spider(mesh, "A", Spider::Kind::Rigid, mesh.node_sets.at("low"));
  add_spider(mesh, "B", Spider::Kind::Rigid, mesh.node_sets.at("high"));
  return body_of("hinge", std::move(mesh), MassKind::Consistent, {spec_of("A", {"A"}), spec_of("B", {"B"})});
}

TEST(HeldOut, ASearchEndsWhenTheBoundsStopImprovingAndSaysSo) {
  const SampleBody body = hinge();
  Diagnostics diagnostics;
  CraigBampton components(body.model, body.interfaces, diagnostics);
  SelectionOptions options;
  options.range = 3;
  const Selection s = select_modes(components, options, diagnostics);
  EXPECT_FALSE(s.reached);
  EXPECT_FALSE(s.errors.certified);
  const Warning* warning = diagnostics.find("reduce.stalled");
  ASSERT_NE(warning, nullptr);
  EXPECT_NE(warning->message.find("more of them did not make the bounds any smaller; nothing is proven"),
            std::string::npos)
      << warning->message;
  // far from all there are
  EXPECT_LT(components.modes_known(), components.interior_size() - 1);
}

// Rings of many proportions: LAPACK's dsyevr gave up on a quarter of those with averaging spiders.
TEST(HeldOut, RingsWithAveragingSpidersAreReduced) {
  for (const double wall : {0.001, 0.005, 0.02, 0.05})
    for (const int sectors : {8, 12, 16})
      for (const double height : {0.005, 0.03}) {
        RingOptions shape;
        shape.inner = 0.1 - wall, shape.sectors = sectors, shape.height = height;
        const SampleBody body = ring("ring", shape, Spider::Kind::Averaging);
        const std::string what = fmt::format("wall {}, {} sectors, height {}", wall, sectors, height);
        Diagnostics diagnostics;
        ReductionOptions options;
        options.interfaces = body.specs;
        options.selection.range = 6;
        options.stress = false;
        const Reduction r = reduce(body.model, nullptr, options, diagnostics);
        EXPECT_EQ(r.body.rigid_count, 6) << what;
        EXPECT_TRUE(r.body.errors.certified) << what;
        // natural modes of the reduced body: orthonormal, and eigenvectors
        const MatrixXd& X = r.body.eigenvectors;
        EXPECT_LT((X.transpose() * r.body.M * X - MatrixXd::Identity(X.cols(), X.cols())).norm(), 1e-9)
            << what;
        VibrationOptions vibration;
        vibration.count = 12;
        const Vibration v = compute_modes(body.model, vibration, diagnostics);
        EXPECT_LT(-v.modes.shift, 5 * v.modes.eigenvalues[6]) << what;
        for (int k = 6; k < 12; ++k)
          EXPECT_NEAR(r.body.eigenvalues[k] / v.modes.eigenvalues[k], 1, 1e-3) << what << ", mode " << k + 1;
      }
}

TEST(HeldOut, UnconnectedPartsAreRefusedUnlessAllowed) {
  BoxOptions options;
  options.cells = {2, 1, 1}, options.size = {0.2, 0.1, 0.1};
  const Mesh one = box_mesh(ElementType::Hex8, options);
  MeshBuilder builder("two.msh");
  builder.mesh().materials.push_back(steel());
  for (const int copy : {0, 1}) {
    for (int i = 0; i < one.node_count(); ++i)
      builder.add_node(one.node_ids[i] + 100 * copy, one.points.col(i) + Eigen::Vector3d(0, copy, 0),
                       {"two.msh", 0});
    for (int e = 0; e < one.element_count(); ++e) {
      std::vector<std::int64_t> nodes;
      for (const int node : one.element_nodes(e)) nodes.push_back(one.node_ids[node] + 100 * copy);
      builder.add_element(ElementType::Hex8, 1 + e + 100 * copy, nodes, 0, {"two.msh", 0});
    }
    for (const int node : one.node_sets.at("x0")) {
      const std::int64_t id = one.node_ids[node] + 100 * copy;
      builder.add_to_node_set(copy == 0 ? "A" : "B", {&id, 1}, {"two.msh", 0});
    }
  }
  const SampleBody body =
      body_of("two", builder.finish(), MassKind::Consistent, {spec_of("A", {"A"}), spec_of("B", {"B"})});
  ReductionOptions reduction;
  reduction.interfaces = body.specs;
  reduction.selection.range = 4;
  reduction.stress = false;
  Diagnostics diagnostics;
  for (const ReductionBasis basis : {ReductionBasis::CraigBampton, ReductionBasis::FreeInterface}) {
    reduction.basis = basis, reduction.allow_parts = false;
    try {
      reduce(body.model, nullptr, reduction, diagnostics);
      ADD_FAILURE() << "two parts were reduced";
    } catch (const InputError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("the body falls apart into 2 parts that nothing connects"), std::string::npos)
          << message;
      EXPECT_NE(message.find("allow_parts = true"), std::string::npos) << message;
    }
  }
  reduction.basis = ReductionBasis::CraigBampton, reduction.allow_parts = true;
  const Reduction both = reduce(body.model, nullptr, reduction, diagnostics);
  EXPECT_NE(diagnostics.find("reduce.parts"), nullptr);
  EXPECT_EQ(both.body.rigid_count, 12);  // six of each
  EXPECT_TRUE(both.body.errors.certified);
  // equal parts: every flexible eigenvalue comes twice
  for (const int k : {12, 14}) EXPECT_NEAR(both.body.eigenvalues[k + 1] / both.body.eigenvalues[k], 1, 1e-6);
}

}  // namespace
}  // namespace lissom::held_out_test

#include "lissom/cms/reduction.hpp"

#include <gtest/gtest.h>

#include "lissom/fe/rigid_body.hpp"
#include "lissom/fe/stress_recovery.hpp"
#include "lissom/fe/vibration.hpp"
#include "lissom/io/reduced_body_file.hpp"
#include "tests/cms/reduction_support.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::reduction_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using namespace test;

ReductionOptions options_for(const SampleBody& body, int range = 6, double tolerance = 1e-3) {
  ReductionOptions options;
  options.interfaces = body.specs;
  options.selection.range = range;
  options.selection.tolerance = tolerance;
  return options;
}

Reduction reduced(const SampleBody& body, const ReductionOptions& options) {
  Diagnostics diagnostics;
  Reduction result = reduce(body.model, &body.mesh, options, diagnostics);
  EXPECT_TRUE(diagnostics.empty()) << to_string(diagnostics.warnings().front());
  EXPECT_EQ(inconsistency_of(result.body), "");
  return result;
}

VectorXd dense_frequencies(const MatrixXd& K, const MatrixXd& M) {
  return Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd>(K, M, Eigen::EigenvaluesOnly).eigenvalues();
}

// Rows of all nodes, rotations of references included, that the free reduced coordinates move.
double deviation_from_unit(const MatrixXd& X) {
  return (X - MatrixXd::Identity(X.rows(), X.cols())).cwiseAbs().maxCoeff();
}

TEST(Reduction, CraigBamptonBodiesHoldTogether) {
  for (const SampleBody& body : {plate(MassKind::Lumped), square_beam(MassKind::Consistent)}) {
    ReductionOptions options = options_for(body);
    options.exact_errors = true;
    const Reduction result = reduced(body, options);
    const ReducedBody& r = result.body;
    const int N = r.size();
    EXPECT_EQ(r.basis, "craig-bampton");
    EXPECT_EQ(r.rigid_count, 6);
    EXPECT_EQ(r.range, 6);
    EXPECT_EQ(N, result.selection.coordinates + result.interface_size);
    EXPECT_EQ(result.full_size, body.model.dof_count());
    EXPECT_EQ(result.interior_size + result.interface_size, result.full_size);
    // kinetic and strain energy of the displacements: M from the masses of the nodes
    ASSERT_EQ(r.modes.rows(), 3 * body.model.points.cols());
    MatrixXd M = MatrixXd::Zero(N, N);
    const MatrixXd m = dense(body.model.node_mass);
    for (int d = 0; d < 3; ++d) {
      const MatrixXd U = r.modes(Eigen::seqN(d, body.model.points.cols(), 3), Eigen::all);
      M += U.transpose() * m * U;
    }
    EXPECT_LT(scaled_difference(r.M, M), 1e-8) << body.name;
    // natural modes
    EXPECT_LT(deviation_from_unit(r.eigenvectors.transpose() * r.M * r.eigenvectors), 1e-9);
    const VectorXd expected = dense_frequencies(r.K, r.M);
    EXPECT_LT((r.eigenvalues - expected).cwiseAbs().maxCoeff(), 1e-10 * expected.maxCoeff());
    // the table of errors speaks of these modes, and the exact ones are the dense ones
    const VectorXd chi = exact_eigenvalues(dense_body(body.model, body.interfaces));
    ASSERT_EQ(r.errors.modes.size(), 6u);
    for (int n = 0; n < 6; ++n) {
      EXPECT_NEAR(r.errors.modes[n].eigenvalue, r.eigenvalues[6 + n], 1e-8 * r.eigenvalues[6 + n]);
      EXPECT_NEAR(result.exact[n], chi[6 + n], 1e-8 * chi[6 + n]);
      EXPECT_LE(r.errors.modes[n].exact, 1e-3);
      EXPECT_GE(r.errors.modes[n].exact, -1e-8);
      EXPECT_LE(r.errors.modes[n].exact, r.errors.modes[n].bound + 1e-8);
    }
    EXPECT_TRUE(r.errors.certified);
    // the mode table
    int constraint = 0;
    for (const ReducedCoordinate& c : r.coordinates) {
      if (c.kind != CoordinateKind::Constraint) continue;
      ++constraint;
      EXPECT_GE(c.interface, 0);
      EXPECT_GE(c.node_id, 1);
    }
    EXPECT_EQ(constraint, result.interface_size);
  }
}

TEST(Reduction, ABodyMovesRigidlyWithItsInterfaces) {
  const SampleBody body = plate(MassKind::Consistent);
  const ReducedBody r = reduced(body, options_for(body)).body;
  const auto rigid = rigid_mass(body.model);
  // interior coordinates zero, interface rows those of a rigid motion
  const MatrixXd R = rigid_body_modes(body.model.points, body.model.dofs, *rigid->centre);
  MatrixXd p = MatrixXd::Zero(r.size(), 6);
  size_t j = 0;
  for (const Interface& interface : body.interfaces)
    for (const int row : interface.rows) {
      while (r.coordinates[j].kind != CoordinateKind::Constraint) ++j;
      p.row(static_cast<Eigen::Index>(j++)) = R.row(row);
    }
  const MatrixXd moved = r.modes * p, expected = node_displacements(body.model, R);
  EXPECT_LT((moved - expected).cwiseAbs().maxCoeff(), 1e-9);
  // no energy, no stress, the whole mass
  EXPECT_LT((p.transpose() * r.K * p).cwiseAbs().maxCoeff(), 1e-9 * r.K.diagonal().maxCoeff());
  EXPECT_LT((r.stress_modes * p).cwiseAbs().maxCoeff(), 1e-9 * r.stress_modes.cwiseAbs().maxCoeff());
  EXPECT_NEAR((p.transpose() * r.M * p)(0, 0), rigid->mass[0], 1e-9 * rigid->mass[0]);
  EXPECT_NEAR(r.inertia.mass, rigid->mass[0], 1e-12 * rigid->mass[0]);
  // the frames tell the motion
  for (const InterfaceFrame& frame : r.interfaces) {
    const MatrixXd motion = frame.motion * p;
    EXPECT_TRUE(frame.rotates || frame.name == "edge");
    EXPECT_LT((motion.topLeftCorner(3, 3) - MatrixXd::Identity(3, 3)).norm(), 1e-9) << frame.name;
    if (frame.rotates) {
      EXPECT_LT((motion.bottomRightCorner(3, 3) - MatrixXd::Identity(3, 3)).norm(), 1e-8) << frame.name;
    }
  }
}

TEST(Reduction, FramesOfSpidersAreTheirCoordinatesAndThoseOfSetsARigidFit) {
  const SampleBody beam = square_beam(MassKind::Lumped);
  for (const ReducedBody& r : {reduced(beam, options_for(beam)).body}) {
    for (const InterfaceFrame& frame : r.interfaces) {
      EXPECT_TRUE(frame.rotates);
      ASSERT_EQ(frame.coordinates.size(), 6u);
      MatrixXd expected = MatrixXd::Zero(6, r.size());
      for (int d = 0; d < 6; ++d) {
        expected(d, frame.coordinates[d]) = 1;
        EXPECT_EQ(r.coordinates[frame.coordinates[d]].direction, d);
      }
      EXPECT_EQ(frame.motion, expected);
    }
  }
  const SampleBody solid = block(MassKind::Consistent);
  const ReducedBody r = reduced(solid, options_for(solid)).body;
  const InterfaceFrame& frame = r.interfaces[0];
  EXPECT_TRUE(frame.rotates);
  ASSERT_EQ(frame.node_ids.size(), 4u);
  // normal equations of the fit u = t + theta x (x - x_0)
  MatrixXd D(12, 6), U(12, r.size());
  for (int k = 0; k < 4; ++k) {
    const int node = solid.interfaces[0].nodes[k];
    const Eigen::Vector3d x = solid.model.points.col(node) - frame.origin;
    for (int d = 0; d < 3; ++d) {
      D.block<3, 1>(3 * k, d) = Eigen::Vector3d::Unit(d);
      D.block<3, 1>(3 * k, 3 + d) = Eigen::Vector3d::Unit(d).cross(x);
    }
    U.middleRows(3 * k, 3) = r.modes.middleRows(3 * node, 3);
  }
  const MatrixXd fit = (D.transpose() * D).ldlt().solve(D.transpose() * U);
  EXPECT_LT(difference(frame.motion, fit), 1e-12);
  EXPECT_EQ(r.interfaces[0].coordinates.size(), 12u);
}

TEST(Reduction, ChosenNodesAreRowsOfAllNodes) {
  const SampleBody body = plate(MassKind::Lumped);
  ReductionOptions options = options_for(body);
  const ReducedBody all = reduced(body, options).body;
  const std::string extra = fmt::format("node {}", body.model.node_ids[body.mesh.node_sets.at("y0")[2]]);
  options.nodes = {"y1", "left", extra, extra};
  const ReducedBody some = reduced(body, options).body;
  std::vector<int> nodes = body.mesh.node_sets.at("y1");
  nodes.push_back(body.mesh.node_sets.at("left")[0]);
  nodes.push_back(body.mesh.node_sets.at("y0")[2]);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  ASSERT_EQ(some.node_ids.size(), nodes.size());
  for (size_t k = 0; k < nodes.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    EXPECT_EQ(some.node_ids[k], all.node_ids[nodes[k]]);
    EXPECT_EQ(some.points.col(i), all.points.col(nodes[k]));
    EXPECT_EQ(some.modes.middleRows(3 * i, 3), all.modes.middleRows(3 * nodes[k], 3));
    EXPECT_EQ(some.stress_modes.middleRows(6 * i, 6), all.stress_modes.middleRows(6 * nodes[k], 6));
    EXPECT_EQ(some.strain_modes.middleRows(6 * i, 6), all.strain_modes.middleRows(6 * nodes[k], 6));
  }
  // everything else is of the whole body
  EXPECT_EQ(some.M, all.M);
  EXPECT_EQ(some.inertia.translation, all.inertia.translation);
  EXPECT_EQ(some.interfaces[1].motion, all.interfaces[1].motion);
}

TEST(Reduction, StressModesAreTheStressOfTheModes) {
  const SampleBody body = block(MassKind::Consistent);
  ReductionOptions options = options_for(body);
  const ReducedBody r = reduced(body, options).body;
  const NodalStress expected = recover_stress(body.mesh, r.modes);
  EXPECT_EQ(r.stress_modes, expected.stress);
  EXPECT_EQ(r.strain_modes, expected.strain);
  options.stress = false;
  EXPECT_EQ(reduced(body, options).body.stress_modes.size(), 0);
  // without a mesh there is none either
  Diagnostics diagnostics;
  options.stress = true;
  EXPECT_EQ(reduce(body.model, nullptr, options, diagnostics).body.stress_modes.size(), 0);
}

TEST(Reduction, FreeModesAreUncoupledAndThoseOfTheCraigBamptonBody) {
  const SampleBody body = plate(MassKind::Consistent);
  ReductionOptions options = options_for(body);
  options.damping = UniformDamping{0.02};
  const ReducedBody full = reduced(body, options).body;
  options.basis = ReductionBasis::FreeModes;
  const ReducedBody r = reduced(body, options).body;
  EXPECT_EQ(r.basis, "free-modes");
  ASSERT_EQ(r.size(), 6);
  EXPECT_EQ(r.rigid_count, 0);
  EXPECT_EQ(r.range, 6);
  // Eqs. 46-49
  EXPECT_EQ(r.M, MatrixXd::Identity(6, 6));
  EXPECT_EQ(r.K, MatrixXd(full.eigenvalues.segment(6, 6).asDiagonal()));
  EXPECT_LT(difference(r.modes, full.modes * full.free_modes()), 1e-12);
  EXPECT_LT(difference(r.stress_modes, full.stress_modes * full.free_modes()), 1e-10);
  const VectorXd damping = 2 * 0.02 * full.eigenvalues.segment(6, 6).cwiseSqrt();
  EXPECT_LT(difference(r.D, MatrixXd(damping.asDiagonal())), 1e-12);
  for (size_t i = 0; i < r.interfaces.size(); ++i)
    EXPECT_LT(difference(r.interfaces[i].motion, full.interfaces[i].motion * full.free_modes()), 1e-10);
  // they keep the centre of mass where it is
  EXPECT_LT(r.inertia.translation.cwiseAbs().maxCoeff(), 1e-7 * std::sqrt(r.inertia.mass));
}

TEST(Reduction, DampingIsThatOfTheNaturalModes) {
  const SampleBody body = block(MassKind::Lumped);
  ReductionOptions options = options_for(body);
  EXPECT_EQ(reduced(body, options).body.D.size(), 0);
  options.damping = UniformDamping{0.03};
  const ReducedBody r = reduced(body, options).body;
  const MatrixXd modal = r.eigenvectors.transpose() * r.D * r.eigenvectors;
  VectorXd expected = 2 * 0.03 * r.eigenvalues.cwiseMax(0).cwiseSqrt();
  expected.head(6).setZero();
  EXPECT_LT(difference(modal, MatrixXd(expected.asDiagonal())), 1e-9);
  options.damping = RayleighDamping{2, 1e-6};
  const ReducedBody rayleigh = reduced(body, options).body;
  EXPECT_LT(scaled_difference(rayleigh.D, 2 * r.M + 1e-6 * r.K), 1e-12);
  options.damping = UniformDamping{-1};
  EXPECT_THROW(reduced(body, options), InputError);
}

TEST(Reduction, AFreeInterfaceBodyHasTheExactModesAndTheExactStaticsOfItsInterfaces) {
  for (const SampleBody& body : {plate(MassKind::Consistent), block(MassKind::Lumped)}) {
    ReductionOptions options = options_for(body, 8);
    options.basis = ReductionBasis::FreeInterface;
    const Reduction result = reduced(body, options);
    const ReducedBody& r = result.body;
    const DenseBody d = dense_body(body.model, body.interfaces);
    const VectorXd chi = exact_eigenvalues(d);
    EXPECT_EQ(r.rigid_count, 6);
    EXPECT_EQ(r.range, 8);
    EXPECT_EQ(r.size(), 6 + 8 + static_cast<int>(d.b.size()));
    EXPECT_LT((r.eigenvalues.segment(6, 8).array() / chi.segment(6, 8).array() - 1).abs().maxCoeff(), 1e-8);
    EXPECT_LT(deviation_from_unit(r.M), 1e-15);
    for (int j = 1; j < r.size(); ++j)
      EXPECT_GE(r.eigenvalues[j], r.eigenvalues[j - 1] - 1e-6 * chi[6]) << "ascending";
    // M and K are those of the displacements
    const MatrixXd m = dense(body.model.node_mass);
    MatrixXd M = MatrixXd::Zero(r.size(), r.size());
    for (int k = 0; k < 3; ++k) {
      const MatrixXd U = r.modes(Eigen::seqN(k, body.model.points.cols(), 3), Eigen::all);
      M += U.transpose() * m * U;
    }
    EXPECT_LT(deviation_from_unit(M), 1e-7) << body.name;
    // flexibility at the interface rows: a self-balanced pair of loads, interface coordinates read from the
    // frames
    const MatrixXd G = [&] {
      MatrixXd motion(0, r.size());
      for (const InterfaceFrame& frame : r.interfaces) {
        if (frame.node_ids.size() > 1) continue;
        motion.conservativeResize(motion.rows() + 6, Eigen::NoChange);
        motion.bottomRows(6) = frame.motion;
      }
      return motion;
    }();
    if (G.rows() < 12) continue;
    // at a frequency below the range the answers of the whole body and of the reduced one agree
    const double omega_2 = 0.3 * chi[6];
    MatrixXd forces = MatrixXd::Zero(body.model.dof_count(), 12);
    for (int i = 0; i < 12; ++i) forces(d.b[i], i) = 1;
    const MatrixXd dynamic = d.K - omega_2 * d.M;
    const MatrixXd exact =
        dynamic.partialPivLu().solve(forces)(std::vector<int>(d.b.begin(), d.b.begin() + 12), Eigen::all);
    const VectorXd inverse = (r.eigenvalues.array() - omega_2).inverse();
    const MatrixXd found = G * inverse.asDiagonal() * G.transpose();
    // residual attachment modes leave an error of order (omega / omega_next)^4 of what is small already
    EXPECT_LT(scaled_difference(found, exact), 1e-4) << body.name;
  }
}

TEST(Reduction, LoadsOnInteriorNodesGiveExactStatics) {
  const SampleBody body = plate(MassKind::Lumped);
  ReductionOptions options = options_for(body);
  const int node = [&] {
    for (const int i : body.mesh.node_sets.at("y0"))
      if (body.mesh.points(0, i) > 0.1 && body.mesh.points(0, i) < 0.3) return i;
    return -1;
  }();
  options.loads = {spec_of("push", {fmt::format("node {}", body.model.node_ids[node])}, "xz")};
  const ReducedBody r = reduced(body, options).body;
  int attachments = 0;
  for (const ReducedCoordinate& c : r.coordinates) attachments += c.kind == CoordinateKind::Attachment;
  EXPECT_EQ(attachments, 2);
  // interfaces held, unit force along z
  const DenseBody d = dense_body(body.model, body.interfaces);
  int row = 0;
  while (body.model.dofs[row].node != node || body.model.dofs[row].direction != 2) ++row;
  VectorXd f = VectorXd::Zero(body.model.dof_count());
  f[row] = 1;
  const VectorXd exact = d.K_s.llt().solve(f(d.s));
  const int interior = r.size() - static_cast<int>(d.b.size());
  const VectorXd force = r.modes.row(3 * node + 2).head(interior).transpose();
  const VectorXd p = r.K.topLeftCorner(interior, interior).llt().solve(force);
  const double found = r.modes.row(3 * node + 2).head(interior) * p;
  const auto at = std::find(d.s.begin(), d.s.end(), row) - d.s.begin();
  EXPECT_NEAR(found, exact[at], 1e-9 * std::abs(exact[at]));
}

TEST(Reduction, WhatIsWrittenIsReadBack) {
  const TemporaryFolder folder;
  const SampleBody body = plate(MassKind::Lumped);
  for (const ReductionBasis basis :
       {ReductionBasis::CraigBampton, ReductionBasis::FreeModes, ReductionBasis::FreeInterface}) {
    ReductionOptions options = options_for(body);
    options.basis = basis;
    options.damping = UniformDamping{0.01};
    const ReducedBody r = reduced(body, options).body;
    write_reduced_body_file(folder.path() / "body.h5", r);
    Diagnostics diagnostics;
    const ReducedBody read = read_reduced_body_file(folder.path() / "body.h5", diagnostics).body;
    EXPECT_TRUE(diagnostics.empty());
    EXPECT_EQ(read.basis, name_of(basis));
    EXPECT_EQ(read.K, r.K);
    EXPECT_EQ(read.D, r.D);
    EXPECT_EQ(read.modes, r.modes);
    EXPECT_EQ(read.stress_modes, r.stress_modes);
    EXPECT_EQ(read.eigenvalues, r.eigenvalues);
    ASSERT_EQ(read.errors.modes.size(), r.errors.modes.size());
    EXPECT_EQ(read.errors.modes[3].bound, r.errors.modes[3].bound);
    EXPECT_EQ(read.interfaces[1].motion, r.interfaces[1].motion);
    EXPECT_EQ(read.inertia.deformation[4], r.inertia.deformation[4]);
  }
}

TEST(Reduction, MatricesWithoutGeometryAreReducedWithAWarning) {
  const SampleBody body = square_beam(MassKind::Consistent);
  FeModel bare;
  bare.source = "bare", bare.K = body.model.K, bare.M = body.model.M, bare.dofs = body.model.dofs;
  bare.node_ids = body.model.node_ids, bare.node_sets = body.model.node_sets;
  ReductionOptions options = options_for(body);
  Diagnostics diagnostics;
  const Reduction result = reduce(bare, nullptr, options, diagnostics);
  ASSERT_NE(diagnostics.find("reduce.nodes"), nullptr);
  EXPECT_NE(diagnostics.find("reduce.nodes")->message.find("the positions of the nodes are not known"),
            std::string::npos);
  EXPECT_EQ(result.body.rigid_count, 6);
  EXPECT_TRUE(result.body.inertia.empty());
  EXPECT_EQ(inconsistency_of(result.body), "");
  const ReducedBody known = reduced(body, options).body;
  ASSERT_EQ(known.size(), result.body.size());
  EXPECT_LT(scaled_difference(result.body.M, known.M), 1e-8);
  EXPECT_EQ(result.body.interfaces[1].motion, known.interfaces[1].motion);
  options.nodes = {"left"};
  EXPECT_THROW(reduce(bare, nullptr, options, diagnostics), InputError);
}

std::string refusal(const SampleBody& body, const ReductionOptions& options) {
  try {
    Diagnostics diagnostics;
    reduce(body.model, &body.mesh, options, diagnostics);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

TEST(Reduction, WrongWishesAreRefused) {
  const SampleBody body = block(MassKind::Lumped);
  const auto& corners = body.mesh.node_sets.at("corners");
  const auto node = [&](int i) { return fmt::format("node {}", body.model.node_ids[i]); };
  const auto refused = [&](const std::function<void(ReductionOptions&)>& change, const std::string& part) {
    ReductionOptions options = options_for(body);
    change(options);
    EXPECT_NE(refusal(body, options).find(part), std::string::npos) << refusal(body, options);
  };
  refused([&](ReductionOptions& o) { o.interfaces = {spec_of("A", {node(corners[0])})}; },
          "leave the interior singular: with them held, 3 rigid motions");
  refused(
      [&](ReductionOptions& o) {
        o.interfaces = {spec_of("A", {node(corners[0]), node(corners[1])})};
      },
      "1 rigid motion of the body (it can turn)");
  refused([&](ReductionOptions& o) { o.interfaces = {spec_of("A", {"node 99999"})}; }, "99999");
  refused([&](ReductionOptions& o) { o.loads = {spec_of("push", {node(corners[1])}, "y")}; },
          "the load 'push' acts on an interface, whose constraint modes answer it already");
  refused([](ReductionOptions& o) { o.selection.tolerance = 0; }, "tolerance: is 0");
  for (const ReductionBasis basis :
       {ReductionBasis::CraigBampton, ReductionBasis::FreeModes, ReductionBasis::FreeInterface})
    refused(
        [&](ReductionOptions& o) {
          o.basis = basis;
          o.selection.range = 5000;
        },
        "5000 flexible modes are asked for, but the body has only");
  refused([](ReductionOptions& o) { o.nodes = {"nowhere"}; }, "nowhere");
}

}  // namespace
}  // namespace lissom::reduction_test

#include "lissom/cms/craig_bampton.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "lissom/core/parallel.hpp"
#include "lissom/fe/rigid_body.hpp"
#include "tests/cms/reduction_support.hpp"

namespace lissom::craig_bampton_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using namespace test;

const BasisLoads no_loads;

// F_rs of the modes that are not kept, from all eigenpairs
struct DenseResidual {
  MatrixXd X_b, X_2, X_3, X_4, B;
};
DenseResidual dense_residual(const DenseBody& d, const std::vector<int>& kept) {
  std::vector<int> out;
  for (int j = 0; j < d.kappa.size(); ++j)
    if (std::find(kept.begin(), kept.end(), j) == kept.end()) out.push_back(j);
  const MatrixXd a = d.a(out, Eigen::all);
  const VectorXd k = d.kappa(out).cwiseInverse();
  const auto term = [&](int power) -> MatrixXd {
    return a.transpose() * k.array().pow(power).matrix().asDiagonal() * a;
  };
  return {term(1), term(2), term(3), term(4), d.Phi(Eigen::all, out) * k.asDiagonal() * a};
}

TEST(CraigBampton, ConstraintModesAreTheStaticAnswers) {
  for (const SampleBody& body : sample_bodies()) {
    Diagnostics diagnostics;
    CraigBampton reduction(body.model, body.interfaces, diagnostics);
    reduction.need_modes(3);
    const DenseBody d = dense_body(body.model, body.interfaces);
    EXPECT_EQ(reduction.interior_size(), static_cast<int>(d.s.size()));
    const CraigBamptonBasis basis = reduction.basis(lowest_modes(3, false), no_loads);
    const MatrixXd T = basis.T.rightCols(d.b.size());
    EXPECT_EQ(T(d.b, Eigen::all), MatrixXd::Identity(d.b.size(), d.b.size()));
    // two Cholesky factorisations of matrices with conditions about 1e5
    EXPECT_LT(difference(T(d.s, Eigen::all), d.Psi), 1e-10) << body.name;
    EXPECT_LT(scaled_difference(basis.pencil.M_b, d.M_b), 1e-10) << body.name;
    // K_b of one interface is round-off of K itself
    EXPECT_LT((basis.pencil.K_b - d.K_b).cwiseAbs().maxCoeff(), 1e-12 * d.K(d.b, d.b).cwiseAbs().maxCoeff());
    EXPECT_TRUE(diagnostics.empty());
  }
}

TEST(CraigBampton, MatricesOfTheBasisAreThoseOfTheWholeBody) {
  for (const SampleBody& body : sample_bodies()) {
    Diagnostics diagnostics;
    CraigBampton reduction(body.model, body.interfaces, diagnostics);
    reduction.need_modes(20);
    const DenseBody d = dense_body(body.model, body.interfaces);
    InteriorChoice some;
    some.modes = {0, 1, 2, 5, 11}, some.residuals = true;
    for (const InteriorChoice& choice : {lowest_modes(12, false), lowest_modes(12, true),
                                         lowest_modes(20, true), lowest_modes(0, true), some}) {
      const CraigBamptonBasis basis = reduction.basis(choice, no_loads);
      const int n_i = basis.pencil.interior();
      EXPECT_EQ(basis.modes, static_cast<int>(choice.modes.size()));
      EXPECT_EQ(static_cast<int>(basis.attachment.size()), n_i - basis.modes);
      EXPECT_EQ(basis.T.cols(), basis.pencil.size());
      const MatrixXd K = basis.T.transpose() * d.K * basis.T, M = basis.T.transpose() * d.M * basis.T;
      // interior vectors: orthonormal in M, diagonal in K, not coupled to the constraint modes in K.
      // Modes are good to about 1e-10, residual vectors by the condition of X_2 (up to 1e12, of which the
      // square root counts)
      EXPECT_LT((M.topLeftCorner(n_i, n_i) - MatrixXd::Identity(n_i, n_i)).cwiseAbs().maxCoeff(), 2e-8)
          << body.name;
      EXPECT_LT(scaled_difference(M, basis.pencil.mass()), 2e-8) << body.name;
      EXPECT_LT(
          (K.topLeftCorner(n_i, n_i) - MatrixXd(basis.pencil.lambda.asDiagonal())).cwiseAbs().maxCoeff(),
          1e-8 * basis.pencil.lambda.maxCoeff())
          << body.name;
      MatrixXd K_ib = K.topRightCorner(n_i, d.b.size());
      for (size_t j = 0; j < d.b.size(); ++j) K_ib.col(j) /= std::sqrt(d.K(d.b[j], d.b[j]));
      EXPECT_LT(K_ib.cwiseAbs().maxCoeff(), 1e-9 * std::sqrt(basis.pencil.lambda.maxCoeff())) << body.name;
      EXPECT_EQ(basis.T(d.b, Eigen::all).leftCols(n_i), MatrixXd::Zero(d.b.size(), n_i));
    }
  }
}

TEST(CraigBampton, ResidualTermsAreTheSumsOverTheModesLeftOut) {
  for (const SampleBody& body : sample_bodies()) {
    Diagnostics diagnostics;
    CraigBampton reduction(body.model, body.interfaces, diagnostics);
    const DenseBody d = dense_body(body.model, body.interfaces);
    reduction.need_modes(25);
    EXPECT_LT((reduction.kappa().array() / d.kappa.head(25).array() - 1).abs().maxCoeff(), 1e-11)
        << body.name;
    // equal modes are not told apart: cut where there is a gap
    const auto at_gap = [&](int count) {
      while (count > 0 && d.kappa[count] < (1 + 1e-4) * d.kappa[count - 1]) --count;
      return lowest_modes(count, false);
    };
    std::vector<InteriorChoice> choices = {at_gap(24), at_gap(10), lowest_modes(0, false)};
    if (body.name.starts_with("plate") || body.name.starts_with("block")) {
      choices.emplace_back();
      choices.back().modes = {0, 2, 3, 7, 20};
    }
    for (const InteriorChoice& choice : choices) {
      const ReducedProblem problem = reduction.problem(choice);
      const DenseResidual expected = dense_residual(d, choice.modes);
      // modes are good to 1e-10, which counts by kappa_next / kappa_1 (up to 1e3), squared for X_3 and X_4
      EXPECT_LT(scaled_difference(problem.residual.X_b, expected.X_b), 1e-7) << body.name;
      EXPECT_LT(scaled_difference(problem.residual.X_2, expected.X_2), 1e-7) << body.name;
      EXPECT_LT(scaled_difference(problem.residual.X_3, expected.X_3), 1e-6) << body.name;
      EXPECT_LT(scaled_difference(problem.residual.X_4, expected.X_4), 1e-6) << body.name;
      int next = 0;
      while (next < 25 && std::find(choice.modes.begin(), choice.modes.end(), next) != choice.modes.end())
        ++next;
      // the lowest mode left out, or a number known to be below it
      EXPECT_NEAR(problem.residual.kappa_next, d.kappa[std::min(next, 24)], 1e-10 * d.kappa[24]);
    }
  }
}

TEST(CraigBampton, AllModesReproduceTheWholeBody) {
  for (const MassKind mass : {MassKind::Lumped, MassKind::Consistent}) {
    const SampleBody body = square_beam(mass, 2);
    Diagnostics diagnostics;
    CraigBampton reduction(body.model, body.interfaces, diagnostics);
    const int all = reduction.interior_size();
    reduction.need_modes(all + 100);
    ASSERT_EQ(reduction.modes_known(), all);
    const DenseBody d = dense_body(body.model, body.interfaces);
    for (const bool residuals : {false, true}) {
      const CraigBamptonBasis basis = reduction.basis(lowest_modes(all, residuals), no_loads);
      ASSERT_EQ(basis.pencil.size(), body.model.dof_count());
      const VectorXd found = PencilSolver(basis.pencil).lowest(basis.pencil.size()).values;
      const VectorXd exact =
          Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd>(d.K, d.M, Eigen::EigenvaluesOnly).eigenvalues();
      // round-off is relative to the highest one
      EXPECT_LT((found - exact).cwiseAbs().maxCoeff(), 1e-11 * exact.maxCoeff());
    }
    const ReducedProblem problem = reduction.problem(lowest_modes(all, false));
    EXPECT_EQ(problem.residual.X_b.norm(), 0);
    EXPECT_TRUE(std::isinf(problem.residual.kappa_next));
  }
}

// From no mode to all of them, residual vectors too: the basis never has vectors that its small matrices do
// not describe.
TEST(CraigBampton, ResidualVectorsAreNotMadeOfRoundOffWhenLittleIsLeftOut) {
  const SampleBody body = square_beam(MassKind::Consistent, 1);
  const DenseBody d = dense_body(body.model, body.interfaces);
  const VectorXd exact = exact_eigenvalues(d);
  Diagnostics diagnostics;
  CraigBampton reduction(body.model, body.interfaces, diagnostics);
  for (int count = 0; count <= reduction.interior_size(); ++count) {
    reduction.need_modes(count + 1);
    const CraigBamptonBasis basis = reduction.basis(lowest_modes(count, true), no_loads);
    const int n_i = basis.pencil.interior();
    ASSERT_LE(n_i, reduction.interior_size()) << count;
    const MatrixXd K = basis.T.transpose() * d.K * basis.T, M = basis.T.transpose() * d.M * basis.T;
    EXPECT_LT((M.topLeftCorner(n_i, n_i) - MatrixXd::Identity(n_i, n_i)).cwiseAbs().maxCoeff(), 1e-6)
        << count;
    EXPECT_LT((K.topLeftCorner(n_i, n_i) - MatrixXd(basis.pencil.lambda.asDiagonal())).cwiseAbs().maxCoeff(),
              1e-6 * d.kappa.maxCoeff())
        << count;
    // Rayleigh-Ritz: from above
    const VectorXd found = PencilSolver(basis.pencil).lowest(12).values;
    EXPECT_GT((found.tail(6).array() / exact.segment(6, 6).array()).minCoeff(), 1 - 1e-9) << count;
  }
}

TEST(CraigBampton, AttachmentModesGiveTheExactStaticDisplacement) {
  for (const SampleBody& body : {plate(MassKind::Lumped), block(MassKind::Consistent)}) {
    Diagnostics diagnostics;
    CraigBampton reduction(body.model, body.interfaces, diagnostics);
    reduction.need_modes(8);
    const DenseBody d = dense_body(body.model, body.interfaces);
    // two unit forces on interior rows, and one that is another twice over
    MatrixXd loads = MatrixXd::Zero(body.model.dof_count(), 3);
    loads(d.s[10], 0) = 1, loads(d.s[40], 1) = 1, loads(d.s[10], 2) = 2;
    for (const bool residuals : {false, true}) {
      const CraigBamptonBasis basis =
          reduction.basis(lowest_modes(6, residuals), {.forces = loads, .inertia = {}});
      const int n_i = basis.pencil.interior();
      EXPECT_EQ(std::accumulate(basis.attachment.begin(), basis.attachment.end(), 0), 2) << body.name;
      EXPECT_EQ(n_i, 6 + 2 + (residuals ? static_cast<int>(d.b.size()) : 0)) << body.name;
      const MatrixXd K = basis.T.transpose() * d.K * basis.T, M = basis.T.transpose() * d.M * basis.T;
      EXPECT_LT((M.topLeftCorner(n_i, n_i) - MatrixXd::Identity(n_i, n_i)).cwiseAbs().maxCoeff(), 1e-9);
      EXPECT_LT(scaled_difference(M, basis.pencil.mass()), 1e-9);
      EXPECT_LT(
          (K.topLeftCorner(n_i, n_i) - MatrixXd(basis.pencil.lambda.asDiagonal())).cwiseAbs().maxCoeff(),
          1e-9 * basis.pencil.lambda.maxCoeff());
      // with the interface held, and with it loaded against one held coordinate less than needed: K p = T' f
      const MatrixXd f = loads(d.s, Eigen::all);
      const MatrixXd exact = d.K_s.llt().solve(f);
      const MatrixXd V = basis.T(d.s, Eigen::all).leftCols(n_i);
      const MatrixXd found = V * basis.pencil.lambda.cwiseInverse().asDiagonal() * (V.transpose() * f);
      EXPECT_LT(difference(found, exact), 1e-9) << body.name;
      // without attachment modes it is not
      const CraigBamptonBasis plain = reduction.basis(lowest_modes(6, residuals), no_loads);
      const MatrixXd W = plain.T(d.s, Eigen::all).leftCols(plain.pencil.interior());
      const MatrixXd poor = W * plain.pencil.lambda.cwiseInverse().asDiagonal() * (W.transpose() * f);
      EXPECT_GT(difference(poor, exact), 1e-2) << body.name;
    }
  }
}

TEST(CraigBampton, EffectiveMassesOfAllModesSumUpToTheMassThatTheInterfaceDoesNotHold) {
  for (const MassKind mass : {MassKind::Lumped, MassKind::Consistent}) {
    const SampleBody body = square_beam(mass, 2);
    Diagnostics diagnostics;
    CraigBampton reduction(body.model, body.interfaces, diagnostics);
    reduction.need_modes(reduction.interior_size());
    const CraigBamptonBasis basis = reduction.basis(lowest_modes(reduction.interior_size(), false), no_loads);
    const DenseBody d = dense_body(body.model, body.interfaces);
    const auto rigid = rigid_mass(body.model);
    const MatrixXd R = rigid_body_modes(body.model.points, body.model.dofs, *rigid->centre);
    // R' M R = (mass of the modes) + R_b' (M_bb - M_c' M_s^-1 M_c) R_b
    const MatrixXd R_b = R(d.b, Eigen::all), M_c = d.M(d.s, d.b);
    const MatrixXd held = R_b.transpose() * (d.M(d.b, d.b) - M_c.transpose() * d.M_s.llt().solve(M_c)) * R_b;
    const VectorXd expected = (R.transpose() * d.M * R - held).diagonal();
    const VectorXd found = basis.effective_mass.colwise().sum();
    EXPECT_LT((found.array() / expected.array() - 1).abs().maxCoeff(), 1e-9);
    EXPECT_LT(found[0], rigid->mass[0]);
    EXPECT_GT(found[0], 0.4 * rigid->mass[0]);
  }
}

TEST(CraigBampton, AFreeBodyHasSixRigidMotionsWithGeometryAndWithout) {
  for (const SampleBody& body : {cylinder(MassKind::Lumped), square_beam(MassKind::Consistent),
                                 plate(MassKind::Lumped), block(MassKind::Consistent)}) {
    Diagnostics diagnostics;
    CraigBampton known(body.model, body.interfaces, diagnostics);
    known.need_modes(12);
    EXPECT_EQ(known.rigid_count(), 6) << body.name;
    // matrices alone
    FeModel bare;
    bare.source = "bare", bare.K = body.model.K, bare.M = body.model.M;
    for (int i = 0; i < bare.dof_count(); ++i) bare.dofs.push_back({-1, 0});
    CraigBampton reduction(bare, body.interfaces, diagnostics);
    reduction.need_modes(12);
    EXPECT_EQ(reduction.rigid_count(), 6) << body.name;
    EXPECT_LT((reduction.kappa() - known.kappa()).cwiseAbs().maxCoeff(), 1e-9 * known.kappa()[11]);
    const CraigBamptonBasis basis = reduction.basis(lowest_modes(12, true), no_loads);
    EXPECT_EQ(basis.effective_mass.size(), 0);
    EXPECT_TRUE(diagnostics.empty()) << diagnostics.warnings().front().message;
  }
}

// The body hangs on soft springs: nothing is rigid, and an interface need not hold all motions.
TEST(CraigBampton, AGroundedBodyHasNoRigidMotionAndMayHaveAWeakInterface) {
  SampleBody body = block(MassKind::Consistent);
  for (const int row : {3, 4, 5, 30, 31, 32, 61, 62, 100})
    body.model.K.lower.coeffRef(row, row) += 1e-3 * body.model.K.lower.coeff(row, row);
  Diagnostics diagnostics;
  CraigBampton held(body.model, body.interfaces, diagnostics);
  held.need_modes(5);
  EXPECT_EQ(held.rigid_count(), 0);
  FeModel bare = body.model;
  bare.points.resize(3, 0);
  CraigBampton without(bare, body.interfaces, diagnostics);
  without.need_modes(5);
  EXPECT_EQ(without.rigid_count(), 0);
  // one node with three degrees of freedom: the springs hold the rest
  const std::string node = fmt::format("node {}", body.model.node_ids[body.mesh.node_sets.at("corners")[0]]);
  CraigBampton weak(body.model, find_interfaces(body.model, {spec_of("A", {node})}), diagnostics);
  weak.need_modes(5);
  EXPECT_EQ(weak.rigid_count(), 0);
  EXPECT_TRUE(diagnostics.empty());
}

TEST(CraigBampton, ModesInStepsAreThoseAtOnce) {
  const SampleBody body = cylinder(MassKind::Consistent);
  Diagnostics diagnostics;
  CraigBampton steps(body.model, body.interfaces, diagnostics),
      once(body.model, body.interfaces, diagnostics);
  for (const int count : {1, 4, 5, 13, 12, 29, 40}) {
    steps.need_modes(count);
    // asked in between, so that what is remembered must be renewed
    steps.problem(lowest_modes(std::min(count, 10), true));
  }
  once.need_modes(40);
  ASSERT_EQ(steps.modes_known(), 40);
  // modes are good to 1e-10; in the residual terms that counts by kappa_next / kappa_1
  EXPECT_LT((steps.kappa().array() / once.kappa().array() - 1).abs().maxCoeff(), 1e-10);
  const ReducedProblem a = steps.problem(lowest_modes(33, true)), b = once.problem(lowest_modes(33, true));
  EXPECT_LT(scaled_difference(a.residual.X_b, b.residual.X_b), 1e-6);
  EXPECT_LT(scaled_difference(a.residual.X_4, b.residual.X_4), 1e-6);
  EXPECT_LT(steps.worst_residual(), 1e-9);
}

TEST(CraigBampton, TheNumberOfThreadsDoesNotMatter) {
  const SampleBody body = plate(MassKind::Consistent);
  const int before = thread_count();
  std::vector<MatrixXd> bases;
  for (const int threads : {1, 2}) {
    set_thread_count(threads);
    Diagnostics diagnostics;
    CraigBampton reduction(body.model, body.interfaces, diagnostics);
    reduction.need_modes(15);
    bases.push_back(reduction.basis(lowest_modes(12, true), no_loads).T);
  }
  set_thread_count(before);
  EXPECT_EQ(bases[0], bases[1]);
}

std::string message_of(const FeModel& model, const std::vector<InterfaceSpec>& specs) {
  try {
    Diagnostics diagnostics;
    CraigBampton reduction(model, find_interfaces(model, specs), diagnostics);
    reduction.need_modes(4);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

TEST(CraigBampton, InterfacesThatLeaveTheInteriorFreeAreRefused) {
  const SampleBody body = block(MassKind::Consistent);
  const auto& corners = body.mesh.node_sets.at("corners");
  const auto node = [&](int i) { return fmt::format("node {}", body.model.node_ids[i]); };
  const auto refused = [&](const FeModel& model, const std::vector<InterfaceSpec>& specs, const char* part) {
    EXPECT_NE(message_of(model, specs).find(part), std::string::npos) << message_of(model, specs);
  };
  refused(body.model, {spec_of("A", {node(corners[0])})},
          "the interfaces (3 degrees of freedom) leave the interior singular: with them held, 3 rigid "
          "motions of the "
          "body (it can turn) still cost no energy");
  refused(body.model, {spec_of("A", {node(corners[0]), node(corners[1])})},
          "1 rigid motion of the body (it can turn)");
  refused(body.model, {spec_of("A", {"corners"}, "xy")}, "1 rigid motion of the body (it can slide)");
  refused(body.model, {spec_of("A", {node(corners[0])})}, "take a spider (six degrees of freedom)");
  refused(body.model, {}, "the body has no interface");
  // without geometry the matrix tells, or the spectrum
  FeModel bare = body.model;
  bare.points.resize(3, 0);
  refused(bare, {spec_of("A", {node(corners[0])})}, "the interfaces leave the interior singular");
  refused(bare, {spec_of("A", {node(corners[0]), node(corners[1])})},
          "the interfaces leave the interior singular");
}

TEST(CraigBampton, AnInteriorRowWithoutMassIsRefused) {
  SampleBody body = block(MassKind::Lumped);
  body.model.M.lower.coeffRef(50, 50) = 0;
  const std::string message = message_of(body.model, body.specs);
  EXPECT_NE(message.find("has no mass, which makes infinite frequencies"), std::string::npos) << message;
  EXPECT_NE(message.find(fmt::format("node {}", body.model.node_ids[body.model.dofs[50].node])),
            std::string::npos)
      << message;
}

TEST(CraigBampton, EverythingAnInterfaceLeavesNothingToReduce) {
  const Mesh mesh = single_element(ElementType::Hex8);
  Diagnostics diagnostics;
  const FeModel model = assemble(mesh, {}, diagnostics);
  std::vector<std::string> nodes;
  for (int i = 1; i <= 8; ++i) nodes.push_back(fmt::format("node {}", i));
  EXPECT_NE(message_of(model, {spec_of("A", nodes)}).find("nothing is left to reduce"), std::string::npos);
}

}  // namespace
}  // namespace lissom::craig_bampton_test

// Constraints that are left out as redundant: which ones, what their reactions are, and that others take their place
// where the motion asks for it.
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <Eigen/SVD>

#include <cmath>
#include <numbers>

#include "lissom/mbs/archive_state.hpp"
#include "lissom/time/balance.hpp"
#include "tests/mbs/system_support.hpp"

namespace lissom::redundancy_test {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace test;
using enum JointKind;
using std::numbers::pi;

constexpr double g0 = 9.81;

// A polygon of n bars in the plane z = 0 whose first corner and last are held, joined by `hinges` revolute joints at
// every corner, one beside the other: three rows too many in a loop, five for every hinge beyond the first.
System polygon(int n, int hinges) {
  System system;
  system.set_gravity({0, -g0, 0});
  const auto corner = [&](int k) {
    const double angle = pi * k / n;
    return Vector3d(-n * std::cos(angle), n * std::sin(angle), 0);
  };
  for (int k = 0; k < n; ++k) add_bar(system, "bar " + std::to_string(k), 1, corner(k), corner(k + 1));
  for (int k = 0; k <= n; ++k)
    for (int h = 0; h < hinges; ++h)
      join_at(system, "hinge " + std::to_string(k) + (h == 0 ? "" : " again"), Revolute, k - 1,
              k < n ? k : -1, corner(k) + Vector3d(0, 0, 0.2 * h));
  return system;
}

TEST(Redundancy, LongChainsHaveTheSameVerdictsAsShortOnes) {
  // n bars, n + 1 hinges at both of whose ends is the ground: n - 2 degrees of freedom, decided with full matrices where
  // it is short, row by row where it is long
  for (const int n : {8, 29, 30, 90})
    for (const int hinges : {1, 2}) {
      const SystemCheck check = check_of(polygon(n, hinges));
      EXPECT_EQ(check.degrees_of_freedom, n - 2) << n;
      EXPECT_EQ(check.rigid_degrees_of_freedom, n - 2) << n;
      EXPECT_EQ(check.redundant.size(), static_cast<size_t>(3 + 5 * (n + 1) * (hinges - 1))) << n;
      EXPECT_FALSE(check.singular_position) << n;
      EXPECT_GT(check.smallest_kept, 1e-3) << n;
      EXPECT_LT(check.largest_dropped, 1e-11) << n;
      EXPECT_TRUE(check.massless_directions.empty()) << n;
      for (const auto& redundant : check.redundant) {
        EXPECT_FALSE(redundant.with.empty()) << n << ' ' << redundant.joint;
        // of two hinges at one place one is said by the other, unless the loop is meant
        if (hinges == 1) EXPECT_GE(redundant.with.size(), 2u);
      }
    }
}

TEST(Redundancy, MultipliersAreTheShortestOfAllThatGiveTheSameForces) {
  for (const int hinges : {1, 2}) {
    System system = polygon(34, hinges);
    // out of the plane too
    Load push;
    push.name = "push";
    push.kind = LoadKind::Force;
    push.first = point_in_space(system, 9, {1, 30, 0.3});
    push.components = {3, 0, 10};
    system.add_load(push);
    const SystemCheck check = check_of(system);
    ASSERT_GT(system.joint_constraints(), 150);
    SystemEquations equations(system, check.kept);
    const State state = start(system, equations);
    const VectorXd all = equations.all_multipliers(state);
    MatrixXd G(system.constraint_rows(), system.coordinates());
    equations.all_gradients(0, state.q, G);
    VectorXd own = VectorXd::Zero(all.size());
    for (size_t i = 0; i < check.kept.size(); ++i) own[check.kept[i]] = state.lambda[i];
    const double size = own.norm();
    EXPECT_LT((G.transpose() * (all - own)).norm(), 1e-9 * size);
    EXPECT_GT((all - own).norm(), 1e-3 * size);
    // nothing of it, torques over the length, is in the null space of G', for which there is a dense decomposition; own
    // constraints have no forces
    const VectorXd scale = equations.displacement_scale().cwiseInverse();
    VectorXd weight = VectorXd::Zero(all.size());
    for (size_t j = 0; j < system.joints().size(); ++j)
      for (int i = 0; i < 5; ++i)
        weight[system.joint_row(static_cast<int>(j)) + i] = i < 3 ? 1 : 1 / equations.length();
    const MatrixXd A = (G * scale.asDiagonal()).transpose();
    const Eigen::JacobiSVD<MatrixXd> svd(A, Eigen::ComputeFullV);
    const auto redundant = static_cast<Eigen::Index>(check.redundant.size());
    const MatrixXd null = svd.matrixV().rightCols(redundant);
    EXPECT_LT((A * null).norm(), 1e-10);
    const VectorXd weighted = weight.cwiseAbs2().cwiseProduct(all);
    EXPECT_LT((null.transpose() * weighted).norm(), 1e-9 * weighted.norm());
  }
}

// A shaft in two bearings, off-centre in its mass, driven round by a torque: whatever rows are taken at the start, after
// a quarter of a turn some of them say what others say.
System shaft(double misfit = 0) {
  System system;
  system.set_gravity({0, -g0, 0});
  const int body = add_rigid(system, "shaft", 2, {0.02, 0.03, 0.01}, at({0.01, 0, 0}));
  join_at(system, "front", Revolute, -1, body, {0, 0, -0.3});
  join(system, "back", Revolute, system.add_ground_marker({0, 0, 0.3 + misfit}),
       point_in_space(system, body, {0, 0, 0.3}));
  Load torque;
  torque.name = "torque";
  torque.kind = LoadKind::Torque;
  torque.first = point_in_space(system, body, {0, 0, 0});
  torque.components = {0, 0, 0.5};
  system.add_load(torque);
  return system;
}

struct Turned {
  std::vector<State> steps;
  std::vector<std::vector<int>> rows;  // distinct ones, one after the other
  IntegrationSummary summary;
};

Turned turn(const System& system, const SystemCheck& check, Integrator integrator, double tolerance, double end,
            std::vector<std::string>* saved = nullptr, const std::string* resume = nullptr) {
  SystemEquations equations(system, check.kept);
  const State initial = start(system, equations);
  IntegratorOptions options;
  options.integrator = integrator;
  options.step = integrator == Integrator::GeneralizedAlpha ? 1e-3 : 0;
  options.tolerance = 1e-9;
  options.newton.tolerance = tolerance;
  options.end = end;
  Turned out;
  Balance balance(equations, initial);
  IntegrationOutput output;
  output.step = [&](const State& state) {
    out.steps.push_back(state);
    if (out.rows.empty() || out.rows.back() != equations.kept_rows())
      out.rows.push_back(equations.kept_rows());
    balance.step(state);  // judges what is left out
  };
  output.between = [&](const IntegrationOutput::Save& save, bool) {
    if (!saved) return;
    Archive archive;
    save(archive);
    saved->push_back(archive.bytes());
  };
  Diagnostics diagnostics;
  std::optional<Archive> archive;
  if (resume) archive.emplace(*resume);
  integrate(equations, initial, options, output, out.summary, diagnostics, {}, archive ? &*archive : nullptr);
  return out;
}

TEST(Redundancy, OtherRowsAreChosenWhereTheMotionMakesThoseKeptDependent) {
  const System system = shaft();
  const SystemCheck check = check_of(system);
  ASSERT_EQ(check.degrees_of_freedom, 1);
  ASSERT_EQ(check.redundant.size(), 5u);
  // I phi'' = torque - m g r cos phi, by classical Runge-Kutta with small steps
  const double I = 0.01 + 2 * 0.01 * 0.01, end = 0.6;
  const auto rate = [&](double phi) { return (0.5 - 2 * g0 * 0.01 * std::cos(phi)) / I; };
  double phi = 0, omega = 0;
  for (int k = 0; k < 60000; ++k) {
    const double h = end / 60000;
    const double a1 = rate(phi), a2 = rate(phi + h / 2 * omega), a3 = rate(phi + h / 2 * (omega + h / 2 * a1)),
                 a4 = rate(phi + h * (omega + h / 2 * a2));
    phi += h * omega + h * h / 6 * (a1 + a2 + a3);
    omega += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
  }
  ASSERT_GT(phi, pi);
  for (const auto& [integrator, tolerance, off] :
       {std::tuple{Integrator::GeneralizedAlpha, 1e-13, 1e-3}, std::tuple{Integrator::RungeKutta, 1e-11, 1e-6},
        std::tuple{Integrator::Bdf, 1e-11, 1e-4}}) {
    const Turned turned = turn(system, check, integrator, tolerance, end);
    const State& last = turned.steps.back();
    EXPECT_EQ(last.t, end);
    EXPECT_GE(turned.rows.size(), 2u) << name_of(integrator);
    EXPECT_LE(turned.rows.size(), 12u) << name_of(integrator);
    // the centre of mass runs round; second order of 1 ms, and the tolerances of the others
    EXPECT_NEAR(last.q[0], 0.01 * std::cos(phi), 0.01 * off) << name_of(integrator);
    EXPECT_NEAR(last.q[1], 0.01 * std::sin(phi), 0.01 * off) << name_of(integrator);
  }
}

TEST(Redundancy, ARunThatChoosesRowsIsResumedToTheLastBit) {
  const System system = shaft();
  const SystemCheck check = check_of(system);
  std::vector<std::string> saved;
  const Turned whole = turn(system, check, Integrator::GeneralizedAlpha, 1e-12, 0.4, &saved);
  ASSERT_GE(whole.rows.size(), 2u);
  ASSERT_EQ(saved.size(), whole.steps.size());
  for (size_t k = 0; k < saved.size(); k += 23) {
    const Turned rest = turn(system, check, Integrator::GeneralizedAlpha, 1e-12, 0.4, nullptr, &saved[k]);
    ASSERT_EQ(rest.steps.size() + k, whole.steps.size());
    for (size_t i = 0; i < rest.steps.size(); ++i) {
      ASSERT_EQ(rest.steps[i].q, whole.steps[k + i].q) << k << ' ' << i;
      ASSERT_EQ(rest.steps[i].v, whole.steps[k + i].v) << k << ' ' << i;
      ASSERT_EQ(rest.steps[i].lambda, whole.steps[k + i].lambda) << k << ' ' << i;
    }
    EXPECT_EQ(rest.rows.back(), whole.rows.back());
    EXPECT_EQ(rest.summary.newton_iterations, whole.summary.newton_iterations);
    EXPECT_EQ(rest.summary.factorisations, whole.summary.factorisations);
  }
}

TEST(Redundancy, RowsStayWhereNothingTurns) {
  // a polygon that hardly moves keeps what it has
  const System system = polygon(6, 1);
  const SystemCheck check = check_of(system);
  const Turned moved = turn(system, check, Integrator::GeneralizedAlpha, 1e-11, 0.05);
  EXPECT_EQ(moved.rows.size(), 1u);
}

TEST(Redundancy, BearingsThatDoNotQuiteMeetTurnAllTheSame) {
  // the one at the back is off along the axis, by less than what joints may be apart; nothing that is kept says so
  const double misfit = 5e-7;
  const System system = shaft(misfit), exact = shaft();
  const SystemCheck check = check_of(system);
  ASSERT_TRUE(check.gaps.empty());
  ASSERT_EQ(check.redundant.size(), 5u);
  const Turned turned = turn(system, check, Integrator::GeneralizedAlpha, 1e-11, 0.6);
  const Turned straight = turn(exact, check_of(exact), Integrator::GeneralizedAlpha, 1e-11, 0.6);
  EXPECT_EQ(turned.steps.back().t, 0.6);
  EXPECT_GE(turned.rows.size(), 2u);
  // rows chosen anew move it along the axis by the misfit at most, and nowhere else
  EXPECT_LT((turned.steps.back().q - straight.steps.back().q).cwiseAbs().maxCoeff(), 1.1 * misfit);
}

}  // namespace
}  // namespace lissom::redundancy_test

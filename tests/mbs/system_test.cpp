#include "lissom/mbs/system.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <optional>

#include "tests/mbs/marker_support.hpp"
#include "tests/mbs/system_support.hpp"

namespace lissom::system_test {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace test;
using std::numbers::pi;

constexpr double g0 = 9.81;

// axis 3 along an axis of space
Matrix3d axis_along(const Vector3d& z) {
  return Eigen::Quaterniond::FromTwoVectors(Vector3d::UnitZ(), z).toRotationMatrix();
}

// ---- derivatives

// Four bodies, every kind of joint and of load between two of them, one and the ground, or two places of one.
System everything() {
  System system;
  Random random(7);
  for (int b = 0; b < 4; ++b) {
    // one after the other: compilers differ in the order of arguments, and another order is another system
    const Matrix3d R = random.rotation(1);
    Placement placement = at(random.vector(3), R);
    add_rigid(system, "body " + std::to_string(b), 1.5 + 0.3 * b, {0.5, 0.6, 0.7}, placement);
  }
  system.set_gravity({1, 2, -9.81});
  const auto marker = [&](int body) {
    const Matrix3d R = random.rotation(1);
    const Vector3d x = random.vector(3);
    return body < 0 ? system.add_ground_marker(x, R) : point(system, body, x, R);
  };
  int i = 0;
  const int bodies[][2] = {{0, 1}, {-1, 2}, {3, 0}, {2, 1}, {1, -1}, {3, 3}};
  const TimeFunction motion =
      TimeFunction::table({0, 1, 2, 3}, {1.1, 1.4, 0.9, 1.2}, TimeFunction::Interpolation::Cubic);
  for (const auto& [name, kind] : joint_names()) {
    const auto& [a, b] = bodies[i++ % 6];
    const auto second = marker(b), first = marker(a);
    join(system, name, kind, first, second, motion);
  }
  // markers that joints share
  join(system, "shared", JointKind::Revolute, system.joints()[0].first, system.joints()[3].second);
  for (const auto& [name, kind] : load_names())
    for (int variant = 0; variant < 4; ++variant) {
      const auto& [a, b] = bodies[i++ % 6];
      Load load;
      load.name = name;
      load.kind = kind;
      load.first = marker(a);
      load.second = marker(b);
      load.following = variant % 2 == 1;
      load.has_second = variant >= 2;
      load.components = {0.7, motion, -0.3};
      load.magnitude = motion;
      load.stiffness = 3;
      load.damping = variant % 2 == 0 ? 0.4 : 0;
      load.length = 0.6;
      load.preload = motion;
      load.K = {3, 2, 1};
      load.k = {1.5, 1, 0.5};
      if (variant % 2 == 0) load.C = load.c = Vector3d(0.3, 0.1, 0.2);
      system.add_load(load);
    }
  return system;
}

State random_state(const System& system, const SystemEquations& equations, Random& random) {
  State state;
  VectorXd v;
  system.initial(state.q, v);
  state.t = 1.4;
  state.q += 0.05 * random.vector(system.coordinates());
  state.v = random.vector(system.coordinates());
  state.a = random.vector(system.coordinates());
  state.lambda = random.vector(equations.constraints());
  return state;
}

// fourth order differences, h = 1e-3, of functions with derivatives of up to some hundred
constexpr double difference_tolerance = 1e-7;

TEST(System, NewtonMatrixIsTheDerivativeOfTheResidual) {
  const System system = everything();
  std::vector<int> some;  // also with rows left out
  for (int i = 0; i < system.constraint_rows(); ++i)
    if (i % 5 != 2) some.push_back(i);
  for (const std::optional<std::vector<int>>& kept : {std::optional<std::vector<int>>(), {some}}) {
    SystemEquations equations(system, kept);
    Random random(8);
    const State state = random_state(system, equations, random);
    const int n = equations.coordinates(), m = equations.constraints();
    const double inertia_weight = 0.7;
    const auto residual = [&](const State& s) {
      VectorXd r(n);
      equations.residual(s, inertia_weight, r);
      return r;
    };
    NewtonMatrix matrix(n + m, equations.blocks());
    const auto with = [&](VectorXd State::*member) {
      return differences(
          [&](const VectorXd& x) {
            State moved = state;
            moved.*member = x;
            return residual(moved);
          },
          state.*member);
    };
    const MatrixXd by_q = with(&State::q), by_v = with(&State::v), by_a = with(&State::a),
                   by_lambda = with(&State::lambda);
    const MatrixXd G = differences(
        [&](const VectorXd& q) {
          VectorXd g(m);
          equations.constraint(state.t, q, g);
          return g;
        },
        state.q);
    double worst = 0;
    for (const JacobianWeights& weights :
         {JacobianWeights{1, 0, 0, 1, 1}, JacobianWeights{0, 1, 0, 2, 3}, JacobianWeights{0, 0, 1, 1, 1},
          JacobianWeights{0.4, 0.3, 2, 0.5, 0.6}}) {
      equations.jacobian(state, inertia_weight, weights, matrix);
      const MatrixXd J = matrix.dense();
      MatrixXd expected = MatrixXd::Zero(n + m, n + m);
      expected.topLeftCorner(n, n) = weights.q * by_q + weights.v * by_v + weights.a * by_a;
      expected.topRightCorner(n, m) = weights.multiplier * by_lambda;
      expected.bottomLeftCorner(m, n) = weights.constraint * G;
      worst = std::max(worst, (J - expected).cwiseAbs().maxCoeff());
    }
    EXPECT_LT(worst, difference_tolerance);
    RecordProperty("worst_of_jacobian", fmt::format("{:.1e}", worst));
    MatrixXd gradient(m, n);
    equations.constraint_gradient(state.t, state.q, gradient);
    EXPECT_LT((gradient - G).cwiseAbs().maxCoeff(), difference_tolerance);
    EXPECT_LT((gradient.transpose() - by_lambda).cwiseAbs().maxCoeff(), difference_tolerance);
  }
}

TEST(System, RatesAndCurvatureOfConstraintsAreTheirTimeDerivatives) {
  const System system = everything();
  SystemEquations equations(system);
  Random random(9);
  const State state = random_state(system, equations, random);
  const int n = equations.coordinates(), m = equations.constraints();
  // along a motion with these velocities and accelerations
  const VectorXd zero = VectorXd::Zero(1);
  const auto q_at = [&](double s) -> VectorXd { return state.q + s * state.v + s * s / 2 * state.a; };
  const auto rate_at = [&](double t, const VectorXd& q, const VectorXd& v) {
    VectorXd rate(m);
    equations.constraint_rate(t, q, v, rate);
    return rate;
  };
  const VectorXd g_rate = differences(
      [&](const VectorXd& s) {
        VectorXd g(m);
        equations.constraint(state.t + s[0], q_at(s[0]), g);
        return g;
      },
      zero);
  EXPECT_LT((rate_at(state.t, state.q, state.v) - g_rate).cwiseAbs().maxCoeff(), difference_tolerance);
  const VectorXd g_second = differences(
      [&](const VectorXd& s) { return rate_at(state.t + s[0], q_at(s[0]), state.v + s[0] * state.a); }, zero);
  VectorXd curvature(m);
  equations.constraint_curvature(state.t, state.q, state.v, curvature);
  MatrixXd G(m, n), by_q(m, n);
  equations.constraint_gradient(state.t, state.q, G);
  EXPECT_LT((curvature + G * state.a - g_second).cwiseAbs().maxCoeff(), difference_tolerance);
  equations.constraint_rate_gradient(state.t, state.q, state.v, by_q);
  const MatrixXd expected =
      differences([&](const VectorXd& q) { return rate_at(state.t, q, state.v); }, state.q);
  EXPECT_LT((by_q - expected).cwiseAbs().maxCoeff(), difference_tolerance);
}

// a chain of two bars on a driven hinge, with springs and dampers
System driven_chain() {
  System system;
  system.set_gravity({0, -g0, 0});
  const int a = add_bar(system, "a", 2, {0, 0, 0}, {1, 0, 0});
  const int b = add_bar(system, "b", 1, {1, 0, 0}, {1, -0.8, 0});
  join_at(system, "hinge", JointKind::Revolute, -1, a, Vector3d::Zero());
  join(system, "drive", JointKind::Angle, system.joints()[0].first, system.joints()[0].second,
       TimeFunction::expression("0.5 * sin(3 * t)"));
  join_at(system, "elbow", JointKind::Spherical, a, b, {1, 0, 0});
  Load spring;
  spring.name = "spring";
  spring.kind = LoadKind::Spring;
  spring.first = system.add_ground_marker({0.2, 0.7, 0.3});
  spring.second = point(system, b, {0.4, 0, 0});
  spring.stiffness = 50;
  spring.damping = 3;
  spring.length = 0.4;
  spring.preload = TimeFunction::expression("4 * cos(t)");
  system.add_load(spring);
  Load bushing;
  bushing.name = "bushing";
  bushing.kind = LoadKind::Bushing;
  bushing.first = point_in_space(system, a, {1, 0, 0});
  bushing.second = point_in_space(system, b, {1, 0, 0});
  bushing.k = {3, 4, 5};
  bushing.c = {0.1, 0.2, 0.3};
  system.add_load(bushing);
  Load push;
  push.name = "push";
  push.kind = LoadKind::Force;
  push.first = bushing.second;
  push.following = true;
  push.components = {1.0, TimeFunction::expression("2 * t"), 3.0};
  system.add_load(push);
  return system;
}

TEST(System, EnergyChangesByThePowerOfLoadsMotionsAndDampers) {
  const System system = driven_chain();
  SystemEquations equations(system);
  const State initial = start(system, equations);
  // where everything moves; the balance holds at every single state
  for (const State& state : run(equations, initial, 1, 0.25)) {
    const auto total = [&](const VectorXd& s) {
      State moved = state;
      moved.t += s[0];
      moved.q += s[0] * state.v + s[0] * s[0] / 2 * state.a;
      moved.v += s[0] * state.a;
      return VectorXd::Constant(1, equations.energy(moved).total());
    };
    const double rate = differences(total, VectorXd::Zero(1), 1e-4)(0, 0);
    const SystemEnergy energy = equations.energy(state);
    // differences of energies of 20 J with 1e-16 over 1e-4: 1e-10 W and better than 1e-8
    EXPECT_NEAR(rate, energy.load_power + energy.motion_power - energy.damping_power, 1e-8);
    if (state.t == 0) continue;
    EXPECT_GT(energy.damping_power, 0.01);
    EXPECT_GT(std::abs(energy.motion_power), 0.1);
    EXPECT_GT(std::abs(energy.load_power), 0.1);
  }
}

// ---- motions with known answers

TEST(System, PhysicalPendulumHasThePeriodOfTheEllipticIntegral) {
  System system;
  system.set_gravity({0, -g0, 0});
  const double amplitude = 2, m = 3, L = 1.2;
  const Vector3d end(L * std::sin(amplitude), -L * std::cos(amplitude), 0);
  const int bar = add_bar(system, "bar", m, Vector3d::Zero(), end);
  join_at(system, "hinge", JointKind::Revolute, -1, bar, Vector3d::Zero());
  SystemEquations equations(system);
  const State initial = start(system, equations);
  // about its end: I = m L^2 / 3, weight at L / 2
  const double period = 4 * std::sqrt(2 * L / (3 * g0)) * std::comp_ellint_1(std::sin(amplitude / 2));
  const std::vector<State> states = run(equations, initial, period, period / 4);
  ASSERT_EQ(states.size(), 5u);
  // tolerance 1e-10 of a step, some hundred steps
  EXPECT_LT((states[4].q - initial.q).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_LT(states[4].v.cwiseAbs().maxCoeff(), 1e-6);
  // after a quarter it hangs straight down
  EXPECT_NEAR(states[1].q[0], 0, 1e-7);
  EXPECT_NEAR(states[1].q[1], -L / 2, 1e-7);
  // there the hinge carries weight and centripetal force, m g + m v^2 / (L/2), with v from the energy
  const double v2 = 2 * g0 * (L / 2) * (1 - std::cos(amplitude)) / (4.0 / 3);
  Vector3d force, torque;
  equations.reaction(0, states[1], equations.all_multipliers(states[1]), force, torque);
  EXPECT_NEAR(force.y(), m * g0 + m * v2 / (L / 2), 1e-4);
  EXPECT_NEAR(torque.norm(), 0, 1e-8);
}

TEST(System, DoublePendulumKeepsItsEnergy) {
  System system;
  system.set_gravity({0, -g0, 0});
  const int a = add_bar(system, "a", 2, {0, 0, 0}, {1, 0, 0});
  const int b = add_bar(system, "b", 1, {1, 0, 0}, {1, 0.8, 0});
  join_at(system, "first", JointKind::Revolute, -1, a, Vector3d::Zero());
  join_at(system, "second", JointKind::Revolute, a, b, {1, 0, 0});
  SystemEquations equations(system);
  const State initial = start(system, equations);
  const double total = equations.energy(initial).total();
  double kinetic = 0;
  for (const State& state : run(equations, initial, 3, 0.1)) {
    const SystemEnergy energy = equations.energy(state);
    // tolerance 1e-10 per step of about 1e-3 s, 30 J
    EXPECT_NEAR(energy.total(), total, 1e-6);
    kinetic = std::max(kinetic, energy.kinetic);
    VectorXd g(equations.constraints());
    equations.constraint(state.t, state.q, g);
    EXPECT_LT(g.cwiseAbs().maxCoeff(), 1e-9);
  }
  EXPECT_GT(kinetic, 10);  // it did move
}

// crank, coupler and rocker in the plane z = 0
System four_bar(const std::vector<JointKind>& kinds, const Vector3d& B, const Vector3d& C) {
  System system;
  system.set_gravity({0, -g0, 0});
  const Vector3d A(0, 0, 0), D(1, 0, 0);
  const int crank = add_bar(system, "crank", 1, A, B);
  const int coupler = add_bar(system, "coupler", 2, B, C);
  const int rocker = add_bar(system, "rocker", 1, D, C);
  join_at(system, "A", kinds[0], -1, crank, A);
  join_at(system, "B", kinds[1], crank, coupler, B);
  join_at(system, "C", kinds[2], rocker, coupler, C);
  join_at(system, "D", kinds[3], -1, rocker, D);
  return system;
}

using enum JointKind;

TEST(System, FourBarOfRevoluteJointsHasThreeRedundantRows) {
  const Vector3d B(0.1, 0.4, 0), C(0.9, 0.7, 0);
  const System system = four_bar({Revolute, Revolute, Revolute, Revolute}, B, C);
  const SystemCheck check = check_of(system);
  EXPECT_EQ(check.coordinates, 21);
  EXPECT_EQ(check.joint_constraints, 20);
  EXPECT_EQ(check.own_constraints, 3);
  EXPECT_EQ(check.rank, 20);
  EXPECT_EQ(check.degrees_of_freedom, 1);
  EXPECT_EQ(check.rigid_degrees_of_freedom, 1);
  EXPECT_FALSE(check.singular_position);
  EXPECT_TRUE(check.gaps.empty());
  EXPECT_TRUE(check.free_bodies.empty());
  EXPECT_TRUE(check.massless_directions.empty());
  // a wide margin between what is kept and what is left out
  EXPECT_GT(check.smallest_kept, 1e-3);
  EXPECT_LT(check.largest_dropped, 1e-13);
  ASSERT_EQ(check.redundant.size(), 3u);
  for (const SystemCheck::Redundant& redundant : check.redundant) {
    EXPECT_FALSE(redundant.with.empty());
    // of its out-of-plane rows
    const int row = redundant.row % 5;
    EXPECT_GE(row, 2);
  }
  // own constraints are all kept
  for (int row = 20; row < 23; ++row)
    EXPECT_TRUE(std::find(check.kept.begin(), check.kept.end(), row) != check.kept.end());
  const std::string text = describe(system, check);
  EXPECT_NE(text.find("21 coordinates, 20 constraints of joints and 3 of bodies, 20 of them independent: 1 "
                      "degree of freedom."),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("is redundant"), std::string::npos) << text;

  // it moves like the same mechanism with joints that say everything once
  const System plain = four_bar({Revolute, Revolute, Spherical, Cylindrical}, B, C);
  const SystemCheck plain_check = check_of(plain);
  EXPECT_TRUE(plain_check.redundant.empty());
  EXPECT_EQ(plain_check.degrees_of_freedom, 1);
  SystemEquations equations(system, check.kept), plain_equations(plain);
  const auto states = run(equations, start(system, equations), 1, 0.1);
  const auto plain_states = run(plain_equations, start(plain, plain_equations), 1, 0.1);
  ASSERT_EQ(states.size(), plain_states.size());
  double moved = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    // tolerance 1e-10 per step
    EXPECT_LT((states[i].q - plain_states[i].q).cwiseAbs().maxCoeff(), 1e-7);
    moved = std::max(moved, (states[i].q - states[0].q).cwiseAbs().maxCoeff());
    // rows left out hold as well
    VectorXd g(system.constraint_rows());
    equations.all_constraints(states[i].t, states[i].q, g);
    EXPECT_LT(g.cwiseAbs().maxCoeff(), 1e-9);
  }
  EXPECT_GT(moved, 0.3);
}

TEST(System, MultipliersOfSmallestNormAreSymmetricForASymmetricMechanism) {
  // a trapezium, pushed out of its plane in the middle of the coupler
  const Vector3d B(0.2, 0.5, 0), C(0.8, 0.5, 0);
  System system = four_bar({Revolute, Revolute, Revolute, Revolute}, B, C);
  Load push;
  push.name = "push";
  push.kind = LoadKind::Force;
  push.first = point_in_space(system, 1, {0.5, 0.5, 0});
  push.components = {0, 0, 10};
  system.add_load(push);
  const SystemCheck check = check_of(system);
  ASSERT_EQ(check.redundant.size(), 3u);
  SystemEquations equations(system, check.kept);
  const State state = start(system, equations);
  EXPECT_LT(state.a.norm(), 1e-9);  // in equilibrium, however unstable
  const VectorXd all = equations.all_multipliers(state);
  Vector3d left_force, left_torque, right_force, right_torque;
  equations.reaction(0, state, all, left_force, left_torque);
  equations.reaction(3, state, all, right_force, right_torque);
  // forces mirror like vectors, torques like axial ones; round-off of 20 N
  EXPECT_LT((left_force - Vector3d(-right_force.x(), right_force.y(), right_force.z())).norm(), 1e-10);
  EXPECT_LT((left_torque - Vector3d(right_torque.x(), -right_torque.y(), -right_torque.z())).norm(), 1e-10);
  EXPECT_NEAR(left_force.z(), -5, 1e-10);
  EXPECT_NEAR(left_force.y(), 2 * g0, 1e-10);
  // the same forces on the coordinates as those kept
  MatrixXd G_all(system.constraint_rows(), system.coordinates()), G(check.rank, system.coordinates());
  equations.all_gradients(0, state.q, G_all);
  equations.constraint_gradient(0, state.q, G);
  EXPECT_LT((G_all.transpose() * all - G.transpose() * state.lambda).cwiseAbs().maxCoeff(), 1e-10);
  // and shorter than them
  VectorXd own = VectorXd::Zero(all.size());
  for (size_t i = 0; i < check.kept.size(); ++i) own[check.kept[i]] = state.lambda[i];
  EXPECT_LT(all.norm(), own.norm());
}

TEST(System, DeadCentreIsToldFromRedundancy) {
  // a parallelogram, folded flat: there and only there a row more is redundant
  System system = four_bar({Revolute, Revolute, Spherical, Cylindrical}, {0.3, 0, 0}, {1.3, 0, 0});
  const SystemCheck check = check_of(system);
  EXPECT_TRUE(check.singular_position);
  EXPECT_TRUE(check.redundant.empty());
  EXPECT_EQ(check.degrees_of_freedom, 1);
  EXPECT_NE(describe(system, check).find("starting position is singular"), std::string::npos);
}

TEST(System, FreeBodyFlipsAboutItsIntermediateAxisAndKeepsItsMomentum) {
  System system;
  const Vector3d inertia(1, 2, 2.5);
  Placement placement = at({0.1, 0.2, 0.3});
  placement.velocity = {1, -0.5, 0.2};
  placement.angular_velocity = {1e-3, 3, 1e-3};
  add_rigid(system, "top", 2, inertia, placement);
  const SystemCheck check = check_of(system);
  EXPECT_EQ(check.free_bodies, std::vector<std::string>{"top"});
  EXPECT_EQ(check.degrees_of_freedom, 6);
  EXPECT_NE(describe(system, check).find("'top' is held by nothing"), std::string::npos);
  const MarkerRef centre = point(system, 0, Vector3d::Zero());
  SystemEquations equations(system);
  const State initial = start(system, equations);
  const SystemEnergy before = equations.energy(initial);
  EXPECT_LT((before.momentum - 2 * placement.velocity).norm(), 1e-13);
  const Vector3d spin = inertia.cwiseProduct(placement.angular_velocity);
  EXPECT_LT((before.angular_momentum - spin - placement.position.cross(before.momentum)).norm(), 1e-12);

  // Euler's equations: the intermediate component is w2 = A sn(p t + c, k), a flip every 2 K(k) / p. As
  // first and third component are equal and small, it starts in the middle between two flips.
  const double T2 = 2 * before.kinetic - 2 * placement.velocity.squaredNorm(), L2 = spin.squaredNorm();
  const Vector3d& I = inertia;
  // L^2 > 2 T I_2: about the axis of the largest moment
  const bool about_largest = L2 > T2 * I[1];
  const double a = I[0], b = I[1], c = I[2];
  const double p2 =
      about_largest ? (c - b) * (L2 - T2 * a) / (a * b * c) : (b - a) * (T2 * c - L2) / (a * b * c);
  const double k2 = about_largest ? (b - a) * (T2 * c - L2) / ((c - b) * (L2 - T2 * a))
                                  : (c - b) * (L2 - T2 * a) / ((b - a) * (T2 * c - L2));
  const double flip = 2 * std::comp_ellint_1(std::sqrt(k2)) / std::sqrt(p2);
  const auto w2_at = [&](const State& state) {
    MarkerKinematics marker;
    equations.marker(centre, state.q, state.v, false, marker);
    return marker.axis(1).dot(marker.angular_velocity());
  };
  const auto states = run(equations, initial, 2 * flip, flip);
  // equal values of opposite sign one flip later. The instability raises errors of 1e-10 by 1 / 1e-3.
  EXPECT_NEAR(w2_at(states[1]), -w2_at(states[0]), 1e-5);
  EXPECT_NEAR(w2_at(states[2]), w2_at(states[0]), 1e-5);
  for (const State& state : states) {
    const SystemEnergy energy = equations.energy(state);
    EXPECT_NEAR(energy.kinetic, before.kinetic, 1e-7);
    EXPECT_LT((energy.momentum - before.momentum).norm(), 1e-9);
    EXPECT_LT((energy.angular_momentum - before.angular_momentum).norm(), 1e-7);
  }
}

TEST(System, DrivenHingeFollowsItsAngleAndReportsItsTorque) {
  System system;
  system.set_gravity({0, -g0, 0});
  const double L = 0.8, m = 1.5;
  const int bar = add_bar(system, "bar", m, Vector3d::Zero(), {L, 0, 0});
  join_at(system, "hinge", Revolute, -1, bar, Vector3d::Zero());
  join(system, "drive", Angle, system.joints()[0].first, system.joints()[0].second,
       TimeFunction::expression("0.4 * sin(5 * t)"));
  const SystemCheck check = check_of(system);
  EXPECT_EQ(check.degrees_of_freedom, 0);
  EXPECT_FALSE(check.moves());
  EXPECT_TRUE(check.is_driven);
  EXPECT_EQ(describe(system, check).find("Nothing can move"), std::string::npos);
  SystemEquations equations(system);
  const State initial = start(system, equations);
  for (const State& state : run(equations, initial, 1, 0.1, 1e-8)) {
    const double f = 0.4 * std::sin(5 * state.t), f2 = -10 * std::sin(5 * state.t);
    EXPECT_NEAR(state.q[0], L / 2 * std::cos(f), 1e-9);
    EXPECT_NEAR(state.q[1], L / 2 * std::sin(f), 1e-9);
    Vector3d force, torque;
    equations.reaction(1, state, state.lambda, force, torque);
    // I f'' + m g (L / 2) cos f; second derivatives of expressions are good to about 1e-9
    EXPECT_NEAR(torque.z(), m * L * L / 3 * f2 + m * g0 * L / 2 * std::cos(f), 1e-6);
    EXPECT_LT(torque.head<2>().norm(), 1e-9);
    EXPECT_LT(force.norm(), 1e-12);
    const double f1 = 2 * std::cos(5 * state.t);
    EXPECT_NEAR(equations.energy(state).motion_power, torque.z() * f1, 1e-6);
  }
}

TEST(System, SliderCrankMovesAsItsTrianglesSay) {
  System system;
  system.set_gravity({0, -g0, 0});
  const double r = 0.3, l = 0.9, speed = 7, start_angle = 0.5;
  const Vector3d pin(r * std::cos(start_angle), r * std::sin(start_angle), 0);
  const Vector3d end(r * std::cos(start_angle) + std::sqrt(l * l - pin.y() * pin.y()), 0, 0);
  const int crank = add_bar(system, "crank", 1, Vector3d::Zero(), pin);
  const int rod = add_bar(system, "rod", 2, pin, end);
  const int slider = add_rigid(system, "slider", 1, {0.01, 0.01, 0.01}, at(end));
  system.add_body(make_rigid_body({"idle", 1, Vector3d::Zero(), Matrix3d::Identity(), {}, {}, {}}),
                  at({5, 5, 5}));
  join_at(system, "main", Revolute, -1, crank, Vector3d::Zero());
  join(system, "drive", Angle, system.joints()[0].first, system.joints()[0].second,
       TimeFunction::expression("7 * t"));
  join_at(system, "pin", Revolute, crank, rod, pin);
  join_at(system, "wrist", Revolute, rod, slider, end);
  join_at(system, "guide", Prismatic, -1, slider, end, axis_along(Vector3d::UnitX()));
  const SystemCheck check = check_of(system);
  EXPECT_EQ(check.redundant.size(), 3u);
  EXPECT_EQ(check.degrees_of_freedom, 6);  // of the body that falls beside it
  EXPECT_EQ(check.free_bodies, std::vector<std::string>{"idle"});
  SystemEquations equations(system, check.kept);
  const auto states = run(equations, start(system, equations), 1, 0.125, 1e-9);
  ASSERT_EQ(states.size(), 9u);
  for (const State& state : states) {
    const double angle = start_angle + speed * state.t, s = r * std::sin(angle),
                 root = std::sqrt(l * l - s * s);
    const int x = system.offset(slider);
    // the constraints are solved after every step
    EXPECT_NEAR(state.q[x], r * std::cos(angle) + root, 1e-9);
    EXPECT_NEAR(state.v[x], -r * speed * std::sin(angle) * (1 + r * std::cos(angle) / root), 1e-8);
    EXPECT_NEAR(state.q[x + 1], 0, 1e-9);
  }
}

TEST(System, MassOnASpringSwingsWithItsFrequency) {
  System system;
  const double m = 2, k = 50, damping = 0.6;
  const int mass = add_rigid(system, "mass", m, {1, 1, 1}, at({1.1, 0, 0}));
  Load spring;
  spring.name = "spring";
  spring.kind = LoadKind::Spring;
  spring.first = system.add_ground_marker(Vector3d::Zero());
  spring.second = point(system, mass, Vector3d::Zero());
  spring.stiffness = k;
  spring.damping = damping;
  spring.length = 1;
  system.add_load(spring);
  EXPECT_TRUE(check_of(system).free_bodies.empty());
  SystemEquations equations(system);
  const State initial = start(system, equations);
  const double decay = damping / (2 * m), omega = std::sqrt(k / m - decay * decay);
  for (const State& state : run(equations, initial, 4, 0.2)) {
    const double expected = 1 + 0.1 * std::exp(-decay * state.t) *
                                    (std::cos(omega * state.t) + decay / omega * std::sin(omega * state.t));
    EXPECT_NEAR(state.q[0], expected, 1e-8);  // 1e-10 per step, some hundred steps
  }
}

TEST(System, HangingWeightPullsAtItsJoint) {
  System system;
  system.set_gravity({0, 0, -g0});
  const int weight = add_rigid(system, "weight", 3, {1, 1, 1}, at({0.5, 0.2, -1}));
  join_at(system, "wall", Fixed, -1, weight, {0, 0, -1}, axis_along({1, 2, 3}));
  const SystemCheck check = check_of(system);
  EXPECT_EQ(check.degrees_of_freedom, 0);
  SystemEquations equations(system);
  const State state = start(system, equations);
  Vector3d force, torque;
  equations.reaction(0, state, equations.all_multipliers(state), force, torque);
  // on the weight: m g up, and the moment that its arm needs; round-off of 30 N
  EXPECT_LT((force - Vector3d(0, 0, 3 * g0)).norm(), 1e-12);
  EXPECT_LT((torque + Vector3d(0.5, 0.2, 0).cross(Vector3d(0, 0, -3 * g0))).norm(), 1e-12);
}

// ---- checks

TEST(System, MechanismThatCannotMoveIsSeen) {
  System system;
  const int a = add_bar(system, "a", 1, {0, 0, 0}, {1, 1, 0});
  const int b = add_bar(system, "b", 1, {1, 1, 0}, {2, 0, 0});
  join_at(system, "left", Revolute, -1, a, {0, 0, 0});
  join_at(system, "top", Spherical, a, b, {1, 1, 0});
  join_at(system, "right", Cylindrical, -1, b, {2, 0, 0});
  const SystemCheck check = check_of(system);
  EXPECT_EQ(check.degrees_of_freedom, 0);
  EXPECT_FALSE(check.moves());
  EXPECT_TRUE(check.redundant.empty());
  EXPECT_NE(describe(system, check).find("Nothing can move"), std::string::npos);
}

TEST(System, JointSaidTwiceIsNamedWithItsTwin) {
  System system;
  const int a = add_bar(system, "a", 1, {0, 0, 0}, {1, 0, 0});
  add_bar(system, "b", 1, {0, 0, 0}, {1, 0, 0});
  join_at(system, "ball", Spherical, -1, a, {0, 0, 0});
  join_at(system, "again", Spherical, -1, a, {0, 0, 0});
  join_at(system, "other", Spherical, -1, 1, {0, 0, 0});
  const SystemCheck check = check_of(system);
  ASSERT_EQ(check.redundant.size(), 3u);
  for (const auto& redundant : check.redundant) {
    EXPECT_TRUE(redundant.joint == "ball" || redundant.joint == "again");
    const std::string twin = redundant.joint == "ball" ? "again" : "ball";
    EXPECT_EQ(redundant.with, std::vector<std::string>{twin});
  }
  EXPECT_EQ(check.degrees_of_freedom, 6);
}

TEST(System, GapsAreFoundLargestFirst) {
  System system;
  const int a = add_bar(system, "a", 1, {0, 0, 0}, {1, 0, 0});
  join(system, "ball", Spherical, system.add_ground_marker({0.0, 0.01, 0}),
       point_in_space(system, a, {0, 0, 0}));
  join(system, "hinge", Revolute, system.add_ground_marker({1, 0, 0}),
       point_in_space(system, a, {1, 0, 0}, turned(0.1, Vector3d::UnitX())));
  join(system, "weld", Fixed, system.add_ground_marker({1, 0, 0}),
       point_in_space(system, a, {1, 0, 0}, turned(pi, Vector3d::UnitX())));
  const SystemCheck check = check_of(system);
  ASSERT_EQ(check.gaps.size(), 3u);
  // half a turn satisfies the rows of a fixed joint, and is seen nevertheless
  EXPECT_EQ(check.gaps[0].joint, "weld");
  EXPECT_EQ(check.gaps[1].joint, "hinge");
  EXPECT_TRUE(check.gaps[1].is_angle);
  EXPECT_NEAR(check.gaps[1].distance, std::sin(0.1), 1e-12);
  EXPECT_EQ(check.gaps[2].joint, "ball");
  EXPECT_FALSE(check.gaps[2].is_angle);
  EXPECT_NEAR(check.gaps[2].distance, 0.01, 1e-12);
  const std::string text = describe(system, check);
  EXPECT_NE(text.find("frames of joint 'ball' are 0.01 m apart"), std::string::npos) << text;
  EXPECT_NE(text.find("axes at joint 'hinge' are off by 5.73 degrees"), std::string::npos) << text;
}

TEST(System, JointsThatMakeNoSenseAreRefused) {
  System system;
  const int a = add_bar(system, "a", 1, {0, 0, 0}, {1, 0, 0});
  const MarkerRef ground = system.add_ground_marker(Vector3d::Zero()),
                  own = point(system, a, Vector3d::Zero());
  const auto message = [&](JointKind kind, MarkerRef first, MarkerRef second) -> std::string {
    try {
      join(system, "j", kind, first, second);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message(Spherical, ground, ground).find("joint 'j' connects the ground with the ground"),
            std::string::npos);
  EXPECT_NE(message(Spherical, own, own).find("connects a marker with itself"), std::string::npos);
  EXPECT_NE(message(Distance, ground, own).find("prescribes the distance 0 m"), std::string::npos);
  EXPECT_TRUE(system.joints().empty());
}

// A point with mass along some directions only, and without axes: what bodies are not, but messages need.
class BarePoint final : public Body {
 public:
  BarePoint(std::string name, const Vector3d& masses) : Body(std::move(name)), masses_(masses) {}
  std::string formulation() const override { return "point"; }
  int coordinates() const override { return 3; }
  int own_constraints() const override { return 0; }
  int flexible_modes() const override { return 0; }
  bool constant_mass() const override { return true; }
  std::unique_ptr<Workspace> workspace() const override { return std::make_unique<Workspace>(); }
  void add_residual(const Vector&, const Vector&, const Vector& a, double w, const Vector3d& gravity,
                    Workspace&, Eigen::Ref<VectorXd> r) const override {
    r += masses_.cwiseProduct(w * a - gravity);
  }
  void jacobian(const Vector&, const Vector&, const Vector&, double w, const Vector3d&, double, double,
                double ca, Workspace&, Eigen::Ref<MatrixXd> J) const override {
    J = (ca * w * masses_).asDiagonal();
  }
  void mass(const Vector&, Workspace&, Eigen::Ref<MatrixXd> M) const override { M = masses_.asDiagonal(); }
  int add_marker(const MarkerSpec&) override { return 0; }
  bool marker_rotates(int) const override { return false; }
  void marker(int, const Vector& q, const Vector& v, bool, Workspace&, MarkerKinematics& out) const override {
    out.m << q, VectorXd::Zero(9);
    out.rate << v, VectorXd::Zero(9);
    out.J.setZero(12, 3);
    out.J.topRows<3>().setIdentity();
    out.V.setZero(12, 3);
  }
  void add_marker_hessian(int, const Vector&, const Vector12d&, double, Workspace&,
                          Eigen::Ref<MatrixXd>) const override {}
  void place(const Placement& placement, Eigen::Ref<VectorXd> q, Eigen::Ref<VectorXd> v) const override {
    q = placement.position;
    v = placement.velocity;
  }
  double mass() const override { return masses_.maxCoeff(); }
  Energy energy(const Vector&, const Vector&, const Vector3d&, Workspace&) const override { return {}; }
  Eigen::Matrix3Xd node_positions(const Vector& q) const override { return q; }
  Eigen::Matrix3Xd node_velocities(const Vector&, const Vector& v) const override { return v; }
  const std::vector<std::int64_t>& node_ids() const override { return ids_; }
  void displacement_scale(Eigen::Ref<VectorXd> scale) const override { scale.setOnes(); }
  std::string coordinate_name(int i) const override { return std::string("position ") + "xyz"[i]; }
  double radius() const override { return 0; }

 private:
  Vector3d masses_;
  std::vector<std::int64_t> ids_;
};

TEST(System, DirectionsWithoutMassAreFoundUnlessAJointHoldsThem) {
  System system;
  system.add_body(std::make_unique<BarePoint>("p", Vector3d(1, 1, 0)), at({1, 0, 0}));
  SystemCheck check = check_of(system);
  ASSERT_EQ(check.massless_directions.size(), 1u);
  EXPECT_EQ(check.massless_directions[0], "body 'p', position z");
  EXPECT_NE(describe(system, check).find("without inertia that no joint holds: body 'p', position z"),
            std::string::npos);
  join(system, "plane", PointOnPlane, system.add_ground_marker(Vector3d::Zero()),
       point(system, 0, Vector3d::Zero()));
  EXPECT_TRUE(check_of(system).massless_directions.empty());
}

TEST(System, JointsThatNeedAxesRefuseASingleNode) {
  System system;
  system.add_body(std::make_unique<BarePoint>("p", Vector3d(1, 1, 1)));
  const MarkerRef ground = system.add_ground_marker(Vector3d::Zero()),
                  node = point(system, 0, Vector3d::Zero());
  const auto accepts = [&](JointKind kind, MarkerRef first, MarkerRef second) {
    try {
      join(system, "j", kind, first, second, 1.0);
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("single node of body 'p'"), std::string::npos);
      return false;
    }
    return true;
  };
  for (const auto& [name, kind] : joint_names()) {
    EXPECT_EQ(accepts(kind, ground, node), !needs_rotation(kind, 1)) << name;
    EXPECT_EQ(accepts(kind, node, ground), !needs_rotation(kind, 0)) << name;
  }
  Load load;
  load.kind = LoadKind::Torque;
  load.first = node;
  EXPECT_THROW(system.add_load(load), InputError);
  load.kind = LoadKind::Force;
  system.add_load(load);
  EXPECT_EQ(system.loads().size(), 1u);
}

TEST(System, RowsAreNamed) {
  const System system = four_bar({Revolute, Revolute, Spherical, Cylindrical}, {0.1, 0.4, 0}, {0.9, 0.7, 0});
  SystemEquations equations(system);
  EXPECT_EQ(equations.row_name(0).substr(0, 14), "body 'crank', ");
  EXPECT_EQ(equations.row_name(20).substr(0, 15), "body 'rocker', ");
  EXPECT_EQ(equations.row_name(21), "joint 'A'");
  EXPECT_EQ(equations.row_name(21 + 5), "joint 'B'");
  EXPECT_EQ(equations.row_name(21 + 17), "body 'crank', constraint of its rotation");
  EXPECT_EQ(system.find_body("coupler"), 1);
  EXPECT_EQ(system.find_joint("D"), 3);
  EXPECT_EQ(system.find_joint("E"), -1);
}

TEST(System, BreakTimesAreThoseOfAllFunctions) {
  System system = everything();
  SystemEquations equations(system);
  EXPECT_EQ(equations.break_times(), TimeFunction(system.joints()[0].motion).break_times());
}

}  // namespace
}  // namespace lissom::system_test

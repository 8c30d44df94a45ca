// The kernel of SLAP against its plain definition at the nodes.
#include "lissom/rom/slap/slap_body.hpp"

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include <cmath>
#include <numbers>

#include "lissom/mbs/system.hpp"
#include "lissom/rom/slap/slap_kernel.hpp"
#include "lissom/time/initial_state.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/mbs/body_checks.hpp"
#include "tests/mbs/marker_support.hpp"
#include "tests/rom/nodal_slap.hpp"
#include "tests/rom/quad_force.hpp"
#include "tests/time/run.hpp"

namespace lissom::slap_body_test {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::model_of;
using test::NodalModelOptions;
using test::NodalSlap;
using test::Random;
using test::turned_state;
using test::turning_slap;

const Vector3d no_gravity = Vector3d::Zero();

// A model of a motion with deformations of some percent, and states beside the motion.
struct Sample {
  explicit Sample(int m, double deformation = 0.02, const NodalModelOptions& given = {},
                  bool scaled = false) {
    NodalModelOptions options = given;
    slap = test::trained_slap(m, deformation, spread, state);
    if (scaled) options.spread = spread;
    model = model_of(slap, options);
  }
  // the trained state, coordinates perturbed by a part of their amplitude
  VectorXd beside(double part) { return state + part * spread.cwiseProduct(random.vector(slap.m)); }

  VectorXd spread, state;
  NodalSlap slap;
  SlapModel model;
  Random random{7};
};

double elastic(const SlapModel& model, const VectorXd& eta, VectorXd& g, MatrixXd* K = nullptr) {
  g.resize(model.order());
  return slap_elastic(model, eta, g, K);
}

double relative(const MatrixXd& found, const MatrixXd& expected) {
  return (found - expected).norm() / expected.norm();
}

MarkerSpec marker_of(const std::string& part, const std::string& name) {
  MarkerSpec spec;
  spec.part = part;
  spec.name = name;
  spec.axes = test::about_x(0.3);
  return spec;
}

MarkerSpec nodes_of(const std::string& part, std::vector<std::int64_t> nodes) {
  MarkerSpec spec;
  spec.kind = MarkerSpec::Kind::Nodes;
  spec.part = part;
  spec.name = "nodes";
  spec.node_ids = std::move(nodes);
  return spec;
}

TEST(SlapBody, EnergyAndForceAreThoseOfTheNodes) {
  double worst_V = 0, worst_g = 0;
  for (const int m : {4, 7, 12}) {
    Sample sample(m);
    for (const double part : {0.0, 0.01, 0.2}) {
      const VectorXd eta = sample.beside(part);
      VectorXd g;
      const double V = elastic(sample.model, eta, g), expected = sample.slap.energy(eta);
      // both lose digits where the strain is some percent: round-off over 1e-2, squared
      EXPECT_NEAR(V, expected, 1e-11 * expected) << m << " " << part;
      worst_V = std::max(worst_V, std::abs(V / expected - 1));
      // differences of the nodal energy in coordinates scaled by their amplitudes, steps of up to 1e-3 of the
      // size: fourth order leaves 1e-10 where strains are percents
      for (int r = 0; r < m; ++r) {
        const double step = 1e-3 / sample.model.scale[r];
        const double found = test::slope(
            [&](double t) {
              VectorXd moved = eta;
              moved[r] += t;
              return MatrixXd::Constant(1, 1, sample.slap.energy(moved));
            },
            step)(0, 0);
        EXPECT_NEAR(g[r], found, 1e-8 * g.norm()) << m << " " << part << " mode " << r + 1;
        worst_g = std::max(worst_g, std::abs(g[r] - found) / g.norm());
      }
    }
  }
  RecordProperty("energy", fmt::format("{:.1e}", worst_V));
  RecordProperty("force", fmt::format("{:.1e}", worst_g));
}

TEST(SlapBody, TangentAgreesWithDifferencesOfTheForce) {
  double worst = 0;
  for (const int m : {4, 7, 12}) {
    Sample sample(m);
    for (const double part : {0.0, 0.01, 0.2}) {
      const VectorXd eta = sample.beside(part);
      VectorXd g;
      MatrixXd K;
      elastic(sample.model, eta, g, &K);
      EXPECT_EQ(K, MatrixXd(K.transpose()));
      MatrixXd found(m, m);
      for (int r = 0; r < m; ++r)
        found.col(r) = test::slope(
            [&](double t) {
              VectorXd moved = eta, force;
              moved[r] += t;
              elastic(sample.model, moved, force);
              return MatrixXd(force);
            },
            5e-4 / sample.model.scale[r]);
      // truncation of fourth order; round-off is 1e-12
      EXPECT_LT(relative(K, found), 1e-10) << m << " " << part;
      worst = std::max(worst, relative(K, found));
    }
  }
  RecordProperty("tangent", fmt::format("{:.1e}", worst));
}

TEST(SlapBody, LargeStrainsTakeTheOtherWayToTheSameRotation) {
  // on both sides of the strain where the polar decomposition takes over, and far beyond
  const NodalSlap slap = turning_slap();
  const SlapModel model = model_of(slap);
  for (const double a : {0.005, 0.009, 0.011, 0.02, 0.3, 0.6}) {
    const VectorXd eta = turned_state(2.1, {0.1, -0.2, 0.3}, a);
    VectorXd g;
    const double V = elastic(model, eta, g), expected = slap.energy(eta);
    EXPECT_NEAR(V, expected, 1e-11 * expected) << a;
  }
}

TEST(SlapBody, EnergyIsInvariantUnderRigidMotion) {
  const SlapModel model = model_of(turning_slap());
  VectorXd g;
  for (const double a : {0.1, 1e-3}) {
    const double V = elastic(model, turned_state(0, Vector3d::Zero(), a), g);
    for (const double angle : {0.3, 1.5, 3.1, -2.0}) {
      // coordinates carry 1e-16 of strain against a / 10
      EXPECT_NEAR(elastic(model, turned_state(angle, {0.5, -3, 2}, a), g), V, (1e-14 / a) * V);
    }
  }
  for (const double angle : {0.3, 1.5, 3.1, -2.0}) {
    // nothing but the rounding of coordinates: 1e-16 of strain times stiffness and volume
    const double V = elastic(model, turned_state(angle, {0.5, -3, 2}, 0), g);
    EXPECT_LT(V, 1e-30 * 1e7);
    EXPECT_LT(g.norm(), 1e-14 * 1e7);
  }
}

TEST(SlapBody, ForceKeepsTenDigitsOfDeformationsOfATenMillionthOnALargeRotation) {
  for (const double deformation : {1e-3, 1e-5, 1e-6, 1e-7}) {
    Sample sample(8, deformation, {}, true);
    double worst = 0;
    // the deformation is what the name says, on bodies of one metre
    double largest = 0;
    for (int i = 0; i < 3; ++i)
      largest = std::max(largest, sample.slap.deformation(i, sample.state).cwiseAbs().maxCoeff());
    EXPECT_LT(largest, deformation);
    EXPECT_GT(largest, 0.01 * deformation);
    for (const double part : {0.0, 1e-8}) {
      const VectorXd eta = sample.beside(part);
      VectorXd g;
      elastic(sample.model, eta, g);
      worst = std::max(worst, relative(g, test::force_with_33_digits(sample.model, eta)));
    }
    EXPECT_LT(worst, 1e-10) << deformation;
    RecordProperty(fmt::format("at_{:g}", deformation), fmt::format("{:.1e}", worst));
    RecordProperty(fmt::format("largest_displacement_at_{:g}", deformation), fmt::format("{:.1e}", largest));
  }
}

test::Motion motion_of(Sample& sample, double part) {
  const int m = sample.slap.m;
  return {sample.beside(part), 30 * sample.spread.cwiseProduct(sample.random.vector(m)),
          sample.spread.cwiseProduct(sample.random.vector(m))};
}

TEST(SlapBody, JacobianOfEveryTermAgreesWithDifferences) {
  NodalModelOptions options;
  options.damping_ratio = 0.05;
  options.mass_damping = 0.7;
  for (const int m : {4, 7}) {
    Sample sample(m, 0.02, options);
    // damping that sees rotations in its nine columns as well, and has another rank
    sample.model.parts[0].C_damping =
        (sample.model.parts[0].C.topRows(5) +
         0.01 * sample.model.parts[0].C.norm() * MatrixXd::Random(5, 9 * (m + 2)))
            .eval();
    const auto body = make_slap_body("mechanism", sample.model);
    const test::Motion motion = motion_of(sample, 0.05);
    const test::DerivativeErrors errors = test::derivative_errors(*body, motion, 5e-4);
    // fourth order differences with steps of 5e-4 m, rows relative to their largest entry
    EXPECT_LT(errors.q, 1e-8);
    EXPECT_LT(errors.v, 1e-9);
    // elastic forces of 1e4 N and their round-off beside M times the step
    EXPECT_LT(errors.a, 1e-7);
    EXPECT_LT(errors.mass, 1e-15);
    EXPECT_LT(errors.combined, 1e-13);
    RecordProperty(fmt::format("by_q_{}", m), fmt::format("{:.1e}", errors.q));
    RecordProperty(fmt::format("by_v_{}", m), fmt::format("{:.1e}", errors.v));
  }
}

TEST(SlapBody, DampingIsThatOfTheNodesInTheAxesOfTheirPart) {
  NodalModelOptions options;
  options.damping_ratio = 0.05;
  options.mass_damping = 0.7;
  Sample sample(7, 0.02, options);
  const auto body = make_slap_body("mechanism", sample.model);
  const test::Motion motion = motion_of(sample, 0.05);
  const auto room = body->workspace();
  // d' of the nodes by differences along the motion
  double power = 0.7 * motion.v.dot(sample.model.M * motion.v);
  for (int i = 0; i < 3; ++i) {
    const MatrixXd rate = test::slope(
        [&](double t) { return MatrixXd(sample.slap.deformation(i, motion.q + t * motion.v)); }, 1e-5);
    power += 0.05 * (rate.transpose() * sample.slap.parts[i].K * rate)(0, 0);
  }
  const Body::Energy energy = body->energy(motion.q, motion.v, no_gravity, *room);
  // differences over 1e-5 s
  EXPECT_NEAR(energy.damping_power, power, 1e-8 * power);
  // the force takes out that power
  const VectorXd with = test::residual_of(*body, motion, 0, no_gravity);
  const VectorXd without = test::residual_of(*body, {motion.q, 0 * motion.v, motion.a}, 0, no_gravity);
  EXPECT_NEAR(motion.v.dot(with - without), power, 1e-8 * power);
}

TEST(SlapBody, InertiaGravityAndMomentaAreThoseOfTheNodes) {
  Sample sample(7);
  const auto body = make_slap_body("mechanism", sample.model);
  const test::Motion motion = motion_of(sample, 0.05);
  const auto room = body->workspace();
  const Vector3d gravity(1, -2, 9);
  const Body::Energy energy = body->energy(motion.q, motion.v, gravity, *room);
  double kinetic = 0, potential = 0, mass = 0;
  Vector3d momentum = Vector3d::Zero(), angular = Vector3d::Zero();
  VectorXd force = VectorXd::Zero(7);
  for (int i = 0; i < 3; ++i) {
    const test::NodalPart& part = sample.slap.parts[i];
    const MatrixXd x = sample.slap.positions(i, motion.q);
    const MatrixXd v = sample.slap.positions(i, motion.v) - part.columns[0];
    const MatrixXd a = sample.slap.positions(i, motion.a) - part.columns[0];
    for (int k = 0; k < part.nodes(); ++k) {
      const Vector3d at = x.col(k), rate = v.col(k);
      mass += part.mass[k];
      kinetic += 0.5 * part.mass[k] * rate.squaredNorm();
      potential -= part.mass[k] * gravity.dot(at);
      momentum += part.mass[k] * rate;
      angular += part.mass[k] * at.cross(rate);
      for (int r = 0; r < 7; ++r)
        force[r] += part.mass[k] * part.columns[r + 1].col(k).dot(0.6 * a.col(k) - gravity);
    }
  }
  // sums of some hundred terms
  EXPECT_NEAR(body->mass(), mass, 1e-12 * mass);
  EXPECT_NEAR(energy.kinetic, kinetic, 1e-12 * kinetic);
  EXPECT_NEAR(energy.gravity, potential, 1e-12 * std::abs(potential));
  EXPECT_LT((energy.momentum - momentum).norm(), 1e-12 * momentum.norm());
  EXPECT_LT((energy.angular_momentum - angular).norm(), 1e-11 * angular.norm());
  EXPECT_EQ(energy.damping_power, 0);
  VectorXd g;
  EXPECT_NEAR(energy.elastic, elastic(sample.model, motion.q, g), 1e-14 * energy.elastic);
  // beside elastic forces of this size
  EXPECT_LT((test::residual_of(*body, motion, 0.6, gravity) - g - force).norm(),
            1e-12 * (g.norm() + force.norm()));
}

TEST(SlapBody, NodesAndTheirGroupsAreThoseOfTheParts) {
  Sample sample(5);
  // a part without nodes has no group
  sample.model.parts[1].fields.resize(0, 0);
  const auto body = make_slap_body("mechanism", sample.model);
  const std::vector<NodeGroup> groups = body->node_groups();
  ASSERT_EQ(groups.size(), 2);
  EXPECT_EQ(groups[0].name, "left");
  EXPECT_EQ(groups[1].name, "right");
  EXPECT_EQ(groups[1].first, groups[0].count);
  EXPECT_EQ(body->node_ids().size(), size_t(groups[0].count + groups[1].count));
  const VectorXd eta = sample.beside(0.1);
  const Eigen::Matrix3Xd x = body->node_positions(eta);
  EXPECT_LT((x.leftCols(groups[0].count) - sample.slap.positions(0, eta)).norm(), 1e-13);
  EXPECT_LT((x.rightCols(groups[1].count) - sample.slap.positions(2, eta)).norm(), 1e-13);
  // places are affine in eta, so that the slope is exact but for rounding
  const VectorXd rate = VectorXd::LinSpaced(eta.size(), -1, 2);
  const Eigen::Matrix3Xd slope = body->node_positions(eta + rate) - x;
  EXPECT_LT((body->node_velocities(eta, rate) - slope).norm(), 1e-13 * x.norm());
}

TEST(SlapBody, MarkersFollowTheirNodesWithExactDerivatives) {
  Sample sample(7);
  const auto body = make_slap_body("mechanism", sample.model);
  const test::Motion motion = motion_of(sample, 0.05);
  const auto room = body->workspace();
  std::mt19937 random(3);
  const int turning = body->add_marker(marker_of("top", "end"));
  const int point = body->add_marker(nodes_of("right", {1}));
  const int free_point = body->add_marker(nodes_of("right", {5}));
  const int several = body->add_marker(nodes_of("left", {3, 5, 8, 11, 14}));
  EXPECT_TRUE(body->marker_rotates(turning));
  EXPECT_FALSE(body->marker_rotates(point));
  EXPECT_FALSE(body->marker_rotates(free_point));
  EXPECT_TRUE(body->marker_rotates(several));
  for (const int marker : {turning, point, free_point, several}) {
    const test::MarkerErrors errors = test::marker_errors(*body, marker, motion, 5e-4, random);
    // fourth order differences with steps of 5e-4 m on faces of 0.2 m
    EXPECT_LT(errors.J, 1e-8) << marker;
    EXPECT_LT(errors.rate, 1e-13) << marker;
    if (!body->marker_rotates(marker)) continue;
    EXPECT_LT(errors.V, 1e-7) << marker;
    EXPECT_LT(errors.hessian, 1e-7) << marker;
  }
  MarkerKinematics k;
  body->marker(point, motion.q, motion.v, true, *room, k);
  EXPECT_LT((k.position() - sample.slap.positions(2, motion.q).col(0)).norm(), 1e-14);
  body->marker(free_point, motion.q, motion.v, true, *room, k);
  EXPECT_LT((k.position() - sample.slap.positions(2, motion.q).col(4)).norm(), 1e-14);
  // a rigid turn: the axes and the arm turn with the part
  const SlapModel rigid = model_of(turning_slap());
  const auto turned = make_slap_body("mechanism", rigid);
  const int end = turned->add_marker(marker_of("top", "end"));
  const auto its_room = turned->workspace();
  const VectorXd eta = turned_state(1.2, {0.1, 0.2, 0.3}, 0);
  turned->marker(end, eta, eta, true, *its_room, k);
  EXPECT_LT((k.axes() - test::about_x(1.5)).norm(), 1e-13);
  const Vector3d place = rigid.frames[4].position.col(0) + rigid.frames[4].arm;
  EXPECT_EQ(rigid.frames[4].name, "end");
  EXPECT_LT((k.position() - test::about_x(1.2) * place - Vector3d(0.1, 0.2, 0.3)).norm(), 1e-13);
}

TEST(SlapBody, MarkersThatAreNotThereAreRefused) {
  Sample sample(5);
  sample.model.parts[1].fields.resize(0, 0);
  const auto body = make_slap_body("mechanism", sample.model);
  const auto message = [&](const MarkerSpec& spec) -> std::string {
    try {
      body->add_marker(spec);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message(marker_of("topp", "end")),
            "body 'mechanism' has no part 'topp' (did you mean 'top'?); it has left, top, right");
  EXPECT_EQ(
      message(marker_of("", "end")),
      "'mechanism' is a reduced mechanism: say which of its parts a marker is on; it has left, top, right");
  EXPECT_EQ(
      message(marker_of("top", "ende")),
      "part 'top' of body 'mechanism' has no interface 'ende' (did you mean 'end'?); it has begin, end, "
      "node 1");
  EXPECT_EQ(message(nodes_of("left", {999})),
            "part 'left' of body 'mechanism' has no node 999; it has 20 nodes from 1 to 20");
  EXPECT_EQ(
      message(nodes_of("top", {3})),
      "part 'top' of body 'mechanism' was kept without its nodes, so that nothing can be attached to node 3; "
      "it has begin, end, node 1. Name the place when the model is trained, or keep the nodes");
  EXPECT_EQ(message(nodes_of("left", {})), "a marker of part 'left' of body 'mechanism' names no node");
  EXPECT_EQ(message(nodes_of("top", {1})), "accepted");
  MarkerSpec point;
  point.kind = MarkerSpec::Kind::Point;
  EXPECT_EQ(message(point).substr(0, 44), "body 'mechanism' is a reduced mechanism and ");
}

TEST(SlapBody, StartsWhereTheTrainingBegan) {
  Sample sample(5);
  sample.model.start = sample.random.vector(5);
  sample.model.start_rate = sample.random.vector(5);
  const auto body = make_slap_body("mechanism", sample.model);
  VectorXd q(5), v(5), scale(5);
  Placement elsewhere;
  elsewhere.position = {1, 2, 3};
  body->place(elsewhere, q, v);
  EXPECT_EQ(q, sample.model.start);
  EXPECT_EQ(v, sample.model.start_rate);
  body->displacement_scale(scale);
  EXPECT_EQ(scale, sample.model.scale);
  EXPECT_EQ(body->formulation(), "slap");
  EXPECT_EQ(body->coordinate_name(2), "mode 3");
  EXPECT_EQ(body->own_constraints(), 0);
  EXPECT_EQ(body->flexible_modes(), 5);
}

// Markers of both ends of parts, with one load of each kind.
System loaded_system(const SlapModel& model) {
  System system;
  const int body = system.add_body(make_slap_body("mechanism", model));
  system.set_gravity({0, 0, -9.81});
  const MarkerRef left = system.add_marker(body, marker_of("left", "end")),
                  top = system.add_marker(body, marker_of("top", "begin")),
                  right = system.add_marker(body, marker_of("right", "end")),
                  node = system.add_marker(body, nodes_of("right", {1}));
  Load force;
  force.name = "push";
  force.kind = LoadKind::Force;
  force.first = node;
  force.components = {1, 200, -3};
  system.add_load(force);
  Load torque;
  torque.name = "motor";
  torque.kind = LoadKind::Torque;
  torque.first = left;
  torque.second = top;
  torque.has_second = true;
  torque.following = true;
  torque.components = {30, 5, -4};
  system.add_load(torque);
  Load spring;
  spring.name = "spring";
  spring.kind = LoadKind::Spring;
  spring.first = top;
  spring.second = right;
  spring.stiffness = 3000;
  spring.damping = 20;
  spring.length = 0.2;
  system.add_load(spring);
  return system;
}

TEST(SlapBody, SystemsWithLoadsBetweenPartsHaveExactJacobians) {
  NodalModelOptions options;
  options.damping_ratio = 0.05;
  Sample sample(7, 0.02, options);
  const System system = loaded_system(sample.model);
  SystemEquations equations(system);
  EXPECT_TRUE(equations.is_ode());
  EXPECT_TRUE(equations.constant_mass());
  const test::Motion motion = motion_of(sample, 0.05);
  State state;
  state.q = motion.q;
  state.v = motion.v;
  state.a = motion.a;
  const VectorXd steps = 5e-4 * sample.model.scale.cwiseInverse();
  NewtonMatrix matrix(7, equations.blocks());
  const auto error = [&](VectorXd State::*member, const JacobianWeights& weights) {
    equations.jacobian(state, 0.7, weights, matrix);
    return test::slope_error(
        [&](const VectorXd& x) {
          State moved = state;
          moved.*member = x;
          VectorXd r(7);
          equations.residual(moved, 0.7, r);
          return r;
        },
        state.*member, steps, matrix.dense());
  };
  // as of the body alone
  EXPECT_LT(error(&State::q, {1, 0, 0, 1, 1}), 1e-8);
  EXPECT_LT(error(&State::v, {0, 1, 0, 1, 1}), 1e-9);
  EXPECT_LT(error(&State::a, {0, 0, 1, 1, 1}), 1e-7);
}

TEST(SlapBody, FreeRunsKeepEnergyWithEveryIntegrator) {
  SlapModel model = model_of(turning_slap());
  model.start = turned_state(0.3, {0, 0, 0}, 0.01);
  // 2 rad/s about x
  model.start_rate.resize(8);
  model.start_rate << -2 * std::sin(0.3), 2 * std::cos(0.3), 0.1, 0, 0.2, 0, -0.02 * std::sin(0.3),
      0.02 * std::cos(0.3);
  System system;
  system.add_body(make_slap_body("mechanism", model));
  system.set_gravity({0, 0, -9.81});
  SystemEquations equations(system);
  VectorXd q, v;
  system.initial(q, v);
  const State start = make_consistent(equations, 0, q, v).state;
  const double highest = slap_frequencies(model, model.start).maxCoeff();
  const double total = equations.energy(start).total();
  const double scale = equations.energy(start).kinetic + equations.energy(start).elastic;
  struct Case {
    Integrator integrator;
    double step, tolerance;
  };
  for (const Case& c : {Case{Integrator::GeneralizedAlpha, 0.01 / highest, 0},
                        Case{Integrator::CentralDifferences, 0.01 / highest, 0},
                        Case{Integrator::RungeKutta, 0, 1e-10}, Case{Integrator::Cvode, 0, 1e-9}}) {
    IntegratorOptions options;
    options.integrator = c.integrator;
    options.step = c.step;
    options.end = 0.5;
    options.rho_inf = 1;
    if (c.tolerance > 0) options.tolerance = c.tolerance;
    const test::Recording run = test::run(equations, start, options);
    double worst = 0;
    for (const State& state : run.steps)
      worst = std::max(worst, std::abs(equations.energy(state).total() - total));
    // second order: (h omega)^2 / 10 = 4e-4 of what swings in the highest mode, a part of the energy;
    // controlled steps: ten times the tolerance with each
    const double drift = c.tolerance > 0 ? 10 * c.tolerance * static_cast<double>(run.summary.steps) : 4e-4;
    EXPECT_LT(worst, drift * scale) << name_of(c.integrator);
    // it has turned by one radian, and still vibrates
    const double angle = std::atan2(run.last().q[1], 1 + run.last().q[0]);
    EXPECT_NEAR(angle, 1.3, 0.1) << name_of(c.integrator);
    RecordProperty(std::string("drift_") + std::string(name_of(c.integrator)),
                   fmt::format("{:.1e}", worst / scale));
  }
}

TEST(SlapBody, FrequenciesAreThoseOfTheGeneralisedEigenproblem) {
  const NodalSlap slap = turning_slap();
  const SlapModel model = model_of(slap);
  const VectorXd at = turned_state(0.4, {0, 0, 0}, 0);
  // undeformed: the nodal stiffness turned with the parts, rotations taken out of the modes by differences
  MatrixXd K = MatrixXd::Zero(8, 8);
  for (int i = 0; i < 3; ++i) {
    MatrixXd D(slap.parts[i].K.rows(), 8);
    for (int r = 0; r < 8; ++r)
      D.col(r) = test::slope(
          [&](double t) { return MatrixXd(slap.deformation(i, at + t * VectorXd::Unit(8, r))); }, 1e-3);
    K += D.transpose() * slap.parts[i].K * D;
  }
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> eigen(K, model.M, Eigen::EigenvaluesOnly);
  const VectorXd found = slap_frequencies(model, at);
  ASSERT_EQ(found.size(), 8);
  for (int r = 0; r < 8; ++r) {
    const double expected = std::sqrt(std::max(0.0, eigen.eigenvalues()[r])) / (2 * std::numbers::pi);
    // three translations and the turn are free: zero to the root of round-off
    if (r < 4)
      EXPECT_LT(std::abs(found[r]), 1e-6 * found[7]);
    else
      EXPECT_NEAR(found[r], expected, 1e-9 * found[7]);
  }
  // squeezed to half, the bars buckle
  VectorXd squeezed = VectorXd::Zero(8);
  squeezed[0] = -0.5;
  EXPECT_LT(slap_frequencies(model, squeezed)[0], -1);
}

TEST(SlapBody, AnswersDoNotDependOnWhatWasAskedBefore) {
  NodalModelOptions options;
  options.damping_ratio = 0.05;
  Sample sample(7, 0.02, options);
  const auto body = make_slap_body("mechanism", sample.model);
  const test::Motion first = motion_of(sample, 0.05), second = motion_of(sample, 0.05);
  const auto room = body->workspace();
  const auto residual = [&](const test::Motion& motion) {
    VectorXd r = VectorXd::Zero(7);
    body->add_residual(motion.q, motion.v, motion.a, 1, no_gravity, *room, r);
    return r;
  };
  const VectorXd r = residual(first);
  residual(second);
  test::Motion other_rate = first;
  other_rate.v = second.v;
  EXPECT_EQ(residual(other_rate), test::residual_of(*body, other_rate, 1, no_gravity));
  EXPECT_EQ(residual(first), r);
  MatrixXd J(7, 7);
  residual(second);
  body->jacobian(first.q, first.v, first.a, 1, no_gravity, 1, 2, 3, *room, J);
  EXPECT_EQ(J, test::jacobian_of(*body, first, 1, no_gravity, 1, 2, 3));
  EXPECT_EQ(residual(first), r);
}

#if LISSOM_COUNTS_MALLOC
TEST(SlapBody, DoesNotAllocate) {
  NodalModelOptions options;
  options.damping_ratio = 0.05;
  Sample sample(7, 0.02, options);
  const auto body = make_slap_body("mechanism", sample.model);
  const int marker = body->add_marker(marker_of("top", "end"));
  const auto room = body->workspace();
  const test::Motion motion = motion_of(sample, 0.05);
  VectorXd r = VectorXd::Zero(7);
  MatrixXd J = MatrixXd::Zero(7, 7);
  MarkerKinematics k;
  body->marker(marker, motion.q, motion.v, true, *room, k);
  const long before = test::allocations;
  body->add_residual(motion.q, motion.v, motion.a, 1, no_gravity, *room, r);
  EXPECT_EQ(test::allocations - before, 0) << "residual";
  body->jacobian(motion.q, motion.v, motion.a, 1, no_gravity, 1, 1, 1, *room, J);
  EXPECT_EQ(test::allocations - before, 0) << "jacobian";
  body->marker(marker, motion.q, motion.v, true, *room, k);
  body->add_marker_hessian(marker, motion.q, Vector12d::Ones(), 1, *room, J);
  EXPECT_EQ(test::allocations - before, 0) << "markers";
  body->energy(motion.q, motion.v, no_gravity, *room);
  EXPECT_EQ(test::allocations - before, 0) << "energy";
}
#endif

std::string refusal(const SlapModel& model) {
  try {
    make_slap_body("mechanism", model);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SlapBody, ModelsThatDoNotFitTogetherAreRefused) {
  const Sample sample(4);
  EXPECT_EQ(inconsistency_of(sample.model), "");
  const auto broken = [&](const auto& change) {
    SlapModel model = sample.model;
    change(model);
    EXPECT_EQ(
        refusal(model).substr(0, 70).find("body 'mechanism': the reduced mechanism does not fit together, "),
        0U);
    return inconsistency_of(model);
  };
  EXPECT_EQ(broken([](SlapModel& m) { m.parts.clear(); }), "the model has no parts");
  EXPECT_EQ(broken([](SlapModel& m) { m.M.resize(0, 0); }), "the model has no coordinates");
  EXPECT_EQ(broken([](SlapModel& m) { m.parts[1].A = m.parts[1].A.leftCols(3).eval(); }),
            "A of part 'top' is 9 by 3, expected 9 by 5");
  EXPECT_EQ(broken([](SlapModel& m) { m.parts[2].C(1, 3) = std::nan(""); }),
            "C of part 'right' has a number that is not finite");
  EXPECT_EQ(broken([](SlapModel& m) { m.parts[0].C_damping = MatrixXd::Zero(2, 9); }),
            "C_damping of part 'left' is 2 by 9, expected 2 by 54");
  EXPECT_EQ(broken([](SlapModel& m) { m.parts[0].C.col(1) *= 2; }),
            "C of part 'left' resists rotations: columns of E_ij and E_ji differ");
  EXPECT_EQ(broken([](SlapModel& m) { m.parts[0].S0 = Vector3d(1, 2, 0).asDiagonal(); }),
            "S0 of part 'left' has the eigenvalues 0, 1, 2 m2: its nodes lie in a plane");
  EXPECT_EQ(broken([](SlapModel& m) { m.parts[1].name = "left"; }), "two parts have the name 'left'");
  EXPECT_EQ(broken([](SlapModel& m) { m.parts[1].mass = 0; }), "the mass of part 'top' is 0 kg");
  EXPECT_EQ(broken([](SlapModel& m) { m.parts[1].node_ids.pop_back(); }).substr(0, 33),
            "19 node numbers of part 'top' for");
  EXPECT_EQ(broken([](SlapModel& m) { m.frames[1].part = 3; }), "frame 'end' belongs to part number 4 of 3");
  EXPECT_EQ(broken([](SlapModel& m) { m.frames[1].name = "begin"; }),
            "part 'left' has two frames with the name 'begin'");
  EXPECT_EQ(broken([](SlapModel& m) { m.start.resize(3); }), "the start is 3 by 1, expected 4 by 1");
  EXPECT_EQ(broken([](SlapModel& m) { m.scale[2] = 0; }), "the scale of mode 3 is 0 m");
  EXPECT_EQ(broken([](SlapModel& m) { m.M(0, 1) += 1; }), "M is not symmetric");
  EXPECT_EQ(broken([](SlapModel& m) { m.training.samples = MatrixXd::Zero(4, 2); }),
            "the spread of the training is 0 by 1, expected 4 by 1");
}

TEST(SlapBody, SingularMassIsRefused) {
  Sample sample(4);
  sample.model.M.col(3) = sample.model.M.col(2);
  sample.model.M.row(3) = sample.model.M.row(2);
  EXPECT_EQ(refusal(sample.model).substr(0, 68),
            "body 'mechanism': the mass matrix of the reduced mechanism is singul");
  sample.model.M = -MatrixXd::Identity(4, 4);
  EXPECT_EQ(refusal(sample.model).substr(0, 68),
            "body 'mechanism': the mass matrix of the reduced mechanism is singul");
}

TEST(SlapBody, StatesWithoutANearestRotationAreNamed) {
  const SlapModel model = model_of(turning_slap());
  VectorXd g, inside_out = VectorXd::Zero(8);
  // all nodes onto the axis
  inside_out[0] = -1;
  const auto message = [&]() -> std::string {
    try {
      elastic(model, inside_out, g);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message().substr(0, 63), "part 'left' has lost its rotation: no rotation is nearest to a ");
  inside_out[0] = std::nan("");
  EXPECT_EQ(message().substr(0, 34), "part 'left' has lost its rotation:");
}

TEST(SlapModel, DistanceFromTrainingCountsInUnitsOfItsReach) {
  SlapTraining training;
  EXPECT_EQ(distance_from_training(training, Eigen::Vector2d(1, 2)), 0);
  training.samples.resize(2, 3);
  training.samples << 0, 1, 2, 0, 10, 20;
  training.spread = Eigen::Vector2d(1, 10);
  training.reach = 0.5;
  EXPECT_EQ(distance_from_training(training, Eigen::Vector2d(1, 10)), 0);
  // (0.3, 0.4) from the second one
  EXPECT_NEAR(distance_from_training(training, Eigen::Vector2d(1.3, 14)), 1, 1e-15);
  EXPECT_NEAR(distance_from_training(training, Eigen::Vector2d(5, 20)), 6, 1e-15);
}

}  // namespace
}  // namespace lissom::slap_body_test

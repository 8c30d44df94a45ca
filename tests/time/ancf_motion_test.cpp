// ANCF beams in a System: the motion of the falling double pendulum of paper 004, and beams joined to others.
#include <gtest/gtest.h>

#include <random>

#include "lissom/mbs/ancf_body.hpp"
#include "lissom/time/equilibrium.hpp"
#include "lissom/time/stepper.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/mbs/four_bar.hpp"
#include "tests/mbs/system_support.hpp"
#include "tests/time/run.hpp"

namespace lissom::test::ancf_motion_test {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double side = 0.03, half = 0.5;  // [m] section and length of the two pendulums

AncfBeam pendulum_beam(int b, int elements) {
  AncfBeam beam;
  beam.name = b == 0 ? "upper" : "lower";
  beam.elements = elements;
  beam.from = {half * b, 0, 0};
  beam.to = {half * (b + 1), 0, 0};
  const double young = b == 0 ? 80e6 : 1e6, mass = b == 0 ? 0.304 : 0.2455;
  beam.properties.EA = young * side * side;
  beam.properties.EI = young * std::pow(side, 4) / 12;
  beam.properties.mass = mass / half;
  return beam;
}

MarkerSpec beam_place(const std::string& name, const std::string& part = {}) {
  MarkerSpec spec;
  spec.name = name;
  spec.part = part;
  return spec;
}

std::unique_ptr<System> shared_pendulum(int elements, double damping = 0, int dimension = 2) {
  AncfModel model;
  model.dimension = dimension;
  for (int b = 0; b < 2; ++b) {
    model.beams.push_back(pendulum_beam(b, elements));
    model.beams.back().properties.damping = damping;
  }
  model.pins.push_back({{0, elements}, {1, 0}});
  model.supports.push_back({{0, 0}, false});
  auto system = std::make_unique<System>();
  system->add_body(std::make_unique<AncfBody>("pendulum", model));
  system->set_gravity({0, -9.81, 0});
  return system;
}

// The same with multipliers.
std::unique_ptr<System> joined_pendulum(int elements) {
  auto system = std::make_unique<System>();
  for (int b = 0; b < 2; ++b) {
    AncfModel model;
    model.beams.push_back(pendulum_beam(b, elements));
    system->add_body(std::make_unique<AncfBody>(model.beams[0].name, model));
  }
  system->set_gravity({0, -9.81, 0});
  Joint top, middle;
  top.name = "top";
  top.kind = middle.kind = JointKind::Revolute;
  top.first = system->add_ground_marker(Vector3d::Zero());
  top.second = system->add_marker(0, beam_place("start"));
  middle.name = "middle";
  middle.first = system->add_marker(0, beam_place("end"));
  middle.second = system->add_marker(1, beam_place("start"));
  system->add_joint(top);
  system->add_joint(middle);
  return system;
}

struct BeamRun {
  std::unique_ptr<System> system;
  std::unique_ptr<SystemEquations> equations;
  Recording motion;

  Vector3d tip(const State& state) const {
    const Body& body = *system->bodies().back();
    const auto q =
        state.q.segment(system->offset(static_cast<int>(system->bodies().size()) - 1), body.coordinates());
    return body.node_positions(q).rightCols<1>();
  }
};

BeamRun beam_run(std::unique_ptr<System> system, double step, double end, double alpha,
                 double tolerance = 1e-13) {
  BeamRun out;
  out.system = std::move(system);
  VectorXd q, v;
  out.system->initial(q, v);
  const SystemCheck check = check_system(*out.system, 0, q);
  EXPECT_TRUE(check.redundant.empty());
  out.equations = std::make_unique<SystemEquations>(*out.system, check.kept);
  IntegratorOptions options;
  options.integrator = Integrator::HhtI3;
  options.alpha = alpha;
  options.step = step;
  options.end = end;
  options.newton.tolerance = tolerance;
  out.motion = run(*out.equations, make_consistent(*out.equations, 0, q, v).state, options);
  return out;
}

TEST(AncfMotion, SharedCoordinatesAndMultipliersGiveTheSameMotion) {
  // the pendulum of the paper, to the end of its example
  const BeamRun shared = beam_run(shared_pendulum(80), 1e-3, 1.3, -0.1);
  const BeamRun joined = beam_run(joined_pendulum(80), 1e-3, 1.3, -0.1);
  EXPECT_EQ(shared.equations->constraints(), 0);
  EXPECT_TRUE(shared.equations->symmetric());
  EXPECT_EQ(joined.equations->coordinates(), 648);
  EXPECT_EQ(joined.equations->constraints(), 4);
  ASSERT_EQ(shared.motion.steps.size(), joined.motion.steps.size());
  double largest = 0;
  for (size_t k = 0; k < shared.motion.steps.size(); ++k)
    largest =
        std::max(largest, (shared.tip(shared.motion.steps[k]) - joined.tip(joined.motion.steps[k])).norm());
  // asked of the two forms; what Newton's tolerance leaves grows with the motion
  EXPECT_LT(largest, 1e-9);
}

TEST(AncfMotion, HhtIsOfSecondOrder) {
  const auto tip = [](double step) {
    // two soft beams of few elements: the steps resolve all frequencies
    auto system = std::make_unique<System>();
    AncfModel model = dynamic_cast<const AncfBody&>(*shared_pendulum(3)->bodies()[0]).model();
    for (AncfBeam& beam : model.beams) {
      beam.properties.EA = 100;
      beam.properties.EI = 0.02;
    }
    system->add_body(std::make_unique<AncfBody>("soft", model));
    system->set_gravity({0, -9.81, 0});
    const BeamRun result = beam_run(std::move(system), step, 0.4, -0.1);
    return result.tip(result.motion.last());
  };
  const Vector3d exact = tip(1.5625e-5);
  const double coarse = (tip(5e-4) - exact).norm(), middle = (tip(2.5e-4) - exact).norm(),
               fine = (tip(1.25e-4) - exact).norm();
  // four of second order; the reference has 1/64 of the last error
  EXPECT_NEAR(coarse / middle, 4, 0.6);
  EXPECT_NEAR(middle / fine, 4, 0.3);
  EXPECT_LT(fine, 1e-5);
}

TEST(AncfMotion, EnergyIsKeptUpToTheMethodsErrorAndLostToDampingOnly) {
  // alpha = 0 is the trapezoidal rule: its energy error goes with h^2
  const auto drift = [](double step) {
    const BeamRun result = beam_run(shared_pendulum(8), step, 0.4, 0);
    double largest = 0;
    for (const State& state : result.motion.steps)
      largest = std::max(largest, std::abs(result.equations->energy(state).total() -
                                           result.equations->energy(result.motion.steps[0]).total()));
    return largest;
  };
  const double coarse = drift(2e-3), fine = drift(1e-3);
  EXPECT_LT(fine, 2e-3);  // [J] of 1.3 J that gravity gives
  EXPECT_NEAR(coarse / fine, 4, 1.5);

  const BeamRun damped = beam_run(shared_pendulum(8, 1e-2), 2.5e-4, 0.4, 0);
  EXPECT_FALSE(damped.equations->symmetric());
  double lost = 0, power = 0, last = 0;
  const double begin = damped.equations->energy(damped.motion.steps[0]).total();
  for (const State& state : damped.motion.steps) {
    const SystemEnergy energy = damped.equations->energy(state);
    if (state.t > 0) lost += (power + energy.damping_power) / 2 * (state.t - last);
    power = energy.damping_power;
    last = state.t;
  }
  const double end = damped.equations->energy(damped.motion.last()).total();
  EXPECT_GT(lost, 1e-3);
  // of the trapezoidal rules for both
  EXPECT_NEAR(begin - end, lost, 1e-2 * lost);
}

#if LISSOM_COUNTS_MALLOC
TEST(AncfMotion, StepsOfBeamsWithALoadDoNotAllocate) {
  auto system = shared_pendulum(20);
  Load torque;
  torque.name = "drive";
  torque.kind = LoadKind::Torque;
  torque.first = system->add_marker(0, beam_place("start", "upper"));
  torque.components = {0, 0, 0.1};
  system->add_load(torque);
  SystemEquations equations(*system);
  EXPECT_TRUE(equations.symmetric());
  VectorXd q, v;
  system->initial(q, v);
  IntegratorOptions options;
  options.integrator = Integrator::HhtI3;
  options.step = 1e-3;
  options.end = 10;
  IntegrationSummary summary;
  const auto stepper = make_hht_i3(equations, options, summary);
  stepper->start(make_consistent(equations, 0, q, v).state);
  for (int k = 0; k < 5; ++k) stepper->step(10);
  const long before = allocations;
  for (int k = 0; k < 200; ++k) stepper->step(10);
  EXPECT_EQ(allocations - before, 0);
}
#endif

TEST(AncfMotion, TheMatrixOfASystemWithLoadsAndJointsIsExact) {
  for (const int dimension : {2, 3}) {
    auto system = shared_pendulum(3, 1e-3, dimension);
    const int block = add_rigid(*system, "block", 0.1, {1e-4, 2e-4, 3e-4}, at({1, 0, 0}));
    Joint joint;
    joint.name = "weld";
    joint.kind = dimension == 2 ? JointKind::Fixed : JointKind::Universal;
    joint.first = system->add_marker(0, beam_place("end", "lower"));
    joint.second = point(*system, block, Vector3d::Zero());
    system->add_joint(joint);
    Load torque, spring;
    torque.name = "drive";
    torque.kind = LoadKind::Torque;
    torque.first = system->add_marker(0, beam_place("start", "upper"));
    torque.components = {0, 0, 3};
    spring.name = "spring";
    spring.kind = LoadKind::Spring;
    spring.first = system->add_marker(0, beam_place("end", "upper"));
    spring.second = point(*system, block, {0, 0.1, 0});
    spring.stiffness = 100;
    spring.damping = 2;
    spring.length = 0.3;
    system->add_load(torque);
    system->add_load(spring);

    SystemEquations equations(*system);
    const int n = equations.coordinates(), m = equations.constraints();
    State state;
    system->initial(state.q, state.v);
    std::mt19937 random(3);
    std::normal_distribution<double> normal(0, 0.1);
    state.a.resize(n);
    state.lambda.resize(m);
    for (int i = 0; i < n; ++i) {
      state.q[i] += 0.3 * normal(random);
      state.v[i] += normal(random);
      state.a[i] = normal(random);
    }
    for (int i = 0; i < m; ++i) state.lambda[i] = normal(random);
    NewtonMatrix matrix(n + m, equations.blocks());
    const JacobianWeights weights{1, 0.7, 0.3, 1, 1};
    equations.jacobian(state, 1, weights, matrix);
    const MatrixXd J = matrix.dense().topLeftCorner(n, n);
    MatrixXd differences(n, n);
    VectorXd plus(n), minus(n);
    const double h = 1e-6;
    for (int i = 0; i < n; ++i) {
      // one shift for all three, weighted
      for (const double sign : {1.0, -1.0}) {
        State shifted = state;
        shifted.q[i] += sign * h * weights.q;
        shifted.v[i] += sign * h * weights.v;
        shifted.a[i] += sign * h * weights.a;
        equations.residual(shifted, 1, sign > 0 ? plus : minus);
      }
      differences.col(i) = (plus - minus) / (2 * h);
    }
    // differences of forces of 1e5 N with steps of 1e-6
    EXPECT_LT((J - differences).cwiseAbs().maxCoeff(), 1e-7 * J.cwiseAbs().maxCoeff()) << dimension;
  }
}

TEST(AncfMotion, ARigidBodyWeldedToACantileverBendsItAsTheoryHasIt) {
  // 0.2 mm deflection of 1 m
  AncfModel model;
  AncfBeam beam;
  beam.name = "beam";
  beam.elements = 6;
  beam.properties.EA = 1e8;
  beam.properties.EI = 1e4;
  beam.properties.mass = 1e-6;
  model.beams.push_back(beam);
  model.supports.push_back({{0, 0}, true});
  System system;
  system.add_body(std::make_unique<AncfBody>("beam", model));
  const int block = add_rigid(system, "block", 0.6, {1e-4, 1e-4, 1e-4}, at({1.1, 0, 0}));
  Joint joint;
  joint.name = "weld";
  joint.kind = JointKind::Fixed;
  joint.first = system.add_marker(0, beam_place("end"));
  joint.second = point(system, block, {-0.1, 0, 0});
  system.add_joint(joint);
  system.set_gravity({0, -10, 0});
  State guess;
  system.initial(guess.q, guess.v);
  const SystemCheck check = check_system(system, 0, guess.q);
  SystemEquations equations(system, check.kept);
  guess.a = VectorXd::Zero(equations.coordinates());
  guess.lambda = VectorXd::Zero(equations.constraints());
  const Equilibrium rest = find_equilibrium(equations, guess);
  EXPECT_TRUE(rest.stable);
  const double force = 6, moment = 0.6, EI = 1e4;
  const double expected = force / (3 * EI) + moment / (2 * EI);
  const auto nodes = system.bodies()[0]->node_positions(rest.state.q.head(system.bodies()[0]->coordinates()));
  // deflections of 2e-4 change the lever by 1e-7
  EXPECT_NEAR(-nodes(1, 6), expected, 1e-5 * expected);
}

TEST(AncfMotion, AFlexibleBodyHangsOnASpatialCable) {
  FourBarOptions options;
  options.modes = 2;
  const SampleBar bar = sample_bar(2, options);
  System system;
  const int body = system.add_body(bar_body("bar", bar, options), {});
  const int node =
      static_cast<int>(std::find(bar.reduced.node_ids.begin(), bar.reduced.node_ids.end(), bar.hinges[2]) -
                       bar.reduced.node_ids.begin());
  const MarkerRef hook = system.add_marker(body, node_marker(bar.hinges[2]));
  VectorXd q, v;
  system.initial(q, v);
  const Vector3d top = system.bodies()[0]->node_positions(q).col(node);
  AncfModel model;
  model.dimension = 3;
  AncfBeam cable;
  cable.name = "cable";
  cable.elements = 6;
  cable.from = top + Vector3d(0.2, 0.1, 0.1);
  cable.to = top;
  cable.properties.EA = 1e4;
  cable.properties.EI = 1e-2;
  cable.properties.mass = 0.1;
  model.beams.push_back(cable);
  model.supports.push_back({{0, 0}, false});
  const int line = system.add_body(std::make_unique<AncfBody>("cable", model));
  Joint joint;
  joint.name = "hook";
  joint.first = hook;
  joint.second = system.add_marker(line, beam_place("end"));
  system.add_joint(joint);
  system.set_gravity({0, 0, -9.81});
  system.initial(q, v);
  SystemEquations equations(system);
  IntegratorOptions run_options;
  run_options.integrator = Integrator::GeneralizedAlpha;
  run_options.rho_inf = 1;
  run_options.step = 1e-4;
  run_options.end = 0.1;
  const State start = make_consistent(equations, 0, q, v).state;
  const Recording motion = run(equations, start, run_options);
  const double begin = equations.energy(start).total();
  double drift = 0, gap = 0;
  VectorXd g(equations.constraints());
  for (const State& state : motion.steps) {
    drift = std::max(drift, std::abs(equations.energy(state).total() - begin));
    equations.constraint(state.t, state.q, g);
    gap = std::max(gap, g.cwiseAbs().maxCoeff());
  }
  EXPECT_GT(equations.energy(motion.last()).kinetic, 0.05);  // [J] it fell and swung
  EXPECT_LT(drift, 1e-3);                                    // of the axial vibration of the cable
  EXPECT_LT(gap, 1e-11);
}

}  // namespace
}  // namespace lissom::test::ancf_motion_test

// Loads as forms of the coordinates of a reduced mechanism, against the same loads by way of their markers.
#include "lissom/mbs/linear_loads.hpp"

#include <gtest/gtest.h>

#include "lissom/mbs/system.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/mbs/linear_body.hpp"

namespace lissom::linear_loads_test {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace test;

// Loads of a kind, between two places of the mechanism and between one and the ground.
enum class Sides { Both, FirstOnGround, SecondOnGround };

System with_load(Load load, Sides sides, bool plain, int n = 5) {
  System system;
  system.add_body(std::make_unique<LinearBody>(n, plain));
  system.set_gravity({0, 0, -9.81});
  const MarkerRef a = system.add_marker(0, {}), b = system.add_marker(0, {});
  Random random(11);
  const MarkerRef ground = system.add_ground_marker(random.vector(3), random.rotation(0.5));
  load.first = sides == Sides::FirstOnGround ? ground : a;
  load.second = sides == Sides::SecondOnGround ? ground : b;
  system.add_load(std::move(load));
  return system;
}

struct Case {
  std::string what;
  Load load;
};

// Every kind, with each of its features.
std::vector<Case> all_kinds() {
  const TimeFunction wave = TimeFunction::expression("1 + 0.5*sin(3*t)");
  std::vector<Case> cases;
  for (const auto& [name, kind] : load_names())
    for (int variant = 0; variant < 8; ++variant) {
      Load load;
      load.name = name;
      load.kind = kind;
      load.following = variant % 2 == 1;
      load.has_second = variant / 2 % 2 == 1;
      load.components = {0.7, variant < 4 ? wave : TimeFunction(0.4), -0.3};
      load.magnitude = variant < 4 ? wave : TimeFunction(1.7);
      if (takes_input(kind) && variant % 3 == 0) load.input = "u";
      load.stiffness = variant == 6 ? 0 : 3;
      load.damping = variant % 2 == 0 ? 0.4 : 0;
      load.length = variant == 1 ? 0 : 0.6;
      load.preload = variant < 1 || variant == 4 ? wave : TimeFunction(variant == 1 ? 0 : 0.8);
      load.K = {3, 2, 1};
      load.k = {1.5, variant < 4 ? 1 : 0, 0};
      if (variant % 2 == 0) load.C = load.c = Vector3d(0.3, 0.1, 0.2);
      cases.push_back({name + " " + std::to_string(variant), load});
    }
  return cases;
}

State random_state(const System& system, unsigned seed) {
  Random random(seed);
  const int n = system.coordinates();
  State state;
  state.t = 0.37;
  state.q = 0.3 * random.vector(n);
  state.v = random.vector(n);
  state.a = random.vector(n);
  state.lambda.resize(0);
  return state;
}

double difference(const MatrixXd& a, const MatrixXd& b) {
  return (a - b).cwiseAbs().maxCoeff() / (1 + b.cwiseAbs().maxCoeff());
}

// 1e-13: sums of some hundred products of numbers of size one, in another order
constexpr double round_off = 1e-13;

TEST(LinearLoads, ResidualMatrixEnergyAndAnglesAreThoseOfTheMarkers) {
  for (const Case& one : all_kinds())
    for (const Sides sides : {Sides::Both, Sides::FirstOnGround, Sides::SecondOnGround}) {
      SCOPED_TRACE(one.what + ", sides " + std::to_string(static_cast<int>(sides)));
      const System forms = with_load(one.load, sides, false), plain = with_load(one.load, sides, true);
      SystemEquations by_forms(forms), by_markers(plain);
      const VectorXd u = VectorXd::Constant(static_cast<Eigen::Index>(forms.inputs().size()), 1.3);
      by_forms.hold_inputs(u);
      by_markers.hold_inputs(u);
      State state = random_state(forms, 5);
      by_markers.count_turns(state);
      for (int time = 0; time < 3; ++time) {
        state.t += 0.1 * time;
        VectorXd r(5), expected(5), r_both;
        by_forms.residual(state, 0.8, r);
        by_markers.residual(state, 0.8, expected);
        EXPECT_LT(difference(r, expected), round_off);
        const JacobianWeights weights{0.7, 0.4, 1.1};
        NewtonMatrix J(5, by_forms.blocks()), J_expected(5, by_markers.blocks());
        by_forms.jacobian(state, 0.8, weights, J);
        by_markers.jacobian(state, 0.8, weights, J_expected);
        EXPECT_LT(difference(J.dense(), J_expected.dense()), round_off);
        // both at once, on either way
        MatrixXd J_both(5, 5);
        for (SystemEquations* equations : {&by_forms, &by_markers}) {
          ASSERT_TRUE(equations->is_compact());
          equations->linearise(state, 0.8, weights, r_both, J_both);
          EXPECT_LT(difference(r_both, expected), round_off);
          EXPECT_LT(difference(J_both, J_expected.dense()), round_off);
        }
        const SystemEnergy e = by_forms.energy(state), e_expected = by_markers.energy(state);
        EXPECT_NEAR(e.springs, e_expected.springs, round_off * (1 + std::abs(e_expected.springs)));
        EXPECT_NEAR(e.load_power, e_expected.load_power, 10 * round_off);
        EXPECT_NEAR(e.damping_power, e_expected.damping_power, 10 * round_off);
        State counted = state, counted_expected = state;
        by_forms.count_turns(counted);
        by_markers.count_turns(counted_expected);
        ASSERT_EQ(counted.turns.angle.size(), counted_expected.turns.angle.size());
        if (counted.turns.angle.size() > 0) {
          EXPECT_LT(difference(counted.turns.angle, counted_expected.turns.angle), round_off);
          EXPECT_LT(difference(counted.turns.rate, counted_expected.turns.rate), round_off);
        }
        if (u.size() > 0) {
          MatrixXd F(5, 1), F_expected(5, 1);
          by_forms.input_forces(state, F);
          by_markers.input_forces(state, F_expected);
          EXPECT_LT(difference(F, F_expected), round_off);
        }
        EXPECT_NEAR(by_forms.load_magnitude(0, state), by_markers.load_magnitude(0, state), 10 * round_off);
        state.q = random_state(forms, 6 + time).q;
      }
    }
}

TEST(LinearLoads, TangentsAreThoseOfDifferences) {
  for (const Case& one : all_kinds()) {
    SCOPED_TRACE(one.what);
    const System system = with_load(one.load, Sides::Both, false);
    SystemEquations equations(system);
    equations.hold_inputs(VectorXd::Ones(static_cast<Eigen::Index>(system.inputs().size())));
    const State at = random_state(system, 9);
    const auto residual = [&](const VectorXd& x) {
      State state = at;
      state.q = x.head(5);
      state.v = x.tail(5);
      VectorXd r(5);
      equations.residual(state, 1, r);
      return r;
    };
    VectorXd x(10), r;
    x << at.q, at.v;
    const MatrixXd D = differences(residual, x);
    MatrixXd by_q(5, 5), by_v(5, 5);
    equations.linearise(at, 1, {1, 0, 0}, r, by_q);
    equations.linearise(at, 1, {1, 1, 0}, r, by_v);
    // the differences' own error, on numbers of size 100
    EXPECT_LT((by_q - D.leftCols(5)).cwiseAbs().maxCoeff(), 1e-8);
    EXPECT_LT((by_v - by_q - D.rightCols(5)).cwiseAbs().maxCoeff(), 1e-8);
  }
}

// a spring that winds up remembers its turns however it is evaluated
TEST(LinearLoads, TurnsAreCountedOnFromTheLastOnes) {
  Load load;
  load.name = "clutch";
  load.kind = LoadKind::TorsionSpring;
  load.stiffness = 2;
  const System forms = with_load(load, Sides::Both, false), plain = with_load(load, Sides::Both, true);
  SystemEquations by_forms(forms), by_markers(plain);
  State state = random_state(forms, 5);
  state.turns.t = state.t;
  state.turns.angle = VectorXd::Constant(1, 3 * full_turn);
  state.turns.rate = VectorXd::Zero(1);
  VectorXd r(5), expected(5);
  by_forms.residual(state, 1, r);
  by_markers.residual(state, 1, expected);
  EXPECT_LT(difference(r, expected), round_off);
  by_forms.count_turns(state);
  EXPECT_NEAR(state.turns.angle[0], 3 * full_turn, full_turn / 2);
}

TEST(LinearLoads, InputsThatChangeAtOneTimeAreSeen) {
  Load load;
  load.name = "push";
  load.input = "u";
  load.components = {1, 2, 3};
  const System system = with_load(load, Sides::SecondOnGround, false);
  SystemEquations equations(system);
  const State state = random_state(system, 5);
  VectorXd r0(5), r1(5), r2(5);
  equations.hold_inputs(VectorXd::Constant(1, 0.0));
  equations.residual(state, 1, r0);
  equations.hold_inputs(VectorXd::Constant(1, 1.0));
  equations.residual(state, 1, r1);
  equations.hold_inputs(VectorXd::Constant(1, 2.0));
  equations.residual(state, 1, r2);
  EXPECT_GT((r1 - r0).norm(), 0.1);
  EXPECT_LT((r2 - r0 - 2 * (r1 - r0)).norm(), 1e-12);
}

TEST(LinearLoads, MarkersThatMeetGetTheMessageOfTheSpring) {
  System system;
  system.add_body(std::make_unique<LinearBody>(5, false));
  State state = random_state(system, 5);
  state.q.setZero();
  Load load;
  load.name = "strut";
  load.kind = LoadKind::Spring;
  load.stiffness = 1;
  load.length = 0.1;
  load.first = system.add_marker(0, {});
  MarkerKinematics marker;
  SystemEquations(system).marker(load.first, state.q, state.v, false, marker);
  load.second = system.add_ground_marker(marker.position());
  system.add_load(load);
  SystemEquations equations(system);
  VectorXd r(5);
  try {
    equations.residual(state, 1, r);
    FAIL() << "a spring without length has no direction";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("its two markers coincide"), std::string::npos) << e.what();
  }
}

#if LISSOM_COUNTS_MALLOC
TEST(LinearLoads, NothingIsAllocatedInAnEvaluation) {
  System system;
  system.add_body(std::make_unique<LinearBody>(6, false));
  for (const Case& one : all_kinds()) {
    if (one.load.kind == LoadKind::Bushing) continue;
    Load load = one.load;
    load.first = system.add_marker(0, {});
    load.second = system.add_marker(0, {});
    system.add_load(load);
  }
  SystemEquations equations(system);
  State state = random_state(system, 5);
  VectorXd r(6);
  MatrixXd J(6, 6);
  equations.linearise(state, 1, {1, 1, 1}, r, J);
  equations.count_turns(state);
  const long before = allocations;
  for (int i = 0; i < 10; ++i) {
    state.t += 0.01;
    state.q *= 0.99;
    equations.linearise(state, 1, {1, 1, 1}, r, J);
    equations.energy(state);
    equations.count_turns(state);
  }
  EXPECT_EQ(allocations - before, 0);
}
#endif

}  // namespace
}  // namespace lissom::linear_loads_test

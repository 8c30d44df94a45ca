#include "lissom/time/initial_state.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "lissom/core/error.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/time/test_equations.hpp"

namespace lissom::initial_state_test {
namespace {

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(InitialState, ConsistentOnesStayAsTheyAre) {
  test::CartesianPendulum pendulum;
  const Eigen::Vector2d q(0.6, -0.8), v(0.8, 0.6);
  const InitialState initial = make_consistent(pendulum, 0, q, v);
  EXPECT_EQ(initial.iterations, 0);
  EXPECT_EQ(initial.moved, 0);
  EXPECT_LT((initial.state.q - q).norm(), 1e-15);
  EXPECT_LT((initial.state.v - v).norm(), 1e-15);
}

TEST(InitialState, PositionsGoToTheNearestPoint) {
  test::CartesianPendulum pendulum;
  for (const double radius : {0.3, 0.9, 1.001, 1.7}) {
    const Eigen::Vector2d direction(0.6, -0.8);
    const InitialState initial = make_consistent(pendulum, 0, radius * direction, Eigen::Vector2d::Zero());
    // the nearest point of a circle is straight outwards or inwards
    EXPECT_LT((initial.state.q - direction).norm(), 1e-12) << radius;
    EXPECT_NEAR(initial.moved, std::abs(radius - 1) * 0.8, 1e-12);
    EXPECT_NEAR(initial.constraint_before, std::abs(radius * radius - 1) / 2, 1e-14);
  }
}

TEST(InitialState, NearestIsMeasuredWithTheScalesOfTheCoordinates) {
  // a straight constraint, r - pitch angle = L: minimise s0^2 dx0^2 + s1^2 dx1^2 on it by hand
  class Scaled : public test::PolarPendulum {
   public:
    Scaled() : PolarPendulum(true) { scale_ << 0.5, 2; }
  };
  Scaled equations;
  const Eigen::Vector2d q(0.4, 1.5);
  const InitialState initial = make_consistent(equations, 0, q, Eigen::Vector2d::Zero());
  const double g = q[1] - 1 - equations.pitch * q[0];
  const double w0 = 1 / 0.25, w1 = 1 / 4.0, p = equations.pitch;
  const double mu = g / (p * p * w0 + w1);
  EXPECT_NEAR(initial.state.q[0], q[0] + w0 * p * mu, 1e-13);
  EXPECT_NEAR(initial.state.q[1], q[1] - w1 * mu, 1e-13);
}

TEST(InitialState, VelocitiesChangeWithLeastKineticEnergy) {
  // polar: mass m r^2 and m, v_r = pitch v_angle; momentum along the curve is kept
  test::PolarPendulum pendulum(true);
  const double angle = 0.5, r = pendulum.L + pendulum.pitch * angle, p = pendulum.pitch;
  const Eigen::Vector2d v0(1.3, -0.4);
  const InitialState initial = make_consistent(pendulum, 0, Eigen::Vector2d(angle, r), v0);
  const double along = (r * r * v0[0] + p * v0[1]) / (r * r + p * p);
  EXPECT_NEAR(initial.state.v[0], along, 1e-13);
  EXPECT_NEAR(initial.state.v[1], p * along, 1e-13);
  EXPECT_NEAR(initial.velocity_change, (initial.state.v - v0).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(InitialState, VelocitiesFollowPrescribedMotions) {
  test::DrivenSpring driven;
  const InitialState initial = make_consistent(driven, 0.4, Eigen::Vector2d(0, 0.1), Eigen::Vector2d(0, 0.2));
  const State exact = driven.exact(0.4);
  EXPECT_NEAR(initial.state.q[0], exact.q[0], 1e-14);
  EXPECT_NEAR(initial.state.v[0], exact.v[0], 1e-14);
  EXPECT_NEAR(initial.state.v[1], 0.2, 1e-14);
}

TEST(InitialState, AccelerationsAndReactionsAreThoseOfThePendulum) {
  test::CartesianPendulum pendulum;
  const double angle = 0.8, rate = 1.5;
  const State s = pendulum.at(angle, rate);
  // phi'' = -g/L sin(phi); the rod carries m (g cos(phi) + L phi'^2), lambda counts it with G = q / L
  const double acceleration = -pendulum.gravity * std::sin(angle);
  EXPECT_NEAR(s.a[0], acceleration * std::cos(angle) - rate * rate * std::sin(angle), 1e-12);
  EXPECT_NEAR(s.a[1], acceleration * std::sin(angle) + rate * rate * std::cos(angle), 1e-12);
  EXPECT_NEAR(s.lambda[0], pendulum.mass * (pendulum.gravity * std::cos(angle) + rate * rate), 1e-12);
}

// Two rods of length 1 from pivots that are a distance apart: they meet within 2 only.
class TwoRods : public test::SmallEquations {
 public:
  double distance = 1;
  TwoRods() : SmallEquations(2, 2, 1, 1) {}
  void residual(const State& s, double w, Eigen::Ref<Eigen::VectorXd> r) override { r = w * s.a; }
  void constraint(double, const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> g) override {
    g << q.squaredNorm() - 1, (q - Eigen::Vector2d(distance, 0)).squaredNorm() - 1;
  }
  void constraint_gradient(double, const Eigen::VectorXd& q, Eigen::Ref<Eigen::MatrixXd> G) override {
    G << 2 * q.transpose(), 2 * (q - Eigen::Vector2d(distance, 0)).transpose();
  }
  void constraint_rate(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                       Eigen::Ref<Eigen::VectorXd> rate) override {
    Eigen::MatrixXd G(2, 2);
    constraint_gradient(t, q, G);
    rate = G * v;
  }

 protected:
  void derivatives(const State&, double w) override { M_.diagonal().setConstant(w); }
};

TEST(InitialState, WhatCannotBeAssembledIsNamed) {
  TwoRods rods;
  const auto assemble = [&] { make_consistent(rods, 0, Eigen::Vector2d(0.4, 0.3), Eigen::Vector2d::Zero()); };
  EXPECT_EQ(error_of(assemble), "");
  rods.distance = 2.5;
  const std::string message = error_of(assemble);
  EXPECT_NE(message.find("cannot be assembled"), std::string::npos) << message;
  EXPECT_NE(message.find("joint 'rod'"), std::string::npos) << message;
}

TEST(InitialState, NumbersThatAreNotFiniteAreRefused) {
  test::CartesianPendulum pendulum;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(error_of([&] { make_consistent(pendulum, 0, Eigen::Vector2d(nan, 0), Eigen::Vector2d(0, 0)); }),
            "");
}

TEST(AccelerationSolver, ARedundantConstraintAndAMissingMassAreNamed) {
  class Doubled : public test::SmallEquations {
   public:
    bool massless = false;
    Doubled() : SmallEquations(2, 2, 1, 1) {}
    void residual(const State& s, double w, Eigen::Ref<Eigen::VectorXd> r) override { r = w * s.a; }
    void constraint_gradient(double, const Eigen::VectorXd&, Eigen::Ref<Eigen::MatrixXd> G) override {
      G << 1, 0, 1, massless ? 0 : 1e-17;
    }
    std::string row_name(int row) const override { return "row " + std::to_string(row); }

   protected:
    void derivatives(const State&, double w) override { M_.diagonal() << w, massless ? 0 : w; }
  };
  Doubled equations;
  State state;
  state.q = state.v = Eigen::Vector2d::Zero();
  const std::string redundant = error_of([&] { AccelerationSolver(equations).solve(state); });
  // of two rows that say the same either one
  EXPECT_TRUE(redundant.find("row 2 depends on the others") != std::string::npos ||
              redundant.find("row 3 depends on the others") != std::string::npos)
      << redundant;
  equations.massless = true;
  const std::string massless = error_of([&] { AccelerationSolver(equations).solve(state); });
  EXPECT_NE(massless.find("row 1"), std::string::npos) << massless;
}

TEST(Projection, PutsADriftedStateBack) {
  test::CartesianPendulum pendulum;
  State s = pendulum.at(0.7, 2);
  s.q *= 1 + 1e-5;
  s.v += 1e-4 * s.q;
  const double moved = project(pendulum, s, 1e-13);
  EXPECT_NEAR(moved, 1e-5 * s.q.cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT(std::abs(pendulum.length_error(s)), 2e-13);
  Eigen::VectorXd rate(1);
  pendulum.constraint_rate(0, s.q, s.v, rate);
  EXPECT_LT(std::abs(rate[0]), 1e-13);
}

#if LISSOM_COUNTS_MALLOC
TEST(Projection, NeitherItNorTheAccelerationsAllocate) {
  test::CartesianPendulum pendulum;
  State s = pendulum.at(0.7, 2);
  AccelerationSolver accelerations(pendulum);
  Projector projector(pendulum);
  const auto work = [&] {
    s.q *= 1 + 1e-6;
    projector.project(s, 1e-13);
    accelerations.solve(s);
  };
  work();
  const long before = test::allocations;
  for (int repeat = 0; repeat < 10; ++repeat) work();
  EXPECT_EQ(test::allocations - before, 0);
}
#endif

}  // namespace
}  // namespace lissom::initial_state_test

#include "lissom/time/newton_solver.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/time/test_equations.hpp"

namespace lissom::newton_solver_test {
namespace {

// A step of the trapezoidal rule from a state, as generalized-alpha with rho_inf = 1 has it.
struct Trapezoid {
  ImplicitStep step;
  State state;
  Trapezoid(const State& from, double h) : state(from) {
    step.t = from.t + h;
    step.cv = 2 / h;
    step.ca = 4 / (h * h);
    state.q += h * from.v + h * h / 2 * from.a;
    state.v += h * from.a;
  }
};

// Newton's method to the end, with a new matrix in every iteration; the residual shows that it is one.
void expect_solved(Equations& equations, const ImplicitStep& step, const State& guess, const State& found) {
  IntegrationSummary summary;
  NewtonOptions options;
  options.tolerance = 1e-15;
  options.reuse_rate = 0;
  NewtonSolver newton(equations, options, summary);
  State exact = guess;
  ASSERT_TRUE(newton.solve(step, exact)) << newton.failure();
  Eigen::VectorXd r(equations.coordinates()), g(equations.constraints());
  equations.residual(exact, step.w, r);
  if (step.f) r += *step.f;
  equations.constraint(exact.t, exact.q, g);
  // round-off of positions of 1 m
  EXPECT_LT(r.norm() / step.ca, 1e-14);
  EXPECT_LT(g.norm(), 1e-14);
  // tolerance times length, and a thousand times that for the multipliers relative to their size
  EXPECT_LT((found.q - exact.q).norm(), 1e-11);
  const double round_off = equations.typical_mass() * step.ca * 1e-14;
  EXPECT_LT((found.lambda - exact.lambda).norm(), 1e-8 * exact.lambda.norm() + round_off);
}

TEST(NewtonSolver, MeetsTheEquationsForAnyWeightAndConstantPart) {
  test::CartesianPendulum pendulum;
  const Eigen::VectorXd f = Eigen::Vector2d(3, -1);
  for (const double w : {1.0, 1.4})
    for (const Eigen::VectorXd* constant : {static_cast<const Eigen::VectorXd*>(nullptr), &f}) {
      IntegrationSummary summary;
      NewtonSolver newton(pendulum, {}, summary);
      Trapezoid next(pendulum.at(1, 2), 0.01);
      next.step.w = w;
      next.step.f = constant;
      const State before = next.state;
      ASSERT_TRUE(newton.solve(next.step, next.state));
      expect_solved(pendulum, next.step, before, next.state);
      EXPECT_EQ(next.state.t, next.step.t);
      const Eigen::VectorXd d = next.state.q - before.q;
      EXPECT_LT((next.state.v - before.v - next.step.cv * d).norm(), 1e-12 * next.step.cv);
      EXPECT_LT((next.state.a - before.a - next.step.ca * d).norm(), 1e-12 * next.step.ca);
      EXPECT_EQ(summary.newton_iterations, newton.iterations());
    }
}

TEST(NewtonSolver, AnExactMatrixConvergesInAFewIterations) {
  test::CartesianPendulum pendulum;
  IntegrationSummary summary;
  NewtonOptions options;
  options.reuse_rate = 0;
  NewtonSolver newton(pendulum, options, summary);
  Trapezoid next(pendulum.at(1, 2), 0.01);
  ASSERT_TRUE(newton.solve(next.step, next.state));
  // 1e-5 m at first, then 1e-10, then nothing
  EXPECT_LE(newton.iterations(), 3);
  EXPECT_EQ(summary.factorisations, newton.iterations());
}

TEST(NewtonSolver, KeepsItsMatrixOverManySteps) {
  test::CartesianPendulum pendulum;
  IntegrationSummary summary;
  NewtonSolver newton(pendulum, {}, summary);
  State now = pendulum.at(1, 0);
  for (int k = 0; k < 100; ++k) {
    Trapezoid next(now, 1e-3);
    const State guess = next.state;
    ASSERT_TRUE(newton.solve(next.step, next.state));
    expect_solved(pendulum, next.step, guess, next.state);
    now = next.state;
  }
  EXPECT_LT(summary.factorisations, 20);
  EXPECT_EQ(summary.factorisations, summary.jacobians);
  newton.forget();
  const long before = summary.factorisations;
  Trapezoid next(now, 1e-3);
  ASSERT_TRUE(newton.solve(next.step, next.state));
  EXPECT_EQ(summary.factorisations, before + 1);
}

TEST(NewtonSolver, RatesOfEarlierStepsSpareIterationsAndAreMeasuredAgain) {
  test::CartesianPendulum pendulum;
  IntegrationSummary summary, other;
  NewtonOptions full;
  full.tolerance = 1e-15;
  full.reuse_rate = 0;
  NewtonSolver newton(pendulum, {}, summary), exactly(pendulum, full, other);
  State now = pendulum.at(1, 0.5);
  int one = 0, more = 0;
  for (int k = 0; k < 16; ++k) {
    Trapezoid next(now, 1e-2);
    State exact = next.state;
    ASSERT_TRUE(exactly.solve(next.step, exact));
    // three tolerances off: one iteration is enough for whoever knows that it leaves next to nothing
    const Eigen::VectorXd d = (k == 0 ? 1e-6 : 3e-11) * Eigen::Vector2d(1, 0.5);
    State guess = exact;
    guess.q += d;
    guess.v += next.step.cv * d;
    guess.a += next.step.ca * d;
    State found = guess;
    ASSERT_TRUE(newton.solve(next.step, found));
    expect_solved(pendulum, next.step, guess, found);
    if (k > 0) ++(newton.iterations() == 1 ? one : more);
    now = exact;
  }
  EXPECT_EQ(summary.factorisations, 1);
  EXPECT_GE(one, 9);
  EXPECT_GE(more, 2);
}

TEST(NewtonSolver, AMatrixThatIsTooOldIsReplaced) {
  test::CartesianPendulum pendulum;
  IntegrationSummary summary;
  NewtonSolver newton(pendulum, {}, summary);
  Trapezoid first(pendulum.at(0, 0), 0.05);
  ASSERT_TRUE(newton.solve(first.step, first.state));
  // a quarter of a turn away the rod pulls in another direction altogether
  Trapezoid second(pendulum.at(1.6, 3), 0.05);
  const State guess = second.state;
  ASSERT_TRUE(newton.solve(second.step, second.state));
  expect_solved(pendulum, second.step, guess, second.state);
  EXPECT_GE(summary.factorisations, 2);
}

TEST(NewtonSolver, SaysWhichRowsAreFarthestFromBeingMet) {
  test::CartesianPendulum pendulum;
  IntegrationSummary summary;
  // from a million lengths away every iteration halves the distance, and three are not enough
  Trapezoid next(pendulum.at(1, 2), 1e-4);
  next.state.q *= 1e6;
  NewtonOptions few;
  few.max_iterations = 3;
  NewtonSolver impatient(pendulum, few, summary);
  EXPECT_FALSE(impatient.solve(next.step, next.state));
  EXPECT_NE(impatient.failure().find("body 'bob', coordinate"), std::string::npos) << impatient.failure();
  EXPECT_NE(impatient.failure().find("joint 'rod'"), std::string::npos) << impatient.failure();
}

TEST(NewtonSolver, NumbersThatAreNotFiniteAreAFailure) {
  test::CartesianPendulum pendulum;
  pendulum.push = [](double t) { return t > 0 ? std::numeric_limits<double>::quiet_NaN() : 0; };
  IntegrationSummary summary;
  NewtonSolver newton(pendulum, {}, summary);
  Trapezoid next(pendulum.at(1, 2), 0.01);
  EXPECT_FALSE(newton.solve(next.step, next.state));
  EXPECT_NE(newton.failure().find("not finite; body 'bob', coordinate 0"), std::string::npos)
      << newton.failure();
}

TEST(NewtonSolver, TheResultDoesNotDependOnTheStepsScale) {
  // conditioning: the same relative accuracy of the multiplier from 1e-2 to 1e-6 s
  test::CartesianPendulum pendulum;
  const State initial = pendulum.at(1, 2);
  for (const double h : {1e-2, 1e-4, 1e-6}) {
    IntegrationSummary summary;
    NewtonSolver newton(pendulum, {}, summary);
    Trapezoid next(initial, h);
    const State guess = next.state;
    ASSERT_TRUE(newton.solve(next.step, next.state)) << h << newton.failure();
    EXPECT_LE(newton.iterations(), 4) << h;
    expect_solved(pendulum, next.step, guess, next.state);
  }
}

}  // namespace
}  // namespace lissom::newton_solver_test

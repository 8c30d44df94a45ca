// Generalized-alpha and HHT-I3: orders, energy, drift, step control.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "lissom/time/newton_solver.hpp"
#include "lissom/time/stepper.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/time/run.hpp"
#include "tests/time/test_equations.hpp"

namespace lissom::generalized_alpha_test {
namespace {

struct Method {
  const char* name;
  IntegratorOptions options;
};

IntegratorOptions alpha_method(double rho_inf) {
  IntegratorOptions options;
  options.rho_inf = rho_inf;
  return options;
}

IntegratorOptions hht_method(double alpha) {
  IntegratorOptions options;
  options.integrator = Integrator::HhtI3;
  options.alpha = alpha;
  return options;
}

const std::vector<Method>& methods() {
  static const std::vector<Method> list = {
      {"rho_inf 1", alpha_method(1)},      {"rho_inf 0.8", alpha_method(0.8)},
      {"rho_inf 0.5", alpha_method(0.5)},  {"rho_inf 0", alpha_method(0)},
      {"hht alpha 0", hht_method(0)},      {"hht alpha -0.1", hht_method(-0.1)},
      {"hht alpha -0.3", hht_method(-0.3)}};
  return list;
}

// Orders of q, v, a and lambda from two steps h and h / 2, errors as the largest over the times k h.
void expect_second_order(Equations& equations, const State& initial, double h, int steps, const char* what) {
  std::vector<State> exact;
  State at = initial;
  for (int k = 1; k <= steps; ++k) {
    at = test::reference(equations, at, initial.t + k * h, 100);
    exact.push_back(at);
  }
  for (const Method& method : methods()) {
    Eigen::Array4d error[2];
    for (const int level : {0, 1}) {
      IntegratorOptions options = method.options;
      options.step = h / (level + 1);
      options.end = initial.t + steps * h;
      options.sample = h;
      // without damping, multipliers of index 3 collect the errors of Newton's method
      options.newton.tolerance = 1e-14;
      const test::Recording run = test::run(equations, initial, options);
      ASSERT_EQ(run.samples.size(), exact.size() + 1);
      error[level].setZero();
      for (int k = 0; k < steps; ++k) {
        const State &s = run.samples[k + 1], &e = exact[k];
        Eigen::Array4d now((s.q - e.q).norm(), (s.v - e.v).norm(), (s.a - e.a).norm(),
                           (s.lambda - e.lambda).norm());
        error[level] = error[level].max(now);
      }
    }
    const char* names[] = {"q", "v", "a", "lambda"};
    for (int i = 0; i < (equations.is_ode() ? 3 : 4); ++i) {
      const double order = std::log2(error[0][i] / error[1][i]);
      // order 1 would be seen; where the first terms of the error cancel in part it looks like 3
      EXPECT_GT(order, 1.8) << what << ", " << method.name << ", " << names[i];
    }
  }
}

TEST(AlphaMethods, AreOfSecondOrderOnAPendulumMultipliersIncludedFromTheFirstStepOn) {
  test::CartesianPendulum pendulum;
  expect_second_order(pendulum, pendulum.at(1.2, 0.5), 0.01, 96, "pendulum");
}

TEST(AlphaMethods, AreOfSecondOrderWithADrivenPivot) {
  test::CartesianPendulum pendulum;
  pendulum.amplitude = 0.2;
  pendulum.omega = 3;
  expect_second_order(pendulum, pendulum.at(0.7), 0.01, 96, "driven pendulum");
}

TEST(AlphaMethods, AreOfSecondOrderWhereTheMassDependsOnThePosition) {
  test::PolarPendulum spiral(true), spring(false);
  expect_second_order(spiral, spiral.at(1, 0.8), 0.01, 96, "spiral");
  expect_second_order(spring, spring.at(1, 0.8), 0.005, 192, "spring");
}

TEST(AlphaMethods, FollowADrivenConstraintWithItsReaction) {
  test::DrivenSpring driven;
  for (const Method& method : methods()) {
    double previous = 0;
    for (const double h : {0.01, 0.005}) {
      IntegratorOptions options = method.options;
      options.step = h;
      options.end = 2;
      const test::Recording run = test::run(driven, driven.start(), options);
      double error = 0;
      for (const State& s : run.steps) {
        const State e = driven.exact(s.t);
        // the driven mass is where it is told to be
        EXPECT_NEAR(s.q[0], e.q[0], 1e-14);
        error =
            std::max({error, (s.q - e.q).norm(), (s.v - e.v).norm(), std::abs(s.lambda[0] - e.lambda[0])});
      }
      if (previous > 0) {
        EXPECT_NEAR(std::log2(previous / error), 2, 0.2) << method.name;
      }
      previous = error;
    }
  }
}

TEST(AlphaMethods, AnOscillatorMeetsItsClosedForm) {
  test::Oscillator oscillator;
  for (const Method& method : methods()) {
    double previous = 0;
    for (const double h : {0.01, 0.005}) {
      IntegratorOptions options = method.options;
      options.step = h;
      options.end = 2;
      const test::Recording run = test::run(oscillator, oscillator.at(0.1, 0.4), options);
      const Eigen::Vector2d exact = oscillator.exact(2, 0.1, 0.4);
      const double error = std::hypot(run.last().q[0] - exact[0], run.last().v[0] - exact[1]);
      if (previous > 0) {
        EXPECT_NEAR(std::log2(previous / error), 2, 0.1) << method.name;
      }
      previous = error;
    }
  }
}

TEST(AlphaMethods, HhtIsThatOfThePaperWhereTheMassIsConstant) {
  // paper 004, Eq. 4 with Newmark's formulas, solved by hand for m x'' + c x' + k x = 0
  test::Oscillator o;
  const double alpha = -0.2, h = 0.02, gamma = 0.5 - alpha, beta = (1 - alpha) * (1 - alpha) / 4;
  IntegratorOptions options = hht_method(alpha);
  options.step = h;
  options.end = 0.4;
  const test::Recording run = test::run(o, o.at(0.1, 0.4), options);
  // from the second step on a(n) follows from the method: take it from two successive positions
  const auto force = [&](const State& s) { return o.damping * s.v[0] + o.stiffness * s.q[0]; };
  const auto a_of = [&](const State& s, const State& before) {
    return -((1 + alpha) * force(s) - alpha * force(before)) / o.mass;
  };
  for (size_t k = 2; k < run.steps.size(); ++k) {
    const State &s0 = run.steps[k - 2], &s1 = run.steps[k - 1], &s2 = run.steps[k];
    const double a1 = a_of(s1, s0), a2 = a_of(s2, s1);
    // Newton's tolerance of 1e-11 m, divided by h in the velocity
    EXPECT_NEAR(s2.q[0], s1.q[0] + h * s1.v[0] + h * h * ((0.5 - beta) * a1 + beta * a2), 1e-10);
    EXPECT_NEAR(s2.v[0], s1.v[0] + h * ((1 - gamma) * a1 + gamma * a2), 1e-9);
  }
}

TEST(AlphaMethods, TheEnergyOfAnUndampedRunStays) {
  test::CartesianPendulum pendulum;
  const State initial = pendulum.at(2, 0);
  IntegratorOptions options = alpha_method(1);
  options.step = 1e-4;
  options.end = 5;
  options.sample = 0.01;
  const test::Recording run = test::run(pendulum, initial, options);
  const double largest_kinetic = pendulum.mass * pendulum.gravity * pendulum.L * (1 - std::cos(2.0));
  double drift = 0, off = 0;
  for (const State& s : run.samples) {
    drift = std::max(drift, std::abs(pendulum.energy(s) - pendulum.energy(initial)) / largest_kinetic);
    off = std::max(off, std::abs(pendulum.length_error(s)));
  }
  EXPECT_LT(drift, 1e-6);
  EXPECT_LT(off, 1e-10);
}

TEST(AlphaMethods, TheLengthOfThePendulumDoesNotDrift) {
  for (const Method& method : methods()) {
    test::CartesianPendulum pendulum;
    IntegratorOptions options = method.options;
    options.step = 1e-3;
    options.end = 10;
    const test::Recording run = test::run(pendulum, pendulum.at(1), options);
    double off = 0;
    for (const State& s : run.steps) off = std::max(off, std::abs(pendulum.length_error(s)));
    EXPECT_LT(off, 1e-10) << method.name;
  }
}

TEST(AlphaMethods, ThePeriodIsThatOfTheEllipticIntegral) {
  test::CartesianPendulum pendulum;
  const double amplitude = 1.5;
  const double period =
      4 * std::sqrt(pendulum.L / pendulum.gravity) * std::comp_ellint_1(std::sin(amplitude / 2));
  for (const Method& method : {methods()[0], methods()[1], methods()[5]}) {
    IntegratorOptions options = method.options;
    options.step = 1e-3;
    options.end = 1.2 * period;
    const test::Recording run = test::run(pendulum, pendulum.at(amplitude), options);
    // released at a turning point: it passes the bottom to the right at three quarters of the period
    double found = 0;
    for (size_t k = 1; k < run.steps.size(); ++k) {
      const State &s = run.steps[k - 1], &e = run.steps[k];
      if (s.q[0] < 0 && e.q[0] >= 0) found = (s.t - s.q[0] * (e.t - s.t) / (e.q[0] - s.q[0])) / 0.75;
    }
    // second order: h^2 omega^3 T / 12 is about 5e-6 s
    EXPECT_NEAR(found, period, 2e-5) << method.name;
  }
}

TEST(AlphaMethods, AJumpOfTheLoadKeepsTheOrderWhereverItIs) {
  for (const Method& method : methods())
    for (const double jump : {0.5, 0.503}) {  // on the grid of both steps, and on neither
      test::Oscillator oscillator;
      oscillator.force = 10;
      oscillator.jump_at = jump;
      oscillator.breaks = {jump};
      double previous = 0;
      for (const double h : {0.01, 0.005}) {
        IntegratorOptions options = method.options;
        options.step = h;
        options.end = 2;
        const test::Recording run = test::run(oscillator, oscillator.at(0.1, 0.4), options);
        double error = 0;
        for (const State& s : run.steps) {
          const Eigen::Vector2d exact = oscillator.exact(s.t, 0.1, 0.4);
          error = std::max(error, std::hypot(s.q[0] - exact[0], s.v[0] - exact[1]));
        }
        if (previous > 0) {
          EXPECT_GT(std::log2(previous / error), 1.85) << method.name << ", jump at " << jump;
        }
        previous = error;
      }
    }
}

TEST(AlphaMethods, AJumpOfTheLoadOnAConstrainedSystemKeepsTheOrder) {
  const double jump = 0.353, end = 0.96;
  test::CartesianPendulum pendulum;
  pendulum.push = [=](double t) { return t > jump ? 15.0 : 0.0; };
  pendulum.breaks = {jump};
  const State initial = pendulum.at(1, 0.3);
  test::CartesianPendulum before = pendulum, after = pendulum;
  before.push = nullptr;
  after.push = [](double) { return 15.0; };
  const State exact = test::reference(after, test::reference(before, initial, jump, 4000), end, 4000);
  for (const Method& method : methods()) {
    Eigen::Array3d error[2];
    for (const int level : {0, 1}) {
      IntegratorOptions options = method.options;
      options.step = 0.01 / (level + 1);
      options.end = end;
      options.newton.tolerance = 1e-14;
      const State s = test::run(pendulum, initial, options).last();
      error[level] << (s.q - exact.q).norm(), (s.v - exact.v).norm(), (s.lambda - exact.lambda).norm();
    }
    // the step around the jump is another fraction of h in each run: not a clean power of h
    for (int i = 0; i < 3; ++i)
      EXPECT_GT(std::log2(error[0][i] / error[1][i]), 1.6) << method.name << " " << i;
  }
}

TEST(AlphaMethods, AStepIsNeverShorterThanTheSmallestOneAsked) {
  IntegratorOptions options = hht_method(-0.1);
  test::CartesianPendulum pendulum;
  const State initial = pendulum.at(3, 0);
  options.end = 4;
  options.adaptive = true;
  options.tolerance = 1e-7;
  const double free = test::run(pendulum, initial, options).summary.smallest_step;
  options.min_step = free / 2;
  EXPECT_GE(test::run(pendulum, initial, options).summary.smallest_step, free / 2 * (1 - 1e-9));
  // longer than what the tolerance allows while the pendulum is fast
  options.min_step = 5 * free;
  std::string message;
  try {
    test::run(pendulum, initial, options);
  } catch (const Error& e) {
    message = e.what();
  }
  EXPECT_NE(message.find("a larger tolerance or a smaller min_step would let it pass"), std::string::npos)
      << message;
}

TEST(AlphaMethods, AControlledStepMeetsItsToleranceAndIsCheaper) {
  for (IntegratorOptions options : {alpha_method(0.8), hht_method(-0.1), hht_method(-0.3)}) {
    test::CartesianPendulum pendulum;
    const State initial = pendulum.at(3, 0);  // nearly upside down: slow, then fast
    options.end = 4;
    options.adaptive = true;
    const State exact = test::reference(pendulum, initial, options.end, 40000);
    double previous = 0;
    for (const double tolerance : {1e-5, 1e-7}) {
      options.tolerance = tolerance;
      const test::Recording run = test::run(pendulum, initial, options);
      const double error = (run.last().q - exact.q).norm();
      EXPECT_GT(run.summary.largest_step, 3 * run.summary.smallest_step);
      EXPECT_LT(run.summary.rejected, run.summary.steps / 5);
      // the error of a step is h^3, that of the run h^2: tolerance^(2/3), a factor of 21
      if (previous > 0) {
        EXPECT_GT(previous / error, 10);
        EXPECT_LT(previous / error, 50);
      }
      previous = error;
    }
  }
}

#if LISSOM_COUNTS_MALLOC
TEST(AlphaMethods, StepsDoNotAllocate) {
  for (const Method& method : methods())
    for (const bool adaptive : {false, true}) {
      test::CartesianPendulum pendulum;
      pendulum.amplitude = 0.1;
      pendulum.omega = 4;
      IntegratorOptions options = method.options;
      options.step = 1e-3;
      options.end = 10;
      options.adaptive = adaptive;
      options.tolerance = 1e-6;
      IntegrationSummary summary;
      const auto stepper = options.integrator == Integrator::HhtI3
                               ? make_hht_i3(pendulum, options, summary)
                               : make_generalized_alpha(pendulum, options, summary);
      stepper->start(pendulum.at(1));
      State sample = stepper->state();
      for (int k = 0; k < 5; ++k) stepper->step(10);
      const long before = test::allocations;
      for (int k = 0; k < 200; ++k) {
        stepper->step(10);
        stepper->interpolate(0.5 * (stepper->state().t + stepper->previous().t), sample);
      }
      EXPECT_EQ(test::allocations - before, 0) << method.name << (adaptive ? ", adaptive" : "");
    }
}
#endif

}  // namespace
}  // namespace lissom::generalized_alpha_test

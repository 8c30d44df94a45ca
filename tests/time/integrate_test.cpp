// The loop around every integrator: samples, breaks, stops, failures.
#include "lissom/time/integrate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "lissom/core/error.hpp"
#include "lissom/core/time_function.hpp"
#include "lissom/time/stepper.hpp"
#include "tests/time/run.hpp"
#include "tests/time/test_equations.hpp"

namespace lissom::integrate_test {
namespace {

IntegratorOptions options_of(double step, double end, double sample) {
  IntegratorOptions options;
  options.step = step;
  options.end = end;
  options.sample = sample;
  return options;
}

TEST(Integrate, SamplesLieOnTheirGridWhateverTheStep) {
  for (const double step : {1e-3, 3.3e-3, 0.017})
    for (const bool adaptive : {false, true}) {
      test::CartesianPendulum pendulum;
      IntegratorOptions options = options_of(step, 0.525, 0.01);
      options.adaptive = adaptive;
      const test::Recording run = test::run(pendulum, pendulum.at(1), options);
      ASSERT_EQ(run.samples.size(), 54U);
      for (int k = 0; k <= 52; ++k) EXPECT_EQ(run.samples[k].t, k * 0.01);
      EXPECT_EQ(run.samples.back().t, 0.525);
      EXPECT_EQ(run.summary.end, 0.525);
    }
}

// m x'' + k x = f(t).
class TableDriven : public test::SmallEquations {
 public:
  double mass = 2, stiffness = 50;
  TimeFunction force;

  TableDriven() : SmallEquations(1, 0, 1, 2) {}
  bool constant_mass() const override { return true; }
  std::vector<double> break_times() const override { return force.break_times(); }
  std::vector<double> breaks_above(double tolerance) const override { return force.breaks_above(tolerance); }
  State at(double x, double v) {
    return make_consistent(*this, 0, Eigen::VectorXd::Constant(1, x), Eigen::VectorXd::Constant(1, v)).state;
  }
  void residual(const State& s, double w, Eigen::Ref<Eigen::VectorXd> r) override {
    r[0] = w * mass * s.a[0] + stiffness * s.q[0] - force(s.t);
  }

 protected:
  void derivatives(const State&, double w) override {
    K_(0, 0) = stiffness;
    M_(0, 0) = w * mass;
  }
};

TEST(Integrate, PassesOverKinksOfATableThatIsAsGoodAsSmooth) {
  // one period of 20 sin(2 pi t) in 10,000 points, and the motion that it alone makes, X sin(2 pi t)
  const double omega = 2 * std::numbers::pi;
  std::vector<double> times, values;
  for (int i = 0; i <= 10000; ++i) {
    times.push_back(i * 1e-4);
    values.push_back(20 * std::sin(omega * times.back()));
  }
  TableDriven driven;
  driven.force = TimeFunction::table(times, values);
  const double X = 20 / (driven.stiffness - driven.mass * omega * omega);
  const State start = driven.at(0, X * omega);
  IntegratorOptions o = options_of(0.01, 1, 0);
  const test::Recording fixed = test::run(driven, start, o);
  EXPECT_EQ(fixed.summary.steps, 100);
  // order two, of (omega h)^2 / 12 or so
  EXPECT_NEAR(fixed.last().q[0], 0, 2e-3 * std::abs(X));
  for (const Integrator integrator : {Integrator::Bdf, Integrator::RungeKutta, Integrator::Cvode}) {
    o = options_of(0, 1, 0);
    o.integrator = integrator;
    o.tolerance = 1e-6;
    const test::Recording r = test::run(driven, start, o);
    EXPECT_LT(r.summary.steps, 200) << name_of(integrator);
    for (const State& s : r.steps)
      EXPECT_NEAR(s.q[0], X * std::sin(omega * s.t), 2e-4) << name_of(integrator) << " " << s.t;
  }
  // where the tolerance is finer than the chords are near, every point counts
  o.integrator = Integrator::Bdf;
  o.tolerance = 1e-9;
  o.end = 0.3;
  EXPECT_GT(test::run(driven, start, o).summary.steps, 2500);
}

TEST(Integrate, StopsAtAKinkAmongManyPoints) {
  // a triangle of 10 N in 10,000 points: up along a line for 0.4 s, then down
  std::vector<double> times, values;
  for (int i = 0; i <= 10000; ++i) {
    times.push_back(i * 1e-4);
    values.push_back(i <= 4000 ? 25 * times.back() : 10 - 10 * (times.back() - 0.4) / 0.6);
  }
  TableDriven driven;
  driven.force = TimeFunction::table(times, values);
  IntegratorOptions o = options_of(0, 1, 0);
  o.integrator = Integrator::Bdf;
  o.tolerance = 1e-9;
  const test::Recording r = test::run(driven, driven.at(0, 0), o);
  // x = p t / k - p / (k w) sin(w t) for a ramp of slope p, and one of the change of slope from 0.4 s on
  const double w = std::sqrt(driven.stiffness / driven.mass);
  const auto ramp = [&](double slope, double t) {
    return t < 0 ? 0 : slope / driven.stiffness * (t - std::sin(w * t) / w);
  };
  bool stopped = false;
  for (const State& s : r.steps) {
    stopped = stopped || std::abs(s.t - 0.4) < 1e-12;
    EXPECT_NEAR(s.q[0], ramp(25, s.t) - ramp(25 + 10 / 0.6, s.t - 0.4),
                5e-9 * static_cast<double>(r.steps.size()))
        << s.t;
  }
  EXPECT_TRUE(stopped);
  EXPECT_LT(r.summary.steps, 400);
}

TEST(Integrate, GoesOnAfterAJumpOfATable) {
  TableDriven driven;
  driven.force = TimeFunction::table({0, 0.5, 0.5, 1}, {0, 0, 30, 30});
  for (const Integrator integrator : {Integrator::GeneralizedAlpha, Integrator::ExtrapolatedAlpha,
                                      Integrator::Bdf, Integrator::RungeKutta}) {
    IntegratorOptions o = options_of(1e-3, 1, 0);
    o.integrator = integrator;
    o.tolerance = 1e-9;
    const test::Recording r = test::run(driven, driven.at(0, 0), o);
    const double w = std::sqrt(driven.stiffness / driven.mass);
    for (const State& s : r.steps) {
      const double exact = s.t <= 0.5 ? 0 : 30 / driven.stiffness * (1 - std::cos(w * (s.t - 0.5)));
      // generalized-alpha: (w h)^2 / 12 of 1.2 m times w t
      EXPECT_NEAR(s.q[0], exact, integrator == Integrator::GeneralizedAlpha ? 2e-5 : 1e-6)
          << name_of(integrator) << " " << s.t;
    }
  }
}

TEST(Integrate, AnEndOnTheGridIsSampledOnce) {
  test::CartesianPendulum pendulum;
  // 0.1 * 3 is not 0.3 in the last digit
  const test::Recording run = test::run(pendulum, pendulum.at(1), options_of(1e-3, 0.3, 0.1));
  ASSERT_EQ(run.samples.size(), 4U);
  EXPECT_EQ(run.samples.back().t, 0.3);
  EXPECT_EQ(run.samples.back().q, run.last().q);
  EXPECT_TRUE(run.diagnostics.empty());
}

TEST(Integrate, StepsLieOnTheirGridToo) {
  test::CartesianPendulum pendulum;
  State initial = pendulum.at(1);
  initial.t = 0.7;
  const test::Recording run = test::run(pendulum, initial, options_of(1e-3, 2.7, 0));
  ASSERT_EQ(run.steps.size(), 2000U);
  for (int k = 1; k < 2000; ++k) EXPECT_EQ(run.steps[k - 1].t, 0.7 + k * 1e-3);
  EXPECT_EQ(run.last().t, 2.7);
  // every step is a sample, and the start
  ASSERT_EQ(run.samples.size(), 2001U);
  EXPECT_EQ(run.samples[0].t, 0.7);
  EXPECT_EQ(run.summary.steps, 2000);
  EXPECT_NEAR(run.summary.smallest_step, 1e-3, 1e-12);
  EXPECT_NEAR(run.summary.largest_step, 1e-3, 1e-12);
}

TEST(Integrate, SamplesBetweenStepsAreAsExactAsSteps) {
  test::CartesianPendulum pendulum;
  const State initial = pendulum.at(1.2, 0.5);
  double errors[2][4];
  for (const int level : {0, 1}) {
    const test::Recording run = test::run(pendulum, initial, options_of(0.02 / (level + 1), 0.96, 0.0137));
    const State& s = run.samples[run.samples.size() - 2];
    const State exact = test::reference(pendulum, initial, s.t, 20000);
    errors[level][0] = (s.q - exact.q).norm();
    errors[level][1] = (s.v - exact.v).norm();
    errors[level][2] = (s.a - exact.a).norm();
    errors[level][3] = (s.lambda - exact.lambda).norm();
  }
  // second order, about: the place of the sample in its step differs
  for (int i = 0; i < 4; ++i) EXPECT_GT(std::log2(errors[0][i] / errors[1][i]), 1.6) << i;
}

TEST(Integrate, TheSameRunTwiceIsTheSameToTheLastBit) {
  for (const bool adaptive : {false, true}) {
    test::PolarPendulum pendulum(true);
    const State initial = pendulum.at(1, 0.3);
    IntegratorOptions options = options_of(2e-3, 1, 0.013);
    options.adaptive = adaptive;
    const test::Recording first = test::run(pendulum, initial, options);
    const test::Recording second = test::run(pendulum, initial, options);
    ASSERT_EQ(first.samples.size(), second.samples.size());
    for (size_t k = 0; k < first.samples.size(); ++k) {
      EXPECT_EQ(first.samples[k].q, second.samples[k].q);
      EXPECT_EQ(first.samples[k].v, second.samples[k].v);
      EXPECT_EQ(first.samples[k].a, second.samples[k].a);
      EXPECT_EQ(first.samples[k].lambda, second.samples[k].lambda);
    }
  }
}

TEST(Integrate, AStopEndsTheRunWithTheSamplesSoFar) {
  test::CartesianPendulum pendulum;
  IntegrationSummary summary;
  Diagnostics diagnostics;
  IntegrationOutput output;
  int asked = 0, samples = 0;
  output.stop = [&] { return ++asked > 25; };
  output.sample = [&](const State&) { ++samples; };
  std::vector<double> told;
  integrate(pendulum, pendulum.at(1), options_of(1e-2, 1, 0.1), output, summary, diagnostics,
            [&](std::string_view, double fraction) { told.push_back(fraction); });
  EXPECT_TRUE(summary.stopped);
  EXPECT_EQ(summary.steps, 25);
  EXPECT_EQ(summary.end, 0.25);
  EXPECT_EQ(samples, 3);
  ASSERT_EQ(told.size(), 25U);
  EXPECT_NEAR(told.back(), 0.25, 1e-12);
}

TEST(Integrate, AStepThatCannotConvergeNamesTheRowAndKeepsTheSamples) {
  for (const bool adaptive : {false, true}) {
    test::CartesianPendulum pendulum;
    // not a number from 0.45 s on, off the grid of samples: steps are halved until they are round-off
    pendulum.push = [](double t) { return t < 0.45 ? 0 : std::sqrt(0.4499 - t); };
    IntegrationSummary summary;
    Diagnostics diagnostics;
    IntegrationOutput output;
    std::vector<double> samples;
    output.sample = [&](const State& s) { samples.push_back(s.t); };
    IntegratorOptions options = options_of(1e-2, 1, 0.1);
    options.adaptive = adaptive;
    std::string message;
    try {
      integrate(pendulum, pendulum.at(1), options, output, summary, diagnostics);
    } catch (const Error& error) {
      message = error.what();
    }
    EXPECT_NE(message.find("body 'bob', coordinate 0"), std::string::npos) << message;
    EXPECT_NE(message.find("joint 'rod'"), std::string::npos) << message;
    EXPECT_NE(message.find("Try a smaller step"), std::string::npos) << message;
    ASSERT_EQ(samples.size(), 5U);
    EXPECT_EQ(samples.back(), 0.4);
    EXPECT_GT(summary.end, 0.439);
    EXPECT_LT(summary.end, 0.45);
    EXPECT_GT(summary.steps, 0);
    EXPECT_GT(summary.rejected, 0);
    EXPECT_GT(summary.seconds, 0);
  }
}

TEST(Integrate, FixedStepsAreHalvedWhereTheyMustAndReturnToTheirGrid) {
  test::CartesianPendulum pendulum;
  // long steps, of which some do not converge in three iterations
  IntegratorOptions options = options_of(0.05, 2, 0);
  options.newton.max_iterations = 3;
  options.newton.tolerance = 1e-12;
  const State initial = pendulum.at(2.8, 1);
  const test::Recording run = test::run(pendulum, initial, options);
  EXPECT_GT(run.summary.rejected, 0);
  EXPECT_LT(run.summary.smallest_step, 0.03);
  EXPECT_NE(run.diagnostics.find("time.halved-steps"), nullptr);
  // every point of the grid is among the steps
  for (int k = 1; k <= 40; ++k) {
    const double t = k == 40 ? 2 : k * 0.05;
    const bool hit =
        std::any_of(run.steps.begin(), run.steps.end(), [&](const State& s) { return s.t == t; });
    EXPECT_TRUE(hit) << t;
  }
  // no less exact than the run with all the iterations it wants
  IntegratorOptions free = options_of(0.05, 2, 0);
  const State exact = test::reference(pendulum, initial, 2, 20000);
  EXPECT_LT((run.last().q - exact.q).norm(),
            2 * (test::run(pendulum, initial, free).last().q - exact.q).norm());
}

TEST(Integrate, ASampleAtAJumpHasTheNewAccelerations) {
  test::Oscillator oscillator;
  oscillator.force = 12;
  oscillator.jump_at = 0.25;
  oscillator.breaks = {0.25};
  const test::Recording run = test::run(oscillator, oscillator.at(0, 0), options_of(0.01, 0.5, 0.05));
  ASSERT_EQ(run.samples.size(), 11U);
  EXPECT_EQ(run.samples[4].a[0], 0);
  EXPECT_EQ(run.samples[5].t, 0.25);
  EXPECT_NEAR(run.samples[5].a[0], 12 / oscillator.mass, 1e-12);
  EXPECT_EQ(run.samples[5].q[0], 0);
}

TEST(Integrate, OptionsThatMakeNoSenseAreAllNamed) {
  test::CartesianPendulum pendulum;
  IntegratorOptions options = options_of(0, 1, -1);
  options.rho_inf = 2;
  options.newton.max_iterations = 0;
  EXPECT_EQ(options.problems(&pendulum).size(), 4U);
  EXPECT_THROW(test::run(pendulum, pendulum.at(1), options), InputError);
  EXPECT_THROW(test::run(pendulum, pendulum.at(1), options_of(0.1, -1, 0)), InputError);
  options = options_of(1e-3, 1, 0);
  EXPECT_TRUE(options.problems(&pendulum).empty());
  options.integrator = Integrator::CentralDifferences;
  ASSERT_EQ(options.problems(&pendulum).size(), 1U);
  EXPECT_NE(options.problems(&pendulum)[0].find("without constraints"), std::string::npos);
  EXPECT_TRUE(options.problems(nullptr).empty());
  for (const auto& [name, integrator] : integrator_names()) EXPECT_EQ(name_of(integrator), name);
}

TEST(InterpolateHermite, IsExactForPolynomialsOfFifthDegree) {
  const auto polynomial = [](double t) {
    State s;
    s.t = t;
    s.q = Eigen::VectorXd::Constant(1, 1 + t * (2 + t * (-3 + t * (0.5 + t * (2 - t)))));
    s.v = Eigen::VectorXd::Constant(1, 2 + t * (-6 + t * (1.5 + t * (8 - 5 * t))));
    s.a = Eigen::VectorXd::Constant(1, -6 + t * (3 + t * (24 - 20 * t)));
    s.lambda = Eigen::VectorXd::Constant(1, 4 - 3 * t);
    return s;
  };
  State out;
  for (const double t : {0.3, 0.45, 0.8, 1.1}) {
    interpolate_hermite(polynomial(0.3), polynomial(1.1), t, out);
    const State exact = polynomial(t);
    EXPECT_EQ(out.t, t);
    EXPECT_NEAR(out.q[0], exact.q[0], 1e-13);
    EXPECT_NEAR(out.v[0], exact.v[0], 1e-13);
    EXPECT_NEAR(out.a[0], exact.a[0], 1e-12);
    EXPECT_NEAR(out.lambda[0], exact.lambda[0], 1e-14);
  }
}

}  // namespace
}  // namespace lissom::integrate_test

#include <gtest/gtest.h>

#include <numbers>

#include "tests/time/angle_pendulum.hpp"

namespace lissom::extrapolated_alpha_test {
namespace {

using namespace test;

IntegratorOptions extrapolated(double rho, double step, double end) {
  IntegratorOptions o;
  o.integrator = Integrator::ExtrapolatedAlpha;
  o.rho_inf = rho;
  o.step = step;
  o.end = end;
  o.newton.tolerance = 1e-14;
  return o;
}

struct Errors {
  std::vector<double> q, v, a, lambda;
};

// At the end of runs whose steps are halved from one to the next.
template <class System>
Errors errors_of(System& equations, const State& start, const State& exact, double rho, double h, int runs) {
  Errors out;
  for (int k = 0; k < runs; ++k) {
    const State last = run(equations, start, extrapolated(rho, std::ldexp(h, -k), exact.t)).last();
    out.q.push_back((last.q - exact.q).norm());
    out.v.push_back((last.v - exact.v).norm());
    out.a.push_back((last.a - exact.a).norm());
    if (exact.lambda.size() > 0) out.lambda.push_back((last.lambda - exact.lambda).norm());
  }
  return out;
}

TEST(ExtrapolatedAlpha, HasFourthOrderWithoutDamping) {
  AnglePendulum pendulum;
  const State start = pendulum.at(2), exact = reference(pendulum, start, 1, 20000);
  const Errors e = errors_of(pendulum, start, exact, 1, 0.02, 4);
  EXPECT_NEAR(last_order(e.q), 4, 0.1);
  EXPECT_NEAR(last_order(e.v), 4, 0.1);
  EXPECT_NEAR(last_order(e.a), 4, 0.1);
}

TEST(ExtrapolatedAlpha, HasFourthOrderWithConstraintsAndThirdInTheirReactions) {
  // of the pendulum and of a mass matrix that depends on positions; before round-off of Newton's method shows
  CartesianPendulum pendulum;
  const State start = pendulum.at(2);
  const Errors e = errors_of(pendulum, start, reference(pendulum, start, 1, 20000), 1, 0.005, 2);
  EXPECT_NEAR(last_order(e.q), 4, 0.2);
  EXPECT_GT(last_order(e.v), 2.7);
  EXPECT_GT(last_order(e.lambda), 2.7);
  PolarPendulum polar(true);
  const State from = polar.at(1.2, 0.5);
  const Errors p = errors_of(polar, from, reference(polar, from, 1, 20000), 1, 0.02, 3);
  EXPECT_NEAR(last_order(p.q), 4, 0.1);
  EXPECT_NEAR(last_order(p.v), 4, 0.1);
  // the third run's reactions are as exact as Newton's round-off lets them be: 16 eps / (beta h^2), 2e-9
  EXPECT_NEAR(last_order({p.lambda[0], p.lambda[1]}), 4, 0.3);
  EXPECT_LT(p.lambda[2], p.lambda[1] / 8);
}

TEST(ExtrapolatedAlpha, KeepsThirdOrderWithDampingAndIsFarNearerThanItsHalfSteps) {
  for (const double rho : {0.8, 0.5, 0.0}) {
    AnglePendulum pendulum;
    const State start = pendulum.at(2), exact = reference(pendulum, start, 1, 20000);
    const Errors e = errors_of(pendulum, start, exact, rho, 0.01, 3);
    EXPECT_GT(last_order(e.q), 2.9) << rho;
    EXPECT_GT(last_order(e.v), 2.9) << rho;
    IntegratorOptions o = extrapolated(rho, 0.005, 1);
    o.integrator = Integrator::GeneralizedAlpha;
    const double alone = (run(pendulum, start, o).last().q - exact.q).norm();
    // 1e-8 to 6e-6 against 5e-5 to 3e-4
    EXPECT_LT(e.q[0], alone / (rho > 0 ? 100 : 30)) << rho;
  }
}

TEST(ExtrapolatedAlpha, StiffModesDoNotGrowHoweverLongTheSteps) {
  // 4,200 rad/s in steps of 10 ms; extrapolating into the next step would multiply it by 1.1 every time
  StiffPair pair;
  for (const double rho : {0.5, 0.8, 0.9}) {
    const Recording r = run(pair, pair.at(0.5, 1e-4), extrapolated(rho, 0.01, 10));
    EXPECT_LT(std::abs(r.last().q[0] - r.last().q[1]), 2e-4) << rho;
    // the slow one
    EXPECT_NEAR(r.last().q[0], pair.exact(10, 0.5, 0).q[0], 2e-4) << rho;
  }
}

TEST(ExtrapolatedAlpha, FollowsAPrescribedMotion) {
  DrivenSpring driven;
  IntegratorOptions o = extrapolated(0.8, 0.01, 3);
  o.sample = 0.03;
  for (const State& s : run(driven, driven.start(), o).samples) {
    const State exact = driven.exact(s.t);
    // (w h)^4 / 100 of 0.8 m at 6.3 rad/s is 1e-7
    EXPECT_LT((s.q - exact.q).norm(), 1e-7) << s.t;
    EXPECT_LT((s.v - exact.v).norm(), 6.3e-7) << s.t;
    EXPECT_NEAR(s.lambda[0], exact.lambda[0], 1e-5) << s.t;
  }
}

TEST(ExtrapolatedAlpha, IsInterpolatedWithItsOrder) {
  // between steps as good as at their ends
  AnglePendulum pendulum;
  const State start = pendulum.at(2);
  std::vector<double> q, v, a;
  for (const double h : {0.02, 0.01, 0.005}) {
    IntegratorOptions o = extrapolated(1, h, 0.5);
    o.sample = 0.0037;
    const Recording r = run(pendulum, start, o);
    double worst_q = 0, worst_v = 0, worst_a = 0;
    for (size_t k = 1; k + 1 < r.samples.size(); k += 12) {
      const State exact = reference(pendulum, start, r.samples[k].t, 4000);
      worst_q = std::max(worst_q, (r.samples[k].q - exact.q).norm());
      worst_v = std::max(worst_v, (r.samples[k].v - exact.v).norm());
      worst_a = std::max(worst_a, (r.samples[k].a - exact.a).norm());
    }
    q.push_back(worst_q);
    v.push_back(worst_v);
    a.push_back(worst_a);
  }
  EXPECT_GT(last_order(q), 3.7);
  EXPECT_GT(last_order(v), 3.7);
  EXPECT_GT(last_order(a), 2.5);
}

TEST(ExtrapolatedAlpha, KnowsTheErrorOfItsHalfStepsFromTheDifferenceOfItsRuns) {
  AnglePendulum pendulum;
  const State start = pendulum.at(2);
  for (const double rho : {0.5, 0.8, 1.0}) {
    IntegratorOptions o = extrapolated(rho, 0.01, 1);
    const double estimate = run(pendulum, start, o).summary.half_step_error;
    o.integrator = Integrator::GeneralizedAlpha;
    o.step = 0.005;
    double error = 0;
    for (const State& s : run(pendulum, start, o).steps)
      error = std::max(error, (s.q - reference(pendulum, start, s.t, 2000).q).norm());
    // the next order of the step is some hundredths of it
    EXPECT_NEAR(estimate / error, 1, 0.05) << rho;
  }
}

TEST(ExtrapolatedAlpha, EndsStepsAtKinksThatItKnows) {
  Oscillator oscillator;
  oscillator.force = 30;
  oscillator.jump_at = 0.7037;
  oscillator.breaks = {0.7037};
  const Recording r = run(oscillator, oscillator.at(0.1, 0), extrapolated(0.8, 0.01, 2));
  for (const State& s : r.steps) EXPECT_NEAR(s.q[0], oscillator.exact(s.t, 0.1, 0)[0], 1e-6) << s.t;
}

TEST(ExtrapolatedAlpha, BeginsAgainWhereItsRunsHaveComeApart) {
  // a hundred periods: the two are up to 6 rad apart by then, which no combination would mend
  Oscillator oscillator;
  oscillator.damping = 0;
  const double period = 2 * std::numbers::pi / std::sqrt(oscillator.stiffness / oscillator.mass);
  const double end = 100 * period;
  const Recording r = run(oscillator, oscillator.at(0.3, 0), extrapolated(1, period / 30, end));
  EXPECT_NEAR(r.last().q[0], oscillator.exact(end, 0.3, 0)[0], 0.03);
}

TEST(ExtrapolatedAlpha, SaysWhereItCannotGoOn) {
  CartesianPendulum pendulum;
  pendulum.push = [](double t) { return t > 0.25 ? std::nan("") : 0.0; };
  try {
    run(pendulum, pendulum.at(1), extrapolated(0.8, 0.01, 1));
    FAIL();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("extrapolated-alpha at 0.25 s"), std::string::npos) << message;
    EXPECT_NE(message.find("body 'bob'"), std::string::npos) << message;
  }
  IntegratorOptions o = extrapolated(0.8, 0.01, 1);
  o.adaptive = true;
  EXPECT_THROW(run(pendulum, pendulum.at(1), o), InputError);
}

}  // namespace
}  // namespace lissom::extrapolated_alpha_test

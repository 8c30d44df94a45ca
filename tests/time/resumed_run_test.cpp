// Every integrator goes on from what it saved as if nothing had been.
#include <gtest/gtest.h>

#include <cstring>

#include "lissom/mbs/archive_state.hpp"
#include "tests/time/angle_pendulum.hpp"
#include "tests/time/run.hpp"
#include "tests/time/test_equations.hpp"

namespace lissom::resumed_run_test {
namespace {

using namespace test;

// A run and what it saved before each of its steps, with the steps and samples so far.
struct SavedRun {
  Recording trajectory;
  std::vector<std::string> saved;
  std::vector<size_t> steps, samples;
};

SavedRun save_everywhere(Equations& equations, const State& initial, const IntegratorOptions& options) {
  SavedRun result;
  IntegrationOutput output;
  output.step = [&](const State& s) { result.trajectory.steps.push_back(s); };
  output.sample = [&](const State& s) { result.trajectory.samples.push_back(s); };
  output.between = [&](const IntegrationOutput::Save& save, bool) {
    Archive archive;
    save(archive);
    result.saved.push_back(archive.bytes());
    result.steps.push_back(result.trajectory.steps.size());
    result.samples.push_back(result.trajectory.samples.size());
  };
  integrate(equations, initial, options, output, result.trajectory.summary, result.trajectory.diagnostics);
  return result;
}

Recording go_on(Equations& equations, const State& initial, const IntegratorOptions& options,
                const std::string& saved) {
  Recording result;
  IntegrationOutput output;
  output.step = [&](const State& s) { result.steps.push_back(s); };
  output.sample = [&](const State& s) { result.samples.push_back(s); };
  Archive archive(saved);
  integrate(equations, initial, options, output, result.summary, result.diagnostics, {}, &archive);
  archive.finish();
  return result;
}

bool same_state(const State& a, const State& b) {
  const auto same = [](const Eigen::VectorXd& x, const Eigen::VectorXd& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), sizeof(double) * x.size()) == 0;
  };
  return a.t == b.t && same(a.q, b.q) && same(a.v, b.v) && same(a.a, b.a) && same(a.lambda, b.lambda);
}

bool ends_like(const std::vector<State>& whole, const std::vector<State>& rest, size_t before) {
  if (whole.size() != before + rest.size()) return false;
  for (size_t i = 0; i < rest.size(); ++i)
    if (!same_state(whole[before + i], rest[i])) return false;
  return true;
}

// `make` gives new equations for every run, so that nothing is remembered there.
template <class Make>
void expect_resumable(Make make, const IntegratorOptions& options, const std::string& what) {
  auto equations = make();
  const State initial = equations.at(2);
  const Recording alone = run(equations, initial, options);
  auto others = make();
  const SavedRun whole = save_everywhere(others, initial, options);
  // saving changes nothing
  ASSERT_TRUE(ends_like(alone.steps, whole.trajectory.steps, 0)) << what;
  ASSERT_TRUE(ends_like(alone.samples, whole.trajectory.samples, 0)) << what;
  ASSERT_GT(whole.saved.size(), 30u) << what;
  for (size_t k = 0; k < whole.saved.size(); k += 7) {
    auto fresh = make();
    const Recording rest = go_on(fresh, initial, options, whole.saved[k]);
    EXPECT_TRUE(ends_like(alone.steps, rest.steps, whole.steps[k])) << what << " at step " << k;
    EXPECT_TRUE(ends_like(alone.samples, rest.samples, whole.samples[k])) << what << " at step " << k;
    EXPECT_EQ(rest.summary.steps, alone.summary.steps) << what;
    EXPECT_EQ(rest.summary.rejected, alone.summary.rejected) << what;
    EXPECT_EQ(rest.summary.newton_iterations, alone.summary.newton_iterations) << what;
    EXPECT_EQ(rest.summary.residuals, alone.summary.residuals) << what;
    EXPECT_EQ(rest.summary.factorisations, alone.summary.factorisations) << what;
    EXPECT_EQ(rest.summary.smallest_step, alone.summary.smallest_step) << what;
    EXPECT_EQ(rest.summary.end, alone.summary.end) << what;
  }
}

// Pushed from 0.4 s to 0.9 s: two jumps.
CartesianPendulum pushed_pendulum() {
  CartesianPendulum pendulum;
  pendulum.push = [](double t) { return t > 0.4 && t < 0.9 ? 15.0 : 0.0; };
  pendulum.breaks = {0.4, 0.9};
  return pendulum;
}

IntegratorOptions some_options(Integrator integrator) {
  IntegratorOptions o;
  o.integrator = integrator;
  o.end = 1.3;
  o.sample = 0.007;
  o.tolerance = 1e-6;
  return o;
}

TEST(ResumedRun, OfGeneralizedAlphaIsTheSameToTheLastBit) {
  for (const double rho : {0.0, 0.8, 1.0})
    for (const bool adaptive : {false, true}) {
      IntegratorOptions o = some_options(Integrator::GeneralizedAlpha);
      o.step = 0.01;
      o.rho_inf = rho;
      o.adaptive = adaptive;
      expect_resumable(pushed_pendulum, o, fmt::format("rho {} adaptive {}", rho, adaptive));
    }
}

TEST(ResumedRun, OfExtrapolatedAlphaIsTheSameToTheLastBit) {
  for (const double rho : {0.8, 1.0}) {
    IntegratorOptions o = some_options(Integrator::ExtrapolatedAlpha);
    o.step = 0.01;
    o.rho_inf = rho;
    expect_resumable(pushed_pendulum, o, fmt::format("rho {}", rho));
    // beginning again now and then
    o.tolerance = 1e-9;
    expect_resumable(pushed_pendulum, o, fmt::format("rho {}, put together", rho));
  }
  expect_resumable([] { return AnglePendulum(); }, some_options(Integrator::Auto), "auto");
}

TEST(ResumedRun, OfARunThatWatchesDeformationsIsTheSameToTheLastBit) {
  for (const Integrator integrator : {Integrator::GeneralizedAlpha, Integrator::ExtrapolatedAlpha,
                                      Integrator::Bdf, Integrator::RungeKutta}) {
    IntegratorOptions o = some_options(integrator);
    o.adaptive = integrator != Integrator::ExtrapolatedAlpha;
    o.step = 1e-3;
    o.max_order = 2;
    o.end = 0.2;
    o.sample = 1e-3;
    expect_resumable(
        [] {
          ElasticRider rider;
          rider.stiffness = 1e5;
          rider.ring = 1e-5;
          return rider;
        },
        o, std::string(name_of(integrator)));
  }
}

TEST(ResumedRun, OfHhtIsTheSameToTheLastBit) {
  IntegratorOptions o = some_options(Integrator::HhtI3);
  o.step = 0.01;
  expect_resumable(pushed_pendulum, o, "hht");
  o.adaptive = true;
  o.sample = 0;
  expect_resumable(pushed_pendulum, o, "hht adaptive, every step");
}

TEST(ResumedRun, OfBdfIsTheSameToTheLastBit) {
  for (const int index : {2, 3}) {
    IntegratorOptions o = some_options(Integrator::Bdf);
    o.index = index;
    expect_resumable(pushed_pendulum, o, fmt::format("bdf index {}", index));
  }
  expect_resumable([] { return AnglePendulum(); }, some_options(Integrator::Bdf), "bdf, ode");
}

TEST(ResumedRun, OfRungeKuttaIsTheSameToTheLastBit) {
  IntegratorOptions o = some_options(Integrator::RungeKutta);
  o.tolerance = 1e-9;
  expect_resumable(pushed_pendulum, o, "runge-kutta");
  expect_resumable([] { return AnglePendulum(); }, o, "runge-kutta, ode");
}

TEST(ResumedRun, OfCentralDifferencesIsTheSameToTheLastBit) {
  IntegratorOptions o = some_options(Integrator::CentralDifferences);
  // beyond the first check of stability, which keeps a vector for the next
  o.step = 1e-3;
  expect_resumable([] { return AnglePendulum(); }, o, "central differences");
}

TEST(ResumedRun, OfCvodeIsTheSameToTheLastBit) {
  IntegratorOptions o = some_options(Integrator::Cvode);
  expect_resumable(pushed_pendulum, o, "cvode");
  expect_resumable([] { return AnglePendulum(); }, o, "cvode, ode");
}

TEST(ResumedRun, HasItsCheckpointWhereItWasStopped) {
  CartesianPendulum pendulum = pushed_pendulum();
  const State initial = pendulum.at(2);
  IntegratorOptions o = some_options(Integrator::GeneralizedAlpha);
  o.step = 0.01;
  const Recording alone = run(pendulum, initial, o);
  Recording first;
  std::string saved;
  IntegrationOutput output;
  output.step = [&](const State& s) { first.steps.push_back(s); };
  output.sample = [&](const State& s) { first.samples.push_back(s); };
  output.stop = [&] { return first.steps.size() == 50; };
  output.between = [&](const IntegrationOutput::Save& save, bool stopped) {
    if (!stopped) return;
    Archive archive;
    save(archive);
    saved = archive.bytes();
  };
  integrate(pendulum, initial, o, output, first.summary, first.diagnostics);
  EXPECT_TRUE(first.summary.stopped);
  const Recording rest = go_on(pendulum, initial, o, saved);
  EXPECT_FALSE(rest.summary.stopped);
  EXPECT_TRUE(ends_like(alone.steps, rest.steps, 50));
  EXPECT_TRUE(ends_like(alone.samples, rest.samples, first.samples.size()));
}

}  // namespace
}  // namespace lissom::resumed_run_test

// Runs of systems: what they keep, who looks on, and how they end.
#include "lissom/time/run.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "lissom/core/archive.hpp"
#include "tests/mbs/system_support.hpp"

namespace lissom::run_test {
namespace {

using namespace test;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

// A bar of 1 m and 1 kg that hangs from a hinge and is pulled aside by an input.
struct Pendulum {
  System system;
  RunOptions options;
  Pendulum() {
    system.set_gravity({0, -9.81, 0});
    const int bar = add_bar(system, "bar", 1, {0, 0, 0}, {0, -1, 0});
    join_at(system, "hinge", JointKind::Revolute, -1, bar, {0, 0, 0});
    Load push;
    push.name = "push";
    push.kind = LoadKind::Force;
    push.first = point_in_space(system, bar, {0, -1, 0});
    push.components = {1.0, 0.0, 0.0};
    push.input = "u";
    system.add_load(push);
    system.set_input("u", TimeFunction::expression("2*sin(3*t)"));
    Sensor tip;
    tip.name = "tip";
    tip.marker = push.first;
    Sensor value;
    value.name = "push";
    value.kind = SensorKind::LoadValue;
    value.index = 0;
    options.sensors = {tip, value};
    options.integrator.end = 0.5;
    options.integrator.step = 1e-3;
    options.integrator.sample = 0.01;
  }
};

TEST(Run, GivesStatesOutputsAndBalanceOfEverySample) {
  Pendulum pendulum;
  pendulum.options.balance = true;
  Diagnostics diagnostics;
  const Trajectory run = lissom::run(pendulum.system, pendulum.options, diagnostics);
  EXPECT_TRUE(diagnostics.warnings().empty());
  ASSERT_EQ(run.samples, 51);
  ASSERT_EQ(run.t.size(), 51);
  ASSERT_EQ(run.outputs.size(), 4u);
  EXPECT_EQ(run.outputs[0].name, "tip.x");
  ASSERT_EQ(run.y.rows(), 51);
  EXPECT_EQ(run.q.cols(), 51);
  EXPECT_EQ(run.integration.steps, 500);
  // outputs are those of the states: the tip is at the end of a rigid bar, the load at |2 sin 3t|
  for (Index k = 0; k < run.samples; ++k) {
    EXPECT_NEAR(std::hypot(run.y(k, 0), run.y(k, 1)), 1, 1e-10);
    EXPECT_NEAR(run.y(k, 3), std::abs(2 * std::sin(3 * run.t[k])), 1e-12);
    // what went in is what there is: second order, (omega h)^2 of 5 J
    EXPECT_NEAR(run.balance[static_cast<size_t>(k)].energy_drift, 0, 1e-4);
  }
  EXPECT_LT(run.drift.energy_drift, 1e-4);
  EXPECT_GT(run.drift.work_in, 0.01);
  EXPECT_LT(run.drift.constraint_drift, 1e-12);
  EXPECT_TRUE(run.beyond_elasticity.empty());
}

TEST(Run, KeepsNoMoreThanIsAskedFor) {
  Pendulum pendulum;
  Diagnostics diagnostics;
  const Trajectory all = run(pendulum.system, pendulum.options, diagnostics);
  pendulum.options.keep = RunOptions::Keep::Outputs;
  const Trajectory outputs = run(pendulum.system, pendulum.options, diagnostics);
  EXPECT_EQ(outputs.y, all.y);
  EXPECT_EQ(outputs.t, all.t);
  EXPECT_EQ(outputs.q.size(), 0);
  pendulum.options.keep = RunOptions::Keep::Nothing;
  const Trajectory nothing = run(pendulum.system, pendulum.options, diagnostics);
  EXPECT_EQ(nothing.samples, 51);
  EXPECT_EQ(nothing.t.size(), 0);
  EXPECT_EQ(nothing.y.size(), 0);
  EXPECT_EQ(nothing.drift.energy_drift, all.drift.energy_drift);
}

// Keeps samples, and the run as it was before its k-th step.
struct Recorder final : RunObserver {
  long save_at = -1, steps = 0;
  double sum = 0;  // what an observer of its own remembers
  std::vector<double> t, y, at_save;
  std::string saved;
  void sample(const RunSample& now) override {
    t.push_back(now.state.t);
    y.push_back(now.y[0]);
    sum += now.y[0];
    EXPECT_NEAR(now.balance().energy_drift, 0, 1e-4);
  }
  void between(const IntegrationOutput::Save& save, const IntegrationSummary& summary, bool) override {
    EXPECT_EQ(summary.steps, steps);
    if (steps++ != save_at) return;
    at_save = t;
    Archive archive;
    save(archive);
    saved = archive.bytes();
  }
  void archive(Archive& archive) override { archive(sum); }
};

TEST(Run, ObserversSeeEverySampleAndARunGoesOnFromWhatOneSaved) {
  Pendulum pendulum;
  Diagnostics diagnostics;
  Recorder whole;
  whole.save_at = 237;
  RunObserver* observers[] = {&whole};
  const Trajectory all = run(pendulum.system, pendulum.options, diagnostics, observers);
  ASSERT_EQ(static_cast<Index>(whole.t.size()), all.samples);
  for (Index k = 0; k < all.samples; ++k) {
    EXPECT_EQ(whole.t[static_cast<size_t>(k)], all.t[k]);
    EXPECT_EQ(whole.y[static_cast<size_t>(k)], all.y(k, 0));
  }
  const Start start = make_start(pendulum.system, StartOptions{}, diagnostics);
  SystemRun rest(start, pendulum.options);
  for (size_t k = 0; k < whole.at_save.size(); ++k) {
    const auto row = static_cast<Index>(k);
    State state{all.t[row], all.q.col(row), all.v.col(row), all.a.col(row), {}};
    rest.add(state, all.y.row(row), {});
  }
  Recorder second;
  second.steps = 237;
  RunObserver* again[] = {&second};
  Archive archive(whole.saved);
  rest.go(again, diagnostics, {}, &archive);
  archive.finish();
  const Trajectory joined = rest.take();
  // bit for bit, the samples before it and what watchers and observers remember included
  EXPECT_EQ(joined.q, all.q);
  EXPECT_EQ(joined.y, all.y);
  EXPECT_EQ(joined.t, all.t);
  EXPECT_EQ(joined.drift.energy_drift, all.drift.energy_drift);
  EXPECT_EQ(joined.drift.work_in, all.drift.work_in);
  EXPECT_EQ(second.sum, whole.sum);
}

TEST(Run, WhatWasComputedBeforeAFailureIsKept) {
  Pendulum pendulum;
  pendulum.options.controller.period = 0.05;
  pendulum.options.controller.act = [](double t, const VectorXd& y, VectorXd& u) {
    EXPECT_EQ(y.size(), 4);
    // what the system says of its input is there to be changed
    EXPECT_EQ(u[0], 2 * std::sin(3 * t));
    if (t > 0.22) u[0] = std::nan("");
  };
  Diagnostics diagnostics;
  const Start start = make_start(pendulum.system, StartOptions{}, diagnostics);
  SystemRun run(start, pendulum.options);
  try {
    run.go({}, diagnostics);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "the controller gave nan for the input 'u' at t = 0.25 s, expected a finite number");
  }
  const Trajectory kept = run.take();
  // the sample of that instant would have had the new input
  ASSERT_EQ(kept.samples, 25);
  EXPECT_NEAR(kept.t[24], 0.24, 1e-12);
  EXPECT_TRUE(kept.q.allFinite());
}

TEST(Run, WhatCannotGoIsRefusedWithAllItsProblems) {
  Pendulum pendulum;
  pendulum.options.integrator.end = -1;
  pendulum.options.integrator.rho_inf = 7;
  Diagnostics diagnostics;
  try {
    run(pendulum.system, pendulum.options, diagnostics);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("rho_inf"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("end is -1 s, expected a time after 0"), std::string::npos);
  }
  // a joint that does not meet
  System open;
  const int bar = add_bar(open, "bar", 1, {0, 0, 0}, {1, 0, 0});
  join(open, "hinge", JointKind::Revolute, open.add_ground_marker({0.1, 0, 0}),
       point_in_space(open, bar, {0, 0, 0}));
  try {
    run(open, RunOptions{}, diagnostics);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("'hinge' (0.1 m apart)"), std::string::npos);
  }
}

TEST(Run, IsStoppedWhenItIsAskedTo) {
  Pendulum pendulum;
  int asked = 0;
  pendulum.options.stop = [&] { return ++asked > 100; };
  Diagnostics diagnostics;
  EXPECT_THROW(run(pendulum.system, pendulum.options, diagnostics), Error);
}

}  // namespace
}  // namespace lissom::run_test

// Steps of a mechanism that is reduced as a whole: the same as by the general way, with less to do.
#include <gtest/gtest.h>

#include <cstring>

#include "lissom/mbs/archive_state.hpp"
#include "lissom/time/balance.hpp"
#include "lissom/time/initial_state.hpp"
#include "lissom/time/stepper.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/mbs/linear_body.hpp"
#include "tests/time/run.hpp"

namespace lissom::compact_steps_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using namespace test;

// The same equations, which do not say that they are compact.
class General final : public Equations {
 public:
  explicit General(SystemEquations& equations) : e_(equations) {}
  int coordinates() const override { return e_.coordinates(); }
  int constraints() const override { return e_.constraints(); }
  bool constant_mass() const override { return e_.constant_mass(); }
  bool symmetric() const override { return e_.symmetric(); }
  void residual(const State& s, double w, Eigen::Ref<VectorXd> r) override { e_.residual(s, w, r); }
  void constraint(double t, const VectorXd& q, Eigen::Ref<VectorXd> g) override { e_.constraint(t, q, g); }
  std::vector<MatrixBlock> blocks() const override { return e_.blocks(); }
  void jacobian(const State& s, double w, const JacobianWeights& weights, NewtonMatrix& matrix) override {
    e_.jacobian(s, w, weights, matrix);
  }
  void constraint_gradient(double t, const VectorXd& q, Eigen::Ref<MatrixXd> G) override {
    e_.constraint_gradient(t, q, G);
  }
  void constraint_rate(double t, const VectorXd& q, const VectorXd& v, Eigen::Ref<VectorXd> rate) override {
    e_.constraint_rate(t, q, v, rate);
  }
  void constraint_rate_gradient(double t, const VectorXd& q, const VectorXd& v,
                                Eigen::Ref<MatrixXd> G) override {
    e_.constraint_rate_gradient(t, q, v, G);
  }
  void constraint_curvature(double t, const VectorXd& q, const VectorXd& v, Eigen::Ref<VectorXd> c) override {
    e_.constraint_curvature(t, q, v, c);
  }
  const VectorXd& displacement_scale() const override { return e_.displacement_scale(); }
  double length() const override { return e_.length(); }
  double typical_mass() const override { return e_.typical_mass(); }
  void count_turns(State& state) override { e_.count_turns(state); }
  std::vector<double> break_times() const override { return e_.break_times(); }
  std::string row_name(int row) const override { return e_.row_name(row); }

 private:
  SystemEquations& e_;
};

// A spring, a damped torsion spring that winds up, a torque and a force that changes, with a kink at 0.5 s.
System mechanism(int n = 6) {
  System system;
  system.add_body(std::make_unique<LinearBody>(n, false));
  system.set_gravity({0, 0, -9.81});
  const auto marker = [&] { return system.add_marker(0, {}); };
  Load spring;
  spring.name = "strut";
  spring.kind = LoadKind::Spring;
  spring.first = marker();
  spring.second = marker();
  spring.stiffness = 20;
  spring.damping = 0.3;
  spring.length = 0.4;
  system.add_load(spring);
  Load torsion;
  torsion.name = "clutch";
  torsion.kind = LoadKind::TorsionSpring;
  torsion.first = marker();
  torsion.second = marker();
  torsion.stiffness = 1;
  torsion.damping = 0.05;
  system.add_load(torsion);
  Load torque;
  torque.name = "motor";
  torque.kind = LoadKind::Torque;
  torque.first = marker();
  torque.components = {0.2, 0, TimeFunction::expression("sin(5*t)")};
  system.add_load(torque);
  Load force;
  force.name = "push";
  force.first = marker();
  force.components = {TimeFunction::expression("3*ramp(t, 0, 0.5)"), 0, -1};
  system.add_load(force);
  return system;
}

State start_of(const System& system, SystemEquations& equations) {
  VectorXd q, v;
  system.initial(q, v);
  return make_consistent(equations, 0, q, v).state;
}

IntegratorOptions options_of(double step, double end) {
  IntegratorOptions options;
  options.step = step;
  options.end = end;
  options.newton.tolerance = 1e-14;
  return options;
}

double farthest(const Recording& a, const Recording& b) {
  EXPECT_EQ(a.steps.size(), b.steps.size());
  double largest = 0;
  for (size_t k = 0; k < std::min(a.steps.size(), b.steps.size()); ++k) {
    EXPECT_EQ(a.steps[k].t, b.steps[k].t);
    largest = std::max(largest, (a.steps[k].q - b.steps[k].q).lpNorm<Eigen::Infinity>());
    EXPECT_EQ(a.steps[k].turns.angle.size(), b.steps[k].turns.angle.size());
    if (a.steps[k].turns.angle.size() > 0)
      largest =
          std::max(largest, (a.steps[k].turns.angle - b.steps[k].turns.angle).lpNorm<Eigen::Infinity>());
  }
  return largest;
}

TEST(CompactSteps, AreThoseOfTheGeneralWay) {
  const System system = mechanism();
  SystemEquations equations(system);
  ASSERT_TRUE(equations.is_compact());
  General general(equations);
  const State start = start_of(system, equations);
  for (const auto integrator : {Integrator::GeneralizedAlpha, Integrator::HhtI3}) {
    IntegratorOptions options = options_of(2e-3, 1);
    options.integrator = integrator;
    const Recording compact = run(equations, start, options), expected = run(general, start, options);
    // positions of size one; rounding grows over 500 steps
    EXPECT_LT(farthest(compact, expected), 1e-12);
    EXPECT_EQ(compact.summary.rejected, 0);
  }
}

// accepted and rejected steps are the same, unless an error is within round-off of its limit
TEST(CompactSteps, StepControlIsThatOfTheGeneralWay) {
  const System system = mechanism();
  SystemEquations equations(system);
  General general(equations);
  const State start = start_of(system, equations);
  IntegratorOptions options = options_of(0, 1);
  options.adaptive = true;
  options.tolerance = 1e-5;
  const Recording compact = run(equations, start, options), expected = run(general, start, options);
  EXPECT_EQ(compact.steps.size(), expected.steps.size());
  EXPECT_LT((compact.last().q - expected.last().q).norm(), 1e-10);
}

TEST(CompactSteps, TakeOneIterationEach) {
  const System system = mechanism();
  SystemEquations equations(system);
  IntegratorOptions options = options_of(2e-4, 0.4);
  options.newton.tolerance = 1e-11;
  const Recording one = run(equations, start_of(system, equations), options);
  EXPECT_EQ(one.summary.steps, 2000);
  EXPECT_LE(one.summary.newton_iterations, 2020);
  EXPECT_LE(one.summary.residuals, one.summary.newton_iterations + 10);
}

TEST(CompactSteps, AreHalvedWhereTheyDoNotConvergeAndReturnToTheGrid) {
  const System system = mechanism();
  SystemEquations equations(system);
  General general(equations);
  const State start = start_of(system, equations);
  // so long that two iterations do not suffice
  IntegratorOptions options = options_of(0.1, 1);
  options.newton.max_iterations = 2;
  options.newton.reuse_rate = 0;
  const Recording compact = run(equations, start, options), expected = run(general, start, options);
  EXPECT_GT(compact.summary.rejected, 0);
  EXPECT_EQ(compact.summary.rejected, expected.summary.rejected);
  EXPECT_LT(farthest(compact, expected), 1e-11);
}

TEST(CompactSteps, GoOnFromWhereTheyWereSavedBitForBit) {
  const System system = mechanism();
  IntegratorOptions options = options_of(5e-3, 1);
  SystemEquations equations(system);
  const State start = start_of(system, equations);
  std::vector<std::string> saved;
  std::vector<State> whole;
  IntegrationOutput output;
  output.step = [&](const State& s) { whole.push_back(s); };
  output.between = [&](const IntegrationOutput::Save& save, bool) {
    Archive archive;
    save(archive);
    saved.push_back(archive.bytes());
  };
  IntegrationSummary summary;
  Diagnostics diagnostics;
  integrate(equations, start, options, output, summary, diagnostics);
  ASSERT_EQ(saved.size(), whole.size());
  for (size_t k = 0; k < saved.size(); k += 23) {
    SystemEquations fresh(system);
    std::vector<State> rest;
    IntegrationOutput again;
    again.step = [&](const State& s) { rest.push_back(s); };
    Archive archive(saved[k]);
    integrate(fresh, start, options, again, summary, diagnostics, {}, &archive);
    ASSERT_EQ(rest.size(), whole.size() - k);
    for (size_t i = 0; i < rest.size(); ++i) {
      const State &a = rest[i], &b = whole[k + i];
      ASSERT_EQ(std::memcmp(a.q.data(), b.q.data(), sizeof(double) * 6), 0) << k << " " << i;
      ASSERT_EQ(std::memcmp(a.v.data(), b.v.data(), sizeof(double) * 6), 0) << k << " " << i;
      ASSERT_EQ(a.t, b.t);
    }
  }
}

// The balance of few of the steps is as good as that of all: work and losses against the sum over all steps.
TEST(CompactSteps, BalanceOfSomeOfTheStepsIsThatOfAll) {
  const System system = mechanism();
  SystemEquations equations(system), evaluations(system);
  const State start = start_of(system, equations);
  const Recording all = run(equations, start, options_of(1e-3, 2));
  Balance balance(equations, start, 2);
  // Simpson's rule over pairs of steps, whose ends the kink at 0.5 s is among
  double work = 0, lost = 0;
  SystemEnergy before = evaluations.energy(start), middle;
  for (size_t k = 0; k < all.steps.size(); ++k) {
    balance.step(all.steps[k]);
    const SystemEnergy now = evaluations.energy(all.steps[k]);
    if (k % 2 == 0) {
      middle = now;
    } else {
      work += 1e-3 * (before.load_power + 4 * middle.load_power + now.load_power) / 3;
      lost += 1e-3 * (before.damping_power + 4 * middle.damping_power + now.damping_power) / 3;
      before = now;
    }
  }
  const BalanceSummary found = balance.summary();
  ASSERT_GT(found.energy_scale, 1);
  // some thousand intervals whose error is 1e-6 of the energy at most, most of them of either sign
  EXPECT_NEAR(found.work_in, work, 2e-5 * found.energy_scale);
  EXPECT_NEAR(found.dissipated, lost, 2e-5 * found.energy_scale);
  EXPECT_LT(found.energy_drift, 1e-3);
  const BalanceSample end = balance.at(all.last());
  EXPECT_NEAR(end.work_in, work, 2e-5 * found.energy_scale);
}

#if LISSOM_COUNTS_MALLOC
TEST(CompactSteps, AllocateNothing) {
  const System system = mechanism();
  SystemEquations equations(system);
  const State start = start_of(system, equations);
  IntegratorOptions options = options_of(1e-3, 10);
  IntegrationSummary summary;
  const auto stepper = make_generalized_alpha(equations, options, summary);
  State first = start;
  equations.count_turns(first);
  stepper->start(first);
  for (int i = 0; i < 5; ++i) stepper->step(10);
  const long before = allocations;
  for (int i = 0; i < 1000; ++i) stepper->step(10);
  EXPECT_EQ(allocations - before, 0);
  EXPECT_EQ(summary.steps, 1005);
}
#endif

}  // namespace
}  // namespace lissom::compact_steps_test

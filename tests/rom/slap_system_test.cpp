// Training of a mechanism that was built in code, and its model under the same loads.
#include "lissom/rom/slap/slap_system.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "lissom/rom/mechanism_ode.hpp"
#include "tests/rom/trained_four_bar.hpp"

namespace lissom::slap_system_test {
namespace {

using Eigen::VectorXd;
using test::pushed_four_bar;
using test::TrainedFourBar;

std::vector<SlapSource> sources(const TrainedFourBar& four_bar) {
  std::vector<SlapSource> all;
  for (const test::SampleBar& bar : four_bar.bars) {
    SlapSource& source = all.emplace_back();
    source.model = &bar.model;
    source.reduced = &bar.reduced;
  }
  all[2].same_as = 0;
  return all;
}

SlapOptions options_of(int order) {
  SlapOptions options;
  options.order = order;
  options.max_order = order;
  return options;
}

// The run of the four-bar mechanism that its other tests train on, by run().
struct Pushed {
  const TrainedFourBar& four_bar = pushed_four_bar();
  RunOptions options;
  Trajectory run;
  explicit Pushed(const RunOptions& given = {}) : options(given) {
    options.integrator = TrainedFourBar::exact(0.15, 5e-4, 100);
    Diagnostics diagnostics;
    run = lissom::run(*four_bar.system, options, diagnostics);
  }
  std::vector<SlapMotion> motions() const { return {{four_bar.system.get(), &run, options}}; }
};

const Pushed& pushed() {
  static const Pushed one;
  return one;
}

template <class Error = InputError>
Error caught(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    return e;
  }
  throw std::logic_error("nothing was thrown");
}

TEST(SlapSystem, TrainsOnASystemAsOnItsPlacesNamedByHand) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  Diagnostics diagnostics;
  const SlapReduction trained = train_slap(pushed().motions(), sources(four_bar), options_of(6), diagnostics);
  EXPECT_TRUE(diagnostics.empty()) << to_string(diagnostics.warnings().front());
  EXPECT_EQ(trained.order, 6);

  // eight hinges of two points each have eight pairs, and the same data the same singular values
  const SlapSpace space = four_bar.space();
  EXPECT_EQ(trained.space.pairs.size(), space.pairs.size());
  EXPECT_EQ(trained.space.kernel_dimension(), space.kernel_dimension());
  const SlapBasis basis = four_bar.basis(space);
  for (int i = 0; i < 10; ++i)
    EXPECT_NEAR(trained.basis.singular_values[i], basis.singular_values[i], 1e-9 * basis.singular_values[0])
        << i;

  // and the model moves as the one put together by hand under the same load
  const std::unique_ptr<System> by_hand =
      four_bar.reduced(make_slap_model(space, basis, 6, trained.model_options));
  const SlapModel model = trained.model(6);
  const SlapSystem made = slap_system(model, *four_bar.system, {}, diagnostics);
  RunOptions options;
  options.integrator = TrainedFourBar::exact(0.15, 5e-4, 100);
  const Trajectory a = run(*made.system, options, diagnostics), b = run(*by_hand, options, diagnostics);
  const auto at_end = [](const System& system, const Trajectory& run) {
    return system.bodies().front()->node_positions(run.q.rightCols(1));
  };
  const double moved = trained.accuracy(6).motion;
  EXPECT_GT(moved, 0.01);
  // bases of the same data to round-off, 1e-9 of the motion
  EXPECT_LT((at_end(*made.system, a) - at_end(*by_hand, b)).cwiseAbs().maxCoeff(), 1e-7 * moved);
  EXPECT_LT(trained.accuracy(6).largest_error, 1e-4 * moved);
}

TEST(SlapSystem, TheControllerOfATrainingRunDrivesItsModelsToo) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  // the push of before, and a brake on a node of the coupler from a controller at 1 kHz
  const std::unique_ptr<System> system = test::four_bar(four_bar.options);
  Load brake;
  brake.name = "brake";
  brake.first = system->add_marker(1, test::node_marker(four_bar.bars[1].hinges[0]));
  brake.components = {0.0, 1.0, 0.0};
  brake.input = "u";
  system->add_load(brake);
  RunOptions options;
  options.integrator = TrainedFourBar::exact(0.05, 5e-4, 50);
  options.sensors = {{.name = "speed", .kind = SensorKind::Velocity, .marker = brake.first}};
  options.controller.period = 1e-3;
  int calls = 0;
  options.controller.act = [&calls](double, const VectorXd& y, VectorXd& u) {
    ++calls;
    u[0] = -20 * y[1];
  };
  Diagnostics diagnostics;
  const Trajectory braked = run(*system, options, diagnostics);
  const int of_full = calls;
  EXPECT_EQ(of_full, 50);  // at the start and every millisecond, not at the end
  const std::vector<SlapMotion> motions = {{system.get(), &braked, options}};
  const SlapReduction trained = train_slap(motions, sources(four_bar), options_of(6), diagnostics);
  EXPECT_EQ(calls, of_full * 7);  // once for each order
  EXPECT_LT(trained.accuracy(6).largest_error, 1e-3 * trained.accuracy(6).motion);

  // one that sees a joint cannot
  std::vector<SlapMotion> sees_joint = motions;
  sees_joint[0].options.sensors.push_back({.name = "pull", .kind = SensorKind::Reaction, .index = 0});
  const InputError e = caught([&] { train_slap(sees_joint, sources(four_bar), options_of(6), diagnostics); });
  EXPECT_NE(std::string(e.what()).find("the controller of a training run sees joints"), std::string::npos)
      << e.what();
}

TEST(SlapSystem, ItsRightHandSideKnowsEnergyNodesAndTraining) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  Diagnostics diagnostics;
  const SlapReduction trained = train_slap(pushed().motions(), sources(four_bar), options_of(6), diagnostics);
  const auto model = std::make_shared<const SlapModel>(trained.model(6));
  SlapSystem made = slap_system(*model, *four_bar.system, {}, diagnostics);
  Start start = make_start(*made.system, {}, diagnostics);
  MechanismOde::Mechanism of;
  of.system = std::move(made.system);
  of.method = "slap";
  of.training = {model, &model->training};
  MechanismOde rom(std::move(of), std::move(start), diagnostics);
  const VectorXd x = rom.start();
  EXPECT_EQ(rom.method(), "slap");
  EXPECT_EQ(x.size(), 12);
  // it begins at rest, at a training state, where the full model's nodes are
  EXPECT_NEAR(rom.energy(0, x).value(), 0, 1e-12);
  EXPECT_NEAR(rom.distance(0, x, VectorXd()).value(), 0, 1e-9);
  const std::vector<RomNodes> groups = rom.node_groups();
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[1].name, "coupler");
  const Eigen::Matrix3Xd nodes = rom.nodes(x);
  Eigen::Index first = 0;
  for (int b = 0; b < 3; ++b) {
    const FeModel& fe = four_bar.bars[static_cast<size_t>(b)].model;
    const auto count = static_cast<Eigen::Index>(groups[static_cast<size_t>(b)].numbers.size());
    ASSERT_EQ(count, fe.points.cols());
    const Eigen::Matrix3Xd there = fe.points.colwise() + four_bar.system->placement(b).position;
    EXPECT_LT((nodes.middleCols(first, count) - there).cwiseAbs().maxCoeff(), 1e-10);
    first += count;
  }
  // faster by one metre a second in the first coordinate: its kinetic energy
  VectorXd moving = x;
  moving[6] += 1;
  EXPECT_NEAR(rom.energy(0, moving).value(), 0.5 * model->M(0, 0), 1e-9 * model->M(0, 0));
}

TEST(SlapSystem, SaysWhichThingIsWrong) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  Diagnostics diagnostics;
  const auto train = [&](const std::function<void(std::vector<SlapSource>&, SlapOptions&)>& change) {
    return caught<SubjectError>([&] {
      std::vector<SlapSource> bodies = sources(four_bar);
      SlapOptions options = options_of(6);
      options.reconstruct = false;
      change(bodies, options);
      train_slap(pushed().motions(), bodies, options, diagnostics);
    });
  };
  const ReducedBody none;
  const SubjectError no_modes = train([&](auto& bodies, auto&) { bodies[1].reduced = &none; });
  EXPECT_EQ(no_modes.subject().kind, Subject::Kind::Body);
  EXPECT_EQ(no_modes.subject().index, 1);
  EXPECT_EQ(std::string(no_modes.what()).find("body 'coupler': has no component modes"), 0u);

  const SubjectError too_late = train([](auto&, SlapOptions& options) { options.reference = 102; });
  EXPECT_STREQ(too_late.what(), "reference: is 102, but motion 1 has 101 samples");
  EXPECT_EQ(too_late.problem(), "is 102, but motion 1 has 101 samples");
  const SubjectError too_many = train([](auto&, SlapOptions& options) { options.order = 500; });
  EXPECT_EQ(std::string(too_many.what()).find("order: is 500, but the training data have"), 0u);
  const SubjectError no_mesh = train([](auto&, SlapOptions& options) { options.stress.stress = true; });
  EXPECT_STREQ(no_mesh.what(), "body 'left': has no mesh, hence no stress");

  EXPECT_NE(
      std::string(caught([&] { train_slap(pushed().motions(), {}, options_of(6), diagnostics); }).what())
          .find("the system has 3 bodies, and finite elements of 0 were given"),
      std::string::npos);
  EXPECT_NE(std::string(caught([&] { train_slap({}, sources(four_bar), options_of(6), diagnostics); }).what())
                .find("no motion"),
            std::string::npos);
  // a run whose states were not kept
  RunOptions outputs_alone;
  outputs_alone.keep = RunOptions::Keep::Outputs;
  const Pushed without_states(outputs_alone);
  const SubjectError no_states = caught<SubjectError>(
      [&] { train_slap(without_states.motions(), sources(four_bar), options_of(6), diagnostics); });
  EXPECT_EQ(no_states.subject().kind, Subject::Kind::Run);
  EXPECT_NE(std::string(no_states.what()).find("motion 1: its states were not kept"), std::string::npos);
}

}  // namespace
}  // namespace lissom::slap_system_test

// The same mechanism in all formulations, against each other and against the unreduced co-rotated model.
#include <gtest/gtest.h>

#include <cmath>

#include "lissom/time/initial_state.hpp"
#include "lissom/time/integrate.hpp"
#include "tests/mbs/four_bar.hpp"

namespace lissom::test {
namespace {

struct Motion {
  std::vector<Eigen::Matrix3Xd> nodes;  // of all bodies side by side, per sample
  std::vector<SystemEnergy> energies;
  std::vector<double> times;
  double constraint_drift = 0;
  double energy_drift = 0;  // without work of loads
  IntegrationSummary summary;
};

Motion simulate(const FourBarOptions& options, const IntegratorOptions& integrator) {
  const std::unique_ptr<System> system = four_bar(options);
  Eigen::VectorXd q, v;
  system->initial(q, v);
  const SystemCheck check = check_system(*system, 0, q);
  SystemEquations equations(*system, check.kept);
  const State initial = make_consistent(equations, 0, q, v).state;
  Motion motion;
  Eigen::VectorXd g(system->constraint_rows());
  IntegrationOutput output;
  output.sample = [&](const State& state) {
    Eigen::Matrix3Xd all(3, 0);
    for (size_t b = 0; b < system->bodies().size(); ++b) {
      const Body& body = *system->bodies()[b];
      const Eigen::Matrix3Xd x =
          body.node_positions(state.q.segment(system->offset(static_cast<int>(b)), body.coordinates()));
      all.conservativeResize(3, all.cols() + x.cols());
      all.rightCols(x.cols()) = x;
    }
    motion.nodes.push_back(all);
    motion.energies.push_back(equations.energy(state));
    motion.times.push_back(state.t);
  };
  output.step = [&](const State& state) {
    equations.all_constraints(state.t, state.q, g);
    motion.constraint_drift = std::max(motion.constraint_drift, g.cwiseAbs().maxCoeff());
  };
  Diagnostics diagnostics;
  integrate(equations, initial, integrator, output, motion.summary, diagnostics);
  for (const SystemEnergy& energy : motion.energies)
    motion.energy_drift =
        std::max(motion.energy_drift, std::abs(energy.total() - motion.energies.front().total()));
  return motion;
}

double largest_difference(const Motion& a, const Motion& b) {
  EXPECT_EQ(a.nodes.size(), b.nodes.size());
  double largest = 0;
  for (size_t k = 0; k < std::min(a.nodes.size(), b.nodes.size()); ++k)
    largest = std::max(largest, (a.nodes[k] - b.nodes[k]).colwise().norm().maxCoeff());
  return largest;
}

IntegratorOptions fixed_step(double end, double step) {
  IntegratorOptions options;
  options.end = end;
  options.step = step;
  options.sample = end / 20;
  return options;
}

TEST(Formulations, TheFourBarMovesAlikeInFfrfFncfAndGcms) {
  FourBarOptions options;
  const IntegratorOptions integrator = fixed_step(0.1, 1e-3);
  const Motion ffrf = simulate(options, integrator);
  options.formulation = "fncf";
  const Motion fncf = simulate(options, integrator);
  options.formulation = "gcms";
  const Motion gcms = simulate(options, integrator);
  // the mechanism really moves
  EXPECT_GT((ffrf.nodes.back() - ffrf.nodes.front()).colwise().norm().maxCoeff(), 0.01);
  // the 1e-6 of the bar length; formulations of the same modes differ by the integrator's error in
  // different coordinates (4th order in the angle per step, 2nd in all) and by the softer GCMS space
  EXPECT_LT(largest_difference(ffrf, fncf), 1e-6 * four_bar_length);
  EXPECT_LT(largest_difference(ffrf, gcms), 1e-6 * four_bar_length);
  for (const Motion* motion : {&ffrf, &fncf, &gcms}) EXPECT_LT(motion->constraint_drift, 1e-10);
}

}  // namespace
}  // namespace lissom::test

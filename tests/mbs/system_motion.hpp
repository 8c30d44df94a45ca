// Runs a system and keeps what tests of whole motions look at.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "lissom/mbs/system.hpp"
#include "lissom/time/initial_state.hpp"
#include "lissom/time/integrate.hpp"

namespace lissom::test {

struct SystemMotion {
  std::vector<Eigen::Matrix3Xd> nodes;  // of all bodies side by side, per sample
  std::vector<SystemEnergy> energies;
  std::vector<State> states;
  double constraint_drift = 0;  // over all steps, redundant rows included
  IntegrationSummary summary;
  Diagnostics diagnostics;

  // Largest change of the total energy, over the largest kinetic or elastic one.
  double energy_drift() const {
    double drift = 0, scale = 0;
    for (const SystemEnergy& energy : energies) {
      drift = std::max(drift, std::abs(energy.total() - energies.front().total()));
      scale = std::max({scale, energy.kinetic, energy.elastic});
    }
    return drift / scale;
  }
};

// `kick` may change velocities before they are made consistent.
inline SystemMotion move(const System& system, const IntegratorOptions& integrator,
                         const std::function<void(Eigen::VectorXd& q, Eigen::VectorXd& v)>& kick = {}) {
  Eigen::VectorXd q, v;
  system.initial(q, v);
  if (kick) kick(q, v);
  SystemEquations equations(system, check_system(system, 0, q).kept);
  const State initial = make_consistent(equations, 0, q, v).state;
  SystemMotion motion;
  Eigen::VectorXd g(system.constraint_rows());
  IntegrationOutput output;
  output.sample = [&](const State& state) {
    Eigen::Matrix3Xd all(3, 0);
    for (size_t b = 0; b < system.bodies().size(); ++b) {
      const Body& body = *system.bodies()[b];
      const Eigen::Matrix3Xd x =
          body.node_positions(state.q.segment(system.offset(static_cast<int>(b)), body.coordinates()));
      all.conservativeResize(3, all.cols() + x.cols());
      all.rightCols(x.cols()) = x;
    }
    motion.nodes.push_back(all);
    motion.energies.push_back(equations.energy(state));
    motion.states.push_back(state);
  };
  output.step = [&](const State& state) {
    if (g.size() == 0) return;
    equations.all_constraints(state.t, state.q, g);
    motion.constraint_drift = std::max(motion.constraint_drift, g.cwiseAbs().maxCoeff());
  };
  integrate(equations, initial, integrator, output, motion.summary, motion.diagnostics);
  return motion;
}

// Of any node at any sample [m].
inline double largest_difference(const SystemMotion& a, const SystemMotion& b) {
  EXPECT_EQ(a.nodes.size(), b.nodes.size());
  double largest = 0;
  for (size_t k = 0; k < std::min(a.nodes.size(), b.nodes.size()); ++k)
    largest = std::max(largest, (a.nodes[k] - b.nodes[k]).colwise().norm().maxCoeff());
  return largest;
}

inline IntegratorOptions fixed_step(double end, double step, double rho_inf = 0.8) {
  IntegratorOptions options;
  options.end = end;
  options.step = step;
  options.sample = end / 20;
  options.rho_inf = rho_inf;
  return options;
}

inline IntegratorOptions controlled(Integrator integrator, double end, double tolerance) {
  IntegratorOptions options;
  options.integrator = integrator;
  options.end = end;
  options.sample = end / 20;
  options.adaptive = integrator == Integrator::GeneralizedAlpha || integrator == Integrator::HhtI3;
  options.tolerance = tolerance;
  return options;
}

}  // namespace lissom::test

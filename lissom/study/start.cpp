#include "lissom/study/start.hpp"

#include <algorithm>
#include <cmath>

#include "lissom/core/error.hpp"

namespace lissom {

using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

// Later equilibria are approached along the loads and motions in so many steps.
constexpr int steps_to_time = 10;

Equilibrium equilibrium_at(SystemEquations& equations, const State& from, double t,
                           const ProgressHook& progress) {
  EquilibriumOptions coarse;
  coarse.stability = false;
  State guess = from;
  guess.t = t > 0 ? 0 : t;
  int iterations = 0;
  for (int k = 0; t > 0 && k < steps_to_time; ++k) {
    guess.t = t * k / steps_to_time;
    const Equilibrium found = find_equilibrium(equations, guess, coarse, progress);
    iterations += found.iterations;
    guess = found.state;
  }
  guess.t = t;
  Equilibrium found = find_equilibrium(equations, guess, {}, progress);
  found.iterations += iterations;
  found.moved =
      (found.state.q - from.q).cwiseProduct(equations.displacement_scale()).lpNorm<Eigen::Infinity>();
  return found;
}

}  // namespace

Start make_start(StudySystem& built, const StudyFile& study, Diagnostics& diagnostics,
                 std::optional<double> static_at, const ProgressHook& progress) {
  Start start;
  start.check = check_study_system(built, study, diagnostics);
  const System& system = *built.system;
  start.equations = std::make_unique<SystemEquations>(system, start.check.kept);
  start.initial = make_consistent(*start.equations, 0, built.q, built.v);
  if (!start.check.gaps.empty()) {
    // what depends on what may look different once the joints meet
    const SystemCheck assembled = check_system(system, 0, start.initial.state.q);
    if (assembled.kept != start.check.kept) {
      start.check = assembled;
      start.equations = std::make_unique<SystemEquations>(system, assembled.kept);
      const InitialState again = make_consistent(*start.equations, 0, start.initial.state.q, built.v);
      const double moved = start.initial.moved;
      start.initial = again;
      start.initial.moved = std::max(moved, again.moved);
    }
    const double elastic = start.equations->energy(start.initial.state).elastic;
    diagnostics.warn(
        "simulate.assembled",
        fmt::format(
            "the bodies were moved by up to {:.3g} m so that the joints meet{}", start.initial.moved,
            elastic > 0 ? fmt::format("; flexible ones were deformed, which holds {:.3g} J", elastic) : ""));
  }
  // constraints that look redundant may contradict the others
  VectorXd g(system.constraint_rows());
  start.equations->all_constraints(0, start.initial.state.q, g);
  Eigen::Index worst = 0;
  if (g.size() > 0 && g.cwiseAbs().maxCoeff(&worst) > 1e-8 * start.equations->length())
    fail(
        "the mechanism cannot be assembled: {} stays {:.3g} m away from what it asks for once all others are "
        "satisfied; the joints contradict each other, or the bodies do not reach so far",
        start.equations->constraint_name(static_cast<int>(worst)), std::abs(g[worst]));
  const bool velocity_given = std::any_of(study.bodies.begin(), study.bodies.end(), [](const BodySpec& body) {
    const Vector3d& v = body.ancf ? body.ancf->beam.velocity : body.placement.velocity;
    const Vector3d& w = body.ancf ? body.ancf->beam.angular_velocity : body.placement.angular_velocity;
    return !v.isZero(0) || !w.isZero(0);
  });
  const double speed = start.equations->displacement_scale().cwiseProduct(built.v).lpNorm<Eigen::Infinity>();
  if (velocity_given && start.initial.velocity_change > 1e-6 * speed)
    diagnostics.warn(
        "simulate.velocity",
        fmt::format("the velocities given do not fit the joints and motions; they were changed by "
                    "up to {:.3g} m/s",
                    start.initial.velocity_change));
  start.assembled = start.initial.state;
  const auto& simulate = study.simulation->simulate;
  const bool statics = static_at || (simulate && simulate->integrator.integrator == Integrator::Static);
  if (!statics && !(simulate && simulate->start_static)) return start;
  // its stability and its steps are decided by full matrices
  constexpr int most_coordinates = 2000;
  if (system.coordinates() > most_coordinates)
    fail_input(
        "{}: the system has {} coordinates, and equilibria are found with full matrices of that order: "
        "expected "
        "{} at most; take fewer elements, or let the motion come to rest with damping",
        study.path.string(), system.coordinates(), most_coordinates);
  const double t = static_at ? *static_at : statics ? simulate->begin : 0;
  start.equilibrium = equilibrium_at(*start.equations, start.assembled, t, progress);
  warn_of(*start.equilibrium, diagnostics);
  if (statics) {
    start.is_static = true;
    start.initial.state = start.equilibrium->state;
    return start;
  }
  if (velocity_given)
    diagnostics.warn("simulate.start",
                     "start = \"static\" begins at rest: the velocities of the bodies are not used");
  const double moved = start.initial.moved;
  start.initial = make_consistent(*start.equations, 0, start.equilibrium->state.q,
                                  VectorXd::Zero(built.v.size()), {}, start.equilibrium->state.turns);
  start.initial.moved = moved;
  return start;
}

}  // namespace lissom

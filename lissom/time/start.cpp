#include "lissom/time/start.hpp"

#include <fmt/ranges.h>

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

void expect_runnable(const System& system, const SystemCheck& check, bool statics, Diagnostics& diagnostics) {
  if (!check.massless_directions.empty())
    fail_input(
        "these directions have neither inertia nor a constraint, so that their motion is not defined: {}",
        fmt::join(check.massless_directions, ", "));
  const bool driven = std::any_of(system.joints().begin(), system.joints().end(), [](const Joint& joint) {
    return is_driven(joint.kind) && !joint.motion.is_constant();
  });
  if (!check.moves() && !driven && !statics)
    fail_input(
        "the mechanism cannot move: {} coordinates have {} independent constraints, and nothing is "
        "driven; "
        "remove or replace a joint (a revolute joint by a spherical or cylindrical one), or give one a "
        "'motion'",
        check.coordinates, check.rank);
  // beams are there to deform
  const bool beams = std::any_of(system.bodies().begin(), system.bodies().end(),
                                 [](const auto& body) { return body->is_beam(); });
  if (check.moves() && !check.has_mechanism && !beams && check.rigid_degrees_of_freedom <= 0 && !driven)
    diagnostics.warn("simulate.only-vibrates",
                     "the mechanism can only deform: as rigid bodies nothing of it could move");
  if (check.singular_position)
    diagnostics.warn(
        "simulate.singular-position",
        "the mechanism starts in a singular position (a dead centre), from which it may go on in "
        "more than one way; start a little beside it");
  for (const SystemCheck::Redundant& redundant : check.redundant)
    diagnostics.warn(
        "simulate.redundant." + redundant.joint,
        fmt::format("joint '{}' has a redundant constraint{}; it is left out, and of the reactions those of "
                    "smallest norm are given",
                    redundant.joint,
                    redundant.with.empty()
                        ? ""
                        : fmt::format(", which '{}' {} already", fmt::join(redundant.with, "', '"),
                                      redundant.with.size() == 1 ? "says" : "say")));
  for (const std::string& body : check.free_bodies)
    diagnostics.warn(
        "simulate.free-body." + body,
        fmt::format("nothing holds the body '{}', neither joint nor spring: it moves freely", body));
}

Start make_start(const System& system, const VectorXd& q, const VectorXd& v, const SystemCheck& check,
                 const StartOptions& options, Diagnostics& diagnostics, const ProgressHook& progress) {
  Start start;
  start.check = check;
  start.equations = std::make_unique<SystemEquations>(system, start.check.kept);
  start.initial = make_consistent(*start.equations, 0, q, v);
  if (!start.check.gaps.empty()) {
    // what depends on what may look different once the joints meet
    const SystemCheck assembled = check_system(system, 0, start.initial.state.q);
    if (assembled.kept != start.check.kept) {
      start.check = assembled;
      start.equations = std::make_unique<SystemEquations>(system, assembled.kept);
      const InitialState again = make_consistent(*start.equations, 0, start.initial.state.q, v);
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
  const double speed = start.equations->displacement_scale().cwiseProduct(v).lpNorm<Eigen::Infinity>();
  if (options.velocity_given && start.initial.velocity_change > 1e-6 * speed)
    diagnostics.warn(
        "simulate.velocity",
        fmt::format("the velocities given do not fit the joints and motions; they were changed by "
                    "up to {:.3g} m/s",
                    start.initial.velocity_change));
  start.assembled = start.initial.state;
  if (!options.static_at && !options.at_rest) return start;
  // its stability and its steps are decided by full matrices
  constexpr int most_coordinates = 2000;
  if (system.coordinates() > most_coordinates)
    fail_input(
        "the system has {} coordinates, and equilibria are found with full matrices of that order: "
        "expected "
        "{} at most; take fewer elements, or let the motion come to rest with damping",
        system.coordinates(), most_coordinates);
  start.equilibrium =
      equilibrium_at(*start.equations, start.assembled, options.static_at.value_or(0), progress);
  warn_of(*start.equilibrium, diagnostics);
  if (options.static_at) {
    start.is_static = true;
    start.initial.state = start.equilibrium->state;
    return start;
  }
  if (options.velocity_given)
    diagnostics.warn("simulate.start",
                     "start = \"static\" begins at rest: the velocities of the bodies are not used");
  const double moved = start.initial.moved;
  start.initial = make_consistent(*start.equations, 0, start.equilibrium->state.q, VectorXd::Zero(v.size()),
                                  {}, start.equilibrium->state.turns);
  start.initial.moved = moved;
  return start;
}

Start make_start(const System& system, const StartOptions& options, Diagnostics& diagnostics,
                 const ProgressHook& progress) {
  VectorXd q, v;
  system.initial(q, v);
  const SystemCheck check = check_system(system, 0, q);
  if (!check.gaps.empty() && !options.assemble) {
    std::vector<std::string> open;
    for (const SystemCheck::Gap& gap : check.gaps)
      open.push_back(gap.is_angle
                         ? fmt::format("'{}' (turned, sine of the angle {:.3g})", gap.joint, gap.distance)
                         : fmt::format("'{}' ({:.6g} m apart)", gap.joint, gap.distance));
    fail_input(
        "joints whose frames do not meet at the start: {}; correct the placements, or let bodies be moved "
        "(StartOptions::assemble)",
        fmt::join(open, ", "));
  }
  expect_runnable(system, check, options.static_at.has_value(), diagnostics);
  return make_start(system, q, v, check, options, diagnostics, progress);
}

}  // namespace lissom

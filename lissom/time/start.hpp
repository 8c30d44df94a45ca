// The state that a run or an analysis of a system begins with: checked, assembled, consistent.
#pragma once

#include <memory>
#include <optional>

#include "lissom/core/diagnostics.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/mbs/system.hpp"
#include "lissom/time/equilibrium.hpp"
#include "lissom/time/initial_state.hpp"

namespace lissom {

struct StartOptions {
  bool assemble = false;  // bodies may be moved so that the joints meet
  bool at_rest = false;   // begins at rest in the equilibrium at t = 0
  // [s]: the start itself is the equilibrium under the loads of this time (v = a = 0), for statics.
  std::optional<double> static_at;
  bool velocity_given = true;  // the user gave velocities: that they had to be changed is a warning
};

struct Start {
  SystemCheck check;
  std::unique_ptr<SystemEquations> equations;
  InitialState initial;
  State assembled;  // as placed, before an equilibrium was looked for
  std::optional<Equilibrium> equilibrium;
  // What displacements are counted from: the start of a run, the undeformed positions of statics.
  State reference() const { return is_static ? assembled : initial.state; }
  bool is_static = false;  // initial.state is an equilibrium with v = a = 0
};

// Throws InputError for directions without inertia, and for a system that cannot move and is not driven (of
// `statics` that is no error); tells redundant constraints, free bodies and singular positions as warnings.
void expect_runnable(const System& system, const SystemCheck& check, bool statics, Diagnostics& diagnostics);

// At t = 0, from the positions q and velocities v (n each), which `check` has looked at. Throws Error where the
// mechanism cannot be assembled or has no equilibrium; tells what was moved or changed as warnings.
Start make_start(const System& system, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                 const SystemCheck& check, const StartOptions& options, Diagnostics& diagnostics,
                 const ProgressHook& progress = {});
// The same from the placements of its bodies; throws InputError also as expect_runnable() does, and for joints that
// do not meet unless `assemble`.
Start make_start(const System& system, const StartOptions& options, Diagnostics& diagnostics,
                 const ProgressHook& progress = {});

}  // namespace lissom

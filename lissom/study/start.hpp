// The state that an analysis of a study begins with: checked, assembled, consistent.
#pragma once

#include <memory>
#include <optional>

#include "lissom/study/build_system.hpp"
#include "lissom/time/equilibrium.hpp"
#include "lissom/time/initial_state.hpp"

namespace lissom {

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

// At t = 0, from the placements of the study. Throws InputError like check_study_system(), Error where the
// mechanism cannot be assembled; tells what was moved or changed as warnings. A study that asks for start =
// "static" begins at rest in the equilibrium, one with integrator = "static" in that of the time begin.
// `static_at` [s] is the same for an analysis that asks for it itself. Throws Error where there is none.
Start make_start(StudySystem& built, const StudyFile& study, Diagnostics& diagnostics,
                 std::optional<double> static_at = std::nullopt, const ProgressHook& progress = {});

}  // namespace lissom

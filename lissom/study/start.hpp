// The state that an analysis of a study begins with: checked, assembled, consistent.
#pragma once

#include <memory>

#include "lissom/study/build_system.hpp"
#include "lissom/time/initial_state.hpp"

namespace lissom {

struct Start {
  SystemCheck check;
  std::unique_ptr<SystemEquations> equations;
  InitialState initial;
};

// At t = 0, from the placements of the study. Throws InputError like check_study_system(), Error where the
// mechanism cannot be assembled; tells what was moved or changed as warnings.
Start make_start(StudySystem& built, const StudyFile& study, Diagnostics& diagnostics);

}  // namespace lissom

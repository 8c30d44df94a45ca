// Whether the bodies of a study stand where their joints are.
#pragma once

#include "lissom/study/build_system.hpp"

namespace lissom {

// Throws InputError with every joint whose frames do not meet at the start, unless the bodies may be moved
// (assemble = true). Positions are all that counts: bodies may be stand-ins without deformation.
void expect_joints_meet(const StudySystem& built, const StudyFile& study);
// The same where the system has been looked at.
void expect_joints_meet(const StudySystem& built, const StudyFile& study, const SystemCheck& check);

}  // namespace lissom

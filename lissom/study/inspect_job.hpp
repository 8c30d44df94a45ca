// What is in a study, a reduced mechanism, a result or a body, and is it fit for computing?
#pragma once

#include "lissom/study/job.hpp"

namespace lissom {

// Bodies, joints, constraints, degrees of freedom; takes the reductions that the bodies need.
JobResult inspect_study(const StudyInput& study, JobContext& context);
// A reduced mechanism of either kind.
JobResult inspect_rom(const std::string& file, JobContext& context);
JobResult inspect_result(const std::string& file, JobContext& context);
// A mesh, matrices or a body file. Elements turned inside out are described like all else, and "error" of the
// JSON says that nothing can be computed with them.
JobResult inspect_body(const BodySpec& spec, JobContext& context);

}  // namespace lissom

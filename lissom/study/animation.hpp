// The motion of a run on the meshes of its bodies, for ParaView.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "lissom/core/progress.hpp"
#include "lissom/fe/mesh.hpp"
#include "lissom/study/simulate.hpp"

namespace lissom {

// A VTU file for each body and sample in folder/animation, points where they are in space, with the vector
// "displacement" since the first sample, and animation/motion.pvd that lists them over time. Bodies, or parts
// of a reduced mechanism, whose mesh is not in `meshes` (by name), or whose nodes the run does not have, are
// left out with a warning. Returns the path of motion.pvd relative to `folder`.
std::string write_animation(const SimulationRun& run,
                            const std::map<std::string, std::shared_ptr<const Mesh>>& meshes,
                            const std::filesystem::path& folder, Diagnostics& diagnostics,
                            const ProgressHook& progress = {});

}  // namespace lissom

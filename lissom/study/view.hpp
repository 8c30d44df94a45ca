// Views (io/view_file.hpp) of what was computed: the motion of a run, modes of a body, modes of a linearised
// mechanism.
#pragma once

#include <Eigen/Core>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "lissom/core/progress.hpp"
#include "lissom/io/view_file.hpp"
#include "lissom/study/body.hpp"
#include "lissom/study/linearise.hpp"
#include "lissom/study/paraview.hpp"
#include "lissom/study/simulate.hpp"

namespace lissom {

struct ViewOptions {
  int max_frames = 1000;    // samples are left out evenly beyond that
  int max_points = 100000;  // of all parts; surfaces are simplified beyond that
  // Largest error of a point at any frame: displacements relative to the largest one, but not below
  // `invisible` times the size of the mechanism; stress relative to the largest von Mises stress.
  double displacement = 1e-4, invisible = 1e-7, stress = 1e-3;
  // Stress is left out where its modes on the surface would take more memory [bytes].
  double stress_bytes = 4e8;
};

// Of a run with at least one sample. Displacements are those from the rigid motion that fits the points of a
// part best at each frame. Stress is that of study/stress.hpp, of flexible bodies whose mesh and nodes are
// all there. The notes say what is missing.
View motion_view(const SimulationRun& run, const StudyFile& study, const BodyMeshes& meshes,
                 const ViewOptions& options = {}, const ProgressHook& progress = {});

// The modes of body.vibration on its mesh; the shapes' largest displacement is 1. The view has no parts where
// there is no mesh.
View body_modes_view(const FeBody& body, const ViewOptions& options = {});

// The first `count` modes of a mechanism linearised at model.q.
View system_modes_view(const StudySystem& built, const StudyFile& study, const Linearisation& model,
                       int count, const BodyMeshes& meshes, const ViewOptions& options = {});

// The files below are a picture of results that are there already: whatever goes wrong is a warning. Each
// returns its name, or an empty text where nothing was written; folders must be there.

// motion.view.h5. Adds "view" (file, frames, points, bytes, seconds, notes) to the run's summary, and the
// file to its "files". `meshes` is asked for once.
std::string write_motion_view(SimulationRun& run, const StudyFile& study,
                              const std::function<BodyMeshes()>& meshes, const std::filesystem::path& folder,
                              Diagnostics& diagnostics, const ProgressHook& progress = {});
// NAME_modes.view.h5; its time is the phase "view".
std::string write_body_view(FeBody& body, const std::filesystem::path& folder, Diagnostics& diagnostics,
                            const ProgressHook& progress = {});
// system_modes.view.h5. `make` builds the system that was linearised.
std::string write_system_modes_view(const StudyFile& study, const Linearisation& model, int count,
                                    const std::function<StudySystem()>& make,
                                    const std::function<BodyMeshes()>& meshes,
                                    const std::filesystem::path& folder, Diagnostics& diagnostics,
                                    const ProgressHook& progress = {});

}  // namespace lissom

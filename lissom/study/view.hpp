// Views (io/view_file.hpp) of what was computed: the motion of a run, modes of a body, modes of a linearised
// mechanism.
#pragma once

#include <Eigen/Core>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "lissom/cms/reduced_body.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/io/view_file.hpp"
#include "lissom/study/body.hpp"
#include "lissom/study/linearise.hpp"
#include "lissom/study/paraview.hpp"
#include "lissom/study/simulate.hpp"

namespace lissom {

struct ViewOptions {
  int max_frames = 1001;    // every so many samples beyond that
  int max_points = 100000;  // of all parts; surfaces are simplified beyond that
  // Largest error of a point at any frame: displacements relative to the largest one of the part, however
  // small that is, because views scale them up, but not below `round_off` times the size of the mechanism;
  // stress relative to the largest von Mises stress of the part.
  double displacement = 1e-4, round_off = 1e-11, stress = 1e-3;
  // Stress is left out where its modes on the surface would take more memory [bytes].
  double stress_bytes = 4e8;
};

// Of a run with at least one sample. Displacements are those from the rigid motion that fits the points of a
// part best at each frame. Stress is that of study/stress.hpp, of flexible bodies whose mesh and nodes are
// all there. The notes say what is missing.
View motion_view(const SimulationRun& run, const StudyFile& study, const BodyMeshes& meshes,
                 const ViewOptions& options = {}, const ProgressHook& progress = {});

// Modes of a body on its mesh: `shape` gives the displacements of mode k (from 0) at all nodes, 3 nodes by 1,
// of any length; the largest displacement shown is 1.
View modes_view(const std::string& name, const Mesh& mesh, const Eigen::VectorXd& frequencies_hz,
                const std::function<Eigen::MatrixXd(int mode)>& shape, const ViewOptions& options = {});

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
// NAME_modes.view.h5: the modes of body.vibration. Its time is the phase "view". Nothing where the body has
// no mesh.
std::string write_body_view(FeBody& body, const std::filesystem::path& folder, Diagnostics& diagnostics,
                            const ProgressHook& progress = {});
// NAME_free_modes.view.h5: the natural modes in range of a reduced body that knows all of its nodes.
std::string write_reduction_view(FeBody& body, const ReducedBody& reduced,
                                 const std::filesystem::path& folder, Diagnostics& diagnostics,
                                 const ProgressHook& progress = {});
// system_modes.view.h5. `make` builds the system that was linearised.
std::string write_system_modes_view(const StudyFile& study, const Linearisation& model, int count,
                                    const std::function<StudySystem()>& make,
                                    const std::function<BodyMeshes()>& meshes,
                                    const std::filesystem::path& folder, Diagnostics& diagnostics,
                                    const ProgressHook& progress = {});

}  // namespace lissom

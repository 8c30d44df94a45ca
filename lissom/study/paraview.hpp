// Motions and modes of a mechanism on the meshes of its bodies, for ParaView (io/exodus.hpp).
#pragma once

#include <Eigen/Core>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "lissom/core/progress.hpp"
#include "lissom/fe/mesh.hpp"
#include "lissom/io/exodus.hpp"
#include "lissom/study/body_store.hpp"
#include "lissom/study/simulate.hpp"

namespace lissom {

// Meshes by the name of their body, or of a part of a reduced mechanism.
using BodyMeshes = std::map<std::string, std::shared_ptr<const Mesh>>;

// Which nodes of which bodies are shown, and where they are.
class Scene {
 public:
  // Told the name of a body that is left out, and why.
  using LeftOut = std::function<void(const std::string& name, const std::string& why)>;
  // The bodies of `chosen` (all, where it is empty) that are beams or have a mesh whose nodes the mechanism
  // has: all of its elements if `whole`, some of them otherwise. Throws InputError: a chosen body that there
  // is not.
  Scene(const System& system, const BodyMeshes& meshes, const std::vector<std::string>& chosen,
        const SourcePos& where, const LeftOut& left_out, bool whole = true);

  struct Part {
    int body = 0;
    NodeGroup group;
    int group_index = 0;  // in node_groups()
    std::shared_ptr<const Mesh> mesh;
    bool beam = false;       // nodes in a row, without elements
    bool complete = true;    // all nodes of its elements are there
    std::vector<int> at;     // of each node of the mesh: place in the group, -1 without
    Eigen::Index first = 0;  // its first node here
  };
  const std::vector<Part>& parts() const { return parts_; }
  Eigen::Index nodes() const { return nodes_; }

  // 3 by nodes, in the global frame; nodes that the mechanism does not have are zero. [m], [m/s]
  void positions(const Eigen::Ref<const Eigen::VectorXd>& q, Eigen::MatrixXd& x) const;
  void velocities(const Eigen::Ref<const Eigen::VectorXd>& q, const Eigen::Ref<const Eigen::VectorXd>& v,
                  Eigen::MatrixXd& x) const;
  // For a writer, with the points at x.
  std::vector<ExodusPart> exodus_parts(const Eigen::MatrixXd& x) const;

 private:
  template <class Nodes>
  void gather(const Nodes& of_body, Eigen::MatrixXd& x) const;

  const System& system_;
  std::vector<Part> parts_;
  Eigen::Index nodes_ = 0;
};

// For ParaView: bodies that cannot be shown are warnings. Throws InputError: a chosen body that there is not,
// or nothing to show.
Scene paraview_scene(const System& system, const BodyMeshes& meshes, const std::vector<std::string>& chosen,
                     const SourcePos& where, Diagnostics& diagnostics);

// Whether the study, or one of its cases, asks for a run on the meshes.
bool wants_paraview(const StudyFile& study);
// Of the study's bodies: those that the store has, others as their files have them. Throws InputError: a mesh
// that cannot be read.
BodyMeshes meshes_to_show(const StudyFile& study, BodyStore& store, Diagnostics& diagnostics,
                          const ProgressHook& progress = {});

// folder/motion.exo: the points of the first sample, the vector displacement since then, the vector velocity,
// and where asked for the stress, at every so many samples. Its name is noted in the run's summary.
void write_motion(SimulationRun& run, const ParaviewSpec& spec, const BodyMeshes& meshes,
                  const std::filesystem::path& folder, Diagnostics& diagnostics,
                  const ProgressHook& progress = {});

struct SystemModesOptions {
  ModeScaling scaling = ModeScaling::BoundingBox;
  // Instants of a period that each mode is shown at: mode j takes the times j, j + 1/phases, ... before j
  // + 1.
  int phases = 1;
};

// Modes of a mechanism linearised at q. `shapes` (coordinates by modes, complex) are small changes of q;
// node displacements are exactly linear in them, u = d positions / dq shape. For mode j (from 1) at phase
// s in [0, 1) the vectors displacement = scale Re(u exp(2 pi i s)) and quadrature = scale Im(u exp(2 pi i
// s)), with the global values frequency_hz, damping_ratio and displacement_scale. Points are where q has
// them. `frequencies_hz` and `damping` have one number a mode; `damping` may be empty.
void write_system_modes(const System& system, const Eigen::Ref<const Eigen::VectorXd>& q,
                        const Eigen::Ref<const Eigen::MatrixXcd>& shapes,
                        const Eigen::Ref<const Eigen::VectorXd>& frequencies_hz,
                        const Eigen::Ref<const Eigen::VectorXd>& damping, const BodyMeshes& meshes,
                        const std::filesystem::path& path, Diagnostics& diagnostics,
                        const SystemModesOptions& options = {});

}  // namespace lissom

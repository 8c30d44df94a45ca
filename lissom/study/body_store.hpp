// The bodies of a study as a simulation needs them: reduced once, and used by every case that has the same
// body, whatever its formulation and place.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lissom/cms/gcms_model.hpp"
#include "lissom/core/diagnostics.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/fe/field_stress.hpp"
#include "lissom/study/body.hpp"

namespace lissom {

// The body in generalized component modes, from its reduction and its elements without spiders. Throws
// InputError: a reduction that keeps chosen nodes only, mass that is not m (x) I_3.
GcmsModel make_gcms_model(FeBody& body, const ReducedBody& reduced, Diagnostics& diagnostics,
                          const ProgressHook& progress = {});

// A body of a simulation before it has a formulation.
struct StoredBody {
  ReducedBody reduced;  // of flexible bodies, and of rigid ones that have been reduced
  GcmsModel gcms;       // where it was asked for
  // Of a rigid body from numbers or from an unreduced mesh.
  std::optional<RigidBodySpec> rigid;
  // Nodes and sets of a body that comes from a mesh or matrices, from which places are found
  // (named_nodes.hpp).
  FeModel places;
  // Where it was asked for (BodyStore): K and M without spiders, and the nodes that each interface's spider
  // ties, by index; none for interfaces of nodes.
  FeModel bare;
  std::vector<std::vector<int>> tied;
  std::shared_ptr<const Mesh> mesh;  // where it was asked for
  // Where they were asked for: of the reduced body's coordinates and of the component modes' fields.
  StressModes modal_stress, field_stress;
  bool from_mesh() const { return rigid && places.points.cols() > 0; }
};

class BodyStore {
 public:
  // `with_matrices` keeps each flexible body's finite-element matrices, too, for a training.
  // `with_meshes` keeps the meshes, for ParaView. `stress` keeps strain or stress modes, and meshes.
  explicit BodyStore(bool with_matrices = false, bool with_meshes = false,
                     const StressOptions& stress = {false, false})
      : with_matrices_(with_matrices),
        with_meshes_(with_meshes || stress.strain || stress.stress),
        stress_(stress) {}
  // Keeps a reduction that was made elsewhere.
  void keep(FeBody& body, const ReducedBody& reduced, const GcmsModel& gcms, Diagnostics& diagnostics);
  bool has(const BodySpec& spec) const { return bodies_.contains(spec.reduction_key); }
  // Reads or reduces the body unless it is there. Throws InputError with the place of the body's table.
  const StoredBody& get(const BodySpec& spec, Diagnostics& diagnostics, const ProgressHook& progress = {});
  // The same with its finite-element matrices without spiders (StoredBody::bare); a body without [reduce] is
  // not reduced. Throws InputError where the body has none: rigid ones, reduced-body files.
  const StoredBody& matrices(const BodySpec& spec, Diagnostics& diagnostics,
                             const ProgressHook& progress = {});

  // The mesh of a body, as the store has it or as its file does, then kept; null of bodies without one.
  // Throws InputError where it cannot be read.
  std::shared_ptr<const Mesh> mesh(const BodySpec& spec, Diagnostics& diagnostics,
                                   const ProgressHook& progress = {});

  // Strain and stress at the nodes of a flexible body for unit amplitudes of its deformation in the spec's
  // formulation (Body::deformation), as far as the store was told to keep them. Throws InputError where there
  // are none: a rigid body, a file or reduction without stress modes, no mesh.
  StressModes stress_modes(const BodySpec& spec, Diagnostics& diagnostics, const ProgressHook& progress = {});

 private:
  void keep_stress(ReducedBody& reduced, StoredBody& stored) const;

  bool with_matrices_ = false, with_meshes_ = false;
  StressOptions stress_ = {false, false};
  std::map<std::string, StoredBody> bodies_;  // by BodySpec::reduction_key
  std::map<std::string, std::shared_ptr<const Mesh>> meshes_;
};

// A moving body of the formulation that the spec asks for.
std::unique_ptr<Body> make_body(const BodySpec& spec, const StoredBody& stored);

}  // namespace lissom

#include "lissom/study/body_store.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "lissom/fe/assembly.hpp"
#include "lissom/fe/rigid_body.hpp"
#include "lissom/io/reduced_body_file.hpp"
#include "lissom/mbs/floating_frame.hpp"
#include "lissom/mbs/gcms_body.hpp"
#include "lissom/study/reduce.hpp"

namespace lissom {

namespace {

// Runs `work` and puts the place of the body's table in front of messages that have none.
template <class Work>
auto at_body(const BodySpec& spec, Work work) {
  try {
    return work();
  } catch (const InputError& e) {
    const std::string what = e.what();
    if (spec.where.file.empty() || what.starts_with(spec.where.file)) throw;
    fail_input(spec.where, "bodies.{}: {}", spec.name, what);
  }
}

// Where the nodes of a body are, and what its sets are called.
FeModel places_of(const FeBody& body) {
  FeModel places;
  places.source = body.mesh.source;
  if (body.mesh.node_count() > 0) {
    places.points = body.mesh.points;
    places.node_ids = body.mesh.node_ids;
    places.node_sets = body.mesh.node_sets;
  } else {
    places.points = body.model.points;
    places.node_ids = body.model.node_ids;
    places.node_sets = body.model.node_sets;
  }
  return places;
}

// Mass, centre and inertia of a mesh or of matrices.
void make_rigid(FeBody& body, StoredBody& stored, Diagnostics& diagnostics, const ProgressHook& progress) {
  RigidBodySpec rigid;
  rigid.name = body.spec.name;
  if (body.report && body.report->mass && !body.spec.has_matrices()) {
    rigid.mass = body.report->mass->mass;
    rigid.centre = body.report->mass->centre;
    rigid.inertia = body.report->mass->inertia;
  } else {
    build_model(body, diagnostics, progress);
    const auto mass = rigid_mass(body.model);
    if (!mass || !mass->centre || !mass->inertia)
      fail_input("its mass, centre and inertia are not known; give them with rigid = {{ ... }}");
    rigid.mass = mass->mass.mean();
    rigid.centre = *mass->centre;
    rigid.inertia = *mass->inertia;
  }
  stored.places = places_of(body);
  rigid.nodes = stored.places.points;
  rigid.node_ids = stored.places.node_ids;
  stored.rigid = rigid;
}

// The nodes that each interface's spider ties; none for interfaces of nodes.
std::vector<std::vector<int>> tied_nodes(const FeBody& body, const ReducedBody& reduced) {
  std::vector<std::vector<int>> tied(reduced.interfaces.size());
  for (size_t i = 0; i < tied.size(); ++i) {
    const InterfaceFrame& interface = reduced.interfaces[i];
    if (interface.node_ids.size() != 1) continue;
    for (const Spider& spider : body.mesh.spiders)
      if (body.mesh.node_ids[spider.reference] == interface.node_ids.front()) tied[i] = spider.nodes;
  }
  return tied;
}

// K and M without spiders.
FeModel bare_model(FeBody& body, Diagnostics& diagnostics, const ProgressHook& progress) {
  if (body.spec.has_matrices() || body.mesh.spiders.empty()) {
    if (body.model.dof_count() == 0) build_model(body, diagnostics, progress);
    return body.model;
  }
  Mesh mesh = body.mesh;
  mesh.spiders.clear();
  AssemblyOptions options;
  options.mass = body.spec.mass;
  // reference nodes belong to nothing now, which the mesh's own assembly has nothing to say about
  Diagnostics expected;
  return assemble(mesh, options, expected);
}

}  // namespace

GcmsModel make_gcms_model(FeBody& body, const ReducedBody& reduced, Diagnostics& diagnostics,
                          const ProgressHook& progress) {
  if (progress) progress("component modes", -1);
  if (body.spec.reduce && !body.spec.reduce->options.nodes.empty())
    fail_input(
        "component modes need the modes at all nodes: leave out 'nodes' of [bodies.{}.reduce], or choose "
        "another "
        "formulation",
        body.spec.name);
  return make_gcms_model(bare_model(body, diagnostics, progress), reduced, tied_nodes(body, reduced));
}

void BodyStore::keep(FeBody& body, const ReducedBody& reduced, const GcmsModel& gcms,
                     Diagnostics& diagnostics) {
  StoredBody stored;
  stored.places = places_of(body);
  stored.reduced = reduced;
  stored.gcms = gcms;
  keep_stress(stored.reduced, stored);
  if (with_matrices_) {
    stored.bare = bare_model(body, diagnostics, {});
    stored.tied = tied_nodes(body, reduced);
  }
  if (with_meshes_) stored.mesh = std::make_shared<Mesh>(body.mesh);
  bodies_[body.spec.reduction_key] = std::move(stored);
}

const StoredBody& BodyStore::get(const BodySpec& spec, Diagnostics& diagnostics,
                                 const ProgressHook& progress) {
  const bool gcms = spec.formulation == Formulation::Gcms;
  const auto [it, is_new] = bodies_.try_emplace(spec.reduction_key);
  StoredBody& stored = it->second;
  try {
    if (is_new && spec.rigid) {
      stored.rigid = spec.rigid;
    } else if (is_new && !spec.reduced_file.empty()) {
      if (progress) progress("reading", -1);
      ReducedBodyParts parts;
      parts.strain_modes = stress_.strain;
      parts.stress_modes = stress_.stress;
      ReducedBodyFile file =
          at_body(spec, [&] { return read_reduced_body_file(spec.reduced_file, diagnostics, parts); });
      stored.reduced = std::move(file.body);
      keep_stress(stored.reduced, stored);
      stored.gcms = std::move(file.gcms);
    } else if (is_new || (gcms && stored.gcms.empty() && spec.reduced_file.empty()) ||
               (stored.rigid && spec.formulation != Formulation::Rigid)) {
      FeBody body = load_body(spec, diagnostics, progress);
      if (with_meshes_) stored.mesh = std::make_shared<Mesh>(body.mesh);
      if (!spec.reduce) {
        at_body(spec, [&] {
          if (spec.formulation != Formulation::Rigid)
            fail_input("a flexible body is to be reduced: add [bodies.{}.reduce]", spec.name);
          make_rigid(body, stored, diagnostics, progress);
        });
      } else {
        if (is_new) {
          Reduction reduction = reduce_body(body, diagnostics, progress);
          stored.reduced = std::move(reduction.body);
          stored.places = places_of(body);
          keep_stress(stored.reduced, stored);
          if (with_matrices_) {
            stored.bare = bare_model(body, diagnostics, progress);
            stored.tied = tied_nodes(body, stored.reduced);
          }
        }
        if (gcms)
          stored.gcms =
              at_body(spec, [&] { return make_gcms_model(body, stored.reduced, diagnostics, progress); });
      }
    }
    if (gcms && stored.gcms.empty())
      fail_input(
          spec.where,
          "bodies.{}: '{}' has no component modes; reduce it with gcms = true in [bodies.{}.reduce], or "
          "choose formulation = \"ffrf\"",
          spec.name, spec.reduced_file.string(), spec.name);
  } catch (...) {
    if (is_new) bodies_.erase(it);
    throw;
  }
  return stored;
}

const StoredBody& BodyStore::matrices(const BodySpec& spec, Diagnostics& diagnostics,
                                      const ProgressHook& progress) {
  if (spec.without_mesh() || spec.formulation == Formulation::Rigid)
    fail_input(
        spec.where,
        "bodies.{}: a whole mechanism is reduced from the finite elements of all its bodies, but this one "
        "{}; give it a mesh or matrices",
        spec.name, spec.reduced_file.empty() ? "is rigid" : "comes from a reduced-body file");
  if (spec.reduce) {
    // one that was reduced before anybody asked for matrices is done again
    if (const auto found = bodies_.find(spec.reduction_key);
        found != bodies_.end() && found->second.bare.dof_count() == 0)
      bodies_.erase(found);
    const bool before = std::exchange(with_matrices_, true);
    const StoredBody& stored = get(spec, diagnostics, progress);
    with_matrices_ = before;
    return stored;
  }
  const auto [it, is_new] = bodies_.try_emplace(spec.reduction_key + " matrices");
  if (is_new) {
    FeBody body = load_body(spec, diagnostics, progress);
    it->second.bare = at_body(spec, [&] { return bare_model(body, diagnostics, progress); });
    it->second.places = places_of(body);
    if (with_meshes_) it->second.mesh = std::make_shared<Mesh>(body.mesh);
  }
  return it->second;
}

std::shared_ptr<const Mesh> BodyStore::mesh(const BodySpec& spec, Diagnostics& diagnostics,
                                            const ProgressHook& progress) {
  if (spec.without_mesh()) return nullptr;
  for (const std::string& key : {spec.reduction_key, spec.reduction_key + " matrices"})
    if (const auto found = bodies_.find(key); found != bodies_.end() && found->second.mesh)
      return found->second.mesh;
  std::shared_ptr<const Mesh>& mesh = meshes_[spec.reduction_key];
  if (!mesh) mesh = std::make_shared<Mesh>(load_body(spec, diagnostics, progress).mesh);
  return mesh;
}

// Modes that are not wanted are not needed to move the body, and large.
void BodyStore::keep_stress(ReducedBody& reduced, StoredBody& stored) const {
  const auto take = [](Eigen::MatrixXd& modes, bool wanted, std::shared_ptr<const Eigen::MatrixXd>& to) {
    if (wanted && modes.size() > 0) to = std::make_shared<Eigen::MatrixXd>(std::move(modes));
    modes.resize(0, 0);
  };
  take(reduced.strain_modes, stress_.strain, stored.modal_stress.strain);
  take(reduced.stress_modes, stress_.stress, stored.modal_stress.stress);
}

StressModes BodyStore::stress_modes(const BodySpec& spec, Diagnostics& diagnostics,
                                    const ProgressHook& progress) {
  LISSOM_ASSERT(stress_.strain || stress_.stress);
  const StoredBody& stored = get(spec, diagnostics, progress);
  const auto lacks = [&](const StressModes& modes) {
    return (stress_.strain && !modes.strain) || (stress_.stress && !modes.stress);
  };
  if (stored.rigid || spec.formulation == Formulation::Rigid)
    fail_input(spec.where, "bodies.{}: is rigid, and a rigid body has no stress; choose another formulation",
               spec.name);
  if (spec.formulation != Formulation::Gcms) {
    if (!lacks(stored.modal_stress)) return stored.modal_stress;
    if (!spec.reduced_file.empty())
      fail_input(spec.where,
                 "bodies.{}: '{}' has no stress modes; reduce the body again from its mesh, without stress = "
                 "false in [bodies.{}.reduce]",
                 spec.name, spec.reduced_file.string(), spec.name);
    if (!spec.reduce->options.stress)
      fail_input(spec.where,
                 "bodies.{}: stress is asked for, but its reduction has no stress modes: leave out stress = "
                 "false in [bodies.{}.reduce]",
                 spec.name, spec.name);
    fail_input(spec.where,
               "bodies.{}: stress is computed from elements, and this body has matrices but no mesh; give it "
               "one with mesh = \"FILE\"",
               spec.name);
  }
  StressModes& modes = bodies_.at(spec.reduction_key).field_stress;
  if (!lacks(modes)) return modes;
  if (!spec.reduced_file.empty())
    fail_input(
        spec.where,
        "bodies.{}: stress in component modes is computed from the elements, which '{}' does not have; "
        "give the body its mesh and [bodies.{}.reduce] in place of the file, or choose formulation = "
        "\"ffrf\"",
        spec.name, spec.reduced_file.string(), spec.name);
  modes = at_body(spec, [&] {
    return field_stress_modes(*stored.mesh, stored.gcms.node_ids, stored.gcms.S, stress_, progress);
  });
  return modes;
}

std::unique_ptr<Body> make_body(const BodySpec& spec, const StoredBody& stored) {
  return at_body(spec, [&]() -> std::unique_ptr<Body> {
    if (stored.rigid) {
      RigidBodySpec rigid = *stored.rigid;
      rigid.name = spec.name;
      return make_rigid_body(rigid);
    }
    switch (spec.formulation) {
      case Formulation::Ffrf:
        return make_ffrf_body(spec.name, stored.reduced);
      case Formulation::Fncf:
        return make_fncf_body(spec.name, stored.reduced);
      case Formulation::Gcms:
        return make_gcms_body(spec.name, stored.gcms);
      case Formulation::Rigid:
        return make_rigid_body(spec.name, stored.reduced);
      case Formulation::Ancf:  // several may make one body: beam_groups.hpp
        break;
    }
    LISSOM_ASSERT(false);
    return nullptr;
  });
}

}  // namespace lissom

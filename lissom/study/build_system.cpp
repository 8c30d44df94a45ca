#include "lissom/study/build_system.hpp"

#include <Eigen/Geometry>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "lissom/core/polar.hpp"
#include "lissom/core/text.hpp"
#include "lissom/fe/named_nodes.hpp"
#include "lissom/io/rom_file.hpp"
#include "lissom/rom/slap/slap_body.hpp"
#include "lissom/study/beam_groups.hpp"
#include "lissom/study/joint_gaps.hpp"
#include "lissom/study/pod_system.hpp"

namespace lissom {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using nlohmann::json;

namespace {

// Frames of joints that are this far apart, relative to the size of the system, do not meet.
constexpr double gap_tolerance = 1e-6;

// A right-handed triad with the third axis along `axis` and the first one as near to `reference` as can be;
// what is not given comes from `base`.
Matrix3d triad(const FrameSpec& frame, const Matrix3d& base) {
  const Vector3d z = frame.axis ? frame.axis->normalized() : Vector3d(base.col(2));
  Vector3d x = frame.reference ? frame.reference->normalized() : Vector3d(base.col(0));
  // an axis given alone may lie along the first axis of the base
  for (int k = 1; x.cross(z).norm() < 1e-3 && k < 3; ++k) x = base.col(k);
  Matrix3d A;
  A.col(2) = z;
  A.col(1) = z.cross(x).normalized();
  A.col(0) = A.col(1).cross(z);
  return A;
}

// What a system says is wrong with it, with the file that it came from.
template <class Function>
auto with_path(const StudyFile& study, Function&& function) {
  try {
    return function();
  } catch (const InputError& e) {
    fail_input("{}: {}", study.path.string(), e.what());
  }
}

[[noreturn]] void no_beam_stress(const std::string& name) {
  fail_input("'{}' is a beam (formulation = \"ancf\"), whose stress is not computed; leave it out", name);
}

// Joints, loads and sensors of a study; where places are on bodies is up to the two kinds of systems below.
class Builder {
 public:
  virtual ~Builder() = default;

  StudySystem build(Diagnostics& diagnostics) {
    const SimulationSpec& spec = *study_.simulation;
    System& system = *built_.system;
    system.set_gravity(spec.gravity);
    for (size_t j = 0; j < spec.joints.size() && !built_.rom; ++j) {
      const JointSpec& joint = spec.joints[j];
      if (is_shared(j))
        built_.shared_joints.push_back(joint.name);
      else
        attempt(joint.where, "joint", joint.name, [&] { add(joint); });
    }
    for (const LoadSpec& load : spec.loads)
      attempt(load.load.where, "load", load.load.name, [&] { add(load); });
    if (spec.simulate)
      for (const InputSpec& input : spec.simulate->inputs)
        if (system.find_input(input.name) >= 0) system.set_input(input.name, input.value);
    for (const SensorSpec& sensor : spec.sensors)
      attempt(sensor.where, "sensor", sensor.name, [&] { add(sensor); });
    if (spec.simulate && spec.simulate->stress) add(*spec.simulate->stress);
    if (spec.simulate && spec.simulate->paraview && spec.simulate->paraview->stress) {
      StressSpec all;
      all.where = spec.simulate->paraview->where;
      add(all);
    }
    if (!problems_.empty()) throw InputError(fmt::format("{}", fmt::join(problems_, "\n")));
    if (!left_out_.empty())
      diagnostics.warn(
          "simulate.joint-sensors",
          fmt::format("joints are part of the reduced model and are not measured: {} '{}' {} left "
                      "out",
                      left_out_.size() == 1 ? "the sensor" : "the sensors", fmt::join(left_out_, "', '"),
                      left_out_.size() == 1 ? "is" : "are"));
    system.initial(built_.q, built_.v);
    return std::move(built_);
  }

 protected:
  explicit Builder(const StudyFile& study) : study_(study) { built_.system = std::make_unique<System>(); }

  // Whether a joint of the study is part of a body.
  virtual bool is_shared(size_t) const { return false; }
  // The axes that belong to a place at the start.
  virtual Matrix3d base_axes(const PlaceSpec& place) = 0;
  // A marker with these axes at the start. The place is not on the ground.
  virtual MarkerRef body_marker(const PlaceSpec& place, const Matrix3d& axes) = 0;
  // The nodes of a place, and the group that they belong to (without modes).
  virtual GroupStress stress_place(const PlaceSpec& place, std::vector<std::int64_t>& node_ids) = 0;
  // Modes and mesh of the group.
  virtual void fill_stress(GroupStress& group) = 0;

  void add_body(std::unique_ptr<Body> body, const Placement& placement = {}) {
    built_.system->add_body(std::move(body), placement);
    workspaces_.push_back(built_.system->bodies().back()->workspace());
  }

  // Where a body's marker is as the bodies are placed: what free lengths and points of the ground are counted
  // from.
  virtual Vector3d placed(MarkerRef ref) { return start(ref).position(); }

  // A body's marker at the start.
  const MarkerKinematics& start(MarkerRef ref) {
    const Body& body = *built_.system->bodies()[ref.body];
    VectorXd q(body.coordinates()), v(body.coordinates());
    body.place(built_.system->placement(ref.body), q, v);
    body.marker(ref.marker, q, v, false, *workspaces_[ref.body], kinematics_);
    return kinematics_;
  }

  const StudyFile& study_;
  StudySystem built_;

 private:
  template <class Work>
  void attempt(const SourcePos& where, const char* what, const std::string& name, Work work) {
    try {
      work();
    } catch (const InputError& e) {
      const std::string message = e.what();
      const bool placed = !where.file.empty() && message.starts_with(where.file);
      problems_.push_back(placed ? message
                                 : fmt::format("{}: {} '{}': {}", to_string(where), what, name, message));
    }
  }

  // Both markers; the ground's is at `at`, or `offset` from the other one where that is not given.
  std::pair<MarkerRef, MarkerRef> markers(const PlaceSpec& first, const PlaceSpec& second,
                                          const FrameSpec& frame, const Matrix3d& first_axes,
                                          const Matrix3d& second_axes, const Vector3d& offset) {
    System& system = *built_.system;
    if (first.is_ground()) {
      const MarkerRef b = body_marker(second, second_axes);
      return {system.add_ground_marker(frame.at.value_or(Vector3d(placed(b) - offset)), first_axes), b};
    }
    const MarkerRef a = body_marker(first, first_axes);
    if (second.is_ground())
      return {a, system.add_ground_marker(frame.at.value_or(Vector3d(placed(a) + offset)), second_axes)};
    return {a, body_marker(second, second_axes)};
  }

  Vector3d position(MarkerRef ref) {
    return ref.body < 0 ? Vector3d(built_.system->ground_marker(ref.marker).head<3>()) : placed(ref);
  }

  void add_joint(Joint joint, const PlaceSpec& first, const PlaceSpec& second) {
    built_.system->add_joint(std::move(joint));
    built_.joint_places.emplace_back(first.text, second.text);
  }

  void add(const JointSpec& spec) {
    check_beam_joint(study_, spec);
    Joint joint;
    joint.name = spec.name;
    joint.kind = spec.kind;
    joint.where = spec.where;
    if (spec.and_between) {
      joint.kind = JointKind::Spherical;
      const std::pair<const PlaceSpec*, const PlaceSpec*> pairs[] = {
          {&spec.first, &spec.second}, {&spec.and_between->first, &spec.and_between->second}};
      for (int k = 0; k < 2; ++k) {
        joint.name = fmt::format("{}.{}", spec.name, k + 1);
        std::tie(joint.first, joint.second) =
            markers(*pairs[k].first, *pairs[k].second, k == 0 ? spec.frame : FrameSpec{},
                    Matrix3d::Identity(), Matrix3d::Identity(), Vector3d::Zero());
        add_joint(joint, *pairs[k].first, *pairs[k].second);
      }
      return;
    }
    const std::optional<JointKind> motion = traits(spec.kind).motion;
    const Matrix3d A = triad(spec.frame, base_axes(spec.first));
    const double f0 = spec.motion ? (*spec.motion)(0) : 0;
    const Matrix3d B = motion == JointKind::Angle ? Matrix3d(Eigen::AngleAxisd(f0, A.col(2)) * A) : A;
    const Vector3d offset = motion == JointKind::Displacement ? Vector3d(f0 * A.col(2)) : Vector3d::Zero();
    if (spec.kind == JointKind::Distance && (spec.first.is_ground() || spec.second.is_ground()) &&
        !spec.frame.at)
      fail_input("at is missing: the point of the ground from which the distance is measured");
    std::tie(joint.first, joint.second) = markers(spec.first, spec.second, spec.frame, A, B, offset);
    if (spec.motion) joint.motion = *spec.motion;
    if (spec.kind == JointKind::Distance && !spec.motion) {
      const double distance = (position(joint.second) - position(joint.first)).norm();
      if (!(distance > 0))
        fail_input("both places are at the same point, so that there is no distance to keep");
      joint.motion = distance;
    }
    const bool driven = spec.motion && !is_driven(spec.kind);
    if (driven) joint.motion = 0.0;
    add_joint(joint, spec.first, spec.second);
    if (!driven) return;
    joint.name += ".motion";
    joint.kind = motion.value();
    joint.motion = *spec.motion;
    add_joint(joint, spec.first, spec.second);
  }

  void add(const LoadSpec& spec) {
    Load load = spec.load;
    const Matrix3d A = triad(spec.frame, base_axes(spec.first));
    if (spec.second && load.has_second) {
      std::tie(load.first, load.second) =
          markers(spec.first, *spec.second, spec.frame, A, A, Vector3d::Zero());
    } else {
      load.first = body_marker(spec.first, A);
      load.second = built_.system->add_ground_marker(placed(load.first), A);
    }
    if (load.kind == LoadKind::Torque && load.following) check_torque(spec.first, load, A);
    if (load.kind == LoadKind::Spring || load.kind == LoadKind::LineForce) {
      const double distance = (position(load.second) - position(load.first)).norm();
      if (!(distance > 0))
        fail_input("both ends are at the same point, so that there is no direction in which it could act{}",
                   spec.first.is_ground() || (spec.second && spec.second->is_ground())
                       ? "; 'at' says where the end on the ground is"
                       : "");
      if (load.kind == LoadKind::Spring && !spec.has_length) load.length = distance;
    }
    built_.system->add_load(std::move(load));
  }

  // Axes of a spatial beam turn with its tangent by the smallest rotation, whose own twist would do work on a
  // torque along the beam.
  void check_torque(const PlaceSpec& place, const Load& load, const Matrix3d& axes) {
    for (const BodySpec& body : study_.bodies) {
      if (body.name != place.part || !body.ancf || body.ancf->dimension == 2) continue;
      const Vector3d tangent = (body.ancf->beam.to - body.ancf->beam.from).normalized();
      for (int k = 0; k < 3; ++k)
        if (!(load.components[k].is_constant() && load.components[k](0) == 0) &&
            std::abs(axes.col(k).dot(tangent)) > 1e-9)
          fail_input(
              "this torque follows a spatial beam and has a part along it, which a beam that knows no twist "
              "cannot take; give components across the beam only (its axes at the start are those of 'axis' "
              "and 'reference')");
    }
  }

  // The group with its modes, once for all that ask for it.
  const GroupStress& with_stress(GroupStress group) {
    for (const GroupStress& there : built_.stress)
      if (there.body == group.body && there.group == group.group) return there;
    fill_stress(group);
    built_.stress.push_back(std::move(group));
    return built_.stress.back();
  }

  void add_stress_sensor(const SensorSpec& spec, Sensor& sensor) {
    StressPlace& place = sensor.stress;
    place.components = spec.components;
    const GroupStress& group = with_stress(stress_place(*spec.place, place.node_ids));
    place.body = group.body;
    place.group = group.group;
    const Body& body = *built_.system->bodies()[place.body];
    const NodeGroup nodes = body.node_groups()[static_cast<size_t>(place.group)];
    const auto begin = body.node_ids().begin() + nodes.first, end = begin + nodes.count;
    const auto& modes = spec.kind == SensorKind::Strain ? group.modes.strain : group.modes.stress;
    LISSOM_ASSERT(modes && modes->rows() == 6 * nodes.count);
    place.modes.resize(6 * static_cast<Eigen::Index>(place.node_ids.size()), modes->cols());
    for (size_t i = 0; i < place.node_ids.size(); ++i) {
      const auto found = std::find(begin, end, place.node_ids[i]);
      if (found == end)
        fail_input("'{}': stress is known at the {} nodes kept of '{}', and {} is none of them",
                   spec.place->text, nodes.count, group.name, place.node_ids[i]);
      const auto rows = modes->middleRows(6 * (found - begin), 6);
      if (rows.isZero(0))
        fail_input(
            "'{}': node {} of '{}' belongs to no element, so that there is no stress at it; name a node of "
            "elements",
            spec.place->text, place.node_ids[i], group.name);
      place.modes.middleRows(6 * static_cast<Eigen::Index>(i), 6) = rows;
    }
  }

  // [simulate.stress]
  void add(const StressSpec& spec) {
    std::vector<std::string> names;
    const auto& bodies = built_.system->bodies();
    std::vector<GroupStress> all;
    for (size_t b = 0; b < bodies.size(); ++b) {
      const std::vector<NodeGroup> groups = bodies[b]->node_groups();
      std::vector<std::string> parts = bodies[b]->part_names();
      for (size_t g = 0; g < groups.size(); ++g) {
        GroupStress group;
        group.name = groups[g].name;
        group.body = static_cast<int>(b);
        group.group = static_cast<int>(g);
        const bool flexible = groups[g].count > 0 && bodies[b]->deformation_basis(group.group).size > 0;
        names.push_back(group.name);
        // named ones that are rigid have a message of their own
        if (flexible || !spec.all) all.push_back(std::move(group));
        std::erase(parts, groups[g].name);
      }
      // parts whose nodes the model does not keep
      for (const std::string& part : parts) {
        GroupStress group;
        group.name = part;
        group.body = static_cast<int>(b);
        group.group = -1;
        names.push_back(part);
        all.push_back(std::move(group));
      }
    }
    if (all.empty())
      problems_.push_back(fmt::format("{}: simulate.stress: there is no flexible body{}",
                                      to_string(spec.where),
                                      has_beams() ? " but beams, whose stress is not computed" : ""));
    for (const std::string& name : spec.all ? std::vector<std::string>() : spec.bodies)
      if (std::find(names.begin(), names.end(), name) == names.end())
        problems_.push_back(fmt::format("{}: simulate.stress.bodies: there is no body '{}'{}; there are: {}",
                                        to_string(spec.where), name, did_you_mean(name, names),
                                        fmt::join(names, ", ")));
    for (const GroupStress& group : all)
      if (spec.all || std::find(spec.bodies.begin(), spec.bodies.end(), group.name) != spec.bodies.end())
        attempt(spec.where, "simulate.stress of", group.name, [&] { with_stress(group); });
  }

  bool has_beams() const {
    return std::any_of(study_.bodies.begin(), study_.bodies.end(),
                       [](const BodySpec& body) { return body.ancf.has_value(); });
  }

  void add(const SensorSpec& spec) {
    Sensor sensor;
    sensor.name = spec.name;
    sensor.kind = spec.kind;
    sensor.where = spec.where;
    if (is_stress(spec.kind)) {
      add_stress_sensor(spec, sensor);
    } else if (spec.place) {
      sensor.marker = body_marker(*spec.place, base_axes(*spec.place));
      if (needs_axes(spec.kind) &&
          !built_.system->bodies()[sensor.marker.body]->marker_rotates(sensor.marker.marker))
        fail_input("'{}' has no rotation: a single node only moves; take an interface or several nodes",
                   spec.place->text);
    } else if (spec.kind == SensorKind::LoadValue) {
      const auto& loads = built_.system->loads();
      for (size_t i = 0; i < loads.size(); ++i)
        if (loads[i].name == spec.of) sensor.index = static_cast<int>(i);
    } else if (spec.kind != SensorKind::Energy) {
      if (built_.rom || (built_.pod && traits(spec.kind).is_force)) {
        left_out_.push_back(spec.name);
        return;
      }
      sensor.index = built_.system->find_joint(spec.of);
    }
    // a joint or load that could not be made has its own message
    if (!spec.of.empty() && !spec.place && sensor.index < 0) return;
    built_.sensors.push_back(std::move(sensor));
  }

  std::vector<std::unique_ptr<Body::Workspace>> workspaces_;
  MarkerKinematics kinematics_;
  std::vector<std::string> problems_, left_out_;
};

// Bodies of the study, each in its formulation and place.
class BodyBuilder final : public Builder {
 public:
  BodyBuilder(const StudyFile& study, BodyStore& store, Diagnostics& diagnostics,
              const ProgressHook& progress)
      : Builder(study), store_(store), diagnostics_(diagnostics), progress_(progress) {
    plan_ = plan_beams(study, diagnostics);
    for (size_t i = 0; i < study.bodies.size(); ++i) {
      const BodySpec& spec = study.bodies[i];
      if (spec.ancf) {
        add_beam(static_cast<int>(i));
        continue;
      }
      const StoredBody& stored = store.get(spec, diagnostics, progress);
      stored_.push_back(&stored);
      add_body(static_cast<int>(i), make_body(spec, stored), spec.placement);
    }
    const Vector3d& gravity = study.simulation->gravity;
    for (const BeamGroup& group : plan_.groups)
      if (group.model.dimension == 2 && gravity.z() != 0)
        diagnostics.warn(
            "simulate.gravity-across",
            fmt::format("gravity has a z component, which does nothing to beams in the plane ('{}')",
                        group.name));
  }

 private:
  const Placement& placement(const PlaceSpec& place) const { return study_.bodies[place.body].placement; }
  bool is_shared(size_t joint) const override { return plan_.shared[joint]; }

  void add_body(int of_study, std::unique_ptr<Body> body, const Placement& placement) {
    of_system_.push_back(static_cast<int>(of_study_.size()));
    of_study_.push_back(of_study);
    Builder::add_body(std::move(body), placement);
  }

  // The group of a beam, where it is the first of it.
  void add_beam(int index) {
    stored_.push_back(nullptr);
    for (const BeamGroup& group : plan_.groups) {
      if (group.bodies.front() == index) {
        const BodySpec& spec = study_.bodies[index];
        try {
          add_body(index, std::make_unique<AncfBody>(group.name, group.model), {});
        } catch (const InputError& e) {
          fail_input(spec.where, "bodies.{}: {}", spec.name, e.what());
        }
        return;
      }
      if (std::find(group.bodies.begin(), group.bodies.end(), index) == group.bodies.end()) continue;
      of_system_.push_back(of_system_[group.bodies.front()]);
      return;
    }
    LISSOM_ASSERT(false);
  }

  // The axes that belong to a place at the start: the interface's, or the body's.
  Matrix3d base_axes(const PlaceSpec& place) override {
    if (place.is_ground()) return Matrix3d::Identity();
    Matrix3d axes = Matrix3d::Identity();
    if (place.marker.kind == MarkerSpec::Kind::Interface && stored_[place.body])
      for (const InterfaceFrame& interface : stored_[place.body]->reduced.interfaces)
        if (interface.name == place.marker.name) axes = interface.axes;
    return placement(place).rotation * axes;
  }

  MarkerRef body_marker(const PlaceSpec& place, const Matrix3d& axes) override {
    LISSOM_ASSERT(!place.is_ground());
    MarkerSpec spec = place.marker;
    spec.axes = placement(place).rotation.transpose() * axes;
    const int body = of_system_[place.body];
    if (!stored_[place.body]) return built_.system->add_marker(body, spec);
    const StoredBody& stored = *stored_[place.body];
    if (stored.from_mesh()) resolve_in_mesh(stored, spec);
    if (spec.kind == MarkerSpec::Kind::Interface)
      resolve_node_set(stored, study_.bodies[place.body].name, spec);
    return built_.system->add_marker(body, spec);
  }

  GroupStress stress_place(const PlaceSpec& place, std::vector<std::int64_t>& node_ids) override {
    const BodySpec& body = study_.bodies[place.body];
    GroupStress group;
    group.name = body.name;
    group.body = of_system_[place.body];
    if (body.ancf) no_beam_stress(body.name);
    if (body.formulation == Formulation::Rigid) return group;  // fill_stress() says so
    MarkerSpec spec = place.marker;
    if (spec.kind == MarkerSpec::Kind::Interface) resolve_node_set(*stored_[place.body], body.name, spec);
    node_ids = spec.node_ids;
    if (spec.kind == MarkerSpec::Kind::Interface)
      for (const InterfaceFrame& interface : stored_[place.body]->reduced.interfaces)
        if (interface.name == spec.name) node_ids = interface.node_ids;
    return group;
  }

  void fill_stress(GroupStress& group) override {
    const int of_study = of_study_[group.body];
    const BodySpec& spec = study_.bodies[of_study];
    if (spec.ancf) no_beam_stress(group.name);
    group.modes = store_.stress_modes(spec, diagnostics_, progress_);
    group.mesh = stored_[of_study]->mesh;
  }

  // A place of a rigid body from a mesh is the mean of its nodes.
  static void resolve_in_mesh(const StoredBody& stored, MarkerSpec& spec) {
    std::vector<int> nodes;
    if (spec.kind == MarkerSpec::Kind::Nodes)
      for (const std::int64_t id : spec.node_ids) {
        const auto found = named_nodes(stored.places, fmt::format("node {}", id), "for a marker");
        nodes.insert(nodes.end(), found.begin(), found.end());
      }
    else
      nodes = named_nodes(stored.places, spec.name, "for a marker");
    spec.kind = MarkerSpec::Kind::Point;
    spec.name.clear();
    spec.node_ids.clear();
    spec.point.setZero();
    for (const int node : nodes)
      spec.point += stored.places.points.col(node) / static_cast<double>(nodes.size());
  }

  // What is no interface of a flexible body may be a node set of its mesh.
  static void resolve_node_set(const StoredBody& stored, const std::string& body, MarkerSpec& spec) {
    std::vector<std::string> names;
    for (const InterfaceFrame& interface : stored.reduced.interfaces) {
      if (interface.name == spec.name) return;
      names.push_back(interface.name);
    }
    const auto set = stored.places.node_sets.find(spec.name);
    if (set == stored.places.node_sets.end()) {
      for (const auto& [name, nodes] : stored.places.node_sets) names.push_back(name);
      std::sort(names.begin(), names.end());
      names.erase(std::unique(names.begin(), names.end()), names.end());
      fail_input("body '{}' has no interface or node set '{}'{}; there are: {}", body, spec.name,
                 did_you_mean(spec.name, names), fmt::join(names, ", "));
    }
    spec.kind = MarkerSpec::Kind::Nodes;
    for (const int node : set->second) spec.node_ids.push_back(stored.places.node_ids[node]);
  }

  BodyStore& store_;
  Diagnostics& diagnostics_;
  const ProgressHook& progress_;
  BeamPlan plan_;
  std::vector<const StoredBody*> stored_;  // of the study's bodies; null of beams
  std::vector<int> of_system_, of_study_;  // places of the study's bodies in the system, and the other way
};

// A mechanism reduced as a whole; places are the model's frames, and its nodes where it has them.
class RomBuilder final : public Builder {
 public:
  RomBuilder(const StudyFile& study, const SlapModel& model) : Builder(study) {
    const bool exact =
        study.simulation && study.simulation->simulate && study.simulation->simulate->exact_kernel;
    built_.rom = std::make_shared<const SlapModel>(exact ? without_polynomial(model) : model);
    for (const SlapPart& part : model.parts) parts_.push_back(part.name);
    add_body(make_slap_body("mechanism", *built_.rom));
  }

 private:
  Matrix3d base_axes(const PlaceSpec& place) override {
    if (place.is_ground()) return Matrix3d::Identity();
    const SlapFrame* frame = nullptr;
    const MarkerSpec spec = resolve(place, frame);
    const Matrix3d turned = rotation(spec, add_marker(spec, frame));
    return frame ? Matrix3d(turned * frame->axes) : turned;
  }

  MarkerRef body_marker(const PlaceSpec& place, const Matrix3d& axes) override {
    LISSOM_ASSERT(!place.is_ground());
    const SlapFrame* frame = nullptr;
    MarkerSpec spec = resolve(place, frame);
    const MarkerRef ref = add_marker(spec, frame);
    if (!built_.system->marker_rotates(ref)) return ref;
    spec.axes = rotation(spec, ref).transpose() * axes;
    return add_marker(spec, frame);
  }

  // Where the model knows how its parts were placed, derived numbers are those of the full model; the start
  // may be elsewhere: assembled, or at rest under the loads.
  Vector3d placed(MarkerRef ref) override {
    const std::optional<Vector3d>& known = placed_.at(static_cast<size_t>(ref.marker));
    return known ? *known : Builder::placed(ref);
  }

  // How far a place has turned since it was at rest.
  Matrix3d rotation(const MarkerSpec& spec, MarkerRef ref) {
    for (const SlapPart& part : built_.rom->parts)
      if (part.name == spec.part && part.placed) return part.placed->rotation;
    if (!built_.system->marker_rotates(ref)) return Matrix3d::Identity();
    // axes that are linear in the coordinates are a rotation but for a millionth
    const Matrix3d axes = start(ref).axes();
    return built_.rom->polynomial ? polar(axes).A : axes;
  }

  MarkerRef add_marker(const MarkerSpec& spec, const SlapFrame* frame) {
    const MarkerRef ref = built_.system->add_marker(0, spec);
    placed_.resize(static_cast<size_t>(ref.marker) + 1);
    for (const SlapPart& part : built_.rom->parts) {
      if (part.name != spec.part || !part.placed) continue;
      Vector3d rest = Vector3d::Zero();
      if (frame) {
        rest = frame->rest;
      } else {
        for (const std::int64_t id : spec.node_ids) {
          const auto at = std::find(part.node_ids.begin(), part.node_ids.end(), id) - part.node_ids.begin();
          rest += part.points.col(at) / static_cast<double>(spec.node_ids.size());
        }
      }
      placed_[static_cast<size_t>(ref.marker)] = part.placed->position + part.placed->rotation * rest;
    }
    return ref;
  }

  GroupStress stress_place(const PlaceSpec& place, std::vector<std::int64_t>& node_ids) override {
    std::string rest;
    const SlapPart& part = part_of(place, rest);
    GroupStress group;
    group.name = part.name;
    group.group = -1;
    const std::vector<NodeGroup> groups = built_.system->bodies().front()->node_groups();
    for (size_t g = 0; g < groups.size(); ++g)
      if (groups[g].name == part.name) group.group = static_cast<int>(g);
    node_ids = node_numbers(rest);
    std::vector<std::string> names;
    for (const SlapFrame& frame : built_.rom->frames) {
      if (frame.part != static_cast<int>(&part - built_.rom->parts.data()) || frame.node_ids.empty())
        continue;
      names.push_back(frame.name);
      if (node_ids.empty() && frame.name == rest) node_ids = frame.node_ids;
    }
    if (node_ids.empty() && part.has_nodes())
      fail_input(
          "'{}': the model does not know the nodes of '{}'{}; name it in 'places' of [train] and train "
          "again, "
          "or name nodes by their numbers, \"{}.node 17\" or \"{}.nodes 17 18\"; places with nodes: {}",
          place.text, rest, did_you_mean(rest, names), part.name, part.name,
          names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
    return group;
  }

  void fill_stress(GroupStress& group) override {
    const StressOptions needs = stress_needs(*study_.simulation);
    for (const SlapPart& part : built_.rom->parts) {
      if (part.name != group.name) continue;
      if (!part.has_nodes())
        fail_input(
            "the model keeps no nodes of '{}' (recovery = false), hence no stress; train it again with "
            "recovery = true and stress = true in [train]",
            part.name);
      group.modes = part.stress_modes;
    }
    if ((needs.stress && !group.modes.stress) || (needs.strain && !group.modes.strain))
      fail_input("the model has no {} modes of '{}'; train it again with stress = true in [train]",
                 needs.stress && !group.modes.stress ? "stress" : "strain", group.name);
  }

  // The part of a place, and what follows its name.
  const SlapPart& part_of(const PlaceSpec& place, std::string& rest) const {
    const int p = split_place(place.text, parts_, rest);
    if (p >= 0) return built_.rom->parts[p];
    const std::string name = place.text.substr(0, place.text.find('.'));
    fail_input("'{}': the model has no body '{}'{}; it has: {}", place.text, name, did_you_mean(name, parts_),
               fmt::join(parts_, ", "));
  }

  // The place as the model knows it, with the axes of its part.
  MarkerSpec resolve(const PlaceSpec& place, const SlapFrame*& frame) const {
    const SlapModel& model = *built_.rom;
    std::string rest;
    const SlapPart& part = part_of(place, rest);
    const int p = static_cast<int>(&part - model.parts.data());
    MarkerSpec spec;
    spec.part = part.name;
    spec.name = rest;
    spec.where = place.marker.where;
    std::vector<std::string> names;
    for (const SlapFrame& candidate : model.frames) {
      if (candidate.part != p) continue;
      names.push_back(candidate.name);
      if (candidate.name == rest) frame = &candidate;
    }
    if (frame) return spec;
    spec.node_ids = node_numbers(rest);
    std::string why = "the model has no such place";
    if (!spec.node_ids.empty()) {
      spec.kind = MarkerSpec::Kind::Nodes;
      why = "the model keeps no nodes (recovery = false)";
      if (part.has_nodes()) {
        std::vector<std::int64_t> missing;
        for (const std::int64_t id : spec.node_ids)
          if (std::find(part.node_ids.begin(), part.node_ids.end(), id) == part.node_ids.end())
            missing.push_back(id);
        if (missing.empty()) return spec;
        why = fmt::format("the body '{}' has no node {}; its {} nodes are numbered {} to {}", part.name,
                          missing.front(), part.node_ids.size(),
                          *std::min_element(part.node_ids.begin(), part.node_ids.end()),
                          *std::max_element(part.node_ids.begin(), part.node_ids.end()));
      }
    }
    fail_input(
        "'{}': {}{}; places of '{}' in the model: {}{}. To have others, name them in 'places' of [train] and "
        "train again{}",
        place.text, why, spec.node_ids.empty() ? did_you_mean(rest, names) : "", part.name,
        names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")),
        part.has_nodes() ? ", and every node" : "",
        part.has_nodes() ? "" : ", or keep all nodes with recovery = true");
  }

  std::vector<std::string> parts_;
  std::vector<std::optional<Vector3d>> placed_;  // of the markers, where it is known
};

// Beams on a basis; places are the nodes of the beams.
class PodBuilder final : public Builder {
 public:
  PodBuilder(const StudyFile& study, std::unique_ptr<PodBody> body, const StudySystem& full)
      : Builder(study), full_(full), parts_(body->part_names()) {
    built_.pod = body.get();
    add_body(std::move(body));
  }

 private:
  // those of space, as of the beams themselves
  Matrix3d base_axes(const PlaceSpec&) override { return Matrix3d::Identity(); }

  MarkerRef body_marker(const PlaceSpec& place, const Matrix3d& axes) override {
    LISSOM_ASSERT(!place.is_ground());
    MarkerSpec spec = place.marker;
    const int part = split_place(place.text, parts_, spec.name);
    if (part < 0) {
      const std::string name = place.text.substr(0, place.text.find('.'));
      fail_input("'{}': the model has no beam '{}'{}; it has: {}", place.text, name,
                 did_you_mean(name, parts_), fmt::join(parts_, ", "));
    }
    spec.part = parts_[part];
    spec.axes = axes;
    const MarkerRef ref = built_.system->add_marker(0, spec);
    placed_.resize(static_cast<size_t>(ref.marker) + 1);
    placed_.back() = placed(spec);
    return ref;
  }

  Vector3d placed(MarkerRef ref) override { return placed_.at(static_cast<size_t>(ref.marker)); }

  // Of the beam itself.
  Vector3d placed(const MarkerSpec& spec) const {
    System& system = *full_.system;
    const std::vector<const AncfBody*> bodies = ancf_bodies(system);
    for (size_t b = 0; b < bodies.size(); ++b)
      for (const AncfBeam& beam : bodies[b]->model().beams) {
        if (beam.name != spec.part) continue;
        const MarkerRef ref = system.add_marker(static_cast<int>(b), spec);
        const auto own = full_.q.segment(system.offset(ref.body), bodies[b]->coordinates());
        MarkerKinematics kinematics;
        bodies[b]->marker(ref.marker, own, VectorXd::Zero(own.size()), false, *bodies[b]->workspace(),
                          kinematics);
        return kinematics.position();
      }
    LISSOM_ASSERT(false);
    return Vector3d::Zero();
  }

  GroupStress stress_place(const PlaceSpec& place, std::vector<std::int64_t>&) override {
    no_beam_stress(place.text);
  }
  void fill_stress(GroupStress& group) override { no_beam_stress(group.name); }

  const StudySystem& full_;
  std::vector<std::string> parts_;
  std::vector<Vector3d> placed_;  // of the markers
};

// Without any of these tables there is nothing to be moved.
void expect_simulation(const StudyFile& study) {
  if (!study.simulation)
    fail_input("{}: has no joints, loads, sensors or [simulate] that a mechanism could be run with",
               study.path.string());
}

}  // namespace

StudySystem build_system(const StudyFile& study, BodyStore& store, Diagnostics& diagnostics,
                         const ProgressHook& progress) {
  expect_simulation(study);
  return BodyBuilder(study, store, diagnostics, progress).build(diagnostics);
}

StudySystem build_rom_system(const StudyFile& study, const SlapModel& model, Diagnostics& diagnostics) {
  expect_simulation(study);
  if (const std::string problem = poor(model.accuracy); !problem.empty())
    diagnostics.warn("rom.poor", fmt::format("the model is poor: {}. Do not rely on it: compare with model = "
                                             "\"full\", and train it again",
                                             problem));
  return RomBuilder(study, model).build(diagnostics);
}

StudySystem build_pod_system(const StudyFile& study, std::unique_ptr<PodBody> body, const StudySystem& full,
                             Diagnostics& diagnostics) {
  expect_simulation(study);
  return PodBuilder(study, std::move(body), full).build(diagnostics);
}

std::vector<const AncfBody*> ancf_bodies(const System& system) {
  std::vector<const AncfBody*> bodies;
  for (const auto& body : system.bodies()) {
    bodies.push_back(dynamic_cast<const AncfBody*>(body.get()));
    if (!bodies.back())
      fail_input(
          "'{}' is no beam (formulation = \"{}\"); all bodies have to be beams, formulation = \"ancf\"",
          body->name(), body->formulation());
  }
  return bodies;
}

VectorXd nodal_coordinates(const System& system, const VectorXd& q, bool rates) {
  const std::vector<const AncfBody*> bodies = ancf_bodies(system);
  int size = 0, at = 0;
  for (const AncfBody* body : bodies) size += body->nodal_coordinates();
  VectorXd E(size);
  for (size_t b = 0; b < bodies.size(); ++b) {
    const auto own = q.segment(system.offset(static_cast<int>(b)), bodies[b]->coordinates());
    E.segment(at, bodies[b]->nodal_coordinates()) =
        rates ? bodies[b]->nodal_rate(own) : bodies[b]->nodal(own);
    at += bodies[b]->nodal_coordinates();
  }
  return E;
}

StudySystem make_system(const StudyFile& study, BodyStore& store, Diagnostics& diagnostics,
                        const ProgressHook& progress) {
  if (!study.pod_rom.empty())
    return make_pod_system(study, read_pod_file(study.pod_rom, diagnostics), store, diagnostics, progress);
  if (study.rom.empty()) return build_system(study, store, diagnostics, progress);
  return build_rom_system(study, read_rom_file(study.rom, diagnostics).model, diagnostics);
}

void expect_joints_meet(const StudySystem& built, const StudyFile& study, const SystemCheck& check) {
  const System& system = *built.system;
  const bool may_move = study.simulation->simulate && study.simulation->simulate->assemble;
  if (!check.gaps.empty() && !may_move) {
    SystemEquations equations(system);
    std::vector<std::string> lines;
    for (const SystemCheck::Gap& gap : check.gaps) {
      const int j = system.find_joint(gap.joint);
      if (j < 0) {
        lines.push_back(fmt::format("{} is not satisfied at the start: {:.3g}", gap.joint, gap.distance));
        continue;
      }
      const Joint& joint = system.joints()[j];
      MarkerKinematics first, second;
      equations.marker(joint.first, built.q, built.v, false, first);
      equations.marker(joint.second, built.q, built.v, false, second);
      const auto& [a, b] = built.joint_places[j];
      lines.push_back(
          fmt::format("{}: joint '{}': its frames do not meet at the start, they are {} apart (tolerance "
                      "{:.1e}): '{}' is "
                      "at {} m, '{}' at {} m",
                      to_string(joint.where), joint.name,
                      gap.is_angle ? fmt::format("turned, sine of the angle {:.3g},", gap.distance)
                                   : fmt::format("{:.6g} m", gap.distance),
                      gap.is_angle ? gap_tolerance : gap_tolerance * equations.length(), a,
                      point_text(first.position()), b, point_text(second.position())));
    }
    fail_input(
        "{}\ncorrect position and rotation of the bodies, or let them be moved with assemble = true in "
        "[simulate]",
        fmt::join(lines, "\n"));
  }
}

void expect_joints_meet(const StudySystem& built, const StudyFile& study) {
  expect_joints_meet(built, study, check_system(*built.system, 0, built.q, gap_tolerance));
}

SystemCheck check_study_system(const StudySystem& built, const StudyFile& study, Diagnostics& diagnostics) {
  SystemCheck check = check_system(*built.system, 0, built.q, gap_tolerance);
  expect_joints_meet(built, study, check);
  // statics ask for reactions, whatever moves
  const bool statics = study.simulation && study.simulation->simulate &&
                       study.simulation->simulate->integrator.integrator == Integrator::Static;
  with_path(study, [&] { expect_runnable(*built.system, check, statics, diagnostics); });
  return check;
}

Start study_start(const StudySystem& built, const StudyFile& study, Diagnostics& diagnostics,
                  std::optional<double> static_at, const ProgressHook& progress) {
  const auto& simulate = study.simulation->simulate;
  StartOptions options;
  options.static_at = static_at;
  if (simulate) {
    options.assemble = simulate->assemble;
    options.at_rest = simulate->start_static;
    if (!static_at && simulate->integrator.integrator == Integrator::Static)
      options.static_at = simulate->begin;
  }
  options.velocity_given = std::any_of(study.bodies.begin(), study.bodies.end(), [](const BodySpec& body) {
    const Vector3d& v = body.ancf ? body.ancf->beam.velocity : body.placement.velocity;
    const Vector3d& w = body.ancf ? body.ancf->beam.angular_velocity : body.placement.angular_velocity;
    return !v.isZero(0) || !w.isZero(0);
  });
  const SystemCheck check = check_study_system(built, study, diagnostics);
  return with_path(study, [&] {
    return make_start(*built.system, built.q, built.v, check, options, diagnostics, progress);
  });
}

json system_json(const System& system, const SystemCheck& check) {
  json j;
  j["coordinates"] = check.coordinates;
  j["constraints"] = check.rank;
  j["joint_constraints"] = check.joint_constraints;
  j["own_constraints"] = check.own_constraints;
  j["degrees_of_freedom"] = check.degrees_of_freedom;
  j["rigid_degrees_of_freedom"] = check.has_mechanism ? json(nullptr) : json(check.rigid_degrees_of_freedom);
  j["bodies"] = json::array();
  for (const auto& body : system.bodies())
    j["bodies"].push_back({{"name", body->name()},
                           {"formulation", body->formulation()},
                           {"coordinates", body->coordinates()},
                           {"modes", body->flexible_modes()},
                           {"own_constraints", body->own_constraints()},
                           {"mass", body->mass()}});
  for (size_t b = 0; b < system.bodies().size(); ++b)
    if (system.bodies()[b]->is_mechanism()) j["bodies"][b]["parts"] = system.bodies()[b]->part_names();
  const auto name_of_body = [&](MarkerRef ref) {
    return ref.body < 0 ? std::string("ground") : system.bodies()[ref.body]->name();
  };
  j["joints"] = json::array();
  for (const Joint& joint : system.joints())
    j["joints"].push_back({{"name", joint.name},
                           {"kind", std::string(name_of(joint.kind))},
                           {"between", {name_of_body(joint.first), name_of_body(joint.second)}},
                           {"constraints", joint.constraints()}});
  j["loads"] = json::array();
  for (const Load& load : system.loads())
    j["loads"].push_back({{"name", load.name}, {"kind", std::string(name_of(load.kind))}});
  j["in_plane"] = check.in_plane.size();
  j["satisfied"] = check.satisfied;
  j["redundant"] = json::array();
  for (const auto& redundant : check.redundant)
    j["redundant"].push_back({{"joint", redundant.joint}, {"with", redundant.with}});
  j["gaps"] = json::array();
  for (const auto& gap : check.gaps)
    j["gaps"].push_back({{"joint", gap.joint}, {"distance", gap.distance}, {"is_angle", gap.is_angle}});
  j["free_bodies"] = check.free_bodies;
  return j;
}

}  // namespace lissom

#include "lissom/study/build_system.hpp"

#include <Eigen/Geometry>

#include <fmt/ranges.h>

#include <algorithm>

#include "lissom/core/text.hpp"
#include "lissom/fe/named_nodes.hpp"

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

class Builder {
 public:
  Builder(const StudyFile& study, BodyStore& store, Diagnostics& diagnostics, const ProgressHook& progress)
      : study_(study) {
    built_.system = std::make_unique<System>();
    System& system = *built_.system;
    for (const BodySpec& spec : study.bodies) {
      const StoredBody& stored = store.get(spec, diagnostics, progress);
      stored_.push_back(&stored);
      system.add_body(make_body(spec, stored), spec.placement);
      workspaces_.push_back(system.bodies().back()->workspace());
    }
  }

  StudySystem build() {
    const SimulationSpec& spec = *study_.simulation;
    System& system = *built_.system;
    system.set_gravity(spec.gravity);
    for (const JointSpec& joint : spec.joints) attempt(joint.where, "joint", joint.name, [&] { add(joint); });
    for (const LoadSpec& load : spec.loads)
      attempt(load.load.where, "load", load.load.name, [&] { add(load); });
    for (const SensorSpec& sensor : spec.sensors)
      attempt(sensor.where, "sensor", sensor.name, [&] { add(sensor); });
    if (!problems_.empty()) throw InputError(fmt::format("{}", fmt::join(problems_, "\n")));
    system.initial(built_.q, built_.v);
    return std::move(built_);
  }

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

  const Placement& placement(const PlaceSpec& place) const { return study_.bodies[place.body].placement; }

  // The axes that belong to a place at the start: the interface's, or the body's.
  Matrix3d base_axes(const PlaceSpec& place) const {
    if (place.is_ground()) return Matrix3d::Identity();
    Matrix3d axes = Matrix3d::Identity();
    if (place.marker.kind == MarkerSpec::Kind::Interface)
      for (const InterfaceFrame& interface : stored_[place.body]->reduced.interfaces)
        if (interface.name == place.marker.name) axes = interface.axes;
    return placement(place).rotation * axes;
  }

  MarkerRef body_marker(const PlaceSpec& place, const Matrix3d& axes) {
    LISSOM_ASSERT(!place.is_ground());
    MarkerSpec spec = place.marker;
    spec.axes = placement(place).rotation.transpose() * axes;
    const StoredBody& stored = *stored_[place.body];
    if (stored.from_mesh()) resolve_in_mesh(stored, spec);
    if (spec.kind == MarkerSpec::Kind::Interface)
      resolve_node_set(stored, study_.bodies[place.body].name, spec);
    return built_.system->add_marker(place.body, spec);
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

  // Where a body's marker is at the start.
  Vector3d start(MarkerRef ref) {
    const Body& body = *built_.system->bodies()[ref.body];
    VectorXd q(body.coordinates()), v(body.coordinates());
    body.place(built_.system->placement(ref.body), q, v);
    MarkerKinematics kinematics;
    body.marker(ref.marker, q, v, false, *workspaces_[ref.body], kinematics);
    return kinematics.position();
  }

  // Both markers; the ground's is at `at`, or `offset` from the other one where that is not given.
  std::pair<MarkerRef, MarkerRef> markers(const PlaceSpec& first, const PlaceSpec& second,
                                          const FrameSpec& frame, const Matrix3d& first_axes,
                                          const Matrix3d& second_axes, const Vector3d& offset) {
    System& system = *built_.system;
    if (first.is_ground()) {
      const MarkerRef b = body_marker(second, second_axes);
      return {system.add_ground_marker(frame.at.value_or(Vector3d(start(b) - offset)), first_axes), b};
    }
    const MarkerRef a = body_marker(first, first_axes);
    if (second.is_ground())
      return {a, system.add_ground_marker(frame.at.value_or(Vector3d(start(a) + offset)), second_axes)};
    return {a, body_marker(second, second_axes)};
  }

  Vector3d position(MarkerRef ref) {
    return ref.body < 0 ? Vector3d(built_.system->ground_marker(ref.marker).head<3>()) : start(ref);
  }

  void add_joint(Joint joint, const PlaceSpec& first, const PlaceSpec& second) {
    built_.system->add_joint(std::move(joint));
    built_.joint_places.emplace_back(first.text, second.text);
  }

  void add(const JointSpec& spec) {
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
    const bool turns = spec.kind == JointKind::Revolute || spec.kind == JointKind::Angle;
    const bool slides = spec.kind == JointKind::Prismatic || spec.kind == JointKind::Cylindrical ||
                        spec.kind == JointKind::Displacement;
    const Matrix3d A = triad(spec.frame, base_axes(spec.first));
    const double f0 = spec.motion ? (*spec.motion)(0) : 0;
    const Matrix3d B = turns ? Matrix3d(Eigen::AngleAxisd(f0, A.col(2)) * A) : A;
    const Vector3d offset = slides ? Vector3d(f0 * A.col(2)) : Vector3d::Zero();
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
    joint.kind = turns ? JointKind::Angle : JointKind::Displacement;
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
      load.second = built_.system->add_ground_marker(start(load.first), A);
    }
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

  void add(const SensorSpec& spec) {
    Sensor sensor;
    sensor.name = spec.name;
    sensor.kind = spec.kind;
    sensor.where = spec.where;
    if (spec.place) {
      sensor.marker = body_marker(*spec.place, base_axes(*spec.place));
      const bool turning = spec.kind == SensorKind::Rotation || spec.kind == SensorKind::AngularVelocity ||
                           spec.kind == SensorKind::AngularAcceleration;
      if (turning && !built_.system->bodies()[sensor.marker.body]->marker_rotates(sensor.marker.marker))
        fail_input("'{}' has no rotation: a single node only moves; take an interface or several nodes",
                   spec.place->text);
    } else if (spec.kind == SensorKind::LoadValue) {
      const auto& loads = built_.system->loads();
      for (size_t i = 0; i < loads.size(); ++i)
        if (loads[i].name == spec.of) sensor.index = static_cast<int>(i);
    } else if (spec.kind != SensorKind::Energy) {
      sensor.index = built_.system->find_joint(spec.of);
    }
    // a joint or load that could not be made has its own message
    if (!spec.of.empty() && !spec.place && sensor.index < 0) return;
    built_.sensors.push_back(std::move(sensor));
  }

  const StudyFile& study_;
  StudySystem built_;
  std::vector<const StoredBody*> stored_;
  std::vector<std::unique_ptr<Body::Workspace>> workspaces_;
  std::vector<std::string> problems_;
};

std::string vec(const Vector3d& v) {
  return fmt::format("({:.6g}, {:.6g}, {:.6g})", v[0], v[1], v[2]);
}

}  // namespace

StudySystem build_system(const StudyFile& study, BodyStore& store, Diagnostics& diagnostics,
                         const ProgressHook& progress) {
  LISSOM_ASSERT(study.simulation.has_value());
  return Builder(study, store, diagnostics, progress).build();
}

SystemCheck check_study_system(const StudySystem& built, const StudyFile& study, Diagnostics& diagnostics) {
  const System& system = *built.system;
  SystemCheck check = check_system(system, 0, built.q, gap_tolerance);
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
                      vec(first.position()), b, vec(second.position())));
    }
    fail_input(
        "{}\ncorrect position and rotation of the bodies, or let them be moved with assemble = true in "
        "[simulate]",
        fmt::join(lines, "\n"));
  }
  if (!check.massless_directions.empty())
    fail_input(
        "{}: these directions have neither inertia nor a constraint, so that their motion is not defined: {}",
        study.path.string(), fmt::join(check.massless_directions, ", "));
  const bool driven = std::any_of(system.joints().begin(), system.joints().end(), [](const Joint& joint) {
    return is_driven(joint.kind) && !joint.motion.is_constant();
  });
  if (!check.moves() && !driven)
    fail_input(
        "{}: the mechanism cannot move: {} coordinates have {} independent constraints, and nothing is "
        "driven; "
        "remove or replace a joint (a revolute joint by a spherical or cylindrical one), or give one a "
        "'motion'",
        study.path.string(), check.coordinates, check.rank);
  if (check.moves() && check.rigid_degrees_of_freedom <= 0 && !driven)
    diagnostics.warn("simulate.only-vibrates",
                     "the mechanism can only deform: as rigid bodies nothing of it could move");
  if (check.singular_position)
    diagnostics.warn(
        "simulate.singular-position",
        "the mechanism starts in a singular position (a dead centre), from which it may go on in "
        "more than one way; start a little beside it");
  for (const SystemCheck::Redundant& redundant : check.redundant)
    diagnostics.warn(
        "simulate.redundant." + redundant.joint,
        fmt::format("joint '{}' has a redundant constraint{}; it is left out, and of the reactions those of "
                    "smallest norm are given",
                    redundant.joint,
                    redundant.with.empty()
                        ? ""
                        : fmt::format(", which '{}' {} already", fmt::join(redundant.with, "', '"),
                                      redundant.with.size() == 1 ? "says" : "say")));
  for (const std::string& body : check.free_bodies)
    diagnostics.warn(
        "simulate.free-body." + body,
        fmt::format("nothing holds the body '{}', neither joint nor spring: it moves freely", body));
  return check;
}

json system_json(const System& system, const SystemCheck& check) {
  json j;
  j["coordinates"] = check.coordinates;
  j["constraints"] = check.rank;
  j["joint_constraints"] = check.joint_constraints;
  j["own_constraints"] = check.own_constraints;
  j["degrees_of_freedom"] = check.degrees_of_freedom;
  j["rigid_degrees_of_freedom"] = check.rigid_degrees_of_freedom;
  j["bodies"] = json::array();
  for (const auto& body : system.bodies())
    j["bodies"].push_back({{"name", body->name()},
                           {"formulation", body->formulation()},
                           {"coordinates", body->coordinates()},
                           {"modes", body->flexible_modes()},
                           {"own_constraints", body->own_constraints()},
                           {"mass", body->mass()}});
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

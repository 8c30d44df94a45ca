#include "lissom/study/train.hpp"

#include <fmt/ranges.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "lissom/core/atomic_file.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/table.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/rom/slap/rigid_noise.hpp"
#include "lissom/rom/slap/slap_body.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using nlohmann::json;

namespace {

// data of this many numbers are also decomposed without compression, for comparison
constexpr double small_data = 2e7;

Vector3d placed(const Placement& placement, const Vector3d& X) {
  return placement.position + placement.rotation * X;
}

// The study for its motion alone.
StudyFile without_stress(StudyFile study) {
  if (study.simulation)
    std::erase_if(study.simulation->sensors, [](const SensorSpec& sensor) { return is_stress(sensor.kind); });
  if (study.simulation && study.simulation->simulate) {
    study.simulation->simulate->stress.reset();
    study.simulation->simulate->paraview.reset();
  }
  return study;
}

// A place of a body as nodes: what it is made of, and where it stands in the body's frame.
struct NodePlace {
  std::vector<int> nodes;  // of the part
  Vector3d origin = Vector3d::Zero();
  Matrix3d axes = Matrix3d::Identity();
};

class SlapTrainer {
 public:
  SlapTrainer(const StudyFile& study, BodyStore& store, TrainingMotions& motions, Diagnostics& diagnostics,
              const ProgressHook& progress, const std::function<bool()>& stop)
      : study_(study),
        spec_(*study.train),
        store_(store),
        motions_(motions),
        diagnostics_(diagnostics),
        progress_(progress),
        stop_(stop) {}

  Training run() {
    Timer timer;
    const auto phase = [&](const char* name) {
      training_.seconds.add(name, timer.seconds());
      timer = Timer();
    };
    if (study_.bodies.empty()) fail_input(spec_.where, "train: there are no bodies");
    load_bodies();
    phase("bodies");
    simulate_runs();
    phase("training runs");
    make_parts();
    make_pairs();
    open_runs();
    if (spec_.reference > runs_.front()->samples())
      fail_input(spec_.where, "train.reference: is {}, but {} has {} samples", spec_.reference,
                 runs_.front()->name(), runs_.front()->samples());
    phase("reading");
    if (!spec_.component_modes) parts_from_data();
    add_stress_modes();
    make_space();
    phase("fields");
    training_.model_options.mass_damping = spec_.mass_damping;
    training_.model_options.recovery = spec_.recovery;
    training_.form = spec_.form;
    SlapBasisOptions options;
    options.max_modes = std::max(spec_.max_order, spec_.order.value_or(0)) + 20;
    try {
      options.reference_sample = spec_.reference - 1;
      training_.basis = slap_basis(training_.space, runs_, options, diagnostics_, progress_);
    } catch (const InputError& e) {
      fail_input(spec_.where, "train: {}", e.what());
    }
    if (spec_.order && *spec_.order > training_.basis.rank())
      fail_input(spec_.where, "train.order: is {}, but the training data have {} modes above round-off",
                 *spec_.order, training_.basis.rank());
    phase("singular values");
    compare_with_nodes(options);
    phase("comparison");
    training_.choice =
        analyse_orders(training_.space, training_.basis, spec_.max_order, training_.model_options, progress_);
    find_start();
    phase("frequencies");
    if (spec_.reconstruct) reconstruct();
    phase("reconstruction");
    choose();
    phase("model");
    return std::move(training_);
  }

 private:
  // ---- bodies and places

  void load_bodies() {
    for (const BodySpec& body : study_.bodies) {
      const StoredBody& stored = store_.matrices(body, diagnostics_, progress_);
      if (spec_.component_modes && stored.reduced.size() == 0)
        fail_input(body.where,
                   "bodies.{}: the training compresses with component modes, and this body has none; add "
                   "[bodies.{}.reduce], or say modes = \"data\" in [train]",
                   body.name, body.name);
      stored_.push_back(&stored);
    }
  }

  SlapSpacePart part_of(size_t b, const MatrixXd& modes, const MatrixXd& damping) const {
    const BodySpec& body = study_.bodies[b];
    try {
      return make_slap_part(body.name, stored_[b]->bare, modes, damping);
    } catch (const InputError& e) {
      fail_input(body.where, "bodies.{}: {}", body.name, e.what());
    }
  }

  // Where the bodies of a run of this study are placed; motions from elsewhere say where they begin.
  std::optional<SlapPose> pose_of(const StudyFile& of_run, const std::string& body) const {
    if (!spec_.trajectories.empty()) return std::nullopt;
    for (const BodySpec& one : of_run.bodies)
      if (one.name == body) return SlapPose{one.placement.position, one.placement.rotation};
    return std::nullopt;
  }

  void make_parts() {
    if (progress_) progress_("component modes", -1);
    std::map<std::string, size_t> done;  // by reduction: equal bodies have equal fields
    for (size_t b = 0; b < study_.bodies.size(); ++b) {
      const ReducedBody& reduced = stored_[b]->reduced;
      const auto [same, is_new] = done.try_emplace(study_.bodies[b].reduction_key, b);
      if (!is_new) {
        parts_.push_back(parts_[same->second]);
        parts_.back().name = study_.bodies[b].name;
      } else if (spec_.component_modes) {
        if (reduced.node_ids != stored_[b]->bare.node_ids)
          fail_input(study_.bodies[b].where,
                     "bodies.{}: the training needs the component modes at all nodes: leave out 'nodes' of "
                     "[bodies.{}.reduce]",
                     study_.bodies[b].name, study_.bodies[b].name);
        const Index count = reduced.size() - reduced.rigid_count;
        const MatrixXd Xi = reduced.eigenvectors.rightCols(count);
        const MatrixXd damping =
            reduced.D.size() > 0 ? MatrixXd(transposed_product(Xi, product(reduced.D, Xi))) : MatrixXd();
        parts_.push_back(part_of(b, product(reduced.modes, Xi), damping));
      } else {
        parts_.push_back(part_of(b, MatrixXd(3 * stored_[b]->bare.points.cols(), 0), MatrixXd()));
      }
      std::unordered_map<std::int64_t, int>& index = node_index_.emplace_back();
      for (size_t i = 0; i < parts_[b].node_ids.size(); ++i)
        index[parts_[b].node_ids[i]] = static_cast<int>(i);
      expected_.parts.push_back({parts_[b].name, parts_[b].node_ids, parts_[b].points});
      place_part(b);
    }
  }

  // As the first run has it.
  void place_part(size_t b) {
    if (!run_names_.empty()) parts_[b].placed = pose_of(variant(run_names_.front()), parts_[b].name);
  }

  // Without component modes: fields from the data themselves.
  void parts_from_data() {
    SlapBasisOptions options;
    options.max_modes = std::max(spec_.max_order, spec_.order.value_or(0)) + 4;
    const std::vector<MatrixXd> modes =
        snapshot_modes(runs_, options, training_.full_singular_values, progress_);
    for (size_t b = 0; b < parts_.size(); ++b) {
      // back in the body's own axes, at the nodes of its matrices; others do not move
      const Matrix3d A = study_.bodies[b].placement.rotation;
      const FeModel& bare = stored_[b]->bare;
      MatrixXd all = MatrixXd::Zero(3 * bare.points.cols(), modes[b].cols());
      std::unordered_map<std::int64_t, Index> at;
      for (size_t i = 0; i < bare.node_ids.size(); ++i) at[bare.node_ids[i]] = static_cast<Index>(i);
      for (size_t i = 0; i < parts_[b].node_ids.size(); ++i)
        all.middleRows<3>(3 * at.at(parts_[b].node_ids[i])) =
            A.transpose() * modes[b].middleRows<3>(3 * static_cast<Index>(i));
      parts_[b] = part_of(b, all, MatrixXd());
      place_part(b);
    }
  }

  // Of all fields at all nodes, where models are to have them.
  void add_stress_modes() {
    if (!spec_.stress.strain && !spec_.stress.stress) return;
    std::map<std::string, size_t> done;
    for (size_t b = 0; b < parts_.size(); ++b) {
      const BodySpec& body = study_.bodies[b];
      const auto [same, is_new] = done.try_emplace(body.reduction_key, b);
      if (!is_new && spec_.component_modes) {
        parts_[b].stress_modes = parts_[same->second].stress_modes;
        continue;
      }
      LISSOM_ASSERT(stored_[b]->mesh);
      try {
        parts_[b].stress_modes =
            field_stress_modes(*stored_[b]->mesh, parts_[b].node_ids, parts_[b].Q, spec_.stress, progress_);
      } catch (const InputError& e) {
        fail_input(body.where, "bodies.{}: {}", body.name, e.what());
      }
    }
  }

  int body_index(const std::string& name) const {
    for (size_t b = 0; b < study_.bodies.size(); ++b)
      if (study_.bodies[b].name == name) return static_cast<int>(b);
    LISSOM_ASSERT(false);
    return -1;
  }

  int node_of(int b, std::int64_t id) const {
    const auto found = node_index_[b].find(id);
    if (found == node_index_[b].end())
      fail_input("body '{}' has no node {} that belongs to an element; it has {} nodes",
                 study_.bodies[b].name, id, node_index_[b].size());
    return found->second;
  }

  // Interfaces, node sets and nodes.
  NodePlace resolve(const PlaceSpec& place) const {
    const int b = body_index(place.part);
    const StoredBody& stored = *stored_[b];
    NodePlace out;
    bool has_origin = false;
    if (place.marker.kind == MarkerSpec::Kind::Nodes) {
      for (const std::int64_t id : place.marker.node_ids) out.nodes.push_back(node_of(b, id));
    } else {
      std::vector<std::string> names;
      for (size_t i = 0; i < stored.reduced.interfaces.size() && !has_origin; ++i) {
        const InterfaceFrame& interface = stored.reduced.interfaces[i];
        names.push_back(interface.name);
        if (interface.name != place.marker.name) continue;
        has_origin = true;
        out.origin = interface.origin;
        out.axes = interface.axes;
        if (stored.tied[i].empty())
          for (const std::int64_t id : interface.node_ids) out.nodes.push_back(node_of(b, id));
        else
          for (const int node : stored.tied[i])
            out.nodes.push_back(node_of(b, stored.bare.node_ids[static_cast<size_t>(node)]));
      }
      if (!has_origin) {
        const auto set = stored.places.node_sets.find(place.marker.name);
        if (set == stored.places.node_sets.end()) {
          for (const auto& [name, nodes] : stored.places.node_sets) names.push_back(name);
          fail_input("body '{}' has no interface or node set '{}'{}; there are: {}", place.part,
                     place.marker.name, did_you_mean(place.marker.name, names), fmt::join(names, ", "));
        }
        for (const int node : set->second) out.nodes.push_back(node_of(b, stored.places.node_ids[node]));
      }
    }
    if (out.nodes.empty()) fail_input("'{}' has no nodes", place.text);
    if (!has_origin)
      for (const int node : out.nodes)
        out.origin += parts_[b].points.col(node) / static_cast<double>(out.nodes.size());
    return out;
  }

  // ---- joints

  // One side of a pair: a weighted mean of nodes, at a point given in space.
  SnapshotPlace side(const PlaceSpec& place, const NodePlace& nodes, const Vector3d& point,
                     double& miss) const {
    SnapshotPlace out;
    if (place.is_ground()) {
      out.point = point;
      return out;
    }
    out.part = body_index(place.part);
    const Placement& placement = study_.bodies[out.part].placement;
    out.nodes = nodes.nodes;
    const Vector3d local = placement.rotation.transpose() * (point - placement.position);
    double own_miss = 0;
    const VectorXd weights =
        affine_weights(parts_[out.part].points(Eigen::all, nodes.nodes), local, own_miss);
    out.weights.assign(weights.data(), weights.data() + weights.size());
    miss = std::max(miss, own_miss);
    return out;
  }

  // Half the extent of nodes along an axis in space.
  double half_extent(const PlaceSpec& place, const NodePlace& nodes, const Vector3d& axis) const {
    if (place.is_ground()) return std::numeric_limits<double>::infinity();
    const int b = body_index(place.part);
    const Vector3d a = study_.bodies[b].placement.rotation.transpose() * axis;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const int node : nodes.nodes) {
      const double x = a.dot(parts_[b].points.col(node));
      low = std::min(low, x);
      high = std::max(high, x);
    }
    return 0.5 * (high - low);
  }

  void make_pairs() {
    if (!study_.simulation) return;
    for (const JointSpec& joint : study_.simulation->joints) {
      try {
        add_pairs(joint, joint.first, joint.second, joint.and_between.has_value());
        if (joint.and_between) add_pairs(joint, joint.and_between->first, joint.and_between->second, true);
        if (joint.motion && !is_driven(joint.kind)) lose(joint, "its motion, a constant");
      } catch (const InputError& e) {
        fail_input(joint.where, "joint '{}': {}", joint.name, e.what());
      }
    }
    if (!approximate_.empty())
      diagnostics_.warn(
          "train.joints",
          fmt::format("joints that no pairs of nodes stand for are held by the training data alone: "
                      "{}",
                      fmt::join(approximate_, ", ")));
    if (!lost_.empty())
      diagnostics_.warn(
          "train.lost-joints",
          fmt::format(
              "the model does not have {}: {} not linear in positions, so that combinations of motions "
              "that satisfy {} need not. Loads other than those of the training may tear {}, which the "
              "model does not notice: compare every run with model = \"full\"",
              fmt::join(lost_, ", "), lost_.size() == 1 ? "it is" : "they are",
              lost_.size() == 1 ? "it" : "them", lost_.size() == 1 ? "it" : "them"));
  }

  // Whether all combinations of positions that satisfy a joint without pairs satisfy it, too: one of its
  // sides does not move, and with it the directions that its rows are measured along (joint.hpp).
  static bool is_linear(const JointSpec& joint) {
    switch (traits(joint.kind).linear) {
      case JointTraits::Linear::OnGround:
        return joint.first.is_ground() || joint.second.is_ground();
      case JointTraits::Linear::FirstOnGround:
        return joint.first.is_ground();
      case JointTraits::Linear::Never:
        break;
    }
    return false;
  }

  // A joint that the model has in part or not at all.
  void lose(const JointSpec& joint, const std::string& what) {
    approximate_.push_back(fmt::format("'{}' ({})", joint.name, what));
    if (!is_linear(joint)) lost_.push_back(approximate_.back());
  }

  // A joint as pairs of points that stay together: one for a spherical joint, two along the axis of a
  // revolute one, four for a fixed one.
  void add_pairs(const JointSpec& joint, const PlaceSpec& first, const PlaceSpec& second, bool spherical) {
    const NodePlace a = first.is_ground() ? NodePlace() : resolve(first);
    const NodePlace b = second.is_ground() ? NodePlace() : resolve(second);
    const auto where = [&](const PlaceSpec& place, const NodePlace& nodes) {
      return placed(study_.bodies[body_index(place.part)].placement, nodes.origin);
    };
    const PlaceSpec& held = first.is_ground() ? second : first;
    const NodePlace& held_nodes = first.is_ground() ? b : a;
    const Vector3d at = where(held, held_nodes);
    Vector3d first_at = first.is_ground() ? joint.frame.at.value_or(at) : at;
    Vector3d second_at = second.is_ground() ? joint.frame.at.value_or(at) : where(second, b);
    if (spherical && joint.and_between && (first.is_ground() || second.is_ground())) {
      // the ground's point of each of the two parts is the node's own
      if (first.is_ground()) first_at = at;
      if (second.is_ground()) second_at = at;
    }

    std::vector<Vector3d> offsets;
    const Matrix3d base = study_.bodies[body_index(held.part)].placement.rotation * held_nodes.axes;
    const auto reach = [&](const Vector3d& axis) {
      return std::min(half_extent(first, a, axis), half_extent(second, b, axis));
    };
    const int pairs = spherical ? 1 : traits(joint.kind).pairs;
    if (pairs == 1) {
      offsets = {Vector3d::Zero()};
    } else if (pairs == 2) {
      const Vector3d axis = joint.frame.axis ? joint.frame.axis->normalized() : Vector3d(base.col(2));
      offsets = {reach(axis) * axis, -reach(axis) * axis};
    } else if (pairs == 4) {
      offsets = {Vector3d::Zero()};
      for (int k = 0; k < 3; ++k) offsets.push_back(reach(base.col(k)) * base.col(k));
    } else if (joint.kind == JointKind::Universal) {
      offsets = {Vector3d::Zero()};
      lose(joint, "its right angle");
    } else {
      lose(joint, std::string(name_of(joint.kind)));
      return;
    }
    const double small = 1e-9 * std::max(1e-3, at.norm());
    // false where nodes of one plane or line do not reach a point
    const auto hold = [&](const std::vector<Vector3d>& points) {
      std::vector<SnapshotExpectation::Pair> pairs;
      double miss = 0;
      for (const Vector3d& offset : points) {
        SnapshotExpectation::Pair pair;
        pair.joint = joint.name;
        pair.first = side(first, a, first_at + offset, miss);
        pair.second = side(second, b, second_at + offset, miss);
        pairs.push_back(std::move(pair));
      }
      if (miss > small) return false;
      expected_.pairs.insert(expected_.pairs.end(), pairs.begin(), pairs.end());
      return true;
    };
    const bool flat = offsets.size() == 2 && (offsets[0] - offsets[1]).norm() <= small;
    if (!flat && hold(offsets)) return;
    if (offsets.size() > 1 && hold({Vector3d::Zero()}))
      lose(joint, "its nodes do not reach along its axis");
    else
      lose(joint, "its point is outside of the plane or line of its nodes");
  }

  // ---- the space

  SlapPlace field_place(const SnapshotPlace& place, const std::string& name) const {
    if (place.part >= 0)
      return make_weighted_place(
          parts_[place.part], place.part, name, place.nodes,
          Eigen::Map<const VectorXd>(place.weights.data(), static_cast<Index>(place.weights.size())));
    SlapPlace ground;
    ground.ground = place.point;
    return ground;
  }

  void add_place(const PlaceSpec& place) {
    if (place.is_ground()) return;
    const int b = body_index(place.part);
    const std::string name = place.text.substr(place.part.size() + 1);
    for (const SlapPlace& there : places_)
      if (there.part == b && there.name == name) return;
    const NodePlace nodes = resolve(place);
    places_.push_back(make_slap_place(parts_[b], b, name, nodes.nodes, nodes.origin, nodes.axes));
  }

  // Every interface, and all that loads and sensors of the study and its cases use.
  void gather_places() {
    const auto of_study = [&](const StudyFile& study) {
      if (!study.simulation) return;
      for (const LoadSpec& load : study.simulation->loads) {
        at_place(load.load.where, "load", load.load.name, load.first);
        if (load.second) at_place(load.load.where, "load", load.load.name, *load.second);
      }
      for (const SensorSpec& sensor : study.simulation->sensors)
        if (sensor.place) at_place(sensor.where, "sensor", sensor.name, *sensor.place);
    };
    of_study(study_);
    for (const StudyCase& variant : study_.cases) of_study(variant.study);
    std::vector<std::string> names;
    for (size_t b = 0; b < study_.bodies.size(); ++b) {
      names.push_back(study_.bodies[b].name);
      for (const InterfaceFrame& interface : stored_[b]->reduced.interfaces) {
        PlaceSpec place;
        place.part = study_.bodies[b].name;
        place.text = place.part + "." + interface.name;
        place.marker.name = interface.name;
        add_place(place);
      }
    }
    for (const std::string& text : spec_.places) {
      PlaceSpec place;
      place.text = text;
      std::string rest;
      const int b = split_place(text, names, rest);
      if (b < 0)
        fail_input(spec_.where, "train.places: '{}' is no place of a body; expected \"BODY.PLACE\"", text);
      place.part = names[b];
      place.marker.name = rest;
      place.marker.node_ids = node_numbers(rest);
      if (!place.marker.node_ids.empty()) place.marker.kind = MarkerSpec::Kind::Nodes;
      at_place(spec_.where, "train.places", text, place);
    }
  }

  void at_place(const SourcePos& where, const char* what, const std::string& name, const PlaceSpec& place) {
    try {
      add_place(place);
    } catch (const InputError& e) {
      fail_input(where, "{} '{}': {}", what, name, e.what());
    }
  }

  void make_space() {
    gather_places();
    std::vector<SlapPair> pairs;
    for (const SnapshotExpectation::Pair& pair : expected_.pairs)
      pairs.push_back(
          {pair.joint, field_place(pair.first, pair.joint), field_place(pair.second, pair.joint)});
    training_.space =
        make_slap_space(std::move(parts_), std::move(places_), std::move(pairs), spec_.project_on_joints);
  }

  // ---- motions

  const StudyFile& variant(const std::string& name) const {
    if (name.empty()) return study_;
    for (const StudyCase& c : study_.cases)
      if (c.study.case_name == name) return c.study;
    fail_input(spec_.where, "train.runs: there is no case '{}'", name);
  }

  void simulate_runs() {
    if (!spec_.trajectories.empty()) return;
    run_names_ = spec_.runs.empty() ? std::vector<std::string>{""} : spec_.runs;
    for (const std::string& name : run_names_) {
      if (motions_.contains(name)) continue;
      const StudyFile& of_run = variant(name);
      if (!of_run.simulation || !of_run.simulation->simulate)
        fail_input(spec_.where, "train: {} has no [simulate] to train on; add one, or give trajectories",
                   name.empty() ? "the study" : "case '" + name + "'");
      SimulationOptions options;
      options.write_files = false;
      options.stop = stop_;
      motions_[name] = simulate(without_stress(of_run), {}, store_, diagnostics_, progress_, options);
    }
  }

  void open_runs() {
    std::vector<std::string> names;
    std::map<std::string, Eigen::Matrix3Xd> rest;
    std::map<std::string, std::vector<std::int64_t>> rest_ids;
    for (size_t b = 0; b < study_.bodies.size(); ++b) {
      const Placement& placement = study_.bodies[b].placement;
      names.push_back(study_.bodies[b].name);
      rest_ids[names.back()] = parts_[b].node_ids;
      rest[names.back()] = (placement.rotation * parts_[b].points).colwise() + placement.position;
    }
    for (const TrajectorySpec& trajectory : spec_.trajectories)
      add_run(open_snapshots(trajectory, names, rest, diagnostics_, rest_ids), trajectory.where,
              diagnostics_);
    // what nodes of spiders our own runs have besides is nothing to tell
    Diagnostics expected;
    for (const std::string& name : run_names_) {
      const SimulationRun& run = motions_.at(name);
      add_run(make_system_snapshots(name.empty() ? "the study's run" : "case '" + name + "'",
                                    *run.built->system, run.t, run.q),
              spec_.where, expected);
    }
  }

  void add_run(std::unique_ptr<SnapshotSource> run, const SourcePos& where, Diagnostics& notes) {
    try {
      run = reorder(std::move(run), expected_, notes);
      training_.reports.push_back(check_snapshots(*run, expected_, diagnostics_));
    } catch (const InputError& e) {
      fail_input(where, "train: {}", e.what());
    }
    if (spec_.noise > 0) run = with_rigid_noise(std::move(run), spec_.noise, runs_.size() + 1);
    runs_.push_back(std::move(run));
  }

  // Fig. 3: singular values of the nodal positions themselves, where the data are small.
  void compare_with_nodes(const SlapBasisOptions& options) {
    double numbers = 0;
    for (const auto& run : runs_)
      for (const SnapshotSource::Part& part : run->parts()) numbers += 3.0 * part.nodes * run->samples();
    if (numbers <= small_data && training_.full_singular_values.size() == 0)
      snapshot_modes(runs_, options, training_.full_singular_values, progress_);
  }

  // The velocity at the start of each run, in the space's coordinates.
  void find_start() {
    for (size_t r = 0; r < runs_.size(); ++r)
      training_.start_velocities.push_back(run_names_.empty() ? velocity_of_data(r) : velocity_of_run(r));
  }

  // Nodes move along the coordinates' velocity v: a central difference over a small angle.
  VectorXd velocity_of_run(size_t r) {
    const SimulationRun& run = motions_.at(run_names_[r]);
    const VectorXd q = run.q.col(0), v = run.v.col(0);
    VectorXd velocity = VectorXd::Zero(training_.space.dimension());
    if (v.isZero(0)) return velocity;
    const double h = 1e-5 / v.cwiseAbs().maxCoeff();
    Diagnostics expected;
    MatrixXd two(q.size(), 2);
    two << q - h * v, q + h * v;
    auto around = reorder(make_system_snapshots("start", *run.built->system, Eigen::Vector2d(0, 1), two),
                          expected_, expected);
    for (size_t p = 0; p < training_.space.parts.size(); ++p) {
      const SlapSpacePart& part = training_.space.parts[p];
      MatrixXd X(3 * part.points.cols(), 2);
      around->read(static_cast<int>(p), 0, 2, X);
      const VectorXd rate = (X.col(1) - X.col(0)) / (2 * h);
      const Eigen::Map<const MatrixXd> nodal(rate.data(), 3, part.points.cols());
      Eigen::Map<MatrixXd>(velocity.data() + training_.space.offsets[p], 3, part.fields()) =
          product(MatrixXd(nodal), part.Q);
    }
    return velocity;
  }

  // Of another program's run: from its first samples, by the polynomial through five of them. Below a ten
  // thousandth of the largest speed it is taken for rest: noise, and vibrations that the samples miss, show
  // speeds of that size (a load that grows from zero bends bodies at a constant rate, but for the first
  // period), which would add up to a drift.
  VectorXd velocity_of_data(size_t r) const {
    if (spec_.trajectories[r].at_rest) return VectorXd::Zero(training_.space.dimension());
    const VectorXd& t = runs_[r]->times();
    const SlapBasis& basis = training_.basis;
    const Index first = basis.run_starts[r];
    const int points = static_cast<int>(std::min<Index>(5, t.size()));
    VectorXd rate = VectorXd::Zero(basis.rank());
    for (int i = 1; i < points; ++i) {
      double weight = 1 / (t[i] - t[0]);
      for (int j = 1; j < points; ++j)
        if (j != i) weight *= (t[0] - t[j]) / (t[i] - t[j]);
      rate += weight * (basis.eta.col(first + i) - basis.eta.col(first));
    }
    double largest = 0;
    for (Index i = 1; i < t.size(); ++i)
      largest = std::max(
          largest, (basis.eta.col(first + i) - basis.eta.col(first + i - 1)).norm() / (t[i] - t[i - 1]));
    if (rate.norm() < 1e-4 * largest) rate.setZero();
    return basis.W * rate;
  }

  // ---- orders

  // The training runs again, with every order.
  void reconstruct() {
    if (!study_.simulation || !study_.simulation->simulate) {
      diagnostics_.warn(
          "train.no-reconstruction",
          "the training motion is not reconstructed, as the study has no loads and [simulate] for "
          "it; the order is chosen by singular values");
      return;
    }
    int done = 0;
    for (SlapOrder& order : training_.choice.orders) {
      if (stop_ && stop_()) fail("the training was stopped");
      if (progress_)
        progress_("reconstruction", done++ / static_cast<double>(training_.choice.orders.size()));
      double sum =
          training_.basis.beyond +
          training_.basis.singular_values.segment(order.m, training_.basis.rank() - order.m).squaredNorm();
      double largest = 0, samples = 0;
      bool failed = false;
      for (size_t r = 0; r < runs_.size() && !failed; ++r) {
        const StudyFile& of_run = run_names_.empty() ? study_ : variant(run_names_[r]);
        Timer timer;
        const auto run = run_model(of_run, order.m, static_cast<int>(r));
        order.simulation_seconds += timer.seconds();
        if (!run) {
          failed = true;
          break;
        }
        if (!same_times(run->t, runs_[r]->times())) {
          diagnostics_.warn("train.times",
                            fmt::format("{}: the samples of [simulate] are at other times than those of the "
                                        "training; nothing is reconstructed",
                                        runs_[r]->name()));
          return;
        }
        const RunError error = error_of(training_, run->q, static_cast<int>(r));
        sum += error.squares;
        largest = std::max(largest, error.largest);
        samples += static_cast<double>(run->q.cols());
      }
      if (failed) continue;
      double coordinates = 0;
      for (const SlapSpacePart& part : training_.space.parts)
        coordinates += 3.0 * static_cast<double>(part.points.cols());
      order.epsilon = sum;
      order.rms_error = std::sqrt(sum / (coordinates * samples));
      order.largest_error = largest;
    }
    training_.choice.reconstructed = true;
  }

  struct RunError {
    double squares = 0;  // of the first m coordinates against the training's [m2]
    double largest = 0;  // of a node [m]
  };
  static RunError error_of(const Training& training, const MatrixXd& eta, int run) {
    const Index m = eta.rows();
    const MatrixXd difference =
        eta - training.basis.eta.middleCols(training.basis.run_starts[run], eta.cols()).topRows(m);
    RunError error;
    error.squares = difference.squaredNorm();
    // the worst sample, node by node, modes beyond m included
    Index worst = 0;
    MatrixXd all = -training.basis.eta.middleCols(training.basis.run_starts[run], eta.cols());
    all.topRows(m) = difference;
    all.colwise().squaredNorm().maxCoeff(&worst);
    const VectorXd y = training.basis.W * all.col(worst);
    for (size_t p = 0; p < training.space.parts.size(); ++p) {
      const SlapSpacePart& part = training.space.parts[p];
      const VectorXd of_part = y.segment(training.space.offsets[p], 3 * part.fields());
      error.largest = std::max(error.largest, node_positions(part, of_part).colwise().norm().maxCoeff());
    }
    return error;
  }

  static bool same_times(const VectorXd& a, const VectorXd& b) {
    return a.size() == b.size() &&
           (a.array() - a[0] - b.array() + b[0]).abs().maxCoeff() <= 1e-9 * (b[b.size() - 1] - b[0]);
  }

  // A run of the model of order m; nothing where it fails.
  std::optional<SimulationRun> run_model(const StudyFile& of_run, int m, int run) {
    SlapModel model = training_.exact_model(m);
    model.start = training_.basis.eta.col(training_.basis.run_starts[run]).head(m);
    model.start_rate = training_.start_rate(model, run);
    for (SlapPart& part : model.parts) part.placed = pose_of(of_run, part.name);
    SimulationOptions options;
    options.write_files = false;
    options.stop = stop_;
    Diagnostics notes;  // of orders that are only tried
    StudyFile exact = without_stress(of_run);
    NewtonOptions& newton = exact.simulation->simulate->integrator.newton;
    newton.reuse_rate = 0;
    newton.tolerance = std::min(newton.tolerance, 1e-14);
    try {
      return simulate(exact, {}, build_rom_system(exact, model, notes), notes, {}, options);
    } catch (const InputError&) {
      throw;
    } catch (const Error& e) {
      failures_.push_back(fmt::format("order {}: {}", m, e.what()));
      return std::nullopt;
    }
  }

  void choose() {
    const double size = 2 * make_slap_model(training_.space, training_.basis, 1, {}).radius;
    training_.tolerance = spec_.tolerance > 0 ? spec_.tolerance : default_tolerance * size;
    propose_order(training_.choice, training_.tolerance);
    training_.order = spec_.order.value_or(training_.choice.proposed);
    warn_of_poor_model();
    const auto& orders = training_.choice.orders;
    if (training_.order <= static_cast<int>(orders.size()) && orders[training_.order - 1].spurious > 0)
      diagnostics_.warn(
          "train.spurious",
          fmt::format("the model of order {} has {} spurious mode{}: softer than the mechanism has "
                      "any; results are not to be trusted. Take at most {} modes, or joints = "
                      "\"project\"",
                      training_.order, orders[training_.order - 1].spurious,
                      orders[training_.order - 1].spurious > 1 ? "s" : "",
                      training_.choice.first_spurious - 1));
    if (!failures_.empty())
      diagnostics_.warn("train.failed",
                        fmt::format("models that could not be run: {}", fmt::join(failures_, "; ")));
    RomFile& rom = training_.rom;
    rom.model = training_.model(training_.order);
    rom.model.title = study_.title;
    rom.study = study_.text;
    rom.study_path = study_.path.string();
    rom.case_name = run_names_.empty() ? "" : run_names_.front();
    rom.singular_values = training_.basis.singular_values;
    rom.joint_violation = training_.basis.joint_violation;
    rom.frequencies_hz = slap_frequencies(rom.model, VectorXd::Zero(training_.order));
    rom.why = spec_.order ? "asked for; proposed: " + std::to_string(training_.choice.proposed) + ", " +
                                training_.choice.why
                          : training_.choice.why;
    rom.lissom_version = LISSOM_VERSION;
    check_that_it_opens();
  }

  // A model that its own study cannot be run with is not written.
  void check_that_it_opens() {
    const StudyFile& own = run_names_.empty() ? study_ : variant(run_names_.front());
    if (!own.simulation) return;
    Diagnostics told_by_its_runs;
    build_rom_system(own, training_.rom.model, told_by_its_runs);
  }

  // A model that is a hundredth of the motion away from it is none. Orders that could not be run are as far
  // away as can be; where none was tried, what the modes leave out is the least that it can be.
  void warn_of_poor_model() {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const OrderChoice& choice = training_.choice;
    const double motion = training_.accuracy(training_.order).motion;
    const auto error_of = [&](const SlapOrder& order) {
      return order.largest_error.value_or(choice.reconstructed ? infinite : order.left_out);
    };
    const SlapOrder* best = &choice.orders.front();
    for (const SlapOrder& order : choice.orders)
      if (error_of(order) < error_of(*best)) best = &order;
    const auto size = static_cast<int>(choice.orders.size());
    const double own =
        training_.order <= size ? error_of(choice.orders[training_.order - 1]) : error_of(*best);
    if (own <= poor_model * motion) return;
    const auto away = [](double error) {
      return std::isfinite(error) ? fmt::format("is {:.3g} m away", error) : "could not be run to its end";
    };
    const std::string moves = fmt::format("nodes move up to {:.3g} m", motion);
    if (error_of(*best) <= poor_model * motion)
      diagnostics_.warn(
          "train.poor",
          fmt::format("the model of order {} does not follow the training motion: {}, and it {}; "
                      "the model of order {} {}: take order = {}",
                      training_.order, moves, away(own), best->m, away(error_of(*best)), best->m));
    else
      diagnostics_.warn(
          "train.poor",
          fmt::format(
              "no order up to {} follows the training motion: {}, and the best model {}; {}", size, moves,
              away(error_of(*best)),
              lost_.empty()
                  ? fmt::format("train on more samples ({} modes are all that {} samples have)",
                                training_.basis.rank(), training_.basis.eta.cols())
                  : fmt::format("it does not have {}, which may be why: simulate with model = \"full\"",
                                fmt::join(lost_, ", "))));
  }

  static constexpr double default_tolerance = 1.5e-10;  // of the size

  const StudyFile& study_;
  const TrainSpec& spec_;
  BodyStore& store_;
  TrainingMotions& motions_;
  Diagnostics& diagnostics_;
  const ProgressHook& progress_;
  const std::function<bool()>& stop_;

  Training training_;
  std::vector<const StoredBody*> stored_;
  std::vector<SlapSpacePart> parts_;
  std::vector<std::unordered_map<std::int64_t, int>> node_index_;
  std::vector<SlapPlace> places_;
  SnapshotExpectation expected_;
  std::vector<std::string> run_names_;  // of own runs
  TrainingRuns runs_;
  std::vector<std::string> approximate_, lost_, failures_;
};

}  // namespace

SlapModel Training::exact_model(int m) const {
  SlapModel model = make_slap_model(space, basis, m, model_options);
  model.start_rate = start_rate(model, 0);
  model.accuracy = accuracy(m);
  return model;
}

SlapModel Training::model(int m) const {
  SlapModel model = exact_model(m);
  double error = model.accuracy.largest_error;
  if (!std::isfinite(error)) {
    error = tolerance;
    if (m <= static_cast<int>(choice.orders.size()))
      error = std::max(error, choice.orders[static_cast<size_t>(m - 1)].left_out);
  }
  choose_form(model, space, basis, form, 0.1 * error);
  return model;
}

SlapAccuracy Training::accuracy(int m) const {
  SlapAccuracy accuracy;
  for (const SnapshotReport& report : reports) accuracy.motion = std::max(accuracy.motion, report.motion);
  if (!choice.reconstructed || m > static_cast<int>(choice.orders.size())) return accuracy;
  const SlapOrder& found = choice.orders[static_cast<size_t>(m - 1)];
  accuracy.failed = !found.largest_error;
  if (found.largest_error) accuracy.largest_error = *found.largest_error;
  if (found.rms_error) accuracy.rms_error = *found.rms_error;
  return accuracy;
}

VectorXd Training::start_rate(const SlapModel& model, int run) const {
  const int m = model.order();
  VectorXd momentum = VectorXd::Zero(m);
  for (size_t p = 0; p < space.parts.size(); ++p) {
    const SlapSpacePart& part = space.parts[p];
    const Index s = part.fields();
    const Eigen::Map<const MatrixXd> V(start_velocities[run].data() + space.offsets[p], 3, s);
    const MatrixXd mV = V * part.m;
    momentum += basis.W.middleRows(space.offsets[p], 3 * s).leftCols(m).transpose() *
                Eigen::Map<const VectorXd>(mV.data(), 3 * s);
  }
  return model.M.ldlt().solve(momentum);
}

Training train(const StudyFile& study, BodyStore& store, TrainingMotions& motions, Diagnostics& diagnostics,
               const ProgressHook& progress, const std::function<bool()>& stop) {
  if (!study.train) fail_input("{}: there is no table [train]", study.path.string());
  LISSOM_ASSERT(!study.train->pod);
  return SlapTrainer(study, store, motions, diagnostics, progress, stop).run();
}

std::string training_key(const TrainSpec& spec) {
  std::string key =
      fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} [{}] [{}]", spec.reference, spec.max_order,
                  spec.tolerance, spec.project_on_joints, spec.component_modes, spec.reconstruct,
                  spec.recovery, spec.stress.strain, spec.stress.stress, spec.mass_damping, spec.noise,
                  static_cast<int>(spec.form), spec.trajectories.size(), fmt::join(spec.runs, "|"),
                  fmt::join(spec.places, "|"));
  for (const TrajectorySpec& t : spec.trajectories) {
    key += fmt::format(" {} {} {} {} {} {}", t.file.string(), t.time, t.displacements, t.at_rest,
                       t.units.length, t.units.time);
    for (const auto& [body, source] : t.bodies) key += " " + body + "=" + source;
    for (const auto& [body, source] : t.nodes) key += " " + body + "=" + source;
  }
  return key;
}

namespace {

// Samples at the same times, of both.
std::vector<std::pair<Index, Index>> samples_of_both(const SimulationRun& a, const SimulationRun& b) {
  std::vector<std::pair<Index, Index>> common;
  const VectorXd &t = a.t, &other = b.t;
  for (Index i = 0, j = 0; i < t.size() && j < other.size();) {
    const double distance = t[i] - other[j];
    if (std::abs(distance) <= 1e-9 * t[t.size() - 1])
      common.emplace_back(i++, j++);
    else if (distance < 0)
      ++i;
    else
      ++j;
  }
  return common;
}

// All nodes of a system, body after body.
Eigen::Matrix3Xd all_nodes(const System& system, const VectorXd& q) {
  Eigen::Matrix3Xd nodes(3, 0);
  for (size_t b = 0; b < system.bodies().size(); ++b) {
    const Body& body = *system.bodies()[b];
    const Eigen::Matrix3Xd own =
        body.node_positions(q.segment(system.offset(static_cast<int>(b)), body.coordinates()));
    nodes.conservativeResize(Eigen::NoChange, nodes.cols() + own.cols());
    nodes.rightCols(own.cols()) = own;
  }
  return nodes;
}

}  // namespace

namespace {

// Adds the nodes x (3 by n) of a sample, which should be at X and were at X0 first.
void add_nodes(const Eigen::Ref<const Eigen::Matrix3Xd>& x, const Eigen::Ref<const Eigen::Matrix3Xd>& X,
               const Eigen::Ref<const Eigen::Matrix3Xd>& X0, NodalError& error) {
  if (x.cols() == 0) return;
  error.epsilon += (x - X).squaredNorm();
  error.largest = std::max(error.largest, (x - X).colwise().norm().maxCoeff());
  error.motion = std::max(error.motion, (X - X0).colwise().norm().maxCoeff());
}

}  // namespace

NodalError nodal_error(const SimulationRun& reference, const SimulationRun& other) {
  const auto common = samples_of_both(reference, other);
  if (common.empty()) return {};
  NodalError error{0, 0, 0};
  const Eigen::Matrix3Xd first = all_nodes(*reference.built->system, reference.q.col(common.front().first));
  for (const auto& [of_reference, of_other] : common) {
    const Eigen::Matrix3Xd a = all_nodes(*reference.built->system, reference.q.col(of_reference)),
                           b = all_nodes(*other.built->system, other.q.col(of_other));
    if (a.cols() != b.cols()) return {};
    add_nodes(b, a, first, error);
  }
  return error;
}

NodalError nodal_error(const Training& training, const SimulationRun& reference, const SimulationRun& rom) {
  const Index m = rom.q.rows();
  SnapshotExpectation expected;
  for (const SlapSpacePart& part : training.space.parts)
    expected.parts.push_back({part.name, part.node_ids, part.points});
  Diagnostics ignored;
  auto run = reorder(make_system_snapshots("reference", *reference.built->system, reference.t, reference.q),
                     expected, ignored);
  const auto common = samples_of_both(reference, rom);
  if (common.empty()) return {};
  NodalError error{0, 0, 0};
  for (size_t p = 0; p < training.space.parts.size(); ++p) {
    const SlapSpacePart& part = training.space.parts[p];
    const Index s = part.fields(), n = part.points.cols();
    MatrixXd X(3 * n, 1), X0(3 * n, 1);
    run->read(static_cast<int>(p), static_cast<int>(common.front().first), 1, X0);
    for (const auto& [of_reference, of_rom] : common) {
      run->read(static_cast<int>(p), static_cast<int>(of_reference), 1, X);
      const VectorXd y =
          training.basis.rho.segment(training.space.offsets[p], 3 * s) +
          training.basis.W.middleRows(training.space.offsets[p], 3 * s).leftCols(m) * rom.q.col(of_rom);
      add_nodes(node_positions(part, y), X.reshaped(3, n), X0.reshaped(3, n), error);
    }
  }
  return error;
}

std::vector<ModelCheck> check_model(const Training& training, const StudyFile& study,
                                    const SimulationRun& run, const std::vector<double>& times,
                                    Diagnostics& diagnostics) {
  const Index m = run.q.rows();
  MatrixXd T;  // eta to the full model's coordinates
  const SlapModel full =
      make_full_model(training.space, training.basis, training.model_options, static_cast<int>(m), T);
  const StudySystem built = build_rom_system(without_stress(study), full, diagnostics);
  SystemEquations equations(*built.system);
  const Index n = equations.coordinates();
  NewtonMatrix matrix(static_cast<int>(n), equations.blocks(), NewtonMatrix::Storage::Dense);
  const MatrixXd MT = product(full.M, T);

  std::vector<ModelCheck> checks;
  for (const double time : times) {
    Index sample = 0;
    (run.t.array() - time).abs().minCoeff(&sample);
    ModelCheck check;
    State state;
    check.t = state.t = run.t[sample];
    state.q = product(T, run.q.col(sample));
    state.v = product(T, run.v.col(sample));
    state.a = product(T, run.a.col(sample));
    state.turns = run.turns_at(sample);
    state.lambda.resize(0);
    VectorXd r(n), inertia = product(full.M, MatrixXd(state.a)), without(n), internal(n);
    equations.residual(state, 1, r);
    MatrixXd tangent;
    slap_elastic(full, state.q, internal, &tangent);
    without = r - inertia - internal;  // applied and damping forces
    const double scale = std::max({inertia.norm(), internal.norm(), without.norm()});
    check.residual = scale > 0 ? r.norm() / scale : 0;
    // K u = -r among displacements that the model does not have already: [K MT; T'M 0]
    MatrixXd bordered = MatrixXd::Zero(n + m, n + m);
    bordered.topLeftCorner(n, n) = tangent;
    bordered.topRightCorner(n, m) = MT;
    bordered.bottomLeftCorner(m, n) = MT.transpose();
    VectorXd right = VectorXd::Zero(n + m);
    right.head(n) = -r;
    const VectorXd u = bordered.partialPivLu().solve(right).head(n);
    const VectorXd y = training.space.Z.size() > 0 ? VectorXd(training.space.Z * u) : u;
    for (size_t p = 0; p < training.space.parts.size(); ++p) {
      const SlapSpacePart& part = training.space.parts[p];
      const VectorXd of_part = y.segment(training.space.offsets[p], 3 * part.fields());
      check.missing = std::max(check.missing, node_positions(part, of_part).colwise().norm().maxCoeff());
    }
    if (run.built && run.built->rom)
      check.distance = distance_from_training(run.built->rom->training, run.q.col(sample));
    checks.push_back(check);
  }
  return checks;
}

}  // namespace lissom

#include "lissom/rom/slap/slap_reductor.hpp"

#include <fmt/ranges.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "lissom/core/text.hpp"
#include "lissom/fe/field_stress.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/rom/slap/rigid_noise.hpp"
#include "lissom/rom/slap/slap_body.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

// data of this many numbers are also decomposed without compression, for comparison
constexpr double small_data = 2e7;

Vector3d placed(const Placement& placement, const Vector3d& X) {
  return placement.position + placement.rotation * X;
}

// A place of a body as nodes: what it is made of, and where it stands in the body's frame.
struct NodePlace {
  std::vector<int> nodes;  // of the part
  Vector3d origin = Vector3d::Zero();
  Matrix3d axes = Matrix3d::Identity();
};

}  // namespace

struct SlapReductor::Impl {
  Impl(const SlapMechanism& mechanism, const SlapOptions& options, Diagnostics& diagnostics,
       const ProgressHook& progress, const std::function<bool()>& stop)
      : mechanism_(mechanism),
        options_(options),
        diagnostics_(diagnostics),
        progress_(progress),
        stop_(stop) {
    const Timer timer;
    if (mechanism_.bodies.empty()) throw SubjectError({}, "training", "there are no bodies");
    make_parts();
    make_pairs();
    out_.seconds.add("reading", timer.seconds());
  }

  SlapReduction train(std::vector<SlapRun> runs) {
    Timer timer;
    const auto phase = [&](const char* name) {
      out_.seconds.add(name, timer.seconds());
      timer = Timer();
    };
    LISSOM_ASSERT(runs_.empty());
    given_ = std::move(runs);
    if (given_.empty()) throw SubjectError({}, "training", "there is no motion to train on");
    open_runs();
    if (options_.reference < 1 || options_.reference > runs_.front()->samples())
      throw SubjectError({}, "reference",
                         fmt::format("is {}, but {} has {} samples", options_.reference,
                                     runs_.front()->name(), runs_.front()->samples()));
    phase("reading");
    if (!options_.component_modes) parts_from_data();
    add_stress_modes();
    make_space();
    phase("fields");
    out_.model_options.mass_damping = options_.mass_damping;
    out_.form = options_.form;
    out_.model_options.recovery = options_.recovery;
    SlapBasisOptions options;
    options.max_modes = std::max(options_.max_order, options_.order.value_or(0)) + 20;
    options.reference_sample = options_.reference - 1;
    about({Subject::Kind::Run}, "training",
          [&] { out_.basis = slap_basis(out_.space, runs_, options, diagnostics_, progress_); });
    if (options_.order && *options_.order > out_.basis.rank())
      throw SubjectError({}, "order",
                         fmt::format("is {}, but the training data have {} modes above round-off",
                                     *options_.order, out_.basis.rank()));
    phase("singular values");
    compare_with_nodes(options);
    phase("comparison");
    out_.choice = analyse_orders(out_.space, out_.basis, options_.max_order, out_.model_options, progress_);
    find_start();
    phase("frequencies");
    if (options_.reconstruct) reconstruct();
    phase("reconstruction");
    choose();
    phase("model");
    return std::move(out_);
  }

  // ---- bodies and places

  // What is wrong with a body.
  template <class Work>
  decltype(auto) about_body(size_t b, Work&& work) const {
    return about({Subject::Kind::Body, static_cast<int>(b)},
                 fmt::format("body '{}'", mechanism_.bodies[b].name), std::forward<Work>(work));
  }

  SlapSpacePart part_of(size_t b, const MatrixXd& modes, const MatrixXd& damping) const {
    const SlapSource& body = mechanism_.bodies[b];
    return about_body(b, [&] { return make_slap_part(body.name, *body.model, modes, damping); });
  }

  void make_parts() {
    if (progress_) progress_("component modes", -1);
    for (size_t b = 0; b < mechanism_.bodies.size(); ++b) {
      const SlapSource& body = mechanism_.bodies[b];
      LISSOM_ASSERT(body.model && body.reduced && body.same_as < static_cast<int>(b));
      const ReducedBody& reduced = *body.reduced;
      // equal bodies have equal fields
      if (body.same_as >= 0) {
        parts_.push_back(parts_[static_cast<size_t>(body.same_as)]);
        parts_.back().name = body.name;
      } else if (options_.component_modes) {
        about_body(b, [&] {
          if (reduced.size() == 0)
            fail_input(
                "has no component modes to compress with; reduce it, or train on the modes of the data");
          if (reduced.node_ids != body.model->node_ids)
            fail_input("the training needs its component modes at all nodes, and they are kept at some");
        });
        const Index count = reduced.size() - reduced.rigid_count;
        const MatrixXd Xi = reduced.eigenvectors.rightCols(count);
        const MatrixXd damping =
            reduced.D.size() > 0 ? MatrixXd(transposed_product(Xi, product(reduced.D, Xi))) : MatrixXd();
        parts_.push_back(part_of(b, product(reduced.modes, Xi), damping));
      } else {
        parts_.push_back(part_of(b, MatrixXd(3 * body.model->points.cols(), 0), MatrixXd()));
      }
      std::unordered_map<std::int64_t, int>& index = node_index_.emplace_back();
      for (size_t i = 0; i < parts_[b].node_ids.size(); ++i)
        index[parts_[b].node_ids[i]] = static_cast<int>(i);
      expected_.parts.push_back({parts_[b].name, parts_[b].node_ids, parts_[b].points});
    }
  }

  // Without component modes: fields from the data themselves.
  void parts_from_data() {
    SlapBasisOptions options;
    options.max_modes = std::max(options_.max_order, options_.order.value_or(0)) + 4;
    const std::vector<MatrixXd> modes = snapshot_modes(runs_, options, out_.full_singular_values, progress_);
    for (size_t b = 0; b < parts_.size(); ++b) {
      // back in the body's own axes, at the nodes of its matrices; others do not move
      const Matrix3d A = mechanism_.bodies[b].placement.rotation;
      const FeModel& bare = *mechanism_.bodies[b].model;
      MatrixXd all = MatrixXd::Zero(3 * bare.points.cols(), modes[b].cols());
      std::unordered_map<std::int64_t, Index> at;
      for (size_t i = 0; i < bare.node_ids.size(); ++i) at[bare.node_ids[i]] = static_cast<Index>(i);
      for (size_t i = 0; i < parts_[b].node_ids.size(); ++i)
        all.middleRows<3>(3 * at.at(parts_[b].node_ids[i])) =
            A.transpose() * modes[b].middleRows<3>(3 * static_cast<Index>(i));
      parts_[b] = part_of(b, all, MatrixXd());
    }
  }

  // Of all fields at all nodes, where models are to have them.
  void add_stress_modes() {
    if (!options_.stress.strain && !options_.stress.stress) return;
    for (size_t b = 0; b < parts_.size(); ++b) {
      const SlapSource& body = mechanism_.bodies[b];
      if (body.same_as >= 0 && options_.component_modes) {
        parts_[b].stress_modes = parts_[static_cast<size_t>(body.same_as)].stress_modes;
        continue;
      }
      about_body(b, [&] {
        if (!body.mesh) fail_input("has no mesh, hence no stress");
        parts_[b].stress_modes =
            field_stress_modes(*body.mesh, parts_[b].node_ids, parts_[b].Q, options_.stress, progress_);
      });
    }
  }

  int node_of(int b, std::int64_t id) const {
    const auto found = node_index_[b].find(id);
    if (found == node_index_[b].end())
      fail_input("body '{}' has no node {} that belongs to an element; it has {} nodes",
                 mechanism_.bodies[b].name, id, node_index_[b].size());
    return found->second;
  }

  // Interfaces, node sets and nodes.
  NodePlace resolve(const SlapSite& place) const {
    const int b = place.body;
    const SlapSource& body = mechanism_.bodies[b];
    NodePlace out;
    bool has_origin = false;
    if (!place.node_ids.empty()) {
      for (const std::int64_t id : place.node_ids) out.nodes.push_back(node_of(b, id));
    } else {
      std::vector<std::string> names;
      for (size_t i = 0; i < body.reduced->interfaces.size() && !has_origin; ++i) {
        const InterfaceFrame& interface = body.reduced->interfaces[i];
        names.push_back(interface.name);
        if (interface.name != place.name) continue;
        has_origin = true;
        out.origin = interface.origin;
        out.axes = interface.axes;
        if (body.tied.size() <= i || body.tied[i].empty())
          for (const std::int64_t id : interface.node_ids) out.nodes.push_back(node_of(b, id));
        else
          for (const int node : body.tied[i])
            out.nodes.push_back(node_of(b, body.model->node_ids[static_cast<size_t>(node)]));
      }
      if (!has_origin) {
        static const std::map<std::string, std::vector<int>> none;
        const auto& sets = body.places ? body.places->node_sets : none;
        const auto set = sets.find(place.name);
        if (set == sets.end()) {
          for (const auto& [name, nodes] : sets) names.push_back(name);
          fail_input("body '{}' has no interface or node set '{}'{}; there are: {}", body.name, place.name,
                     did_you_mean(place.name, names), fmt::join(names, ", "));
        }
        for (const int node : set->second) out.nodes.push_back(node_of(b, body.places->node_ids[node]));
      }
    }
    if (out.nodes.empty()) fail_input("'{}.{}' has no nodes", body.name, place.name);
    if (!has_origin)
      for (const int node : out.nodes)
        out.origin += parts_[b].points.col(node) / static_cast<double>(out.nodes.size());
    return out;
  }

  // ---- joints

  // One side of a pair: a weighted mean of nodes, at a point given in space.
  SnapshotPlace side(const SlapSite& place, const NodePlace& nodes, const Vector3d& point,
                     double& miss) const {
    SnapshotPlace out;
    if (place.is_ground()) {
      out.point = point;
      return out;
    }
    out.part = place.body;
    const Placement& placement = mechanism_.bodies[out.part].placement;
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
  double half_extent(const SlapSite& place, const NodePlace& nodes, const Vector3d& axis) const {
    if (place.is_ground()) return std::numeric_limits<double>::infinity();
    const int b = place.body;
    const Vector3d a = mechanism_.bodies[b].placement.rotation.transpose() * axis;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const int node : nodes.nodes) {
      const double x = a.dot(parts_[b].points.col(node));
      low = std::min(low, x);
      high = std::max(high, x);
    }
    return 0.5 * (high - low);
  }

  void make_pairs() {
    for (size_t j = 0; j < mechanism_.joints.size(); ++j) {
      const SlapJoint& joint = mechanism_.joints[j];
      about({Subject::Kind::Joint, static_cast<int>(j)}, fmt::format("joint '{}'", joint.name), [&] {
        add_pairs(joint, joint.first, joint.second, joint.and_between.has_value());
        if (joint.and_between) add_pairs(joint, joint.and_between->first, joint.and_between->second, true);
        if (joint.has_motion && !is_driven(joint.kind)) lose(joint, "its motion, a constant");
      });
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
  static bool is_linear(const SlapJoint& joint) {
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
  void lose(const SlapJoint& joint, const std::string& what) {
    approximate_.push_back(fmt::format("'{}' ({})", joint.name, what));
    if (!is_linear(joint)) lost_.push_back(approximate_.back());
  }

  // A joint as pairs of points that stay together: one for a spherical joint, two along the axis of a
  // revolute one, four for a fixed one.
  void add_pairs(const SlapJoint& joint, const SlapSite& first, const SlapSite& second, bool spherical) {
    const NodePlace a = first.is_ground() ? NodePlace() : resolve(first);
    const NodePlace b = second.is_ground() ? NodePlace() : resolve(second);
    const auto where = [&](const SlapSite& place, const NodePlace& nodes) {
      return placed(mechanism_.bodies[place.body].placement, nodes.origin);
    };
    const SlapSite& held = first.is_ground() ? second : first;
    const NodePlace& held_nodes = first.is_ground() ? b : a;
    const Vector3d at = where(held, held_nodes);
    Vector3d first_at = first.is_ground() ? joint.at.value_or(at) : at;
    Vector3d second_at = second.is_ground() ? joint.at.value_or(at) : where(second, b);
    if (spherical && joint.and_between && (first.is_ground() || second.is_ground())) {
      // the ground's point of each of the two parts is the node's own
      if (first.is_ground()) first_at = at;
      if (second.is_ground()) second_at = at;
    }

    std::vector<Vector3d> offsets;
    const Matrix3d base = mechanism_.bodies[held.body].placement.rotation * held_nodes.axes;
    const auto reach = [&](const Vector3d& axis) {
      return std::min(half_extent(first, a, axis), half_extent(second, b, axis));
    };
    const int pairs = spherical ? 1 : traits(joint.kind).pairs;
    if (pairs == 1) {
      offsets = {Vector3d::Zero()};
    } else if (pairs == 2) {
      const Vector3d axis = joint.axis ? joint.axis->normalized() : Vector3d(base.col(2));
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

  void add_place(const SlapSite& place) {
    if (place.is_ground()) return;
    const int b = place.body;
    for (const SlapPlace& there : places_)
      if (there.part == b && there.name == place.name) return;
    const NodePlace nodes = resolve(place);
    places_.push_back(make_slap_place(parts_[b], b, place.name, nodes.nodes, nodes.origin, nodes.axes));
  }

  void make_space() {
    for (size_t p = 0; p < mechanism_.places.size(); ++p)
      about({Subject::Kind::Place, static_cast<int>(p)}, mechanism_.places[p].label,
            [&] { add_place(mechanism_.places[p].site); });
    std::vector<SlapPair> pairs;
    for (const SnapshotExpectation::Pair& pair : expected_.pairs)
      pairs.push_back(
          {pair.joint, field_place(pair.first, pair.joint), field_place(pair.second, pair.joint)});
    // as the first run has them
    const std::vector<std::optional<SlapPose>>& poses = given_.front().placed;
    for (size_t b = 0; b < parts_.size() && b < poses.size(); ++b) parts_[b].placed = poses[b];
    out_.space =
        make_slap_space(std::move(parts_), std::move(places_), std::move(pairs), options_.project_on_joints);
  }

  // ---- motions

  void open_runs() {
    // what nodes of spiders the mechanism's own runs have besides is nothing to tell
    Diagnostics expected;
    for (size_t r = 0; r < given_.size(); ++r) {
      SlapRun& run = given_[r];
      const bool own = !run.nodes;
      about({Subject::Kind::Run, static_cast<int>(r)}, fmt::format("training on {}", run.name), [&] {
        std::unique_ptr<SnapshotSource> nodes = std::move(run.nodes);
        if (own) {
          LISSOM_ASSERT(run.system);
          nodes = make_system_snapshots(run.name, *run.system, run.t, run.q);
        }
        nodes = reorder(std::move(nodes), expected_, own ? expected : diagnostics_);
        out_.reports.push_back(check_snapshots(*nodes, expected_, diagnostics_));
        if (options_.noise > 0) nodes = with_rigid_noise(std::move(nodes), options_.noise, runs_.size() + 1);
        runs_.push_back(std::move(nodes));
      });
    }
  }

  // Fig. 3: singular values of the nodal positions themselves, where the data are small.
  void compare_with_nodes(const SlapBasisOptions& options) {
    double numbers = 0;
    for (const auto& run : runs_)
      for (const SnapshotSource::Part& part : run->parts()) numbers += 3.0 * part.nodes * run->samples();
    if (numbers <= small_data && out_.full_singular_values.size() == 0)
      snapshot_modes(runs_, options, out_.full_singular_values, progress_);
  }

  // The velocity at the start of each run, in the space's coordinates.
  void find_start() {
    for (size_t r = 0; r < runs_.size(); ++r)
      out_.start_velocities.push_back(given_[r].system ? velocity_of_run(r) : velocity_of_data(r));
  }

  // Nodes move along the coordinates' velocity v: a central difference over a small angle.
  VectorXd velocity_of_run(size_t r) {
    const SlapRun& run = given_[r];
    const VectorXd q = run.q.col(0), v = run.v;
    VectorXd velocity = VectorXd::Zero(out_.space.dimension());
    if (v.isZero(0)) return velocity;
    const double h = 1e-5 / v.cwiseAbs().maxCoeff();
    Diagnostics expected;
    MatrixXd two(q.size(), 2);
    two << q - h * v, q + h * v;
    auto around =
        reorder(make_system_snapshots("start", *run.system, Eigen::Vector2d(0, 1), two), expected_, expected);
    for (size_t p = 0; p < out_.space.parts.size(); ++p) {
      const SlapSpacePart& part = out_.space.parts[p];
      MatrixXd X(3 * part.points.cols(), 2);
      around->read(static_cast<int>(p), 0, 2, X);
      const VectorXd rate = (X.col(1) - X.col(0)) / (2 * h);
      const Eigen::Map<const MatrixXd> nodal(rate.data(), 3, part.points.cols());
      Eigen::Map<MatrixXd>(velocity.data() + out_.space.offsets[p], 3, part.fields()) =
          product(MatrixXd(nodal), part.Q);
    }
    return velocity;
  }

  // Of another program's run: from its first samples, by the polynomial through five of them. Below a ten
  // thousandth of the largest speed it is taken for rest: noise, and vibrations that the samples miss, show
  // speeds of that size (a load that grows from zero bends bodies at a constant rate, but for the first
  // period), which would add up to a drift.
  VectorXd velocity_of_data(size_t r) const {
    if (given_[r].at_rest) return VectorXd::Zero(out_.space.dimension());
    const VectorXd& t = runs_[r]->times();
    const SlapBasis& basis = out_.basis;
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
    if (std::any_of(given_.begin(), given_.end(), [](const SlapRun& run) { return !run.repeat; })) {
      diagnostics_.warn(
          "train.no-reconstruction",
          "the training motion is not reconstructed, as the study has no loads and [simulate] for "
          "it; the order is chosen by singular values");
      return;
    }
    int done = 0;
    for (SlapOrder& order : out_.choice.orders) {
      if (stop_ && stop_()) fail("the training was stopped");
      if (progress_) progress_("reconstruction", done++ / static_cast<double>(out_.choice.orders.size()));
      double sum = out_.basis.beyond +
                   out_.basis.singular_values.segment(order.m, out_.basis.rank() - order.m).squaredNorm();
      double largest = 0, samples = 0;
      bool failed = false;
      for (size_t r = 0; r < runs_.size() && !failed; ++r) {
        Timer timer;
        const auto run = run_model(order.m, r);
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
        const RunError error = error_of(out_, run->eta, static_cast<int>(r));
        sum += error.squares;
        largest = std::max(largest, error.largest);
        samples += static_cast<double>(run->eta.cols());
      }
      if (failed) continue;
      double coordinates = 0;
      for (const SlapSpacePart& part : out_.space.parts)
        coordinates += 3.0 * static_cast<double>(part.points.cols());
      order.epsilon = sum;
      order.rms_error = std::sqrt(sum / (coordinates * samples));
      order.largest_error = largest;
    }
    out_.choice.reconstructed = true;
  }

  struct RunError {
    double squares = 0;  // of the first m coordinates against the training's [m2]
    double largest = 0;  // of a node [m]
  };
  static RunError error_of(const SlapReduction& training, const MatrixXd& eta, int run) {
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
  std::optional<SlapRepeat> run_model(int m, size_t run) {
    const SlapRun& given = given_[run];
    SlapModel model = out_.exact_model(m);
    model.start = out_.basis.eta.col(out_.basis.run_starts[run]).head(m);
    model.start_rate = out_.start_rate(model, static_cast<int>(run));
    for (size_t p = 0; p < model.parts.size(); ++p)
      model.parts[p].placed = p < given.placed.size() ? given.placed[p] : std::nullopt;
    try {
      return given.repeat(model);
    } catch (const InputError&) {
      throw;
    } catch (const Error& e) {
      failures_.push_back(fmt::format("order {}: {}", m, e.what()));
      return std::nullopt;
    }
  }

  void choose() {
    const double size = 2 * make_slap_model(out_.space, out_.basis, 1, {}).radius;
    out_.tolerance = options_.tolerance > 0 ? options_.tolerance : default_tolerance * size;
    propose_order(out_.choice, out_.tolerance);
    out_.order = options_.order.value_or(out_.choice.proposed);
    warn_of_poor_model();
    const auto& orders = out_.choice.orders;
    if (out_.order <= static_cast<int>(orders.size()) && orders[out_.order - 1].spurious > 0)
      diagnostics_.warn(
          "train.spurious",
          fmt::format("the model of order {} has {} spurious mode{}: softer than the mechanism has "
                      "any; results are not to be trusted. Take at most {} modes, or joints = "
                      "\"project\"",
                      out_.order, orders[out_.order - 1].spurious,
                      orders[out_.order - 1].spurious > 1 ? "s" : "", out_.choice.first_spurious - 1));
    if (!failures_.empty())
      diagnostics_.warn("train.failed",
                        fmt::format("models that could not be run: {}", fmt::join(failures_, "; ")));
    out_.why = options_.order
                   ? fmt::format("asked for; proposed: {}, {}", out_.choice.proposed, out_.choice.why)
                   : out_.choice.why;
  }

  // A model that is a hundredth of the motion away from it is none. Orders that could not be run are as far
  // away as can be; where none was tried, what the modes leave out is the least that it can be.
  void warn_of_poor_model() {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const OrderChoice& choice = out_.choice;
    const double motion = out_.accuracy(out_.order).motion;
    const auto error_of = [&](const SlapOrder& order) {
      return order.largest_error.value_or(choice.reconstructed ? infinite : order.left_out);
    };
    const SlapOrder* best = &choice.orders.front();
    for (const SlapOrder& order : choice.orders)
      if (error_of(order) < error_of(*best)) best = &order;
    const auto size = static_cast<int>(choice.orders.size());
    const double own = out_.order <= size ? error_of(choice.orders[out_.order - 1]) : error_of(*best);
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
                      out_.order, moves, away(own), best->m, away(error_of(*best)), best->m));
    else
      diagnostics_.warn(
          "train.poor",
          fmt::format(
              "no order up to {} follows the training motion: {}, and the best model {}; {}", size, moves,
              away(error_of(*best)),
              lost_.empty()
                  ? fmt::format("train on more samples ({} modes are all that {} samples have)",
                                out_.basis.rank(), out_.basis.eta.cols())
                  : fmt::format("it does not have {}, which may be why: simulate with model = \"full\"",
                                fmt::join(lost_, ", "))));
  }

  static constexpr double default_tolerance = 1.5e-10;  // of the size

  const SlapMechanism& mechanism_;
  const SlapOptions options_;
  Diagnostics& diagnostics_;
  const ProgressHook progress_;
  const std::function<bool()> stop_;

  SlapReduction out_;
  std::vector<SlapSpacePart> parts_;
  std::vector<std::unordered_map<std::int64_t, int>> node_index_;
  std::vector<SlapPlace> places_;
  SnapshotExpectation expected_;
  std::vector<SlapRun> given_;
  TrainingRuns runs_;
  std::vector<std::string> approximate_, lost_, failures_;
};

NewtonOptions to_round_off(NewtonOptions newton) {
  newton.reuse_rate = 0;
  newton.tolerance = std::min(newton.tolerance, 1e-14);
  return newton;
}

SlapReductor::SlapReductor(const SlapMechanism& mechanism, const SlapOptions& options,
                           Diagnostics& diagnostics, const ProgressHook& progress,
                           const std::function<bool()>& stop)
    : impl_(std::make_unique<Impl>(mechanism, options, diagnostics, progress, stop)) {}

SlapReductor::~SlapReductor() = default;

const std::vector<SlapSpacePart>& SlapReductor::parts() const {
  return impl_->parts_;
}

SlapReduction SlapReductor::train(std::vector<SlapRun> runs) {
  return impl_->train(std::move(runs));
}

SlapReduction train_slap(const SlapMechanism& mechanism, std::vector<SlapRun> runs,
                         const SlapOptions& options, Diagnostics& diagnostics, const ProgressHook& progress,
                         const std::function<bool()>& stop) {
  return SlapReductor(mechanism, options, diagnostics, progress, stop).train(std::move(runs));
}

int SlapMechanism::body_of(const std::string& name) const {
  for (size_t b = 0; b < bodies.size(); ++b)
    if (bodies[b].name == name) return static_cast<int>(b);
  return -1;
}

std::vector<SlapWish> all_interfaces(const SlapMechanism& mechanism) {
  std::vector<SlapWish> all;
  for (size_t b = 0; b < mechanism.bodies.size(); ++b)
    for (const InterfaceFrame& interface : mechanism.bodies[b].reduced->interfaces)
      all.push_back(
          {fmt::format("interface '{}'", interface.name), {static_cast<int>(b), interface.name, {}}});
  return all;
}

SlapModel SlapReduction::exact_model(int m) const {
  SlapModel model = make_slap_model(space, basis, m, model_options);
  model.start_rate = start_rate(model, 0);
  model.accuracy = accuracy(m);
  return model;
}

SlapModel SlapReduction::model(int m) const {
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

SlapAccuracy SlapReduction::accuracy(int m) const {
  SlapAccuracy accuracy;
  for (const SnapshotReport& report : reports) accuracy.motion = std::max(accuracy.motion, report.motion);
  if (!choice.reconstructed || m > static_cast<int>(choice.orders.size())) return accuracy;
  const SlapOrder& found = choice.orders[static_cast<size_t>(m - 1)];
  accuracy.failed = !found.largest_error;
  if (found.largest_error) accuracy.largest_error = *found.largest_error;
  if (found.rms_error) accuracy.rms_error = *found.rms_error;
  return accuracy;
}

VectorXd SlapReduction::start_rate(const SlapModel& model, int run) const {
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

}  // namespace lissom

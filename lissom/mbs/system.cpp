#include "lissom/mbs/system.hpp"

#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/ranges.h>

#include "lissom/core/archive.hpp"
#include "lissom/core/simd.hpp"
#include "lissom/core/text.hpp"
#include "lissom/linalg/row_elimination.hpp"
#include "lissom/mbs/bilinear_form.hpp"
#include "lissom/mbs/linear_loads.hpp"

namespace lissom {

namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

// Rows that stand for redundant constraints are looked at again once a body has moved by so much of its size, sooner as
// their smallest part gets smaller, and chosen anew once that has come down to so much of what it was when they were
// chosen.
constexpr double look_again = 0.25, choose_again = 0.1;

}  // namespace

// ---- the model

int System::add_body(std::unique_ptr<Body> body, const Placement& placement) {
  offsets_.push_back(coordinates_);
  own_offsets_.push_back(own_rows_);
  coordinates_ += body->coordinates();
  own_rows_ += body->own_constraints();
  bodies_.push_back(std::move(body));
  placements_.push_back(placement);
  marker_specs_.emplace_back();
  return static_cast<int>(bodies_.size()) - 1;
}

MarkerRef System::add_marker(int body, const MarkerSpec& spec) {
  LISSOM_ASSERT(body >= 0 && body < static_cast<int>(bodies_.size()));
  const int marker = bodies_[body]->add_marker(spec);
  std::vector<MarkerSpec>& specs = marker_specs_[body];
  if (specs.size() <= static_cast<size_t>(marker)) specs.resize(static_cast<size_t>(marker) + 1);
  specs[marker] = spec;
  return {body, marker};
}

MarkerRef System::add_ground_marker(const Eigen::Vector3d& position, const Eigen::Matrix3d& axes) {
  Vector12d m;
  m << position, axes.col(0), axes.col(1), axes.col(2);
  ground_markers_.push_back(m);
  return {-1, static_cast<int>(ground_markers_.size()) - 1};
}

Vector12d System::ground_marker(int marker) const {
  if (marker >= 0) return ground_markers_[marker];
  // the ground by default: origin and axes of space
  Vector12d m;
  m << Vector3d::Zero(), Vector3d::UnitX(), Vector3d::UnitY(), Vector3d::UnitZ();
  return m;
}

bool System::marker_rotates(MarkerRef ref) const {
  return ref.body < 0 || bodies_[ref.body]->marker_rotates(ref.marker);
}

const MarkerSpec& System::marker_spec(MarkerRef ref) const {
  LISSOM_ASSERT(ref.body >= 0);
  return marker_specs_.at(static_cast<size_t>(ref.body)).at(static_cast<size_t>(ref.marker));
}

void System::add_joint(Joint joint) {
  const std::string label = fmt::format("joint '{}'", joint.name);
  const std::array<MarkerRef, 2> refs = {joint.first, joint.second};
  for (int side = 0; side < 2; ++side)
    if (needs_rotation(joint.kind, side) && !marker_rotates(refs[side]))
      fail_input(
          "{} is {} and needs axes at its {} marker, but that is a single node of body '{}', which has a "
          "position "
          "only; use an interface or several nodes, or a spherical joint",
          label, name_of(joint.kind), side == 0 ? "first" : "second", bodies_[refs[side].body]->name());
  if (joint.first.body < 0 && joint.second.body < 0)
    fail_input("{} connects the ground with the ground; expected a body on one side at least", label);
  if (joint.first.body == joint.second.body && joint.first.marker == joint.second.marker)
    fail_input("{} connects a marker with itself; expected two different ones", label);
  if (joint.kind == JointKind::Distance && joint.motion.is_constant() && !(joint.motion(0) > 0))
    fail_input("{} prescribes the distance {} m, expected a positive one; use a spherical joint for none",
               label, joint.motion(0));
  joint_offsets_.push_back(joint_rows_);
  joint_rows_ += joint.constraints();
  joints_.push_back(std::move(joint));
}

void System::add_load(Load load) {
  const std::string label = fmt::format("load '{}'", load.name);
  const std::array<MarkerRef, 2> refs = {load.first, load.second};
  for (int side = 0; side < 2; ++side)
    if (needs_rotation(load, side) && !marker_rotates(refs[side]))
      fail_input(
          "{} is a {} and needs axes at its {} marker, but that is a single node of body '{}', which has a "
          "position only; use an interface or several nodes",
          label, name_of(load.kind), side == 0 ? "first" : "second", bodies_[refs[side].body]->name());
  if (load.components.size() != 3)
    fail_input("{} has {} components, expected 3", label, load.components.size());
  if (load.first.body < 0 && load.second.body < 0)
    fail_input("{} acts on the ground alone; expected a body on one side at least", label);
  if (!load.input.empty() && !takes_input(load.kind))
    fail_input("{} is a {} and has an input, '{}'; expected a force, torque or line-force", label,
               name_of(load.kind), load.input);
  if (!load.input.empty() && find_input(load.input) < 0) inputs_.push_back({load.input, std::nullopt});
  loads_.push_back(std::move(load));
}

void System::set_input(const std::string& name, TimeFunction value) {
  const int k = find_input(name);
  if (k < 0) {
    std::vector<std::string> names;
    for (const Input& input : inputs_) names.push_back(input.name);
    fail_input("there is no input '{}'{}; {}", name, did_you_mean(name, names),
               names.empty() ? "no load has one" : fmt::format("there are: {}", fmt::join(names, ", ")));
  }
  inputs_[static_cast<size_t>(k)].value = std::move(value);
}

void System::initial(Eigen::VectorXd& q, Eigen::VectorXd& v) const {
  q.setZero(coordinates_);
  v.setZero(coordinates_);
  for (size_t b = 0; b < bodies_.size(); ++b) {
    const int n = bodies_[b]->coordinates();
    bodies_[b]->place(placements_[b], q.segment(offsets_[b], n), v.segment(offsets_[b], n));
  }
}

int System::find_body(const std::string& name) const {
  for (size_t b = 0; b < bodies_.size(); ++b)
    if (bodies_[b]->name() == name) return static_cast<int>(b);
  return -1;
}

int System::find_joint(const std::string& name) const {
  for (size_t j = 0; j < joints_.size(); ++j)
    if (joints_[j].name == name) return static_cast<int>(j);
  return -1;
}

int System::find_load(const std::string& name) const {
  for (size_t l = 0; l < loads_.size(); ++l)
    if (loads_[l].name == name) return static_cast<int>(l);
  return -1;
}

int System::find_input(const std::string& name) const {
  for (size_t k = 0; k < inputs_.size(); ++k)
    if (inputs_[k].name == name) return static_cast<int>(k);
  return -1;
}

// ---- the equations
//
// Everything goes through the markers: a joint or load knows the 12 numbers m of its two markers; forces f on
// them become J' f on the coordinates, and derivatives
//   d(J' f)/dq = J' (df/dm J + df/dm' V) + sum f_i d2m_i/dq2,   d(J' f)/dv = J' df/dm' J.
// A marker that several joints and loads share is evaluated once, and its forces are summed first.
// Derivatives are collected by groups of coordinates: all of a body, or, of bodies with sparse matrices,
// those of one marker.

namespace {

using Rows12 = Eigen::Matrix<double, Eigen::Dynamic, 12, 0, 6, 12>;
using Rows24 = Eigen::Matrix<double, Eigen::Dynamic, 24, 0, 6, 24>;
using JointVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 6, 1>;

// A marker in use.
struct Slot {
  int body = -1, marker = -1;
  int group = -1;
  bool sparse = false;  // J has columns for these of the system's coordinates only
  std::vector<int> columns;
  bool axes = false;    // anybody uses its axes
  bool active = false;  // of a load, or of a joint of which something is kept
  bool damped = false;  // a load depends on its rate
  MarkerKinematics kinematics;
  Vector12d force;  // as G' lambda and -load: what is added to the residual

  int numbers() const { return axes ? 12 : 3; }
};

// d2g/dq2 of a body's own constraints, which is constant.
struct OwnHessianEntry {
  int constraint, row, column;
  double value;
};

struct BodyPart {
  std::unique_ptr<Body::Workspace> workspace;
  int offset = 0, n = 0;
  std::vector<std::vector<int>> cells;  // of a sparse one, local coordinates
  std::vector<const int*> cell_places;
  int first_block = 0;  // of the cells, or of the whole body
  std::vector<OwnHessianEntry> own_hessian;
  std::vector<int> own_columns;                              // coordinates in own constraints
  MatrixXd own_full, own_gradient, own_gradient_transposed;  // all columns; those of own_columns
  std::vector<int> own_kept;                                 // local rows
  int gradient_block = -1, transposed_block = -1;
};

struct JointPart {
  std::array<int, 2> slots;
  int row = 0, rows = 0;
  bool curved = false;  // second derivatives with respect to the markers
  bool driven = false;  // its rows depend on the time
  JointForms forms;
  std::vector<int> kept;  // local rows
  std::array<MatrixXd, 2> gradient, gradient_transposed;
  std::array<int, 2> gradient_block = {-1, -1}, transposed_block = {-1, -1};
};

struct LoadPart {
  std::array<int, 2> slots;
  bool damped = false;
  int turn = -1;        // its place in State::turns
  int input = -1;       // its place in System::inputs()
  bool linear = false;  // one of LinearLoads
};

// Coordinates whose derivatives are collected together, with their block on the diagonal: the g-th is body
// g's, further ones are those of a marker of a sparse body.
struct Group {
  int n = 0;
  std::vector<int> columns;  // of the system
  MatrixXd D;                // empty for a sparse body itself
  int block = -1;
};

// The blocks of two groups against each other.
struct Pair {
  int first = 0, second = 0, block = 0;  // first < second; the transposed one's block is the next
  MatrixXd upper, lower;                 // first by second, second by first
};

// coordinates up to which a body without constraints is taken as compact
constexpr int most_compact = 64;

bool is_curved(JointKind kind) {
  return kind != JointKind::Spherical;
}

// y (1 by n) += x' J, in segments of three and only where x is not zero
template <class Y>
void add_row_times(const Eigen::Matrix<double, 1, 12>& x, const Matrix12Xd& J, Y&& y) {
  for (int s = 0; s < 12; s += 3) {
    const Eigen::RowVector3d part = x.segment<3>(s);
    if (!part.isZero(0)) y += part.lazyProduct(J.middleRows<3>(s));
  }
}

// target (rows by columns, `stride` from column to column) += A' T: A is three rows of a 12 by `rows` matrix,
// T 3 by `columns`
LISSOM_SIMD void add_products(Eigen::Index rows, Eigen::Index columns, const double* A, const double* T,
                              double* target, Eigen::Index stride) {
  for (Eigen::Index c = 0; c < columns; ++c, T += 3, target += stride) {
    const double x = T[0], y = T[1], z = T[2];
#pragma omp simd
    for (Eigen::Index i = 0; i < rows; ++i)
      target[i] += A[12 * i] * x + A[12 * i + 1] * y + A[12 * i + 2] * z;
  }
}

// target += factor J_a' B J_b, skipping zeros of B (12 by 12); T (3 by at least n_b) is scratch
template <class B12>
void contract(const Matrix12Xd& Ja, const B12& B, const Matrix12Xd& Jb, double factor,
              Eigen::Matrix3Xd& scratch, MatrixXd& target) {
  auto T = scratch.leftCols(Jb.cols());
  for (int a = 0; a < 12; a += 3) {
    bool any = false;
    for (int b = 0; b < 12; b += 3) {
      const Eigen::Matrix3d part = factor * B.template block<3, 3>(a, b);
      if (part.isZero(0)) continue;
      if (any)
        T += part.lazyProduct(Jb.middleRows<3>(b));
      else
        T = part.lazyProduct(Jb.middleRows<3>(b));
      any = true;
    }
    if (any) add_products(Ja.cols(), Jb.cols(), Ja.data() + a, T.data(), target.data(), target.rows());
  }
}

}  // namespace

struct SystemEquations::Impl {
  const System& system;
  std::vector<int> kept;
  std::vector<int> reduced;  // of all rows: place among those kept, or -1
  std::vector<int> row_groups;
  int n = 0;

  std::vector<BodyPart> bodies;
  std::vector<Slot> slots;
  std::vector<JointPart> joints;
  std::vector<LoadPart> loads;
  int turns = 0;  // loads that count turns
  VectorXd held;  // inputs that are held; empty: they are functions of time
  std::vector<Group> groups;
  std::vector<Pair> pairs;
  std::vector<int> pair_of;  // groups by groups, -1 where there is none
  bool symmetric = false;
  std::vector<MatrixBlock> blocks;

  VectorXd scale, rest;         // displacement scale; zeros in place of velocities
  VectorXd marker_q, marker_v;  // where the markers were evaluated last
  // What was evaluated there; each has what those before it have.
  enum Level { Nowhere, Values, Gradients, DampedRates, AllRates };  // m and its rate; J; V of damped ones; V
  Level marker_level = Nowhere;
  bool any_active = false;
  bool all_markers = false;  // those that are not active, too
  double length = 1, typical_mass = 1;
  // Of choose_rows(): where rows were looked at last (empty: nowhere), their smallest part there, and when they were
  // chosen.
  VectorXd looked_at;
  double part_seen = 0, part_chosen = 0;
  Eigen::Matrix3Xd scratch;
  LoadEvaluation load;
  Turns counted;  // room
  bool compact = false, has_other_loads = false;
  LinearLoads linear{0};                                       // of compact ones
  double linear_t = std::numeric_limits<double>::quiet_NaN();  // what they were set to
  VectorXd linear_u;
  Matrix24d H;
  VectorXd own_values;

  Impl(const System& model, std::optional<std::vector<int>> kept_rows) : system(model) {
    n = system.coordinates();
    const int all = system.constraint_rows();
    if (kept_rows)
      kept = std::move(*kept_rows);
    else
      for (int i = 0; i < all; ++i) kept.push_back(i);
    reduced.assign(all, -1);
    for (size_t i = 0; i < kept.size(); ++i) {
      LISSOM_ASSERT(kept[i] >= 0 && kept[i] < all && (i == 0 || kept[i] > kept[i - 1]));
      reduced[kept[i]] = static_cast<int>(i);
    }
    for (size_t j = 0; j < system.joints().size(); ++j)
      row_groups.insert(row_groups.end(), system.joints()[j].constraints(), static_cast<int>(j));
    for (size_t b = 0; b < system.bodies().size(); ++b)
      row_groups.insert(row_groups.end(), system.bodies()[b]->own_constraints(),
                        static_cast<int>(system.joints().size() + b));
    rest = VectorXd::Zero(n);
    marker_q = marker_v = rest;
    add_bodies();
    add_joints_and_loads();
    symmetric = is_symmetric();
    add_blocks();
    measure();
  }

  // ---- rooms

  void add_bodies() {
    int largest = 0;
    for (size_t b = 0; b < system.bodies().size(); ++b) {
      const Body& body = *system.bodies()[b];
      BodyPart part;
      part.workspace = body.workspace();
      part.offset = system.offset(static_cast<int>(b));
      part.n = body.coordinates();
      part.cells = body.cells();
      Group group;
      group.n = part.n;
      for (int i = 0; i < part.n; ++i) group.columns.push_back(part.offset + i);
      if (part.cells.empty()) group.D = MatrixXd::Zero(part.n, part.n);
      largest = std::max(largest, part.n);
      const int own = body.own_constraints();
      LISSOM_ASSERT(own == 0 || part.cells.empty());
      std::vector<bool> used(part.n, false);
      for (int i = 0; i < own; ++i) {
        group.D.setZero();
        body.add_own_hessian(VectorXd::Unit(own, i), 1, group.D);
        for (int c = 0; c < part.n; ++c)
          for (int r = 0; r < part.n; ++r)
            if (group.D(r, c) != 0) {
              part.own_hessian.push_back({i, r, c, group.D(r, c)});
              used[c] = true;
            }
        if (reduced[system.own_row(static_cast<int>(b)) + i] >= 0) part.own_kept.push_back(i);
      }
      for (int c = 0; c < part.n; ++c)
        if (used[c]) part.own_columns.push_back(c);
      part.own_full = MatrixXd::Zero(own, part.n);
      part.own_gradient = MatrixXd::Zero(part.own_kept.size(), part.own_columns.size());
      part.own_gradient_transposed = part.own_gradient.transpose();
      bodies.push_back(std::move(part));
      groups.push_back(std::move(group));
    }
    scratch.resize(3, std::max(1, largest));
    own_values.resize(6);
  }

  int slot_of(MarkerRef ref, bool axes, bool damped) {
    const auto found = std::find_if(slots.begin(), slots.end(), [&](const Slot& slot) {
      return slot.body == ref.body && slot.marker == ref.marker;
    });
    const int index = static_cast<int>(found - slots.begin());
    if (found == slots.end()) {
      Slot slot;
      slot.body = ref.body;
      slot.marker = ref.marker;
      int columns = 0;
      if (ref.body >= 0) {
        slot.group = ref.body;
        if (!bodies[ref.body].cells.empty()) {
          Group group;
          for (const int i : system.bodies()[ref.body]->marker_coordinates(ref.marker))
            group.columns.push_back(bodies[ref.body].offset + i);
          slot.sparse = true;
          slot.columns = group.columns;
          group.n = static_cast<int>(group.columns.size());
          group.D = MatrixXd::Zero(group.n, group.n);
          slot.group = static_cast<int>(groups.size());
          groups.push_back(std::move(group));
        }
        columns = groups[slot.group].n;
      }
      slot.kinematics.J = Matrix12Xd::Zero(12, columns);
      slot.kinematics.V = Matrix12Xd::Zero(12, columns);
      if (ref.body < 0) {
        slot.kinematics.m = system.ground_marker(ref.marker);
        slot.kinematics.rotates = true;
      }
      slots.push_back(std::move(slot));
    }
    slots[index].axes |= axes;
    slots[index].damped |= damped;
    return index;
  }

  void add_pair(int a, int b) {
    if (a < 0 || b < 0 || a == b) return;
    for (const Pair& pair : pairs)
      if (pair.first == std::min(a, b) && pair.second == std::max(a, b)) return;
    Pair pair;
    pair.first = std::min(a, b);
    pair.second = std::max(a, b);
    pair.upper = MatrixXd::Zero(groups[pair.first].n, groups[pair.second].n);
    pair.lower = MatrixXd::Zero(groups[pair.second].n, groups[pair.first].n);
    pairs.push_back(std::move(pair));
  }

  void add_joints_and_loads() {
    for (size_t j = 0; j < system.joints().size(); ++j) {
      const Joint& joint = system.joints()[j];
      JointPart part;
      part.row = system.joint_row(static_cast<int>(j));
      part.rows = joint.constraints();
      part.curved = is_curved(joint.kind);
      part.driven = is_driven(joint.kind);
      if (!part.driven) part.forms = JointForms(joint, 0);
      part.slots = {slot_of(joint.first, needs_rotation(joint.kind, 0), false),
                    slot_of(joint.second, needs_rotation(joint.kind, 1), false)};
      for (int i = 0; i < part.rows; ++i)
        if (reduced[part.row + i] >= 0) part.kept.push_back(i);
      for (int side = 0; side < 2; ++side) {
        const Slot& slot = slots[part.slots[side]];
        if (slot.body < 0) continue;
        part.gradient[side] = MatrixXd::Zero(part.kept.size(), groups[slot.group].n);
        part.gradient_transposed[side] = part.gradient[side].transpose();
      }
      if (part.curved) add_pair(slots[part.slots[0]].group, slots[part.slots[1]].group);
      for (const int slot : part.slots) slots[slot].active |= !part.kept.empty();
      joints.push_back(std::move(part));
    }
    compact = bodies.size() == 1 && kept.empty() && bodies[0].cells.empty() && n <= most_compact;
    linear = LinearLoads(n);
    for (const Load& load_spec : system.loads()) {
      LoadPart part;
      part.damped = is_damped(load_spec);
      if (counts_turns(load_spec)) part.turn = turns++;
      if (!load_spec.input.empty()) part.input = system.find_input(load_spec.input);
      part.slots = {slot_of(load_spec.first, needs_rotation(load_spec, 0), part.damped),
                    slot_of(load_spec.second, needs_rotation(load_spec, 1), part.damped)};
      // a force fixed in space depends on neither marker
      const bool couples = load_spec.kind == LoadKind::LineForce || holds(load_spec.kind) ||
                           (load_spec.has_second && load_spec.following);
      if (couples) add_pair(slots[part.slots[0]].group, slots[part.slots[1]].group);
      part.linear = compact && add_linear(load_spec, part);
      if (!part.linear)
        for (const int slot : part.slots) slots[slot].active = true;
      has_other_loads |= !part.linear;
      loads.push_back(part);
    }
    linear.finish();
    any_active = std::any_of(slots.begin(), slots.end(), [](const Slot& slot) { return slot.active; });
    linear_u = VectorXd::Zero(static_cast<Eigen::Index>(system.inputs().size()));
    pair_of.assign(groups.size() * groups.size(), -1);
    for (size_t k = 0; k < pairs.size(); ++k)
      pair_of[pairs[k].first * groups.size() + pairs[k].second] =
          pair_of[pairs[k].second * groups.size() + pairs[k].first] = static_cast<int>(k);
  }

  // A load of which both markers are linear in the coordinates, and whose forces LinearLoads knows.
  bool add_linear(const Load& load_spec, const LoadPart& part) {
    std::array<Matrix12Xd, 2> L;
    for (int side = 0; side < 2; ++side) {
      const Slot& slot = slots[part.slots[side]];
      if (slot.body < 0) {
        L[side] = Matrix12Xd::Zero(12, n + 1);
        L[side].col(0) = slot.kinematics.m;
      } else if (const Matrix12Xd* found = system.bodies()[slot.body]->linear_marker(slot.marker)) {
        L[side] = *found;
      } else {
        return false;
      }
    }
    return linear.add(load_spec, L[0], L[1], part.input, part.turn);
  }

  // Linear loads at a time, whose functions are evaluated once.
  void set_linear_time(double t) {
    bool changed = t != linear_t;
    linear_t = std::numeric_limits<double>::quiet_NaN();
    for (size_t k = 0; k < system.inputs().size(); ++k) {
      const double u = input(static_cast<int>(k), t);
      changed |= u != linear_u[static_cast<Eigen::Index>(k)];
      linear_u[static_cast<Eigen::Index>(k)] = u;
    }
    if (changed) linear.set_time(t, linear_u);
    linear_t = t;
  }
  const Turns* turns_of(const State& state) const {
    return state.turns.angle.size() > 0 ? &state.turns : nullptr;
  }

  // Forces that are gradients of a potential, or torques about the one axis of plane motion, have a symmetric
  // derivative; dampers and forces that follow a body do not.
  bool is_symmetric() const {
    if (!kept.empty()) return false;
    for (const auto& body : system.bodies())
      if (!body->symmetric()) return false;
    const auto planar = [&](MarkerRef ref) { return ref.body < 0 || system.bodies()[ref.body]->planar(); };
    for (const Load& spec : system.loads()) {
      if (is_damped(spec)) return false;
      if (spec.kind == LoadKind::Force && spec.following) return false;
      if (spec.kind == LoadKind::Torque && !(planar(spec.first) && planar(spec.second))) return false;
      // springs and bushings are; their preloads and moments are not looked at more closely
      if (spec.kind == LoadKind::TorsionSpring || spec.kind == LoadKind::Bushing) return false;
    }
    return true;
  }

  int add_block(std::vector<int> rows, std::vector<int> columns) {
    blocks.push_back({std::move(rows), std::move(columns)});
    return static_cast<int>(blocks.size()) - 1;
  }

  void add_blocks() {
    for (size_t b = 0; b < bodies.size(); ++b) {
      BodyPart& part = bodies[b];
      part.first_block = static_cast<int>(blocks.size());
      for (const std::vector<int>& cell : part.cells) {
        std::vector<int> columns = cell;
        for (int& c : columns) c += part.offset;
        add_block(columns, columns);
      }
      part.cell_places.resize(part.cells.size());
    }
    for (Group& group : groups)
      if (group.D.size() > 0) group.block = add_block(group.columns, group.columns);
    for (Pair& pair : pairs) {
      pair.block = add_block(groups[pair.first].columns, groups[pair.second].columns);
      add_block(groups[pair.second].columns, groups[pair.first].columns);
    }
    for (JointPart& part : joints) {
      std::vector<int> rows;
      for (const int i : part.kept) rows.push_back(n + reduced[part.row + i]);
      for (int side = 0; side < 2; ++side) {
        const int group = slots[part.slots[side]].group;
        if (group < 0 || rows.empty()) continue;
        part.gradient_block[side] = add_block(rows, groups[group].columns);
        part.transposed_block[side] = add_block(groups[group].columns, rows);
      }
    }
    for (size_t b = 0; b < bodies.size(); ++b) {
      BodyPart& part = bodies[b];
      if (part.own_kept.empty()) continue;
      std::vector<int> rows, columns;
      for (const int i : part.own_kept) rows.push_back(n + reduced[system.own_row(static_cast<int>(b)) + i]);
      for (const int c : part.own_columns) columns.push_back(part.offset + c);
      part.gradient_block = add_block(rows, columns);
      part.transposed_block = add_block(columns, rows);
    }
  }

  // Other rows in place of those kept, as many.
  void keep(std::vector<int> rows) {
    LISSOM_ASSERT(rows.size() == kept.size());
    kept = std::move(rows);
    std::fill(reduced.begin(), reduced.end(), -1);
    for (size_t i = 0; i < kept.size(); ++i) reduced[kept[i]] = static_cast<int>(i);
    for (Slot& slot : slots) slot.active = false;
    for (const LoadPart& part : loads)
      for (const int slot : part.slots) slots[slot].active = true;
    for (size_t b = 0; b < bodies.size(); ++b) {
      BodyPart& part = bodies[b];
      part.own_kept.clear();
      for (int i = 0; i < part.own_full.rows(); ++i)
        if (reduced[system.own_row(static_cast<int>(b)) + i] >= 0) part.own_kept.push_back(i);
      part.own_gradient = MatrixXd::Zero(part.own_kept.size(), part.own_columns.size());
      part.own_gradient_transposed = part.own_gradient.transpose();
      part.gradient_block = part.transposed_block = -1;
    }
    for (JointPart& part : joints) {
      part.kept.clear();
      for (int i = 0; i < part.rows; ++i)
        if (reduced[part.row + i] >= 0) part.kept.push_back(i);
      for (int side = 0; side < 2; ++side) {
        Slot& slot = slots[part.slots[side]];
        slot.active |= !part.kept.empty();
        if (slot.body < 0) continue;
        part.gradient[side] = MatrixXd::Zero(part.kept.size(), groups[slot.group].n);
        part.gradient_transposed[side] = part.gradient[side].transpose();
      }
      part.gradient_block = part.transposed_block = {-1, -1};
    }
    blocks.clear();
    add_blocks();
    marker_level = Nowhere;
  }

  // How far a body has moved at most since rows were looked at, in its own size: so much may their directions have
  // changed.
  double moved_since(const VectorXd& q) const {
    double largest = 0;
    for (size_t b = 0; b < bodies.size(); ++b) {
      const double size = system.bodies()[b]->radius() > 0 ? system.bodies()[b]->radius() : length;
      for (int i = bodies[b].offset; i < bodies[b].offset + bodies[b].n; ++i)
        largest = std::max(largest, scale[i] * std::abs(q[i] - looked_at[i]) / size);
    }
    return largest;
  }

  // sizes at the initial positions
  void measure() {
    scale.resize(n);
    VectorXd q, v;
    system.initial(q, v);
    double radius = 0;
    std::vector<double> masses;
    for (size_t b = 0; b < bodies.size(); ++b) {
      BodyPart& part = bodies[b];
      const Body& body = *system.bodies()[b];
      auto own_scale = scale.segment(part.offset, part.n);
      body.displacement_scale(own_scale);
      radius = std::max(radius, body.radius());
      VectorXd diagonal(part.n);
      body.mass_diagonal(q.segment(part.offset, part.n), *part.workspace, diagonal);
      for (int i = 0; i < part.n; ++i) {
        const double mass = diagonal[i] / (own_scale[i] * own_scale[i]);
        if (std::isfinite(mass) && mass > 0) masses.push_back(mass);
      }
    }
    if (!masses.empty()) {
      std::nth_element(masses.begin(), masses.begin() + masses.size() / 2, masses.end());
      typical_mass = masses[masses.size() / 2];
    }
    // the box around all markers, or the largest body
    evaluate_markers(q, v, Values, true);
    Eigen::AlignedBox3d box;
    for (const Slot& slot : slots) box.extend(Vector3d(slot.kinematics.position()));
    length = std::max(box.isEmpty() ? 0.0 : box.diagonal().norm(), radius);
    if (!(length > 0)) length = 1;
  }

  // ---- evaluation

  Eigen::Ref<const VectorXd> part_of(const VectorXd& x, int body) const {
    return x.segment(bodies[body].offset, bodies[body].n);
  }

  // What was evaluated last is kept: a Newton iteration asks for the residual, the constraints and the matrix at the
  // same positions.
  void evaluate_markers(const VectorXd& q, const VectorXd& v, Level level, bool inactive = false) {
    if (slots.empty() || (!any_active && !inactive)) return;
    if (level <= marker_level && (all_markers || !inactive) && q == marker_q && v == marker_v) return;
    marker_level = Nowhere;  // nothing is valid should a marker throw
    for (Slot& slot : slots) {
      if (slot.body < 0 || !(slot.active || inactive)) continue;
      const Body& body = *system.bodies()[slot.body];
      const auto q_part = part_of(q, slot.body), v_part = part_of(v, slot.body);
      Body::Workspace& workspace = *bodies[slot.body].workspace;
      if (level == Values)
        body.marker_motion(slot.marker, q_part, v_part, slot.axes, workspace, slot.kinematics);
      else
        body.marker(slot.marker, q_part, v_part, level == AllRates || (level == DampedRates && slot.damped),
                    workspace, slot.kinematics);
    }
    marker_q = q;
    marker_v = v;
    marker_level = level;
    all_markers = inactive || std::all_of(slots.begin(), slots.end(),
                                          [](const Slot& slot) { return slot.active || slot.body < 0; });
  }

  // x (k, of a marker's columns) added to what belongs to the system's coordinates
  template <class X, class Target>
  void scatter(const Slot& slot, const X& x, Target&& target) const {
    if (!slot.sparse)
      target.segment(bodies[slot.body].offset, bodies[slot.body].n) += x;
    else
      for (size_t i = 0; i < slot.columns.size(); ++i) target[slot.columns[i]] += x[i];
  }
  // target += x' J as a row of the system
  template <class Target>
  void scatter_row_times(const Slot& slot, const Eigen::Matrix<double, 1, 12>& x, const Matrix12Xd& J,
                         Target&& target) const {
    if (!slot.sparse) {
      add_row_times(x, J, target.segment(bodies[slot.body].offset, bodies[slot.body].n));
      return;
    }
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(J.cols());
    add_row_times(x, J, sum);
    scatter(slot, sum, target);
  }
  // J v with v of the system
  Vector12d times(const Slot& slot, const Matrix12Xd& J, const VectorXd& v) const {
    if (!slot.sparse) return J.lazyProduct(part_of(v, slot.body));
    Vector12d sum = Vector12d::Zero();
    for (size_t i = 0; i < slot.columns.size(); ++i) sum += J.col(i) * v[slot.columns[i]];
    return sum;
  }

  // m alone or with J, whatever the velocities.
  void evaluate_positions(const VectorXd& q, Level level, bool inactive = false) {
    if (marker_level < level || (inactive && !all_markers) || q != marker_q)
      evaluate_markers(q, rest, level, inactive);
  }

  const MarkerKinematics& kinematics(const JointPart& part, int side) const {
    return slots[part.slots[side]].kinematics;
  }

  void evaluate(size_t l, const State& state, bool derivatives) {
    const MarkerKinematics& first = slots[loads[l].slots[0]].kinematics;
    const MarkerKinematics& second = slots[loads[l].slots[1]].kinematics;
    evaluate(l, state, first, second, derivatives);
  }
  void evaluate(size_t l, const State& state, const MarkerKinematics& first, const MarkerKinematics& second,
                bool derivatives) {
    const Turns& before = state.turns;
    const int turn = before.angle.size() > 0 ? loads[l].turn : -1;
    LISSOM_ASSERT(turn < 0 || before.angle.size() == turns);
    CountedAngle last;
    if (turn >= 0) last = {before.t, before.angle[turn], before.rate[turn]};
    const double factor = loads[l].input >= 0 ? input(loads[l].input, state.t) : 1;
    evaluate_load(system.loads()[l], state.t, first.m, first.rate, second.m, second.rate, derivatives, load,
                  factor, turn >= 0 ? &last : nullptr);
  }

  double input(int k, double t) const {
    if (held.size() > 0) return held[k];
    const std::optional<TimeFunction>& value = system.inputs()[static_cast<size_t>(k)].value;
    return value ? (*value)(t) : 0;
  }

  // multipliers of all rows of a joint or body, zero for those left out
  JointVector multipliers(int row, int rows, const VectorXd& lambda) const {
    JointVector local(rows);
    for (int i = 0; i < rows; ++i) local[i] = reduced[row + i] >= 0 ? lambda[reduced[row + i]] : 0;
    return local;
  }

  void joint_gradients(size_t j, double t, Rows12& first, Rows12& second) const {
    const JointPart& part = joints[j];
    first.resize(part.rows, 12);
    second.resize(part.rows, 12);
    joint_gradient(system.joints()[j], t, kinematics(part, 0).m, kinematics(part, 1).m, first, second);
  }

  // dg/dm of both markers, and the partial derivatives with respect to time
  struct JointDerivatives {
    Rows12 first, second;
    JointVector g_t, g_tt;
    Rows24 g_mt;
  };
  void joint_derivatives(size_t j, double t, JointDerivatives& out) const {
    const JointPart& part = joints[j];
    joint_gradients(j, t, out.first, out.second);
    out.g_t.resize(part.rows);
    out.g_tt.resize(part.rows);
    out.g_mt.resize(part.rows, 24);
    joint_time_derivatives(system.joints()[j], t, kinematics(part, 0).m, kinematics(part, 1).m, out.g_t,
                           out.g_tt, out.g_mt);
  }

  // d2g/dm2 m' of every row: gradients are linear in m, so these are gradients at m' less those at zero
  void joint_gradient_rates(size_t j, double t, Rows12& first, Rows12& second) const {
    const JointPart& part = joints[j];
    const Joint& joint = system.joints()[j];
    first.setZero(part.rows, 12);
    second.setZero(part.rows, 12);
    if (!part.curved) return;
    Rows12 first_zero(part.rows, 12), second_zero(part.rows, 12);
    joint_gradient(joint, t, kinematics(part, 0).rate, kinematics(part, 1).rate, first, second);
    joint_gradient(joint, t, Vector12d::Zero(), Vector12d::Zero(), first_zero, second_zero);
    first -= first_zero;
    second -= second_zero;
  }

  // the rows of a joint, which are made once unless they depend on the time
  const JointForms& forms(size_t j, double t) {
    JointPart& part = joints[j];
    if (part.driven) part.forms = JointForms(system.joints()[j], t);
    return part.forms;
  }

  // forces of the joint on its two markers
  void add_joint_forces(size_t j, double t, const VectorXd& lambda) {
    const JointPart& part = joints[j];
    if (part.kept.empty()) return;
    forms(j, t).add_forces(kinematics(part, 0).m, kinematics(part, 1).m,
                           multipliers(part.row, part.rows, lambda), slots[part.slots[0]].force,
                           slots[part.slots[1]].force);
  }

  void clear_forces() {
    for (Slot& slot : slots) slot.force.setZero();
  }

  // own constraints' gradient, all rows and columns
  void evaluate_own(size_t b, const VectorXd& q) {
    BodyPart& part = bodies[b];
    if (part.own_full.rows() > 0)
      system.bodies()[b]->own_gradient(part_of(q, static_cast<int>(b)), part.own_full);
  }

  // the room for derivatives of forces on the coordinates of group a with respect to those of b
  MatrixXd* target(int a, int b) {
    if (a < 0 || b < 0) return nullptr;
    if (a == b) return &groups[a].D;
    const int index = pair_of[a * groups.size() + b];
    LISSOM_ASSERT(index >= 0);
    return a < b ? &pairs[index].upper : &pairs[index].lower;
  }

  // derivatives B (24 by 24) of forces on two markers, with respect to their J or V
  void add_derivatives(const std::array<int, 2>& of, const Matrix24d& B, double factor, bool velocities) {
    for (int side = 0; side < 2; ++side)
      for (int other = 0; other < 2; ++other) {
        const Slot &a = slots[of[side]], &b = slots[of[other]];
        if (a.body < 0 || b.body < 0) continue;
        const auto part = B.block<12, 12>(12 * side, 12 * other);
        if (part.isZero(0)) continue;
        contract(a.kinematics.J, part, velocities ? b.kinematics.V : b.kinematics.J, factor, scratch,
                 *target(a.group, b.group));
      }
  }

  // forces on the markers as forces on the coordinates
  void add_marker_forces(const State& state, Eigen::Ref<VectorXd> r) const {
    for (const Slot& slot : slots) {
      if (slot.body < 0 || !slot.active) continue;
      if (const Body& body = *system.bodies()[slot.body]; body.projects_forces()) {
        body.add_marker_force(slot.marker, part_of(state.q, slot.body), part_of(state.v, slot.body),
                              slot.force, *bodies[slot.body].workspace,
                              r.segment(bodies[slot.body].offset, bodies[slot.body].n));
      } else if (!slot.sparse) {
        auto own = r.segment(bodies[slot.body].offset, bodies[slot.body].n);
        if (slot.axes)
          own += slot.kinematics.J.transpose().lazyProduct(slot.force);
        else
          own += slot.kinematics.J.topRows<3>().transpose().lazyProduct(slot.force.head<3>());
      } else {
        for (size_t i = 0; i < slot.columns.size(); ++i)
          r[slot.columns[i]] += slot.kinematics.J.col(i).dot(slot.force);
      }
    }
  }

  // forces and derivatives of a load that is not a linear one
  void add_load(size_t l, const State& state, const JacobianWeights& weights) {
    const LoadPart& part = loads[l];
    evaluate(l, state, true);
    slots[part.slots[0]].force -= load.force.head<12>();
    slots[part.slots[1]].force -= load.force.tail<12>();
    H = weights.q * load.by_position;
    if (part.damped) H += weights.v * load.by_rate;
    add_derivatives(part.slots, H, -1, false);
    if (part.damped && weights.q != 0) add_derivatives(part.slots, load.by_rate, -weights.q, true);
  }

  // curvature of the markers' motion, once the forces on them are known
  void add_curvature(const VectorXd& q, double factor) {
    for (const Slot& slot : slots)
      if (slot.body >= 0 && slot.active && !slot.force.isZero(0))
        system.bodies()[slot.body]->add_marker_hessian(slot.marker, part_of(q, slot.body), slot.force, factor,
                                                       *bodies[slot.body].workspace, groups[slot.group].D);
  }

  // The rows of all constraints, or of those kept: where row i of all goes, or -1.
  int place(int i, bool all) const { return all ? i : reduced[i]; }
  void gradients(double t, const VectorXd& q, bool all, Eigen::Ref<MatrixXd> G) {
    evaluate_positions(q, Gradients, all);
    G.setZero();
    Rows12 first, second;
    for (size_t j = 0; j < joints.size(); ++j) {
      const JointPart& part = joints[j];
      if (part.kept.empty() && !all) continue;
      joint_gradients(j, t, first, second);
      for (int side = 0; side < 2; ++side) {
        const Slot& slot = slots[part.slots[side]];
        if (slot.body < 0) continue;
        const Rows12& gradient = side == 0 ? first : second;
        for (int i = 0; i < part.rows; ++i) {
          const int row = place(part.row + i, all);
          if (row < 0) continue;
          scatter_row_times(slot, gradient.row(i), slot.kinematics.J, G.row(row));
        }
      }
    }
    for (size_t b = 0; b < bodies.size(); ++b) {
      evaluate_own(b, q);
      for (int i = 0; i < bodies[b].own_full.rows(); ++i) {
        const int row = place(system.own_row(static_cast<int>(b)) + i, all);
        if (row >= 0) G.row(row).segment(bodies[b].offset, bodies[b].n) = bodies[b].own_full.row(i);
      }
    }
  }

  // All of them, without the zeros.
  Eigen::SparseMatrix<double, Eigen::RowMajor> sparse_gradients(double t, const VectorXd& q) {
    evaluate_positions(q, Gradients, true);
    std::vector<Eigen::Triplet<double>> entries;
    Rows12 first, second;
    Eigen::RowVectorXd row;
    for (size_t j = 0; j < joints.size(); ++j) {
      const JointPart& part = joints[j];
      joint_gradients(j, t, first, second);
      for (int side = 0; side < 2; ++side) {
        const Slot& slot = slots[part.slots[side]];
        if (slot.body < 0) continue;
        for (int i = 0; i < part.rows; ++i) {
          row.setZero(slot.kinematics.J.cols());
          add_row_times((side == 0 ? first : second).row(i), slot.kinematics.J, row);
          for (Eigen::Index c = 0; c < row.size(); ++c)
            if (row[c] != 0)
              entries.emplace_back(
                  part.row + i,
                  slot.sparse ? slot.columns[c] : bodies[slot.body].offset + static_cast<int>(c), row[c]);
        }
      }
    }
    for (size_t b = 0; b < bodies.size(); ++b) {
      evaluate_own(b, q);
      const MatrixXd& own = bodies[b].own_full;
      for (int i = 0; i < own.rows(); ++i)
        for (int c = 0; c < own.cols(); ++c)
          if (own(i, c) != 0)
            entries.emplace_back(system.own_row(static_cast<int>(b)) + i, bodies[b].offset + c, own(i, c));
    }
    Eigen::SparseMatrix<double, Eigen::RowMajor> G(system.constraint_rows(), n);
    G.setFromTriplets(entries.begin(), entries.end());
    return G;
  }

  void constraints(double t, const VectorXd& q, bool all, Eigen::Ref<VectorXd> g) {
    if (g.size() == 0) return;
    evaluate_positions(q, Values, all);
    JointVector values;
    for (size_t j = 0; j < joints.size(); ++j) {
      const JointPart& part = joints[j];
      if (part.kept.empty() && !all) continue;
      values.resize(part.rows);
      forms(j, t).constraint(kinematics(part, 0).m, kinematics(part, 1).m, values);
      for (int i = 0; i < part.rows; ++i)
        if (const int row = place(part.row + i, all); row >= 0) g[row] = values[i];
    }
    for (size_t b = 0; b < bodies.size(); ++b) {
      const int own = static_cast<int>(bodies[b].own_full.rows());
      if (own == 0) continue;
      system.bodies()[b]->own_constraint(part_of(q, static_cast<int>(b)), own_values.head(own));
      for (int i = 0; i < own; ++i)
        if (const int row = place(system.own_row(static_cast<int>(b)) + i, all); row >= 0)
          g[row] = own_values[i];
    }
  }

  // rates and gradients of both markers of a joint as 24 numbers
  static Vector24d both(const Vector12d& first, const Vector12d& second) {
    Vector24d x;
    x << first, second;
    return x;
  }
};

SystemEquations::SystemEquations(const System& system, std::optional<std::vector<int>> kept)
    : impl_(std::make_unique<Impl>(system, std::move(kept))) {}
SystemEquations::~SystemEquations() = default;

const System& SystemEquations::system() const {
  return impl_->system;
}
const std::vector<int>& SystemEquations::kept_rows() const {
  return impl_->kept;
}
int SystemEquations::coordinates() const {
  return impl_->n;
}
int SystemEquations::constraints() const {
  return static_cast<int>(impl_->kept.size());
}

bool SystemEquations::constant_mass() const {
  const auto& bodies = impl_->system.bodies();
  return std::all_of(bodies.begin(), bodies.end(), [](const auto& body) { return body->constant_mass(); });
}

bool SystemEquations::symmetric() const {
  return impl_->symmetric;
}

void SystemEquations::residual(const State& state, double inertia_weight, Eigen::Ref<Eigen::VectorXd> r) {
  Impl& d = *impl_;
  r.setZero();
  for (size_t b = 0; b < d.bodies.size(); ++b) {
    BodyPart& part = d.bodies[b];
    const int body = static_cast<int>(b);
    auto own = r.segment(part.offset, part.n);
    d.system.bodies()[b]->add_residual(d.part_of(state.q, body), d.part_of(state.v, body),
                                       d.part_of(state.a, body), inertia_weight, d.system.gravity(),
                                       *part.workspace, own);
    if (part.own_full.rows() == 0) continue;
    d.evaluate_own(b, state.q);
    const JointVector lambda =
        d.multipliers(d.system.own_row(body), static_cast<int>(part.own_full.rows()), state.lambda);
    for (const int c : part.own_columns) own[c] += part.own_full.col(c).dot(lambda);
  }
  if (!d.linear.empty()) {
    d.set_linear_time(state.t);
    d.linear.add(state, d.turns_of(state), r.data(), 0, 0, nullptr);
  }
  // forces on the markers, then those on the coordinates
  d.evaluate_markers(state.q, state.v, Impl::Values);
  d.clear_forces();
  for (size_t j = 0; j < d.joints.size(); ++j) d.add_joint_forces(j, state.t, state.lambda);
  for (size_t l = 0; l < d.loads.size(); ++l) {
    if (d.loads[l].linear) continue;
    d.evaluate(l, state, false);
    d.slots[d.loads[l].slots[0]].force -= d.load.force.head<12>();
    d.slots[d.loads[l].slots[1]].force -= d.load.force.tail<12>();
  }
  d.add_marker_forces(state, r);
}

void SystemEquations::constraint(double t, const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> g) {
  impl_->constraints(t, q, false, g);
}

std::vector<MatrixBlock> SystemEquations::blocks() const {
  return impl_->blocks;
}

void SystemEquations::jacobian(const State& state, double inertia_weight, const JacobianWeights& weights,
                               NewtonMatrix& matrix) {
  Impl& d = *impl_;
  const bool positions = weights.q != 0;
  d.evaluate_markers(state.q, state.v, positions ? Impl::DampedRates : Impl::Gradients);
  d.clear_forces();
  matrix.set_zero();

  // bodies
  for (size_t b = 0; b < d.bodies.size(); ++b) {
    BodyPart& part = d.bodies[b];
    const int body = static_cast<int>(b);
    if (!part.cells.empty()) {
      for (size_t c = 0; c < part.cells.size(); ++c)
        part.cell_places[c] = matrix.places(part.first_block + static_cast<int>(c));
      const CellWriter writer{matrix.values(), part.cell_places.data(), matrix.is_symmetric()};
      d.system.bodies()[b]->add_cells(d.part_of(state.q, body), d.part_of(state.v, body),
                                      d.part_of(state.a, body), inertia_weight, d.system.gravity(), weights.q,
                                      weights.v, weights.a, *part.workspace, writer);
      continue;
    }
    MatrixXd& D = d.groups[b].D;
    d.system.bodies()[b]->jacobian(d.part_of(state.q, body), d.part_of(state.v, body),
                                   d.part_of(state.a, body), inertia_weight, d.system.gravity(), weights.q,
                                   weights.v, weights.a, *part.workspace, D);
    if (part.own_full.rows() == 0) continue;
    d.evaluate_own(b, state.q);
    const JointVector lambda =
        d.multipliers(d.system.own_row(body), static_cast<int>(part.own_full.rows()), state.lambda);
    if (positions)
      for (const OwnHessianEntry& entry : part.own_hessian)
        D(entry.row, entry.column) += weights.q * lambda[entry.constraint] * entry.value;
    if (part.gradient_block < 0) continue;
    for (size_t c = 0; c < part.own_columns.size(); ++c)
      for (size_t i = 0; i < part.own_kept.size(); ++i) {
        const double value = part.own_full(part.own_kept[i], part.own_columns[c]);
        part.own_gradient(i, c) = part.own_gradient_transposed(c, i) = value;
      }
    matrix.add(part.gradient_block, part.own_gradient, weights.constraint);
    matrix.add(part.transposed_block, part.own_gradient_transposed, weights.multiplier);
  }
  for (size_t g = d.bodies.size(); g < d.groups.size(); ++g) d.groups[g].D.setZero();
  for (Pair& pair : d.pairs) {
    pair.upper.setZero();
    pair.lower.setZero();
  }

  // joints: G, and the derivative of G' lambda
  Rows12 first, second;
  for (size_t j = 0; j < d.joints.size(); ++j) {
    JointPart& part = d.joints[j];
    if (part.kept.empty()) continue;
    d.joint_gradients(j, state.t, first, second);
    for (int side = 0; side < 2; ++side) {
      const Slot& slot = d.slots[part.slots[side]];
      if (part.gradient_block[side] < 0) continue;
      const Rows12& gradient = side == 0 ? first : second;
      MatrixXd& G = part.gradient[side];
      G.setZero();
      for (size_t i = 0; i < part.kept.size(); ++i)
        add_row_times(gradient.row(part.kept[i]), slot.kinematics.J, G.row(i));
      part.gradient_transposed[side] = G.transpose();
      matrix.add(part.gradient_block[side], G, weights.constraint);
      matrix.add(part.transposed_block[side], part.gradient_transposed[side], weights.multiplier);
    }
    if (!positions) continue;
    const JointVector lambda = d.multipliers(part.row, part.rows, state.lambda);
    d.slots[part.slots[0]].force += first.transpose().lazyProduct(lambda);
    d.slots[part.slots[1]].force += second.transpose().lazyProduct(lambda);
    if (!part.curved) continue;
    joint_hessian(d.system.joints()[j], state.t, lambda, d.kinematics(part, 0).m, d.kinematics(part, 1).m,
                  d.H);
    d.add_derivatives(part.slots, d.H, weights.q, false);
  }

  // loads
  if (!d.linear.empty()) {
    d.set_linear_time(state.t);
    d.linear.add(state, d.turns_of(state), nullptr, weights.q, weights.v, d.groups[0].D.data());
  }
  if (positions || weights.v != 0)
    for (size_t l = 0; l < d.loads.size(); ++l) {
      const LoadPart& part = d.loads[l];
      if (part.linear || (!positions && !part.damped)) continue;
      d.add_load(l, state, weights);
    }

  if (positions) d.add_curvature(state.q, weights.q);

  for (const Group& group : d.groups)
    if (group.block >= 0) matrix.add(group.block, group.D);
  for (const Pair& pair : d.pairs) {
    matrix.add(pair.block, pair.upper);
    matrix.add(pair.block + 1, pair.lower);
  }
}

bool SystemEquations::is_compact() const {
  return impl_->compact;
}

void SystemEquations::linearise(const State& state, double inertia_weight, const JacobianWeights& weights,
                                Eigen::VectorXd& r, Eigen::MatrixXd& J) {
  Impl& d = *impl_;
  LISSOM_ASSERT(d.compact && weights.q != 0);
  const Body& body = *d.system.bodies()[0];
  Body::Workspace& room = *d.bodies[0].workspace;
  const Vector3d& gravity = d.system.gravity();
  MatrixXd& D = d.groups[0].D;
  r.setZero(d.n);
  body.add_residual(state.q, state.v, state.a, inertia_weight, gravity, room, r);
  body.jacobian(state.q, state.v, state.a, inertia_weight, gravity, weights.q, weights.v, weights.a, room, D);
  if (!d.linear.empty()) {
    d.set_linear_time(state.t);
    d.linear.add(state, d.turns_of(state), r.data(), weights.q, weights.v, D.data());
  }
  if (d.has_other_loads) {
    d.evaluate_markers(state.q, state.v, Impl::DampedRates);
    d.clear_forces();
    for (size_t l = 0; l < d.loads.size(); ++l)
      if (!d.loads[l].linear) d.add_load(l, state, weights);
    d.add_curvature(state.q, weights.q);
    d.add_marker_forces(state, r);
  }
  // what J was is overwritten the next time
  J.resize(d.n, d.n);
  J.swap(D);
}

void SystemEquations::constraint_gradient(double t, const Eigen::VectorXd& q, Eigen::Ref<Eigen::MatrixXd> G) {
  impl_->gradients(t, q, false, G);
}

void SystemEquations::constraint_rate(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                      Eigen::Ref<Eigen::VectorXd> rate) {
  Impl& d = *impl_;
  d.evaluate_markers(q, v, Impl::Values);
  Impl::JointDerivatives by;
  for (size_t j = 0; j < d.joints.size(); ++j) {
    const JointPart& part = d.joints[j];
    if (part.kept.empty()) continue;
    const MarkerKinematics &m = d.kinematics(part, 0), &M = d.kinematics(part, 1);
    d.joint_derivatives(j, t, by);
    for (const int i : part.kept)
      rate[d.reduced[part.row + i]] = by.first.row(i).dot(m.rate) + by.second.row(i).dot(M.rate) + by.g_t[i];
  }
  for (size_t b = 0; b < d.bodies.size(); ++b) {
    d.evaluate_own(b, q);
    const int row = d.system.own_row(static_cast<int>(b));
    for (const int i : d.bodies[b].own_kept)
      rate[d.reduced[row + i]] = d.bodies[b].own_full.row(i).dot(d.part_of(v, static_cast<int>(b)));
  }
}

void SystemEquations::constraint_rate_gradient(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                               Eigen::Ref<Eigen::MatrixXd> gradient) {
  // d(dg/dm m' + dg/dt)/dq = (m' d2g/dm2 + d2g/dm dt) J + dg/dm V
  Impl& d = *impl_;
  d.evaluate_markers(q, v, Impl::AllRates);
  gradient.setZero();
  Impl::JointDerivatives by;
  Rows12 first_rate, second_rate;
  for (size_t j = 0; j < d.joints.size(); ++j) {
    const JointPart& part = d.joints[j];
    if (part.kept.empty()) continue;
    d.joint_derivatives(j, t, by);
    d.joint_gradient_rates(j, t, first_rate, second_rate);
    for (const int i : part.kept) {
      Eigen::Matrix<double, 1, 24> by_m = by.g_mt.row(i);
      by_m.head<12>() += first_rate.row(i);
      by_m.tail<12>() += second_rate.row(i);
      auto row = gradient.row(d.reduced[part.row + i]);
      for (int side = 0; side < 2; ++side) {
        const Slot& slot = d.slots[part.slots[side]];
        if (slot.body < 0) continue;
        d.scatter_row_times(slot, by_m.segment<12>(12 * side), slot.kinematics.J, row);
        d.scatter_row_times(slot, (side == 0 ? by.first : by.second).row(i), slot.kinematics.V, row);
      }
    }
  }
  for (size_t b = 0; b < d.bodies.size(); ++b) {
    const BodyPart& part = d.bodies[b];
    const int row = d.system.own_row(static_cast<int>(b));
    for (const OwnHessianEntry& entry : part.own_hessian)
      if (const int place = d.reduced[row + entry.constraint]; place >= 0)
        gradient(place, part.offset + entry.column) += entry.value * v[part.offset + entry.row];
  }
}

void SystemEquations::constraint_curvature(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                           Eigen::Ref<Eigen::VectorXd> curvature) {
  // m' d2g/dm2 m' + 2 d2g/dm dt m' + d2g/dt2 + dg/dm V v
  Impl& d = *impl_;
  d.evaluate_markers(q, v, Impl::AllRates);
  Impl::JointDerivatives by;
  Rows12 first_rate, second_rate;
  for (size_t j = 0; j < d.joints.size(); ++j) {
    const JointPart& part = d.joints[j];
    if (part.kept.empty()) continue;
    const MarkerKinematics &m = d.kinematics(part, 0), &M = d.kinematics(part, 1);
    d.joint_derivatives(j, t, by);
    const Vector24d rates = Impl::both(m.rate, M.rate);
    Vector24d second_rates = Vector24d::Zero();
    for (int side = 0; side < 2; ++side) {
      const Slot& slot = d.slots[part.slots[side]];
      if (slot.body >= 0) second_rates.segment<12>(12 * side) = d.times(slot, slot.kinematics.V, v);
    }
    d.joint_gradient_rates(j, t, first_rate, second_rate);
    for (const int i : part.kept) {
      const double value = by.g_tt[i] + 2 * by.g_mt.row(i).dot(rates) + first_rate.row(i).dot(m.rate) +
                           second_rate.row(i).dot(M.rate) + by.first.row(i).dot(second_rates.head<12>()) +
                           by.second.row(i).dot(second_rates.tail<12>());
      curvature[d.reduced[part.row + i]] = value;
    }
  }
  for (size_t b = 0; b < d.bodies.size(); ++b) {
    const BodyPart& part = d.bodies[b];
    const int row = d.system.own_row(static_cast<int>(b));
    for (const int i : part.own_kept) curvature[d.reduced[row + i]] = 0;
    for (const OwnHessianEntry& entry : part.own_hessian)
      if (const int place = d.reduced[row + entry.constraint]; place >= 0)
        curvature[place] += entry.value * v[part.offset + entry.row] * v[part.offset + entry.column];
  }
}

const Eigen::VectorXd& SystemEquations::displacement_scale() const {
  return impl_->scale;
}
double SystemEquations::length() const {
  return impl_->length;
}
double SystemEquations::typical_mass() const {
  return impl_->typical_mass;
}

void SystemEquations::count_turns(State& state) {
  Impl& d = *impl_;
  if (d.turns == 0) return;
  d.evaluate_markers(state.q, state.v, Impl::Values);
  if (!d.linear.empty()) d.set_linear_time(state.t);
  // all are evaluated with what was counted before
  Turns& counted = d.counted;
  counted.t = state.t;
  counted.angle.resize(d.turns);
  counted.rate.resize(d.turns);
  for (size_t l = 0; l < d.loads.size(); ++l) {
    const int turn = d.loads[l].turn;
    if (turn < 0 || d.loads[l].linear) continue;
    d.evaluate(l, state, false);
    counted.angle[turn] = d.load.angle.angle;
    counted.rate[turn] = d.load.angle.rate;
  }
  if (!d.linear.empty()) d.linear.count(state, d.turns_of(state), counted);
  state.turns = counted;
}

std::vector<std::string> SystemEquations::turn_names() const {
  std::vector<std::string> names;
  for (const Load& load : impl_->system.loads())
    if (counts_turns(load)) names.push_back(fmt::format("{} '{}'", name_of(load.kind), load.name));
  return names;
}

void SystemEquations::keep_rows(const std::vector<int>& kept) {
  Impl& d = *impl_;
  if (kept != d.kept) d.keep(kept);
  d.looked_at.resize(0);
}

bool SystemEquations::choose_rows(const State& state) {
  Impl& d = *impl_;
  if (static_cast<int>(d.kept.size()) == d.system.constraint_rows() || d.kept.empty()) return false;
  const bool first = d.looked_at.size() == 0;
  const double far = look_again * std::min(1.0, d.part_seen / d.part_chosen);
  if (!first && !(d.moved_since(state.q) > far)) return false;
  d.looked_at = state.q;
  d.part_seen = smallest_part(*this, state.t, state.q, d.kept);
  d.part_chosen = first ? d.part_seen : std::max(d.part_chosen, d.part_seen);
  if (d.part_seen >= choose_again * d.part_chosen) return false;
  IndependentRows rows = independent_rows(*this, state.t, state.q);
  // at a singular position fewer are, and there is no better choice than after it; the next look comes soon
  if (rows.kept.size() != d.kept.size() || rows.kept == d.kept) return false;
  const double part = smallest_part(*this, state.t, state.q, rows.kept);
  if (!(part > 2 * d.part_seen)) return false;
  d.keep(std::move(rows.kept));
  d.part_seen = d.part_chosen = part;
  return true;
}

void SystemEquations::archive_rows(Archive& archive) {
  Impl& d = *impl_;
  std::vector<int> kept = d.kept;
  archive(kept, d.looked_at, d.part_seen, d.part_chosen);
  if (kept != d.kept) d.keep(std::move(kept));
}

std::vector<double> SystemEquations::break_times() const {
  std::vector<double> times;
  const auto add = [&](const TimeFunction& f) {
    const std::vector<double> more = f.break_times();
    times.insert(times.end(), more.begin(), more.end());
  };
  for (const Joint& joint : impl_->system.joints()) add(joint.motion);
  for (const Load& load : impl_->system.loads()) {
    for (const TimeFunction& f : load.components) add(f);
    add(load.magnitude);
    add(load.preload);
  }
  for (const Input& input : impl_->system.inputs())
    if (input.value) add(*input.value);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

std::vector<double> SystemEquations::breaks_above(double tolerance) const {
  std::vector<double> times;
  const auto add = [&](std::vector<double> more) { times.insert(times.end(), more.begin(), more.end()); };
  for (const Joint& joint : impl_->system.joints()) add(joint.motion.break_times());
  for (const Load& load : impl_->system.loads()) {
    for (const TimeFunction& f : load.components) add(f.breaks_above(tolerance));
    add(load.magnitude.breaks_above(tolerance));
    add(load.preload.breaks_above(tolerance));
  }
  for (const Input& input : impl_->system.inputs())
    if (input.value) add(input.value->breaks_above(tolerance));
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

std::vector<std::string> SystemEquations::deforming_parts() const {
  std::vector<std::string> names;
  for (const auto& body : impl_->system.bodies())
    if (body->flexible_modes() > 0) names.push_back(body->name());
  return names;
}

void SystemEquations::elastic_energies(const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> energies) {
  Impl& d = *impl_;
  int k = 0;
  for (size_t b = 0; b < d.bodies.size(); ++b) {
    const Body& body = *d.system.bodies()[b];
    if (body.flexible_modes() == 0) continue;
    const int index = static_cast<int>(b);
    energies[k++] = body.energy(d.part_of(q, index), d.part_of(d.rest, index), Eigen::Vector3d::Zero(),
                                *d.bodies[b].workspace)
                        .elastic;
  }
}

std::string SystemEquations::row_name(int row) const {
  const Impl& d = *impl_;
  if (row >= d.n) return constraint_name(d.kept[row - d.n]);
  for (size_t b = 0; b < d.bodies.size(); ++b)
    if (const int i = row - d.bodies[b].offset; i < d.bodies[b].n)
      return fmt::format("body '{}', {}", d.system.bodies()[b]->name(),
                         d.system.bodies()[b]->coordinate_name(i));
  return fmt::format("row {}", row);
}

bool SystemEquations::is_joint_row(int row) const {
  const Impl& d = *impl_;
  return row >= d.n && d.kept[row - d.n] < d.system.joint_constraints();
}

void SystemEquations::all_constraints(double t, const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> g) {
  impl_->constraints(t, q, true, g);
}

void SystemEquations::all_gradients(double t, const Eigen::VectorXd& q, Eigen::Ref<Eigen::MatrixXd> G) {
  impl_->gradients(t, q, true, G);
}

Eigen::SparseMatrix<double, Eigen::RowMajor> SystemEquations::all_gradients(double t, const VectorXd& q) {
  return impl_->sparse_gradients(t, q);
}

const std::vector<int>& SystemEquations::row_groups() const {
  return impl_->row_groups;
}

std::string SystemEquations::constraint_name(int all_row) const {
  const System& system = impl_->system;
  for (size_t j = 0; j < system.joints().size(); ++j) {
    const int row = all_row - system.joint_row(static_cast<int>(j));
    if (row >= 0 && row < system.joints()[j].constraints())
      return fmt::format("joint '{}'", system.joints()[j].name);
  }
  for (size_t b = 0; b < system.bodies().size(); ++b) {
    const int row = all_row - system.own_row(static_cast<int>(b));
    if (row >= 0 && row < system.bodies()[b]->own_constraints())
      return fmt::format("body '{}', constraint of its rotation", system.bodies()[b]->name());
  }
  return fmt::format("constraint {}", all_row);
}

SystemEnergy SystemEquations::energy(const State& state) {
  Impl& d = *impl_;
  SystemEnergy sum;
  for (size_t b = 0; b < d.bodies.size(); ++b) {
    const int body = static_cast<int>(b);
    const Body::Energy own = d.system.bodies()[b]->energy(d.part_of(state.q, body), d.part_of(state.v, body),
                                                          d.system.gravity(), *d.bodies[b].workspace);
    sum.kinetic += own.kinetic;
    sum.elastic += own.elastic;
    sum.gravity += own.gravity;
    sum.momentum += own.momentum;
    sum.angular_momentum += own.angular_momentum;
    sum.damping_power += own.damping_power;
  }
  if (!d.linear.empty()) {
    d.set_linear_time(state.t);
    const LinearLoads::Power power = d.linear.power(state, d.turns_of(state));
    sum.springs += power.potential;
    sum.load_power += power.applied;
    sum.damping_power += power.damping;
  }
  d.evaluate_markers(state.q, state.v, Impl::Values);
  for (size_t l = 0; l < d.loads.size(); ++l) {
    if (d.loads[l].linear) continue;
    d.evaluate(l, state, false);
    sum.springs += d.load.potential;
    sum.load_power += d.load.applied_power;
    sum.damping_power += d.load.damping_power;
  }
  // constraint forces -G' lambda do the work -lambda' G v = lambda' dg/dt, as G v + dg/dt = 0
  Impl::JointDerivatives by;
  for (size_t j = 0; j < d.joints.size(); ++j) {
    const JointPart& part = d.joints[j];
    if (part.kept.empty() || !is_driven(d.system.joints()[j].kind)) continue;
    d.joint_derivatives(j, state.t, by);
    sum.motion_power += d.multipliers(part.row, part.rows, state.lambda).dot(by.g_t);
  }
  return sum;
}

void SystemEquations::hold_inputs(const Eigen::Ref<const Eigen::VectorXd>& u) {
  LISSOM_ASSERT(u.size() == 0 || u.size() == static_cast<Eigen::Index>(impl_->system.inputs().size()));
  impl_->held = u;
}

Eigen::VectorXd SystemEquations::inputs(double t) const {
  VectorXd u(static_cast<Eigen::Index>(impl_->system.inputs().size()));
  for (Eigen::Index k = 0; k < u.size(); ++k) u[k] = impl_->input(static_cast<int>(k), t);
  return u;
}

void SystemEquations::input_forces(const State& state, Eigen::Ref<Eigen::MatrixXd> F) {
  Impl& d = *impl_;
  F.setZero();
  d.evaluate_markers(state.q, state.v, Impl::Gradients, !d.linear.empty());
  for (size_t l = 0; l < d.loads.size(); ++l) {
    const LoadPart& part = d.loads[l];
    if (part.input < 0) continue;
    const Slot *const first = &d.slots[part.slots[0]], *const second = &d.slots[part.slots[1]];
    evaluate_load(d.system.loads()[l], state.t, first->kinematics.m, first->kinematics.rate,
                  second->kinematics.m, second->kinematics.rate, false, d.load);
    auto forces = F.col(part.input).transpose();
    for (const auto& [slot, of_load] : {std::pair{first, 0}, std::pair{second, 12}})
      if (slot->body >= 0)
        d.scatter_row_times(*slot, d.load.force.segment<12>(of_load).transpose(), slot->kinematics.J, forces);
  }
}

std::vector<int> SystemEquations::marker_columns(MarkerRef ref) const {
  if (ref.body < 0) return {};
  std::vector<int> columns = impl_->system.bodies()[ref.body]->marker_coordinates(ref.marker);
  for (int& c : columns) c += impl_->bodies[ref.body].offset;
  return columns;
}

void SystemEquations::marker(MarkerRef ref, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                             bool gradients, MarkerKinematics& out) {
  Impl& d = *impl_;
  if (ref.body < 0) {
    out.m = d.system.ground_marker(ref.marker);
    out.rate.setZero();
    out.J.resize(12, 0);
    out.V.resize(12, 0);
    out.rotates = true;
    return;
  }
  d.system.bodies()[ref.body]->marker(ref.marker, d.part_of(q, ref.body), d.part_of(v, ref.body), gradients,
                                      *d.bodies[ref.body].workspace, out);
}

Eigen::VectorXd SystemEquations::all_multipliers(const State& state) {
  Impl& d = *impl_;
  const int all = d.system.constraint_rows();
  if (static_cast<int>(d.kept.size()) == all) return state.lambda;
  VectorXd lambda = VectorXd::Zero(all);
  if (d.kept.empty()) return lambda;
  for (size_t i = 0; i < d.kept.size(); ++i) lambda[d.kept[i]] = state.lambda[i];

  // rows left out as combinations of those kept: null vectors of G' are these less the row itself. Coordinates are
  // measured in metres
  RowElimination::Rows G = all_gradients(state.t, state.q);
  for (int i = 0; i < all; ++i)
    for (RowElimination::Rows::InnerIterator it(G, i); it; ++it)
      if (d.scale[it.col()] > 0) it.valueRef() /= d.scale[it.col()];
  std::vector<RowElimination::Role> roles(all, RowElimination::Role::Kept);
  for (int i = 0; i < all; ++i)
    if (d.reduced[i] < 0) roles[i] = RowElimination::Role::LeftOut;
  const RowElimination rows(G, d.row_groups, roles);

  // the shortest lambda + N c, torques over the length of the system; own constraints have no forces. Null vectors of
  // one joint are close to each other
  VectorXd weight = VectorXd::Zero(all);
  for (size_t j = 0; j < d.joints.size(); ++j)
    for (int i = 0; i < d.joints[j].rows; ++i)
      weight[d.joints[j].row + i] =
          row_kind(d.system.joints()[j].kind, i) == RowKind::Angle ? 1 / d.length : 1;
  std::vector<Eigen::Triplet<double>> entries, weighted;
  std::vector<int> groups;
  int vectors = 0;
  for (int i = 0; i < all; ++i) {
    if (d.reduced[i] >= 0) continue;
    entries.emplace_back(vectors, i, -1);
    for (const auto& [other, value] : rows.combination(i)) entries.emplace_back(vectors, other, value);
    groups.push_back(d.row_groups[i]);
    ++vectors;
  }
  for (const auto& entry : entries)
    if (weight[entry.col()] != 0)
      weighted.emplace_back(entry.row(), entry.col(), entry.value() * weight[entry.col()]);
  RowElimination::Rows N(vectors, all), weighted_N(vectors, all);
  N.setFromTriplets(entries.begin(), entries.end());
  weighted_N.setFromTriplets(weighted.begin(), weighted.end());
  const RowElimination shortest(weighted_N, groups,
                                std::vector<RowElimination::Role>(vectors, RowElimination::Role::Open));
  // twice, as normal equations leave round-off
  for (int round = 0; round < 2; ++round) {
    VectorXd c = weighted_N * weight.cwiseProduct(lambda);
    shortest.solve_normal(c);
    lambda -= N.transpose() * c;
  }
  return lambda;
}

void SystemEquations::reaction(int joint, const State& state, const Eigen::VectorXd& all_multipliers,
                               Eigen::Vector3d& force, Eigen::Vector3d& torque) {
  Impl& d = *impl_;
  const Joint& spec = d.system.joints()[joint];
  MarkerKinematics first, second;
  marker(spec.first, state.q, state.v, false, first);
  marker(spec.second, state.q, state.v, false, second);
  const int rows = spec.constraints();
  Rows12 by_first(rows, 12), by_second(rows, 12);
  joint_gradient(spec, state.t, first.m, second.m, by_first, by_second);
  const Vector12d f = -by_second.transpose() * all_multipliers.segment(d.system.joint_row(joint), rows);
  force = f.head<3>();
  torque = torque_of(f, second.m);
}

double SystemEquations::load_magnitude(int load, const State& state) {
  Impl& d = *impl_;
  const Load& spec = d.system.loads()[load];
  MarkerKinematics first, second;
  marker(spec.first, state.q, state.v, false, first);
  marker(spec.second, state.q, state.v, false, second);
  d.evaluate(static_cast<size_t>(load), state, first, second, false);
  return d.load.magnitude;
}

}  // namespace lissom

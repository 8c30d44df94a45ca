#include "lissom/mbs/ancf_body.hpp"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lissom/core/rotation.hpp"
#include "lissom/core/text.hpp"
#include "lissom/mbs/ancf_loop.hpp"

namespace lissom {

using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

// what lies together, relative to the size of the model
constexpr double meeting_tolerance = 1e-9;
// largest value of s_2 / l
constexpr double slope_reach = 4.0 / 27;

const char* axis_names[3] = {"x", "y", "z"};

// An entry of E: fixed + factor q[index], index -1 where it is held.
struct Entry {
  int index = -1;
  double fixed = 0, factor = 1;
};

// Nodes whose coordinates are all there, one after the other.
struct Run {
  int node = 0, q = 0, count = 0;
};

struct BeamMarker {
  AncfMarker shape;
  std::vector<int> coordinates;
};

struct Work final : Body::Workspace {
  Work(int dimension, int nodes) : loop(dimension, nodes) {}
  AncfLoopRoom loop;
  double x[6] = {}, rate[6] = {};  // of a marker
};

}  // namespace

struct AncfBody::Impl {
  std::string name;
  AncfModel model;
  int D = 2, N = 0, n = 0, nodes = 0;
  double size = 1;  // of the model [m]
  double total_mass = 0, radius = 0;
  bool damped = false;
  std::vector<AncfLoopBeam> beams;
  std::vector<AncfElementPlace> elements;
  std::vector<AncfCellMap> maps;  // of the elements
  std::vector<Entry> entries;     // N
  std::vector<int> copies;        // n: how many entries of E a coordinate moves
  std::vector<Run> runs;
  std::vector<int> odd_nodes;  // in no run
  VectorXd start, start_rate;  // E, dE/dt (N)
  std::vector<std::int64_t> node_ids;
  std::vector<BeamMarker> markers;

  int global(const AncfNode& at) const { return beams[at.beam].first_node + at.node; }
  int entry_of(int node, int k) const { return 2 * D * node + k; }
  Vector3d tangent(int beam) const { return (model.beams[beam].to - model.beams[beam].from).normalized(); }
  double height(int beam) const { return D == 2 ? model.beams[beam].from.z() : 0; }

  void check();
  void check_node(const AncfNode& at, const char* what) const;
  void lay_out();
  void share();
  void number();
  void check_start() const;

  // values (2 D by nodes) of E, or of its rates
  void gather(const Vector& q, bool fixed, AncfNodeValues& to) const;
  // r += T' (first + second)
  void scatter(const AncfLoopRoom& room, Eigen::Ref<VectorXd> r) const;
  VectorXd expand(const Vector& q, bool fixed) const;
  Vector3d vector(const VectorXd& E, int at) const {
    Vector3d v = Vector3d::Zero();
    for (int k = 0; k < D; ++k) v[k] = E[at + k];
    return v;
  }
  std::vector<int> coordinates_of(int element) const;
};

// what a user may have wrong with a beam
void AncfBody::Impl::check() {
  D = model.dimension;
  if (D != 2 && D != 3) fail_input("body '{}': ANCF beams are of dimension 2 or 3, not {}", name, D);
  if (model.beams.empty()) fail_input("body '{}' has no ANCF beam; give it one at least", name);
  for (AncfBeam& beam : model.beams) {
    const auto wrong = [&]<class... Args>(fmt::format_string<Args...> format, Args&&... args) {
      fail_input("ANCF beam '{}': {}", beam.name, fmt::format(format, std::forward<Args>(args)...));
    };
    AncfProperties& p = beam.properties;
    if (beam.elements < 1) wrong("it has {} elements, expected one at least", beam.elements);
    if (!beam.from.allFinite() || !beam.to.allFinite() || !beam.velocity.allFinite() ||
        !beam.angular_velocity.allFinite())
      wrong("its ends and velocities must be finite numbers");
    const double chord = (beam.to - beam.from).norm() / beam.elements;
    if (!(chord > 0))
      wrong("its elements have zero length, since both ends are at ({}, {}, {}); give it different ends",
            beam.from.x(), beam.from.y(), beam.from.z());
    if (p.length == 0) p.length = chord;
    const auto positive = [&](const char* what, double value, const char* unit) {
      if (!(value > 0) || !std::isfinite(value))
        wrong("the {} is {} {}, expected a positive number", what, value, unit);
    };
    positive("length of an element", p.length, "m");
    positive("axial stiffness EA", p.EA, "N");
    positive("bending stiffness EI", p.EI, "N m2");
    positive("mass per length", p.mass, "kg/m");
    if (!(p.damping >= 0) || !std::isfinite(p.damping))
      wrong("the damping is {} s, expected zero or a positive number", p.damping);
    size = std::max({size, beam.from.norm(), beam.to.norm()});
    if (D == 3) continue;
    if (std::abs(beam.to.z() - beam.from.z()) > meeting_tolerance * chord * beam.elements)
      wrong(
          "it is planar and must lie in a plane of constant z, but z goes from {} to {} m; put it into the "
          "x-y plane, or make it spatial",
          beam.from.z(), beam.to.z());
    if (beam.velocity.z() != 0 || beam.angular_velocity.x() != 0 || beam.angular_velocity.y() != 0)
      wrong(
          "it is planar, but starts to move out of its plane (velocity z {} m/s, angular velocity x {}, y "
          "{} rad/s); make it spatial, or set these to zero",
          beam.velocity.z(), beam.angular_velocity.x(), beam.angular_velocity.y());
  }
}

void AncfBody::Impl::check_node(const AncfNode& at, const char* what) const {
  if (at.beam < 0 || at.beam >= static_cast<int>(model.beams.size()))
    fail_input("body '{}': a {} is at ANCF beam number {}, but there are {}", name, what, at.beam + 1,
               model.beams.size());
  const AncfBeam& beam = model.beams[at.beam];
  if (at.node < 0 || at.node > beam.elements)
    fail_input("ANCF beam '{}': a {} is at node {}; its nodes are 1 to {}", beam.name, what, at.node + 1,
               beam.elements + 1);
}

// nodes, elements, and where all is at the start
void AncfBody::Impl::lay_out() {
  int element = 0;
  for (const AncfBeam& beam : model.beams) {
    beams.push_back({nodes, element, beam.elements, beam.properties, ancf_mass(beam.properties)});
    nodes += beam.elements + 1;
    element += beam.elements;
    total_mass += beam.properties.mass * beam.properties.length * beam.elements;
    damped = damped || beam.properties.damping != 0;
  }
  N = 2 * D * nodes;
  start.resize(N);
  start_rate.resize(N);
  Vector3d moment = Vector3d::Zero();
  for (size_t b = 0; b < model.beams.size(); ++b) {
    const AncfBeam& beam = model.beams[b];
    const Vector3d way = beam.to - beam.from;
    const Vector3d slope = way / (beam.elements * beam.properties.length);
    const Vector3d slope_rate = beam.angular_velocity.cross(slope);
    for (int i = 0; i <= beam.elements; ++i) {
      const Vector3d arm = way * (static_cast<double>(i) / beam.elements);
      const Vector3d r = i == beam.elements ? beam.to : Vector3d(beam.from + arm);
      const Vector3d rate = beam.velocity + beam.angular_velocity.cross(arm);
      const int at = 2 * D * (beams[b].first_node + i);
      for (int k = 0; k < D; ++k) {
        start[at + k] = r[k];
        start[at + D + k] = slope[k];
        start_rate[at + k] = rate[k];
        start_rate[at + D + k] = slope_rate[k];
      }
      node_ids.push_back(i + 1);
    }
    for (int e = 0; e < beam.elements; ++e) {
      const int first = 2 * D * (beams[b].first_node + e);
      elements.push_back({static_cast<int>(b), e, first, first + 2 * D, beam.properties});
    }
    const double mass = beam.properties.mass * beam.properties.length * beam.elements;
    moment += mass * (beam.from + beam.to) / 2;
  }
  const Vector3d centre = moment / total_mass;
  for (const AncfBeam& beam : model.beams)
    radius = std::max({radius, (beam.from - centre).norm(), (beam.to - centre).norm()});
}

// which entries of E are one, and which are held
void AncfBody::Impl::share() {
  std::vector<int> owner(nodes);
  std::iota(owner.begin(), owner.end(), 0);
  const auto find = [&](int i) {
    while (owner[i] != i) i = owner[i] = owner[owner[i]];
    return i;
  };
  const auto position = [&](const AncfNode& at) {
    Vector3d r = vector(start, entry_of(global(at), 0));
    if (D == 2) r.z() = height(at.beam);
    return r;
  };
  for (const auto& pin : model.pins) {
    check_node(pin.first, "pin");
    check_node(pin.second, "pin");
    const Vector3d one = position(pin.first), other = position(pin.second);
    if (!((one - other).norm() <= meeting_tolerance * size))
      fail_input(
          "node {} of ANCF beam '{}' at ({}, {}, {}) is pinned to node {} of '{}' at ({}, {}, {}), but they "
          "do "
          "not meet: {:.3g} m are between them; move one of the beams",
          pin.first.node + 1, model.beams[pin.first.beam].name, one.x(), one.y(), one.z(),
          pin.second.node + 1, model.beams[pin.second.beam].name, other.x(), other.y(), other.z(),
          (one - other).norm());
    const int a = find(global(pin.first)), b = find(global(pin.second));
    owner[std::max(a, b)] = std::min(a, b);
  }
  std::vector<bool> held(nodes, false), clamped(nodes, false);
  for (const AncfSupport& support : model.supports) {
    check_node(support.at, "support");
    held[find(global(support.at))] = true;
    if (support.clamped) clamped[global(support.at)] = true;
  }

  // in the order of E
  entries.resize(N);
  for (size_t b = 0; b < beams.size(); ++b)
    for (int i = 0; i <= beams[b].elements; ++i) {
      const int node = beams[b].first_node + i, first = find(node);
      for (int k = 0; k < D; ++k) {
        Entry& entry = entries[entry_of(node, k)];
        if (held[first])
          entry.fixed = start[entry_of(first, k)];
        else
          entry.index = first == node ? n++ : entries[entry_of(first, k)].index;
      }
      // of a clamped slope its length is left
      const Vector3d t = tangent(static_cast<int>(b));
      for (int k = 0; k < D; ++k) {
        Entry& entry = entries[entry_of(node, D + k)];
        entry.index = clamped[node] ? n : n++;
        if (clamped[node]) entry.factor = t[k];
      }
      if (clamped[node]) ++n;
    }
  copies.assign(n, 0);
  for (const Entry& entry : entries)
    if (entry.index >= 0) ++copies[entry.index];
}

// runs of nodes and the cells of the elements
void AncfBody::Impl::number() {
  const auto plain = [&](int node) {
    const int first = entries[entry_of(node, 0)].index;
    for (int k = 0; k < 2 * D; ++k) {
      const Entry& entry = entries[entry_of(node, k)];
      if (first < 0 || entry.index != first + k || entry.factor != 1) return false;
    }
    return true;
  };
  for (int node = 0; node < nodes; ++node) {
    const int q = entries[entry_of(node, 0)].index;
    if (!plain(node))
      odd_nodes.push_back(node);
    else if (!runs.empty() && runs.back().node + runs.back().count == node &&
             runs.back().q + 2 * D * runs.back().count == q)
      ++runs.back().count;
    else
      runs.push_back({node, q, 1});
  }
  maps.resize(elements.size());
  for (size_t e = 0; e < elements.size(); ++e) {
    AncfCellMap& map = maps[e];
    int last = -1;
    for (int i = 0; i < 4 * D; ++i) {
      const Entry& entry = entries[elements[e].first + i];
      map.factor[i] = entry.factor;
      if (entry.index < 0) {
        map.local[i] = -1;
      } else {
        // the components of a clamped slope are one coordinate
        if (entry.index != last) ++map.size;
        map.local[i] = static_cast<signed char>(map.size - 1);
        last = entry.index;
      }
      map.plain = map.plain && map.local[i] == i && entry.factor == 1;
    }
  }
}

// velocities must fit to pins and supports as well
void AncfBody::Impl::check_start() const {
  double fastest = 0;
  for (const AncfBeam& beam : model.beams)
    fastest = std::max({fastest, beam.velocity.norm(), beam.angular_velocity.norm() * size});
  VectorXd v = VectorXd::Zero(n);
  for (int i = 0; i < N; ++i)
    if (entries[i].index >= 0 && entries[i].factor == 1) v[entries[i].index] = start_rate[i];
  for (int i = 0; i < N; ++i) {
    const Entry& entry = entries[i];
    const double expected = entry.index >= 0 && entry.factor == 1 ? v[entry.index] : 0;
    if (std::abs(start_rate[i] - expected) <= meeting_tolerance * fastest) continue;
    const auto beam = std::find_if(beams.begin(), beams.end(), [&](const AncfLoopBeam& candidate) {
      return i / (2 * D) <= candidate.first_node + candidate.elements;
    });
    const int b = static_cast<int>(beam - beams.begin());
    fail_input(
        "ANCF beam '{}': node {} is pinned or held, but its velocity at the start does not fit ({} {} where "
        "it "
        "must be {}); give the beams velocities and angular velocities with which they stay together",
        model.beams[b].name, i / (2 * D) - beam->first_node + 1, start_rate[i],
        i % (2 * D) < D ? "m/s" : "rad/s", expected);
  }
}

void AncfBody::Impl::gather(const Vector& q, bool fixed, AncfNodeValues& to) const {
  const int step = 2 * D;
  for (const Run& run : runs)
    for (int k = 0; k < step; ++k) {
      const double* from = q.data() + run.q + k;
      double* values = to.component(k) + run.node;
      for (int i = 0; i < run.count; ++i) values[i] = from[i * step];
    }
  for (const int node : odd_nodes)
    for (int k = 0; k < step; ++k) {
      const Entry& entry = entries[entry_of(node, k)];
      to.component(k)[node] =
          (fixed ? entry.fixed : 0) + (entry.index >= 0 ? entry.factor * q[entry.index] : 0);
    }
}

void AncfBody::Impl::scatter(const AncfLoopRoom& room, Eigen::Ref<VectorXd> r) const {
  const int step = 2 * D;
  for (const Run& run : runs)
    for (int k = 0; k < step; ++k) {
      double* to = r.data() + run.q + k;
      const double *one = room.first.component(k) + run.node, *other = room.second.component(k) + run.node;
      for (int i = 0; i < run.count; ++i) to[i * step] += one[i] + other[i];
    }
  for (const int node : odd_nodes)
    for (int k = 0; k < step; ++k) {
      const Entry& entry = entries[entry_of(node, k)];
      if (entry.index >= 0)
        r[entry.index] += entry.factor * (room.first.component(k)[node] + room.second.component(k)[node]);
    }
}

VectorXd AncfBody::Impl::expand(const Vector& q, bool fixed) const {
  VectorXd E(N);
  for (int i = 0; i < N; ++i) {
    const Entry& entry = entries[i];
    E[i] = (fixed ? entry.fixed : 0) + (entry.index >= 0 ? entry.factor * q[entry.index] : 0);
  }
  return E;
}

std::vector<int> AncfBody::Impl::coordinates_of(int element) const {
  std::vector<int> cell(maps[element].size);
  for (int i = 0; i < 4 * D; ++i)
    if (maps[element].local[i] >= 0)
      cell[maps[element].local[i]] = entries[elements[element].first + i].index;
  return cell;
}

AncfBody::AncfBody(std::string name, AncfModel model)
    : Body(std::move(name)), impl_(std::make_unique<Impl>()) {
  impl_->name = Body::name();
  impl_->model = std::move(model);
  impl_->check();
  impl_->lay_out();
  impl_->share();
  impl_->number();
  impl_->check_start();
}

AncfBody::~AncfBody() = default;

const AncfModel& AncfBody::model() const {
  return impl_->model;
}
int AncfBody::nodal_coordinates() const {
  return impl_->N;
}
const std::vector<AncfElementPlace>& AncfBody::elements() const {
  return impl_->elements;
}
int AncfBody::node_offset(AncfNode node) const {
  impl_->check_node(node, "place");
  return impl_->entry_of(impl_->global(node), 0);
}

VectorXd AncfBody::nodal(const Vector& q) const {
  return impl_->expand(q, true);
}
VectorXd AncfBody::nodal_rate(const Vector& v) const {
  return impl_->expand(v, false);
}

// T'T is diagonal
VectorXd AncfBody::from_nodal(const Vector& E) const {
  VectorXd q = VectorXd::Zero(impl_->n), sum = VectorXd::Zero(impl_->n);
  for (int i = 0; i < impl_->N; ++i) {
    const Entry& entry = impl_->entries[i];
    if (entry.index < 0) continue;
    q[entry.index] += entry.factor * (E[i] - entry.fixed);
    sum[entry.index] += entry.factor * entry.factor;
  }
  return q.cwiseQuotient(sum);
}

SymmetricMatrix AncfBody::nodal_mass() const {
  const int D = impl_->D;
  std::vector<Eigen::Triplet<double>> entries;
  for (const AncfLoopBeam& beam : impl_->beams)
    for (int e = 0; e < beam.elements; ++e)
      for (int a = 0; a < 4; ++a)
        for (int b = 0; b <= a; ++b)
          for (int k = 0; k < D; ++k) {
            const int first = impl_->entry_of(beam.first_node + e, 0) + k;
            entries.emplace_back(first + a * D, first + b * D, beam.mass(a, b));
          }
  SymmetricMatrix M;
  M.lower.resize(impl_->N, impl_->N);
  M.lower.setFromTriplets(entries.begin(), entries.end());
  return M;
}

std::vector<std::string> AncfBody::part_names() const {
  std::vector<std::string> names;
  if (impl_->model.beams.size() > 1 || !impl_->model.supports.empty())
    for (const AncfBeam& beam : impl_->model.beams) names.push_back(beam.name);
  return names;
}
int AncfBody::coordinates() const {
  return impl_->n;
}
int AncfBody::flexible_modes() const {
  const int rigid = impl_->model.supports.empty() ? (impl_->D == 2 ? 3 : 6) : 0;
  return impl_->n - rigid;
}
std::unique_ptr<Body::Workspace> AncfBody::workspace() const {
  return std::make_unique<Work>(impl_->D, impl_->nodes);
}

void AncfBody::add_residual(const Vector& q, const Vector& v, const Vector& a, double w,
                            const Vector3d& gravity, Workspace& workspace, Eigen::Ref<VectorXd> r) const {
  AncfLoopRoom& room = static_cast<Work&>(workspace).loop;
  impl_->gather(q, true, room.E);
  if (impl_->damped) impl_->gather(v, false, room.V);
  impl_->gather(a, false, room.A);
  // gravity as an acceleration of all that moves
  for (int k = 0; k < 2 * impl_->D; ++k) {
    double* values = room.A.component(k);
    const double g = k < impl_->D ? gravity[k] : 0;
    for (int i = 0; i < impl_->nodes; ++i) values[i] = w * values[i] - g;
  }
  ancf_forces(impl_->D, impl_->model.law, impl_->beams, room);
  impl_->scatter(room, r);
}

std::vector<std::vector<int>> AncfBody::cells() const {
  std::vector<std::vector<int>> cells(impl_->elements.size());
  for (size_t e = 0; e < cells.size(); ++e) cells[e] = impl_->coordinates_of(static_cast<int>(e));
  return cells;
}

void AncfBody::add_cells(const Vector& q, const Vector& v, const Vector&, double w, const Vector3d&,
                         double cq, double cv, double ca, Workspace& workspace, const CellWriter& out) const {
  AncfLoopRoom& room = static_cast<Work&>(workspace).loop;
  impl_->gather(q, true, room.E);
  if (impl_->damped) impl_->gather(v, false, room.V);
  ancf_tangents(impl_->D, impl_->model.law, impl_->beams, cq, cv, ca * w, room, impl_->maps, out);
}

void AncfBody::jacobian(const Vector& q, const Vector& v, const Vector& a, double w, const Vector3d& gravity,
                        double cq, double cv, double ca, Workspace& workspace,
                        Eigen::Ref<Eigen::MatrixXd> J) const {
  // cells of a full matrix
  const int n = impl_->n;
  std::vector<std::vector<int>> places;
  std::vector<const int*> at;
  for (const std::vector<int>& cell : cells()) {
    std::vector<int>& place = places.emplace_back();
    for (const int column : cell)
      for (const int row : cell) place.push_back(row + column * n);
  }
  for (const std::vector<int>& place : places) at.push_back(place.data());
  Eigen::MatrixXd full = Eigen::MatrixXd::Zero(n, n);
  add_cells(q, v, a, w, gravity, cq, cv, ca, workspace, {full.data(), at.data(), false});
  J = full;
}

void AncfBody::mass(const Vector& q, Workspace& workspace, Eigen::Ref<Eigen::MatrixXd> M) const {
  const VectorXd zero = VectorXd::Zero(impl_->n);
  jacobian(q, zero, zero, 1, Vector3d::Zero(), 0, 0, 1, workspace, M);
}

void AncfBody::mass_diagonal(const Vector&, Workspace&, Eigen::Ref<VectorXd> diagonal) const {
  diagonal.setZero();
  const int D = impl_->D;
  for (size_t e = 0; e < impl_->elements.size(); ++e) {
    const AncfElementPlace& place = impl_->elements[e];
    const Eigen::Matrix4d& mass = impl_->beams[place.beam].mass;
    for (int i = 0; i < 4 * D; ++i) {
      const Entry& entry = impl_->entries[place.first + i];
      if (entry.index >= 0) diagonal[entry.index] += entry.factor * entry.factor * mass(i / D, i / D);
    }
  }
}

bool AncfBody::symmetric() const {
  return !impl_->damped;
}
bool AncfBody::planar() const {
  return impl_->D == 2;
}

bool AncfBody::is_supported() const {
  return !impl_->model.supports.empty();
}

int AncfBody::add_marker(const MarkerSpec& spec) {
  const std::vector<AncfBeam>& beams = impl_->model.beams;
  std::vector<std::string> names;
  for (const AncfBeam& beam : beams) names.push_back(beam.name);

  size_t b = 0;
  if (!spec.part.empty()) {
    b = static_cast<size_t>(std::find(names.begin(), names.end(), spec.part) - names.begin());
    if (b == names.size())
      fail_input("body '{}' has no beam '{}'{}; it has {}", name(), spec.part, did_you_mean(spec.part, names),
                 fmt::join(names, ", "));
  } else if (beams.size() > 1) {
    fail_input("body '{}' has several beams: say of which the marker is; they are {}", name(),
               fmt::join(names, ", "));
  }

  const AncfBeam& beam = beams[b];
  std::int64_t id = 0;
  switch (spec.kind) {
    case MarkerSpec::Kind::Interface: {
      const std::optional<long> number =
          spec.name.starts_with("node ") ? parse_long(std::string_view(spec.name).substr(5)) : std::nullopt;
      if (spec.name == "start")
        id = 1;
      else if (spec.name == "end")
        id = beam.elements + 1;
      else if (number)
        id = *number;
      else
        fail_input("ANCF beam '{}' has no interface '{}'{}; it has start, end and node 1 to node {}",
                   beam.name, spec.name, did_you_mean(spec.name, {"start", "end"}), beam.elements + 1);
      break;
    }
    case MarkerSpec::Kind::Nodes:
      if (spec.node_ids.size() != 1)
        fail_input("a marker of ANCF beam '{}' is at one node, not at {}; name a single node", beam.name,
                   spec.node_ids.size());
      id = spec.node_ids[0];
      break;
    case MarkerSpec::Kind::Point:
      fail_input(
          "ANCF beam '{}' has markers at its nodes only, not at a point; name \"start\", \"end\" or a node",
          beam.name);
  }
  if (id < 1 || id > beam.elements + 1)
    fail_input("ANCF beam '{}' has no node {}; its nodes are 1 to {}", beam.name, id, beam.elements + 1);

  BeamMarker marker;
  const int D = impl_->D, node = impl_->beams[b].first_node + static_cast<int>(id) - 1;
  for (int k = 0; k < 2 * D; ++k)
    if (const int index = impl_->entries[impl_->entry_of(node, k)].index; index >= 0)
      marker.coordinates.push_back(index);
  std::sort(marker.coordinates.begin(), marker.coordinates.end());
  marker.coordinates.erase(std::unique(marker.coordinates.begin(), marker.coordinates.end()),
                           marker.coordinates.end());
  AncfMarker& shape = marker.shape;
  const auto k = static_cast<Eigen::Index>(marker.coordinates.size());
  shape.dimension = D;
  shape.r0 = Vector3d(0, 0, impl_->height(static_cast<int>(b)));
  shape.s0.setZero();
  shape.R.setZero(3, k);
  shape.S.setZero(3, k);
  for (int i = 0; i < 2 * D; ++i) {
    const Entry& entry = impl_->entries[impl_->entry_of(node, i)];
    if (i < D)
      shape.r0[i] = entry.fixed;
    else
      shape.s0[i - D] = entry.fixed;
    if (entry.index < 0) continue;
    const auto column = std::lower_bound(marker.coordinates.begin(), marker.coordinates.end(), entry.index) -
                        marker.coordinates.begin();
    (i < D ? shape.R : shape.S)(i % D, column) = entry.factor;
  }
  shape.rest_tangent = impl_->tangent(static_cast<int>(b));
  shape.rest_axes = spec.axes;
  impl_->markers.push_back(std::move(marker));
  return static_cast<int>(impl_->markers.size()) - 1;
}

bool AncfBody::marker_rotates(int marker) const {
  return impl_->markers.at(static_cast<size_t>(marker)).shape.rotates;
}
std::vector<int> AncfBody::marker_coordinates(int marker) const {
  return impl_->markers.at(static_cast<size_t>(marker)).coordinates;
}

void AncfBody::marker(int number, const Vector& q, const Vector& v, bool gradients, Workspace& workspace,
                      MarkerKinematics& out) const {
  const BeamMarker& marker = impl_->markers[number];
  Work& room = static_cast<Work&>(workspace);
  const auto k = static_cast<Eigen::Index>(marker.coordinates.size());
  for (Eigen::Index i = 0; i < k; ++i) {
    room.x[i] = q[marker.coordinates[i]];
    room.rate[i] = v[marker.coordinates[i]];
  }
  evaluate_ancf_marker(marker.shape, Eigen::Map<const VectorXd>(room.x, k),
                       Eigen::Map<const VectorXd>(room.rate, k), gradients, out);
}

void AncfBody::add_marker_hessian(int number, const Vector& q, const Vector12d& w, double factor,
                                  Workspace& workspace, Eigen::Ref<Eigen::MatrixXd> H) const {
  const BeamMarker& marker = impl_->markers[number];
  Work& room = static_cast<Work&>(workspace);
  const auto k = static_cast<Eigen::Index>(marker.coordinates.size());
  for (Eigen::Index i = 0; i < k; ++i) room.x[i] = q[marker.coordinates[i]];
  add_ancf_marker_hessian(marker.shape, Eigen::Map<const VectorXd>(room.x, k), w, factor, H);
}

void AncfBody::place(const Placement& placement, Eigen::Ref<VectorXd> q, Eigen::Ref<VectorXd> v) const {
  const int D = impl_->D;
  const Eigen::Matrix3d& R = placement.rotation;
  if (!is_rotation(R, 1e-6)) fail_input("body '{}': the rotation of its placement is no rotation", name());
  VectorXd E = impl_->start, rate = impl_->start_rate;
  double out_of_plane = 0;
  for (size_t b = 0; b < impl_->beams.size(); ++b)
    for (int i = 0; i <= impl_->beams[b].elements; ++i) {
      const int at = impl_->entry_of(impl_->beams[b].first_node + i, 0);
      Vector3d r = impl_->vector(E, at), s = impl_->vector(E, at + D);
      Vector3d dr = impl_->vector(rate, at), ds = impl_->vector(rate, at + D);
      const double z = impl_->height(static_cast<int>(b));
      if (D == 2) r.z() = z;
      const Vector3d arm = R * r;
      const Vector3d turned = R * s;
      r = placement.position + arm;
      dr = (placement.velocity + placement.angular_velocity.cross(arm) + R * dr).eval();
      s = turned;
      ds = (placement.angular_velocity.cross(turned) + R * ds).eval();
      if (D == 2)
        out_of_plane = std::max(
            {out_of_plane, std::abs(r.z() - z), std::abs(s.z()), std::abs(dr.z()), std::abs(ds.z())});
      for (int k = 0; k < D; ++k) {
        E[at + k] = r[k];
        E[at + D + k] = s[k];
        rate[at + k] = dr[k];
        rate[at + D + k] = ds[k];
      }
    }
  if (out_of_plane > meeting_tolerance * impl_->size)
    fail_input(
        "body '{}': planar ANCF beams cannot be placed or set in motion out of their plane; use spatial ones",
        name());
  q = from_nodal(E);
  // of rates nothing is fixed
  VectorXd shifted = rate;
  for (int i = 0; i < impl_->N; ++i) shifted[i] += impl_->entries[i].fixed;
  v = from_nodal(shifted);
  const double E_error = (E - nodal(q)).lpNorm<Eigen::Infinity>();
  const double rate_error = (rate - nodal_rate(v)).lpNorm<Eigen::Infinity>();
  if (E_error > meeting_tolerance * impl_->size * 10 ||
      rate_error > meeting_tolerance * 10 * std::max(1.0, rate.lpNorm<Eigen::Infinity>()))
    fail_input(
        "body '{}' has supports in space, and its placement would move them; leave it where its beams are, "
        "or "
        "move the beams themselves",
        name());
}

double AncfBody::mass() const {
  return impl_->total_mass;
}

Body::Energy AncfBody::energy(const Vector& q, const Vector& v, const Vector3d& gravity, Workspace&) const {
  Energy sum;
  const int D = impl_->D;
  const VectorXd E = nodal(q), rate = nodal_rate(v);
  for (const AncfElementPlace& place : impl_->elements) {
    const AncfProperties& p = place.properties;
    const Eigen::Matrix4d& M = impl_->beams[place.beam].mass;
    const auto elastic = [&]<int d>(std::integral_constant<int, d>) {
      Eigen::Matrix<double, 4 * d, 1> f;
      const Eigen::Matrix<double, 4 * d, 1> e = E.segment<4 * d>(place.first);
      sum.elastic += ancf_elastic<d>(impl_->model.law, p, e, f, nullptr);
      if (p.damping != 0)
        sum.damping_power += ancf_damping<d>(
            impl_->model.law, p, e, Eigen::Matrix<double, 4 * d, 1>(rate.segment<4 * d>(place.first)), f,
            nullptr, nullptr);
    };
    if (D == 2)
      elastic(std::integral_constant<int, 2>());
    else
      elastic(std::integral_constant<int, 3>());
    Vector3d r[4], u[4];
    for (int a = 0; a < 4; ++a) {
      r[a] = impl_->vector(E, place.first + a * D);
      u[a] = impl_->vector(rate, place.first + a * D);
      if (D == 2 && a % 2 == 0) r[a].z() = impl_->height(place.beam);
    }
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b) {
        sum.kinetic += M(a, b) * u[a].dot(u[b]) / 2;
        sum.angular_momentum += M(a, b) * r[a].cross(u[b]);
        // (1, 0, 1, 0) is a translation
        if (a % 2 == 0) {
          sum.momentum += M(a, b) * u[b];
          sum.gravity -= M(a, b) * gravity.dot(r[b]);
        }
      }
  }
  return sum;
}

Eigen::Matrix3Xd AncfBody::node_positions(const Vector& q) const {
  const VectorXd E = nodal(q);
  Eigen::Matrix3Xd positions(3, impl_->nodes);
  for (size_t b = 0; b < impl_->beams.size(); ++b)
    for (int i = 0; i <= impl_->beams[b].elements; ++i) {
      const int node = impl_->beams[b].first_node + i;
      positions.col(node) = impl_->vector(E, impl_->entry_of(node, 0));
      if (impl_->D == 2) positions(2, node) = impl_->height(static_cast<int>(b));
    }
  return positions;
}

Eigen::Matrix3Xd AncfBody::node_velocities(const Vector&, const Vector& v) const {
  const VectorXd rate = nodal_rate(v);
  Eigen::Matrix3Xd velocities(3, impl_->nodes);
  for (int node = 0; node < impl_->nodes; ++node)
    velocities.col(node) = impl_->vector(rate, impl_->entry_of(node, 0));
  return velocities;
}

const std::vector<std::int64_t>& AncfBody::node_ids() const {
  return impl_->node_ids;
}

std::vector<NodeGroup> AncfBody::node_groups() const {
  std::vector<NodeGroup> groups;
  for (size_t b = 0; b < impl_->beams.size(); ++b)
    groups.push_back({impl_->model.beams[b].name, impl_->beams[b].first_node, impl_->beams[b].elements + 1});
  return groups;
}

// a slope moves the points of its two elements
void AncfBody::displacement_scale(Eigen::Ref<VectorXd> scale) const {
  const int D = impl_->D;
  for (const AncfElementPlace& place : impl_->elements)
    for (int i = 0; i < 4 * D; ++i) {
      const Entry& entry = impl_->entries[place.first + i];
      if (entry.index >= 0) scale[entry.index] = i / D % 2 == 0 ? 1 : slope_reach * place.properties.length;
    }
}

std::string AncfBody::coordinate_name(int i) const {
  const int D = impl_->D;
  for (size_t b = 0; b < impl_->beams.size(); ++b)
    for (int node = 0; node <= impl_->beams[b].elements; ++node)
      for (int k = 0; k < 2 * D; ++k) {
        const Entry& entry = impl_->entries[impl_->entry_of(impl_->beams[b].first_node + node, k)];
        if (entry.index != i) continue;
        const std::string at = fmt::format("beam '{}', node {}, ", impl_->model.beams[b].name, node + 1);
        // of a clamped slope the length is left, and stands for several entries
        if (k >= D && impl_->copies[i] > 1) return at + "length of the slope";
        return at + (k < D ? "position " : "slope ") + axis_names[k % D];
      }
  LISSOM_ASSERT(false);
  return "";
}

double AncfBody::radius() const {
  return impl_->radius;
}

}  // namespace lissom

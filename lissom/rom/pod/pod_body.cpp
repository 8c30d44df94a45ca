#include "lissom/rom/pod/pod_body.hpp"

#include <fmt/ranges.h>
#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

#include "lissom/core/text.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/symmetric_eigen.hpp"
#include "lissom/rom/pod/pod_force.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::Matrix3Xd;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

// above it the tensor takes hundreds of megabytes to build and is slower than anything else
constexpr int largest_tensor_order = 40;

// A product of ecsw takes longer than one of the tensor, which is a single stream (benchmarks/pod_force).
constexpr double ecsw_slowness = 1.5;

// A beam of the mechanism: its nodes stand in E from `first` on.
struct Part {
  std::string name, owner;  // beam, body
  bool alone = false;       // the body has no other
  int first = 0, nodes = 0;
  double z = 0;  // of planar beams [m]
  Vector3d tangent = Vector3d::UnitX();
};

struct PodRoom : Body::Workspace {
  std::unique_ptr<PodForceModel::Room> force;
};

// Points that ecsw is likely to need, before it is trained: what pendulum and four-bar took.
int expected_points(int r, const AncfLaw& law) {
  const double each = 1.2 * r + 2;
  return static_cast<int>(law.bending == BendingStrain::SecondDerivative ? each : 2 * each);
}

std::string with_commas(double number) {
  std::string text = fmt::format("{:.0f}", number);
  for (int i = static_cast<int>(text.size()) - 3; i > 0; i -= 3) text.insert(static_cast<size_t>(i), ",");
  return text;
}

}  // namespace

const std::vector<std::pair<std::string, PodForce>>& pod_force_names() {
  static const std::vector<std::pair<std::string, PodForce>> names = {{"automatic", PodForce::Automatic},
                                                                      {"tensor", PodForce::Tensor},
                                                                      {"ecsw", PodForce::Ecsw},
                                                                      {"deim", PodForce::Deim},
                                                                      {"direct", PodForce::Direct}};
  return names;
}

struct PodBody::Impl {
  int D = 2;
  Index r = 0, N = 0;
  std::vector<Part> parts;
  VectorXd E_ref, start, start_rate;  // N; xi and its rate at the start
  MatrixXd Psi, M_Psi;                // N by r; Psi' M Psi = I
  std::unique_ptr<PodForceModel> force;
  PodReport report;
  SlapTraining training;
  double mass = 0, radius = 0;
  // by x = (1, xi): sum of mass times position is `centre` x [kg m]; the angular momentum about axis a is
  // x' angular[a] (0, v) [kg m2]
  MatrixXd centre, angular[3];
  VectorXd scale;
  std::vector<std::int64_t> node_ids;
  std::vector<AncfMarker> markers;

  void gather(const std::string& name, const std::vector<const AncfBody*>& bodies, PodElements& elements,
              SparseMatrix& M, VectorXd& E, VectorXd& rate);
  void make_orthonormal(const std::string& name, const SymmetricMatrix& M);
  void make_inertia(const SymmetricMatrix& M, const VectorXd& E);
  void choose_force(const PodElements& elements, const MatrixXd& xi, const PodBodyOptions& options,
                    Diagnostics& diagnostics);
  Matrix3Xd node_vectors(const VectorXd& E, bool positions) const;
  int part_of(const MarkerSpec& spec, const std::string& name) const;
  int node_of(const MarkerSpec& spec, const Part& part, const std::string& name) const;
};

// Elements, mass and start of all bodies, one after the other in E.
void PodBody::Impl::gather(const std::string& name, const std::vector<const AncfBody*>& bodies,
                           PodElements& elements, SparseMatrix& M, VectorXd& E, VectorXd& rate) {
  if (bodies.empty()) fail_input("reduced mechanism '{}' has no ANCF beams", name);
  D = bodies.front()->model().dimension;
  elements.dimension = D;
  elements.law = bodies.front()->model().law;
  std::vector<Eigen::Triplet<double>> entries;
  for (const AncfBody* body : bodies) {
    const AncfModel& model = body->model();
    if (model.dimension != D)
      fail_input(
          "reduced mechanism '{}': body '{}' is {} and body '{}' is not; a basis needs beams of one "
          "dimension",
          name, bodies.front()->name(), D == 2 ? "planar" : "spatial", body->name());
    if (model.law.axial != elements.law.axial || model.law.bending != elements.law.bending)
      fail_input(
          "reduced mechanism '{}': bodies '{}' and '{}' have different strain measures; a basis needs beams "
          "of "
          "one law",
          name, bodies.front()->name(), body->name());
    const Index before = N;
    for (size_t b = 0; b < model.beams.size(); ++b) {
      const AncfBeam& beam = model.beams[b];
      Part part;
      part.name = beam.name.empty() ? body->name() : beam.name;
      part.owner = body->name();
      part.alone = model.beams.size() == 1;
      part.first = static_cast<int>(before) + body->node_offset({static_cast<int>(b), 0});
      part.nodes = beam.elements + 1;
      part.z = D == 2 ? beam.from.z() : 0;
      part.tangent = (beam.to - beam.from).normalized();
      parts.push_back(part);
      for (int i = 0; i < part.nodes; ++i) node_ids.push_back(i + 1);
    }
    for (AncfElementPlace place : body->elements()) {
      place.first += static_cast<int>(before);
      place.second += static_cast<int>(before);
      elements.elements.push_back(place);
    }
    const SymmetricMatrix own = body->nodal_mass();
    for (int column = 0; column < own.size(); ++column)
      for (SparseMatrix::InnerIterator it(own.lower, column); it; ++it)
        entries.emplace_back(static_cast<int>(before + it.row()), static_cast<int>(before + column),
                             it.value());
    VectorXd q(body->coordinates()), v(body->coordinates());
    body->place(Placement{}, q, v);
    N += body->nodal_coordinates();
    E.conservativeResize(N);
    rate.conservativeResize(N);
    E.tail(N - before) = body->nodal(q);
    rate.tail(N - before) = body->nodal_rate(v);
  }
  M.resize(static_cast<int>(N), static_cast<int>(N));
  M.setFromTriplets(entries.begin(), entries.end());
}

// Psi <- Psi L^-T with L L' = Psi' M Psi, so that the reduced mass is the identity.
void PodBody::Impl::make_orthonormal(const std::string& name, const SymmetricMatrix& M) {
  M_Psi.resize(N, r);
  for (int pass = 0; pass < 2; ++pass) {
    multiply(M, Psi, M_Psi);
    MatrixXd m = transposed_product(Psi, M_Psi);
    m = 0.5 * (m + m.transpose()).eval();
    if (pass == 0) {
      const VectorXd diagonal = m.diagonal();
      double smallest = 0;
      if (diagonal.minCoeff() > 0) {
        const VectorXd root = diagonal.cwiseSqrt().cwiseInverse();
        smallest = symmetric_eigen(root.asDiagonal() * m * root.asDiagonal(), 0, 1, false).values[0];
      }
      if (!(smallest > 1e-13 * static_cast<double>(r)))
        fail_input(
            "reduced mechanism '{}': its mass matrix is singular (smallest eigenvalue {:.1e}, diagonal "
            "scaled "
            "to one), because the {} columns of the basis depend on each other; take fewer modes",
            name, smallest, r);
    }
    const Eigen::LLT<MatrixXd> factors(m);
    LISSOM_ASSERT(factors.info() == Eigen::Success);
    Psi = factors.matrixL().solve(Psi.transpose()).transpose().eval();
  }
  multiply(M, Psi, M_Psi);
}

// E with positions u and slopes 0 at every node moves the whole by u; the infinitesimal rotation J_a E about
// axis a turns positions and slopes alike: momentum is u' M E', angular momentum (J_a E)' M E'.
void PodBody::Impl::make_inertia(const SymmetricMatrix& M, const VectorXd& E) {
  MatrixXd Z(N, r + 1), M_Z(N, r + 1), shift = MatrixXd::Zero(N, D);
  Z << E_ref, Psi;
  multiply(M, Z, M_Z);
  for (const Part& part : parts)
    for (int i = 0; i < part.nodes; ++i)
      for (int d = 0; d < D; ++d) shift(part.first + 2 * D * i + d, d) = 1;
  MatrixXd M_shift(N, D);
  multiply(M, shift, M_shift);
  mass = shift.col(0).dot(M_shift.col(0));
  centre = MatrixXd::Zero(3, r + 1);
  centre.topRows(D) = transposed_product(shift, M_Z);

  for (int axis = 0; axis < 3; ++axis) {
    angular[axis] = MatrixXd::Zero(r + 1, r + 1);
    if (D == 2 && axis != 2) continue;
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    MatrixXd turned = MatrixXd::Zero(N, r + 1);
    for (Index i = 0; i < N; i += D) {
      turned.row(i + u) = -Z.row(i + v);
      turned.row(i + v) = Z.row(i + u);
    }
    angular[axis] = transposed_product(turned, M_Z);
  }
  // planar beams beside the plane z = 0
  if (D == 2)
    for (const Part& part : parts) {
      if (part.z == 0) continue;
      MatrixXd own = MatrixXd::Zero(N, 2);
      own.middleRows(part.first, 4 * part.nodes) = shift.middleRows(part.first, 4 * part.nodes);
      const MatrixXd moment = part.z * transposed_product(own, M_Z);
      angular[0].row(0) -= moment.row(1);
      angular[1].row(0) += moment.row(0);
      centre(2, 0) += part.z * own.col(0).dot(M_shift.col(0));
    }

  // the centre of mass at the start, and how far from it the nodes are
  Vector3d middle = Vector3d::Zero();
  middle.head(D) = M_shift.transpose() * E / mass;
  middle.z() += D == 2 ? centre(2, 0) / mass : 0;
  const Matrix3Xd x = node_vectors(E, true);
  radius = (x.colwise() - middle).colwise().norm().maxCoeff();
  scale.resize(r);
  for (Index j = 0; j < r; ++j) {
    scale[j] = node_vectors(Psi.col(j), false).colwise().norm().maxCoeff();
    // a mode of slopes alone moves what is between the nodes
    if (!(scale[j] > 0)) scale[j] = Psi.col(j).cwiseAbs().maxCoeff() * radius;
  }
}

// The cheapest way that is good enough; ecsw is trained only where it may be that.
void PodBody::Impl::choose_force(const PodElements& elements, const MatrixXd& xi,
                                 const PodBodyOptions& options, Diagnostics& diagnostics) {
  const int order = elements.order(), count = static_cast<int>(elements.elements.size());
  const bool polynomial = elements.law.polynomial();
  report.all_points = all_points(elements);
  report.direct_cost = direct_cost(order, D, count, elements.law);
  if (polynomial && order <= largest_tensor_order) report.tensor_cost = tensor_cost(order, elements.damped());
  const auto use = [&](PodForce kind) {
    report.force = kind;
    report.points = force->points();
  };
  EcswTraining trained;
  const auto train = [&] {
    force = make_ecsw_force(elements, xi, options.ecsw_tolerance, trained);
    report.ecsw_cost = force->cost();
    report.ecsw_error = trained.error;
    report.ecsw_damping_error = trained.damping_error;
  };
  const auto reached_text = [&] {
    return elements.damped()
               ? fmt::format("{:.1e} (damping forces to {:.1e})", trained.error, trained.damping_error)
               : fmt::format("{:.1e}", trained.error);
  };
  const std::string tensor_text =
      report.tensor_cost > 0 ? fmt::format("tensor {}", with_commas(report.tensor_cost))
      : polynomial           ? fmt::format("tensor not built above {} modes", largest_tensor_order)
                             : "no tensor (the law is not polynomial)";
  const std::string direct_text = fmt::format("all elements {}", with_commas(report.direct_cost));

  switch (options.force) {
    case PodForce::Tensor:
      force = make_tensor_force(elements);
      report.tensor_cost = force->cost();
      report.why = fmt::format("tensor, as asked: {} products per evaluation, {}",
                               with_commas(report.tensor_cost), direct_text);
      return use(PodForce::Tensor);
    case PodForce::Ecsw:
      if (xi.cols() == 0) fail_input("ecsw is trained with snapshots, and the reduced model has none");
      train();
      if (!trained.reached)
        diagnostics.warn(
            "pod.ecsw-tolerance",
            fmt::format("ecsw with {} of {} points reproduces the forces at the snapshots to {} only, where "
                        "{:.1e} is asked for",
                        force->points(), report.all_points, reached_text(), options.ecsw_tolerance));
      report.why = fmt::format("ecsw, as asked: {} products per evaluation at {} of {} points, {}, {}",
                               with_commas(report.ecsw_cost), force->points(), report.all_points, tensor_text,
                               direct_text);
      return use(PodForce::Ecsw);
    case PodForce::Deim:
      if (xi.cols() == 0) fail_input("deim is trained with snapshots, and the reduced model has none");
      force = make_deim_force(elements, xi, options.deim_points > 0 ? options.deim_points : order);
      report.why = "deim, as asked: for comparison, neither exact nor conservative";
      return use(PodForce::Deim);
    case PodForce::Direct:
      force = make_direct_force(elements);
      report.why =
          fmt::format("direct, as asked: {} products per evaluation", with_commas(report.direct_cost));
      return use(PodForce::Direct);
    case PodForce::Automatic:
      break;
  }

  const double exact =
      report.tensor_cost > 0 ? std::min(report.tensor_cost, report.direct_cost) : report.direct_cost;
  const PodForce exact_kind = report.tensor_cost > 0 && report.tensor_cost <= report.direct_cost
                                  ? PodForce::Tensor
                                  : PodForce::Direct;
  std::string ecsw_text = "ecsw not trained (no snapshots)";
  if (xi.cols() > 0) {
    const int guess = expected_points(order, elements.law);
    const double estimate = ecsw_cost(order, D, guess, elements.law);
    if (ecsw_slowness * estimate < exact && guess < report.all_points) {
      train();
      ecsw_text = fmt::format("ecsw {} at {} of {} points", with_commas(report.ecsw_cost), force->points(),
                              report.all_points);
      if (trained.reached && ecsw_slowness * report.ecsw_cost < exact) {
        report.why = fmt::format("ecsw: {} products per evaluation at {} of {} points, {}, {}",
                                 with_commas(report.ecsw_cost), force->points(), report.all_points,
                                 tensor_text, direct_text);
        return use(PodForce::Ecsw);
      }
      if (trained.reached)
        ecsw_text += fmt::format(" (which take {} times as long each)", ecsw_slowness);
      else
        ecsw_text += fmt::format(" reached {} of the forces where {:.1e} is asked for", reached_text(),
                                 options.ecsw_tolerance);
    } else {
      ecsw_text = fmt::format("ecsw not trained (some {} expected)", with_commas(estimate));
    }
  }
  force = exact_kind == PodForce::Tensor ? make_tensor_force(elements) : make_direct_force(elements);
  report.why = exact_kind == PodForce::Tensor
                   ? fmt::format("tensor: {} products per evaluation, {}, {}",
                                 with_commas(report.tensor_cost), ecsw_text, direct_text)
                   : fmt::format("direct: {} products per evaluation, {}, {}",
                                 with_commas(report.direct_cost), tensor_text, ecsw_text);
  use(exact_kind);
}

PodBody::PodBody(std::string name, const std::vector<const AncfBody*>& bodies, VectorXd E_ref, MatrixXd Psi,
                 const MatrixXd& snapshots, const PodBodyOptions& options, Diagnostics& diagnostics)
    : Body(std::move(name)), impl_(std::make_unique<Impl>()) {
  Impl& m = *impl_;
  PodElements elements;
  SymmetricMatrix M;
  VectorXd E, rate;
  m.gather(this->name(), bodies, elements, M.lower, E, rate);
  m.r = Psi.cols();
  if (Psi.rows() != m.N || E_ref.size() != m.N)
    fail_input(
        "reduced mechanism '{}': its beams have {} nodal coordinates, its basis has {} rows and its offset "
        "{}",
        this->name(), m.N, Psi.rows(), E_ref.size());
  if (snapshots.cols() > 0 && snapshots.rows() != m.N)
    fail_input("reduced mechanism '{}': its beams have {} nodal coordinates and its snapshots {}",
               this->name(), m.N, snapshots.rows());
  if (m.r < 1 || m.r > m.N) fail_input("reduced mechanism '{}': its basis has {} columns", this->name(), m.r);
  if (!Psi.allFinite() || !E_ref.allFinite() || !snapshots.allFinite())
    fail_input("reduced mechanism '{}': its basis, offset or snapshots are not finite", this->name());
  if (!(options.ecsw_tolerance > 0))
    fail_input("reduced mechanism '{}': the tolerance of ecsw is {}, and must be positive", this->name(),
               options.ecsw_tolerance);
  m.E_ref = std::move(E_ref);
  m.Psi = std::move(Psi);
  m.make_orthonormal(this->name(), M);
  m.make_inertia(M, E);
  m.start = from_nodal(E);
  m.start_rate = from_nodal_rate(rate);

  MatrixXd xi(m.r, 0);
  if (snapshots.cols() > 0) {
    xi = transposed_product(m.M_Psi, snapshots.colwise() - m.E_ref);
    m.training = make_training(xi);
  }
  elements.E_ref = m.E_ref;
  elements.Psi = m.Psi;
  m.choose_force(elements, xi, options, diagnostics);
}

PodBody::~PodBody() = default;

const PodReport& PodBody::report() const {
  return impl_->report;
}
const SlapTraining& PodBody::training() const {
  return impl_->training;
}

VectorXd PodBody::nodal(const Vector& xi) const {
  return impl_->E_ref + impl_->Psi * xi;
}
VectorXd PodBody::from_nodal(const Vector& E) const {
  return impl_->M_Psi.transpose() * (E - impl_->E_ref);
}
VectorXd PodBody::from_nodal_rate(const Vector& rate) const {
  return impl_->M_Psi.transpose() * rate;
}

double PodBody::elastic(const Vector& xi, Eigen::Ref<VectorXd> force, MatrixXd* tangent) const {
  const std::unique_ptr<PodForceModel::Room> room = impl_->force->room();
  const VectorXd still = VectorXd::Zero(impl_->r);
  force.setZero();
  impl_->force->add_force(xi, still, *room, force);
  if (tangent) {
    tangent->resize(impl_->r, impl_->r);
    impl_->force->tangent(xi, still, 1, 0, *room, *tangent);
  }
  return impl_->force->energy(xi, *room);
}

std::vector<std::string> PodBody::part_names() const {
  std::vector<std::string> names;
  for (const Part& part : impl_->parts) names.push_back(part.name);
  return names;
}

int PodBody::coordinates() const {
  return static_cast<int>(impl_->r);
}

std::unique_ptr<Body::Workspace> PodBody::workspace() const {
  auto room = std::make_unique<PodRoom>();
  room->force = impl_->force->room();
  return room;
}

void PodBody::add_residual(const Vector& q, const Vector& v, const Vector& a, double w,
                           const Vector3d& gravity, Workspace& workspace, Eigen::Ref<VectorXd> r) const {
  r.noalias() += w * a;
  r.noalias() -= impl_->centre.rightCols(impl_->r).transpose().lazyProduct(gravity);
  impl_->force->add_force(q, v, *static_cast<PodRoom&>(workspace).force, r);
}

void PodBody::jacobian(const Vector& q, const Vector& v, const Vector&, double w, const Vector3d&, double cq,
                       double cv, double ca, Workspace& workspace, Eigen::Ref<MatrixXd> J) const {
  impl_->force->tangent(q, v, cq, cv, *static_cast<PodRoom&>(workspace).force, J);
  J.diagonal().array() += ca * w;
}

void PodBody::mass(const Vector&, Workspace&, Eigen::Ref<MatrixXd> M) const {
  M.setIdentity();
}

bool PodBody::symmetric() const {
  return impl_->force->symmetric();
}
bool PodBody::planar() const {
  return impl_->D == 2;
}

int PodBody::Impl::part_of(const MarkerSpec& spec, const std::string& name) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].name == spec.part || (parts[i].alone && parts[i].owner == spec.part))
      return static_cast<int>(i);
    names.push_back(parts[i].name);
  }
  if (spec.part.empty()) {
    if (parts.size() == 1) return 0;
    fail_input("'{}' is a reduced mechanism: say which of its beams a marker is on; it has {}", name,
               fmt::join(names, ", "));
  }
  fail_input("body '{}' has no beam '{}'{}; it has {}", name, spec.part, did_you_mean(spec.part, names),
             fmt::join(names, ", "));
}

int PodBody::Impl::node_of(const MarkerSpec& spec, const Part& part, const std::string& name) const {
  std::int64_t id = 0;
  switch (spec.kind) {
    case MarkerSpec::Kind::Point:
      fail_input("body '{}' is made of beams and has markers at their nodes only, not at a point", name);
    case MarkerSpec::Kind::Nodes:
      if (spec.node_ids.size() != 1)
        fail_input("a marker on beam '{}' of body '{}' is at one node, and {} are named", part.name, name,
                   spec.node_ids.size());
      id = spec.node_ids.front();
      break;
    case MarkerSpec::Kind::Interface:
      if (spec.name == "start") {
        id = 1;
      } else if (spec.name == "end") {
        id = part.nodes;
      } else if (spec.name.starts_with("node ")) {
        id = parse_long(std::string_view(spec.name).substr(5)).value_or(0);
      }
      if (id == 0)
        fail_input("beam '{}' of body '{}' has no place '{}'{}; it has start, end and node 1 to node {}",
                   part.name, name, spec.name, did_you_mean(spec.name, {"start", "end"}), part.nodes);
  }
  if (id < 1 || id > part.nodes)
    fail_input("beam '{}' of body '{}' has no node {}; it has nodes 1 to {}", part.name, name, id,
               part.nodes);
  return static_cast<int>(id) - 1;
}

int PodBody::add_marker(const MarkerSpec& spec) {
  Impl& m = *impl_;
  const Part& part = m.parts[static_cast<size_t>(m.part_of(spec, name()))];
  const Index row = part.first + 2 * m.D * m.node_of(spec, part, name());
  AncfMarker marker;
  marker.dimension = m.D;
  marker.r0 = Vector3d(0, 0, part.z);
  marker.s0.setZero();
  marker.R = marker.S = Matrix3Xd::Zero(3, m.r);
  marker.r0.head(m.D) = m.E_ref.segment(row, m.D);
  marker.s0.head(m.D) = m.E_ref.segment(row + m.D, m.D);
  marker.R.topRows(m.D) = m.Psi.middleRows(row, m.D);
  marker.S.topRows(m.D) = m.Psi.middleRows(row + m.D, m.D);
  marker.rest_tangent = part.tangent;
  marker.rest_axes = spec.axes;
  m.markers.push_back(std::move(marker));
  return static_cast<int>(m.markers.size()) - 1;
}

bool PodBody::marker_rotates(int marker) const {
  return impl_->markers[static_cast<size_t>(marker)].rotates;
}

void PodBody::marker(int marker, const Vector& q, const Vector& v, bool gradients, Workspace&,
                     MarkerKinematics& out) const {
  evaluate_ancf_marker(impl_->markers[static_cast<size_t>(marker)], q, v, gradients, out);
}

void PodBody::add_marker_hessian(int marker, const Vector& q, const Vector12d& w, double factor, Workspace&,
                                 Eigen::Ref<MatrixXd> H) const {
  add_ancf_marker_hessian(impl_->markers[static_cast<size_t>(marker)], q, w, factor, H);
}

void PodBody::place(const Placement&, Eigen::Ref<VectorXd> q, Eigen::Ref<VectorXd> v) const {
  q = impl_->start;
  v = impl_->start_rate;
}

double PodBody::mass() const {
  return impl_->mass;
}

Body::Energy PodBody::energy(const Vector& q, const Vector& v, const Vector3d& gravity,
                             Workspace& workspace) const {
  const Impl& m = *impl_;
  PodForceModel::Room& room = *static_cast<PodRoom&>(workspace).force;
  Energy energy;
  energy.kinetic = 0.5 * v.squaredNorm();
  energy.elastic = m.force->energy(q, room);
  energy.damping_power = m.force->damping_power(q, v, room);
  const auto centre_modes = m.centre.rightCols(m.r);
  const Vector3d centre = m.centre.col(0) + centre_modes.lazyProduct(q);
  energy.gravity = -gravity.dot(centre);
  energy.momentum = centre_modes.lazyProduct(v);
  for (int axis = 0; axis < 3; ++axis) {
    const MatrixXd& A = m.angular[axis];
    double sum = 0;
    for (Index j = 0; j < m.r; ++j) sum += v[j] * (A(0, j + 1) + A.col(j + 1).tail(m.r).dot(q));
    energy.angular_momentum[axis] = sum;
  }
  return energy;
}

// Positions of the nodes in E, 3 by nodes, with z of planar beams where `positions`.
Matrix3Xd PodBody::Impl::node_vectors(const VectorXd& E, bool positions) const {
  Matrix3Xd x = Matrix3Xd::Zero(3, static_cast<Index>(node_ids.size()));
  Index node = 0;
  for (const Part& part : parts)
    for (int i = 0; i < part.nodes; ++i, ++node) {
      x.col(node).head(D) = E.segment(part.first + 2 * D * i, D);
      if (positions && D == 2) x(2, node) = part.z;
    }
  return x;
}

Matrix3Xd PodBody::node_positions(const Vector& q) const {
  return impl_->node_vectors(nodal(q), true);
}
Matrix3Xd PodBody::node_velocities(const Vector&, const Vector& v) const {
  return impl_->node_vectors(impl_->Psi * v, false);
}
const std::vector<std::int64_t>& PodBody::node_ids() const {
  return impl_->node_ids;
}
std::vector<NodeGroup> PodBody::node_groups() const {
  std::vector<NodeGroup> groups;
  int first = 0;
  for (const Part& part : impl_->parts) {
    groups.push_back({part.name, first, part.nodes});
    first += part.nodes;
  }
  return groups;
}

void PodBody::displacement_scale(Eigen::Ref<VectorXd> scale) const {
  scale = impl_->scale;
}
std::string PodBody::coordinate_name(int i) const {
  return fmt::format("mode {}", i + 1);
}
double PodBody::radius() const {
  return impl_->radius;
}

}  // namespace lissom

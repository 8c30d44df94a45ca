#include "lissom/time/elastic_range.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "lissom/core/rotation.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

constexpr double degree = std::numbers::pi / 180;
// rank of what joints say of one body, in metres
constexpr double rank_tolerance = 1e-9;
// groups of nodes over a body, and nodes in a group
constexpr int most_groups = 64, fewest_nodes = 4, most_nodes = 12;
// of their moments of inertia: less is nodes on a line, which do not say how they turn about it
constexpr double line_ratio = 0.05;
// of the body's radius: displacements up to this do not turn nodes by 10 degrees
constexpr double small_displacement = 5e-3;

// Columns are a basis of the kernel of G (m by n).
MatrixXd kernel_of(const MatrixXd& G) {
  const Index n = G.cols();
  if (G.rows() == 0) return MatrixXd::Identity(n, n);
  Eigen::ColPivHouseholderQR<MatrixXd> qr(G.transpose());
  qr.setThreshold(rank_tolerance);
  const MatrixXd Q = qr.householderQ();
  return Q.rightCols(n - qr.rank());
}

// The velocities (n by 6) of an undeformed body's rigid motions, turns by a metre at its radius.
MatrixXd rigid_motions(const Body& body, Placement placement) {
  MatrixXd motions(body.coordinates(), 6);
  VectorXd q(body.coordinates()), v(body.coordinates());
  for (int i = 0; i < 6; ++i) {
    placement.velocity.setZero();
    placement.angular_velocity.setZero();
    if (i < 3)
      placement.velocity[i] = 1;
    else
      placement.angular_velocity[i - 3] = 1 / std::max(body.radius(), 1e-30);
    body.place(placement, q, v);
    motions.col(i) = v;
  }
  return motions;
}

// Deformation amplitudes: the fields of GCMS, those of the modes in a floating frame, which come last there.
void amplitudes_of(const Body& body, const Eigen::Ref<const VectorXd>& q, VectorXd& amplitudes) {
  if (body.deformation_basis(0).kind == Body::DeformationKind::Fields)
    body.deformation(0, q, amplitudes);
  else
    amplitudes = q.tail(body.flexible_modes());
}

}  // namespace

std::optional<double> held_frequency(SystemEquations& equations, int index) {
  const System& system = equations.system();
  const Body& body = *system.bodies()[index];
  const Index n = body.coordinates(), first = system.offset(index);
  VectorXd q, v, scale(n);
  system.initial(q, v);
  MatrixXd all(equations.constraints(), equations.coordinates());
  if (all.rows() > 0) equations.constraint_gradient(0, q, all);
  // coordinates in metres
  body.displacement_scale(scale);
  const VectorXd metre = scale.unaryExpr([](double s) { return s > 0 ? 1 / s : 1.0; });
  const MatrixXd G = all.middleCols(first, n) * metre.asDiagonal();
  const MatrixXd Z = metre.asDiagonal() * kernel_of(G);

  // how many rigid motions are left
  MatrixXd rigid = all.middleCols(first, n) * rigid_motions(body, system.placement(index));
  Index free = 6;
  if (rigid.rows() > 0) {
    Eigen::ColPivHouseholderQR<MatrixXd> qr(rigid);
    qr.setThreshold(rank_tolerance);
    // joints may say nothing at all of this body
    free -= rigid.cwiseAbs().maxCoeff() > rank_tolerance ? qr.rank() : 0;
  }
  if (Z.cols() <= free) return std::nullopt;

  const auto workspace = body.workspace();
  MatrixXd K(n, n), M(n, n);
  const VectorXd at = q.segment(first, n), rest = VectorXd::Zero(n);
  body.jacobian(at, rest, rest, 0, Vector3d::Zero(), 1, 0, 0, *workspace, K);
  body.mass(at, *workspace, M);
  MatrixXd ZKZ = Z.transpose() * K * Z, ZMZ = Z.transpose() * M * Z;
  ZKZ = (ZKZ + ZKZ.transpose()).eval() / 2;
  ZMZ = (ZMZ + ZMZ.transpose()).eval() / 2;
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> eigen(ZKZ, ZMZ, Eigen::EigenvaluesOnly);
  if (eigen.info() != Eigen::Success) return std::nullopt;
  const double square = eigen.eigenvalues()[free];
  if (!(square > 0)) return std::nullopt;
  return std::sqrt(square);
}

ElasticRange::ElasticRange(SystemEquations& equations) : equations_(equations) {
  const System& system = equations.system();
  VectorXd q, v;
  system.initial(q, v);
  for (size_t b = 0; b < system.bodies().size(); ++b) {
    const Body& body = *system.bodies()[b];
    const Index first = system.offset(static_cast<int>(b)), n = body.coordinates();
    if (!body.frame_spin(q.segment(first, n), v.segment(first, n))) continue;
    Part part;
    part.body = static_cast<int>(b);
    VectorXd scale(n);
    body.displacement_scale(scale);
    const bool fields = body.deformation_basis(0).kind == Body::DeformationKind::Fields;
    part.scale = fields ? scale : VectorXd(scale.tail(body.flexible_modes()));
    part.amplitudes.resize(part.scale.size());
    parts_.push_back(std::move(part));
  }
}

void ElasticRange::Passed::see(double value, double limit, double t, std::int64_t where) {
  if (value > limit && !since) since = t;
  if (value <= largest) return;
  largest = value;
  at = t;
  node = where;
}

void ElasticRange::Passed::archive(Archive& archive) {
  archive(since, largest, at, node);
}

void ElasticRange::step(const State& state) {
  const System& system = equations_.system();
  for (Part& part : parts_) {
    const Body& body = *system.bodies()[part.body];
    const Index first = system.offset(part.body), n = body.coordinates();
    const auto q = state.q.segment(first, n), v = state.v.segment(first, n);
    const double spin = body.frame_spin(q, v)->norm();
    if (spin > 0 && !part.has_frequency) {
      part.frequency = held_frequency(equations_, part.body);
      part.has_frequency = true;
    }
    if (part.frequency) part.spin.see(spin, largest_spin * *part.frequency, state.t, 0);
    look_at_rotations(part, q, state.t);
  }
}

void ElasticRange::look_at_rotations(Part& part, const Eigen::Ref<const VectorXd>& q, double t) {
  const Body& body = *equations_.system().bodies()[part.body];
  amplitudes_of(body, q, part.amplitudes);
  if (part.amplitudes.cwiseAbs().dot(part.scale) < small_displacement * body.radius()) return;
  if (!part.has_groups) make_groups(part);
  if (part.nodes.empty()) return;
  part.angles.noalias() = part.rotations * part.amplitudes;
  for (size_t g = 0; g < part.nodes.size(); ++g)
    part.rotation.see(part.angles.segment<3>(3 * static_cast<Index>(g)).norm() / degree, largest_rotation, t,
                      part.nodes[g]);
}

// Nodes far from each other, each with its neighbours, and the rotation that fits their displacements best:
// theta = J^-1 sum r x u, J = sum |r|^2 I - r r', r from their centre.
void ElasticRange::make_groups(Part& part) const {
  part.has_groups = true;
  const System& system = equations_.system();
  const Body& body = *system.bodies()[part.body];
  VectorXd rest(body.coordinates()), v(body.coordinates());
  body.place({}, rest, v);
  const Eigen::Matrix3Xd X = body.node_positions(rest);
  const Index count = X.cols();
  if (count < 3) return;

  // for each group: its nodes and 3 by 3 blocks, theta = sum W u
  struct Share {
    Index node;
    Eigen::Matrix3d W;
  };
  std::vector<std::vector<Share>> groups;
  VectorXd distance = VectorXd::Constant(count, std::numeric_limits<double>::infinity());
  Index next = 0;
  (X.colwise() - X.rowwise().mean()).colwise().squaredNorm().maxCoeff(&next);
  std::vector<Index> order(static_cast<size_t>(count));
  const auto most = std::min<Index>(most_nodes, count);
  for (int g = 0; g < most_groups && g < count; ++g) {
    const VectorXd from_here = (X.colwise() - X.col(next)).colwise().squaredNorm();
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + most, order.end(),
                      [&](Index a, Index b) { return from_here[a] < from_here[b]; });
    // as few neighbours as say how they turn about every axis
    for (Index size = std::min<Index>(fewest_nodes, most); size <= most; ++size) {
      const Eigen::Matrix3Xd own = X(Eigen::all, std::vector<Index>(order.begin(), order.begin() + size));
      const Vector3d centre = own.rowwise().mean();
      Eigen::Matrix3d J = Eigen::Matrix3d::Zero();
      for (const auto& x : own.colwise()) {
        const Eigen::Matrix3d r = skew(x - centre);
        J -= r * r;
      }
      const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> axes(J);
      if (axes.eigenvalues()[0] < line_ratio * axes.eigenvalues()[2]) continue;
      const Eigen::Matrix3d inverse = J.inverse();
      std::vector<Share> shares;
      for (Index i = 0; i < size; ++i)
        shares.push_back({order[static_cast<size_t>(i)], inverse * skew(own.col(i) - centre)});
      groups.push_back(std::move(shares));
      part.nodes.push_back(body.node_ids()[static_cast<size_t>(next)]);
      break;
    }
    distance = distance.cwiseMin(from_here);
    if (distance.maxCoeff(&next) <= 0) break;
  }

  // for unit amplitudes
  const Index amplitudes = part.amplitudes.size();
  part.rotations.setZero(3 * static_cast<Index>(groups.size()), amplitudes);
  part.angles.resize(part.rotations.rows());
  const Body::DeformationBasis basis = body.deformation_basis(0);
  if (basis.kind == Body::DeformationKind::Fields) {
    for (size_t g = 0; g < groups.size(); ++g)
      for (const auto& [node, W] : groups[g])
        for (Index a = 0; a < basis.fields->cols(); ++a)
          part.rotations.block<3, 3>(3 * static_cast<Index>(g), 3 * a) += (*basis.fields)(node, a) * W;
    return;
  }
  for (Index a = 0; a < amplitudes; ++a) {
    VectorXd q = rest;
    q[q.size() - amplitudes + a] += 1;
    const Eigen::Matrix3Xd u = body.local_displacements(0, q);
    for (size_t g = 0; g < groups.size(); ++g)
      for (const auto& [node, W] : groups[g])
        part.rotations.col(a).segment<3>(3 * static_cast<Index>(g)) += W * u.col(node);
  }
}

void ElasticRange::warn(const std::string& suffix, Diagnostics& diagnostics) const {
  for (const Part& part : parts_) {
    if (!part.spin.since && !part.rotation.since) continue;
    const Body& body = *equations_.system().bodies()[part.body];
    std::string text = fmt::format("the body '{}' ({}) leaves the range of linear elasticity", body.name(),
                                   body.formulation());
    if (part.spin.since)
      text += fmt::format(
          ": from t = {:.6g} s on it turns at more than a third of its first frequency ({:.4g} rad/s as its "
          "joints hold it; up to {:.4g} rad/s at t = {:.6g} s), where centrifugal forces stiffen a body, and "
          "this one is too soft",
          *part.spin.since, *part.frequency, part.spin.largest, part.spin.at);
    if (part.rotation.since)
      text += fmt::format(
          "{} from t = {:.6g} s on a node is turned by more than {:g} degrees within it (up to {:.3g} "
          "degrees, at node {} and t = {:.6g} s), and displacements that are linear in its frame stretch it",
          part.spin.since ? ";" : ":", *part.rotation.since, largest_rotation, part.rotation.largest,
          part.rotation.node, part.rotation.at);
    diagnostics.warn("simulate.elastic-range." + body.name() + suffix,
                     text + ". Cut it into several bodies, or take an ANCF beam where it is one");
  }
}

std::vector<ElasticLimit> ElasticRange::left() const {
  std::vector<ElasticLimit> list;
  for (const Part& part : parts_) {
    if (!part.spin.since && !part.rotation.since) continue;
    ElasticLimit one;
    one.body = equations_.system().bodies()[part.body]->name();
    const auto passed = [](const Passed& limit) {
      return ElasticLimit::Passed{*limit.since, limit.largest, limit.at};
    };
    if (part.spin.since) {
      one.spin = passed(part.spin);
      one.first_frequency = *part.frequency;
    }
    if (part.rotation.since) {
      one.rotation = passed(part.rotation);
      one.node = part.rotation.node;
    }
    list.push_back(std::move(one));
  }
  return list;
}

void ElasticRange::archive(Archive& archive) {
  for (Part& part : parts_) archive(part.has_frequency, part.frequency, part.spin, part.rotation);
}

}  // namespace lissom

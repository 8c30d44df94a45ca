// What a system is before it runs: degrees of freedom, redundant and contradicting constraints.
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "lissom/linalg/row_elimination.hpp"
#include "lissom/mbs/system.hpp"

namespace lissom {

namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

// Rows of length one whose part beyond the others is below this say nothing new. Joints that are modelled to
// meet do so to about 1e-12; what differs by more is no accident of rounding.
constexpr double rank_tolerance = 1e-8;
// coefficients below this do not take part in a redundancy
constexpr double coefficient_tolerance = 1e-6;
// inertia of a direction against the largest one below which it counts as none
constexpr double mass_tolerance = 1e-12;

// Up to so many rows of joints they are weighed against each other all at once, with full matrices.
constexpr int few_rows = 150;

using GradientRows = RowElimination::Rows;

// Rows in the scale of displacements: angles of joints times the length, coordinates in metres. `factor` is
// what the rows were multiplied by.
GradientRows scaled_rows(const System& system, const SystemEquations& equations, GradientRows G,
                         VectorXd& factor) {
  factor = VectorXd::Ones(G.rows());
  for (size_t j = 0; j < system.joints().size(); ++j)
    for (int i = 0; i < system.joints()[j].constraints(); ++i)
      if (row_kind(system.joints()[j].kind, i) == RowKind::Angle)
        factor[system.joint_row(static_cast<int>(j)) + i] = equations.length();
  for (int row = 0; row < G.rows(); ++row)
    for (GradientRows::InnerIterator it(G, row); it; ++it) {
      const double scale = equations.displacement_scale()[it.col()];
      if (scale > 0) it.valueRef() /= scale;
      it.valueRef() *= factor[row];
    }
  return G;
}

// Independent rows: those of the bodies first, then of the joints by pivoting.
struct RowRank {
  std::vector<int> kept, dropped;
  // of every dropped row: joint rows kept of which it is a sum
  std::vector<std::vector<int>> with;
  double smallest_kept = 1, largest_dropped = 0;
  std::vector<bool> zero;  // rows that no coordinate changes
};

// What few rows of joints say beyond the bodies' own, by pivoting among all of them.
RowRank independent_among_few(const GradientRows& A, int joint_rows) {
  const int rows = static_cast<int>(A.rows()), own = rows - joint_rows;
  RowRank out;
  out.zero.assign(rows, false);
  MatrixXd At = MatrixXd(A).transpose();
  // rows that no coordinate changes say nothing; they are not among the pivots
  for (int c = 0; c < rows; ++c) {
    const double norm = At.col(c).norm();
    if (norm > rank_tolerance)
      At.col(c) /= norm;
    else {
      At.col(c).setZero();
      out.zero[c] = true;
    }
  }

  // twice, so that round-off stays
  MatrixXd B = At.leftCols(joint_rows);
  if (own > 0) {
    Eigen::HouseholderQR<MatrixXd> qr(At.rightCols(own));
    const MatrixXd Q = qr.householderQ() * MatrixXd::Identity(At.rows(), own);
    for (int repeat = 0; repeat < 2; ++repeat) B -= Q * (Q.transpose() * B);
  }
  for (int i = 0; i < own; ++i) out.kept.push_back(joint_rows + i);
  if (joint_rows > 0) {
    Eigen::ColPivHouseholderQR<MatrixXd> qr(B);
    const auto& order = qr.colsPermutation().indices();
    const int pivots = static_cast<int>(std::min(B.rows(), B.cols()));
    int rank = 0;
    while (rank < pivots && std::abs(qr.matrixR()(rank, rank)) > rank_tolerance) ++rank;
    if (rank > 0) out.smallest_kept = std::abs(qr.matrixR()(rank - 1, rank - 1));
    if (rank < pivots) out.largest_dropped = std::abs(qr.matrixR()(rank, rank));
    for (int i = 0; i < joint_rows; ++i) (i < rank ? out.kept : out.dropped).push_back(order[i]);
    // without redundant rows there is nothing to combine
    MatrixXd combinations(rank, joint_rows - rank);
    if (rank < joint_rows)
      combinations = qr.matrixR()
                         .topLeftCorner(rank, rank)
                         .triangularView<Eigen::Upper>()
                         .solve(MatrixXd(qr.matrixR().block(0, rank, rank, joint_rows - rank)));
    out.with.resize(out.dropped.size());
    for (size_t d = 0; d < out.dropped.size(); ++d)
      for (int k = 0; k < rank; ++k)
        if (std::abs(combinations(k, static_cast<int>(d))) > coefficient_tolerance)
          out.with[d].push_back(order[k]);
  }
  std::sort(out.kept.begin(), out.kept.end());
  return out;
}

// Roles in an elimination: rows of the bodies count, those of the joints are open.
RowElimination eliminated(const GradientRows& A, const std::vector<int>& groups, int joint_rows) {
  std::vector<RowElimination::Role> roles(static_cast<size_t>(A.rows()), RowElimination::Role::Kept);
  std::fill(roles.begin(), roles.begin() + joint_rows, RowElimination::Role::Open);
  RowElimination::Options options;
  options.tolerance = rank_tolerance;
  return {A, groups, roles, options};
}

RowRank independent_rows(const GradientRows& A, const std::vector<int>& groups, int joint_rows) {
  if (joint_rows <= few_rows && A.rows() - joint_rows <= few_rows)
    return independent_among_few(A, joint_rows);
  const RowElimination rows = eliminated(A, groups, joint_rows);
  RowRank out;
  out.kept = rows.kept();
  out.dropped = rows.left_out();
  out.smallest_kept = rows.smallest_kept();
  out.largest_dropped = rows.largest_left_out();
  for (int i = 0; i < A.rows(); ++i) out.zero.push_back(rows.is_zero(i));
  // coefficients of rows of length one
  VectorXd norm(A.rows());
  for (int i = 0; i < A.rows(); ++i) norm[i] = A.row(i).norm();
  for (const int row : out.dropped) {
    std::vector<int>& with = out.with.emplace_back();
    for (const auto& [other, value] : rows.combination(row))
      if (other < joint_rows && std::abs(value) * norm[other] > coefficient_tolerance * norm[row])
        with.push_back(other);
  }
  return out;
}

// A position on the constraints a thousandth of the system's length away, in a direction that they let pass.
// False where there is none.
bool position_nearby(const System& system, SystemEquations& equations, double t, const VectorXd& q,
                     VectorXd& nearby) {
  const int n = system.coordinates();
  VectorXd g(system.constraint_rows()), factor, direction(n);
  // numbers without pattern, the same every time
  for (int i = 0; i < n; ++i) direction[i] = std::sin(1 + 37.0 * i * i + 11.0 * i);
  const VectorXd& scale = equations.displacement_scale();
  const auto to_coordinates = [&](const VectorXd& x) {
    VectorXd dq(n);
    for (int i = 0; i < n; ++i) dq[i] = scale[i] > 0 ? x[i] / scale[i] : 0;
    return dq;
  };
  // x of least norm with A x = g for independent rows of A
  const auto solution = [&](const GradientRows& A, VectorXd g_there) {
    eliminated(A, equations.row_groups(), system.joint_constraints()).solve_normal(g_there);
    return VectorXd(A.transpose() * g_there);
  };
  const GradientRows A = scaled_rows(system, equations, equations.all_gradients(t, q), factor);
  // twice, as normal equations leave round-off
  for (int round = 0; round < 2; ++round) direction -= solution(A, A * direction);
  if (!(direction.norm() > rank_tolerance)) return false;
  direction *= 1e-3 * equations.length() / direction.norm();
  nearby = q + to_coordinates(direction);
  // back onto all constraints; those that contradict each other slightly stay where they were
  equations.all_constraints(t, q, g);
  const double enough = 1e-12 * equations.length() + 2 * g.cwiseProduct(factor).norm();
  for (int iteration = 0; iteration < 20; ++iteration) {
    equations.all_constraints(t, nearby, g);
    g = g.cwiseProduct(factor);
    if (!g.allFinite()) return false;
    if (g.norm() < enough) return true;
    nearby -= to_coordinates(
        solution(scaled_rows(system, equations, equations.all_gradients(t, nearby), factor), g));
  }
  return false;
}

// Rows of joints between planar bodies (or one and the ground) that no motion in the plane changes.
std::vector<int> rows_in_plane(const System& system, SystemEquations& equations, double t,
                               const VectorXd& q) {
  std::vector<int> rows;
  const VectorXd v = VectorXd::Zero(q.size());
  const auto planar = [&](MarkerRef ref) { return ref.body < 0 || system.bodies()[ref.body]->planar(); };
  MarkerKinematics markers[2];
  for (size_t j = 0; j < system.joints().size(); ++j) {
    const Joint& joint = system.joints()[j];
    if (!planar(joint.first) || !planar(joint.second)) continue;
    equations.marker(joint.first, q, v, false, markers[0]);
    equations.marker(joint.second, q, v, false, markers[1]);
    const int k = joint.constraints();
    Eigen::Matrix<double, Eigen::Dynamic, 12> gradient[2];
    for (auto& part : gradient) part.resize(k, 12);
    joint_gradient(joint, t, markers[0].m, markers[1].m, gradient[0], gradient[1]);
    VectorXd change = VectorXd::Zero(k);
    for (int side = 0; side < 2; ++side) {
      if ((side == 0 ? joint.first : joint.second).body < 0) continue;
      Vector12d turn = Vector12d::Zero();
      for (int s = 3; s < 12; s += 3)
        turn.segment<3>(s) = Vector3d::UnitZ().cross(Vector3d(markers[side].m.segment<3>(s)));
      change += gradient[side].leftCols<2>().cwiseAbs().rowwise().sum() + (gradient[side] * turn).cwiseAbs();
    }
    for (int i = 0; i < k; ++i)
      if (!(change[i] > rank_tolerance)) rows.push_back(system.joint_row(static_cast<int>(j)) + i);
  }
  return rows;
}

// Rank of the joints when every body is rigid: velocities (v, omega) of each about the mean of its markers.
int rigid_rank(const System& system, SystemEquations& equations, double t, const VectorXd& q) {
  const int bodies = static_cast<int>(system.bodies().size()), rows = system.joint_constraints();
  const VectorXd v = VectorXd::Zero(q.size());
  std::vector<Vector3d> centre(bodies, Vector3d::Zero());
  std::vector<int> count(bodies, 0);
  MarkerKinematics markers[2];
  for (const Joint& joint : system.joints())
    for (const MarkerRef ref : {joint.first, joint.second}) {
      if (ref.body < 0) continue;
      equations.marker(ref, q, v, false, markers[0]);
      centre[ref.body] += markers[0].position();
      ++count[ref.body];
    }
  for (int b = 0; b < bodies; ++b)
    if (count[b] > 0) centre[b] /= count[b];
  const double length = equations.length();
  std::vector<Eigen::Triplet<double>> entries;
  for (size_t j = 0; j < system.joints().size(); ++j) {
    const Joint& joint = system.joints()[j];
    const int k = joint.constraints(), row = system.joint_row(static_cast<int>(j));
    equations.marker(joint.first, q, v, false, markers[0]);
    equations.marker(joint.second, q, v, false, markers[1]);
    Eigen::Matrix<double, Eigen::Dynamic, 12> gradient[2];
    for (auto& part : gradient) part.resize(k, 12);
    joint_gradient(joint, t, markers[0].m, markers[1].m, gradient[0], gradient[1]);
    const auto add = [&](int column, const VectorXd& by) {
      for (int i = 0; i < k; ++i)
        if (by[i] != 0)
          entries.emplace_back(row + i, column,
                               row_kind(joint.kind, i) == RowKind::Angle ? by[i] * length : by[i]);
    };
    for (int side = 0; side < 2; ++side) {
      const int body = side == 0 ? joint.first.body : joint.second.body;
      if (body < 0) continue;
      Vector12d arms = markers[side].m;
      arms.head<3>() -= centre[body];
      for (int axis = 0; axis < 3; ++axis) {
        Vector12d turn;
        for (int s = 0; s < 12; s += 3)
          turn.segment<3>(s) = Vector3d::Unit(axis).cross(Vector3d(arms.segment<3>(s))) / length;
        // planar bodies move along x and y and turn about z
        const bool planar = system.bodies()[body]->planar();
        if (!planar || axis < 2) add(6 * body + axis, gradient[side].col(axis));
        if (!planar || axis == 2) add(6 * body + 3 + axis, gradient[side] * turn);
      }
    }
  }
  GradientRows A(rows, 6 * bodies);
  A.setFromTriplets(entries.begin(), entries.end());
  const std::vector<int>& groups = equations.row_groups();
  return static_cast<int>(
      independent_rows(A, std::vector<int>(groups.begin(), groups.begin() + rows), rows).kept.size());
}

void find_gaps(const System& system, SystemEquations& equations, double t, const VectorXd& q,
               double tolerance, std::vector<SystemCheck::Gap>& gaps) {
  VectorXd g(system.constraint_rows());
  equations.all_constraints(t, q, g);
  const VectorXd v = VectorXd::Zero(q.size());
  MarkerKinematics first, second;
  for (size_t j = 0; j < system.joints().size(); ++j) {
    const Joint& joint = system.joints()[j];
    double distance = 0, angle = 0;
    for (int i = 0; i < joint.constraints(); ++i) {
      const double value = g[system.joint_row(static_cast<int>(j)) + i];
      double& sum = row_kind(joint.kind, i) == RowKind::Angle ? angle : distance;
      sum = std::hypot(sum, value);
    }
    // products of axes vanish as well when a frame is turned by half a turn
    if (joint.kind == JointKind::Fixed || joint.kind == JointKind::Angle) {
      equations.marker(joint.first, q, v, false, first);
      equations.marker(joint.second, q, v, false, second);
      const double f = joint.motion(t);
      const bool opposite =
          joint.kind == JointKind::Fixed
              ? (first.axes().transpose() * second.axes()).trace() < 1
              : second.axis(0).dot(std::cos(f) * first.axis(0) + std::sin(f) * first.axis(1)) < 0;
      if (opposite) angle = 1;
    }
    if (distance > tolerance * equations.length()) gaps.push_back({joint.name, distance, false});
    if (angle > tolerance) gaps.push_back({joint.name, std::min(1.0, angle), true});
  }
  // as far as they move points
  const auto size = [&](const SystemCheck::Gap& gap) {
    return gap.is_angle ? gap.distance * equations.length() : gap.distance;
  };
  std::stable_sort(gaps.begin(), gaps.end(), [&](const auto& a, const auto& b) { return size(a) > size(b); });
}

// Directions of each body that neither its inertia nor its own constraints see, unless joints hold them.
void find_massless(const System& system, SystemEquations& equations, const GradientRows& G, const VectorXd& q,
                   std::vector<std::string>& out) {
  const int n = system.coordinates();
  std::vector<VectorXd> directions;
  for (size_t b = 0; b < system.bodies().size(); ++b) {
    const Body& body = *system.bodies()[b];
    const int size = body.coordinates(), offset = system.offset(static_cast<int>(b));
    // sparse ones are beams, which have mass everywhere
    if (!body.cells().empty()) continue;
    MatrixXd M(size, size);
    const auto workspace = body.workspace();
    body.mass(q.segment(offset, size), *workspace, M);
    const VectorXd scale = equations.displacement_scale().segment(offset, size);
    VectorXd inverse(size);
    for (int i = 0; i < size; ++i) inverse[i] = scale[i] > 0 ? 1 / scale[i] : 1;
    M = inverse.asDiagonal() * M * inverse.asDiagonal();
    const double largest = M.diagonal().maxCoeff();
    if (largest > 0) M /= largest;
    const int own = body.own_constraints();
    MatrixXd rows = MatrixXd::Zero(own, size);
    for (int i = 0; i < own; ++i)
      for (GradientRows::InnerIterator it(G, system.own_row(static_cast<int>(b)) + i); it; ++it)
        rows(i, it.col() - offset) = it.value();
    rows = rows * inverse.asDiagonal();
    for (int i = 0; i < own; ++i) rows.row(i).normalize();
    M += rows.transpose() * rows;
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(M);
    for (int i = 0; i < size && eigen.eigenvalues()[i] < mass_tolerance; ++i) {
      directions.push_back(VectorXd::Zero(n));
      directions.back().segment(offset, size) = inverse.cwiseProduct(eigen.eigenvectors().col(i));
    }
  }
  if (directions.empty()) return;
  MatrixXd N(n, directions.size());
  for (size_t i = 0; i < directions.size(); ++i) N.col(i) = directions[i];
  // combinations that the joints let pass
  const MatrixXd held = G.topRows(system.joint_constraints()) * N;
  MatrixXd free = MatrixXd::Identity(N.cols(), N.cols());
  if (held.rows() > 0) {
    Eigen::CompleteOrthogonalDecomposition<MatrixXd> decomposition;
    decomposition.setThreshold(rank_tolerance);
    decomposition.compute(held);
    const MatrixXd Z = decomposition.matrixZ().transpose();
    free = decomposition.colsPermutation() * Z.rightCols(N.cols() - decomposition.rank());
  }
  std::set<std::string> names;
  for (int c = 0; c < free.cols(); ++c) {
    int largest = 0;
    const VectorXd direction = (N * free.col(c)).cwiseProduct(equations.displacement_scale()).cwiseAbs();
    direction.maxCoeff(&largest);
    if (names.insert(equations.row_name(largest)).second) out.push_back(equations.row_name(largest));
  }
}

std::string joint_of_row(const System& system, int row) {
  int first = 0, last = static_cast<int>(system.joints().size()) - 1;
  while (first < last) {
    const int middle = (first + last + 1) / 2;
    if (system.joint_row(middle) <= row)
      first = middle;
    else
      last = middle - 1;
  }
  return system.joints()[first].name;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += fmt::format("{}'{}'", i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i]);
  return text;
}

std::string plural(int count, const std::string& one, const std::string& more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

}  // namespace

IndependentRows independent_rows(SystemEquations& equations, double t, const VectorXd& q) {
  VectorXd factor;
  const System& system = equations.system();
  RowRank rank = independent_rows(scaled_rows(system, equations, equations.all_gradients(t, q), factor),
                                  equations.row_groups(), system.joint_constraints());
  return {std::move(rank.kept), rank.smallest_kept};
}

double smallest_part(SystemEquations& equations, double t, const VectorXd& q, const std::vector<int>& kept) {
  VectorXd factor;
  const GradientRows A =
      scaled_rows(equations.system(), equations, equations.all_gradients(t, q), factor);
  std::vector<RowElimination::Role> roles(static_cast<size_t>(A.rows()), RowElimination::Role::LeftOut);
  for (const int row : kept) roles[row] = RowElimination::Role::Kept;
  const RowElimination rows(A, equations.row_groups(), roles);
  // one that is a sum of others altogether was not kept
  return rows.kept().size() == kept.size() ? rows.smallest_kept() : 0;
}

SystemCheck check_system(const System& system, double t, const Eigen::VectorXd& q, double gap_tolerance) {
  SystemEquations equations(system);
  SystemCheck check;
  check.coordinates = system.coordinates();
  check.joint_constraints = system.joint_constraints();
  check.own_constraints = system.own_constraints();

  const GradientRows G = equations.all_gradients(t, q);
  VectorXd factor;
  const auto rank_of = [&](const GradientRows& gradients) {
    return independent_rows(scaled_rows(system, equations, gradients, factor), equations.row_groups(),
                            system.joint_constraints());
  };
  RowRank rank = rank_of(G);
  // redundant everywhere, or only here?
  VectorXd nearby;
  if (!rank.dropped.empty() && position_nearby(system, equations, t, q, nearby)) {
    RowRank there = rank_of(equations.all_gradients(t, nearby));
    if (there.kept.size() > rank.kept.size()) {
      check.singular_position = true;
      rank = std::move(there);
    }
  }
  check.rank = static_cast<int>(rank.kept.size());
  check.kept = rank.kept;
  check.smallest_kept = rank.smallest_kept;
  check.largest_dropped = rank.largest_dropped;
  check.degrees_of_freedom = check.coordinates - check.rank;
  int rigid_motions = 0;
  for (const auto& body : system.bodies()) {
    check.has_mechanism |= body->is_mechanism();
    rigid_motions += body->planar() ? 3 : 6;
  }
  if (!check.has_mechanism)
    check.rigid_degrees_of_freedom = rigid_motions - rigid_rank(system, equations, t, q);
  check.in_plane = rows_in_plane(system, equations, t, q);
  check.joint_constraints -= static_cast<int>(check.in_plane.size());
  const auto in_plane = [&](int row) {
    return std::binary_search(check.in_plane.begin(), check.in_plane.end(), row);
  };

  for (size_t i = 0; i < rank.dropped.size(); ++i) {
    if (rank.zero[rank.dropped[i]]) {
      if (!in_plane(rank.dropped[i])) ++check.satisfied;
      continue;
    }
    SystemCheck::Redundant redundant;
    redundant.row = rank.dropped[i];
    redundant.joint = joint_of_row(system, redundant.row);
    std::set<std::string> names;
    for (const int row : rank.with[i]) names.insert(joint_of_row(system, row));
    names.erase(redundant.joint);
    redundant.with.assign(names.begin(), names.end());
    check.redundant.push_back(std::move(redundant));
  }
  std::sort(check.redundant.begin(), check.redundant.end(),
            [](const auto& a, const auto& b) { return a.row < b.row; });

  find_gaps(system, equations, t, q, gap_tolerance, check.gaps);

  std::vector<bool> held(system.bodies().size(), false);
  const auto hold = [&](MarkerRef ref) {
    if (ref.body >= 0) held[ref.body] = true;
  };
  for (const Joint& joint : system.joints()) {
    hold(joint.first);
    hold(joint.second);
    check.is_driven |= is_driven(joint.kind) && !joint.motion.is_constant();
  }
  for (const Load& load : system.loads()) {
    if (!holds(load.kind)) continue;
    hold(load.first);
    hold(load.second);
  }
  for (size_t b = 0; b < held.size(); ++b)
    if (!held[b] && !system.bodies()[b]->is_mechanism())
      check.free_bodies.push_back(system.bodies()[b]->name());

  find_massless(system, equations, G, q, check.massless_directions);
  return check;
}

std::string describe(const System& system, const SystemCheck& check) {
  std::string text;
  const auto line = [&](const std::string& more) { text += more + "\n"; };
  const auto name_of_body = [&](MarkerRef ref) {
    return ref.body < 0 ? std::string("ground") : system.bodies()[ref.body]->name();
  };

  // tables, as wide as their names
  size_t width = 5;
  for (const auto& body : system.bodies()) width = std::max(width, body->name().size());
  for (const Joint& joint : system.joints()) width = std::max(width, joint.name.size());
  for (const Load& load : system.loads()) width = std::max(width, load.name.size());
  line(fmt::format("{:<{}}  {:<14}  {:>11}  {:>11}  {:>5}  {:>12}", "body", width, "formulation",
                   "coordinates", "constraints", "modes", "mass [kg]"));
  for (const auto& body : system.bodies())
    line(fmt::format("{:<{}}  {:<14}  {:>11}  {:>11}  {:>5}  {:>12.6g}", body->name(), width,
                     body->formulation(), body->coordinates(), body->own_constraints(),
                     body->flexible_modes(), body->mass()));
  if (!system.joints().empty()) {
    line("");
    line(fmt::format("{:<{}}  {:<14}  {:>11}  {}", "joint", width, "kind", "constraints", "between"));
    for (const Joint& joint : system.joints())
      line(fmt::format("{:<{}}  {:<14}  {:>11}  {}, {}", joint.name, width, name_of(joint.kind),
                       joint.constraints(), name_of_body(joint.first), name_of_body(joint.second)));
  }
  if (!system.loads().empty()) {
    line("");
    line(fmt::format("{:<{}}  {:<14}  {}", "load", width, "kind", "on"));
    for (const Load& load : system.loads()) {
      const bool both = load.has_second || load.kind == LoadKind::LineForce || holds(load.kind);
      line(fmt::format("{:<{}}  {:<14}  {}{}", load.name, width, name_of(load.kind), name_of_body(load.first),
                       both ? ", " + name_of_body(load.second) : ""));
    }
  }

  line("");
  for (const auto& body : system.bodies()) {
    if (!body->is_mechanism()) continue;
    if (!body->cells().empty())
      line(fmt::format("{} in {}; pins that they share and supports are part of them.",
                       list_of(body->part_names()),
                       plural(body->coordinates(), "coordinate", "coordinates")));
    else
      line(fmt::format("'{}' is a mechanism reduced as a whole, joints included: {} in {}.", body->name(),
                       list_of(body->part_names()),
                       plural(body->coordinates(), "coordinate", "coordinates")));
  }
  if (check.has_mechanism && check.joint_constraints + check.own_constraints == 0) {
    line("There are no constraints: an ordinary differential equation.");
    for (const std::string& direction : check.massless_directions)
      line(fmt::format("There is a direction without inertia: {}.", direction));
    return text;
  }
  line(fmt::format("{}, {} of joints and {} of bodies, {} of them independent: {}.",
                   plural(check.coordinates, "coordinate", "coordinates"),
                   plural(check.joint_constraints, "constraint", "constraints"), check.own_constraints,
                   check.rank, plural(check.degrees_of_freedom, "degree of freedom", "degrees of freedom")));
  if (!check.has_mechanism)
    line(fmt::format("With every body rigid: {}.",
                     plural(check.rigid_degrees_of_freedom, "degree of freedom", "degrees of freedom")));
  if (check.satisfied > 0) {
    const bool basis = std::any_of(system.bodies().begin(), system.bodies().end(),
                                   [](const auto& body) { return body->formulation() == "pod"; });
    line(fmt::format("{} of {} {} satisfied by the {}.", check.satisfied,
                     plural(check.joint_constraints, "constraint", "constraints"),
                     check.satisfied == 1 ? "is" : "are", basis ? "basis" : "coordinates themselves"));
  }
  if (!check.moves())
    line(check.is_driven ? "All motion is prescribed."
                         : "Nothing can move: the joints hold every coordinate. Remove a joint or free a "
                           "direction.");
  if (check.singular_position)
    line(
        "The starting position is singular (a dead centre): from here the mechanism can branch, and "
        "accelerations are not defined. Start a little beside it.");
  for (const SystemCheck::Redundant& redundant : check.redundant)
    line(redundant.with.empty()
             ? fmt::format(
                   "A constraint of joint '{}' is redundant: it says nothing that the joint does not say "
                   "already.",
                   redundant.joint)
             : fmt::format("A constraint of joint '{}' is redundant: {} {} the same already.",
                           redundant.joint, list_of(redundant.with),
                           redundant.with.size() == 1 ? "says" : "together say"));
  if (!check.redundant.empty())
    line(
        "Redundant constraints do not change the motion; their reactions are those with the smallest norm. "
        "Spherical, cylindrical or point-on-line joints in place of some make the reactions unique.");
  if (check.smallest_kept < 1e-5)
    line(fmt::format(
        "One constraint is nearly redundant (it says {:.1e} of something new): joints whose axes should "
        "be parallel or meet may not quite do so.",
        check.smallest_kept));
  for (const SystemCheck::Gap& gap : check.gaps)
    line(gap.is_angle ? fmt::format("The axes at joint '{}' are off by {:.3g} degrees.", gap.joint,
                                    std::asin(gap.distance) * 180 / M_PI)
                      : fmt::format("The frames of joint '{}' are {:.6g} m apart.", gap.joint, gap.distance));
  if (!check.free_bodies.empty())
    line(fmt::format("{} {} held by nothing: neither joint nor spring.", list_of(check.free_bodies),
                     check.free_bodies.size() == 1 ? "is" : "are"));
  for (const std::string& direction : check.massless_directions)
    line(fmt::format("There is a direction without inertia that no joint holds: {}.", direction));
  return text;
}

}  // namespace lissom

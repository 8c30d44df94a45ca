#include "lissom/rom/nodal_error.hpp"

#include <algorithm>
#include <cmath>

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

// Samples at the same times, of both.
std::vector<std::pair<Index, Index>> samples_of_both(const Trajectory& a, const Trajectory& b) {
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

// Adds the nodes x (3 by n) of a sample, which should be at X and were at X0 first.
void add_nodes(const Eigen::Ref<const Eigen::Matrix3Xd>& x, const Eigen::Ref<const Eigen::Matrix3Xd>& X,
               const Eigen::Ref<const Eigen::Matrix3Xd>& X0, NodalError& error) {
  if (x.cols() == 0) return;
  error.epsilon += (x - X).squaredNorm();
  error.largest = std::max(error.largest, (x - X).colwise().norm().maxCoeff());
  error.motion = std::max(error.motion, (X - X0).colwise().norm().maxCoeff());
}

}  // namespace

NodalError nodal_error(const System& system, const Trajectory& reference, const System& other_system,
                       const Trajectory& other) {
  const auto common = samples_of_both(reference, other);
  if (common.empty()) return {};
  NodalError error{0, 0, 0};
  const Eigen::Matrix3Xd first = all_nodes(system, reference.q.col(common.front().first));
  for (const auto& [of_reference, of_other] : common) {
    const Eigen::Matrix3Xd a = all_nodes(system, reference.q.col(of_reference)),
                           b = all_nodes(other_system, other.q.col(of_other));
    if (a.cols() != b.cols()) return {};
    add_nodes(b, a, first, error);
  }
  return error;
}

NodalError nodal_error(const SlapReduction& training, const System& system, const Trajectory& reference,
                       const Trajectory& rom) {
  const Index m = rom.q.rows();
  SnapshotExpectation expected;
  for (const SlapSpacePart& part : training.space.parts)
    expected.parts.push_back({part.name, part.node_ids, part.points});
  Diagnostics ignored;
  auto run = reorder(make_system_snapshots("reference", system, reference.t, reference.q), expected, ignored);
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

}  // namespace lissom

#include "lissom/fe/node_mass.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace lissom {

namespace {

constexpr double tolerance = 1e-10;

// The entries of M between equal directions `direction`, by nodes.
SparseMatrix of_direction(const FeModel& model, int nodes, int direction) {
  std::vector<Eigen::Triplet<double, int>> entries;
  for (int j = 0; j < model.M.size(); ++j) {
    if (model.dofs[j].direction != direction) continue;
    for (SparseMatrix::InnerIterator it(model.M.lower, j); it; ++it) {
      if (model.dofs[it.row()].direction != direction) continue;
      const auto [low, high] = std::minmax(model.dofs[j].node, model.dofs[it.row()].node);
      entries.emplace_back(high, low, it.value());
    }
  }
  SparseMatrix m(nodes, nodes);
  m.setFromTriplets(entries.begin(), entries.end());
  return m;
}

}  // namespace

SymmetricMatrix scalar_node_mass(const FeModel& model) {
  const int nodes = static_cast<int>(model.node_ids.size());
  if (nodes == 0 || model.dofs.size() != static_cast<size_t>(model.M.size())) return {};

  // x, y and z of each node that has rows, and nothing else
  std::vector<std::array<char, 3>> has(nodes, {0, 0, 0});
  for (const Dof& dof : model.dofs) {
    if (dof.node < 0 || dof.direction > 2) return {};
    has[dof.node][dof.direction] += 1;
  }
  for (const auto& [x, y, z] : has)
    if (x != y || y != z || x > 1) return {};

  const SparseMatrix m = of_direction(model, nodes, 0);
  const Eigen::VectorXd scale = m.diagonal().cwiseAbs().cwiseSqrt();
  const auto negligible = [&](double value, int a, int b) {
    return std::abs(value) <= tolerance * scale[a] * scale[b];
  };
  for (int j = 0; j < model.M.size(); ++j)
    for (SparseMatrix::InnerIterator it(model.M.lower, j); it; ++it)
      if (model.dofs[it.row()].direction != model.dofs[j].direction &&
          !negligible(it.value(), model.dofs[it.row()].node, model.dofs[j].node))
        return {};
  for (int direction : {1, 2}) {
    const SparseMatrix difference = of_direction(model, nodes, direction) - m;
    for (int j = 0; j < nodes; ++j)
      for (SparseMatrix::InnerIterator it(difference, j); it; ++it)
        if (!negligible(it.value(), static_cast<int>(it.row()), j)) return {};
  }
  return {m};
}

}  // namespace lissom

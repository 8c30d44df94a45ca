#include "lissom/fe/node_selection.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "lissom/core/text.hpp"

namespace lissom {

namespace {

// by id, through a map: the user's ids need not be consecutive
std::vector<int> select(const Mesh& mesh, const NodeIds& selection) {
  if (selection.ids.empty()) fail_input("the list of node ids is empty");
  std::unordered_map<std::int64_t, int> index;
  for (int i = 0; i < mesh.node_count(); ++i) index.emplace(mesh.node_ids[i], i);
  std::vector<int> nodes;
  for (const std::int64_t id : selection.ids) {
    const auto it = index.find(id);
    if (it == index.end()) {
      const auto [low, high] = std::minmax_element(mesh.node_ids.begin(), mesh.node_ids.end());
      fail_input("node {} is selected, but {} has no such node (its ids run from {} to {})", id, mesh.source,
                 *low, *high);
    }
    nodes.push_back(it->second);
  }
  return nodes;
}

// by set; a misspelt name is answered with the names there are
std::vector<int> select(const Mesh& mesh, const NodeSetName& selection) {
  const auto it = mesh.node_sets.find(selection.name);
  if (it == mesh.node_sets.end()) {
    std::vector<std::string> names;
    std::string list;
    for (const auto& [name, nodes] : mesh.node_sets) {
      names.push_back(name);
      list += (list.empty() ? "" : ", ") + name;
    }
    const auto meant = closest(selection.name, names);
    fail_input("{} has no node set '{}'{}; its sets: {}", mesh.source, selection.name,
               meant ? fmt::format(", did you mean '{}'?", *meant) : "", list.empty() ? "none" : list);
  }
  if (it->second.empty()) fail_input("node set '{}' of {} is empty", selection.name, mesh.source);
  return it->second;
}

// geometry picks from the body only, not from reference nodes or leftovers of the mesher
std::vector<bool> nodes_with_elements(const Mesh& mesh) {
  std::vector<bool> used(mesh.node_count(), false);
  for (const int node : mesh.connectivity) used[node] = true;
  return used;
}

std::vector<int> select(const Mesh& mesh, const CylinderSelection& selection) {
  const double length = selection.axis.norm();
  if (!(length > 0) || !std::isfinite(length)) fail_input("the cylinder's axis has no direction");
  if (!(selection.radius_min <= selection.radius_max))
    fail_input("the cylinder's range of radii is empty: {} to {} m", selection.radius_min,
               selection.radius_max);
  if (!(selection.axial_min <= selection.axial_max))
    fail_input("the cylinder's axial range is empty: {} to {} m", selection.axial_min, selection.axial_max);
  const Eigen::Vector3d axis = selection.axis / length;
  const std::vector<bool> used = nodes_with_elements(mesh);
  std::vector<int> nodes;
  // of the nodes in the axial range, the radius that misses by least
  double miss = std::numeric_limits<double>::infinity(), nearest = 0;
  for (int i = 0; i < mesh.node_count(); ++i) {
    if (!used[i]) continue;
    // split into the part along the axis and the radius
    const Eigen::Vector3d r = mesh.points.col(i) - selection.point;
    const double along = axis.dot(r);
    if (along < selection.axial_min || along > selection.axial_max) continue;
    const double radius = (r - along * axis).norm();
    const double off = std::max(selection.radius_min - radius, radius - selection.radius_max);
    if (off <= 0) nodes.push_back(i);
    if (off < miss) {
      miss = off;
      nearest = radius;
    }
  }
  if (nodes.empty())
    fail_input("no node of {} lies on the cylinder with radius {} to {} m; {}", mesh.source,
               selection.radius_min, selection.radius_max,
               std::isfinite(miss) ? fmt::format("the nearest has radius {:.9g} m", nearest)
                                   : std::string("none lies in its axial range"));
  return nodes;
}

std::vector<int> select(const Mesh& mesh, const BoxSelection& selection) {
  if (!(selection.lower.array() <= selection.upper.array()).all())
    fail_input("the box is empty: its lower corner is above its upper one");
  const std::vector<bool> used = nodes_with_elements(mesh);
  std::vector<int> nodes;
  // the nearest node outside, for the message
  double miss = std::numeric_limits<double>::infinity();
  int nearest = -1;
  for (int i = 0; i < mesh.node_count(); ++i) {
    if (!used[i]) continue;
    const Eigen::Vector3d x = mesh.points.col(i);
    const double off = (selection.lower - x).cwiseMax(x - selection.upper).cwiseMax(0).norm();
    if (off == 0) nodes.push_back(i);
    if (off < miss) {
      miss = off;
      nearest = i;
    }
  }
  if (nodes.empty())
    fail_input("no node of {} lies in the box; the nearest, node {}, is {:.6g} m away", mesh.source,
               nearest >= 0 ? mesh.node_ids[nearest] : -1, miss);
  return nodes;
}

}  // namespace

CylinderSelection CylinderSelection::surface(const Eigen::Vector3d& point, const Eigen::Vector3d& axis,
                                             double radius, double tolerance) {
  CylinderSelection selection;
  selection.point = point;
  selection.axis = axis;
  selection.radius_min = radius - tolerance;
  selection.radius_max = radius + tolerance;
  return selection;
}

std::vector<int> select_nodes(const Mesh& mesh, const NodeSelection& selection) {
  std::vector<int> nodes = std::visit([&](const auto& s) { return select(mesh, s); }, selection);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

}  // namespace lissom

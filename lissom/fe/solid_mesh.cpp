#include "lissom/fe/solid_mesh.hpp"

#include <algorithm>

namespace lissom {

namespace {

// new index of each node, -1 for those without element
std::vector<int> numbering(const Mesh& mesh, int& count) {
  std::vector<int> index(mesh.node_count(), -1);
  for (const int node : mesh.connectivity) index[node] = 0;
  count = 0;
  for (int& i : index)
    if (i == 0) i = count++;
  return index;
}

}  // namespace

bool is_solid_mesh(const Mesh& mesh) {
  int count = 0;
  numbering(mesh, count);
  return mesh.spiders.empty() && count == mesh.node_count();
}

Mesh solid_mesh(const Mesh& mesh) {
  int count = 0;
  const std::vector<int> index = numbering(mesh, count);
  Mesh solid = mesh;
  solid.spiders.clear();
  solid.points.resize(3, count);
  solid.node_ids.resize(count);
  for (int node = 0; node < mesh.node_count(); ++node) {
    if (index[node] < 0) continue;
    solid.points.col(index[node]) = mesh.points.col(node);
    solid.node_ids[index[node]] = mesh.node_ids[node];
  }
  for (int& node : solid.connectivity) node = index[node];
  for (auto it = solid.node_sets.begin(); it != solid.node_sets.end();) {
    std::vector<int> members;
    for (const int node : it->second)
      if (index[node] >= 0) members.push_back(index[node]);
    it->second = std::move(members);
    it = it->second.empty() ? solid.node_sets.erase(it) : std::next(it);
  }
  return solid;
}

}  // namespace lissom

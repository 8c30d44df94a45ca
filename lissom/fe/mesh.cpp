#include "lissom/fe/mesh.hpp"

#include <algorithm>

namespace lissom {

void MeshBuilder::add_node(std::int64_t id, const Eigen::Vector3d& x, const SourcePos& pos) {
  const auto [it, is_new] = node_index_.try_emplace(id, static_cast<int>(points_.size()));
  if (!is_new) {
    if (points_[it->second] != x)
      fail_input(pos, "node {} is defined a second time with other coordinates", id);
    return;
  }
  points_.push_back(x);
  mesh_.node_ids.push_back(id);
}

int MeshBuilder::add_element(ElementType type, std::int64_t id, std::span<const std::int64_t> nodes,
                             int material, const SourcePos& pos) {
  if (static_cast<int>(nodes.size()) != node_count(type))
    fail_input(pos, "element {} of type {} has {} nodes, expected {}", id, name_of(type), nodes.size(),
               node_count(type));
  for (size_t i = 0; i < nodes.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (nodes[i] == nodes[j]) fail_input(pos, "element {} has node {} twice", id, nodes[i]);
  const int index = mesh_.element_count();
  if (!element_index_.try_emplace(id, index).second)
    fail_input(pos, "element {} is defined a second time", id);
  mesh_.types.push_back(type);
  mesh_.element_ids.push_back(id);
  mesh_.element_material.push_back(material);
  connectivity_ids_.insert(connectivity_ids_.end(), nodes.begin(), nodes.end());
  mesh_.offsets.push_back(static_cast<std::int64_t>(connectivity_ids_.size()));
  if (files_.empty() || files_.back() != pos.file) files_.push_back(pos.file);
  element_files_.push_back(static_cast<int>(files_.size()) - 1);
  element_lines_.push_back(pos.line);
  return index;
}

int MeshBuilder::element_index(std::int64_t id) const {
  const auto it = element_index_.find(id);
  return it == element_index_.end() ? -1 : it->second;
}

void MeshBuilder::add_to_node_set(const std::string& name, std::span<const std::int64_t> ids,
                                  const SourcePos& pos) {
  node_sets_.push_back({name, {ids.begin(), ids.end()}, pos});
}

void MeshBuilder::add_to_element_set(const std::string& name, std::span<const std::int64_t> ids,
                                     const SourcePos& pos) {
  element_sets_.push_back({name, {ids.begin(), ids.end()}, pos});
}

void MeshBuilder::add_spider(std::string name, Spider::Kind kind, std::int64_t reference,
                             std::vector<std::int64_t> nodes, std::vector<double> weights,
                             const SourcePos& pos) {
  LISSOM_ASSERT(weights.empty() || weights.size() == nodes.size());
  spiders_.push_back({{std::move(name), kind, -1, {}, std::move(weights), pos}, reference, std::move(nodes)});
}

Eigen::Vector3d& MeshBuilder::point(std::int64_t id) {
  const auto it = node_index_.find(id);
  LISSOM_ASSERT(it != node_index_.end());
  return points_[it->second];
}

Mesh MeshBuilder::finish() {
  if (points_.empty()) fail_input("{}: the file defines no node", mesh_.source);
  mesh_.points.resize(3, static_cast<Eigen::Index>(points_.size()));
  for (size_t i = 0; i < points_.size(); ++i) mesh_.points.col(static_cast<Eigen::Index>(i)) = points_[i];

  // elements
  mesh_.connectivity.resize(connectivity_ids_.size());
  for (int e = 0; e < mesh_.element_count(); ++e) {
    for (auto k = mesh_.offsets[e]; k < mesh_.offsets[e + 1]; ++k) {
      const auto it = node_index_.find(connectivity_ids_[k]);
      if (it == node_index_.end())
        fail_input(SourcePos{files_[element_files_[e]], element_lines_[e]},
                   "element {} refers to node {}, which is not defined", mesh_.element_ids[e],
                   connectivity_ids_[k]);
      mesh_.connectivity[k] = it->second;
    }
  }

  // sets and spiders
  const auto resolve = [&](std::vector<SetEntry>& entries, const std::unordered_map<std::int64_t, int>& index,
                           const char* what, std::map<std::string, std::vector<int>>& sets) {
    for (const SetEntry& entry : entries) {
      std::vector<int>& set = sets[entry.name];
      for (std::int64_t id : entry.ids) {
        const auto it = index.find(id);
        if (it == index.end())
          fail_input(entry.pos, "set '{}' refers to {} {}, which is not defined", entry.name, what, id);
        set.push_back(it->second);
      }
    }
    for (auto& [name, set] : sets) {
      std::sort(set.begin(), set.end());
      set.erase(std::unique(set.begin(), set.end()), set.end());
    }
  };
  resolve(node_sets_, node_index_, "node", mesh_.node_sets);
  resolve(element_sets_, element_index_, "element", mesh_.element_sets);
  for (SpiderEntry& entry : spiders_) {
    const auto find = [&](std::int64_t id) {
      const auto it = node_index_.find(id);
      if (it == node_index_.end())
        fail_input(entry.spider.defined_at, "spider '{}' refers to node {}, which is not defined",
                   entry.spider.name, id);
      return it->second;
    };
    entry.spider.reference = find(entry.reference);
    for (std::int64_t id : entry.nodes) entry.spider.nodes.push_back(find(id));
    mesh_.spiders.push_back(std::move(entry.spider));
  }
  return std::move(mesh_);
}

}  // namespace lissom

// A finite-element mesh as a file describes it: what every reader returns and every later stage starts from.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "lissom/core/error.hpp"
#include "lissom/fe/element_type.hpp"
#include "lissom/fe/material.hpp"

namespace lissom {

// A spider: ties the nodes of a face to one reference node that has six degrees of freedom.
//   rigid      (RBE2): the face moves as a rigid body with the reference node, u_i = u + theta x (x_i - x)
//   averaging  (RBE3): the reference node follows the weighted mean motion of the face, which stays flexible
struct Spider {
  enum class Kind : std::uint8_t { Rigid, Averaging };
  std::string name;
  Kind kind = Kind::Rigid;
  int reference = -1;           // node index
  std::vector<int> nodes;       // node indices of the face, without the reference
  std::vector<double> weights;  // averaging only, one per node; empty means equal weights
  SourcePos defined_at;
};

// Nodes and elements are addressed by index (0-based, in file order); ids are what the user's file calls
// them.
struct Mesh {
  std::string source;  // file it came from, for messages

  Eigen::Matrix3Xd points;             // 3 by nodes
  std::vector<std::int64_t> node_ids;  // one per node, unique

  // elements: type, id, material and the nodes of element e = connectivity[offsets[e] .. offsets[e+1])
  std::vector<ElementType> types;
  std::vector<std::int64_t> element_ids;
  std::vector<int> element_material;  // index into materials; -1 when the file gives none
  std::vector<int> connectivity;      // node indices, in the order of element_type.hpp
  std::vector<std::int64_t> offsets = {0};

  std::vector<Material> materials;
  std::map<std::string, std::vector<int>> node_sets;     // ascending node indices, unique
  std::map<std::string, std::vector<int>> element_sets;  // ascending element indices, unique
  std::vector<Spider> spiders;

  int node_count() const { return static_cast<int>(points.cols()); }
  int element_count() const { return static_cast<int>(types.size()); }
  std::span<const int> element_nodes(int e) const {
    return {connectivity.data() + offsets[e], static_cast<size_t>(offsets[e + 1] - offsets[e])};
  }
};

// Collects nodes and elements in the order of a file, where an element may come before its nodes, and turns
// user ids into indices at the end. Shared by all readers, so that they report the same mistakes in the same
// words.
class MeshBuilder {
 public:
  explicit MeshBuilder(std::string source) { mesh_.source = std::move(source); }

  // Throws InputError if the id is taken, unless the node repeats the same coordinates.
  void add_node(std::int64_t id, const Eigen::Vector3d& x, const SourcePos& pos);
  bool has_node(std::int64_t id) const { return node_index_.contains(id); }

  // `nodes` are user ids in Lissom's order. Throws InputError if the element id is taken, a node occurs
  // twice, or the number of nodes is not the type's. Returns the element's index.
  int add_element(ElementType type, std::int64_t id, std::span<const std::int64_t> nodes, int material,
                  const SourcePos& pos);
  // Index of an element id, or -1.
  int element_index(std::int64_t id) const;

  // Sets by user id; ids are resolved in finish(), and unknown ones are an InputError there. Repeats are
  // fine.
  void add_to_node_set(const std::string& name, std::span<const std::int64_t> ids, const SourcePos& pos);
  void add_to_element_set(const std::string& name, std::span<const std::int64_t> ids, const SourcePos& pos);
  // Spider by user ids, resolved in finish(); an averaging spider's weights are empty or one per node.
  void add_spider(std::string name, Spider::Kind kind, std::int64_t reference,
                  std::vector<std::int64_t> nodes, std::vector<double> weights, const SourcePos& pos);

  // Everything that needs no id look-up (materials, element_material of finished elements, node coordinates
  // that a coordinate system still moves) may be edited in place.
  Mesh& mesh() { return mesh_; }
  Eigen::Vector3d& point(std::int64_t id);

  // Resolves all references. Throws InputError "file:line: element 12 refers to node 99, which is not
  // defined"; also when the mesh has no node at all. The builder is spent afterwards.
  Mesh finish();

 private:
  struct SetEntry {
    std::string name;
    std::vector<std::int64_t> ids;
    SourcePos pos;
  };
  struct SpiderEntry {
    Spider spider;
    std::int64_t reference;
    std::vector<std::int64_t> nodes;
  };
  Mesh mesh_;
  std::vector<Eigen::Vector3d> points_;
  std::unordered_map<std::int64_t, int> node_index_;
  std::unordered_map<std::int64_t, int> element_index_;
  std::vector<std::int64_t> connectivity_ids_;
  std::vector<long> element_lines_;  // line of each element
  std::vector<int> element_files_;   // index into files_
  std::vector<std::string> files_;
  std::vector<SetEntry> node_sets_, element_sets_;
  std::vector<SpiderEntry> spiders_;
};

}  // namespace lissom

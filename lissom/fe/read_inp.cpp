// From the cards of an Abaqus or CalculiX file to a mesh: places the instances of parts, looks up sets,
// surfaces, sections and couplings, and gives every node and element an id of its own.
//
// Notation: p is a placement (an instance of a part, or what stands outside of parts), and a member of a set
// is a pair of p and an id as the part counts it. The mesh's id is that id plus the placement's offset.
#include <algorithm>
#include <climits>
#include <compare>
#include <set>
#include <tuple>

#include "lissom/core/text.hpp"
#include "lissom/fe/inp_deck.hpp"
#include "lissom/fe/mesh_reader.hpp"

namespace lissom {

namespace {

using namespace inp;

constexpr int max_set_depth = 100;  // sets of sets of sets

struct Member {
  int placement = 0;
  std::int64_t id = 0;
  auto operator<=>(const Member&) const = default;
};
using Members = std::vector<Member>;

// Index of an id in a list that is mostly ascending: positions sorted by id, so that a look-up is a
// bisection.
class IdIndex {
 public:
  template <class GetId>
  void build(size_t count, GetId id_at) {
    sorted_.reserve(count);
    for (size_t i = 0; i < count; ++i) sorted_.emplace_back(id_at(i), static_cast<int>(i));
    if (!std::is_sorted(sorted_.begin(), sorted_.end())) std::sort(sorted_.begin(), sorted_.end());
  }
  // position in the list, or -1; the first one where an id repeats
  int find(std::int64_t id) const {
    const auto it = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(id, -1));
    return it != sorted_.end() && it->first == id ? it->second : -1;
  }
  bool empty() const { return sorted_.empty(); }
  std::int64_t lowest() const { return sorted_.front().first; }
  std::int64_t highest() const { return sorted_.back().first; }
  const std::vector<std::pair<std::int64_t, int>>& sorted() const { return sorted_; }

 private:
  std::vector<std::pair<std::int64_t, int>> sorted_;
};

struct Placement {
  int part = 0;
  std::string name;  // of the instance; empty for what stands outside of parts
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
  Eigen::Vector3d translation = Eigen::Vector3d::Zero();
  std::int64_t offset = 0;    // added to node and element ids
  std::vector<int> material;  // per element of the part: index into the mesh's materials, or -1
};

enum class Kind { Node, Element };

class Assembler {
 public:
  Assembler(Deck deck, const std::string& path, Diagnostics& diagnostics)
      : deck_(std::move(deck)), diagnostics_(diagnostics), builder_(path) {}

  Mesh assemble(bool skip_elements) {
    index_parts();
    place_parts();
    choose_offsets();
    builder_.mesh().materials = deck_.materials;
    assign_sections();
    deck_.left_out.check(skip_elements, deck_.files.front());
    emit_nodes_and_elements();
    emit_sets();
    emit_spiders();
    return builder_.finish();
  }

 private:
  const Part& part_of(int p) const { return deck_.parts[placements_[p].part]; }
  int root() const { return static_cast<int>(placements_.size()) - 1; }
  const IdIndex& index_of(int p, Kind kind) const {
    return (kind == Kind::Node ? node_index_ : element_index_)[placements_[p].part];
  }
  const ByName<Set>& sets_of(int p, Kind kind) const {
    return kind == Kind::Node ? part_of(p).node_sets : part_of(p).element_sets;
  }
  static const char* word(Kind kind) { return kind == Kind::Node ? "node" : "element"; }

  // --- placing

  void index_parts() {
    node_index_.resize(deck_.parts.size());
    element_index_.resize(deck_.parts.size());
    for (size_t k = 0; k < deck_.parts.size(); ++k) {
      const Part& part = deck_.parts[k];
      if (part.node_ids.size() > INT_MAX || part.elements.size() > INT_MAX)
        fail_input("{}: more than {} nodes or elements", deck_.files.front(), INT_MAX);
      node_index_[k].build(part.node_ids.size(), [&](size_t i) { return part.node_ids[i]; });
      element_index_[k].build(part.elements.size(), [&](size_t i) { return part.elements[i].id; });
      // the builder sees solids only, but a skipped element's id must not stand for a solid in a set
      const auto& sorted = element_index_[k].sorted();
      for (size_t i = 1; i < sorted.size(); ++i)
        if (sorted[i].first == sorted[i - 1].first)
          fail_input(deck_.pos(part.elements[sorted[i].second].place), "element {} is defined a second time",
                     sorted[i].first);
    }
  }

  void place_parts() {
    std::vector<bool> used(deck_.parts.size(), false);
    for (const Instance& instance : deck_.instances) {
      std::vector<std::string> known;
      int part = -1;
      for (size_t k = 1; k < deck_.parts.size(); ++k) {
        known.push_back(deck_.parts[k].name);
        if (iequals(deck_.parts[k].name, instance.part)) part = static_cast<int>(k);
      }
      if (part < 0)
        fail_input(deck_.pos(instance.place), "instance '{}' is of part '{}', which is not defined{}",
                   instance.name, instance.part, hint(instance.part, known));
      used[part] = true;
      instance_by_name_[to_upper(instance.name)] = static_cast<int>(placements_.size());
      placements_.push_back({part, instance.name, instance.rotation, instance.translation, 0, {}});
    }
    // parts that nobody placed: a file of parts alone means them all where they are
    for (size_t k = 1; k < deck_.parts.size(); ++k) {
      const Part& part = deck_.parts[k];
      if (used[k]) continue;
      if (deck_.instances.empty()) {
        diagnostics_.warn("inp.no-instance",
                          "the file has no *INSTANCE; every part is taken once, where it is",
                          deck_.pos(part.place));
        instance_by_name_[to_upper(part.name)] = static_cast<int>(placements_.size());
        placements_.push_back(
            {static_cast<int>(k), part.name, Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero(), 0, {}});
      } else {
        diagnostics_.warn("inp.part-without-instance",
                          fmt::format("part '{}' has no *INSTANCE and is skipped", part.name),
                          deck_.pos(part.place));
      }
    }
    instances_ = static_cast<int>(placements_.size());
    // what stands outside of parts comes last, so that a lone instance keeps its ids
    placements_.emplace_back();
    size_t nodes = 0, elements = 0;
    for (Placement& placement : placements_) {
      nodes += deck_.parts[placement.part].node_ids.size();
      elements += deck_.parts[placement.part].elements.size();
    }
    if (nodes > INT_MAX || elements > INT_MAX)
      fail_input("{}: the instances have {} nodes and {} elements, more than {}", deck_.files.front(), nodes,
                 elements, INT_MAX);
    for (Placement& placement : placements_)
      placement.material.assign(deck_.parts[placement.part].elements.size(), -1);
  }

  // Ids of different parts may be the same. Where their ranges overlap, the k-th placement's are raised by k
  // times a power of ten above every id, so that a reader still sees the old id in the last digits.
  void choose_offsets() {
    std::int64_t highest = 0;
    bool overlap = false;
    std::vector<int> filled;
    for (int p = 0; p <= root(); ++p)
      if (!index_of(p, Kind::Node).empty() || !index_of(p, Kind::Element).empty()) filled.push_back(p);
    for (Kind kind : {Kind::Node, Kind::Element}) {
      std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
      for (int p : filled)
        if (const IdIndex& ids = index_of(p, kind); !ids.empty()) {
          ranges.emplace_back(ids.lowest(), ids.highest());
          highest = std::max(highest, ids.highest());
        }
      std::sort(ranges.begin(), ranges.end());
      for (size_t i = 1; i < ranges.size(); ++i) overlap = overlap || ranges[i].first <= ranges[i - 1].second;
    }
    if (!overlap) return;

    std::int64_t step = 10;
    while (step <= highest) step *= 10;
    std::string list;
    for (size_t k = 0; k < filled.size(); ++k) {
      Placement& placement = placements_[filled[k]];
      placement.offset = static_cast<std::int64_t>(k) * step;
      if (k < 10)
        list += fmt::format("{}{} +{}", k ? ", " : "", placement.name.empty() ? "assembly" : placement.name,
                            placement.offset);
    }
    if (filled.size() > 10) list += ", ...";
    diagnostics_.warn(
        "inp.renumbered",
        fmt::format("ids of different instances are the same; they are raised per instance: {}", list));
  }

  // --- looking up

  static std::string hint(std::string_view name, const std::vector<std::string>& known) {
    const auto near = closest(name.substr(0, 80), known);
    return near ? fmt::format("; did you mean '{}'?", *near) : std::string();
  }
  template <class T>
  static std::string hint(std::string_view name, const ByName<T>& known) {
    std::vector<std::string> names;
    for (const auto& [key, value] : known) names.push_back(value.name);
    return hint(name, names);
  }

  // Whose name it is: "Part-1-1.Set-1" of the assembly is Set-1 of instance Part-1-1. Calls found(p, name)
  // for each reading, the plain one first, until it returns true.
  template <class Found>
  bool readings(int p, const std::string& name, Found found) const {
    if (found(p, name)) return true;
    if (p != root()) return false;
    for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
      const auto it = instance_by_name_.find(to_upper(name.substr(0, dot)));
      if (it != instance_by_name_.end() && found(it->second, name.substr(dot + 1))) return true;
    }
    return false;
  }

  // the members of a set, by its name as placement p sees it; nullptr when there is none
  const Members* find_set(Kind kind, int p, const std::string& name, int depth = 0) {
    const Members* result = nullptr;
    readings(p, name, [&](int q, const std::string& local) {
      const auto it = sets_of(q, kind).find(to_upper(local));
      if (it == sets_of(q, kind).end()) return false;
      result = &resolve(kind, q, it->first, it->second, depth);
      return true;
    });
    return result;
  }

  const Members& get_set(Kind kind, int p, const std::string& name, const Place& asked_at, int depth = 0) {
    const Members* set = find_set(kind, p, name, depth);
    if (!set)
      fail_input(deck_.pos(asked_at), "{} set '{}' is not defined{}", word(kind), name,
                 hint(name, sets_of(p, kind)));
    return *set;
  }

  // a field that is an id, "instance.id" or the name of a set
  Members get_members(Kind kind, int p, const std::string& text, const Place& asked_at, int depth = 0) {
    Members single;
    const bool is_id = readings(p, text, [&](int q, const std::string& local) {
      const auto id = parse_long(local);
      if (!id) return false;
      if (index_of(q, kind).find(*id) < 0)
        fail_input(deck_.pos(asked_at), "{} {} is not defined", word(kind), text);
      single.push_back({q, *id});
      return true;
    });
    return is_id ? single : get_set(kind, p, text, asked_at, depth);
  }

  const Members& resolve(Kind kind, int p, const std::string& key, const Set& set, int depth) {
    const auto [it, is_new] = resolved_.try_emplace(std::tuple(kind, p, key));
    if (!is_new) {
      if (it->second.open)
        fail_input(deck_.pos(set.cards.front().place), "{} set '{}' contains itself", word(kind), set.name);
      return it->second.members;
    }
    if (depth > max_set_depth)
      fail_input(deck_.pos(set.cards.front().place), "sets are nested more than {} deep", max_set_depth);
    it->second.open = true;
    Members members;
    for (const SetCard& card : set.cards) add_card(members, kind, p, set, card, depth);
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    it->second.members = std::move(members);
    it->second.open = false;
    return it->second.members;
  }

  void add_card(Members& members, Kind kind, int p, const Set& set, const SetCard& card, int depth) {
    int q = p;
    if (!card.instance.empty()) {
      const auto it = instance_by_name_.find(to_upper(card.instance));
      if (it == instance_by_name_.end())
        fail_input(deck_.pos(card.place), "set '{}' is of instance '{}', which is not defined", set.name,
                   card.instance);
      q = it->second;
    }
    const IdIndex& index = index_of(q, kind);
    for (size_t i = 0; i < card.ids.size(); ++i) {
      if (index.find(card.ids[i]) < 0)
        fail_input(place_of(card, i), "set '{}' refers to {} {}, which is not defined", set.name, word(kind),
                   card.ids[i]);
      members.push_back({q, card.ids[i]});
    }
    for (const auto& range : card.ranges) add_range(members, kind, q, range, set, card);
    for (const std::string& name : card.names) {
      // inside of an instance its own sets go before the assembly's
      const Members* own = q == p ? nullptr : find_set(kind, q, name, depth + 1);
      append(members, own ? *own : get_members(kind, p, name, card.place, depth + 1));
    }
    if (!card.nodes_of.empty()) {
      const Members* own = q == p ? nullptr : find_set(Kind::Element, q, card.nodes_of, depth + 1);
      append(members, nodes_of(own ? *own : get_set(Kind::Element, p, card.nodes_of, card.place, depth + 1)));
    }
  }

  // A range may be longer than the part: what it has of it is taken, and the holes are warned about. The work
  // is bounded by the nodes there are, not by the numbers in the file.
  void add_range(Members& members, Kind kind, int q, const std::array<std::int64_t, 3>& range, const Set& set,
                 const SetCard& card) {
    const auto [first, last, step] = range;
    const auto& sorted = index_of(q, kind).sorted();
    const size_t before = members.size();
    auto it = std::lower_bound(sorted.begin(), sorted.end(), std::pair(first, -1));
    std::int64_t previous = -1;
    for (; it != sorted.end() && it->first <= last; ++it) {
      if ((it->first - first) % step != 0 || it->first == previous) continue;
      members.push_back({q, previous = it->first});
    }
    const std::int64_t wanted = (last - first) / step + 1;
    const auto found = static_cast<std::int64_t>(members.size() - before);
    if (found < wanted)
      diagnostics_.warn("inp.generate-holes",
                        fmt::format("set '{}' generates {} {}s, of which {} are not defined and left out",
                                    set.name, wanted, word(kind), wanted - found),
                        deck_.pos(card.place));
  }

  SourcePos place_of(const SetCard& card, size_t i) const {
    Place place = card.place;
    for (const auto& [first, row] : card.rows)
      if (first <= i) place = row;
    return deck_.pos(place);
  }

  static void append(Members& to, const Members& from) { to.insert(to.end(), from.begin(), from.end()); }

  const Element& element(const Member& member) const {
    const int e = index_of(member.placement, Kind::Element).find(member.id);
    LISSOM_ASSERT(e >= 0);
    return part_of(member.placement).elements[e];
  }

  Members nodes_of(const Members& elements) const {
    Members nodes;
    for (const Member& member : elements) {
      const Element& e = element(member);
      for (int i = 0; i < e.nodes; ++i)
        add_node_of(nodes, member.placement, e.first_node + static_cast<size_t>(i));
    }
    return nodes;
  }
  // nodes of skipped elements need not exist: nobody else asks for them
  void add_node_of(Members& nodes, int p, size_t k) const {
    const std::int64_t id = part_of(p).connectivity[k];
    if (index_of(p, Kind::Node).find(id) >= 0) nodes.push_back({p, id});
  }

  // --- surfaces

  Members surface_nodes(int p, const Surface& surface) {
    Members nodes;
    for (const Surface::Row& row : surface.rows) {
      if (surface.of_nodes) {
        append(nodes, get_members(Kind::Node, p, row.target, row.place));
        continue;
      }
      for (const Member& member : get_members(Kind::Element, p, row.target, row.place))
        add_face(nodes, member, row, surface);
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  }

  void add_face(Members& nodes, const Member& member, const Surface::Row& row, const Surface& surface) {
    const Element& e = element(member);
    const SourcePos pos = deck_.pos(row.place);
    // both sides of a shell have all its nodes
    if (!e.type && (row.face == "SPOS" || row.face == "SNEG")) {
      append(nodes, nodes_of({member}));
      return;
    }
    const auto number =
        row.face.size() == 2 && row.face[0] == 'S' ? parse_long(row.face.substr(1)) : std::nullopt;
    if (!e.type || row.face.empty()) {
      diagnostics_.warn(
          "inp.surface-face",
          fmt::format("surface '{}': face '{}' of element {} is left out; expected S1, S2, ... of a solid",
                      surface.name, row.face, member.id),
          pos);
      return;
    }
    const auto faces = faces_of(*e.type);
    if (!number || *number < 1 || *number > static_cast<long>(faces.size()))
      fail_input(pos, "surface '{}': element {} ({}) has no face '{}', expected S1 to S{}", surface.name,
                 member.id, name_of(*e.type), row.face, faces.size());
    // corners, then the mid-side nodes of edges with both ends on the face
    const auto& face = faces[*number - 1];
    const auto on_face = [&](int corner) {
      return std::find(face.begin(), face.end(), corner) != face.end();
    };
    for (int corner : face)
      if (corner >= 0) add_node_of(nodes, member.placement, e.first_node + static_cast<size_t>(corner));
    size_t mid = e.first_node + static_cast<size_t>(corner_count(*e.type));
    for (const auto& [a, b] : mid_side_edges(*e.type)) {
      if (on_face(a) && on_face(b)) add_node_of(nodes, member.placement, mid);
      ++mid;
    }
  }

  // --- materials

  void assign_sections() {
    for (int p = 0; p <= root(); ++p) {
      for (const Section& section : part_of(p).sections) {
        const Members& members = get_set(Kind::Element, p, section.element_set, section.place);
        const int material = material_index(p, section);
        for (const Member& member : members) {
          if (!element(member).type)
            deck_.left_out.add(
                fmt::format("trusses or plane elements with the *SOLID SECTION of '{}'", section.element_set),
                deck_.pos(element(member).place));
          int& assigned = placements_[member.placement]
                              .material[index_of(member.placement, Kind::Element).find(member.id)];
          if (assigned >= 0 && assigned != material)
            diagnostics_.warn(
                "inp.section-twice",
                fmt::format("element {} is in a second *SOLID SECTION, of element set '{}'; the last "
                            "section counts",
                            member.id, section.element_set),
                deck_.pos(section.place));
          assigned = material;
        }
      }
    }
  }

  // The material of a section. An orthotropic one has its axes in it, turned with the instance, so each
  // orientation and each turned instance makes a material of its own; the first one keeps the name.
  int material_index(int p, const Section& section) {
    const SourcePos pos = deck_.pos(section.place);
    std::vector<std::string> known;
    int base = -1;
    for (size_t k = 0; k < deck_.materials.size(); ++k) {
      known.push_back(deck_.materials[k].name);
      if (iequals(known.back(), section.material)) base = static_cast<int>(k);
    }
    if (base < 0)
      fail_input(pos, "*SOLID SECTION has material '{}', which is not defined{}", section.material,
                 hint(section.material, known));
    const Orientation* orientation = find_orientation(p, section);
    const Material& material = deck_.materials[base];
    if (!material.orthotropic) return base;

    const bool turned = !placements_[p].rotation.isIdentity(0);
    if (orientation && !orientation->problem.empty())
      fail_input(
          pos,
          "material '{}' is orthotropic, and orientation '{}' is given by {}; expected SYSTEM=RECTANGULAR "
          "with coordinates",
          material.name, orientation->name, orientation->problem);
    if (!orientation && turned)
      diagnostics_.warn(
          "inp.no-orientation",
          fmt::format("material '{}' is orthotropic without an orientation; its axes turn with instance "
                      "'{}'",
                      material.name, placements_[p].name),
          pos);
    std::string variant = orientation ? to_upper(orientation->name) : std::string();
    const auto [it, is_new] = variants_.try_emplace(std::tuple(base, variant, turned ? p : -1), base);
    if (!is_new) return it->second;
    std::vector<Material>& materials = builder_.mesh().materials;
    if (!varied_.insert(base).second) {
      it->second = static_cast<int>(materials.size());
      materials.push_back(material);
      if (orientation) materials.back().name += "@" + orientation->name;
      if (turned) materials.back().name += "@" + placements_[p].name;
    }
    Eigen::Matrix3d axes = orientation ? orientation->axes : Eigen::Matrix3d::Identity();
    materials[it->second].orthotropic->axes = placements_[p].rotation * axes;
    return it->second;
  }

  const Orientation* find_orientation(int p, const Section& section) const {
    if (section.orientation.empty()) return nullptr;
    const std::string key = to_upper(section.orientation);
    for (const Part* part : {&part_of(p), &deck_.parts[0]})
      if (const auto it = part->orientations.find(key); it != part->orientations.end()) return &it->second;
    fail_input(deck_.pos(section.place), "*SOLID SECTION has orientation '{}', which is not defined{}",
               section.orientation, hint(section.orientation, part_of(p).orientations));
  }

  // --- handing over

  void emit_nodes_and_elements() {
    SourcePos pos;
    int file = -1;
    const auto move_to = [&](const Place& place) -> const SourcePos& {
      if (place.file != file) pos.file = deck_.files[file = place.file];
      pos.line = place.line;
      return pos;
    };
    std::vector<std::int64_t> nodes;
    for (const Placement& placement : placements_) {
      const Part& part = deck_.parts[placement.part];
      const bool moved = !placement.rotation.isIdentity(0) || !placement.translation.isZero(0);
      for (size_t i = 0; i < part.node_ids.size(); ++i) {
        const Eigen::Vector3d& x = part.points[i];
        builder_.add_node(part.node_ids[i] + placement.offset,
                          moved ? Eigen::Vector3d(placement.rotation * x + placement.translation) : x,
                          move_to(part.node_places[i]));
      }
      for (size_t e = 0; e < part.elements.size(); ++e) {
        const Element& element = part.elements[e];
        if (!element.type) continue;
        nodes.clear();
        for (int i = 0; i < element.nodes; ++i)
          nodes.push_back(part.connectivity[element.first_node + static_cast<size_t>(i)] + placement.offset);
        builder_.add_element(*element.type, element.id + placement.offset, nodes, placement.material[e],
                             move_to(element.place));
      }
    }
  }

  std::vector<std::int64_t> mesh_ids(const Members& members) const {
    std::vector<std::int64_t> ids;
    ids.reserve(members.size());
    for (const Member& member : members) ids.push_back(member.id + placements_[member.placement].offset);
    return ids;
  }

  // A part's sets carry their name alone when there is one instance, and else the instance's before it.
  std::string mesh_name(int p, const std::string& name) const {
    return p == root() || instances_ == 1 ? name : placements_[p].name + "." + name;
  }
  // The name under which a set goes into the mesh; when it is taken (case aside), with the instance's name
  // before it, or the suffix behind.
  std::string claim(std::set<std::string>& taken, int p, const std::string& name, const std::string& suffix,
                    const Place& place) {
    std::string result = mesh_name(p, name);
    if (taken.insert(to_upper(result)).second) return result;
    if (p != root()) result = placements_[p].name + "." + name;
    while (!taken.insert(to_upper(result)).second) result += suffix;
    diagnostics_.warn("inp.set-renamed",
                      fmt::format("a set named '{}' exists already; this one is called '{}'", name, result),
                      deck_.pos(place));
    return result;
  }

  void emit_sets() {
    std::set<std::string> node_names, element_names;
    // the assembly's names go first, since the parts' can be told by their instance
    std::vector<int> order = {root()};
    for (int p = 0; p < root(); ++p) order.push_back(p);
    for (int p : order)
      for (const auto& [key, set] : part_of(p).node_sets) {
        const Place& place = set.cards.front().place;
        const Members& members = resolve(Kind::Node, p, key, set, 0);
        builder_.add_to_node_set(claim(node_names, p, set.name, "_2", place), mesh_ids(members),
                                 deck_.pos(place));
      }
    for (int p : order)
      for (const auto& [key, surface] : part_of(p).surfaces)
        builder_.add_to_node_set(claim(node_names, p, surface.name, "_surface", surface.place),
                                 mesh_ids(surface_nodes(p, surface)), deck_.pos(surface.place));
    for (int p : order)
      for (const auto& [key, set] : part_of(p).element_sets)
        emit_element_set(p, set, resolve(Kind::Element, p, key, set, 0), node_names, element_names);
  }

  // Shells and the like are not in the mesh. A set of nothing else often marks a face (Gmsh writes them), so
  // its nodes are kept instead, where they have no set already.
  void emit_element_set(int p, const Set& set, const Members& members, std::set<std::string>& node_names,
                        std::set<std::string>& element_names) {
    const Place& place = set.cards.front().place;
    Members solids;
    for (const Member& member : members)
      if (element(member).type) solids.push_back(member);
    if (solids.size() < members.size()) {
      const size_t dropped = members.size() - solids.size();
      if (!solids.empty()) {
        diagnostics_.warn(
            "inp.set-without-skipped",
            fmt::format("element set '{}' loses {} elements of skipped types", set.name, dropped),
            deck_.pos(place));
      } else {
        diagnostics_.warn(
            "inp.set-of-skipped",
            fmt::format("element set '{}' has elements of skipped types only; it is taken as the node set "
                        "of that name",
                        set.name),
            deck_.pos(place));
        const std::string name = mesh_name(p, set.name);
        if (node_names.insert(to_upper(name)).second)
          builder_.add_to_node_set(name, mesh_ids(nodes_of(members)), deck_.pos(place));
        return;
      }
    }
    builder_.add_to_element_set(claim(element_names, p, set.name, "_2", place), mesh_ids(solids),
                                deck_.pos(place));
  }

  void emit_spiders() {
    for (int p = 0; p <= root(); ++p)
      for (const Coupling& coupling : part_of(p).couplings)
        if (!coupling.dropped) emit_spider(p, coupling);
  }

  void emit_spider(int p, const Coupling& coupling) {
    const SourcePos pos = deck_.pos(coupling.place);
    const Members reference = get_members(Kind::Node, p, coupling.reference, coupling.place);
    if (reference.size() != 1)
      fail_input(pos, "coupling '{}' has reference '{}' of {} nodes, expected one", coupling.name,
                 coupling.reference, reference.size());
    Members nodes;
    for (const auto& [target, name] : coupling.targets) {
      switch (target) {
        case Coupling::Target::Surface:
          append(nodes, find_surface(p, name, coupling));
          break;
        case Coupling::Target::Nodes:
          append(nodes, get_members(Kind::Node, p, name, coupling.place));
          break;
        case Coupling::Target::Elements:
          append(nodes, nodes_of(get_set(Kind::Element, p, name, coupling.place)));
          break;
      }
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    std::erase(nodes, reference.front());
    if (nodes.empty()) {
      diagnostics_.warn("inp.empty-coupling",
                        fmt::format("coupling '{}' ties no node and is skipped", coupling.name), pos);
      return;
    }
    builder_.add_spider(mesh_name(p, coupling.name), *coupling.kind, mesh_ids(reference).front(),
                        mesh_ids(nodes), {}, pos);
  }

  Members find_surface(int p, const std::string& name, const Coupling& coupling) {
    Members nodes;
    const bool found = readings(p, name, [&](int q, const std::string& local) {
      const auto it = part_of(q).surfaces.find(to_upper(local));
      if (it == part_of(q).surfaces.end()) return false;
      nodes = surface_nodes(q, it->second);
      return true;
    });
    if (!found)
      fail_input(deck_.pos(coupling.place), "coupling '{}' has surface '{}', which is not defined{}",
                 coupling.name, name, hint(name, part_of(p).surfaces));
    return nodes;
  }

  struct Resolved {
    Members members;
    bool open = false;  // being resolved: to be asked for now means that a set contains itself
  };

  Deck deck_;
  Diagnostics& diagnostics_;
  MeshBuilder builder_;
  std::vector<IdIndex> node_index_, element_index_;  // by part
  std::vector<Placement> placements_;
  std::map<std::string, int> instance_by_name_;
  int instances_ = 0;
  std::map<std::tuple<Kind, int, std::string>, Resolved> resolved_;
  std::map<std::tuple<int, std::string, int>, int> variants_;  // of orthotropic materials
  std::set<int> varied_;
};

}  // namespace

Mesh read_inp(std::string_view bytes, const std::string& path, const FileLoader& load,
              Diagnostics& diagnostics, bool skip_elements) {
  return Assembler(read_deck(bytes, path, load, diagnostics), path, diagnostics).assemble(skip_elements);
}

}  // namespace lissom

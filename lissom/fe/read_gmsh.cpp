// Gmsh's mesh files, versions 2.2 and 4.1, ASCII and binary.
//
// A file is a sequence of sections "$Name ... $EndName". 2.2 lists every element with its physical group, and
// lists it again for each further group; 4.1 puts nodes and elements in blocks on geometrical entities
// (dimension, tag), and $Entities tells which entity belongs to which physical groups. Both are read into the
// same tables (groups_) by one class; GmshInput hides whether a number is written in digits or in bytes.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "lissom/core/text.hpp"
#include "lissom/fe/mesh_reader.hpp"

namespace lissom {

namespace {

static_assert(std::endian::native == std::endian::little || std::endian::native == std::endian::big);

// ---- Gmsh's element types ----

// One of Gmsh's element types. `ours` is empty for those that only make up sets (points, curves, surfaces)
// and for volumes that Lissom does not compute with.
struct GmshType {
  int dimension;
  int nodes;  // 0: not a type that is read at all
  std::optional<ElementType> ours;
};

constexpr int max_nodes = 27;

// By Gmsh's number; orders one and two.
constexpr std::array<GmshType, 20> gmsh_types = {{
    {0, 0, {}},                     // (there is no type 0)
    {1, 2, {}},                     //  1 line
    {2, 3, {}},                     //  2 triangle
    {2, 4, {}},                     //  3 quadrangle
    {3, 4, ElementType::Tet4},      //  4
    {3, 8, ElementType::Hex8},      //  5
    {3, 6, ElementType::Wedge6},    //  6
    {3, 5, {}},                     //  7 pyramid
    {1, 3, {}},                     //  8 line, second order
    {2, 6, {}},                     //  9 triangle, second order
    {2, 9, {}},                     // 10 quadrangle with centre node
    {3, 10, ElementType::Tet10},    // 11
    {3, 27, {}},                    // 12 hexahedron with face and centre nodes
    {3, 18, {}},                    // 13 prism with face nodes
    {3, 14, {}},                    // 14 pyramid with face node
    {0, 1, {}},                     // 15 point
    {2, 8, {}},                     // 16 quadrangle, mid-side nodes only
    {3, 20, ElementType::Hex20},    // 17
    {3, 15, ElementType::Wedge15},  // 18
    {3, 13, {}},                    // 19 pyramid, mid-side nodes only
}};

// Where Gmsh keeps the node that is the i-th in Lissom's order. Gmsh's edges are
//   tet10    01 12 20 03 23 13
//   hex20    01 03 04 12 15 23 26 37 45 47 56 67
//   prism15  01 02 03 12 14 25 34 35 45
// Linear elements have the same order in both.
constexpr std::array<int, 10> tet10_order = {0, 1, 2, 3, 4, 5, 6, 7, 9, 8};
constexpr std::array<int, 20> hex20_order = {0,  1, 2,  3,  4,  5,  6,  7,  8,  11,
                                             13, 9, 16, 18, 19, 17, 10, 12, 14, 15};
constexpr std::array<int, 15> wedge15_order = {0, 1, 2, 3, 4, 5, 6, 9, 7, 12, 14, 13, 8, 10, 11};

std::span<const int> gmsh_order(ElementType type) {
  switch (type) {
    case ElementType::Tet10:
      return tet10_order;
    case ElementType::Hex20:
      return hex20_order;
    case ElementType::Wedge15:
      return wedge15_order;
    default:
      return {};
  }
}

constexpr const char* how_to_convert =
    "convert it with `gmsh old.msh -save -format msh41 -o new.msh` or save it again as version 4.1";

// ---- the bytes ----

// Hands out the numbers of a file. ASCII numbers come in records, one per line, so that a number too few or
// too many is reported where it happens; binary ones follow each other without any mark.
class GmshInput {
 public:
  GmshInput(std::string_view bytes, const std::string& path) : lines_(bytes, path), pos_{path, 0} {}

  const SourcePos& pos() const { return pos_; }
  bool binary() const { return binary_; }

  // From here on sections hold binary numbers, whose byte order may be the other machine's.
  void set_binary(bool swapped) {
    binary_ = true;
    swapped_ = swapped;
    pos_.line = 0;  // lines mean nothing in a binary file; messages give the byte instead
  }

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    const std::string message = fmt::format(format, std::forward<Args>(args)...);
    if (binary_) fail_input(pos_, "at byte {}: {}", lines_.offset(), message);
    fail_input(pos_, "{}", message);
  }

  // The next line that is not blank, trimmed; false at the end of the file.
  bool next_line(std::string_view& line) {
    while (lines_.next(line)) {
      line = trim(line);
      if (!binary_) pos_.line = lines_.line();
      if (!line.empty()) return true;
    }
    return false;
  }
  // The same, where the file must not end yet.
  std::string_view need_line(std::string_view what) {
    std::string_view line;
    if (!next_line(line)) fail("the file ends where {} is expected; is it cut off?", what);
    return line;
  }

  // Brackets the numbers that stand on one line of an ASCII file.
  void begin_record(std::string_view what) {
    if (!binary_) rest_ = need_line(what);
  }
  void end_record() {
    if (!binary_ && !trim(rest_).empty())
      fail("expected the end of the line, found '{}'", trim(rest_).substr(0, 40));
  }
  // A record of ASCII numbers also in binary files (the counts of version 2.2).
  std::int64_t text_count(std::string_view what) {
    const std::string_view line = need_line(what);
    const auto count = parse_long(line);
    if (!count) fail("expected {}, found '{}'", what, line.substr(0, 40));
    check_count(*count, what);
    return *count;
  }

  // Gmsh's "int", "size_t" and "double".
  int read_int(std::string_view what) {
    if (binary_) return read_bytes<std::int32_t>(what);
    const std::int64_t value = read_long(what);
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
      fail("expected {}, found {}, which is too large", what, value);
    return static_cast<int>(value);
  }
  std::int64_t read_size(std::string_view what) {
    return binary_ ? read_bytes<std::int64_t>(what) : read_long(what);
  }
  double read_double(std::string_view what) {
    if (!binary_) return to_double(token(what), pos_, what);
    const double value = read_bytes<double>(what);
    if (!std::isfinite(value)) fail("expected {}, found a value that is not finite", what);
    return value;
  }

  // A number of things that still have to come. Each takes a byte at least, so that a corrupt count is
  // noticed before memory is asked for.
  std::int64_t read_count(std::string_view what) {
    const std::int64_t count = read_size(what);
    check_count(count, what);
    return count;
  }
  void check_count(std::int64_t count, std::string_view what) const {
    if (count < 0) fail("expected {}, found {}", what, count);
    const auto left = static_cast<std::int64_t>(lines_.text().size() - lines_.offset() + rest_.size());
    if (count > left)
      fail("expected {}, found {}, but the file has only {} bytes left; it is cut off or corrupt", what,
           count, left);
  }

  // Node and element numbers: whole and positive.
  std::int64_t read_id(std::string_view what, bool is_int = false) {
    const std::int64_t id = is_int ? read_int(what) : read_size(what);
    if (id < 1) fail("expected {} (1 or more), found {}", what, id);
    return id;
  }

  // Continues after the next "$End<name>".
  void skip_section(std::string_view name) {
    const std::string end = fmt::format("$End{}", name);
    if (!binary_) {
      while (need_line(end) != end) {
      }
      return;
    }
    const size_t at = lines_.text().find(end, lines_.offset());
    if (at == std::string_view::npos) fail("the file ends where {} is expected; is it cut off?", end);
    lines_.seek(at + end.size());
  }

  // The integer 1 that tells a binary file's byte order; returns true when it is the other machine's.
  bool read_byte_order() {
    binary_ = true;
    const auto one = read_bytes<std::int32_t>("the number 1 that tells the byte order");
    if (one == 1) return false;
    if (one == 1 << 24) return true;
    fail("expected the number 1 that tells the byte order of a binary file, found {}", one);
  }

 private:
  std::string_view token(std::string_view what) {
    rest_ = trim(rest_);
    if (rest_.empty()) fail("the line ends where {} is expected", what);
    const std::string_view found = rest_.substr(0, rest_.find_first_of(" \t"));
    rest_.remove_prefix(found.size());
    return found;
  }
  std::int64_t read_long(std::string_view what) { return to_long(token(what), pos_, what); }

  template <class T>
  T read_bytes(std::string_view what) {
    const std::string_view text = lines_.text();
    const size_t at = lines_.offset();
    if (text.size() - at < sizeof(T)) fail("the file ends where {} is expected; is it cut off?", what);
    std::array<char, sizeof(T)> bytes;
    std::memcpy(bytes.data(), text.data() + at, sizeof(T));
    if (swapped_) std::reverse(bytes.begin(), bytes.end());
    lines_.seek(at + sizeof(T));
    return std::bit_cast<T>(bytes);
  }

  LineReader lines_;
  SourcePos pos_;          // of the line read last; line 0 in binary files
  std::string_view rest_;  // what is left of an ASCII record
  bool binary_ = false, swapped_ = false;
};

// What tells a volume element of a 2.2 file from all others: its entity and its corners, ascending. Gmsh
// lists an element once for each of its groups, with a new number each time and turned round in groups that
// are entered with a minus, so that neither number nor order can be relied on.
using Signature = std::array<std::int64_t, 9>;

Signature signature_of(std::span<const std::int64_t> corners, int entity) {
  Signature signature = {};
  std::copy(corners.begin(), corners.end(), signature.begin());
  std::sort(signature.begin(), signature.begin() + static_cast<std::ptrdiff_t>(corners.size()));
  signature.back() = entity;
  return signature;
}

struct SignatureHash {
  size_t operator()(const Signature& signature) const {
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(signature.data()), sizeof(Signature)});
  }
};

// ---- the sections ----

class GmshReader {
 public:
  GmshReader(std::string_view bytes, const std::string& path, Diagnostics& diagnostics)
      : in_(bytes, path), builder_(path), diagnostics_(diagnostics) {}

  Mesh read();

 private:
  // A physical group: dimension and tag.
  using Key = std::pair<int, int>;
  struct Group {
    std::vector<std::int64_t> nodes;     // of its points, curves or surfaces (volumes get theirs at the end)
    std::vector<std::int64_t> elements;  // of its volumes
    SourcePos pos;                       // of its first element
  };

  void read_format();
  void read_section(std::string_view name);
  void read_physical_names();
  void read_entities(bool partitioned);
  void read_nodes_22();
  void read_nodes_41();
  void read_elements_22();
  void read_elements_41();
  void end_section(std::string_view name);

  const GmshType& type_of(int number) const;
  void add_to_group(Key key, const GmshType& type, std::int64_t id, std::span<const std::int64_t> nodes);
  void add_element(const GmshType& type, std::int64_t id, std::span<const std::int64_t> nodes);
  void check_nodes(std::int64_t id, std::span<const std::int64_t> nodes) const;
  std::map<Key, std::string> name_groups();

  GmshInput in_;
  MeshBuilder builder_;
  Diagnostics& diagnostics_;
  bool version_4_ = false;
  bool has_entities_ = false;
  std::int64_t surface_elements_ = 0;  // and lines and points, for the message when volumes are missing
  std::map<Key, std::string> names_;   // from $PhysicalNames
  std::map<Key, std::vector<int>> entity_groups_;  // physical tags of entity (dimension, tag); 4.1
  std::map<Key, Group> groups_;
};

Mesh GmshReader::read() {
  read_format();
  std::string_view line;
  while (in_.next_line(line)) {
    if (line.size() < 2 || line.front() != '$' || line.starts_with("$End"))
      in_.fail("expected a section such as $Nodes, found '{}'", line.substr(0, 40));
    read_section(line.substr(1));
  }

  // without volumes there is no body; mostly this is how Gmsh saves, and the user can help
  if (builder_.mesh().element_count() == 0)
    fail_input(SourcePos{in_.pos().file, 0},
               "the file has no volume elements (but {} point, line and surface elements); "
               "mesh with `gmsh -3`, and where the geometry has physical groups add a Physical Volume (Gmsh "
               "saves only what is in a group) or set Mesh.SaveAll = 1",
               surface_elements_);

  // groups become sets; the nodes of a volume group are those of its elements
  const std::map<Key, std::string> set_names = name_groups();
  for (const auto& [key, group] : groups_) {
    const std::string& name = set_names.at(key);
    if (key.first == 3)
      builder_.add_to_element_set(name, group.elements, group.pos);
    else
      builder_.add_to_node_set(name, group.nodes, group.pos);
  }
  Mesh mesh = builder_.finish();
  std::vector<bool> is_in(mesh.node_count());
  for (const auto& [key, group] : groups_) {
    if (key.first != 3) continue;
    const std::string& name = set_names.at(key);
    std::fill(is_in.begin(), is_in.end(), false);
    for (int e : mesh.element_sets.at(name))
      for (int node : mesh.element_nodes(e)) is_in[node] = true;
    std::vector<int>& set = mesh.node_sets[name];
    for (int node = 0; node < mesh.node_count(); ++node)
      if (is_in[node]) set.push_back(node);
  }
  return mesh;
}

// "4.1 1 8": version, 0 ASCII or 1 binary, bytes of a size_t (4.1) or double (2.2).
void GmshReader::read_format() {
  std::string_view line;
  while (true) {
    if (!in_.next_line(line))
      in_.fail("expected a Gmsh mesh that begins with $MeshFormat, found no such line");
    if (line == "$MeshFormat") break;
    if (line == "$NOD") in_.fail("Gmsh's mesh format 1 is not read; {}", how_to_convert);
    if (line != "$Comments")
      in_.fail("expected a Gmsh mesh that begins with $MeshFormat, found '{}'", line.substr(0, 40));
    in_.skip_section("Comments");
  }
  in_.begin_record("the version of the format");
  const double version = in_.read_double("the version of the format");
  const int file_type = in_.read_int("0 (ASCII) or 1 (binary)");
  const int data_size = in_.read_int("the size of a number in bytes");
  in_.end_record();
  if (version != 2.2 && version != 4.1)
    in_.fail("Gmsh's mesh format {} is not read, only 2.2 and 4.1 are; {}", version, how_to_convert);
  version_4_ = version == 4.1;
  if (file_type != 0 && file_type != 1) in_.fail("expected 0 (ASCII) or 1 (binary), found {}", file_type);
  if (data_size != 8) in_.fail("expected numbers of 8 bytes, found {}; {}", data_size, how_to_convert);
  if (file_type == 1) in_.set_binary(in_.read_byte_order());
  end_section("MeshFormat");
}

void GmshReader::read_section(std::string_view name) {
  // sections that say nothing about a body
  static constexpr std::string_view ignored[] = {"Comments",         "Periodic",        "NodeData",
                                                 "ElementData",      "ElementNodeData", "InterpolationScheme",
                                                 "Parametrizations", "GhostElements"};
  if (name == "PhysicalNames") {
    read_physical_names();
  } else if (version_4_ && (name == "Entities" || name == "PartitionedEntities")) {
    read_entities(name == "PartitionedEntities");
  } else if (name == "Nodes") {
    version_4_ ? read_nodes_41() : read_nodes_22();
  } else if (name == "Elements") {
    version_4_ ? read_elements_41() : read_elements_22();
  } else if (name == "ParametricNodes") {
    in_.fail("$ParametricNodes is not read; save the mesh with Mesh.SaveParametric = 0");
  } else {
    if (std::find(std::begin(ignored), std::end(ignored), name) == std::end(ignored))
      diagnostics_.warn(fmt::format("gmsh.unknown-section.{}", name.substr(0, 40)),
                        fmt::format("section ${} is not known and was skipped", name.substr(0, 40)),
                        in_.pos());
    in_.skip_section(name);
    return;
  }
  end_section(name);
}

void GmshReader::end_section(std::string_view name) {
  const std::string end = fmt::format("$End{}", name);
  const std::string_view line = in_.need_line(end);
  if (line != end) in_.fail("expected {}, found '{}'", end, line.substr(0, 40));
}

// Always text: a count, then lines of dimension, tag and "name".
void GmshReader::read_physical_names() {
  const std::int64_t count = in_.text_count("the number of physical names");
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string_view line = in_.need_line("a physical name");
    const size_t open = line.find('"'), close = line.rfind('"');
    if (open == close || close + 1 != line.size())
      in_.fail("expected dimension, tag and \"name\" of a physical group, found '{}'", line.substr(0, 40));
    const auto numbers = split_blanks(line.substr(0, open));
    const auto dimension = numbers.size() == 2 ? parse_long(numbers[0]) : std::nullopt;
    const auto tag = numbers.size() == 2 ? parse_long(numbers[1]) : std::nullopt;
    if (!dimension || !tag || *dimension < 0 || *dimension > 3 || *tag < 1 ||
        *tag > std::numeric_limits<int>::max())
      in_.fail("expected dimension (0 to 3), tag (1 or more) and \"name\" of a physical group, found '{}'",
               line.substr(0, 40));
    names_[{int(*dimension), int(*tag)}] = line.substr(open + 1, close - open - 1);
  }
}

// The physical tags of every point, curve, surface and volume. Partitioned meshes have entities of their own,
// one for each part, which repeat the tags of their parents.
void GmshReader::read_entities(bool partitioned) {
  has_entities_ = true;
  if (partitioned) {
    in_.begin_record("the number of partitions");
    in_.read_size("the number of partitions");
    in_.end_record();
    in_.begin_record("the number of ghost entities");
    const std::int64_t ghosts = in_.read_count("the number of ghost entities");
    in_.end_record();
    for (std::int64_t i = 0; i < ghosts; ++i) {
      in_.begin_record("a ghost entity");
      in_.read_int("the tag of a ghost entity");
      in_.read_int("the partition of a ghost entity");
      in_.end_record();
    }
  }
  in_.begin_record("the numbers of points, curves, surfaces and volumes");
  std::array<std::int64_t, 4> counts;
  for (std::int64_t& count : counts) count = in_.read_count("a number of entities");
  in_.end_record();

  for (int dimension = 0; dimension < 4; ++dimension) {
    for (std::int64_t i = 0; i < counts[dimension]; ++i) {
      in_.begin_record("a geometrical entity");
      const int tag = in_.read_int("the tag of an entity");
      if (partitioned) {
        in_.read_int("the parent's dimension");
        in_.read_int("the parent's tag");
        const std::int64_t parts = in_.read_count("the number of partitions of an entity");
        for (std::int64_t k = 0; k < parts; ++k) in_.read_int("a partition");
      }
      // a point's coordinates, or the box around anything else
      for (int k = 0; k < (dimension == 0 ? 3 : 6); ++k) in_.read_double("a coordinate of an entity");
      std::vector<int>& tags = entity_groups_[{dimension, tag}];
      const std::int64_t tag_count = in_.read_count("the number of physical tags");
      for (std::int64_t k = 0; k < tag_count; ++k) tags.push_back(in_.read_int("a physical tag"));
      if (dimension > 0) {
        const std::int64_t bounds = in_.read_count("the number of bounding entities");
        for (std::int64_t k = 0; k < bounds; ++k) in_.read_int("a bounding entity");
      }
      in_.end_record();
    }
  }
}

void GmshReader::read_nodes_22() {
  const std::int64_t count = in_.text_count("the number of nodes");
  for (std::int64_t i = 0; i < count; ++i) {
    in_.begin_record("a node");
    const std::int64_t id = in_.read_id("a node number", true);
    Eigen::Vector3d x;
    for (double& coordinate : x) coordinate = in_.read_double("a coordinate");
    in_.end_record();
    builder_.add_node(id, x, in_.pos());
  }
}

// Blocks of nodes on entities: first all tags, then all coordinates.
void GmshReader::read_nodes_41() {
  in_.begin_record("the numbers of node blocks and nodes");
  const std::int64_t blocks = in_.read_count("the number of node blocks");
  const std::int64_t total = in_.read_count("the number of nodes");
  in_.read_size("the smallest node tag");
  in_.read_size("the largest node tag");
  in_.end_record();

  std::int64_t seen = 0;
  std::vector<std::int64_t> ids;
  for (std::int64_t block = 0; block < blocks; ++block) {
    in_.begin_record("a block of nodes");
    const int dimension = in_.read_int("the dimension of an entity");
    in_.read_int("the tag of an entity");
    const int parametric = in_.read_int("0 or 1 (parametric coordinates)");
    const std::int64_t count = in_.read_count("the number of nodes in the block");
    in_.end_record();
    if (dimension < 0 || dimension > 3) in_.fail("expected a dimension from 0 to 3, found {}", dimension);
    if (parametric != 0 && parametric != 1)
      in_.fail("expected 0 or 1 (parametric coordinates), found {}", parametric);

    ids.clear();
    for (std::int64_t i = 0; i < count; ++i) {
      in_.begin_record("a node tag");
      ids.push_back(in_.read_id("a node tag"));
      in_.end_record();
    }
    for (std::int64_t id : ids) {
      in_.begin_record("the coordinates of a node");
      Eigen::Vector3d x;
      for (double& coordinate : x) coordinate = in_.read_double("a coordinate");
      // where on its curve or surface the node lies
      for (int k = 0; k < parametric * dimension; ++k) in_.read_double("a parametric coordinate");
      in_.end_record();
      builder_.add_node(id, x, in_.pos());
    }
    seen += count;
  }
  if (seen != total) in_.fail("$Nodes announces {} nodes, but its blocks hold {}", total, seen);
}

// Each element once for every physical group that it is in.
void GmshReader::read_elements_22() {
  const std::int64_t count = in_.text_count("the number of elements");
  struct Listed {
    std::int64_t id;
    int physical;  // the group that it was listed for last
  };
  std::unordered_map<Signature, Listed, SignatureHash> known;
  std::array<std::int64_t, max_nodes> nodes;

  // binary files have a header (type, number of elements, number of tags) for each run of elements
  int number = 0, tag_count = 0;
  std::int64_t left_in_run = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t id = 0;
    if (in_.binary()) {
      if (left_in_run == 0) {
        number = in_.read_int("an element type");
        left_in_run = in_.read_int("the number of elements that follow");
        tag_count = in_.read_int("the number of tags");
        if (left_in_run < 1 || left_in_run > count - i)
          in_.fail("expected 1 to {} elements to follow, found {}", count - i, left_in_run);
      }
      --left_in_run;
      id = in_.read_id("an element number", true);
    } else {
      in_.begin_record("an element");
      id = in_.read_id("an element number", true);
      number = in_.read_int("an element type");
      tag_count = in_.read_int("the number of tags");
    }
    in_.check_count(tag_count, "the number of tags");

    // the first two tags are the physical group (0: none) and the entity; partitions may follow
    int physical = 0, entity = 0;
    for (int k = 0; k < tag_count; ++k) {
      const int tag = in_.read_int("a tag");
      if (k == 0) physical = tag;
      if (k == 1) entity = tag;
    }
    const GmshType& type = type_of(number);
    for (int k = 0; k < type.nodes; ++k) nodes[k] = in_.read_id("a node number", true);
    in_.end_record();
    const std::span<const std::int64_t> element_nodes(nodes.data(), type.nodes);
    check_nodes(id, element_nodes);

    // volumes: a repeat only adds a group
    if (type.dimension == 3) {
      LISSOM_ASSERT(type.ours.has_value());
      const auto corners = element_nodes.first(corner_count(*type.ours));
      const auto [found, is_new] = known.try_emplace(signature_of(corners, entity), Listed{id, physical});
      Listed& listed = found->second;
      if (is_new)
        add_element(type, id, element_nodes);
      else if (listed.physical == physical)
        diagnostics_.warn("gmsh.repeated-element",
                          fmt::format("element {} has the nodes of element {} and is in the same physical "
                                      "group; it was taken once",
                                      id, listed.id),
                          in_.pos());
      listed.physical = physical;
      id = listed.id;
    } else {
      ++surface_elements_;
    }
    if (physical != 0) add_to_group({type.dimension, physical}, type, id, element_nodes);
  }
}

// Blocks of elements of one type on one entity.
void GmshReader::read_elements_41() {
  in_.begin_record("the numbers of element blocks and elements");
  const std::int64_t blocks = in_.read_count("the number of element blocks");
  const std::int64_t total = in_.read_count("the number of elements");
  in_.read_size("the smallest element tag");
  in_.read_size("the largest element tag");
  in_.end_record();

  std::int64_t seen = 0;
  std::array<std::int64_t, max_nodes> nodes;
  for (std::int64_t block = 0; block < blocks; ++block) {
    in_.begin_record("a block of elements");
    const int dimension = in_.read_int("the dimension of an entity");
    const int entity = in_.read_int("the tag of an entity");
    const int number = in_.read_int("an element type");
    const std::int64_t count = in_.read_count("the number of elements in the block");
    in_.end_record();
    const GmshType& type = type_of(number);
    if (type.dimension != dimension)
      in_.fail("elements of type {} have dimension {}, but their entity has {}", number, type.dimension,
               dimension);

    // which groups the block is in; a file without $Entities has none
    std::span<const int> groups;
    if (const auto found = entity_groups_.find({dimension, entity}); found != entity_groups_.end())
      groups = found->second;
    else if (has_entities_)
      diagnostics_.warn(
          "gmsh.unknown-entity",
          fmt::format("entity {} of dimension {} has elements but is not in $Entities; they are "
                      "in no physical group",
                      entity, dimension),
          in_.pos());

    const std::span<const std::int64_t> element_nodes(nodes.data(), type.nodes);
    for (std::int64_t i = 0; i < count; ++i) {
      in_.begin_record("an element");
      const std::int64_t id = in_.read_id("an element tag");
      for (int k = 0; k < type.nodes; ++k) nodes[k] = in_.read_id("a node tag");
      in_.end_record();
      check_nodes(id, element_nodes);
      if (type.dimension == 3)
        add_element(type, id, element_nodes);
      else
        ++surface_elements_;
      for (int group : groups) add_to_group({dimension, group}, type, id, element_nodes);
    }
    seen += count;
  }
  if (seen != total) in_.fail("$Elements announces {} elements, but its blocks hold {}", total, seen);
}

// ---- elements and groups ----

// Throws for what cannot be used: left out, such an element would leave a hole in the body.
const GmshType& GmshReader::type_of(int number) const {
  switch (number) {
    case 7:
    case 14:
    case 19:
      in_.fail(
          "element type {} is a pyramid, which Lissom does not have; mesh with tetrahedra only (no "
          "Recombine), or with hexahedra and prisms only",
          number);
    case 12:
    case 13:
      in_.fail(
          "element type {} ({}) has nodes on its faces, which Lissom's elements do not have; set "
          "Mesh.SecondOrderIncomplete = 1 to get {}",
          number, number == 12 ? "27-node hexahedron" : "18-node prism", number == 12 ? "hex20" : "wedge15");
    default:
      break;
  }
  if (number < 1 || number >= static_cast<int>(gmsh_types.size()))
    in_.fail(
        "element type {} is not read; expected tetrahedra, hexahedra or prisms (types 4, 5, 6, 11, 17, 18) "
        "and their surfaces; for elements of third and higher order set Mesh.ElementOrder = 2",
        number);
  return gmsh_types[number];
}

void GmshReader::check_nodes(std::int64_t id, std::span<const std::int64_t> nodes) const {
  for (std::int64_t node : nodes)
    if (!builder_.has_node(node)) in_.fail("element {} refers to node {}, which is not defined", id, node);
}

void GmshReader::add_element(const GmshType& type, std::int64_t id, std::span<const std::int64_t> nodes) {
  LISSOM_ASSERT(type.ours.has_value());
  const std::span<const int> order = gmsh_order(*type.ours);
  std::array<std::int64_t, max_nodes> ours;
  for (size_t i = 0; i < nodes.size(); ++i) ours[i] = nodes[order.empty() ? i : order[i]];
  builder_.add_element(*type.ours, id, {ours.data(), nodes.size()}, -1, in_.pos());
}

// A negative tag means that the group uses the entity turned round, which makes no difference here.
void GmshReader::add_to_group(Key key, const GmshType& type, std::int64_t id,
                              std::span<const std::int64_t> nodes) {
  if (key.second == 0 || key.second == std::numeric_limits<int>::min())
    in_.fail("expected a physical tag, found {}", key.second);
  key.second = std::abs(key.second);
  const auto [it, is_new] = groups_.try_emplace(key);
  Group& group = it->second;
  if (is_new) group.pos = in_.pos();
  if (type.dimension == 3)
    group.elements.push_back(id);
  else
    group.nodes.insert(group.nodes.end(), nodes.begin(), nodes.end());
}

// What the sets are called. Gmsh lets groups of different dimension share a name; as sets they must not be
// mixed, so that the later one goes by its tag.
std::map<GmshReader::Key, std::string> GmshReader::name_groups() {
  std::map<Key, std::string> set_names;
  std::set<std::string> taken;
  for (const auto& [key, group] : groups_) {
    const std::string by_tag = fmt::format("physical {} {}", key.first, key.second);
    const auto given = names_.find(key);
    std::string name = given == names_.end() || given->second.empty() ? by_tag : given->second;
    if (taken.contains(name)) {
      diagnostics_.warn(
          "gmsh.shared-name",
          fmt::format("two physical groups are called '{}'; the sets of the one with dimension {} "
                      "and tag {} are called '{}'",
                      name, key.first, key.second, by_tag),
          group.pos);
      name = by_tag;
      while (taken.contains(name)) name += "'";  // somebody called another group just so
    }
    taken.insert(name);
    set_names[key] = name;
  }
  for (const auto& [key, name] : names_)
    if (!groups_.contains(key))
      diagnostics_.warn(fmt::format("gmsh.empty-group.{} {}", key.first, key.second),
                        fmt::format("physical group '{}' (dimension {}, tag {}) has no elements in the file; "
                                    "there is no set for it",
                                    name, key.first, key.second),
                        {in_.pos().file, 0});
  return set_names;
}

}  // namespace

Mesh read_gmsh(std::string_view bytes, const std::string& path, Diagnostics& diagnostics) {
  return GmshReader(bytes, path, diagnostics).read();
}

}  // namespace lissom

#include "lissom/io/exodus.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "lissom/core/error.hpp"
#include "lissom/core/own_file.hpp"
#include "lissom/core/parallel.hpp"

namespace lissom {

namespace {

using Eigen::Index;

// ------------------------------------------------------------------------------------------------- NetCDF
// Numbers are big-endian, names and data are filled up to four bytes.

std::uint32_t big(std::uint32_t x) {
  return std::endian::native == std::endian::little ? __builtin_bswap32(x) : x;
}
std::uint64_t big(std::uint64_t x) {
  return std::endian::native == std::endian::little ? __builtin_bswap64(x) : x;
}

void put(std::string& out, std::int32_t value) {
  const std::uint32_t bits = big(std::bit_cast<std::uint32_t>(value));
  out.append(reinterpret_cast<const char*>(&bits), sizeof bits);
}
void put(std::string& out, double value) {
  const std::uint64_t bits = big(std::bit_cast<std::uint64_t>(value));
  out.append(reinterpret_cast<const char*>(&bits), sizeof bits);
}
void put(std::string& out, float value) {
  put(out, std::bit_cast<std::int32_t>(value));
}
void put_offset(std::string& out, std::uint64_t value) {
  const std::uint64_t bits = big(value);
  out.append(reinterpret_cast<const char*>(&bits), sizeof bits);
}
void fill(std::string& out) {
  out.append((4 - out.size() % 4) % 4, '\0');
}
void put_name(std::string& out, std::string_view name) {
  put(out, static_cast<std::int32_t>(name.size()));
  out.append(name);
  fill(out);
}

enum class Type : std::int32_t { Char = 2, Int = 4, Float = 5, Double = 6 };
constexpr std::int32_t dimension_list = 10, variable_list = 11, attribute_list = 12;

// The header and everything that does not change with time.
class Netcdf {
 public:
  // A length; 0 is that of the records.
  void dimension(const std::string& name, Index length) {
    if (length > std::numeric_limits<std::int32_t>::max())
      fail("{} is {}, more than an Exodus file of 32-bit numbers can have", name, length);
    put_name(dimensions_, name);
    put(dimensions_, static_cast<std::int32_t>(length));
    names_.push_back(name);
  }
  void attribute(const std::string& name, std::int32_t value) {
    attributes_ += number(name, Type::Int, value);
    ++attribute_count_;
  }
  void attribute(const std::string& name, float value) {
    attributes_ += number(name, Type::Float, value);
    ++attribute_count_;
  }
  void attribute(const std::string& name, const std::string& value) {
    attributes_ += text(name, value);
    ++attribute_count_;
  }
  struct Text {
    std::string name, value;
  };
  // `data` in the file's form.
  void variable(const std::string& name, Type type, const std::vector<std::string>& dimensions,
                std::string data, const std::vector<Text>& attributes = {}) {
    fill(data);
    fixed_.push_back(describe(name, type, dimensions, data.size(), attributes));
    data_.push_back(std::move(data));
  }
  // One value in every record; record variables follow each other in the order of these calls.
  void record_variable(const std::string& name, Type type, const std::vector<std::string>& dimensions,
                       std::uint64_t bytes) {
    records_.push_back(describe(name, type, dimensions, bytes, {}));
    record_bytes_.push_back(bytes);
  }

  // Header and data; records begin at the end.
  std::string bytes() const {
    std::string head("CDF\2", 4);
    put(head, std::int32_t{0});  // number of records
    put(head, dimension_list);
    put(head, static_cast<std::int32_t>(names_.size()));
    head += dimensions_;
    put(head, attribute_list);
    put(head, attribute_count_);
    head += attributes_;
    put(head, variable_list);
    put(head, static_cast<std::int32_t>(fixed_.size() + records_.size()));
    std::uint64_t at = head.size();
    for (const std::string& v : fixed_) at += v.size() + sizeof at;
    for (const std::string& v : records_) at += v.size() + sizeof at;
    for (size_t i = 0; i < fixed_.size(); ++i) {
      head += fixed_[i];
      put_offset(head, at);
      at += data_[i].size();
    }
    for (size_t i = 0; i < records_.size(); ++i) {
      head += records_[i];
      put_offset(head, at);
      at += record_bytes_[i];
    }
    for (const std::string& data : data_) head += data;
    return head;
  }

 private:
  template <class T>
  static std::string number(const std::string& name, Type type, T value) {
    std::string out;
    put_name(out, name);
    put(out, static_cast<std::int32_t>(type));
    put(out, std::int32_t{1});
    put(out, value);
    return out;
  }
  static std::string text(const std::string& name, const std::string& value) {
    std::string out;
    put_name(out, name);
    put(out, static_cast<std::int32_t>(Type::Char));
    put_name(out, value);
    return out;
  }
  // All but where it begins.
  std::string describe(const std::string& name, Type type, const std::vector<std::string>& dimensions,
                       std::uint64_t bytes, const std::vector<Text>& attributes) const {
    std::string out;
    put_name(out, name);
    put(out, static_cast<std::int32_t>(dimensions.size()));
    for (const std::string& d : dimensions) {
      const auto found = std::find(names_.begin(), names_.end(), d);
      LISSOM_ASSERT(found != names_.end());
      put(out, static_cast<std::int32_t>(found - names_.begin()));
    }
    put(out, attributes.empty() ? 0 : attribute_list);
    put(out, static_cast<std::int32_t>(attributes.size()));
    for (const Text& a : attributes) out += text(a.name, a.value);
    put(out, static_cast<std::int32_t>(type));
    // where it does not fit, readers go by the dimensions
    const auto size =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, std::numeric_limits<std::uint32_t>::max()));
    put(out, std::bit_cast<std::int32_t>(size));
    return out;
  }

  std::vector<std::string> names_, fixed_, data_, records_;
  std::string dimensions_, attributes_;
  std::int32_t attribute_count_ = 0;
  std::vector<std::uint64_t> record_bytes_;
};

// ------------------------------------------------------------------------------------------------- Exodus

// Texts of one length each.
std::string texts(const std::vector<std::string>& list, size_t length) {
  std::string out;
  for (const std::string& text : list) {
    out += text;
    out.append(length - text.size(), '\0');
  }
  return out;
}

const char* exodus_name(ElementType type) {
  constexpr const char* names[] = {"TETRA4", "TETRA10", "HEX8", "HEX20", "WEDGE6", "WEDGE15"};
  return names[static_cast<int>(type)];
}

// Position in our node order of each of Exodus' nodes, where the two differ: upright edges come before those
// of the top.
std::span<const int> exodus_order(ElementType type) {
  static constexpr int hex20[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 12, 13, 14, 15};
  static constexpr int wedge15[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 9, 10, 11};
  if (type == ElementType::Hex20) return hex20;
  if (type == ElementType::Wedge15) return wedge15;
  return {};
}

// Elements of one type of a part, or all its nodes where it has no elements: as points (width 1), or lines
// between neighbours (width 2).
struct Block {
  int part = 0;
  std::string name, type;
  std::vector<int> elements;
  int width = 1;  // nodes of an element
  Index count = 0;
};

std::vector<Block> blocks_of(const std::vector<ExodusPart>& parts) {
  std::vector<Block> blocks;
  for (size_t p = 0; p < parts.size(); ++p) {
    const Mesh& mesh = *parts[p].mesh;
    const size_t first = blocks.size();
    for (const ElementType type : all_element_types) {
      Block block;
      block.part = static_cast<int>(p);
      for (int e = 0; e < mesh.element_count(); ++e)
        if (mesh.types[e] == type) block.elements.push_back(e);
      if (block.elements.empty()) continue;
      block.type = exodus_name(type);
      block.name = fmt::format("{} {}", parts[p].name, name_of(type));
      block.width = node_count(type);
      block.count = static_cast<Index>(block.elements.size());
      blocks.push_back(std::move(block));
    }
    if (blocks.size() == first && parts[p].beam)
      blocks.push_back({static_cast<int>(p), "", "BAR2", {}, 2, mesh.node_count() - 1});
    if (blocks.size() == first)
      blocks.push_back({static_cast<int>(p), "", "SPHERE", {}, 1, mesh.node_count()});
    if (blocks.size() == first + 1) blocks.back().name = parts[p].name;
  }
  return blocks;
}

// Numbers of all parts, apart from each other; counted from 1 where that cannot be.
std::string number_map(const std::vector<std::vector<std::int64_t>>& ids, const std::string& of,
                       const std::string& path, Diagnostics& diagnostics) {
  std::int64_t largest = 0, smallest = 1;
  Index count = 0;
  for (const auto& part : ids)
    for (const std::int64_t id : part) {
      largest = std::max(largest, id);
      smallest = std::min(smallest, id);
      ++count;
    }
  constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max();
  std::int64_t apart = 1;
  while (apart <= largest && apart <= limit) apart *= 10;
  const auto parts = static_cast<std::int64_t>(ids.size());
  std::string out;
  if (smallest < 1 || largest > limit || (parts - 1) * apart + largest > limit) {
    diagnostics.warn("paraview.numbers." + of,
                     fmt::format("{}: {} numbers from {} to {} of {} bodies do not fit into Exodus' 31 bits; "
                                 "they are counted from 1 there",
                                 path, of, smallest, largest, parts));
    for (Index i = 0; i < count; ++i) put(out, static_cast<std::int32_t>(i + 1));
    return out;
  }
  for (std::int64_t p = 0; p < parts; ++p)
    for (const std::int64_t id : ids[static_cast<size_t>(p)])
      put(out, static_cast<std::int32_t>(parts > 1 ? p * apart + id : id));
  return out;
}

std::vector<std::string> component_names(const ExodusField& field) {
  switch (field.components) {
    case 1:
      return {field.name};
    case 3:
      return {field.name + "_x", field.name + "_y", field.name + "_z"};
    default:
      LISSOM_ASSERT(field.components == 6);
      return {field.name + "_xx", field.name + "_yy", field.name + "_zz",
              field.name + "_xy", field.name + "_yz", field.name + "_zx"};
  }
}

// What an element belongs to: body, material, sets.
void add_attributes(Netcdf& file, const Block& block, const Mesh& mesh, int number, size_t length) {
  std::vector<std::string> names = {"body"};
  std::vector<std::vector<char>> masks;
  if (!block.elements.empty()) {
    names.push_back("material");
    for (const auto& [name, set] : mesh.element_sets) {
      names.push_back("set " + name);
      masks.emplace_back(mesh.element_count(), 0);
      for (const int e : set) masks.back()[e] = 1;
    }
  }
  std::string data;
  for (Index i = 0; i < block.count; ++i) {
    put(data, static_cast<float>(block.part));
    if (block.elements.empty()) continue;
    const int e = block.elements[static_cast<size_t>(i)];
    put(data, static_cast<float>(mesh.element_material[e]));
    for (const auto& mask : masks) put(data, static_cast<float>(mask[e]));
  }
  const std::string count = fmt::format("num_att_in_blk{}", number);
  file.dimension(count, static_cast<Index>(names.size()));
  file.variable(fmt::format("attrib{}", number), Type::Float, {fmt::format("num_el_in_blk{}", number), count},
                std::move(data));
  file.variable(fmt::format("attrib_name{}", number), Type::Char, {count, "len_name"}, texts(names, length));
}

void add_blocks(Netcdf& file, const std::vector<ExodusPart>& parts, const std::vector<Block>& blocks,
                size_t length) {
  const auto count = static_cast<Index>(blocks.size());
  file.dimension("num_el_blk", count);
  std::string status, ids;
  std::vector<std::string> names;
  for (Index b = 0; b < count; ++b) {
    put(status, std::int32_t{1});
    put(ids, static_cast<std::int32_t>(b + 1));
    names.push_back(blocks[static_cast<size_t>(b)].name);
  }
  file.variable("eb_status", Type::Int, {"num_el_blk"}, status);
  file.variable("eb_prop1", Type::Int, {"num_el_blk"}, ids, {{"name", "ID"}});
  file.variable("eb_names", Type::Char, {"num_el_blk", "len_name"}, texts(names, length));

  std::vector<Index> first = {0};  // node of each part
  for (const ExodusPart& part : parts) first.push_back(first.back() + part.points.cols());
  for (size_t b = 0; b < blocks.size(); ++b) {
    const Block& block = blocks[b];
    const Mesh& mesh = *parts[block.part].mesh;
    const int number = static_cast<int>(b) + 1;
    const std::string elements = fmt::format("num_el_in_blk{}", number),
                      width = fmt::format("num_nod_per_el{}", number);
    file.dimension(elements, block.count);
    file.dimension(width, block.width);
    std::string nodes;
    const auto node = [&](Index i) { put(nodes, static_cast<std::int32_t>(first[block.part] + i + 1)); };
    if (block.elements.empty())
      for (Index i = 0; i < block.count; ++i)
        for (int k = 0; k < block.width; ++k) node(i + k);
    for (const int e : block.elements) {
      const auto own = mesh.element_nodes(e);
      const auto order = exodus_order(mesh.types[e]);
      for (size_t i = 0; i < own.size(); ++i) node(own[order.empty() ? i : order[i]]);
    }
    file.variable(fmt::format("connect{}", number), Type::Int, {elements, width}, std::move(nodes),
                  {{"elem_type", block.type}});
    add_attributes(file, block, mesh, number, length);
  }
}

struct NodeSet {
  std::string name;
  Index first = 0;
  const std::vector<int>* nodes = nullptr;
};

std::vector<NodeSet> node_sets_of(const std::vector<ExodusPart>& parts) {
  std::vector<NodeSet> sets;
  Index first = 0;
  for (const ExodusPart& part : parts) {
    for (const auto& [name, nodes] : part.mesh->node_sets)
      if (!nodes.empty()) sets.push_back({parts.size() > 1 ? part.name + " " + name : name, first, &nodes});
    first += part.points.cols();
  }
  return sets;
}

void add_node_sets(Netcdf& file, const std::vector<NodeSet>& sets, size_t length) {
  if (sets.empty()) return;
  file.dimension("num_node_sets", static_cast<Index>(sets.size()));
  std::string status, ids;
  std::vector<std::string> names;
  for (size_t s = 0; s < sets.size(); ++s) {
    put(status, std::int32_t{1});
    put(ids, static_cast<std::int32_t>(s) + 1);
    names.push_back(sets[s].name);
  }
  file.variable("ns_status", Type::Int, {"num_node_sets"}, status);
  file.variable("ns_prop1", Type::Int, {"num_node_sets"}, ids, {{"name", "ID"}});
  file.variable("ns_names", Type::Char, {"num_node_sets", "len_name"}, texts(names, length));
  for (size_t s = 0; s < sets.size(); ++s) {
    const std::string count = fmt::format("num_nod_ns{}", s + 1);
    file.dimension(count, static_cast<Index>(sets[s].nodes->size()));
    std::string nodes;
    for (const int node : *sets[s].nodes) put(nodes, static_cast<std::int32_t>(sets[s].first + node + 1));
    file.variable(fmt::format("node_ns{}", s + 1), Type::Int, {count}, std::move(nodes));
  }
}

}  // namespace

ExodusWriter::ExodusWriter(std::filesystem::path path, const std::string& title,
                           const std::vector<ExodusPart>& parts, std::vector<ExodusField> fields,
                           std::vector<std::string> globals, Diagnostics& diagnostics)
    : path_(std::move(path)), fields_(std::move(fields)), globals_(globals.size()) {
  const std::vector<Block> blocks = blocks_of(parts);
  const std::vector<NodeSet> sets = node_sets_of(parts);
  Index elements = 0;
  std::vector<std::vector<std::int64_t>> node_ids, element_ids(parts.size());
  for (const ExodusPart& part : parts) {
    LISSOM_ASSERT(part.points.cols() == part.mesh->node_count());
    nodes_ += part.points.cols();
    node_ids.push_back(part.mesh->node_ids);
  }
  for (const Block& block : blocks) {
    const Mesh& mesh = *parts[block.part].mesh;
    elements += block.count;
    auto& ids = element_ids[block.part];
    for (const int e : block.elements) ids.push_back(mesh.element_ids[e]);
    // points and lines have the number of their (first) node
    if (block.elements.empty()) ids.assign(mesh.node_ids.begin(), mesh.node_ids.begin() + block.count);
  }
  std::vector<std::string> variables;
  for (const ExodusField& field : fields_)
    for (std::string& name : component_names(field)) variables.push_back(std::move(name));

  // room for the longest name
  size_t length = 32;
  for (const Block& block : blocks) length = std::max(length, block.name.size());
  for (const NodeSet& set : sets) length = std::max(length, set.name.size());
  for (const ExodusPart& part : parts)
    for (const auto& [name, set] : part.mesh->element_sets) length = std::max(length, name.size() + 4);
  for (const std::string& name : variables) length = std::max(length, name.size());
  for (const std::string& name : globals) length = std::max(length, name.size());

  Netcdf file;
  file.dimension("time_step", 0);
  file.dimension("len_string", 33);
  file.dimension("len_line", 81);
  file.dimension("four", 4);
  file.dimension("len_name", static_cast<Index>(length) + 1);
  file.dimension("num_dim", 3);
  file.dimension("num_nodes", nodes_);
  file.dimension("num_elem", elements);
  file.attribute("api_version", 8.11F);
  file.attribute("version", 8.11F);
  file.attribute("floating_point_word_size", 8);
  file.attribute("file_size", 1);
  file.attribute("maximum_name_length", static_cast<std::int32_t>(length));
  file.attribute("int64_status", 0);
  file.attribute("title", title.substr(0, 80));
  file.attribute("written_by", fmt::format("Lissom {}", LISSOM_VERSION));

  for (int k = 0; k < 3; ++k) {
    std::string data;
    for (const ExodusPart& part : parts)
      for (Index i = 0; i < part.points.cols(); ++i) put(data, part.points(k, i));
    file.variable(
        std::string("coord") + "xyz" [k], Type::Double, { "num_nodes" }, std::move(data));
  }
  file.variable("coor_names", Type::Char, {"num_dim", "len_name"}, texts({"x", "y", "z"}, length + 1));
  file.variable("node_num_map", Type::Int, {"num_nodes"},
                number_map(node_ids, "node", path_.string(), diagnostics));
  file.variable("elem_num_map", Type::Int, {"num_elem"},
                number_map(element_ids, "element", path_.string(), diagnostics));
  add_blocks(file, parts, blocks, length + 1);
  add_node_sets(file, sets, length + 1);

  // a record: time, global values, fields
  file.record_variable("time_whole", Type::Double, {"time_step"}, sizeof(double));
  std::uint64_t bytes = sizeof(double);
  if (!globals.empty()) {
    file.dimension("num_glo_var", static_cast<Index>(globals.size()));
    file.variable("name_glo_var", Type::Char, {"num_glo_var", "len_name"}, texts(globals, length + 1));
    const std::uint64_t size = globals.size() * sizeof(double);
    file.record_variable("vals_glo_var", Type::Double, {"time_step", "num_glo_var"}, size);
    bytes += size;
  }
  if (!variables.empty()) {
    file.dimension("num_nod_var", static_cast<Index>(variables.size()));
    file.variable("name_nod_var", Type::Char, {"num_nod_var", "len_name"}, texts(variables, length + 1));
    const std::uint64_t size = static_cast<std::uint64_t>(nodes_) * sizeof(float);
    for (size_t v = 0; v < variables.size(); ++v) {
      file.record_variable(fmt::format("vals_nod_var{}", v + 1), Type::Float, {"time_step", "num_nodes"},
                           size);
      bytes += size;
    }
  }
  record_.resize(bytes);

  expect_replaceable(path_);
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) refuse(errno);
  const std::string start = file.bytes();
  first_record_ = start.size();
  write(0, start.data(), start.size());
}

ExodusWriter::~ExodusWriter() {
  if (file_ >= 0) ::close(file_);
}

void ExodusWriter::refuse(int error) const {
  const std::string kept =
      times_ > 0 ? fmt::format("; the {} times written before can be opened", times_) : "";
  fail("{}: cannot be written: {}{}", path_.string(), std::strerror(error), kept);
}

void ExodusWriter::write(std::uint64_t offset, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = ::pwrite(file_, bytes, count, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) refuse(written < 0 ? errno : EIO);
    bytes += written;
    offset += static_cast<std::uint64_t>(written);
    count -= static_cast<std::size_t>(written);
  }
}

void ExodusWriter::add(double time, std::span<const Eigen::MatrixXd> values,
                       std::span<const double> globals) {
  LISSOM_ASSERT(file_ >= 0 && values.size() == fields_.size() && globals.size() == globals_);
  char* at = record_.data();
  const auto number = [&](double value) {
    const std::uint64_t bits = big(std::bit_cast<std::uint64_t>(value));
    std::memcpy(at, &bits, sizeof bits);
    at += sizeof bits;
  };
  number(time);
  for (const double value : globals) number(value);
  // component after component
  for (size_t f = 0; f < fields_.size(); ++f) {
    const Index components = fields_[f].components;
    LISSOM_ASSERT(values[f].rows() == components && values[f].cols() == nodes_);
    const double* from = values[f].data();
    const Index n = nodes_;
    char* const to = at;
    parallel_for(n, 0, n > 20000 ? thread_count() : 1, [&](Index i) {
      for (Index c = 0; c < components; ++c) {
        const std::uint32_t bits =
            big(std::bit_cast<std::uint32_t>(static_cast<float>(from[components * i + c])));
        std::memcpy(to + sizeof bits * (c * n + i), &bits, sizeof bits);
      }
    });
    at += sizeof(float) * components * n;
  }
  write(first_record_ + static_cast<std::uint64_t>(times_) * record_.size(), record_.data(), record_.size());
  // it counts once it is there
  const std::uint32_t count = big(static_cast<std::uint32_t>(times_ + 1));
  char bytes[sizeof count];
  std::memcpy(bytes, &count, sizeof count);
  write(4, bytes, sizeof bytes);
  ++times_;
}

void ExodusWriter::finish() {
  if (::fsync(file_) != 0) refuse(errno);
  const int file = std::exchange(file_, -1);
  if (::close(file) != 0) refuse(errno);
}

double mode_scale(ModeScaling scaling, double largest, const Eigen::Ref<const Eigen::Matrix3Xd>& points) {
  if (!(largest > 0) || scaling == ModeScaling::AsGiven) return 1;
  if (scaling == ModeScaling::MaxOne) return 1 / largest;
  const double diagonal = (points.rowwise().maxCoeff() - points.rowwise().minCoeff()).norm();
  return diagonal > 0 ? 0.1 * diagonal / largest : 1;
}

void write_modes_exodus(const std::filesystem::path& path, const std::string& name, const Mesh& mesh,
                        const Eigen::Ref<const Eigen::MatrixXd>& displacements,
                        const Eigen::Ref<const Eigen::VectorXd>& frequencies_hz, Diagnostics& diagnostics,
                        ModeScaling scaling) {
  LISSOM_ASSERT(displacements.rows() == 3 * mesh.node_count());
  LISSOM_ASSERT(displacements.cols() == frequencies_hz.size());
  ExodusWriter file(path, "modes of " + name, {{name, &mesh, mesh.points}}, {{"displacement", 3}},
                    {"frequency_hz", "displacement_scale"}, diagnostics);
  std::vector<Eigen::MatrixXd> shape(1);
  for (Index j = 0; j < displacements.cols(); ++j) {
    shape[0] = displacements.col(j).reshaped(3, mesh.node_count());
    const double largest = shape[0].size() > 0 ? shape[0].colwise().norm().maxCoeff() : 0;
    const double scale = mode_scale(scaling, largest, mesh.points);
    shape[0] *= scale;
    const double globals[] = {frequencies_hz[j], scale};
    file.add(static_cast<double>(j + 1), shape, globals);
  }
  file.finish();
}

}  // namespace lissom

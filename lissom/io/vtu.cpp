#include "lissom/io/vtu.hpp"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <system_error>

#include "lissom/core/atomic_file.hpp"
#include "lissom/core/error.hpp"

namespace lissom {

namespace {

// VTK's name of a type of values.
const char* vtk_type(double) {
  return "Float64";
}
const char* vtk_type(std::int64_t) {
  return "Int64";
}
const char* vtk_type(std::int32_t) {
  return "Int32";
}
const char* vtk_type(std::uint8_t) {
  return "UInt8";
}

// Text inside an XML attribute. Control characters are not allowed in XML at all.
std::string xml_escape(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return out;
}

// An array as it goes into the file: its XML attributes but for the offset, and its compressed bytes, which
// are
//   [number of blocks][bytes of a whole block][bytes of the last one if it is not whole, else 0]
//   [compressed bytes of block 0] ...    all UInt64, then the compressed blocks.
struct EncodedArray {
  std::string attributes;
  std::vector<std::uint64_t> header;
  std::vector<std::string> blocks;

  std::uint64_t bytes() const {
    std::uint64_t sum = header.size() * sizeof(std::uint64_t);
    for (const std::string& block : blocks) sum += block.size();
    return sum;
  }
};

size_t value_count(const VtuArray& array) {
  return std::visit([](auto span) { return span.size(); }, array.values);
}

EncodedArray encode(const VtuArray& array, const VtuOptions& options) {
  EncodedArray out;
  const std::string_view bytes = std::visit(
      [](auto span) {
        return std::string_view(reinterpret_cast<const char*>(span.data()), span.size_bytes());
      },
      array.values);
  const size_t values = value_count(array);
  const char* type =
      std::visit([](auto span) { return vtk_type(typename decltype(span)::value_type{}); }, array.values);
  LISSOM_ASSERT(array.components > 0 && values % static_cast<size_t>(array.components) == 0);
  out.attributes = fmt::format(R"(type="{}" Name="{}" NumberOfComponents="{}")", type, xml_escape(array.name),
                               array.components);

  // every block is a zlib stream of its own
  const size_t block_size = options.block_size;
  const auto count = static_cast<long>((bytes.size() + block_size - 1) / block_size);
  out.blocks.resize(count);
  bool failed = false;
#pragma omp parallel for schedule(dynamic, 1) reduction(|| : failed)
  for (long i = 0; i < count; ++i) {
    const std::string_view in = bytes.substr(static_cast<size_t>(i) * block_size, block_size);
    uLongf size = compressBound(in.size());
    std::string& block = out.blocks[i];
    block.resize(size);
    failed = failed || compress2(reinterpret_cast<Bytef*>(block.data()), &size,
                                 reinterpret_cast<const Bytef*>(in.data()), in.size(),
                                 options.compression_level) != Z_OK;
    block.resize(size);
    block.shrink_to_fit();
  }
  if (failed) fail("zlib cannot compress the array '{}'", array.name);

  out.header = {static_cast<std::uint64_t>(count), block_size, bytes.size() % block_size};
  for (const std::string& block : out.blocks) out.header.push_back(block.size());
  return out;
}

// Everything in a file that does not change from mode to mode: encoded once, written many times.
struct EncodedMesh {
  int points = 0, cells = 0;
  EncodedArray coordinates, connectivity, offsets, types;
  std::vector<EncodedArray> point_data, cell_data;
};

// Position in our node order of each of VTK's nodes, where the two differ: VTK's wedges begin with the
// triangle whose normal points away from the other one, ours (and Abaqus', Gmsh's) with the one whose normal
// points to it. Left as they are, wedges would have negative volumes and faces that point inward.
std::span<const int> vtk_order(ElementType type) {
  static constexpr int wedge6[] = {0, 2, 1, 3, 5, 4};
  static constexpr int wedge15[] = {0, 2, 1, 3, 5, 4, 8, 7, 6, 11, 10, 9, 12, 14, 13};
  if (type == ElementType::Wedge6) return wedge6;
  if (type == ElementType::Wedge15) return wedge15;
  return {};
}

// 1 where an index is in the set, 0 elsewhere.
std::vector<std::uint8_t> mask(const std::vector<int>& set, int count) {
  std::vector<std::uint8_t> out(count, 0);
  for (int i : set) out[i] = 1;
  return out;
}

EncodedMesh encode_mesh(const Mesh& mesh, const VtuOptions& options) {
  EncodedMesh out;
  const int nodes = mesh.node_count(), elements = mesh.element_count();
  const auto add = [&](std::string name, int components, auto span) {
    return encode({std::move(name), components, span}, options);
  };

  out.points = nodes;
  out.coordinates = add("Points", 3, std::span<const double>(mesh.points.data(), mesh.points.size()));
  out.point_data.push_back(add("node_id", 1, std::span<const std::int64_t>(mesh.node_ids)));
  for (const auto& [name, set] : mesh.node_sets)
    out.point_data.push_back(add("set " + name, 1, std::span<const std::uint8_t>(mask(set, nodes))));

  // cells; VTK's offsets are the ends of the cells, without the leading zero
  std::vector<std::int64_t> connectivity(mesh.connectivity.begin(), mesh.connectivity.end());
  for (int e = 0; e < elements; ++e) {
    const auto order = vtk_order(mesh.types[e]);
    for (size_t i = 0; i < order.size(); ++i)
      connectivity[mesh.offsets[e] + static_cast<std::int64_t>(i)] = mesh.element_nodes(e)[order[i]];
  }
  std::vector<std::int64_t> offsets(mesh.offsets.begin() + 1, mesh.offsets.end());
  std::vector<std::uint8_t> types;
  for (ElementType type : mesh.types) types.push_back(vtk_cell_type(type));
  if (elements == 0) {
    constexpr std::uint8_t vertex = 1;
    for (int i = 0; i < nodes; ++i) {
      connectivity.push_back(i);
      offsets.push_back(i + 1);
      types.push_back(vertex);
    }
  } else {
    out.cell_data.push_back(add("element_id", 1, std::span<const std::int64_t>(mesh.element_ids)));
    out.cell_data.push_back(add("material", 1, std::span<const std::int32_t>(mesh.element_material)));
    for (const auto& [name, set] : mesh.element_sets)
      out.cell_data.push_back(add("set " + name, 1, std::span<const std::uint8_t>(mask(set, elements))));
  }
  out.cells = static_cast<int>(types.size());
  out.connectivity = add("connectivity", 1, std::span<const std::int64_t>(connectivity));
  out.offsets = add("offsets", 1, std::span<const std::int64_t>(offsets));
  out.types = add("types", 1, std::span<const std::uint8_t>(types));
  return out;
}

void check_count(const VtuArray& array, int tuples) {
  LISSOM_ASSERT(value_count(array) == static_cast<size_t>(tuples) * static_cast<size_t>(array.components));
}

void write_encoded(const std::filesystem::path& path, const EncodedMesh& mesh, const VtuData& data,
                   const VtuOptions& options) {
  std::vector<EncodedArray> point_data, cell_data, field_data;
  for (const VtuArray& array : data.points) {
    check_count(array, mesh.points);
    point_data.push_back(encode(array, options));
  }
  for (const VtuArray& array : data.cells) {
    check_count(array, mesh.cells);
    cell_data.push_back(encode(array, options));
  }
  for (const VtuArray& array : data.field) field_data.push_back(encode(array, options));

  // the head in XML, which names where in the appended data each array begins
  std::vector<const EncodedArray*> appended;
  std::uint64_t offset = 0;
  std::string xml;
  const auto append = [&](const EncodedArray& array, const std::string& more = "") {
    xml += fmt::format("        <DataArray {}{} format=\"appended\" offset=\"{}\"/>\n", array.attributes,
                       more, offset);
    appended.push_back(&array);
    offset += array.bytes();
  };
  const char* order = std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian";
  xml += fmt::format(
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"{}\" header_type=\"UInt64\" "
      "compressor=\"vtkZLibDataCompressor\">\n"
      "  <!-- written by Lissom {} -->\n"
      "  <UnstructuredGrid>\n",
      order, LISSOM_VERSION);
  if (!field_data.empty()) {
    xml += "    <FieldData>\n";
    for (size_t i = 0; i < field_data.size(); ++i) {
      const size_t values = value_count(data.field[i]);
      append(field_data[i], fmt::format(" NumberOfTuples=\"{}\"", values / data.field[i].components));
    }
    xml += "    </FieldData>\n";
  }
  xml += fmt::format("    <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n", mesh.points, mesh.cells);
  // ParaView colours by the arrays that are named here, hence the caller's first ones
  const std::string active =
      data.points.empty()
          ? ""
          : fmt::format(" {}=\"{}\"", data.points.front().components == 3 ? "Vectors" : "Scalars",
                        xml_escape(data.points.front().name));
  xml += fmt::format("      <PointData{}>\n", active);
  for (const EncodedArray& array : point_data) append(array);
  for (const EncodedArray& array : mesh.point_data) append(array);
  xml += "      </PointData>\n      <CellData>\n";
  for (const EncodedArray& array : cell_data) append(array);
  for (const EncodedArray& array : mesh.cell_data) append(array);
  xml += "      </CellData>\n      <Points>\n";
  append(mesh.coordinates);
  xml += "      </Points>\n      <Cells>\n";
  append(mesh.connectivity);
  append(mesh.offsets);
  append(mesh.types);
  xml +=
      "      </Cells>\n"
      "    </Piece>\n"
      "  </UnstructuredGrid>\n"
      "  <AppendedData encoding=\"raw\">\n_";

  AtomicFile file(path);
  file.write(xml);
  for (const EncodedArray* array : appended) {
    file.write(std::span<const std::uint64_t>(array->header));
    for (const std::string& block : array->blocks) file.write(block);
  }
  file.write("\n  </AppendedData>\n</VTKFile>\n");
  file.commit();
}

}  // namespace

std::uint8_t vtk_cell_type(ElementType type) {
  constexpr std::uint8_t types[] = {10, 24, 12, 25, 13, 26};
  return types[static_cast<int>(type)];
}

void write_vtu(const std::filesystem::path& path, const Mesh& mesh, const VtuData& data,
               const VtuOptions& options) {
  write_encoded(path, encode_mesh(mesh, options), data, options);
}

std::filesystem::path write_modes_vtu(const std::filesystem::path& folder, const Mesh& mesh,
                                      const Eigen::Ref<const Eigen::MatrixXd>& displacements,
                                      const Eigen::Ref<const Eigen::VectorXd>& frequencies_hz,
                                      const ModesVtuOptions& options) {
  LISSOM_ASSERT(displacements.rows() == 3 * mesh.node_count());
  LISSOM_ASSERT(displacements.cols() == frequencies_hz.size());
  std::error_code ec;
  std::filesystem::create_directories(folder, ec);
  if (ec) fail("{}: the folder cannot be created: {}", folder.string(), ec.message());

  const EncodedMesh encoded = encode_mesh(mesh, options.vtu);
  const double diagonal = mesh.node_count() > 0
                              ? (mesh.points.rowwise().maxCoeff() - mesh.points.rowwise().minCoeff()).norm()
                              : 0;
  // enough digits that the names sort as the modes do
  const size_t digits = std::max<size_t>(3, std::to_string(displacements.cols()).size());
  std::string collection;
  for (Eigen::Index j = 0; j < displacements.cols(); ++j) {
    // the scale; a mode that moves nothing stays as it is
    Eigen::Matrix3Xd shape = displacements.col(j).reshaped(3, mesh.node_count());
    const double largest = shape.size() > 0 ? shape.colwise().norm().maxCoeff() : 0;
    double scale = 1;
    if (largest > 0 && options.scaling == ModeScaling::MaxOne) scale = 1 / largest;
    if (largest > 0 && diagonal > 0 && options.scaling == ModeScaling::BoundingBox)
      scale = 0.1 * diagonal / largest;
    shape *= scale;

    const double frequency = frequencies_hz[j];
    const std::int32_t number = static_cast<std::int32_t>(j) + 1;
    VtuData data;
    data.points.push_back({"displacement", 3, std::span<const double>(shape.data(), shape.size())});
    data.field.push_back({"mode", 1, std::span<const std::int32_t>(&number, 1)});
    data.field.push_back({"frequency_hz", 1, std::span<const double>(&frequency, 1)});
    data.field.push_back({"displacement_scale", 1, std::span<const double>(&scale, 1)});
    const std::string name = fmt::format("mode_{:0{}}.vtu", number, digits);
    write_encoded(folder / name, encoded, data, options.vtu);
    collection += fmt::format("    <DataSet timestep=\"{}\" file=\"{}\"/> <!-- {:.6g} Hz -->\n", number, name,
                              frequency);
  }

  // the collection comes last, so that it never names a file that is not there
  AtomicFile file(folder / "modes.pvd");
  file.write(
      fmt::format("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n  <Collection>\n{}"
                  "  </Collection>\n</VTKFile>\n",
                  collection));
  file.commit();
  return folder / "modes.pvd";
}

}  // namespace lissom

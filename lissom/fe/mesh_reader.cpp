// Chooses the reader for a file.
#include "lissom/fe/mesh_reader.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "lissom/core/text.hpp"

namespace lissom {

namespace {

enum class MeshFormat { Gmsh, Nastran, Inp, Geometry };

constexpr const char* understood =
    "Gmsh meshes (.msh), Nastran bulk data (.bdf, .nas, .dat, .blk, .pch), Abaqus and CalculiX input (.inp, "
    ".dat), and geometry that gmsh can mesh (.geo, .step, .stp, .brep, .iges, .igs)";

// What the extension alone decides; not .dat, which Nastran and Abaqus users both write.
std::optional<MeshFormat> format_from_extension(const std::filesystem::path& path) {
  const std::string extension = to_lower(path.extension().string());
  const auto is_one_of = [&](std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), extension) != list.end();
  };
  if (is_one_of({".msh"})) return MeshFormat::Gmsh;
  if (is_one_of({".bdf", ".nas", ".blk", ".pch"})) return MeshFormat::Nastran;
  if (is_one_of({".inp"})) return MeshFormat::Inp;
  if (is_one_of({".geo", ".step", ".stp", ".brep", ".iges", ".igs"})) return MeshFormat::Geometry;
  return std::nullopt;
}

// True if the line is an entry that a Nastran file with a mesh cannot do without, or nearly so.
bool is_nastran_line(std::string_view line) {
  // "GRID*", "GRID,": the name ends with its field, in free, small or large format
  const std::string_view name = line.substr(0, line.find_first_of(" \t,*="));
  for (const char* known : {"GRID", "CTETRA", "CHEXA", "CPENTA", "PSOLID", "MAT1", "CORD2R", "CEND", "BEGIN",
                            "SOL", "ENDDATA", "INCLUDE", "DMIG"})
    if (iequals(name, known)) return true;
  return false;
}

// The first line that belongs to one format only decides. Nastran comments begin with $, which Gmsh's
// sections do too.
std::optional<MeshFormat> format_from_content(std::string_view bytes) {
  LineReader lines(bytes, "");
  std::string_view line;
  while (lines.next(line)) {
    line = trim(line);
    if (line == "$MeshFormat" || line == "$NOD") return MeshFormat::Gmsh;
    // "** comment" or "*KEYWORD"; Nastran's continuations begin with * too, but after their first line
    if (line.starts_with("**")) return MeshFormat::Inp;
    if (line.size() > 1 && line[0] == '*' && std::isalpha(static_cast<unsigned char>(line[1])))
      return MeshFormat::Inp;
    if (is_nastran_line(line)) return MeshFormat::Nastran;
  }
  return std::nullopt;
}

}  // namespace

Mesh read_mesh(const std::filesystem::path& path, const GmshOptions& options, Diagnostics& diagnostics,
               bool skip_elements) {
  std::optional<MeshFormat> format = format_from_extension(path);
  if (format == MeshFormat::Geometry) return mesh_with_gmsh(path, options, diagnostics);

  const std::string bytes = read_file(path);
  if (options.size != 0 || options.order != GmshOptions{}.order)
    fail_input("{}: is a mesh already; an element size or order goes with a geometry that gmsh is to mesh",
               path.string());
  if (!format) format = format_from_content(bytes);
  if (!format)
    fail_input(SourcePos{path.string(), 0},
               "neither the extension nor the content tells what this file is; expected {}", understood);
  switch (*format) {
    case MeshFormat::Gmsh:
      return read_gmsh(bytes, path.string(), diagnostics);
    case MeshFormat::Nastran:
      return read_nastran(bytes, path.string(), read_file, diagnostics, skip_elements);
    default:
      return read_inp(bytes, path.string(), read_file, diagnostics, skip_elements);
  }
}

}  // namespace lissom

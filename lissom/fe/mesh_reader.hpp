// Reading meshes. Every reader takes the file's bytes, so that it can be fuzzed, and a path for messages and
// includes. Readers never decide physics and never convert units: coordinates and materials come back as they
// stand.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "lissom/core/diagnostics.hpp"
#include "lissom/fe/mesh.hpp"

namespace lissom {

// Returns the bytes of an included file; throws InputError where it cannot be had. read_file by default.
using FileLoader = std::function<std::string(const std::filesystem::path&)>;

// Gmsh .msh, versions 2.2 and 4.1, ASCII and binary of either byte order. Volume elements become elements;
// physical groups become sets: of nodes for points, curves and surfaces, of elements and of nodes for
// volumes, called by their name or "physical <dimension> <tag>". Throws InputError for elements that Lissom
// does not have (pyramids, face nodes, third order), saying what to set in Gmsh. (read_gmsh.cpp)
Mesh read_gmsh(std::string_view bytes, const std::string& path, Diagnostics& diagnostics);

// Nastran bulk data (.bdf, .dat, .nas). (read_nastran.cpp)
Mesh read_nastran(std::string_view bytes, const std::string& path, const FileLoader& load,
                  Diagnostics& diagnostics);

// Abaqus and CalculiX input (.inp). (read_inp.cpp)
Mesh read_inp(std::string_view bytes, const std::string& path, const FileLoader& load,
              Diagnostics& diagnostics);

// How the gmsh program is to mesh a geometry.
struct GmshOptions {
  int order = 2;    // 1: linear, 2: quadratic elements
  double size = 0;  // element size in the mesh's unit of length; 0 leaves it to the file
  std::string program = "gmsh";
};

// Runs gmsh on a .geo or .step/.stp/.brep/.iges file and reads the mesh that it makes. Lengths of STEP and
// IGES files come out in millimetres, whatever their unit; all others as they stand. Throws InputError with
// gmsh's own words when it fails, and Error where the program is missing. (mesh_with_gmsh.cpp)
Mesh mesh_with_gmsh(const std::filesystem::path& geometry, const GmshOptions& options,
                    Diagnostics& diagnostics);

// Reads any of the above, choosing by extension and, for .msh, .dat and unknown ones, by content. Throws
// InputError listing what is understood. (mesh_reader.cpp)
Mesh read_mesh(const std::filesystem::path& path, const GmshOptions& options, Diagnostics& diagnostics);

}  // namespace lissom

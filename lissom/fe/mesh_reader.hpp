// Reading meshes. Every reader takes the file's bytes, so that it can be fuzzed, and a path for messages and
// includes. Readers never decide physics and never convert units: coordinates and materials come back as they
// stand. Elements, masses and constraints that are not read (shells, beams, point masses, ties) are an
// InputError that lists them, or warnings where `skip_elements` says that the body is wanted without them
// (left_out.hpp).
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
                  Diagnostics& diagnostics, bool skip_elements = false);

// Abaqus and CalculiX input (.inp). (read_inp.cpp)
Mesh read_inp(std::string_view bytes, const std::string& path, const FileLoader& load,
              Diagnostics& diagnostics, bool skip_elements = false);

// How the gmsh program is to mesh a geometry.
struct GmshOptions {
  int order = 2;  // 1: linear, 2: quadratic elements
  // The geometry is the user's own, or as good: gmsh runs where it lies, unconfined, and may run what it
  // names. Never from a study file, which may come from the same stranger.
  bool trust = false;
  double size = 0;  // element size in the mesh's unit of length; 0 leaves it to the file
  std::string program = "gmsh";
};

// Runs gmsh on a .geo or .step/.stp/.brep/.iges file and reads the mesh that it makes. Lengths of STEP and
// IGES files come out in millimetres, whatever their unit; all others as they stand. Quadratic elements that
// curved faces turn inside out go through gmsh's optimisation, with a warning. Unless it is trusted (here or
// by geometry_trust.hpp) the geometry is meshed in a folder of its own, confined, and commands in it that run
// programs or write files are refused. Throws InputError with gmsh's own words when it fails, and Error where
// the program is missing or the folder for temporary files is full. (mesh_with_gmsh.cpp)
Mesh mesh_with_gmsh(const std::filesystem::path& geometry, const GmshOptions& options,
                    Diagnostics& diagnostics);

// Reads any of the above, choosing by extension and, for .msh, .dat and unknown ones, by content. Throws
// InputError listing what is understood. (mesh_reader.cpp)
Mesh read_mesh(const std::filesystem::path& path, const GmshOptions& options, Diagnostics& diagnostics,
               bool skip_elements = false);

}  // namespace lissom

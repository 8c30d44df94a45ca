// What gmsh is given of a geometry: the file itself and those that it names, looked through for commands that
// reach beyond a geometry. gmsh's .geo is a programming language: it runs programs, and it writes and reads
// files anywhere. A geometry from a stranger must not.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lissom {

struct GeometryFile {
  // Below the folder of the geometry; the first one is the geometry. Its extension in lower case: gmsh reads
  // what it does not know as .geo, ".Step" for one.
  std::filesystem::path name;
  std::string bytes;
};

// The geometry, and the files that a .geo includes, merges or reads by a plain name in quotes, and so on.
// They must lie in its folder or below it. Throws InputError with line, command and what to do:
//   - a command that runs programs, writes files, or makes commands out of texts;
//   - a file elsewhere, or whose name is computed, or of a kind that gmsh would run.
// Files beside the geometry that nothing names (part.brep.opt, which gmsh would read) are not among them.
std::vector<GeometryFile> collect_geometry(const std::filesystem::path& geometry);

}  // namespace lissom

// Runs the gmsh program: geometry in, mesh file out, read and thrown away again.
//
// gmsh gets the geometry under its own name, so that what it includes and merges is found, and behind it a
// few lines of our own that have the last word on the options which the reader depends on.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <system_error>

#include "lissom/core/child_process.hpp"
#include "lissom/core/private_folder.hpp"
#include "lissom/core/text.hpp"
#include "lissom/fe/mesh_reader.hpp"

namespace lissom {

namespace {

namespace fs = std::filesystem;

// Runs a program without a shell, everything it prints going to `log`; returns how it ended. It ends with
// this process. Throws Error when it cannot be started.
ChildProcess run(const std::vector<std::string>& arguments, const fs::path& log) {
  ChildOptions options;
  options.program = arguments[0];
  options.arguments.assign(arguments.begin() + 1, arguments.end());
  options.threads = 0;
  options.own_group = false;
  options.output = options.messages = log;
  try {
    ChildProcess process(options);
    process.wait();
    return process;
  } catch (const Error& e) {
    fail(
        "the program {}; it makes the mesh of a geometry: install it (Debian and Ubuntu: apt install gmsh), "
        "or make the mesh elsewhere and give the .msh file",
        e.what());
  }
}

// What gmsh printed, sorted. It marks its own lines "Error   : " and "Warning : "; OpenCASCADE's come as
// "**** ERR ...", coloured.
struct Words {
  std::vector<std::string> errors, warnings;
};

Words sort_words(std::string_view log) {
  Words words;
  LineReader lines(log, "");
  std::string_view line;
  while (lines.next(line)) {
    // drop terminal colours, ESC [ ... m
    std::string plain;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '\033')
        i = std::min(line.find('m', i), line.size());
      else
        plain += line[i];
    }
    const auto colon = plain.find(':');
    const std::string_view mark = trim(std::string_view(plain).substr(0, colon));
    const std::string said(trim(std::string_view(plain).substr(colon == std::string::npos ? 0 : colon + 1)));
    if (mark == "Error")
      words.errors.push_back(said);
    else if (plain.find("ERR ") != std::string::npos)
      words.errors.emplace_back(trim(plain));
    else if (mark == "Warning" && said.find_first_not_of('-') != std::string::npos)
      words.warnings.push_back(said);  // some are framed in dashes
  }
  return words;
}

// The options on which gmsh must not follow the geometry file.
void write_options(const fs::path& path, const GmshOptions& options) {
  std::ofstream file(path);
  file << fmt::format("Mesh.ElementOrder = {};\n", options.order);
  // hex20 and wedge15 rather than elements with nodes on their faces
  file << "Mesh.SecondOrderIncomplete = 1;\n";
  file << "Mesh.Format = 1;\nMesh.MshFileVersion = 4.1;\nMesh.Binary = 1;\n";
  if (options.size > 0)
    file << fmt::format("Mesh.CharacteristicLengthMin = {0};\nMesh.CharacteristicLengthMax = {0};\n",
                        options.size);
  file.close();
  if (!file) fail("cannot write {}", path.string());
}

}  // namespace

Mesh mesh_with_gmsh(const fs::path& geometry, const GmshOptions& options, Diagnostics& diagnostics) {
  if (options.order != 1 && options.order != 2)
    fail_input("gmsh: expected order 1 (linear) or 2 (quadratic), found {}", options.order);
  if (!std::isfinite(options.size) || options.size < 0)
    fail_input("gmsh: expected an element size of 0 (as the file says) or more, found {}", options.size);
  std::error_code ec;
  if (!fs::exists(geometry, ec)) fail_input("{}: no such file", geometry.string());
  if (!fs::is_regular_file(geometry, ec)) fail_input("{}: expected a file", geometry.string());

  const PrivateFolder folder;
  const fs::path mesh_file = folder.path() / "mesh.msh";
  const fs::path option_file = folder.path() / "options.geo";
  const fs::path log_file = folder.path() / "log.txt";
  write_options(option_file, options);

  // an absolute path cannot be taken for an option; OpenCASCADE converts STEP and IGES to millimetres, said
  // aloud here so that no user setting changes it
  const ChildProcess gmsh =
      run({options.program, fs::absolute(geometry).string(), option_file.string(), "-3", "-setstring",
           "Geometry.OCCTargetUnit", "MM", "-o", mesh_file.string()},
          log_file);

  const Words words = sort_words(read_file(log_file));
  for (const std::string& warning : words.warnings)
    diagnostics.warn("gmsh.warning." + warning.substr(0, 80), "gmsh warns: " + warning,
                     {geometry.string(), 0});
  if (!gmsh.exit_code()) fail("{}: gmsh {}", geometry.string(), gmsh.how());
  if (gmsh.exit_code() != 0 || !fs::exists(mesh_file, ec)) {
    std::string said;
    for (const std::string& error : words.errors) said += "\n  " + error;
    if (said.empty()) said = fmt::format(" nothing, and ended with exit code {}", *gmsh.exit_code());
    fail_input(SourcePos{geometry.string(), 0}, "gmsh could not mesh this geometry; it says:{}", said);
  }

  // messages shall name the user's file, not the temporary one that is gone when they are read
  Mesh mesh = read_gmsh(read_file(mesh_file), geometry.string() + " (meshed by gmsh)", diagnostics);
  mesh.source = geometry.string();
  return mesh;
}

}  // namespace lissom

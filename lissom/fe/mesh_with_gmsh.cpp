// Runs the gmsh program: geometry in, mesh file out, read and thrown away again.
//
// gmsh gets copies of the geometry and of the files that it names (geometry_files.hpp), in a folder of their
// own in which nothing else lies, and runs confined (confined_process.hpp); behind them come a few lines of
// ours that have the last word on the options which the reader depends on. A geometry that the user trusts is
// meshed where it is, with everything that gmsh finds there.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <system_error>

#include "lissom/core/confined_process.hpp"
#include "lissom/core/file_kind.hpp"
#include "lissom/core/private_folder.hpp"
#include "lissom/core/text.hpp"
#include "lissom/fe/geometry_files.hpp"
#include "lissom/fe/geometry_trust.hpp"
#include "lissom/fe/jacobian_check.hpp"
#include "lissom/fe/mesh_reader.hpp"

namespace lissom {

namespace {

namespace fs = std::filesystem;

// Throws Error where the disk of the temporary files is full, which no fault of the geometry is.
[[noreturn]] void fail_full(const fs::path& folder, int error) {
  fail(
      "{}: the folder for temporary files cannot be written: {}; make room there, or set TMPDIR to another "
      "one",
      folder.parent_path().string(), std::strerror(error));
}

// Writes a file of ours. Throws Error.
void write_file(const fs::path& folder, const fs::path& path, std::string_view bytes) {
  std::error_code ec;
  fs::create_directories(path.parent_path(), ec);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) fail_full(folder, errno);
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      ::close(file);
      fail_full(folder, error);
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  if (::close(file) != 0) fail_full(folder, errno);
}

// Whether there is room for as much as gmsh's next buffer; where not, that is why it failed. gmsh itself does
// not always notice.
void check_room(const fs::path& folder) {
  write_file(folder, folder / "room", std::string(1 << 18, 'x'));
  std::error_code ignored;
  fs::remove(folder / "room", ignored);
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
std::string options_text(const GmshOptions& options, bool optimise) {
  std::string text = fmt::format("Mesh.ElementOrder = {};\n", options.order);
  // hex20 and wedge15 rather than elements with nodes on their faces
  text += "Mesh.SecondOrderIncomplete = 1;\n";
  text += "Mesh.Format = 1;\nMesh.MshFileVersion = 4.1;\nMesh.Binary = 1;\n";
  if (options.size > 0)
    text += fmt::format("Mesh.CharacteristicLengthMin = {0};\nMesh.CharacteristicLengthMax = {0};\n",
                        options.size);
  // first as an elastic body, then by moving nodes until every Jacobian is positive
  if (optimise) text += "Mesh.HighOrderOptimize = 2;\n";
  return text;
}

class Mesher {
 public:
  Mesher(const fs::path& geometry, const GmshOptions& options) : geometry_(geometry), options_(options) {
    // an absolute path cannot be taken for an option
    if (options.trust) {
      given_ = fs::absolute(geometry);
      return;
    }
    const std::vector<GeometryFile> files = collect_geometry(geometry);
    for (const GeometryFile& file : files) write_file(folder_.path(), input() / file.name, file.bytes);
    given_ = input() / files.front().name;
  }

  // A mesh that may hold elements turned inside out.
  Mesh mesh(bool optimise, Diagnostics& diagnostics) const {
    const fs::path mesh_file = folder_.path() / fmt::format("mesh-{}.msh", optimise);
    const fs::path option_file = folder_.path() / fmt::format("options-{}.geo", optimise);
    ConfinedOptions run;
    run.folder = folder_.path();
    run.log = folder_.path() / fmt::format("log-{}.txt", optimise);
    run.trusted = options_.trust;
    write_file(folder_.path(), option_file, options_text(options_, optimise));
    write_file(folder_.path(), run.log, "");
    // OpenCASCADE converts STEP and IGES to millimetres, said aloud here so that no user setting changes it
    run.arguments = {options_.program, given_.string(), option_file.string(), "-3", "-setstring"};
    for (const std::string& word :
         {std::string("Geometry.OCCTargetUnit"), std::string("MM"), std::string("-o"), mesh_file.string()})
      run.arguments.push_back(word);
    const int status = start(run);

    const Words words = sort_words(without_copies(read_file(run.log)));
    for (const std::string& warning : words.warnings)
      diagnostics.warn("gmsh.warning." + warning.substr(0, 80), "gmsh warns: " + warning,
                       {geometry_.string(), 0});
    if (WIFSIGNALED(status)) {
      check_room(folder_.path());
      fail("{}: gmsh was ended by signal {} ({})", geometry_.string(), WTERMSIG(status),
           strsignal(WTERMSIG(status)));
    }
    if (WEXITSTATUS(status) != 0 || !is_there(mesh_file)) {
      check_room(folder_.path());
      std::string said;
      for (const std::string& error : words.errors) said += "\n  " + error;
      if (said.empty()) said = fmt::format(" nothing, and ended with exit code {}", WEXITSTATUS(status));
      if (!options_.trust && said.find("pen file") != std::string::npos)
        said +=
            "\n  (gmsh sees the geometry and the files that it includes by name; --trust-geometry lets it "
            "run where the geometry is)";
      fail_input(SourcePos{geometry_.string(), 0}, "gmsh could not mesh this geometry; it says:{}", said);
    }
    try {
      // messages shall name the user's file, not the temporary one that is gone when they are read
      Mesh mesh = read_gmsh(read_file(mesh_file), geometry_.string() + " (meshed by gmsh)", diagnostics);
      mesh.source = geometry_.string();
      return mesh;
    } catch (const InputError&) {
      check_room(folder_.path());  // a file cut short
      throw;
    }
  }

 private:
  fs::path input() const { return folder_.path() / "input"; }

  int start(const ConfinedOptions& run) const try {
    return run_confined(run).status;
  } catch (const Error& e) {
    fail(
        "{}; it makes the mesh of a geometry: install it (Debian and Ubuntu: apt install gmsh), or make the "
        "mesh elsewhere and give the .msh file",
        e.what());
  }

  // What gmsh prints, with the user's own names of files.
  std::string without_copies(std::string log) const {
    if (options_.trust) return log;
    const std::string copies = input().string() + "/";
    const fs::path folder = geometry_.parent_path();
    const std::string own = folder.empty() ? "" : (folder / "").string();
    for (size_t at = 0; (at = log.find(copies, at)) != std::string::npos; at += own.size())
      log.replace(at, copies.size(), own);
    return log;
  }

  PrivateFolder folder_;
  fs::path geometry_, given_;
  GmshOptions options_;
};

}  // namespace

Mesh mesh_with_gmsh(const fs::path& geometry, const GmshOptions& given, Diagnostics& diagnostics) {
  GmshOptions options = given;
  options.trust = given.trust || geometry_is_trusted();
  if (options.order != 1 && options.order != 2)
    fail_input("gmsh: expected order 1 (linear) or 2 (quadratic), found {}", options.order);
  if (!std::isfinite(options.size) || options.size < 0)
    fail_input("gmsh: expected an element size of 0 (as the file says) or more, found {}", options.size);
  check_is_file(geometry);

  const Mesher mesher(geometry, options);
  Diagnostics first;  // of the mesh that counts in the end
  const auto take = [&] {
    for (const Warning& warning : first.warnings())
      for (long k = 0; k < warning.count; ++k) diagnostics.warn(warning.key, warning.message, warning.where);
  };
  Mesh mesh = mesher.mesh(false, first);
  // Mid-side nodes on curved faces may turn elements inside out; gmsh can mend most of them, which takes as
  // long as meshing again and changes nothing elsewhere.
  const UnsoundElements before = options.order == 1 ? UnsoundElements{} : find_unsound_elements(mesh);
  if (before.count == 0) {
    take();
    return mesh;
  }
  mesh = mesher.mesh(true, diagnostics);
  const int left = find_unsound_elements(mesh).count;
  diagnostics.warn("gmsh.optimised",
                   fmt::format("{} elements were turned inside out by curved faces; gmsh's optimisation of "
                               "quadratic elements has left {}",
                               before.count, left == 0 ? std::string("none") : fmt::format("{}", left)),
                   {geometry.string(), 0});
  return mesh;
}

}  // namespace lissom

// Which files an output may replace: those that Lissom wrote itself, and none that the running job reads.
// AtomicFile and the writers of growing files ask here, so that no verb can forget it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

namespace lissom {

// What Lissom writes, as the content of a file says; names say nothing.
enum class OwnFile : std::uint8_t {
  None,        // somebody else's, or damaged beyond recognition
  Hdf5,        // attribute format = "lissom-..."
  Exodus,      // written_by
  Page,        // the generator of an HTML page
  Json,        // summaries, manifests, analyses
  Table,       // CSV whose heading only Lissom writes, or that lies beside the result it was written with
  Response,    // CSV of frequency responses
  Matlab,      // of a linearisation
  Checkpoint,  // of a run
  Exported,    // a model as a program: sources, FMU
};

// Looks into the file, also of older versions of Lissom. Does not throw.
OwnFile own_file(const std::filesystem::path& path);

// Throws InputError where something is there that an output must not replace: an input of the running job
// (InputGuard), or a file that Lissom did not write. An empty file may be replaced.
void expect_replaceable(const std::filesystem::path& path);
// The same for a file of the user's choice, which replaces only one of its own kind.
void expect_replaceable(const std::filesystem::path& path, OwnFile kind);

// The files that a job reads, while it runs: no output replaces them, by whatever name (links, "./x"). Files
// that are not there count for nothing. Guards may be nested; jobs of several threads protect each other's
// inputs.
class InputGuard {
 public:
  explicit InputGuard(const std::vector<std::filesystem::path>& inputs);
  ~InputGuard();
  InputGuard(const InputGuard&) = delete;
  InputGuard& operator=(const InputGuard&) = delete;

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> files_;  // device and inode
};

}  // namespace lissom

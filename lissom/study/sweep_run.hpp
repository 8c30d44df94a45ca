// The points of a sweep carried out: each in a process of its own, some at a time, by one or several workers
// that share a folder, possibly on several machines.
//
// In the folder: sweep.json is the manifest. While the sweep is not complete, sweep-work/ has task.json, what
// points are computed from; NNNNNN.claim, who computes a point; NNNNNN.json, the result of a point, written
// by the worker that computed it. The coordinator, who holds sweep.lock, makes the manifest of these.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/core/folder_lock.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/study/launch.hpp"
#include "lissom/study/sweep_claims.hpp"
#include "lissom/study/sweep_manifest.hpp"

namespace lissom {

struct StudySweepOptions {
  // Starts a process for each point, as PROGRAM sweep STUDY --out DIR --point K. Empty: all points in this
  // process, one after the other, which a point that crashes ends.
  std::filesystem::path program;
  std::vector<std::string> launcher;   // words put before it, as srun -N1 -n1 --exclusive
  std::vector<StudySetting> settings;  // that the study was read with
  std::optional<std::string> text;     // of the study without them; none: that of its file
  int jobs = 0;                        // processes at a time; 0: as many as cores
  double timeout = 0;                  // of a point [s]; 0: none
  bool resume = false;                 // keep what is done; begins where there is nothing
  bool retry_failed = false;           // with resume: points that failed once more
  bool keep_results = false;           // files of every point in points/NNNNNN
  bool join = false;                   // help whoever works on it, or begin; does not wait for others
  double patience = 60;                // [s] without heartbeat after which a worker elsewhere is dead
  Launch launch;                       // one of several: rank 0 coordinates, the others join it
};

// Computes a point in this process; results go to the folder, if there is one.
using PointRunner = std::function<SweepValues(const StudyFile& point, const std::filesystem::path& folder,
                                              Diagnostics& diagnostics)>;

struct SweepOutcome {
  SweepManifest manifest;
  bool finished = false;  // the manifest is complete, and the table is for the caller to write
  int computed = 0;       // points, by this worker
  std::shared_ptr<Claim> lock;
  std::shared_ptr<FolderLock> folder_lock;
};

// Throws InputError: no [sweep], a folder where somebody else works, a study that is not what it was; Error:
// `stop` asked for the end, after what is running was told so, or files cannot be written.
SweepOutcome run_points(const StudyFile& study, const std::filesystem::path& out, const PointRunner& runner,
                        Diagnostics& diagnostics, const ProgressHook& progress,
                        const std::function<bool()>& stop, const StudySweepOptions& options);

// What a process that computes a point starts from.
struct PointTask {
  std::string id;   // of the sweep
  StudyFile study;  // whose sweep holds this point alone
  bool keep_results = false;
};
PointTask read_point_task(const std::filesystem::path& out, size_t point);
// Where it leaves its result (write_point_file), and those of files that are kept.
std::filesystem::path point_values_file(const std::filesystem::path& out, size_t point);
std::filesystem::path point_folder(const std::filesystem::path& out, size_t point);

}  // namespace lissom

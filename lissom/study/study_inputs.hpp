// Studies that are read for a job which writes files: no file that a study is made of is replaced meanwhile.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "lissom/core/own_file.hpp"
#include "lissom/core/read_files.hpp"
#include "lissom/study/job.hpp"

namespace lissom {

// A study, and its guarded files: itself, what it includes, tables, meshes, matrices, bodies, models and
// trajectories.
struct GuardedStudy {
  StudyFile study;
  std::unique_ptr<const InputGuard> inputs;
};
// Throws InputError like StudyInput::read().
GuardedStudy read_guarded(const StudyInput& input, const std::filesystem::path& rom = {});

// The guard of a study that was read while `read` lived, and of further files.
std::unique_ptr<const InputGuard> guard_inputs(const StudyFile& study, const ReadFiles& read,
                                               const std::vector<std::filesystem::path>& further = {});

}  // namespace lissom

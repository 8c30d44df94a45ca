#include "lissom/study/study_inputs.hpp"

#include "lissom/io/output_names.hpp"

namespace lissom {

std::unique_ptr<const InputGuard> guard_inputs(const StudyFile& study, const ReadFiles& read,
                                               const std::vector<std::filesystem::path>& further) {
  std::vector<std::filesystem::path> paths = files_named_in(study);
  paths.insert(paths.end(), read.paths().begin(), read.paths().end());
  paths.insert(paths.end(), further.begin(), further.end());
  return std::make_unique<const InputGuard>(paths);
}

GuardedStudy read_guarded(const StudyInput& input, const std::filesystem::path& rom) {
  const ReadFiles read;
  GuardedStudy out;
  out.study = input.read(rom);
  out.inputs = guard_inputs(out.study, read, {rom});
  return out;
}

}  // namespace lissom

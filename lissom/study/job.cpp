#include "lissom/study/job.hpp"

#include "lissom/core/text.hpp"
#include "lissom/io/rom_file.hpp"
#include "lissom/study/training_processes.hpp"

namespace lissom {

StudyFile StudyInput::read(const std::filesystem::path& rom) const {
  return text ? parse_study(*text, file, rom, settings) : read_study_file(file, rom, settings);
}

TrainingRunner StudyInput::runner(const JobContext& context, double checkpoint) const {
  if (text || context.program.empty()) return {};
  return training_processes(context.program, file, settings, checkpoint, context.stop);
}

bool is_study(const std::string& file) {
  return to_lower(std::filesystem::path(file).extension().string()) == ".toml";
}

bool is_rom(const std::string& file) {
  return !is_study(file) && std::filesystem::is_regular_file(file) && is_rom_file(file);
}

std::filesystem::path default_folder(const std::string& file) {
  std::filesystem::path stem = std::filesystem::path(file).stem();
  if (stem.extension() == ".rom") stem = stem.stem();
  return stem.string() + ".out";
}

}  // namespace lissom

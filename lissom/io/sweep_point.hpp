// One point of a study's [sweep], read without the others.
#pragma once

#include "lissom/io/study_file.hpp"

namespace lissom {

// The study with settings as parse_study() has it, but of its sweep only the point of this number (from 0)
// is read, which `sweep` then holds alone. Throws InputError as that does, and where there is no such point.
StudyFile parse_sweep_point(const std::string& text, const std::filesystem::path& path,
                            const std::vector<StudySetting>& settings, size_t point);

}  // namespace lissom

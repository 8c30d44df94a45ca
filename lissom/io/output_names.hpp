// The files and folders that verbs leave in a folder of results, listed once: 'lissom check' tells them, runs
// look beforehand whether they may be written, and cases, whose folders lie beside them, cannot be called so.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lissom/io/study_file.hpp"
#include "lissom/io/toml_table.hpp"

namespace lissom {

// What 'lissom run' leaves of the study itself, without the folders of cases.
std::vector<std::string> output_files(const StudyFile& study);

// What is wrong with the name of a case, whose folder would lie beside all of these; empty if nothing is.
std::string problem_of_case_name(const std::string& name, const std::vector<BodySpec>& bodies);
// Notes bodies whose files would replace each other, or those of the mechanism.
void check_body_outputs(const StudyFile& study, TomlProblems& problems);

// Throws InputError with all of the files, but for the report, that a run of the study and its cases would
// write to `out` and that must not be replaced (own_file.hpp).
void expect_writable_outputs(const StudyFile& study, const std::filesystem::path& out);

// The files that a study and its cases name. Tables of numbers, which have been read already, are not among
// them.
std::vector<std::filesystem::path> files_named_in(const StudyFile& study);

}  // namespace lissom

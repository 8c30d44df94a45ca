// What the text of a study stands for: includes, [parameters] with "= length/10", and numbers with units. The
// readers see plain numbers only.
#pragma once

#include <filesystem>
#include <string>

#include "lissom/io/toml_table.hpp"

namespace lissom {

// The line of a text at which brackets or dotted keys are nested deeper than any study's, which a parser that
// calls itself for each level would not survive; 0 where there is none.
long line_nested_too_deep(std::string_view text);

// The study in a text. Throws InputError naming file and line where it is no TOML.
TomlValue parse_toml(const std::string& text, const std::filesystem::path& path);

// Puts the files that `include` names beneath the study's own keys, and takes `include` out. Tables are
// merged key by key, lists of tables by the names of their entries (those without are appended, the included
// ones first); of all else the study's own counts, and of several files the last. File names that stand in an
// included file are made relative to the study's folder. A file that is met several times is read once, and
// its entries without a name are there once. Notes files that are missing, no TOML, include themselves, or
// are more than 32 deep or 1000 in all. Returns whether there were any.
bool merge_includes(TomlValue& root, const std::filesystem::path& path, TomlProblems& problems);

// Replaces "= EXPRESSION" by its number, numbers with units by those in the study's (or body's) system, and
// names of parameters in functions of time by their values. Notes every problem at its key, which is then
// closed.
void resolve_numbers(TomlValue& root, const std::string& file, TomlProblems& problems);

}  // namespace lissom

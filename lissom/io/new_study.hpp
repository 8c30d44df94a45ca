// Studies to begin with, for `lissom new`: their files with comments made of the schema.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace lissom {

struct NewStudyKind {
  std::string name;     // "mechanism"
  std::string meaning;  // in a sentence
};

// In the order in which they are listed; the first is the default.
const std::vector<NewStudyKind>& new_study_kinds();

// The files of a study of that kind, names and texts: the study itself first, called NAME.toml. `schema` is
// what editors are told to check it by (#:schema); empty: nothing. Throws InputError: no such kind.
std::vector<std::pair<std::string, std::string>> new_study(const std::string& kind, const std::string& name,
                                                           const std::string& schema);

}  // namespace lissom

// What differs between two versions of a study file.
#pragma once

#include <string>
#include <vector>

namespace lissom {

// The keys of the study, or of one of its cases, that are not the same in two texts of it, as sentences:
// "simulate.step: 0.001, was 0.002", "loads.push.factor: 2, is new", "gravity: is gone, was ..". Comments,
// the order of keys, the title and other cases do not count. Entries of lists go by their name where they
// have one.
std::vector<std::string> study_changes(const std::string& now, const std::string& before,
                                       const std::string& case_name);

}  // namespace lissom

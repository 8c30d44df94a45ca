// The parameters that a training with method = "pod" and its tests will set, looked at before any of them is
// simulated.
#pragma once

#include <vector>

#include "lissom/io/study_file.hpp"
#include "lissom/io/toml_table.hpp"

namespace lissom {

// Values that the study does not take, parameter by parameter, and then combinations of them, each with the
// key of the parameter, or of [train] and its tests, and with its line; empty: every sample, candidate and
// test is a study whose beams can be built. Of more than a hundred points some are looked at, the first and
// the last among them, and of each parameter the smallest and the largest value. The study has [train] with
// method = "pod".
std::vector<TomlProblem> problems_of_pod_points(const StudyFile& study);

}  // namespace lissom

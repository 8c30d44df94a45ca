// What a small model cannot carry, as far as the study alone tells: said by `lissom check` and before
// anything is computed or written.
#pragma once

#include <vector>

#include "lissom/io/study_file.hpp"
#include "lissom/io/toml_table.hpp"

namespace lissom {

// What is wrong with the SLAP model that `asking` wants: the study itself, one of its cases or a point of its
// sweep. Its bodies and joints are those of `study`, its motions those of the runs that [train] names, and it
// starts where the first of them does. Nothing where there is no [train], or one with method = "pod", whose
// models are made of the beams and joints that each run has.
//   bodies without finite elements; without component modes where these are asked for
//   joints that are driven: the model has no drive and would stand still
//   bodies and joints that are not those of the study
//   a start that is not that of the training
//   stress, where the model is to have no nodes or no stress modes
std::vector<TomlProblem> training_problems(const StudyFile& study, const StudyFile& asking);

}  // namespace lissom

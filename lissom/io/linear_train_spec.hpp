// What a study asks of a training with method = "linear": the state, and how to truncate. Keys:
// docs/reference/study-file.md.
#pragma once

#include "lissom/io/analysis_spec.hpp"
#include "lissom/rom/linear/linear_options.hpp"

namespace lissom {

class TomlTable;

struct LinearTrainSpec {
  LineariseSpec::About about = LineariseSpec::About::Start;
  double time = 0;  // [s]
  LinearOptions options;
};

// Notes every problem of the table, unknown keys included.
LinearTrainSpec read_linear_train_spec(TomlTable& table, const UnitSystem& units);

}  // namespace lissom

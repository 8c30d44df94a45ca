// What a study asks of a body's GCMS basis: [bodies.NAME.gcms].
#pragma once

#include <optional>
#include <vector>

#include "lissom/cms/gcms.hpp"

namespace lissom {

class TomlTable;

struct GcmsSpec {
  std::vector<int> modes;  // numbers of flexible modes from 1, in the order of the columns
  bool scalar = true, algorithm_1 = false;
  ScalarGcmsOptions scalar_options;
  Algorithm1Options algorithm_1_options;
  std::vector<double> thresholds;    // of the sweep; none: no sweep
  std::optional<double> pair_angle;  // [rad] turn pairs of equal frequency, see turn_equal_modes()
  SourcePos where;
};

// Notes every problem of the table, unknown keys included.
GcmsSpec read_gcms_spec(TomlTable& table);

}  // namespace lissom

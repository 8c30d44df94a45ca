// What a study asks of a training: [train]. Keys: docs/reference/study-file.md.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lissom/io/linear_train_spec.hpp"
#include "lissom/io/pod_train_spec.hpp"
#include "lissom/io/snapshot_file.hpp"
#include "lissom/rom/slap/slap_options.hpp"

namespace lissom {

class TomlTable;

struct TrainSpec : SlapOptions {          // those of method = "slap"; its stress is where the study wants any
  std::optional<PodTrainSpec> pod;        // method = "pod"
  std::optional<LinearTrainSpec> linear;  // method = "linear"
  bool is_slap() const { return !pod && !linear; }
  std::string_view method() const { return pod ? "pod" : linear ? "linear" : "slap"; }
  std::vector<std::string> runs;  // cases whose motions train; "" is the study itself, which is the default
  std::vector<TrajectorySpec> trajectories;  // in place of runs: motions from another program
  bool stress_given = false;                 // otherwise it is what the study and its cases need
  std::vector<std::string> places;  // further places "BODY.PLACE" for loads and sensors of later studies
  SourcePos where;
};

// Notes every problem of the table, unknown keys included. `folder` is that of the study file, `root` all of
// it.
TrainSpec read_train_spec(TomlTable& table, const TomlValue& root, const UnitSystem& units,
                          const std::vector<std::string>& bodies, const std::filesystem::path& folder);

}  // namespace lissom

// What a study asks of a training: [train]. Keys: docs/reference/study-file.md.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lissom/fe/stress_recovery.hpp"
#include "lissom/io/linear_train_spec.hpp"
#include "lissom/io/pod_train_spec.hpp"
#include "lissom/io/snapshot_file.hpp"
#include "lissom/rom/slap/slap_model.hpp"

namespace lissom {

class TomlTable;

struct TrainSpec {
  std::optional<PodTrainSpec> pod;        // method = "pod"
  std::optional<LinearTrainSpec> linear;  // method = "linear"; what follows is that of "slap"
  bool is_slap() const { return !pod && !linear; }
  std::string_view method() const { return pod ? "pod" : linear ? "linear" : "slap"; }
  std::optional<int> order;  // m; proposed where it is not given
  int max_order = 20;        // orders looked at
  int reference = 1;         // sample of the first run, from one, that is the reference configuration
  double tolerance = 0;      // of the reconstruction, root of the mean square [m]; 0: 1.5e-10 of the size
  std::vector<std::string> runs;  // cases whose motions train; "" is the study itself, which is the default
  std::vector<TrajectorySpec> trajectories;  // in place of runs: motions from another program
  bool project_on_joints = true;
  bool component_modes = true;  // compress with the bodies' component modes; false: from the data alone
  bool reconstruct = true;      // simulate the training runs with every order
  bool recovery = true;         // keep the nodes in the ROM file
  // keep strain and stress modes of the nodes, too; where it is not given, what the study and its cases need
  bool stress_given = false;
  StressOptions stress = {false, false};
  SlapForm form = SlapForm::Automatic;  // `kernel`: what the model's forces come from
  double mass_damping = 0;  // zeta of paper 000, Eq. 47 [1/s]
  double noise = 0;         // [m] rigid noise added to the training data, part by part: for experiments
  std::vector<std::string> places;  // further places "BODY.PLACE" for loads and sensors of later studies
  SourcePos where;
};

// Notes every problem of the table, unknown keys included. `folder` is that of the study file, `root` all of
// it.
TrainSpec read_train_spec(TomlTable& table, const TomlValue& root, const UnitSystem& units,
                          const std::vector<std::string>& bodies, const std::filesystem::path& folder);

}  // namespace lissom

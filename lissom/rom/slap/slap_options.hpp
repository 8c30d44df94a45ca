// How a SLAP model is trained.
#pragma once

#include <optional>

#include "lissom/fe/stress_recovery.hpp"
#include "lissom/rom/slap/slap_model.hpp"

namespace lissom {

struct SlapOptions {
  std::optional<int> order;  // m; proposed where it is not given
  int max_order = 20;        // orders looked at
  int reference = 1;         // sample of the first run, from one, that is the reference configuration
  double tolerance = 0;      // of the reconstruction, root of the mean square [m]; 0: 1.5e-10 of the size
  bool project_on_joints = true;  // models satisfy linear joints exactly; false: they know them from the data
  bool component_modes = true;    // compress with the bodies' component modes; false: from the data alone
  bool reconstruct = true;        // simulate the training runs with every order
  bool recovery = true;           // keep the nodes in the model
  StressOptions stress = {false, false};  // keep strain and stress modes of the nodes, too
  SlapForm form = SlapForm::Automatic;    // what the models' forces come from
  double mass_damping = 0;                // zeta of paper 000, Eq. 47 [1/s]
  double noise = 0;  // [m] rigid noise added to the training data, part by part: for experiments
};

}  // namespace lissom

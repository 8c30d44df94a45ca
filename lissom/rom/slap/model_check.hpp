// A run of a small model, judged by the equations of the mechanism that it stands for.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "lissom/rom/slap/slap_reductor.hpp"
#include "lissom/time/run.hpp"

namespace lissom {

// A state of a reduced run put into the full model: what is left of its equations, and what that would move.
struct ModelCheck {
  double t = 0;         // [s]
  double residual = 0;  // |r| over the largest of |inertia|, |internal| and |applied| forces
  double missing = 0;   // largest static displacement of a node by r, motions of the model left out [m]
  double distance = 0;  // from the training (distance_from_training)
};

// At the samples nearest to the times. The full model is the mechanism in all of the component modes, joints exact;
// `make_system` puts it under the loads of the run. `trained` is null where it is not known.
std::vector<ModelCheck> check_model(
    const SlapReduction& training, const Trajectory& run, const std::vector<double>& times,
    const SlapTraining* trained,
    const std::function<std::unique_ptr<System>(const SlapModel& full)>& make_system);

}  // namespace lissom

// How far the nodes of two runs of a mechanism are apart.
#pragma once

#include <limits>

#include "lissom/mbs/system.hpp"
#include "lissom/rom/slap/slap_reductor.hpp"
#include "lissom/time/run.hpp"

namespace lissom {

// At common samples; not numbers where there are none.
struct NodalError {
  double epsilon = std::numeric_limits<double>::quiet_NaN();  // sum of squares (Eq. 70) [m2]
  double largest = std::numeric_limits<double>::quiet_NaN();  // distance of a node [m]
  double motion = std::numeric_limits<double>::quiet_NaN();   // largest, of a node from its first place [m]
};

// Between a run of the full system and one of a model of the training.
NodalError nodal_error(const SlapReduction& training, const System& system, const Trajectory& reference,
                       const Trajectory& rom);
// Of any two systems whose bodies have the same nodes.
NodalError nodal_error(const System& system, const Trajectory& reference, const System& other_system,
                       const Trajectory& other);

}  // namespace lissom

// A System and the SLAP model that stands for it: the training of one that was built in code, and the model under its
// loads, inputs and sensors.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lissom/mbs/sensor.hpp"
#include "lissom/rom/slap/slap_reductor.hpp"
#include "lissom/time/run.hpp"

namespace lissom {

// Joints of a system, and the places of its joints, loads and sensors, every interface besides. `bodies` are in the
// system's order, with the finite elements that they were reduced from; names and placements are the system's. Throws
// InputError where their number differs, SubjectError for markers at points that are no nodes.
SlapMechanism slap_mechanism(const System& system, std::vector<SlapSource> bodies,
                             const std::vector<Sensor>& sensors = {});

struct SlapSystem {
  std::unique_ptr<System> system;  // of one body, "mechanism"
  std::vector<Sensor> sensors;
};

// The model with the gravity, loads and inputs of the system that it stands for, at the same places. Joints are part of
// it: their sensors, and those of stress, are left out with a warning. Throws InputError for places that the model does
// not have.
SlapSystem slap_system(const SlapModel& model, const System& system, const std::vector<Sensor>& sensors,
                       Diagnostics& diagnostics);

// A run of a system, all samples of its states kept, and how it was done. What is pointed to outlives the training.
struct SlapMotion {
  const System* system = nullptr;
  const Trajectory* run = nullptr;
  RunOptions options;  // the run is repeated with these, its controller included, for every order
};

// Trains on motions of one mechanism, whose joints are those of the first one's system.
SlapReduction train_slap(std::span<const SlapMotion> motions, std::vector<SlapSource> bodies,
                         const SlapOptions& options, Diagnostics& diagnostics,
                         const ProgressHook& progress = {}, const std::function<bool()>& stop = {});

}  // namespace lissom

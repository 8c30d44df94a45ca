// A linear model under the loads and sensors of a study, and its simulation.
#pragma once

#include "lissom/io/linear_file.hpp"
#include "lissom/rom/linear/linear_rom.hpp"
#include "lissom/study/simulate.hpp"

namespace lissom {

// A model with the loads of the study that it came from, which says where they act.
struct LinearMechanism {
  LinearFile file;
  SimulationSpec own;
};
// The study in the file is read again. Throws InputError where it cannot be.
LinearMechanism linear_mechanism(LinearFile file, const std::filesystem::path& path);

// The model under the loads, inputs and sensors of a study, its own or another one. Throws InputError with all
// that the model does not have or that acts elsewhere, by name: loads whose direction is another or changes,
// springs, sensors, gravity. Inputs that the study says nothing of stay as at the operating point, unless they are
// `needed`: then they are among the problems.
LinearRom linear_rom(const StudyFile& study, const LinearMechanism& mechanism, Diagnostics& diagnostics,
                     bool needed = false);

// Simulates study.simulation and leaves sensors.csv (the study's units) and result.h5 (SI; q is x, v its rate) in
// `folder`. Throws InputError where the study cannot be simulated, also for what linear models do not know; Error
// where numbers are not finite.
SimulationRun simulate_linear(const StudyFile& study, const std::filesystem::path& folder,
                              const LinearMechanism& mechanism, Diagnostics& diagnostics,
                              const SimulationOptions& options = {});

}  // namespace lissom

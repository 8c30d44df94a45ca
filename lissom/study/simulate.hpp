// A simulation that a study asks for, carried out: checks, consistent start, integration, files, balance.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lissom/io/result_file.hpp"
#include "lissom/study/build_system.hpp"
#include "lissom/time/run.hpp"

namespace lissom {

struct SimulationOptions {
  bool write_files = true;
  // Asked before every step; true ends the run as if it had failed there.
  std::function<bool()> stop;
  // Goes on where a run in the folder ended, was stopped or was killed. Every sample is what it would have
  // been without; a run that is complete is read from its file.
  bool resume = false;
  double checkpoint = 5;  // [s] between checkpoints
  bool balance = false;   // keep the balance of every sample in memory (SimulationRun::balance)
  // What stays in memory of every sample; what does not is in the files, from where frames() reads. Ignored without
  // files, and where stress or ParaView need states.
  RunOptions::Keep keep = RunOptions::Keep::States;
  Controller controller;
};

// A trajectory, which training needs, with what its study says of it.
struct SimulationRun : Trajectory {
  std::string text;                          // for people
  nlohmann::json summary;                    // steps, seconds, energy_drift, constraint_drift, ...
  std::vector<std::string> columns;          // of the sensors, "tip.x"
  std::vector<std::string> sensor_units;     // of the columns in SI units, "m/s"
  Eigen::VectorXd time;                      // of the samples, in the study's units
  Eigen::MatrixXd sensors;                   // samples by columns, in the study's units
  std::shared_ptr<const StudySystem> built;  // whose nodes the states move
  std::filesystem::path result_path;         // of result.h5; empty: no files

  // Times [s] and positions (coordinates by their number) of some samples, from memory or from result.h5.
  ResultFrames frames(const std::vector<Eigen::Index>& chosen) const;
};

// Simulates study.simulation and leaves sensors.csv (the study's units) and result.h5 (SI) in `folder`, which
// is made, and checkpoint.lissom while the run is not complete. Throws InputError where the study cannot be
// simulated or resumed, Error where the run fails; the message then says until when the files have the
// result.
// A reduced mechanism says at every sample how far it is from what it was trained on (/trust of result.h5,
// "trust" of the summary), and warns beyond trust_threshold.
SimulationRun simulate(const StudyFile& study, const std::filesystem::path& folder, StudySystem built,
                       Diagnostics& diagnostics, const ProgressHook& progress = {},
                       const SimulationOptions& options = {});

// The same with the system made here, of the study's bodies or of study.rom. A study with model = "slap"
// whose model is to be trained goes through build_rom_system() and the above.
SimulationRun simulate(const StudyFile& study, const std::filesystem::path& folder, BodyStore& store,
                       Diagnostics& diagnostics, const ProgressHook& progress = {},
                       const SimulationOptions& options = {});

// What would be solved: bodies, joints, constraints, degrees of freedom. Reduces bodies as needed.
SimulationRun inspect_simulation(const StudyFile& study, BodyStore& store, Diagnostics& diagnostics,
                                 const ProgressHook& progress = {});

}  // namespace lissom

// A training that a study asks for, carried out: its motions, and rom/slap/slap_reductor.hpp with them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lissom/io/rom_file.hpp"
#include "lissom/rom/nodal_error.hpp"
#include "lissom/rom/slap/model_check.hpp"
#include "lissom/study/build_system.hpp"
#include "lissom/study/simulate.hpp"

namespace lissom {

// All that a training found, and the model to be written.
struct Training : SlapReduction {
  RomFile rom;
};

// Motions that were simulated, by case, as SimulationRun::states has them.
using TrainingMotions = std::map<std::string, SimulationRun>;

// Trains on study.train. Runs of the study that are not in `motions` are simulated (without files) and added
// to it. Throws InputError with the place in the study file.
Training train(const StudyFile& study, BodyStore& store, TrainingMotions& motions, Diagnostics& diagnostics,
               const ProgressHook& progress = {}, const std::function<bool()>& stop = {});

// What a training depends on but the order, as a text: studies with the same key share one.
std::string training_key(const TrainSpec& spec);

// rom/nodal_error.hpp, of runs of studies.
NodalError nodal_error(const SlapReduction& training, const SimulationRun& reference,
                       const SimulationRun& rom);
NodalError nodal_error(const SimulationRun& reference, const SimulationRun& other);

// rom/slap/model_check.hpp, under the study's loads.
std::vector<ModelCheck> check_model(const SlapReduction& training, const StudyFile& study,
                                    const SimulationRun& run, const std::vector<double>& times,
                                    Diagnostics& diagnostics);
std::string describe_checks(const std::vector<ModelCheck>& checks);
nlohmann::json checks_json(const std::vector<ModelCheck>& checks);

// Writes model.rom.h5 and the CSV files of the figures (singular values, orders); returns the paths
// relative to the folder.
std::vector<std::string> write_training(const Training& training, const std::filesystem::path& folder);
std::string describe_training(const Training& training);
nlohmann::json training_json(const Training& training);

}  // namespace lissom

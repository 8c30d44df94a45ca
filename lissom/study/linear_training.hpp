// A training with method = "linear", carried out: the state, the linearised mechanism, its truncation.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "lissom/io/linear_file.hpp"
#include "lissom/io/study_file.hpp"
#include "lissom/study/build_system.hpp"

namespace lissom {

struct LinearTraining {
  LinearFile rom;
  double seconds = 0;
};

// The study with model = "full": the mechanism that is linearised.
StudyFile with_full_model(const StudyFile& study);

// Of study.train->linear. `make` builds the study's system; called once or twice. Sensors that have no linear part
// are left out with a warning. Throws InputError: a state that is no equilibrium, motions that are prescribed over
// time, and what truncate() throws.
LinearTraining train_linear(const StudyFile& study, const std::function<StudySystem()>& make,
                            Diagnostics& diagnostics, const ProgressHook& progress = {},
                            const std::function<bool()>& stop = {});

// Writes model.rom.h5 and, where there are Hankel values, hankel.csv; returns the paths relative to the folder.
std::vector<std::string> write_linear_training(const LinearTraining& training,
                                               const std::filesystem::path& folder);
std::string describe_linear_training(const LinearTraining& training);
nlohmann::json linear_training_json(const LinearTraining& training);

// What `lissom inspect` shows.
std::string describe_rom(const LinearFile& rom);
nlohmann::json rom_json(const LinearFile& rom);

}  // namespace lissom

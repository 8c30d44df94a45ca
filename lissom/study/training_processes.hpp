// Full simulations of a training as processes of their own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lissom/study/pod_training.hpp"

namespace lissom {

// Starts the program `lissom` as `simulate STUDY --set .. --out FOLDER --json` for every run, with one thread
// each.
// Where `stop` asks for it the processes are told to end, which they do in good order.
TrainingRunner training_processes(const std::filesystem::path& program, const std::string& study,
                                  const std::vector<StudySetting>& settings, double checkpoint,
                                  std::function<bool()> stop);

// What the process of a run prints, for its message, until the run is over; beside its folder.
std::filesystem::path training_messages(const TrainingRun& run);

}  // namespace lissom

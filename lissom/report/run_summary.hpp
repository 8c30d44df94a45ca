// What a run has to say, on one screen: from summary.json and the files beside it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>

#include "lissom/core/terminal.hpp"

namespace lissom {

// Bodies with their reduction and its error, training, models with unknowns, error and speed, analyses, the
// main sensors as small curves, drifts, the number of warnings. Long tables are cut, with the number of rows
// left out. Names are printable. `folder` has sensors.csv of the runs; empty: no curves.
std::string run_summary(const nlohmann::json& summary, const std::filesystem::path& folder,
                        const Terminal& terminal);

// The first sensor of a table (sensors.csv), a line for each component that moves; empty where there is none,
// or no room for a curve.
std::string sensor_curves(const std::filesystem::path& file, const Terminal& terminal);

}  // namespace lissom

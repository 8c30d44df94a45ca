// Linearisation and frequency response of a study, and sweeps of its parameters.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lissom/study/linearise.hpp"
#include "lissom/study/response.hpp"

namespace lissom {

// What a study's [linearise] and [response] ask for.
struct Analyses {
  std::optional<Linearisation> linearisation;
  std::optional<FrequencyResponse> response;
};

// `make` builds the system of the study.
Analyses analyse(const StudyFile& study, const std::function<StudySystem()>& make, Diagnostics& diagnostics,
                 const ProgressHook& progress = {}, const std::function<bool()>& stop = {});

// linearisation.json, linearisation.mat, response.csv and response.json in `folder`, which is made; their
// names. Nothing where nothing was asked for.
std::vector<std::string> write_analyses(const Analyses& analyses, const std::filesystem::path& folder);
// Into a summary: "linearisation" and "response" without what only files have.
void add_to_summary(const Analyses& analyses, nlohmann::json& summary);
std::string describe_analyses(const StudyFile& study, const Analyses& analyses);

// Numbers of one point of a sweep, each with its name, in their order.
using SweepValues = std::vector<std::pair<std::string, double>>;
// Last, largest and smallest value of each sensor; frequencies; the highest peak of each response.
SweepValues sweep_values(const SimulationRun* run, const Analyses& analyses, int modes);

struct SweepTable {
  std::vector<std::string> keys;     // of the parameters
  std::vector<std::string> columns;  // of the results, all that any point has
  struct Row {
    std::vector<std::string> parameters;
    std::vector<std::optional<double>> values;  // by column
    std::string problem;                        // why the point has none
  };
  std::vector<Row> rows;
  int failed() const;
};

// All points of study.sweep, one after the other; those that fail are noted and the others go on. `run` gives
// the values of a point. Throws Error where all fail, or `stop` asks for the end.
SweepTable sweep(const StudyFile& study, const std::function<SweepValues(const StudyFile&)>& run,
                 Diagnostics& diagnostics, const ProgressHook& progress = {},
                 const std::function<bool()>& stop = {});
nlohmann::json sweep_json(const SweepTable& table);
std::string describe_sweep(const SweepTable& table);
void write_sweep(const SweepTable& table, const std::filesystem::path& path);

}  // namespace lissom

// The results of a sweep as a table: for the terminal, as JSON, as sweep.csv.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lissom/study/analyses.hpp"
#include "lissom/study/simulate.hpp"
#include "lissom/study/sweep_manifest.hpp"

namespace lissom {

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

// The table of a sweep whose points are over, in their order.
SweepTable sweep_table(const SweepManifest& manifest);
nlohmann::json sweep_json(const SweepTable& table);
std::string describe_sweep(const SweepTable& table);
void write_sweep(const SweepTable& table, const std::filesystem::path& path);

}  // namespace lissom

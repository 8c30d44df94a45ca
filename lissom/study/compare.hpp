// Sensors of two runs of the same mechanism side by side.
#pragma once

#include <Eigen/Core>

#include <filesystem>
#include <string>
#include <vector>

#include "lissom/study/simulate.hpp"

namespace lissom {

struct SensorDifference {
  std::string column;  // "tip.x"
  double largest = 0;  // |difference| over the samples that both have, in the study's units
  double at = 0;       // its time
  double rms = 0;      // root of the mean square
  double scale = 0;    // largest |value| of the reference
};

struct SensorComparison {
  std::vector<SensorDifference> sensors;  // columns that both have
  Eigen::VectorXd time;                   // times that both have
  Eigen::MatrixXd differences;            // times by columns
  std::vector<std::string> missing;       // columns of only one of the two
};

// `run` less `reference` at their common times (to a billionth of the interval).
SensorComparison compare_sensors(const SimulationRun& reference, const SimulationRun& run);

// t and the differences, a line a time.
void write_differences(const SensorComparison& comparison, const std::filesystem::path& path);

}  // namespace lissom

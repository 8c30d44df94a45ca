#include "lissom/study/compare.hpp"

#include <algorithm>
#include <cmath>

#include "lissom/core/atomic_file.hpp"

namespace lissom {

SensorComparison compare_sensors(const SimulationRun& reference, const SimulationRun& run) {
  SensorComparison comparison;
  // columns of both, in the order of the reference
  std::vector<Eigen::Index> in_reference, in_run;
  for (size_t c = 0; c < reference.columns.size(); ++c) {
    const auto it = std::find(run.columns.begin(), run.columns.end(), reference.columns[c]);
    if (it == run.columns.end()) {
      comparison.missing.push_back(reference.columns[c]);
      continue;
    }
    in_reference.push_back(static_cast<Eigen::Index>(c));
    in_run.push_back(it - run.columns.begin());
  }
  for (const std::string& column : run.columns)
    if (std::find(reference.columns.begin(), reference.columns.end(), column) == reference.columns.end())
      comparison.missing.push_back(column);

  // times of both, which ascend
  std::vector<std::pair<Eigen::Index, Eigen::Index>> common;
  for (Eigen::Index i = 0, k = 0; i < reference.time.size() && k < run.time.size();) {
    const double interval = i > 0 ? reference.time[i] - reference.time[i - 1] : std::abs(reference.time[i]);
    const double difference = run.time[k] - reference.time[i];
    if (std::abs(difference) <= 1e-9 * interval)
      common.emplace_back(i++, k++);
    else if (difference > 0)
      ++i;
    else
      ++k;
  }
  const auto count = static_cast<Eigen::Index>(common.size()),
             columns = static_cast<Eigen::Index>(in_run.size());
  comparison.time.resize(count);
  comparison.differences.resize(count, columns);
  for (Eigen::Index s = 0; s < count; ++s) {
    const auto [i, k] = common[static_cast<size_t>(s)];
    comparison.time[s] = reference.time[i];
    for (Eigen::Index c = 0; c < columns; ++c)
      comparison.differences(s, c) = run.sensors(k, in_run[c]) - reference.sensors(i, in_reference[c]);
  }
  for (Eigen::Index c = 0; c < columns; ++c) {
    SensorDifference entry;
    entry.column = reference.columns[in_reference[c]];
    if (count > 0) {
      const auto difference = comparison.differences.col(c);
      Eigen::Index where = 0;
      entry.largest = difference.cwiseAbs().maxCoeff(&where);
      entry.at = comparison.time[where];
      entry.rms = std::sqrt(difference.squaredNorm() / static_cast<double>(count));
      entry.scale = reference.sensors.col(in_reference[c]).cwiseAbs().maxCoeff();
    }
    comparison.sensors.push_back(std::move(entry));
  }
  return comparison;
}

void write_differences(const SensorComparison& comparison, const std::filesystem::path& path) {
  AtomicFile file(path);
  std::string line = "t";
  for (const SensorDifference& sensor : comparison.sensors) line += "," + sensor.column;
  file.write(line + "\n");
  for (Eigen::Index i = 0; i < comparison.time.size(); ++i) {
    line = fmt::format("{}", comparison.time[i]);
    for (Eigen::Index c = 0; c < comparison.differences.cols(); ++c)
      line += fmt::format(",{}", comparison.differences(i, c));
    file.write(line + "\n");
  }
  file.commit();
}

}  // namespace lissom

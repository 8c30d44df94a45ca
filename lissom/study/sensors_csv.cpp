#include "lissom/study/sensors_csv.hpp"

#include <cmath>

#include "lissom/core/folder_lock.hpp"

namespace lissom {

using Eigen::VectorXd;

double unit_factor(const SensorColumn& column, const UnitSystem& units) {
  return std::pow(units.length, column.length) * std::pow(units.mass, column.mass) *
         std::pow(units.time, column.time);
}

void rebuild_csv(CsvWriter& csv, const ResultFile& file, std::uint64_t samples, const VectorXd& unit_factors,
                 double time_unit) {
  VectorXd shown;
  for (std::uint64_t k = 0; k < samples; ++k) {
    const auto row = static_cast<Eigen::Index>(k);
    shown = file.sensors.row(row).transpose().cwiseQuotient(unit_factors);
    csv.add(file.time[row] / time_unit, shown);
  }
  csv.keep_until_here();
}

void rebuild_csv(const StudyFile& study, const StudySystem& built, const ResultFile& file,
                 const std::filesystem::path& folder) {
  const SensorBank bank(*built.system, built.sensors);
  const auto columns = static_cast<Eigen::Index>(bank.columns().size());
  if (columns != file.sensors.cols())
    fail_input("{}: has {} columns of sensors, expected {}; run without --resume to start from the beginning",
               (folder / "result.h5").string(), file.sensors.cols(), columns);
  std::vector<std::string> names;
  VectorXd unit_factors(columns);
  for (const SensorColumn& column : bank.columns()) {
    unit_factors[static_cast<Eigen::Index>(names.size())] = unit_factor(column, study.simulation->units);
    names.push_back(column.name);
  }
  const FolderLock lock(folder);
  CsvWriter csv(folder / "sensors.csv", names, CsvWriter::Again{});
  rebuild_csv(csv, file, static_cast<std::uint64_t>(file.samples()), unit_factors,
              study.simulation->units.time);
}

}  // namespace lissom

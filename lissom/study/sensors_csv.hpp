// sensors.csv as the samples in result.h5 give it: the same numbers in the study's units.
#pragma once

#include <filesystem>

#include "lissom/io/csv_writer.hpp"
#include "lissom/io/result_file.hpp"
#include "lissom/study/build_system.hpp"

namespace lissom {

// From the study's unit of a column to SI.
double unit_factor(const SensorColumn& column, const UnitSystem& units);

// The first lines once more, into a file that was opened with CsvWriter::Again: byte for byte what the run
// wrote, because both are made of the same numbers, whatever became of the file meanwhile.
void rebuild_csv(CsvWriter& csv, const ResultFile& file, std::uint64_t samples,
                 const Eigen::VectorXd& unit_factors, double time_unit);

// All of it in the folder of a complete run. Throws InputError where result.h5 has other sensors than the
// system, Error where the file cannot be written.
void rebuild_csv(const StudyFile& study, const StudySystem& built, const ResultFile& file,
                 const std::filesystem::path& folder);

}  // namespace lissom

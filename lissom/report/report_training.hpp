// Trainings of reduced mechanisms in a report, of summaries or of the files that a training leaves.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "lissom/report/report_page.hpp"

namespace lissom {

// POD: samples over the parameters, singular values, angles between bases, tests.
void report_pod(ReportDraft& draft, ReportSection& section, const nlohmann::json& training);

// What training_json() or pod_training_json() would say, as far as orders.csv, modes.csv, samples.csv,
// singular_values.csv, principal_angles.csv, pod_test.csv and model.rom.h5 have it; null without any of them.
// Throws InputError: a damaged or newer file.
nlohmann::json training_of_files(const std::filesystem::path& folder, Diagnostics& diagnostics);
// Of the model alone.
nlohmann::json training_of_model(const std::filesystem::path& file, Diagnostics& diagnostics);

}  // namespace lissom

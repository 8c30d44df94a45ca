// Linearisation and frequency response of a study.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lissom/study/linearise.hpp"

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

}  // namespace lissom

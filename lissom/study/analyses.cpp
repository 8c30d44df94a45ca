#include "lissom/study/analyses.hpp"

#include <nlohmann/json.hpp>

#include "lissom/io/analysis_files.hpp"
#include "lissom/study/summary_json.hpp"

namespace lissom {

using nlohmann::json;

Analyses analyse(const StudyFile& study, const std::function<StudySystem()>& make, Diagnostics& diagnostics,
                 const ProgressHook& progress, const std::function<bool()>& stop) {
  Analyses out;
  if (!study.linearise && !study.response) return out;
  out.linearisation =
      linearise_study(study, study.linearise.value_or(LineariseSpec{}), make, diagnostics, progress, stop);
  if (!study.response) return out;
  if (progress) progress("frequency response", -1);
  out.response = study_response(*out.linearisation, *study.response);
  return out;
}

std::vector<std::string> write_analyses(const Analyses& analyses, const std::filesystem::path& folder) {
  std::vector<std::string> files;
  if (analyses.linearisation || analyses.response) make_folder(folder);
  if (analyses.linearisation) {
    write_json(linearisation_json(*analyses.linearisation), folder / "linearisation.json");
    write_linearisation(*analyses.linearisation, folder / "linearisation.mat");
    files.insert(files.end(), {"linearisation.json", "linearisation.mat"});
  }
  if (analyses.response) {
    write_response(*analyses.response, folder / "response.csv");
    write_json(response_json(*analyses.response), folder / "response.json");
    files.insert(files.end(), {"response.csv", "response.json"});
  }
  return files;
}

void add_to_summary(const Analyses& analyses, json& summary) {
  if (analyses.linearisation) {
    json j = linearisation_json(*analyses.linearisation);
    for (const char* key : {"A", "B", "C", "D", "N", "q", "v"}) j.erase(key);
    summary["linearisation"] = std::move(j);
  }
  if (!analyses.response) return;
  json j = response_json(*analyses.response);
  for (json& pair : j.at("pairs"))
    for (const char* key : {"magnitude", "phase_deg"}) pair.erase(key);
  j["frequencies_hz"] = {{"from", analyses.response->frequencies[0]},
                         {"to", analyses.response->frequencies[analyses.response->frequencies.size() - 1]},
                         {"points", analyses.response->frequencies.size()}};
  summary["response"] = std::move(j);
}

std::string describe_analyses(const StudyFile& study, const Analyses& analyses) {
  std::string text;
  if (analyses.linearisation)
    text +=
        "\n" + describe_linearisation(*analyses.linearisation, study.linearise ? study.linearise->modes : 20);
  if (analyses.response) text += "\n" + describe_response(*analyses.response);
  return text;
}

}  // namespace lissom

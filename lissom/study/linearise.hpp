// A study linearised (time/linearise.hpp) about the state that it names, for people and programs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>

#include "lissom/study/build_system.hpp"
#include "lissom/time/linearise.hpp"
#include "lissom/time/response.hpp"

namespace lissom {

// A state of a study, with the system that it is one of.
struct StudyState {
  StudySystem built;
  std::unique_ptr<SystemEquations> equations;
  State state;             // consistent
  State reference, start;  // what displacements count from, and where a run begins
};
// `make` builds the study's system; called once or twice.
StudyState state_of_study(const StudyFile& study, LineariseSpec::About about, double time,
                          const std::function<StudySystem()>& make, Diagnostics& diagnostics,
                          const ProgressHook& progress = {}, const std::function<bool()>& stop = {});

Linearisation linearise_study(const StudyFile& study, const LineariseSpec& spec,
                              const std::function<StudySystem()>& make, Diagnostics& diagnostics,
                              const ProgressHook& progress = {}, const std::function<bool()>& stop = {});

nlohmann::json linearisation_json(const Linearisation& model);
// With the first `modes` of them.
std::string describe_linearisation(const Linearisation& model, int modes = 20);

// frequency_response() as a study asks for it: errors name its place.
FrequencyResponse study_response(const Linearisation& model, const ResponseSpec& spec);

nlohmann::json response_json(const FrequencyResponse& response);
// The peaks as a table.
std::string describe_response(const FrequencyResponse& response);

}  // namespace lissom

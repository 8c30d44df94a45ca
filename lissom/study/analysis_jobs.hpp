// Analyses of a mechanism about a state: linearised, its frequency response, its static equilibrium, its
// assembly.
#pragma once

#include "lissom/study/linearise.hpp"
#include "lissom/study/mechanism.hpp"
#include "lissom/study/simulate.hpp"

namespace lissom {

struct LineariseJob {
  MechanismInput mechanism;
  std::optional<double> at;   // [s] of the run; none: what [linearise] says, or the start
  bool statics = false;       // about the static equilibrium
  std::filesystem::path out;  // .mat file; empty: none
};
struct LineariseResult : JobResult {
  Linearisation model;
};
// Throws InputError: two states, a negative time, a time without [simulate], and what linearise_study() does.
LineariseResult run_linearise_job(const LineariseJob& job, JobContext& context);

struct ResponseJob {
  LineariseJob state;  // `out` of it is a CSV file here
  // In place of what [response] says, which may be missing where `from` and `to` are given.
  std::optional<double> from, to;  // [Hz]
  std::optional<int> points;
  std::optional<bool> logarithmic;
  std::vector<std::string> inputs, outputs;  // empty: all
};
struct ResponseResult : JobResult {
  FrequencyResponse response;
};
ResponseResult run_response_job(const ResponseJob& job, JobContext& context);

struct StaticJob {
  MechanismInput mechanism;
  double at = 0;              // [s] whose loads and prescribed motions count
  std::filesystem::path out;  // folder for sensors.csv and result.h5; empty: none
};
struct PositionResult : JobResult {
  SimulationRun run;  // one sample
};
PositionResult run_static_job(const StaticJob& job, JobContext& context);

// Position and rotation of every body of a study, assembled from rough ones. Throws InputError for a reduced
// mechanism.
PositionResult run_assemble_job(const MechanismInput& mechanism, JobContext& context);

}  // namespace lissom

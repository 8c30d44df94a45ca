// The frequency response of a linearised mechanism, H(j omega) = C (j omega - A)^-1 B + D: what sensors do
// under a harmonic load once transients are gone.
#pragma once

#include <Eigen/Core>

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "lissom/io/analysis_spec.hpp"
#include "lissom/study/linearise.hpp"

namespace lissom {

struct ResponsePeak {
  double frequency = 0, magnitude = 0, phase = 0;  // [Hz], the pair's unit, [deg]
};

// One input and one output.
struct ResponsePair {
  std::string input, output, unit;  // "m/N"
  Eigen::VectorXcd H;               // of every frequency
  std::vector<ResponsePeak> peaks;  // inside the range, the largest first
};

struct FrequencyResponse {
  Eigen::VectorXd frequencies;  // [Hz]
  std::vector<ResponsePair> pairs;
};

// A is brought to Hessenberg form once; each frequency then costs the square of the states. Throws
// InputError: an input or output that there is not, no input, no output.
FrequencyResponse frequency_response(const Linearisation& model, const ResponseSpec& spec);

nlohmann::json response_json(const FrequencyResponse& response);
// The peaks as a table.
std::string describe_response(const FrequencyResponse& response);
// f, then magnitude and phase [deg] of every pair.
void write_response(const FrequencyResponse& response, const std::filesystem::path& path);

}  // namespace lissom

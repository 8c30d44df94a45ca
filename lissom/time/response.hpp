// The frequency response of a linearised mechanism, H(j omega) = C (j omega - A)^-1 B + D: what sensors do
// under a harmonic load once transients are gone.
#pragma once

#include <Eigen/Core>

#include <string>
#include <vector>

#include "lissom/time/linearise.hpp"

namespace lissom {

struct ResponseOptions {
  double from = 0, to = 0;  // [Hz]
  int points = 400;
  bool logarithmic = true;
  std::vector<std::string> inputs, outputs;  // names or beginnings of them, "tip" of "tip.x"; empty: all

  // As sentences.
  std::vector<std::string> problems() const;
};

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

double phase_degrees(const std::complex<double>& h);  // -180 to 180

// A is brought to Hessenberg form once; each frequency then costs the square of the states. Throws
// InputError: an input or output that there is not, no input, no output.
FrequencyResponse frequency_response(const Linearisation& model, const ResponseOptions& options);

// Throws InputError as frequency_response() does for names, where these inputs and outputs are all that there are.
void expect_response_names(const ResponseOptions& options, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs);

}  // namespace lissom

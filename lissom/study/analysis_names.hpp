// What a linearisation and its frequency response can be asked for, known before either is computed.
#pragma once

#include <string>
#include <vector>

#include "lissom/io/analysis_spec.hpp"
#include "lissom/mbs/system.hpp"

namespace lissom {

// The inputs that a linearised system has at this time (linearise.hpp).
std::vector<std::string> input_names(const System& system, double t = 0);

// Throws InputError as frequency_response() does for names of inputs and outputs, where these are all that
// there are.
void expect_response_names(const ResponseSpec& spec, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs);

}  // namespace lissom

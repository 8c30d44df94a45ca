// Linearisations and frequency responses as files for other programs.
#pragma once

#include <filesystem>

#include "lissom/time/linearise.hpp"
#include "lissom/time/response.hpp"

namespace lissom {

// A, B, C, D, N, shapes and the names as variables of a MATLAB file (version 5), which SciPy reads as well.
// Throws Error.
void write_linearisation(const Linearisation& model, const std::filesystem::path& path);
// As CSV: f, then magnitude and phase [deg] of every pair. Throws Error.
void write_response(const FrequencyResponse& response, const std::filesystem::path& path);

}  // namespace lissom

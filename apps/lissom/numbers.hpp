// Numbers that flags take.
#pragma once

#include <CLI/CLI.hpp>

#include <limits>

namespace lissom::app {

// A number that is one (no nan, no inf), and from `least` to `most`. CLI11's own ranges let nan pass.
CLI::Validator finite_number(double least = std::numeric_limits<double>::lowest(),
                             double most = std::numeric_limits<double>::max());
CLI::Validator positive_number();

}  // namespace lissom::app

// How a linear model (linear_model.hpp) is truncated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lissom {

// None: the linearised mechanism as it is. Frequency: modes by their frequency. Balanced: what matters least to
// the way from inputs to outputs is left out.
enum class LinearTruncation : std::uint8_t { None, Frequency, Balanced };
const std::vector<std::pair<std::string, LinearTruncation>>& linear_truncation_names();
std::string_view name_of(LinearTruncation truncation);

struct LinearOptions {
  LinearTruncation truncation = LinearTruncation::Balanced;
  std::optional<int> order;       // states; without, by what follows
  double tolerance = 1e-3;        // of balanced: the error bound, relative to the largest gain
  std::optional<double> highest;  // of frequency [Hz]
  // What is left out follows the inputs at once, as it does at rest: static gains stay exact, and D is not zero.
  // Otherwise it is cut off, and the model is exact at infinite frequency.
  bool statics = true;

  std::vector<std::string> problems() const;  // as sentences
};

}  // namespace lissom

#include "lissom/rom/linear/linear_options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lissom/core/error.hpp"

namespace lissom {

const std::vector<std::pair<std::string, LinearTruncation>>& linear_truncation_names() {
  static const std::vector<std::pair<std::string, LinearTruncation>> names = {
      {"balanced", LinearTruncation::Balanced},
      {"frequency", LinearTruncation::Frequency},
      {"none", LinearTruncation::None}};
  return names;
}

std::string_view name_of(LinearTruncation truncation) {
  for (const auto& [name, value] : linear_truncation_names())
    if (value == truncation) return name;
  LISSOM_ASSERT(false);
  return "";
}

std::vector<std::string> LinearOptions::problems() const {
  std::vector<std::string> list;
  if (order && *order < 1) list.push_back(fmt::format("order is {}, expected 1 or more", *order));
  if (truncation == LinearTruncation::Balanced && !(tolerance > 0 && tolerance < 1))
    list.push_back(fmt::format("tolerance is {}, expected a number between 0 and 1", tolerance));
  if (highest && !(*highest > 0 && std::isfinite(*highest)))
    list.push_back(fmt::format("highest is {}, expected a frequency [Hz] above 0", *highest));
  if (truncation == LinearTruncation::Frequency && order.has_value() == highest.has_value())
    list.emplace_back(order ? "order and highest are both given: one of the two says how many modes are kept"
                            : "truncation = \"frequency\" needs highest [Hz], or order");
  if (truncation != LinearTruncation::Frequency && highest)
    list.emplace_back("highest goes with truncation = \"frequency\"");
  if (truncation == LinearTruncation::None && order)
    list.emplace_back("order does not go with truncation = \"none\", which keeps all states");
  return list;
}

}  // namespace lissom

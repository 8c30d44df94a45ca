// Files that include each other, as messages show them.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace lissom {

// "study.toml -> a.toml -> b.toml"; of a long chain its ends: "a -> b -> c -> ... (27 files) -> x -> y -> z".
inline std::string shown_chain(const std::vector<std::string>& files) {
  constexpr size_t end = 3;
  if (files.size() <= 2 * end + 1) return fmt::format("{}", fmt::join(files, " -> "));
  return fmt::format("{} -> ... ({} files) -> {}", fmt::join(files.begin(), files.begin() + end, " -> "),
                     files.size() - 2 * end, fmt::join(files.end() - end, files.end(), " -> "));
}

}  // namespace lissom

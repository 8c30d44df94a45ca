// Lists of ids as Nastran writes them: "1, 2, 5 THRU 10, EXCEPT 7, 20". Ranges are kept as ranges, for a
// range may span more numbers than there are nodes, and names only those that exist.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lissom {

struct NastranIds {
  std::vector<std::int64_t> single;                 // in the order of the list
  std::vector<std::array<std::int64_t, 2>> ranges;  // first and last id, both included

  bool empty() const { return single.empty() && ranges.empty(); }
};

// Appends the list that the words (upper or lower case; blank ones are passed over) stand for. Returns what
// is wrong with it, or an empty string. Ids behind EXCEPT leave out ids of the range before it as long as
// they lie in that range; the first one outside is an id of the list again.
std::string parse_ids(std::span<const std::string_view> words, NastranIds& ids);

// The members of `sorted` (ascending) that lie in one of the ranges, ascending, each once.
std::vector<std::int64_t> in_ranges(const NastranIds& ids, std::span<const std::int64_t> sorted);

}  // namespace lissom

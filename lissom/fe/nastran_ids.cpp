#include "lissom/fe/nastran_ids.hpp"

#include <algorithm>

#include "lissom/core/text.hpp"

namespace lissom {

std::string parse_ids(std::span<const std::string_view> words, NastranIds& ids) {
  // the range that EXCEPT would leave ids out of
  std::array<std::int64_t, 2> range = {1, 0};
  std::vector<std::int64_t> left_out;
  bool excepting = false;
  const auto close_range = [&] {
    // what remains between the ids that are left out
    std::sort(left_out.begin(), left_out.end());
    std::int64_t first = range[0];
    for (std::int64_t id : left_out) {
      if (first < id) ids.ranges.push_back({first, id - 1});
      first = id + 1;
    }
    if (first <= range[1]) ids.ranges.push_back({first, range[1]});
    left_out.clear();
    range = {1, 0};
    excepting = false;
  };
  const auto parse_id = [](std::string_view word) -> std::int64_t {
    const auto id = parse_long(word);
    // the bound keeps id + 1 within its type
    return id && *id > 0 && *id < INT64_MAX ? *id : 0;
  };

  bool after_id = false;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i].empty()) continue;
    if (iequals(words[i], "THRU")) {
      do ++i;
      while (i < words.size() && words[i].empty());
      const std::int64_t last = i < words.size() ? parse_id(words[i]) : 0;
      if (!after_id || excepting || last == 0) return "THRU must stand between two ids";
      const std::int64_t first = ids.single.back();
      if (last < first) return fmt::format("{} THRU {} runs backwards", first, last);
      close_range();
      ids.single.pop_back();
      range = {first, last};
      after_id = false;
    } else if (iequals(words[i], "EXCEPT")) {
      if (range[0] > range[1]) return "EXCEPT must follow a range with THRU";
      excepting = true;
    } else {
      const std::int64_t id = parse_id(words[i]);
      if (id == 0) return fmt::format("expected an id, THRU or EXCEPT, found '{}'", words[i].substr(0, 40));
      if (excepting && id >= range[0] && id <= range[1]) {
        left_out.push_back(id);
        continue;
      }
      close_range();
      ids.single.push_back(id);
      after_id = true;
    }
  }
  close_range();
  return "";
}

std::vector<std::int64_t> in_ranges(const NastranIds& ids, std::span<const std::int64_t> sorted) {
  auto ranges = ids.ranges;
  std::sort(ranges.begin(), ranges.end());
  std::vector<std::int64_t> members;
  // ranges may overlap: go on behind the last member that was taken
  auto next = sorted.begin();
  for (const auto& [first, last] : ranges) {
    next = std::lower_bound(next, sorted.end(), first);
    while (next != sorted.end() && *next <= last) members.push_back(*next++);
  }
  return members;
}

}  // namespace lissom

#include "lissom/fe/left_out.hpp"

#include <algorithm>

namespace lissom {

void LeftOut::add(const std::string& kind, const SourcePos& pos, long count) {
  auto known = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& k) { return k.name == kind; });
  if (known == kinds_.end()) known = kinds_.insert(kinds_.end(), {kind, pos, 0});
  known->count += count;
}

void LeftOut::check(bool skip, const std::string& path) const {
  if (skip || kinds_.empty()) return;
  constexpr size_t shown = 12;
  std::string list;
  for (size_t k = 0; k < std::min(shown, kinds_.size()); ++k) {
    const Kind& kind = kinds_[k];
    list += fmt::format(
        "{}{} {} (first at {})", list.empty() ? "" : ", ", kind.count, kind.name,
        kind.first.file == path ? fmt::format("line {}", kind.first.line) : to_string(kind.first));
  }
  if (kinds_.size() > shown) list += fmt::format(", and {} more kinds", kinds_.size() - shown);
  fail_input(SourcePos{path, 0},
             "parts of the body are not read: {}; without them it lacks stiffness, mass or constraints. "
             "Model them with solid elements and spiders, or leave them out with --skip-elements (in a "
             "study: skip_elements = true)",
             list);
}

}  // namespace lissom

#include "lissom/io/table.hpp"

#include <algorithm>

#include "lissom/core/terminal.hpp"
#include "lissom/core/text.hpp"

namespace lissom {

std::string Table::str() const {
  size_t columns = 0;
  for (const auto& row : rows_) columns = std::max(columns, row.size());
  std::vector<size_t> width(columns, 0);
  std::vector<char> numeric(columns, 1);
  for (size_t r = 0; r < rows_.size(); ++r) {
    for (size_t c = 0; c < rows_[r].size(); ++c) {
      width[c] = std::max(width[c], shown_width(rows_[r][c]));
      if (r > 0 && !rows_[r][c].empty() && rows_[r][c] != "-" && !parse_double(rows_[r][c])) numeric[c] = 0;
    }
  }
  std::string text;
  for (size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (size_t c = 0; c < rows_[r].size(); ++c) {
      if (c > 0) line += "  ";
      const std::string blanks(width[c] - shown_width(rows_[r][c]), ' ');
      line += numeric[c] ? blanks + rows_[r][c] : rows_[r][c] + blanks;
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    text += line + "\n";
    if (r == 0) {
      size_t total = 2 * (columns - 1);
      for (size_t w : width) total += w;
      text += std::string(total, '-') + "\n";
    }
  }
  return text;
}

}  // namespace lissom

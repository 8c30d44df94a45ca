#include "lissom/fe/matrix_entries.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "lissom/core/text.hpp"

namespace lissom {

namespace {

bool is_separator(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

}  // namespace

std::string_view take_field(std::string_view& rest) {
  size_t i = 0;
  while (i < rest.size() && is_separator(rest[i])) ++i;
  size_t end = i;
  while (end < rest.size() && !is_separator(rest[end]) && rest[end] != ',') ++end;
  const std::string_view field = rest.substr(i, end - i);
  // one comma, with the blanks before it, belongs to the field that it ends
  while (end < rest.size() && is_separator(rest[end])) ++end;
  if (end < rest.size() && rest[end] == ',') ++end;
  rest.remove_prefix(end);
  return field;
}

int to_index(std::string_view field, long size, const SourcePos& pos, std::string_view what) {
  const long index = to_long(field, pos, what);
  if (index < 1 || index > size)
    fail_input(pos, "{} {} is outside the matrix, expected 1 to {}", what, index, size);
  return static_cast<int>(index - 1);
}

std::string_view direction_name(int direction) {
  constexpr std::string_view names[] = {"x", "y", "z", "rx", "ry", "rz"};
  LISSOM_ASSERT(direction >= 0 && direction < 6);
  return names[direction];
}

std::string describe_row(const ImportedMatrix& matrix, int row) {
  if (matrix.labels.empty()) return fmt::format("row {}", row + 1);
  const auto& label = matrix.labels[static_cast<size_t>(row)];
  return fmt::format("node {}, direction {}", label.node, direction_name(label.direction));
}

ImportedMatrix::RowLabel to_label(long node, long dof, const SourcePos& pos) {
  // labels are hashed as node * 8 + direction
  constexpr long limit = std::numeric_limits<long>::max() / 16;
  if (node > limit || node < -limit) fail_input(pos, "node {} is too large a number", node);
  if (dof < 1 || dof > 6)
    fail_input(pos,
               "node {} has degree of freedom {}, expected 1 to 6; only displacements and rotations can be "
               "used, so take temperatures, pressures, warping and scalar (modal) points out of the export",
               node, dof);
  return {node, static_cast<int>(dof - 1)};
}

int LabelledEntries::index_of(const RowLabel& label) {
  const auto [it, is_new] =
      index_.try_emplace(label.node * 8 + label.direction, static_cast<int>(labels_.size()));
  if (is_new) labels_.push_back(label);
  return it->second;
}

void LabelledEntries::add(const RowLabel& row, const RowLabel& col, double value) {
  const int i = index_of(row), j = index_of(col);
  entries_.push_back({i, j, value});
}

ImportedMatrix LabelledEntries::finish() {
  // ascending labels, and where each one went
  std::vector<int> order(labels_.size()), place(labels_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return labels_[a] < labels_[b]; });
  ImportedMatrix matrix;
  matrix.rows = matrix.cols = static_cast<int>(labels_.size());
  for (size_t k = 0; k < order.size(); ++k) {
    place[order[k]] = static_cast<int>(k);
    matrix.labels.push_back(labels_[order[k]]);
  }
  matrix.entries = std::move(entries_);
  for (auto& entry : matrix.entries) {
    entry.row = place[entry.row];
    entry.col = place[entry.col];
  }
  return matrix;
}

std::pair<int, int> find_pair_given_twice(const ImportedMatrix& matrix) {
  std::vector<std::uint64_t> below, above;
  const auto key = [](int i, int j) {
    return static_cast<std::uint64_t>(i) << 32 | static_cast<unsigned>(j);
  };
  for (const auto& entry : matrix.entries) {
    if (entry.value == 0) continue;
    if (entry.row > entry.col) below.push_back(key(entry.row, entry.col));
    if (entry.row < entry.col) above.push_back(key(entry.col, entry.row));
  }
  if (below.empty() || above.empty()) return {-1, -1};
  std::sort(below.begin(), below.end());
  std::sort(above.begin(), above.end());
  for (auto a = below.begin(), b = above.begin(); a != below.end() && b != above.end();) {
    if (*a == *b) return {static_cast<int>(*a >> 32), static_cast<int>(*a & 0xffffffffu)};
    *a < *b ? ++a : ++b;
  }
  return {-1, -1};
}

void fold_to_lower(ImportedMatrix& matrix) {
  for (auto& entry : matrix.entries)
    if (entry.row < entry.col) std::swap(entry.row, entry.col);
  matrix.triangle = ImportedMatrix::Triangle::Lower;
}

}  // namespace lissom

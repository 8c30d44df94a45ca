// Matrix Market exchange format (NIST):
//   %%MatrixMarket matrix coordinate|array real|integer|complex|pattern
//   general|symmetric|skew-symmetric|hermitian % comments rows columns entries                 (coordinate)
//   rows columns   (array) row column value, 1-based            (coordinate)    value          (array, column
//   by column)
// A symmetric matrix stores its lower triangle with the diagonal, in either layout.
#include <algorithm>
#include <limits>

#include "lissom/core/text.hpp"
#include "lissom/fe/matrix_entries.hpp"

namespace lissom {

namespace {

// The next line that is neither blank nor a comment.
bool next_data_line(LineReader& lines, std::string_view& line) {
  while (lines.next(line)) {
    line = trim(line);
    if (!line.empty() && line.front() != '%') return true;
  }
  return false;
}

long read_size(std::string_view& rest, const SourcePos& pos, std::string_view what) {
  const long size = to_long(take_field(rest), pos, what);
  if (size < 1 || size > std::numeric_limits<int>::max())
    fail_input(pos, "the {} is {}, expected 1 to {}", what, size, std::numeric_limits<int>::max());
  return size;
}

void read_coordinate_entries(LineReader& lines, long count, ImportedMatrix& matrix) {
  // an entry takes six bytes at least, so a wrong count cannot ask for more memory than the file is worth
  const size_t left = lines.text().size() - lines.offset();
  matrix.entries.reserve(std::min(static_cast<size_t>(count), left / 6 + 1));
  std::string_view line;
  long n = 0;
  for (; next_data_line(lines, line); ++n) {
    if (n == count) fail_input(lines.pos(), "the size line promises {} entries, and here is one more", count);
    const std::string_view i = take_field(line), j = take_field(line), value = take_field(line);
    if (value.empty() || !line.empty())
      fail_input(lines.pos(), "expected \"row column value\", found {} fields",
                 value.empty() ? "fewer" : "more");
    const SourcePos pos = lines.pos();
    matrix.entries.push_back({to_index(i, matrix.rows, pos, "row"), to_index(j, matrix.cols, pos, "column"),
                              to_double(value, pos, "a matrix entry")});
  }
  if (n < count) fail_input(lines.pos(), "the file ends after {} of {} entries; was it cut off?", n, count);
}

void read_array_entries(LineReader& lines, bool symmetric, ImportedMatrix& matrix) {
  // column by column; a symmetric matrix starts each column at its diagonal
  int row = 0, col = 0;
  std::string_view line;
  while (next_data_line(lines, line)) {
    while (!line.empty()) {
      const std::string_view field = take_field(line);
      if (col == matrix.cols)
        fail_input(lines.pos(), "there are more values than {} by {}", matrix.rows, matrix.cols);
      const double value = to_double(field, lines.pos(), "a matrix entry");
      if (value != 0) matrix.entries.push_back({row, col, value});
      if (++row == matrix.rows) {
        ++col;
        row = symmetric ? col : 0;
      }
    }
  }
  if (col < matrix.cols)
    fail_input(lines.pos(), "the file ends in column {} of {}; was it cut off?", col + 1, matrix.cols);
}

}  // namespace

ImportedMatrix read_matrix_market(std::string_view bytes, const std::string& path, Diagnostics& diagnostics) {
  LineReader lines(bytes, path);
  std::string_view line;
  if (!lines.next(line)) fail_input("{}: the file is empty, expected a Matrix Market matrix", path);

  // the banner says what follows
  const auto banner = split_blanks(line);
  if (banner.size() != 5 || !iequals(banner[0], "%%MatrixMarket") || !iequals(banner[1], "matrix"))
    fail_input(lines.pos(),
               "expected \"%%MatrixMarket matrix coordinate real symmetric\" or alike, found '{}'",
               trim(line).substr(0, 60));
  const bool coordinate = iequals(banner[2], "coordinate");
  if (!coordinate && !iequals(banner[2], "array"))
    fail_input(lines.pos(), "layout '{}' is unknown, expected coordinate or array", banner[2]);
  if (iequals(banner[3], "complex") || iequals(banner[3], "pattern"))
    fail_input(lines.pos(), "a {} matrix cannot be a stiffness or mass matrix, expected real or integer",
               to_lower(banner[3]));
  if (!iequals(banner[3], "real") && !iequals(banner[3], "integer") && !iequals(banner[3], "double"))
    fail_input(lines.pos(), "field '{}' is unknown, expected real or integer", banner[3]);
  const bool symmetric = iequals(banner[4], "symmetric");
  if (!symmetric && !iequals(banner[4], "general"))
    fail_input(lines.pos(), "a {} matrix cannot be a stiffness or mass matrix, expected general or symmetric",
               to_lower(banner[4]));

  // sizes
  if (!next_data_line(lines, line)) fail_input(lines.pos(), "the file ends before the line of sizes");
  ImportedMatrix matrix;
  matrix.rows = static_cast<int>(read_size(line, lines.pos(), "number of rows"));
  matrix.cols = static_cast<int>(read_size(line, lines.pos(), "number of columns"));
  if (symmetric && matrix.rows != matrix.cols)
    fail_input(lines.pos(), "a symmetric matrix cannot be {} by {}", matrix.rows, matrix.cols);
  long count = 0;
  if (coordinate) {
    count = to_long(take_field(line), lines.pos(), "number of entries");
    if (count < 0) fail_input(lines.pos(), "the number of entries is {}", count);
  }
  if (!line.empty()) fail_input(lines.pos(), "unexpected '{}' after the sizes", line.substr(0, 40));

  // entries
  if (coordinate)
    read_coordinate_entries(lines, count, matrix);
  else
    read_array_entries(lines, symmetric, matrix);
  if (symmetric) {
    // the standard wants the lower triangle; some programs write the upper one, which says the same
    const auto [i, j] = find_pair_given_twice(matrix);
    if (i >= 0)
      fail_input(
          "{}: the matrix is called symmetric, but entries ({}, {}) and ({}, {}) are both given; if the file "
          "holds both triangles, call it general",
          path, i + 1, j + 1, j + 1, i + 1);
    if (std::any_of(matrix.entries.begin(), matrix.entries.end(),
                    [](const auto& e) { return e.row < e.col; }))
      diagnostics.warn(
          "matrix-market.upper-triangle",
          "a symmetric matrix should hold its lower triangle; entries above the diagonal were mirrored",
          {path, 0});
    fold_to_lower(matrix);
  }
  return matrix;
}

}  // namespace lissom

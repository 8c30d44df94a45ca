#include "lissom/fe/sparse_arrays.hpp"

#include <cmath>
#include <limits>

#include "lissom/core/error.hpp"

namespace lissom {

namespace {

void append(ImportedMatrix& matrix, std::int64_t row, std::int64_t col, double value,
            const std::string& where) {
  if (row < 0 || row >= matrix.rows || col < 0 || col >= matrix.cols)
    fail_input("{}: an entry lies in row {}, column {} (counted from 0) of a {} by {} matrix", where, row,
               col, matrix.rows, matrix.cols);
  if (!std::isfinite(value))
    fail_input("{}: the entry in row {}, column {} (counted from 0) is {}, expected a finite number", where,
               row, col, value);
  matrix.entries.push_back({static_cast<int>(row), static_cast<int>(col), value});
}

}  // namespace

void set_shape(ImportedMatrix& matrix, std::int64_t rows, std::int64_t cols, const std::string& where) {
  constexpr std::int64_t most = std::numeric_limits<int>::max() - 1;
  if (rows < 0 || cols < 0 || rows > most || cols > most)
    fail_input("{}: a matrix of {} by {} is beyond what Lissom can number", where, rows, cols);
  matrix.rows = static_cast<int>(rows);
  matrix.cols = static_cast<int>(cols);
}

void append_compressed(ImportedMatrix& matrix, std::span<const std::int64_t> indptr,
                       std::span<const std::int64_t> indices, std::span<const double> data, bool by_columns,
                       const std::string& where) {
  const auto outer = static_cast<size_t>(by_columns ? matrix.cols : matrix.rows);
  if (indptr.size() != outer + 1)
    fail_input("{}: a {} by {} matrix in compressed {} needs {} starts, found {}", where, matrix.rows,
               matrix.cols, by_columns ? "columns" : "rows", outer + 1, indptr.size());
  const auto room = static_cast<std::int64_t>(std::min(indices.size(), data.size()));
  if (indptr.front() != 0 || indptr.back() > room)
    fail_input("{}: the starts run from {} to {}, but there are {} indices and {} values", where,
               indptr.front(), indptr.back(), indices.size(), data.size());
  // ascending starts within the room, before anything is allocated
  for (size_t j = 0; j < outer; ++j)
    if (indptr[j + 1] < indptr[j])
      fail_input("{}: the starts of {} {} and {} descend from {} to {}", where,
                 by_columns ? "columns" : "rows", j, j + 1, indptr[j], indptr[j + 1]);
  matrix.entries.reserve(static_cast<size_t>(indptr.back()));
  for (size_t j = 0; j < outer; ++j) {
    const auto major = static_cast<std::int64_t>(j);
    for (std::int64_t k = indptr[j]; k < indptr[j + 1]; ++k)
      append(matrix, by_columns ? indices[k] : major, by_columns ? major : indices[k], data[k], where);
  }
}

void append_coordinates(ImportedMatrix& matrix, std::span<const std::int64_t> rows,
                        std::span<const std::int64_t> cols, std::span<const double> data,
                        const std::string& where) {
  if (rows.size() != data.size() || cols.size() != data.size())
    fail_input("{}: there are {} row indices, {} column indices and {} values, expected as many of each",
               where, rows.size(), cols.size(), data.size());
  matrix.entries.reserve(data.size());
  for (size_t k = 0; k < data.size(); ++k) append(matrix, rows[k], cols[k], data[k], where);
}

void append_full(ImportedMatrix& matrix, std::span<const double> values, bool by_columns,
                 const std::string& where) {
  LISSOM_ASSERT(values.size() == static_cast<size_t>(matrix.rows) * static_cast<size_t>(matrix.cols));
  const auto inner = static_cast<size_t>(by_columns ? matrix.rows : matrix.cols);
  for (size_t k = 0; k < values.size(); ++k) {
    if (values[k] == 0) continue;
    const auto major = static_cast<std::int64_t>(k / inner), minor = static_cast<std::int64_t>(k % inner);
    append(matrix, by_columns ? minor : major, by_columns ? major : minor, values[k], where);
  }
}

}  // namespace lissom

// From the arrays in which programs keep sparse matrices to entries, every index checked.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lissom/fe/matrix_reader.hpp"

namespace lissom {

// Throws InputError when a dimension does not fit into the int that indices are. `where` names the matrix in
// all messages here, e.g. "file: 'K'".
void set_shape(ImportedMatrix& matrix, std::int64_t rows, std::int64_t cols, const std::string& where);

// Compressed columns (or rows): the entries of column j stand in indices[indptr[j] .. indptr[j+1]), 0-based.
// Needs one more indptr than there are columns; trailing unused room in indices and data, as MATLAB leaves
// it, is fine. Throws InputError: lengths that do not fit together, indices out of range, values not finite.
void append_compressed(ImportedMatrix& matrix, std::span<const std::int64_t> indptr,
                       std::span<const std::int64_t> indices, std::span<const double> data, bool by_columns,
                       const std::string& where);

// Row, column and value of each entry, 0-based. Throws InputError as above.
void append_coordinates(ImportedMatrix& matrix, std::span<const std::int64_t> rows,
                        std::span<const std::int64_t> cols, std::span<const double> data,
                        const std::string& where);

// All values of a full matrix, column by column (or row by row); zeros are left out. Throws InputError when
// one is not finite.
void append_full(ImportedMatrix& matrix, std::span<const double> values, bool by_columns,
                 const std::string& where);

}  // namespace lissom

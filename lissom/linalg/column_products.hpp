// Products with small dense matrices that are kept column by column, from a handful to a few hundred rows: calls of
// BLAS, and general loops, cost more than they do.
#pragma once

namespace lissom {

// y (rows) += A x, A rows by columns with `stride` from column to column.
void add_column_product(int rows, int columns, const double* A, int stride, const double* x, double* y);
// y (columns) = A' x.
void column_dots(int rows, int columns, const double* A, int stride, const double* x, double* y);

}  // namespace lissom

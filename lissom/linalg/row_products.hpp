// Products with a small dense matrix that is kept row by row, for kernels that are called a million times a
// second: a call of BLAS costs more than the product. Compiled for AVX2 and for any x86-64; the processor
// decides, once.
#pragma once

#include <Eigen/Core>

#include <cstdlib>
#include <memory>

namespace lissom {

// An array of doubles that starts on a cache line, zero at first.
class AlignedArray {
 public:
  AlignedArray() = default;
  explicit AlignedArray(Eigen::Index size);
  double* data() { return data_.get(); }
  const double* data() const { return data_.get(); }
  Eigen::Index size() const { return size_; }
  double& operator[](Eigen::Index i) { return data_.get()[i]; }
  double operator[](Eigen::Index i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(double* p) const { std::free(p); }
  };
  std::unique_ptr<double, Free> data_;
  Eigen::Index size_ = 0;
};

// The rows of a matrix, filled up with zeros: columns to a multiple of eight, rows to a multiple of four.
struct PaddedRows {
  PaddedRows() = default;
  PaddedRows(Eigen::Index rows, Eigen::Index columns);
  explicit PaddedRows(const Eigen::Ref<const Eigen::MatrixXd>& C);
  double* row(Eigen::Index i) { return values.data() + i * columns; }
  const double* row(Eigen::Index i) const { return values.data() + i * columns; }

  Eigen::Index rows = 0, columns = 0;  // with the padding
  AlignedArray values;
};

// y (C.rows) = C z, z (C.columns). Aligned as AlignedArray.
void row_product(const PaddedRows& C, const double* z, double* y);
// The same, and f (C.columns) = C' y; C is read once.
void row_gram_product(const PaddedRows& C, const double* z, double* y, double* f);
// Row j of Y, from j = 0 to count - 1, is C times row j of Z: Y = Z C'. Y.columns is at least C.rows.
void row_products(const PaddedRows& C, const PaddedRows& Z, Eigen::Index count, PaddedRows& Y);

}  // namespace lissom

#include "lissom/linalg/sparse.hpp"

#include <algorithm>
#include <vector>

#include "lissom/core/error.hpp"
#include "lissom/core/parallel.hpp"

namespace lissom {

namespace {

// y = A x for `width` (1..4) neighbouring columns at once
template <int width>
void multiply_columns(const SparseMatrix& lower, const double* x, Eigen::Index ldx, double* y,
                      Eigen::Index ldy) {
  const int n = static_cast<int>(lower.cols());
  const int* start = lower.outerIndexPtr();
  const int* row = lower.innerIndexPtr();
  const double* value = lower.valuePtr();
  for (int k = 0; k < width; ++k) std::fill_n(y + k * ldy, n, 0.0);
  for (int j = 0; j < n; ++j) {
    double xj[width], sum[width];
    for (int k = 0; k < width; ++k) xj[k] = x[j + k * ldx], sum[k] = 0;
    int p = start[j];
    if (p < start[j + 1] && row[p] == j) {
      for (int k = 0; k < width; ++k) sum[k] = value[p] * xj[k];
      ++p;
    }
    // an entry below the diagonal stands for itself and for its mirror image
    for (; p < start[j + 1]; ++p) {
      const double a = value[p];
      const int i = row[p];
      for (int k = 0; k < width; ++k) {
        sum[k] += a * x[i + k * ldx];
        y[i + k * ldy] += a * xj[k];
      }
    }
    for (int k = 0; k < width; ++k) y[j + k * ldy] += sum[k];
  }
}

}  // namespace

void multiply(const SymmetricMatrix& A, const Eigen::Ref<const Eigen::MatrixXd>& X,
              Eigen::Ref<Eigen::MatrixXd> Y) {
  LISSOM_ASSERT(X.rows() == A.size() && Y.rows() == A.size() && X.cols() == Y.cols());
  const int k = static_cast<int>(X.cols());
  const int width = k >= 8 ? 4 : k >= 4 ? 2 : 1;  // enough pieces for two threads
  const int pieces = (k + width - 1) / width;
  // small products are done before another thread has come
  const bool large = static_cast<double>(A.lower.nonZeros()) * k > 500'000;
  parallel_for(pieces, 1, large ? thread_count() : 1, [&](Eigen::Index piece) {
    const int first = static_cast<int>(piece) * width;
    const double* x = X.data() + first * X.outerStride();
    double* y = Y.data() + first * Y.outerStride();
    switch (std::min(width, k - first)) {
      case 1:
        multiply_columns<1>(A.lower, x, X.outerStride(), y, Y.outerStride());
        break;
      case 2:
        multiply_columns<2>(A.lower, x, X.outerStride(), y, Y.outerStride());
        break;
      case 3:
        multiply_columns<3>(A.lower, x, X.outerStride(), y, Y.outerStride());
        break;
      default:
        multiply_columns<4>(A.lower, x, X.outerStride(), y, Y.outerStride());
        break;
    }
  });
}

SymmetricMatrix add(const SymmetricMatrix& A, double factor, const SymmetricMatrix& B) {
  LISSOM_ASSERT(A.size() == B.size());
  return {A.lower + factor * B.lower};
}

SymmetricMatrix submatrix(const SymmetricMatrix& A, std::span<const int> keep) {
  std::vector<int> new_index(A.size(), -1);
  for (size_t i = 0; i < keep.size(); ++i) new_index[keep[i]] = static_cast<int>(i);
  // count, then fill: ascending order is kept, so no sorting is needed
  SparseMatrix lower(static_cast<int>(keep.size()), static_cast<int>(keep.size()));
  int* start = lower.outerIndexPtr();
  int entries = 0;
  for (size_t j = 0; j < keep.size(); ++j) {
    start[j] = entries;
    for (SparseMatrix::InnerIterator it(A.lower, keep[j]); it; ++it) entries += new_index[it.row()] >= 0;
  }
  start[keep.size()] = entries;
  lower.resizeNonZeros(entries);
  int p = 0;
  for (int j : keep) {
    for (SparseMatrix::InnerIterator it(A.lower, j); it; ++it) {
      if (new_index[it.row()] < 0) continue;
      lower.innerIndexPtr()[p] = new_index[it.row()];
      lower.valuePtr()[p++] = it.value();
    }
  }
  return {std::move(lower)};
}

}  // namespace lissom

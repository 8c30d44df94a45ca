#include "lissom/linalg/newton_matrix.hpp"

#include <umfpack.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lissom/core/error.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/fortran_blas.hpp"

namespace lissom {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

// up to here nothing sparse is worth trying
constexpr int always_dense = 60;
// up to here an LU of our own beats LAPACK's, whose calls cost more than they do
constexpr int own_lu = 40;

// Whether a pivot says that its column depends on those before it; rows have a largest entry of about one.
bool is_negligible(double pivot, double largest_of_column, int n) {
  return !(std::abs(pivot) > n * epsilon * largest_of_column);
}

// 2^-e with x in [2^(e-1), 2^e): scaling with it rounds nothing.
double inverse_power_of_two(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  return std::ldexp(1.0, -exponent);
}

// Dense LU with row exchanges, column after column; pivots from zero.
void small_lu(int n, double* A, int* pivots) {
  for (int k = 0; k < n; ++k) {
    double* column = A + static_cast<long>(k) * n;
    int p = k;
    for (int i = k + 1; i < n; ++i)
      if (std::abs(column[i]) > std::abs(column[p])) p = i;
    pivots[k] = p;
    if (column[p] == 0) continue;
    if (p != k)
      for (int j = 0; j < n; ++j) std::swap(A[k + static_cast<long>(j) * n], A[p + static_cast<long>(j) * n]);
    const double inverse = 1 / column[k];
    for (int i = k + 1; i < n; ++i) column[i] *= inverse;
    for (int j = k + 1; j < n; ++j) {
      double* target = A + static_cast<long>(j) * n;
      const double factor = target[k];
      if (factor == 0) continue;
      for (int i = k + 1; i < n; ++i) target[i] -= factor * column[i];
    }
  }
}

void small_solve(int n, const double* A, const int* pivots, double* x) {
  for (int k = 0; k < n; ++k) std::swap(x[k], x[pivots[k]]);
  for (int k = 0; k < n; ++k) {
    const double* column = A + static_cast<long>(k) * n;
    for (int i = k + 1; i < n; ++i) x[i] -= column[i] * x[k];
  }
  for (int k = n - 1; k >= 0; --k) {
    const double* column = A + static_cast<long>(k) * n;
    x[k] /= column[k];
    for (int i = 0; i < k; ++i) x[i] -= column[i] * x[k];
  }
}

}  // namespace

struct NewtonMatrix::Impl {
  // Where a block stands: for every column of it the places of its rows among the values; `first` instead
  // where the rows of a dense matrix follow each other.
  struct Place {
    int rows = 0, columns = 0;
    bool contiguous = false;
    std::vector<int> at;
  };

  int n = 0;
  bool sparse = false;
  bool factorised = false;
  int singular = -1;
  std::vector<Place> places;

  // values: n by n column after column, or by columns with their rows ascending (start, row)
  std::vector<double> values;
  std::vector<int> start, row;

  // dense factors of the matrix with scaled rows
  std::vector<double> lu;
  std::vector<int> pivots;
  Eigen::VectorXd row_scale, column_max;

  // sparse
  void* symbolic = nullptr;
  void* numeric = nullptr;
  double control[UMFPACK_CONTROL];
  std::vector<int> column_order, solve_int;
  Eigen::VectorXd diagonal, solve_real, right_side;

  ~Impl() {
    if (numeric) umfpack_di_free_numeric(&numeric);
    if (symbolic) umfpack_di_free_symbolic(&symbolic);
  }

  // The union of the blocks, by columns.
  void make_pattern(const std::vector<MatrixBlock>& blocks) {
    std::vector<std::vector<int>> rows(n);
    for (const MatrixBlock& block : blocks)
      for (int c : block.columns) rows[c].insert(rows[c].end(), block.rows.begin(), block.rows.end());
    start.assign(n + 1, 0);
    row.clear();
    for (int c = 0; c < n; ++c) {
      std::sort(rows[c].begin(), rows[c].end());
      rows[c].erase(std::unique(rows[c].begin(), rows[c].end()), rows[c].end());
      row.insert(row.end(), rows[c].begin(), rows[c].end());
      start[c + 1] = static_cast<int>(row.size());
    }
  }

  // Symbolic factorisation of the pattern; returns about how many microseconds a numeric one will take.
  double analyse() {
    umfpack_di_defaults(control);
    control[UMFPACK_SCALE] = UMFPACK_SCALE_MAX;
    control[UMFPACK_IRSTEP] = 0;  // the values may be others by the time of the solution
    double info[UMFPACK_INFO];
    const int status = umfpack_di_symbolic(n, n, start.data(), row.data(), nullptr, &symbolic, control, info);
    // a pattern with an empty row or column is singular, but may be filled
    if (status != UMFPACK_OK) fail("UMFPACK cannot analyse a matrix of {} rows (status {})", n, status);
    return info[UMFPACK_FLOPS_ESTIMATE] / 800 + 0.05 * static_cast<double>(row.size()) + 0.4 * n;
  }

  double dense_microseconds() const { return 2.0 / 3 * std::pow(n, 3) / 6000; }

  int place_of(int r, int c) const {
    if (!sparse) return c * n + r;
    const auto begin = row.begin() + start[c], end = row.begin() + start[c + 1];
    return static_cast<int>(std::lower_bound(begin, end, r) - row.begin());
  }

  // row_scale and column_max of the scaled matrix; false where something is not finite or a row is zero.
  bool scale_rows() {
    row_scale.setZero();
    const auto column = [&](int c, auto&& visit) {
      if (sparse)
        for (int k = start[c]; k < start[c + 1]; ++k) visit(row[k], values[k]);
      else
        for (int r = 0; r < n; ++r) visit(r, values[static_cast<size_t>(c) * n + r]);
    };
    double sum = 0;
    for (int c = 0; c < n; ++c)
      column(c, [&](int r, double x) {
        row_scale[r] = std::max(row_scale[r], std::abs(x));
        sum += 0 * x;  // NaN where x is NaN or infinite
      });
    if (!(sum == 0)) {
      for (int c = 0; c < n; ++c)
        column(c, [&](int r, double x) {
          if (!std::isfinite(x)) singular = r;
        });
      return false;
    }
    for (int r = 0; r < n; ++r) {
      if (row_scale[r] == 0) {
        singular = r;
        return false;
      }
      row_scale[r] = inverse_power_of_two(row_scale[r]);
    }
    for (int c = 0; c < n; ++c) {
      double largest = 0;
      column(c, [&](int r, double x) { largest = std::max(largest, std::abs(x) * row_scale[r]); });
      column_max[c] = largest;
    }
    return true;
  }

  bool factorise_dense() {
    for (int c = 0; c < n; ++c) {
      const size_t first = static_cast<size_t>(c) * n;
      for (int r = 0; r < n; ++r) lu[first + r] = values[first + r] * row_scale[r];
    }
    if (n <= own_lu) {
      small_lu(n, lu.data(), pivots.data());
    } else {
      int info = 0;
      dgetrf_(&n, &n, lu.data(), &n, pivots.data(), &info);
    }
    for (int c = 0; c < n; ++c)
      if (is_negligible(lu[static_cast<size_t>(c) * (n + 1)], column_max[c], n)) {
        singular = c;
        return false;
      }
    return true;
  }

  bool factorise_sparse() {
    if (numeric) umfpack_di_free_numeric(&numeric);
    double info[UMFPACK_INFO];
    const int status =
        umfpack_di_numeric(start.data(), row.data(), values.data(), symbolic, &numeric, control, info);
    if (status == UMFPACK_ERROR_out_of_memory) fail("no memory left for a Newton matrix of {} rows", n);
    if (status != UMFPACK_OK && status != UMFPACK_WARNING_singular_matrix)
      fail("UMFPACK cannot factorise a matrix of {} rows (status {})", n, status);
    int unused = 0;
    umfpack_di_get_numeric(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, column_order.data(),
                           diagonal.data(), &unused, nullptr, numeric);
    for (int k = 0; k < n; ++k)
      if (is_negligible(diagonal[k], column_max[column_order[k]], n)) {
        singular = column_order[k];
        return false;
      }
    return true;
  }
};

NewtonMatrix::NewtonMatrix(int n, const std::vector<MatrixBlock>& blocks, Storage storage)
    : impl_(std::make_unique<Impl>()) {
  Impl& m = *impl_;
  m.n = n;
  for (const MatrixBlock& block : blocks)
    for (const std::vector<int>* list : {&block.rows, &block.columns})
      for (int i : *list) LISSOM_ASSERT(i >= 0 && i < n);

  m.sparse = storage == Storage::Sparse;
  if (m.sparse || (storage == Storage::Automatic && n > always_dense)) {
    m.make_pattern(blocks);
    const double sparse_time = m.analyse();
    if (!m.sparse) m.sparse = sparse_time < m.dense_microseconds();
    if (!m.sparse) {
      umfpack_di_free_symbolic(&m.symbolic);
      m.start.clear();
      m.row.clear();
    }
  }

  m.places.reserve(blocks.size());
  for (const MatrixBlock& block : blocks) {
    Impl::Place place;
    place.rows = static_cast<int>(block.rows.size());
    place.columns = static_cast<int>(block.columns.size());
    place.contiguous = !m.sparse;
    for (int i = 1; i < place.rows; ++i)
      if (block.rows[i] != block.rows[i - 1] + 1) place.contiguous = false;
    if (place.rows > 0)
      for (int c : block.columns) {
        if (place.contiguous)
          place.at.push_back(m.place_of(block.rows[0], c));
        else
          for (int r : block.rows) place.at.push_back(m.place_of(r, c));
      }
    m.places.push_back(std::move(place));
  }

  m.row_scale.resize(n);
  m.column_max.resize(n);
  if (m.sparse) {
    m.values.assign(m.row.size(), 0);
    m.column_order.resize(n);
    m.solve_int.resize(n);
    m.diagonal.resize(n);
    m.solve_real.resize(n);
    m.right_side.resize(n);
  } else {
    m.values.assign(static_cast<size_t>(n) * n, 0);
    m.lu.resize(m.values.size());
    m.pivots.resize(n);
  }
}

NewtonMatrix::~NewtonMatrix() = default;
NewtonMatrix::NewtonMatrix(NewtonMatrix&&) noexcept = default;
NewtonMatrix& NewtonMatrix::operator=(NewtonMatrix&&) noexcept = default;

int NewtonMatrix::size() const {
  return impl_->n;
}

bool NewtonMatrix::is_sparse() const {
  return impl_->sparse;
}

void NewtonMatrix::set_zero() {
  std::fill(impl_->values.begin(), impl_->values.end(), 0.0);
}

void NewtonMatrix::add(int block, const Eigen::Ref<const Eigen::MatrixXd>& values, double factor) {
  const Impl::Place& place = impl_->places[block];
  LISSOM_ASSERT(values.rows() == place.rows && values.cols() == place.columns);
  double* const target = impl_->values.data();
  const int* at = place.at.data();
  for (int c = 0; c < place.columns; ++c) {
    const double* from = values.data() + c * values.outerStride();
    if (place.contiguous) {
      double* to = target + at[c];
      for (int r = 0; r < place.rows; ++r) to[r] += factor * from[r];
    } else {
      for (int r = 0; r < place.rows; ++r) target[*at++] += factor * from[r];
    }
  }
}

bool NewtonMatrix::factorise() {
  const BlasThreads one;
  Impl& m = *impl_;
  m.singular = -1;
  m.factorised = m.n == 0 || (m.scale_rows() && (m.sparse ? m.factorise_sparse() : m.factorise_dense()));
  return m.factorised;
}

int NewtonMatrix::singular_row() const {
  return impl_->singular;
}

void NewtonMatrix::solve_in_place(Eigen::Ref<Eigen::VectorXd> x) const {
  Impl& m = *impl_;
  LISSOM_ASSERT(m.factorised && x.size() == m.n);
  if (m.n == 0) return;
  const BlasThreads one;
  if (m.sparse) {
    m.right_side = x;
    const int status = umfpack_di_wsolve(UMFPACK_A, m.start.data(), m.row.data(), m.values.data(), x.data(),
                                         m.right_side.data(), m.numeric, m.control, nullptr,
                                         m.solve_int.data(), m.solve_real.data());
    LISSOM_ASSERT(status == UMFPACK_OK);
    return;
  }
  x.array() *= m.row_scale.array();
  if (m.n <= own_lu) {
    small_solve(m.n, m.lu.data(), m.pivots.data(), x.data());
  } else {
    const int columns = 1;
    int info = 0;
    dgetrs_("N", &m.n, &columns, m.lu.data(), &m.n, m.pivots.data(), x.data(), &m.n, &info);
  }
}

void NewtonMatrix::multiply(const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::VectorXd> y) const {
  const Impl& m = *impl_;
  y.setZero();
  for (int c = 0; c < m.n; ++c) {
    if (m.sparse)
      for (int k = m.start[c]; k < m.start[c + 1]; ++k) y[m.row[k]] += m.values[k] * x[c];
    else
      for (int r = 0; r < m.n; ++r) y[r] += m.values[static_cast<size_t>(c) * m.n + r] * x[c];
  }
}

Eigen::MatrixXd NewtonMatrix::dense() const {
  const Impl& m = *impl_;
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(m.n, m.n);
  for (int c = 0; c < m.n; ++c) {
    if (m.sparse)
      for (int k = m.start[c]; k < m.start[c + 1]; ++k) A(m.row[k], c) = m.values[k];
    else
      for (int r = 0; r < m.n; ++r) A(r, c) = m.values[static_cast<size_t>(c) * m.n + r];
  }
  return A;
}

}  // namespace lissom

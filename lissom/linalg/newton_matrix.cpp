#include "lissom/linalg/newton_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "lissom/core/error.hpp"
#include "lissom/core/simd.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/fortran_blas.hpp"
#include "lissom/linalg/small_factor.hpp"
#include "lissom/linalg/sparse_lu.hpp"

namespace lissom {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

// up to here nothing sparse is worth trying
constexpr int always_dense = 60;
// up to here an LU of our own beats LAPACK's, whose calls cost more than they do; solving by our own always does
constexpr int own_lu = 200;
// up to here a dense symmetric matrix is factorised as one
constexpr int own_ldlt = 200;
// a symmetric band not wider than this is taken without looking for better
constexpr int always_banded = 32;

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

// The order of Cuthill and McKee, reversed: order[k] is the row that comes k-th. `start`, `row` are the
// pattern by columns.
std::vector<int> narrow_order(int n, const std::vector<int>& start, const std::vector<int>& row) {
  // neighbours either way
  std::vector<std::vector<int>> neighbours(n);
  for (int c = 0; c < n; ++c)
    for (int k = start[c]; k < start[c + 1]; ++k)
      if (row[k] != c) {
        neighbours[c].push_back(row[k]);
        neighbours[row[k]].push_back(c);
      }
  for (auto& list : neighbours) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  const auto degree = [&](int i) { return neighbours[i].size(); };
  std::vector<int> order, level(n, -1), queue;
  std::vector<bool> done(n, false);
  // breadth first from a row; the last one reached is far away
  const auto search = [&](int from) {
    queue.assign(1, from);
    level[from] = 0;
    for (size_t k = 0; k < queue.size(); ++k)
      for (const int i : neighbours[queue[k]])
        if (level[i] < 0) {
          level[i] = level[queue[k]] + 1;
          queue.push_back(i);
        }
    int far = queue.back();
    for (const int i : queue)
      if (level[i] == level[far] && degree(i) < degree(far)) far = i;
    for (const int i : queue) level[i] = -1;
    return far;
  };
  for (int root = 0; root < n; ++root) {
    if (done[root]) continue;
    const int begin = search(search(root));
    size_t next = order.size();
    order.push_back(begin);
    done[begin] = true;
    while (next < order.size()) {
      std::vector<int>& list = neighbours[order[next++]];
      std::sort(list.begin(), list.end(), [&](int a, int b) { return degree(a) < degree(b); });
      for (const int i : list)
        if (!done[i]) {
          done[i] = true;
          order.push_back(i);
        }
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace

struct NewtonMatrix::Impl {
  // Where a block stands: for every column of it the places of its rows among the values; `contiguous` where
  // these follow each other, of a symmetric matrix from the diagonal on (`lower`).
  struct Place {
    int rows = 0, columns = 0;
    bool contiguous = false, lower = false;
    std::vector<int> at;
  };

  int n = 0;
  Storage storage = Storage::Dense;
  bool symmetric = false;  // one half is stored
  bool definite = false;   // the factors at hand are L D L'
  bool factorised = false;
  int singular = -1;
  std::vector<Place> places;

  // Values, and behind them one that is used for nothing.
  //   dense            n by n, column after column; the lower triangle of a symmetric one
  //   banded           rows of 2 width + 1 entries, in the order of `order`
  //   banded symmetric as in small_factor.hpp, in the order of `order`
  //   sparse           by columns with their rows ascending (start, row)
  std::vector<double> values;
  std::vector<int> start, row;
  std::vector<int> order, rank;  // banded: order[k] is the row that comes k-th, rank the inverse
  int width = 0;                 // banded: entries on either side of the diagonal

  // dense or banded factors, of the matrix with scaled rows where they are LU
  std::vector<double> ldlt, inverse, smallest, lu;
  std::vector<int> pivots;
  Eigen::VectorXd row_scale, column_max;
  Eigen::VectorXd ordered;  // right-hand side in the order of the band

  std::optional<SparseLu> sparse;

  // ---- construction

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

  void make_order() {
    order = narrow_order(n, start, row);
    rank.resize(n);
    for (int k = 0; k < n; ++k) rank[order[k]] = k;
    width = 0;
    for (int c = 0; c < n; ++c)
      for (int k = start[c]; k < start[c + 1]; ++k) width = std::max(width, std::abs(rank[c] - rank[row[k]]));
  }

  // microseconds on one thread, as measured: within a third of it from 60 to 600 rows, from 8 to 100 beside
  // the diagonal
  double dense_time() const { return double(n) * n * (0.0025 + n / 45e3); }
  double banded_time() const {
    return symmetric ? n * (0.01 + 1.8e-4 * width * width) : n * (0.02 + 5.5e-4 * width * width);
  }

  void choose(const std::vector<MatrixBlock>& blocks, Storage asked) {
    const bool automatic = asked == Storage::Automatic;
    if (asked == Storage::Dense || (automatic && n <= always_dense)) {
      storage = Storage::Dense;
    } else {
      make_pattern(blocks);
      make_order();
      if (!automatic) {
        storage = asked;
      } else if (symmetric && width <= always_banded) {
        storage = Storage::Banded;
      } else {
        sparse.emplace(n, start, row);
        const double dense = dense_time(), banded = banded_time(), other = sparse->estimated_microseconds();
        storage = banded < std::min(dense, other) ? Storage::Banded
                  : other < dense                 ? Storage::Sparse
                                                  : Storage::Dense;
      }
      if (storage == Storage::Sparse) {
        if (!sparse) sparse.emplace(n, start, row);
      } else {
        sparse.reset();
        start.clear();
        row.clear();
      }
    }
    if (storage == Storage::Sparse || (storage == Storage::Dense && n > own_ldlt)) symmetric = false;
    if (storage == Storage::Banded && symmetric) width = band_width(width);
  }

  void make_room() {
    row_scale.resize(n);
    column_max.resize(n);
    size_t size = 0;
    if (storage == Storage::Sparse) {
      size = row.size();
    } else if (storage == Storage::Dense) {
      size = static_cast<size_t>(n) * n;
    } else {
      size =
          symmetric ? static_cast<size_t>(n + width) * (width + 1) : static_cast<size_t>(n) * (2 * width + 1);
      ordered.setZero(n + width);
    }
    values.assign(size + 1, 0);
    if (symmetric) {
      ldlt.resize(size);
      inverse.resize(n);
      smallest.resize(n);
    } else {
      make_lu_room();
    }
  }

  void make_lu_room() {
    if (storage == Storage::Sparse || !pivots.empty()) return;
    pivots.resize(std::max(n, 1));
    lu.resize(storage == Storage::Dense ? static_cast<size_t>(n) * n
                                        : static_cast<size_t>(n) * (3 * width + 1));
  }

  int nowhere() const { return static_cast<int>(values.size()) - 1; }

  // The place of an entry; of a symmetric matrix that of its lower twin.
  int place_of(int r, int c) const {
    if (storage == Storage::Dense) return symmetric ? std::min(r, c) * n + std::max(r, c) : c * n + r;
    if (storage == Storage::Sparse) {
      const auto begin = row.begin() + start[c], end = row.begin() + start[c + 1];
      return static_cast<int>(std::lower_bound(begin, end, r) - row.begin());
    }
    const int i = rank[r], j = rank[c];
    if (!symmetric) return i * (2 * width + 1) + (j - i + width);
    return std::min(i, j) * (width + 1) + std::abs(i - j);
  }

  void add_place(const MatrixBlock& block) {
    Place place;
    place.rows = static_cast<int>(block.rows.size());
    place.columns = static_cast<int>(block.columns.size());
    const bool own = block.rows == block.columns;
    for (int j = 0; j < place.columns; ++j)
      for (int i = 0; i < place.rows; ++i) {
        const int r = block.rows[i], c = block.columns[j];
        // of a pair of entries one counts: in blocks on the diagonal the one below it, and of two blocks that
        // are each other's transpose the one whose row comes later
        const bool unused = symmetric && (own ? i < j : r < c);
        place.at.push_back(unused ? nowhere() : place_of(r, c));
      }
    place.lower = symmetric && own;
    place.contiguous = storage != Storage::Sparse && (!symmetric || own);
    for (int j = 0; place.contiguous && j < place.columns; ++j) {
      const int first = place.lower ? j : 0;
      for (int i = first + 1; i < place.rows; ++i)
        if (place.at[j * place.rows + i] != place.at[j * place.rows + first] + i - first)
          place.contiguous = false;
    }
    places.push_back(std::move(place));
  }

  // ---- entries: visit(row, column, value), of a symmetric matrix both halves. Inlined, so that what a visitor sums up
  // stays in a register

  template <class Visit>
  LISSOM_INLINE void entries(const Visit& visit) const {
    if (storage == Storage::Sparse) {
      for (int c = 0; c < n; ++c)
        for (int k = start[c]; k < start[c + 1]; ++k) visit(row[k], c, values[k]);
    } else if (storage == Storage::Dense) {
      for (int c = 0; c < n; ++c)
        for (int r = symmetric ? c : 0; r < n; ++r) {
          const double x = values[static_cast<size_t>(c) * n + r];
          visit(r, c, x);
          if (symmetric && r != c) visit(c, r, x);
        }
    } else if (symmetric) {
      for (int j = 0; j < n; ++j)
        for (int k = 0; k <= width && j + k < n; ++k) {
          const double x = values[static_cast<size_t>(j) * (width + 1) + k];
          visit(order[j + k], order[j], x);
          if (k > 0) visit(order[j], order[j + k], x);
        }
    } else {
      for (int i = 0; i < n; ++i)
        for (int j = std::max(0, i - width); j <= std::min(n - 1, i + width); ++j)
          visit(order[i], order[j], values[static_cast<size_t>(i) * (2 * width + 1) + (j - i + width)]);
    }
  }

  // row_scale and column_max of the scaled matrix; false where something is not finite or a row is zero.
  bool scale_rows() {
    row_scale.setZero();
    double sum = 0;
    double* scale = row_scale.data();
    // written as values, which becomes one instruction; compilers make branches or addresses of std::max's references
    entries([scale, &sum](int r, int, double x) {
      const double size = std::abs(x);
      scale[r] = size > scale[r] ? size : scale[r];
      sum += 0 * x;  // NaN where x is NaN or infinite
    });
    if (!(sum == 0)) {
      entries([&](int r, int, double x) {
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
    column_max.setZero();
    double* largest = column_max.data();
    entries([scale, largest](int r, int c, double x) {
      const double size = std::abs(x) * scale[r];
      largest[c] = size > largest[c] ? size : largest[c];
    });
    return true;
  }

  // ---- factors

  bool factorise_symmetric() {
    const bool dense = storage == Storage::Dense;
    std::copy(values.begin(), values.end() - 1, ldlt.begin());
    for (int k = 0; k < n; ++k) {
      const double diagonal_k = values[static_cast<size_t>(k) * (dense ? n + 1 : width + 1)];
      smallest[k] = n * epsilon * std::abs(diagonal_k);
    }
    const int stopped = dense ? small_ldlt(n, ldlt.data(), inverse.data(), smallest.data())
                              : band_ldlt(n, width, ldlt.data(), inverse.data(), smallest.data());
    // a pivot of infinity is above anything
    return stopped < 0 && std::isfinite(inverse[n - 1]);
  }

  bool factorise_dense() {
    entries([&](int r, int c, double x) { lu[static_cast<size_t>(c) * n + r] = x * row_scale[r]; });
    if (n <= own_lu) {
      small_lu(n, lu.data(), pivots.data());
    } else {
      const BlasThreads one;
      int info = 0;
      dgetrf_(&n, &n, lu.data(), &n, pivots.data(), &info);
      for (int& pivot : pivots) --pivot;  // Fortran counts from one
    }
    for (int c = 0; c < n; ++c)
      if (is_negligible(lu[static_cast<size_t>(c) * (n + 1)], column_max[c], n)) {
        singular = c;
        return false;
      }
    return true;
  }

  bool factorise_banded() {
    const size_t stride = 3 * width + 1;
    std::fill(lu.begin(), lu.end(), 0.0);
    entries([&](int r, int c, double x) {
      lu[rank[r] * stride + (rank[c] - rank[r] + width)] = x * row_scale[r];
    });
    band_lu(n, width, width, lu.data(), pivots.data());
    for (int k = 0; k < n; ++k)
      if (is_negligible(lu[k * stride + width], column_max[order[k]], n)) {
        singular = order[k];
        return false;
      }
    return true;
  }

  bool factorise_sparse() {
    sparse->factorise({values.data(), row.size()}, {row_scale.data(), static_cast<size_t>(n)});
    singular = sparse->missing_pivot();
    for (int c = 0; c < n && singular < 0; ++c)
      if (is_negligible(sparse->pivots()[c], column_max[c], n)) singular = c;
    return singular < 0;
  }

  bool factorise() {
    definite = symmetric && factorise_symmetric();
    if (definite) return true;
    make_lu_room();
    if (!scale_rows()) return false;
    switch (storage) {
      case Storage::Sparse:
        return factorise_sparse();
      case Storage::Banded:
        return factorise_banded();
      default:
        return factorise_dense();
    }
  }

  void solve(Eigen::Ref<Eigen::VectorXd> x) {
    if (storage == Storage::Sparse) {
      sparse->solve_in_place({x.data(), static_cast<size_t>(n)});
    } else if (storage == Storage::Banded) {
      if (definite) {
        for (int k = 0; k < n; ++k) ordered[k] = x[order[k]];
        band_ldlt_solve(n, width, ldlt.data(), inverse.data(), ordered.data());
      } else {
        for (int k = 0; k < n; ++k) ordered[k] = x[order[k]] * row_scale[order[k]];
        band_lu_solve(n, width, width, lu.data(), pivots.data(), ordered.data());
      }
      for (int k = 0; k < n; ++k) x[order[k]] = ordered[k];
    } else if (definite) {
      small_ldlt_solve(n, ldlt.data(), inverse.data(), x.data());
    } else {
      x.array() *= row_scale.array();
      small_lu_solve(n, lu.data(), pivots.data(), x.data());
    }
  }
};

NewtonMatrix::NewtonMatrix(int n, const std::vector<MatrixBlock>& blocks, Storage storage, Symmetry symmetry)
    : impl_(std::make_unique<Impl>()) {
  Impl& m = *impl_;
  m.n = n;
  m.symmetric = symmetry == Symmetry::Symmetric;
  for (const MatrixBlock& block : blocks)
    for (const std::vector<int>* list : {&block.rows, &block.columns})
      for (int i : *list) LISSOM_ASSERT(i >= 0 && i < n);
  m.choose(blocks, storage);
  m.make_room();
  m.places.reserve(blocks.size());
  for (const MatrixBlock& block : blocks) m.add_place(block);
}

NewtonMatrix::~NewtonMatrix() = default;
NewtonMatrix::NewtonMatrix(NewtonMatrix&&) noexcept = default;
NewtonMatrix& NewtonMatrix::operator=(NewtonMatrix&&) noexcept = default;

int NewtonMatrix::size() const {
  return impl_->n;
}
NewtonMatrix::Storage NewtonMatrix::storage() const {
  return impl_->storage;
}
bool NewtonMatrix::is_symmetric() const {
  return impl_->symmetric;
}

void NewtonMatrix::set_zero() {
  std::fill(impl_->values.begin(), impl_->values.end(), 0.0);
}

void NewtonMatrix::add(int block, const Eigen::Ref<const Eigen::MatrixXd>& values, double factor) {
  const Impl::Place& place = impl_->places[block];
  LISSOM_ASSERT(values.rows() == place.rows && values.cols() == place.columns);
  double* const target = impl_->values.data();
  const int* at = place.at.data();
  for (int c = 0; c < place.columns; ++c, at += place.rows) {
    const double* from = values.data() + c * values.outerStride();
    if (place.contiguous) {
      const int first = place.lower ? c : 0;
      double* to = target + at[first] - first;
      for (int r = first; r < place.rows; ++r) to[r] += factor * from[r];
    } else {
      for (int r = 0; r < place.rows; ++r) target[at[r]] += factor * from[r];
    }
  }
}

double* NewtonMatrix::values() {
  return impl_->values.data();
}
const int* NewtonMatrix::places(int block) const {
  return impl_->places[block].at.data();
}

bool NewtonMatrix::factorise() {
  Impl& m = *impl_;
  m.singular = -1;
  m.factorised = m.n == 0 || m.factorise();
  return m.factorised;
}

int NewtonMatrix::singular_row() const {
  return impl_->singular;
}

void NewtonMatrix::solve_in_place(Eigen::Ref<Eigen::VectorXd> x) const {
  Impl& m = *impl_;
  LISSOM_ASSERT(m.factorised && x.size() == m.n);
  if (m.n > 0) m.solve(x);
}

void NewtonMatrix::multiply(const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::VectorXd> y) const {
  y.setZero();
  impl_->entries([&](int r, int c, double value) { y[r] += value * x[c]; });
}

Eigen::MatrixXd NewtonMatrix::dense() const {
  const Impl& m = *impl_;
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(m.n, m.n);
  m.entries([&](int r, int c, double value) { A(r, c) = value; });
  return A;
}

}  // namespace lissom

#include "lissom/linalg/sparse_lu.hpp"

#include <Eigen/SparseLU>

#include <algorithm>
#include <limits>
#include <random>

#include "lissom/core/error.hpp"

namespace lissom {

struct SparseLu::Impl {
  using Matrix = Eigen::SparseMatrix<double>;
  using Factor = Eigen::SparseLU<Matrix, Eigen::COLAMDOrdering<int>>;

  Matrix A;  // with scaled rows
  Factor lu;
  double microseconds = 0;
  int missing = -1;
  std::vector<double> pivots, scale;
  mutable std::vector<double> room;

  void factorise() {
    const int n = static_cast<int>(A.cols());
    missing = -1;
    lu.factorize(A);
    const auto& place = lu.colsPermutation().indices();  // of a column in the order of elimination
    if (lu.info() != Eigen::Success) {
      // rows get their places one by one; the last one given belongs to the column without a pivot
      const int last = lu.rowsPermutation().indices().maxCoeff();
      missing = static_cast<int>(std::find(place.data(), place.data() + n, last) - place.data());
      if (missing == n) fail("a sparse matrix of {} rows cannot be factorised: {}", n, lu.lastErrorMessage());
      return;
    }
    const auto L = lu.matrixL();
    const double* values = L.m_mapL.valuePtr();
    for (int c = 0; c < n; ++c) {
      const int k = place[c], first = L.m_mapL.supToCol()[L.m_mapL.colToSup()[k]];
      pivots[c] = values[L.m_mapL.colIndexPtr()[k] + k - first];
    }
  }

  // Measured over 16 matrices of trees and loops: within 0.6 and 1.3 of the time.
  double estimate() const {
    const auto L = lu.matrixL();
    double squares = 0;
    for (int k = 0; k < A.cols(); ++k) {
      const int first = L.m_mapL.supToCol()[L.m_mapL.colToSup()[k]];
      const double below =
          L.m_mapL.rowIndexPtr()[first + 1] - L.m_mapL.rowIndexPtr()[first] - (k - first) - 1;
      squares += below * below;
    }
    return 2e-4 * squares + 0.45 * static_cast<double>(A.cols());
  }
};

SparseLu::SparseLu(int n, std::span<const int> start, std::span<const int> row)
    : impl_(std::make_unique<Impl>()) {
  Impl& m = *impl_;
  LISSOM_ASSERT(static_cast<int>(start.size()) == n + 1 && start[n] == static_cast<int>(row.size()));
  m.pivots.resize(n);
  m.scale.resize(n);
  m.room.resize(n);
  m.A.resize(n, n);
  m.A.resizeNonZeros(start[n]);
  std::copy(start.begin(), start.end(), m.A.outerIndexPtr());
  std::copy(row.begin(), row.end(), m.A.innerIndexPtr());
  // values on which no pivot vanishes unless the pattern makes it
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> between(1, 2);
  for (int k = 0; k < start[n]; ++k) m.A.valuePtr()[k] = between(generator);
  m.lu.analyzePattern(m.A);
  m.factorise();
  m.microseconds = m.missing < 0 ? m.estimate() : std::numeric_limits<double>::infinity();
}

SparseLu::~SparseLu() = default;
SparseLu::SparseLu(SparseLu&&) noexcept = default;
SparseLu& SparseLu::operator=(SparseLu&&) noexcept = default;

double SparseLu::estimated_microseconds() const {
  return impl_->microseconds;
}
int SparseLu::missing_pivot() const {
  return impl_->missing;
}
std::span<const double> SparseLu::pivots() const {
  return impl_->pivots;
}

void SparseLu::factorise(std::span<const double> values, std::span<const double> row_scale) {
  Impl& m = *impl_;
  std::copy(row_scale.begin(), row_scale.end(), m.scale.begin());
  for (Eigen::Index k = 0; k < m.A.nonZeros(); ++k)
    m.A.valuePtr()[k] = values[k] * row_scale[m.A.innerIndexPtr()[k]];
  m.factorise();
}

// Eigen's own solve allocates; this one walks through the same arrays. The rows of a supernode begin with its
// own columns: a unit lower triangle, on which and above which U stands; entries of U above that are in
// m_mapU.
void SparseLu::solve_in_place(std::span<double> x) const {
  const Impl& m = *impl_;
  LISSOM_ASSERT(m.missing < 0);
  const int n = static_cast<int>(m.A.cols());
  double* const y = m.room.data();
  const auto& row_place = m.lu.rowsPermutation().indices();
  const auto& column_place = m.lu.colsPermutation().indices();
  for (int i = 0; i < n; ++i) y[row_place[i]] = x[i] * m.scale[i];

  const auto U = m.lu.matrixU();
  const auto& L = U.m_mapL;
  const auto& above = U.m_mapU;
  const double* const values = L.valuePtr();
  const auto visit = [&](int supernode, const auto& act) {
    const int first = L.supToCol()[supernode], end = L.supToCol()[supernode + 1];
    const auto* rows = L.rowIndex() + L.rowIndexPtr()[first];
    act(first, end, rows, static_cast<int>(L.rowIndexPtr()[first + 1] - L.rowIndexPtr()[first]));
  };
  const int supernodes = static_cast<int>(L.nsuper()) + 1;
  for (int s = 0; s < supernodes; ++s)
    visit(s, [&](int first, int end, const auto* rows, int height) {
      for (int k = first; k < end; ++k) {
        const double* const column = values + L.colIndexPtr()[k];
        const double yk = y[k];
        for (int i = k - first + 1; i < height; ++i) y[rows[i]] -= column[i] * yk;
      }
    });
  for (int s = supernodes; s-- > 0;)
    visit(s, [&](int first, int end, const auto*, int) {
      for (int k = end; k-- > first;) {
        const double* const column = values + L.colIndexPtr()[k];
        const double yk = y[k] /= column[k - first];
        for (int i = 0; i < k - first; ++i) y[first + i] -= column[i] * yk;
        for (auto p = above.outerIndexPtr()[k]; p < above.outerIndexPtr()[k + 1]; ++p)
          y[above.innerIndexPtr()[p]] -= above.valuePtr()[p] * yk;
      }
    });
  for (int i = 0; i < n; ++i) x[i] = y[column_place[i]];
}

}  // namespace lissom

#include "lissom/linalg/cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "lissom/core/parallel.hpp"
#include "lissom/core/resources.hpp"
#include "lissom/linalg/ordering.hpp"
#include "lissom/linalg/supernodal.hpp"
#include "lissom/linalg/symbolic.hpp"

namespace lissom {

struct Cholesky::Impl {
  std::unique_ptr<SupernodalFactor> factor;
  int n = 0;
  CholeskyStats stats;

  const SupernodalStructure& structure() const { return factor->structure(); }
  void factorize(const SymmetricMatrix& A, const std::function<void(double)>& progress = {});
  std::vector<int> loose_rows(const SymmetricMatrix& A) const;
  [[noreturn]] void out_of_memory() const;
};

Cholesky::Cholesky(const SymmetricMatrix& A, std::span<const int> group,
                   const std::function<void(double)>& progress)
    : impl_(std::make_unique<Impl>()) {
  Impl& m = *impl_;
  m.n = A.size();
  if (m.n == 0) fail("the matrix to factorise has no rows");
  for (Eigen::Index k = 0; k < A.lower.nonZeros(); ++k)
    if (!std::isfinite(A.lower.valuePtr()[k])) fail("the matrix to factorise contains NaN or infinity");

  Timer ordering;
  const std::vector<int> order = nested_dissection(A, group);
  m.stats.ordering_seconds = ordering.seconds();

  Timer symbolic;
  SymbolicAnalysis analysis;
  try {
    analysis = analyse_supernodes(A, order);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("out of memory while analysing a matrix of {} rows", m.n));
  }
  const SupernodalStructure& structure = analysis.structure;
  m.stats.nonzeros = static_cast<double>(structure.value_start.back());
  m.stats.flops = analysis.flops;
  m.stats.bytes = 8.0 * m.stats.nonzeros + sizeof(int) * static_cast<double>(structure.rows.size());

  // besides L the factorisation needs workspace
  const double needed =
      m.stats.bytes +
      SupernodalFactor::workspace_bytes(structure, static_cast<double>(A.lower.nonZeros()), thread_count());
  const double available = static_cast<double>(available_memory_bytes());
  if (needed > available)
    throw OutOfMemory(
        fmt::format("the factorisation of {} equations needs {}, and {} are free: use a coarser mesh or "
                    "linear elements, or a "
                    "machine with more memory",
                    m.n, format_bytes(needed), format_bytes(available)));
  try {
    m.factor = std::make_unique<SupernodalFactor>(std::move(analysis.structure));
  } catch (const std::bad_alloc&) {
    m.out_of_memory();
  }
  m.stats.symbolic_seconds = symbolic.seconds();
  m.factorize(A, progress);
}

Cholesky::~Cholesky() = default;
Cholesky::Cholesky(Cholesky&&) noexcept = default;
Cholesky& Cholesky::operator=(Cholesky&&) noexcept = default;

void Cholesky::Impl::out_of_memory() const {
  throw OutOfMemory(fmt::format("out of memory: the factor of {} equations needs {}, and {} are free", n,
                                format_bytes(stats.bytes),
                                format_bytes(static_cast<double>(available_memory_bytes()))));
}

void Cholesky::Impl::factorize(const SymmetricMatrix& A, const std::function<void(double)>& progress) {
  Timer numeric;
  int failed = -1;
  try {
    failed = factor->factorize(A, progress);
  } catch (const std::bad_alloc&) {
    out_of_memory();
  }
  stats.numeric_seconds = numeric.seconds();
  if (failed >= 0) {
    const int row = structure().order[failed];
    throw NotPositiveDefinite(
        fmt::format("the matrix of {} equations is not positive definite (row {})", n, row), {row});
  }
  const std::vector<int> loose = loose_rows(A);
  if (!loose.empty())
    throw NotPositiveDefinite(
        fmt::format("the matrix of {} equations is singular to working precision ({} vanishing pivots)", n,
                    loose.size()),
        loose);
}

// Rows whose pivot is nothing but round-off of its diagonal entry: what is left of the stiffness there is
// noise.
std::vector<int> Cholesky::Impl::loose_rows(const SymmetricMatrix& A) const {
  const SupernodalStructure& S = structure();
  const Eigen::VectorXd diagonal = A.diagonal();
  std::vector<int> rows;
  for (int s = 0; s < S.supernodes(); ++s)
    for (int j = 0; j < S.width(s); ++j) {
      const double pivot = factor->values()[S.value_start[s] + j * (int64_t{S.height(s)} + 1)];
      const int row = S.order[S.first[s] + j];
      if (!(pivot * pivot > 4e-16 * diagonal[row])) rows.push_back(row);
    }
  std::sort(rows.begin(), rows.end());
  return rows;
}

void Cholesky::refactor(const SymmetricMatrix& A) {
  LISSOM_ASSERT(A.size() == impl_->n);
  impl_->factorize(A);
}

Inertia Cholesky::refactor_indefinite(const SymmetricMatrix& A) {
  Impl& m = *impl_;
  LISSOM_ASSERT(A.size() == m.n);
  Timer numeric;
  Inertia result;
  int failed = -1;
  try {
    failed = m.factor->factorize_indefinite(A);
  } catch (const std::bad_alloc&) {
    m.out_of_memory();
  }
  m.stats.numeric_seconds = numeric.seconds();
  if (failed >= 0) {
    result.growth = std::numeric_limits<double>::infinity();
    return result;
  }
  // rows of |L| |L'|, and of A
  const SupernodalStructure& S = m.structure();
  Eigen::VectorXd square = Eigen::VectorXd::Zero(m.n);
  for (int s = 0; s < S.supernodes(); ++s)
    for (int j = 0; j < S.width(s); ++j) {
      const double* column = m.factor->values() + S.value_start[s] + static_cast<int64_t>(j) * S.height(s);
      for (int i = j; i < S.height(s); ++i) square[S.rows[S.row_start[s] + i]] += column[i] * column[i];
    }
  const auto signs = m.factor->signs();
  result.negative = static_cast<int>(std::count(signs.begin(), signs.end(), -1));
  // of the row's largest entry: a diagonal entry of K - sigma M may be small by accident
  Eigen::VectorXd largest = Eigen::VectorXd::Zero(m.n);
  for (int j = 0; j < m.n; ++j)
    for (SparseMatrix::InnerIterator it(A.lower, j); it; ++it) {
      largest[j] = std::max(largest[j], std::abs(it.value()));
      largest[it.row()] = std::max(largest[it.row()], std::abs(it.value()));
    }
  for (int k = 0; k < m.n; ++k) {
    const double growth = square[k] / largest[S.order[k]];
    if (!(growth <= result.growth)) result.growth = growth;
  }
  return result;
}

void Cholesky::solve_in_place(Eigen::Ref<Eigen::MatrixXd> X) const {
  LISSOM_ASSERT(X.rows() == impl_->n);
  if (X.cols() == 0) return;
  try {
    impl_->factor->solve_in_place(X);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("out of memory while solving for {} right-hand sides", X.cols()));
  }
}

SparseMatrix Cholesky::lower_factor() const {
  return impl_->structure().to_sparse(impl_->factor->values());
}

int Cholesky::size() const {
  return impl_->n;
}
const CholeskyStats& Cholesky::stats() const {
  return impl_->stats;
}

}  // namespace lissom

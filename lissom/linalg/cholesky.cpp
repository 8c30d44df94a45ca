#include "lissom/linalg/cholesky.hpp"

#include <cholmod.h>

#include <algorithm>
#include <cmath>

#include "lissom/core/resources.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/ordering.hpp"

namespace lissom {

struct Cholesky::Impl {
  cholmod_common common{};
  cholmod_factor* L = nullptr;
  // workspace of the solves
  cholmod_dense *Y = nullptr, *E = nullptr;
  std::vector<double> X;
  int n = 0;
  CholeskyStats stats;

  Impl() {
    cholmod_l_start(&common);
    common.supernodal = CHOLMOD_SUPERNODAL;
    common.nmethods = 1;
    common.method[0].ordering = CHOLMOD_GIVEN;
    common.postorder = 1;
    common.print = 0;
    common.useGPU = 0;
  }
  ~Impl() {
    cholmod_l_free_dense(&Y, &common);
    cholmod_l_free_dense(&E, &common);
    cholmod_l_free_factor(&L, &common);
    cholmod_l_finish(&common);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void factorize(const SymmetricMatrix& A, cholmod_sparse& view);
  std::vector<int> loose_rows(const SymmetricMatrix& A) const;
};

namespace {

// CHOLMOD's view of our matrix: values are shared, indices are copied to 64 bits.
struct LongView {
  std::vector<SuiteSparse_long> start, row;
  cholmod_sparse sparse{};

  explicit LongView(const SymmetricMatrix& A) {
    LISSOM_ASSERT(A.lower.isCompressed());
    const auto n = A.lower.cols();
    start.assign(A.lower.outerIndexPtr(), A.lower.outerIndexPtr() + n + 1);
    row.assign(A.lower.innerIndexPtr(), A.lower.innerIndexPtr() + A.lower.nonZeros());
    sparse.nrow = sparse.ncol = static_cast<size_t>(n);
    sparse.nzmax = row.size();
    sparse.p = start.data();
    sparse.i = row.data();
    sparse.x = const_cast<double*>(A.lower.valuePtr());
    sparse.stype = -1;  // lower triangle
    sparse.itype = CHOLMOD_LONG;
    sparse.xtype = CHOLMOD_REAL;
    sparse.dtype = CHOLMOD_DOUBLE;
    sparse.sorted = 1;
    sparse.packed = 1;
  }
};

}  // namespace

Cholesky::Cholesky(const SymmetricMatrix& A, std::span<const int> group) : impl_(std::make_unique<Impl>()) {
  Impl& m = *impl_;
  m.n = A.size();
  if (m.n == 0) fail("the matrix to factorise has no rows");
  for (Eigen::Index k = 0; k < A.lower.nonZeros(); ++k)
    if (!std::isfinite(A.lower.valuePtr()[k])) fail("the matrix to factorise contains NaN or infinity");
  configure_blas_threads();

  Timer ordering;
  const std::vector<int> order = nested_dissection(A, group);
  std::vector<SuiteSparse_long> permutation(order.begin(), order.end());
  m.stats.ordering_seconds = ordering.seconds();

  Timer symbolic;
  LongView view(A);
  m.L = cholmod_l_analyze_p(&view.sparse, permutation.data(), nullptr, 0, &m.common);
  if (!m.L || m.common.status == CHOLMOD_OUT_OF_MEMORY)
    throw OutOfMemory(fmt::format("out of memory while analysing a matrix of {} rows", m.n));
  LISSOM_ASSERT(m.L->is_super);
  m.stats.symbolic_seconds = symbolic.seconds();
  m.stats.nonzeros = static_cast<double>(m.L->xsize);
  m.stats.flops = m.common.fl;
  m.stats.bytes = 8.0 * static_cast<double>(m.L->xsize) + 8.0 * static_cast<double>(m.L->ssize);

  // besides L, the factorisation needs a permuted copy of A and one front
  const double needed = m.stats.bytes + 32.0 * static_cast<double>(A.lower.nonZeros()) +
                        8.0 * static_cast<double>(m.L->maxcsize);
  const double available = static_cast<double>(available_memory_bytes());
  if (needed > available)
    throw OutOfMemory(
        fmt::format("the factorisation of {} equations needs {}, and {} are free: use a coarser mesh or "
                    "linear elements, or a "
                    "machine with more memory",
                    m.n, format_bytes(needed), format_bytes(available)));
  m.factorize(A, view.sparse);
}

Cholesky::~Cholesky() = default;
Cholesky::Cholesky(Cholesky&&) noexcept = default;
Cholesky& Cholesky::operator=(Cholesky&&) noexcept = default;

void Cholesky::Impl::factorize(const SymmetricMatrix& A, cholmod_sparse& view) {
  Timer numeric;
  cholmod_l_factorize(&view, L, &common);
  stats.numeric_seconds = numeric.seconds();
  if (common.status == CHOLMOD_OUT_OF_MEMORY)
    throw OutOfMemory(fmt::format("out of memory: the factor of {} equations needs {}, and {} are free", n,
                                  format_bytes(stats.bytes),
                                  format_bytes(static_cast<double>(available_memory_bytes()))));
  if (common.status < CHOLMOD_OK) fail("CHOLMOD failed with status {}", common.status);
  const auto* permutation = static_cast<const SuiteSparse_long*>(L->Perm);
  if (common.status == CHOLMOD_NOT_POSDEF || L->minor < static_cast<size_t>(n)) {
    const int row = static_cast<int>(permutation[std::min<size_t>(L->minor, n - 1)]);
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
  const auto* permutation = static_cast<const SuiteSparse_long*>(L->Perm);
  const auto* super = static_cast<const SuiteSparse_long*>(L->super);
  const auto* pi = static_cast<const SuiteSparse_long*>(L->pi);
  const auto* px = static_cast<const SuiteSparse_long*>(L->px);
  const auto* x = static_cast<const double*>(L->x);
  const Eigen::VectorXd diagonal = A.diagonal();
  std::vector<int> rows;
  for (size_t s = 0; s < L->nsuper; ++s) {
    const SuiteSparse_long height = pi[s + 1] - pi[s];
    for (SuiteSparse_long k = super[s]; k < super[s + 1]; ++k) {
      const SuiteSparse_long j = k - super[s];
      const double pivot = x[px[s] + j * height + j];
      const int row = static_cast<int>(permutation[k]);
      if (!(pivot * pivot > 4e-16 * diagonal[row])) rows.push_back(row);
    }
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

void Cholesky::refactor(const SymmetricMatrix& A) {
  LISSOM_ASSERT(A.size() == impl_->n);
  LongView view(A);
  impl_->factorize(A, view.sparse);
}

void Cholesky::solve_in_place(Eigen::Ref<Eigen::MatrixXd> X) const {
  Impl& m = *impl_;
  LISSOM_ASSERT(X.rows() == m.n);
  if (X.cols() == 0) return;
  cholmod_dense B{};
  B.nrow = static_cast<size_t>(m.n);
  B.ncol = static_cast<size_t>(X.cols());
  B.d = static_cast<size_t>(X.outerStride());
  B.nzmax = B.d * B.ncol;
  B.x = X.data();
  B.xtype = CHOLMOD_REAL;
  B.dtype = CHOLMOD_DOUBLE;
  // the result comes in memory that CHOLMOD owns and re-uses from call to call
  cholmod_dense* solution = nullptr;
  const int ok = cholmod_l_solve2(CHOLMOD_A, m.L, &B, nullptr, &solution, nullptr, &m.Y, &m.E, &m.common);
  if (!ok || !solution) {
    cholmod_l_free_dense(&solution, &m.common);
    throw OutOfMemory(fmt::format("out of memory while solving for {} right-hand sides", X.cols()));
  }
  X = Eigen::Map<const Eigen::MatrixXd>(static_cast<const double*>(solution->x), m.n, X.cols());
  cholmod_l_free_dense(&solution, &m.common);
}

int Cholesky::size() const {
  return impl_->n;
}
const CholeskyStats& Cholesky::stats() const {
  return impl_->stats;
}

}  // namespace lissom

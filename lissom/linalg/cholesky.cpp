#include "lissom/linalg/cholesky.hpp"

#include <cholmod.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "lissom/core/resources.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/ordering.hpp"
#include "lissom/linalg/supernodal.hpp"

namespace lissom {

struct Cholesky::Impl {
  cholmod_common common{};
  CholeskyOptions options;
  std::unique_ptr<SupernodalFactor> factor;
  // CHOLMOD's factor and the workspace of its solves, only when its numerical part is asked for
  cholmod_factor* L = nullptr;
  cholmod_dense *Y = nullptr, *E = nullptr;
  SupernodalStructure cholmod_structure;
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

  const SupernodalStructure& structure() const { return factor ? factor->structure() : cholmod_structure; }
  const double* values() const { return factor ? factor->values() : static_cast<const double*>(L->x); }
  void factorize(const SymmetricMatrix& A, const std::function<void(double)>& progress = {});
  int factorize_with_cholmod(const SymmetricMatrix& A);
  void solve_with_cholmod(Eigen::Ref<Eigen::MatrixXd> X);
  std::vector<int> loose_rows(const SymmetricMatrix& A) const;
  [[noreturn]] void out_of_memory() const;
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

// Our copy of what CHOLMOD's analysis found.
SupernodalStructure structure_of(const cholmod_factor& L) {
  const auto copy = [](const void* from, size_t count, auto& to) {
    const auto* begin = static_cast<const SuiteSparse_long*>(from);
    to.assign(begin, begin + count);
  };
  SupernodalStructure structure;
  structure.n = static_cast<int>(L.n);
  copy(L.Perm, L.n, structure.order);
  copy(L.super, L.nsuper + 1, structure.first);
  copy(L.pi, L.nsuper + 1, structure.row_start);
  copy(L.px, L.nsuper + 1, structure.value_start);
  copy(L.s, L.ssize, structure.rows);
  return structure;
}

}  // namespace

Cholesky::Cholesky(const SymmetricMatrix& A, std::span<const int> group, const CholeskyOptions& options)
    : impl_(std::make_unique<Impl>()) {
  Impl& m = *impl_;
  m.n = A.size();
  m.options = options;
  if (m.n == 0) fail("the matrix to factorise has no rows");
  for (Eigen::Index k = 0; k < A.lower.nonZeros(); ++k)
    if (!std::isfinite(A.lower.valuePtr()[k])) fail("the matrix to factorise contains NaN or infinity");

  Timer ordering;
  const std::vector<int> order = nested_dissection(A, group);
  std::vector<SuiteSparse_long> permutation(order.begin(), order.end());
  m.stats.ordering_seconds = ordering.seconds();

  Timer symbolic;
  SupernodalStructure structure;
  {
    LongView view(A);
    m.L = cholmod_l_analyze_p(&view.sparse, permutation.data(), nullptr, 0, &m.common);
    if (!m.L || m.common.status == CHOLMOD_OUT_OF_MEMORY)
      throw OutOfMemory(fmt::format("out of memory while analysing a matrix of {} rows", m.n));
    LISSOM_ASSERT(m.L->is_super);
    structure = structure_of(*m.L);
  }
  m.stats.nonzeros = static_cast<double>(m.L->xsize);
  m.stats.flops = m.common.fl;
  m.stats.bytes = 8.0 * static_cast<double>(m.L->xsize) + 8.0 * static_cast<double>(m.L->ssize);

  // besides L, our factorisation needs workspace; CHOLMOD's a permuted copy of A and one front
  const double nonzeros = static_cast<double>(A.lower.nonZeros());
  const double needed =
      m.stats.bytes + (options.cholmod_numeric
                           ? 32.0 * nonzeros + 8.0 * static_cast<double>(m.L->maxcsize)
                           : SupernodalFactor::workspace_bytes(structure, nonzeros, omp_get_max_threads()));
  const double available = static_cast<double>(available_memory_bytes());
  if (needed > available)
    throw OutOfMemory(
        fmt::format("the factorisation of {} equations needs {}, and {} are free: use a coarser mesh or "
                    "linear elements, or a "
                    "machine with more memory",
                    m.n, format_bytes(needed), format_bytes(available)));

  if (options.cholmod_numeric) {
    m.cholmod_structure = std::move(structure);
  } else {
    cholmod_l_free_factor(&m.L, &m.common);
    try {
      m.factor = std::make_unique<SupernodalFactor>(std::move(structure));
    } catch (const std::bad_alloc&) {
      m.out_of_memory();
    }
  }
  m.stats.symbolic_seconds = symbolic.seconds();
  m.factorize(A, options.progress);
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
    failed = factor ? factor->factorize(A, progress) : factorize_with_cholmod(A);
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

// Returns the column that failed, or -1.
int Cholesky::Impl::factorize_with_cholmod(const SymmetricMatrix& A) {
  const BlasThreads blas_threads(options.blas_threads);
  LongView view(A);
  cholmod_l_factorize(&view.sparse, L, &common);
  if (common.status == CHOLMOD_OUT_OF_MEMORY) throw std::bad_alloc();
  if (common.status < CHOLMOD_OK) fail("CHOLMOD failed with status {}", common.status);
  if (common.status == CHOLMOD_NOT_POSDEF || L->minor < static_cast<size_t>(n))
    return static_cast<int>(std::min<size_t>(L->minor, n - 1));
  return -1;
}

// Rows whose pivot is nothing but round-off of its diagonal entry: what is left of the stiffness there is
// noise.
std::vector<int> Cholesky::Impl::loose_rows(const SymmetricMatrix& A) const {
  const SupernodalStructure& S = structure();
  const Eigen::VectorXd diagonal = A.diagonal();
  std::vector<int> rows;
  for (int s = 0; s < S.supernodes(); ++s)
    for (int j = 0; j < S.width(s); ++j) {
      const double pivot = values()[S.value_start[s] + j * (int64_t{S.height(s)} + 1)];
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

void Cholesky::solve_in_place(Eigen::Ref<Eigen::MatrixXd> X) const {
  Impl& m = *impl_;
  LISSOM_ASSERT(X.rows() == m.n);
  if (X.cols() == 0) return;
  try {
    if (m.factor)
      m.factor->solve_in_place(X);
    else
      m.solve_with_cholmod(X);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("out of memory while solving for {} right-hand sides", X.cols()));
  }
}

void Cholesky::Impl::solve_with_cholmod(Eigen::Ref<Eigen::MatrixXd> X) {
  const BlasThreads blas_threads(options.blas_threads);
  cholmod_dense B{};
  B.nrow = static_cast<size_t>(n);
  B.ncol = static_cast<size_t>(X.cols());
  B.d = static_cast<size_t>(X.outerStride());
  B.nzmax = B.d * B.ncol;
  B.x = X.data();
  B.xtype = CHOLMOD_REAL;
  B.dtype = CHOLMOD_DOUBLE;
  // the result comes in memory that CHOLMOD owns and re-uses from call to call
  cholmod_dense* solution = nullptr;
  const int ok = cholmod_l_solve2(CHOLMOD_A, L, &B, nullptr, &solution, nullptr, &Y, &E, &common);
  if (!ok || !solution) {
    cholmod_l_free_dense(&solution, &common);
    throw std::bad_alloc();
  }
  X = Eigen::Map<const Eigen::MatrixXd>(static_cast<const double*>(solution->x), n, X.cols());
  cholmod_l_free_dense(&solution, &common);
}

SparseMatrix Cholesky::lower_factor() const {
  return impl_->structure().to_sparse(impl_->values());
}

int Cholesky::size() const {
  return impl_->n;
}
const CholeskyStats& Cholesky::stats() const {
  return impl_->stats;
}

}  // namespace lissom

#include "lissom/linalg/supernodal.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "lissom/core/error.hpp"
#include "lissom/core/parallel.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/fortran_blas.hpp"

namespace lissom {

namespace {

// Widest panel. Wide panels make large, efficient products, narrow ones more tasks.
constexpr int kPanel = 128;
// A subtree with less than this share of the flops is one task: small enough to balance 16 threads.
constexpr double kSubtreeShare = 1.0 / 128;
// Below so many flops a task is not worth its handling.
constexpr double kSubtreeFlops = 5e6;
// Below so many flops (about half a millisecond) other threads are not called: on a busy machine they may
// come later than the work takes.
constexpr double kParallelFlops = 1e7;
// Most right-hand sides that are solved for at once.
constexpr int kMaxColumns = 64;

int threads_for(double flops) {
  return flops < kParallelFlops ? 1 : std::max(1, thread_count());
}

// C (m by n) = alpha A B^T + beta C
void multiply_transposed(int m, int n, int k, double alpha, const double* A, int lda, const double* B,
                         int ldb, double beta, double* C, int ldc) {
  dgemm_("N", "T", &m, &n, &k, &alpha, A, &lda, B, &ldb, &beta, C, &ldc);
}

// C (m by n) = alpha A B + beta C
void multiply(int m, int n, int k, double alpha, const double* A, int lda, const double* B, int ldb,
              double beta, double* C, int ldc) {
  dgemm_("N", "N", &m, &n, &k, &alpha, A, &lda, B, &ldb, &beta, C, &ldc);
}

// B (m by n) <- B L^-T or B L^-1
void divide(const char* transpose, int m, int n, const double* L, int ldl, double* B, int ldb) {
  const double one = 1;
  dtrsm_("R", "L", transpose, "N", &m, &n, &one, L, &ldl, B, &ldb);
}

// The products of the solves: W^T has few rows (k) and L is read once from memory. OpenBLAS takes products of
// less than 10^6 terms as they are, but copies the factors of larger ones into its own order first, which for
// few rows costs three times the product itself. So cut them.
constexpr int kSolveColumns = 16;

int rows_at_once(int k) {
  return std::max(32, 900'000 / (kSolveColumns * k));
}

// C (k by rows) = alpha Y (k by columns) L^T + beta C, with L rows by columns
void multiply_by_transpose(int k, int rows, int columns, double alpha, const double* Y, const double* L,
                           int ldl, double beta, double* C) {
  const int one = 1;
  if (k == 1) return dgemv_("N", &rows, &columns, &alpha, L, &ldl, Y, &one, &beta, C, &one);
  const int step = rows_at_once(k);
  for (int j = 0; j < columns; j += kSolveColumns)
    for (int i = 0; i < rows; i += step)
      multiply_transposed(k, std::min(step, rows - i), std::min(kSolveColumns, columns - j), alpha,
                          Y + static_cast<int64_t>(j) * k, k, L + i + static_cast<int64_t>(j) * ldl, ldl,
                          j == 0 ? beta : 1.0, C + static_cast<int64_t>(i) * k, k);
}

// C (k by columns) -= Y (k by rows) L, with L rows by columns
void subtract_product(int k, int rows, int columns, const double* Y, const double* L, int ldl, double* C) {
  const int one = 1;
  const double minus = -1, plus = 1;
  if (k == 1) return dgemv_("T", &rows, &columns, &minus, L, &ldl, Y, &one, &plus, C, &one);
  const int step = rows_at_once(k);
  for (int j = 0; j < columns; j += kSolveColumns)
    for (int i = 0; i < rows; i += step)
      multiply(k, std::min(kSolveColumns, columns - j), std::min(step, rows - i), -1,
               Y + static_cast<int64_t>(i) * k, k, L + i + static_cast<int64_t>(j) * ldl, ldl, 1,
               C + static_cast<int64_t>(j) * k, k);
}

// Y (k by w) <- Y L^-T with the triangle L, in blocks: dtrsm is slow for few rows
void divide_by_transpose(int k, int w, const double* L, int ldl, double* Y) {
  for (int j = 0; j < w; j += kSolveColumns) {
    const int columns = std::min(kSolveColumns, w - j);
    const double* square = L + j + static_cast<int64_t>(j) * ldl;
    double* y = Y + static_cast<int64_t>(j) * k;
    divide("T", k, columns, square, ldl, y, k);
    if (j + columns < w)
      multiply_by_transpose(k, w - j - columns, columns, -1, y, square + columns, ldl, 1,
                            y + static_cast<int64_t>(columns) * k);
  }
}

// Y (k by w) <- Y L^-1
void divide_by_triangle(int k, int w, const double* L, int ldl, double* Y) {
  for (int j = (w - 1) / kSolveColumns * kSolveColumns; j >= 0; j -= kSolveColumns) {
    const int columns = std::min(kSolveColumns, w - j);
    const double* square = L + j + static_cast<int64_t>(j) * ldl;
    double* y = Y + static_cast<int64_t>(j) * k;
    if (j + columns < w)
      subtract_product(k, w - j - columns, columns, y + static_cast<int64_t>(columns) * k, square + columns,
                       ldl, y);
    divide("N", k, columns, square, ldl, y, k);
  }
}

}  // namespace

SparseMatrix SupernodalStructure::to_sparse(const double* values) const {
  std::vector<Eigen::Triplet<double>> entries;
  for (int s = 0; s < supernodes(); ++s)
    for (int j = 0; j < width(s); ++j)
      for (int i = j; i < height(s); ++i)
        entries.emplace_back(rows[row_start[s] + i], first[s] + j,
                             values[value_start[s] + static_cast<int64_t>(j) * height(s) + i]);
  SparseMatrix L(n, n);
  L.setFromTriplets(entries.begin(), entries.end());
  return L;
}

SupernodalFactor::SupernodalFactor(SupernodalStructure structure) : structure_(std::move(structure)) {
  for (int s = 0; s < structure_.supernodes(); ++s) max_height_ = std::max(max_height_, structure_.height(s));
  make_panels();
  make_tasks();
  make_solve_lists();
  // not touched here: each thread brings in the pages of the panels that it starts
  values_ = std::make_unique_for_overwrite<double[]>(static_cast<size_t>(structure_.value_start.back()));
}

double SupernodalFactor::workspace_bytes(const SupernodalStructure& structure, double nonzeros, int threads) {
  double height = 0;
  for (int s = 0; s < structure.supernodes(); ++s)
    height = std::max(height, static_cast<double>(structure.height(s)));
  // entries of A; each thread's product and positions; source and target lists are about as long as the rows
  return nonzeros * sizeof(Entry) + threads * (height * (8.0 * kPanel + 4) + 4.0 * structure.n) +
         20.0 * static_cast<double>(structure.rows.size());
}

// Cuts supernodes into panels and lists, for each panel, the supernodes that are subtracted from it.
void SupernodalFactor::make_panels() {
  const SupernodalStructure& S = structure_;
  std::vector<int> panel_of_column(S.n);
  first_panel_.push_back(0);
  for (int s = 0; s < S.supernodes(); ++s) {
    // pieces of equal width
    const int w = S.width(s), pieces = (w + kPanel - 1) / kPanel;
    for (int piece = 0; piece < pieces; ++piece) {
      const int begin = static_cast<int>(static_cast<int64_t>(w) * piece / pieces),
                end = static_cast<int>(static_cast<int64_t>(w) * (piece + 1) / pieces);
      std::fill_n(panel_of_column.begin() + S.first[s] + begin, end - begin,
                  static_cast<int>(panels_.size()));
      panels_.push_back({s, begin, end});
    }
    first_panel_.push_back(static_cast<int>(panels_.size()));
  }

  // rows of a supernode below its own columns fall into runs, one for each panel that they are columns of
  const auto for_each_run = [&](int s, auto&& act) {
    const int* rows = row_list(s);
    const int h = S.height(s);
    for (int begin = S.width(s), end; begin < h; begin = end) {
      const int panel = panel_of_column[rows[begin]];
      const int last_column = S.first[panels_[panel].supernode] + panels_[panel].end;
      for (end = begin + 1; end < h && rows[end] < last_column;) ++end;
      act(Run{s, panel, begin, end});
    }
  };

  // count, then fill: ascending supernodes within each panel
  source_start_.assign(panels_.size() + 1, 0);
  for (int s = 0; s < S.supernodes(); ++s)
    for_each_run(s, [&](const Run& run) { ++source_start_[run.panel + 1]; });
  for (size_t p = 0; p < panels_.size(); ++p) source_start_[p + 1] += source_start_[p];
  sources_.resize(source_start_.back());
  std::vector<int64_t> next(source_start_.begin(), source_start_.end() - 1);
  for (int s = 0; s < S.supernodes(); ++s)
    for_each_run(s, [&](const Run& run) { sources_[next[run.panel]++] = run; });

  // flops, for the division into tasks
  work_.resize(panels_.size());
  for (size_t p = 0; p < panels_.size(); ++p) {
    const Panel& t = panels_[p];
    const double w = t.end - t.begin, h = S.height(t.supernode) - t.begin;
    double flops = w * w * h + 2 * w * h * t.begin;
    for (int64_t i = source_start_[p]; i < source_start_[p + 1]; ++i) {
      const Run& run = sources_[i];
      flops += 2.0 * (run.end - run.begin) * (S.height(run.supernode) - run.begin) * S.width(run.supernode);
    }
    work_[p] = flops + 1000;  // calls are not free
  }
}

// Finds the largest subtrees with little work; every panel above them is a task.
void SupernodalFactor::make_tasks() {
  const SupernodalStructure& S = structure_;
  const int count = S.supernodes();
  std::vector<int> super_of_column(S.n);
  for (int s = 0; s < count; ++s) std::fill_n(super_of_column.begin() + S.first[s], S.width(s), s);

  // flops and size of each subtree, children before parents
  std::vector<int> parent(count, -1), size(count, 1);
  std::vector<double> flops(count, 0.0);
  double total = 0;
  for (int s = 0; s < count; ++s) {
    for (int p = first_panel_[s]; p < first_panel_[s + 1]; ++p) {
      flops[s] += work_[p];
      total += work_[p];
    }
    if (S.height(s) > S.width(s)) parent[s] = super_of_column[row_list(s)[S.width(s)]];
    if (parent[s] >= 0) {
      LISSOM_ASSERT(parent[s] > s);
      size[parent[s]] += size[s];
      flops[parent[s]] += flops[s];
    }
  }
  const double limit = std::max(total * kSubtreeShare, kSubtreeFlops);

  // in a postorder the subtree of s is size[s] supernodes that end with s
  task_of_panel_.assign(panels_.size(), -1);
  int next = 0;  // first supernode that has no task yet
  double tree_flops = 0;
  for (int s = 0; s < count; ++s) {
    const bool small = flops[s] <= limit;
    if (small && parent[s] >= 0 && flops[parent[s]] <= limit) continue;  // part of a larger one
    if (small) {
      LISSOM_ASSERT(next == s - size[s] + 1);
      // whole trees that follow each other may share a task: nothing above them waits
      const bool join = parent[s] < 0 && !tasks_.empty() && tasks_.back().is_subtree &&
                        tasks_.back().parent == -1 && tree_flops + flops[s] <= limit;
      if (join) {
        tasks_.back().last_panel = first_panel_[s + 1] - 1;
        tree_flops += flops[s];
      } else {
        tasks_.push_back(
            {first_panel_[next], first_panel_[s + 1] - 1, true, -1, buffer_rows_, S.height(s) - S.width(s)});
        if (parent[s] >= 0) tasks_.back().parent = parent[s];  // a supernode until its task is known
        buffer_rows_ += S.height(s) - S.width(s);
        tree_flops = flops[s];
      }
    } else {
      LISSOM_ASSERT(next == s);
      for (int p = first_panel_[s]; p < first_panel_[s + 1]; ++p) tasks_.push_back({p, p, false, -1, 0, 0});
    }
    next = s + 1;
  }
  LISSOM_ASSERT(next == count);
  for (size_t t = 0; t < tasks_.size(); ++t)
    for (int p = tasks_[t].first_panel; p <= tasks_[t].last_panel; ++p)
      task_of_panel_[p] = static_cast<int>(t);
  // on the way down, a subtree can start when the first panel of its parent is done
  for (Task& task : tasks_)
    if (task.parent >= 0) task.parent = task_of_panel_[first_panel_[task.parent]];
  schedule_ = std::make_unique<DependentTasks>(static_cast<int>(tasks_.size()));
  cursor_.resize(tasks_.size());
}

void SupernodalFactor::make_solve_lists() {
  const SupernodalStructure& S = structure_;
  w_rows_ = S.rows;
  solve_source_start_.push_back(0);
  target_start_.assign(S.supernodes() + 1, 0);
  std::vector<int> place(S.n);
  for (const Task& task : tasks_) {
    const int last = panels_[task.last_panel].supernode;
    if (task.is_subtree) {
      // rows above the subtree are all in the list of its last supernode
      const int end = S.first[last + 1];
      for (int i = 0; i < task.buffer_rows; ++i)
        place[row_list(last)[S.width(last) + i]] = static_cast<int>(S.n + task.buffer + i);
      for (int64_t i = S.row_start[panels_[task.first_panel].supernode]; i < S.row_start[last + 1]; ++i)
        if (w_rows_[i] >= end) w_rows_[i] = place[w_rows_[i]];
    } else {
      // of a subtree only the buffer counts, whose rows are those of its last supernode
      for (int64_t i = source_start_[task.first_panel]; i < source_start_[task.first_panel + 1]; ++i) {
        const Run& run = sources_[i];
        const Task& from = tasks_[task_of_supernode(run.supernode)];
        if (!from.is_subtree || panels_[from.last_panel].supernode == run.supernode)
          solve_sources_.push_back(run);
        if (!from.is_subtree) ++target_start_[run.supernode + 1];
      }
    }
    solve_source_start_.push_back(static_cast<int64_t>(solve_sources_.size()));
  }
  // the same runs by supernode, ascending panels
  for (int s = 0; s < S.supernodes(); ++s) target_start_[s + 1] += target_start_[s];
  targets_.resize(target_start_.back());
  std::vector<int64_t> next(target_start_.begin(), target_start_.end() - 1);
  for (const Run& run : solve_sources_)
    if (!tasks_[task_of_supernode(run.supernode)].is_subtree) targets_[next[run.supernode]++] = run;
}

// The lower triangle of P A P^T, by columns.
void SupernodalFactor::sort_entries(const SymmetricMatrix& A) {
  const int n = structure_.n;
  std::vector<int> position(n);
  for (int k = 0; k < n; ++k) position[structure_.order[k]] = k;
  const int* start = A.lower.outerIndexPtr();
  const int* row = A.lower.innerIndexPtr();
  const double* value = A.lower.valuePtr();
  entry_start_.assign(n + 1, 0);
  for (int j = 0; j < n; ++j)
    for (int p = start[j]; p < start[j + 1]; ++p) ++entry_start_[std::min(position[j], position[row[p]]) + 1];
  for (int j = 0; j < n; ++j) entry_start_[j + 1] += entry_start_[j];
  entries_.resize(entry_start_.back());
  std::vector<int64_t> next(entry_start_.begin(), entry_start_.end() - 1);
  for (int j = 0; j < n; ++j)
    for (int p = start[j]; p < start[j + 1]; ++p) {
      const auto [column, other] = std::minmax(position[j], position[row[p]]);
      entries_[next[column]++] = {other, value[p]};
    }
}

int SupernodalFactor::factorize(const SymmetricMatrix& A, const std::function<void(double)>& progress) {
  std::vector<signed char>().swap(signs_);
  return run_factorisation(A, progress);
}

int SupernodalFactor::factorize_indefinite(const SymmetricMatrix& A) {
  signs_.assign(structure_.n, 1);
  return run_factorisation(A, {});
}

int SupernodalFactor::run_factorisation(const SymmetricMatrix& A,
                                        const std::function<void(double)>& progress) {
  sort_entries(A);
  double flops = 0;
  for (double work : work_) flops += work;
  const int threads = threads_for(flops);
  const BlasThreads one_thread_each;
  workers_.resize(std::max<size_t>(workers_.size(), threads));
  for (int i = 0; i < threads; ++i) {
    Worker& worker = workers_[i];
    worker.position.resize(structure_.n);
    worker.relative.resize(max_height_);
    worker.product = std::make_unique_for_overwrite<double[]>(static_cast<size_t>(max_height_) * kPanel);
    worker.owner = -1;
  }
  std::fill(cursor_.begin(), cursor_.end(), -1);
  failed_column_ = structure_.n;
  std::atomic<double> done = 0;
  const int failed = schedule_->run(threads, [&](int task, int thread) {
    const int result = advance_factor(task, workers_[thread]);
    if (progress && result == DependentTasks::kDone) {
      double work = 0;
      for (int p = tasks_[task].first_panel; p <= tasks_[task].last_panel; ++p) work += work_[p];
      const double sum = done.fetch_add(work, std::memory_order_relaxed) + work;
      if (thread == 0) progress(sum / flops);
    }
    return result;
  });

  // what only the factorisation needs
  for (Worker& worker : workers_) {
    std::vector<int>().swap(worker.position);
    worker.product.reset();
    std::vector<double>().swap(worker.turned);
  }
  // an empty list would be assigned without freeing the memory
  std::vector<Entry>().swap(entries_);
  std::vector<int64_t>().swap(entry_start_);
  return failed < 0 ? -1 : failed_column_.load();
}

// A task's turn: the terms of the sum that are ready, in order, and the division when all are in.
int SupernodalFactor::advance_factor(int task, Worker& worker) {
  const Task& me = tasks_[task];
  if (me.is_subtree) {
    for (int p = me.first_panel; p <= me.last_panel; ++p) {
      const Panel& t = panels_[p];
      start_panel(t, worker);
      for (int64_t i = source_start_[p]; i < source_start_[p + 1]; ++i)
        subtract_descendant(t, sources_[i], worker);
      for (int q = first_panel_[t.supernode]; q < p; ++q) subtract_sibling(t, panels_[q], worker);
      if (!divide_by_pivots(t)) return DependentTasks::kFailed;
    }
    return DependentTasks::kDone;
  }

  const int p = me.first_panel;
  const Panel& t = panels_[p];
  int& cursor = cursor_[task];
  if (cursor < 0) {
    start_panel(t, worker);
    cursor = 0;
  }
  locate_rows(t.supernode, worker);
  const int sources = static_cast<int>(source_start_[p + 1] - source_start_[p]);
  const int siblings = p - first_panel_[t.supernode];
  for (; cursor < sources + siblings; ++cursor) {
    // a descendant is complete when its last panel is
    const bool own = cursor >= sources;
    const Run* run = own ? nullptr : &sources_[source_start_[p] + cursor];
    const int q = first_panel_[t.supernode] + cursor - sources;
    const int needed = own ? task_of_panel_[q] : task_of_supernode(run->supernode);
    if (!schedule_->done(needed)) return needed;
    if (schedule_->earlier_is_ready(task)) return DependentTasks::kYield;
    if (own)
      subtract_sibling(t, panels_[q], worker);
    else
      subtract_descendant(t, *run, worker);
  }
  return divide_by_pivots(t) ? DependentTasks::kDone : DependentTasks::kFailed;
}

void SupernodalFactor::locate_rows(int s, Worker& worker) {
  if (worker.owner == s) return;
  const int* rows = row_list(s);
  for (int i = 0, h = structure_.height(s); i < h; ++i) worker.position[rows[i]] = i;
  worker.owner = s;
}

// L(:,T) = A(:,T)
void SupernodalFactor::start_panel(const Panel& t, Worker& worker) {
  locate_rows(t.supernode, worker);
  const int64_t h = structure_.height(t.supernode);
  double* L = block(t.supernode);
  std::memset(L + t.begin * h, 0, static_cast<size_t>(h * (t.end - t.begin)) * sizeof(double));
  for (int j = t.begin; j < t.end; ++j) {
    const int column = structure_.first[t.supernode] + j;
    for (int64_t e = entry_start_[column]; e < entry_start_[column + 1]; ++e)
      L[worker.position[entries_[e].row] + j * h] += entries_[e].value;
  }
}

// L(:,T) -= L(:,d) L(T,d)^T for the rows of supernode d from run.begin on
void SupernodalFactor::subtract_descendant(const Panel& t, const Run& run, Worker& worker) {
  const int d = run.supernode, k = structure_.width(d), ldd = structure_.height(d);
  const int columns = run.end - run.begin, rows = ldd - run.begin;
  const int h = structure_.height(t.supernode);
  const double* D = block(d) + run.begin;
  double* L = block(t.supernode);
  const int* row = row_list(d) + run.begin;
  const int* position = worker.position.data();
  // L(T,d), or L(T,d) S_d
  int ldt = ldd;
  const double* top_rows = D;
  if (!signs_.empty()) {
    top_rows = signed_rows(D, columns, ldd, structure_.first[d], k, worker);
    ldt = columns;
  }

  // rows that follow each other in both: the product goes straight to its place
  const int top = position[row[0]];
  if (position[row[rows - 1]] - top == rows - 1) {
    multiply_transposed(rows, columns, k, -1, D, ldd, top_rows, ldt, 1,
                        L + top + static_cast<int64_t>(top) * h, h);
    return;
  }

  // the square on the diagonal is symmetric; two calls pay only when it is a good part of the product
  double* C = worker.product.get();
  if (signs_.empty() && columns >= 48 && rows < 4 * columns) {
    const double one = 1, zero = 0;
    dsyrk_("L", "N", &columns, &k, &one, D, &ldd, &zero, C, &rows);
    if (rows > columns)
      multiply_transposed(rows - columns, columns, k, 1, D + columns, ldd, D, ldd, 0, C + columns, rows);
  } else {
    multiply_transposed(rows, columns, k, 1, D, ldd, top_rows, ldt, 0, C, rows);
  }
  int* relative = worker.relative.data();
  for (int i = 0; i < rows; ++i) relative[i] = position[row[i]];
  for (int j = 0; j < columns; ++j) {
    double* to = L + static_cast<int64_t>(relative[j]) * h;
    const double* from = C + static_cast<int64_t>(j) * rows;
    for (int i = j; i < rows; ++i) to[relative[i]] -= from[i];
  }
}

// L(:,T) -= L(:,q) L(T,q)^T for an earlier panel q of the same supernode
void SupernodalFactor::subtract_sibling(const Panel& t, const Panel& q, Worker& worker) {
  const int h = structure_.height(t.supernode), columns = t.end - t.begin, k = q.end - q.begin;
  double* L = block(t.supernode);
  const double* Q = L + t.begin + static_cast<int64_t>(q.begin) * h;
  const double* top_rows = Q;
  int ldt = h;
  if (!signs_.empty()) {
    top_rows = signed_rows(Q, columns, h, structure_.first[t.supernode] + q.begin, k, worker);
    ldt = columns;
  }
  multiply_transposed(h - t.begin, columns, k, -1, Q, h, top_rows, ldt, 1,
                      L + t.begin + static_cast<int64_t>(t.begin) * h, h);
}

// The rows given (count by columns) times S of the columns from `first` on: count by columns, without gaps
const double* SupernodalFactor::signed_rows(const double* rows, int count, int stride, int first, int columns,
                                            Worker& worker) {
  worker.turned.resize(std::max(worker.turned.size(), static_cast<size_t>(count) * columns));
  double* to = worker.turned.data();
  for (int j = 0; j < columns; ++j) {
    const double sign = signs_[first + j];
    const double* from = rows + static_cast<int64_t>(j) * stride;
    for (int i = 0; i < count; ++i) *to++ = sign * from[i];
  }
  return worker.turned.data();
}

// Factorises the square on the diagonal and divides what is below it.
bool SupernodalFactor::divide_by_pivots(const Panel& t) {
  if (!signs_.empty()) return divide_by_signed_pivots(t);
  const int h = structure_.height(t.supernode), w = t.end - t.begin;
  double* square = block(t.supernode) + t.begin + static_cast<int64_t>(t.begin) * h;
  int info = 0;
  dpotrf_("L", &w, square, &h, &info);
  LISSOM_ASSERT(info >= 0);
  if (info > 0) {
    // of several failures the first in the order of elimination counts
    const int column = structure_.first[t.supernode] + t.begin + info - 1;
    int lowest = failed_column_;
    while (column < lowest && !failed_column_.compare_exchange_weak(lowest, column)) {
    }
    return false;
  }
  if (h > t.end) divide("T", h - t.end, w, square, h, square + w, h);
  return true;
}

// The same with signs. Pieces of few columns: the square on their diagonal one column after the other, what
// is below divided at once, and what it owes to the columns behind subtracted at once.
bool SupernodalFactor::divide_by_signed_pivots(const Panel& t) {
  constexpr int piece = 32;
  const int h = structure_.height(t.supernode), rows = h - t.begin, width = t.end - t.begin;
  double* L = block(t.supernode) + t.begin + static_cast<int64_t>(t.begin) * h;
  signed char* sign = signs_.data() + structure_.first[t.supernode] + t.begin;
  double turned[piece * kPanel];
  for (int first = 0; first < width; first += piece) {
    const int w = std::min(piece, width - first), below = rows - first - w;
    double* square = L + first + static_cast<int64_t>(first) * h;
    for (int j = 0; j < w; ++j) {
      double* column = square + static_cast<int64_t>(j) * h;
      const double pivot = column[j];
      if (!(std::abs(pivot) > 0) || !std::isfinite(pivot)) {
        const int failed = structure_.first[t.supernode] + t.begin + first + j;
        int lowest = failed_column_;
        while (failed < lowest && !failed_column_.compare_exchange_weak(lowest, failed)) {
        }
        return false;
      }
      const int s = pivot < 0 ? -1 : 1;
      sign[first + j] = static_cast<signed char>(s);
      const double root = std::sqrt(std::abs(pivot));
      column[j] = root;
      for (int i = j + 1; i < w; ++i) column[i] *= s / root;
      for (int c = j + 1; c < w; ++c) {
        double* other = square + static_cast<int64_t>(c) * h;
        const double factor = s * column[c];
        for (int i = c; i < w; ++i) other[i] -= column[i] * factor;
      }
    }
    if (below == 0) continue;
    // B <- B L^-T S
    divide("T", below, w, square, h, square + w, h);
    for (int j = 0; j < w; ++j) {
      if (sign[first + j] > 0) continue;
      double* column = square + w + static_cast<int64_t>(j) * h;
      for (int i = 0; i < below; ++i) column[i] = -column[i];
    }
    const int behind = width - first - w;
    if (behind == 0) continue;
    for (int j = 0; j < w; ++j)
      for (int i = 0; i < behind; ++i)
        turned[j * behind + i] = sign[first + j] * square[w + i + static_cast<int64_t>(j) * h];
    multiply_transposed(below, behind, w, -1, square + w, h, turned, behind, 1,
                        square + w + static_cast<int64_t>(w) * h, h);
  }
  return true;
}

void SupernodalFactor::solve_in_place(Eigen::Ref<Eigen::MatrixXd> X) {
  const int n = structure_.n;
  LISSOM_ASSERT(X.rows() == n);
  const int columns = std::min<int>(static_cast<int>(X.cols()), kMaxColumns);
  const int threads = threads_for(4.0 * static_cast<double>(structure_.value_start.back()) * columns);
  const BlasThreads one_thread_each;

  // workspace, kept for the next call
  if (columns > widest_solve_) {
    W_ = std::make_unique_for_overwrite<double[]>(static_cast<size_t>(n + buffer_rows_) * columns);
    for (Worker& worker : workers_) worker.rows_of_w.reset();
    widest_solve_ = columns;
  }
  if (workers_.size() < static_cast<size_t>(threads)) workers_.resize(threads);
  for (int i = 0; i < threads; ++i)
    if (!workers_[i].rows_of_w)
      workers_[i].rows_of_w =
          std::make_unique_for_overwrite<double[]>(static_cast<size_t>(max_height_) * widest_solve_);

  for (int first = 0; first < X.cols(); first += kMaxColumns) {
    const int k = std::min<int>(static_cast<int>(X.cols()) - first, kMaxColumns);
    X_ = X.data() + first * X.outerStride();
    X_stride_ = X.outerStride();
    // std::ref: the schedule's std::function then holds a pointer and allocates nothing
    std::fill(cursor_.begin(), cursor_.end(), -1);
    const auto forward = [&](int task, int thread) { return advance_forward(task, k, workers_[thread]); };
    schedule_->run(threads, std::ref(forward));
    // S Z = Y
    for (int i = 0; i < static_cast<int>(signs_.size()); ++i)
      if (signs_[i] < 0)
        for (int c = 0; c < k; ++c) W_[static_cast<int64_t>(i) * k + c] *= -1;
    // the way back takes the tasks in reverse
    const int last = static_cast<int>(tasks_.size()) - 1;
    std::fill(cursor_.begin(), cursor_.end(), 0);
    const auto backward = [&](int task, int thread) {
      const int outcome = advance_backward(last - task, k, workers_[thread]);
      return outcome >= 0 ? last - outcome : outcome;
    };
    schedule_->run(threads, std::ref(backward));
  }
}

// W = P X and X = P^T W for columns begin..end-1 of L: every task sees to its own
void SupernodalFactor::permute_in(int begin, int end, int k) {
  double* w = W_.get() + static_cast<int64_t>(begin) * k;
  for (int i = begin; i < end; ++i)
    for (int c = 0; c < k; ++c) *w++ = X_[structure_.order[i] + c * X_stride_];
}

void SupernodalFactor::permute_out(int begin, int end, int k) {
  const double* w = W_.get() + static_cast<int64_t>(begin) * k;
  for (int i = begin; i < end; ++i)
    for (int c = 0; c < k; ++c) X_[structure_.order[i] + c * X_stride_] = *w++;
}

// L Y = W; W^T is stored (k by n), so products stand transposed: Y^T = W^T L^-T
void SupernodalFactor::forward_subtree(const Task& task, int k, Worker& worker) {
  double* W = W_.get();
  double* owed = worker.rows_of_w.get();
  permute_in(first_column(task.first_panel), end_column(task.last_panel), k);
  std::fill_n(W + (structure_.n + task.buffer) * k, static_cast<int64_t>(task.buffer_rows) * k, 0.0);
  for (int s = panels_[task.first_panel].supernode; s <= panels_[task.last_panel].supernode; ++s) {
    const int w = structure_.width(s), h = structure_.height(s), below = h - w;
    const double* L = block(s);
    double* y = W + static_cast<int64_t>(structure_.first[s]) * k;
    divide_by_transpose(k, w, L, h, y);
    if (below == 0) continue;
    multiply_by_transpose(k, below, w, 1, y, L + w, h, 0, owed);
    const int* row = w_rows_.data() + structure_.row_start[s] + w;
    for (int i = 0; i < below; ++i) {
      double* to = W + static_cast<int64_t>(row[i]) * k;
      const double* from = owed + static_cast<int64_t>(i) * k;
      for (int c = 0; c < k; ++c) to[c] -= from[c];
    }
  }
}

int SupernodalFactor::advance_forward(int task, int k, Worker& worker) {
  const Task& me = tasks_[task];
  if (me.is_subtree) {
    forward_subtree(me, k, worker);
    return DependentTasks::kDone;
  }
  const int p = me.first_panel;
  const Panel& t = panels_[p];
  const int s = t.supernode, h = structure_.height(s), w = t.end - t.begin;
  const double* L = block(s);
  double* W = W_.get();
  double* y = W + (static_cast<int64_t>(structure_.first[s]) + t.begin) * k;
  double* owed = worker.rows_of_w.get();
  int& cursor = cursor_[task];
  if (cursor < 0) {
    permute_in(first_column(p), end_column(p), k);
    cursor = 0;
  }
  const int sources = static_cast<int>(solve_source_start_[task + 1] - solve_source_start_[task]);
  const int siblings = p - first_panel_[s];
  for (; cursor < sources + siblings; ++cursor) {
    if (cursor >= sources) {
      const int q = first_panel_[s] + cursor - sources;
      if (!schedule_->done(task_of_panel_[q])) return task_of_panel_[q];
      const int from = panels_[q].begin, columns = panels_[q].end - from;
      multiply_by_transpose(k, w, columns, -1, W + (static_cast<int64_t>(structure_.first[s]) + from) * k,
                            L + t.begin + static_cast<int64_t>(from) * h, h, 1, y);
      continue;
    }
    const Run& run = solve_sources_[solve_source_start_[task] + cursor];
    const int d = run.supernode, needed = task_of_supernode(d);
    if (!schedule_->done(needed)) return needed;
    const Task& source = tasks_[needed];
    const int count = run.end - run.begin, columns = structure_.width(d);
    const double* add;
    if (source.is_subtree) {
      add = W + (structure_.n + source.buffer + run.begin - columns) * k;
    } else {
      multiply_by_transpose(k, count, columns, -1, W + static_cast<int64_t>(structure_.first[d]) * k,
                            block(d) + run.begin, structure_.height(d), 0, owed);
      add = owed;
    }
    const int* row = row_list(d) + run.begin;
    for (int i = 0; i < count; ++i) {
      double* to = W + static_cast<int64_t>(row[i]) * k;
      for (int c = 0; c < k; ++c) to[c] += add[static_cast<int64_t>(i) * k + c];
    }
  }
  divide_by_transpose(k, w, L + t.begin + static_cast<int64_t>(t.begin) * h, h, y);
  return DependentTasks::kDone;
}

// L^T Z = Y, that is Z^T = Y^T L^-1
void SupernodalFactor::backward_subtree(const Task& task, int k, Worker& worker) {
  double* W = W_.get();
  double* known = worker.rows_of_w.get();
  for (int s = panels_[task.last_panel].supernode; s >= panels_[task.first_panel].supernode; --s) {
    const int w = structure_.width(s), h = structure_.height(s), below = h - w;
    const double* L = block(s);
    double* y = W + static_cast<int64_t>(structure_.first[s]) * k;
    if (below > 0) {
      const int* row = row_list(s) + w;
      for (int i = 0; i < below; ++i)
        std::copy_n(W + static_cast<int64_t>(row[i]) * k, k, known + static_cast<int64_t>(i) * k);
      subtract_product(k, below, w, known, L + w, h, y);
    }
    divide_by_triangle(k, w, L, h, y);
  }
  permute_out(first_column(task.first_panel), end_column(task.last_panel), k);
}

int SupernodalFactor::advance_backward(int task, int k, Worker& worker) {
  const Task& me = tasks_[task];
  const int last = static_cast<int>(tasks_.size()) - 1;
  const auto done = [&](int other) { return schedule_->done(last - other); };
  if (me.is_subtree) {
    if (me.parent >= 0 && !done(me.parent)) return me.parent;
    backward_subtree(me, k, worker);
    return DependentTasks::kDone;
  }
  const int p = me.first_panel;
  const Panel& t = panels_[p];
  const int s = t.supernode, h = structure_.height(s), w = t.end - t.begin;
  const double* L = block(s) + static_cast<int64_t>(t.begin) * h;
  double* W = W_.get();
  double* rows = W + static_cast<int64_t>(structure_.first[s]) * k;
  double* y = rows + static_cast<int64_t>(t.begin) * k;
  double* known = worker.rows_of_w.get();
  int& cursor = cursor_[task];
  const int targets = static_cast<int>(target_start_[s + 1] - target_start_[s]);
  const int siblings = first_panel_[s + 1] - 1 - p;
  for (; cursor < targets + siblings; ++cursor) {
    // from the top of the tree downwards, the later panels of the own supernode at the end
    if (cursor >= targets) {
      const int q = first_panel_[s + 1] - 1 - (cursor - targets);
      if (!done(task_of_panel_[q])) return task_of_panel_[q];
      const int from = panels_[q].begin, count = panels_[q].end - from;
      subtract_product(k, count, w, rows + static_cast<int64_t>(from) * k, L + from, h, y);
      continue;
    }
    const Run& run = targets_[target_start_[s + 1] - 1 - cursor];
    const int needed = task_of_panel_[run.panel];
    if (!done(needed)) return needed;
    const int* row = row_list(s);
    for (int i = run.begin; i < run.end; ++i)
      std::copy_n(W + static_cast<int64_t>(row[i]) * k, k, known + static_cast<int64_t>(i - run.begin) * k);
    subtract_product(k, run.end - run.begin, w, known, L + run.begin, h, y);
  }
  divide_by_triangle(k, w, L + t.begin, h, y);
  permute_out(first_column(p), end_column(p), k);
  return DependentTasks::kDone;
}

}  // namespace lissom

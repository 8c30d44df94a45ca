// Numerical part of the sparse Cholesky factorisation A = P^T L L^T P, in parallel over the elimination tree,
// and the solves with L. Ordering and symbolic analysis come from elsewhere (ordering.hpp, symbolic.hpp).
//
// Notation. Columns 0..n-1 are numbered in the order of elimination. A supernode is a run of w columns of L
// whose entries stand in the same h rows, of which the first w are the columns themselves; it is stored as a
// dense h by w array, column after column (its upper triangle is unused). Its parent is the supernode that
// holds its first row below the diagonal block; parents follow their children (postorder), so a subtree is a
// run of supernodes. A panel is a piece of a supernode of at most `kPanel` columns.
//
// Method (left-looking). Panel t with columns T, of supernode s, is computed as
//     L(:,T) = A(:,T) - sum_d L(:,d) L(T,d)^T - sum_q L(:,q) L(T,q)^T,     then divided by its pivot block,
// over the supernodes d below s with rows in T and the panels q of s before t. Every product is one dgemm
// into a workspace (h by kPanel for each thread), then added to where its rows belong. Besides L no memory to
// speak of is needed.
//
// Parallelism. Subtrees that hold less than a small share of the work are one task each; above them every
// panel is a task, which takes its sum's terms in order as they become ready (dependent_tasks.hpp). Each BLAS
// call runs on one thread. The order of each sum is fixed, hence L is the same, bit by bit, for any number of
// threads.
//
// An indefinite A = P^T L S L^T P has the same sums with L(T,d) S_d in the place of L(T,d), a copy of few
// rows, and pivot blocks that are factorised with signs.
//
// Solves go through the same tasks. W = P X is kept with the k values of a row side by side. A subtree adds
// what it owes to rows above it to a buffer of its own, which the panels there collect.
#pragma once

#include <Eigen/Core>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "lissom/linalg/dependent_tasks.hpp"
#include "lissom/linalg/sparse.hpp"

namespace lissom {

// Where the entries of L stand. Supernode s has columns first[s]..first[s+1]-1, rows
// rows[row_start[s]..row_start[s+1]-1] (ascending, columns of its own first), values from value_start[s].
struct SupernodalStructure {
  int n = 0;
  std::vector<int> order;  // order[k] is the row of A that is eliminated k-th
  std::vector<int> first;
  std::vector<int64_t> row_start, value_start;
  std::vector<int> rows;

  int supernodes() const { return static_cast<int>(first.size()) - 1; }
  int width(int s) const { return first[s + 1] - first[s]; }
  int height(int s) const { return static_cast<int>(row_start[s + 1] - row_start[s]); }
  // L as a sparse matrix (in the order of elimination), from values stored as above; for tests and checks.
  SparseMatrix to_sparse(const double* values) const;
};

class SupernodalFactor {
 public:
  // Prepares the tasks. Throws std::bad_alloc when there is no memory for L (it is claimed here).
  explicit SupernodalFactor(SupernodalStructure structure);

  // Computes L. Returns -1, or the lowest column (in elimination order) whose pivot is not positive; then L
  // is of no use. Uses thread_count() threads. `progress` is told the fraction of the work done, by
  // the calling thread.
  int factorize(const SymmetricMatrix& A, const std::function<void(double)>& progress = {});

  // Computes L and S of A = P^T L S L^T P, S = diag(+1, -1), without pivoting. Returns -1, or the lowest
  // column whose pivot is zero or not finite; then L is of no use.
  int factorize_indefinite(const SymmetricMatrix& A);
  // +1 or -1 by column, in the order of elimination; empty after factorize()
  std::span<const signed char> signs() const { return signs_; }

  // X <- A^-1 X, n by k. Uses workspace of this object: one caller at a time. Allocates only when k is larger
  // than ever before.
  void solve_in_place(Eigen::Ref<Eigen::MatrixXd> X);

  const SupernodalStructure& structure() const { return structure_; }
  const double* values() const { return values_.get(); }

  // Bytes of workspace that factorize() needs besides L, for a matrix of `nonzeros` entries.
  static double workspace_bytes(const SupernodalStructure& structure, double nonzeros, int threads);

 private:
  // a piece of supernode `supernode`: columns begin..end-1 of it
  struct Panel {
    int supernode, begin, end;
  };
  // rows begin..end-1 (positions in its row list) of a supernode that are columns of one panel; `panel` is
  // that panel where runs are listed by supernode, `supernode` the owner of the rows where by panel
  struct Run {
    int supernode, panel, begin, end;
  };
  // panels first_panel..last_panel, done by one thread without a break: a subtree, or one panel above them
  struct Task {
    int first_panel, last_panel;
    bool is_subtree;
    int parent;  // the task that holds the first row above a subtree, or -1
    // a subtree's row list above itself belongs to its last supernode; its place behind the rows of W
    int64_t buffer;
    int buffer_rows;
  };
  struct Entry {  // of A, in the order of elimination
    int row;
    double value;
  };
  struct Worker {               // one thread's workspace
    std::vector<int> position;  // where a row of A stands in the row list of supernode `owner`
    int owner = -1;
    std::vector<int> relative;
    std::unique_ptr<double[]> product;
    std::vector<double> turned;  // L(T,d) S_d
    std::unique_ptr<double[]> rows_of_w;
  };

  int run_factorisation(const SymmetricMatrix& A, const std::function<void(double)>& progress);
  const double* signed_rows(const double* rows, int count, int stride, int first, int columns,
                            Worker& worker);
  bool divide_by_signed_pivots(const Panel& t);
  void make_panels();
  void make_tasks();
  void make_solve_lists();
  void sort_entries(const SymmetricMatrix& A);

  double* block(int s) const { return values_.get() + structure_.value_start[s]; }
  const int* row_list(int s) const { return structure_.rows.data() + structure_.row_start[s]; }
  int task_of_supernode(int s) const { return task_of_panel_[first_panel_[s + 1] - 1]; }

  int advance_factor(int task, Worker& worker);
  void start_panel(const Panel& t, Worker& worker);
  void locate_rows(int s, Worker& worker);
  void subtract_descendant(const Panel& t, const Run& run, Worker& worker);
  void subtract_sibling(const Panel& t, const Panel& q, Worker& worker);
  bool divide_by_pivots(const Panel& t);

  int first_column(int panel) const {
    return structure_.first[panels_[panel].supernode] + panels_[panel].begin;
  }
  int end_column(int panel) const { return structure_.first[panels_[panel].supernode] + panels_[panel].end; }
  void permute_in(int begin, int end, int k);
  void permute_out(int begin, int end, int k);
  int advance_forward(int task, int k, Worker& worker);
  int advance_backward(int task, int k, Worker& worker);
  void forward_subtree(const Task& task, int k, Worker& worker);
  void backward_subtree(const Task& task, int k, Worker& worker);

  SupernodalStructure structure_;
  std::unique_ptr<double[]> values_;
  std::vector<signed char> signs_;  // S; empty where A is positive definite
  std::vector<Panel> panels_;
  std::vector<int> first_panel_;  // of each supernode
  std::vector<Run> sources_;      // by panel: what is subtracted from it, in this order
  std::vector<int64_t> source_start_;
  std::vector<double> work_;  // by panel: flops
  std::vector<Task> tasks_;
  std::vector<int> task_of_panel_;
  std::unique_ptr<DependentTasks> schedule_;
  std::vector<int> cursor_;  // by task: how many terms of its sum are in

  // entries of A by column, while factorising
  std::vector<int64_t> entry_start_;
  std::vector<Entry> entries_;
  std::atomic<int> failed_column_ = 0;

  // solves
  std::vector<Run> solve_sources_;  // by task, of panels above the subtrees: those of sources_ that remain
  std::vector<int64_t> solve_source_start_;
  std::vector<Run> targets_;  // by supernode above the subtrees: its runs
  std::vector<int64_t> target_start_;
  std::vector<int> w_rows_;  // row_list, with rows above a subtree replaced by their places in its buffer
  int64_t buffer_rows_ = 0;
  std::unique_ptr<double[]> W_;
  double* X_ = nullptr;  // the caller's right-hand sides
  Eigen::Index X_stride_ = 0;
  int widest_solve_ = 0;
  int max_height_ = 0;
  std::vector<Worker> workers_;
};

}  // namespace lissom

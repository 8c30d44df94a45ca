// Which rows of a sparse matrix are independent of each other, and the others as sums of them.
//
// The rows of A (r by n), each of length one once they are scaled, are taken one after the other: the part of a row
// that those before it do not say is what is left of it after an orthogonal elimination, QR of A'. It goes front by
// front (I. S. Duff, J. K. Reid: The multifrontal solution of indefinite sparse symmetric linear equations, ACM TOMS 9,
// 1983; T. A. Davis: Algorithm 915, SuiteSparseQR, ACM TOMS 38, 2011) over groups of rows, the constraints of one joint
// say, so that a chain costs what its links cost. A row that says little beside those before it is put off: either
// others make it say nothing at all, and it is left out, or it takes part in a last elimination with pivoting among all
// that were put off.
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include <utility>
#include <vector>

namespace lissom {

class RowElimination {
 public:
  using Rows = Eigen::SparseMatrix<double, Eigen::RowMajor>;

  // What is known of a row beforehand: nothing; that it counts, whatever the others say; that it is a sum of the others.
  enum class Role : char { Open, Kept, LeftOut };

  struct Options {
    // A row whose part beyond the others is not above this says nothing new.
    double tolerance = 1e-8;
    // Below this a row is put off, so that rows which say nearly the same are weighed against each other.
    double sure = 1e-3;
  };

  // `group` (r): rows of one number, not below zero, are eliminated together; those of few columns in common belong
  // into different ones.
  RowElimination(const Rows& A, const std::vector<int>& group, const std::vector<Role>& roles,
                 const Options& options);
  RowElimination(const Rows& A, const std::vector<int>& group, const std::vector<Role>& roles)
      : RowElimination(A, group, roles, Options()) {}

  const std::vector<int>& kept() const { return kept_; }          // ascending
  const std::vector<int>& left_out() const { return left_out_; }  // ascending, with those that are zero
  bool is_zero(int row) const { return !(norm_[row] > 0); }  // not above the tolerance before it was scaled
  // The smallest part of a row kept beyond those before it, and the largest of one left out.
  double smallest_kept() const { return smallest_kept_; }
  double largest_left_out() const { return largest_left_out_; }

  // A row left out as a sum of rows kept: their numbers and coefficients, nothing of a row that is zero.
  std::vector<std::pair<int, double>> combination(int row) const;
  // g (r) becomes w with (A A') w = g over the rows kept; entries of the others are not read, and become zero.
  void solve_normal(Eigen::Ref<Eigen::VectorXd> g) const;

  // Columns of the widest front: what the cost hangs on.
  int widest_front() const { return widest_; }

 private:
  // Rows with a pivot here, in their order, and what they say of the rows that follow.
  struct Front {
    std::vector<int> pivots, rest;
    Eigen::MatrixXd R, S;       // pivots by pivots, upper triangle; pivots by rest
    std::vector<int> children;  // fronts that handed their rest to this one
  };
  // What a front leaves to the next one: columns are rows of A.
  struct Remainder {
    std::vector<int> rows;
    Eigen::MatrixXd values;
    int front = -1;
  };

  void eliminate(Front& front, std::vector<int>& own, std::vector<int>& others, Eigen::MatrixXd& F,
                 const std::vector<Role>& roles, const Options& options, Remainder& remainder);
  void eliminate_last(Front& front, const std::vector<int>& rows, const Eigen::MatrixXd& F,
                      const std::vector<Role>& roles, const Options& options);
  void leave_out(int row, int front, double part);

  Eigen::VectorXd norm_;
  std::vector<Front> fronts_;  // in the order of elimination
  std::vector<int> ended_in_;  // of a row left out: the front where it was seen to be a sum of others
  std::vector<int> kept_, left_out_;
  std::vector<char> is_kept_;
  double smallest_kept_ = 1, largest_left_out_ = 0;
  int widest_ = 0;
  mutable Eigen::VectorXd coefficients_;  // room, zero between calls
};

}  // namespace lissom

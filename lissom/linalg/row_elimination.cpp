#include "lissom/linalg/row_elimination.hpp"

#include <Eigen/OrderingMethods>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lissom/core/error.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// coefficients below this are round-off of sums over rows of length one
constexpr double no_coefficient = 1e-13;
// in place of the front where a row ended: nowhere yet, but all that is left of it goes on together
constexpr int put_off = -2;
// a row that is kept come what may has no direction of its own below this
constexpr double no_direction = 1e-14;

// Position of every group in the order of elimination, by minimum degree on the graph of groups that have a column in
// common.
std::vector<int> positions_of(int groups, const std::vector<std::vector<int>>& groups_of_column) {
  using Graph = Eigen::SparseMatrix<double>;
  std::vector<Eigen::Triplet<double>> edges;
  std::vector<std::pair<int, int>> seen;
  for (const std::vector<int>& list : groups_of_column)
    for (const int a : list)
      for (const int b : list) seen.emplace_back(a, b);
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (const auto& [a, b] : seen) edges.emplace_back(a, b, 1.0);
  Graph graph(groups, groups);
  graph.setFromTriplets(edges.begin(), edges.end());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
  Eigen::AMDOrdering<int>()(graph.selfadjointView<Eigen::Lower>(), order);
  std::vector<int> position(groups);
  for (int k = 0; k < groups; ++k) position[order.indices()[k]] = k;
  return position;
}

// Reflects column j of F (from row k on) onto row k, with the other columns listed.
double reflect(MatrixXd& F, Index k, Index j, const std::vector<Index>& others, VectorXd& room) {
  const Index below = F.rows() - k;
  auto column = F.col(j).tail(below);
  const double norm = column.norm(), alpha = column[0] > 0 ? -norm : norm;
  room.head(below) = column;
  room[0] -= alpha;
  const double square = room.head(below).squaredNorm();
  column.setZero();
  column[0] = alpha;
  if (square == 0) return norm;
  for (const Index c : others) {
    auto other = F.col(c).tail(below);
    other -= (2 * room.head(below).dot(other) / square) * room.head(below);
  }
  return norm;
}

}  // namespace

RowElimination::RowElimination(const Rows& A, const std::vector<int>& group, const std::vector<Role>& roles,
                               const Options& options) {
  const int r = static_cast<int>(A.rows());
  LISSOM_ASSERT(static_cast<int>(group.size()) == r && static_cast<int>(roles.size()) == r);
  norm_ = VectorXd::Zero(r);
  is_kept_.assign(r, 0);
  ended_in_.assign(r, -1);
  coefficients_ = VectorXd::Zero(r);
  for (int i = 0; i < r; ++i) {
    double square = 0;
    for (Rows::InnerIterator it(A, i); it; ++it) square += it.value() * it.value();
    if (std::sqrt(square) > options.tolerance) norm_[i] = std::sqrt(square);
  }

  // columns with their rows, and groups in their order
  const int groups = r == 0 ? 0 : *std::max_element(group.begin(), group.end()) + 1;
  std::vector<std::vector<std::pair<int, double>>> columns(A.cols());
  std::vector<std::vector<int>> groups_of_column(A.cols()), members(groups);
  for (int i = 0; i < r; ++i) {
    if (norm_[i] == 0) {
      left_out_.push_back(i);
      continue;
    }
    members[group[i]].push_back(i);
    for (Rows::InnerIterator it(A, i); it; ++it) {
      if (it.value() == 0) continue;
      columns[it.col()].emplace_back(i, it.value() / norm_[i]);
      std::vector<int>& list = groups_of_column[it.col()];
      if (std::find(list.begin(), list.end(), group[i]) == list.end()) list.push_back(group[i]);
    }
  }
  const std::vector<int> position = positions_of(groups, groups_of_column);
  std::vector<int> in_order(groups);
  for (int g = 0; g < groups; ++g) in_order[position[g]] = g;

  // every column of A begins in the first front that has one of its rows
  std::vector<std::vector<int>> columns_of(groups);
  for (int c = 0; c < A.cols(); ++c) {
    int first = groups;
    for (const int g : groups_of_column[c]) first = std::min(first, position[g]);
    if (first < groups) columns_of[first].push_back(c);
  }

  std::vector<std::vector<Remainder>> waiting(groups + 1);  // the last one: what was put off
  std::vector<int> place(r, -1);
  fronts_.resize(groups + 1);
  for (int f = 0; f <= groups; ++f) {
    const bool last = f == groups;
    std::vector<int> own = last ? std::vector<int>() : members[in_order[f]], others;
    // its columns: those of the group, then all that come with what waits for it
    Index height = 0;
    for (size_t k = 0; k < own.size(); ++k) place[own[k]] = static_cast<int>(k);
    const auto take = [&](int row) {
      if (place[row] >= 0) return;
      place[row] = static_cast<int>(own.size() + others.size());
      others.push_back(row);
    };
    for (const Remainder& part : waiting[f]) {
      height += part.values.rows();
      for (const int row : part.rows) take(row);
      fronts_[f].children.push_back(part.front);
    }
    if (!last)
      for (const int c : columns_of[f]) {
        ++height;
        for (const auto& [row, value] : columns[c]) take(row);
      }
    const auto width = static_cast<Index>(own.size() + others.size());
    widest_ = std::max(widest_, static_cast<int>(width));
    MatrixXd F = MatrixXd::Zero(height, width);
    Index at = 0;
    for (const Remainder& part : waiting[f]) {
      for (size_t k = 0; k < part.rows.size(); ++k)
        F.col(place[part.rows[k]]).segment(at, part.values.rows()) = part.values.col(static_cast<Index>(k));
      at += part.values.rows();
    }
    if (!last)
      for (const int c : columns_of[f]) {
        for (const auto& [row, value] : columns[c]) F(at, place[row]) = value;
        ++at;
      }
    for (const int row : own) place[row] = -1;
    for (const int row : others) place[row] = -1;
    waiting[f].clear();

    if (last) {
      eliminate_last(fronts_[f], others, F, roles, options);
      break;
    }
    Remainder remainder;
    remainder.front = f;
    eliminate(fronts_[f], own, others, F, roles, options, remainder);
    if (remainder.rows.empty()) continue;
    // to the next front that has one of its rows; those put off wait for the last
    int next = groups;
    for (const int row : remainder.rows)
      if (position[group[row]] > f) next = std::min(next, position[group[row]]);
    waiting[next].push_back(std::move(remainder));
  }

  std::sort(kept_.begin(), kept_.end());
  std::sort(left_out_.begin(), left_out_.end());
}

void RowElimination::leave_out(int row, int front, double part) {
  left_out_.push_back(row);
  ended_in_[row] = front;
  largest_left_out_ = std::max(largest_left_out_, part);
}

void RowElimination::eliminate(Front& front, std::vector<int>& own, std::vector<int>& others, MatrixXd& F,
                               const std::vector<Role>& roles, const Options& options, Remainder& remainder) {
  const int number = static_cast<int>(&front - fronts_.data());
  const auto width = static_cast<Index>(own.size() + others.size());
  const auto row_of = [&](Index c) {
    return c < static_cast<Index>(own.size()) ? own[c] : others[c - static_cast<Index>(own.size())];
  };
  std::vector<Index> open;  // columns that have no pivot yet
  for (Index c = 0; c < width; ++c) open.push_back(c);
  std::vector<Index> pivots;
  VectorXd room(F.rows());
  Index k = 0;
  const auto part_of = [&](Index c) { return k < F.rows() ? F.col(c).tail(F.rows() - k).norm() : 0; };
  const auto take = [&](Index c) {
    open.erase(std::find(open.begin(), open.end(), c));
    const double part = reflect(F, k, c, open, room);
    smallest_kept_ = std::min(smallest_kept_, part);
    pivots.push_back(c);
    kept_.push_back(row_of(c));
    is_kept_[row_of(c)] = 1;
    ++k;
  };
  // what counts anyway, then what says enough
  for (Index c = 0; c < static_cast<Index>(own.size()); ++c)
    if (roles[own[c]] == Role::Kept && part_of(c) > no_direction) take(c);
  for (Index c = 0; c < static_cast<Index>(own.size()); ++c)
    if (roles[own[c]] == Role::Open && part_of(c) >= options.sure) take(c);

  // the rest: of this group's rows, and of those put off before, all there is left of them stands here
  std::vector<Index> staying;
  front.rest.reserve(open.size());
  for (const Index c : open) {
    const int row = row_of(c);
    front.rest.push_back(row);
    const bool complete = c < static_cast<Index>(own.size()) || ended_in_[row] == put_off;
    const double part = complete ? part_of(c) : 1;
    const bool none =
        roles[row] == Role::Kept ? complete && c < static_cast<Index>(own.size()) : part <= options.tolerance;
    if (complete && none) {
      leave_out(row, number, part);
      continue;
    }
    if (complete) ended_in_[row] = put_off;
    staying.push_back(c);
  }
  const auto count = static_cast<Index>(pivots.size());
  front.R.resize(count, count);
  front.S.resize(count, static_cast<Index>(open.size()));
  for (Index j = 0; j < count; ++j) {
    front.pivots.push_back(row_of(pivots[j]));
    front.R.col(j) = F.col(pivots[j]).head(count);
  }
  for (size_t j = 0; j < open.size(); ++j) front.S.col(static_cast<Index>(j)) = F.col(open[j]).head(count);

  // what is left goes on, as many rows as it has columns at most
  const Index height = F.rows() - k;
  if (height == 0 || staying.empty()) {
    for (const Index c : staying) {
      LISSOM_ASSERT(height == 0);
      // nothing is left of these rows here; they may have columns elsewhere
      remainder.rows.push_back(row_of(c));
    }
    remainder.values.resize(0, static_cast<Index>(staying.size()));
    return;
  }
  MatrixXd left(height, static_cast<Index>(staying.size()));
  for (size_t j = 0; j < staying.size(); ++j) {
    left.col(static_cast<Index>(j)) = F.col(staying[j]).tail(height);
    remainder.rows.push_back(row_of(staying[j]));
  }
  if (left.rows() > left.cols()) {
    const Index size = left.cols();
    const Eigen::HouseholderQR<MatrixXd> qr(left);
    left = MatrixXd(qr.matrixQR().topRows(size).triangularView<Eigen::Upper>());
  }
  remainder.values = std::move(left);
}

void RowElimination::eliminate_last(Front& front, const std::vector<int>& rows, const MatrixXd& F,
                                    const std::vector<Role>& roles, const Options& options) {
  const int number = static_cast<int>(&front - fronts_.data());
  std::vector<int> open, sums;
  for (size_t c = 0; c < rows.size(); ++c)
    (roles[rows[c]] == Role::LeftOut ? sums : open).push_back(static_cast<int>(c));
  if (F.rows() == 0 || open.empty()) {
    for (size_t c = 0; c < rows.size(); ++c)
      leave_out(rows[c], number, F.rows() > 0 ? F.col(static_cast<Index>(c)).norm() : 0);
    front.rest = rows;
    front.R.resize(0, 0);
    front.S.resize(0, static_cast<Index>(rows.size()));
    return;
  }
  const Eigen::ColPivHouseholderQR<MatrixXd> qr(MatrixXd(F(Eigen::all, open)));
  const Index pivots = std::min<Index>(F.rows(), static_cast<Index>(open.size()));
  Index rank = 0;
  while (rank < pivots && std::abs(qr.matrixR()(rank, rank)) > options.tolerance) ++rank;
  if (rank > 0) smallest_kept_ = std::min(smallest_kept_, std::abs(qr.matrixR()(rank - 1, rank - 1)));
  const double dropped = rank < pivots ? std::abs(qr.matrixR()(rank, rank)) : 0;
  const auto& order = qr.colsPermutation().indices();
  front.R = qr.matrixR().topLeftCorner(rank, rank);
  front.S.resize(rank, static_cast<Index>(rows.size()) - rank);
  for (Index j = 0; j < static_cast<Index>(open.size()); ++j) {
    const int row = rows[open[order[j]]];
    if (j < rank) {
      front.pivots.push_back(row);
      kept_.push_back(row);
      is_kept_[row] = 1;
    } else {
      front.S.col(static_cast<Index>(front.rest.size())) = qr.matrixR().col(j).head(rank);
      front.rest.push_back(row);
      leave_out(row, number, dropped);
    }
  }
  for (const int c : sums) {
    VectorXd column = F.col(c);
    column.applyOnTheLeft(qr.householderQ().transpose());
    front.S.col(static_cast<Index>(front.rest.size())) = column.head(rank);
    front.rest.push_back(rows[c]);
    leave_out(rows[c], number, column.tail(column.size() - rank).norm());
  }
}

std::vector<std::pair<int, double>> RowElimination::combination(int row) const {
  std::vector<std::pair<int, double>> sum;
  if (ended_in_[row] < 0) return sum;
  VectorXd& c = coefficients_;
  // R c = what the pivots say of the row, from where it ended down to where it began; fronts of whose rows none takes
  // part say nothing
  std::vector<int> stack = {ended_in_[row]};
  VectorXd b;
  while (!stack.empty()) {
    const Front& front = fronts_[stack.back()];
    stack.pop_back();
    b.setZero(front.R.rows());
    bool any = false;
    for (size_t k = 0; k < front.rest.size(); ++k) {
      const int other = front.rest[k];
      const double factor = other == row ? 1 : -c[other];
      if (factor == 0) continue;
      any = true;
      b += factor * front.S.col(static_cast<Index>(k));
    }
    if (any) {
      front.R.triangularView<Eigen::Upper>().solveInPlace(b);
      for (size_t k = 0; k < front.pivots.size(); ++k) {
        if (std::abs(b[static_cast<Index>(k)]) < no_coefficient) continue;
        c[front.pivots[k]] = b[static_cast<Index>(k)];
        sum.emplace_back(front.pivots[k], b[static_cast<Index>(k)]);
      }
      stack.insert(stack.end(), front.children.begin(), front.children.end());
    }
  }
  for (auto& [other, value] : sum) {
    c[other] = 0;
    value *= norm_[row] / norm_[other];
  }
  return sum;
}

void RowElimination::solve_normal(Eigen::Ref<VectorXd> g) const {
  for (Index i = 0; i < g.size(); ++i) g[i] = is_kept_[i] ? g[i] / norm_[i] : 0;
  VectorXd b;
  const auto gather = [&](const Front& front) {
    b.resize(front.R.rows());
    for (size_t k = 0; k < front.pivots.size(); ++k) b[static_cast<Index>(k)] = g[front.pivots[k]];
  };
  const auto scatter = [&](const Front& front) {
    for (size_t k = 0; k < front.pivots.size(); ++k) g[front.pivots[k]] = b[static_cast<Index>(k)];
  };
  for (const Front& front : fronts_) {
    gather(front);
    front.R.triangularView<Eigen::Upper>().transpose().solveInPlace(b);
    for (size_t k = 0; k < front.rest.size(); ++k)
      if (is_kept_[front.rest[k]]) g[front.rest[k]] -= front.S.col(static_cast<Index>(k)).dot(b);
    scatter(front);
  }
  for (auto front = fronts_.rbegin(); front != fronts_.rend(); ++front) {
    gather(*front);
    for (size_t k = 0; k < front->rest.size(); ++k)
      if (is_kept_[front->rest[k]]) b -= g[front->rest[k]] * front->S.col(static_cast<Index>(k));
    front->R.triangularView<Eigen::Upper>().solveInPlace(b);
    scatter(*front);
  }
  for (Index i = 0; i < g.size(); ++i)
    if (is_kept_[i]) g[i] /= norm_[i];
}

}  // namespace lissom

#include "lissom/linalg/row_elimination.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>

#include <algorithm>
#include <random>

namespace lissom::row_elimination_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Rows = RowElimination::Rows;
using Role = RowElimination::Role;

struct Sparse {
  Rows A;
  std::vector<int> group;
};

// `links` groups of five rows, each with columns of two neighbours of six; in a closed chain the last one has those of
// the first. Every group ends with `sums` more rows that are sums of its own, and `loop` rows at the end are sums of the
// first rows of all groups.
Sparse chain(int links, bool closed, int sums, int loop) {
  std::mt19937 generator(3);
  std::normal_distribution<double> normal;
  std::vector<Eigen::Triplet<double>> entries;
  Sparse out;
  const int columns = 6 * (closed ? links : links + 1);
  MatrixXd of_all = MatrixXd::Zero(loop, columns);
  int row = 0;
  const auto add = [&](const Eigen::RowVectorXd& values, const std::vector<int>& places, int group) {
    for (size_t k = 0; k < places.size(); ++k)
      entries.emplace_back(row, places[k], values[static_cast<int>(k)]);
    out.group.push_back(group);
    ++row;
  };
  for (int link = 0; link < links; ++link) {
    std::vector<int> places;
    for (int k = 0; k < 12; ++k) places.push_back((6 * link + k) % columns);
    MatrixXd values(5, 12);
    for (double& x : values.reshaped()) x = normal(generator);
    for (int i = 0; i < 5; ++i) add(values.row(i), places, link);
    for (int s = 0; s < sums; ++s) {
      const Eigen::RowVectorXd sum = values.row(s) - 2 * values.row((s + 2) % 5);
      add(sum, places, link);
    }
    for (int l = 0; l < loop; ++l)
      for (int k = 0; k < 12; ++k) of_all(l, places[k]) += values(l, k);
  }
  std::vector<int> everywhere(columns);
  for (int c = 0; c < columns; ++c) everywhere[c] = c;
  for (int l = 0; l < loop; ++l) add(of_all.row(l), everywhere, links + l);
  out.A.resize(row, columns);
  out.A.setFromTriplets(entries.begin(), entries.end());
  return out;
}

void expect_right(const Sparse& s, const RowElimination& rows, const std::string& what) {
  const MatrixXd A = s.A;
  const auto rank = static_cast<size_t>(Eigen::ColPivHouseholderQR<MatrixXd>(A.transpose()).rank());
  EXPECT_EQ(rows.kept().size(), rank) << what;
  EXPECT_EQ(rows.kept().size() + rows.left_out().size(), static_cast<size_t>(A.rows())) << what;
  const MatrixXd kept = A(rows.kept(), Eigen::all);
  EXPECT_EQ(static_cast<size_t>(Eigen::ColPivHouseholderQR<MatrixXd>(kept.transpose()).rank()), rank) << what;
  // what is left out is the sum that it is said to be; round-off of some thousand operations
  for (const int row : rows.left_out()) {
    Eigen::RowVectorXd rest = A.row(row);
    for (const auto& [other, value] : rows.combination(row)) {
      EXPECT_TRUE(std::binary_search(rows.kept().begin(), rows.kept().end(), other)) << what;
      rest -= value * A.row(other);
    }
    EXPECT_LT(rest.norm(), 1e-10 * A.row(row).norm()) << what << ", row " << row;
  }
  // and normal equations are solved, as exactly as their condition lets them
  VectorXd g = VectorXd::Zero(A.rows());
  for (const int row : rows.kept()) g[row] = std::sin(row + 1.0);
  VectorXd w = g;
  rows.solve_normal(w);
  const VectorXd left = A * (A.transpose() * w) - g;
  for (const int row : rows.kept()) EXPECT_LT(std::abs(left[row]), 1e-8) << what;
}

TEST(RowElimination, FindsAsManyIndependentRowsAsADenseDecompositionAndTheSumsOfTheOthers) {
  for (const bool closed : {false, true})
    for (const int sums : {0, 3})
      for (const int loop : {0, 2}) {
        const Sparse s = chain(14, closed, sums, loop);
        const RowElimination rows(s.A, s.group, std::vector<Role>(s.group.size(), Role::Open));
        const std::string what =
            "closed " + std::to_string(closed) + ", " + std::to_string(sums) + ", " + std::to_string(loop);
        expect_right(s, rows, what);
        EXPECT_GT(rows.smallest_kept(), 1e-4) << what;
        EXPECT_LT(rows.largest_left_out(), 1e-12) << what;
      }
}

TEST(RowElimination, FrontsOfAChainDoNotGrowWithItsLength) {
  int widest[2] = {0, 0};
  for (const bool closed : {false, true})
    for (const int sums : {0, 5}) {
      for (int k = 0; k < 2; ++k) {
        const Sparse s = chain(k == 0 ? 40 : 640, closed, sums, 0);
        const RowElimination rows(s.A, s.group, std::vector<Role>(s.group.size(), Role::Open));
        widest[k] = rows.widest_front();
        EXPECT_EQ(static_cast<int>(rows.left_out().size()), sums * (k == 0 ? 40 : 640));
      }
      // three groups, those of a loop's other end included
      EXPECT_LE(widest[1], 4 * (5 + sums)) << closed << sums;
      EXPECT_LE(widest[1], widest[0] + 5 + sums) << closed << sums;
    }
}

TEST(RowElimination, RowsThatSayNearlyTheSameAreWeighedAgainstEachOther) {
  // the second says next to nothing beside the first; the third says it aloud
  Rows A(3, 3);
  A.insert(0, 0) = 1;
  A.insert(1, 0) = 1;
  A.insert(1, 1) = 1e-7;
  A.insert(2, 1) = 2;
  const RowElimination rows(A, {0, 0, 1}, {Role::Open, Role::Open, Role::Open});
  EXPECT_EQ(rows.kept(), (std::vector<int>{0, 2}));
  EXPECT_EQ(rows.left_out(), std::vector<int>{1});
  EXPECT_EQ(rows.smallest_kept(), 1);
  // without the third it is what there is
  const RowElimination alone(A.topRows(2), {0, 0}, {Role::Open, Role::Open});
  EXPECT_EQ(alone.kept(), (std::vector<int>{0, 1}));
  EXPECT_NEAR(alone.smallest_kept(), 1e-7, 1e-14);
}

TEST(RowElimination, RolesAreKept) {
  const Sparse s = chain(6, true, 2, 1);
  const RowElimination open(s.A, s.group, std::vector<Role>(s.group.size(), Role::Open));
  std::vector<Role> roles(s.group.size(), Role::LeftOut);
  for (const int row : open.kept()) roles[row] = Role::Kept;
  const RowElimination rows(s.A, s.group, roles);
  EXPECT_EQ(rows.kept(), open.kept());
  EXPECT_EQ(rows.left_out(), open.left_out());
  expect_right(s, rows, "roles");
}

TEST(RowElimination, RowsOfZerosSayNothing) {
  Rows A(3, 2);
  A.insert(1, 0) = 3;
  const RowElimination rows(A, {0, 1, 2}, {Role::Open, Role::Open, Role::Open});
  EXPECT_EQ(rows.kept(), std::vector<int>{1});
  EXPECT_TRUE(rows.is_zero(0));
  EXPECT_FALSE(rows.is_zero(1));
  EXPECT_TRUE(rows.combination(2).empty());
}

}  // namespace
}  // namespace lissom::row_elimination_test

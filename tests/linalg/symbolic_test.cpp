#include "lissom/linalg/symbolic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "lissom/linalg/ordering.hpp"
#include "tests/linalg/test_matrices.hpp"

namespace lissom::symbolic_test {
namespace {

// A graph as a matrix: every pair is coupled with probability `share`.
SymmetricMatrix random_graph(int n, double share, unsigned seed) {
  std::mt19937 generator(seed);
  std::bernoulli_distribution coin(share);
  std::vector<Eigen::Triplet<double>> entries;
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i)
      if (i == j || coin(generator)) entries.emplace_back(i, j, i == j ? n : -1.0);
  SymmetricMatrix A{SparseMatrix(n, n)};
  A.lower.setFromTriplets(entries.begin(), entries.end());
  return A;
}

// Rows of every column of L by elimination on the graph itself: the later neighbours of a column become
// neighbours of each other.
std::vector<std::set<int>> eliminate(const SymmetricMatrix& A, const std::vector<int>& order) {
  const int n = A.size();
  std::vector<int> place(n);
  for (int k = 0; k < n; ++k) place[order[k]] = k;
  std::vector<std::set<int>> later(n);
  for (int c = 0; c < n; ++c)
    for (SparseMatrix::InnerIterator it(A.lower, c); it; ++it)
      later[std::min(place[c], place[it.row()])].insert(std::max(place[c], place[it.row()]));
  for (int j = 0; j < n; ++j) {
    later[j].insert(j);
    for (const int i : later[j])
      for (const int k : later[j])
        if (j < i && i < k) later[i].insert(k);
  }
  return later;
}

// What SupernodalStructure promises, and that it holds L and few zeros.
void check(const SymmetricMatrix& A, const std::vector<int>& order) {
  const SymbolicAnalysis analysis = analyse_supernodes(A, order);
  const SupernodalStructure& S = analysis.structure;
  const int n = A.size();
  ASSERT_EQ(S.n, n);
  ASSERT_TRUE(std::is_permutation(S.order.begin(), S.order.end(), order.begin(), order.end()));

  // a postorder of the tree leaves fill and work as they were
  const std::vector<std::set<int>> L = eliminate(A, S.order), before = eliminate(A, order);
  const auto flops = [](const std::vector<std::set<int>>& columns) {
    return std::accumulate(columns.begin(), columns.end(), 0.0, [](double sum, const auto& c) {
      return sum + double(c.size()) * double(c.size());
    });
  };
  EXPECT_EQ(flops(L), flops(before));
  EXPECT_EQ(analysis.flops, flops(L));

  ASSERT_EQ(S.first.front(), 0);
  ASSERT_EQ(S.first.back(), n);
  for (int s = 0; s < S.supernodes(); ++s) {
    const auto begin = S.rows.begin() + S.row_start[s], end = S.rows.begin() + S.row_start[s + 1];
    ASSERT_GT(S.width(s), 0);
    ASSERT_TRUE(std::is_sorted(begin, end));
    for (int j = 0; j < S.width(s); ++j) ASSERT_EQ(begin[j], S.first[s] + j);
    EXPECT_EQ(S.value_start[s + 1] - S.value_start[s], std::int64_t{S.height(s)} * S.width(s));
    // its rows are those of all of its columns together
    std::set<int> rows;
    double entries = 0;
    for (int j = S.first[s]; j < S.first[s + 1]; ++j) {
      rows.insert(L[j].begin(), L[j].end());
      entries += static_cast<double>(L[j].size());
    }
    EXPECT_TRUE(std::equal(rows.begin(), rows.end(), begin, end)) << "supernode " << s;
    // and the zeros that it stores are within what it may
    const double w = S.width(s), size = w * (w + 1) / 2 + w * (S.height(s) - w), zeros = 1 - entries / size;
    EXPECT_LE(zeros, w <= 4 ? 1 : w <= 16 ? 0.8 : w <= 48 ? 0.1 : 0.05) << w << " columns";
  }
}

TEST(Symbolic, RandomGraphsInAnyOrderHaveTheRowsThatEliminationFinds) {
  std::mt19937 generator(3);
  for (const int n : {1, 2, 7, 40, 120})
    for (const double share : {0.0, 0.02, 0.1, 0.5, 1.0}) {
      const SymmetricMatrix A = random_graph(n, share, 10 * n);
      std::vector<int> order(n);
      std::iota(order.begin(), order.end(), 0);
      for (int repeat = 0; repeat < 3; ++repeat) {
        check(A, order);
        std::shuffle(order.begin(), order.end(), generator);
      }
    }
}

TEST(Symbolic, AGridOrderedByNestedDissectionHasTheRowsThatEliminationFinds) {
  const SymmetricMatrix A = test::laplacian(9, 8, 7);
  check(A, nested_dissection(A, {}));
}

TEST(Symbolic, AChainIsEliminatedWithoutFillAndStoredInWideEnoughPieces) {
  // a tridiagonal matrix from one end to the other: two entries in every column but the last
  const SymmetricMatrix A = test::laplacian(1000, 1, 1);
  std::vector<int> order(1000);
  std::iota(order.begin(), order.end(), 0);
  const SymbolicAnalysis analysis = analyse_supernodes(A, order);
  EXPECT_EQ(analysis.flops, 999 * 4 + 1);
  // single columns would be 1000 supernodes
  EXPECT_LE(analysis.structure.supernodes(), 1000 / 4 + 1);
}

}  // namespace
}  // namespace lissom::symbolic_test

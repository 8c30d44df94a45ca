#include "lissom/linalg/symbolic.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "lissom/core/error.hpp"

namespace lissom {

namespace {

constexpr int none = -1;

// Lists of numbers, one after the other: list k is items[start[k] .. start[k+1]).
struct Lists {
  std::vector<std::int64_t> start;
  std::vector<int> items;

  explicit Lists(size_t count) : start(count + 1, 0) {}
  // In two passes: count the items of each list in start[k + 1], then place() them.
  void make_room() {
    std::partial_sum(start.begin(), start.end(), start.begin());
    items.resize(static_cast<size_t>(start.back()));
  }
  template <class Act>
  void for_each(int k, const Act& act) const {
    for (std::int64_t i = start[k]; i < start[k + 1]; ++i) act(items[i]);
  }
};

// For every column, in the order of elimination, the earlier columns that A couples it with.
Lists earlier_neighbours(const SymmetricMatrix& A, const std::vector<int>& order) {
  const int n = A.size();
  std::vector<int> place(n);
  for (int k = 0; k < n; ++k) place[order[k]] = k;
  Lists earlier(n);
  const auto visit = [&](const auto& act) {
    for (int c = 0; c < n; ++c)
      for (SparseMatrix::InnerIterator it(A.lower, c); it; ++it)
        if (it.row() != c) act(std::minmax(place[c], place[it.row()]));
  };
  visit([&](const auto& pair) { ++earlier.start[pair.second + 1]; });
  earlier.make_room();
  std::vector<std::int64_t> next(earlier.start.begin(), earlier.start.end() - 1);
  visit([&](const auto& pair) { earlier.items[next[pair.second]++] = pair.first; });
  return earlier;
}

// The parent of column j is the first row below the diagonal in column j of L; roots have none. Paths that
// were walked are remembered with their end, so that no one walks them again.
std::vector<int> elimination_tree(const Lists& earlier, int n) {
  std::vector<int> parent(n, none), end_of_path(n, none);
  for (int k = 0; k < n; ++k)
    earlier.for_each(k, [&](int i) {
      while (i != none && i != k) {
        const int next = end_of_path[i];
        end_of_path[i] = k;
        if (next == none) parent[i] = k;
        i = next;
      }
    });
  return parent;
}

// result[k] is the node that comes k-th when every node follows its descendants, which stand together. Among
// siblings the heaviest comes last, right before its parent; equal ones in their order.
std::vector<int> postorder(const std::vector<int>& parent, const std::vector<int>& weight) {
  const int n = static_cast<int>(parent.size());
  std::vector<int> by_weight(n);
  std::iota(by_weight.begin(), by_weight.end(), 0);
  std::stable_sort(by_weight.begin(), by_weight.end(), [&](int a, int b) { return weight[a] < weight[b]; });

  // children as linked lists, the lightest at the head; roots count as children of node n
  std::vector<int> first_child(n + 1, none), next_sibling(n, none);
  for (int k = n; k-- > 0;) {
    const int node = by_weight[k], above = parent[node] == none ? n : parent[node];
    next_sibling[node] = first_child[above];
    first_child[above] = node;
  }
  std::vector<int> result, path = {n};
  result.reserve(n + 1);
  while (!path.empty()) {
    const int node = path.back(), child = first_child[node];
    if (child == none) {
      result.push_back(node);
      path.pop_back();
    } else {
      first_child[node] = next_sibling[child];
      path.push_back(child);
    }
  }
  result.pop_back();  // node n
  return result;
}

std::vector<int> inverse(const std::vector<int>& permutation) {
  std::vector<int> result(permutation.size());
  for (size_t k = 0; k < permutation.size(); ++k) result[permutation[k]] = static_cast<int>(k);
  return result;
}

// Entries of each column of L, its diagonal included. Row i of L is the subtree of the elimination tree whose
// leaves are columns j with an entry a_ij. Each leaf adds one to all columns on its path to the root; where
// the paths of two leaves meet, and above i, it is taken back.
std::vector<int> column_counts(const Lists& earlier, const std::vector<int>& parent) {
  const int n = static_cast<int>(parent.size());
  const std::vector<int> post = postorder(parent, std::vector<int>(n, 0));
  const std::vector<int> label = inverse(post);  // place of a column in the postorder

  // the later neighbours of every column
  Lists later(n);
  for (int i = 0; i < n; ++i) earlier.for_each(i, [&](int j) { ++later.start[j + 1]; });
  later.make_room();
  {
    std::vector<std::int64_t> next(later.start.begin(), later.start.end() - 1);
    for (int i = 0; i < n; ++i) earlier.for_each(i, [&](int j) { later.items[next[j]++] = i; });
  }

  // the place of the first descendant of every column
  std::vector<int> first(n), delta(n, 0);
  for (int k = 0; k < n; ++k) first[post[k]] = k;
  for (const int j : post)
    if (parent[j] != none) first[parent[j]] = std::min(first[parent[j]], first[j]);

  std::vector<int> last_leaf(n, none), last_first(n, none), ancestor(n);
  std::iota(ancestor.begin(), ancestor.end(), 0);
  const auto find = [&](int j) {
    int top = j;
    while (ancestor[top] != top) top = ancestor[top];
    while (ancestor[j] != top) j = std::exchange(ancestor[j], top);
    return top;
  };
  for (const int j : post) {
    // the diagonal entry: row j ends at j
    if (first[j] == label[j]) ++delta[j];
    if (parent[j] != none) --delta[parent[j]];
    later.for_each(j, [&](int i) {
      // j is a leaf of row i unless an earlier leaf is below it
      if (first[j] <= last_first[i]) return;
      ++delta[j];
      if (last_leaf[i] != none) --delta[find(last_leaf[i])];
      last_first[i] = first[j];
      last_leaf[i] = j;
    });
    if (parent[j] != none) ancestor[j] = parent[j];
  }
  for (const int j : post)
    if (parent[j] != none) delta[parent[j]] += delta[j];
  return delta;
}

// A run of columns stored as one dense block.
struct Supernode {
  int first = 0, columns = 0;
  int height = 0;    // rows of its first column, which is as high as the block
  double zeros = 0;  // entries stored in the trapezoid that L does not have
};

// Columns follow each other into one supernode where the next is the parent of the last, has no other child
// and the same rows. Columns are numbered in a postorder.
std::vector<Supernode> fundamental_supernodes(const std::vector<int>& parent,
                                              const std::vector<int>& counts) {
  const int n = static_cast<int>(parent.size());
  std::vector<int> children(n, 0);
  for (const int p : parent)
    if (p != none) ++children[p];
  std::vector<Supernode> result;
  for (int j = 0; j < n; ++j) {
    const bool joins = j > 0 && parent[j - 1] == j && counts[j - 1] == counts[j] + 1 && children[j] == 1;
    if (joins)
      ++result.back().columns;
    else
      result.push_back({j, 1, counts[j], 0});
  }
  return result;
}

// Whether a supernode of so many columns may store this share of zeros: narrow ones cost more in calls and
// indices than their zeros do. The limits are those that CHOLMOD's users know as its defaults.
bool is_worth_storing(int columns, double share) {
  return columns <= 4 || (columns <= 16 && share < 0.8) || (columns <= 48 && share < 0.1) || share < 0.05;
}

// Joins supernodes with their parents where they are neighbours, from the last to the first, so that a parent
// has grown already when its children are looked at.
std::vector<Supernode> relax(const std::vector<Supernode>& nodes, const std::vector<int>& parent) {
  std::vector<Supernode> reversed;  // the last is the one that was made or grew latest
  for (size_t s = nodes.size(); s-- > 0;) {
    Supernode node = nodes[s];
    const int above = parent[node.first + node.columns - 1];
    const bool touches = !reversed.empty() && above != none && above >= reversed.back().first &&
                         above < reversed.back().first + reversed.back().columns;
    if (touches) {
      // every column of the child becomes as high as the parent's rows ask for
      const Supernode& up = reversed.back();
      const int columns = node.columns + up.columns, height = node.columns + up.height;
      const double zeros = up.zeros + node.zeros + double(node.columns) * (height - node.height);
      const double below = height - columns, size = 0.5 * columns * (columns + 1.0) + columns * below;
      if (height == node.height || is_worth_storing(columns, zeros / size)) {
        reversed.back() = {node.first, columns, height, zeros};
        continue;
      }
    }
    reversed.push_back(node);
  }
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

// Columns, rows and values of the supernodes. Row i has entries in those supernodes that lie on the paths
// from its earlier neighbours to itself; taking rows in ascending order makes the lists ascending too.
void fill_structure(const std::vector<Supernode>& nodes, const std::vector<int>& parent, const Lists& earlier,
                    const std::vector<int>& old_label, const std::vector<int>& new_label,
                    SupernodalStructure& out) {
  const int n = static_cast<int>(parent.size()), count = static_cast<int>(nodes.size());
  out.first.reserve(count + 1);
  out.row_start.assign(1, 0);
  out.value_start.assign(1, 0);
  std::vector<int> owner(n);
  for (int s = 0; s < count; ++s) {
    const Supernode& node = nodes[s];
    out.first.push_back(node.first);
    out.row_start.push_back(out.row_start.back() + node.height);
    out.value_start.push_back(out.value_start.back() + std::int64_t{node.height} * node.columns);
    std::fill_n(owner.begin() + node.first, node.columns, s);
  }
  out.first.push_back(n);

  out.rows.resize(static_cast<size_t>(out.row_start.back()));
  std::vector<std::int64_t> next(out.row_start.begin(), out.row_start.end() - 1);
  std::vector<int> above(count, none), seen(count, none);
  for (int s = 0; s < count; ++s)
    if (const int p = parent[out.first[s + 1] - 1]; p != none) above[s] = owner[p];
  for (int i = 0; i < n; ++i) {
    // its own supernode has all of its columns as rows
    seen[owner[i]] = i;
    out.rows[next[owner[i]]++] = i;
    earlier.for_each(old_label[i], [&](int j) {
      for (int s = owner[new_label[j]]; seen[s] != i; s = above[s]) {
        seen[s] = i;
        out.rows[next[s]++] = i;
      }
    });
  }
  for (int s = 0; s < count; ++s) LISSOM_ASSERT(next[s] == out.row_start[s + 1]);
}

}  // namespace

SymbolicAnalysis analyse_supernodes(const SymmetricMatrix& A, const std::vector<int>& order) {
  const int n = A.size();
  LISSOM_ASSERT(static_cast<int>(order.size()) == n);
  const Lists earlier = earlier_neighbours(A, order);
  const std::vector<int> tree = elimination_tree(earlier, n);
  const std::vector<int> counts_before = column_counts(earlier, tree);

  // number the columns anew so that subtrees stand together
  const std::vector<int> old_label = postorder(tree, counts_before), new_label = inverse(old_label);
  std::vector<int> parent(n), counts(n);
  SymbolicAnalysis result;
  result.structure.n = n;
  result.structure.order.resize(n);
  for (int j = 0; j < n; ++j) {
    const int old = old_label[j];
    parent[j] = tree[old] == none ? none : new_label[tree[old]];
    counts[j] = counts_before[old];
    result.structure.order[j] = order[old];
    result.flops += double(counts[j]) * counts[j];
  }
  const std::vector<Supernode> nodes = relax(fundamental_supernodes(parent, counts), parent);
  fill_structure(nodes, parent, earlier, old_label, new_label, result.structure);
  return result;
}

}  // namespace lissom

#include "lissom/linalg/ordering.hpp"

#include <metis.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "lissom/core/error.hpp"

namespace lissom {

namespace {

// The rows of each node: rows of node v are members[start[v] .. start[v+1]).
struct Groups {
  std::vector<int> node_of_row, start, members;
};

Groups collect_groups(int n, std::span<const int> group) {
  Groups g;
  g.node_of_row.resize(n);
  if (group.empty()) {
    std::iota(g.node_of_row.begin(), g.node_of_row.end(), 0);
  } else {
    // renumber densely
    std::vector<int> names(group.begin(), group.end());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    for (int i = 0; i < n; ++i)
      g.node_of_row[i] =
          static_cast<int>(std::lower_bound(names.begin(), names.end(), group[i]) - names.begin());
  }
  const int nodes = n == 0 ? 0 : *std::max_element(g.node_of_row.begin(), g.node_of_row.end()) + 1;
  g.start.assign(nodes + 1, 0);
  for (int v : g.node_of_row) ++g.start[v + 1];
  std::partial_sum(g.start.begin(), g.start.end(), g.start.begin());
  g.members.resize(n);
  std::vector<int> next(g.start.begin(), g.start.end() - 1);
  for (int i = 0; i < n; ++i) g.members[next[g.node_of_row[i]]++] = i;
  return g;
}

}  // namespace

std::vector<int> nested_dissection(const SymmetricMatrix& A, std::span<const int> group) {
  const int n = A.size();
  LISSOM_ASSERT(group.empty() || static_cast<int>(group.size()) == n);
  const Groups g = collect_groups(n, group);
  const int nodes = static_cast<int>(g.start.size()) - 1;

  // edges of the node graph, each once, from the columns of the lower triangle; a marker keeps repeats out
  std::vector<int> marker(nodes, -1), edge_from, edge_to;
  for (int v = 0; v < nodes; ++v) {
    for (int m = g.start[v]; m < g.start[v + 1]; ++m) {
      for (SparseMatrix::InnerIterator it(A.lower, g.members[m]); it; ++it) {
        const int w = g.node_of_row[it.row()];
        if (w == v || marker[w] == v) continue;
        marker[w] = v;
        edge_from.push_back(v);
        edge_to.push_back(w);
      }
    }
  }
  // both directions; a pair seen from both ends is listed twice, so sort out repeats per vertex
  std::vector<std::int64_t> degree(nodes + 1, 0);
  for (size_t e = 0; e < edge_from.size(); ++e) ++degree[edge_from[e] + 1], ++degree[edge_to[e] + 1];
  std::partial_sum(degree.begin(), degree.end(), degree.begin());
  if (degree[nodes] > std::numeric_limits<idx_t>::max())
    fail("the graph of nodes has {} edges, more than METIS can take ({})", degree[nodes],
         std::numeric_limits<idx_t>::max());
  std::vector<idx_t> neighbours(degree[nodes]);
  std::vector<std::int64_t> next(degree.begin(), degree.end() - 1);
  for (size_t e = 0; e < edge_from.size(); ++e) {
    neighbours[next[edge_from[e]]++] = edge_to[e];
    neighbours[next[edge_to[e]]++] = edge_from[e];
  }
  std::vector<idx_t> xadj(nodes + 1, 0);
  size_t write = 0;
  for (int v = 0; v < nodes; ++v) {
    const auto first = neighbours.begin() + degree[v];
    std::sort(first, neighbours.begin() + degree[v + 1]);
    const auto last = std::unique(first, neighbours.begin() + degree[v + 1]);
    for (auto it = first; it != last; ++it) neighbours[write++] = *it;
    xadj[v + 1] = static_cast<idx_t>(write);
  }

  // METIS refuses a graph without edges; any order is right there
  std::vector<idx_t> order(nodes), inverse(nodes);
  std::iota(order.begin(), order.end(), 0);
  if (write > 0) {
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;  // the same ordering every time
    idx_t vertices = nodes;
    if (METIS_NodeND(&vertices, xadj.data(), neighbours.data(), nullptr, options, order.data(),
                     inverse.data()) != METIS_OK)
      fail("METIS could not order the graph of {} nodes (out of memory?)", nodes);
  }

  std::vector<int> rows;
  rows.reserve(n);
  for (idx_t v : order)
    for (int m = g.start[v]; m < g.start[v + 1]; ++m) rows.push_back(g.members[m]);
  return rows;
}

}  // namespace lissom

// Fill-reducing ordering by nested dissection (METIS) of the graph of nodes. Ordering nodes instead of
// degrees of freedom is three times less work in vertices and nine times in edges, and keeps a node's
// unknowns together.
#pragma once

#include <span>
#include <vector>

#include "lissom/linalg/sparse.hpp"

namespace lissom {

// A permutation of A's rows: result[k] is the row that is eliminated k-th. `group[i]` names the node of row i
// (any non-negative numbers); empty takes each row for itself. Rows of one node follow each other.
std::vector<int> nested_dissection(const SymmetricMatrix& A, std::span<const int> group);

}  // namespace lissom

// Symbolic analysis of a sparse Cholesky factorisation: which entries of L there are, and in which supernodes
// they are stored. Nothing here looks at values.
#pragma once

#include <vector>

#include "lissom/linalg/sparse.hpp"
#include "lissom/linalg/supernodal.hpp"

namespace lissom {

struct SymbolicAnalysis {
  SupernodalStructure structure;
  double flops = 0;  // of the numerical factorisation, without those on zeros that supernodes store
};

// `order[k]` is the row of A that is eliminated k-th. The result's order differs from it by a postorder of
// the elimination tree, which changes neither fill nor work.
//
// Steps, each nearly linear in the entries of A or in the rows of all supernodes:
//   elimination tree        Liu (1990): The role of elimination trees in sparse factorization
//   entries in each column  Gilbert, Ng, Peyton (1994): An efficient algorithm to compute row and column
//   counts supernodes              columns with equal rows below, then relaxed: a supernode joins its parent
//   where few
//                           zeros are stored for that, as in Ashcraft, Grimes (1989)
SymbolicAnalysis analyse_supernodes(const SymmetricMatrix& A, const std::vector<int>& order);

}  // namespace lissom

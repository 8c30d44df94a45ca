// Which motions of a body cost no energy: its rigid motions, told from soft supports and from thin or slender
// flexible modes by a measure that knows the round-off of K.
//
// Notation: u = 2^-53; |K|, |x| entry by entry. The entries of K are known to a few u of themselves, so that
//   x' K x  is known to  c u m(x),   m(x) = |x|' |K| |x|,
// and no less: an energy below it may be zero, one above it is real. The measure has no scale of its own. It
// holds for a rod of slenderness 400, a sheet, micrometres, and matrices in mm, t, s, because m(x) is made of
// the same entries, where a fixed part of the first eigenvalue, or of |K|, is too much for one body and too
// little for another.
#pragma once

#include <Eigen/Core>

#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/fe/fe_model.hpp"

namespace lissom {

// m(x) of each column of X (n by k).
Eigen::VectorXd energy_magnitude(const SymmetricMatrix& K, const Eigen::Ref<const Eigen::MatrixXd>& X);

// c u m(x) with c = 4: what round-off of K's entries may make of x' K x, for each column of X. Elements of
// one mesh err alike, so that errors add up instead of cancelling; of all elements, spiders and shapes that were
// tried the worst had 2.8 (tests/fe/rigid_motions_test.cpp, tests/cms/held_out_test.cpp).
Eigen::VectorXd energy_roundoff(const SymmetricMatrix& K, const Eigen::Ref<const Eigen::MatrixXd>& X);

// The combinations of the columns of X (n by k, M-orthonormal) that cost no energy, M-orthonormal too: those
// within round-off (c = 16), and those below `limit` [rad2/s2], a small part of an eigenvalue that is surely
// flexible: matrices that were printed with a few digits err by more than round-off.
Eigen::MatrixXd without_energy(const SymmetricMatrix& K, const Eigen::Ref<const Eigen::MatrixXd>& X,
                               double limit);

// Which part (0-based) each row of K belongs to: parts share no entry of K.
struct ConnectedParts {
  std::vector<int> of_row;
  int count = 1;
};
ConnectedParts connected_parts(const SymmetricMatrix& K);

// Throws InputError where a body falls apart into several parts, or, if they are allowed, warns with the id.
// `how` says how to allow them.
void refuse_parts(const FeModel& model, const ConnectedParts& parts, bool allowed, const std::string& how,
                  const std::string& warning_id, Diagnostics& diagnostics);

// Rigid motions and displacement fields of the body can be written down.
bool knows_nodes(const FeModel& model);

// M-orthonormal rigid motions of each part that do not move the rows `fixed`, over the rows `keep`
// (ascending, the others) of which K and M are given; about `centre`, translations first. Those with energy
// are left out: a body may be held in ways that fixed rows do not tell (imported matrices). No columns where
// nodes are not known.
Eigen::MatrixXd rigid_motions(const FeModel& model, const SymmetricMatrix& K, const SymmetricMatrix& M,
                              const Eigen::Vector3d& centre, const std::vector<int>& keep,
                              const std::vector<int>& fixed, const ConnectedParts& parts, double limit);

}  // namespace lissom

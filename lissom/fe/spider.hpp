// Spiders: nodes of a face tied to one reference node with six degrees of freedom.
//
// Both kinds are a change of coordinates u = T q. Let D (3n by 6) hold the rigid motions of the face about
// the reference, rows [I  -[x_i - x_ref]x] for node i, q_b = (u_ref, theta_ref).
//   rigid      u_face = D q_b: the 3n displacements give way to six.
//   averaging  u_face = D q_b + N z with D^T W N = 0 and W the nodes' weights, so that
//              q_b = (D^T W D)^-1 D^T W u_face is the weighted mean motion. N (3n by 3n - 6) is W^(-1/2)
//              times the orthogonal complement of W^(1/2) D, the weights scaled to mean 1: the face keeps its
//              3n coordinates and stays as flexible as it was.
// K becomes T^T K T, and M likewise. The face's own coordinates of an averaging spider are coupled densely,
// which suits faces of up to about a thousand nodes; more than max_averaging_nodes are refused.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/fe/fe_model.hpp"
#include "lissom/fe/mesh.hpp"

namespace lissom {

// Its dense matrices (3n by 3n) take about 1.5 GB.
inline constexpr int max_averaging_nodes = 2000;

// Applies the mesh's spiders to a model whose degrees of freedom are `3 first[node] .. + 3` for the nodes
// with first[node] >= 0. The new order: untouched degrees of freedom as they were, then for each spider the
// six of its reference node and, for an averaging one, 3n - 6 coordinates z (Dof::node -1). Fills `recovery`.
// A reference node that belongs to elements shares its displacement with them.
// Throws InputError for: a node in two spiders, or of one spider tied to the reference of another; a
// reference of two spiders; a face with fewer than three nodes or with all nodes on a line; a weight that is
// not positive; a node of an averaging spider without element (of a rigid one: warning, it just follows), or
// more nodes than max_averaging_nodes.
void apply_spiders(const Mesh& mesh, const std::vector<int>& first, FeModel& model, Diagnostics& diagnostics);

// Adds a spider over `nodes` with a new reference node (id: the largest one + 1) at `reference`, by default
// the mean of the nodes. Returns the reference's node index. Throws InputError where the name is taken or the
// nodes are fewer than three.
int add_spider(Mesh& mesh, const std::string& name, Spider::Kind kind, std::vector<int> nodes,
               std::optional<Eigen::Vector3d> reference = std::nullopt, std::vector<double> weights = {});

}  // namespace lissom

// An elastic body as matrices: K and M over numbered degrees of freedom, with the nodes they belong to.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lissom/linalg/sparse.hpp"

namespace lissom {

// One degree of freedom: direction 0..2 is displacement along x, y, z, 3..5 rotation about x, y, z (reference
// nodes of spiders, shell or beam nodes of imported matrices). A coordinate that belongs to no single node
// has node -1 (the flexible motion of an averaging spider's face, see spider.hpp): only its column of
// FeModel::recovery tells what it moves, and a rigid motion of the body leaves it zero.
struct Dof {
  int node = -1;  // index into FeModel::points, or -1
  int direction = 0;
};

// SI units throughout: m, kg, s, N.
struct FeModel {
  std::string source;
  Eigen::Matrix3Xd points;             // 3 by nodes; empty when only matrices were given
  std::vector<std::int64_t> node_ids;  // one per node
  std::vector<Dof> dofs;               // one per row of K and M
  SymmetricMatrix K;                   // [N/m, N, N m]
  SymmetricMatrix M;                   // [kg, kg m, kg m2]
  // The mass between nodes, nodes by nodes [kg], before spiders tie any: M of the nodes is node_mass (x) I_3.
  // Empty (0 by 0) when it is not known or M has no such form; zero rows for nodes without element.
  SymmetricMatrix node_mass;
  std::map<std::string, std::vector<int>> node_sets;
  // Displacements of all nodes (3 per node, node by node) from the degrees of freedom: u = recovery * q. It
  // holds the spiders' ties, and zero rows for nodes that nothing moves; empty means that dofs are already 3
  // per node in node order.
  SparseMatrix recovery;

  // Of imported matrices that came with both triangles, before they were averaged: the largest |a_ij - a_ji|
  // over the largest |a_ij|.
  std::optional<double> K_asymmetry, M_asymmetry;

  int dof_count() const { return K.size(); }
  bool has_points() const { return points.cols() > 0; }
};

}  // namespace lissom

// Inertia of a flexible body whose nodes move with x + U q: the integrals that the equations of motion in a
// floating frame need, computed once, so that no time step costs anything that grows with the mesh.
//
// Notation: m (n by n) the scalar mass matrix of the nodes, M = m (x) I_3, lumped or consistent; x (3 by n)
// the nodes; U_a (n by N) the modes' displacement in direction a; 1 the vector of ones.
#pragma once

#include <Eigen/Core>

#include <array>

#include "lissom/linalg/sparse.hpp"

namespace lissom {

struct InertiaInvariants {
  double mass = 0;                                         // 1' m 1 [kg]
  Eigen::Vector3d first_moment = Eigen::Vector3d::Zero();  // x m 1 [kg m]
  Eigen::Matrix3d second_moment =
      Eigen::Matrix3d::Zero();  // x m x' [kg m2]; inertia is its trace times I less itself
  Eigen::MatrixXd translation;  // 3 by N: row a is 1' m U_a [kg]
  // position[a] (3 by N): row b is x_a' m U_b [kg m]
  std::array<Eigen::MatrixXd, 3> position;
  // deformation[3 a + b] (N by N): U_a' m U_b [kg]; [3 b + a] is its transpose
  std::array<Eigen::MatrixXd, 9> deformation;

  bool empty() const { return translation.size() == 0; }
};

// `points` is 3 by n, `modes` 3 n by N (x, y, z of node after node).
InertiaInvariants inertia_invariants(const Eigen::Matrix3Xd& points, const SymmetricMatrix& node_mass,
                                     const Eigen::Ref<const Eigen::MatrixXd>& modes);

}  // namespace lissom

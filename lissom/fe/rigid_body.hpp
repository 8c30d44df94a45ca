// The rigid motions of a body in its degrees of freedom, and what the mass matrix makes of them.
//
// Notation: r_1..r_3 translations along x, y, z, r_4..r_6 rotations about axes through a point p:
//   u = e_i x (x - p) at every node, and e_i at rotational degrees of freedom.
// Then R' M R = [ m 1, -m c~ ; m c~, J ] with c the centre of mass relative to p and J the inertia about p.
#pragma once

#include <Eigen/Core>

#include <optional>
#include <vector>

#include "lissom/fe/fe_model.hpp"

namespace lissom {

// n by 6. A coordinate without node (Dof) stays zero; rotations stay zero where points are not known (0
// columns). With FeModel::recovery, recovery * rigid_body_modes(...) is the rigid motion of all nodes.
Eigen::MatrixXd rigid_body_modes(const Eigen::Matrix3Xd& points, const std::vector<Dof>& dofs,
                                 const Eigen::Vector3d& centre = Eigen::Vector3d::Zero());

// Whether every row's part in a rigid motion is known: rows have nodes, or the recovery says what they move.
bool knows_rigid_motions(const FeModel& model);

// What M says of the body [unit of M, and of the points]; nothing where rows have no nodes.
struct RigidMass {
  Eigen::Vector3d mass;                    // as seen along x, y, z; the three agree for a free body
  std::optional<Eigen::Vector3d> centre;   // needs points, and mass in all directions
  std::optional<Eigen::Matrix3d> inertia;  // about the centre
};
std::optional<RigidMass> rigid_mass(const FeModel& model);

}  // namespace lissom

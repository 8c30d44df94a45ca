#include "lissom/fe/rigid_body.hpp"

#include <Eigen/Geometry>

#include <algorithm>

namespace lissom {

using Eigen::Vector3d;

Eigen::MatrixXd rigid_body_modes(const Eigen::Matrix3Xd& points, const std::vector<Dof>& dofs,
                                 const Vector3d& centre) {
  Eigen::MatrixXd modes = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(dofs.size()), 6);
  for (size_t i = 0; i < dofs.size(); ++i) {
    const auto [node, direction] = dofs[i];
    if (node < 0) continue;
    modes(i, direction) = 1;
    if (direction >= 3 || points.cols() == 0) continue;
    const Vector3d r = points.col(node) - centre;
    for (int k = 0; k < 3; ++k) modes(i, 3 + k) = Vector3d::Unit(k).cross(r)[direction];
  }
  return modes;
}

bool knows_rigid_motions(const FeModel& model) {
  if (model.dofs.empty() || static_cast<int>(model.dofs.size()) != model.dof_count()) return false;
  return model.recovery.size() > 0 ||
         std::all_of(model.dofs.begin(), model.dofs.end(), [](const Dof& dof) { return dof.node >= 0; });
}

std::optional<RigidMass> rigid_mass(const FeModel& model) {
  if (!knows_rigid_motions(model)) return std::nullopt;
  const bool points = model.has_points();
  const Vector3d p = points ? Vector3d(model.points.rowwise().mean()) : Vector3d::Zero();
  const Eigen::MatrixXd R = rigid_body_modes(model.points, model.dofs, p);
  Eigen::MatrixXd MR(R.rows(), 6);
  multiply(model.M, R, MR);
  const Eigen::Matrix<double, 6, 6> mass = R.transpose() * MR;
  RigidMass result;
  result.mass = mass.diagonal().head<3>();
  if (!points || !(result.mass.minCoeff() > 0)) return result;
  // the coupling of translations and rotations: t_x' M r_y = m c_z and so on around
  const Vector3d c(mass(1, 5) / mass(1, 1), mass(2, 3) / mass(2, 2), mass(0, 4) / mass(0, 0));
  const double m = result.mass.mean();
  result.centre = p + c;
  result.inertia = mass.bottomRightCorner<3, 3>() -
                   m * (c.squaredNorm() * Eigen::Matrix3d::Identity() - c * c.transpose());
  return result;
}

}  // namespace lissom

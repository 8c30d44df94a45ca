#include "lissom/mbs/body.hpp"

#include <numeric>

namespace lissom {

// coordinates that are not redundant need none
void Body::own_constraint(const Vector&, Eigen::Ref<Eigen::VectorXd> g) const {
  LISSOM_ASSERT(g.size() == 0);
}
void Body::own_gradient(const Vector&, Eigen::Ref<Eigen::MatrixXd> G) const {
  LISSOM_ASSERT(G.rows() == 0);
}
void Body::add_own_hessian(const Vector& lambda, double, Eigen::Ref<Eigen::MatrixXd>) const {
  LISSOM_ASSERT(lambda.size() == 0);
}

void Body::add_cells(const Vector&, const Vector&, const Vector&, double, const Eigen::Vector3d&, double,
                     double, double, Workspace&, const CellWriter&) const {
  LISSOM_ASSERT(cells().empty());
}

void Body::mass_diagonal(const Vector& q, Workspace& workspace, Eigen::Ref<Eigen::VectorXd> diagonal) const {
  Eigen::MatrixXd M(coordinates(), coordinates());
  mass(q, workspace, M);
  diagonal = M.diagonal();
}

std::vector<int> Body::marker_coordinates(int) const {
  std::vector<int> all(coordinates());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void Body::add_marker_force(int, const Vector&, const Vector&, const Vector12d&, Workspace&,
                            Eigen::Ref<Eigen::VectorXd>) const {
  LISSOM_ASSERT(!projects_forces());
}

std::vector<NodeGroup> Body::node_groups() const {
  return {{name(), 0, static_cast<int>(node_ids().size())}};
}

std::optional<Eigen::Vector3d> Body::frame_spin(const Vector&, const Vector&) const {
  return std::nullopt;
}

// a rigid body does not deform
Body::DeformationBasis Body::deformation_basis(int) const {
  return {};
}
void Body::deformation(int, const Vector&, Eigen::Ref<Eigen::VectorXd> d) const {
  LISSOM_ASSERT(d.size() == 0);
}
Eigen::Matrix3Xd Body::local_displacements(int group, const Vector&) const {
  return Eigen::Matrix3Xd::Zero(3, node_groups().at(static_cast<size_t>(group)).count);
}

}  // namespace lissom

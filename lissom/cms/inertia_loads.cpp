#include "lissom/cms/inertia_loads.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lissom/fe/rigid_body.hpp"
#include "lissom/fe/rigid_motions.hpp"

namespace lissom {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

// Below, a combination of the scaled answers is what round-off left of dependent ones.
constexpr double no_energy = 1e-12;

// S X at every node, for the six unit S: 3 n by 6
MatrixXd quadratic_fields_of_rotation(const Eigen::Matrix3Xd& points, const Eigen::Vector3d& centre) {
  constexpr int first[] = {0, 1, 2, 0, 1, 2}, second[] = {0, 1, 2, 1, 2, 0};
  MatrixXd fields = MatrixXd::Zero(3 * points.cols(), 6);
  for (Eigen::Index i = 0; i < points.cols(); ++i) {
    const Eigen::Vector3d X = points.col(i) - centre;
    for (int k = 0; k < 6; ++k) {
      fields(3 * i + first[k], k) = X[second[k]];
      fields(3 * i + second[k], k) = X[first[k]];
    }
  }
  return fields;
}

}  // namespace

MatrixXd inertia_loads(const FeModel& model) {
  const int n = model.dof_count();
  const Eigen::Index nodes = model.points.cols();
  if (!knows_nodes(model)) return MatrixXd(n, 0);
  const auto mass = rigid_mass(model);
  if (!mass || !mass->centre) return MatrixXd(n, 0);
  const Eigen::Vector3d centre = *mass->centre;
  MatrixXd loads(n, inertia_load_count);

  // rigid accelerations: M knows them, whatever its degrees of freedom are
  const MatrixXd rigid = rigid_body_modes(model.points, model.dofs, centre);
  multiply(model.M, rigid, loads.leftCols(6));

  // products of angular velocity: no motion of a spider, so that the nodes have to say what they weigh
  const MatrixXd fields = quadratic_fields_of_rotation(model.points, centre);
  if (model.node_mass.size() == nodes) {
    MatrixXd forces(3 * nodes, 6), field(nodes, 6), force(nodes, 6);
    for (int d = 0; d < 3; ++d) {
      for (Eigen::Index i = 0; i < nodes; ++i) field.row(i) = fields.row(3 * i + d);
      multiply(model.node_mass, field, force);
      for (Eigen::Index i = 0; i < nodes; ++i) forces.row(3 * i + d) = force.row(i);
    }
    if (model.recovery.size() > 0) {
      loads.rightCols(6) = model.recovery.transpose() * forces;
    } else {
      for (int i = 0; i < n; ++i) {
        const auto [node, direction] = model.dofs[i];
        if (direction < 3)
          loads.row(i).tail(6) = forces.row(3 * node + direction);
        else
          loads.row(i).tail(6).setZero();
      }
    }
  } else {
    // S X turns nothing, so that rotations stay zero
    MatrixXd at_dofs = MatrixXd::Zero(n, 6);
    for (int i = 0; i < n; ++i)
      if (model.dofs[i].node >= 0 && model.dofs[i].direction < 3)
        at_dofs.row(i) = fields.row(3 * model.dofs[i].node + model.dofs[i].direction);
    multiply(model.M, at_dofs, loads.rightCols(6));
  }
  return loads;
}

InertiaDirections directions_left_out(const Eigen::Ref<const MatrixXd>& energy,
                                      const Eigen::Ref<const MatrixXd>& left_out, double tolerance) {
  InertiaDirections result;
  const Eigen::Index n = energy.rows();
  // accelerations and rotations have different units
  VectorXd scale(n);
  for (Eigen::Index i = 0; i < n; ++i) scale[i] = energy(i, i) > 0 ? 1 / std::sqrt(energy(i, i)) : 0;
  const MatrixXd unit = scale.asDiagonal() * energy * scale.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> gram(0.5 * (unit + unit.transpose()));
  Eigen::Index dropped = 0;
  while (dropped < n && gram.eigenvalues()[dropped] < no_energy) ++dropped;
  result.combinations.resize(n, 0);
  if (dropped == n) return result;
  const MatrixXd W = scale.asDiagonal() * gram.eigenvectors().rightCols(n - dropped) *
                     gram.eigenvalues().tail(n - dropped).cwiseSqrt().cwiseInverse().asDiagonal();
  const MatrixXd share = W.transpose() * left_out * W;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(0.5 * (share + share.transpose()));
  const VectorXd& mu = eigen.eigenvalues();  // ascending, 0 to 1
  Eigen::Index negligible = 0;
  while (negligible < mu.size() && mu[negligible] <= tolerance * tolerance) ++negligible;
  result.combinations = W * eigen.eigenvectors().rightCols(mu.size() - negligible);
  result.largest = std::sqrt(std::clamp(mu[mu.size() - 1], 0.0, 1.0));
  result.left = negligible > 0 ? std::sqrt(std::clamp(mu[negligible - 1], 0.0, 1.0)) : 0;
  return result;
}

}  // namespace lissom

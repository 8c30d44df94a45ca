// Strain and stress at the nodes of a mesh from its nodal displacements.
//
// In each element the strain is taken at its superconvergent points, extrapolated to its nodes by the linear
// functions through these points (Barlow 1976; Hinton and Campbell 1974), and averaged over the elements that
// share a node. docs/theory/elements.md says which points.
//
// Six components stand in the order xx yy zz xy yz zx, in mesh coordinates. Shear strains are engineering
// ones, gamma_xy = 2 epsilon_xy; the shear stress is the tensor's component. All is linear in the
// displacements.
#pragma once

#include <Eigen/Core>

#include <cmath>
#include <memory>
#include <optional>
#include <span>

#include "lissom/core/progress.hpp"
#include "lissom/fe/mesh.hpp"

namespace lissom {

// Which of the two is wanted; the other stays empty.
struct StressOptions {
  bool strain = true;
  bool stress = true;
};

struct NodalStress {
  Eigen::MatrixXd strain;  // 6 n by k [-]: six components of node after node, one column a displacement
  Eigen::MatrixXd stress;  // the same [Pa]
};

// The plain mean over all elements of each node; zero at nodes without element. Where materials meet, the
// mean is over the elements of all of them: a stress that jumps there is smeared (element_stress() has either
// side). `displacements` is 3 nodes by k [m], x y z of all mesh nodes; `nodes`, when given, are the only ones
// wanted: indices, ascending, none twice; n is their number, and only their elements are visited.
//
// The result does not depend on the number of threads, nor on which other nodes or columns were asked for.
//
// Throws InputError: elements without a material or elastic constants, constants out of range, elements whose
// Jacobian is not positive.
NodalStress recover_stress(const Mesh& mesh, const Eigen::Ref<const Eigen::MatrixXd>& displacements,
                           std::optional<std::span<const int>> nodes = std::nullopt,
                           const StressOptions& options = {}, const ProgressHook& progress = {});

// The values at the nodes of one element, without the mean: n is its node count and the displacements are
// those of its nodes, 3 n by k. Throws like recover_stress().
NodalStress element_stress(const Mesh& mesh, int element,
                           const Eigen::Ref<const Eigen::MatrixXd>& displacements,
                           const StressOptions& options = {});

// The same for the displacements of scalar fields along x, y and z: `fields` is n by s, at the n nodes (by
// index, none twice), others rest; column 3 a + l belongs to field a along l. Rows are those of `nodes`, in
// their order: 6 n by 3 s.
NodalStress recover_field_stress(const Mesh& mesh, const Eigen::Ref<const Eigen::MatrixXd>& fields,
                                 std::span<const int> nodes, const StressOptions& options = {},
                                 const ProgressHook& progress = {});

// Strain and stress at the nodes of a body for unit amplitudes of its deformation, as NodalStress; shared,
// as they are large. Null where they are not kept.
struct StressModes {
  std::shared_ptr<const Eigen::MatrixXd> strain, stress;
};

using Vector6d = Eigen::Matrix<double, 6, 1>;

// Von Mises' equivalent of a stress: |s| in uniaxial tension, sqrt(3) |s| in shear, 0 under pressure.
inline double von_mises(const Eigen::Ref<const Vector6d>& s) {
  const double a = s[0] - s[1], b = s[1] - s[2], c = s[2] - s[0];
  return std::sqrt((a * a + b * b + c * c) / 2 + 3 * s.tail<3>().squaredNorm());
}

// The equivalent of a strain (engineering shear): sqrt(2/3 e : e) of its deviator, |e| in the tension of an
// incompressible material.
inline double equivalent_strain(const Eigen::Ref<const Vector6d>& e) {
  const double a = e[0] - e[1], b = e[1] - e[2], c = e[2] - e[0];
  return std::sqrt(2 * (a * a + b * b + c * c) + 3 * e.tail<3>().squaredNorm()) / 3;
}

// Principal values of a stress, the largest first. (Of a strain: with its three shears halved.)
Eigen::Vector3d principal(const Eigen::Ref<const Vector6d>& s);

}  // namespace lissom

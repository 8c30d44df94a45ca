// Stiffness and mass of one solid element.
//
// tet4, tet10, hex20, wedge6 and wedge15 are the plain isoparametric elements with the integration points of
// stiffness_rule(). hex8 has nine incompatible modes in addition (three bubbles 1 - r^2, 1 - s^2, 1 - t^2 in
// three directions; Wilson et al. 1973), so that it bends without locking. Their gradients are taken with the
// Jacobian J0 of the element's centre and scaled by det J0 / det J (Taylor, Beresford and Wilson 1976); their
// integral then vanishes, which is what the patch test asks for on distorted meshes. They are condensed
// statically inside the element.
#pragma once

#include <Eigen/Core>

#include <array>
#include <cstdint>

#include "lissom/fe/element_type.hpp"
#include "lissom/fe/material.hpp"

namespace lissom {

enum class MassKind : std::uint8_t {
  // int rho N_a N_b dV with mass_rule(): exact for straight-sided elements. The choice for accuracy.
  Consistent,
  // A diagonal: row sums for linear elements, diagonal scaling (Hinton, Rock and Zienkiewicz 1976) for
  // quadratic ones, whose row sums would be negative at corners.
  Lumped,
  // The consistent mass integrated at the few points of the stiffness, which is what CalculiX does: one point
  // on tet4 (rho V/16 in all 16 entries), 4 on tet10, 9 on wedge15; the same as Consistent on hex20. An
  // element's mass then has the rank of its points only, and M may be singular. For comparing frequencies
  // with CalculiX on the same mesh, nothing else. (hex8 and wedge6 have another stiffness than CalculiX'
  // C3D8I, which fails the patch test on distorted meshes, and C3D6, see stiffness_rule().)
  Calculix
};

// "consistent", "lumped", "calculix".
std::string_view name_of(MassKind kind);
std::optional<MassKind> mass_kind_from_name(std::string_view name);

// Elastic constants as the element kernels want them.
struct Elasticity {
  bool isotropic = true;
  double lambda = 0, mu = 0;  // Lame's constants [Pa], isotropic only
  // The tensor C_ikjl [Pa] at (i + 3 j, k + 3 l): a 3 by 3 block of the stiffness, column by column, is this
  // times sum g_a,k g_b,l, column by column.
  Eigen::Matrix<double, 9, 9> tensor = Eigen::Matrix<double, 9, 9>::Zero();
};
// Throws InputError like elasticity_matrix().
Elasticity elasticity(const Material& material);

// J = dx/dxi at one point (columns dx/dxi_k), its determinant, and det J / (|J_1| |J_2| |J_3|), which is zero
// where a coordinate is no number.
struct Jacobian {
  Eigen::Matrix3d J;
  double det, scaled;
  explicit Jacobian(const Eigen::Matrix3d& jacobian);
};

// The kernels of one element type with n nodes. They allocate nothing. Both return the smallest scaled
// Jacobian det J / (|J_1| |J_2| |J_3|) over the points used, J_k = dx/dxi_k: 1 for a brick, 0 for a flat
// element, negative for one turned inside out. Where it is not above jacobian_limit the result is not set.
template <ElementType type>
struct ElementKernel {
  static constexpr int n = node_count(type);
  using Points = Eigen::Matrix<double, 3, n>;             // the nodes' coordinates [m]
  using Stiffness = Eigen::Matrix<double, 3 * n, 3 * n>;  // [N/m], 3 degrees of freedom a node
  using Mass = Eigen::Matrix<double, n, n>;               // [kg]; the full matrix is this (x) I_3

  static double stiffness(const Points& x, const Elasticity& elasticity, Eigen::Ref<Stiffness> K);
  static double mass(const Points& x, double density, MassKind kind, Eigen::Ref<Mass> m);
};
inline constexpr double jacobian_limit = 1e-10;

// The incompatible modes of one hex8 under the displacements u of its nodes (24): mode m has the amplitude
// (amplitudes u)[3 m + d] in direction d, and its gradient at point p of stiffness_rule() is column m of
// gradients[p].
struct IncompatibleModes {
  Eigen::Matrix<double, 9, 24> amplitudes;
  std::array<Eigen::Matrix3d, 8> gradients;
};
// Allocates nothing; returns the smallest scaled Jacobian like the kernels.
double incompatible_modes(const ElementKernel<ElementType::Hex8>::Points& x, const Elasticity& elasticity,
                          IncompatibleModes& modes);

// Calls f.operator()<type>() for a type known at run time only.
template <class F>
decltype(auto) visit_element_type(ElementType type, F&& f) {
  switch (type) {
    case ElementType::Tet4:
      return f.template operator()<ElementType::Tet4>();
    case ElementType::Tet10:
      return f.template operator()<ElementType::Tet10>();
    case ElementType::Hex8:
      return f.template operator()<ElementType::Hex8>();
    case ElementType::Hex20:
      return f.template operator()<ElementType::Hex20>();
    case ElementType::Wedge6:
      return f.template operator()<ElementType::Wedge6>();
    default:
      return f.template operator()<ElementType::Wedge15>();
  }
}

// The same for a type known at run time; x is 3 by n. Throws Error where the Jacobian is not positive.
Eigen::MatrixXd element_stiffness(ElementType type, const Eigen::Matrix3Xd& x, const Material& material);
Eigen::MatrixXd element_mass(ElementType type, const Eigen::Matrix3Xd& x, double density, MassKind kind);

}  // namespace lissom

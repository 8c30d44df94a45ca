// Linear elastic materials.
#pragma once

#include <Eigen/Core>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "lissom/core/error.hpp"

namespace lissom {

// Isotropic elasticity: Young's modulus E [Pa], Poisson's ratio nu [-].
struct Isotropic {
  double E = 0;
  double nu = 0;
};

// Orthotropic elasticity in engineering constants along the material's axes 1, 2, 3: moduli E [Pa], shear
// moduli G [Pa], and nu_ij = -(strain along j) / (strain along i) under stress along i, so that nu_ij/E_i =
// nu_ji/E_j.
struct Orthotropic {
  double E1 = 0, E2 = 0, E3 = 0;
  double nu12 = 0, nu13 = 0, nu23 = 0;
  double G12 = 0, G13 = 0, G23 = 0;
  // Columns are the material's axes in mesh coordinates (orthonormal, right-handed).
  Eigen::Matrix3d axes = Eigen::Matrix3d::Identity();
};

// A material as a file or the user gives it; what is missing stays empty until somebody needs it.
struct Material {
  std::string name;
  std::optional<Isotropic> isotropic;  // at most one of the two is set
  std::optional<Orthotropic> orthotropic;
  std::optional<double> density;  // [kg/m3]
  SourcePos defined_at;           // for messages

  bool has_elasticity() const { return isotropic.has_value() || orthotropic.has_value(); }
};

// The 6 by 6 stiffness D [Pa] with stress = D strain, both in the order xx yy zz xy yz zx with engineering
// shear strains, in mesh coordinates. Throws InputError when constants are missing or D is not positive
// definite.
Eigen::Matrix<double, 6, 6> elasticity_matrix(const Material& material);

// "E=210e9,nu=0.288,rho=7829", or "E1=..,E2=..,E3=..,nu12=..,nu13=..,nu23=..,G12=..,G13=..,G23=..,rho=..".
// Throws InputError naming the key. rho may be left out.
Material parse_material(std::string_view text, std::string name = "given");

}  // namespace lissom

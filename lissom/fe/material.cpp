#include "lissom/fe/material.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include <cmath>
#include <vector>

#include "lissom/core/text.hpp"

namespace lissom {

namespace {

using Matrix6d = Eigen::Matrix<double, 6, 6>;

// the pair of directions behind each of the six components
constexpr int voigt[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {2, 0}};

// "file:line: material 'steel'" as the beginning of a message
std::string label(const Material& material) {
  const std::string where = to_string(material.defined_at);
  return fmt::format("{}{}material '{}'", where, where.empty() ? "" : ": ", material.name);
}

// D in Lame's constants; nu = 0.5 would make lambda infinite, nu = -1 mu
Matrix6d isotropic_matrix(const Material& material) {
  const auto [E, nu] = *material.isotropic;
  if (!(E > 0) || !std::isfinite(E))
    fail_input("{}: E = {} Pa, expected a positive Young's modulus", label(material), E);
  if (!(nu > -1 && nu < 0.5))
    fail_input("{}: nu = {}, expected Poisson's ratio between -1 and 0.5 (both excluded)", label(material),
               nu);
  const double mu = E / (2 * (1 + nu));
  const double lambda = E * nu / ((1 + nu) * (1 - 2 * nu));
  Matrix6d D = Matrix6d::Zero();
  D.topLeftCorner<3, 3>().setConstant(lambda);
  D.diagonal() << lambda + 2 * mu, lambda + 2 * mu, lambda + 2 * mu, mu, mu, mu;
  return D;
}

// D by inverting the compliance, which is where engineering constants stand, then turned into mesh axes
Matrix6d orthotropic_matrix(const Material& material) {
  const Orthotropic& o = *material.orthotropic;
  const std::pair<const char*, double> moduli[] = {{"E1", o.E1},   {"E2", o.E2},   {"E3", o.E3},
                                                   {"G12", o.G12}, {"G13", o.G13}, {"G23", o.G23}};
  for (const auto& [name, value] : moduli)
    if (!(value > 0) || !std::isfinite(value))
      fail_input("{}: {} = {} Pa, expected a positive modulus", label(material), name, value);
  // axes from a file may be rounded, but not skew or mirrored
  const double off_orthogonal = (o.axes.transpose() * o.axes - Eigen::Matrix3d::Identity()).norm();
  if (!(off_orthogonal < 1e-6) || o.axes.determinant() < 0)
    fail_input("{}: the material's axes are not orthonormal and right-handed (off by {:.2g})",
               label(material), off_orthogonal);

  // the compliance in the material's axes; it must be positive definite for the stiffness to be so
  Matrix6d S = Matrix6d::Zero();
  S.diagonal() << 1 / o.E1, 1 / o.E2, 1 / o.E3, 1 / o.G12, 1 / o.G23, 1 / o.G13;
  S(0, 1) = S(1, 0) = -o.nu12 / o.E1;
  S(0, 2) = S(2, 0) = -o.nu13 / o.E1;
  S(1, 2) = S(2, 1) = -o.nu23 / o.E2;
  const Eigen::LLT<Matrix6d> factor(S);
  if (factor.info() != Eigen::Success)
    fail_input(
        "{}: nu12 = {}, nu13 = {}, nu23 = {} with E1 = {}, E2 = {}, E3 = {} give a stiffness that is not "
        "positive definite; nu_ij is the strain along j under stress along i, so |nu12| < sqrt(E1/E2) and "
        "alike: were nu_ij and nu_ji exchanged?",
        label(material), o.nu12, o.nu13, o.nu23, o.E1, o.E2, o.E3);
  const Matrix6d C = factor.solve(Matrix6d::Identity());

  // engineering strains in the material's axes from those of the mesh: strain' = T strain, D = T^T C T
  Matrix6d T;
  for (int p = 0; p < 6; ++p) {
    const auto [a, b] = voigt[p];
    for (int q = 0; q < 6; ++q) {
      const auto [i, j] = voigt[q];
      // gamma = 2 epsilon on both sides: doubled rows for shear, halved columns for shear
      const double both = o.axes(i, a) * o.axes(j, b) + (i == j ? 0.0 : 1.0) * o.axes(j, a) * o.axes(i, b);
      T(p, q) = both * (a == b ? 1.0 : 2.0) * (i == j ? 1.0 : 0.5);
    }
  }
  const Matrix6d D = T.transpose() * C * T;
  return (D + D.transpose()) / 2;
}

}  // namespace

Eigen::Matrix<double, 6, 6> elasticity_matrix(const Material& material) {
  if (material.isotropic) return isotropic_matrix(material);
  if (material.orthotropic) return orthotropic_matrix(material);
  fail_input("{} has no elastic constants; give them with --material E=...,nu=...,rho=...", label(material));
}

Material parse_material(std::string_view text, std::string name) {
  Material material;
  material.name = std::move(name);
  Isotropic iso;
  Orthotropic ortho;
  double rho = 0;
  // all keys with the place of their value; the first three are the isotropic ones and rho
  struct Key {
    const char* name;
    double* value;
    bool found = false;
  };
  Key keys[] = {{"E", &iso.E},         {"nu", &iso.nu},     {"rho", &rho},         {"E1", &ortho.E1},
                {"E2", &ortho.E2},     {"E3", &ortho.E3},   {"nu12", &ortho.nu12}, {"nu13", &ortho.nu13},
                {"nu23", &ortho.nu23}, {"G12", &ortho.G12}, {"G13", &ortho.G13},   {"G23", &ortho.G23}};
  constexpr int first_ortho = 3;
  constexpr const char* usage =
      "expected E=..,nu=..,rho=.. or E1=..,E2=..,E3=..,nu12=..,nu13=..,nu23=..,G12=..,G13=..,G23=..,rho=..";

  // each item is key=value; a key may come once
  for (std::string_view item : split(text, ',')) {
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      fail_input("material '{}': '{}' is not key=value; {}", text, item, usage);
    const std::string_view key_name = trim(item.substr(0, equals));
    Key* key = nullptr;
    for (Key& k : keys)
      if (key_name == k.name) key = &k;
    if (!key) {
      std::vector<std::string> known;
      for (const Key& k : keys) known.emplace_back(k.name);
      const auto meant = closest(key_name, known);
      fail_input("material '{}': unknown key '{}'{}; {}", text, key_name,
                 meant ? fmt::format(", did you mean '{}'?", *meant) : "", usage);
    }
    if (key->found) fail_input("material '{}': key '{}' is given twice", text, key_name);
    const auto value = parse_double(item.substr(equals + 1));
    if (!value)
      fail_input("material '{}': {} = '{}' is not a number", text, key_name, trim(item.substr(equals + 1)));
    *key->value = *value;
    key->found = true;
  }

  // either law must be complete
  bool any_iso = keys[0].found || keys[1].found, any_ortho = false;
  for (size_t k = first_ortho; k < std::size(keys); ++k) any_ortho |= keys[k].found;
  if (any_iso && any_ortho)
    fail_input("material '{}' mixes the isotropic keys E, nu with orthotropic ones; {}", text, usage);
  if (!any_iso && !any_ortho) fail_input("material '{}' gives no elastic constant; {}", text, usage);
  const size_t from = any_ortho ? first_ortho : 0, to = any_ortho ? std::size(keys) : 2;
  for (size_t k = from; k < to; ++k)
    if (!keys[k].found) fail_input("material '{}' lacks {}; {}", text, keys[k].name, usage);
  if (any_ortho)
    material.orthotropic = ortho;
  else
    material.isotropic = iso;
  if (keys[2].found) {
    if (!(rho > 0)) fail_input("material '{}': rho = {} kg/m3, expected a positive density", text, rho);
    material.density = rho;
  }

  // refuse now what assembly would refuse later
  elasticity_matrix(material);
  return material;
}

}  // namespace lissom

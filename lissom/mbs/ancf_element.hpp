// The beam element of the absolute nodal coordinate formulation (ANCF), Euler-Bernoulli, planar (paper 004)
// and spatial (a cable: no torsion, the same bending stiffness in all directions).
//
// Notation: D = 2 or 3; l the length at rest; e (4 D) = (r_1, r_1', r_2, r_2') positions and slopes d/dx of
// the two nodes in the global frame; xi = x/l in [0, 1];
//   r = s_1 r_1 + s_2 r_1' + s_3 r_2 + s_4 r_2',  s = (1 - 3 xi^2 + 2 xi^3, l (xi - 2 xi^2 + xi^3),
//                                                      3 xi^2 - 2 xi^3, l (xi^3 - xi^2)).
// Strain energy: int (EA eps^2 + EI k^2) / 2 dx with
//   eps = (r'.r' - 1)/2 (Green) or |r'| - 1 (engineering),
//   k^2 = r''.r'' (second derivative: the paper's) or |r' x r''|^2 / |r'|^4 (material curvature).
// Stiffness-proportional damping takes out the power beta int (EA (d eps/dt)^2 + EI (dk/dt)^2) dx, (dk/dt)^2
// being |d r''/dt|^2 for the second derivative (so that it also brakes the turning of a bent beam) and
// |d kappa/dt|^2 of kappa = r' x r'' / |r'|^2 in the beam's own axes for the material curvature.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lissom {

enum class AxialStrain : std::uint8_t { Green, Engineering };
enum class BendingStrain : std::uint8_t { SecondDerivative, MaterialCurvature };
const std::vector<std::pair<std::string, AxialStrain>>& axial_strain_names();      // "green", "engineering"
const std::vector<std::pair<std::string, BendingStrain>>& bending_strain_names();  // "second-derivative",
                                                                                   // "material-curvature"
struct AncfLaw {
  AxialStrain axial = AxialStrain::Green;
  BendingStrain bending = BendingStrain::SecondDerivative;
  // the elastic energy is a polynomial of fourth order in the coordinates
  bool polynomial() const {
    return axial == AxialStrain::Green && bending == BendingStrain::SecondDerivative;
  }
};

// What an element is made of.
struct AncfProperties {
  double length = 0;   // l [m]
  double EA = 0;       // [N]
  double EI = 0;       // [N m2]
  double mass = 0;     // per length [kg/m]
  double damping = 0;  // beta [s]
};

// Values of s, s' = ds/dx and s'' at xi.
Eigen::Vector4d ancf_shape(double xi, double l);
Eigen::Vector4d ancf_shape_slope(double xi, double l);
Eigen::Vector4d ancf_shape_curvature(double xi, double l);

// Gauss points of an element, on [0, 1], weights summing to one: `axial` integrates eps^2 of Green's strain
// exactly (5 points); `bending` that of r''.r'' exactly, and the material curvature to sixth order (3 points:
// see the source).
struct GaussPoint {
  double xi = 0, weight = 0;
};
std::span<const GaussPoint> ancf_axial_points();
std::span<const GaussPoint> ancf_bending_points(const AncfLaw& law);

// Energy density at one point and its derivatives, for sampled evaluation (ECSW) and for tests.
// x = (r', r'') (2 D): value = (EA eps^2)/2 if `axial`, (EI k^2)/2 otherwise; gradient (2 D); hessian
// (2 D by 2 D), may be null.
template <int D>
double ancf_density(const AncfLaw& law, bool axial, double stiffness,
                    const Eigen::Matrix<double, 2 * D, 1>& x, Eigen::Matrix<double, 2 * D, 1>& gradient,
                    Eigen::Matrix<double, 2 * D, 2 * D>* hessian);

// Consistent mass matrix of an element (4 by 4, times the identity of R^D): rho A int s s' dx.
Eigen::Matrix4d ancf_mass(const AncfProperties& p);
// Bending stiffness of the second-derivative law (4 by 4, times the identity): EI int s'' s'''  dx.
Eigen::Matrix4d ancf_bending_stiffness(const AncfProperties& p);

// One element: energy, force = dU/de (4 D) and tangent d2U/de2 (4 D by 4 D; may be null); for tests, small
// things and as what the vectorised loops of AncfBody are compared with.
template <int D>
double ancf_elastic(const AncfLaw& law, const AncfProperties& p, const Eigen::Matrix<double, 4 * D, 1>& e,
                    Eigen::Matrix<double, 4 * D, 1>& force, Eigen::Matrix<double, 4 * D, 4 * D>* tangent);
// Damping forces (4 D), their derivatives with respect to e and e' (may be null); returns the power [W].
template <int D>
double ancf_damping(const AncfLaw& law, const AncfProperties& p, const Eigen::Matrix<double, 4 * D, 1>& e,
                    const Eigen::Matrix<double, 4 * D, 1>& rate, Eigen::Matrix<double, 4 * D, 1>& force,
                    Eigen::Matrix<double, 4 * D, 4 * D>* by_e, Eigen::Matrix<double, 4 * D, 4 * D>* by_rate);

}  // namespace lissom

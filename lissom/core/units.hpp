// Consistent unit systems. Every one is given by its units of length, mass and time; all others follow, so
// that there is no table of stresses or densities to get wrong. Angles are in radians everywhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lissom/core/error.hpp"

namespace lissom {

// [m] and [N], both exact by definition.
inline constexpr double inch = 0.0254;
inline constexpr double pound_force = 4.4482216152605;

// Factors from the system's unit to SI's: a length of 1 is `length` metres, and so on.
struct UnitSystem {
  std::string name = "SI";
  double length = 1;  // [m]
  double mass = 1;    // [kg]
  double time = 1;    // [s]

  double force() const { return mass * length / (time * time); }        // [N]
  double stress() const { return mass / (length * time * time); }       // [Pa]
  double density() const { return mass / (length * length * length); }  // [kg/m3]
  double frequency() const { return 1 / time; }                         // [Hz, rad/s]

  // Entries of K and M between two degrees of freedom, of which `rotations` (0, 1 or 2) are rotations:
  // forces per displacement [N/m], forces per angle or moments per displacement [N], moments per angle [N m];
  // correspondingly [kg], [kg m], [kg m2].
  double stiffness(int rotations) const;
  double mass_entry(int rotations) const;
};

// The known systems in the order in which they are listed to the user:
//   SI            m, kg, s      N, Pa, kg/m3       ("m-kg-s" is the same)
//   mm-t-s        mm, t, s      N, MPa, t/mm3      what most FE models in millimetres use
//   mm-kg-ms      mm, kg, ms    kN, GPa, kg/mm3    usual in crash
//   mm-g-ms       mm, g, ms     N, MPa, g/mm3
//   mm-kg-s       mm, kg, s     mN, kPa, kg/mm3    CAD systems' default
//   cm-g-s        cm, g, s      dyn, barye, g/cm3
//   in-lbf-s      in, lbf s2/in, s    lbf, psi     mass unit 175.127 kg ("slinch")
//   ft-lbf-s      ft, lbf s2/ft, s    lbf, psf     mass unit 14.5939 kg (slug)
const std::vector<UnitSystem>& unit_systems();

// The system of that name, in whatever case. Throws InputError with the nearest name and the list.
UnitSystem parse_unit_system(std::string_view name);

}  // namespace lissom

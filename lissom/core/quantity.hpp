// Numbers with units as a user writes them: "26 mm", "210 GPa", "9.81 m/s^2", "30 deg".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lissom/core/error.hpp"
#include "lissom/core/units.hpp"

namespace lissom {

// What a number measures: powers of length, mass, time, angle, and of whole turns (Hz is a turn per second,
// which is not a radian per second).
struct Dimension {
  int length = 0, mass = 0, time = 0, angle = 0, turns = 0;
  // The unit of plain numbers in SI units, where it is not that of the study: 1 of what is always in SI units
  // or Hz, pi/180 of degrees; 0: the study's.
  double fixed = 0;

  bool operator==(const Dimension&) const = default;
  bool none() const { return *this == Dimension(); }
  // What 1 is in SI units (and radians), in a system of units.
  double unit(const UnitSystem& system) const;
};

namespace dimensions {
inline constexpr double degree = 3.14159265358979323846 / 180;
inline constexpr Dimension none{};
inline constexpr Dimension length{.length = 1};
inline constexpr Dimension area{.length = 2};
inline constexpr Dimension second_moment{.length = 4};
inline constexpr Dimension mass{.mass = 1};
inline constexpr Dimension time{.time = 1};
inline constexpr Dimension seconds{.time = 1, .fixed = 1};
inline constexpr Dimension hertz{.time = -1, .turns = 1, .fixed = 1};
inline constexpr Dimension rate{.time = -1};
inline constexpr Dimension per_second{.time = -1, .fixed = 1};
inline constexpr Dimension angle{.angle = 1, .fixed = 1};
inline constexpr Dimension degrees{.angle = 1, .fixed = degree};
inline constexpr Dimension velocity{.length = 1, .time = -1};
inline constexpr Dimension acceleration{.length = 1, .time = -2};
inline constexpr Dimension angular_velocity{.time = -1, .angle = 1};
inline constexpr Dimension force{.length = 1, .mass = 1, .time = -2};
inline constexpr Dimension torque{.length = 2, .mass = 1, .time = -2};
inline constexpr Dimension stress{.length = -1, .mass = 1, .time = -2};
inline constexpr Dimension density{.length = -3, .mass = 1};
inline constexpr Dimension inertia{.length = 2, .mass = 1};
inline constexpr Dimension stiffness{.mass = 1, .time = -2};
inline constexpr Dimension damping{.mass = 1, .time = -1};
inline constexpr Dimension torsion_stiffness{.length = 2, .mass = 1, .time = -2, .angle = -1};
inline constexpr Dimension torsion_damping{.length = 2, .mass = 1, .time = -1, .angle = -1};
}  // namespace dimensions

// "a length", "a force", and what a user may write: "mm, m, in".
std::string_view name_of(const Dimension& dimension);
std::string_view units_for(const Dimension& dimension);

struct Quantity {
  double value = 0;  // in SI units and radians
  Dimension dimension;
  std::string number, unit;  // as written
};

// A number with a unit behind it: units joined by * (or a blank, or a dot) and /, with powers (m^2, m2).
// Nothing where the text is no number followed by something. Throws InputError: a unit that is not known,
// with a suggestion, or a number too large. Without `quotient`, "1/t" is none: it may be an expression.
std::optional<Quantity> parse_quantity(std::string_view text, bool quotient = true);

// The number in a system of units. Throws InputError where it measures something else: what was found, and
// units that would do. Where the key has an angle in it, "1/s" will do for "rad/s".
double in_units(const Quantity& quantity, const Dimension& wanted, const UnitSystem& system);

}  // namespace lissom

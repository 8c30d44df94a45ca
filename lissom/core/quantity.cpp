#include "lissom/core/quantity.hpp"

#include <cmath>
#include <vector>

#include "lissom/core/text.hpp"

namespace lissom {

namespace {

struct Unit {
  std::string name;
  double value;  // in SI units
  Dimension dimension;
};

namespace d = dimensions;

constexpr double pound = 0.45359237;

// Angles are measured here without a fixed unit.
constexpr Dimension turn_of_angle{.angle = 1};
constexpr Dimension cycles{.time = -1, .turns = 1};

const std::vector<Unit>& units() {
  static const std::vector<Unit> list = [] {
    std::vector<Unit> u = {
        {"m", 1, d::length},
        {"km", 1e3, d::length},
        {"dm", 0.1, d::length},
        {"cm", 1e-2, d::length},
        {"mm", 1e-3, d::length},
        {"um", 1e-6, d::length},
        {"µm", 1e-6, d::length},
        {"nm", 1e-9, d::length},
        {"in", inch, d::length},
        {"ft", 12 * inch, d::length},
        {"kg", 1, d::mass},
        {"g", 1e-3, d::mass},
        {"mg", 1e-6, d::mass},
        {"t", 1e3, d::mass},
        {"lb", pound, d::mass},
        {"slug", pound_force / (12 * inch), d::mass},
        {"s", 1, d::time},
        {"ms", 1e-3, d::time},
        {"us", 1e-6, d::time},
        {"µs", 1e-6, d::time},
        {"ns", 1e-9, d::time},
        {"min", 60, d::time},
        {"h", 3600, d::time},
        {"N", 1, d::force},
        {"mN", 1e-3, d::force},
        {"kN", 1e3, d::force},
        {"MN", 1e6, d::force},
        {"lbf", pound_force, d::force},
        {"dyn", 1e-5, d::force},
        {"Nm", 1, d::torque},
        {"kNm", 1e3, d::torque},
        {"Nmm", 1e-3, d::torque},
        {"J", 1, d::torque},
        {"Pa", 1, d::stress},
        {"kPa", 1e3, d::stress},
        {"MPa", 1e6, d::stress},
        {"GPa", 1e9, d::stress},
        {"bar", 1e5, d::stress},
        {"psi", pound_force / (inch * inch), d::stress},
        {"ksi", 1e3 * pound_force / (inch * inch), d::stress},
        {"rad", 1, turn_of_angle},
        {"mrad", 1e-3, turn_of_angle},
        {"deg", d::degree, turn_of_angle},
        {"°", d::degree, turn_of_angle},
        {"rpm", 360 * d::degree / 60, {.time = -1, .angle = 1}},
        {"Hz", 1, cycles},
        {"kHz", 1e3, cycles},
        {"%", 1e-2, d::none},
        {"1", 1, d::none},
    };
    return u;
  }();
  return list;
}

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
}

struct Power {
  std::string_view text;
  int value;
};

const Unit& find_unit(std::string_view name, std::string_view text) {
  std::vector<std::string> names;
  for (const Unit& unit : units()) {
    if (unit.name == name) return unit;
    names.push_back(unit.name);
  }
  for (const Unit& unit : units())
    if (iequals(unit.name, name))
      fail_input("'{}': there is no unit '{}' (did you mean '{}'?)", text, name, unit.name);
  fail_input("'{}': there is no unit '{}'{}; there are: {}", text, name, did_you_mean(name, names),
             fmt::join(names, ", "));
}

// "m/s^2", "kg m2", "N*s/mm" into the quantity.
void apply_units(std::string_view unit, std::string_view text, Quantity& quantity) {
  int sign = 1;
  bool expects_unit = true;
  for (size_t i = 0; i < unit.size();) {
    const char c = unit[i];
    if (c == ' ') {
      ++i;
      continue;
    }
    if (c == '*' || c == '/' || c == '.') {
      if (expects_unit && !(c == '/' && i == 0)) fail_input("'{}': '{}' where a unit is expected", text, c);
      sign = c == '/' ? -1 : sign;
      // a / binds what comes next only: N/m*s is (N/m) s
      if (c != '/') sign = 1;
      expects_unit = true;
      ++i;
      continue;
    }
    size_t end = i;
    const bool one = c == '1' || c == '%';
    if (one) ++end;
    while (!one && end < unit.size() && is_letter(unit[end])) {
      // superscripts are powers
      const std::string_view rest = unit.substr(end);
      if (rest.starts_with("²") || rest.starts_with("³")) break;
      ++end;
    }
    if (end == i) fail_input("'{}': '{}' where a unit is expected", text, unit.substr(i));
    if (!expects_unit) sign = 1;
    const Unit& found = find_unit(unit.substr(i, end - i), text);
    i = end;
    int power = 1;
    static const std::vector<Power> powers = {{"²", 2}, {"³", 3}};
    for (const Power& p : powers)
      if (unit.substr(i).starts_with(p.text)) {
        power = p.value;
        i += p.text.size();
      }
    const bool caret = i < unit.size() && unit[i] == '^';
    if (caret) ++i;
    int direction = 1;
    if (caret && i < unit.size() && unit[i] == '-') {
      direction = -1;
      ++i;
    }
    if (i < unit.size() && unit[i] >= '1' && unit[i] <= '9') {
      power = direction * (unit[i] - '0');
      ++i;
    } else if (caret) {
      fail_input("'{}': expected a power from 1 to 9 behind '^'", text);
    }
    const int n = sign * power;
    quantity.value *= std::pow(found.value, n);
    quantity.dimension.length += n * found.dimension.length;
    quantity.dimension.mass += n * found.dimension.mass;
    quantity.dimension.time += n * found.dimension.time;
    quantity.dimension.angle += n * found.dimension.angle;
    quantity.dimension.turns += n * found.dimension.turns;
    expects_unit = false;
    sign = 1;
  }
  if (expects_unit) fail_input("'{}': a unit is expected at the end", text);
}

// Which of those that have a name this is; fixed units do not matter.
struct Named {
  Dimension dimension;
  std::string_view name, units;
};

const std::vector<Named>& named() {
  static const std::vector<Named> list = {
      {d::none, "a plain number", "none, or %"},
      {d::length, "a length", "mm, m, in"},
      {d::area, "an area", "mm^2, m^2"},
      {d::second_moment, "a second moment of area", "mm^4, m^4"},
      {d::mass, "a mass", "kg, g, t"},
      {d::time, "a time", "s, ms"},
      {d::hertz, "a frequency", "Hz, kHz"},
      {d::rate, "a rate", "1/s"},
      {d::angle, "an angle", "deg, rad"},
      {d::velocity, "a velocity", "m/s, mm/s"},
      {d::acceleration, "an acceleration", "m/s^2, mm/s^2"},
      {d::angular_velocity, "an angular velocity", "rad/s, deg/s, rpm"},
      {d::force, "a force", "N, kN"},
      {d::torque, "a torque", "N*m, N*mm"},
      {d::stress, "a stress", "Pa, MPa, GPa"},
      {d::density, "a density", "kg/m^3, t/mm^3"},
      {d::inertia, "a moment of inertia", "kg*m^2"},
      {d::stiffness, "a stiffness", "N/m, N/mm"},
      {d::damping, "a damping constant", "N*s/m"},
      {d::torsion_stiffness, "a torsional stiffness", "N*m/rad, N*m/deg"},
      {d::torsion_damping, "a torsional damping constant", "N*m*s/rad"},
  };
  return list;
}

bool same_powers(const Dimension& a, const Dimension& b) {
  return a.length == b.length && a.mass == b.mass && a.time == b.time && a.turns == b.turns;
}

const Named* find_named(const Dimension& dimension) {
  for (const Named& entry : named())
    if (same_powers(entry.dimension, dimension) && entry.dimension.angle == dimension.angle) return &entry;
  return nullptr;
}

}  // namespace

double Dimension::unit(const UnitSystem& system) const {
  if (fixed != 0) return fixed;
  return std::pow(system.length, length) * std::pow(system.mass, mass) * std::pow(system.time, time);
}

std::string_view name_of(const Dimension& dimension) {
  const Named* entry = find_named(dimension);
  return entry ? entry->name : "something else";
}

std::string_view units_for(const Dimension& dimension) {
  const Named* entry = find_named(dimension);
  return entry ? entry->units : "";
}

std::optional<Quantity> parse_quantity(std::string_view text, bool quotient) {
  const std::string_view all = trim(text);
  // the longest beginning that is a number
  size_t end = 0;
  const auto digits = [&] {
    const size_t begin = end;
    while (end < all.size() && std::isdigit(static_cast<unsigned char>(all[end])) != 0) ++end;
    return end > begin;
  };
  if (end < all.size() && (all[end] == '-' || all[end] == '+')) ++end;
  bool any = digits();
  if (end < all.size() && all[end] == '.') {
    ++end;
    any = digits() || any;
  }
  if (!any) return std::nullopt;
  if (end < all.size() && (all[end] == 'e' || all[end] == 'E')) {
    const size_t before = end;
    ++end;
    if (end < all.size() && (all[end] == '-' || all[end] == '+')) ++end;
    if (!digits()) end = before;
  }
  const std::string_view unit = trim(all.substr(end));
  if (unit.empty() || !(is_letter(unit[0]) || unit[0] == '/' || unit[0] == '%' || unit.starts_with("1/")))
    return std::nullopt;
  // what goes on like an expression is one
  if (unit[0] == '/' && (!quotient || unit.size() < 2 || !is_letter(unit[1]))) return std::nullopt;
  if (unit.find('(') != std::string_view::npos) return std::nullopt;
  Quantity quantity;
  quantity.number = std::string(all.substr(0, end));
  quantity.unit = std::string(unit);
  const std::string plain = quantity.number.starts_with('+') ? quantity.number.substr(1) : quantity.number;
  const auto number = parse_double(plain);
  if (!number || !std::isfinite(*number)) fail_input("'{}': is no number that can be used", all);
  quantity.value = *number;
  apply_units(unit, all, quantity);
  return quantity;
}

double in_units(const Quantity& quantity, const Dimension& wanted, const UnitSystem& system) {
  const Dimension& found = quantity.dimension;
  const bool angle = found.angle == wanted.angle || found.angle == 0;
  if (!same_powers(found, wanted) || !angle ||
      (wanted.length == 0 && wanted.mass == 0 && wanted.time == 0 && wanted.angle != 0 && found.angle == 0)) {
    const Named* is = find_named(found);
    fail_input("\"{} {}\" is {}, expected {} (in {})", quantity.number, quantity.unit,
               is ? is->name : "measured in something else", name_of(wanted), units_for(wanted));
  }
  return quantity.value / wanted.unit(system);
}

}  // namespace lissom

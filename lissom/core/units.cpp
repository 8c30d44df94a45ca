#include "lissom/core/units.hpp"

#include "lissom/core/text.hpp"

namespace lissom {

double UnitSystem::stiffness(int rotations) const {
  LISSOM_ASSERT(rotations >= 0 && rotations <= 2);
  double factor = mass / (time * time);
  for (int i = 0; i < rotations; ++i) factor *= length;
  return factor;
}

double UnitSystem::mass_entry(int rotations) const {
  LISSOM_ASSERT(rotations >= 0 && rotations <= 2);
  double factor = mass;
  for (int i = 0; i < rotations; ++i) factor *= length;
  return factor;
}

const std::vector<UnitSystem>& unit_systems() {
  static const std::vector<UnitSystem> systems = {
      {"SI", 1, 1, 1},
      {"mm-t-s", 1e-3, 1e3, 1},
      {"mm-kg-ms", 1e-3, 1, 1e-3},
      {"mm-g-ms", 1e-3, 1e-3, 1e-3},
      {"mm-kg-s", 1e-3, 1, 1},
      {"cm-g-s", 1e-2, 1e-3, 1},
      {"in-lbf-s", inch, pound_force / inch, 1},
      {"ft-lbf-s", 12 * inch, pound_force / (12 * inch), 1},
  };
  return systems;
}

UnitSystem parse_unit_system(std::string_view name) {
  const std::string_view wanted = iequals(trim(name), "m-kg-s") ? "SI" : trim(name);
  std::vector<std::string> names;
  for (const UnitSystem& system : unit_systems()) {
    if (iequals(system.name, wanted)) return system;
    names.push_back(system.name);
  }
  fail_input("unknown unit system '{}'{}; known are {}", name, did_you_mean(wanted, names),
             fmt::join(names, ", "));
}

}  // namespace lissom

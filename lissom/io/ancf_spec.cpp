#include "lissom/io/ancf_spec.hpp"

#include <cmath>
#include <numbers>

#include "lissom/core/text.hpp"
#include "lissom/io/simulation_spec.hpp"
#include "lissom/io/toml_table.hpp"

namespace lissom {

using Eigen::Vector3d;

namespace {

constexpr long most_elements = 1000000;
// of lengths, relative
constexpr double flatness = 1e-9;

// [x, y] or [x, y, z]
Vector3d read_point(TomlTable& table, const char* key, double unit) {
  const auto numbers = table.numbers(key);
  if (!numbers) {
    if (!table.has(key)) table.problem(key, "is missing: where the beam's axis is at the start, [x, y, z]");
    return Vector3d::Constant(std::nan(""));
  }
  if (numbers->size() != 2 && numbers->size() != 3) {
    table.problem(key, fmt::format("expected [x, y] or [x, y, z], found {} number{}", numbers->size(),
                                   numbers->size() == 1 ? "" : "s"));
    return Vector3d::Constant(std::nan(""));
  }
  return Vector3d((*numbers)[0], (*numbers)[1], numbers->size() == 3 ? (*numbers)[2] : 0) * unit;
}

// A positive number, or nothing with a problem noted unless the key is absent.
std::optional<double> positive(TomlTable& table, const char* key) {
  const auto number = table.number(key);
  if (number && !(*number > 0)) {
    table.problem(key, fmt::format("is {}, expected a positive number", *number));
    return std::nullopt;
  }
  return number;
}

// Area and second moment of area.
void read_section(TomlTable& table, double unit, AncfSpec& spec) {
  const char* kinds = "{ circle = DIAMETER }, { rectangle = [WIDTH, HEIGHT] } or { area = .., inertia = .. }";
  auto section = table.table("section");
  if (!section) {
    if (!table.has("section")) table.problem("section", fmt::format("is missing: {}", kinds));
    return;
  }
  const bool circle = section->has("circle"), rectangle = section->has("rectangle"),
             given = section->has("area") || section->has("inertia");
  if (const auto d = positive(*section, "circle")) {
    spec.area = std::numbers::pi * std::pow(*d * unit, 2) / 4;
    spec.inertia = std::numbers::pi * std::pow(*d * unit, 4) / 64;
  }
  if (const auto sides = section->numbers("rectangle")) {
    const bool good = sides->size() == 2 && (*sides)[0] > 0 && (*sides)[1] > 0;
    if (!good) {
      section->problem("rectangle", "expected [width, height], two positive numbers");
    } else {
      const double width = (*sides)[0] * unit, height = (*sides)[1] * unit;
      spec.area = width * height;
      spec.inertia = width * std::pow(height, 3) / 12;
      if (spec.dimension == 3 && std::abs(width - height) > flatness * height)
        section->problem("rectangle",
                         fmt::format("is {} by {}, but a beam in space (dimension = 3) has the same bending "
                                     "stiffness in all directions: make it square, give area and inertia, or "
                                     "take dimension = 2",
                                     (*sides)[0], (*sides)[1]));
    }
  }
  const auto area = positive(*section, "area"), inertia = positive(*section, "inertia");
  if (given) {
    for (const char* key : {"area", "inertia"})
      if (!section->has(key)) section->problem(key, "is missing: area and inertia go together");
    spec.area = area.value_or(0) * unit * unit;
    spec.inertia = inertia.value_or(0) * std::pow(unit, 4);
  }
  section->finish();
  if (circle + rectangle + given != 1)
    section->problem_here(fmt::format("exactly one is expected: {}", kinds));
}

// young and density, or material = { E, rho }; the density is not needed where the mass is given.
void read_stuff(TomlTable& table, const UnitSystem& units, AncfSpec& spec, double& density) {
  auto young = positive(table, "young");
  auto rho = positive(table, "density");
  if (auto material = table.table("material")) {
    for (const char* key : {"young", "density"})
      if (table.has(key))
        table.problem(key, fmt::format("is said by material ({}) already: leave out one of the two",
                                       key[0] == 'y' ? "E" : "rho"));
    young = positive(*material, "E");
    rho = positive(*material, "rho");
    if (!material->has("E")) material->problem("E", "is missing");
    // of no use to a beam without torsion and shear, but materials have them
    material->number("nu");
    material->text("name");
    material->finish();
  } else if (!table.has("young") && !table.has("material")) {
    table.problem("young", "is missing: Young's modulus, young = .., or material = { E = .., rho = .. }");
  }
  spec.young = young.value_or(0) * units.stress();
  density = rho.value_or(0) * units.density();
}

}  // namespace

int AncfSpec::node_of(const std::string& place) const {
  if (place == "start") return 0;
  if (place == "end") return beam.elements;
  const std::vector<std::int64_t> ids = node_numbers(place);
  if (ids.size() != 1 || ids[0] < 1 || ids[0] > nodes()) return -1;
  return static_cast<int>(ids[0]) - 1;
}

AncfSpec read_ancf_spec(TomlTable& table, const std::string& name, const UnitSystem& units,
                        const Vector3d& velocity, const Vector3d& angular_velocity) {
  AncfSpec spec;
  spec.where = table.where();
  AncfBeam& beam = spec.beam;
  beam.name = name;
  if (const auto dimension = table.integer("dimension")) {
    spec.dimension = static_cast<int>(*dimension);
    if (*dimension != 2 && *dimension != 3) {
      table.problem("dimension", fmt::format("is {}, expected 2 (in the plane) or 3 (in space)", *dimension));
      spec.dimension = 3;
    }
  }
  const auto elements = table.integer("elements");
  if (!elements) {
    if (!table.has("elements")) table.problem("elements", "is missing: their number, 1 or more");
  } else if (*elements < 1 || *elements > most_elements) {
    table.problem("elements", fmt::format("is {}, expected 1 to {}", *elements, most_elements));
  } else {
    beam.elements = static_cast<int>(*elements);
  }
  beam.from = read_point(table, "from", units.length);
  beam.to = read_point(table, "to", units.length);
  const double length = spec.length();
  const double size = std::max({beam.from.norm(), beam.to.norm(), length});
  if (std::isfinite(length)) {
    if (!(length > 1e-14 * size))
      table.problem("to", "is where 'from' is, so that the beam and its elements have no length");
    else if (spec.dimension == 2 && std::abs(beam.to.z() - beam.from.z()) > flatness * length)
      table.problem("to",
                    fmt::format("has z = {:.6g} and 'from' z = {:.6g}, but a planar beam (dimension = 2) "
                                "lies in a plane of constant z: make them the same, or take dimension = 3",
                                beam.to.z() / units.length, beam.from.z() / units.length));
  }

  beam.velocity = velocity;
  beam.angular_velocity = angular_velocity;
  if (spec.dimension == 2 && velocity.z() != 0)
    table.problem("velocity", "has a z component, and a planar beam (dimension = 2) moves in its plane");
  if (spec.dimension == 2 && (angular_velocity.x() != 0 || angular_velocity.y() != 0))
    table.problem("angular_velocity", "is not about z, and a planar beam (dimension = 2) turns about z only");

  read_section(table, units.length, spec);
  double density = 0;
  read_stuff(table, units, spec, density);
  const auto mass = positive(table, "mass");
  if (mass && density > 0)
    table.problem("mass", "is the whole mass and takes the place of the density: give one of the two");
  if (!table.has("mass") && !table.has("density") && !(density > 0))
    table.problem("density", "is missing: give the density (rho of material), or the whole mass, mass = ..");
  beam.properties.EA = spec.young * spec.area;
  beam.properties.EI = spec.young * spec.inertia;
  beam.properties.mass = mass ? *mass * units.mass / length : density * spec.area;

  table.choice(std::string_view("axial"), axial_strain_names(), spec.law.axial);
  table.choice(std::string_view("bending"), bending_strain_names(), spec.law.bending);
  if (auto damping = table.table("damping")) {
    const auto beta = damping->number("beta");
    if (!damping->has("beta"))
      damping->problem("beta",
                       "is missing: a beam's damping is proportional to its stiffness, { beta = .. }");
    else if (beta && !(*beta >= 0))
      damping->problem("beta", fmt::format("is {}, expected 0 or more", *beta));
    damping->finish();
    beam.properties.damping = beta.value_or(0) * units.time;
  }
  return spec;
}

const std::vector<std::string>& ancf_keys() {
  static const std::vector<std::string> keys = {"from",  "to",    "elements", "dimension", "section",
                                                "young", "axial", "bending",  "damping",   "density"};
  return keys;
}

}  // namespace lissom

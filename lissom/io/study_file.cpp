#include "lissom/io/study_file.hpp"

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <fmt/ranges.h>

#include <sstream>

#include "lissom/core/text.hpp"
#include "lissom/io/toml_table.hpp"

namespace lissom {

namespace {

void read_units(TomlTable& table, UnitSystem& units) {
  if (const auto name = table.text("units")) {
    try {
      units = parse_unit_system(*name);
    } catch (const InputError& e) {
      table.problem("units", e.what());
    }
  }
}

Material read_material(TomlTable table) {
  Material material;
  material.name = table.text("name").value_or("given");
  material.defined_at = table.where();
  const auto positive = [&](const char* key, double& value) {
    const auto number = table.number(key);
    if (!number) {
      if (!table.has(key)) table.problem(key, "is missing");
      return;
    }
    if (!(*number > 0)) table.problem(key, fmt::format("is {}, expected a positive number", *number));
    value = *number;
  };
  if (table.has("E1")) {
    Orthotropic o;
    positive("E1", o.E1), positive("E2", o.E2), positive("E3", o.E3);
    positive("G12", o.G12), positive("G13", o.G13), positive("G23", o.G23);
    o.nu12 = table.number("nu12").value_or(0);
    o.nu13 = table.number("nu13").value_or(0);
    o.nu23 = table.number("nu23").value_or(0);
    const auto e1 = table.vector3("axis1"), e2 = table.vector3("axis2");
    if (e1 && e2) {
      // axis 1 as given, axis 2 made normal to it, axis 3 to both
      const Eigen::Vector3d a = e1->normalized(), b = (*e2 - a * a.dot(*e2)).normalized();
      o.axes << a, b, a.cross(b);
      if (!(o.axes.determinant() > 0.5)) table.problem("axis2", "is parallel to axis1 or zero");
    } else if (e1 || e2) {
      table.problem(e1 ? "axis1" : "axis2", "axis1 and axis2 are to be given together");
    }
    material.orthotropic = o;
  } else {
    Isotropic i;
    positive("E", i.E);
    if (const auto nu = table.number("nu")) {
      i.nu = *nu;
      if (!(i.nu > -1 && i.nu < 0.5)) table.problem("nu", fmt::format("is {}, expected -1 < nu < 0.5", i.nu));
    } else if (!table.has("nu")) {
      table.problem("nu", "is missing");
    }
    material.isotropic = i;
  }
  double rho = 0;
  positive("rho", rho);
  material.density = rho;
  table.finish();
  return material;
}

NodeSelection read_selection(TomlTable& table) {
  NodeSelection selection = NodeIds{};
  int given = 0;
  if (const auto ids = table.integers("nodes")) {
    selection = NodeIds{{ids->begin(), ids->end()}};
    ++given;
  }
  if (const auto set = table.text("set")) {
    selection = NodeSetName{*set};
    ++given;
  }
  if (auto cylinder = table.table("cylinder")) {
    CylinderSelection c;
    if (const auto point = cylinder->vector3("point"))
      c.point = *point;
    else if (!cylinder->has("point"))
      cylinder->problem("point", "is missing (a point on the axis)");
    if (const auto axis = cylinder->vector3("axis"))
      c.axis = *axis;
    else if (!cylinder->has("axis"))
      cylinder->problem("axis", "is missing (the axis' direction)");
    const auto radius = cylinder->number("radius");
    if (!radius && !cylinder->has("radius")) cylinder->problem("radius", "is missing");
    // the wall of a bore, unless the whole inside is asked for
    const double r = radius.value_or(0), tolerance = cylinder->number("tolerance").value_or(0.01 * r);
    c.radius_min = cylinder->boolean("inside").value_or(false) ? 0 : r - tolerance;
    c.radius_max = r + tolerance;
    if (const auto from = cylinder->number("from")) c.axial_min = *from;
    if (const auto to = cylinder->number("to")) c.axial_max = *to;
    cylinder->finish();
    selection = c;
    ++given;
  }
  if (auto box = table.table("box")) {
    BoxSelection b{Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero()};
    for (const char* key : {"min", "max"}) {
      const auto corner = box->vector3(key);
      if (corner)
        (key[1] == 'i' ? b.lower : b.upper) = *corner;
      else if (!box->has(key))
        box->problem(key, "is missing");
    }
    box->finish();
    selection = b;
    ++given;
  }
  if (given != 1)
    table.problem(
        given == 0 ? "set" : "nodes",
        "exactly one of nodes = [ids], set = \"name\", cylinder = {...} and box = {...} is expected");
  return selection;
}

SpiderSpec read_spider(TomlTable table) {
  SpiderSpec spider;
  spider.where = table.where();
  if (const auto name = table.text("name"))
    spider.name = *name;
  else
    table.problem("name", "is missing");
  table.choice<Spider::Kind>("kind",
                             {{"rigid", Spider::Kind::Rigid},
                              {"averaging", Spider::Kind::Averaging},
                              {"RBE2", Spider::Kind::Rigid},
                              {"RBE3", Spider::Kind::Averaging}},
                             spider.kind);
  spider.nodes = read_selection(table);
  spider.reference = table.vector3("reference");
  table.finish();
  return spider;
}

VibrationOptions read_modes(TomlTable& table) {
  VibrationOptions options;
  if (const auto count = table.integer("count")) {
    if (*count < 1 || *count > 100000)
      table.problem("count", fmt::format("is {}, expected 1 to 100000", *count));
    else
      options.count = static_cast<int>(*count);
  }
  options.fix = table.texts("fix").value_or(std::vector<std::string>{});
  if (const auto tolerance = table.number("tolerance")) {
    if (!(*tolerance > 0 && *tolerance < 0.1))
      table.problem("tolerance", fmt::format("is {}, expected a number between 0 and 0.1", *tolerance));
    else
      options.tolerance = *tolerance;
  }
  options.allow_parts = table.boolean("allow_parts").value_or(false);
  return options;
}

// What is wrong with a body's name, which becomes the beginning of file names; empty if nothing is.
std::string problem_of_name(const std::string& name) {
  if (name.empty()) return "the name is empty";
  if (name.size() > 100) return fmt::format("the name has {} bytes, expected 100 at most", name.size());
  if (name.front() == '.' || name.front() == '-' || name.front() == ' ')
    return fmt::format("the name begins with '{}', expected a letter, digit or _", name.front());
  for (const char c : name)
    if (c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return "the name contains a slash, backslash or control character, and files are called by it";
  return "";
}

BodySpec read_body(const std::string& name, TomlTable table, const std::filesystem::path& folder,
                   const UnitSystem& units) {
  BodySpec body;
  body.name = name;
  body.where = table.where();
  if (const std::string problem = problem_of_name(name); !problem.empty()) table.problem_here(problem);
  body.units = units;
  read_units(table, body.units);
  const auto file = [&](const char* key, std::filesystem::path& path) {
    const auto text = table.text(key);
    if (!text) return;
    path = folder / *text;
    if (text->empty() || !std::filesystem::exists(path))
      table.problem(key, fmt::format("there is no file '{}'", path.string()));
  };
  file("mesh", body.mesh);
  if (const auto size = table.number("mesh_size")) {
    body.gmsh.size = *size;
    if (!(*size > 0)) table.problem("mesh_size", fmt::format("is {}, expected a positive length", *size));
  }
  if (const auto order = table.integer("mesh_order")) {
    body.gmsh.order = static_cast<int>(*order);
    if (*order != 1 && *order != 2)
      table.problem("mesh_order", fmt::format("is {}, expected 1 or 2", *order));
  }
  file("body", body.body_file);
  file("stiffness", body.stiffness);
  file("mass_matrix", body.mass_matrix);
  file("dofs", body.dofs);
  body.stiffness_name = table.text("stiffness_name").value_or("");
  body.mass_name = table.text("mass_name").value_or("");
  body.permit_massless = table.boolean("permit_massless").value_or(false);
  body.drop_empty_rows = table.boolean("drop_empty_rows").value_or(false);
  if (table.has("body") && (table.has("mesh") || table.has("stiffness")))
    table.problem("body", "a body file has mesh and matrices already: leave out 'mesh' and 'stiffness'");
  if (!table.has("mesh") && !table.has("stiffness") && !table.has("body"))
    table.problem(
        "mesh",
        "is missing: a body needs mesh = \"FILE\", stiffness = \"FILE\" and mass_matrix, or body = \"FILE\"");
  if (auto material = table.table("material")) body.material = read_material(*material);
  table.choice<MassKind>(
      "mass",
      {{"consistent", MassKind::Consistent}, {"lumped", MassKind::Lumped}, {"calculix", MassKind::Calculix}},
      body.mass);
  for (TomlTable& spider : table.tables("spiders")) body.spiders.push_back(read_spider(spider));
  if (body.has_matrices() && (body.material || table.has("mass") || !body.spiders.empty()))
    table.problem(table.has("body") ? "body" : "stiffness",
                  "material, mass and spiders do not go with matrices, which have them built in");
  if (auto modes = table.table("modes")) {
    body.modes = read_modes(*modes);
    body.vtu = modes->boolean("vtu").value_or(true);
    modes->finish();
  }
  if (auto reduce = table.table("reduce")) body.reduce = read_reduce_spec(*reduce, folder);
  if (auto gcms = table.table("gcms")) body.gcms = read_gcms_spec(*gcms);
  table.finish();
  return body;
}

}  // namespace

StudyFile parse_study(const std::string& text, const std::filesystem::path& path) {
  toml::value root;
  try {
    std::istringstream stream(text);
    root = toml::parse(stream, path.string());
  } catch (const toml::syntax_error& e) {
    // its own text shows the line with a caret; ours starts with file and line
    fail_input(SourcePos{path.string(), static_cast<long>(e.location().line())}, "is no valid TOML: {}",
               e.what());
  } catch (const std::exception& e) {
    fail_input(SourcePos{path.string(), 0}, "is no valid TOML: {}", e.what());
  }
  StudyFile study;
  study.path = path;
  TomlProblems problems;
  if (!root.is_table()) fail_input("{}: is no valid study file", path.string());
  TomlTable table(root, "", path.string(), problems);
  study.title = table.text("title").value_or(path.stem().string());
  UnitSystem units;
  read_units(table, units);
  for (auto& [name, body] : table.named_tables("bodies"))
    study.bodies.push_back(read_body(name, body, path.parent_path(), units));
  if (study.bodies.empty() && !table.has("bodies"))
    table.problem("bodies", "is missing: a study needs [bodies.NAME]");
  table.finish();
  problems.throw_if_any();
  return study;
}

StudyFile read_study_file(const std::filesystem::path& path) {
  return parse_study(read_file(path), path);
}

}  // namespace lissom

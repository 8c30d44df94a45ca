#include "lissom/io/study_file.hpp"

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "lissom/core/file_kind.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/linear_file.hpp"
#include "lissom/io/output_names.hpp"
#include "lissom/io/pod_file.hpp"
#include "lissom/io/study_keys.hpp"
#include "lissom/io/study_resolve.hpp"
#include "lissom/io/sweep_point.hpp"
#include "lissom/io/toml_table.hpp"
#include "lissom/io/train_limits.hpp"

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

VibrationOptions read_vibration(TomlTable& table) {
  VibrationOptions options;
  if (const auto count = table.integer("count")) {
    if (*count < 1 || *count > 100000)
      table.problem("count", fmt::format("is {}, expected 1 to 100000", *count));
    else
      options.count = static_cast<int>(*count);
  }
  const auto from = table.number("from_hz"), up_to = table.number("up_to_hz");
  if (from && !(*from >= 0)) table.problem("from_hz", fmt::format("is {:g}, expected 0 or more", *from));
  if (up_to && !(*up_to > 0))
    table.problem("up_to_hz", fmt::format("is {:g}, expected a positive frequency", *up_to));
  if (up_to && table.has("count")) table.problem("up_to_hz", "says the same as 'count': give one of the two");
  if (table.has("from_hz") && !up_to) table.problem("from_hz", "goes with 'up_to_hz', which is missing");
  if (from && up_to && *from >= *up_to)
    table.problem("from_hz",
                  fmt::format("is {:g}, expected less than up_to_hz, which is {:g}", *from, *up_to));
  options.from_hz = from.value_or(0);
  options.up_to_hz = up_to.value_or(0);
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
  if (name == "ground")
    return "the name 'ground' is that of the ground, to which joints may go: take another";
  if (name.size() > 100) return fmt::format("the name has {} bytes, expected 100 at most", name.size());
  if (name.front() == '.' || name.front() == '-' || name.front() == ' ')
    return fmt::format("the name begins with '{}', expected a letter, digit or _", name.front());
  for (const char c : name)
    if (c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return "the name contains a slash, backslash or control character, and files are called by it";
  return "";
}

// A body that is a beam; where it is and what it is made of is in its own keys.
BodySpec read_beam(TomlTable& table, BodySpec& body) {
  for (const char* key : {"mesh", "mesh_size", "mesh_order", "skip_elements", "body", "reduced", "rigid",
                          "points", "stiffness", "mass_matrix", "dofs", "stiffness_name", "mass_name",
                          "permit_massless", "drop_empty_rows", "spiders", "modes", "reduce", "gcms"})
    if (table.value(key))
      table.problem(
          key,
          "does not go with formulation = \"ancf\": a beam is given by from, to, elements, section, "
          "young and density");
  for (const char* key : {"position", "rotation"})
    if (table.has(key))
      table.problem(key, "does not go with formulation = \"ancf\": from and to say where the beam is");
  body.ancf =
      read_ancf_spec(table, body.name, body.units, body.placement.velocity, body.placement.angular_velocity);
  body.placement = Placement();
  table.finish();
  return std::move(body);
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
    if (text->empty() || !is_there(path))
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
  body.skip_elements = table.boolean("skip_elements").value_or(false);
  file("body", body.body_file);
  file("reduced", body.reduced_file);
  file("stiffness", body.stiffness);
  file("mass_matrix", body.mass_matrix);
  file("dofs", body.dofs);
  body.stiffness_name = table.text("stiffness_name").value_or("");
  body.mass_name = table.text("mass_name").value_or("");
  body.permit_massless = table.boolean("permit_massless").value_or(false);
  body.drop_empty_rows = table.boolean("drop_empty_rows").value_or(false);
  read_moving_body(table, body);
  if (body.formulation == Formulation::Ancf) return read_beam(table, body);
  for (const std::string& key : ancf_keys())
    if (table.value(key)) table.problem(key, "is of a beam, which also needs formulation = \"ancf\"");
  const bool simple = table.has("reduced") || table.has("rigid");
  if (table.has("body") && (table.has("mesh") || table.has("stiffness")))
    table.problem("body", "a body file has mesh and matrices already: leave out 'mesh' and 'stiffness'");
  if (table.has("reduced") && table.has("rigid"))
    table.problem("rigid", "a body comes from a reduced-body file or from numbers: give one of the two");
  for (const char* key :
       {"mesh", "stiffness", "body", "material", "mass", "spiders", "modes", "reduce", "gcms"})
    if (simple && table.has(key))
      table.problem(key, fmt::format("does not go with '{}', which says all of the body",
                                     table.has("rigid") ? "rigid" : "reduced"));
  if (!table.has("mesh") && !table.has("stiffness") && !table.has("body") && !simple)
    table.problem(
        "mesh",
        "is missing: a body needs mesh = \"FILE\", stiffness = \"FILE\" and mass_matrix, body = \"FILE\", "
        "reduced = \"FILE\", or rigid = { mass = .., center = [..], inertia = [..] }");
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
    body.modes = read_vibration(*modes);
    modes->renamed("vtu", "paraview");
    body.paraview = modes->boolean("paraview").value_or(true);
    modes->finish();
  }
  if (auto reduce = table.table("reduce")) body.reduce = read_reduce_spec(*reduce, folder);
  if (auto gcms = table.table("gcms")) body.gcms = read_gcms_spec(*gcms);
  table.finish();
  return body;
}

// ------------------------------------------------------------------------------------------------- cases

// What [train] needs of the rest of the study.
void check_train(TomlTable& table, const StudyFile& study) {
  if (study.bodies.empty()) return;  // said already
  if (study.train->pod) {
    std::vector<std::string> others;
    for (const BodySpec& body : study.bodies)
      if (body.formulation != Formulation::Ancf)
        others.push_back(fmt::format("'{}' ({})", body.name, name_of(body.formulation)));
    if (!others.empty())
      table.problem("method",
                    fmt::format("is \"pod\", which reduces mechanisms of beams (formulation = \"ancf\") "
                                "only; {} {} none",
                                fmt::join(others, ", "), others.size() == 1 ? "is" : "are"));
    if (!study.simulation || !study.simulation->simulate)
      table.problem("method", "is \"pod\", which is trained on simulations: add [simulate]");
    return;
  }
  if (study.train->linear) {
    if (!study.simulation)
      table.problem("method",
                    "is \"linear\", and the study has no joints, loads or sensors to be linearised");
    else if (study.train->linear->about == LineariseSpec::About::Time && !study.simulation->simulate)
      table.problem("about", "is a time, and the study has no [simulate] that leads to it");
    return;
  }
  if (study.train->project_on_joints && (!study.simulation || study.simulation->joints.empty()))
    table.problem("joints",
                  "the study has no [[joints]] that the model could keep exactly: add them, or say "
                  "joints = \"data\"");
}

// What is the same for the study, its cases and the points of its sweep.
struct Context {
  std::filesystem::path path, rom;
  std::filesystem::path pod_rom;           // a parametric model, whose study `root` is
  std::vector<StudyParameter> parameters;  // of that
  std::vector<StudySetting> settings;
  std::optional<size_t> sweep_point;  // the only one that counts
};

// The model that a study runs in place of its bodies.
void read_rom(TomlTable& table, const std::filesystem::path& given, StudyFile& study) {
  const auto text = table.text("rom");
  study.rom = given;
  if (!given.empty()) {
    for (const char* key : {"bodies", "train"}) table.value(key);
    return;
  }
  if (!text) return;
  study.rom = study.path.parent_path() / *text;
  if (text->empty() || !is_there(study.rom))
    table.problem("rom", fmt::format("there is no file '{}'; 'lissom train' writes one",
                                     (study.path.parent_path() / *text).string()));
  for (const char* key : {"bodies", "joints", "train"})
    if (table.value(key))
      table.problem(key,
                    "does not go with 'rom', a reduced mechanism, which has its bodies and joints: leave "
                    "it out");
}

// What every study has; the cases are read by the caller.
StudyFile read_root(const TomlValue& root, const Context& context, TomlProblems& problems) {
  const std::filesystem::path &path = context.path, &rom = context.rom;
  StudyFile study;
  study.path = path;
  study.pod_rom = context.pod_rom;
  TomlTable table(root, study_schema(), "", path.string(), problems);
  study.title = table.text("title").value_or(path.stem().string());
  read_units(table, study.units);
  read_rom(table, rom, study);
  const bool is_rom = !study.rom.empty();
  using NamedTables = std::vector<std::pair<std::string, TomlTable>>;
  for (auto& [name, body] : is_rom ? NamedTables() : table.named_tables("bodies")) {
    study.bodies.push_back(read_body(name, body, path.parent_path(), study.units));
    BodySpec& spec = study.bodies.back();
    spec.reduction_key = name +
                         canonical(root.as_table().at("bodies").as_table().at(name),
                                   {"formulation", "position", "rotation", "velocity", "angular_velocity"}) +
                         spec.units.name;
  }
  if (study.bodies.empty() && !table.has("bodies") && !is_rom)
    table.problem("bodies", "is missing: a study needs [bodies.NAME], or rom = \"FILE\"");
  study.simulation = read_simulation_spec(table, study.bodies, study.units, path.parent_path(), is_rom);
  if (!context.pod_rom.empty()) {
    // it was trained
    table.value("train");
    try {
      study.pod_parameters = parameters_of(root, context.parameters);
    } catch (const InputError& e) {
      problems.add({context.pod_rom.string(), 0}, "", e.what());
    }
  } else if (!is_rom) {
    if (auto train = table.table("train")) {
      std::vector<std::string> names;
      for (const BodySpec& body : study.bodies) names.push_back(body.name);
      study.train = read_train_spec(*train, root, study.units, names, path.parent_path());
      check_train(*train, study);
      if (study.train->pod) study.pod_parameters = study.train->pod->current;
    }
  }
  if (study.simulation && study.simulation->simulate) {
    SimulateSpec& simulate = *study.simulation->simulate;
    // problems of keys that are not there go to the table
    const auto where = [&] {
      const auto& keys = root.as_table().at("simulate").as_table();
      const auto it = keys.find("model");
      return it == keys.end() ? simulate.where : position_of(it->second, simulate.where);
    };
    const bool has_model = is_rom || !context.pod_rom.empty();
    std::string model;
    for (const auto& [name, value] : mechanism_model_names())
      if (value == simulate.model) model = name;
    if (simulate.is_reduced() && !has_model && !table.has("train"))
      problems.add(
          where(), "simulate.model",
          fmt::format(
              "\"{}\" needs a model: add [train]{}, which makes one of "
              "this study's motions, or rom = \"FILE\" in place of the bodies",
              model,
              simulate.model == MechanismModel::Slap ? "" : fmt::format(" with method = \"{}\"", model)));
    else if (simulate.is_reduced() && study.train && study.train->method() != model)
      problems.add(where(), "simulate.model",
                   fmt::format("is \"{}\", but [train] has method = \"{}\"", model, study.train->method()));
    if (!simulate.is_reduced() && is_rom && rom.empty())
      problems.add(where(), "simulate.model", "is \"full\", but 'rom' is a reduced mechanism: leave it out");
    if (is_rom) simulate.model = is_linear_file(study.rom) ? MechanismModel::Linear : MechanismModel::Slap;
    if (!context.pod_rom.empty()) {
      simulate.model = MechanismModel::Pod;
      if (!root.as_table().at("simulate").as_table().contains("newton_reuse"))
        simulate.integrator.newton.reuse_rate = 0;
    }
  }
  if (study.simulation && study.simulation->simulate)
    for (const BodySpec& body : study.bodies)
      if (body.formulation != Formulation::Rigid && !body.reduce && !body.without_mesh())
        problems.add(
            body.where, "bodies." + body.name,
            fmt::format("a flexible body that is simulated is to be reduced: add [bodies.{}.reduce], "
                        "or formulation = \"rigid\"",
                        body.name));
  if (auto linearise = table.table("linearise"))
    study.linearise = read_linearise_spec(*linearise, study.units);
  if (auto response = table.table("response")) study.response = read_response_spec(*response);
  for (const char* key : {"sweep", "cases"}) table.value(key);
  table.table("parameters");
  if (auto compare = table.table("compare")) {
    study.reference = compare->text("reference").value_or("");
    compare->finish();
  }
  table.finish();
  return study;
}

// Runs of [train] are cases with a simulation of the bodies themselves.
void check_runs(const TomlValue& root, const StudyFile& study, const StudyFile& asking,
                TomlProblems& problems) {
  if (!asking.train || !asking.train->is_slap() || !asking.train->trajectories.empty()) return;
  std::vector<std::string> names;
  for (const StudyCase& variant : study.cases) names.push_back(variant.study.case_name);
  const auto problem = [&](const std::string& message) {
    const auto& keys = root.as_table().at("train").as_table();
    const auto it = keys.find("runs");
    const SourcePos where =
        it == keys.end() ? asking.train->where : position_of(it->second, asking.train->where);
    problems.add(where, "train.runs",
                 fmt::format("{}{}", message,
                             asking.case_name.empty() ? "" : fmt::format(" (case '{}')", asking.case_name)));
  };
  for (const std::string& run : asking.train->runs) {
    const StudyFile* found = run.empty() ? &study : nullptr;
    for (const StudyCase& variant : study.cases)
      if (variant.study.case_name == run) found = &variant.study;
    const std::string shown = run.empty() ? "the study itself" : fmt::format("the case '{}'", run);
    if (!found)
      problem(fmt::format("there is no case '{}'{}; there {}", run, did_you_mean(run, names),
                          names.empty() ? "is none, and \"study\" stands for the study itself"
                                        : fmt::format("are: study, {}", fmt::join(names, ", "))));
    else if (!found->simulation || !found->simulation->simulate)
      problem(fmt::format("{} has no [simulate], so that there is no motion to train on", shown));
    else if (found->simulation->simulate->is_reduced())
      problem(
          fmt::format("{} is simulated with model = \"slap\", the model that is to be trained; name runs "
                      "with model = \"full\"",
                      shown));
  }
}

// [[cases]]: the root with keys set otherwise, read once more.
void read_cases(const TomlValue& root, const Context& context, StudyFile& study, TomlProblems& problems) {
  TomlTable table(root, study_schema(), "", study.path.string(), problems);
  std::vector<std::string> names;
  std::vector<std::pair<std::string, SourcePos>> references;
  const std::vector<TomlProblem> of_study = problems.list();
  for (TomlTable& entry : table.tables("cases")) {
    const std::string name = entry.text("name").value_or("");
    if (!entry.has("name"))
      entry.problem("name", "is missing");
    else if (const std::string problem = problem_of_name(name); !problem.empty())
      entry.problem("name", problem);
    else if (const std::string taken = problem_of_case_name(name, study.bodies); !taken.empty())
      entry.problem("name", taken);
    else if (std::find(names.begin(), names.end(), name) != names.end())
      entry.problem("name", fmt::format("'{}' comes twice", name));
    names.push_back(name);
    const auto set = entry.table("set");
    const TomlValue* keys = entry.value("set");
    if (!keys) entry.problem("set", "is missing: the keys that differ, { \"simulate.step\" = 1e-5 }");
    const auto reference = entry.text("reference");
    if (reference) references.emplace_back(*reference, entry.where());
    entry.finish();
    if (!set) continue;

    TomlValue changed = root;
    StudyCase variant;
    TomlProblems own;
    // in the order of the names, so that the result does not depend on the parser
    std::map<std::string, const TomlValue*> sorted;
    for (const auto& [key, value] : keys->as_table()) sorted[key] = &value;
    for (const auto& [key, value] : sorted) {
      const SourcePos where = position_of(*value, entry.where());
      set_study_key(changed, key, *value, own, where, fmt::format("set.\"{}\"", key));
      variant.changes.push_back(fmt::format("{} = {}", key, canonical(*value)));
    }
    // what was asked for from outside counts more
    for (const StudySetting& setting : context.settings)
      set_study_key(changed, setting.key, setting_value(setting.value), own, {}, setting.key);
    if (own.empty()) {
      resolve_numbers(changed, study.path.string(), own);
      variant.study = read_root(changed, context, own);
    }
    // what is wrong with the study itself has been said
    for (TomlProblem problem : own.list()) {
      const auto same = [&](const TomlProblem& other) { return other.line() == problem.line(); };
      if (std::any_of(of_study.begin(), of_study.end(), same)) continue;
      problem.message += fmt::format(" (case '{}')", name);
      problems.add(std::move(problem));
    }
    variant.study.text = study.text;
    variant.study.case_name = name;
    if (reference) variant.reference = *reference == "study" ? "" : *reference;
    study.cases.push_back(std::move(variant));
  }
  if (!study.reference.empty() && std::find(names.begin(), names.end(), study.reference) == names.end()) {
    problems.add(
        position_of(root.as_table().at("compare"), {study.path.string(), 1}), "compare.reference",
        fmt::format("there is no case '{}'{}", study.reference, did_you_mean(study.reference, names)));
  }
  for (const auto& [reference, where] : references)
    if (reference != "study" && std::find(names.begin(), names.end(), reference) == names.end())
      problems.add(where, "cases.reference",
                   fmt::format("there is no case '{}'{}; \"study\" stands for the study itself", reference,
                               did_you_mean(reference, names)));
  if (!problems.empty()) return;
  const auto check = [&](const StudyFile& asking) {
    check_runs(root, study, asking, problems);
    // the model of a case that does not simulate it is never made
    if (&asking != &study && !needs_training(asking)) return;
    for (TomlProblem& problem : training_problems(study, asking)) {
      const auto same = [&](const TomlProblem& other) { return other.line() == problem.line(); };
      if (std::none_of(problems.list().begin(), problems.list().end(), same))
        problems.add(std::move(problem));
    }
  };
  check(study);
  // what is wrong with the study's runs would come again with every case
  if (!problems.empty()) return;
  for (const StudyCase& variant : study.cases) check(variant.study);
}

// One parameter of a sweep: its key and the values that it takes.
struct SweepParameter {
  std::string key;
  std::vector<TomlValue> values;
  SourcePos where;
};

std::optional<SweepParameter> read_parameter(TomlTable& table) {
  SweepParameter parameter;
  parameter.where = table.where();
  parameter.key = table.text("key").value_or("");
  if (parameter.key.empty()) table.problem("key", "is missing: what is to vary, \"loads.push.factor\"");
  const TomlValue* values = table.value("values");
  const auto from = table.number("from"), to = table.number("to");
  const auto points = table.integer("points");
  bool logarithmic = false;
  table.choice<bool>("scale", {{"linear", false}, {"log", true}}, logarithmic);
  table.finish();
  if (values) {
    if (from || to || points) table.problem("values", "say all there is: leave out from, to and points");
    if (!values->is_array() || values->as_array().empty())
      table.problem("values", "expected a list of values");
    else
      for (const TomlValue& value : values->as_array()) parameter.values.push_back(value);
  } else if (from && to && points && *points >= 2 && *points <= 100000) {
    if (logarithmic && !(*from > 0 && *to > 0)) {
      table.problem("scale", "is \"log\", which needs positive numbers from and to");
      return std::nullopt;
    }
    for (long i = 0; i < *points; ++i) {
      const double s = static_cast<double>(i) / static_cast<double>(*points - 1);
      // the ends as they were written
      const double value = i == 0             ? *from
                           : i == *points - 1 ? *to
                           : logarithmic      ? *from * std::pow(*to / *from, s)
                                              : *from + s * (*to - *from);
      parameter.values.emplace_back(value);
    }
  } else {
    table.problem("values", "is missing: values = [...], or from, to and points (two or more)");
  }
  if (parameter.key.empty() || parameter.values.empty()) return std::nullopt;
  return parameter;
}

// [sweep]: the root with every combination of the parameters set.
void read_sweep(const TomlValue& root, const Context& context, StudyFile& study, TomlProblems& problems) {
  TomlTable table(root, study_schema(), "", study.path.string(), problems);
  auto sweep = table.table("sweep");
  if (!sweep) return;
  std::vector<SweepParameter> parameters;
  for (TomlTable& entry : sweep->tables("parameters"))
    if (auto parameter = read_parameter(entry)) parameters.push_back(std::move(*parameter));
  if (!sweep->has("parameters"))
    sweep->problem("parameters", "is missing: [[sweep.parameters]] with key and values");
  sweep->finish();
  if (parameters.empty()) return;
  // where the study itself has problems, every point has: only the keys are looked at
  const bool only_keys = !problems.empty();
  size_t count = 1;
  for (const SweepParameter& parameter : parameters) {
    study.sweep_keys.push_back(parameter.key);
    count *= parameter.values.size();
    if (count > 100000) {
      problems.add(sweep->where(), "sweep",
                   fmt::format("has {} combinations or more, expected 100000 at most", count));
      return;
    }
  }
  std::vector<TomlProblem> first;
  size_t wrong = 0;
  if (context.sweep_point && *context.sweep_point >= count)
    fail_input("{}: [sweep] has {} points, and not point {}", study.path.string(), count,
               *context.sweep_point + 1);
  for (size_t k = 0; k < count; ++k) {
    if (context.sweep_point && *context.sweep_point != k) continue;
    TomlValue changed = root;
    ParameterPoint point;
    point.values.resize(parameters.size());
    TomlProblems keys, own;
    size_t rest = k;
    for (size_t p = parameters.size(); p-- > 0;) {
      const TomlValue& value = parameters[p].values[rest % parameters[p].values.size()];
      rest /= parameters[p].values.size();
      set_study_key(changed, parameters[p].key, value, keys, parameters[p].where,
                    fmt::format("sweep.parameters \"{}\"", parameters[p].key));
      point.values[p] = canonical(value);
    }
    if (!keys.empty()) {
      for (const TomlProblem& problem : keys.list()) problems.add(problem);
      return;
    }
    if (only_keys) return;
    resolve_numbers(changed, study.path.string(), own);
    point.study = read_root(changed, context, own);
    point.study.text = study.text;
    point.study.case_name = fmt::format("sweep {}", k + 1);
    if (own.empty() && needs_training(point.study))
      for (TomlProblem& problem : training_problems(study, point.study)) own.add(std::move(problem));
    if (!own.empty()) {
      ++wrong;
      point.problem = fmt::format("{}", fmt::join(own.lines(), "; "));
      if (first.empty()) first = own.list();
    }
    study.sweep.push_back(std::move(point));
  }
  const bool any = std::any_of(study.sweep.begin(), study.sweep.end(), [](const ParameterPoint& point) {
    const StudyFile& one = point.study;
    return !point.problem.empty() || (one.simulation && one.simulation->simulate) || one.linearise ||
           one.response;
  });
  if (!any)
    problems.add(sweep->where(), "sweep",
                 "there is nothing to be swept: add [simulate], [linearise] or [response]");
  // a key that nobody knows, or values of the wrong kind
  if (wrong == study.sweep.size() && !context.sweep_point)
    for (TomlProblem& problem : first) {
      problem.message += " (every point of [sweep])";
      problems.add(std::move(problem));
    }
}

// The text of the key 'rom', or nullptr.
const std::string* rom_of(const TomlValue& root) {
  return root.find_string("rom");
}

// The study that a parametric model has in it, with what this one says of loads, sensors and the rest.
void use_pod_model(TomlValue& root, const std::filesystem::path& file, Context& context) {
  Diagnostics told_by_others;
  const PodFile model = read_pod_file(file, told_by_others);
  context.rom.clear();
  context.pod_rom = file;
  context.parameters = model.parameters;
  TomlValue own =
      parse_toml(model.study, model.study_path.empty() ? file : std::filesystem::path(model.study_path));
  const auto units = [](const TomlValue& study) {
    const TomlValue* name = study.find("units");
    return name ? canonical(*name) : std::string("SI");
  };
  const bool same = canonical(root) == canonical(own);
  if (!same && units(root) != units(own))
    fail_input("{}: units are {}, and the study in {} has {}: take the same", context.path.string(),
               units(root), file.string(), units(own));
  if (same) return;
  auto& keys = root.as_table();
  if (rom_of(root))
    for (const char* key : {"bodies", "joints", "train"})
      if (keys.contains(key))
        fail_input("{}: '{}' does not go with 'rom', a reduced mechanism, which has its own: leave it out",
                   context.path.string(), key);
  keys.erase("rom");
  for (const char* key : {"bodies", "joints", "train"}) {
    keys.erase(key);
    if (const TomlValue* value = own.find(key)) keys[key] = *value;
  }
}

// Bodies and joints are built into a SLAP model: settings that would change them change nothing.
void expect_same_model(const TomlValue& before, const TomlValue& after,
                       const std::vector<StudySetting>& settings) {
  const auto text = [](const TomlValue& root, const char* key) {
    const TomlValue* value = root.find(key);
    return value ? canonical(*value) : std::string();
  };
  for (const char* key : {"bodies", "joints"}) {
    if (text(before, key) == text(after, key)) continue;
    std::vector<std::string> given;
    for (const StudySetting& setting : settings) given.push_back(setting.key);
    fail_input(
        "--set: {} changes '{}' of the study, which the model has built in: set it for 'lissom train', which "
        "makes "
        "another model",
        fmt::join(given, ", "), key);
  }
}

// The names of a table of named things, or none.
std::vector<std::string> names_in(const TomlValue* table) {
  std::vector<std::string> names;
  if (table && table->is_table())
    for (const auto& [name, entry] : table->as_table()) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

const TomlValue* key_in(const TomlValue* table, const std::string& key) {
  return table ? table->find(key) : nullptr;
}

// Names of training parameters, and of [parameters], replaced by their keys.
std::vector<StudySetting> expand_names(const TomlValue& root, const std::vector<StudySetting>& settings) {
  std::vector<StudySetting> expanded;
  const TomlValue* trained = key_in(key_in(&root, "train"), "parameters");
  const std::vector<std::string> names = names_in(trained), own = names_in(key_in(&root, "parameters"));
  std::vector<std::string> all = names;
  all.insert(all.end(), own.begin(), own.end());
  for (const StudySetting& setting : settings) {
    const auto at = std::find(names.begin(), names.end(), setting.key);
    if (at == names.end()) {
      if (std::find(own.begin(), own.end(), setting.key) != own.end()) {
        expanded.push_back({"parameters." + setting.key, setting.value});
        continue;
      }
      if (setting.key.find('.') == std::string::npos && !root.as_table().contains(setting.key))
        fail_input("--set: there is no parameter and no key '{}'{}; {}", setting.key,
                   did_you_mean(setting.key, all),
                   all.empty() ? "expected a key of the study, for example simulate.end"
                               : fmt::format("parameters are: {}; keys of the study have dots, simulate.end",
                                             fmt::join(all, ", ")));
      expanded.push_back(setting);
      continue;
    }
    TomlProblems problems;
    const TableSchema& schema = *train_schema().find("parameters").front()->table;
    const TomlValue* given = key_in(trained, *at);
    if (!given->is_table()) fail_input("train.parameters.{}: expected a table", *at);
    TomlTable table(*given, schema, "train.parameters." + *at, "--set", problems);
    StudyParameter parameter;
    parameter.name = *at;
    if (const auto key = table.text("key")) parameter.keys = {*key};
    if (const auto keys = table.texts("keys")) parameter.keys = *keys;
    parameter.scale = table.number("scale").value_or(1);
    const auto value = parse_double(setting.value);
    if (!value) fail_input("--set: {} is '{}', expected a number", *at, setting.value);
    for (StudySetting& one : settings_of({parameter}, Eigen::VectorXd::Constant(1, *value)))
      expanded.push_back(std::move(one));
  }
  return expanded;
}

}  // namespace

StressOptions stress_needs(const StudyFile& study) {
  StressOptions needs = {false, false};
  const auto add = [&](const StressOptions& more) {
    needs.strain = needs.strain || more.strain;
    needs.stress = needs.stress || more.stress;
  };
  if (study.simulation) add(stress_needs(*study.simulation));
  if (study.train) add(study.train->stress);
  for (const StudyCase& variant : study.cases) add(stress_needs(variant.study));
  return needs;
}

namespace {

StudyFile parse_points(const std::string& text, const std::filesystem::path& path,
                       const std::filesystem::path& rom, const std::vector<StudySetting>& settings,
                       std::optional<size_t> sweep_point) {
  TomlValue root = parse_toml(text, path);
  TomlProblems problems;
  const bool included = merge_includes(root, path, problems);
  Context context;
  context.sweep_point = sweep_point;
  context.path = path;
  context.rom = rom;
  if (is_pod_file(rom)) {
    use_pod_model(root, rom, context);
  } else if (const std::string* named = rom_of(root); named && rom.empty()) {
    if (const std::filesystem::path file = path.parent_path() / *named; is_pod_file(file))
      use_pod_model(root, file, context);
  }
  context.settings = expand_names(root, settings);
  std::optional<TomlValue> as_model_is;  // of a SLAP model whose study is read, before anything is set
  if (!rom.empty() && context.pod_rom.empty() && !settings.empty()) {
    as_model_is = root;
    TomlProblems told_below;
    resolve_numbers(*as_model_is, path.string(), told_below);
  }
  for (const StudySetting& setting : context.settings)
    set_study_key(root, setting.key, setting_value(setting.value), problems, {"--set", 0},
                  fmt::format("{}={}", setting.key, setting.value));
  problems.throw_if_any();
  TomlValue resolved = root;
  resolve_numbers(resolved, path.string(), problems);
  if (as_model_is) expect_same_model(*as_model_is, resolved, settings);
  StudyFile study = read_root(resolved, context, problems);
  // what results and models keep stands for itself
  const bool as_written = settings.empty() && context.pod_rom.empty() && !included;
  study.text = as_written ? text : write_study(root);
  check_body_outputs(study, problems);
  read_cases(root, context, study, problems);
  read_sweep(root, context, study, problems);
  problems.throw_if_any();
  // a model has what is asked of it: all runs of a training, so that they share it
  const StressOptions needs = stress_needs(study);
  const auto provide = [&](StudyFile& one) {
    if (one.train && !one.train->stress_given && one.train->recovery) one.train->stress = needs;
  };
  provide(study);
  for (StudyCase& variant : study.cases) provide(variant.study);
  return study;
}

}  // namespace

StudyFile parse_study(const std::string& text, const std::filesystem::path& path,
                      const std::filesystem::path& rom, const std::vector<StudySetting>& settings) {
  return parse_points(text, path, rom, settings, std::nullopt);
}

StudyFile read_study_file(const std::filesystem::path& path, const std::filesystem::path& rom,
                          const std::vector<StudySetting>& settings) {
  return parse_study(read_file(path), path, rom, settings);
}

StudyFile parse_sweep_point(const std::string& text, const std::filesystem::path& path,
                            const std::vector<StudySetting>& settings, size_t point) {
  StudyFile study = parse_points(text, path, {}, settings, point);
  if (study.sweep.empty()) fail_input("{}: there is no [sweep]", path.string());
  return study;
}

bool needs_training(const StudyFile& study) {
  return study.simulation && study.simulation->simulate && study.simulation->simulate->is_reduced() &&
         study.rom.empty() && study.pod_rom.empty();
}

}  // namespace lissom

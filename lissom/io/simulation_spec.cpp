#include "lissom/io/simulation_spec.hpp"

#include <Eigen/Geometry>

#include <fmt/ranges.h>

#include <algorithm>
#include <climits>
#include <map>
#include <numbers>
#include <set>

#include "lissom/core/text.hpp"
#include "lissom/io/toml_table.hpp"

namespace lissom {

using Eigen::Matrix3d;
using Eigen::Vector3d;

const std::vector<std::pair<std::string, Formulation>>& formulation_names() {
  static const std::vector<std::pair<std::string, Formulation>> names = {{"ffrf", Formulation::Ffrf},
                                                                         {"fncf", Formulation::Fncf},
                                                                         {"gcms", Formulation::Gcms},
                                                                         {"rigid", Formulation::Rigid},
                                                                         {"ancf", Formulation::Ancf}};
  return names;
}

const std::vector<std::pair<std::string, MechanismModel>>& mechanism_model_names() {
  static const std::vector<std::pair<std::string, MechanismModel>> names = {
      {"full", MechanismModel::Full},
      {"slap", MechanismModel::Slap},
      {"pod", MechanismModel::Pod},
      {"linear", MechanismModel::Linear}};
  return names;
}

std::string_view name_of(Formulation formulation) {
  for (const auto& [name, value] : formulation_names())
    if (value == formulation) return name;
  LISSOM_ASSERT(false);
  return "";
}

namespace {

std::string listed(const std::vector<std::string>& names) {
  return names.empty() ? "there are none" : fmt::format("there are: {}", fmt::join(names, ", "));
}

std::vector<std::string> names_of(const std::vector<BodySpec>& bodies) {
  std::vector<std::string> names;
  for (const BodySpec& body : bodies) names.push_back(body.name);
  return names;
}

// A number or nothing, out of a value of any kind.
std::optional<double> number_of(const TomlValue& value) {
  if (value.is_integer()) return static_cast<double>(value.as_integer());
  if (value.is_floating() && std::isfinite(value.as_floating())) return value.as_floating();
  return std::nullopt;
}

// ---------------------------------------------------------------------------------------------- functions

// A function of time as it was written, in the study's units.
struct Given {
  enum class Kind { Number, Expression, Table } kind = Kind::Number;
  double number = 0;
  std::string text;
  std::vector<double> times, values;
  TimeFunction::Interpolation interpolation = TimeFunction::Interpolation::Linear;
};

// Two columns, time and value; '#' begins a comment, a line without numbers may head them.
void read_given_columns(const std::filesystem::path& path, Given& given) {
  const std::string bytes = read_file(path);
  std::string_view text = bytes;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  LineReader lines(text, path.string());
  bool heading_allowed = true;
  std::string_view line;
  while (lines.next(line)) {
    std::string content(line.substr(0, line.find('#')));
    std::replace_if(
        content.begin(), content.end(), [](char c) { return c == ',' || c == ';'; }, ' ');
    const auto fields = split_blanks(content);
    if (fields.empty()) continue;
    const bool heading = heading_allowed && std::none_of(fields.begin(), fields.end(), [](auto field) {
                           return parse_double(field).has_value();
                         });
    heading_allowed = false;
    if (heading) continue;
    if (fields.size() != 2)
      fail_input(lines.pos(), "expected two columns, time and value, found {} in '{}'", fields.size(),
                 printable(trim(line)));
    given.times.push_back(to_double(fields[0], lines.pos(), "a time"));
    given.values.push_back(to_double(fields[1], lines.pos(), "a value"));
  }
}

class SimulationReader {
 public:
  SimulationReader(const std::vector<BodySpec>& bodies, const UnitSystem& units, std::filesystem::path folder,
                   bool rom)
      : bodies_(bodies), units_(units), folder_(std::move(folder)), rom_(rom) {}

  const UnitSystem& units() const { return units_; }
  bool rom() const { return rom_; }

  // A number, an expression, or { table = ... } or { file = ... }; nothing with a problem noted.
  std::optional<Given> given(TomlTable& table, const char* key, const TomlValue& value) const {
    Given out;
    if (const auto number = number_of(value)) {
      out.number = *number;
      return out;
    }
    if (value.is_string()) {
      out.kind = Given::Kind::Expression;
      out.text = value.as_string();
      try {
        TimeFunction::expression(out.text);
      } catch (const InputError& e) {
        table.problem(key, e.what());
        return std::nullopt;
      }
      return out;
    }
    if (value.is_table()) return given_table(table, key, value);
    table.problem(
        key,
        "expected a number, an expression of t in quotes, { table = [[t, value], ...] } or { file = "
        "\"x.csv\" }");
    return std::nullopt;
  }

  // In SI units: values times `scale`, times those of `factor`.
  std::optional<TimeFunction> function(TomlTable& table, const char* key, const Given& value, double scale,
                                       const std::optional<Given>& factor = std::nullopt) const {
    try {
      if (!factor) return plain(value).scaled(scale);
      if (value.kind == Given::Kind::Number) return plain(*factor).scaled(scale * value.number);
      if (factor->kind == Given::Kind::Number) return plain(value).scaled(scale * factor->number);
      if (value.kind == Given::Kind::Expression && factor->kind == Given::Kind::Expression) {
        Given product = value;
        product.text = fmt::format("({})*({})", value.text, factor->text);
        return plain(product).scaled(scale);
      }
      table.problem(key, "a table cannot be multiplied with another function of time: leave out 'factor'");
    } catch (const InputError& e) {
      table.problem(key, e.what());
    }
    return std::nullopt;
  }

  std::optional<TimeFunction> function(TomlTable& table, const char* key, double scale,
                                       const std::optional<Given>& factor = std::nullopt) const {
    const TomlValue* value = table.value(key);
    if (!value) return std::nullopt;
    const auto g = given(table, key, *value);
    if (!g) return std::nullopt;
    return function(table, key, *g, scale, factor);
  }

  // "BODY.INTERFACE" and so on.
  std::optional<PlaceSpec> place(TomlTable& table, const char* key, const std::string& text) const {
    PlaceSpec out;
    out.text = text;
    out.where = table.where(key);
    if (text == "ground") return out;
    if (rom_) return place_of_rom(table, key, std::move(out));
    std::vector<std::string> names = names_of(bodies_);
    std::string rest;
    out.body = split_place(text, names, rest);
    if (out.body < 0) {
      const std::string name = text.substr(0, text.find('.'));
      if (std::find(names.begin(), names.end(), text) != names.end()) {
        table.problem(key,
                      fmt::format("'{}' is a body; expected a place on it, \"{}.INTERFACE\" or \"{}.node "
                                  "17\"{}",
                                  text, text, text, places_there(text)));
        return std::nullopt;
      }
      names.emplace_back("ground");
      table.problem(key, fmt::format("'{}': there is no body '{}'{}; {}", text, name,
                                     did_you_mean(name, names), listed(names)));
      return std::nullopt;
    }
    const BodySpec& body = bodies_[out.body];
    out.part = body.name;
    if (body.ancf) return place_of_beam(table, key, rest, body, std::move(out));
    if (!read_nodes(table, key, rest, out.marker)) return std::nullopt;
    if (!out.marker.node_ids.empty()) {
      if (!body.rigid) return out;
      table.problem(key, fmt::format("'{}': body '{}' is rigid, from numbers, and has no nodes; {}", text,
                                     body.name, listed(*known_places(body))));
      return std::nullopt;
    }
    out.marker.kind = body.rigid ? MarkerSpec::Kind::Point : MarkerSpec::Kind::Interface;
    out.marker.name = rest;
    // other bodies may have node sets, which only their mesh knows
    if (const auto places = known_places(body);
        body.rigid && places && std::find(places->begin(), places->end(), rest) == places->end()) {
      table.problem(key, fmt::format("'{}': body '{}' has no {} '{}'{}; {}", text, body.name, "point", rest,
                                     did_you_mean(rest, *places), listed(*places)));
      return std::nullopt;
    }
    return out;
  }

  // between = ["a.x", "b.y"].
  std::optional<std::pair<PlaceSpec, PlaceSpec>> pair(TomlTable& table, const char* key) const {
    const auto texts = table.texts(key);
    if (!texts) {
      if (!table.has(key)) table.problem(key, "is missing: two places, [\"BODY.INTERFACE\", \"ground\"]");
      return std::nullopt;
    }
    if (texts->size() != 2) {
      table.problem(key, fmt::format("expected two places, found {}", texts->size()));
      return std::nullopt;
    }
    const auto first = place(table, key, (*texts)[0]), second = place(table, key, (*texts)[1]);
    if (!first || !second) return std::nullopt;
    if (first->is_ground() && second->is_ground()) {
      table.problem(key, "both places are the ground, and one must be on a body");
      return std::nullopt;
    }
    // of a reduced mechanism only the model knows where the names of parts end
    if (!rom_ && first->part == second->part) {
      table.problem(key, fmt::format("'{}' and '{}' are places on the same body", first->text, second->text));
      return std::nullopt;
    }
    return std::pair{*first, *second};
  }

  FrameSpec frame(TomlTable& table, bool ground) const {
    FrameSpec out;
    const auto direction = [&](const char* key) {
      auto vector = table.vector3(key);
      if (vector && !(vector->norm() > 0)) {
        table.problem(key, "is zero, expected a direction");
        vector.reset();
      }
      return vector;
    };
    out.axis = direction("axis");
    out.reference = direction("reference");
    if (out.axis && out.reference &&
        !(out.axis->cross(*out.reference).norm() > 1e-6 * out.axis->norm() * out.reference->norm()))
      table.problem("reference", "is parallel to the axis, expected a direction across it");
    if (const auto at = table.vector3("at")) {
      out.at = *at * units_.length;
      if (!ground) table.problem("at", "is where the ground's frame is, and none of the two is the ground");
    }
    return out;
  }

 private:
  // Which parts and places the model has is known when it is read; until then the first dot separates.
  std::optional<PlaceSpec> place_of_rom(TomlTable& table, const char* key, PlaceSpec out) const {
    const size_t dot = out.text.find('.');
    if (dot == 0 || dot == std::string::npos || dot + 1 == out.text.size()) {
      table.problem(key, fmt::format("'{}': expected a place of the model, \"BODY.INTERFACE\" or \"BODY.node "
                                     "17\", or \"ground\"",
                                     out.text));
      return std::nullopt;
    }
    out.part = out.text.substr(0, dot);
    out.marker.name = out.text.substr(dot + 1);
    if (!read_nodes(table, key, out.marker.name, out.marker)) return std::nullopt;
    return out;
  }

  // "start", "end" and "node 7" of a beam.
  std::optional<PlaceSpec> place_of_beam(TomlTable& table, const char* key, const std::string& rest,
                                         const BodySpec& body, PlaceSpec out) const {
    if (!read_nodes(table, key, rest, out.marker)) return std::nullopt;
    out.marker.part = body.name;
    out.marker.name = rest;
    if (body.ancf->node_of(rest) >= 0) return out;
    const std::vector<std::string> names = *known_places(body);
    table.problem(key, fmt::format("'{}': the beam '{}' has no place '{}'{}; there are: {}, and nodes by "
                                   "number, \"{}.node 1\" to \"{}.node {}\"",
                                   out.text, body.name, rest, did_you_mean(rest, names),
                                   fmt::join(names, ", "), body.name, body.name, body.ancf->nodes()));
    return std::nullopt;
  }

  std::optional<Given> given_table(TomlTable& table, const char* key, const TomlValue& value) const {
    Given out;
    out.kind = Given::Kind::Table;
    bool good = true;
    const auto bad = [&](const std::string& message) {
      table.problem(key, message);
      good = false;
    };
    int sources = 0;
    for (const auto& [name, entry] : value.as_table()) {
      if (name == "table" && entry.is_array()) {
        ++sources;
        for (const TomlValue& point : entry.as_array()) {
          const bool two = point.is_array() && point.as_array().size() == 2;
          const auto t = two ? number_of(point.as_array()[0]) : std::nullopt;
          const auto v = two ? number_of(point.as_array()[1]) : std::nullopt;
          if (!t || !v) {
            bad("table: expected points [t, value], two numbers each");
            break;
          }
          out.times.push_back(*t);
          out.values.push_back(*v);
        }
      } else if (name == "file" && entry.is_string()) {
        ++sources;
        try {
          read_given_columns(folder_ / entry.as_string(), out);
        } catch (const InputError& e) {
          bad(e.what());
        }
      } else if (name == "interpolation" && entry.is_string() &&
                 (entry.as_string() == "linear" || entry.as_string() == "cubic")) {
        if (entry.as_string() == "cubic") out.interpolation = TimeFunction::Interpolation::Cubic;
      } else if (name == "interpolation") {
        bad("interpolation: expected \"linear\" or \"cubic\"");
      } else if (name == "table" || name == "file") {
        bad(fmt::format("{}: expected {}", name, name == "table" ? "a list of points [t, value]" : "a text"));
      } else {
        bad(fmt::format("{}: unknown key{}", name, did_you_mean(name, {"table", "file", "interpolation"})));
      }
    }
    if (good && sources != 1) bad("expected either table = [[t, value], ...] or file = \"x.csv\"");
    if (!good) return std::nullopt;
    return out;
  }

  TimeFunction plain(const Given& value) const {
    switch (value.kind) {
      case Given::Kind::Number:
        return TimeFunction(value.number);
      case Given::Kind::Expression:
        return TimeFunction::expression(value.text, units_.time);
      case Given::Kind::Table:
        break;
    }
    std::vector<double> times = value.times;
    for (double& t : times) t *= units_.time;
    return TimeFunction::table(times, value.values, value.interpolation);
  }

  // "node 17", "nodes 17 18 19"; false with a problem noted where the numbers are none.
  bool read_nodes(TomlTable& table, const char* key, const std::string& text, MarkerSpec& marker) const {
    try {
      marker.node_ids = node_numbers(text);
    } catch (const InputError& e) {
      table.problem(key, e.what());
      return false;
    }
    if (marker.node_ids.empty()) return true;
    marker.kind = MarkerSpec::Kind::Nodes;
    marker.name = text;
    return true;
  }

  std::string places_there(const std::string& name) const {
    for (const BodySpec& body : bodies_)
      if (body.name == name)
        if (const auto places = known_places(body)) return "; " + listed(*places);
    return "";
  }

  const std::vector<BodySpec>& bodies_;
  UnitSystem units_;
  std::filesystem::path folder_;
  bool rom_;
};

// ------------------------------------------------------------------------------------- joints and loads

// The name of an entry, which must be its own.
std::string read_name(TomlTable& table, std::set<std::string>& taken) {
  const auto name = table.text("name");
  if (!name) {
    if (!table.has("name")) table.problem("name", "is missing");
    return "";
  }
  if (name->empty()) table.problem("name", "is empty");
  if (!taken.insert(*name).second) table.problem("name", fmt::format("'{}' comes twice", *name));
  return *name;
}

// False with a problem noted where the kind is not known; what else is wrong can then not be told.
template <class Kind>
bool read_kind(TomlTable& table, const std::vector<std::pair<std::string, Kind>>& names, Kind& kind) {
  std::vector<std::string> words;
  for (const auto& [name, value] : names) words.push_back(name);
  if (!table.has("kind")) {
    table.problem("kind", fmt::format("is missing: one of {}", fmt::join(words, ", ")));
    table.finish_early();
    return false;
  }
  table.choice(std::string_view("kind"), names, kind);
  const TomlValue& value = *table.value("kind");
  return value.is_string() && std::find(words.begin(), words.end(), value.as_string()) != words.end();
}

JointSpec read_joint(TomlTable& table, const SimulationReader& reader, std::set<std::string>& taken) {
  JointSpec joint;
  joint.where = table.where();
  joint.name = read_name(table, taken);
  bool ground = true;
  if (const auto pair = reader.pair(table, "between")) {
    joint.first = pair->first;
    joint.second = pair->second;
    ground = joint.first.is_ground() || joint.second.is_ground();
  }
  if (!read_kind(table, joint_names(), joint.kind)) return joint;
  joint.frame = reader.frame(table, ground);
  joint.share = table.boolean("share");
  if (table.has("and_between")) {
    joint.and_between = reader.pair(table, "and_between");
    if (joint.kind != JointKind::Revolute)
      table.problem("and_between", "makes a revolute joint of two spherical ones: kind = \"revolute\"");
    for (const char* key : {"axis", "reference", "motion"})
      if (table.has(key)) table.problem(key, "does not go with and_between, whose nodes are the axis");
    // asked for, so that it is no unknown key
    table.value("motion");
    table.finish();
    return joint;
  }
  const JointTraits& kind = traits(joint.kind);
  joint.motion =
      reader.function(table, "motion", kind.motion == JointKind::Angle ? 1 : reader.units().length);
  if (joint.motion)
    if (const auto jump = joint.motion->first_jump())
      table.problem("motion",
                    fmt::format("jumps at {:g}, which takes an infinite speed: expected a table without two "
                                "points at the same time",
                                *jump / reader.units().time));
  if (table.has("motion") && !kind.motion)
    table.problem(
        "motion",
        fmt::format("does not go with kind = \"{}\": a revolute joint or an angle is driven by an "
                    "angle, a prismatic or cylindrical joint, a displacement or a distance by a length",
                    name_of(joint.kind)));
  if (!table.has("motion") && kind.needs_motion)
    table.problem("motion",
                  fmt::format("is missing: kind = \"{}\" prescribes a motion", name_of(joint.kind)));
  table.finish();
  return joint;
}

double read_positive(TomlTable& table, const char* key, double scale) {
  const auto value = table.number(key);
  if (value && *value < 0) table.problem(key, fmt::format("is {}, expected 0 or more", *value));
  return value.value_or(0) * scale;
}

// One number for all directions, or three.
Vector3d read_three(TomlTable& table, const char* key, double scale) {
  const auto values = table.numbers(key);
  if (!values) return Vector3d::Zero();
  if (values->size() == 1) return Vector3d::Constant(values->front() * scale);
  if (values->size() != 3) {
    table.problem(key, fmt::format("expected one number or three, found {}", values->size()));
    return Vector3d::Zero();
  }
  for (const double value : *values)
    if (value < 0) table.problem(key, fmt::format("{} is negative, expected 0 or more", value));
  return Vector3d(values->data()) * scale;
}

// A function of time; or an input, which goes to `load`.
std::optional<Given> read_factor(TomlTable& table, const SimulationReader& reader, Load& load) {
  const TomlValue* value = table.value("factor");
  if (!value) return std::nullopt;
  if (!value->is_table()) return reader.given(table, "factor", *value);
  bool is_input = false;
  for (const auto& [name, entry] : value->as_table()) {
    if (name != "input") continue;
    is_input = true;
    if (entry.is_string() && !entry.as_string().empty())
      load.input = entry.as_string();
    else
      table.problem("factor", "input: expected a name in quotes");
  }
  if (!is_input) return reader.given(table, "factor", *value);
  if (value->as_table().size() > 1)
    table.problem("factor",
                  "input: goes alone; what it is as a function of time is said in [simulate.inputs]");
  return std::nullopt;
}

LoadSpec read_load(TomlTable& table, const SimulationReader& reader, std::set<std::string>& taken) {
  LoadSpec spec;
  Load& load = spec.load;
  const UnitSystem& u = reader.units();
  const double force = u.force(), torque = u.force() * u.length;
  spec.where = table.where();
  load.name = read_name(table, taken);
  // a damper is a spring without stiffness
  auto kinds = load_names();
  kinds.emplace_back("damper", LoadKind::Spring);
  kinds.emplace_back("torsion-damper", LoadKind::TorsionSpring);
  if (!read_kind(table, kinds, load.kind)) return spec;

  if (load.kind == LoadKind::Force || load.kind == LoadKind::Torque) {
    const bool is_force = load.kind == LoadKind::Force;
    const char* key = is_force ? "force" : "torque";
    if (const auto on = table.text("on")) {
      if (const auto place = reader.place(table, "on", *on)) spec.first = *place;
      if (*on == "ground") table.problem("on", "is the ground, expected a place on a body");
    } else if (!table.has("on")) {
      table.problem("on", "is missing: the place where it acts, \"BODY.INTERFACE\" or \"BODY.node 17\"");
    }
    if (const auto reaction = table.text("reaction"))
      spec.second = reader.place(table, "reaction", *reaction);
    load.has_second = spec.second && !spec.second->is_ground();
    load.following = table.boolean("following").value_or(false);
    spec.frame = reader.frame(table, spec.second && spec.second->is_ground());
    const std::optional<Given> factor = read_factor(table, reader, load);
    const TomlValue* components = table.value(key);
    if (!components) {
      table.problem(key, "is missing: three numbers, expressions of t, or tables");
    } else if (!components->is_array() || components->as_array().size() != 3) {
      table.problem(key, "expected three numbers, expressions of t, or tables: [x, y, z]");
    } else {
      for (int k = 0; k < 3; ++k)
        if (const auto given = reader.given(table, key, components->as_array()[k]))
          if (const auto f = reader.function(table, key, *given, is_force ? force : torque, factor))
            load.components[k] = *f;
    }
    table.finish();
    return spec;
  }

  // the others act between two places
  bool ground = true;
  if (const auto pair = reader.pair(table, "between")) {
    spec.first = pair->first;
    spec.second = pair->second;
    ground = spec.first.is_ground() || spec.second->is_ground();
  }
  spec.frame = reader.frame(table, ground);
  load.has_second = true;
  switch (load.kind) {
    case LoadKind::LineForce:
      if (const auto f = reader.function(table, "force", force, read_factor(table, reader, load)))
        load.magnitude = *f;
      else if (!table.has("force"))
        table.problem("force", "is missing: a number, an expression of t, or a table");
      break;
    case LoadKind::Spring:
      load.stiffness = read_positive(table, "stiffness", force / u.length);
      load.damping = read_positive(table, "damping", force * u.time / u.length);
      spec.has_length = table.has("length");
      load.length = read_positive(table, "length", u.length);
      if (const auto f = reader.function(table, "preload", force)) load.preload = *f;
      break;
    case LoadKind::TorsionSpring: {
      load.stiffness = read_positive(table, "stiffness", torque);
      load.damping = read_positive(table, "damping", torque * u.time);
      spec.has_length = true;
      const auto radians = table.number("angle"), degrees = table.number("angle_deg");
      if (radians && degrees) table.problem("angle_deg", "says the same as 'angle': give one of the two");
      load.length = degrees ? *degrees * std::numbers::pi / 180 : radians.value_or(0);
      if (const auto f = reader.function(table, "preload", torque)) load.preload = *f;
      break;
    }
    case LoadKind::Bushing:
      load.K = read_three(table, "stiffness", force / u.length);
      load.C = read_three(table, "damping", force * u.time / u.length);
      load.k = read_three(table, "rotational_stiffness", torque);
      load.c = read_three(table, "rotational_damping", torque * u.time);
      break;
    default:
      break;
  }
  table.finish();
  return spec;
}

// What joints are called in the system: those made of several parts have names for the parts.
std::vector<std::string> joint_parts(const std::vector<JointSpec>& joints) {
  std::vector<std::string> names;
  for (const JointSpec& joint : joints) {
    if (joint.and_between) {
      names.push_back(joint.name + ".1");
      names.push_back(joint.name + ".2");
      continue;
    }
    names.push_back(joint.name);
    if (joint.motion && !is_driven(joint.kind)) names.push_back(joint.name + ".motion");
  }
  return names;
}

// components = ["von_mises", "xx"]; all where it is not given.
void read_components(TomlTable& table, std::vector<int>& components) {
  const std::vector<std::string>& names = stress_components();
  for (const std::string& name : table.texts("components").value_or(names)) {
    const auto found = std::find(names.begin(), names.end(), name);
    const int index = static_cast<int>(found - names.begin());
    if (found == names.end())
      table.problem("components", fmt::format("'{}' is none{}; there are: {}", name,
                                              did_you_mean(name, names), fmt::join(names, ", ")));
    else if (std::find(components.begin(), components.end(), index) != components.end())
      table.problem("components", fmt::format("'{}' comes twice", name));
    else
      components.push_back(index);
  }
  if (table.is_list("components") && components.empty())
    table.problem("components", fmt::format("names none of: {}", fmt::join(names, ", ")));
}

SensorSpec read_sensor(TomlTable& table, const SimulationReader& reader, const SimulationSpec& simulation,
                       std::set<std::string>& taken) {
  SensorSpec sensor;
  sensor.where = table.where();
  sensor.name = read_name(table, taken);
  if (!read_kind(table, sensor_names(), sensor.kind)) return sensor;
  if (sensor.kind == SensorKind::Energy) {
    if (table.value("of")) table.problem("of", "the energy is that of the whole system: leave it out");
    table.finish();
    return sensor;
  }
  if (is_stress(sensor.kind)) read_components(table, sensor.components);
  const auto of = table.text("of");
  table.finish();
  if (!of) {
    if (!table.has("of"))
      table.problem("of", is_of_joint(sensor.kind)               ? "is missing: the name of a joint"
                          : sensor.kind == SensorKind::LoadValue ? "is missing: the name of a load"
                                                                 : "is missing: \"BODY.INTERFACE\" or "
                                                                   "\"BODY.node 17\"");
    return sensor;
  }
  sensor.of = *of;
  if (is_of_joint(sensor.kind) || sensor.kind == SensorKind::LoadValue) {
    const bool joint = is_of_joint(sensor.kind);
    // joints are part of a reduced mechanism, and not of its study
    if (joint && reader.rom()) return sensor;
    std::vector<std::string> names;
    if (joint) {
      names = joint_parts(simulation.joints);
      // the motion of a joint goes by the joint's name
      const std::string motion = *of + ".motion";
      if (sensor.kind == SensorKind::Drive && std::find(names.begin(), names.end(), motion) != names.end()) {
        sensor.of = motion;
        return sensor;
      }
    } else
      for (const LoadSpec& load : simulation.loads) names.push_back(load.load.name);
    if (std::find(names.begin(), names.end(), *of) == names.end())
      table.problem("of", fmt::format("there is no {} '{}'{}; {}", joint ? "joint" : "load", *of,
                                      did_you_mean(*of, names), listed(names)));
    return sensor;
  }
  sensor.place = reader.place(table, "of", *of);
  if (sensor.place && sensor.place->is_ground()) table.problem("of", "the ground does not move");
  return sensor;
}

// ---------------------------------------------------------------------------------------------- simulate

std::optional<ParaviewSpec> read_paraview(TomlTable& simulate, const std::vector<BodySpec>& bodies,
                                          bool rom) {
  ParaviewSpec spec;
  spec.where = simulate.where("paraview");
  const TomlValue* value = simulate.value("paraview");
  if (!value) return std::nullopt;
  if (value->is_table()) {
    TomlTable table = *simulate.table("paraview");
    if (const auto every = table.integer("every")) {
      if (*every < 1 || *every > INT_MAX)
        table.problem("every",
                      fmt::format("is {}, expected 1 to {}: every so many samples", *every, INT_MAX));
      else
        spec.every = static_cast<int>(*every);
    }
    spec.velocity = table.boolean("velocity").value_or(spec.velocity);
    spec.stress = table.boolean("stress").value_or(spec.stress);
    if (auto chosen = table.texts("bodies")) {
      spec.bodies = std::move(*chosen);
      // parts of a reduced mechanism are known once it is read
      const std::vector<std::string> names = rom ? spec.bodies : names_of(bodies);
      for (const std::string& name : spec.bodies)
        if (std::find(names.begin(), names.end(), name) == names.end())
          table.problem("bodies", fmt::format("there is no body '{}'{}; {}", name, did_you_mean(name, names),
                                              listed(names)));
    }
    table.finish();
  } else if (!simulate.boolean("paraview").value_or(false)) {
    return std::nullopt;
  }
  const auto has_mesh = [](const BodySpec& body) { return body.ancf || !body.without_mesh(); };
  if (!rom && !bodies.empty() && std::none_of(bodies.begin(), bodies.end(), has_mesh))
    simulate.problem("paraview", "no body has a mesh to be shown; give one a mesh, or leave this out");
  return spec;
}

StressSpec read_stress(TomlTable table, const std::vector<BodySpec>& bodies, const UnitSystem& units,
                       bool rom) {
  StressSpec spec;
  spec.where = table.where();
  if (const TomlValue* value = table.value("bodies"); value && value->is_boolean()) {
    if (!value->as_boolean())
      table.problem("bodies",
                    "is false, expected true for all or a list of names; without stress leave out "
                    "[simulate.stress]");
  } else if (value) {
    spec.all = false;
    spec.bodies = table.texts("bodies").value_or(std::vector<std::string>{});
    const std::vector<std::string> names = rom ? spec.bodies : names_of(bodies);
    for (const std::string& name : spec.bodies)
      if (std::find(names.begin(), names.end(), name) == names.end())
        table.problem("bodies", fmt::format("there is no body '{}'{}; {}", name, did_you_mean(name, names),
                                            listed(names)));
  }
  for (const double t : table.numbers("at").value_or(std::vector<double>{})) {
    if (!(t >= 0)) table.problem("at", fmt::format("has {}, expected times from 0 on", t));
    spec.at.push_back(t * units.time);
  }
  spec.maximum = table.boolean("maximum").value_or(spec.maximum);
  spec.unaveraged = table.boolean("unaveraged").value_or(spec.unaveraged);
  spec.strain = table.boolean("strain").value_or(spec.strain);
  if (spec.at.empty())
    for (const char* key : {"unaveraged", "strain"})
      if ((key[0] == 'u' ? spec.unaveraged : spec.strain))
        table.problem(key, "is given at chosen instants, and there are none: add at = [t, ...]");
  if (spec.at.empty() && !spec.maximum && !table.has("at"))
    table.problem("maximum", "is false, and there are no instants: nothing is asked for; add at = [t, ...]");
  table.finish();
  return spec;
}

// [simulate.inputs], of the inputs that the loads have.
std::vector<InputSpec> read_inputs(TomlTable& table, const std::vector<LoadSpec>& loads,
                                   const SimulationReader& reader) {
  std::vector<InputSpec> inputs;
  std::vector<std::string> names;
  for (const LoadSpec& load : loads)
    if (const std::string& input = load.load.input;
        !input.empty() && std::find(names.begin(), names.end(), input) == names.end())
      names.push_back(input);
  for (const std::string& name : table.key_names()) {
    const auto value = reader.function(table, name.c_str(), 1);
    if (std::find(names.begin(), names.end(), name) == names.end())
      table.problem(name, fmt::format("no load has such an input{}; {}", did_you_mean(name, names),
                                      names.empty() ? "one is made by factor = { input = \"NAME\" } of a load"
                                                    : listed(names)));
    else if (value)
      inputs.push_back({name, *value});
  }
  table.finish();
  return inputs;
}

SimulateSpec read_simulate(TomlTable& table, const std::vector<BodySpec>& bodies,
                           const std::vector<LoadSpec>& loads, const SimulationReader& reader) {
  const UnitSystem& units = reader.units();
  const bool rom = reader.rom();
  SimulateSpec spec;
  spec.where = table.where();
  IntegratorOptions& o = spec.integrator;
  const auto time = [&](const char* key, double& value) {
    if (const auto number = table.number(key)) value = *number * units.time;
  };
  const auto number = [&](const char* key, double& value) {
    if (const auto n = table.number(key)) value = *n;
  };
  const auto integer = [&](const char* key, int& value) {
    if (const auto n = table.integer(key)) {
      if (*n < INT_MIN / 4 || *n > INT_MAX / 4)
        table.problem(key,
                      fmt::format("is {}, expected a number from {} to {}", *n, INT_MIN / 4, INT_MAX / 4));
      else
        value = static_cast<int>(*n);
    }
  };
  table.choice(std::string_view("integrator"), integrator_names(), o.integrator);
  time("end", o.end);
  time("step", o.step);
  time("sample", o.sample);
  number("rho_inf", o.rho_inf);
  number("alpha", o.alpha);
  integer("index", o.index);
  integer("max_order", o.max_order);
  o.adaptive = table.boolean("adaptive").value_or(o.adaptive);
  number("tolerance", o.tolerance);
  number("elastic_tolerance", o.elastic_tolerance);
  time("min_step", o.min_step);
  time("max_step", o.max_step);
  number("newton_tolerance", o.newton.tolerance);
  integer("newton_iterations", o.newton.max_iterations);
  number("newton_reuse", o.newton.reuse_rate);
  spec.assemble = table.boolean("assemble").value_or(false);
  spec.share = table.boolean("share").value_or(true);
  table.choice<bool>("start", {{"placed", false}, {"static", true}}, spec.start_static);
  if (rom) spec.model = MechanismModel::Slap;
  table.choice(std::string_view("model"), mechanism_model_names(), spec.model);
  table.choice<bool>("kernel", {{"model", false}, {"exact", true}}, spec.exact_kernel);
  if (spec.exact_kernel && spec.model != MechanismModel::Slap)
    table.problem("kernel", "is of a mechanism reduced by SLAP: model = \"slap\" or a model of that kind");
  if (const auto times = table.numbers("check_at"))
    for (const double t : *times) {
      if (!(t >= 0)) table.problem("check_at", fmt::format("has {}, expected times from 0 on", t));
      spec.check_at.push_back(t * units.time);
    }
  table.renamed("vtu", "paraview");
  spec.paraview = read_paraview(table, bodies, rom);
  if (auto stress = table.table("stress")) spec.stress = read_stress(*stress, bodies, units, rom);
  if (auto inputs = table.table("inputs")) spec.inputs = read_inputs(*inputs, loads, reader);
  // a few unknowns: a new matrix for every iteration costs nothing, and an old one's errors add up
  if (spec.is_reduced() && !table.has("newton_reuse")) o.newton.reuse_rate = 0;

  if (const TomlValue* nodes = table.value("nodes"); nodes && nodes->is_boolean()) {
    spec.all_nodes = nodes->as_boolean();
    if (spec.all_nodes) spec.nodes = names_of(bodies);
  } else if (nodes) {
    spec.nodes = table.texts("nodes").value_or(std::vector<std::string>{});
    const std::vector<std::string> names = rom ? spec.nodes : names_of(bodies);
    for (const std::string& name : spec.nodes)
      if (std::find(names.begin(), names.end(), name) == names.end())
        table.problem("nodes", fmt::format("there is no body '{}'{}; {}", name, did_you_mean(name, names),
                                           listed(names)));
  }
  if (!table.has("end"))
    table.problem("end", "is missing: the time at which the simulation ends");
  else if (const auto end = table.number("end");
           end && !(*end > 0 || (*end == 0 && o.integrator == Integrator::Static)))
    table.problem("end", fmt::format("is {}, expected a time after 0", *end));
  else
    for (const std::string& problem : o.problems(nullptr)) {
      // each begins with its key, if it is about one
      static const std::map<std::string, std::string> keys = {{"newton tolerance", "newton_tolerance"},
                                                              {"newton max_iterations", "newton_iterations"},
                                                              {"newton reuse_rate", "newton_reuse"}};
      std::string key = problem.substr(0, problem.find(" is "));
      if (const auto it = keys.find(key); it != keys.end()) key = it->second;
      if (table.has(key))
        table.problem(key, problem.substr(problem.find(" is ") + 1));
      else if (key == "step")
        table.problem(key, fmt::format("is missing: {} has a fixed step", name_of(o.integrator)));
      else
        table.problem_here(problem);
    }
  table.finish();
  return spec;
}

Matrix3d read_rotation(TomlTable table) {
  Matrix3d R = Matrix3d::Identity();
  const int kinds =
      (table.has("axis") ? 1 : 0) + (table.has("matrix") ? 1 : 0) + (table.has("vector") ? 1 : 0);
  if (const auto axis = table.vector3("axis")) {
    const auto radians = table.number("angle"), degrees = table.number("angle_deg");
    if (radians.has_value() == degrees.has_value())
      table.problem("angle", "exactly one of angle (in radians) and angle_deg is expected");
    if (!(axis->norm() > 0))
      table.problem("axis", "is zero, expected a direction");
    else
      R = Eigen::AngleAxisd(degrees ? *degrees * std::numbers::pi / 180 : radians.value_or(0),
                            axis->normalized())
              .toRotationMatrix();
  }
  if (const auto vector = table.vector3("vector"); vector && vector->norm() > 0)
    R = Eigen::AngleAxisd(vector->norm(), vector->normalized()).toRotationMatrix();
  if (const TomlValue* rows = table.value("matrix")) {
    bool good = rows->is_array() && rows->as_array().size() == 3;
    for (int i = 0; good && i < 3; ++i) {
      const TomlValue& row = rows->as_array()[i];
      good = row.is_array() && row.as_array().size() == 3;
      for (int j = 0; good && j < 3; ++j) {
        const auto number = number_of(row.as_array()[j]);
        good = number.has_value();
        R(i, j) = number.value_or(0);
      }
    }
    if (!good) {
      table.problem("matrix", "expected three rows of three numbers");
    } else if ((R.transpose() * R - Matrix3d::Identity()).norm() > 1e-6 || R.determinant() < 0) {
      table.problem("matrix",
                    "is no rotation: its columns are not right-handed unit vectors at right angles");
    } else {
      // to the last digit: through the nearest unit quaternion
      R = Eigen::Quaterniond(R).normalized().toRotationMatrix();
    }
  }
  if (kinds != 1)
    table.problem_here(
        "exactly one of axis with angle_deg, vector = [x, y, z] and matrix = [[..], [..], [..]] is expected");
  table.finish();
  return R;
}

RigidBodySpec read_rigid(TomlTable table, const UnitSystem& u) {
  RigidBodySpec rigid;
  const double inertia = u.mass * u.length * u.length;
  if (const auto mass = table.number("mass")) {
    rigid.mass = *mass * u.mass;
    if (!(*mass > 0)) table.problem("mass", fmt::format("is {}, expected a positive number", *mass));
  } else if (!table.has("mass")) {
    table.problem("mass", "is missing");
  }
  if (table.has("center") && table.has("centre"))
    table.problem("centre", "says the same as 'center': give one of the two");
  const auto center = table.vector3("center"), centre = table.vector3("centre");
  rigid.centre = center.value_or(centre.value_or(Vector3d::Zero())) * u.length;
  const auto numbers = table.numbers("inertia");
  if (!numbers) {
    if (!table.has("inertia"))
      table.problem("inertia",
                    "is missing: [xx, yy, zz] or [xx, yy, zz, xy, yz, zx] about the centre of mass");
  } else if (numbers->size() != 3 && numbers->size() != 6) {
    table.problem("inertia",
                  fmt::format("expected three numbers, xx yy zz, or six, xx yy zz xy yz zx; found {}",
                              numbers->size()));
  } else {
    const auto& n = *numbers;
    rigid.inertia.diagonal() = Vector3d(n[0], n[1], n[2]) * inertia;
    if (n.size() == 6) {
      rigid.inertia(0, 1) = rigid.inertia(1, 0) = n[3] * inertia;
      rigid.inertia(1, 2) = rigid.inertia(2, 1) = n[4] * inertia;
      rigid.inertia(2, 0) = rigid.inertia(0, 2) = n[5] * inertia;
    }
  }
  table.finish();
  return rigid;
}

}  // namespace

int split_place(const std::string& text, const std::vector<std::string>& parts, std::string& rest) {
  int found = -1;
  size_t length = 0;
  for (size_t i = 0; i < parts.size(); ++i)
    if (text.starts_with(parts[i] + ".") && parts[i].size() + 1 > length) {
      length = parts[i].size() + 1;
      found = static_cast<int>(i);
    }
  if (found >= 0) rest = text.substr(length);
  return found;
}

std::vector<std::int64_t> node_numbers(const std::string& text) {
  std::vector<std::int64_t> ids;
  const auto words = split_blanks(text);
  const bool nodes =
      words.size() > 1 && (words[0] == "node" || words[0] == "nodes") && parse_long(words[1]).has_value();
  for (size_t i = 1; nodes && i < words.size(); ++i) {
    const auto id = parse_long(words[i]);
    if (!id) fail_input("'{}': '{}' is no number of a node", text, words[i]);
    ids.push_back(*id);
  }
  return ids;
}

std::optional<std::vector<std::string>> known_places(const BodySpec& body) {
  std::vector<std::string> names;
  if (body.rigid) {
    for (const auto& [name, point] : body.rigid->points) names.push_back(name);
    return names;
  }
  if (body.ancf) return std::vector<std::string>{"start", "end"};
  if (!body.reduce) return std::nullopt;
  for (const InterfaceSpec& interface : body.reduce->options.interfaces) names.push_back(interface.name);
  return names;
}

void read_moving_body(TomlTable& table, BodySpec& body) {
  const UnitSystem& u = body.units;
  table.choice(std::string_view("formulation"), formulation_names(), body.formulation);
  const auto vector = [&](const char* key, double scale, Vector3d& value) {
    if (const auto v = table.vector3(key)) value = *v * scale;
  };
  vector("position", u.length, body.placement.position);
  vector("velocity", u.length / u.time, body.placement.velocity);
  vector("angular_velocity", 1 / u.time, body.placement.angular_velocity);
  if (auto rotation = table.table("rotation")) body.placement.rotation = read_rotation(*rotation);

  if (auto rigid = table.table("rigid")) {
    body.rigid = read_rigid(*rigid, u);
    body.rigid->name = body.name;
    if (table.has("formulation") && body.formulation != Formulation::Rigid)
      table.problem("formulation", fmt::format("is \"{}\", but a body from numbers is rigid and has no "
                                               "deformation: leave it out",
                                               name_of(body.formulation)));
    body.formulation = Formulation::Rigid;
  }
  if (auto points = table.table("points")) {
    if (!body.rigid) {
      table.problem("points", "go with rigid = { ... }; other bodies have interfaces and nodes");
    } else {
      for (const auto& [name, value] : table.value("points")->as_table())
        if (const auto point = points->vector3(name))
          body.rigid->points.emplace_back(name, *point * u.length);
      // a table has no order of its own
      std::sort(body.rigid->points.begin(), body.rigid->points.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
    }
  }
}

std::vector<std::string> inputs_without_value(const SimulationSpec& simulation) {
  std::vector<std::string> names;
  for (const LoadSpec& load : simulation.loads) {
    const std::string& input = load.load.input;
    const auto has = [&](const auto& list, auto name_of) {
      return std::any_of(list.begin(), list.end(), [&](const auto& one) { return name_of(one) == input; });
    };
    if (input.empty() || has(names, [](const std::string& name) { return name; })) continue;
    if (simulation.simulate &&
        has(simulation.simulate->inputs, [](const InputSpec& one) { return one.name; }))
      continue;
    names.push_back(input);
  }
  return names;
}

std::string missing_input(const std::string& name) {
  return fmt::format(
      "nobody says what the input '{}' is: give it in [simulate.inputs], {} = \"5*sin(t)\", or simulate with "
      "a "
      "controller (Python, C++)",
      name, name);
}

StressOptions stress_needs(const SimulationSpec& simulation) {
  StressOptions needs = {false, false};
  for (const SensorSpec& sensor : simulation.sensors) {
    if (sensor.kind == SensorKind::Stress) needs.stress = true;
    if (sensor.kind == SensorKind::Strain) needs.strain = true;
  }
  if (simulation.simulate && simulation.simulate->stress) {
    needs.stress = true;
    if (simulation.simulate->stress->strain) needs.strain = true;
  }
  if (simulation.simulate && simulation.simulate->paraview && simulation.simulate->paraview->stress)
    needs.stress = true;
  return needs;
}

std::optional<SimulationSpec> read_simulation_spec(TomlTable& root, const std::vector<BodySpec>& bodies,
                                                   const UnitSystem& units,
                                                   const std::filesystem::path& folder, bool rom) {
  SimulationSpec spec;
  spec.units = units;
  bool any = false;
  for (const char* key : {"joints", "loads", "sensors", "simulate", "gravity", "linearise", "response"})
    any = any || root.has(key);
  if (const auto gravity = root.vector3("gravity"))
    spec.gravity = *gravity * units.length / (units.time * units.time);
  const SimulationReader reader(bodies, units, folder, rom);
  std::set<std::string> joints, loads, sensors;
  for (TomlTable& table : root.tables("joints")) spec.joints.push_back(read_joint(table, reader, joints));
  for (TomlTable& table : root.tables("loads")) spec.loads.push_back(read_load(table, reader, loads));
  // both are asked for by name in a response
  for (const LoadSpec& load : spec.loads)
    if (loads.contains(load.load.input))
      root.problem("loads", fmt::format("the input '{}' has the name of a load; expected another one",
                                        load.load.input));
  for (TomlTable& table : root.tables("sensors"))
    spec.sensors.push_back(read_sensor(table, reader, spec, sensors));
  if (auto table = root.table("simulate")) spec.simulate = read_simulate(*table, bodies, spec.loads, reader);
  if (!any) return std::nullopt;
  return spec;
}

}  // namespace lissom

#include "lissom/io/new_study.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "lissom/core/text.hpp"
#include "lissom/io/study_schema.hpp"

namespace lissom {

namespace {

// A line that ends in "#: TABLE KEY" gets the key's meaning as comment, one of "#: TABLE" the table's, and
// one that ends in "#? TABLE KEY" the words of the key.

const char* const bar_geometry = R"toml(// A bar of 300 by 20 by 10 mm, in metres, along x.
SetFactory("OpenCASCADE");
Box(1) = {0, -0.01, -0.005, 0.3, 0.02, 0.01};
Physical Volume("bar") = {1};
Mesh.CharacteristicLengthMin = 0.01;
Mesh.CharacteristicLengthMax = 0.01;
)toml";

// The body that most kinds have.
const char* const bar = R"toml(
[bodies.bar]                              #: bodies.NAME
mesh = "bar.geo"                          #: bodies.NAME mesh
mesh_order = 2                            #: bodies.NAME mesh_order
material = { name = "steel", E = "210 GPa", nu = 0.3, rho = "7850 kg/m^3" }
)toml";

const char* const faces = R"toml(
[[bodies.bar.spiders]]                    #: bodies.NAME.spiders
name = "left"
kind = "rigid"                            #? bodies.NAME.spiders kind
box = { min = [-0.001, -1, -1], max = [0.001, 1, 1] }

[[bodies.bar.spiders]]
name = "right"
kind = "rigid"
box = { min = [0.299, -1, -1], max = [0.301, 1, 1] }
)toml";

const char* const reduce = R"toml(
[bodies.bar.reduce]                       #: bodies.NAME.reduce
interfaces = ["left", "right"]
modes = 4                                 #: bodies.NAME.reduce modes
tolerance = 0.001                         #: bodies.NAME.reduce tolerance
damping = { ratio = 0.01 }                #: bodies.NAME.reduce.damping ratio
)toml";

const char* const pendulum = R"toml(
[[joints]]                                #: joints
name = "hinge"
kind = "revolute"                         #: joints kind
between = ["ground", "bar.left"]          #: joints between
axis = [0, 1, 0]                          #: joints axis

[[loads]]                                 #: loads
name = "push"
kind = "force"                            #? loads kind
on = "bar.right"
force = [0, 0, "load*ramp(t, 0, 0.02)"]   #: loads force

[[sensors]]                               #: sensors
name = "tip"
kind = "position"                         #? sensors kind
of = "bar.right"

[simulate]                                #: simulate
end = "100 ms"                            #: simulate end
step = 5e-4                               #: simulate step
sample = 1e-3                             #: simulate sample
)toml";

const char* const fall = R"toml(gravity = [0, 0, "-9.81 m/s^2"]

[parameters]                              # numbers with a name: --set load=-20, "= load/2"
load = -10
)toml";

const char* const rigid = R"toml(gravity = [0, "-9.81 m/s^2", 0]

[parameters]
crank = 0.1                               # lengths, m
rod = 0.3
speed = "300 rpm"

[bodies.crank]                            #: bodies.NAME
rigid = { mass = 0.5, center = ["= crank/2", 0, 0], inertia = [1e-4, 5e-4, 5e-4] }
points = { hub = [0, 0, 0], pin = ["= crank", 0, 0] }

[bodies.rod]
rigid = { mass = 0.8, center = ["= rod/2", 0, 0], inertia = [1e-4, 6e-3, 6e-3] }
points = { big = [0, 0, 0], small = ["= rod", 0, 0] }
position = ["= crank", 0, 0]              #: bodies.NAME position

[[joints]]                                #: joints
name = "shaft"
kind = "revolute"                         #: joints kind
between = ["ground", "crank.hub"]         #: joints between
axis = [0, 0, 1]
motion = "speed*t"                        #: joints motion

[[joints]]
name = "crank pin"
kind = "revolute"
between = ["crank.pin", "rod.big"]
axis = [0, 0, 1]

[[joints]]
name = "guide"
kind = "point-on-plane"
between = ["ground", "rod.small"]
axis = [0, 1, 0]

[[sensors]]                               #: sensors
name = "piston"
kind = "position"
of = "rod.small"

[[sensors]]
name = "torque"
kind = "drive"
of = "shaft"

[simulate]                                #: simulate
end = 0.4                                 #: simulate end
step = 5e-4                               #: simulate step
sample = 2e-3                             #: simulate sample
)toml";

const char* const pod_study = R"toml(gravity = [0, -9.81, 0]

[parameters]
stiffness = "1 MPa"                       # Young's modulus of the lower bar

[bodies.upper]
formulation = "ancf"                      # a beam that may bend far
from = [0, 0]                             #: bodies.NAME from
to = [0.5, 0]                             #: bodies.NAME to
elements = 6                              #: bodies.NAME elements
section = { rectangle = ["30 mm", "30 mm"] }
young = "80 MPa"                          #: bodies.NAME young
density = 675                             #: bodies.NAME density

[bodies.lower]
formulation = "ancf"
from = [0.5, 0]
to = [1, 0]
elements = 6
section = { rectangle = ["30 mm", "30 mm"] }
young = "= stiffness"
density = 545

[[joints]]
name = "O"
kind = "revolute"
between = ["ground", "upper.start"]

[[joints]]
name = "A"
kind = "revolute"
between = ["upper.end", "lower.start"]

[[sensors]]
name = "tip"
kind = "position"
of = "lower.end"

[simulate]
integrator = "hht-i3"                     #: simulate integrator
step = 1e-3                               #: simulate step
end = 0.2                                 #: simulate end

[train]                                   #: train
method = "pod"                            #? train method
order = 10                                #: train order

[train.parameters.stiffness]              #: train.parameters.NAME
key = "parameters.stiffness"              #: train.parameters.NAME key
values = [0.8e6, 1.2e6]                   #: train.parameters.NAME values

[[cases]]                                 #: cases
name = "reduced"
set = { "simulate.model" = "pod" }        #: cases set
)toml";

const char* const matrices = R"toml(
[bodies.chain]                            #: bodies.NAME
stiffness = "K.mtx"                       #: bodies.NAME stiffness
mass_matrix = "M.mtx"                     #: bodies.NAME mass_matrix
dofs = "labels.dof"                       #: bodies.NAME dofs

[bodies.chain.modes]                      #: bodies.NAME.modes
count = 4                                 #: bodies.NAME.modes count
paraview = false                          #: bodies.NAME.modes paraview
)toml";

const char* const chain_stiffness = R"toml(%%MatrixMarket matrix coordinate real symmetric
% four masses in a row, joined by three springs of 1000 N/m: put your own matrix here
4 4 7
1 1 1000
2 1 -1000
2 2 2000
3 2 -1000
3 3 2000
4 3 -1000
4 4 1000
)toml";

const char* const chain_mass = R"toml(%%MatrixMarket matrix coordinate real symmetric
% kg
4 4 4
1 1 1
2 2 1
3 3 1
4 4 1
)toml";

struct Template {
  NewStudyKind kind;
  std::string title;
  std::string study;
  std::vector<std::pair<std::string, std::string>> files;
};

const std::vector<Template>& templates() {
  const std::pair<std::string, std::string> geometry = {"bar.geo", bar_geometry};
  static const std::vector<Template> list = {
      {{"mechanism", "a flexible bar on a hinge, from a geometry, reduced and simulated"},
       "A flexible pendulum",
       std::string(fall) + bar + faces + reduce + pendulum,
       {geometry}},
      {{"modes", "natural modes of a body from a geometry"},
       "Modes of a bar",
       std::string(bar) + faces + R"toml(
[bodies.bar.modes]                        #: bodies.NAME.modes
count = 8                                 #: bodies.NAME.modes count
fix = "left"                              #: bodies.NAME.modes fix
)toml",
       {geometry}},
      {{"reduce", "a body reduced to a given accuracy"},
       "A bar, reduced",
       std::string(bar) + faces + reduce,
       {geometry}},
      {{"slap", "the flexible pendulum, reduced as a whole to a small ODE"},
       "A flexible pendulum as a small ODE",
       std::string(fall) + bar + faces + reduce + pendulum + R"toml(
[train]                                   #: train
max_order = 10                            #: train max_order

[[cases]]                                 #: cases
name = "small"
set = { "simulate.model" = "slap" }       #: cases set
)toml",
       {geometry}},
      {{"pod", "beams that bend far, reduced for a parameter"}, "Falling soft bars", pod_study, {}},
      {{"rigid", "a slider-crank of rigid bodies, from numbers alone"}, "A slider-crank", rigid, {}},
      {{"matrices", "modes from K and M of another program"},
       "Modes from matrices",
       matrices,
       {{"K.mtx", chain_stiffness}, {"M.mtx", chain_mass}, {"labels.dof", "1.1\n2.1\n3.1\n4.1\n"}}},
  };
  return list;
}

const TableSchema& schema_of(std::string_view name) {
  for (const TableSchema* table : all_tables(study_schema()))
    if (table->name == name) return *table;
  LISSOM_ASSERT(false);
  return study_schema();
}

// Without links and quotation marks of Markdown.
std::string plain(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '`') continue;
    if (text[i] == '[')
      if (const size_t end = text.find(']', i); end != std::string::npos && text.substr(end, 2) == "](")
        if (const size_t close = text.find(')', end); close != std::string::npos) {
          out += text.substr(i + 1, end - i - 1);
          i = close;
          continue;
        }
    out += text[i];
  }
  return out;
}

// The comment that "TABLE KEY" stands for.
std::string comment(std::string_view what, bool words) {
  const auto fields = split_blanks(what);
  const TableSchema& table = schema_of(fields[0]);
  if (fields.size() == 1) return table.meaning;
  const KeySchema* key = table.find(fields[1]).front();
  if (words) {
    std::vector<std::string> list;
    for (const WordSchema& choice : key->choices)
      if (choice.listed) list.push_back(choice.word);
    return fmt::format("one of {}", fmt::join(list, ", "));
  }
  std::string text = plain(key->meaning);
  // what a study to begin with needs to say of it
  text = text.substr(0, std::min(text.find(", see "), text.size()));
  if (!key->required && !key->otherwise.empty() && key->otherwise.size() < 30)
    text += fmt::format(" (default: {})", plain(key->otherwise));
  else if (!key->required && key->has_fallback())
    text += fmt::format(" (default: {})", plain(fallback_text(*key)));
  return text;
}

std::string with_comments(const std::string& text) {
  std::string out;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t plain_at = line.find("#: "), words_at = line.find("#? ");
    const size_t at = std::min(plain_at, words_at);
    if (at == std::string_view::npos)
      out += std::string(line) + "\n";
    else
      out += fmt::format("{}# {}\n", line.substr(0, at), comment(line.substr(at + 3), words_at < plain_at));
  }
  return out;
}

}  // namespace

const std::vector<NewStudyKind>& new_study_kinds() {
  static const std::vector<NewStudyKind> kinds = [] {
    std::vector<NewStudyKind> list;
    for (const Template& one : templates()) list.push_back(one.kind);
    return list;
  }();
  return kinds;
}

std::vector<std::pair<std::string, std::string>> new_study(const std::string& kind, const std::string& name,
                                                           const std::string& schema) {
  std::vector<std::string> kinds;
  for (const Template& one : templates()) {
    kinds.push_back(one.kind.name);
    if (one.kind.name != kind) continue;
    std::string text;
    if (!schema.empty()) text += fmt::format("#:schema {}\n", schema);
    text += fmt::format("# {}.\n#   lissom check {}.toml\n#   lissom run {}.toml --out results\n", one.title,
                        name, name);
    text += fmt::format("title = \"{}\"\nunits = \"SI\"{}# {}\n", one.title, std::string(30, ' '),
                        "m, kg, s; numbers may have their own units: \"26 mm\"");
    text += with_comments(one.study);
    std::vector<std::pair<std::string, std::string>> files = {{name + ".toml", text}};
    files.insert(files.end(), one.files.begin(), one.files.end());
    return files;
  }
  fail_input("'{}' is no kind of study{}; there are: {}", kind, did_you_mean(kind, kinds),
             fmt::join(kinds, ", "));
}

}  // namespace lissom

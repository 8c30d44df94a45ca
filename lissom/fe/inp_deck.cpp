// Cards of Abaqus and CalculiX input files. Three layers: Lines delivers lines through includes, without
// comments; Card is a keyword line with its parameters; DeckReader has one function per keyword.
#include "lissom/fe/inp_deck.hpp"

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <set>

#include "lissom/core/include_chain.hpp"
#include "lissom/core/text.hpp"

namespace lissom::inp {

namespace {

constexpr size_t max_include_depth = 20;
constexpr int max_includes = 1000;  // in total: a few files that include each other twice grow without bound
constexpr long max_id = std::numeric_limits<std::int32_t>::max();  // of CalculiX; Abaqus allows nine digits
constexpr double degree = std::numbers::pi / 180;

// a comma that stands in no quotes ends a field; fields are trimmed, empty ones kept
class CommaFields {
 public:
  explicit CommaFields(std::string_view line) : rest_(line) {}
  bool next(std::string_view& field) {
    if (done_) return false;
    bool quoted = false;
    size_t end = 0;
    for (; end < rest_.size() && (quoted || rest_[end] != ','); ++end)
      if (rest_[end] == '"') quoted = !quoted;
    field = trim(rest_.substr(0, end));
    done_ = end >= rest_.size();
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return true;
  }

 private:
  std::string_view rest_;
  bool done_ = false;
};

std::string unquoted(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = trim(text.substr(1, text.size() - 2));
  return std::string(text);
}

// keywords and parameter names are the same with and without blanks in them, in CalculiX at least
std::string normal_form(std::string_view text) {
  std::string out = to_upper(text);
  std::erase_if(out, [](char c) { return c == ' ' || c == '\t'; });
  return out;
}

struct DeckCard {
  std::string keyword;                                          // normal form, without the star
  std::string shown;                                            // as the file has it, for messages
  std::vector<std::pair<std::string, std::string>> parameters;  // name in normal form, value unquoted
  Place place;

  bool has(std::string_view name) const { return find(name) != nullptr; }
  // the value, or an empty string
  std::string value(std::string_view name) const {
    const std::string* text = find(name);
    return text ? *text : std::string();
  }

 private:
  const std::string* find(std::string_view name) const {
    for (const auto& [key, text] : parameters)
      if (key == name) return &text;
    return nullptr;
  }
};

// Lines of a file and its includes. A view is valid until the next call.
class Lines {
 public:
  Lines(std::string_view bytes, const std::string& path, const FileLoader& load, Deck& deck)
      : load_(load), deck_(deck) {
    push(bytes, path);
  }

  // the next line that is neither blank nor a comment, includes followed; false at the end
  bool next(std::string_view& line) {
    while (raw(line)) {
      if (!follow_includes || !istarts_with(line, "*INCLUDE")) return true;
      const DeckCard include = card(line);
      if (include.keyword != "INCLUDE")
        fail_input(deck_.pos(include.place), "unknown keyword *{}", include.shown);
      open(include);
    }
    return false;
  }
  void put_back() { stack_.back()->reader.put_back(); }

  // the keyword line that `line` begins; a comma at its end continues it on the next line
  DeckCard card(std::string_view line) {
    DeckCard card;
    card.place = place();
    std::string text(line);
    while (!text.empty() && text.back() == ',' && raw(line)) {
      if (line.front() == '*') {
        put_back();
        break;
      }
      text += line;
    }
    CommaFields fields(std::string_view(text).substr(1));
    std::string_view field;
    fields.next(field);
    card.shown = std::string(field.substr(0, 60));
    card.keyword = normal_form(field);
    while (fields.next(field)) {
      if (field.empty()) continue;
      const size_t equal = field.find('=');
      std::string value;
      if (equal != std::string_view::npos) value = unquoted(field.substr(equal + 1));
      card.parameters.emplace_back(normal_form(field.substr(0, equal)), std::move(value));
    }
    return card;
  }

  // continues in the file that the card's INPUT= names, which is relative to the file of the card
  void open(const DeckCard& card) {
    const SourcePos pos = deck_.pos(card.place);
    std::string name = card.value("INPUT");
    if (name.empty()) fail_input(pos, "*{} names no file; expected INPUT=file", card.shown);
    // decks that were written on Windows
    std::replace(name.begin(), name.end(), '\\', '/');
    const auto path =
        (std::filesystem::path(deck_.files[card.place.file]).parent_path() / name).lexically_normal();
    for (const auto& source : stack_)
      if (std::filesystem::path(deck_.files[source->file]).lexically_normal() == path)
        fail_input(pos, "'{}' includes itself: {}", path.string(), chain_to(path));
    if (stack_.size() > max_include_depth)
      fail_input(pos, "files are included more than {} deep: {}", max_include_depth, chain_to(path));
    if (++includes_ > max_includes)
      fail_input(pos, "more than {} files are included; the last one is {}", max_includes, chain_to(path));
    std::string bytes;
    try {
      bytes = load_ ? load_(path) : read_file(path);
    } catch (const InputError& error) {
      fail_input(pos, "included file cannot be had: {}", error.what());
    }
    // the stack owns the bytes: a short string's would move with it
    auto owned = std::make_unique<std::string>(std::move(bytes));
    push(*owned, path.string());
    stack_.back()->owned = std::move(owned);
  }

  Place place() const {
    return {stack_.back()->file, static_cast<int>(std::min<long>(stack_.back()->reader.line(), max_id))};
  }

  bool follow_includes = true;

 private:
  struct Source {
    LineReader reader;
    int file;
    std::unique_ptr<std::string> owned;
  };

  // "m.inp -> a.inp -> b.inp": by which files this one is included
  std::string chain_to(const std::filesystem::path& last) const {
    std::vector<std::string> files;
    for (const auto& source : stack_) files.push_back(deck_.files[source->file]);
    files.push_back(last.string());
    return shown_chain(files);
  }

  void push(std::string_view bytes, const std::string& path) {
    if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);  // byte-order mark
    stack_.push_back(std::make_unique<Source>(
        Source{LineReader(bytes, path), static_cast<int>(deck_.files.size()), nullptr}));
    deck_.files.push_back(path);
  }

  bool raw(std::string_view& line) {
    while (true) {
      while (stack_.back()->reader.next(line)) {
        line = trim(line);
        if (!line.empty() && !line.starts_with("**")) return true;
      }
      // the first file stays, so that place() has an answer
      if (stack_.size() == 1) return false;
      stack_.pop_back();
    }
  }

  const FileLoader& load_;
  Deck& deck_;
  std::vector<std::unique_ptr<Source>> stack_;
  int includes_ = 0;
};

// What *ELEMENT, TYPE= means to us.
struct TypeMeaning {
  std::optional<ElementType> type;
  int nodes = 0;       // 0: not known, lines are continued by a comma at their end
  bool exact = false;  // ours is the same element, not only one with the same nodes
  bool solid = false;
  // An element without stiffness of its own, or one that marks a face or an edge (Gmsh writes CPS3 and T3D2
  // for those) as long as no section makes a body of it.
  bool marker = false;
};

bool is_marker(std::string_view upper_type) {
  for (const std::string_view prefix :
       {"CPS", "CPE", "CAX", "T2D", "T3D", "SFM", "R2D", "R3D", "RAX", "RB2D", "RB3D"})
    if (upper_type.starts_with(prefix)) return true;
  return false;
}

TypeMeaning meaning_of(std::string_view upper_type) {
  TypeMeaning meaning;
  meaning.marker = is_marker(upper_type);
  const size_t start = upper_type.find("C3D");
  if (start == std::string_view::npos) return meaning;
  size_t end = start + 3;
  while (end < upper_type.size() && end < start + 6 && upper_type[end] >= '0' && upper_type[end] <= '9')
    ++end;
  const auto nodes = parse_long(upper_type.substr(start + 3, end - start - 3));
  const std::string_view suffix = upper_type.substr(end);
  // C3D15V and C3D27 have mid-face nodes that may be left out
  if (!nodes || suffix.find('V') != std::string_view::npos) return meaning;
  meaning.nodes = static_cast<int>(*nodes);
  meaning.solid = start == 0;
  if (!meaning.solid) return meaning;
  if (!std::all_of(suffix.begin(), suffix.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) return meaning;
  for (ElementType type : all_element_types)
    if (node_count(type) == meaning.nodes) meaning.type = type;
  // hex8 has incompatible modes, which are the I of C3D8I
  meaning.exact = meaning.type && suffix == (meaning.type == ElementType::Hex8 ? "I" : "");
  return meaning;
}

// cards that say nothing about the body: passed over without a word
const std::set<std::string_view> harmless = {"HEADING",         "PREPRINT",     "RESTART",
                                             "ASSEMBLY",        "ENDASSEMBLY",  "ENDSTEP",
                                             "SECTIONCONTROLS", "AMPLITUDE",    "PHYSICALCONSTANTS",
                                             "TIMEPOINTS",      "NODEPRINT",    "NODEFILE",
                                             "NODEOUTPUT",      "ELPRINT",      "ELFILE",
                                             "ELEMENTOUTPUT",   "OUTPUT",       "FILEFORMAT",
                                             "FILTER",          "ENDSUBMODEL",  "CONTACTFILE",
                                             "CONTACTPRINT",    "DEFAULTOUTPUT"};

// cards that join or hold nodes; leaving them out changes the body more than a missing load does
const std::set<std::string_view> constraints = {
    "TIE",         "EQUATION", "EMBEDDEDELEMENT", "CYCLICSYMMETRYMODEL", "SHELLTOSOLIDCOUPLING", "CONTACT",
    "CONTACTPAIR", "FASTENER", "JOINT",           "PRETENSIONSECTION",   "DISTRIBUTINGCOUPLING"};

// cards that bring stiffness or mass without an element of their own
const std::set<std::string_view> bodies = {"NONSTRUCTURALMASS", "MATRIXINPUT", "MATRIXASSEMBLE"};

// cards that make or move nodes and elements: a mesh without them would be wrong
const std::set<std::string_view> generators = {"NGEN", "NFILL", "NCOPY", "NMAP", "ELGEN", "ELCOPY", "SYSTEM"};

class DeckReader {
 public:
  DeckReader(std::string_view bytes, const std::string& path, const FileLoader& load,
             Diagnostics& diagnostics)
      : diagnostics_(diagnostics), lines_(bytes, path, load, deck_) {}

  Deck read() {
    std::string_view line;
    while (lines_.next(line)) {
      if (line.front() != '*')
        fail_input(here(), "expected a keyword line that begins with '*', found '{}'", line.substr(0, 40));
      const DeckCard card = lines_.card(line);
      const auto it = keywords().find(card.keyword);
      if (it != keywords().end())
        (this->*it->second)(card);
      else
        skip(card);
    }
    finish();
    return std::move(deck_);
  }

 private:
  using Handler = void (DeckReader::*)(const DeckCard&);
  static const std::map<std::string_view, Handler>& keywords() {
    static const std::map<std::string_view, Handler> table = {
        {"NODE", &DeckReader::nodes},
        {"ELEMENT", &DeckReader::elements},
        {"NSET", &DeckReader::node_set},
        {"ELSET", &DeckReader::element_set},
        {"SURFACE", &DeckReader::surface},
        {"MATERIAL", &DeckReader::material},
        {"ELASTIC", &DeckReader::elastic},
        {"DENSITY", &DeckReader::density},
        {"SOLIDSECTION", &DeckReader::solid_section},
        {"ORIENTATION", &DeckReader::orientation},
        {"PART", &DeckReader::part},
        {"ENDPART", &DeckReader::end_part},
        {"INSTANCE", &DeckReader::instance},
        {"ENDINSTANCE", &DeckReader::end_instance},
        {"STEP", &DeckReader::step},
        {"BOUNDARY", &DeckReader::boundary},
        {"COUPLING", &DeckReader::coupling},
        {"KINEMATIC", &DeckReader::kinematic},
        {"DISTRIBUTING", &DeckReader::distributing},
        {"RIGIDBODY", &DeckReader::rigid_body},
        {"KINEMATICCOUPLING", &DeckReader::kinematic_coupling},
        {"MPC", &DeckReader::mpc},
    };
    return table;
  }

  SourcePos here() const { return deck_.pos(lines_.place()); }
  SourcePos pos(const DeckCard& card) const { return deck_.pos(card.place); }
  Part& scope() { return deck_.parts[current_part_]; }

  // the card's next data line; false at the next keyword
  bool data(std::string_view& line) {
    if (!lines_.next(line)) return false;
    if (line.front() != '*') return true;
    lines_.put_back();
    return false;
  }
  void skip_data() {
    std::string_view line;
    while (data(line)) {
    }
  }

  std::string required(const DeckCard& card, std::string_view name) const {
    std::string value = card.value(name);
    if (value.empty()) fail_input(pos(card), "*{} without {}=", card.shown, name);
    return value;
  }

  std::int64_t to_id(std::string_view field, std::string_view what) {
    // the place is made only when it is needed: it costs more than the number
    const auto value = parse_long(field);
    if (!value) fail_input(here(), "expected {}, found '{}'", what, field.substr(0, 40));
    if (*value < 1 || *value > max_id)
      fail_input(here(), "{} is {}, expected a number from 1 to {}", what, *value, max_id);
    return *value;
  }
  double to_number(std::string_view field, std::string_view what) {
    if (const auto value = parse_double(field)) return *value;
    fail_input(here(), "expected {}, found '{}'", what, field.substr(0, 40));
  }
  // the numbers of a line; a blank between commas is 0, blanks at the end are nothing
  std::vector<double> numbers(std::string_view line, std::string_view what) {
    std::vector<double> values;
    CommaFields fields(line);
    std::string_view field;
    size_t used = 0;
    while (fields.next(field)) {
      values.push_back(field.empty() ? 0.0 : to_number(field, what));
      if (!field.empty()) used = values.size();
    }
    values.resize(used);
    return values;
  }

  // a set by name, made when it is new; the first spelling stays
  static Set& set_of(ByName<Set>& sets, const std::string& name) {
    Set& set = sets[to_upper(name)];
    if (set.name.empty()) set.name = name;
    return set;
  }

  // --- nodes and elements

  void refuse_in_instance(const DeckCard& card) {
    if (!current_instance_.empty())
      fail_input(pos(card), "*{} inside of *INSTANCE is not supported; define it in the *PART", card.shown);
  }

  void nodes(const DeckCard& card) {
    refuse_in_instance(card);
    const std::string system = to_upper(card.value("SYSTEM"));
    const bool cylindrical = system == "C";
    if (!system.empty() && system != "R" && !cylindrical)
      fail_input(pos(card), "*NODE, SYSTEM={} is not supported; expected R or C", system);
    if (card.has("INPUT")) lines_.open(card);
    Part& part = scope();
    const size_t first = part.node_ids.size();
    std::string_view line, field;
    while (data(line)) {
      CommaFields fields(line);
      fields.next(field);
      part.node_ids.push_back(to_id(field, "a node id"));
      Eigen::Vector3d x = Eigen::Vector3d::Zero();
      for (int i = 0; i < 3 && fields.next(field); ++i)
        if (!field.empty()) x[i] = to_number(field, "a coordinate");
      // radius, angle in degrees, height
      if (cylindrical) x.head<2>() = x[0] * Eigen::Vector2d(std::cos(x[1] * degree), std::sin(x[1] * degree));
      part.points.push_back(x);
      part.node_places.push_back(lines_.place());
    }
    if (const std::string name = card.value("NSET"); !name.empty()) {
      SetCard members;
      members.place = card.place;
      members.ids.assign(part.node_ids.begin() + static_cast<std::ptrdiff_t>(first), part.node_ids.end());
      set_of(part.node_sets, name).cards.push_back(std::move(members));
    }
  }

  void elements(const DeckCard& card) {
    refuse_in_instance(card);
    const std::string type = to_upper(required(card, "TYPE"));
    const TypeMeaning meaning = meaning_of(type);
    if (card.has("INPUT")) lines_.open(card);
    Part& part = scope();
    const size_t first = part.elements.size();
    std::string_view line, field;
    while (data(line)) {
      CommaFields fields(line);
      fields.next(field);
      Element element;
      element.id = to_id(field, "an element id");
      element.type = meaning.type;
      element.first_node = part.connectivity.size();
      element.place = lines_.place();
      // nodes, over as many lines as the type needs
      while (true) {
        while (fields.next(field)) {
          if (field.empty()) continue;
          // skipped connectors and springs have nodes of instances, "Part-1-1.7", and 0 for the ground
          if (const auto id = parse_long(field); !meaning.type && (!id || *id < 1 || *id > max_id)) continue;
          part.connectivity.push_back(to_id(field, "a node id"));
        }
        element.nodes = static_cast<int>(part.connectivity.size() - element.first_node);
        const bool more = meaning.nodes > 0 ? element.nodes < meaning.nodes : line.back() == ',';
        if (!more || !data(line)) break;
        fields = CommaFields(line);
      }
      if (meaning.type && element.nodes != meaning.nodes)
        fail_input(deck_.pos(element.place), "element {} of type {} has {} nodes, expected {}", element.id,
                   type, element.nodes, meaning.nodes);
      part.elements.push_back(element);
    }
    // what is mapped and skipped is counted per type and told at the end
    if (!meaning.exact && part.elements.size() > first) {
      Inexact& inexact = inexact_[type];
      if (inexact.count == 0) inexact = {meaning, 0, card.place};
      inexact.count += part.elements.size() - first;
    }
    if (const std::string name = card.value("ELSET"); !name.empty()) {
      SetCard members;
      members.place = card.place;
      for (size_t e = first; e < part.elements.size(); ++e) members.ids.push_back(part.elements[e].id);
      set_of(part.element_sets, name).cards.push_back(std::move(members));
    }
  }

  // --- sets and surfaces

  void node_set(const DeckCard& card) { read_set(card, "NSET", scope().node_sets); }
  void element_set(const DeckCard& card) { read_set(card, "ELSET", scope().element_sets); }

  void read_set(const DeckCard& card, std::string_view parameter, ByName<Set>& sets) {
    std::string name = required(card, parameter);
    SetCard members;
    members.place = card.place;
    members.instance = card.value("INSTANCE");
    if (parameter == "NSET") members.nodes_of = card.value("ELSET");
    // inside of *INSTANCE the set belongs to that instance
    if (!current_instance_.empty()) {
      members.instance = current_instance_;
      name = current_instance_ + "." + name;
    }
    if (card.has("INPUT")) lines_.open(card);
    const bool generate = card.has("GENERATE");
    std::string_view line, field;
    while (data(line)) {
      if (generate) {
        members.ranges.push_back(range(line));
        continue;
      }
      members.rows.emplace_back(members.ids.size(), lines_.place());
      CommaFields fields(line);
      while (fields.next(field)) add_member(members, field);
    }
    set_of(sets, name).cards.push_back(std::move(members));
  }

  void add_member(SetCard& members, std::string_view field) {
    if (field.empty()) return;
    if (parse_long(field))
      members.ids.push_back(to_id(field, "an id"));
    else
      members.names.push_back(unquoted(field));
  }

  std::array<std::int64_t, 3> range(std::string_view line) {
    std::array<std::int64_t, 3> value = {0, 0, 1};
    CommaFields fields(line);
    std::string_view field;
    int found = 0;
    for (; found < 3 && fields.next(field) && !field.empty(); ++found)
      value[found] = to_id(field, "a number of first, last, step");
    if (found < 2) fail_input(here(), "GENERATE expects first, last, step; found '{}'", line.substr(0, 40));
    if (value[1] < value[0])
      fail_input(here(), "GENERATE goes from {} down to {}; expected first <= last", value[0], value[1]);
    return value;
  }

  void surface(const DeckCard& card) {
    const std::string type = to_upper(card.value("TYPE"));
    if ((!type.empty() && type != "ELEMENT" && type != "NODE") || card.has("COMBINE") || card.has("CROP")) {
      diagnostics_.warn(
          "inp.surface-kind",
          fmt::format("surface '{}' is skipped: only plain TYPE=ELEMENT and TYPE=NODE are understood",
                      card.value("NAME")),
          pos(card));
      skip_data();
      return;
    }
    std::string name = required(card, "NAME");
    std::string prefix;
    if (!current_instance_.empty()) prefix = current_instance_ + ".";
    Surface& surface = scope().surfaces[to_upper(prefix + name)];
    if (surface.name.empty()) {
      surface.name = prefix + name;
      surface.of_nodes = type == "NODE";
      surface.place = card.place;
    } else if (surface.of_nodes != (type == "NODE")) {
      fail_input(pos(card), "surface '{}' is of elements and of nodes; expected one of them", name);
    }
    std::string_view line, field;
    while (data(line)) {
      CommaFields fields(line);
      fields.next(field);
      Surface::Row row;
      row.target = prefix + unquoted(field);
      row.place = lines_.place();
      if (!surface.of_nodes && fields.next(field)) row.face = to_upper(field);
      surface.rows.push_back(std::move(row));
    }
  }

  // --- materials and sections

  void material(const DeckCard& card) {
    Material material;
    material.name = required(card, "NAME");
    material.defined_at = pos(card);
    for (const Material& known : deck_.materials)
      if (iequals(known.name, material.name))
        fail_input(pos(card), "material '{}' is defined a second time; first at {}", material.name,
                   to_string(known.defined_at));
    deck_.materials.push_back(std::move(material));
  }

  Material& current_material(const DeckCard& card) {
    if (deck_.materials.empty()) fail_input(pos(card), "*{} before any *MATERIAL", card.shown);
    return deck_.materials.back();
  }

  // the first `count` numbers of a card, which may be a table over temperature: later rows are left out
  std::vector<double> first_row(const DeckCard& card, size_t count, std::string_view what) {
    std::vector<double> values;
    std::string_view line;
    while (values.size() < count && data(line)) {
      const auto row = numbers(line, what);
      values.insert(values.end(), row.begin(), row.end());
      // eight numbers fill a line
      if (values.size() < 8) break;
    }
    if (values.size() < count)
      fail_input(here(), "*{} of material '{}' has {} numbers, expected {}: {}", card.shown,
                 deck_.materials.back().name, values.size(), count, what);
    if (data(line)) {
      diagnostics_.warn("inp.table",
                        fmt::format("*{} of material '{}' is a table; its first row is taken", card.shown,
                                    deck_.materials.back().name),
                        here());
      skip_data();
    }
    return values;
  }

  void elastic(const DeckCard& card) {
    Material& material = current_material(card);
    if (material.has_elasticity())
      fail_input(pos(card), "material '{}' has a second *ELASTIC", material.name);
    const std::string type = normal_form(card.value("TYPE"));
    if (type.empty() || type == "ISO" || type == "ISOTROPIC") {
      const auto v = first_row(card, 2, "Young's modulus, Poisson's ratio");
      material.isotropic = Isotropic{v[0], v[1]};
    } else if (type == "ENGINEERINGCONSTANTS") {
      const auto v = first_row(card, 9, "E1, E2, E3, nu12, nu13, nu23, G12, G13, G23");
      material.orthotropic = Orthotropic{v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]};
    } else if (type == "ORTHO" || type == "ORTHOTROPIC") {
      const auto v = first_row(card, 9, "D1111, D1122, D2222, D1133, D2233, D3333, D1212, D1313, D2323");
      material.orthotropic = from_stiffness(v, card);
    } else {
      diagnostics_.warn("inp.elastic-type",
                        fmt::format("*ELASTIC, TYPE={} is not supported: material '{}' has no elasticity",
                                    card.value("TYPE"), material.name),
                        pos(card));
      skip_data();
    }
  }

  // engineering constants from stiffness: with S the inverse of the normal part of D, E_i = 1/S_ii and
  // nu_ij = -S_ij E_i
  Orthotropic from_stiffness(const std::vector<double>& v, const DeckCard& card) {
    Eigen::Matrix3d D;
    D << v[0], v[1], v[3], v[1], v[2], v[4], v[3], v[4], v[5];
    const Eigen::Matrix3d S = D.inverse();
    const Orthotropic constants{
        1 / S(0, 0), 1 / S(1, 1), 1 / S(2, 2), -S(0, 1) / S(0, 0), -S(0, 2) / S(0, 0), -S(1, 2) / S(1, 1),
        v[6],        v[7],        v[8]};
    for (double value :
         {constants.E1, constants.E2, constants.E3, constants.nu12, constants.nu13, constants.nu23})
      if (!std::isfinite(value))
        fail_input(pos(card),
                   "the stiffness of material '{}' is singular; expected D1111, D1122, D2222, D1133, "
                   "D2233, D3333, D1212, D1313, D2323",
                   deck_.materials.back().name);
    return constants;
  }

  void density(const DeckCard& card) {
    Material& material = current_material(card);
    material.density = first_row(card, 1, "density")[0];
  }

  void solid_section(const DeckCard& card) {
    refuse_in_instance(card);
    Section section;
    section.element_set = required(card, "ELSET");
    section.orientation = card.value("ORIENTATION");
    section.place = card.place;
    if (card.has("COMPOSITE")) {
      diagnostics_.warn("inp.composite",
                        "*SOLID SECTION, COMPOSITE is not supported: its elements have no material",
                        pos(card));
    } else {
      section.material = required(card, "MATERIAL");
      scope().sections.push_back(std::move(section));
    }
    skip_data();  // thickness of plane elements, layers
  }

  void orientation(const DeckCard& card) {
    Orientation orientation;
    orientation.name = required(card, "NAME");
    orientation.place = card.place;
    const std::string system = normal_form(card.value("SYSTEM"));
    const std::string definition = normal_form(card.value("DEFINITION"));
    if (!definition.empty() && definition != "COORDINATES") {
      orientation.problem = "DEFINITION=" + card.value("DEFINITION");
    } else if (system.empty() || system == "RECTANGULAR" || system == "ZRECTANGULAR") {
      read_axes(orientation, card, system == "ZRECTANGULAR");
    } else {
      orientation.problem = "SYSTEM=" + card.value("SYSTEM");
    }
    skip_data();
    scope().orientations[to_upper(orientation.name)] = std::move(orientation);
  }

  // points a, b and the origin c: a lies on the first axis (x, or z), b in the plane of it and the second (y,
  // or x)
  void read_axes(Orientation& orientation, const DeckCard& card, bool z_first) {
    std::string_view line;
    std::vector<double> v;
    if (data(line)) {
      if (parse_double(line.substr(0, line.find(','))).has_value() || line.front() == ',')
        v = numbers(line, "a coordinate");
      else
        orientation.problem = "a distribution";
    }
    if (!orientation.problem.empty()) return;
    v.resize(9, 0.0);
    const Eigen::Vector3d c(v[6], v[7], v[8]);
    const Eigen::Vector3d a = Eigen::Vector3d(v[0], v[1], v[2]) - c,
                          b = Eigen::Vector3d(v[3], v[4], v[5]) - c;
    const Eigen::Vector3d first = a.stableNormalized();
    const Eigen::Vector3d normal = first.cross(b.stableNormalized());
    // directions closer than 1e-10 rad leave no digits for the plane
    if (!(normal.norm() > 1e-10))
      fail_input(pos(card),
                 "points of orientation '{}' lie on one line; expected a on the first axis and b beside it",
                 orientation.name);
    const Eigen::Vector3d third = normal.normalized(), second = third.cross(first);
    // normal to (x, y) is z, normal to (z, x) is y
    if (z_first)
      orientation.axes << second, third, first;
    else
      orientation.axes << first, second, third;

    // an additional rotation about a local axis, in degrees
    if (!data(line)) return;
    const auto turn = numbers(line, "a local axis and an angle");
    if (turn.size() < 2 || turn[1] == 0) return;
    const double axis = turn[0] == 0 ? 1 : turn[0];
    if (axis != 1 && axis != 2 && axis != 3)
      fail_input(here(), "orientation '{}' turns about local axis {}, expected 1, 2 or 3", orientation.name,
                 axis);
    orientation.axes = orientation.axes *
                       Eigen::AngleAxisd(turn[1] * degree, Eigen::Vector3d::Unit(static_cast<int>(axis) - 1))
                           .toRotationMatrix();
  }

  // --- parts and instances

  void part(const DeckCard& card) {
    if (current_part_ != 0) fail_input(pos(card), "*PART before the *END PART of '{}'", scope().name);
    Part part;
    part.name = required(card, "NAME");
    part.place = card.place;
    for (const Part& known : deck_.parts)
      if (iequals(known.name, part.name))
        fail_input(pos(card), "part '{}' is defined a second time; first at {}", part.name,
                   to_string(deck_.pos(known.place)));
    deck_.parts.push_back(std::move(part));
    current_part_ = deck_.parts.size() - 1;
    skip_data();
  }
  void end_part(const DeckCard& card) {
    if (current_part_ == 0) fail_input(pos(card), "*END PART without *PART");
    current_part_ = 0;
    skip_data();
  }

  // Moves first, then turns by an angle about the line from a to b: x -> a + R (x + t - a).
  void instance(const DeckCard& card) {
    if (current_part_ != 0)
      fail_input(pos(card), "*INSTANCE inside of part '{}'; is *END PART missing?", scope().name);
    Instance instance;
    instance.name = required(card, "NAME");
    instance.part = required(card, "PART");
    instance.place = card.place;
    for (const Instance& known : deck_.instances)
      if (iequals(known.name, instance.name))
        fail_input(pos(card), "instance '{}' is defined a second time; first at {}", instance.name,
                   to_string(deck_.pos(known.place)));
    std::string_view line;
    if (data(line)) {
      auto v = numbers(line, "a translation");
      v.resize(3, 0.0);
      instance.translation = Eigen::Vector3d(v[0], v[1], v[2]);
    }
    if (data(line)) {
      const auto v = numbers(line, "two points and an angle");
      if (v.size() != 7)
        fail_input(
            here(),
            "the rotation of instance '{}' has {} numbers, expected 7: two points of the axis, degrees",
            instance.name, v.size());
      const Eigen::Vector3d a(v[0], v[1], v[2]), b(v[3], v[4], v[5]);
      const Eigen::Vector3d axis = (b - a).stableNormalized();
      if (!(axis.norm() > 0.5)) fail_input(here(), "the axis of instance '{}' has no length", instance.name);
      instance.rotation = Eigen::AngleAxisd(v[6] * degree, axis).toRotationMatrix();
      instance.translation = a + instance.rotation * (instance.translation - a);
    }
    current_instance_ = instance.name;
    deck_.instances.push_back(std::move(instance));
    skip_data();
  }
  void end_instance(const DeckCard&) {
    current_instance_.clear();
    skip_data();
  }

  // loads and output are none of a mesh's business; their includes need not even exist
  void step(const DeckCard&) {
    lines_.follow_includes = false;
    std::string_view line;
    while (lines_.next(line))
      if (line.front() == '*' && lines_.card(line).keyword == "ENDSTEP") break;
    lines_.follow_includes = true;
  }

  // --- constraints

  // boundary conditions are not ours to apply, but the nodes that they hold are worth a set
  void boundary(const DeckCard& card) {
    SetCard members;
    members.place = card.place;
    std::string_view line, field;
    while (data(line)) {
      members.rows.emplace_back(members.ids.size(), lines_.place());
      CommaFields fields(line);
      fields.next(field);
      add_member(members, field);
    }
    diagnostics_.warn("inp.boundary", "*BOUNDARY is not applied; its nodes are kept as node set 'BOUNDARY'",
                      pos(card));
    boundaries_[current_part_].push_back(std::move(members));
  }

  void coupling(const DeckCard& card) {
    Coupling coupling;
    coupling.name = card.value("CONSTRAINTNAME");
    coupling.reference = required(card, "REFNODE");
    coupling.targets.emplace_back(Coupling::Target::Surface, required(card, "SURFACE"));
    coupling.place = card.place;
    if (coupling.name.empty()) coupling.name = coupling.targets.front().second;
    if (card.has("INFLUENCERADIUS"))
      diagnostics_.warn(
          "inp.influence-radius",
          fmt::format("coupling '{}': INFLUENCE RADIUS is ignored, all nodes of the surface are taken",
                      coupling.name),
          pos(card));
    scope().couplings.push_back(std::move(coupling));
    open_coupling_ = true;
    skip_data();
  }

  Coupling& opened(const DeckCard& card) {
    if (!open_coupling_ || scope().couplings.empty() || scope().couplings.back().kind)
      fail_input(pos(card), "*{} does not follow a *COUPLING", card.shown);
    open_coupling_ = false;
    return scope().couplings.back();
  }

  // a tie of some directions only is not a rigid spider
  void drop_partial(Coupling& coupling, const SourcePos& where) {
    coupling.dropped = true;
    deck_.left_out.add("couplings of some of the directions 1 to 3", where);
    diagnostics_.warn(
        "inp.kinematic-directions",
        fmt::format("kinematic coupling '{}' is skipped: it ties some of the directions 1 to 3 only",
                    coupling.name),
        where);
  }

  // marks the directions first..last (of 1..6) of a row; no direction means all
  void mark_directions(CommaFields& fields, std::array<bool, 3>& tied) {
    std::string_view field;
    long first = 1, last = 6;
    if (fields.next(field) && !field.empty()) {
      first = last = to_long(field, here(), "a direction from 1 to 6");
      if (fields.next(field) && !field.empty()) last = to_long(field, here(), "a direction from 1 to 6");
    }
    for (long d = 1; d <= 3; ++d)
      if (first <= d && d <= last) tied[d - 1] = true;
  }

  void kinematic(const DeckCard& card) {
    Coupling& coupling = opened(card);
    coupling.kind = Spider::Kind::Rigid;
    std::array<bool, 3> tied = {false, false, false};
    bool any = false;
    std::string_view line;
    while (data(line)) {
      any = true;
      CommaFields fields(line);
      mark_directions(fields, tied);
    }
    if (any && tied != std::array{true, true, true}) drop_partial(coupling, pos(card));
  }

  void distributing(const DeckCard& card) {
    Coupling& coupling = opened(card);
    coupling.kind = Spider::Kind::Averaging;
    diagnostics_.warn(
        "inp.distributing-weights",
        fmt::format("distributing coupling '{}' is taken with equal weights for its nodes; Abaqus and "
                    "CalculiX weigh by area",
                    coupling.name),
        pos(card));
    skip_data();
  }

  void rigid_body(const DeckCard& card) {
    Coupling coupling;
    coupling.name = "RIGID BODY " + required(card, "REFNODE");
    coupling.kind = Spider::Kind::Rigid;
    coupling.reference = card.value("REFNODE");
    coupling.place = card.place;
    for (std::string_view key : {"NSET", "TIENSET"})
      if (card.has(key)) coupling.targets.emplace_back(Coupling::Target::Nodes, required(card, key));
    if (card.has("ELSET")) coupling.targets.emplace_back(Coupling::Target::Elements, required(card, "ELSET"));
    // without rotational degrees of freedom, nodes that are pinned and nodes that are tied move the same
    if (card.has("PINNSET"))
      coupling.targets.emplace_back(Coupling::Target::Nodes, required(card, "PINNSET"));
    if (coupling.targets.empty()) fail_input(pos(card), "*RIGID BODY without NSET= or ELSET=");
    if (card.has("ROTNODE"))
      diagnostics_.warn("inp.rot-node",
                        fmt::format("rigid body: the rotation of ROT NODE={} is that of reference node {}",
                                    card.value("ROTNODE"), coupling.reference),
                        pos(card));
    scope().couplings.push_back(std::move(coupling));
    skip_data();
  }

  // rows: node or node set, first direction, last direction
  void kinematic_coupling(const DeckCard& card) {
    Coupling coupling;
    coupling.reference = required(card, "REFNODE");
    coupling.name = "KINEMATIC COUPLING " + coupling.reference;
    coupling.kind = Spider::Kind::Rigid;
    coupling.place = card.place;
    bool partial = false;
    std::string_view line, field;
    while (data(line)) {
      CommaFields fields(line);
      fields.next(field);
      coupling.targets.emplace_back(Coupling::Target::Nodes, unquoted(field));
      std::array<bool, 3> tied = {false, false, false};
      mark_directions(fields, tied);
      partial = partial || tied != std::array{true, true, true};
    }
    if (partial) drop_partial(coupling, pos(card));
    scope().couplings.push_back(std::move(coupling));
  }

  // rows: BEAM, tied node or set, reference; the rows of one reference make one spider
  void mpc(const DeckCard&) {
    std::string_view line, field;
    std::map<std::string, size_t> known;
    Part& part = scope();
    while (data(line)) {
      CommaFields fields(line);
      fields.next(field);
      const std::string type = to_upper(field);
      if (type != "BEAM") {
        deck_.left_out.add("*MPC of type " + type.substr(0, 40), here());
        diagnostics_.warn(
            "inp.mpc." + type.substr(0, 40),
            fmt::format("*MPC of type {} is not applied; only BEAM is understood", type.substr(0, 40)),
            here());
        continue;
      }
      std::string tied, reference;
      if (fields.next(field)) tied = unquoted(field);
      if (fields.next(field)) reference = unquoted(field);
      if (tied.empty() || reference.empty())
        fail_input(here(), "expected BEAM, node, reference node; found '{}'", line.substr(0, 40));
      const auto [it, is_new] = known.try_emplace(to_upper(reference), part.couplings.size());
      if (is_new) {
        Coupling coupling;
        coupling.name = "MPC " + reference;
        coupling.kind = Spider::Kind::Rigid;
        coupling.reference = reference;
        coupling.place = lines_.place();
        part.couplings.push_back(std::move(coupling));
      }
      part.couplings[it->second].targets.emplace_back(Coupling::Target::Nodes, tied);
    }
  }

  // --- the rest

  void skip(const DeckCard& card) {
    if (generators.contains(card.keyword))
      fail_input(pos(card), "*{} is not supported: export the mesh with its nodes and elements written out",
                 card.shown);
    if (constraints.contains(card.keyword) || bodies.contains(card.keyword))
      deck_.left_out.add("*" + card.shown, pos(card));
    if (constraints.contains(card.keyword))
      diagnostics_.warn("inp.keyword." + card.keyword,
                        fmt::format("*{} is not applied: what it joins stays apart", card.shown), pos(card));
    else if (!harmless.contains(card.keyword))
      diagnostics_.warn("inp.keyword." + card.keyword,
                        fmt::format("keyword *{} is not understood and skipped", card.shown), pos(card));
    skip_data();
  }

  void finish() {
    if (current_part_ != 0) fail_input(deck_.pos(scope().place), "part '{}' has no *END PART", scope().name);
    for (Part& part : deck_.parts)
      for (const Coupling& coupling : part.couplings)
        if (!coupling.kind)
          fail_input(deck_.pos(coupling.place),
                     "*COUPLING '{}' is not followed by *KINEMATIC or *DISTRIBUTING", coupling.name);

    // a user's own set of that name goes first
    for (auto& [part, cards] : boundaries_)
      if (!deck_.parts[part].node_sets.contains("BOUNDARY"))
        deck_.parts[part].node_sets["BOUNDARY"] = Set{"BOUNDARY", std::move(cards)};

    for (const auto& [type, inexact] : inexact_) {
      const auto& [meaning, count, place] = inexact;
      const std::string key = "inp.element." + type;
      if (meaning.type) {
        diagnostics_.warn(
            key,
            fmt::format("{} elements of type {} are read as {}, {}", count, type, name_of(*meaning.type),
                        *meaning.type == ElementType::Hex8
                            ? "fully integrated and with incompatible modes, which is C3D8I"
                            : "fully integrated in displacements alone"),
            deck_.pos(place));
        continue;
      }
      if (!meaning.marker)
        deck_.left_out.add("elements of type " + type, deck_.pos(place), static_cast<long>(count));
      diagnostics_.warn(key,
                        fmt::format("{} elements of type {} are skipped{}", count, type,
                                    meaning.solid ? ": the body lacks them" : ""),
                        deck_.pos(place));
    }
  }

  // elements that are mapped or skipped
  struct Inexact {
    TypeMeaning meaning;
    size_t count = 0;
    Place place;
  };

  Deck deck_;
  Diagnostics& diagnostics_;
  Lines lines_;
  size_t current_part_ = 0;
  std::string current_instance_;  // between *INSTANCE and *END INSTANCE
  bool open_coupling_ = false;
  std::map<std::string, Inexact> inexact_;
  std::map<size_t, std::vector<SetCard>> boundaries_;  // by part
};

}  // namespace

std::vector<std::array<int, 4>> faces_of(ElementType type) {
  switch (corner_count(type)) {
    case 4:
      return {{0, 1, 2, -1}, {0, 3, 1, -1}, {1, 3, 2, -1}, {2, 3, 0, -1}};
    case 6:
      return {{0, 1, 2, -1}, {3, 5, 4, -1}, {0, 3, 4, 1}, {1, 4, 5, 2}, {2, 5, 3, 0}};
    default:
      return {{0, 1, 2, 3}, {4, 7, 6, 5}, {0, 4, 5, 1}, {1, 5, 6, 2}, {2, 6, 7, 3}, {3, 7, 4, 0}};
  }
}

Deck read_deck(std::string_view bytes, const std::string& path, const FileLoader& load,
               Diagnostics& diagnostics) {
  return DeckReader(bytes, path, load, diagnostics).read();
}

}  // namespace lissom::inp

#include "lissom/io/study_resolve.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "lissom/core/expression.hpp"
#include "lissom/core/expression_names.hpp"
#include "lissom/core/include_chain.hpp"
#include "lissom/core/text.hpp"

namespace lissom {

namespace {

namespace fs = std::filesystem;

// The name of an entry of a list of tables, or nothing.
const std::string* name_in(const TomlValue& entry) {
  return entry.find_string("name");
}

// The table of a key, with whatever word.
const KeySchema* entry_of(const TableSchema* schema, const std::string& key) {
  if (!schema) return nullptr;
  const auto found = schema->find(key);
  return found.empty() ? nullptr : found.front();
}

bool is_list_of_tables(const TomlValue& value) {
  return value.is_array() && !value.as_array().empty() &&
         std::all_of(value.as_array().begin(), value.as_array().end(),
                     [](const TomlValue& entry) { return entry.is_table(); });
}

// ----------------------------------------------------------------------------------------------- includes

void merge_lists(TomlValue::Array& own, const TomlValue::Array& below, const TableSchema* schema);

// Puts `below` beneath `own`.
void merge(TomlValue& own, const TomlValue& below, const TableSchema* schema) {
  for (const auto& [key, value] : below.as_table()) {
    auto& table = own.as_table();
    const auto it = table.find(key);
    if (it == table.end()) {
      table[key] = value;
      continue;
    }
    const KeySchema* entry = entry_of(schema, key);
    TomlValue& mine = it->second;
    if (mine.is_table() && value.is_table()) {
      if (entry && entry->whole) continue;
      if (entry && entry->has(kind::named_tables)) {
        for (const auto& [name, one] : value.as_table()) {
          const auto at = mine.as_table().find(name);
          if (at == mine.as_table().end())
            mine.as_table()[name] = one;
          else if (at->second.is_table() && one.is_table())
            merge(at->second, one, entry->table);
        }
        continue;
      }
      merge(mine, value, entry ? entry->table : nullptr);
      continue;
    }
    if (!is_list_of_tables(mine) || !is_list_of_tables(value)) continue;
    merge_lists(mine.as_array(), value.as_array(), entry ? entry->table : nullptr);
  }
}

// Entries with a name are put together with those of the same name. All others are added, except those of a
// file that was met before, which are there already: they stand at the same place of it. A name that comes
// twice in `own` stays there twice, which is the reader's to tell.
void merge_lists(TomlValue::Array& own, const TomlValue::Array& below, const TableSchema* schema) {
  TomlValue::Array list = below;
  std::map<std::string, size_t> named;
  std::map<TomlValue::Place, size_t> nameless;
  for (size_t i = 0; i < list.size(); ++i) {
    if (const std::string* name = name_in(list[i]))
      named.emplace(*name, i);
    else
      nameless.emplace(list[i].place(), i);
  }
  for (TomlValue& one : own) {
    const std::string* name = name_in(one);
    if (const auto same = name ? named.find(*name) : named.end(); same != named.end()) {
      merge(one, list[same->second], schema);
      list[same->second] = std::move(one);
      named.erase(same);
    } else if (const auto again = nameless.find(one.place()); !name && again != nameless.end()) {
      list[again->second] = std::move(one);
    } else {
      list.push_back(std::move(one));
    }
  }
  own = std::move(list);
}

// Names of files in an included study, which stands in `folder` as the including one sees it.
class Relocation {
 public:
  explicit Relocation(fs::path folder) : folder_(std::move(folder)) {}

  void table(TomlValue& at, const TableSchema& schema) {
    // of trajectories without a common file all entries are files
    const bool apart = schema.name == "train.trajectories" && !at.find("file");
    for (auto& [key, value] : at.as_table()) {
      for (const KeySchema* entry : schema.find(key)) {
        if (entry->has(kind::file) || (apart && key == "time")) move(value);
        if (entry->has(kind::function | kind::functions)) functions(value);
        if (!entry->table || entry->has(kind::function | kind::functions)) continue;
        if (apart && (key == "bodies" || key == "nodes")) {
          if (value.is_table())
            for (auto& [name, file] : value.as_table()) move(file);
        } else if (entry->has(kind::named_tables) && value.is_table()) {
          for (auto& [name, one] : value.as_table())
            if (one.is_table()) table(one, *entry->table);
        } else if (value.is_table()) {
          table(value, *entry->table);
        } else if (value.is_array()) {
          for (TomlValue& one : value.as_array())
            if (one.is_table()) table(one, *entry->table);
        }
        break;
      }
    }
  }

 private:
  void move(TomlValue& value) const {
    if (!value.is_string() || value.as_string().empty()) return;
    std::string& text = value.as_string();
    text = (folder_ / text).string();
  }

  void functions(TomlValue& value) const {
    if (value.is_array())
      for (TomlValue& one : value.as_array()) functions(one);
    else if (value.is_table())
      if (const auto it = value.as_table().find("file"); it != value.as_table().end()) move(it->second);
  }

  fs::path folder_;
};

// Every file is read and put together with its own includes once, and taken from memory where it is met
// again; otherwise n files that each include the next one twice cost 2^n. The bounds are far beyond what
// people write.
class Includer {
 public:
  explicit Includer(TomlProblems& problems) : problems_(problems) {}

  void include(TomlValue& root, const fs::path& path) {
    TomlTable table(root, study_schema(), "", path.string(), problems_);
    const std::vector<std::string> files = table.texts("include").value_or(std::vector<std::string>{});
    if (table.is_list("include") && files.empty()) table.problem("include", "the list is empty");
    stack_.push_back(one_name(path));
    TomlValue all = TomlValue::Table();
    for (const std::string& name : files) {
      if (++mentions_ > most_mentions) {
        // said once, where it was too much
        if (mentions_ == most_mentions + 1)
          table.problem("include", fmt::format("more than {} files are included in all; this is too much: {}",
                                               most_mentions, chain_to(name)));
        break;
      }
      const TomlValue* file = read(path.parent_path() / name, name, table);
      if (!file) continue;
      TomlValue below = *file;
      const fs::path its_folder = fs::path(name).parent_path();
      if (!its_folder.empty()) Relocation(its_folder).table(below, study_schema());
      // later files count more
      merge(below, all, &study_schema());
      all = std::move(below);
    }
    stack_.pop_back();
    root.as_table().erase("include");
    merge(root, all, &study_schema());
  }

 private:
  static constexpr size_t deepest = 32, most_mentions = 1000;

  // The file with its own includes, or nullptr with a problem noted; file names in it are relative to it.
  const TomlValue* read(const fs::path& file, const std::string& name, TomlTable& table) {
    std::error_code error;
    if (name.empty() || !fs::is_regular_file(file, error)) {
      table.problem("include", fmt::format("there is no file '{}'", file.string()));
      return nullptr;
    }
    const fs::path whole = one_name(file);
    if (const auto at = std::find(stack_.begin(), stack_.end(), whole); at != stack_.end()) {
      table.problem("include", fmt::format("files include each other: {}", chain_to(whole, at)));
      return nullptr;
    }
    if (const auto known = known_.find(whole); known != known_.end()) return &known->second;
    if (stack_.size() > deepest) {
      table.problem("include", fmt::format("files include each other more than {} deep: {}; include them "
                                           "from one file side by side, include = [\"a.toml\", \"b.toml\"]",
                                           deepest, chain_to(whole)));
      return nullptr;
    }
    TomlValue below;
    try {
      below = parse_toml(read_file(file), file);
    } catch (const InputError& e) {
      table.problem("include", e.what());
      return nullptr;
    }
    if (below.find("include")) include(below, file);
    return &known_.emplace(whole, std::move(below)).first->second;
  }

  // The same for all names of a file, as far as they can be followed.
  static fs::path one_name(const fs::path& file) {
    std::error_code error;
    const fs::path name = fs::weakly_canonical(file, error);
    return error ? file.lexically_normal() : name;
  }

  // "study.toml -> a.toml -> b.toml"; of a long chain its ends.
  std::string chain_to(const fs::path& last) const { return chain_to(last, stack_.begin()); }
  std::string chain_to(const fs::path& last, std::vector<fs::path>::const_iterator first) const {
    std::vector<std::string> chain;
    for (auto it = first; it != stack_.end(); ++it) chain.push_back(it->filename().string());
    chain.push_back(last.filename().string());
    return shown_chain(chain);
  }

  TomlProblems& problems_;
  std::vector<fs::path> stack_;
  std::map<fs::path, TomlValue> known_;
  size_t mentions_ = 0;
};

// ------------------------------------------------------------------------------------ parameters and units

// A parameter: a plain number, or one with a unit, which then follows the system of units.
struct Parameter {
  double value = 0;  // as written, or in SI units
  std::optional<Dimension> dimension;
};

bool begins_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool goes_on(char c) {
  return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// Calls `word` for every name in an expression, whose text it may replace.
template <class Word>
std::string replace_names(const std::string& text, Word word) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (begins_name(c)) {
      size_t end = i;
      while (end < text.size() && goes_on(text[end])) ++end;
      out += word(text.substr(i, end - i));
      i = end;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') {
      // numbers with exponents are no names: 1e-3
      size_t end = i;
      while (end < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '.' ||
              ((text[end] == '-' || text[end] == '+') && end > i &&
               (text[end - 1] == 'e' || text[end - 1] == 'E'))))
        ++end;
      out += text.substr(i, end - i);
      i = end;
    } else {
      out += c;
      ++i;
    }
  }
  return out;
}

class Resolver {
 public:
  Resolver(const std::string& file, TomlProblems& problems) : file_(file), problems_(problems) {}

  void resolve(TomlValue& root) {
    UnitSystem units;
    read_units(root, units);
    read_parameters(root, units);
    table(root, study_schema(), "", units);
  }

 private:
  // An unknown name is left to the reader.
  static void read_units(const TomlValue& table, UnitSystem& units) {
    const std::string* name = table.find_string("units");
    if (!name) return;
    try {
      units = parse_unit_system(*name);
    } catch (const InputError&) {
    }
  }

  void problem(const TomlValue& value, const std::string& key, const std::string& message) {
    problems_.add(position_of(value, {file_, 1}), key, message);
    problems_.close(key);
  }

  // ---- parameters

  void read_parameters(TomlValue& root, const UnitSystem& units) {
    const auto it = root.as_table().find("parameters");
    if (it == root.as_table().end() || !it->second.is_table()) return;
    const std::vector<std::string> taken = expression_names();
    for (const auto& [name, value] : it->second.as_table()) {
      const std::string key = "parameters." + name;
      names_.push_back(name);
      const bool good =
          !name.empty() && begins_name(name[0]) && std::all_of(name.begin(), name.end(), goes_on);
      if (!good)
        problem(value, key, "the name is to be of letters, digits and _, and to begin with a letter");
      else if (std::find(taken.begin(), taken.end(), name) != taken.end())
        problem(value, key, fmt::format("'{}' means something else in expressions: take another name", name));
    }
    std::sort(names_.begin(), names_.end());
    given_ = &it->second;
    for (const std::string& name : names_) evaluate(name);
    // what others read of them: numbers, in the study's units
    for (auto& [name, value] : it->second.as_table()) {
      const auto found = parameters_.find(name);
      if (found != parameters_.end() && value.is_string()) value.replace(number_in(found->second, units));
    }
  }

  static double number_in(const Parameter& parameter, const UnitSystem& units) {
    return parameter.dimension ? parameter.value / parameter.dimension->unit(units) : parameter.value;
  }

  // False where it is wrong, which has been said.
  bool evaluate(const std::string& name) {
    if (parameters_.contains(name)) return true;
    if (wrong_.contains(name)) return false;
    const TomlValue& value = given_->as_table().at(name);
    const std::string key = "parameters." + name;
    const auto bad = [&](const std::string& message) {
      problem(value, key, message);
      wrong_.insert(name);
      return false;
    };
    Parameter parameter;
    if (value.is_integer()) {
      parameter.value = static_cast<double>(value.as_integer());
    } else if (value.is_floating() && std::isfinite(value.as_floating())) {
      parameter.value = value.as_floating();
    } else if (value.is_string()) {
      const std::string text(trim(value.as_string()));
      if (std::find(under_way_.begin(), under_way_.end(), name) != under_way_.end()) {
        std::vector<std::string> chain = under_way_;
        chain.push_back(name);
        return bad(fmt::format("depends on itself: {}", fmt::join(chain, " -> ")));
      }
      under_way_.push_back(name);
      bool good = true;
      std::string message;
      try {
        if (text.starts_with('=')) {
          parameter.value = number(text, nullptr, UnitSystem());
        } else if (const auto quantity = parse_quantity(text)) {
          parameter.value = quantity->value;
          parameter.dimension = quantity->dimension;
        } else {
          good = false;
          message =
              fmt::format("expected a number, one with a unit (\"30 mm\") or \"= EXPRESSION\", found \"{}\"",
                          printable(text));
        }
      } catch (const InputError& e) {
        good = false;
        message = e.what();
      }
      under_way_.pop_back();
      if (!good) return bad(message);
    } else {
      return bad("expected a number, one with a unit (\"30 mm\") or \"= EXPRESSION\"");
    }
    parameters_[name] = parameter;
    return true;
  }

  // Names of parameters replaced by their values. Throws InputError: a name that is not known.
  std::string substitute(const std::string& text, const UnitSystem& units) {
    static const std::vector<std::string> known = expression_names();
    return replace_names(text, [&](const std::string& name) {
      if (std::find(names_.begin(), names_.end(), name) != names_.end()) {
        if (!evaluate(name)) fail_input("the parameter '{}' has a problem of its own", name);
        return fmt::format("({:.17g})", number_in(parameters_.at(name), units));
      }
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        std::vector<std::string> all = names_;
        const std::string meant = did_you_mean(name, all);
        all.insert(all.end(), known.begin(), known.end());
        fail_input("there is no parameter '{}'{}; [parameters] has {}", name,
                   meant.empty() ? did_you_mean(name, all) : meant,
                   names_.empty() ? "none" : fmt::format("{}", fmt::join(names_, ", ")));
      }
      return name;
    });
  }

  // "= EXPRESSION", or a number with a unit of `dimension`. Throws InputError.
  double number(const std::string& text, const Dimension* dimension, const UnitSystem& units) {
    if (text.starts_with('=')) {
      const std::string body(trim(std::string_view(text).substr(1)));
      const Expression expression(substitute(body, units));
      if (expression.uses_time()) fail_input("'{}': t is known in functions of time only", text);
      const double value = expression.value(0);
      if (!std::isfinite(value)) fail_input("'{}' is {}, expected a finite number", text, value);
      return value;
    }
    const auto quantity = parse_quantity(text);
    LISSOM_ASSERT(quantity && dimension);
    return in_units(*quantity, *dimension, units);
  }

  // ---- the tree

  void table(TomlValue& at, const TableSchema& schema, const std::string& path, UnitSystem units) {
    if (!path.empty()) read_units(at, units);
    std::string word;
    if (!schema.depends_on.empty())
      if (const std::string* found = at.find_string(schema.depends_on)) word = *found;
    if (&schema == parameters_table()) return;
    for (auto& [key, value] : at.as_table()) {
      const KeySchema* entry = schema.find(key, word);
      if (!entry) entry = entry_of(&schema, key);
      if (!entry) continue;
      key_of(value, *entry, path.empty() ? key : path + "." + key, units);
    }
  }

  static const TableSchema* parameters_table() {
    static const TableSchema* found = study_schema().find("parameters").front()->table;
    return found;
  }

  void key_of(TomlValue& value, const KeySchema& entry, const std::string& path, const UnitSystem& units) {
    if (entry.has(kind::any)) return;
    if (entry.has(kind::function)) {
      function(value, entry, path, units);
    } else if (entry.has(kind::functions)) {
      if (value.is_array())
        for (TomlValue& one : value.as_array()) function(one, entry, path, units);
    } else if (entry.has(kind::named_tables) && value.is_table()) {
      for (auto& [name, one] : value.as_table())
        if (one.is_table()) table(one, *entry.table, path + "." + name, units);
    } else if (entry.table && value.is_table()) {
      table(value, *entry.table, path, units);
    } else if (entry.table && entry.has(kind::tables) && value.is_array()) {
      int count = 0;
      for (TomlValue& one : value.as_array()) {
        ++count;
        if (one.is_table()) table(one, *entry.table, fmt::format("{}[{}]", path, count), units);
      }
    } else if (entry.has(kind::number | kind::integer | kind::numbers | kind::integers | kind::vector |
                         kind::matrix)) {
      numbers(value, entry, path, units);
    }
  }

  // A text in the place of a number.
  void numbers(TomlValue& value, const KeySchema& entry, const std::string& path, const UnitSystem& units) {
    if (value.is_array()) {
      for (TomlValue& one : value.as_array()) numbers(one, entry, path, units);
      return;
    }
    if (!value.is_string()) return;
    const std::string text(trim(value.as_string()));
    const bool whole = entry.has(kind::integer | kind::integers);
    try {
      if (!text.starts_with('=')) {
        const auto quantity = parse_quantity(text);
        if (!quantity) {
          // a number in quotes
          if (!entry.has(kind::text | kind::word) && parse_double(text))
            problem(value, path,
                    fmt::format("expected {}, found \"{}\": leave out the quotes",
                                whole ? "a whole number" : "a number", text));
          return;
        }
        if (whole) {
          problem(value, path, fmt::format("expected a whole number, found \"{}\"", text));
          return;
        }
      }
      const double found = number(text, &entry.dimension, units);
      if (!whole) {
        value.replace(found);
      } else if (found == std::floor(found) && std::abs(found) < 1e15) {
        value.replace(static_cast<std::int64_t>(found));
      } else {
        problem(value, path, fmt::format("\"{}\" is {}, expected a whole number", text, found));
      }
    } catch (const InputError& e) {
      problem(value, path, e.what());
    }
  }

  // A number with a unit, or parameters in an expression; points of a table.
  void function(TomlValue& value, const KeySchema& entry, const std::string& path, const UnitSystem& units) {
    if (value.is_table()) {
      const auto it = value.as_table().find("table");
      if (it == value.as_table().end() || !it->second.is_array()) return;
      const KeySchema time{.name = "t", .kinds = kind::number, .dimension = dimensions::time};
      KeySchema plain{.name = "value", .kinds = kind::number, .dimension = entry.dimension};
      for (TomlValue& point : it->second.as_array()) {
        if (!point.is_array() || point.as_array().size() != 2) continue;
        numbers(point.as_array()[0], time, path, units);
        numbers(point.as_array()[1], plain, path, units);
      }
      return;
    }
    if (!value.is_string()) return;
    std::string text(trim(value.as_string()));
    try {
      if (const auto quantity = parse_quantity(text, false)) {
        value.replace(in_units(*quantity, entry.dimension, units));
        return;
      }
      if (text.starts_with('=')) text = std::string(trim(std::string_view(text).substr(1)));
      // without parameters the expression says what is wrong with its names
      if (!names_.empty()) text = substitute(text, units);
      value.as_string() = text;
    } catch (const InputError& e) {
      problem(value, path, e.what());
    }
  }

  std::string file_;
  TomlProblems& problems_;
  const TomlValue* given_ = nullptr;
  std::vector<std::string> names_, under_way_;
  std::map<std::string, Parameter> parameters_;
  std::set<std::string> wrong_;
};

}  // namespace

long line_nested_too_deep(std::string_view text) {
  constexpr int deepest = 64;
  int depth = 0, dots = 0;
  long line = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (c == '"' || c == '\'') {
      // a text, possibly of several lines; what is not closed is the parser's business
      const bool triple = i + 2 < text.size() && text[i + 1] == c && text[i + 2] == c;
      size_t end = i + (triple ? 3 : 1);
      while (end < text.size() &&
             (triple ? text.substr(end, 3) != std::string(3, c) : text[end] != c && text[end] != '\n')) {
        if (text[end] == '\n') ++line;
        if (text[end] == '\\' && c == '"') ++end;
        ++end;
      }
      i = triple ? end + 2 : (end < text.size() && text[end] == '\n' ? end - 1 : end);
    } else if (c == '[' || c == '{') {
      ++depth;
      dots = 0;
    } else if (c == ']' || c == '}') {
      depth = std::max(depth - 1, 0);
      dots = 0;
    } else if (c == '.') {
      ++dots;
    } else if (c == '\n' || c == ',' || c == '=') {
      dots = 0;
    }
    if (depth > deepest || dots > deepest) return line;
  }
  return 0;
}

namespace {

// Where the first byte stands that is no part of a character of UTF-8 (RFC 3629, section 4); else the size.
size_t end_of_utf8(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  for (size_t i = 0; i < text.size();) {
    const unsigned first = byte(i), second = byte(i + 1);
    size_t length = 1;
    if (first >= 0x80) {
      length = first >= 0xc2 && first <= 0xdf ? 2 : first >= 0xe0 && first <= 0xef ? 3 : 4;
      // neither longer than needed, nor a half of a pair, nor beyond the last character
      const unsigned low = first == 0xe0   ? 0xa0
                           : first == 0xf0 ? 0x90
                                           : 0x80,
                     high = first == 0xed   ? 0x9f
                            : first == 0xf4 ? 0x8f
                                            : 0xbf;
      if (first < 0xc2 || first > 0xf4 || second < low || second > high) return i;
      for (size_t k = 2; k < length; ++k)
        if (byte(i + k) < 0x80 || byte(i + k) > 0xbf) return i;
    }
    i += length;
  }
  return text.size();
}

}  // namespace

TomlValue parse_toml(const std::string& text, const std::filesystem::path& path) {
  // TOML is UTF-8; the parser's own message would not say what to do about it
  if (const size_t at = end_of_utf8(text); at < text.size()) {
    TomlProblems problems;
    const auto lines = std::count(text.begin(), text.begin() + static_cast<long>(at), '\n');
    problems.add({path.string(), 1 + lines}, "",
                 fmt::format("is no valid TOML: the byte 0x{:02x} is no character of UTF-8; save the file as "
                             "UTF-8",
                             static_cast<unsigned char>(text[at])));
    problems.throw_if_any();
  }
  if (const long line = line_nested_too_deep(text); line > 0) {
    std::string_view rest = text;
    for (long k = 1; k < line; ++k) rest.remove_prefix(rest.find('\n') + 1);
    const std::string key(
        rest.substr(0, std::min({rest.find_first_of(" =.[{\t\n"), rest.size(), size_t(40)})));
    TomlProblems problems;
    problems.add({path.string(), line}, key,
                 "is nested too deeply: no study needs more than 64 levels of brackets or dots");
    problems.throw_if_any();
  }
  try {
    return parse_toml_text(text, path.string());
  } catch (const TomlSyntaxError& e) {
    TomlProblems problems;
    problems.add({path.string(), e.line()}, "", fmt::format("is no valid TOML: {}", e.what()));
    throw StudyProblems(problems);
  }
}

bool merge_includes(TomlValue& root, const std::filesystem::path& path, TomlProblems& problems) {
  if (!root.find("include")) return false;
  Includer(problems).include(root, path);
  return true;
}

void resolve_numbers(TomlValue& root, const std::string& file, TomlProblems& problems) {
  Resolver(file, problems).resolve(root);
}

}  // namespace lissom

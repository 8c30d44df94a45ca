#include "lissom/io/study_keys.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "lissom/core/text.hpp"
#include "lissom/io/study_resolve.hpp"
#include "lissom/io/study_schema.hpp"
#include "lissom/io/toml_table.hpp"

namespace lissom {

namespace {

// Whether a table has no keys of its own, but those that users name, as [simulate.inputs] does: it is then as good as
// there.
bool has_names_of_users(const std::string& name) {
  const auto tables = all_tables(study_schema());
  return std::any_of(tables.begin(), tables.end(), [&](const TableSchema* table) {
    return table->name == name && table->keys.empty() && !table->others.empty();
  });
}

// Sets keys of a study by their dotted names.
class Override {
 public:
  Override(TomlProblems& problems, SourcePos where, std::string shown)
      : problems_(problems), where_(std::move(where)), shown_(std::move(shown)) {}

  // `path` is what remains of the name, `above` what has been followed.
  void set(TomlValue& at, const std::string& path, const std::string& above, const TomlValue& value) {
    if (at.is_array()) return set_in_list(at, path, above, value);
    if (!at.is_table()) return problem(fmt::format("'{}' is no table and has no key '{}'", above, path));
    auto& table = at.as_table();
    if (path.starts_with("*.") || path == "*") {
      if (path == "*") return problem("a key is expected behind '*'");
      std::vector<TomlValue*> entries;
      for (auto& [key, entry] : table) entries.push_back(&entry);
      return set_in_all(entries, path.substr(2), above + ".*", value);
    }
    // keys may have dots: the longest one that fits
    std::string found;
    for (const auto& [key, entry] : table)
      if ((path == key || path.starts_with(key + ".")) && key.size() > found.size()) found = key;
    if (found.empty()) {
      // a key that is not there is made, in a table that is there; parsing tells whether it is known
      if (path.find('.') == std::string::npos) {
        table[path] = value;
        return;
      }
      const std::string first = path.substr(0, path.find('.'));
      if (has_names_of_users(above.empty() ? first : above + "." + first)) {
        TomlValue& made = table[first] = TomlValue::Table{};
        return set(made, path.substr(first.size() + 1), above.empty() ? first : above + "." + first, value);
      }
      std::vector<std::string> keys;
      for (const auto& [key, entry] : table)
        if (entry.is_table() || entry.is_array()) keys.push_back(key);
      std::sort(keys.begin(), keys.end());
      return problem(
          fmt::format("there is no '{}'{}{}; there {}", first,
                      above.empty() ? "" : fmt::format(" in '{}'", above), did_you_mean(first, keys),
                      keys.empty() ? "is nothing" : fmt::format("are: {}", fmt::join(keys, ", "))));
    }
    if (path == found) {
      table[found] = value;
      return;
    }
    set(table[found], path.substr(found.size() + 1), above.empty() ? found : above + "." + found, value);
  }

 private:
  // [[joints]] and the like: entries by their names.
  void set_in_list(TomlValue& at, const std::string& path, const std::string& above, const TomlValue& value) {
    std::vector<TomlValue*> entries;
    std::vector<std::string> names;
    size_t length = 0;
    for (TomlValue& entry : at.as_array()) {
      if (!entry.is_table()) continue;
      if (path.starts_with("*.")) {
        entries.push_back(&entry);
        length = 2;
        continue;
      }
      const std::string* name = entry.find_string("name");
      if (!name) continue;
      names.push_back(*name);
      if (!path.starts_with(*name + ".") || name->size() + 1 <= length) continue;
      entries = {&entry};
      length = name->size() + 1;
    }
    if (entries.empty()) {
      const std::string first = path.substr(0, path.find('.'));
      if (std::find(names.begin(), names.end(), path) != names.end())
        return problem(fmt::format("'{}' is a whole entry of '{}', expected one of its keys: '{}.{}.KEY'",
                                   path, above, above, path));
      return problem(fmt::format("no entry of '{}' has the name '{}'{}; there {}", above, first,
                                 did_you_mean(first, names),
                                 names.empty() ? "is none" : fmt::format("are: {}", fmt::join(names, ", "))));
    }
    set_in_all(entries, path.substr(length), above + "." + path.substr(0, length - 1), value);
  }

  // A star means those that have the key, or all of them where none has.
  void set_in_all(std::vector<TomlValue*> entries, const std::string& path, const std::string& above,
                  const TomlValue& value) {
    if (entries.empty()) return problem(fmt::format("'{}' stands for nothing", above));
    const std::string first = path.substr(0, path.find('.'));
    std::vector<TomlValue*> having;
    for (TomlValue* entry : entries)
      if (entry->find(first)) having.push_back(entry);
    for (TomlValue* entry : having.empty() ? entries : having) set(*entry, path, above, value);
  }

  void problem(const std::string& message) { problems_.add(where_, shown_, message); }

  TomlProblems& problems_;
  SourcePos where_;
  std::string shown_;
};

// Values of a key, found like Override finds them; a problem where there is none.
class Lookup {
 public:
  std::vector<const TomlValue*> found;
  std::string problem;

  void find(const TomlValue& at, const std::string& path, const std::string& above) {
    if (!problem.empty()) return;
    if (at.is_array()) return find_in_list(at, path, above);
    if (!at.is_table()) {
      problem = fmt::format("'{}' is no table and has no key '{}'", above, path);
      return;
    }
    const auto& table = at.as_table();
    if (path.starts_with("*.")) {
      for (const auto& [key, entry] : table) find_if_there(entry, path.substr(2), above + ".*");
      if (found.empty()) problem = fmt::format("nothing in '{}' has the key '{}'", above, path.substr(2));
      return;
    }
    std::string name;
    for (const auto& [key, entry] : table)
      if ((path == key || path.starts_with(key + ".")) && key.size() > name.size()) name = key;
    if (name.empty()) {
      std::vector<std::string> keys;
      for (const auto& [key, entry] : table) keys.push_back(key);
      std::sort(keys.begin(), keys.end());
      const std::string first = path.substr(0, path.find('.'));
      problem = fmt::format("there is no '{}'{}{}; there {}", first,
                            above.empty() ? "" : fmt::format(" in '{}'", above), did_you_mean(first, keys),
                            keys.empty() ? "is nothing" : fmt::format("are: {}", fmt::join(keys, ", ")));
      return;
    }
    if (path == name)
      found.push_back(&table.at(name));
    else
      find(table.at(name), path.substr(name.size() + 1), above.empty() ? name : above + "." + name);
  }

 private:
  void find_if_there(const TomlValue& entry, const std::string& path, const std::string& above) {
    if (!entry.find(path.substr(0, path.find('.')))) return;
    find(entry, path, above);
  }

  void find_in_list(const TomlValue& at, const std::string& path, const std::string& above) {
    std::vector<std::string> names;
    const TomlValue* best = nullptr;
    size_t length = 0;
    for (const TomlValue& entry : at.as_array()) {
      if (!entry.is_table()) continue;
      if (path.starts_with("*.")) {
        find_if_there(entry, path.substr(2), above + ".*");
        continue;
      }
      const std::string* name = entry.find_string("name");
      if (!name) continue;
      names.push_back(*name);
      if (!path.starts_with(*name + ".") || name->size() + 1 <= length) continue;
      best = &entry;
      length = name->size() + 1;
    }
    if (path.starts_with("*.")) {
      if (found.empty()) problem = fmt::format("nothing in '{}' has the key '{}'", above, path.substr(2));
      return;
    }
    if (best) return find(*best, path.substr(length), above + "." + path.substr(0, length - 1));
    const std::string first = path.substr(0, path.find('.'));
    problem = fmt::format("no entry of '{}' has the name '{}'{}; there {}", above, first,
                          did_you_mean(first, names),
                          names.empty() ? "is none" : fmt::format("are: {}", fmt::join(names, ", ")));
  }
};

// ------------------------------------------------------------------------------------------------ writing

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      out += c;
  }
  return out + '"';
}

std::string shown_key(const std::string& key) {
  const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-');
  });
  return bare ? key : quoted(key);
}

// Keys in the order of the file; what came from elsewhere is first.
std::vector<std::pair<std::string, const TomlValue*>> in_order(const TomlValue& table,
                                                               const std::string& file) {
  std::map<std::tuple<bool, std::string, long, std::string>, const TomlValue*> sorted;
  for (const auto& [key, value] : table.as_table()) {
    const SourcePos where = position_of(value, {"", 0});
    sorted[{where.file == file, where.file, where.line, key}] = &value;
  }
  std::vector<std::pair<std::string, const TomlValue*>> entries;
  for (const auto& [place, value] : sorted) entries.emplace_back(std::get<3>(place), value);
  return entries;
}

std::string inline_value(const TomlValue& value, const std::string& file) {
  if (value.is_string()) return quoted(value.as_string());
  if (value.is_floating()) {
    std::string text = fmt::format("{}", value.as_floating());
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  }
  std::vector<std::string> parts;
  if (value.is_array()) {
    for (const TomlValue& entry : value.as_array()) parts.push_back(inline_value(entry, file));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }
  if (value.is_table()) {
    for (const auto& [key, entry] : in_order(value, file))
      parts.push_back(fmt::format("{} = {}", shown_key(key), inline_value(*entry, file)));
    return parts.empty() ? "{}" : fmt::format("{{ {} }}", fmt::join(parts, ", "));
  }
  return canonical(value);
}

void write_table(const TomlValue& table, const std::string& path, const std::string& file,
                 std::string& text) {
  const auto entries = in_order(table, file);
  for (const auto& [key, value] : entries)
    if (!value->is_table()) text += fmt::format("{} = {}\n", shown_key(key), inline_value(*value, file));
  for (const auto& [key, value] : entries) {
    if (!value->is_table()) continue;
    const std::string name = path.empty() ? shown_key(key) : path + "." + shown_key(key);
    text += fmt::format("\n[{}]\n", name);
    write_table(*value, name, file, text);
  }
}

}  // namespace

std::string write_study(const TomlValue& root) {
  std::string text;
  // tables from included files have another one
  write_table(root, "", position_of(root, {"", 0}).file, text);
  return text;
}

StudySetting parse_setting(const std::string& text) {
  const size_t at = text.find('=');
  if (at == std::string::npos || trim(text.substr(0, at)).empty() || trim(text.substr(at + 1)).empty())
    fail_input("'{}': expected KEY=VALUE, for example bodies.rod.mass=0.3", text);
  return {std::string(trim(std::string_view(text).substr(0, at))),
          std::string(trim(std::string_view(text).substr(at + 1)))};
}

TomlValue setting_value(const std::string& text) {
  // one line only, so that a value cannot bring further keys
  if (line_nested_too_deep(text) > 0)
    fail_input("--set: the value '{} ...' is nested too deeply", text.substr(0, 20));
  if (text.find('\n') == std::string::npos) try {
      return parse_toml_text("value = " + text + "\n", "--set").as_table().at("value");
    } catch (const TomlSyntaxError&) {
    }
  // a text, which knows where it came from
  TomlValue value(text);
  value.set_place({std::make_shared<const std::string>("--set"), 1, 1});
  return value;
}

void set_study_key(TomlValue& root, const std::string& key, const TomlValue& value, TomlProblems& problems,
                   const SourcePos& where, const std::string& shown) {
  Override(problems, where, shown).set(root, key, "", value);
}

std::optional<double> study_number(const TomlValue& root, const std::string& key, std::string& problem) {
  Lookup lookup;
  lookup.find(root, key, "");
  problem = lookup.problem;
  std::optional<double> number;
  for (const TomlValue* value : lookup.found) {
    double one = 0;
    if (value->is_floating())
      one = value->as_floating();
    else if (value->is_integer())
      one = static_cast<double>(value->as_integer());
    else
      problem = fmt::format("is {}, expected a single number", canonical(*value));
    if (number && *number != one)
      problem = fmt::format("stands for different numbers, {} and {}, where the study begins", *number, one);
    number = one;
  }
  return problem.empty() ? number : std::nullopt;
}

std::string describe(const std::vector<StudySetting>& settings) {
  std::vector<std::string> lines;
  for (const StudySetting& setting : settings)
    lines.push_back(fmt::format("{} = {}", setting.key, setting.value));
  return fmt::format("{}", fmt::join(lines, ", "));
}

}  // namespace lissom

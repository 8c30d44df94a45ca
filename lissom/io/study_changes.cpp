#include "lissom/io/study_changes.hpp"

#include <fmt/format.h>

#include <map>

#include "lissom/io/study_resolve.hpp"
#include "lissom/io/toml_table.hpp"

namespace lissom {

namespace {

using Keys = std::map<std::string, std::string>;

// The name of an entry in a list of tables, or its number.
std::string name_in_list(const TomlValue& entry, size_t index) {
  const std::string* name = entry.find_string("name");
  return name ? *name : std::to_string(index + 1);
}

bool begins_with_table(const TomlValue& value) {
  return value.is_array() && !value.as_array().empty() && value.as_array().front().is_table();
}

void flatten(const TomlValue& value, const std::string& path, Keys& keys) {
  const std::string dot = path.empty() ? "" : ".";
  if (value.is_table()) {
    for (const auto& [key, entry] : value.as_table()) flatten(entry, path + dot + key, keys);
    if (value.as_table().empty()) keys[path] = "{ }";
  } else if (begins_with_table(value)) {
    size_t index = 0;
    for (const TomlValue& entry : value.as_array()) {
      std::string name = path + dot + name_in_list(entry, index);
      // two of one name would hide each other
      if (keys.contains(name + ".name")) name = fmt::format("{}.{}", path, index + 1);
      flatten(entry, name, keys);
      ++index;
    }
  } else {
    keys[path] = canonical(value);
  }
}

Keys keys_of(const std::string& text, const std::string& case_name) {
  Keys keys;
  TomlValue root;
  try {
    root = parse_toml(text, "study");
  } catch (const std::exception&) {
    keys[""] = text;  // what cannot be read is another study
    return keys;
  }
  for (const auto& [key, value] : root.as_table()) {
    if (key == "title" || key == "compare") continue;
    if (key != "cases" || !value.is_array()) {
      flatten(value, key, keys);
      continue;
    }
    for (const TomlValue& entry : value.as_array())
      if (!case_name.empty() && name_in_list(entry, 0) == case_name && entry.find("set"))
        flatten(*entry.find("set"), fmt::format("cases.{}.set", case_name), keys);
  }
  return keys;
}

}  // namespace

std::vector<std::string> study_changes(const std::string& now, const std::string& before,
                                       const std::string& case_name) {
  std::vector<std::string> changes;
  if (now == before) return changes;
  const Keys a = keys_of(now, case_name), b = keys_of(before, case_name);
  for (const auto& [key, value] : a) {
    const auto old = b.find(key);
    if (old == b.end())
      changes.push_back(fmt::format("{}: {}, is new", key, value));
    else if (old->second != value)
      changes.push_back(fmt::format("{}: {}, was {}", key, value, old->second));
  }
  for (const auto& [key, value] : b)
    if (!a.contains(key)) changes.push_back(fmt::format("{}: is gone, was {}", key, value));
  return changes;
}

}  // namespace lissom

// lissom complete: the names that a study has, for the scripts of completion. Not listed.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "apps/lissom/command.hpp"
#include "apps/lissom/shared_flags.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/study_resolve.hpp"

namespace lissom::app {

namespace {

// Dotted names of all values of a study, entries of lists of tables by their name, as --set takes them.
void collect_keys(const TomlValue& value, const std::string& prefix, std::vector<std::string>& keys) {
  if (value.is_table()) {
    for (const auto& [key, entry] : value.as_table())
      collect_keys(entry, prefix.empty() ? key : prefix + "." + key, keys);
  } else if (value.is_array() && !value.as_array().empty() && value.as_array().front().is_table()) {
    for (const TomlValue& entry : value.as_array())
      if (const std::string* name = entry.find_string("name"))
        collect_keys(entry, prefix + "." + *name, keys);
  } else {
    keys.push_back(prefix + "=");
  }
}

// What a study has of a kind, for the scripts. Only its text is looked at, so that a study with mistakes
// still helps.
std::vector<std::string> names_in(const std::string& what, const std::string& study) {
  const TomlValue root = parse_toml(read_file(study), study);
  std::vector<std::string> names;
  if (what == "keys") {
    collect_keys(root, "", names);
  } else if (const TomlValue* bodies = root.find("bodies");
             what == "bodies" && bodies && bodies->is_table()) {
    for (const auto& [name, body] : bodies->as_table()) names.push_back(name);
  } else if (const TomlValue* cases = root.find("cases"); what == "cases" && cases && cases->is_array()) {
    for (const TomlValue& entry : cases->as_array())
      if (const std::string* name = entry.find_string("name")) names.push_back(*name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Verb complete_verb() {
  struct Flags {
    std::string what, study;
  };
  const auto flags = std::make_shared<Flags>();
  return {.name = "complete",
          .summary = "Names that a study has",
          .footer = "",
          .arguments = {input("WHAT", flags->what, {"cases", "bodies", "keys"}, "Kind of names"),
                        study_argument(flags->study)},
          .run =
              [flags](Command& command) {
                const std::vector<std::string> found = names_in(flags->what, flags->study);
                for (const std::string& name : found) command.text += name + "\n";
                command.json = {{flags->what, found}};
              },
          .listed = false,
          .has_work = false};
}

}  // namespace lissom::app

#include "apps/lissom/verbs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <regex>

#include "lissom/core/units.hpp"
#include "lissom/io/new_study.hpp"

namespace lissom::app {

namespace {

// "a,b,c" at the commas
std::vector<std::string> words_of(const std::string& list) {
  return CLI::detail::split(list, ',');
}

// Extensions in a text such as "A mesh (.msh .bdf) or a result.h5": msh, bdf, h5.
std::vector<std::string> extensions_in(const std::string& text) {
  static const std::regex pattern(R"((^|[\s(|])[\w*]*\.([a-z][a-z0-9]*(\.[a-z0-9]+)*)(?=[\s),.;|]|$))");
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    const std::string extension = at->str(2);
    if (std::find(found.begin(), found.end(), extension) == found.end()) found.push_back(extension);
  }
  return found;
}

Argument argument_of(const CLI::Option& option) {
  Argument argument;
  for (const std::string& name : option.get_snames()) argument.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) argument.names.push_back("--" + name);
  argument.description = option.get_description();
  argument.required = option.get_required();
  argument.repeated = option.get_expected_max() > 1;
  if (option.get_type_size_max() == 0 || option.get_expected_max() == 0) return argument;

  // behind a colon CLI11 tells what the value is checked for, of which only lists of words count here
  const std::string type = option.get_type_name();
  const bool by_place = argument.names.empty();
  argument.value = type.substr(0, type.find(':'));
  const size_t brace = type.find('{');
  if (brace != std::string::npos) {
    argument.kind = ArgumentKind::Choice;
    argument.choices = words_of(type.substr(brace + 1, type.find('}') - brace - 1));
    argument.value = by_place ? option.get_name() : "WORD";
  } else if (argument.value == "DIR") {
    argument.kind = ArgumentKind::Folder;
  } else if (argument.value == "FILE" || argument.value == "STUDY") {
    argument.kind = ArgumentKind::File;
  } else if (argument.value == "CASE") {
    argument.kind = ArgumentKind::Case;
  } else if (argument.value == "BODY") {
    argument.kind = ArgumentKind::Body;
  } else if (argument.value == "KEY=VALUE") {
    argument.kind = ArgumentKind::Setting;
  } else if (argument.value == "FLOAT" || argument.value == "INT" || argument.value == "UINT") {
    argument.kind = ArgumentKind::Number;
    argument.value = "NUMBER";
  } else {
    argument.kind = by_place ? ArgumentKind::File : ArgumentKind::Text;
  }
  if (by_place) argument.value = option.get_name();
  if (argument.kind == ArgumentKind::File) {
    argument.extensions = extensions_in(argument.description);
    if (argument.extensions.empty() && argument.value == "STUDY") argument.extensions = {"toml"};
  }
  return argument;
}

std::string value_name(const CLI::Option& option) {
  static const std::string units = [] {
    std::vector<std::string> names;
    for (const UnitSystem& system : unit_systems()) names.push_back(system.name);
    return fmt::format("{{{}}}", fmt::join(names, ","));
  }();
  static const std::string kinds = [] {
    std::vector<std::string> names;
    for (const NewStudyKind& kind : new_study_kinds()) names.push_back(kind.name);
    return fmt::format("{{{}}}", fmt::join(names, ","));
  }();
  static const std::map<std::string, std::string> known = {
      {"case", "CASE"},        {"body", "BODY"},
      {"set", "KEY=VALUE"},    {"study", "FILE"},
      {"mesh", "FILE"},        {"dofs", "FILE"},
      {"units", units},        {"mass", "{consistent,lumped,calculix}"},
      {"units-a", units},      {"units-b", units},
      {"mass-matrix", "FILE"}, {"fix", "SET"},
      {"input", "LOAD ..."},   {"output", "SENSOR ..."},
      {"kind", kinds}};
  for (const std::string& name : option.get_lnames()) {
    if (name == "out") return option.get_description().starts_with("Folder") ? "DIR" : "FILE";
    if (const auto at = known.find(name); at != known.end()) return at->second;
  }
  return "";
}

}  // namespace

void name_values(CLI::App& program) {
  for (CLI::App* verb : program.get_subcommands([](const CLI::App*) { return true; }))
    for (CLI::Option* option : verb->get_options())
      if (const std::string name = value_name(*option); !name.empty() && option->get_expected_max() > 0)
        option->type_name(name);
}

std::vector<Argument> arguments_of(const CLI::App& app) {
  std::vector<Argument> arguments;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) arguments.push_back(argument_of(*option));
  return arguments;
}

std::vector<Verb> verbs_of(const CLI::App& program) {
  std::vector<Verb> verbs;
  for (const CLI::App* verb :
       program.get_subcommands([](const CLI::App* v) { return !v->get_group().empty(); }))
    verbs.push_back({verb->get_name(), verb->get_description(), verb->get_footer(), arguments_of(*verb)});
  return verbs;
}

}  // namespace lissom::app

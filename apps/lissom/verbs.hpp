// The verbs and flags of the program as CLI11 knows them, for what is made from them: completion and manual
// page.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace lissom::app {

// What stands behind a flag or is given by its place. CLI11's type name of the option says it:
//   DIR a folder, FILE and STUDY a file, CASE, BODY and KEY=VALUE names of the study in the same command,
//   {a,b,c} one of these words. What is given by its place is a file unless its type name says otherwise.
enum class ArgumentKind : std::uint8_t { None, Text, Number, File, Folder, Case, Body, Setting, Choice };

struct Argument {
  std::vector<std::string> names;  // "-q", "--quiet"; empty: given by its place
  std::string value;  // "DIR", "NUMBER"; the name of what is given by its place; empty: a flag alone
  ArgumentKind kind = ArgumentKind::None;
  std::vector<std::string> choices;
  std::vector<std::string> extensions;  // of files: those that the description names, without dot; empty: any
  std::string description;
  bool required = false, repeated = false;
};

struct Verb {
  std::string name, description, footer;
  std::vector<Argument> arguments;  // in the order of their definition, --help first
};

// Gives the values of flags the type names above, which the help then shows in place of TEXT. A flag means
// the same in all verbs, so its name says what its value is; --out is a folder where its description begins
// with "Folder", else a file.
void name_values(CLI::App& program);

// The verbs that the help lists.
std::vector<Verb> verbs_of(const CLI::App& program);
// The flags of the program itself.
std::vector<Argument> arguments_of(const CLI::App& app);

}  // namespace lissom::app

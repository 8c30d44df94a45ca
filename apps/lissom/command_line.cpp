// The only source that knows CLI11.
#include "apps/lissom/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include <algorithm>

#include "lissom/core/text.hpp"

namespace lissom::app {

namespace {

CLI::Option* add_argument(CLI::App& app, const Argument& argument) {
  const std::string names = fmt::format("{}", fmt::join(argument.names, ","));
  if (names.ends_with("--help")) return app.set_help_flag(names, argument.meaning);
  if (argument.kind == ArgumentKind::None)
    return app.add_flag_callback(
        names, [&argument] { argument.take({}); }, argument.meaning);
  CLI::Option* option =
      argument.repeated
          ? app.add_option_function<std::vector<std::string>>(names, argument.take, argument.meaning)
                ->allow_extra_args(argument.several)
          : app.add_option_function<std::string>(
                names, [&argument](const std::string& text) { argument.take({text}); }, argument.meaning);
  option->type_name(argument.type)->required(argument.required);
  if (argument.check)
    option->check(CLI::Validator([&argument](std::string& text) { return argument.check(text); }, ""));
  if (!argument.shown_default.empty()) option->default_str(argument.shown_default);
  return option;
}

// All verbs by their names, but only the arguments of those in the command line, which may be the one that is
// called: help lists the others without them.
void add_verbs(CLI::App& program, const std::vector<Verb>& verbs, int argc, char** argv) {
  for (const Verb& verb : verbs) {
    CLI::App* app = program.add_subcommand(verb.name, verb.summary);
    if (!verb.listed) app->group("");
    if (std::find(argv + 1, argv + argc, verb.name) == argv + argc) continue;
    if (!verb.footer.empty()) app->footer(verb.footer);
    for (const Argument& argument : verb.arguments) {
      CLI::Option* option = add_argument(*app, argument)->group(argument.group);
      if (!argument.excludes.empty()) option->excludes(app->get_option(argument.excludes));
    }
  }
}

// CLI11 says of an unknown verb only that it was not expected.
std::string suggest_verb(const std::vector<Verb>& verbs, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  std::vector<std::string> names;
  for (const Verb& verb : verbs) {
    if (verb.name == argv[1]) return "";
    if (verb.listed) names.push_back(verb.name);
  }
  return fmt::format("'{}' is no verb of lissom{}; there are: {}", argv[1], did_you_mean(argv[1], names),
                     fmt::join(names, ", "));
}

// CLI11 lists what it did not expect in no good order and without the flag that was meant.
std::string suggest_flag(const CLI::App& program) {
  const auto chosen = program.get_subcommands();
  if (chosen.empty()) return "";
  const CLI::App& verb = *chosen.front();
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  std::vector<std::string> rest = verb.remaining();
  const std::vector<std::string> above = program.remaining();
  rest.insert(rest.end(), above.begin(), above.end());
  for (const std::string& word : rest)
    if (word.starts_with("--"))
      return fmt::format("'{}' is no flag of 'lissom {}'{}; see 'lissom {} --help'", word, verb.get_name(),
                         did_you_mean(word.substr(0, word.find('=')), names), verb.get_name());
  return "";
}

}  // namespace

AskedFor parse_command_line(const std::vector<Verb>& verbs, int argc, char** argv) {
  CLI::App program(program_summary, "lissom");
  for (const Argument& argument : program_flags())
    if (argument.names.back() == "--version")
      program.set_version_flag("--version", std::string(), argument.meaning);
    else
      add_argument(program, argument);
  program.require_subcommand(1);
  program.footer(
      "'lissom VERB --help' shows the flags of a verb and an example.\n"
      "Exit codes: 0 done, 1 the computation failed, 2 wrong input.");
  add_verbs(program, verbs, argc, argv);

  AskedFor asked;
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    asked.help = program.help();
    return asked;
  } catch (const CLI::CallForVersion&) {
    asked.version = true;
    return asked;
  } catch (const CLI::ParseError& e) {
    std::string suggestion = suggest_verb(verbs, argc, argv);
    if (suggestion.empty()) suggestion = suggest_flag(program);
    fail_input("{}", suggestion.empty() ? std::string(e.what()) + " (see --help)" : suggestion);
  }
  const CLI::App& chosen = *program.get_subcommands().front();
  for (const CLI::Option* option : chosen.get_options())
    if (option->count() > 0) asked.given.push_back(option->get_name());
  asked.verb = &*std::find_if(verbs.begin(), verbs.end(),
                              [&](const Verb& verb) { return verb.name == chosen.get_name(); });
  return asked;
}

}  // namespace lissom::app

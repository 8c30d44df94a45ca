#include "apps/lissom/verbs.hpp"

#include "apps/lissom/command.hpp"

namespace lissom::app {

namespace {
const Argument help_flag = {{"-h", "--help"}, ArgumentKind::None, "", "Print this help message and exit"};
const Argument version_flag = {
    {"--version"}, ArgumentKind::None, "", "Versions of lissom and of the libraries in use"};
}  // namespace

std::vector<Verb> all_verbs(Command& command) {
  std::vector<Verb> verbs = {new_verb(),    check_verb(),      inspect_verb(),  modes_verb(),
                             reduce_verb(), simulate_verb(),   train_verb(),    assemble_verb(),
                             static_verb(), linearise_verb(),  response_verb(), export_verb(),
                             sweep_verb(),  compare_verb(),    report_verb(),   run_verb(),
                             schema_verb(), completion_verb(), complete_verb(), manual_verb()};
  for (Verb& verb : verbs)
    verb.arguments = {help_flag, verb.arguments,
                      flag("--json", command.json_output, "Print the result as JSON on standard output"),
                      flag("-q,--quiet", command.quiet, "No progress on standard error")};
  return verbs;
}

std::vector<Verb> listed_verbs(Command& command) {
  std::vector<Verb> verbs = all_verbs(command);
  std::erase_if(verbs, [](const Verb& verb) { return !verb.listed; });
  for (Verb& verb : verbs)
    std::erase_if(verb.arguments, [](const Argument& argument) { return argument.group.empty(); });
  return verbs;
}

Arguments program_flags() {
  return {help_flag, version_flag};
}

}  // namespace lissom::app

// The program `lissom`: one verb a file, this one only dispatches and turns exceptions into exit codes.
#include <fmt/format.h>
#include <Eigen/Core>
#include <nlohmann/json.hpp>

#include <unistd.h>
#include <cerrno>
#include <csignal>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "apps/lissom/command.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/core/text.hpp"
#include "lissom/study/body.hpp"
#include "lissom/study/versions.hpp"

namespace {

using namespace lissom;
using namespace lissom::app;

// The message on stderr for people; for --json also an object on stdout, so that a script always gets one.
int report_failure(Command& command, const std::string& raw_message, int code) {
  command.clear_progress();
  const std::string message = printable(raw_message);
  fmt::print(stderr, "lissom: error: {}\n", message);
  if (command.json_output)
    fmt::print("{}\n", nlohmann::json{{"error", message}, {"exit_code", code}}.dump(2));
  return code;
}

// CLI11 says of an unknown verb only that it was not expected.
std::string suggest_verb(const CLI::App& program, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  std::vector<std::string> names;
  for (const CLI::App* verb : program.get_subcommands([](const CLI::App*) { return true; })) {
    if (verb->get_name() == argv[1]) return "";
    if (verb->get_group().empty()) continue;  // not listed
    names.push_back(verb->get_name());
  }
  return fmt::format("'{}' is no verb of lissom{}; there are: {}", argv[1], did_you_mean(argv[1], names),
                     fmt::join(names, ", "));
}

// CLI11 lists what it did not expect in no good order and without the flag that was meant.
std::string suggest_flag(const CLI::App& program) {
  const auto verbs = program.get_subcommands();
  if (verbs.empty()) return "";
  std::vector<std::string> names;
  for (const CLI::Option* option : verbs.front()->get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  std::vector<std::string> rest = verbs.front()->remaining();
  std::vector<std::string> above = program.remaining();
  rest.insert(rest.end(), above.begin(), above.end());
  for (const std::string& word : rest) {
    if (!word.starts_with("--")) continue;
    return fmt::format("'{}' is no flag of 'lissom {}'{}; see 'lissom {} --help'", word,
                       verbs.front()->get_name(), did_you_mean(word.substr(0, word.find('=')), names),
                       verbs.front()->get_name());
  }
  return "";
}

// Threads that have nothing to do shall sleep, not spin: on a machine that others use as well, spinning
// threads hold up the ones they wait for (measured: 0.14 s instead of 0.05 s for a small part, minutes
// instead of seconds for a large one with threads in BLAS); on an idle machine it makes no difference. OpenMP
// reads the policy while it is loaded, so the program sets it and starts itself anew. OMP_WAIT_POLICY=active
// in the environment keeps spinning.
void let_idle_threads_sleep(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT")) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  execv("/proc/self/exe", argv);  // returns only where there is no /proc; then things are as they were
}

}  // namespace

int main(int argc, char** argv) {
  let_idle_threads_sleep(argv);
  // beyond the largest size of a file writing shall fail with a message, not end the program
  std::signal(SIGXFSZ, SIG_IGN);
  Command command;
  CLI::App program(
      "Flexible multibody dynamics and its model-order reduction: from FE meshes to small models whose "
      "error is known.",
      "lissom");
  program.set_version_flag(
      "--version", [] { return versions_text(); }, "Versions of lissom and of the libraries in use");
  program.require_subcommand(1);
  program.footer(
      "'lissom VERB --help' shows the flags of a verb and an example.\n"
      "Exit codes: 0 done, 1 the computation failed, 2 wrong input.");
  add_new(program, command);
  add_check(program, command);
  add_inspect(program, command);
  add_modes(program, command);
  add_reduce(program, command);
  add_simulate(program, command);
  add_train(program, command);
  add_assemble(program, command);
  add_static(program, command);
  add_linearise(program, command);
  add_response(program, command);
  add_sweep(program, command);
  add_compare(program, command);
  add_report(program, command);
  add_run(program, command);
  add_schema(program, command);
  add_completion(program, command);
  add_manual(program, command);
  name_values(program);

  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return program.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return program.exit(e);
  } catch (const CLI::ParseError& e) {
    // --json counts also where parsing did not come that far
    for (int i = 1; i < argc; ++i)
      command.json_output = command.json_output || std::string_view(argv[i]) == "--json";
    std::string suggestion = suggest_verb(program, argc, argv);
    if (suggestion.empty()) suggestion = suggest_flag(program);
    return report_failure(command, suggestion.empty() ? std::string(e.what()) + " (see --help)" : suggestion,
                          exit_wrong_input);
  } catch (const InputError& e) {
    return report_failure(command, e.what(), exit_wrong_input);
  } catch (const std::bad_alloc&) {
    return report_failure(command, "out of memory", exit_failed);
  } catch (const std::exception& e) {
    return report_failure(command, e.what(), exit_failed);
  }

  command.clear_progress();
  for (const Warning& warning : command.diagnostics.warnings())
    fmt::print(stderr, "lissom: warning: {}\n", printable(to_string(warning)));
  std::string out;
  // a result that tells of wrong input: all that was found out, and the error
  if (command.json.contains("error")) {
    const std::string problem = printable(command.json["error"].get<std::string>());
    fmt::print(stderr, "lissom: error: {}\n", problem);
    command.exit_code = exit_wrong_input;
    command.json["error"] = problem;
    command.json["exit_code"] = exit_wrong_input;
  }
  if (command.json_output) {
    command.json["warnings"] = to_json(command.diagnostics);
    out = command.json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  } else {
    out = printable(command.text) + command.styled;
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
  // a full disk shows when the buffer is written, which would happen silently at the end
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    fmt::print(stderr, "lissom: error: the result cannot be printed: {}\n", std::strerror(errno));
    return exit_failed;
  }
  return command.exit_code;
}

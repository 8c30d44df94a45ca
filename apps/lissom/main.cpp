// The program `lissom`: runs the verb that was asked for, and turns exceptions into exit codes.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>
#include <cerrno>
#include <csignal>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "apps/lissom/command.hpp"
#include "apps/lissom/command_line.hpp"
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

// Prints on standard output; returns the exit code, this one if that is possible.
int print(const std::string& out, int code) {
  std::fwrite(out.data(), 1, out.size(), stdout);
  // a full disk shows when the buffer is written, which would happen silently at the end
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
  fmt::print(stderr, "lissom: error: the result cannot be printed: {}\n", std::strerror(errno));
  return exit_failed;
}

// Threads that have nothing to do shall sleep, not spin: on a machine that others use as well, spinning
// threads hold up the ones they wait for (measured: 0.14 s instead of 0.05 s for a small part, minutes
// instead of seconds for a large one with threads in BLAS); on an idle machine it makes no difference. OpenMP
// reads the policy while it is loaded, so the program sets it and starts itself anew. OMP_WAIT_POLICY=active
// in the environment keeps spinning. What has no work for threads, such as help, is spared the second start.
void let_idle_threads_sleep(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT")) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  execv("/proc/self/exe", argv);  // returns only where there is no /proc; then things are as they were
}

}  // namespace

int main(int argc, char** argv) {
  // beyond the largest size of a file writing shall fail with a message, not end the program
  std::signal(SIGXFSZ, SIG_IGN);
  Command command;
  const std::vector<Verb> verbs = all_verbs(command);
  AskedFor asked;
  try {
    asked = parse_command_line(verbs, argc, argv);
  } catch (const InputError& e) {
    // --json counts also where parsing did not come that far
    for (int i = 1; i < argc; ++i)
      command.json_output = command.json_output || std::string_view(argv[i]) == "--json";
    return report_failure(command, e.what(), exit_wrong_input);
  }
  if (!asked.help.empty()) return print(asked.help, exit_done);
  if (asked.version || asked.verb->has_work) let_idle_threads_sleep(argv);
  if (asked.version) return print(versions_text() + "\n", exit_done);
  command.given = asked.given;
  try {
    asked.verb->run(command);
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
  return print(out, command.exit_code);
}

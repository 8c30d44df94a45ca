// Runs a program that reads files of strangers, so that it can harm as little as the kernel lets us see to.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lissom {

struct ConfinedOptions {
  std::vector<std::string> arguments;  // the program first; looked for in PATH where it has no slash
  std::filesystem::path folder;        // where it runs, and the only place where it may write
  std::filesystem::path log;           // all that it prints
  // Not confined at all: in the present folder, with the whole environment.
  bool trusted = false;
};

struct ConfinedResult {
  int status = 0;  // waitpid's
  // What held while it ran. Both are asked of the kernel, which may refuse (containers, old kernels).
  bool no_programs = false;  // it could start no other program and open no socket (seccomp)
  bool read_only = false;    // it could write below `folder` only, and had no network (namespaces)
};

// Starts the program, waits for its end. It ends with this process. Unless trusted it has an environment of
// few variables, HOME and TMPDIR being `folder`. Throws Error where it cannot be started.
ConfinedResult run_confined(const ConfinedOptions& options);

}  // namespace lissom

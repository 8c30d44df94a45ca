// Processes that this one starts and watches.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lissom {

struct ChildOptions {
  std::filesystem::path program;       // for instance this_program()
  std::vector<std::string> arguments;  // behind its name
  std::vector<std::string> launcher;   // words put before the program, as srun -n1; none: it starts directly
  int threads = 1;                     // OMP_NUM_THREADS; 0: as in this process
  bool own_group = true;               // Ctrl-C reaches its parent alone, which tells it once
  // Where its standard output and its messages go; empty: nowhere.
  std::filesystem::path output, messages;
};

// The program that runs, as a path that other programs understand too.
std::filesystem::path this_program();

// What exec takes: pointers to the texts, which must stay where they are, and a null.
std::vector<char*> exec_list(std::vector<std::string>& list);

// Killed with all that it has started where it is destroyed before it ended. It also ends with this process,
// or with the thread that has started it, however that comes to its end, SIGKILL included: the system kills
// it then (a launcher gets SIGTERM instead, so that it can end what it has started elsewhere).
class ChildProcess {
 public:
  // Throws Error where it cannot be started.
  explicit ChildProcess(const ChildOptions& options);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Whether it has ended; does not wait.
  bool ended();
  // Waits for its end.
  void wait();
  // Once it has: no exit code where a signal ended it.
  std::optional<int> exit_code() const;
  // "was ended by signal 9 (Killed)", "ended with exit code 3".
  std::string how() const;

  // Signals to it and to what it has started: end in good order (SIGINT), end (SIGTERM), be gone (SIGKILL).
  void interrupt() const;
  void terminate() const;
  void kill() const;

 private:
  void send(int which) const;
  void note(pid_t found);

  pid_t pid_ = -1;
  bool own_group_ = true;
  bool ended_ = false;
  int status_ = 0;
  int lost_ = 0;  // errno where nothing is known about its end
};

}  // namespace lissom

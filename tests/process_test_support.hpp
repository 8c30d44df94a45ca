// Other processes for tests of what is left when one ends.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <thread>

namespace lissom {

// A copy of this process that carries out a function, says a line and then waits to be killed.
class OtherProcess {
 public:
  // `work` returns the line.
  explicit OtherProcess(const std::function<std::string()>& work) {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      std::string line;
      try {
        line = work();
      } catch (const std::exception& e) {
        line = std::string("error: ") + e.what();
      }
      line += '\n';
      if (::write(ends[1], line.data(), line.size()) < 0) ::_exit(1);
      while (true) ::pause();
    }
    ::close(ends[1]);
    char c = 0;
    while (::read(ends[0], &c, 1) == 1 && c != '\n') said_ += c;
    ::close(ends[0]);
  }
  ~OtherProcess() { end(SIGKILL); }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  pid_t pid() const { return pid_; }
  const std::string& said() const { return said_; }
  void end(int signal) {
    if (pid_ <= 0) return;
    ::kill(pid_, signal);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  std::string said_;
};

// Whether it becomes true within ten seconds.
inline bool soon(const std::function<bool()>& condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace lissom

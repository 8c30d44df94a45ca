#include "lissom/core/child_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "lissom/core/error.hpp"

namespace lissom {

namespace {

std::vector<std::string> environment_with(int threads) {
  std::vector<std::string> list;
  for (char** entry = environ; *entry; ++entry)
    if (threads == 0 || !std::string_view(*entry).starts_with("OMP_NUM_THREADS=")) list.emplace_back(*entry);
  if (threads > 0) list.push_back(fmt::format("OMP_NUM_THREADS={}", threads));
  return list;
}

// What a child does between its birth and the program: system calls only, because it still has the memory of
// its parent, which stands still meanwhile. posix_spawn() would do the same but for the signal at the death
// of the parent, which has to be asked for in between.
struct Birth {
  const char* output;
  const char* messages;
  char* const* words;
  char* const* environment;
  pid_t parent;
  int death_signal;
  bool own_group;
  sigset_t signals;  // that the parent had blocked before
};

// The file gets this very number.
bool open_as(int wanted, const char* path, int flags) {
  const int file = ::open(path, flags, 0644);
  if (file < 0 || file == wanted) return file >= 0;
  const bool done = ::dup2(file, wanted) >= 0;
  ::close(file);
  return done;
}

// Does not return; exit codes are not seen by anybody, the number of the error is.
[[noreturn]] void become(const Birth& birth, volatile int& error) {
  // handlers of the parent would run in its memory
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = SIG_DFL;
    ::sigaction(number, &action, nullptr);
  }
  ::prctl(PR_SET_PDEATHSIG, birth.death_signal);
  // the parent was gone before that
  if (::getppid() != birth.parent) ::_exit(127);
  // both outputs may be the same file
  const int flags = O_WRONLY | O_CREAT | O_APPEND;
  if ((birth.own_group && ::setpgid(0, 0) != 0) || !open_as(STDIN_FILENO, "/dev/null", O_RDONLY) ||
      !open_as(STDOUT_FILENO, birth.output, flags | O_TRUNC) ||
      !open_as(STDERR_FILENO, birth.messages, flags)) {
    error = errno;
    ::_exit(127);
  }
  ::pthread_sigmask(SIG_SETMASK, &birth.signals, nullptr);
  ::execvpe(birth.words[0], birth.words, birth.environment);
  error = errno;
  ::_exit(127);
}

// Returns the child, or -1 with the number of an error.
pid_t start(Birth& birth, int& error) {
  sigset_t everything;
  sigfillset(&everything);
  ::pthread_sigmask(SIG_SETMASK, &everything, &birth.signals);
  volatile int problem = 0;
  // vfork: large processes are not copied, and threads of others do not matter
  const pid_t child = ::vfork();
  if (child == 0) become(birth, problem);
  const int why = child < 0 ? errno : problem;
  ::pthread_sigmask(SIG_SETMASK, &birth.signals, nullptr);
  error = why;
  if (child > 0 && why != 0) ::waitpid(child, nullptr, 0);
  return why == 0 ? child : -1;
}

}  // namespace

std::vector<char*> exec_list(std::vector<std::string>& list) {
  std::vector<char*> out;
  for (std::string& entry : list) out.push_back(entry.data());
  out.push_back(nullptr);
  return out;
}

std::filesystem::path this_program() {
  std::error_code ec;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", ec);
  // a program that was replaced while it ran is still found through /proc
  return ec || !std::filesystem::exists(path, ec) ? "/proc/self/exe" : path;
}

ChildProcess::ChildProcess(const ChildOptions& options) {
  std::vector<std::string> words = options.launcher;
  words.push_back(options.program.string());
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  std::vector<std::string> environment = environment_with(options.threads);

  const auto target = [](const std::filesystem::path& path) { return path.empty() ? "/dev/null" : path; };
  const std::string output = target(options.output), messages = target(options.messages);
  const std::vector<char*> word_pointers = exec_list(words), environment_pointers = exec_list(environment);
  Birth birth{output.c_str(),       messages.c_str(),
              word_pointers.data(), environment_pointers.data(),
              ::getpid(),           options.launcher.empty() ? SIGKILL : SIGTERM,
              options.own_group,    {}};
  own_group_ = options.own_group;
  int error = 0;
  pid_ = start(birth, error);
  if (pid_ < 0) fail("'{}' cannot be started: {}", words[0], std::strerror(error));
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0 || ended_) return;
  kill();
  waitpid(pid_, nullptr, 0);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      own_group_(other.own_group_),
      ended_(other.ended_),
      status_(other.status_),
      lost_(other.lost_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(own_group_, other.own_group_);
  std::swap(ended_, other.ended_);
  std::swap(status_, other.status_);
  std::swap(lost_, other.lost_);
  return *this;
}

void ChildProcess::note(pid_t found) {
  if (found < 0) lost_ = errno;
  ended_ = true;
}

bool ChildProcess::ended() {
  if (ended_) return true;
  const pid_t found = waitpid(pid_, &status_, WNOHANG);
  if (found != 0) note(found);
  return ended_;
}

void ChildProcess::wait() {
  if (ended_) return;
  pid_t found = -1;
  do found = waitpid(pid_, &status_, 0);
  while (found < 0 && errno == EINTR);
  note(found);
}

std::optional<int> ChildProcess::exit_code() const {
  LISSOM_ASSERT(ended_);
  if (lost_ != 0 || !WIFEXITED(status_)) return std::nullopt;
  return WEXITSTATUS(status_);
}

std::string ChildProcess::how() const {
  LISSOM_ASSERT(ended_);
  if (lost_ != 0) return fmt::format("was lost: {}", std::strerror(lost_));
  if (const auto code = exit_code()) return fmt::format("ended with exit code {}", *code);
  return fmt::format("was ended by signal {} ({})", WTERMSIG(status_), strsignal(WTERMSIG(status_)));
}

void ChildProcess::send(int which) const {
  if (pid_ > 0 && !ended_) ::kill(own_group_ ? -pid_ : pid_, which);
}

void ChildProcess::interrupt() const {
  send(SIGINT);
}

void ChildProcess::terminate() const {
  send(SIGTERM);
}

void ChildProcess::kill() const {
  send(SIGKILL);
}

}  // namespace lissom

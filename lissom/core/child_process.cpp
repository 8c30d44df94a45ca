#include "lissom/core/child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
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
    if (!std::string_view(*entry).starts_with("OMP_NUM_THREADS=")) list.emplace_back(*entry);
  list.push_back(fmt::format("OMP_NUM_THREADS={}", threads));
  return list;
}

std::vector<char*> pointers(std::vector<std::string>& list) {
  std::vector<char*> out;
  for (std::string& entry : list) out.push_back(entry.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

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
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  // both may be the same file
  const int flags = O_WRONLY | O_CREAT | O_APPEND;
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), flags | O_TRUNC, 0644);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, messages.c_str(), flags, 0644);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int failed = posix_spawnp(&pid_, words[0].c_str(), &files, &attributes, pointers(words).data(),
                                  pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) {
    pid_ = -1;
    fail("'{}' cannot be started: {}", words[0], std::strerror(failed));
  }
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0 || ended_) return;
  kill();
  waitpid(pid_, nullptr, 0);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), ended_(other.ended_), status_(other.status_), lost_(other.lost_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(ended_, other.ended_);
  std::swap(status_, other.status_);
  std::swap(lost_, other.lost_);
  return *this;
}

bool ChildProcess::ended() {
  if (ended_) return true;
  const pid_t found = waitpid(pid_, &status_, WNOHANG);
  if (found == 0) return false;
  if (found < 0) lost_ = errno;
  ended_ = true;
  return true;
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
  if (pid_ > 0 && !ended_) ::kill(-pid_, which);
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

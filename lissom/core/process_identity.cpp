#include "lissom/core/process_identity.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace lissom {

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// When a process started; 0 where there is none.
long long birth_of(long pid) {
  const std::string text = text_of(fmt::format("/proc/{}/stat", pid));
  // "pid (name) state ..": the name may have blanks and brackets; the time is the 20th word behind it
  const size_t end = text.rfind(')');
  if (end == std::string::npos) return 0;
  // a process that has ended and that nobody has asked about yet counts as gone
  if (text.compare(end, 3, ") Z") == 0 || text.compare(end, 3, ") X") == 0) return 0;
  std::istringstream words(text.substr(end + 1));
  std::string word;
  for (int i = 0; i < 20; ++i) words >> word;
  return words ? std::strtoll(word.c_str(), nullptr, 10) : 0;
}

// The kernel's boot and the space of process numbers.
const std::string& machine() {
  static const std::string name = [] {
    std::string boot = text_of("/proc/sys/kernel/random/boot_id");
    while (!boot.empty() && boot.back() == '\n') boot.pop_back();
    std::error_code ec;
    return boot + " " + std::filesystem::read_symlink("/proc/self/ns/pid", ec).string();
  }();
  return name;
}

}  // namespace

ProcessIdentity own_process() {
  static const std::string host = [] {
    char name[256] = {};
    return gethostname(name, sizeof name - 1) == 0 ? std::string(name) : std::string("unknown");
  }();
  // asked anew where Python has forked
  thread_local long pid = 0;
  thread_local long long born = 0;
  if (pid != getpid()) {
    pid = getpid();
    born = birth_of(pid);
  }
  return {host, machine(), pid, born};
}

bool runs_here(long pid, long long born) {
  if (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return false;
  return born == 0 || birth_of(pid) == born;
}

const std::string& machine_tag() {
  static const std::string tag = [] {
    // FNV-1a: the same in every version
    std::uint32_t hash = 2166136261U;
    for (const char c : machine()) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    return fmt::format("{:08x}", hash);
  }();
  return tag;
}

}  // namespace lissom

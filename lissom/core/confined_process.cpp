// Between fork and exec only system calls are made: other threads of this process may hold any lock.
//
// Two walls, each of which stands or not as the kernel allows, without special rights:
//
//   namespaces   unshare(user, mount, network, ipc): everything is mounted read-only but the one folder, and
//                there is no network. What `unshare` and `bwrap` do, without needing either.
//   seccomp      execve is permitted once, for the program itself, and sockets are not permitted at all. The
//                filter sees the address of the file name, not the name: it permits the address at which our
//                own text lies, which means nothing any more once the new program is in place.
#include "lissom/core/confined_process.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "lissom/core/child_process.hpp"
#include "lissom/core/error.hpp"

namespace lissom {

namespace {

namespace fs = std::filesystem;

// not in the headers of every system that has the call
struct MountAttributes {
  std::uint64_t set = 0, clear = 0, propagation = 0, user_namespace = 0;
};
constexpr std::uint64_t mount_read_only = 1;
constexpr unsigned at_recursive = 0x8000;
constexpr long mount_setattr_call = 442;  // the same number on every architecture

// what the child tells its parent before the program is in place
struct Report {
  int error = 0;  // errno of the start; 0: none
  std::uint8_t no_programs = 0, read_only = 0;
};

// everything that the child needs, made before the fork
struct Plan {
  const char* program = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const char* folder = nullptr;
  const char* log = nullptr;
  std::string user_map, group_map;
  pid_t parent = 0;
  bool trusted = false, namespaces = false;
};

bool write_text(const char* path, std::string_view text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  return done;
}

// Everything read-only but the folder, and no network.
bool shut_namespaces(const Plan& plan) {
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) != 0) return false;
  // the user stays who he is; groups cannot be mapped before setgroups is given up
  write_text("/proc/self/setgroups", "deny");
  if (!write_text("/proc/self/uid_map", plan.user_map) || !write_text("/proc/self/gid_map", plan.group_map))
    return false;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  if (::mount(plan.folder, plan.folder, nullptr, MS_BIND, nullptr) != 0) return false;
  MountAttributes attributes;
  attributes.set = mount_read_only;
  if (::syscall(mount_setattr_call, AT_FDCWD, "/", at_recursive, &attributes, sizeof attributes) != 0)
    return false;
  attributes = {};
  attributes.clear = mount_read_only;
  return ::syscall(mount_setattr_call, AT_FDCWD, plan.folder, 0u, &attributes, sizeof attributes) == 0;
}

// No second program, no socket, no hand on other processes.
bool shut_calls(const Plan& plan) {
#if defined(__x86_64__)
  constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
  constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
  return false;
#endif
#if defined(__x86_64__) || defined(__aarch64__)
  const auto address = reinterpret_cast<std::uintptr_t>(plan.program);
  const auto low = static_cast<std::uint32_t>(address), high = static_cast<std::uint32_t>(address >> 32);
  constexpr std::uint32_t refuse = SECCOMP_RET_ERRNO | EPERM;
  constexpr std::uint32_t first_argument = offsetof(seccomp_data, args);
  const auto load = [](std::uint32_t at) { return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at); };
  const auto give = [](std::uint32_t what) { return sock_filter BPF_STMT(BPF_RET | BPF_K, what); };
  // goes on where equal, else leaves out `else_skip` lines
  const auto equal = [](std::uint32_t value, std::uint8_t then_skip, std::uint8_t else_skip) {
    return sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, then_skip, else_skip);
  };
  // calls of another architecture have other numbers (x32 has the same architecture and a high bit)
  const std::array filter = {
      load(offsetof(seccomp_data, arch)),
      equal(architecture, 1, 0),
      give(refuse),
      load(offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
      give(refuse),
      equal(__NR_execveat, 5, 0),
      equal(__NR_socket, 4, 0),
      equal(__NR_ptrace, 3, 0),
      equal(__NR_process_vm_writev, 2, 0),
      equal(__NR_execve, 2, 0),
      give(SECCOMP_RET_ALLOW),
      give(refuse),
      // execve of the address that is our own text
      load(first_argument),
      equal(low, 0, 3),
      load(first_argument + 4),
      equal(high, 0, 1),
      give(SECCOMP_RET_ALLOW),
      give(refuse),
  };
  const sock_fprog program{static_cast<unsigned short>(filter.size()),
                           const_cast<sock_filter*>(filter.data())};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
#endif
}

[[noreturn]] void become_confined(const Plan& plan, int tell) {
  Report report;
  const auto give_up = [&] {
    report.error = errno;
    (void)!::write(tell, &report, sizeof report);
    ::_exit(127);
  };
  // gone with its parent, even if that one is killed
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(127);
  const int nothing = ::open("/dev/null", O_RDONLY);
  const int log = ::open(plan.log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (nothing < 0 || log < 0 || ::dup2(nothing, STDIN_FILENO) < 0 || ::dup2(log, STDOUT_FILENO) < 0 ||
      ::dup2(log, STDERR_FILENO) < 0)
    give_up();
  if (!plan.trusted) {
    if (::chdir(plan.folder) != 0) give_up();
    report.read_only = plan.namespaces && shut_namespaces(plan);
    // the folder as it is mounted now
    if (::chdir(plan.folder) != 0) give_up();
    report.no_programs = shut_calls(plan);
  }
  (void)!::write(tell, &report, sizeof report);
  ::execve(plan.program, plan.arguments, plan.environment);
  give_up();
  ::_exit(127);
}

// Tried in a process of its own: a wall that stands half would be in the program's own way.
bool namespaces_stand(const Plan& plan) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(shut_namespaces(plan) ? 0 : 1);
  int status = 1;
  while (pid > 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// As a shell finds it; empty where there is none.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const size_t end = rest.find(':');
    const fs::path there = fs::path(rest.substr(0, end)) / name;
    std::error_code ec;
    if (fs::is_regular_file(there, ec) && ::access(there.c_str(), X_OK) == 0) return there.string();
    if (end == std::string_view::npos) return "";
    rest.remove_prefix(end + 1);
  }
}

// Few variables: what is in the others is nobody's business, and gmsh reads files that some of them name.
std::vector<std::string> small_environment(const fs::path& folder) {
  std::vector<std::string> list = {"HOME=" + folder.string(), "TMPDIR=" + folder.string(), "LC_ALL=C"};
  for (const char* name : {"PATH", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "OMP_WAIT_POLICY", "PYTHONPATH",
                           "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const char* value = std::getenv(name)) list.push_back(std::string(name) + "=" + value);
  return list;
}

// All bytes of a report, or as many as come.
size_t read_report(int from, Report& report) {
  ssize_t got = 0;
  while ((got = ::read(from, &report, sizeof report)) < 0 && errno == EINTR) {
  }
  return got > 0 ? static_cast<size_t>(got) : 0;
}

}  // namespace

ConfinedResult run_confined(const ConfinedOptions& options) {
  std::vector<std::string> arguments = options.arguments;
  LISSOM_ASSERT(!arguments.empty());
  const auto cannot = [&](int error) {
    fail("the program '{}' cannot be run: {}", options.arguments[0], std::strerror(error));
  };
  const std::string program = find_program(arguments[0]);
  if (program.empty()) cannot(ENOENT);
  std::vector<std::string> environment;
  if (options.trusted)
    for (char** entry = environ; *entry; ++entry) environment.emplace_back(*entry);
  else
    environment = small_environment(options.folder);
  const std::vector<char*> argument_list = exec_list(arguments), environment_list = exec_list(environment);
  const std::string folder = options.folder.string(), log = options.log.string();

  Plan plan;
  plan.program = program.c_str();
  plan.arguments = argument_list.data();
  plan.environment = environment_list.data();
  plan.folder = folder.c_str();
  plan.log = log.c_str();
  plan.user_map = fmt::format("{0} {0} 1\n", ::getuid());
  plan.group_map = fmt::format("{0} {0} 1\n", ::getgid());
  plan.parent = ::getpid();
  plan.trusted = options.trusted;
  plan.namespaces = !options.trusted && namespaces_stand(plan);

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) cannot(errno);
  const pid_t pid = ::fork();
  if (pid < 0) {
    const int error = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    cannot(error);
  }
  if (pid == 0) become_confined(plan, ends[1]);
  ::close(ends[1]);

  // one report when all is ready, and a second one only where the program could not be put in place
  Report report, again;
  const bool told = read_report(ends[0], report) == sizeof report;
  const bool failed = told && (report.error != 0 || read_report(ends[0], again) == sizeof again);
  ::close(ends[0]);
  ConfinedResult result;
  while (::waitpid(pid, &result.status, 0) < 0)
    if (errno != EINTR) fail("waiting for '{}' failed: {}", arguments[0], std::strerror(errno));
  if (failed) cannot(report.error != 0 ? report.error : again.error);
  result.no_programs = report.no_programs != 0;
  result.read_only = report.read_only != 0;
  return result;
}

}  // namespace lissom

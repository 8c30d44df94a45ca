#include "apps/lissom/training_processes.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "lissom/core/text.hpp"

namespace lissom::app {

namespace {

// between two looks at the processes
constexpr auto pause = std::chrono::milliseconds(20);

// The environment with one thread for each process: they share the cores among themselves.
std::vector<std::string> environment_of_children() {
  std::vector<std::string> list;
  for (char** entry = environ; *entry; ++entry)
    if (!std::string_view(*entry).starts_with("OMP_NUM_THREADS=")) list.emplace_back(*entry);
  list.emplace_back("OMP_NUM_THREADS=1");
  return list;
}

std::vector<char*> pointers(std::vector<std::string>& list) {
  std::vector<char*> out;
  for (std::string& entry : list) out.push_back(entry.data());
  out.push_back(nullptr);
  return out;
}

// A process that simulates one sample.
struct Child {
  size_t run = 0;
  pid_t pid = -1;
};

class Processes {
 public:
  Processes(const std::string& study, const std::vector<StudySetting>& settings, double checkpoint,
            const std::function<bool()>& stop, const std::vector<TrainingRun>& runs,
            const ProgressHook& progress)
      : study_(study),
        settings_(settings),
        checkpoint_(checkpoint),
        stop_(stop),
        runs_(runs),
        progress_(progress),
        problems_(runs.size()) {}

  ~Processes() {
    // after an exception only
    for (const Child& child : children_) kill(child.pid, SIGINT);
    for (const Child& child : children_) waitpid(child.pid, nullptr, 0);
  }

  std::vector<std::string> run(int at_a_time) {
    size_t next = 0;
    bool told = false;
    while (next < runs_.size() || !children_.empty()) {
      const bool stopped = stop_ && stop_();
      if (stopped && !told) {
        for (const Child& child : children_) kill(child.pid, SIGINT);
        for (; next < runs_.size(); ++next) problems_[next] = "was not begun";
        told = true;
      }
      while (next < runs_.size() && children_.size() < static_cast<size_t>(at_a_time)) start(next++);
      std::this_thread::sleep_for(pause);
      for (size_t i = children_.size(); i-- > 0;) {
        int status = 0;
        const pid_t ended = waitpid(children_[i].pid, &status, WNOHANG);
        if (ended == 0) continue;
        const Child child = children_[i];
        children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
        ++done_;
        problems_[child.run] = ended < 0 ? fmt::format("its process was lost: {}", std::strerror(errno))
                                         : problem_of(child, status);
      }
      tell();
    }
    return std::move(problems_);
  }

 private:
  // What the child prints, for its message; beside its folder.
  std::filesystem::path printed(size_t run) const {
    std::filesystem::path path = runs_[run].folder;
    path += ".json";
    return path;
  }

  void start(size_t index) {
    const TrainingRun& run = runs_[index];
    std::error_code ec;
    std::filesystem::create_directories(run.folder, ec);
    if (ec) fail("{}: the folder cannot be made: {}", run.folder.string(), ec.message());
    std::vector<std::string> arguments = {"lissom",  "simulate",          study_,
                                          "--out",   run.folder.string(), "--json",
                                          "--quiet", "--checkpoint",      fmt::format("{}", checkpoint_)};
    arguments.emplace_back("--no-view");
    if (run.resume) arguments.emplace_back("--resume");
    for (const auto* list : {&settings_, &run.settings})
      for (const StudySetting& setting : *list) {
        arguments.emplace_back("--set");
        arguments.push_back(setting.key + "=" + setting.value);
      }
    std::vector<std::string> environment = environment_of_children();
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, printed(index).c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    // a group of its own: Ctrl-C reaches this process, which tells the others once
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    Child child;
    child.run = index;
    const int failed = posix_spawn(&child.pid, "/proc/self/exe", &files, &attributes,
                                   pointers(arguments).data(), pointers(environment).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) fail("a process for {} cannot be started: {}", run.label, std::strerror(failed));
    children_.push_back(child);
  }

  std::string problem_of(const Child& child, int status) const {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      std::error_code ec;
      std::filesystem::remove(printed(child.run), ec);
      return "";
    }
    if (WIFSIGNALED(status)) return fmt::format("its process was ended by signal {}", WTERMSIG(status));
    try {
      const auto printed_json = nlohmann::json::parse(read_file(printed(child.run)));
      return printed_json.at("error").get<std::string>();
    } catch (const std::exception&) {
      return fmt::format("its process ended with exit code {} and no message", WEXITSTATUS(status));
    }
  }

  // All runs together: those that are over, and how far the others are.
  void tell() {
    if (!progress_) return;
    double sum = static_cast<double>(done_);
    for (const Child& child : children_) sum += fraction_of(runs_[child.run]);
    progress_(fmt::format("training, {} of {} runs", done_, runs_.size()),
              sum / static_cast<double>(runs_.size()));
  }

  // By the last line of its sensors.
  static double fraction_of(const TrainingRun& run) {
    std::ifstream file(run.folder / "sensors.csv", std::ios::binary);
    if (!file || !(run.end > 0)) return 0;
    file.seekg(0, std::ios::end);
    const std::streamoff size = file.tellg(), length = std::min<std::streamoff>(size, 4000);
    file.seekg(size - length);
    std::string tail(static_cast<size_t>(length), '\0');
    file.read(tail.data(), length);
    if (tail.empty() || tail.back() != '\n') return 0;
    tail.pop_back();
    const size_t line = tail.rfind('\n');
    if (line == std::string::npos) return 0;
    const auto t = parse_double(tail.substr(line + 1, tail.find(',', line) - line - 1));
    return t ? std::clamp(*t / run.end, 0.0, 1.0) : 0;
  }

  const std::string& study_;
  const std::vector<StudySetting>& settings_;
  double checkpoint_;
  const std::function<bool()>& stop_;
  const std::vector<TrainingRun>& runs_;
  const ProgressHook& progress_;
  std::vector<std::string> problems_;
  std::vector<Child> children_;
  size_t done_ = 0;
};

}  // namespace

TrainingRunner training_processes(const std::string& study, const std::vector<StudySetting>& settings,
                                  double checkpoint, std::function<bool()> stop) {
  return [study, settings, checkpoint, stop = std::move(stop)](const std::vector<TrainingRun>& runs,
                                                               int processes, const ProgressHook& progress) {
    return Processes(study, settings, checkpoint, stop, runs, progress).run(processes);
  };
}

}  // namespace lissom::app

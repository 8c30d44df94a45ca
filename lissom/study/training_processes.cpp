#include "lissom/study/training_processes.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "lissom/core/child_process.hpp"
#include "lissom/core/text.hpp"
#include "lissom/fe/geometry_trust.hpp"

namespace lissom {

namespace {

// between two looks at the processes
constexpr auto pause = std::chrono::milliseconds(20);

// A process that simulates one sample.
struct Child {
  size_t run = 0;
  ChildProcess process;
};

class Processes {
 public:
  Processes(const std::filesystem::path& program, const std::string& study,
            const std::vector<StudySetting>& settings, double checkpoint, const std::function<bool()>& stop,
            const std::vector<TrainingRun>& runs, const ProgressHook& progress)
      : program_(program),
        study_(study),
        settings_(settings),
        checkpoint_(checkpoint),
        stop_(stop),
        runs_(runs),
        progress_(progress),
        problems_(runs.size()) {}

  std::vector<std::string> run(int at_a_time) {
    size_t next = 0;
    bool told = false;
    while (next < runs_.size() || !children_.empty()) {
      const bool stopped = stop_ && stop_();
      if (stopped && !told) {
        for (const Child& child : children_) child.process.interrupt();
        for (; next < runs_.size(); ++next) problems_[next] = "was not begun";
        told = true;
      }
      while (next < runs_.size() && children_.size() < static_cast<size_t>(at_a_time)) start(next++);
      std::this_thread::sleep_for(pause);
      for (size_t i = children_.size(); i-- > 0;) {
        if (!children_[i].process.ended()) continue;
        const Child child = std::move(children_[i]);
        children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
        ++done_;
        problems_[child.run] = problem_of(child);
      }
      tell();
    }
    return std::move(problems_);
  }

 private:
  void start(size_t index) {
    const TrainingRun& run = runs_[index];
    std::error_code ec;
    std::filesystem::create_directories(run.folder, ec);
    if (ec) fail("{}: the folder cannot be made: {}", run.folder.string(), ec.message());
    ChildOptions options;
    options.program = program_;
    options.output = training_messages(run);
    // one thread: the processes share the cores among themselves
    options.arguments = {"simulate", study_,    "--out",        run.folder.string(),
                         "--json",   "--quiet", "--checkpoint", fmt::format("{}", checkpoint_),
                         "--no-view"};
    std::vector<std::string>& arguments = options.arguments;
    if (run.resume) arguments.emplace_back("--resume");
    if (geometry_is_trusted()) arguments.emplace_back("--trust-geometry");
    for (const auto* list : {&settings_, &run.settings})
      for (const StudySetting& setting : *list) {
        arguments.emplace_back("--set");
        arguments.push_back(setting.key + "=" + setting.value);
      }
    try {
      children_.push_back({index, ChildProcess(options)});
    } catch (const Error& e) {
      fail("{}: {}", run.label, e.what());
    }
  }

  std::string problem_of(const Child& child) const {
    const auto code = child.process.exit_code();
    const std::filesystem::path messages = training_messages(runs_[child.run]);
    if (code == 0) {
      std::error_code ec;
      std::filesystem::remove(messages, ec);
      return "";
    }
    try {
      if (!code) return "its process " + child.process.how();
      const auto printed_json = nlohmann::json::parse(read_file(messages));
      return printed_json.at("error").get<std::string>();
    } catch (const std::exception&) {
      return fmt::format("its process {} and no message", child.process.how());
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

  const std::filesystem::path& program_;
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

std::filesystem::path training_messages(const TrainingRun& run) {
  std::filesystem::path path = run.folder;
  path += ".json";
  return path;
}

TrainingRunner training_processes(const std::filesystem::path& program, const std::string& study,
                                  const std::vector<StudySetting>& settings, double checkpoint,
                                  std::function<bool()> stop) {
  return [program, study, settings, checkpoint, stop = std::move(stop)](
             const std::vector<TrainingRun>& runs, int processes, const ProgressHook& progress) {
    return Processes(program, study, settings, checkpoint, stop, runs, progress).run(processes);
  };
}

}  // namespace lissom

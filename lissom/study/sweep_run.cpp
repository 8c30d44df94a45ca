#include "lissom/study/sweep_run.hpp"

#include <sched.h>
#include <unistd.h>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <set>
#include <thread>

#include "lissom/core/atomic_file.hpp"
#include "lissom/core/child_process.hpp"
#include "lissom/core/parallel.hpp"
#include "lissom/core/resources.hpp"
#include "lissom/core/temporary_name.hpp"
#include "lissom/core/text.hpp"
#include "lissom/fe/geometry_trust.hpp"
#include "lissom/io/sweep_point.hpp"
#include "lissom/study/body.hpp"
#include "lissom/study/summary_json.hpp"
#include "lissom/study/sweep_work.hpp"

namespace lissom {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto sweep_pause = std::chrono::milliseconds(5);
constexpr auto look_around = std::chrono::milliseconds(500);  // between two looks at what others have done
constexpr double manifest_interval = 5;                       // [s] between two versions of the manifest
constexpr double grace = 10;                                  // [s] that processes have to end in good order

fs::path manifest_file(const fs::path& out) {
  return out / "sweep.json";
}
fs::path lock_file(const fs::path& out) {
  return out / "sweep.lock";
}
fs::path work_folder(const fs::path& out) {
  return out / "sweep-work";
}
fs::path task_file(const fs::path& out) {
  return work_folder(out) / "task.json";
}
std::string point_number(size_t point) {
  return fmt::format("{:06}", point + 1);
}
fs::path point_file(const fs::path& out, size_t point, const char* extension) {
  return work_folder(out) / (point_number(point) + extension);
}

// task.json, or NNNNNN and what follows it; also while it is written or taken away.
bool is_work_file(const std::string& name) {
  const std::string_view all = name;
  const std::string_view rest = all.substr(all.starts_with('.') ? 1 : 0);
  if (rest.starts_with("task.json")) return true;
  const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  return digits >= 6 && digits < rest.size() && rest[digits] == '.';
}

// Why the folder is not that of a sweep, which has only what points leave there; empty: it is, or there is
// none.
std::string problem_of_work(const fs::path& out) {
  const fs::path work = work_folder(out);
  std::error_code ec;
  const fs::file_status status = fs::symlink_status(work, ec);
  if (!fs::exists(status)) return "";
  if (!fs::is_directory(status)) return "is no folder";
  for (const auto& entry : fs::directory_iterator(work, ec)) {
    const std::string name = entry.path().filename().string();
    if (!is_work_file(name) || !fs::is_regular_file(entry.symlink_status(ec)))
      return fmt::format("has '{}' in it, which is not Lissom's", name);
  }
  return "";
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

long long now_in_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string holder_text(const ClaimHolder& holder) {
  return fmt::format("process {} on {}", holder.pid, holder.host);
}

// Cores for this process: those that it is bound to, or its share of all.
int own_cores(const Launch& launch) {
  const int all = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  cpu_set_t bound;
  if (sched_getaffinity(0, sizeof bound, &bound) == 0 && CPU_COUNT(&bound) < all)
    return std::max(1, CPU_COUNT(&bound));
  return std::max(1, all / std::max(1, launch.local_size));
}

// The last line of what a process printed that is not blank.
std::string last_line(const fs::path& path) {
  std::error_code ec;
  if (!fs::exists(path, ec)) return "";
  const std::string text = read_file(path);
  const std::string_view all = trim(text);
  return std::string(trim(all.substr(all.rfind('\n') == std::string_view::npos ? 0 : all.rfind('\n'))));
}

// Beats for claims while this thread computes.
class Heart {
 public:
  Heart(std::vector<Claim*> claims, double interval)
      : thread_([this, claims = std::move(claims), interval] {
          std::unique_lock lock(mutex_);
          while (!over_.wait_for(lock, std::chrono::duration<double>(interval), [this] { return end_; }))
            for (Claim* claim : claims) claim->beat();
        }) {}
  ~Heart() {
    {
      const std::lock_guard lock(mutex_);
      end_ = true;
    }
    over_.notify_all();
    thread_.join();
  }
  Heart(const Heart&) = delete;
  Heart& operator=(const Heart&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool end_ = false;
  std::thread thread_;
};

class SweepWorker {
 public:
  SweepWorker(const StudyFile& study, const fs::path& out, const PointRunner& runner,
              Diagnostics& diagnostics, const ProgressHook& progress, const std::function<bool()>& stop,
              const StudySweepOptions& options)
      : study_(study),
        out_(out),
        runner_(runner),
        diagnostics_(diagnostics),
        progress_(progress),
        stop_(stop),
        options_(options),
        watch_(options.patience),
        coordinator_(!options.join && options.launch.rank == 0) {
    const int cores = own_cores(options.launch);
    const int points = static_cast<int>(study.sweep.size());
    jobs_ = options.jobs > 0 ? options.jobs : cores;
    threads_ = options.launch.several() || points >= cores ? 1 : cores / points;
  }

  SweepOutcome run() {
    if (coordinator_)
      coordinate();
    else
      join();
    work();
    return finish();
  }

 private:
  struct Job {
    size_t point = 0;
    Claim claim;
    ChildProcess process;
    Clock::time_point start = Clock::now();
    bool timed_out = false, lost = false;
  };

  bool stopped() const { return stop_ && stop_(); }

  // ---- begin ----

  // Makes this process the only one that writes the manifest.
  void coordinate() {
    check_output_folder(out_);
    expect_own_sweep_work(out_);
    make_folder(out_);
    wait_for_lock();
    // those who help are not kept out: they write where the points are
    folder_lock_ = std::make_shared<FolderLock>(out_);
    const bool there = fs::exists(manifest_file(out_));
    const bool resume = options_.resume || options_.retry_failed;
    if (there && resume) {
      go_on();
    } else {
      if (there) expect_no_workers();
      if (!there && resume)
        diagnostics_.warn("sweep.resume", fmt::format("there is nothing to resume in {}: the sweep started "
                                                      "from the beginning",
                                                      out_.string()));
      remove_work();
      manifest_ = begin_manifest(study_, options_.settings);
    }
    prepare();
  }

  // A holder on another machine is watched until it beats or patience is over.
  void wait_for_lock() {
    const fs::path path = lock_file(out_);
    std::optional<fs::file_time_type> first;
    while (true) {
      if (auto claim = Claim::take(path)) {
        lock_ = std::make_shared<Claim>(std::move(*claim));
        return;
      }
      const ClaimWatch::State state = watch_.look(path);
      if (state == ClaimWatch::State::Dead) watch_.bury(path);
      if (state != ClaimWatch::State::Alive) continue;
      const auto holder = read_claim(path);
      std::error_code ec;
      const auto beat = fs::last_write_time(path, ec);
      if (!first) first = beat;
      if (holder && (holder->machine == own_holder().machine || (!ec && beat != *first)))
        fail_input(
            "{}: a sweep is being computed there by {}; wait for it, help it with --join, or give another "
            "folder with --out",
            out_.string(), holder_text(*holder));
      if (progress_)
        progress_(
            fmt::format("waiting to see whether {} lives", holder ? holder_text(*holder) : "another process"),
            -1);
      if (stopped()) fail("the sweep was stopped before it began");
      std::this_thread::sleep_for(look_around);
    }
  }

  // Before everything is replaced.
  void expect_no_workers() {
    std::error_code ec;
    for (const auto& entry : fs::directory_iterator(work_folder(out_), ec)) {
      if (entry.path().extension() != ".claim") continue;
      // elsewhere: what stands still for long is dead, but who waits that long
      if (watch_.look(entry.path()) != ClaimWatch::State::Alive) continue;
      const auto holder = read_claim(entry.path());
      fail_input(
          "{}: point {} of a sweep is being computed there by {}; wait for it, go on with --resume, give "
          "another folder with --out, or, if it is dead, remove {}",
          out_.string(), entry.path().stem().string(), holder ? holder_text(*holder) : "another process",
          work_folder(out_).string());
    }
  }

  void expect_same_study() const {
    const std::vector<std::string> changes = manifest_changes(study_, manifest_);
    if (changes.empty()) return;
    fail_input(
        "{}: the sweep in {} was begun with another study and cannot be resumed with this one; what "
        "changed:\n  {}\nundo the changes, give another folder with --out, or run without --resume and "
        "--join to start from the beginning",
        study_.path.string(), out_.string(), fmt::join(changes, "\n  "));
  }

  void go_on() {
    try {
      manifest_ = read_sweep_manifest(manifest_file(out_));
    } catch (const InputError& e) {
      fail_input("{}; run without --resume to start from the beginning", e.what());
    }
    expect_same_study();
    if (manifest_.lissom_version != LISSOM_VERSION)
      diagnostics_.warn("sweep.version", fmt::format("the sweep was begun by Lissom {} and resumed by {}",
                                                     manifest_.lissom_version, LISSOM_VERSION));
    for (StudyPoint& point : manifest_.points)
      if (point.status == PointStatus::Running) point.status = PointStatus::Pending;
    look_for_results();
    if (!options_.retry_failed) return;
    for (size_t k = 0; k < manifest_.points.size(); ++k) {
      StudyPoint& point = manifest_.points[k];
      // what makes no sense does not with more attempts either
      if (point.status != PointStatus::Failed || !study_.sweep[k].problem.empty()) continue;
      std::error_code ec;
      fs::remove(point_file(out_, k, ".json"), ec);
      point.status = PointStatus::Pending;
      point.problem.clear();
    }
  }

  // What points are computed from, then the manifest: whoever sees it can begin.
  void prepare() {
    manifest_.launch = options_.launch.id;
    manifest_.launched = now_in_seconds();
    if (!manifest_.complete()) {
      make_folder(work_folder(out_));
      // as it is now, whatever becomes of the file meanwhile; of a study with settings or with a model its
      // text is not what was read
      const bool as_read = options_.settings.empty() && study_.pod_rom.empty();
      const std::string text = options_.text ? *options_.text
                               : as_read     ? study_.text
                                             : read_file(study_.path);
      json settings = json::array();
      for (const auto& [key, value] : options_.settings) settings.push_back({{"key", key}, {"value", value}});
      AtomicFile file(task_file(out_));
      file.write(json{{"id", manifest_.id},
                      {"study", study_.path.string()},
                      {"text", text},
                      {"settings", settings},
                      {"keep_results", options_.keep_results}}
                     .dump(-1, ' ', false, json::error_handler_t::replace));
      file.commit();
    }
    save();
  }

  // Joins the sweep in the folder. One of several waits for its rank 0; with --join the first one begins.
  void join() {
    const Timer waiting;
    const long long born = now_in_seconds();
    while (true) {
      if (fs::exists(manifest_file(out_))) {
        manifest_ = read_sweep_manifest(manifest_file(out_));
        const bool mine =
            options_.join || (options_.launch.id.empty() ? manifest_.launched >= born - 60
                                                         : manifest_.launch == options_.launch.id);
        if (mine) {
          expect_same_study();
          return;
        }
      } else if (options_.join) {
        check_output_folder(out_);
        make_folder(out_);
        if (begin_joined()) return;
      }
      if (stopped()) fail("the sweep was stopped before it began");
      if (waiting.seconds() > options_.patience + 120)
        fail("{}: {} has not begun a sweep there", out_.string(), options_.join ? "nobody" : "rank 0");
      std::this_thread::sleep_for(options_.join ? sweep_pause : look_around / 5);
    }
  }

  // Under the lock, so that only one does.
  bool begin_joined() {
    auto claim = Claim::take(lock_file(out_));
    if (!claim) {
      if (watch_.look(lock_file(out_)) == ClaimWatch::State::Dead) watch_.bury(lock_file(out_));
      return false;
    }
    if (fs::exists(manifest_file(out_))) return false;
    const FolderLock folder_lock(out_);
    manifest_ = begin_manifest(study_, options_.settings);
    prepare();
    return true;
  }

  // ---- work ----

  void work() {
    gone_ = false;
    for (size_t k = 0; k < manifest_.points.size(); ++k)
      if (!manifest_.points[k].over()) {
        manifest_.points[k].status = PointStatus::Pending;
        open_.insert(k);
      }
    Clock::time_point looked = Clock::now() - std::chrono::hours(1), beaten = Clock::now();
    const double beat_interval = std::min(10.0, options_.patience / 6);
    std::optional<Clock::time_point> told;
    bool urged = false;
    tell();
    while (true) {
      if (stopped() && !told) {
        told = Clock::now();
        for (const Job& job : running_) job.process.interrupt();
      }
      if (told && !urged && seconds_since(*told) > grace / 2) {
        urged = true;
        for (const Job& job : running_) job.process.terminate();
      }
      if (told && seconds_since(*told) > grace)
        for (const Job& job : running_) job.process.kill();
      if (collect()) tell();
      if (told) {
        if (running_.empty()) break;
      } else {
        if (Clock::now() - looked > look_around) {
          look_for_results();
          blocked_.clear();
          looked = Clock::now();
          tell();
        }
        if (start_some()) tell();
        if (running_.empty() && (gone_ || open_.empty())) break;
        // others are at what is left: the coordinator waits for them; the last one of the rest shall see it
        if (running_.empty() && !coordinator_ && blocked_.size() == open_.size() && !look_again()) break;
      }
      if (seconds_since(beaten) > beat_interval) {
        beaten = Clock::now();
        if (lock_) lock_->beat();
        for (Job& job : running_)
          if (!job.claim.beat()) job.lost = true, job.process.kill();
      }
      // of many points it takes long: no more than a twentieth of the time
      if (coordinator_ && changed_ && saved_.seconds() > std::max(manifest_interval, 20 * save_seconds_))
        save();
      std::this_thread::sleep_for(sweep_pause);
    }
    if (!told) return;
    if (coordinator_) save();
    fail("the sweep was stopped after {} of {} points; the same command with --resume goes on",
         manifest_.points.size() - open_.size(), manifest_.points.size());
  }

  // Whether there is anything to do or to wait for after all.
  bool look_again() {
    look_for_results();
    blocked_.clear();
    start_some();
    return !running_.empty() || blocked_.size() != open_.size();
  }

  // Starts what there is room for; whether anything was.
  bool start_some() {
    bool any = false;
    for (auto it = open_.begin(); it != open_.end() && running_.size() < static_cast<size_t>(jobs_);) {
      const size_t point = *it++;
      if (manifest_.points[point].status != PointStatus::Pending || blocked_.contains(point)) continue;
      auto claim = claimed(point);
      if (!claim) {
        blocked_.insert(point);
        continue;
      }
      any = true;
      if (fs::exists(point_file(out_, point, ".json")) && take_result(point)) continue;
      StudyPoint& entry = manifest_.points[point];
      entry.attempts = claim->holder().attempt;
      entry.status = PointStatus::Running;
      entry.host = claim->holder().host;
      entry.pid = claim->holder().pid;
      entry.threads = options_.program.empty() ? thread_count() : threads_;
      changed_ = true;
      if (options_.program.empty()) {
        compute(point, *claim);
        return true;
      }
      start(point, std::move(*claim));
    }
    return any;
  }

  std::optional<Claim> claimed(size_t point) {
    const fs::path path = point_file(out_, point, ".claim");
    int attempt = manifest_.points[point].attempts + 1;
    auto claim = Claim::take(path, attempt);
    if (claim) return claim;
    if (!fs::exists(work_folder(out_))) {
      gone_ = true;
      return std::nullopt;
    }
    if (watch_.look(path) != ClaimWatch::State::Dead) return std::nullopt;
    const auto before = watch_.bury(path);
    if (!before) return std::nullopt;
    return Claim::take(path, std::max(attempt, *before + 1));
  }

  void start(size_t point, Claim claim) {
    ChildOptions child;
    child.program = options_.program;
    child.launcher = options_.launcher;
    child.threads = threads_;
    child.output = child.messages = point_file(out_, point, ".log");
    child.arguments = {"sweep",   study_.path.string(),     "--out", out_.string(),
                       "--point", std::to_string(point + 1)};
    if (geometry_is_trusted()) child.arguments.emplace_back("--trust-geometry");
    std::error_code ec;
    fs::remove(point_values_file(out_, point), ec);
    ChildProcess process(child);
    if (options_.launcher.empty()) manifest_.points[point].pid = process.pid();
    running_.push_back({point, std::move(claim), std::move(process)});
  }

  // In this process.
  void compute(size_t point, Claim& claim) {
    StudyPoint& entry = manifest_.points[point];
    const Timer timer;
    Diagnostics diagnostics;
    bool ours = true;
    {
      std::vector<Claim*> claims = {&claim};
      if (lock_) claims.push_back(lock_.get());
      const Heart heart(claims, std::min(10.0, options_.patience / 6));
      try {
        entry.values = runner_(study_.sweep[point].study,
                               options_.keep_results ? point_folder(out_, point) : fs::path(), diagnostics);
        entry.status = PointStatus::Done;
      } catch (const Error& e) {
        entry.status = PointStatus::Failed;
        entry.problem = e.what();
      }
    }
    if (stopped()) {
      entry.status = PointStatus::Pending;
      entry.values.clear();
      entry.problem.clear();
      return;
    }
    entry.warnings = diagnostics.warnings();
    entry.seconds = timer.seconds();
    ours = claim.beat();
    record(point, ours);
  }

  // Processes that have ended; whether there were any.
  bool collect() {
    bool any = false;
    for (size_t i = running_.size(); i-- > 0;) {
      Job& job = running_[i];
      if (const double late = seconds_since(job.start) - options_.timeout; options_.timeout > 0 && late > 0) {
        // a launcher ends what it has started elsewhere, if it is let
        if (options_.launcher.empty() || late > grace)
          job.process.kill();
        else if (!job.timed_out)
          job.process.terminate();
        job.timed_out = true;
      }
      if (!job.process.ended()) continue;
      any = true;
      end(job);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return any;
  }

  void end(Job& job) {
    const size_t k = job.point;
    StudyPoint& entry = manifest_.points[k];
    const fs::path log = point_file(out_, k, ".log"), left = point_values_file(out_, k);
    const bool complete = job.process.exit_code() == 0 && fs::exists(left);
    if (!complete && (stopped() || job.lost)) {
      entry.status = PointStatus::Pending;
    } else {
      entry.status = PointStatus::Failed;
      if (complete) try {
          const StudyPoint result = read_point_file(left, manifest_.id, k);
          entry.status = result.status;
          entry.values = result.values;
          entry.problem = result.problem;
          entry.warnings = result.warnings;
          if (!options_.launcher.empty()) entry.host = result.host, entry.pid = result.pid;
        } catch (const InputError& e) {
          entry.problem = e.what();
        }
      else if (job.timed_out)
        entry.problem = fmt::format("took longer than the {} s of --timeout and was ended", options_.timeout);
      else
        entry.problem = problem_of(job, log);
      entry.seconds = seconds_since(job.start);
      record(k, job.claim.beat());
    }
    std::error_code ec;
    fs::remove(log, ec);
    fs::remove(left, ec);
  }

  static std::string problem_of(const Job& job, const fs::path& log) {
    std::string problem = "its process " + job.process.how();
    if (problem.find("signal 9 ") != std::string::npos)
      problem += ", as the system does where memory runs out";
    if (const std::string line = last_line(log); !line.empty()) problem += ": " + line;
    return problem;
  }

  // The result of a point for the other workers; nothing where one of them has taken the point over.
  void record(size_t point, bool ours) {
    open_.erase(point);
    changed_ = true;
    ++computed_;
    if (ours && fs::exists(work_folder(out_)))
      write_point_file(manifest_.points[point], manifest_.id, point, point_file(out_, point, ".json"));
  }

  // ---- others ----

  // Results of other workers, and of those before.
  void look_for_results() {
    std::error_code ec;
    std::vector<size_t> found, claims;
    for (fs::directory_iterator it(work_folder(out_), ec), end; !ec && it != end; it.increment(ec)) {
      const auto number = parse_long(it->path().stem().string());
      if (!number || *number < 1 || *number > static_cast<long>(manifest_.points.size())) continue;
      const auto point = static_cast<size_t>(*number - 1);
      if (it->path().extension() == ".json" && !manifest_.points[point].over()) found.push_back(point);
      if (it->path().extension() == ".claim") claims.push_back(point);
    }
    if (ec && !fs::exists(work_folder(out_))) gone_ = true;
    for (const size_t point : found) take_result(point);
    if (!coordinator_) return;
    // for the manifest: who is at what
    for (const size_t point : claims) {
      StudyPoint& entry = manifest_.points[point];
      if (entry.over() || is_running(point)) continue;
      if (const auto holder = read_claim(point_file(out_, point, ".claim"))) {
        entry.attempts = std::max(entry.attempts, holder->attempt - 1);
        entry.host = holder->host;
        entry.pid = holder->pid;
      }
    }
  }

  bool is_running(size_t point) const {
    return std::any_of(running_.begin(), running_.end(), [&](const Job& job) { return job.point == point; });
  }

  // False where the file is damaged: the point is computed again.
  bool take_result(size_t point) {
    const fs::path path = point_file(out_, point, ".json");
    try {
      StudyPoint result = read_point_file(path, manifest_.id, point);
      if (result.parameters != manifest_.points[point].parameters)
        fail_input("{}: it has other parameters", path.string());
      manifest_.points[point] = std::move(result);
      open_.erase(point);
      changed_ = true;
      return true;
    } catch (const InputError& e) {
      std::error_code ec;
      if (!fs::exists(path, ec)) return false;
      diagnostics_.warn("sweep.damaged", fmt::format("the point is computed again: {}", e.what()));
      fs::remove(path, ec);
      return false;
    }
  }

  // ---- end ----

  SweepOutcome finish() {
    SweepOutcome outcome;
    outcome.computed = computed_;
    if (!coordinator_ && !take_finish()) {
      outcome.manifest = std::move(manifest_);
      return outcome;
    }
    if (!manifest_.complete())
      fail("{}: was removed while the sweep ran; --resume goes on", work_folder(out_).string());
    save();
    remove_work();
    outcome.manifest = std::move(manifest_);
    outcome.finished = true;
    outcome.lock = std::move(lock_);
    outcome.folder_lock = std::move(folder_lock_);
    return outcome;
  }

  // Whether this worker, which is not the coordinator, has to end the sweep: all is done and nobody else
  // does it.
  bool take_finish() {
    if (gone_ || !open_.empty() || (options_.launch.rank > 0 && !options_.join)) return false;
    auto claim = Claim::take(lock_file(out_));
    if (!claim && watch_.look(lock_file(out_)) == ClaimWatch::State::Dead) {
      watch_.bury(lock_file(out_));
      claim = Claim::take(lock_file(out_));
    }
    if (!claim || !fs::exists(work_folder(out_))) return false;
    if (read_sweep_manifest(manifest_file(out_)).id != manifest_.id) return false;
    folder_lock_ = std::make_shared<FolderLock>(out_);
    lock_ = std::make_shared<Claim>(std::move(*claim));
    return true;
  }

  void save() {
    const Timer timer;
    write_sweep_manifest(manifest_, manifest_file(out_));
    save_seconds_ = timer.seconds();
    changed_ = false;
    saved_ = Timer();
  }

  // At once for all who look: it is renamed first. A folder of the user's is not removed.
  void remove_work() const {
    std::error_code ec;
    if (!problem_of_work(out_).empty()) return;
    const fs::path gone = out_ / temporary_name(work_folder(out_).filename().string());
    fs::rename(work_folder(out_), gone, ec);
    if (!ec) fs::remove_all(gone, ec);
  }

  void tell() const {
    if (!progress_ || manifest_.points.empty()) return;
    const size_t all = manifest_.points.size(), over = all - open_.size();
    const int failed = manifest_.count(PointStatus::Failed);
    progress_(fmt::format("sweep, {} of {} points{}", over, all,
                          failed > 0 ? fmt::format(", {} failed", failed) : ""),
              static_cast<double>(over) / static_cast<double>(all));
  }

  const StudyFile& study_;
  const fs::path& out_;
  const PointRunner& runner_;
  Diagnostics& diagnostics_;
  const ProgressHook& progress_;
  const std::function<bool()>& stop_;
  const StudySweepOptions& options_;
  ClaimWatch watch_;
  bool coordinator_;
  int jobs_ = 1, threads_ = 1;

  SweepManifest manifest_;
  std::shared_ptr<Claim> lock_;
  std::shared_ptr<FolderLock> folder_lock_;
  std::set<size_t> open_, blocked_;  // points that are not over; of them those that others are at
  std::vector<Job> running_;
  bool gone_ = false;  // somebody has ended the sweep
  bool changed_ = false;
  int computed_ = 0;
  Timer saved_;
  double save_seconds_ = 0;
};

}  // namespace

void expect_own_sweep_work(const fs::path& out) {
  if (const std::string problem = problem_of_work(out); !problem.empty())
    fail_input(
        "{}: {}, and a sweep keeps its own files in a folder of this name; move it away, or give another "
        "folder with --out",
        work_folder(out).string(), problem);
}

SweepOutcome run_points(const StudyFile& study, const fs::path& out, const PointRunner& runner,
                        Diagnostics& diagnostics, const ProgressHook& progress,
                        const std::function<bool()>& stop, const StudySweepOptions& options) {
  if (study.sweep.empty())
    fail_input("{}: there is no [sweep]; add [[sweep.parameters]] with key and values", study.path.string());
  return SweepWorker(study, out, runner, diagnostics, progress, stop, options).run();
}

PointTask read_point_task(const fs::path& out, size_t point) {
  const fs::path path = task_file(out);
  const std::string text = read_file(path);
  try {
    const json j = json::parse(text);
    PointTask task;
    j.at("id").get_to(task.id);
    j.at("keep_results").get_to(task.keep_results);
    std::vector<StudySetting> settings;
    for (const json& entry : j.at("settings"))
      settings.push_back({entry.at("key").get<std::string>(), entry.at("value").get<std::string>()});
    task.study =
        parse_sweep_point(j.at("text").get<std::string>(), j.at("study").get<std::string>(), settings, point);
    return task;
  } catch (const json::exception& e) {
    fail_input("{}: is no task of a sweep: {}", path.string(), e.what());
  }
}

fs::path point_values_file(const fs::path& out, size_t point) {
  return point_file(out, point, ".values");
}

fs::path point_folder(const fs::path& out, size_t point) {
  return out / "points" / point_number(point);
}

}  // namespace lissom

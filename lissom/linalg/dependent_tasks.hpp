// Tasks that wait for earlier ones, shared out to threads. A task may start before all it needs is
// there, do what it can, and be continued later, perhaps by another thread; at no time do two threads work on
// one task. What a task does, and in which order, is its own affair: results do not depend on the number of
// threads. Threads without work sleep, so a busy machine loses nothing to them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <limits>
#include <mutex>
#include <vector>

namespace lissom {

class DependentTasks {
 public:
  // What a task's turn may end with, besides the number (not negative) of the task that it has to wait for.
  static constexpr int kDone = -1, kFailed = -2, kYield = -3;

  explicit DependentTasks(int count);

  // Calls advance(task, thread), with thread in 0..threads-1, until every task has returned kDone. A task
  // waits only for tasks of lower numbers; among those that can go on, the lowest goes first. After kFailed,
  // tasks of higher numbers are given up and those of lower numbers completed, hence the result, the lowest
  // task that failed (-1: none did), is always the same. `advance` must not throw.
  int run(int threads, const std::function<int(int task, int thread)>& advance);

  // For use inside `advance`: whether a task is done, and whether one of lower number waits for a thread (a
  // long task then does well to return kYield).
  bool done(int task) const { return done_[task].load(std::memory_order_acquire); }
  bool earlier_is_ready(int task) const { return first_ready_.load(std::memory_order_relaxed) < task; }

 private:
  void work(int thread, const std::function<int(int, int)>& advance);
  void make_ready(int task);

  const int count_;
  std::vector<std::atomic<bool>> done_;
  std::vector<int> ready_;                       // heap, lowest on top
  std::vector<int> first_waiter_, next_waiter_;  // lists of the tasks that wait for a task
  std::atomic<int> first_ready_ = std::numeric_limits<int>::max();
  std::atomic<int> remaining_ = 0;  // tasks below limit_ that are not done
  int limit_ = 0;                   // the lowest task that failed
  int sleeping_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace lissom

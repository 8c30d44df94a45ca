#include "lissom/linalg/dependent_tasks.hpp"

#include <algorithm>
#include <numeric>

#include "lissom/core/error.hpp"
#include "lissom/core/parallel.hpp"

namespace lissom {

namespace {

// looks for work before a thread goes to sleep: about ten microseconds, what waking it up would cost
constexpr int kLooksBeforeSleep = 300;

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

DependentTasks::DependentTasks(int count)
    : count_(count), done_(count), first_waiter_(count), next_waiter_(count) {
  ready_.reserve(count);
}

int DependentTasks::run(int threads, const std::function<int(int, int)>& advance) {
  for (auto& flag : done_) flag.store(false, std::memory_order_relaxed);
  std::fill(first_waiter_.begin(), first_waiter_.end(), -1);
  // all tasks may try: ascending numbers are a heap already
  ready_.resize(count_);
  std::iota(ready_.begin(), ready_.end(), 0);
  first_ready_ = 0;
  limit_ = count_;
  remaining_ = count_;
  sleeping_ = 0;
  parallel_team(threads, [&](int thread, int) { work(thread, advance); });
  LISSOM_ASSERT(remaining_ == 0);
  return limit_ < count_ ? limit_ : -1;
}

void DependentTasks::make_ready(int task) {
  ready_.push_back(task);
  std::push_heap(ready_.begin(), ready_.end(), std::greater<>());
}

void DependentTasks::work(int thread, const std::function<int(int, int)>& advance) {
  std::unique_lock lock(mutex_);
  const auto publish = [&] {
    first_ready_ = ready_.empty() ? std::numeric_limits<int>::max() : ready_.front();
  };
  const auto has_work = [&] { return remaining_ == 0 || (!ready_.empty() && ready_.front() < limit_); };
  for (;;) {
    // wait for a task: look around for a moment, then sleep
    if (!has_work()) {
      lock.unlock();
      for (int look = 0; look < kLooksBeforeSleep; ++look) {
        if (remaining_ == 0 || first_ready_ < count_) break;
        pause_briefly();
      }
      lock.lock();
      ++sleeping_;
      wake_.wait(lock, has_work);
      --sleeping_;
    }
    if (remaining_ == 0) {
      wake_.notify_all();
      return;
    }

    std::pop_heap(ready_.begin(), ready_.end(), std::greater<>());
    const int task = ready_.back();
    ready_.pop_back();
    publish();
    // this thread takes one task itself; whoever wakes for the next wakes another in turn
    if (sleeping_ > 0 && has_work()) wake_.notify_one();
    lock.unlock();
    const int outcome = advance(task, thread);
    lock.lock();

    if (outcome == kDone) {
      done_[task].store(true, std::memory_order_release);
      for (int waiter = first_waiter_[task]; waiter >= 0; waiter = next_waiter_[waiter]) make_ready(waiter);
      if (task < limit_) --remaining_;
    } else if (outcome == kFailed) {
      // later tasks need not be tried any more; earlier ones may still fail before this one
      if (task < limit_) {
        limit_ = task;
        int open = 0;
        for (int t = 0; t < limit_; ++t) open += !done(t);
        remaining_ = open;
      }
    } else if (outcome == kYield || done(outcome)) {
      make_ready(task);
    } else {
      next_waiter_[task] = first_waiter_[outcome];
      first_waiter_[outcome] = task;
    }
    publish();
  }
}

}  // namespace lissom

// Threads that share a loop: those of OpenMP's runtime libgomp, which OpenBLAS uses too, so that one set of threads
// serves both. Any compiler will do: libgomp is called as a library (parallel.cpp), no pragma makes a region.
//
// Results must not depend on the number of threads: what a thread writes is nobody else's, and sums are formed in an
// order of their own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

namespace lissom {

// Threads of the next region that this thread opens: OMP_NUM_THREADS or the processors there are.
int thread_count();
void set_thread_count(int threads);
// Whether the caller is one of several threads in a region. Regions within a region have one thread.
bool in_parallel();

namespace detail {
void run_team(int threads, void (*body)(void*), void* data);
int team_thread();
int team_threads();
}  // namespace detail

// Waits until all threads of the region are here.
void team_barrier();

// Calls body(thread, threads) on every one of at most `threads` threads, which may meet at team_barrier(). `body`
// must not throw: others may wait for the thread that did.
template <class Body>
void parallel_team(int threads, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  detail::run_team(
      threads,
      [](void* data) noexcept {
        (*static_cast<Plain*>(data))(detail::team_thread(), detail::team_threads());
      },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

// Numbers from `begin` on, given out to the threads of a team in chunks.
class SharedRange {
 public:
  SharedRange(std::int64_t begin, std::int64_t chunk) : next_(begin), chunk_(chunk) {}

  // Calls body(k) for the chunks below `end` that fall to this thread. A later `end` goes on from there; before
  // that, all threads must have returned from the last call (team_barrier()).
  template <class Body>
  void work(std::int64_t end, Body&& body) {
    for (;;) {
      std::int64_t from = next_.load(std::memory_order_relaxed), to = 0;
      do {
        if (from >= end) return;
        to = std::min(from + chunk_, end);
      } while (!next_.compare_exchange_weak(from, to, std::memory_order_relaxed));
      for (std::int64_t k = from; k < to; ++k) body(k);
    }
  }
  // No chunk is given out any more.
  void stop() { next_.store(std::numeric_limits<std::int64_t>::max(), std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> next_;
  const std::int64_t chunk_;
};

// Calls body(k) for k = 0 .. n - 1 on up to `threads` threads, `chunk` numbers at a time; with chunk 0 every thread
// gets one piece. The first exception of `body` ends the loop and is thrown here.
template <class Body>
void parallel_for(std::int64_t n, std::int64_t chunk, int threads, Body&& body) {
  if (chunk <= 0) chunk = std::max<std::int64_t>(1, (n + threads - 1) / std::max(threads, 1));
  if (threads <= 1 || n <= chunk) {
    for (std::int64_t k = 0; k < n; ++k) body(k);
    return;
  }
  SharedRange range(0, chunk);
  std::exception_ptr problem;
  std::atomic_flag caught = ATOMIC_FLAG_INIT;
  parallel_team(threads, [&](int, int) {
    try {
      range.work(n, body);
    } catch (...) {
      range.stop();
      if (!caught.test_and_set()) problem = std::current_exception();
    }
  });
  if (problem) std::rethrow_exception(problem);
}
template <class Body>
void parallel_for(std::int64_t n, std::int64_t chunk, Body&& body) {
  parallel_for(n, chunk, thread_count(), std::forward<Body>(body));
}

}  // namespace lissom

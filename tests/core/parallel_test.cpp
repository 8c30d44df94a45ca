#include "lissom/core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace lissom::parallel_test {
namespace {

TEST(Parallel, EveryNumberComesOnceWhateverTheThreadsAndChunks) {
  for (const int threads : {1, 2, 5})
    for (const int chunk : {0, 1, 7, 1000})
      for (const int n : {0, 1, 6, 7, 1001}) {
        std::vector<std::atomic<int>> seen(static_cast<size_t>(n));
        parallel_for(n, chunk, threads, [&](std::int64_t k) { ++seen[static_cast<size_t>(k)]; });
        for (const auto& count : seen) EXPECT_EQ(count, 1) << threads << " threads, chunks of " << chunk;
      }
}

TEST(Parallel, AnExceptionEndsTheLoopAndReachesTheCaller) {
  for (const int threads : {1, 3}) {
    std::atomic<int> calls = 0;
    try {
      parallel_for(100000, 1, threads, [&](std::int64_t k) {
        ++calls;
        if (k == 10) throw std::runtime_error("the tenth");
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), std::string("the tenth"));
    }
    EXPECT_LT(calls, 100000);
  }
  EXPECT_FALSE(in_parallel());
}

TEST(Parallel, ARangeIsGoneOnWithAfterABarrier) {
  constexpr int steps = 20, width = 37;
  std::vector<int> value(steps * width, 0);
  SharedRange range(0, 4);
  parallel_team(3, [&](int, int) {
    for (int step = 0; step < steps; ++step) {
      // every step reads what all threads have written in the one before
      range.work((step + 1) * width, [&](std::int64_t k) {
        const auto before = value.begin() + (step - 1) * width;
        value[static_cast<size_t>(k)] =
            step == 0 ? 1 : std::accumulate(before, before + width, 0) / width + 1;
      });
      team_barrier();
    }
  });
  for (int step = 0; step < steps; ++step)
    for (int k = 0; k < width; ++k) EXPECT_EQ(value[static_cast<size_t>(step * width + k)], step + 1);
}

TEST(Parallel, ARegionWithinARegionHasOneThread) {
  std::atomic<int> outer = 0, inner = 0;
  parallel_team(2, [&](int, int threads) {
    outer += threads;
    parallel_team(2, [&](int, int within) { inner += within; });
  });
  // two threads, unless the machine gives one only: each counts how many there are
  EXPECT_EQ(outer, inner * inner);
}

}  // namespace
}  // namespace lissom::parallel_test

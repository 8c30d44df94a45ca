// What the machine has and what we have used of it: memory, time, threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace lissom {

// Largest resident memory of this process so far [bytes].
size_t peak_memory_bytes();
// Processor time of this process so far, all threads together [s].
double cpu_seconds();
// Memory that could still be had without swapping [bytes]: the machine's, and no more than a cgroup allows.
size_t available_memory_bytes();
// Gives memory that was freed in small pieces back to the machine; after readers, whose maps leave much of
// it.
void return_freed_memory();
// "1.9 GB", "12 MB".
std::string format_bytes(double bytes);
// "12.3 s", "2 min 05 s".
std::string format_seconds(double seconds);

class Timer {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Seconds spent in named phases, in the order in which they came.
class PhaseTimes {
 public:
  void add(const std::string& phase, double seconds) {
    for (auto& [name, total] : phases_)
      if (name == phase) {
        total += seconds;
        return;
      }
    phases_.emplace_back(phase, seconds);
  }
  const std::vector<std::pair<std::string, double>>& phases() const { return phases_; }

 private:
  std::vector<std::pair<std::string, double>> phases_;
};

}  // namespace lissom

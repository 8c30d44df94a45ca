// Progress of long jobs, told by algorithms and shown by whoever runs them.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

namespace lissom {

// Called by an algorithm: what it is doing, and the fraction done in [0, 1], or a negative number if unknown.
using ProgressHook = std::function<void(std::string_view phase, double fraction)>;

// Shows progress on stderr, by a thread of its own, so that a phase that says nothing for long is seen to
// live: on a terminal one line that is redrawn, with a bar and the time left; otherwise a plain line when a
// phase has taken two seconds, and every ten seconds after that.
class ProgressPrinter {
 public:
  ProgressPrinter();
  ~ProgressPrinter();  // clears the line
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;

  void report(std::string_view phase, double fraction);
  ProgressHook hook() {
    return [this](std::string_view phase, double fraction) { report(phase, fraction); };
  }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lissom

#include "lissom/core/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

#include "lissom/core/resources.hpp"

namespace lissom {

struct ProgressPrinter::Impl {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  std::mutex mutex;
  std::condition_variable_any wake;
  std::string phase;
  double fraction = -1;
  Timer timer;            // of the phase
  double last_print = 0;  // seconds into the phase; 0: not printed yet
  bool drawn = false;     // a bar stands on the terminal
  std::jthread ticker;    // last, so that it ends before the rest goes

  void show();
  void clear();
};

void ProgressPrinter::Impl::clear() {
  if (!drawn) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn = false;
}

// Called with the mutex held, every quarter of a second.
void ProgressPrinter::Impl::show() {
  if (phase.empty()) return;
  const double elapsed = timer.seconds();
  std::string left;  // time left, once there is something to judge it by
  if (fraction > 0.01 && fraction < 1 && elapsed > 0.5)
    left = fmt::format(", {} left", format_seconds(elapsed * (1 - fraction) / fraction));

  if (terminal) {
    std::string bar = fmt::format(" {}", format_seconds(elapsed));
    if (fraction >= 0) {
      const int full = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * 24);
      bar = fmt::format(" [{}{}] {:3.0f} %", std::string(full, '#'), std::string(24 - full, '.'),
                        100 * fraction);
    }
    fmt::print(stderr, "\r\x1b[K{}{}{}", phase, bar, left);
    std::fflush(stderr);
    drawn = true;
  } else if (elapsed >= 2 && (last_print == 0 || elapsed - last_print >= 10)) {
    last_print = elapsed;
    const std::string done = fraction >= 0 ? fmt::format("{:.0f} %, ", 100 * fraction) : "";
    fmt::print(stderr, "{}: {}{} so far{}\n", phase, done, format_seconds(elapsed), left);
  }
}

ProgressPrinter::ProgressPrinter() : impl_(std::make_unique<Impl>()) {
  impl_->ticker = std::jthread([m = impl_.get()](std::stop_token stop) {
    std::unique_lock lock(m->mutex);
    while (!stop.stop_requested()) {
      m->wake.wait_for(lock, stop, std::chrono::milliseconds(250), [] { return false; });
      if (!stop.stop_requested()) m->show();
    }
    m->clear();
  });
}

ProgressPrinter::~ProgressPrinter() = default;

void ProgressPrinter::report(std::string_view phase, double fraction) {
  Impl& m = *impl_;
  const std::lock_guard lock(m.mutex);
  if (phase != m.phase) {
    m.clear();
    m.phase = phase;
    m.timer = Timer();
    m.last_print = 0;
  }
  m.fraction = fraction;
}

}  // namespace lissom

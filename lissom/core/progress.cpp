#include "lissom/core/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "lissom/core/resources.hpp"

namespace lissom {

struct ProgressPrinter::Impl {
  bool terminal = isatty(STDERR_FILENO) != 0;
  std::string phase;
  Timer phase_timer;
  double last_print = 0;  // seconds into the phase
  bool drawn = false;
};

ProgressPrinter::ProgressPrinter() : impl_(std::make_unique<Impl>()) {}
ProgressPrinter::~ProgressPrinter() {
  clear();
}

void ProgressPrinter::clear() {
  if (!impl_->drawn) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  impl_->drawn = false;
}

void ProgressPrinter::report(std::string_view phase, double fraction) {
  Impl& m = *impl_;
  if (phase != m.phase) {
    clear();
    m.phase = phase;
    m.phase_timer = Timer();
    m.last_print = 0;
  }
  const double elapsed = m.phase_timer.seconds();
  // time left, once there is something to judge it by
  std::string eta;
  if (fraction > 0.01 && fraction < 1 && elapsed > 0.5)
    eta = fmt::format(", {} left", format_seconds(elapsed * (1 - fraction) / fraction));

  if (m.terminal) {
    if (elapsed - m.last_print < 0.1 && m.drawn) return;
    m.last_print = elapsed;
    std::string bar;
    if (fraction >= 0) {
      const int full = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * 24);
      bar = fmt::format(" [{}{}] {:3.0f} %", std::string(full, '#'), std::string(24 - full, '.'),
                        100 * fraction);
    }
    fmt::print(stderr, "\r\x1b[K{}{}{}", phase, bar, eta);
    std::fflush(stderr);
    m.drawn = true;
  } else if (elapsed >= 2 && (m.last_print == 0 || elapsed - m.last_print >= 10)) {
    m.last_print = elapsed;
    if (fraction >= 0)
      fmt::print(stderr, "{}: {:.0f} %{}\n", phase, 100 * fraction, eta);
    else
      fmt::print(stderr, "{}: {}\n", phase, format_seconds(elapsed));
  }
}

}  // namespace lissom

#include "python/src/session.hpp"
#include "lissom/core/parallel.hpp"

namespace lissom::python {

using Clock = std::chrono::steady_clock;

namespace {
// between two looks for signals, and two calls of a progress function
constexpr auto look_interval = std::chrono::milliseconds(50);
// A job that can be stopped in good order has so long to do it; then its next report ends it.
constexpr auto patience = std::chrono::milliseconds(1500);
}  // namespace

std::recursive_timed_mutex& Session::jobs() {
  static std::recursive_timed_mutex mutex;
  return mutex;
}

Session::Session(const py::object& progress, const std::string& program)
    : context_{diagnostics_, [this](std::string_view phase, double fraction) { report(phase, fraction); },
               [this] { return stop(); }, program} {
  if (progress.is_none() || progress.is(py::bool_(false))) return;
  if (progress.is(py::bool_(true)))
    printer_ = std::make_unique<ProgressPrinter>();
  else if (PyCallable_Check(progress.ptr()))
    callable_ = progress;
  else
    throw py::type_error("progress: expected True, False or a callable of (phase, fraction)");
}

std::vector<std::pair<std::string, std::string>> Session::warnings() const {
  std::vector<std::pair<std::string, std::string>> list;
  for (const Warning& warning : diagnostics_.warnings()) list.emplace_back(warning.key, to_string(warning));
  return list;
}

void Session::keep_exception() {
  failure_ = std::current_exception();
  failed_at_ = Clock::now();
}

void Session::look_for_signals() {
  if (failure_ || Clock::now() - last_look_ < look_interval) return;
  last_look_ = Clock::now();
  py::gil_scoped_acquire lock;
  try {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  } catch (...) {
    keep_exception();
  }
}

bool Session::stop() {
  if (std::this_thread::get_id() == owner_) look_for_signals();
  return failure_ != nullptr;
}

void Session::call_progress(std::string_view phase, double fraction) {
  if (phase == last_phase_ && fraction < 1 && Clock::now() - last_call_ < look_interval) return;
  last_call_ = Clock::now();
  last_phase_ = phase;
  py::gil_scoped_acquire lock;
  try {
    callable_(py::str(std::string(phase)), fraction);
  } catch (...) {
    keep_exception();
  }
}

void Session::report(std::string_view phase, double fraction) {
  if (printer_) printer_->report(phase, fraction);
  // threads of a loop do not speak to Python, and nothing may be thrown there
  if (std::this_thread::get_id() != owner_ || lissom::in_parallel()) return;
  look_for_signals();
  if (callable_ && !failure_) call_progress(phase, fraction);
  if (failure_ && Clock::now() - failed_at_ > patience) throw Interrupted();
}

}  // namespace lissom::python

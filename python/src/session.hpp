// One call from Python: warnings, progress and Ctrl-C of a job, which runs without the interpreter's lock.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lissom/core/error.hpp"
#include "lissom/study/job.hpp"

namespace lissom::python {

namespace py = pybind11;

// Ends a job that has no other way to be stopped. Not a std::exception: nobody shall take it for a failure.
struct Interrupted {};

class Session {
 public:
  // `progress` is None, True (a bar on the terminal, as the command line shows it) or a callable(phase,
  // fraction) whose fraction is negative where it is not known.
  // `program` is lissom, for processes of their own; empty: none.
  Session(const py::object& progress, const std::string& program);

  JobContext& context() { return context_; }
  Diagnostics& diagnostics() { return diagnostics_; }

  // Carries out a job, one at a time in this process (HDF5 and other libraries below are not made for
  // several threads), without the interpreter's lock. What a signal handler (Ctrl-C) or the progress
  // function has thrown is thrown again at the end.
  template <class Job>
  auto run(Job&& job) {
    decltype(job()) result;
    {
      py::gil_scoped_release release;
      owner_ = std::this_thread::get_id();
      std::unique_lock lock(jobs(), std::defer_lock);
      while (!lock.try_lock_for(std::chrono::milliseconds(50)))
        if (stop()) break;
      try {
        if (lock.owns_lock()) result = job();
      } catch (const Interrupted&) {
      } catch (...) {
        // a run that was stopped fails with words on what it has kept, which are not the reason
        if (!failure_) throw;
      }
    }
    printer_.reset();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return result;
  }

  // Within run(): a call into Python, with the interpreter's lock. What it throws ends the job, in good order,
  // and is thrown again at the end.
  template <class Function>
  void call_python(Function&& function) {
    {
      py::gil_scoped_acquire lock;
      try {
        function();
        return;
      } catch (...) {
        keep_exception();
      }
    }
    fail("a function of Python failed");
  }

  // (key, message) of each.
  std::vector<std::pair<std::string, std::string>> warnings() const;

 private:
  static std::recursive_timed_mutex& jobs();
  bool stop();
  void report(std::string_view phase, double fraction);
  // Signals, now and then; only in the thread that called.
  void look_for_signals();
  void call_progress(std::string_view phase, double fraction);
  void keep_exception();

  Diagnostics diagnostics_;
  JobContext context_;
  py::object callable_;
  std::unique_ptr<ProgressPrinter> printer_;
  std::thread::id owner_;
  std::chrono::steady_clock::time_point last_look_{}, last_call_{}, failed_at_{};
  std::string last_phase_;
  std::exception_ptr failure_;
};

}  // namespace lissom::python

#include "apps/lissom/command.hpp"

#include <nlohmann/json.hpp>

#include <csignal>

#include "lissom/core/child_process.hpp"
#include "lissom/study/job.hpp"

namespace lissom::app {

namespace {
volatile std::sig_atomic_t interrupted = 0;
}

Command::Command() : json_object(std::make_shared<nlohmann::json>()), json(*json_object) {}

ProgressHook Command::progress() {
  if (quiet) return {};
  if (!printer_) printer_ = std::make_unique<ProgressPrinter>();
  return printer_->hook();
}

JobContext Command::context() {
  // from the first time that a job asks; before that Ctrl-C ends the program
  const std::function<bool()> stop = [] {
    static const std::function<bool()> asked = stop_on_interrupt();
    return asked();
  };
  return {diagnostics, progress(), stop, this_program()};
}

void Command::take(JobResult result) {
  json = std::move(result.json);
  text = std::move(result.text);
}

std::function<bool()> stop_on_interrupt() {
  std::signal(SIGINT, [](int) {
    interrupted = 1;
    std::signal(SIGINT, SIG_DFL);
  });
  return [] { return interrupted != 0; };
}

}  // namespace lissom::app

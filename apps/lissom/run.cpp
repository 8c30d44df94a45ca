// lissom run: a study file, end to end.
#include "apps/lissom/command.hpp"
#include "apps/lissom/shared_flags.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/core/resources.hpp"
#include "lissom/core/text.hpp"
#include "lissom/study/run_job.hpp"
#include "lissom/study/run_summary.hpp"

namespace lissom::app {

namespace {

struct RunFlags {
  std::string study, out;
  ResumeOptions resume;
  SettingFlags settings;
  bool details = false, no_report = false;
};

void run(const RunFlags& flags, Command& command) {
  RunJob job;
  job.study = {flags.study, {}, flags.settings.settings()};
  job.out = flags.out;
  job.report = !flags.no_report;
  job.resume = flags.resume;
  JobContext context = command.context();
  RunResult result = run_run_job(job, context);
  if (flags.details) command.text = std::move(result.text);
  command.styled = run_summary(result.json, result.out, Terminal::of_stdout());
  command.styled += fmt::format("wrote {}\n", printable((result.out / "summary.json").string()));
  if (result.report)
    command.styled +=
        fmt::format("wrote {} ({}), to be opened in a browser\n", printable(result.report->file.string()),
                    format_bytes(static_cast<double>(result.report->page.bytes)));
  command.json = std::move(result.json);
}

}  // namespace

Verb run_verb() {
  const auto flags = std::make_shared<RunFlags>();
  return {"run",
          "Carry out everything a study file asks for",
          "Examples:\n"
          "  lissom run examples/rod-modes/study.toml --out results\n"
          "  lissom run study.toml --set bodies.rod.reduce.tolerance=0.001",
          {study_argument(flags->study), out_folder(flags->out),
           flag("--details", flags->details, "Print everything, not only the summary"),
           flag("--no-report", flags->no_report, "Neither report.html nor the views that it shows"),
           resume_flags(flags->resume), set_flag(flags->settings), geometry_flag()},
          [flags](Command& command) { run(*flags, command); }};
}

}  // namespace lissom::app

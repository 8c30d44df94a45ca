// lissom run: a study file, end to end.
#include "apps/lissom/command.hpp"
#include "apps/lissom/shared_flags.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/core/resources.hpp"
#include "lissom/core/text.hpp"
#include "lissom/report/run_summary.hpp"
#include "lissom/study/run_job.hpp"

namespace lissom::app {

namespace {

void run(const RunJob& job, bool details, Command& command) {
  JobContext context = command.context();
  RunResult result = run_run_job(job, context);
  if (details) command.text = std::move(result.text);
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
  const auto job = std::make_shared<RunJob>();
  const auto details = std::make_shared<bool>(false);
  return {"run",
          "Carry out everything a study file asks for",
          "Examples:\n"
          "  lissom run examples/rod-modes/study.toml --out results\n"
          "  lissom run study.toml --set bodies.rod.reduce.tolerance=0.001",
          {study_argument(job->study.file), out_folder(job->out),
           flag("--details", *details, "Print everything, not only the summary"),
           flag("--no-report", job->report, "Neither report.html nor the views that it shows", false),
           resume_flags(job->resume), set_flag(job->study.settings), geometry_flag()},
          [job, details](Command& command) { run(*job, *details, command); }};
}

}  // namespace lissom::app

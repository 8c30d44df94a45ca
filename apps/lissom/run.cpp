// lissom run: a study file, end to end.
#include "apps/lissom/command.hpp"
#include "apps/lissom/training_processes.hpp"
#include "lissom/core/child_process.hpp"
#include "lissom/core/resources.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/rom_file.hpp"
#include "lissom/study/report.hpp"
#include "lissom/study/run_study.hpp"
#include "lissom/study/run_summary.hpp"

namespace lissom::app {

namespace {

struct RunFlags {
  std::string study, out;
  ResumeFlags resume;
  bool details = false, no_report = false;
};

// The page of all that the run left. Whatever goes wrong with it, the results are there.
void add_report_of(const std::filesystem::path& out, const RunFlags& flags, Command& command,
                   nlohmann::json& summary) {
  try {
    ReportOptions options;
    options.command = fmt::format("lissom run {} --out {}", flags.study, out.string());
    const WrittenReport written = write_report(out, {}, command.diagnostics, command.progress(), options);
    summary["report"] = {{"file", written.file.filename().string()}, {"bytes", written.page.bytes}};
    command.styled +=
        fmt::format("wrote {} ({}), to be opened in a browser\n", printable(written.file.string()),
                    format_bytes(static_cast<double>(written.page.bytes)));
  } catch (const std::exception& e) {
    // whatever it is, the results are there
    command.diagnostics.warn("report", fmt::format("there is no report: {}", e.what()));
  }
}

void run(const RunFlags& flags, Command& command) {
  if (is_rom_file(flags.study))
    fail_input(
        "{}: is a reduced mechanism, not a study: 'lissom simulate' runs it, and a study may name it with "
        "rom",
        flags.study);
  const StudyFile study = read_study_file(flags.study);
  const std::filesystem::path out =
      flags.out.empty() ? std::filesystem::path(flags.study).stem().string() + ".out" : flags.out;
  RunOptions options;
  options.stop = stop_on_interrupt();
  options.resume = flags.resume.resume;
  options.checkpoint = flags.resume.checkpoint;
  options.runner = training_processes(flags.study, {}, flags.resume.checkpoint, options.stop);
  options.view = !flags.no_report;
  options.sweep.program = this_program();
  StudyRun result = run_study(study, out, command.diagnostics, command.progress(), options);
  if (flags.details) command.text = fmt::format("{}\n\n{}\n", study.title, result.text);
  command.styled = run_summary(result.summary, out, Terminal::of_stdout());
  command.styled += fmt::format("wrote {}\n", printable((out / "summary.json").string()));
  if (!flags.no_report) add_report_of(out, flags, command, result.summary);
  command.json = std::move(result.summary);
}

}  // namespace

void add_run(CLI::App& program, Command& command) {
  CLI::App* verb = program.add_subcommand("run", "Carry out everything a study file asks for");
  auto flags = std::make_shared<RunFlags>();
  verb->add_option("STUDY", flags->study, "The study file (.toml)")->required();
  verb->add_option("--out", flags->out, "Folder for the results (default: NAME.out)")->check(not_empty());
  verb->add_flag("--details", flags->details, "Print everything, not only the summary");
  verb->add_flag("--no-report", flags->no_report, "Neither report.html nor the views that it shows");
  add_resume_flags(*verb, flags->resume);
  add_common_flags(*verb, command);
  verb->footer("Example:\n  lissom run examples/rod-modes/study.toml --out results");
  verb->callback([flags, &command] { run(*flags, command); });
}

}  // namespace lissom::app

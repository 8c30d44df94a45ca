#include "lissom/study/run_job.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "lissom/core/folder_lock.hpp"
#include "lissom/io/rom_file.hpp"
#include "lissom/study/body.hpp"
#include "lissom/study/study_inputs.hpp"

namespace lissom {

RunResult run_run_job(const RunJob& job, JobContext& context) {
  const std::string& file = job.study.file;
  if (!job.study.text && is_rom_file(file))
    fail_input(
        "{}: is a reduced mechanism, not a study: 'lissom simulate' runs it, and a study may name it with "
        "rom",
        file);
  const GuardedStudy guarded = read_guarded(job.study);
  const StudyFile& study = guarded.study;
  RunResult result;
  result.title = study.title;
  result.out = job.out.empty() ? default_folder(file) : job.out;
  StudyRunOptions options;
  options.stop = context.stop;
  options.resume = job.resume.resume;
  options.checkpoint = job.resume.checkpoint;
  options.runner = job.study.runner(context, job.resume.checkpoint);
  options.view = job.report;
  options.sweep.program = context.program;
  options.sweep.settings = job.study.settings;
  options.sweep.text = job.study.text;
  if (job.report) expect_replaceable(result.out / "report.html", OwnFile::Page);
  // until the report is there too
  check_output_folder(result.out);
  const FolderLock lock(result.out);
  StudyRun run = run_study(study, result.out, context.diagnostics, context.progress, options);
  result.text = fmt::format("{}\n\n{}\n", study.title, run.text);
  result.json = std::move(run.summary);
  if (!job.report) return result;
  try {
    ReportOptions page;
    page.command =
        job.command.empty() ? fmt::format("lissom run {} --out {}", file, result.out.string()) : job.command;
    result.report = write_report(result.out, {}, context.diagnostics, context.progress, page);
    result.json["report"] = {{"file", result.report->file.filename().string()},
                             {"bytes", result.report->page.bytes}};
  } catch (const std::exception& e) {
    // whatever it is, the results are there
    context.diagnostics.warn("report", fmt::format("there is no report: {}", e.what()));
  }
  return result;
}

SweepResult run_sweep_job(const SweepJob& job, JobContext& context) {
  StudyRunOptions options;
  options.stop = context.stop;
  options.runner = job.study.runner(context, options.checkpoint);
  options.sweep = job.options;
  options.sweep.program = context.program;
  options.sweep.settings = job.study.settings;
  options.sweep.text = job.study.text;
  const GuardedStudy guarded = read_guarded(job.study);
  const StudyFile& study = guarded.study;
  SweepResult result;
  result.out = job.out.empty() ? default_folder(job.study.file) : job.out;
  StudyRun run = run_sweep(study, result.out, context.diagnostics, context.progress, options);
  result.complete = run.complete;
  result.text = fmt::format("{}\n{}", study.title, run.text);
  if (run.complete) result.text += fmt::format("wrote {}\n", (result.out / "sweep.csv").string());
  result.json = std::move(run.summary);
  return result;
}

JobResult run_reduce_job(const ReduceJob& job, JobContext& context) {
  const std::string& file = job.study.file;
  if (!job.study.text && !is_study(file))
    fail_input(
        "{}: is no study; 'lissom reduce' takes a .toml file with [bodies.NAME.reduce], which says where the "
        "interfaces are",
        file);
  GuardedStudy guarded = read_guarded(job.study);
  StudyFile& study = guarded.study;
  std::vector<std::string> names;
  for (const BodySpec& body : study.bodies)
    if (body.reduce) names.push_back(body.name);
  if (names.empty())
    fail_input("{}: no body has a table [bodies.NAME.reduce]; add one with interfaces, modes and tolerance",
               file);
  if (!job.body.empty() && std::find(names.begin(), names.end(), job.body) == names.end())
    fail_input("--body: '{}' is no body with a reduction; those of {} are: {}", job.body, file,
               fmt::join(names, ", "));
  std::erase_if(study.bodies, [&](const BodySpec& body) {
    return !body.reduce || (!job.body.empty() && body.name != job.body);
  });
  // only reductions: other wishes of the study are for a whole run
  study.simulation.reset();
  study.train.reset();
  study.linearise.reset();
  study.response.reset();
  study.cases.clear();
  study.sweep.clear();
  for (BodySpec& body : study.bodies) {
    body.modes.reset();
    body.gcms.reset();
    if (!job.tolerance) continue;
    if (body.reduce->options.selection.method == SelectionMethod::Fixed)
      fail_input("--tolerance: {} is reduced with method = \"fixed\", which keeps a given number of modes",
                 body.name);
    body.reduce->options.selection.tolerance = *job.tolerance;
  }
  if (job.tolerance && !(*job.tolerance > 0 && *job.tolerance < 1))
    fail_input("--tolerance: is {}, expected a relative error between 0 and 1, e.g. 0.001 for 0.1 %",
               *job.tolerance);
  StudyRunOptions options;
  options.write_files = job.write_files;
  const std::filesystem::path out = job.out.empty() ? default_folder(file) : job.out;
  std::optional<FolderLock> lock;
  if (job.write_files) {
    check_output_folder(out);
    lock.emplace(out);
  }
  StudyRun run = run_study(study, out, context.diagnostics, context.progress, options);
  JobResult result{std::move(run.summary), std::move(run.text)};
  if (job.write_files) result.text += fmt::format("wrote {}\n", (out / "summary.json").string());
  return result;
}

}  // namespace lissom

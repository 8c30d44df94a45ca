#include "lissom/report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <set>

#include "lissom/core/file_kind.hpp"
#include "lissom/core/own_file.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/rom_file.hpp"
#include "lissom/report/report_json.hpp"
#include "lissom/report/report_parts.hpp"
#include "lissom/report/report_runs.hpp"
#include "lissom/report/report_training.hpp"

namespace lissom {

using nlohmann::json;

ReportSection& ReportDraft::section(const std::string& id, const std::string& title) {
  for (ReportSection& section : page.sections)
    if (section.id == id) return section;
  page.sections.push_back({id, title, "", {}});
  return page.sections.back();
}

void ReportDraft::warn(const std::string& text) {
  if (std::find(page.warnings.begin(), page.warnings.end(), text) == page.warnings.end())
    page.warnings.push_back(text);
}

namespace {

json read_json(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  if (trim(text).empty()) fail_input("{}: is empty; run the study again", file.string());
  json value;
  try {
    value = json::parse(text);
  } catch (const json::parse_error& e) {
    fail_input("{}: is damaged or cut off at byte {} of {}, no report can be made of it; run the study again",
               file.string(), e.byte, text.size());
  } catch (const json::exception&) {
    fail_input("{}: has a number beyond what this program can hold, no report can be made of it",
               file.string());
  }
  if (!value.is_object())
    fail_input("{}: has no object at its top, which all of lissom's summaries have", file.string());
  return value;
}

// "0.12.3" as numbers; what is no number is 0, but many digits are much.
std::vector<long> version_of(const std::string& text) {
  std::vector<long> numbers;
  for (const std::string_view part : split(text, '.'))
    numbers.push_back(parse_long(part).value_or(!part.empty() && part.find_first_not_of("0123456789") ==
                                                                     std::string_view::npos
                                                    ? std::numeric_limits<long>::max()
                                                    : 0));
  return numbers;
}

// What a summary says of itself: its version, and entries that are not as they should be. Deeper ones are
// passed over (report_json.hpp).
void check_summary(ReportDraft& draft) {
  const json& summary = draft.summary;
  if (const json& version = part_of(summary, "lissom_version"); !version.is_string())
    draft.warn(
        "summary.json does not say which lissom has written it: what this program does not know is not "
        "shown");
  else if (version_of(version.get<std::string>()) > version_of(LISSOM_VERSION))
    draft.warn(
        fmt::format("summary.json is of lissom {}, newer than this program ({}): what it does not know "
                    "is not shown",
                    version.get<std::string>(), LISSOM_VERSION));
  static const std::vector<std::pair<const char*, json::value_t>> expected = {
      {"title", json::value_t::string},         {"study", json::value_t::string},
      {"bodies", json::value_t::object},        {"cases", json::value_t::object},
      {"case_order", json::value_t::array},     {"simulation", json::value_t::object},
      {"models", json::value_t::object},        {"comparison", json::value_t::object},
      {"training", json::value_t::object},      {"sweep", json::value_t::object},
      {"linearisation", json::value_t::object}, {"response", json::value_t::object},
      {"warnings", json::value_t::array}};
  for (const auto& [key, kind] : expected)
    if (summary.contains(key) && summary.at(key).type() != kind)
      draft.warn(fmt::format("summary.json: '{}' is of type {}, expected {}; it is left out", key,
                             summary.at(key).type_name(), json(kind).type_name()));
}

// A part that cannot be made costs itself, not the report.
template <class Part>
void add_part(ReportDraft& draft, const char* what, const Part& part) {
  try {
    part();
  } catch (const json::exception&) {
    draft.warn(
        fmt::format("what the summary says of the {} is not as this program knows it and is left out", what));
  } catch (const Error& e) {
    draft.warn(fmt::format("{}; the {} may be incomplete", e.what(), what));
  } catch (const std::filesystem::filesystem_error& e) {
    draft.warn(fmt::format("{}: {}; the {} may be incomplete", e.path1().string(), e.code().message(), what));
  }
}

// --------------------------------------------------------------------------------------- kinds of input

bool has(const std::filesystem::path& folder, const char* name) {
  return is_there(folder / name);
}

std::vector<std::filesystem::path> files_ending(const std::filesystem::path& folder,
                                                const std::vector<std::string>& endings) {
  std::vector<std::filesystem::path> files;
  std::error_code ec;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ec)) {
    const std::string name = entry.path().filename().string();
    for (const std::string& ending : endings)
      if (name.ends_with(ending)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

const std::vector<std::string>& body_endings() {
  static const std::vector<std::string> endings = {".reduced.h5", ".gcms.h5", ".body.h5"};
  return endings;
}

bool is_body(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  return std::any_of(body_endings().begin(), body_endings().end(),
                     [&](const std::string& ending) { return name.ends_with(ending); });
}

// A folder of `lissom run`, `sweep` (with a summary), or of a run that has not come that far.
void report_folder(ReportDraft& draft, const ReportOptions& options) {
  const json& summary = draft.summary;
  const bool whole = summary.contains("lissom_version");
  ReportRuns runs;
  add_part(draft, "simulations", [&] { runs = read_runs(draft); });
  if (!part_of(summary, "training").is_object())
    add_part(draft, "training", [&] {
      json training = training_of_files(draft.folder, *draft.diagnostics);
      if (training.is_object()) draft.summary["training"] = std::move(training);
    });
  if (!whole && runs.all.size() > 1)
    draft.warn(
        fmt::format("{} has no summary.json: the run has not come to its end, and what it left so far "
                    "is shown",
                    draft.folder.string()));
  for (const json& warning : part_of(summary, "warnings"))
    if (const std::string text = text_in(warning, "message"); !text.empty()) draft.warn(text);

  std::string title = text_in(summary, "title");
  if (title.empty()) title = text_in(part_of(summary, "training"), "title");
  for (const ReportRun& run : runs.all)
    if (title.empty() && run.result) title = run.result->header.title;
  draft.page.title = title.empty() ? draft.folder.filename().string() : title;

  add_part(draft, "motion", [&] { report_motion(draft, runs); });
  add_part(draft, "mechanism", [&] { report_mechanism(draft, runs); });
  add_part(draft, "bodies", [&] { report_bodies(draft, part_of(summary, "bodies")); });
  if (!whole)
    for (const std::filesystem::path& file : files_ending(draft.folder, body_endings()))
      add_part(draft, "bodies", [&] { report_body_file(draft, file); });
  add_part(draft, "simulations", [&] { report_simulations(draft, runs); });
  add_part(draft, "analyses", [&] { report_analyses(draft, summary); });
  add_part(draft, "training", [&] { report_training(draft, part_of(summary, "training")); });
  add_part(draft, "comparison", [&] { report_comparison(draft, runs); });
  add_part(draft, "summary", [&] { report_summary(draft, runs); });
  add_part(draft, "reproduction", [&] { report_reproduction(draft, runs, options.command); });
}

void make_of_folder(ReportDraft& draft, const ReportOptions& options) {
  const std::filesystem::path& folder = draft.folder;
  std::error_code ec;
  if (std::filesystem::directory_iterator(folder, ec); ec)
    fail_input("{}: cannot be read: {}", folder.string(), ec.message());
  if (has(folder, "summary.json")) {
    draft.summary = read_json(folder / "summary.json");
    check_summary(draft);
    report_folder(draft, options);
    return;
  }
  if (has(folder, "comparison.json")) {
    const json comparison = read_json(folder / "comparison.json");
    report_compared(draft, comparison);
    return;
  }
  draft.summary = json::object();
  for (const char* name : {"linearisation", "response"})
    if (const std::string file = fmt::format("{}.json", name); has(folder, file.c_str()))
      draft.summary[name] = read_json(folder / file);
  report_folder(draft, options);
  // what every folder has is no report
  const auto& sections = draft.page.sections;
  if (sections.empty() || (sections.size() == 1 && sections.front().id == "reproduction")) {
    for (const Warning& warning : draft.diagnostics->warnings()) draft.warn(to_string(warning));
    if (!draft.page.warnings.empty())
      fail_input("{}: there are no results that can be shown: {}", folder.string(),
                 fmt::join(draft.page.warnings, "; "));
    fail_input(
        "{}: there are no results here; a report is made of summary.json (which 'lissom run' and 'lissom "
        "sweep' "
        "leave), result.h5 (simulate, static), comparison.json (compare), orders.csv, samples.csv or "
        "model.rom.h5 (train), linearisation.json or response.json, *.reduced.h5, *.gcms.h5 or *.body.h5 "
        "(reduce, "
        "modes)",
        folder.string());
  }
}

void make_of_file(ReportDraft& draft, const std::filesystem::path& file, const ReportOptions& options) {
  const std::string name = file.filename().string();
  if (is_body(file)) {
    report_body_file(draft, file);
  } else if (is_view_file(file)) {
    auto view = std::make_shared<View>(read_view_file(file, *draft.diagnostics));
    draft.page.title = view->title.empty() ? name : view->title;
    draft.section("motion", view->motion ? "The motion" : "Modes")
        .blocks.push_back(ReportView{"motion", draft.page.title, "", {{name, std::move(view)}}, {}});
  } else if (is_rom_file(file)) {
    report_rom_file(draft, file);
  } else if (file.extension() == ".json") {
    // linearisation.json and response.json of a run, or what the verbs say with --json
    const json value = read_json(file);
    if (value.contains("modes"))
      draft.summary["linearisation"] = value;
    else if (value.contains("pairs"))
      draft.summary["response"] = value;
    else
      fail_input("{}: is neither a linearisation nor a frequency response of lissom", file.string());
    report_analyses(draft, draft.summary);
  } else if (is_result_file(file)) {
    draft.summary = json::object();
    const ReportRuns runs = read_run(draft, file);
    draft.page.title = runs.all.front().result->header.title;
    report_motion(draft, runs);
    report_mechanism(draft, runs);
    report_simulations(draft, runs);
    report_summary(draft, runs);
    report_reproduction(draft, runs, options.command);
  } else {
    std::error_code ec;
    if (std::filesystem::file_size(file, ec) == 0 && !ec) fail_input("{}: is empty", file.string());
    fail_input(
        "{}: is nothing that a report is made of; expected a folder of a run, or a result.h5, *.rom.h5, "
        "*.reduced.h5, *.gcms.h5, *.body.h5 or *.view.h5{}",
        file.string(),
        file.extension() == ".toml" ? "; 'lissom run' carries out a study and leaves such a folder" : "");
  }
}

// ------------------------------------------------------------------------------------- the page as a whole

// Ids are unique on the page, whatever names they were made of.
class Ids {
 public:
  void visit(std::vector<ReportBlock>& blocks) {
    for (ReportBlock& block : blocks) {
      if (auto* table = std::get_if<ReportTable>(&block)) table->id = unique("t", table->id);
      if (auto* figure = std::get_if<ReportFigure>(&block)) figure->id = unique("f", figure->id);
      if (auto* matrix = std::get_if<ReportMatrix>(&block)) matrix->id = unique("f", matrix->id);
      if (auto* view = std::get_if<ReportView>(&block)) {
        view->id = unique("v", view->id);
        for (ReportFigure& curve : view->curves) curve.id = unique("f", curve.id);
      }
      if (auto* details = std::get_if<ReportDetails>(&block)) visit(details->blocks);
    }
  }

 private:
  std::string unique(const std::string& kind, const std::string& id) {
    std::string found = id;
    for (int i = 2; !seen_.insert(kind + found).second; ++i) found = fmt::format("{}-{}", id, i);
    return found;
  }
  std::set<std::string> seen_;
};

struct Count {
  json sections = json::array(), figures = json::array(), tables = json::array(), views = json::array();
  void visit(const std::vector<ReportBlock>& blocks) {
    for (const ReportBlock& block : blocks) {
      if (const auto* table = std::get_if<ReportTable>(&block)) tables.push_back(table->id);
      if (const auto* figure = std::get_if<ReportFigure>(&block)) figures.push_back(figure->id);
      if (const auto* matrix = std::get_if<ReportMatrix>(&block)) figures.push_back(matrix->id);
      if (const auto* view = std::get_if<ReportView>(&block)) views.push_back(view->id);
      if (const auto* details = std::get_if<ReportDetails>(&block)) visit(details->blocks);
    }
  }
};

std::filesystem::path default_file(const std::filesystem::path& run) {
  std::error_code ec;
  if (std::filesystem::is_directory(run, ec)) return run / "report.html";
  std::string name = run.filename().string();
  if (name.ends_with(".h5")) name.resize(name.size() - 3);
  return run.parent_path() / (name + ".report.html");
}

}  // namespace

ReportPage make_report(const std::filesystem::path& run, Diagnostics& diagnostics,
                       const ProgressHook& progress, const ReportOptions& options) {
  std::error_code ec;
  if (!std::filesystem::exists(run, ec))
    fail_input("{}: there is no such file or folder{}", run.string(), ec ? ": " + ec.message() : "");
  ReportDraft draft;
  draft.diagnostics = &diagnostics;
  draft.progress = progress;
  const bool folder = std::filesystem::is_directory(run, ec);
  if (!folder) check_is_file(run);
  // a summary is read with what is beside it
  const bool beside = run.filename() == "summary.json" || run.filename() == "comparison.json";
  draft.folder = (folder ? run : run.parent_path()).lexically_normal();
  if (draft.folder.empty()) draft.folder = ".";
  if (!draft.folder.has_filename()) draft.folder = draft.folder.parent_path();
  if (folder || beside)
    make_of_folder(draft, options);
  else
    make_of_file(draft, run, options);

  // what was found while reading
  for (const Warning& warning : diagnostics.warnings()) draft.warn(to_string(warning));
  ReportPage& page = draft.page;
  std::erase_if(page.sections, [](const ReportSection& section) { return section.blocks.empty(); });
  Ids ids;
  for (ReportSection& section : page.sections) ids.visit(section.blocks);
  if (page.title.empty()) page.title = run.filename().string();
  if (page.subtitle.empty()) {
    const std::string study = text_in(draft.summary, "study");
    page.subtitle = study.empty() ? run.string() : fmt::format("{}, results in {}", study, run.string());
  }
  page.footer = fmt::format(
      "Written by lissom {}. All numbers come from the result files; values are in SI units. The page needs "
      "no "
      "network.",
      LISSOM_VERSION);
  return std::move(draft.page);
}

WrittenReport write_report(const std::filesystem::path& run, const std::filesystem::path& file,
                           Diagnostics& diagnostics, const ProgressHook& progress,
                           const ReportOptions& options) {
  WrittenReport report;
  report.file = file.empty() ? default_file(run) : file;
  expect_replaceable(report.file, OwnFile::Page);
  const ReportPage page = make_report(run, diagnostics, progress, options);
  if (progress) progress("writing the report", -1);
  report.page = write_page(page, report.file, diagnostics, options.page);
  Count count;
  for (const ReportSection& section : page.sections) {
    count.sections.push_back(section.id);
    count.visit(section.blocks);
  }
  report.summary = {
      {"file", report.file.string()}, {"bytes", report.page.bytes},     {"title", page.title},
      {"sections", count.sections},   {"figures", count.figures},       {"tables", count.tables},
      {"views", count.views},         {"page_warnings", page.warnings}, {"notes", report.page.notes}};
  return report;
}

}  // namespace lissom

// A report of what a run left in its folder, or of a single result file: one HTML page (io/report_page.hpp).
// All figures and numbers are read from the files; nothing is computed anew.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/report/report_page.hpp"

namespace lissom {

struct ReportOptions {
  PageOptions page;
  std::string command;  // that made the results, as typed; empty: not known
};

// What a report is made of: a folder with summary.json (run, sweep), result.h5 (simulate, static), orders.csv
// or model.rom.h5 (train), comparison.json (compare), or one file: a result, a reduced body, component modes,
// a body, a reduced mechanism. Half-written results are shown as far as they go, with a warning first. Throws
// InputError: nothing that can be shown (with what was looked for), a newer or damaged file.
ReportPage make_report(const std::filesystem::path& run, Diagnostics& diagnostics,
                       const ProgressHook& progress = {}, const ReportOptions& options = {});

struct WrittenReport {
  std::filesystem::path file;
  WrittenPage page;
  nlohmann::json summary;  // for --json: file, bytes, sections, figures, tables, views, warnings
};
// make_report() and write_page(); `file` empty: report.html in the folder, or NAME.report.html beside a file.
WrittenReport write_report(const std::filesystem::path& run, const std::filesystem::path& file,
                           Diagnostics& diagnostics, const ProgressHook& progress = {},
                           const ReportOptions& options = {});

}  // namespace lissom

// How the results of a report can be had again.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lissom/core/resources.hpp"
#include "lissom/report/report_json.hpp"
#include "lissom/report/report_parts.hpp"
#include "lissom/report/report_runs.hpp"
#include "lissom/study/versions.hpp"

namespace lissom {

void report_reproduction(ReportDraft& draft, const ReportRuns& runs, const std::string& command) {
  ReportSection& section = draft.section("reproduction", "How to get these results again");
  const std::string study = text_in(draft.summary, "study");
  std::string commands = command;
  const auto quoted = [](const std::string& word) {
    return word.find_first_of(" '\"$\\") == std::string::npos ? word : fmt::format("\"{}\"", word);
  };
  if (commands.empty() && !study.empty())
    commands = fmt::format("lissom run {} --out {}", quoted(study), quoted(draft.folder.string()));
  if (!commands.empty()) section.blocks.push_back(ReportCode{commands});

  ReportFacts facts;
  const auto fact = [&](const char* what, const std::string& text) {
    if (!text.empty()) facts.rows.emplace_back(what, ReportValue(text));
  };
  fact("Study", study);
  std::string written = text_in(draft.summary, "lissom_version"), text;
  for (const ReportRun& run : runs.all)
    if (run.result) {
      if (written.empty()) written = run.result->lissom_version;
      if (text.empty()) text = run.result->header.study;
    }
  fact("Results by lissom", written);
  fact("Started", text_in(draft.summary, "started"));
  fact("Machine", text_in(draft.summary, "machine"));
  fact("BLAS", text_in(draft.summary, "blas"));
  if (const double bytes = number_in(draft.summary, "peak_memory_bytes"); std::isfinite(bytes))
    facts.rows.emplace_back("Memory at the peak", ReportValue(format_bytes(bytes), bytes));
  if (!facts.rows.empty()) section.blocks.push_back(std::move(facts));
  if (!text.empty()) section.blocks.push_back(ReportDetails{"The study file", {ReportCode{text}}});
  section.blocks.push_back(
      ReportDetails{"Versions of the program that wrote this report", {ReportCode{versions_text()}}});

  // files of the folder, and of cases
  ReportTable files{"files", "", {"file", "size [bytes]"}, {}};
  double total = 0;
  size_t count = 0;
  std::vector<std::pair<std::string, double>> found;
  std::error_code ec;
  if (std::filesystem::is_directory(draft.folder, ec))
    for (auto it = std::filesystem::recursive_directory_iterator(draft.folder, ec);
         !ec && it != std::filesystem::recursive_directory_iterator(); it.increment(ec)) {
      std::error_code own;
      if (!it->is_regular_file(own)) continue;
      const auto bytes = static_cast<double>(it->file_size(own));
      if (own) continue;
      total += bytes;
      ++count;
      found.emplace_back(it->path().lexically_relative(draft.folder).generic_string(), bytes);
    }
  std::sort(found.begin(), found.end());
  constexpr size_t most = 200;
  for (size_t i = 0; i < std::min(found.size(), most); ++i)
    files.rows.push_back({found[i].first, ReportValue(with_commas(found[i].second), found[i].second)});
  if (found.size() > most) files.caption = fmt::format("The first {} of {} files.", most, found.size());
  if (count > 0)
    section.blocks.push_back(ReportDetails{
        fmt::format("Files of the run: {}, {}", count, format_bytes(total)), {std::move(files)}});
}

}  // namespace lissom

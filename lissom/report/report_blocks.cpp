#include "lissom/report/report_blocks.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "lissom/report/report_json.hpp"

namespace lissom {

using nlohmann::json;

namespace {

void collect_ids(const std::vector<ReportBlock>& blocks, std::set<std::string>& ids) {
  for (const ReportBlock& block : blocks) {
    if (const auto* table = std::get_if<ReportTable>(&block)) ids.insert(table->id);
    if (const auto* figure = std::get_if<ReportFigure>(&block)) ids.insert(figure->id);
    if (const auto* matrix = std::get_if<ReportMatrix>(&block)) ids.insert(matrix->id);
    if (const auto* view = std::get_if<ReportView>(&block)) ids.insert(view->id);
    if (const auto* details = std::get_if<ReportDetails>(&block)) collect_ids(details->blocks, ids);
  }
}

}  // namespace

std::string unique_id(const ReportDraft& draft, const std::string& name) {
  std::string base;
  for (const char c : name) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 128;
    if (plain)
      base += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!base.empty() && base.back() != '-')
      base += '-';
  }
  while (!base.empty() && base.back() == '-') base.pop_back();
  if (base.empty()) base = "part";
  std::set<std::string> ids;
  for (const ReportSection& section : draft.page.sections) collect_ids(section.blocks, ids);
  std::string id = base;
  for (int k = 2; ids.contains(id); ++k) id = fmt::format("{}-{}", base, k);
  return id;
}

ReportValue count_cell(double count) {
  if (!std::isfinite(count)) return "";
  return {fmt::format("{:.0f}", count), count};
}

ReportValue number_cell(double value, int digits) {
  return std::isfinite(value) ? report_number(value, digits) : ReportValue("");
}

std::string percent_text(double fraction) {
  return fmt::format("{:.3g} %", 100 * fraction);
}

void drop_empty_columns(ReportTable& table) {
  for (size_t k = table.columns.size(); k-- > 1;) {
    const bool empty = std::all_of(table.rows.begin(), table.rows.end(),
                                   [&](const auto& row) { return k >= row.size() || row[k].text.empty(); });
    if (!empty) continue;
    table.columns.erase(table.columns.begin() + static_cast<long>(k));
    for (auto& row : table.rows)
      if (k < row.size()) row.erase(row.begin() + static_cast<long>(k));
  }
}

std::vector<double> positive(std::vector<double> values, double floor) {
  for (double& value : values)
    if (!(value > floor)) value = std::numeric_limits<double>::quiet_NaN();
  return values;
}

bool any_finite(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

std::vector<double> numbers_from(double first, size_t count) {
  std::vector<double> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = first + static_cast<double>(i);
  return out;
}

ReportTable timing_table(const ReportDraft& draft, const json& seconds, const std::string& id,
                         const std::string& caption) {
  ReportTable table{unique_id(draft, id), caption, {"phase", "time [s]", "share"}, {}};
  if (!seconds.is_object()) return table;
  std::vector<std::pair<double, std::string>> phases;
  double sum = 0;
  for (const auto& [phase, value] : seconds.items())
    if (phase != "total" && value.is_number()) {
      phases.emplace_back(value.get<double>(), phase);
      sum += phases.back().first;
    }
  std::stable_sort(phases.begin(), phases.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  const double total = std::isfinite(number_in(seconds, "total")) ? number_in(seconds, "total") : sum;
  for (const auto& [time, phase] : phases)
    table.rows.push_back({phase, number_cell(time, 3),
                          ReportValue(total > 0 ? fmt::format("{:.1f} %", 100 * time / total) : "")});
  if (!phases.empty()) table.rows.push_back({"all", number_cell(total, 3), ""});
  return table;
}

CsvText read_report_csv(ReportDraft& draft, const std::filesystem::path& file, const char* column) {
  try {
    check_csv_end(file);
    CsvText table = read_csv_text(file);
    if (table.find(column) < 0) fail_input("{}: has no column '{}'", file.string(), column);
    return table;
  } catch (const Error& e) {
    draft.warn(fmt::format("What {} would show is left out: {}", file.filename().string(), e.what()));
    return {};
  }
}

std::vector<ReportView> report_views(ReportDraft& draft, const json& files,
                                     const std::filesystem::path& folder, const std::string& title,
                                     const std::string& caption) {
  std::vector<ReportView> views;
  if (!files.is_array()) return views;
  std::set<std::string> seen;
  for (const json& entry : files) {
    const std::string name = text_of(entry);
    std::error_code ec;
    if (!name.ends_with(".view.h5") || !seen.insert(name).second) continue;
    if (!std::filesystem::exists(folder / name, ec)) continue;
    try {
      Diagnostics unused;
      auto view = std::make_shared<View>(
          read_view_file(folder / name, draft.diagnostics ? *draft.diagnostics : unused));
      // motions are shown with the simulation
      if (!view->shapes) continue;
      ReportView shown;
      shown.id = unique_id(draft, name.substr(0, name.size() - std::string_view(".view.h5").size()));
      shown.title = title;
      shown.caption = caption;
      shown.runs.push_back({"modes", std::move(view)});
      views.push_back(std::move(shown));
    } catch (const Error& e) {
      draft.warn(fmt::format("The picture of {} is left out: {}", name, e.what()));
    }
  }
  return views;
}

void append(std::vector<ReportBlock>& to, std::vector<ReportBlock> blocks, bool folded,
            const std::string& title) {
  if (blocks.empty()) return;
  if (folded)
    to.emplace_back(ReportDetails{title, std::move(blocks)});
  else
    to.insert(to.end(), std::make_move_iterator(blocks.begin()), std::make_move_iterator(blocks.end()));
}

}  // namespace lissom

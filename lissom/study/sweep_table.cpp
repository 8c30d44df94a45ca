#include "lissom/study/sweep_table.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "lissom/core/atomic_file.hpp"
#include "lissom/io/table.hpp"

namespace lissom {

using Eigen::Index;
using nlohmann::json;

namespace {

// columns of results that a table on the terminal has room for
constexpr size_t shown_columns = 6;

// Texts of a CSV file may have commas, quotes and line ends.
std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

}  // namespace

SweepValues sweep_values(const SimulationRun* run, const Analyses& analyses, int modes) {
  SweepValues values;
  if (run)
    for (size_t c = 0; c < run->columns.size(); ++c) {
      const auto series = run->sensors.col(static_cast<Index>(c));
      values.emplace_back(run->columns[c] + " last", series[series.size() - 1]);
      values.emplace_back(run->columns[c] + " max", series.maxCoeff());
      values.emplace_back(run->columns[c] + " min", series.minCoeff());
    }
  if (run && run->summary.contains("stress"))
    for (const auto& [body, stress] : run->summary["stress"].items())
      if (stress.contains("max_von_mises"))
        values.emplace_back(fmt::format("{} max von Mises [Pa]", body), stress["max_von_mises"]);
  if (analyses.linearisation) {
    const auto& list = analyses.linearisation->modes;
    for (size_t i = 0; i < std::min<size_t>(modes, list.size()); ++i) {
      values.emplace_back(fmt::format("frequency {} [Hz]", i + 1), list[i].frequency);
      values.emplace_back(fmt::format("damping {}", i + 1), list[i].damping);
    }
    values.emplace_back("growth [1/s]", analyses.linearisation->growth);
  }
  if (analyses.response)
    for (const ResponsePair& pair : analyses.response->pairs) {
      if (pair.peaks.empty()) continue;
      const std::string name = fmt::format("{} by {}", pair.output, pair.input);
      values.emplace_back(name + " peak [Hz]", pair.peaks[0].frequency);
      values.emplace_back(name + " peak magnitude", pair.peaks[0].magnitude);
    }
  return values;
}

int SweepTable::failed() const {
  return static_cast<int>(
      std::count_if(rows.begin(), rows.end(), [](const Row& row) { return !row.problem.empty(); }));
}

SweepTable sweep_table(const SweepManifest& manifest) {
  SweepTable table;
  table.keys = manifest.keys;
  for (const StudyPoint& point : manifest.points) {
    SweepTable::Row row;
    row.parameters = point.parameters;
    row.problem = point.problem;
    for (const auto& [name, value] : point.values) {
      auto at = std::find(table.columns.begin(), table.columns.end(), name);
      if (at == table.columns.end()) {
        table.columns.push_back(name);
        at = table.columns.end() - 1;
      }
      row.values.resize(table.columns.size());
      row.values[at - table.columns.begin()] = value;
    }
    table.rows.push_back(std::move(row));
  }
  for (SweepTable::Row& row : table.rows) row.values.resize(table.columns.size());
  return table;
}

json sweep_json(const SweepTable& table) {
  json rows = json::array();
  for (const SweepTable::Row& row : table.rows) {
    json entry = {{"parameters", json::object()}};
    for (size_t p = 0; p < table.keys.size(); ++p) {
      // numbers as numbers
      const json parsed = json::parse(row.parameters[p], nullptr, false);
      entry["parameters"][table.keys[p]] = parsed.is_discarded() ? json(row.parameters[p]) : parsed;
    }
    if (!row.problem.empty()) {
      entry["error"] = row.problem;
    } else {
      entry["values"] = json::object();
      for (size_t c = 0; c < table.columns.size(); ++c)
        if (row.values[c]) entry["values"][table.columns[c]] = *row.values[c];
    }
    rows.push_back(std::move(entry));
  }
  return {{"parameters", table.keys},
          {"columns", table.columns},
          {"points", std::move(rows)},
          {"failed", table.failed()}};
}

std::string describe_sweep(const SweepTable& table) {
  const size_t columns = std::min(shown_columns, table.columns.size());
  std::vector<std::string> header = table.keys;
  header.insert(header.end(), table.columns.begin(), table.columns.begin() + static_cast<long>(columns));
  Table shown(header);
  for (const SweepTable::Row& row : table.rows) {
    std::vector<std::string> cells = row.parameters;
    for (size_t c = 0; c < columns; ++c)
      cells.push_back(!row.problem.empty() ? (c == 0 ? "failed" : "")
                      : row.values[c]      ? fmt::format("{:.6g}", *row.values[c])
                                           : "-");
    shown.add(std::move(cells));
  }
  std::string text =
      fmt::format("sweep of {} points, {} failed\n{}", table.rows.size(), table.failed(), shown.str());
  if (columns < table.columns.size())
    text += fmt::format("and {} columns more in sweep.csv\n", table.columns.size() - columns);
  return text;
}

void write_sweep(const SweepTable& table, const std::filesystem::path& path) {
  AtomicFile file(path);
  std::vector<std::string> cells;
  for (const auto* list : {&table.keys, &table.columns})
    for (const std::string& name : *list) cells.push_back(csv_text(name));
  file.write(fmt::format("{},problem\n", fmt::join(cells, ",")));
  for (const SweepTable::Row& row : table.rows) {
    cells.clear();
    for (const std::string& value : row.parameters) cells.push_back(csv_text(value));
    for (const auto& value : row.values) cells.push_back(value ? fmt::format("{}", *value) : "");
    file.write(fmt::format("{},{}\n", fmt::join(cells, ","), csv_text(row.problem)));
  }
  file.commit();
}

}  // namespace lissom

// Figures of runs over time, and words for numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "lissom/core/resources.hpp"
#include "lissom/report/report_json.hpp"
#include "lissom/report/report_runs.hpp"

namespace lissom {

namespace {

// |value| of any column in any run that is shown.
double largest_of(const ReportRuns& runs, const SensorGroup& group) {
  double largest = 0;
  for (const size_t index : runs.shown)
    for (const std::string& column : group.columns)
      for (const double y : column_of(runs.all[index], column))
        if (std::isfinite(y)) largest = std::max(largest, std::abs(y));
  return largest;
}

}  // namespace

std::string report_id(const std::string& text) {
  std::string id;
  for (const char c : text) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (kept)
      id += c;
    else if (!id.empty() && id.back() != '-')
      id += '-';
  }
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id.empty() ? "unnamed" : id;
}

std::string with_commas(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (auto i = static_cast<int>(digits.size()) - 3; i > (value < 0 ? 1 : 0); i -= 3)
    digits.insert(static_cast<size_t>(i), ",");
  return digits;
}

ReportValue report_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  return {format_seconds(seconds), seconds};
}

bool thin_out(std::vector<double>& x, std::vector<double>& y, size_t most) {
  if (x.size() <= most || most < 4) return false;
  const size_t pieces = most / 2 - 1, n = x.size();
  std::vector<double> xs{x.front()}, ys{y.front()};
  for (size_t piece = 0; piece < pieces; ++piece) {
    // the first and the last point stay as they are
    const size_t from = 1 + piece * (n - 2) / pieces, to = 1 + (piece + 1) * (n - 2) / pieces;
    if (from == to) continue;
    size_t low = from, high = from;
    for (size_t i = from; i < to; ++i) {
      if (y[i] < y[low] || !std::isfinite(y[low])) low = i;
      if (y[i] > y[high] || !std::isfinite(y[high])) high = i;
    }
    for (const size_t i : {std::min(low, high), std::max(low, high)}) {
      xs.push_back(x[i]);
      ys.push_back(y[i]);
      if (low == high) break;
    }
  }
  xs.push_back(x.back());
  ys.push_back(y.back());
  x = std::move(xs);
  y = std::move(ys);
  return true;
}

std::vector<double> to_vector(const Eigen::Ref<const Eigen::VectorXd>& values) {
  return {values.data(), values.data() + values.size()};
}

std::vector<SensorGroup> sensor_groups(const std::vector<ReportRun>& runs) {
  std::vector<SensorGroup> groups;
  // by name and unit; and what is there already, by column and unit
  std::unordered_map<std::string, size_t> known;
  std::unordered_set<std::string> taken;
  for (const ReportRun& run : runs) {
    if (!run.result) continue;
    const ResultHeader& header = run.result->header;
    for (size_t c = 0; c < header.sensors.size(); ++c) {
      const std::string& column = header.sensors[c];
      std::string unit = c < header.sensor_units.size() ? header.sensor_units[c] : "";
      const size_t dot = column.rfind('.');
      const std::string name = column.substr(0, dot),
                        end = dot == std::string::npos ? "" : column.substr(dot);
      if (end == ".node") continue;  // where a largest stress is: no quantity
      if (unit == "1" && (end == ".angle" || end == ".rx" || end == ".ry" || end == ".rz")) unit = "rad";
      if (!taken.insert(column + '\n' + unit).second) continue;
      const auto [at, is_new] = known.emplace(name + '\n' + unit, groups.size());
      if (is_new) groups.push_back({name, unit, {}});
      groups[at->second].columns.push_back(column);
    }
  }
  return groups;
}

std::vector<double> column_of(const ReportRun& run, const std::string& column) {
  const auto found = run.columns.find(column);
  if (!run.result || found == run.columns.end()) return {};
  return to_vector(Eigen::VectorXd(run.result->sensors.col(found->second)));
}

double range_of(const ReportRun& run, const SensorGroup& group) {
  double range = 0;
  for (const std::string& column : group.columns) {
    const std::vector<double> values = column_of(run, column);
    if (values.empty()) continue;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    range = std::max(range, *high - *low);
  }
  return range;
}

bool is_static(const ReportRun& run) {
  return text_in(run.simulation, "integrator") == "static";
}

ReportFigure sensor_figure(const ReportRuns& runs, const SensorGroup& group) {
  ReportFigure figure;
  figure.id = "sensor-" + report_id(group.name + " " + group.unit);
  figure.title = group.name;
  figure.x.label = "time [s]";
  figure.y.label = fmt::format("{} [{}]", group.name, group.unit);
  std::vector<std::string> zero, rounding;
  bool thinned = false;
  const double negligible = 1e-12 * largest_of(runs, group);
  for (const std::string& column : group.columns) {
    double most = 0;
    std::vector<ReportSeries> series;
    for (const size_t index : runs.shown) {
      const ReportRun& run = runs.all[index];
      ReportSeries curve;
      curve.name = runs.shown.size() > 1 ? fmt::format("{}, {}", column, run.label) : column;
      curve.y = column_of(run, column);
      if (curve.y.empty()) continue;
      curve.x = to_vector(run.result->time);
      for (const double y : curve.y)
        if (!(std::abs(y) <= most)) most = std::abs(y);
      thinned = thin_out(curve.x, curve.y) || thinned;
      curve.style = run.reduced ? ReportSeries::Style::Dashed : ReportSeries::Style::Line;
      series.push_back(std::move(curve));
    }
    if (most == 0)
      zero.push_back(column);
    else if (most <= negligible)
      rounding.push_back(column);
    else
      figure.series.insert(figure.series.end(), series.begin(), series.end());
  }
  std::vector<std::string> words;
  if (!zero.empty()) words.push_back(fmt::format("Zero throughout: {}.", fmt::join(zero, ", ")));
  if (!rounding.empty())
    words.push_back(fmt::format("Zero but for rounding: {}.", fmt::join(rounding, ", ")));
  figure.caption = fmt::format("{}", fmt::join(words, " "));
  if (thinned)
    figure.caption += fmt::format("{}Thinned out to about 5,000 points a curve; every peak is kept.",
                                  figure.caption.empty() ? "" : " ");
  return figure;
}

}  // namespace lissom

// Runs beside each other: accuracy and speed of models, differences of sensors.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>

#include "lissom/core/file_kind.hpp"
#include "lissom/io/csv_table.hpp"
#include "lissom/report/report_blocks.hpp"
#include "lissom/report/report_json.hpp"
#include "lissom/report/report_parts.hpp"
#include "lissom/report/report_runs.hpp"
#include "lissom/study/compare.hpp"

namespace lissom {

using nlohmann::json;

namespace {

constexpr size_t long_table = 30;  // rows, from which on it is folded

ReportTable model_table(const ReportDraft& draft, const ReportRuns& runs) {
  ReportTable table{
      "models",
      "Accuracy and speed",
      {"model", "compared with", "unknowns", "equations", "time [s]", "times faster", "times real time",
       "largest error of a node [m]", "of its motion [%]", "rms of nodes [m]", "epsilon [m2]",
       "largest difference of a sensor [m]", "distance from training"},
      {}};
  for (const ReportRun& run : runs.all) {
    if (!run.model.is_object()) continue;
    const ReportRun* reference = runs.reference_of(run);
    const double unknowns = number_in(run.model, "unknowns"),
                 coordinates = number_in(run.simulation, "coordinates");
    const std::optional<SensorError> error = place_error(runs, run);
    const json& trust = part_of(run.model, "trust");
    const double furthest = number_in(run.model, "largest_error"),
                 real_time = number_in(run.model, "real_time_factor");
    ReportValue distance = number_cell(number_in(trust, "largest"), 3);
    if (part_of(trust, "outside_since").is_number())
      distance.text += fmt::format(" (left it at {:.4g} s)", number_in(trust, "outside_since"));
    table.rows.push_back(
        {run.label, reference ? ReportValue(reference->label) : ReportValue(""), report_number(unknowns, 9),
         !std::isfinite(coordinates) ? "-"
         : unknowns == coordinates   ? "ODE"
                                     : "DAE",
         number_cell(number_in(run.model, "seconds"), 4),
         number_cell(number_in(run.model, "times_faster"), 4),
         is_static(run) || !(real_time > 0) ? ReportValue("") : number_cell(real_time, 3),
         number_cell(furthest, 3), number_cell(100 * furthest / number_in(run.model, "motion"), 3),
         number_cell(node_error(draft, run), 3), number_cell(number_in(run.model, "epsilon"), 3),
         number_cell(error ? error->largest : std::nan(""), 3), distance});
  }
  drop_empty_columns(table);
  return table;
}

// Reduced mechanisms of one reference: what unknowns buy.
std::vector<ReportFigure> trade_off(const ReportDraft& draft, const ReportRuns& runs) {
  ReportFigure error{"models-error",
                     "Error against time",
                     "",
                     {"time of the simulation [s]", true},
                     {"rms distance of nodes from the full model [m]", true},
                     {},
                     {}};
  for (const ReportRun& run : runs.all) {
    if (!run.reduced || !run.model.is_object()) continue;
    const double y = node_error(draft, run), x = number_in(run.model, "seconds");
    if (!(y > 0) || !(x > 0)) continue;
    error.series.push_back({fmt::format("{} ({:.0f} unknowns)", run.label, number_in(run.model, "unknowns")),
                            {x},
                            {y},
                            ReportSeries::Style::Points});
  }
  if (error.series.size() < 2) return {};
  error.caption = "Each point is a reduced model: further down is more accurate, further left is faster.";
  for (const ReportRun& run : runs.all) {
    const double seconds = number_in(run.model, "seconds");
    if (run.is_reference && !run.reduced && seconds > 0 && error.marks.empty())
      error.marks.push_back({true, seconds, fmt::format("full model, {}", run.label)});
  }
  return {error};
}

// |difference| over time of one sensor, from the files of the cases that are shown.
std::vector<ReportFigure> difference_figures(ReportDraft& draft, const ReportRuns& runs) {
  struct Table {
    const ReportRun* run;
    CsvTable values;
    std::unordered_map<std::string, Eigen::Index> columns;  // without the time
  };
  std::vector<Table> tables;
  for (const size_t index : runs.shown) {
    const ReportRun& run = runs.all[index];
    const std::filesystem::path file = run.folder / "differences.csv";
    if (!run.comparison.is_object() || !is_there(file)) continue;
    try {
      check_csv_end(file);
      tables.push_back({&run, read_csv_table(file), {}});
      const std::vector<std::string>& names = tables.back().values.columns;
      for (size_t c = 1; c < names.size(); ++c)
        tables.back().columns.emplace(names[c], static_cast<Eigen::Index>(c));
    } catch (const InputError& e) {
      draft.warn(fmt::format("{}; these differences are not drawn", e.what()));
    }
  }
  // one reference needs to be named once
  std::vector<std::string> references;
  for (const Table& table : tables) {
    const ReportRun* reference = runs.reference_of(*table.run);
    references.push_back(reference ? reference->label : "?");
  }
  const bool one =
      std::adjacent_find(references.begin(), references.end(), std::not_equal_to<>()) == references.end();
  std::vector<ReportFigure> figures;
  for (const SensorGroup& group : runs.sensors) {
    double size = 0;
    for (const ReportRun& run : runs.all)
      for (const std::string& column : group.columns)
        for (const double y : column_of(run, column))
          if (std::isfinite(y)) size = std::max(size, std::abs(y));
    ReportFigure figure{"difference-" + report_id(group.name + " " + group.unit),
                        one && !references.empty()
                            ? fmt::format("Difference of {} from {}", group.name, references.front())
                            : fmt::format("Difference of {}", group.name),
                        "",
                        {"time [s]"},
                        {fmt::format("|difference| [{}]", group.unit), true},
                        {},
                        {}};
    const double factor = to_si(group.unit, runs.units).value_or(1);
    for (size_t k = 0; k < tables.size(); ++k) {
      const Table& table = tables[k];
      ReportSeries series;
      series.name = one ? table.run->label : fmt::format("{} against {}", table.run->label, references[k]);
      series.x = to_vector(Eigen::VectorXd(table.values.values.col(0) * runs.units.time));
      Eigen::VectorXd squares = Eigen::VectorXd::Zero(table.values.values.rows());
      bool any = false;
      for (const std::string& column : group.columns)
        if (const auto at = table.columns.find(column); at != table.columns.end()) {
          squares += (factor * table.values.values.col(at->second)).cwiseAbs2();
          any = true;
        }
      if (!any) continue;
      series.y = to_vector(Eigen::VectorXd(squares.cwiseSqrt()));
      series.y = positive(std::move(series.y), rounding_error * size);
      if (!any_finite(series.y)) continue;
      if (thin_out(series.x, series.y))
        figure.caption = "Thinned out to about 5,000 points a curve; every peak is kept.";
      figure.series.push_back(std::move(series));
    }
    if (!figure.series.empty()) figures.push_back(std::move(figure));
  }
  return figures;
}

ReportTable sensor_table(const ReportRuns& runs) {
  ReportTable table{"differences",
                    "Sensors against the reference",
                    {"run", "against", "sensor", "unit", "largest difference", "at t [s]", "rms",
                     "largest value", "relative [%]"},
                    {}};
  std::map<std::string, std::string> units;
  for (const SensorGroup& group : runs.sensors)
    for (const std::string& column : group.columns) units[column] = group.unit;
  for (const ReportRun& run : runs.all) {
    const json& sensors = part_of(run.comparison, "sensors");
    if (!sensors.is_object()) continue;
    const std::string against = shown_run(text_in(run.comparison, "against"));
    for (const auto& [column, entry] : sensors.items()) {
      if (!units.contains(column)) continue;
      const double factor = to_si(units[column], runs.units).value_or(1);
      const double largest = factor * number_in(entry, "largest"), scale = factor * number_in(entry, "scale");
      table.rows.push_back({run.label, against, column, units[column], report_number(largest, 4),
                            report_number(runs.units.time * number_in(entry, "at"), 6),
                            report_number(factor * number_in(entry, "rms"), 4), report_number(scale, 4),
                            report_number(scale > 0 ? 100 * largest / scale : std::nan(""), 3)});
    }
  }
  return table;
}

void add_table(ReportSection& section, ReportTable table) {
  if (table.rows.empty()) return;
  if (table.rows.size() <= long_table) {
    section.blocks.push_back(std::move(table));
    return;
  }
  const std::string title = fmt::format("{} ({} rows)", table.caption, table.rows.size());
  section.blocks.push_back(ReportDetails{title, {std::move(table)}});
}

}  // namespace

void report_comparison(ReportDraft& draft, const ReportRuns& runs) {
  if (ReportTable models = model_table(draft, runs); !models.rows.empty()) {
    ReportSection& section = draft.section("models", "Models: accuracy and speed");
    section.lead =
        "Every model of the mechanism with its size, its distance from the full model and the time it takes. "
        "ODE: ordinary differential equations, without constraints. Times real time: above 1 the simulation "
        "is faster than the mechanism itself.";
    const bool epsilon =
        std::find(models.columns.begin(), models.columns.end(), "epsilon [m2]") != models.columns.end();
    section.blocks.push_back(std::move(models));
    for (ReportFigure& figure : trade_off(draft, runs)) section.blocks.push_back(std::move(figure));
    section.blocks.push_back(ReportText{
        std::string(epsilon ? "Epsilon is the sum of the squared distances of all nodes from where the full "
                              "model has them, over all samples; the rms is the same as a distance. "
                            : "") +
        "Time is that of the integration without output."});
  }
  std::vector<ReportFigure> figures = difference_figures(draft, runs);
  ReportTable sensors = sensor_table(runs);
  if (figures.empty() && sensors.rows.empty()) return;
  ReportSection& section = draft.section("comparison", "Comparison of the runs");
  section.lead =
      "Sensors of each run less those of its reference, at the times that both have. What is smaller than "
      "the "
      "rounding of the sensor is not drawn.";
  for (ReportFigure& figure : figures) section.blocks.push_back(std::move(figure));
  add_table(section, std::move(sensors));
}

void report_compared(ReportDraft& draft, const json& comparison) {
  const std::string a = text_in(comparison, "a"), b = text_in(comparison, "b");
  draft.page.title = "Comparison of two results";
  draft.page.subtitle = fmt::format("{} against {}", b, a);
  const json& times = part_of(comparison, "times");

  ReportTable table{"differences",
                    fmt::format("{} less {}", b, a),
                    {"quantity", "unit", "largest difference", "at t [s]", "rms",
                     "largest value of the reference", "relative [%]"},
                    {}};
  std::string worst;
  double most = -1;
  for (const char* kind : {"sensors", "energies"})
    for (const auto& [name, entry] : part_of(comparison, kind).items()) {
      const double relative = number_in(entry, "relative");
      table.rows.push_back({name, text_in(entry, "unit"), report_number(number_in(entry, "largest"), 4),
                            report_number(number_in(entry, "at"), 6),
                            report_number(number_in(entry, "rms"), 4),
                            report_number(number_in(entry, "scale"), 4), report_number(100 * relative, 3)});
      if (relative > most && std::string(kind) == "sensors") {
        most = relative;
        worst = name;
      }
    }
  draft.page.summary = fmt::format(
      "{} quantities of two results were compared at {:.0f} times from {:.6g} to {:.6g} s{}.",
      table.rows.size(), number_in(times, "count"), number_in(times, "first"), number_in(times, "last"),
      part_of(times, "interpolated") == json(true) ? ", where the second one was interpolated" : "");
  if (!worst.empty()) {
    draft.page.summary +=
        fmt::format(" The sensor that differs most is {}: {:.3g} % of its largest value.", worst, 100 * most);
    draft.page.cards.push_back(
        {"Largest relative difference", ReportValue(fmt::format("{:.3g} %", 100 * most), most), worst});
  }
  ReportSection& section = draft.section("comparison", "Differences");
  section.lead = fmt::format("What {} says less what {} says.", b, a);
  if (const auto file = draft.folder / "differences.csv"; is_there(file)) {
    check_csv_end(file);
    const CsvTable values = read_csv_table(file);
    std::map<std::string, ReportFigure> figures;
    std::vector<std::string> order;
    for (size_t c = 1; c < values.columns.size(); ++c) {
      const std::string& column = values.columns[c];
      std::string unit = "m", name = column;  // of nodes
      for (const char* kind : {"sensors", "energies"})
        if (const json& entry = part_of(part_of(comparison, kind), column); entry.is_object()) {
          unit = text_in(entry, "unit");
          name = column.substr(0, column.rfind('.'));
        }
      if (name == column) name = "distance of nodes";
      const std::string key = fmt::format("{} [{}]", name, unit);
      auto found = figures.find(key);
      if (found == figures.end()) {
        ReportFigure figure{"difference-" + report_id(key),
                            fmt::format("Difference of {}", name),
                            "",
                            {"time [s]"},
                            {fmt::format("|difference|{}", unit.empty() ? "" : " [" + unit + "]"), true},
                            {},
                            {}};
        found = figures.emplace(key, std::move(figure)).first;
        order.push_back(key);
      }
      ReportSeries series;
      series.name = column;
      series.x = to_vector(Eigen::VectorXd(values.values.col(0)));
      series.y = to_vector(Eigen::VectorXd(values.values.col(static_cast<Eigen::Index>(c)).cwiseAbs()));
      series.y = positive(std::move(series.y));
      if (!any_finite(series.y)) continue;
      if (thin_out(series.x, series.y))
        found->second.caption = "Thinned out to about 5,000 points a curve; every peak is kept.";
      found->second.series.push_back(std::move(series));
    }
    for (const std::string& key : order)
      if (!figures.at(key).series.empty()) section.blocks.push_back(std::move(figures.at(key)));
  }
  add_table(section, std::move(table));

  ReportTable nodes{"nodes",
                    "Distances of nodes",
                    {"body", "nodes", "largest [m]", "at node", "at t [s]", "rms [m]", "epsilon [m2]"},
                    {}};
  for (const auto& [body, entry] : part_of(comparison, "nodes").items())
    nodes.rows.push_back(
        {body, report_number(number_in(entry, "nodes"), 9), report_number(number_in(entry, "largest"), 4),
         report_number(number_in(entry, "node"), 12), report_number(number_in(entry, "at"), 6),
         report_number(number_in(entry, "rms"), 4), report_number(number_in(entry, "epsilon"), 4)});
  add_table(section, std::move(nodes));
  ReportTable stress{"stress",
                     "Von Mises stress",
                     {"body", "at t [s]", "largest difference [Pa]", "at node", "rms [Pa]",
                      "largest of the reference [Pa]", "largest of the other [Pa]"},
                     {}};
  for (const json& entry : part_of(comparison, "stress"))
    stress.rows.push_back(
        {text_in(entry, "body"),
         part_of(entry, "t").is_number() ? report_number(number_in(entry, "t"), 6)
                                         : ReportValue("largest over time"),
         report_number(number_in(entry, "largest"), 4), report_number(number_in(entry, "node"), 12),
         report_number(number_in(entry, "rms"), 4), report_number(number_in(entry, "of_a"), 4),
         report_number(number_in(entry, "of_b"), 4)});
  add_table(section, std::move(stress));
  for (const auto& [key, name] : {std::pair{"only_a", a}, std::pair{"only_b", b}})
    if (const auto columns = texts_in(comparison, key); !columns.empty())
      section.blocks.push_back(ReportText{fmt::format("Only in {}: {}.", name, fmt::join(columns, ", "))});
}

}  // namespace lissom

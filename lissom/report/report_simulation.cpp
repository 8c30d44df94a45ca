// How the simulations went: sensors, energies, drifts, steps, stress, trust, time.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "lissom/core/file_kind.hpp"
#include "lissom/io/stress_file.hpp"
#include "lissom/report/report_blocks.hpp"
#include "lissom/report/report_json.hpp"
#include "lissom/report/report_parts.hpp"
#include "lissom/report/report_runs.hpp"

namespace lissom {

using nlohmann::json;

namespace {

constexpr size_t most_series = 9;    // in one figure that a person can read
constexpr size_t most_figures = 12;  // before they are folded

// sensor_figure() names a series by its column, and by its run where there are several.
bool of_column(const ReportSeries& series, const std::string& column) {
  return series.name == column || series.name.starts_with(column + ", ");
}

// A figure a column where one for the whole sensor would be a tangle.
std::vector<ReportFigure> sensor_figures(const ReportRuns& runs) {
  std::vector<ReportFigure> figures;
  for (const SensorGroup& group : runs.sensors) {
    if (group.name == "energy") continue;
    ReportFigure whole = sensor_figure(runs, group);
    if (whole.series.size() <= most_series) {
      if (!whole.series.empty()) figures.push_back(std::move(whole));
      continue;
    }
    // columns that are left out of the whole are in none
    const std::string caption = whole.caption;
    size_t next = 0;  // series come column by column
    for (const std::string& column : group.columns) {
      ReportFigure figure;
      figure.id = "sensor-" + report_id(column);
      figure.title = column;
      figure.x = whole.x;
      figure.y.label = fmt::format("{} [{}]", column, group.unit);
      for (; next < whole.series.size() && of_column(whole.series[next], column); ++next)
        figure.series.push_back(std::move(whole.series[next]));
      if (!figure.series.empty()) figures.push_back(std::move(figure));
    }
    figures.back().caption = caption;
  }
  return figures;
}

// One series for each run that is shown, of a value at every sample; on an axis of logarithms only those
// above the floor.
template <class Value>
ReportFigure over_runs(const ReportRuns& runs, const char* id, const char* title, const std::string& label,
                       bool log, const Value& value, double floor = 0) {
  ReportFigure figure;
  figure.id = id;
  figure.title = title;
  figure.x.label = "time [s]";
  figure.y = {label, log};
  bool thinned = false;
  for (const size_t index : runs.shown) {
    const ReportRun& run = runs.all[index];
    ReportSeries series;
    series.name = run.label;
    series.style = run.reduced ? ReportSeries::Style::Dashed : ReportSeries::Style::Line;
    series.x = to_vector(run.result->time);
    for (int i = 0; i < run.result->samples(); ++i) series.y.push_back(value(run, i));
    if (log) series.y = positive(std::move(series.y), floor);
    if (!any_finite(series.y)) continue;
    thinned = thin_out(series.x, series.y) || thinned;
    figure.series.push_back(std::move(series));
  }
  if (thinned) figure.caption = "Thinned out to about 5,000 points a curve; every peak is kept.";
  return figure;
}

// Of one run: where the energy is, what came in, what was lost.
ReportFigure energy_figure(const ReportRun& run) {
  ReportFigure figure;
  figure.id = "energy";
  figure.title = fmt::format("Energy of {}", run.label);
  figure.x.label = "time [s]";
  figure.y.label = "energy [J]";
  const std::vector<double> time = to_vector(run.result->time);
  bool thinned = false;
  const auto add = [&](const char* name, auto value, ReportSeries::Style style = ReportSeries::Style::Line) {
    ReportSeries series{name, time, {}, style};
    for (const BalanceSample& balance : run.result->balance) series.y.push_back(value(balance));
    if (std::all_of(series.y.begin(), series.y.end(), [](double y) { return y == 0; })) return;
    thinned = thin_out(series.x, series.y) || thinned;
    figure.series.push_back(std::move(series));
  };
  add("kinetic", [](const BalanceSample& b) { return b.energy.kinetic; });
  add("elastic", [](const BalanceSample& b) { return b.energy.elastic; });
  add("gravity", [](const BalanceSample& b) { return b.energy.gravity; });
  add("springs", [](const BalanceSample& b) { return b.energy.springs; });
  add("total", [](const BalanceSample& b) {
    return b.energy.kinetic + b.energy.elastic + b.energy.gravity + b.energy.springs;
  });
  add(
      "work of loads and drives", [](const BalanceSample& b) { return b.work_in; },
      ReportSeries::Style::Dashed);
  add(
      "dissipated", [](const BalanceSample& b) { return b.dissipated; }, ReportSeries::Style::Dashed);
  figure.caption = "What the loads put in is stored as kinetic, elastic and potential energy or dissipated.";
  if (thinned) figure.caption += " Thinned out to about 5,000 points a curve; every peak is kept.";
  return figure;
}

// The mean step between two samples.
double step_before(const ReportRun& run, int i) {
  const auto& statistics = run.result->statistics;
  if (i == 0 || static_cast<size_t>(i) >= statistics.size()) return std::nan("");
  const auto steps = static_cast<double>(statistics[static_cast<size_t>(i)].steps -
                                         statistics[static_cast<size_t>(i) - 1].steps);
  return steps > 0 ? (run.result->time[i] - run.result->time[i - 1]) / steps : std::nan("");
}

bool steps_vary(const ReportRun& run) {
  const double low = number_in(run.simulation, "smallest_step"),
               high = number_in(run.simulation, "largest_step");
  return high > 1.01 * low;
}

ReportTable run_table(const ReportRuns& runs) {
  ReportTable table{"timing",
                    "How the runs went",
                    {"run", "state", "until t [s]", "steps", "rejected", "Newton iterations",
                     "factorisations", "smallest step [s]", "largest step [s]", "time [s]",
                     "of it output [s]", "energy drift, relative", "constraint drift [m]"},
                    {}};
  const bool varies = std::any_of(runs.all.begin(), runs.all.end(), steps_vary);
  for (const ReportRun& run : runs.all) {
    const json& s = run.simulation;
    const auto cell = [&](const char* key, int digits) { return report_number(number_in(s, key), digits); };
    table.rows.push_back(
        {run.label, run.result ? std::string(name_of(run.result->end.status)) : std::string("-"),
         cell("end", 6), cell("steps", 9), cell("rejected", 9), cell("newton_iterations", 9),
         cell("factorisations", 9), varies ? cell("smallest_step", 4) : ReportValue(""),
         cell("largest_step", 4), cell("seconds", 4), cell("output_seconds", 4),
         number_cell(number_in(s, "energy_drift"), 3), number_cell(number_in(s, "constraint_drift"), 3)});
  }
  if (!varies) table.columns[8] = "step [s]";
  drop_empty_columns(table);
  return table;
}

// Largest von Mises stress over time, of the summary, else of stress.h5.
void add_stress(ReportDraft& draft, const ReportRuns& runs, ReportSection& section) {
  ReportTable table{
      "stress", "Largest von Mises stress", {"run", "body", "stress [Pa]", "at node", "at t [s]"}, {}};
  const auto add = [&](const std::string& run, const std::string& body, double stress, double node,
                       double t) {
    table.rows.push_back({run, body, report_number(stress, 5), report_number(node, 12), report_number(t, 6)});
  };
  for (const ReportRun& run : runs.all) {
    if (const json& stress = part_of(run.simulation, "stress"); stress.is_object()) {
      for (const auto& [body, entry] : stress.items()) {
        if (part_of(entry, "max_von_mises").is_number())
          add(run.label, body, number_in(entry, "max_von_mises"), number_in(entry, "node"),
              number_in(entry, "t"));
        for (const json& at : part_of(entry, "at"))
          add(run.label, body + ", at an instant asked for", number_in(at, "max_von_mises"),
              number_in(at, "node"), number_in(at, "t"));
      }
      continue;
    }
    const std::filesystem::path file = run.folder / "stress.h5";
    if (!is_there(file)) continue;
    try {
      for (const StressFileBody& body : read_stress_file(file, *draft.diagnostics).bodies) {
        Eigen::Index node = 0;
        if (!body.has_peak()) continue;
        const double peak = body.peak.maxCoeff(&node);
        add(run.label, body.name, peak, static_cast<double>(body.node_ids[static_cast<size_t>(node)]),
            body.peak_time[node]);
      }
    } catch (const InputError& e) {
      draft.warn(fmt::format("{}; stress is not shown", e.what()));
    }
  }
  if (!table.rows.empty()) section.blocks.push_back(std::move(table));
}

void add_trust(const ReportRuns& runs, ReportSection& section) {
  ReportFigure figure = over_runs(runs, "trust", "Distance from the training", "distance from training", true,
                                  [](const ReportRun& run, int i) {
                                    return i < run.result->trust.size() ? run.result->trust[i] : std::nan("");
                                  });
  if (figure.series.empty()) return;
  for (const ReportRun& run : runs.all)
    for (const json* of : {&run.simulation, &run.model})
      if (const double threshold = number_in(part_of(*of, "trust"), "threshold");
          std::isfinite(threshold) && figure.marks.empty())
        figure.marks.push_back({false, threshold, "limit of trust"});
  figure.caption =
      "A reduced mechanism knows where it was trained: 0 is a state of the training, 1 is as far away from "
      "one as these are from each other. Above the line its results should be checked against the full "
      "model.";
  section.blocks.push_back(std::move(figure));
}

// What only some runs have: equilibria they start from, checks of a reduced model against the full one.
void add_special(const ReportRuns& runs, ReportSection& section) {
  ReportTable checks{
      "checks",
      "Reduced models checked against the full equations",
      {"run", "t [s]", "residual of the full model", "would move a node by [m]", "distance from training"},
      {}};
  ReportTable starts{"equilibria",
                     "Equilibria that runs start from",
                     {"run", "t [s]", "Newton iterations", "moved by [m]", "residual", "stable"},
                     {}};
  ReportTable pods{"pod-use",
                   "Parametric models as they were used",
                   {"run", "order", "parameters", "basis from", "forces by", "why",
                    "outside the training range", "set-up [s]"},
                   {}};
  for (const ReportRun& run : runs.all) {
    for (const json& check : part_of(run.simulation, "checks"))
      checks.rows.push_back(
          {run.label, report_number(number_in(check, "t"), 6), report_number(number_in(check, "residual"), 3),
           report_number(number_in(check, "missing"), 3), report_number(number_in(check, "distance"), 3)});
    if (const json& e = part_of(run.simulation, "equilibrium"); e.is_object()) {
      const json& stable = part_of(e, "stable");
      starts.rows.push_back(
          {run.label, report_number(number_in(e, "t"), 6), report_number(number_in(e, "iterations"), 9),
           report_number(number_in(e, "moved"), 4), report_number(number_in(e, "residual"), 3),
           stable.is_boolean() ? (stable.get<bool>() ? "yes" : "no") : "-"});
    }
    if (const json& pod = part_of(run.simulation, "pod"); pod.is_object()) {
      std::vector<std::string> values;
      for (const auto& [name, value] : part_of(pod, "parameters").items())
        values.push_back(fmt::format("{} = {:.6g}", name, number_of(value)));
      pods.rows.push_back({run.label, report_number(number_in(pod, "order"), 9),
                           fmt::format("{}", fmt::join(values, ", ")), text_in(pod, "combination"),
                           text_in(pod, "force"), text_in(pod, "force_why"),
                           report_number(number_in(pod, "outside_range"), 3),
                           report_number(number_in(pod, "setup_seconds"), 3)});
    }
  }
  for (ReportTable* table : {&starts, &checks, &pods})
    if (!table->rows.empty()) section.blocks.push_back(std::move(*table));
}

}  // namespace

void report_simulations(ReportDraft& draft, const ReportRuns& runs) {
  if (runs.all.empty()) return;
  ReportSection& section = draft.section("simulation", "Simulation");
  section.lead = "What the sensors measured over time, and whether energy and joints were kept.";
  if (!runs.shown.empty()) {
    if (runs.shown.size() < runs.all.size()) {
      std::vector<std::string> names;
      for (const size_t index : runs.shown) names.push_back(runs.all[index].label);
      section.blocks.push_back(
          ReportText{fmt::format("{} of {} runs are drawn, the tables have them all: {}. Reduced mechanisms "
                                 "are dashed.",
                                 runs.shown.size(), runs.all.size(), fmt::join(names, "; "))});
    }
    ReportDetails more{"More sensors", {}};
    size_t count = 0;
    for (ReportFigure& figure : sensor_figures(runs)) {
      auto& blocks = ++count <= most_figures ? section.blocks : more.blocks;
      blocks.push_back(std::move(figure));
    }
    if (!more.blocks.empty()) section.blocks.push_back(std::move(more));

    if (ReportFigure energy = energy_figure(runs.all[runs.shown.front()]); !energy.series.empty())
      section.blocks.push_back(std::move(energy));
    ReportFigure drift =
        over_runs(runs, "energy-drift", "Energy that appeared or vanished", "|energy drift| [J]", true,
                  [](const ReportRun& run, int i) {
                    // equilibria do not sum up the work of loads
                    if (is_static(run)) return std::nan("");
                    const double scale = number_in(part_of(run.simulation, "energy"), "scale");
                    const double size = std::abs(run.result->balance[static_cast<size_t>(i)].energy_drift);
                    return size < rounding_error * scale ? std::nan("") : size;
                  });
    drift.caption =
        "The total less what it was at the start, less the work of loads, plus what was "
        "dissipated: zero for exact integration.";
    if (!drift.series.empty()) section.blocks.push_back(std::move(drift));
    ReportFigure gaps = over_runs(
        runs, "constraint-drift", "Gaps of the joints", "largest gap [m]", true,
        [](const ReportRun& run, int i) {
          return run.result->balance[static_cast<size_t>(i)].constraint_drift;
        },
        1e-18);
    gaps.caption =
        "How far joints are apart at most; round-off is 1e-15 m or so. Below 1e-18 m nothing is drawn.";
    if (!gaps.series.empty()) section.blocks.push_back(std::move(gaps));
    add_trust(runs, section);
    if (std::any_of(runs.shown.begin(), runs.shown.end(),
                    [&](size_t index) { return steps_vary(runs.all[index]); })) {
      ReportFigure steps =
          over_runs(runs, "steps", "Steps of the integrator", "mean step [s]", true, step_before);
      if (!steps.series.empty()) section.blocks.push_back(std::move(steps));
    }
  }
  section.blocks.push_back(run_table(runs));
  add_special(runs, section);
  add_stress(draft, runs, section);
}

}  // namespace lissom

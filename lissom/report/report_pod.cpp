#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "lissom/report/report_blocks.hpp"
#include "lissom/report/report_json.hpp"
#include "lissom/report/report_runs.hpp"
#include "lissom/report/report_training.hpp"

namespace lissom {

using nlohmann::json;

namespace {

std::vector<std::string> parameter_names(const json& training) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : part_of(training, "parameters").items()) names.push_back(name);
  return names;
}

std::string parameter_text(const json& values) {
  std::vector<std::string> words;
  for (const auto& [name, value] : values.items())
    words.push_back(fmt::format("{} = {:.6g}", name, number_of(value)));
  return fmt::format("{}", fmt::join(words, ", "));
}

// Where in the range of the first two parameters the full simulations and the tests are.
ReportFigure plan_figure(const json& training, const std::vector<std::string>& names) {
  ReportFigure figure{"pod-samples", "Where the model was trained and tested", "", {}, {}, {}, {}};
  if (names.empty()) return figure;
  const bool two = names.size() > 1;
  figure.x.label = names[0];
  figure.y.label = two ? names[1] : "";
  const auto add = [&](const char* name, const json& list) {
    ReportSeries series{name, {}, {}, ReportSeries::Style::Points};
    std::set<std::pair<double, double>> seen;
    for (const json& entry : list) {
      const json& values = part_of(entry, "parameters");
      const std::pair<double, double> point{number_in(values, names[0]),
                                            two ? number_in(values, names[1]) : 0};
      if (!std::isfinite(point.first) || !seen.insert(point).second) continue;
      series.x.push_back(point.first);
      series.y.push_back(point.second);
    }
    if (!series.x.empty()) figure.series.push_back(std::move(series));
  };
  add("full simulations (training)", part_of(training, "samples"));
  add("tests", part_of(training, "tests"));
  if (names.size() > 2)
    figure.caption = fmt::format("Of {} parameters the first two are drawn.", names.size());
  return figure;
}

// The largest error of a sensor that moves; energies, which are no sensors of places, are left out.
double worst_error(const json& test) {
  double worst = std::nan("");
  for (const auto& [column, error] : part_of(test, "errors").items()) {
    if (column.starts_with("energy.") || !error.is_number()) continue;
    worst = std::isfinite(worst) ? std::max(worst, number_of(error)) : number_of(error);
  }
  return worst;
}

using Curves = std::map<std::string, std::map<double, std::vector<double>>>;

// The largest of all tests over the order, a curve for each way of making a basis.
ReportFigure over_order(const json& training, const char* id, const char* title, const char* label,
                        const std::function<double(const json&)>& value, bool worst) {
  ReportFigure figure{id, title, "", {"order r"}, {label, true}, {}, {}};
  Curves curves;
  // ways of evaluating the force are curves of their own where a test was run with several
  std::map<std::tuple<std::string, std::string, double>, std::set<std::string>> forces;
  bool several = false;
  for (const json& test : part_of(training, "tests")) {
    auto& of = forces[{text_in(test, "test"), text_in(test, "combination"), number_in(test, "order")}];
    of.insert(text_in(test, "force"));
    several = several || of.size() > 1;
  }
  for (const json& test : part_of(training, "tests")) {
    std::string name = text_in(test, "combination");
    if (several) name += ", forces by " + text_in(test, "force");
    if (const double y = value(test); std::isfinite(y)) curves[name][number_in(test, "order")].push_back(y);
  }
  for (const auto& [name, points] : curves) {
    ReportSeries series{name, {}, {}, ReportSeries::Style::LinePoints};
    for (const auto& [order, values] : points) {
      double sum = 0;
      for (const double v : values) sum += v;
      series.x.push_back(order);
      series.y.push_back(worst ? *std::max_element(values.begin(), values.end())
                               : sum / static_cast<double>(values.size()));
    }
    series.y = positive(std::move(series.y));
    figure.series.push_back(std::move(series));
  }
  if (const double order = number_in(training, "order"); std::isfinite(order))
    figure.marks.push_back({true, order, "taken"});
  return figure;
}

ReportTable sample_table(const json& training) {
  ReportTable table{"pod-sample-table",
                    "Full simulations that the model was trained on",
                    {"sample", "parameters", "snapshots", "time [s]", "rank", "order by singular values",
                     "order by energy", "note"},
                    {}};
  double k = 0;
  for (const json& sample : part_of(training, "samples")) {
    const json& orders = part_of(sample, "orders");
    const json& reused = part_of(sample, "reused");
    table.rows.push_back(
        {report_number(++k, 9), parameter_text(part_of(sample, "parameters")),
         report_number(number_in(sample, "snapshots"), 9), report_number(number_in(sample, "seconds"), 4),
         report_number(number_in(sample, "rank"), 9), report_number(number_in(orders, "singular-values"), 9),
         report_number(number_in(orders, "energy"), 9),
         reused.is_boolean() && reused.get<bool>() ? "reused" : ""});
  }
  drop_empty_columns(table);
  return table;
}

ReportTable test_table(const json& training) {
  ReportTable table{
      "pod-tests",
      "Tests against full simulations",
      {"test", "parameters", "basis", "order", "forces by", "largest error of a sensor",
       "distance from training", "full [s]", "reduced [s]", "set-up [s]", "times faster", "note"},
      {}};
  for (const json& test : part_of(training, "tests")) {
    const std::string problem = text_in(test, "problem");
    const std::string note = problem.empty() ? text_in(test, "fallback") : problem;
    table.rows.push_back(
        {text_in(test, "test"), parameter_text(part_of(test, "parameters")), text_in(test, "combination"),
         report_number(number_in(test, "order"), 9), text_in(test, "force"),
         report_number(worst_error(test), 3), report_number(number_in(test, "trust"), 3),
         report_number(number_in(test, "full_seconds"), 4), report_number(number_in(test, "seconds"), 4),
         report_number(number_in(test, "setup_seconds"), 4),
         report_number(number_in(test, "times_faster"), 4), note});
  }
  drop_empty_columns(table);
  return table;
}

}  // namespace

void report_pod(ReportDraft& draft, ReportSection& section, const json& training) {
  const std::vector<std::string> names = parameter_names(training);
  ReportFacts facts;
  const auto fact = [&](const char* what, const std::string& text) {
    if (!text.empty()) facts.rows.emplace_back(what, ReportValue(text));
  };
  for (const auto& [name, entry] : part_of(training, "parameters").items())
    facts.rows.emplace_back("Parameter " + name,
                            ReportValue(fmt::format("sets {}", fmt::join(texts_in(entry, "keys"), ", "))));
  if (part_of(training, "order").is_number())
    facts.rows.emplace_back("Order taken", report_number(number_in(training, "order"), 9));
  fact("Why", text_in(training, "why"));
  fact("Basis for new values of the parameters", text_in(training, "combination"));
  fact("Elastic forces by", text_in(training, "force"));
  if (part_of(training, "nodal_coordinates").is_number())
    facts.rows.emplace_back("Nodal coordinates of the full model",
                            ReportValue(with_commas(number_in(training, "nodal_coordinates")),
                                        number_in(training, "nodal_coordinates")));
  if (part_of(training, "seconds").is_number())
    facts.rows.emplace_back("Time of the training, tests included",
                            report_seconds(number_in(training, "seconds")));
  if (!facts.rows.empty()) section.blocks.push_back(std::move(facts));

  std::vector<ReportFigure> figures;
  figures.push_back(over_order(training, "pod-error", "Error of the tests against the order",
                               "largest error of a sensor, relative", worst_error, true));
  figures.back().caption =
      "The worst sensor of the worst test, at values of the parameters that the model was not trained at; "
      "one curve for each way of making the basis.";
  figures.push_back(over_order(
      training, "pod-speed", "Times faster than the full simulation", "times faster",
      [](const json& test) { return number_in(test, "times_faster"); }, false));
  figures.back().caption = "Mean over the tests, without the set-up of the model.";
  figures.push_back(plan_figure(training, names));

  ReportFigure values{"pod-singular-values",
                      "Singular values of the samples",
                      "",
                      {"mode"},
                      {"singular value", true},
                      {},
                      {}};
  size_t sample = 0;
  for (const json& entry : part_of(training, "samples")) {
    std::vector<double> y = numbers_in(entry, "singular_values");
    ++sample;
    if (y.empty()) continue;
    y = positive(std::move(y));
    values.series.push_back(
        {fmt::format("sample {}", sample), numbers_from(1, y.size()), y, ReportSeries::Style::Line});
  }
  if (const double order = number_in(training, "order"); std::isfinite(order))
    values.marks.push_back({true, order, "taken"});
  values.caption = "How much of the motion each mode carries, for each full simulation.";
  figures.push_back(std::move(values));
  for (ReportFigure& figure : figures)
    if (!figure.series.empty()) section.blocks.push_back(std::move(figure));

  const json& angles = part_of(training, "principal_angles_deg");
  const bool square = angles.is_array() && std::all_of(angles.begin(), angles.end(), [&](const json& row) {
                        return row.is_array() && row.size() == angles.size();
                      });
  if (angles.is_array() && !square)
    draft.warn("the angles between the bases of samples are not one for each pair and are left out");
  if (square && angles.size() > 1) {
    ReportTable table{
        "principal-angles", "Largest angle between the bases of two samples [degrees]", {"between"}, {}};
    for (size_t i = 0; i < angles.size(); ++i) {
      table.columns.push_back(fmt::format("{}", i + 1));
      std::vector<ReportValue> row{fmt::format("sample {}", i + 1)};
      for (const double angle : numbers_of(angles[i])) row.push_back(report_number(angle, 3));
      table.rows.push_back(std::move(row));
    }
    section.blocks.push_back(ReportText{
        "Bases of neighbouring samples that point in much the same directions (small angles) can be "
        "interpolated; at 90 degrees each has a motion that the other does not know."});
    section.blocks.push_back(std::move(table));
  }
  if (ReportTable table = sample_table(training); !table.rows.empty())
    section.blocks.push_back(std::move(table));
  if (ReportTable table = test_table(training); !table.rows.empty())
    section.blocks.push_back(
        ReportDetails{fmt::format("All {} tests", table.rows.size()), {std::move(table)}});
}

}  // namespace lissom

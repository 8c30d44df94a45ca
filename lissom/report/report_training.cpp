// Mechanisms reduced as a whole: how the small models were trained.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "lissom/report/report_blocks.hpp"
#include "lissom/report/report_json.hpp"
#include "lissom/report/report_parts.hpp"
#include "lissom/report/report_runs.hpp"
#include "lissom/report/report_training.hpp"

namespace lissom {

using nlohmann::json;

namespace {

constexpr size_t most_values = 100;  // singular values beyond are round-off

void bound_length(std::vector<double>& values) {
  if (values.size() > most_values) values.resize(most_values);
}

void mark_orders(const json& training, ReportFigure& figure) {
  const double order = number_in(training, "order"), proposed = number_in(training, "proposed");
  if (order == proposed) {
    figure.marks.push_back({true, order, "taken, as proposed"});
    return;
  }
  if (std::isfinite(proposed)) figure.marks.push_back({true, proposed, "proposed"});
  if (std::isfinite(order)) figure.marks.push_back({true, order, "taken"});
}

ReportFigure singular_values(const json& training, const std::string& id) {
  ReportFigure figure{id + "-singular-values",
                      "Singular values of the training motion",
                      "",
                      {"mode"},
                      {"singular value [m]", true},
                      {},
                      {}};
  std::vector<double> own = positive(numbers_in(training, "singular_values")),
                      full = positive(numbers_in(training, "singular_values_full"));
  const size_t all = own.size();
  bound_length(own);
  bound_length(full);
  if (!own.empty())
    figure.series.push_back({"in the space of component modes", numbers_from(1, own.size()), own,
                             ReportSeries::Style::LinePoints});
  if (!full.empty())
    figure.series.push_back(
        {"of all nodal coordinates", numbers_from(1, full.size()), full, ReportSeries::Style::Points});
  figure.caption =
      "How much of the motion each mode carries. Where the curve falls steeply, few modes say everything; "
      "where it is flat at the end, there is only round-off or noise.";
  if (all > most_values) figure.caption += fmt::format(" The first {} of {}.", most_values, all);
  mark_orders(training, figure);
  return figure;
}

ReportFigure joint_violation(const json& training, const std::string& id) {
  ReportFigure figure{id + "-joint-violation",
                      "Joint violation of the modes",
                      "",
                      {"mode"},
                      {"joint violation", true},
                      {},
                      {}};
  std::vector<double> values = positive(numbers_in(training, "joint_violation"));
  bound_length(values);
  if (!values.empty())
    figure.series.push_back(
        {"joint violation", numbers_from(1, values.size()), values, ReportSeries::Style::LinePoints});
  figure.caption =
      "How far a mode pulls the joints apart. Modes with round-off (below 1e-20) keep them closed, so that "
      "the small model needs no constraints: it is an ordinary differential equation.";
  mark_orders(training, figure);
  return figure;
}

// Every order has as many frequencies as coordinates; those of spurious motions are marked.
ReportFigure frequencies(const json& training, const std::string& id) {
  ReportFigure figure{id + "-frequencies",
                      "Natural frequencies of the small models",
                      "",
                      {"order m"},
                      {"frequency [Hz]", true},
                      {},
                      {}};
  ReportSeries own{"of the small model", {}, {}, ReportSeries::Style::Points},
      spurious{"spurious", {}, {}, ReportSeries::Style::Points};
  const std::vector<double> system = numbers_in(training, "system_frequencies_hz");
  double first = std::nan("");  // order with a spurious motion
  for (const json& order : part_of(training, "orders")) {
    const double m = number_in(order, "m");
    std::vector<double> values = numbers_in(order, "frequencies_hz");
    // spurious motions are slow ones that the mechanism has not: those behind its free motions
    const double extra = number_in(order, "spurious"), free = number_in(training, "rigid_motions");
    for (size_t i = 0; i < values.size(); ++i) {
      const auto k = static_cast<double>(i);
      ReportSeries& series = extra > 0 && k >= free && k < free + extra ? spurious : own;
      series.x.push_back(m);
      series.y.push_back(values[i] > 0 ? values[i] : std::nan(""));
    }
    if (extra > 0 && !(first <= m)) first = m;
  }
  if (!own.x.empty()) figure.series.push_back(std::move(own));
  if (!spurious.x.empty()) figure.series.push_back(std::move(spurious));
  const size_t free = count_of(number_in(training, "rigid_motions"), system.size());
  for (size_t i = free; i < std::min(system.size(), free + 1); ++i)
    if (system[i] > 0) figure.marks.push_back({false, system[i], "first vibration of the full model"});
  if (std::isfinite(first)) figure.marks.push_back({true, first, "spurious motions"});
  figure.caption =
      "The line is the lowest vibration of the full mechanism. Nearly zero frequencies are its free motions; "
      "a small model that has more of them than the mechanism is spurious.";
  mark_orders(training, figure);
  return figure;
}

ReportFigure errors(const json& training, const std::string& id) {
  ReportFigure figure{id + "-error",
                      "Error of the training motion against the order",
                      "",
                      {"order m"},
                      {"error [m]", true},
                      {},
                      {}};
  ReportSeries largest{"largest, of any node", {}, {}, ReportSeries::Style::LinePoints},
      rms{"rms of all nodal coordinates", {}, {}, ReportSeries::Style::LinePoints},
      projection{"left out by the modes (rms)", {}, {}, ReportSeries::Style::Dashed};
  for (const json& order : part_of(training, "orders")) {
    const auto add = [&](ReportSeries& series, const char* key) {
      series.x.push_back(number_in(order, "m"));
      series.y.push_back(number_in(order, key));
    };
    add(largest, "largest_error");
    add(rms, "rms_error");
    add(projection, "left_out");
  }
  for (ReportSeries* series : {&largest, &rms, &projection}) {
    series->y = positive(std::move(series->y));
    if (any_finite(series->y)) figure.series.push_back(std::move(*series));
  }
  figure.caption =
      "The small model of each order was run with the loads of the training and compared with it. The dashed "
      "line is the least that any model with these modes could reach.";
  mark_orders(training, figure);
  return figure;
}

ReportTable order_table(const json& training, const std::string& id) {
  ReportTable table{id + "-orders",
                    "Orders that were tried",
                    {"m", "choice", "singular value [m]", "rms error [m]", "largest error [m]",
                     "epsilon [m2]", "joint violation", "lowest frequencies [Hz]", "spurious", "time [s]"},
                    {}};
  for (const json& order : part_of(training, "orders")) {
    std::vector<std::string> lowest;
    for (const double f : numbers_in(order, "frequencies_hz")) {
      if (lowest.size() == 4) break;
      lowest.push_back(fmt::format("{:.4g}", f));
    }
    const double m = number_in(order, "m");
    const bool taken = m == number_in(training, "order"), proposed = m == number_in(training, "proposed");
    const auto cell = [&](const char* key) { return report_number(number_in(order, key), 4); };
    table.rows.push_back({report_number(m, 9),
                          taken && proposed ? "taken, proposed"
                          : taken           ? "taken"
                          : proposed        ? "proposed"
                                            : "",
                          cell("singular_value"), cell("rms_error"), cell("largest_error"), cell("epsilon"),
                          cell("joint_violation"), fmt::format("{}", fmt::join(lowest, ", ")),
                          cell("spurious"), cell("seconds")});
  }
  drop_empty_columns(table);
  return table;
}

void report_slap(ReportSection& section, const json& training, const std::string& id) {
  ReportFacts facts;
  const auto fact = [&](const char* what, ReportValue value) {
    facts.rows.emplace_back(what, std::move(value));
  };
  if (part_of(training, "order").is_number())
    fact("Order taken", report_number(number_in(training, "order"), 9));
  if (part_of(training, "proposed").is_number())
    fact("Order proposed", report_number(number_in(training, "proposed"), 9));
  if (const std::string why = text_in(training, "why"); !why.empty()) fact("Why", why);
  if (part_of(training, "rigid_motions").is_number())
    fact("Free motions of the mechanism", report_number(number_in(training, "rigid_motions"), 9));
  if (const json& space = part_of(training, "space"); space.is_object())
    fact("Space of component modes", fmt::format("{} coordinates, of which joints leave {}",
                                                 number_in(space, "dimension"), number_in(space, "kernel")));
  if (const double noise = number_in(training, "outside_space"); std::isfinite(noise))
    fact("Training motion outside of the component modes", report_number(noise, 3));
  if (const double gap = number_in(training, "outside_joints"); std::isfinite(gap))
    fact("Training motion that the joints do not allow", report_number(gap, 3));
  if (const json& first = part_of(training, "first_spurious"); first.is_number())
    fact("First order with a spurious motion", report_number(number_of(first), 9));
  if (const double seconds = number_in(training, "seconds"); std::isfinite(seconds))
    fact("Time of the training", report_seconds(seconds));
  if (!facts.rows.empty()) section.blocks.push_back(std::move(facts));

  ReportTable runs{id + "-runs",
                   "Motions that the model was trained on",
                   {"run", "samples", "from [s]", "to [s]", "nodes move up to [m]", "joint gaps up to [m]"},
                   {}};
  for (const json& run : part_of(training, "training"))
    runs.rows.push_back({text_in(run, "run"), report_number(number_in(run, "samples"), 9),
                         report_number(number_in(run, "start"), 6), report_number(number_in(run, "end"), 6),
                         report_number(number_in(run, "motion"), 4),
                         report_number(number_in(run, "largest_gap"), 3)});
  if (!runs.rows.empty()) section.blocks.push_back(std::move(runs));
  for (ReportFigure figure : {errors(training, id), singular_values(training, id),
                              joint_violation(training, id), frequencies(training, id)})
    if (!figure.series.empty()) section.blocks.push_back(std::move(figure));
  if (ReportTable table = order_table(training, id); !table.rows.empty())
    section.blocks.push_back(std::move(table));
}

}  // namespace

void report_training(ReportDraft& draft, const json& training) {
  if (!training.is_object()) return;
  const bool pod = text_in(training, "method") == "pod", linear = text_in(training, "method") == "linear";
  ReportSection& section = draft.section("training", "Training of the small model");
  if (pod) {
    section.lead =
        "A parametric model: full simulations at a few values of the parameters give modes, and the model "
        "for any other value is made from those of its neighbours (POD).";
    report_pod(draft, section, training);
  } else if (linear) {
    section.lead =
        "The mechanism is linearised about an equilibrium, and what matters least between its inputs and "
        "outputs, or "
        "is too fast, is left out (linear).";
    ReportFacts facts;
    facts.rows.emplace_back("Order", ReportValue(report_number(number_in(training, "order"), 9)));
    facts.rows.emplace_back("Of", ReportValue(report_number(number_in(training, "source_order"), 9)));
    facts.rows.emplace_back("Why", ReportValue(text_in(training, "why")));
    section.blocks.push_back(std::move(facts));
  } else {
    section.lead =
        "The motion of the full model is broken down into modes of the whole mechanism, and the first m of "
        "them become the unknowns of a small ordinary differential equation (SLAP).";
    report_slap(section, training, "training");
  }
  // of cases that were trained otherwise
  const json& cases = part_of(draft.summary, "cases");
  if (!cases.is_object() || pod || linear) return;
  for (const auto& [name, own] : cases.items()) {
    const json& other = part_of(own, "training");
    if (!other.is_object()) continue;
    ReportSection part;
    report_slap(part, other, "training-" + report_id(name));
    draft.section("training", "")
        .blocks.push_back(ReportDetails{fmt::format("Training of case {}", name), std::move(part.blocks)});
  }
}

}  // namespace lissom

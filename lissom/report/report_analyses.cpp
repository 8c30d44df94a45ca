#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "lissom/report/report_blocks.hpp"
#include "lissom/report/report_json.hpp"

namespace lissom {

using nlohmann::json;

namespace {

constexpr size_t unfolded_modes = 20;   // of a mechanism, unfolded
constexpr size_t unfolded_figures = 8;  // of a sweep, unfolded
constexpr size_t unfolded_pairs = 6;    // of a response, unfolded
constexpr double small_share = 0.01;    // of kinetic energy
constexpr double round_off = 1e-9;      // SI units

// The study itself and its cases, each with the folder of its files.
struct AnalysedCase {
  std::string name;  // of the case; empty: the study itself
  const json* summary;
  std::filesystem::path folder;
  std::string shown() const { return name.empty() ? "the study itself" : name; }
};

std::vector<AnalysedCase> parts_of(const ReportDraft& draft, const json& summary) {
  std::vector<AnalysedCase> parts = {{"", &summary, draft.folder}};
  if (const json& cases = part_of(summary, "cases"); cases.is_object())
    for (const auto& [name, variant] : cases.items()) parts.push_back({name, &variant, draft.folder / name});
  return parts;
}

bool has_cases(const std::vector<AnalysedCase>& parts) {
  return parts.size() > 1;
}

// --- statics ---

void report_statics(ReportDraft& draft, const std::vector<AnalysedCase>& parts) {
  ReportTable table{
      unique_id(draft, "equilibria"),
      "Static equilibria",
      {"run", "time [s]", "iterations", "residual [N]", "forces [N]", "largest displacement [m]", "stability",
       "lowest eigenvalue [1/s2]", "found by following the forces", "free to move"},
      {}};
  ReportTable steps{unique_id(draft, "static steps"),
                    "Equilibria one after another, as the loads change",
                    {"run", "steps", "samples", "iterations in all", "iterations for each step", "until [s]"},
                    {}};
  for (const AnalysedCase& part : parts) {
    const json& simulation = part_of(*part.summary, "simulation");
    const json& at = part_of(simulation, "equilibrium");
    const bool is_static = text_in(simulation, "integrator") == "static";
    if (at.is_object()) {
      const json& stable = part_of(at, "stable");
      const std::vector<std::string> free = texts_in(at, "free");
      const std::string stability = !stable.is_boolean()  ? ""
                                    : !stable.get<bool>() ? "unstable: " + text_in(at, "unstable")
                                    : free.empty()        ? "stable"
                                                          : "free in places";
      table.rows.push_back(
          {part.shown(), number_cell(number_in(at, "t"), 6), count_cell(number_in(at, "iterations")),
           number_cell(number_in(at, "residual"), 2), number_cell(number_in(at, "force"), 4),
           number_cell(number_in(at, "moved"), 5), stability,
           number_cell(number_in(at, "lowest_eigenvalue"), 4), flag_in(at, "followed_forces") ? "yes" : "",
           fmt::format("{}", fmt::join(free, ", "))});
      if (stable.is_boolean() && !stable.get<bool>())
        draft.warn(fmt::format("The static equilibrium of {} is unstable{}", part.shown(),
                               text_in(at, "unstable").empty() ? "" : ": " + text_in(at, "unstable")));
    }
    const double count = number_in(simulation, "steps");
    if (is_static && count > 0) {
      const double iterations = number_in(simulation, "newton_iterations");
      steps.rows.push_back({part.shown(), count_cell(count), count_cell(number_in(simulation, "samples")),
                            count_cell(iterations), number_cell(iterations / count, 3),
                            number_cell(number_in(simulation, "end"), 6)});
    }
  }
  if (table.rows.empty() && steps.rows.empty()) return;
  ReportSection& section = draft.section("statics", "Static equilibrium");
  if (section.lead.empty())
    section.lead =
        "Where the mechanism comes to rest under its loads. The residual is the force that is left "
        "unbalanced, to be seen beside the forces that act; the displacement is how far a point moved from "
        "where the study put it. Stable: pushed a little, it comes back.";
  for (ReportTable* each : {&table, &steps}) {
    drop_empty_columns(*each);
    if (!each->rows.empty()) section.blocks.emplace_back(std::move(*each));
  }
  // of `lissom static`
  for (const AnalysedCase& part : parts) {
    const json& simulation = part_of(*part.summary, "simulation");
    ReportTable sensors{
        unique_id(draft, "static sensors"), "Sensors at rest", {"sensor", "value (SI units)"}, {}};
    if (const json& values = part_of(simulation, "sensor_values"); values.is_object())
      for (const auto& [name, value] : values.items())
        sensors.rows.push_back({name, number_cell(number_of(value), 6)});
    if (!sensors.rows.empty()) section.blocks.emplace_back(std::move(sensors));
    ReportTable reactions{unique_id(draft, "reactions"),
                          "Reactions on the second body of each joint",
                          {"joint", "force x [N]", "y [N]", "z [N]", "torque x [N m]", "y [N m]", "z [N m]"},
                          {}};
    if (const json& joints = part_of(simulation, "reactions"); joints.is_object())
      for (const auto& [name, reaction] : joints.items()) {
        std::vector<ReportValue> row = {name};
        for (const char* what : {"force", "torque"}) {
          std::vector<double> values = numbers_in(reaction, what);
          values.resize(3, NAN);
          for (const double value : values) row.push_back(number_cell(value, 5));
        }
        reactions.rows.push_back(std::move(row));
      }
    if (!reactions.rows.empty()) section.blocks.emplace_back(std::move(reactions));
  }
}

// --- linearisation ---

// "payload 86 %, motor 8 %", the largest first
std::string shares(const json& bodies) {
  std::vector<std::pair<double, std::string>> list;
  if (bodies.is_object())
    for (const auto& [body, share] : bodies.items())
      if (number_of(share) > small_share) list.emplace_back(number_of(share), body);
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> texts;
  for (const auto& [share, body] : list) texts.push_back(fmt::format("{} {:.0f} %", body, 100 * share));
  return fmt::format("{}", fmt::join(texts, ", "));
}

ReportTable modes_table(const std::string& id, const std::string& caption, const json& modes, size_t from,
                        size_t to) {
  ReportTable table{id,
                    caption,
                    {"mode", "frequency [Hz]", "damping ratio", "real part [1/s]", "imaginary part [rad/s]",
                     "what moves (kinetic energy)"},
                    {}};
  for (size_t i = from; i < std::min(to, modes.size()); ++i) {
    std::vector<double> value = numbers_in(modes[i], "eigenvalue");
    value.resize(2, NAN);
    table.rows.push_back({count_cell(static_cast<double>(i + 1)),
                          number_cell(number_in(modes[i], "frequency_hz"), 6),
                          number_cell(number_in(modes[i], "damping_ratio"), 4), number_cell(value[0], 4),
                          number_cell(value[1], 6), shares(part_of(modes[i], "bodies"))});
  }
  drop_empty_columns(table);
  return table;
}

std::vector<ReportBlock> linearisation_of(ReportDraft& draft, const AnalysedCase& part, const json& j,
                                          bool cases) {
  std::vector<ReportBlock> blocks;
  const json& modes = part_of(j, "modes");
  std::string text = cases ? part.shown() + ": linearised" : "Linearised";
  if (const double t = number_in(j, "t"); std::isfinite(t)) text += fmt::format(" at {:.6g} s", t);
  const auto size = [&](const char* key) {
    const json& list = part_of(j, key);
    return list.is_array() ? list.size() : 0;
  };
  if (size("states") > 0)
    text += fmt::format(", {} states, {} input{}, {} output{}", size("states"), size("inputs"),
                        size("inputs") == 1 ? "" : "s", size("outputs"), size("outputs") == 1 ? "" : "s");
  text += ".";
  if (const json& stable = part_of(j, "stable"); stable.is_boolean()) {
    if (stable.get<bool>()) {
      text += " Stable: no vibration grows.";
    } else {
      const double growth = number_in(j, "growth");
      text += fmt::format(" Unstable: a motion grows as exp({:.4g} t), t in s.", growth);
      draft.warn(
          fmt::format("Linearised {}: unstable, a motion grows as exp({:.4g} t)", part.shown(), growth));
    }
  }
  if (flag_in(j, "moving")) text += " It moves at that time: the matrices are those of the moment.";
  blocks.emplace_back(ReportText{text});
  for (ReportView& view : report_views(
           draft, part_of(j, "files"), part.folder,
           part.name.empty() ? "Modes of the mechanism" : "Modes of the mechanism, " + part.name,
           "Pick a mode and play it. Modes have no amplitude of their own: the size shown is chosen."))
    blocks.emplace_back(std::move(view));
  if (!modes.is_array() || modes.empty()) return blocks;
  const std::string name = "system modes" + (part.name.empty() ? "" : " " + part.name);
  const bool more = modes.size() > unfolded_modes;
  blocks.emplace_back(
      modes_table(unique_id(draft, name),
                  more ? fmt::format("The {} lowest of {} modes", unfolded_modes, modes.size()) : "Modes",
                  modes, 0, unfolded_modes));
  if (more)
    blocks.emplace_back(ReportDetails{
        fmt::format("The other {} modes", modes.size() - unfolded_modes),
        {modes_table(unique_id(draft, name + " more"), "", modes, unfolded_modes, modes.size())}});
  return blocks;
}

// Eigenvalues in the complex plane and damping over frequency, all runs in one figure.
void add_eigenvalues(const ReportDraft& draft, const std::vector<AnalysedCase>& parts,
                     std::vector<ReportBlock>& blocks) {
  ReportFigure plane, damping;
  plane.id = unique_id(draft, "eigenvalues");
  plane.title = "Eigenvalues";
  plane.caption = fmt::format(
      "Of the {} lowest modes. To the left of 0 vibrations die away, the faster the further; to the right "
      "they grow. Upwards: angular frequency.",
      unfolded_modes);
  plane.x = {"real part [1/s]", false};
  plane.y = {"imaginary part [rad/s]", false};
  damping.id = unique_id(draft, "damping over frequency");
  damping.title = "Damping of the modes";
  damping.caption =
      "Each point is a mode that oscillates. Ratio 1 is critical; 0.01 loses 6 % of its amplitude in a "
      "period.";
  damping.x = {"frequency [Hz]", true};
  damping.y = {"damping ratio", true};
  for (const AnalysedCase& part : parts) {
    const json& modes = part_of(part_of(*part.summary, "linearisation"), "modes");
    if (!modes.is_array()) continue;
    ReportSeries in_plane{part.shown(), {}, {}, ReportSeries::Style::Points}, over = in_plane;
    for (size_t i = 0; i < modes.size(); ++i) {
      const std::vector<double> value = numbers_in(modes[i], "eigenvalue");
      if (value.size() == 2 && i < unfolded_modes) {
        in_plane.x.push_back(value[0]);
        in_plane.y.push_back(value[1]);
      }
      const double f = number_in(modes[i], "frequency_hz"), ratio = number_in(modes[i], "damping_ratio");
      if (f > 0 && ratio > 0 && ratio < 1) {
        over.x.push_back(f);
        over.y.push_back(ratio);
      }
    }
    if (any_finite(in_plane.x)) plane.series.push_back(std::move(in_plane));
    if (any_finite(over.x)) damping.series.push_back(std::move(over));
  }
  if (!plane.series.empty()) {
    plane.marks.push_back({true, 0, "stable | growing"});
    blocks.emplace_back(std::move(plane));
  }
  if (!damping.series.empty()) blocks.emplace_back(std::move(damping));
}

void report_linearisations(ReportDraft& draft, const std::vector<AnalysedCase>& parts) {
  std::vector<const AnalysedCase*> with;
  for (const AnalysedCase& part : parts)
    if (part_of(*part.summary, "linearisation").is_object()) with.push_back(&part);
  if (with.empty()) return;
  ReportSection& section = draft.section("linearisation", "Vibrations of the mechanism");
  if (section.lead.empty())
    section.lead =
        "The whole mechanism, linearised about a state: how it vibrates with small amplitudes, at which "
        "frequencies, and how fast that dies away. Bodies are named by their share of the kinetic energy of "
        "a mode.";
  for (const AnalysedCase* part : with) {
    append(section.blocks,
           linearisation_of(draft, *part, part_of(*part->summary, "linearisation"), has_cases(parts)),
           part != with.front(), part->shown() + ": modes");
    if (part == with.front()) add_eigenvalues(draft, parts, section.blocks);
  }
}

// --- frequency response ---

struct ResponseCurve {
  std::string run;
  std::vector<double> f, magnitude, phase;
};

void report_responses(ReportDraft& draft, const std::vector<AnalysedCase>& parts) {
  using Key = std::array<std::string, 3>;  // output, input, unit
  std::vector<Key> order;
  std::map<Key, std::vector<ResponseCurve>> curves;
  ReportTable peaks{unique_id(draft, "response peaks"),
                    "Peaks, the largest first",
                    {"run", "input", "output", "frequency [Hz]", "magnitude", "unit", "phase [deg]"},
                    {}};
  for (const AnalysedCase& part : parts) {
    const json& response = part_of(*part.summary, "response");
    const json& pairs = part_of(response, "pairs");
    if (!pairs.is_array() || pairs.empty()) continue;
    const CsvText csv = read_report_csv(draft, part.folder / "response.csv", "f");
    const std::vector<double> f = csv.numbers(csv.find("f"));
    for (const json& pair : pairs) {
      const Key key = {text_in(pair, "output"), text_in(pair, "input"), text_in(pair, "unit")};
      if (const json& list = part_of(pair, "peaks"); list.is_array())
        for (const json& peak : list)
          peaks.rows.push_back({part.shown(), key[1], key[0], number_cell(number_in(peak, "frequency_hz"), 6),
                                number_cell(number_in(peak, "magnitude"), 5), key[2],
                                number_cell(number_in(peak, "phase_deg"), 4)});
      const std::string name = fmt::format("{} by {}", key[0], key[1]);
      const int magnitude = csv.find(name + " magnitude"), phase = csv.find(name + " phase");
      if (magnitude < 0 || f.empty()) continue;
      if (!curves.contains(key)) order.push_back(key);
      curves[key].push_back({part.shown(), f, csv.numbers(magnitude), csv.numbers(phase)});
    }
  }
  if (peaks.rows.empty() && order.empty()) return;
  ReportSection& section = draft.section("response", "Frequency response");
  if (section.lead.empty())
    section.lead =
        "What a sensor does under a load that oscillates with one frequency, once transients are gone: the "
        "magnitude is its amplitude for a load of amplitude 1, the phase how far it runs ahead (positive) or "
        "behind. Peaks are resonances.";
  std::vector<ReportBlock> folded;
  for (size_t i = 0; i < order.size(); ++i) {
    const Key& key = order[i];
    ReportFigure size, phase;
    size.title = fmt::format("{} by {}", key[0], key[1]);
    size.id = unique_id(draft, "response " + size.title);
    size.x = phase.x = {"frequency [Hz]", true};
    size.y = {fmt::format("magnitude{}", key[2].empty() ? "" : " [" + key[2] + "]"), true};
    phase.title = size.title + ", phase";
    phase.id = unique_id(draft, "response " + phase.title);
    phase.y = {"phase [deg]", false};
    for (const ResponseCurve& curve : curves[key]) {
      // what does not move at all has no place on a logarithm, and no phase
      if (!any_finite(positive(curve.magnitude))) continue;
      size.series.push_back(
          {curve.run, positive(curve.f), positive(curve.magnitude), ReportSeries::Style::Line});
      if (any_finite(curve.phase))
        phase.series.push_back({curve.run, positive(curve.f), curve.phase, ReportSeries::Style::Line});
    }
    std::vector<ReportBlock>& to = i < unfolded_pairs ? section.blocks : folded;
    if (!size.series.empty()) to.emplace_back(std::move(size));
    if (!phase.series.empty()) to.emplace_back(std::move(phase));
  }
  const size_t others = order.size() > unfolded_pairs ? order.size() - unfolded_pairs : 0;
  append(section.blocks, std::move(folded), true, fmt::format("The other {} pairs", others));
  if (!has_cases(parts))
    for (auto& row : peaks.rows) row[0] = "";
  // the run is the first column, which is never dropped
  if (!has_cases(parts)) {
    peaks.columns.erase(peaks.columns.begin());
    for (auto& row : peaks.rows) row.erase(row.begin());
  }
  drop_empty_columns(peaks);
  if (!peaks.rows.empty()) section.blocks.emplace_back(std::move(peaks));
}

// --- sweep ---

// Columns of results that belong into one figure, and what to call it.
struct SweepGroup {
  std::string title, label;
  std::vector<std::pair<std::string, std::string>> columns;  // name, name in the figure
};

std::string without(const std::string& text, const std::string& ending) {
  return text.substr(0, text.size() - ending.size());
}

std::vector<SweepGroup> groups_of(const std::vector<std::string>& columns,
                                  const std::map<std::string, std::string>& units) {
  std::vector<SweepGroup> groups;
  const auto into = [&](const std::string& title, const std::string& label, const std::string& column,
                        const std::string& name) {
    auto at =
        std::find_if(groups.begin(), groups.end(), [&](const SweepGroup& g) { return g.title == title; });
    if (at == groups.end()) at = groups.insert(groups.end(), SweepGroup{title, label, {}});
    at->columns.emplace_back(column, name);
  };
  for (const std::string& column : columns) {
    bool done = false;
    for (const char* ending : {" last", " max", " min"})
      if (!done && column.ends_with(ending)) {
        const std::string stem = without(column, ending);
        const auto unit = units.find(stem);
        into(stem,
             unit == units.end() || unit->second.empty() ? stem : fmt::format("{} [{}]", stem, unit->second),
             column, std::string(ending).substr(1));
        done = true;
      }
    if (done) continue;
    if (column.starts_with("frequency ") && column.ends_with(" [Hz]"))
      into("Frequencies of the mechanism", "frequency [Hz]", column,
           "mode " + without(column.substr(10), " [Hz]"));
    else if (column.starts_with("damping "))
      into("Damping of the mechanism", "damping ratio", column, "mode " + column.substr(8));
    else if (column.ends_with(" max von Mises [Pa]"))
      into("Largest von Mises stress", "von Mises stress [Pa]", column,
           without(column, " max von Mises [Pa]"));
    else
      into(column, column, column, column);
  }
  return groups;
}

void report_sweep(ReportDraft& draft, const json& summary) {
  const json& sweep = part_of(summary, "sweep");
  const json& points = part_of(sweep, "points");
  if (!points.is_array() || points.empty()) return;
  std::vector<std::string> keys = texts_in(sweep, "parameters"), columns = texts_in(sweep, "columns");
  // older or damaged: what the points have
  if (keys.empty())
    if (const json& first = part_of(points[0], "parameters"); first.is_object())
      for (const auto& [key, value] : first.items()) keys.push_back(key);
  if (columns.empty())
    for (const json& point : points)
      if (const json& values = part_of(point, "values"); values.is_object())
        for (const auto& [name, value] : values.items())
          if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
  std::map<std::string, std::string> units;
  const std::vector<std::string> outputs = texts_in(part_of(summary, "linearisation"), "outputs"),
                                 of_outputs = texts_in(part_of(summary, "linearisation"), "output_units");
  for (size_t i = 0; i < std::min(outputs.size(), of_outputs.size()); ++i) units[outputs[i]] = of_outputs[i];

  ReportSection& section = draft.section("sweep", "Sweep of parameters");
  size_t failed = 0;
  for (const json& point : points) failed += part_of(point, "error").is_string() ? 1 : 0;
  if (section.lead.empty())
    section.lead = fmt::format(
        "The same study for {} values of {}: how the results depend on {}. Last, max and min are the value "
        "of a sensor at the end of a run and its extremes.",
        points.size(), fmt::join(keys, ", "), keys.size() > 1 ? "them" : "it");
  if (failed > 0)
    section.blocks.emplace_back(
        ReportText{fmt::format("{} of {} points failed; the table says why.", failed, points.size())});

  // the first parameter that is a number everywhere is the axis; runs that agree in the others are a curve
  int axis = -1;
  for (size_t k = 0; k < keys.size() && axis < 0; ++k)
    if (std::all_of(points.begin(), points.end(), [&](const json& point) {
          return part_of(part_of(point, "parameters"), keys[k]).is_number();
        }))
      axis = static_cast<int>(k);
  std::vector<std::string> curves;  // labels
  std::map<std::string, std::vector<size_t>> members;
  for (size_t i = 0; i < points.size(); ++i) {
    std::vector<std::string> others;
    for (size_t k = 0; axis >= 0 && k < keys.size(); ++k)
      if (static_cast<int>(k) != axis) {
        const json& value = part_of(part_of(points[i], "parameters"), keys[k]);
        others.push_back(fmt::format("{} = {}", keys[k], value.is_string() ? text_of(value) : value.dump()));
      }
    const std::string label = fmt::format("{}", fmt::join(others, ", "));
    if (!members.contains(label)) curves.push_back(label);
    members[label].push_back(i);
  }
  const auto x_of = [&](size_t i) {
    return axis < 0 ? static_cast<double>(i + 1) : number_in(part_of(points[i], "parameters"), keys[axis]);
  };
  for (auto& [label, list] : members)
    std::stable_sort(list.begin(), list.end(), [&](size_t a, size_t b) { return x_of(a) < x_of(b); });

  std::vector<ReportBlock> figures, rest;
  for (const SweepGroup& group : groups_of(columns, units)) {
    ReportFigure figure;
    figure.id = unique_id(draft, "sweep " + group.title);
    figure.title = group.title;
    figure.x = {axis < 0 ? "point of the sweep" : keys[axis], false};
    figure.y = {group.label, false};
    for (const auto& [column, name] : group.columns)
      for (const std::string& label : curves) {
        ReportSeries series{label.empty()              ? name
                            : group.columns.size() > 1 ? name + ", " + label
                                                       : label,
                            {},
                            {},
                            ReportSeries::Style::LinePoints};
        for (const size_t i : members[label]) {
          series.x.push_back(x_of(i));
          series.y.push_back(number_in(part_of(points[i], "values"), column));
        }
        if (any_finite(series.y)) figure.series.push_back(std::move(series));
      }
    if (figure.series.empty()) continue;
    // what is zero but for round-off, and what is too much at once, is folded
    const bool quiet =
        std::all_of(figure.series.begin(), figure.series.end(), [](const ReportSeries& series) {
          return std::none_of(series.y.begin(), series.y.end(),
                              [](double y) { return std::abs(y) > round_off; });
        });
    (quiet || figures.size() >= unfolded_figures ? rest : figures).emplace_back(std::move(figure));
  }
  const size_t others = rest.size();
  append(section.blocks, std::move(figures), false, "");
  append(section.blocks, std::move(rest), true,
         fmt::format("{} more figure{}", others, others == 1 ? "" : "s"));

  ReportTable table{unique_id(draft, "sweep"), "All results of the sweep", {"point"}, {}};
  table.columns.insert(table.columns.end(), keys.begin(), keys.end());
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  table.columns.emplace_back("problem");
  for (size_t i = 0; i < points.size(); ++i) {
    std::vector<ReportValue> row = {count_cell(static_cast<double>(i + 1))};
    for (const std::string& key : keys) {
      const json& value = part_of(part_of(points[i], "parameters"), key);
      row.push_back(value.is_number()   ? report_number(value.get<double>(), 6)
                    : value.is_string() ? ReportValue(text_of(value))
                    : value.is_null()   ? ReportValue("")
                                        : ReportValue(value.dump()));
    }
    for (const std::string& column : columns)
      row.push_back(number_cell(number_in(part_of(points[i], "values"), column), 6));
    row.emplace_back(text_in(points[i], "error"));
    table.rows.push_back(std::move(row));
  }
  drop_empty_columns(table);
  append(section.blocks, {std::move(table)}, columns.size() > 8, "All results of the sweep as a table");
}

}  // namespace

void report_analyses(ReportDraft& draft, const json& summary) {
  const std::vector<AnalysedCase> parts = parts_of(draft, summary);
  report_statics(draft, parts);
  report_linearisations(draft, parts);
  report_responses(draft, parts);
  report_sweep(draft, summary);
}

}  // namespace lissom

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include "lissom/report/report_body_parts.hpp"
#include "lissom/report/report_json.hpp"

namespace lissom {

using nlohmann::json;

namespace {

// from so many bodies on each has its own fold
constexpr size_t few_bodies = 2;

// Kinds of error as summaries and tables name them, and as people read them.
struct ErrorKind {
  const char* key;
  const char* name;
  ReportSeries::Style style;
};
constexpr ErrorKind error_kinds[] = {
    {"bound", "proven bound", ReportSeries::Style::LinePoints},
    {"zeta_2", "estimate (zeta_2)", ReportSeries::Style::Dashed},
    {"paper_estimate", "published estimate, upper (Eqs. 42-43)", ReportSeries::Style::Dashed},
    {"lower_estimate", "published estimate, lower (Eq. 45)", ReportSeries::Style::Dashed},
    {"exact", "exact error", ReportSeries::Style::Points}};

std::string kind_text(const std::string& kind) {
  static const std::map<std::string, std::string> names = {
      {"fixed-interface", "vibration modes with the interfaces held"},
      {"residual", "residual vectors: what the modes left out would do statically"},
      {"attachment", "static answers to loads"},
      {"constraint", "motions of the interfaces"},
      {"free-interface", "vibration modes of the free body"}};
  const auto at = names.find(kind);
  return at == names.end() ? kind : at->second;
}

std::string kinds_text(const json& reduce) {
  std::vector<std::string> kinds;
  if (const json& list = part_of(reduce, "kinds"); list.is_object())
    for (const auto& [kind, count] : list.items())
      kinds.push_back(fmt::format("{} {}", text_of(count), kind));
  return fmt::format("{}", fmt::join(kinds, ", "));
}

enum class Verdict { Certified, Estimated, NotReached, Fixed, Unknown };

Verdict verdict_of(const json& reduce) {
  if (text_in(reduce, "method") == "fixed") return Verdict::Fixed;
  if (flag_in(reduce, "certified")) return Verdict::Certified;
  if (!part_of(reduce, "reached").is_boolean()) return Verdict::Unknown;
  return flag_in(reduce, "reached") ? Verdict::Estimated : Verdict::NotReached;
}

std::string verdict_word(const json& reduce) {
  switch (verdict_of(reduce)) {
    case Verdict::Certified:
      return "certified";
    case Verdict::Estimated:
      return "estimated";
    case Verdict::NotReached:
      return "NOT reached";
    case Verdict::Fixed:
      return "none asked for";
    default:
      return "";
  }
}

// What was asked for, what came of it, and what that means.
std::string verdict_text(const json& reduce) {
  const json& largest = part_of(reduce, "largest");
  const double tolerance = number_in(reduce, "tolerance"), bound = number_in(largest, "bound");
  const double range = number_in(reduce, "range");
  const std::string modes =
      std::isfinite(range) ? fmt::format("the first {:.0f} flexible modes", range) : "the modes in range";
  const std::string asked =
      fmt::format("Asked for: eigenvalues of {} within {}", modes, percent_text(tolerance));
  std::string text;
  switch (verdict_of(reduce)) {
    case Verdict::Certified:
      text = asked +
             ". Certified: a bound that holds without exception, computed from the whole finite-element "
             "body, proves that no eigenvalue is further off.";
      break;
    case Verdict::Estimated:
      text = asked + ". Estimated: an estimate that is usually close says so, but there is no proof.";
      break;
    case Verdict::NotReached:
      text = asked +
             ". NOT reached, for the reason that the warnings give: do not rely on the modes with larger "
             "errors below.";
      break;
    case Verdict::Fixed:
      text =
          "The number of modes was given, so that no accuracy was asked for; the errors below say what came "
          "of it.";
      break;
    default:
      text = "";
      break;
  }
  if (std::isfinite(bound)) text += fmt::format(" Proven: largest error below {}.", percent_text(bound));
  if (const double zeta = number_in(largest, "zeta_2"); std::isfinite(zeta))
    text += fmt::format(" Estimated: {}.", percent_text(zeta));
  if (const double exact = number_in(largest, "exact"); std::isfinite(exact))
    text += fmt::format(" Exact, from the eigenvalues of the whole body: {}.", percent_text(exact));
  return text + " Frequencies are off by half as much as eigenvalues, and never too low.";
}

// Errors of the modes as figure and table.
void add_errors(const ReportDraft& draft, const ReportedBody& body, const json& reduce,
                std::vector<ReportBlock>& blocks) {
  const json& errors = part_of(reduce, "errors");
  if (!errors.is_array() || errors.empty()) return;
  ReportFigure figure;
  figure.id = unique_id(draft, body.title + " errors");
  figure.title = "Error of each flexible mode of " + body.title;
  figure.caption =
      "Relative error of the eigenvalue of each mode of the reduced body; 0.001 is 0.1 %. The exact error is "
      "only known where the eigenvalues of the whole body were computed as well. Errors below 1e-16, the "
      "rounding of numbers, are not drawn.";
  figure.x = {"flexible mode", false};
  figure.y = {"relative error of the eigenvalue", true};
  ReportTable table{unique_id(draft, body.title + " error table"),
                    "Relative errors of the eigenvalues of " + body.title,
                    {"flexible mode", "frequency [Hz]"},
                    {}};
  std::vector<double> mode;
  for (size_t i = 0; i < errors.size(); ++i) {
    const double number = number_in(errors[i], "mode");
    mode.push_back(std::isfinite(number) ? number : static_cast<double>(i + 1));
    table.rows.push_back({count_cell(mode.back()), number_cell(number_in(errors[i], "frequency_hz"), 6)});
  }
  for (const ErrorKind& kind : error_kinds) {
    std::vector<double> values;
    for (const json& error : errors) values.push_back(number_in(error, kind.key));
    table.columns.emplace_back(kind.name);
    for (size_t i = 0; i < values.size(); ++i) table.rows[i].push_back(number_cell(values[i], 3));
    values = positive(std::move(values), rounding_error);
    if (any_finite(values)) figure.series.push_back({kind.name, mode, std::move(values), kind.style});
  }
  if (const double tolerance = number_in(reduce, "tolerance"); tolerance > 0)
    figure.marks.push_back({false, tolerance, "asked for"});
  drop_empty_columns(table);
  if (!figure.series.empty()) blocks.emplace_back(std::move(figure));
  blocks.emplace_back(ReportDetails{fmt::format("Errors of {} as a table", body.title), {std::move(table)}});
}

// Coordinates that ways of choosing them need for a tolerance.
void add_comparison(const ReportDraft& draft, const ReportedBody& body, const json& reduce,
                    std::vector<ReportBlock>& blocks) {
  const json& comparison = part_of(reduce, "comparison");
  const std::vector<double> tolerances = numbers_in(comparison, "tolerances");
  const json& methods = part_of(comparison, "methods");
  if (tolerances.empty() || !methods.is_array() || methods.empty()) return;
  ReportFigure figure;
  figure.id = unique_id(draft, body.title + " coordinates for a tolerance");
  figure.title = "Interior coordinates of " + body.title + " for a given accuracy";
  figure.caption =
      "How many coordinates beside those of the interfaces each way of choosing them needs: lower is better. "
      "Where a line ends, the tolerance was not reached with the modes allowed.";
  figure.x = {"tolerance on the eigenvalues", true};
  figure.y = {"interior coordinates", false};
  ReportTable table{unique_id(draft, body.title + " comparison"),
                    "Interior coordinates for a tolerance (c: certified, the bound proves it), and the exact "
                    "error then. Paper: the rule of Han, Kim, Choi and Choi (2020); B: residual vectors; "
                    "exact error: chosen by the error that only the eigenvalues of the whole body tell",
                    {"way of choosing"},
                    {}};
  for (const double tolerance : tolerances) {
    table.columns.push_back(fmt::format("for {}", percent_text(tolerance)));
    table.columns.push_back(fmt::format("exact error at {}", percent_text(tolerance)));
  }
  for (const json& method : methods) {
    const std::vector<double> counts = numbers_in(method, "coordinates"), exact = numbers_in(method, "exact");
    const json& certified = part_of(method, "certified");
    std::vector<ReportValue> row = {text_in(method, "name")};
    std::vector<double> y(tolerances.size(), NAN);
    for (size_t i = 0; i < tolerances.size(); ++i) {
      if (i < counts.size()) y[i] = counts[i];
      const bool proven = certified.is_array() && i < certified.size() && certified[i].is_boolean() &&
                          certified[i].get<bool>();
      row.push_back(std::isfinite(y[i]) ? ReportValue(fmt::format("{:.0f}{}", y[i], proven ? " c" : ""), y[i])
                                        : ReportValue("not reached"));
      row.push_back(number_cell(i < exact.size() ? exact[i] : NAN, 3));
    }
    table.rows.push_back(std::move(row));
    if (any_finite(y))
      figure.series.push_back(
          {text_in(method, "name"), tolerances, std::move(y), ReportSeries::Style::LinePoints});
  }
  if (const double tolerance = number_in(reduce, "tolerance"); tolerance > 0)
    figure.marks.push_back({true, tolerance, "asked for"});
  drop_empty_columns(table);
  if (!figure.series.empty()) blocks.emplace_back(std::move(figure));
  blocks.emplace_back(std::move(table));
}

// Largest error over the modes against the number of modes kept.
void add_reduction_sweep(ReportDraft& draft, const ReportedBody& body, const json& reduce,
                         std::vector<ReportBlock>& blocks) {
  const std::filesystem::path file = file_of(body, "_sweep.csv");
  if (file.empty()) return;
  const CsvText table = read_report_csv(draft, file, "modes");
  const int modes = table.find("modes");
  if (modes < 0) return;
  const std::vector<double> kept = table.numbers(modes);
  ReportFigure figure;
  figure.id = unique_id(draft, body.title + " convergence");
  figure.title = "Largest error of " + body.title + " against the modes kept";
  figure.caption =
      "What the lowest vibration modes alone reach, without residual vectors: the largest relative error "
      "over all modes in range. A bound is drawn where it exists for all of them.";
  figure.x = {"fixed-interface modes kept", false};
  figure.y = {"largest relative error of an eigenvalue", true};
  for (const ErrorKind& kind : error_kinds) {
    const std::vector<double> values = table.numbers(table.find(kind.key));
    std::map<double, double> largest;  // by modes kept; a value that is missing stays missing
    for (size_t i = 0; i < kept.size(); ++i) {
      if (!std::isfinite(kept[i])) continue;
      const auto [at, is_new] = largest.try_emplace(kept[i], values[i]);
      if (is_new || std::isnan(at->second)) continue;
      at->second = std::isnan(values[i]) ? NAN : std::max(at->second, values[i]);
    }
    ReportSeries series{kind.name, {}, {}, ReportSeries::Style::Line};
    for (const auto& [count, value] : largest) {
      series.x.push_back(count);
      series.y.push_back(value);
    }
    series.y = positive(std::move(series.y), rounding_error);
    if (any_finite(series.y)) figure.series.push_back(std::move(series));
  }
  if (const double tolerance = number_in(reduce, "tolerance"); tolerance > 0)
    figure.marks.push_back({false, tolerance, "asked for"});
  if (!figure.series.empty()) blocks.emplace_back(std::move(figure));
}

// The reduced coordinates one by one.
void add_coordinates(ReportDraft& draft, const ReportedBody& body, std::vector<ReportBlock>& blocks) {
  CsvText csv = body.coordinates;
  if (csv.rows.empty()) {
    const std::filesystem::path file = file_of(body, "_coordinates.csv");
    if (file.empty()) return;
    csv = read_report_csv(draft, file, "coordinate");
  }
  if (csv.rows.empty()) return;
  struct Column {
    const char *key, *title;
    int digits;  // 0: text
  };
  const Column columns[] = {{"coordinate", "coordinate", 9},
                            {"kind", "kind", 0},
                            {"interface", "interface", 0},
                            {"node", "node", 0},
                            {"direction", "direction", 0},
                            {"frequency_hz", "frequency [Hz]", 6},
                            {"effective_mass_x", "effective mass x [kg]", 3},
                            {"effective_mass_y", "y [kg]", 3},
                            {"effective_mass_z", "z [kg]", 3},
                            {"effective_inertia_x", "effective inertia x [kg m2]", 3},
                            {"effective_inertia_y", "y [kg m2]", 3},
                            {"effective_inertia_z", "z [kg m2]", 3}};
  ReportTable table{unique_id(draft, body.title + " coordinates"),
                    "Coordinates of the reduced " + body.title +
                        "; effective mass: what moves with the body when all interfaces move together",
                    {},
                    {}};
  table.rows.resize(csv.rows.size());
  double mass[3] = {0, 0, 0};
  for (const Column& column : columns) {
    const int k = csv.find(column.key);
    if (k < 0) continue;
    table.columns.emplace_back(column.title);
    const std::vector<double> numbers = csv.numbers(k);
    for (size_t i = 0; i < csv.rows.size(); ++i) {
      table.rows[i].push_back(column.digits > 0 ? number_cell(numbers[i], column.digits)
                                                : ReportValue(csv.rows[i][k]));
      const std::string key = column.key;
      if (key.starts_with("effective_mass_") && std::isfinite(numbers[i]))
        mass[key.back() - 'x'] += numbers[i];
    }
  }
  drop_empty_columns(table);
  std::vector<ReportBlock> folded;
  if (const double whole = number_in(*body.summary, "mass"); whole > 0 && mass[0] + mass[1] + mass[2] > 0)
    folded.emplace_back(ReportText{fmt::format(
        "The interior coordinates carry {} of the mass along x, {} along y and {} along z; the rest moves "
        "with the interfaces.",
        percent_text(mass[0] / whole), percent_text(mass[1] / whole), percent_text(mass[2] / whole))});
  const size_t count = table.rows.size();
  folded.emplace_back(std::move(table));
  blocks.emplace_back(
      ReportDetails{fmt::format("The {} coordinates of {}", count, body.title), std::move(folded)});
}

std::vector<ReportBlock> reduction_of(ReportDraft& draft, const ReportedBody& body, const json& reduce) {
  std::vector<ReportBlock> blocks;
  const double from = number_in(reduce, "degrees_of_freedom"), to = number_in(reduce, "coordinates");
  std::string text = body.title + ": ";
  if (std::isfinite(from) && std::isfinite(to))
    text += fmt::format("{:.0f} degrees of freedom became {:.0f} coordinates. ", from, to);
  else if (std::isfinite(to))
    text += fmt::format("{:.0f} coordinates. ", to);
  blocks.emplace_back(ReportText{text + verdict_text(reduce)});

  ReportFacts facts;
  if (const json& kinds = part_of(reduce, "kinds"); kinds.is_object())
    for (const auto& [kind, count] : kinds.items())
      if (count.is_number())
        facts.rows.emplace_back(
            fmt::format("{} coordinates", kind),
            ReportValue(fmt::format("{} ({})", text_of(count), kind_text(kind)), count.get<double>()));
  if (const std::string damping = text_in(reduce, "damping"); !damping.empty())
    facts.rows.emplace_back("damping", damping);
  if (const double fields = number_in(reduce, "gcms_fields"); std::isfinite(fields))
    facts.rows.emplace_back(
        "component-mode fields",
        ReportValue(fmt::format("{:.0f}, {:.0f} coordinates, for the formulation gcms", fields, 3 * fields),
                    fields));
  const std::vector<double> frequencies = numbers_in(reduce, "frequencies_hz");
  const double rigid_modes = number_in(reduce, "rigid_modes");
  const size_t rigid = count_of(rigid_modes, frequencies.size());
  if (rigid_modes >= 0 && rigid < frequencies.size())
    facts.rows.emplace_back("flexible modes in range",
                            fmt::format("{}, from {:.6g} to {:.6g} Hz", frequencies.size() - rigid,
                                        frequencies[rigid], frequencies.back()));
  if (const double seconds = number_in(part_of(reduce, "seconds"), "total"); std::isfinite(seconds))
    facts.rows.emplace_back("time", report_number(seconds, 3, "s"));
  if (!facts.rows.empty()) blocks.emplace_back(std::move(facts));

  for (ReportView& view : report_views(
           draft, view_files(body, true), body.folder, "Modes of the reduced " + body.title,
           "Natural modes of the reduced body, free in space. Pick a mode, play it and turn the body."))
    blocks.emplace_back(std::move(view));
  add_errors(draft, body, reduce, blocks);
  add_comparison(draft, body, reduce, blocks);
  add_reduction_sweep(draft, body, reduce, blocks);
  add_coordinates(draft, body, blocks);
  ReportTable timing = timing_table(
      draft, part_of(reduce, "seconds"), body.title + " reduction time",
      "Time of the reduction; the exact eigenvalues and the comparison are only for this report");
  if (!part_of(reduce, "comparison").is_object()) timing.caption = "Time of the reduction";
  if (!timing.rows.empty())
    blocks.emplace_back(ReportDetails{"Time spent on reducing " + body.title, {std::move(timing)}});
  return blocks;
}

}  // namespace

void report_reductions(ReportDraft& draft, const std::vector<ReportedBody>& bodies) {
  std::vector<const ReportedBody*> reduced;
  for (const ReportedBody& body : bodies)
    if (part_of(*body.summary, "reduce").is_object()) reduced.push_back(&body);
  if (reduced.empty()) return;
  ReportSection& section = draft.section("reduction", "Reduction of the bodies");
  if (section.lead.empty())
    section.lead =
        "Each finite-element body was replaced by a few shapes (Craig-Bampton): its vibration modes with the "
        "interfaces held, and its answers to motions of the interfaces. To be seen here is how small the "
        "bodies became and how far their natural frequencies are from those of the whole meshes.";
  ReportTable table{unique_id(draft, "reductions"),
                    "Size and accuracy",
                    {"body", "degrees of freedom", "coordinates", "of these", "asked for", "accuracy",
                     "proven error below", "estimated error", "exact error", "modes in range", "time [s]"},
                    {}};
  for (const ReportedBody* body : reduced) {
    const json& reduce = part_of(*body->summary, "reduce");
    const json& largest = part_of(reduce, "largest");
    const double tolerance = number_in(reduce, "tolerance");
    table.rows.push_back({body->title, count_cell(number_in(reduce, "degrees_of_freedom")),
                          count_cell(number_in(reduce, "coordinates")), kinds_text(reduce),
                          tolerance > 0 ? report_number(tolerance, 3) : ReportValue(""), verdict_word(reduce),
                          number_cell(number_in(largest, "bound"), 3),
                          number_cell(number_in(largest, "zeta_2"), 3),
                          number_cell(number_in(largest, "exact"), 3), count_cell(number_in(reduce, "range")),
                          number_cell(number_in(part_of(reduce, "seconds"), "total"), 3)});
    if (verdict_of(reduce) == Verdict::NotReached)
      draft.warn(fmt::format("Body {}: the accuracy asked for, {}, was not reached by the reduction",
                             body->title, percent_text(tolerance)));
  }
  drop_empty_columns(table);
  if (reduced.size() > 1) section.blocks.emplace_back(std::move(table));
  for (const ReportedBody* body : reduced)
    append(section.blocks, reduction_of(draft, *body, part_of(*body->summary, "reduce")),
           reduced.size() > few_bodies, body->title + ": errors, coordinates, modes");
}

}  // namespace lissom

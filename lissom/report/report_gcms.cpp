#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "lissom/report/report_body_parts.hpp"
#include "lissom/report/report_json.hpp"

namespace lissom {

using nlohmann::json;

namespace {

constexpr size_t few_gcms_bodies = 2;
// pairs of fields that a table shows
constexpr size_t shown_pairs = 40;

struct Method {
  const char *key, *name;
};
constexpr Method methods[] = {{"scalar", "orthonormal fields"}, {"algorithm_1", "Algorithm 1"}};

// The bases file of the body, if it is there and whole.
std::shared_ptr<const GcmsFile> read_bases(ReportDraft& draft, const ReportedBody& body) {
  if (body.gcms) return body.gcms;
  const std::filesystem::path file = file_of(body, ".gcms.h5");
  if (file.empty()) return nullptr;
  try {
    return std::make_shared<const GcmsFile>(read_gcms_file(file));
  } catch (const Error& e) {
    draft.warn(fmt::format("The similarity of modes of {} is left out: {}", body.title, e.what()));
    return nullptr;
  }
}

// Largest |cosine| of each flexible field with another one, and the pairs that are most alike.
void add_similarity(const ReportDraft& draft, const ReportedBody& body, const GcmsFile& file,
                    const json& gcms, std::vector<ReportBlock>& blocks) {
  const Eigen::Index n = file.cosine.rows();
  const size_t rigid = file.labels.size() >= static_cast<size_t>(n) ? file.labels.size() - n : 0;
  if (n < 2 || file.cosine.cols() != n || file.labels.size() < static_cast<size_t>(n)) return;
  const auto label = [&](Eigen::Index i) { return file.labels[rigid + static_cast<size_t>(i)]; };
  std::vector<std::string> removed;
  if (const json& list = part_of(part_of(gcms, "algorithm_1"), "removed"); list.is_array())
    for (const json& entry : list) removed.push_back(text_in(entry, "column"));

  ReportFigure figure;
  figure.id = unique_id(draft, body.title + " similarity");
  figure.title = "Similarity of the fields of " + body.title;
  figure.caption =
      "For each flexible field, the largest |cosine| of the angle with another one: 1 is the same field "
      "twice, 0 nothing in common. Fields are numbered mode by mode, three for each: its displacements along "
      "x, y and z.";
  figure.x = {"flexible field", false};
  figure.y = {"largest |cosine| with another field", false};
  ReportSeries all{"fields", {}, {}, ReportSeries::Style::Points};
  ReportSeries gone{"removed by Algorithm 1", {}, {}, ReportSeries::Style::Points};
  struct Pair {
    double value;
    Eigen::Index i, k;
  };
  std::vector<Pair> pairs;
  ReportMatrix matrix;
  matrix.id = unique_id(draft, body.title + " cosines");
  matrix.title = "Which fields of " + body.title + " are alike";
  matrix.caption =
      "|cosine| of the angle between each pair of flexible fields: a strong colour off the diagonal "
      "means that two fields say nearly the same.";
  matrix.row_label = matrix.column_label = "flexible field";
  matrix.value_label = "|cosine|";
  matrix.mark = "removed by Algorithm 1";
  for (Eigen::Index i = 0; i < n; ++i) {
    double largest = 0;
    matrix.rows.push_back(label(i));
    for (Eigen::Index k = 0; k < n; ++k) matrix.values.push_back(file.cosine(i, k));
    for (Eigen::Index k = 0; k < n; ++k) {
      if (k == i) continue;
      largest = std::max(largest, file.cosine(i, k));
      if (k < i) pairs.push_back({file.cosine(i, k), i, k});
    }
    const bool out = std::find(removed.begin(), removed.end(), label(i)) != removed.end();
    if (out) matrix.marked_rows.push_back(static_cast<size_t>(i));
    ReportSeries& to = out ? gone : all;
    to.x.push_back(static_cast<double>(i + 1));
    to.y.push_back(largest);
  }
  if (!all.x.empty()) figure.series.push_back(std::move(all));
  if (!gone.x.empty()) figure.series.push_back(std::move(gone));
  if (const double threshold = number_in(part_of(gcms, "algorithm_1"), "threshold"); threshold > 0)
    figure.marks.push_back({false, threshold, "threshold of Algorithm 1"});
  blocks.emplace_back(std::move(figure));
  matrix.columns = matrix.rows;
  matrix.marked_columns = matrix.marked_rows;
  if (matrix.marked_rows.empty()) matrix.mark.clear();
  blocks.emplace_back(std::move(matrix));

  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.value > b.value; });
  if (pairs.size() > shown_pairs) pairs.resize(shown_pairs);
  ReportTable table{unique_id(draft, body.title + " similar fields"),
                    fmt::format("The {} most similar pairs of fields of {}", pairs.size(), body.title),
                    {"field", "like", "|cosine|"},
                    {}};
  for (const Pair& pair : pairs)
    table.rows.push_back({label(pair.i), label(pair.k), number_cell(pair.value, 6)});
  blocks.emplace_back(ReportDetails{"The most similar pairs of fields of " + body.title, {std::move(table)}});
}

void add_singular_values(const ReportDraft& draft, const ReportedBody& body, const json& gcms,
                         std::vector<ReportBlock>& blocks) {
  const std::vector<double> fields = positive(numbers_in(part_of(gcms, "scalar"), "singular_values"));
  if (any_finite(fields)) {
    ReportFigure figure;
    figure.id = unique_id(draft, body.title + " singular values");
    figure.title = "Singular values of the flexible fields of " + body.title;
    figure.caption =
        "How much each field, made independent of all before it, adds to the deformation energy. Fields "
        "below the truncation add next to nothing and were left out; a steep drop shows fields that were "
        "there twice.";
    figure.x = {"field", false};
    figure.y = {"singular value, of the first", true};
    figure.series.push_back(
        {"flexible fields", numbers_from(1, fields.size()), fields, ReportSeries::Style::LinePoints});
    if (const double truncation = number_in(part_of(gcms, "scalar"), "truncation"); truncation > 0)
      figure.marks.push_back({false, truncation, "truncation"});
    if (const double kept = number_in(part_of(gcms, "scalar"), "fields_kept"); std::isfinite(kept))
      figure.marks.push_back({true, kept + 0.5, fmt::format("{:.0f} kept", kept)});
    blocks.emplace_back(std::move(figure));
  }
  ReportFigure figure;
  figure.id = unique_id(draft, body.title + " singular values before");
  figure.title = "Singular values of all columns of " + body.title;
  figure.caption =
      "Of the shape functions as they are and after Algorithm 1. The first over the last is the condition "
      "number: the wider the spread, the nearer the columns are to depending on each other.";
  figure.x = {"column", false};
  figure.y = {"singular value", true};
  const auto add = [&](const char* name, const std::vector<double>& values) {
    if (any_finite(values))
      figure.series.push_back(
          {name, numbers_from(1, values.size()), values, ReportSeries::Style::LinePoints});
  };
  add("as they are", positive(numbers_in(gcms, "singular_values")));
  add("after Algorithm 1", positive(numbers_in(part_of(gcms, "algorithm_1"), "singular_values")));
  if (!figure.series.empty()) blocks.emplace_back(std::move(figure));
}

// How the modes came through: frequencies in each basis.
void add_modes(const ReportDraft& draft, const ReportedBody& body, const json& gcms,
               std::vector<ReportBlock>& blocks) {
  ReportFigure figure;
  figure.id = unique_id(draft, body.title + " modes kept");
  figure.title = "Error of the modes of " + body.title + " in the basis";
  figure.caption =
      "Relative error of the eigenvalue of each mode that the basis was made of. Removing fields that are "
      "merely similar makes modes too stiff, however good the condition number is.";
  figure.x = {"mode, in the order given", false};
  figure.y = {"relative error of the eigenvalue", true};
  ReportTable table{unique_id(draft, body.title + " mode errors"),
                    "Modes of " + body.title + " in the bases; MAC 1: the same shape",
                    {"flexible mode", "frequency [Hz]"},
                    {}};
  for (const Method& method : methods) {
    const json& modes = part_of(part_of(gcms, method.key), "modes");
    if (!modes.is_array() || modes.empty()) continue;
    if (table.rows.empty())
      for (const json& mode : modes)
        table.rows.push_back(
            {count_cell(number_in(mode, "mode")), number_cell(number_in(mode, "frequency_hz"), 6)});
    if (table.rows.size() != modes.size()) continue;
    for (const char* what : {"frequency [Hz]", "eigenvalue error", "MAC"})
      table.columns.push_back(fmt::format("{}: {}", method.name, what));
    std::vector<double> errors;
    for (size_t i = 0; i < modes.size(); ++i) {
      errors.push_back(std::abs(number_in(modes[i], "eigenvalue_error")));
      table.rows[i].push_back(number_cell(number_in(modes[i], "ritz_frequency_hz"), 6));
      table.rows[i].push_back(number_cell(number_in(modes[i], "eigenvalue_error"), 3));
      table.rows[i].push_back(number_cell(number_in(modes[i], "mac"), 5));
    }
    errors = positive(std::move(errors), rounding_error);
    if (any_finite(errors))
      figure.series.push_back(
          {method.name, numbers_from(1, errors.size()), std::move(errors), ReportSeries::Style::LinePoints});
  }
  if (!figure.series.empty()) blocks.emplace_back(std::move(figure));
  if (!table.rows.empty())
    blocks.emplace_back(ReportDetails{"Modes of " + body.title + " as a table", {std::move(table)}});
}

void add_removed(const ReportDraft& draft, const ReportedBody& body, const json& gcms,
                 std::vector<ReportBlock>& blocks) {
  const json& algorithm = part_of(gcms, "algorithm_1");
  ReportTable table{unique_id(draft, body.title + " removed"),
                    "Fields that Algorithm 1 removed, three coordinates each",
                    {"field", "why", "like", "value"},
                    {}};
  if (const json& removed = part_of(algorithm, "removed"); removed.is_array())
    for (const json& entry : removed)
      table.rows.push_back({text_in(entry, "column"), text_in(entry, "why"), text_in(entry, "like"),
                            number_cell(number_in(entry, "value"), 6)});
  if (!table.rows.empty())
    blocks.emplace_back(
        ReportDetails{fmt::format("Fields that Algorithm 1 removed: {}", table.rows.size()), {table}});
  if (const json& faint = part_of(algorithm, "faint"); faint.is_array() && !faint.empty()) {
    std::vector<std::string> names;
    for (const json& entry : faint)
      names.push_back(
          fmt::format("{} ({:.1e})", text_in(entry, "column"), number_in(entry, "relative_norm")));
    blocks.emplace_back(
        ReportText{fmt::format("Fields that are nearly zero beside the others of their mode, which Algorithm "
                               "1 scales up and so may make coordinates of round-off: {}.",
                               fmt::join(names, ", "))});
  }
}

// The cosine stage over its threshold.
void add_gcms_sweep(const ReportDraft& draft, const ReportedBody& body, const json& gcms,
                    std::vector<ReportBlock>& blocks) {
  const json& sweep = part_of(gcms, "sweep");
  if (!sweep.is_array() || sweep.empty()) return;
  const auto column = [&](const char* key) {
    std::vector<double> out;
    for (const json& point : sweep) out.push_back(number_in(point, key));
    return out;
  };
  const std::vector<double> threshold = column("threshold");
  ReportFigure figure;
  figure.id = unique_id(draft, body.title + " threshold");
  figure.title = "Removing similar fields of " + body.title + ": condition and error";
  figure.caption =
      "Fields whose |cosine| with an earlier one reaches the threshold are removed. To the left more of them "
      "go: the condition number falls, but the modes lose accuracy.";
  figure.x = {"threshold on |cosine|", false};
  figure.y = {"condition number; relative error", true};
  const auto add = [&](const char* name, const char* key, ReportSeries::Style style) {
    std::vector<double> values = positive(column(key));
    if (any_finite(values)) figure.series.push_back({name, threshold, std::move(values), style});
  };
  add("condition of the flexible columns", "flexible_condition", ReportSeries::Style::LinePoints);
  add("the same, scaled", "scaled_flexible_condition", ReportSeries::Style::Dashed);
  add("largest error of an eigenvalue", "max_eigenvalue_error", ReportSeries::Style::LinePoints);
  add("coordinates removed", "removed_columns", ReportSeries::Style::Points);
  if (const double at = number_in(part_of(gcms, "algorithm_1"), "threshold"); at > 0)
    figure.marks.push_back({true, at, "used"});
  if (!figure.series.empty()) blocks.emplace_back(std::move(figure));
  ReportTable table{unique_id(draft, body.title + " thresholds"),
                    "",
                    {"threshold", "coordinates removed", "condition of flexible columns", "scaled",
                     "of all, scaled", "largest eigenvalue error"},
                    {}};
  for (const json& point : sweep)
    table.rows.push_back({number_cell(number_in(point, "threshold"), 6),
                          count_cell(number_in(point, "removed_columns")),
                          number_cell(number_in(point, "flexible_condition"), 3),
                          number_cell(number_in(point, "scaled_flexible_condition"), 3),
                          number_cell(number_in(point, "scaled_condition"), 3),
                          number_cell(number_in(point, "max_eigenvalue_error"), 3)});
  blocks.emplace_back(ReportDetails{"Thresholds of " + body.title + " as a table", {std::move(table)}});
}

std::vector<ReportBlock> component_modes_of(ReportDraft& draft, const ReportedBody& body, const json& gcms) {
  std::vector<ReportBlock> blocks;
  const double columns = number_in(gcms, "columns");
  std::string text = body.title + ":";
  if (std::isfinite(columns))
    text += fmt::format(" {:.0f} columns ({:.0f} scalar fields)", columns, columns / 3);
  for (const Method& method : methods) {
    const json& basis = part_of(gcms, method.key);
    if (!basis.is_object()) continue;
    text += fmt::format("; {} keep {:.0f} coordinates with a largest eigenvalue error of {:.1e}", method.name,
                        number_in(basis, "coordinates"), number_in(basis, "max_eigenvalue_error"));
  }
  text += ".";
  if (flag_in(gcms, "spiders_left_out")) text += " The basis is that of the body without its spiders.";
  if (number_in(gcms, "pairs_turned") > 0)
    text += fmt::format(" {:.0f} pairs of modes with equal frequencies were turned to the angle asked for.",
                        number_in(gcms, "pairs_turned"));
  blocks.emplace_back(ReportText{text});

  ReportTable steps{unique_id(draft, body.title + " steps"),
                    "Condition numbers after each step; 1 is perfect, from about 1e6 on digits are lost",
                    {"method", "step", "columns", "all columns", "flexible columns", "in the mass norm"},
                    {}};
  bool first = true;
  for (const Method& method : methods) {
    const json& list = part_of(part_of(gcms, method.key), "steps");
    if (!list.is_array()) continue;
    for (size_t i = 0; i < list.size(); ++i) {
      // the first step is that of both
      if (i == 0 && !first) continue;
      steps.rows.push_back({i == 0 ? "" : method.name, text_in(list[i], "step"),
                            count_cell(number_in(list[i], "columns")),
                            number_cell(number_in(list[i], "condition"), 4),
                            number_cell(number_in(list[i], "flexible_condition"), 4),
                            number_cell(number_in(list[i], "mass_condition"), 4)});
      first = false;
    }
  }
  if (!steps.rows.empty()) blocks.emplace_back(std::move(steps));
  add_singular_values(draft, body, gcms, blocks);
  if (const auto file = read_bases(draft, body)) add_similarity(draft, body, *file, gcms, blocks);
  add_modes(draft, body, gcms, blocks);
  add_gcms_sweep(draft, body, gcms, blocks);
  add_removed(draft, body, gcms, blocks);
  return blocks;
}

}  // namespace

void report_component_modes(ReportDraft& draft, const std::vector<ReportedBody>& bodies) {
  std::vector<const ReportedBody*> with;
  for (const ReportedBody& body : bodies)
    if (part_of(*body.summary, "gcms").is_object()) with.push_back(&body);
  if (with.empty()) return;
  ReportSection& section = draft.section("gcms", "Generalized component modes");
  if (section.lead.empty())
    section.lead =
        "Each mode gives three scalar fields, its displacements along x, y and z, and each field three "
        "coordinates: a body that turns through any angle then has a constant mass matrix. Fields of "
        "different modes may be alike, which spoils the condition of the equations; to be seen here is how "
        "alike they are, what was left out, and what that costs in accuracy.";
  ReportTable table{
      unique_id(draft, "gcms bases"),
      "Bases of the bodies",
      {"body", "columns as they are", "condition as they are", "orthonormal fields: coordinates",
       "condition (mass norm)", "largest eigenvalue error", "Algorithm 1: coordinates",
       "Algorithm 1: condition", "Algorithm 1: largest eigenvalue error"},
      {}};
  for (const ReportedBody* body : with) {
    const json& gcms = part_of(*body->summary, "gcms");
    std::vector<ReportValue> row = {body->title, count_cell(number_in(gcms, "columns")),
                                    number_cell(number_in(part_of(gcms, "as_they_are"), "condition"), 3)};
    for (const Method& method : methods) {
      const json& basis = part_of(gcms, method.key);
      const json& steps = part_of(basis, "steps");
      const char* which = std::string(method.key) == "scalar" ? "mass_condition" : "condition";
      row.push_back(count_cell(number_in(basis, "coordinates")));
      row.push_back(
          number_cell(steps.is_array() && !steps.empty() ? number_in(steps.back(), which) : NAN, 4));
      row.push_back(number_cell(number_in(basis, "max_eigenvalue_error"), 3));
    }
    table.rows.push_back(std::move(row));
  }
  drop_empty_columns(table);
  if (with.size() > 1) section.blocks.emplace_back(std::move(table));
  for (const ReportedBody* body : with)
    append(section.blocks, component_modes_of(draft, *body, part_of(*body->summary, "gcms")),
           with.size() > few_gcms_bodies, body->title + ": similarity, singular values, modes");
}

}  // namespace lissom

// The simulations of a run folder: the study itself and its cases, with their results, and figures of them.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lissom/core/units.hpp"
#include "lissom/io/result_file.hpp"
#include "lissom/report/report_page.hpp"

namespace lissom {

struct ReportDraft;

struct ReportRun {
  std::string name;   // of the case; empty: the study itself
  std::string label;  // for people
  std::filesystem::path folder;
  nlohmann::json simulation;                              // its summary; null where there is none
  std::vector<std::string> changes;                       // what the case sets otherwise
  nlohmann::json model, comparison;                       // entries of "models" and "comparison"; null: none
  bool is_reference = false;                              // others are compared with it
  bool reduced = false;                                   // a mechanism reduced as a whole (SLAP, POD)
  std::optional<ResultFile> result;                       // without positions of nodes
  std::unordered_map<std::string, Eigen::Index> columns;  // of result->sensors, by their names

  bool complete() const { return result && result->end.status == RunStatus::Complete; }
};

// Columns of one sensor that have one unit: "tip" with tip.x, tip.y, tip.z. Numbers of nodes are none.
struct SensorGroup {
  std::string name, unit;
  std::vector<std::string> columns;
};

struct ReportRuns {
  std::vector<ReportRun> all;        // the study itself first
  std::vector<size_t> shown;         // those of figures and of the view, at most a few; references first
  UnitSystem units;                  // of the study, in which its comparison is
  std::vector<SensorGroup> sensors;  // of all runs
  const ReportRun* find(const std::string& name) const;
  const ReportRun* reference_of(const ReportRun& run) const;
  // The reduced mechanism that the summary is about, of those that were compared with a full one.
  const ReportRun* proposed() const { return proposed_index ? &all[*proposed_index] : nullptr; }
  std::optional<size_t> proposed_index;
};

// Of draft.summary and its folder, or, without a summary, of result.h5 here and in folders within. Results
// that cannot be read are warnings.
ReportRuns read_runs(ReportDraft& draft);
// Of one result file.
ReportRuns read_run(ReportDraft& draft, const std::filesystem::path& file);

// --- figures ---
// Beyond `most` points the smallest and the largest of each piece; true if that was so.
bool thin_out(std::vector<double>& x, std::vector<double>& y, size_t most = 5000);
std::vector<double> to_vector(const Eigen::Ref<const Eigen::VectorXd>& values);

// The sensors of all runs, in the order in which they come; their number may be in the thousands.
std::vector<SensorGroup> sensor_groups(const std::vector<ReportRun>& runs);
// Curves of a sensor, of all runs that are shown; columns that are zero everywhere, or next to the others
// nothing but rounding, are named in the caption.
ReportFigure sensor_figure(const ReportRuns& runs, const SensorGroup& group);
// Neither forces nor velocities were balanced: equilibria one after another.
bool is_static(const ReportRun& run);
// The column of a run; empty where it has none.
std::vector<double> column_of(const ReportRun& run, const std::string& column);
// From the lowest to the highest value of any of the group's columns [unit].
double range_of(const ReportRun& run, const SensorGroup& group);

// Sections; see report_parts.hpp.
void report_motion(ReportDraft& draft, const ReportRuns& runs);
void report_mechanism(ReportDraft& draft, const ReportRuns& runs);
void report_simulations(ReportDraft& draft, const ReportRuns& runs);
void report_comparison(ReportDraft& draft, const ReportRuns& runs);
// The words and cards that a reader sees first.
void report_summary(ReportDraft& draft, const ReportRuns& runs);
// Versions, commands, the study, files.
void report_reproduction(ReportDraft& draft, const ReportRuns& runs, const std::string& command);

// "the study itself", or the case.
std::string shown_run(const std::string& name);
// An identifier for the page: letters, digits and dashes.
std::string report_id(const std::string& text);
// "1,234,567".
std::string with_commas(double value);
// "12 ms", "3.4 s".
ReportValue report_seconds(double seconds);
// Largest difference of a sensor that measures a place, for people.
struct SensorError {
  std::string column, unit;
  double largest = 0, at = 0, motion = 0;  // [unit], [s], range of the reference's sensor [unit]
  double relative() const { return motion > 0 ? largest / motion : 0; }
};
std::optional<SensorError> place_error(const ReportRuns& runs, const ReportRun& run);
// Root mean square distance of all nodes from where the full model has them [m]; NaN where it is not known.
double node_error(const ReportDraft& draft, const ReportRun& run);

}  // namespace lissom

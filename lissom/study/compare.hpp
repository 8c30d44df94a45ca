// Two results of the same mechanism side by side: sensors, energies and nodes over time, of two formulations,
// a model and its reduction, or another program.
#pragma once

#include <Eigen/Core>
#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/core/units.hpp"
#include "lissom/study/simulate.hpp"

namespace lissom {

// What a comparison knows of a result.
struct ComparedResult {
  std::string source;  // its file, or its case
  Eigen::VectorXd time;
  struct Column {
    std::string name;     // "tip.x"
    std::string unit;     // of SI; empty where it is not known
    bool energy = false;  // of the whole system
    int rate = -1;        // column of its derivative with respect to time, where there is one
  };
  std::vector<Column> columns;
  Eigen::MatrixXd values;  // times by columns
  struct Nodes {
    std::string body;
    std::vector<std::int64_t> ids;
    Eigen::MatrixXd x;  // 3 nodes by times [m]
  };
  std::vector<Nodes> nodes;
  // Von Mises' stress over whole meshes, of stress.h5 beside a result file.
  struct Stress {
    std::string body;
    std::vector<std::int64_t> ids;
    Eigen::VectorXd peak;       // over time, by node [Pa]; may be empty
    Eigen::VectorXd at;         // instants [s]
    Eigen::MatrixXd von_mises;  // nodes by instants [Pa]
  };
  std::vector<Stress> stress;
  bool is_table = false;            // a CSV file: units of the columns are not in it
  std::optional<UnitSystem> units;  // of a table where they were given; of a result those of its study
};

// A result file, a folder with one (or with sensors.csv alone), or a CSV file whose first column is the time.
// In SI units, but for tables, whose units are known once they are compared. Throws InputError: none of
// these, damaged, newer, columns of one name, times that do not ascend.
ComparedResult read_compared(const std::filesystem::path& path, std::optional<UnitSystem> units,
                             Diagnostics& diagnostics);
// Sensors of a run in the study's units.
ComparedResult compared_run(const SimulationRun& run, std::string source);

struct CompareOptions {
  std::map<std::string, std::string> columns;  // name in A: name in B, where they differ
  bool nodes = true;                           // and what is known at them: stress
};

struct ColumnDifference {
  std::string name, unit;
  bool energy = false;
  double largest = 0;    // |B - A| over the times
  double at = 0;         // its time
  double rms = 0;        // root of the mean square
  double scale = 0;      // largest |value| of A, the reference
  bool hermite = false;  // B was interpolated with its rate
  double relative() const { return scale > 0 ? largest / scale : (largest > 0 ? INFINITY : 0); }
};

struct NodesDifference {
  std::string body;
  int nodes = 0;
  double largest = 0;     // distance of a node from where A has it [m]
  double at = 0;          // its time
  std::int64_t node = 0;  // its number
  double rms = 0;         // over nodes and times [m]
  double epsilon = 0;     // sum of squares over nodes and times [m2]
  Eigen::VectorXd rms_over_time, largest_over_time;
};

// Von Mises' stress of a body's nodes, over time or at an instant.
struct StressDifference {
  std::string body;
  std::optional<double> t;    // [s]; none: the largest over time of each node
  double largest = 0;         // |B - A| over the nodes [Pa]
  std::int64_t node = 0;      // where
  double rms = 0;             // over the nodes [Pa]
  double of_a = 0, of_b = 0;  // largest stress of the body in either [Pa]
  double relative() const { return of_a > 0 ? largest / of_a : (largest > 0 ? INFINITY : 0); }
};

struct Comparison {
  Eigen::VectorXd time;
  bool interpolated = false;  // B at A's times; otherwise times that both have
  std::vector<ColumnDifference> columns;
  Eigen::MatrixXd differences;  // times by columns, B - A
  std::vector<NodesDifference> nodes;
  std::vector<StressDifference> stress;
  std::vector<std::string> only_a, only_b;  // columns of one of the two
};

// B less A at their common times (to a billionth of the interval) where those are at least half of the
// coarser result's in the span that both cover; otherwise B is interpolated at A's times: cubic Hermite where
// the rate of a column is another column, else a cubic spline (not-a-knot). Tables are brought to SI units
// with the units of the other side's columns. No times, or no columns, is not an error here. Throws
// InputError: meshes of one body that differ, a mapped column that there is not, a table whose units cannot
// be known.
Comparison compare(ComparedResult a, ComparedResult b, const CompareOptions& options = {},
                   const ProgressHook& progress = {});
// Throws InputError where nothing was compared, saying why: no common time, no common column.
void check_compared(const Comparison& comparison, const ComparedResult& a, const ComparedResult& b);

std::string describe_comparison(const Comparison& comparison, const ComparedResult& a,
                                const ComparedResult& b);
nlohmann::json comparison_json(const Comparison& comparison);

// Factor from a unit system to SI for one of the units that results have ("m", "N m"); none for others.
std::optional<double> to_si(const std::string& unit, const UnitSystem& units);

// t, the differences of the columns, and of each body with nodes "BODY rms" and "BODY max"; a line a time.
void write_differences(const Comparison& comparison, const std::filesystem::path& path);

// Values at the times `at` (rows) of a cubic through values (rows) at ascending times: with the given slopes,
// or those of the spline that is smoothest at the second knot from either end (not-a-knot).
Eigen::MatrixXd spline_slopes(const Eigen::VectorXd& time, const Eigen::MatrixXd& values);
Eigen::MatrixXd interpolate(const Eigen::VectorXd& time, const Eigen::MatrixXd& values,
                            const Eigen::MatrixXd& slopes, const Eigen::VectorXd& at);

}  // namespace lissom

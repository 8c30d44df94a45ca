#include "lissom/study/compare.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "lissom/core/atomic_file.hpp"
#include "lissom/core/text.hpp"
#include "lissom/fe/stress_history.hpp"
#include "lissom/io/csv_table.hpp"
#include "lissom/io/result_file.hpp"
#include "lissom/io/stress_file.hpp"
#include "lissom/io/study_resolve.hpp"
#include "lissom/io/table.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::json;

namespace {

std::vector<std::string> names_of(const std::vector<ComparedResult::Column>& columns) {
  std::vector<std::string> names;
  for (const auto& column : columns) names.push_back(column.name);
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr size_t most = 12;
  if (names.empty()) return "none";
  if (names.size() <= most) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + most, ", "),
                     names.size() - most);
}

int find_column(const ComparedResult& result, const std::string& name) {
  for (size_t c = 0; c < result.columns.size(); ++c)
    if (result.columns[c].name == name) return static_cast<int>(c);
  return -1;
}

// --------------------------------------------------------------------------------------------- reading

// The study's own words: its units, and which sensors are rates of others (a velocity where a position is
// measured, an acceleration where a velocity is).
void read_study_words(const std::string& text, ComparedResult& result) {
  TomlValue study;
  try {
    study = parse_toml(text, result.source);
  } catch (const std::exception&) {
    return;  // a result whose study is not kept, or of another version
  }
  if (const std::string* units = study.find_string("units")) result.units = parse_unit_system(*units);
  const TomlValue* listed = study.find("sensors");
  if (!listed || !listed->is_array()) return;
  struct Sensor {
    std::string name, kind, of;
  };
  std::vector<Sensor> sensors;
  for (const TomlValue& entry : listed->as_array()) {
    const auto word = [&](const char* key) {
      const std::string* text = entry.find_string(key);
      return text ? *text : std::string();
    };
    sensors.push_back({word("name"), word("kind"), word("of")});
  }
  const auto follows = [](const Sensor& a, const Sensor& b) {
    return a.of == b.of && ((a.kind == "position" && b.kind == "velocity") ||
                            (a.kind == "velocity" && b.kind == "acceleration"));
  };
  for (const Sensor& a : sensors)
    for (const Sensor& b : sensors) {
      if (!follows(a, b)) continue;
      for (const char axis : {'x', 'y', 'z'}) {
        const int column = find_column(result, fmt::format("{}.{}", a.name, axis));
        if (column >= 0)
          result.columns[column].rate = find_column(result, fmt::format("{}.{}", b.name, axis));
      }
    }
}

// Of the same study only: another run may have been there before.
void read_stress(const std::filesystem::path& path, const std::string& study, ComparedResult& result,
                 Diagnostics& diagnostics) {
  StressFile file = read_stress_file(path, diagnostics);
  if (file.study != study) {
    diagnostics.warn(
        "compare.stress." + path.string(),
        fmt::format("{}: is of another study than the result beside it, and was left out", path.string()));
    return;
  }
  for (StressFileBody& body : file.bodies)
    result.stress.push_back({body.name, std::move(body.node_ids), std::move(body.peak),
                             body.stress.size() > 0 ? file.at : VectorXd(), von_mises_of(body.stress)});
}

ComparedResult from_result_file(const std::filesystem::path& path, Diagnostics& diagnostics) {
  ResultFile file = read_result_file(path, diagnostics);
  ComparedResult result;
  result.source = path.string();
  result.time = file.time;
  result.units = UnitSystem{};
  for (size_t c = 0; c < file.header.sensors.size(); ++c)
    result.columns.push_back({file.header.sensors[c], file.header.sensor_units[c], false, -1});
  const Index sensors = file.sensors.cols(), samples = file.samples();
  const char* parts[] = {"kinetic", "elastic", "gravity", "springs", "total"};
  for (const char* part : parts) result.columns.push_back({fmt::format("energy {}", part), "J", true, -1});
  result.values.resize(samples, sensors + 5);
  result.values.leftCols(sensors) = file.sensors;
  for (Index k = 0; k < samples; ++k) {
    const SystemEnergy& e = file.balance[static_cast<size_t>(k)].energy;
    result.values.row(k).tail(5) << e.kinetic, e.elastic, e.gravity, e.springs, e.total();
  }
  for (size_t b = 0; b < file.header.nodes.size(); ++b) {
    ComparedResult::Nodes nodes;
    nodes.body = file.header.nodes[b].body;
    nodes.ids = file.header.nodes[b].ids;
    nodes.x.resize(3 * static_cast<Index>(nodes.ids.size()), samples);
    for (Index k = 0; k < samples; ++k) {
      Eigen::Matrix3Xd& x = file.nodes[b][static_cast<size_t>(k)];
      nodes.x.col(k) = x.reshaped();
      x.resize(3, 0);
    }
    result.nodes.push_back(std::move(nodes));
  }
  read_study_words(file.header.study, result);
  if (const auto beside = path.parent_path() / "stress.h5"; std::filesystem::exists(beside))
    read_stress(beside, file.header.study, result, diagnostics);
  if (file.end.status != RunStatus::Complete)
    diagnostics.warn("compare.unfinished." + path.string(),
                     fmt::format("{}: the run did not come to its end; it has samples until t = {:.6g} s",
                                 path.string(), samples > 0 ? file.time[samples - 1] : 0));
  return result;
}

ComparedResult from_table(const std::filesystem::path& path, std::optional<UnitSystem> units) {
  const CsvTable table = read_csv_table(path);
  ComparedResult result;
  result.source = path.string();
  result.is_table = true;
  result.units = std::move(units);
  if (table.columns.size() < 2)
    fail_input("{}: has one column, '{}', expected the time and at least one more", path.string(),
               printable(table.columns.front()));
  std::set<std::string> taken;
  for (size_t c = 1; c < table.columns.size(); ++c) {
    if (!taken.insert(table.columns[c]).second)
      fail_input("{}: has two columns named '{}'", path.string(), printable(table.columns[c]));
    result.columns.push_back({printable(table.columns[c]), "", false, -1});
  }
  result.time = table.values.col(0);
  result.values = table.values.rightCols(table.values.cols() - 1);
  return result;
}

void check_times(const ComparedResult& result) {
  if (result.time.size() == 0) fail_input("{}: has no samples", result.source);
  for (Index i = 1; i < result.time.size(); ++i)
    if (!(result.time[i] > result.time[i - 1]))
      fail_input("{}: sample {} is at t = {}, after one at {}; times are expected to ascend", result.source,
                 i + 1, result.time[i], result.time[i - 1]);
}

// ----------------------------------------------------------------------------------------------- units

// A table to SI units, where the other side's columns say what is measured.
void convert(ComparedResult& table, const ComparedResult& other,
             const std::map<std::string, std::string>& to) {
  if (!table.is_table) return;
  if (other.is_table) {
    const auto name = [](const ComparedResult& r) { return r.units ? r.units->name : std::string("none"); };
    if (name(table) != name(other))
      fail_input(
          "{} and {} are both tables, which do not say what their columns measure; units cannot be "
          "converted ({} and {} were given). Compare one of them with a result.h5",
          table.source, other.source, name(table), name(other));
    return;
  }
  const UnitSystem units = table.units.value_or(other.units.value_or(UnitSystem{}));
  table.time *= units.time;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    ComparedResult::Column& column = table.columns[c];
    const auto mapped = to.find(column.name);
    const int known = find_column(other, mapped == to.end() ? column.name : mapped->second);
    if (known < 0) continue;
    column.unit = other.columns[known].unit;
    column.energy = other.columns[known].energy;
    const auto factor = to_si(column.unit, units);
    if (!factor)
      fail_input("{}: column '{}' is in a unit that cannot be converted, '{}'; give it in SI units",
                 table.source, column.name, column.unit);
    table.values.col(static_cast<Index>(c)) *= *factor;
  }
}

// ----------------------------------------------------------------------------------------------- times

// Samples that both have, to a billionth of A's interval.
std::vector<std::pair<Index, Index>> common_samples(const VectorXd& a, const VectorXd& b) {
  std::vector<std::pair<Index, Index>> common;
  for (Index i = 0, k = 0; i < a.size() && k < b.size();) {
    const double interval = i > 0 ? a[i] - a[i - 1] : std::abs(a[i]);
    const double difference = b[k] - a[i];
    if (std::abs(difference) <= 1e-9 * interval)
      common.emplace_back(i++, k++);
    else if (difference > 0)
      ++i;
    else
      ++k;
  }
  return common;
}

// How both are brought to the same times.
struct Grid {
  VectorXd time;
  bool interpolated = false;
  std::vector<Index> of_a, of_b;  // samples; of_b without interpolation
};

Grid grid_of(const VectorXd& a, const VectorXd& b) {
  Grid grid;
  const auto common = common_samples(a, b);
  const double first = std::max(a[0], b[0]), last = std::min(a[a.size() - 1], b[b.size() - 1]);
  const auto within = [&](const VectorXd& t) {
    return std::count_if(t.begin(), t.end(), [&](double x) { return x >= first && x <= last; });
  };
  const auto fewer = std::min(within(a), within(b));
  if (2 * static_cast<long>(common.size()) >= fewer) {
    for (const auto& [i, k] : common) {
      grid.of_a.push_back(i);
      grid.of_b.push_back(k);
    }
  } else {
    grid.interpolated = true;
    for (Index i = 0; i < a.size(); ++i)
      if (a[i] >= first && a[i] <= last) grid.of_a.push_back(i);
  }
  grid.time = a(grid.of_a);
  return grid;
}

// Rows of B at the times of the grid.
MatrixXd at_grid(const Grid& grid, const VectorXd& time, const MatrixXd& values) {
  if (!grid.interpolated) return values(grid.of_b, Eigen::all);
  return interpolate(time, values, spline_slopes(time, values), grid.time);
}

// --------------------------------------------------------------------------------------------- nodes

// Nodes of `from` by their place in it.
ComparedResult::Nodes nodes_at(const ComparedResult::Nodes& from, const std::vector<Index>& places) {
  ComparedResult::Nodes out;
  out.body = from.body;
  out.x.resize(3 * static_cast<Index>(places.size()), from.x.cols());
  for (size_t i = 0; i < places.size(); ++i) {
    out.ids.push_back(from.ids[static_cast<size_t>(places[i])]);
    out.x.middleRows<3>(3 * static_cast<Index>(i)) = from.x.middleRows<3>(3 * places[i]);
  }
  return out;
}

// The same nodes in both. One may have more of them (a reduced mechanism has none of the spiders' reference
// nodes) where the others are at the same places at the first sample, to a hundredth of the body's size.
std::pair<ComparedResult::Nodes, ComparedResult::Nodes> matched(const ComparedResult::Nodes& a,
                                                                const ComparedResult::Nodes& b,
                                                                const std::string& file_a,
                                                                const std::string& file_b) {
  if (a.ids == b.ids) return {a, b};
  std::unordered_map<std::int64_t, Index> of_b;
  for (size_t i = 0; i < b.ids.size(); ++i) of_b[b.ids[i]] = static_cast<Index>(i);
  std::vector<Index> in_a, in_b;
  for (size_t i = 0; i < a.ids.size(); ++i)
    if (const auto found = of_b.find(a.ids[i]); found != of_b.end()) {
      in_a.push_back(static_cast<Index>(i));
      in_b.push_back(found->second);
    }
  if (!in_a.empty() && in_a.size() == std::min(a.ids.size(), b.ids.size())) {
    std::pair<ComparedResult::Nodes, ComparedResult::Nodes> both = {nodes_at(a, in_a), nodes_at(b, in_b)};
    const auto n = static_cast<Index>(in_a.size());
    const Eigen::Matrix3Xd x = both.first.x.col(0).reshaped(3, n), y = both.second.x.col(0).reshaped(3, n);
    const double size = (x.rowwise().maxCoeff() - x.rowwise().minCoeff()).norm();
    if ((x - y).colwise().norm().maxCoeff() <= 0.01 * size) return both;
  }
  std::string what;
  if (a.ids.size() != b.ids.size()) {
    what = fmt::format("has {} nodes in {} and {} in {}", a.ids.size(), file_a, b.ids.size(), file_b);
  } else {
    const auto first = std::mismatch(a.ids.begin(), a.ids.end(), b.ids.begin());
    what = fmt::format("has other node numbers: {} of {} is {} in {} and {} in {}",
                       first.first - a.ids.begin() + 1, a.ids.size(), *first.first, file_a, *first.second,
                       file_b);
  }
  fail_input("the meshes differ: body '{}' {}; sensors alone can be compared with --no-nodes", a.body, what);
}

NodesDifference compare_nodes(const ComparedResult::Nodes& a, const ComparedResult::Nodes& b,
                              const Grid& grid, const VectorXd& time_b) {
  NodesDifference d;
  d.body = a.body;
  const auto n = static_cast<Index>(a.ids.size()), times = grid.time.size();
  d.nodes = static_cast<int>(n);
  d.rms_over_time.resize(times);
  d.largest_over_time.resize(times);
  // a part of the nodes at a time, so that splines need little room
  constexpr Index at_once = 2000;
  VectorXd sum = VectorXd::Zero(times), largest = VectorXd::Zero(times);
  for (Index first = 0; first < n; first += at_once) {
    const Index count = std::min(at_once, n - first);
    const MatrixXd of_b = at_grid(grid, time_b, b.x.middleRows(3 * first, 3 * count).transpose());
    for (Index k = 0; k < times; ++k) {
      const VectorXd difference =
          of_b.row(k).transpose() - a.x.col(grid.of_a[static_cast<size_t>(k)]).segment(3 * first, 3 * count);
      const VectorXd distance = difference.reshaped(3, count).colwise().norm();
      Index node = 0;
      const double most = distance.maxCoeff(&node);
      sum[k] += distance.squaredNorm();
      largest[k] = std::max(largest[k], most);
      if (most > d.largest || (first == 0 && k == 0)) {
        d.largest = most;
        d.at = grid.time[k];
        d.node = a.ids[static_cast<size_t>(first + node)];
      }
    }
  }
  d.rms_over_time = (sum / static_cast<double>(std::max<Index>(n, 1))).cwiseSqrt();
  d.largest_over_time = largest;
  d.epsilon = sum.sum();
  d.rms = times > 0 && n > 0 ? std::sqrt(d.epsilon / static_cast<double>(times * n)) : 0;
  return d;
}

// At the nodes that both have, of a body with the same ones or some of them.
void compare_stress(const ComparedResult& a, const ComparedResult& b, Comparison& comparison) {
  for (const ComparedResult::Stress& of_a : a.stress)
    for (const ComparedResult::Stress& of_b : b.stress) {
      if (of_a.body != of_b.body) continue;
      std::unordered_map<std::int64_t, Index> in_b;
      for (size_t i = 0; i < of_b.ids.size(); ++i) in_b[of_b.ids[i]] = static_cast<Index>(i);
      std::vector<Index> from_a, from_b;
      for (size_t i = 0; i < of_a.ids.size(); ++i)
        if (const auto found = in_b.find(of_a.ids[i]); found != in_b.end()) {
          from_a.push_back(static_cast<Index>(i));
          from_b.push_back(found->second);
        }
      if (from_a.empty() || from_a.size() != std::min(of_a.ids.size(), of_b.ids.size()))
        fail_input(
            "the meshes differ: body '{}' has stress at {} nodes in {} and at {} in {}, {} of them the same; "
            "sensors alone can be compared with --no-nodes",
            of_a.body, of_a.ids.size(), a.source, of_b.ids.size(), b.source, from_a.size());
      const auto add = [&](std::optional<double> t, const VectorXd& in_first, const VectorXd& in_second) {
        const VectorXd x = in_first(from_a), y = in_second(from_b);
        StressDifference d;
        d.body = of_a.body;
        d.t = t;
        Index node = 0;
        d.largest = (y - x).cwiseAbs().maxCoeff(&node);
        d.node = of_a.ids[static_cast<size_t>(from_a[static_cast<size_t>(node)])];
        d.rms = (y - x).norm() / std::sqrt(static_cast<double>(x.size()));
        d.of_a = x.maxCoeff();
        d.of_b = y.maxCoeff();
        comparison.stress.push_back(std::move(d));
      };
      if (of_a.peak.size() > 0 && of_b.peak.size() > 0) add(std::nullopt, of_a.peak, of_b.peak);
      for (Index i = 0; i < of_a.at.size(); ++i)
        for (Index k = 0; k < of_b.at.size(); ++k)
          if (std::abs(of_a.at[i] - of_b.at[k]) <= 1e-9 * std::max(1.0, std::abs(of_a.at[i])))
            add(of_a.at[i], of_a.von_mises.col(i), of_b.von_mises.col(k));
    }
}

}  // namespace

// ------------------------------------------------------------------------------------------- interface

MatrixXd spline_slopes(const VectorXd& time, const MatrixXd& values) {
  const Index n = time.size();
  LISSOM_ASSERT(values.rows() == n && n >= 1);
  MatrixXd s = MatrixXd::Zero(n, values.cols());
  if (n == 1) return s;
  const VectorXd h = time.tail(n - 1) - time.head(n - 1);
  const MatrixXd chord = h.cwiseInverse().asDiagonal() * (values.bottomRows(n - 1) - values.topRows(n - 1));
  if (n == 2) {
    s.rowwise() = chord.row(0);
    return s;
  }
  if (n == 3) {
    // one parabola
    const Eigen::RowVectorXd bend = (chord.row(1) - chord.row(0)) / (h[0] + h[1]);
    s.row(0) = chord.row(0) - h[0] * bend;
    s.row(1) = chord.row(0) + h[0] * bend;
    s.row(2) = chord.row(1) + h[1] * bend;
    return s;
  }
  // tridiagonal: second derivatives agree at the knots, third ones at the second from either end
  VectorXd lower(n), diagonal(n), upper(n);
  const double d0 = h[0] + h[1], d1 = h[n - 2] + h[n - 3];
  diagonal[0] = h[1];
  upper[0] = d0;
  s.row(0) = ((h[0] + 2 * d0) * h[1] * chord.row(0) + h[0] * h[0] * chord.row(1)) / d0;
  for (Index i = 1; i + 1 < n; ++i) {
    lower[i] = h[i];
    diagonal[i] = 2 * (h[i - 1] + h[i]);
    upper[i] = h[i - 1];
    s.row(i) = 3 * (h[i] * chord.row(i - 1) + h[i - 1] * chord.row(i));
  }
  lower[n - 1] = d1;
  diagonal[n - 1] = h[n - 3];
  s.row(n - 1) =
      (h[n - 2] * h[n - 2] * chord.row(n - 3) + (2 * d1 + h[n - 2]) * h[n - 3] * chord.row(n - 2)) / d1;
  for (Index i = 1; i < n; ++i) {
    const double factor = lower[i] / diagonal[i - 1];
    diagonal[i] -= factor * upper[i - 1];
    s.row(i) -= factor * s.row(i - 1);
  }
  s.row(n - 1) /= diagonal[n - 1];
  for (Index i = n - 2; i >= 0; --i) s.row(i) = ((s.row(i) - upper[i] * s.row(i + 1)) / diagonal[i]).eval();
  return s;
}

MatrixXd interpolate(const VectorXd& time, const MatrixXd& values, const MatrixXd& slopes,
                     const VectorXd& at) {
  const Index n = time.size();
  MatrixXd out(at.size(), values.cols());
  if (n == 1) {
    out.rowwise() = values.row(0);
    return out;
  }
  Index i = 0;
  for (Index k = 0; k < at.size(); ++k) {
    while (i + 2 < n && time[i + 1] < at[k]) ++i;
    const double h = time[i + 1] - time[i], x = (at[k] - time[i]) / h, y = 1 - x;
    out.row(k) = y * y * (1 + 2 * x) * values.row(i) + x * x * (1 + 2 * y) * values.row(i + 1) +
                 h * x * y * (y * slopes.row(i) - x * slopes.row(i + 1));
  }
  return out;
}

ComparedResult read_compared(const std::filesystem::path& path, std::optional<UnitSystem> units,
                             Diagnostics& diagnostics) {
  std::error_code ec;
  if (!std::filesystem::exists(path, ec)) fail_input("{}: no such file or folder", path.string());
  std::filesystem::path file = path;
  if (std::filesystem::is_directory(path)) {
    file = path / "result.h5";
    if (!std::filesystem::exists(file)) file = path / "sensors.csv";
    if (!std::filesystem::exists(file))
      fail_input("{}: has neither result.h5 nor sensors.csv, which 'lissom simulate' and 'lissom run' write",
                 path.string());
  }
  const std::string extension = to_lower(file.extension().string());
  ComparedResult result;
  if (is_result_file(file) || extension == ".h5")
    result = from_result_file(file, diagnostics);
  else if (extension == ".csv" || extension == ".txt" || extension == ".dat")
    result = from_table(file, units);
  else
    fail_input("{}: is no result; expected a result.h5, a folder with one, or a table (.csv, .txt, .dat)",
               file.string());
  if (units && !result.is_table)
    fail_input("{}: is in SI units, as all result files are; units are given for tables only", file.string());
  check_times(result);
  return result;
}

std::optional<double> to_si(const std::string& unit, const UnitSystem& units) {
  const double l = units.length, t = units.time;
  const std::pair<const char*, double> known[] = {{"m", l},
                                                  {"m/s", l / t},
                                                  {"m/s2", l / (t * t)},
                                                  {"1", 1},
                                                  {"rad", 1},
                                                  {"1/s", 1 / t},
                                                  {"1/s2", 1 / (t * t)},
                                                  {"N", units.force()},
                                                  {"N m", units.force() * l},
                                                  {"J", units.force() * l},
                                                  {"Pa", units.stress()}};
  for (const auto& [name, factor] : known)
    if (unit == name) return factor;
  return std::nullopt;
}

ComparedResult compared_run(const SimulationRun& run, std::string source) {
  ComparedResult result;
  result.source = std::move(source);
  result.time = run.time;
  for (const std::string& column : run.columns) result.columns.push_back({column, "", false, -1});
  result.values = run.sensors;
  return result;
}

Comparison compare(ComparedResult a, ComparedResult b, const CompareOptions& options,
                   const ProgressHook& progress) {
  std::map<std::string, std::string> back;
  for (const auto& [of_a, of_b] : options.columns) {
    if (find_column(a, of_a) < 0)
      fail_input("--map: {} has no column '{}'{}; it has {}", a.source, of_a,
                 did_you_mean(of_a, names_of(a.columns)), listed(names_of(a.columns)));
    if (find_column(b, of_b) < 0)
      fail_input("--map: {} has no column '{}'{}; it has {}", b.source, of_b,
                 did_you_mean(of_b, names_of(b.columns)), listed(names_of(b.columns)));
    back[of_b] = of_a;
  }
  convert(a, b, options.columns);
  convert(b, a, back);

  Comparison comparison;
  std::vector<Index> in_a, in_b;
  std::set<int> used;
  for (size_t c = 0; c < a.columns.size(); ++c) {
    const auto mapped = options.columns.find(a.columns[c].name);
    const int found = find_column(b, mapped == options.columns.end() ? a.columns[c].name : mapped->second);
    if (found < 0) {
      if (!a.columns[c].energy) comparison.only_a.push_back(a.columns[c].name);
      continue;
    }
    used.insert(found);
    in_a.push_back(static_cast<Index>(c));
    in_b.push_back(found);
  }
  for (size_t c = 0; c < b.columns.size(); ++c)
    if (!used.contains(static_cast<int>(c)) && !b.columns[c].energy)
      comparison.only_b.push_back(b.columns[c].name);

  const Grid grid = grid_of(a.time, b.time);
  const Index times = grid.time.size(), columns = static_cast<Index>(in_a.size());
  comparison.time = grid.time;
  comparison.interpolated = grid.interpolated;
  comparison.differences.resize(times, columns);
  for (Index c = 0; c < columns; ++c) {
    const ComparedResult::Column &of_a = a.columns[in_a[c]], &of_b = b.columns[in_b[c]];
    ColumnDifference entry;
    entry.name = of_a.name;
    entry.unit = of_a.unit.empty() ? of_b.unit : of_a.unit;
    entry.energy = of_a.energy;
    entry.hermite = grid.interpolated && of_b.rate >= 0;
    MatrixXd values;
    if (times > 0)
      values = entry.hermite ? interpolate(b.time, b.values.col(in_b[c]), b.values.col(of_b.rate), grid.time)
                             : at_grid(grid, b.time, b.values.col(in_b[c]));
    if (times > 0) {
      comparison.differences.col(c) = values - a.values.col(in_a[c])(grid.of_a);
      Index where = 0;
      entry.largest = comparison.differences.col(c).cwiseAbs().maxCoeff(&where);
      entry.at = grid.time[where];
      entry.rms = std::sqrt(comparison.differences.col(c).squaredNorm() / static_cast<double>(times));
      entry.scale = a.values.col(in_a[c]).cwiseAbs().maxCoeff();
    }
    comparison.columns.push_back(std::move(entry));
  }

  if (!options.nodes || times == 0) return comparison;
  for (const ComparedResult::Nodes& of_a : a.nodes)
    for (const ComparedResult::Nodes& of_b : b.nodes) {
      if (of_a.body != of_b.body) continue;
      if (progress) progress("comparing nodes", -1);
      const auto both = matched(of_a, of_b, a.source, b.source);
      comparison.nodes.push_back(compare_nodes(both.first, both.second, grid, b.time));
    }
  compare_stress(a, b, comparison);
  return comparison;
}

void check_compared(const Comparison& comparison, const ComparedResult& a, const ComparedResult& b) {
  if (comparison.time.size() == 0)
    fail_input("there is no time that both have: {} goes from {:.6g} to {:.6g} s, {} from {:.6g} to {:.6g} s",
               a.source, a.time[0], a.time[a.time.size() - 1], b.source, b.time[0],
               b.time[b.time.size() - 1]);
  const bool sensors = std::any_of(comparison.columns.begin(), comparison.columns.end(),
                                   [](const ColumnDifference& c) { return !c.energy; });
  if (!sensors && comparison.nodes.empty() && (a.is_table || b.is_table || comparison.columns.empty()))
    fail_input(
        "there is no sensor that both have: {} has {}; {} has {}. Name pairs with --map \"NAME IN A=NAME IN "
        "B\"",
        a.source, listed(comparison.only_a), b.source, listed(comparison.only_b));
}

std::string describe_comparison(const Comparison& comparison, const ComparedResult& a,
                                const ComparedResult& b) {
  std::string text = fmt::format("A  {}\nB  {}\n", a.source, b.source);
  const Index times = comparison.time.size();
  const bool hermite = std::any_of(comparison.columns.begin(), comparison.columns.end(),
                                   [](const ColumnDifference& c) { return c.hermite; });
  text +=
      fmt::format("{} {}, t = {:.6g} to {:.6g}\n\n", times,
                  !comparison.interpolated ? "times that both have"
                  : hermite ? "times of A; B between its samples by cubics through values and rates where a "
                              "sensor measures the rate, else by cubic splines"
                            : "times of A; B between its samples by cubic splines",
                  comparison.time[0], comparison.time[times - 1]);
  Table table({"sensor", "unit", "largest difference", "at t", "rms", "largest of A", "relative"});
  for (const ColumnDifference& c : comparison.columns)
    table.add({c.name, c.unit.empty() ? "-" : c.unit, fmt::format("{:.3e}", c.largest),
               fmt::format("{:.6g}", c.at), fmt::format("{:.3e}", c.rms), fmt::format("{:.3e}", c.scale),
               std::isfinite(c.relative()) ? fmt::format("{:.2e}", c.relative()) : "-"});
  if (!comparison.columns.empty()) text += table.str();
  if (!comparison.nodes.empty()) {
    Table nodes({"body", "nodes", "largest distance", "at t", "of node", "rms", "epsilon"});
    for (const NodesDifference& d : comparison.nodes)
      nodes.add({d.body, std::to_string(d.nodes), fmt::format("{:.3e} m", d.largest),
                 fmt::format("{:.6g}", d.at), std::to_string(d.node), fmt::format("{:.3e} m", d.rms),
                 fmt::format("{:.3e} m2", d.epsilon)});
    text += "\n" + nodes.str();
  }
  if (!comparison.stress.empty()) {
    Table stress({"body", "von Mises stress", "largest difference", "of node", "rms", "largest of A", "of B",
                  "relative"});
    for (const StressDifference& d : comparison.stress)
      stress.add({d.body, d.t ? fmt::format("at t = {:.6g} s", *d.t) : "largest over time",
                  fmt::format("{:.3e} Pa", d.largest), std::to_string(d.node),
                  fmt::format("{:.3e} Pa", d.rms), fmt::format("{:.4e} Pa", d.of_a),
                  fmt::format("{:.4e} Pa", d.of_b), fmt::format("{:.2e}", d.relative())});
    text += "\n" + stress.str();
  }
  if (!comparison.only_a.empty()) text += fmt::format("only in A: {}\n", listed(comparison.only_a));
  if (!comparison.only_b.empty()) text += fmt::format("only in B: {}\n", listed(comparison.only_b));
  return text;
}

json comparison_json(const Comparison& comparison) {
  json j;
  const Index times = comparison.time.size();
  j["times"] = {{"count", times},
                {"first", times > 0 ? json(comparison.time[0]) : json(nullptr)},
                {"last", times > 0 ? json(comparison.time[times - 1]) : json(nullptr)},
                {"interpolated", comparison.interpolated}};
  j["sensors"] = json::object();
  j["energies"] = json::object();
  for (const ColumnDifference& c : comparison.columns) {
    json entry = {{"largest", c.largest}, {"at", c.at}, {"rms", c.rms}, {"scale", c.scale}};
    entry["relative"] = std::isfinite(c.relative()) ? json(c.relative()) : json(nullptr);
    if (!c.unit.empty()) entry["unit"] = c.unit;
    if (comparison.interpolated) entry["interpolation"] = c.hermite ? "hermite" : "spline";
    j[c.energy ? "energies" : "sensors"][c.name] = std::move(entry);
  }
  j["nodes"] = json::object();
  for (const NodesDifference& d : comparison.nodes)
    j["nodes"][d.body] = {{"nodes", d.nodes}, {"largest", d.largest}, {"at", d.at},
                          {"node", d.node},   {"rms", d.rms},         {"epsilon", d.epsilon}};
  j["stress"] = json::array();
  for (const StressDifference& d : comparison.stress)
    j["stress"].push_back({{"body", d.body},
                           {"t", d.t ? json(*d.t) : json(nullptr)},
                           {"largest", d.largest},
                           {"node", d.node},
                           {"rms", d.rms},
                           {"of_a", d.of_a},
                           {"of_b", d.of_b},
                           {"relative", std::isfinite(d.relative()) ? json(d.relative()) : json(nullptr)}});
  j["only_a"] = comparison.only_a;
  j["only_b"] = comparison.only_b;
  return j;
}

void write_differences(const Comparison& comparison, const std::filesystem::path& path) {
  AtomicFile file(path);
  std::string line = "t";
  for (const ColumnDifference& column : comparison.columns) line += "," + csv_field(column.name);
  for (const NodesDifference& d : comparison.nodes)
    line += "," + csv_field(d.body + " rms") + "," + csv_field(d.body + " max");
  file.write(line + "\n");
  for (Index i = 0; i < comparison.time.size(); ++i) {
    line = fmt::format("{}", comparison.time[i]);
    for (Index c = 0; c < comparison.differences.cols(); ++c)
      line += fmt::format(",{}", comparison.differences(i, c));
    for (const NodesDifference& d : comparison.nodes)
      line += fmt::format(",{},{}", d.rms_over_time[i], d.largest_over_time[i]);
    file.write(line + "\n");
  }
  file.commit();
}

}  // namespace lissom

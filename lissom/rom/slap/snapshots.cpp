#include "lissom/rom/slap/snapshots.hpp"

#include <fmt/ranges.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "lissom/core/error.hpp"
#include "lissom/core/text.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::Matrix3Xd;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

// ---------------------------------------------------------------------------------------------- sources

class MemorySnapshots final : public SnapshotSource {
 public:
  MemorySnapshots(std::string name, std::vector<Part> parts, VectorXd times, std::vector<MatrixXd> positions)
      : positions_(std::move(positions)) {
    name_ = std::move(name);
    parts_ = std::move(parts);
    times_ = std::move(times);
    LISSOM_ASSERT(parts_.size() == positions_.size());
    for (size_t p = 0; p < parts_.size(); ++p)
      LISSOM_ASSERT(positions_[p].rows() == 3 * parts_[p].nodes && positions_[p].cols() == times_.size());
  }
  void read(int part, int first, int count, Eigen::Ref<MatrixXd> X) override {
    X = positions_[part].middleCols(first, count);
  }

 private:
  std::vector<MatrixXd> positions_;
};

class SystemSnapshots final : public SnapshotSource {
 public:
  SystemSnapshots(std::string name, const System& system, VectorXd times, MatrixXd q)
      : system_(system), q_(std::move(q)) {
    name_ = std::move(name);
    times_ = std::move(times);
    LISSOM_ASSERT(q_.rows() == system.coordinates() && q_.cols() == times_.size());
    for (size_t b = 0; b < system.bodies().size(); ++b) {
      const Body& body = *system.bodies()[b];
      if (body.node_ids().empty()) continue;
      parts_.push_back({body.name(), body.node_ids(), static_cast<int>(body.node_ids().size())});
      bodies_.push_back(static_cast<int>(b));
    }
  }
  void read(int part, int first, int count, Eigen::Ref<MatrixXd> X) override {
    const int b = bodies_[part];
    const Body& body = *system_.bodies()[b];
    for (int j = 0; j < count; ++j) {
      const Matrix3Xd x =
          body.node_positions(q_.col(first + j).segment(system_.offset(b), body.coordinates()));
      LISSOM_ASSERT(x.size() == X.rows());
      X.col(j) = x.reshaped();
    }
  }

 private:
  const System& system_;
  MatrixXd q_;
  std::vector<int> bodies_;  // of each part
};

// Parts and nodes of another run, chosen and in another order.
class ReorderedSnapshots final : public SnapshotSource {
 public:
  struct Choice {
    int part = 0;            // of the other run
    std::vector<int> nodes;  // their places in it; empty: as they are
  };
  ReorderedSnapshots(std::unique_ptr<SnapshotSource> run, std::vector<Choice> choices,
                     std::vector<Part> parts)
      : run_(std::move(run)), choices_(std::move(choices)) {
    name_ = run_->name();
    times_ = run_->times();
    parts_ = std::move(parts);
  }
  void read(int part, int first, int count, Eigen::Ref<MatrixXd> X) override {
    const Choice& choice = choices_[part];
    if (choice.nodes.empty()) return run_->read(choice.part, first, count, X);
    room_.resize(3 * run_->parts()[choice.part].nodes, count);
    run_->read(choice.part, first, count, room_);
    for (int j = 0; j < count; ++j)
      for (size_t i = 0; i < choice.nodes.size(); ++i)
        X.col(j).segment<3>(3 * static_cast<Index>(i)) = room_.col(j).segment<3>(3 * choice.nodes[i]);
  }

 private:
  std::unique_ptr<SnapshotSource> run_;
  std::vector<Choice> choices_;
  MatrixXd room_;
};

template <class Parts>
std::vector<std::string> names_of(const Parts& parts) {
  std::vector<std::string> names;
  for (const auto& part : parts) names.push_back(part.name);
  return names;
}

// "17, 20, 33 and 4 more"
std::string some_of(const std::vector<std::int64_t>& ids) {
  constexpr size_t shown = 5;
  const std::vector<std::int64_t> first(ids.begin(),
                                        ids.begin() + static_cast<long>(std::min(shown, ids.size())));
  std::string text = fmt::format("{}", fmt::join(first, ", "));
  if (ids.size() > shown) text += fmt::format(" and {} more", ids.size() - shown);
  return text;
}

std::vector<std::int64_t> in_first_only(std::vector<std::int64_t> a, std::vector<std::int64_t> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  std::vector<std::int64_t> out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

template <class Parts>
int find_part(const Parts& parts, const std::string& name) {
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i].name == name) return static_cast<int>(i);
  return -1;
}

[[noreturn]] void fail_with(const std::string& name, const std::vector<std::string>& problems) {
  if (problems.size() == 1) fail_input("{}: {}", name, problems.front());
  fail_input("{}: {} problems:\n  {}", name, problems.size(), fmt::join(problems, "\n  "));
}

std::string missing_part(const std::string& name, const std::vector<std::string>& there) {
  return fmt::format("there are no data of body '{}'{}; there are data of {}", name,
                     did_you_mean(name, there),
                     there.empty() ? "no body" : fmt::format("'{}'", fmt::join(there, "', '")));
}

}  // namespace

std::unique_ptr<SnapshotSource> make_snapshots(std::string name, std::vector<SnapshotSource::Part> parts,
                                               VectorXd times, std::vector<MatrixXd> positions) {
  return std::make_unique<MemorySnapshots>(std::move(name), std::move(parts), std::move(times),
                                           std::move(positions));
}

std::unique_ptr<SnapshotSource> make_system_snapshots(std::string name, const System& system, VectorXd times,
                                                      MatrixXd q) {
  return std::make_unique<SystemSnapshots>(std::move(name), system, std::move(times), std::move(q));
}

std::unique_ptr<SnapshotSource> reorder(std::unique_ptr<SnapshotSource> run,
                                        const SnapshotExpectation& expected, Diagnostics& diagnostics) {
  const std::vector<std::string> there = names_of(run->parts());
  std::vector<std::string> problems;
  std::vector<ReorderedSnapshots::Choice> choices;
  std::vector<SnapshotSource::Part> parts;
  bool changed = run->parts().size() != expected.parts.size();
  for (const SnapshotExpectation::Part& wanted : expected.parts) {
    const int index = find_part(run->parts(), wanted.name);
    if (index < 0) {
      problems.push_back(missing_part(wanted.name, there));
      continue;
    }
    changed = changed || index != static_cast<int>(choices.size());
    const SnapshotSource::Part& found = run->parts()[index];
    ReorderedSnapshots::Choice choice;
    choice.part = index;
    SnapshotSource::Part part = found;
    if (!found.node_ids.empty() && !wanted.node_ids.empty() && found.node_ids != wanted.node_ids) {
      std::map<std::int64_t, int> place;
      std::vector<std::int64_t> twice, missing;
      for (size_t i = 0; i < found.node_ids.size(); ++i)
        if (!place.emplace(found.node_ids[i], static_cast<int>(i)).second) twice.push_back(found.node_ids[i]);
      for (const std::int64_t id : wanted.node_ids) {
        const auto it = place.find(id);
        if (it == place.end())
          missing.push_back(id);
        else
          choice.nodes.push_back(it->second);
      }
      if (!twice.empty())
        problems.push_back(fmt::format("body '{}': nodes are given twice: {}", wanted.name, some_of(twice)));
      if (!missing.empty())
        problems.push_back(fmt::format("body '{}': {} of {} nodes of the mesh are missing from the data: {}",
                                       wanted.name, missing.size(), wanted.node_ids.size(),
                                       some_of(missing)));
      const auto extra = in_first_only(found.node_ids, wanted.node_ids);
      if (twice.empty() && missing.empty() && !extra.empty())
        diagnostics.warn(fmt::format("snapshots.extra-nodes.{}.{}", run->name(), wanted.name),
                         fmt::format("{}: body '{}': {} nodes that the mesh does not have were left out: {}",
                                     run->name(), wanted.name, extra.size(), some_of(extra)));
      part.node_ids = wanted.node_ids;
      part.nodes = static_cast<int>(wanted.node_ids.size());
      changed = true;
    }
    choices.push_back(std::move(choice));
    parts.push_back(std::move(part));
  }
  for (const std::string& name : there)
    if (find_part(expected.parts, name) < 0)
      diagnostics.warn(fmt::format("snapshots.extra-body.{}.{}", run->name(), name),
                       fmt::format("{}: data of '{}', which is no body here{}, were left out", run->name(),
                                   name, did_you_mean(name, names_of(expected.parts))));
  if (!problems.empty()) fail_with(run->name(), problems);
  if (!changed) return run;
  return std::make_unique<ReorderedSnapshots>(std::move(run), std::move(choices), std::move(parts));
}

// ----------------------------------------------------------------------------------------------- checks

namespace {

constexpr double greatest_stretch = 0.1;
constexpr int samples_of_distances = 50;
constexpr int values_of_decimals = 4000;
constexpr double epsilon = std::numeric_limits<double>::epsilon();

double two_digits(double x) {
  const double unit = std::pow(10, std::floor(std::log10(x)) - 1);
  return x > 0 ? std::round(x / unit) * unit : x;
}

double extent(const Matrix3Xd& points) {
  if (points.cols() == 0) return 0;
  return (points.rowwise().maxCoeff() - points.rowwise().minCoeff()).norm();
}

// Distances that are looked at in a part.
struct Distances {
  struct Edge {
    int a = 0, b = 0;
    double at_rest = 0;
  };
  std::vector<int> far;     // up to four nodes that span as much as can be
  std::vector<Edge> edges;  // of each node to these, then to near ones
  size_t far_edges = 0;

  explicit Distances(const Matrix3Xd& points);
};

// Nodes in the order of a curve through a grid, so that those one after the other are near each other.
std::vector<int> near_order(const Matrix3Xd& points) {
  const Vector3d low = points.rowwise().minCoeff();
  const double scale = 1023 / std::max(extent(points), 1e-300);
  std::vector<std::pair<std::uint32_t, int>> coded(points.cols());
  for (int i = 0; i < points.cols(); ++i) {
    std::uint32_t code = 0;  // the bits of the three cell numbers in turn
    for (int c = 0; c < 3; ++c) {
      const auto cell = static_cast<std::uint32_t>((points(c, i) - low[c]) * scale);
      for (int bit = 0; bit < 10; ++bit) code |= (cell >> bit & 1U) << (3 * bit + c);
    }
    coded[i] = {code, i};
  }
  std::sort(coded.begin(), coded.end());
  std::vector<int> order;
  for (const auto& [code, node] : coded) order.push_back(node);
  return order;
}

Distances::Distances(const Matrix3Xd& points) {
  const int n = static_cast<int>(points.cols());
  if (n < 2) return;
  // far from the middle, from that node, from the line of both, from the plane of the three
  const auto take_largest = [&](const VectorXd& measure) {
    Index node = 0;
    if (measure.maxCoeff(&node) > 0) far.push_back(static_cast<int>(node));
  };
  const Vector3d middle = points.rowwise().mean();
  take_largest((points.colwise() - middle).colwise().norm());
  if (far.empty()) return;
  const Matrix3Xd from_first = points.colwise() - Vector3d(points.col(far[0]));
  take_largest(from_first.colwise().norm());
  const Vector3d along = from_first.col(far[1]);
  Matrix3Xd across(3, n);
  for (int i = 0; i < n; ++i) across.col(i) = along.cross(Vector3d(from_first.col(i)));
  take_largest(across.colwise().norm());
  if (far.size() == 3) take_largest((from_first.transpose() * across.col(far[2])).cwiseAbs());
  // nodes in the same place have no distance that could change
  const double least = 1e-7 * extent(points);
  const auto add = [&](int a, int b) {
    const double d = (points.col(a) - points.col(b)).norm();
    if (d > least) edges.push_back({a, b, d});
  };
  for (int i = 0; i < n; ++i)
    for (const int partner : far) add(i, partner);
  far_edges = edges.size();
  const std::vector<int> order = near_order(points);
  for (int i = 0; i + 1 < n; ++i) {
    add(i, i + 1);
    add(order[i], order[i + 1]);
  }
}

// Values of a part, with those of the same coordinate in the first sample.
struct Digits {
  std::vector<std::pair<double, double>> values;

  // The fewest places after the decimal point with which all changes since the first sample can be written;
  // 17 where double precision shows no such number. Changes, because rounded displacements are not rounded
  // positions.
  int decimals() const {
    for (int d = 0; d < 17; ++d) {
      const double scale = std::pow(10.0, d);
      long telling = 0, moving = 0;
      bool all = true;
      for (const auto& [now, first] : values) {
        const double rounding = 4 * epsilon * std::max(std::abs(now), std::abs(first)), change = now - first;
        if (std::abs(change) <= 100 * rounding) continue;  // zero, where both are
        ++moving;
        // where rounding is as large as a unit of the last place, every number passes
        if (rounding * scale > 0.1) continue;
        ++telling;
        const double y = change * scale;
        if (std::abs(y - std::round(y)) > rounding * scale) {
          all = false;
          break;
        }
      }
      if (all && (telling < 10 || 2 * telling < moving)) return 17;
      if (all) return d;
    }
    return 17;
  }
  bool single_precision() const {
    long telling = 0;
    for (const auto& [now, first] : values) {
      if (now != static_cast<double>(static_cast<float>(now))) return false;
      telling += now != 0;
    }
    return telling >= 10;
  }
};

// Sizes of joints' places over time.
struct PlaceTrack {
  const SnapshotPlace* place = nullptr;
  MatrixXd x;  // 3 by k
  void follow(const Eigen::Ref<const MatrixXd>& X, int first) {
    double sum = 0;
    for (const double w : place->weights) sum += w;
    for (Index j = 0; j < X.cols(); ++j) {
      Vector3d mean = Vector3d::Zero();
      for (size_t i = 0; i < place->nodes.size(); ++i)
        mean += place->weights[i] * X.col(j).segment<3>(3 * place->nodes[i]);
      x.col(first + j) = mean / sum;
    }
  }
};

class Check {
 public:
  Check(SnapshotSource& run, const SnapshotExpectation& expected, Diagnostics& diagnostics)
      : run_(run), expected_(expected), diagnostics_(diagnostics) {
    for (const auto& part : expected.parts) size_ = std::max(size_, extent(part.points));
  }

  SnapshotReport make() {
    report_.run = run_.name();
    report_.samples = run_.samples();
    report_.decimals = 17;
    check_times();
    prepare_places();
    for (size_t e = 0; e < expected_.parts.size(); ++e) check_part(static_cast<int>(e));
    for (const auto& part : run_.parts())
      if (find_part(expected_.parts, part.name) < 0)
        problem("data of '{}', which is no body here{}", part.name,
                did_you_mean(part.name, names_of(expected_.parts)));
    if (!problems_.empty()) fail_with(run_.name(), problems_);
    check_gaps();
    check_resolution();
    return report_;
  }

 private:
  template <class... Args>
  void problem(fmt::format_string<Args...> format, Args&&... args) {
    problems_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
  void warn(std::string_view kind, const std::string& message) {
    diagnostics_.warn(fmt::format("snapshots.{}.{}", kind, run_.name()),
                      fmt::format("{}: {}", run_.name(), message));
  }
  void check_times();
  void prepare_places();
  void check_part(int e);
  bool check_nodes(const SnapshotExpectation::Part& wanted, const SnapshotSource::Part& found);
  void check_distances(const SnapshotExpectation::Part& wanted, const Distances& distances,
                       const Eigen::Ref<const MatrixXd>& x, int sample, bool& told);
  void check_gaps();
  void check_resolution();

  SnapshotSource& run_;
  const SnapshotExpectation& expected_;
  Diagnostics& diagnostics_;
  SnapshotReport report_;
  std::vector<std::string> problems_;
  std::vector<std::array<PlaceTrack, 2>> tracks_;  // of each pair
  double size_ = 0;
};

void Check::check_times() {
  const VectorXd& t = run_.times();
  const Index k = t.size();
  if (k < 2)
    problem("there is {} in the data, expected two samples or more", k == 1 ? "one sample" : "no sample");
  if (k == 0) return;
  report_.start = t[0];
  report_.end = t[k - 1];
  std::vector<double> steps;
  for (Index i = 0; i < k; ++i) {
    if (!std::isfinite(t[i])) {
      problem("the time of sample {} is not finite", i + 1);
      return;
    }
    if (i == 0) continue;
    if (t[i] <= t[i - 1]) {
      problem("the times do not rise: sample {} is at {} s, sample {} at {} s{}", i, t[i - 1], i + 1, t[i],
              t[i] == t[i - 1] ? "; take repeated samples out" : "");
      return;
    }
    steps.push_back(t[i] - t[i - 1]);
  }
  if (steps.empty()) return;
  const auto largest = std::max_element(steps.begin(), steps.end());
  report_.largest_step = *largest;
  report_.smallest_step = *std::min_element(steps.begin(), steps.end());
  const Index where = largest - steps.begin();
  std::vector<double> sorted = steps;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<long>(sorted.size() / 2), sorted.end());
  const double median = sorted[sorted.size() / 2];
  if (report_.largest_step > 10 * median)
    warn("time-gap",
         fmt::format("no samples between {:.6g} s and {:.6g} s, where most are {:.3g} s apart; the "
                     "motion in the gap does not train",
                     t[where], t[where + 1], median));
}

void Check::prepare_places() {
  tracks_.resize(expected_.pairs.size());
  for (size_t i = 0; i < tracks_.size(); ++i) {
    const SnapshotPlace* places[] = {&expected_.pairs[i].first, &expected_.pairs[i].second};
    for (int side = 0; side < 2; ++side) {
      LISSOM_ASSERT(places[side]->nodes.size() == places[side]->weights.size());
      tracks_[i][side].place = places[side];
      tracks_[i][side].x = places[side]->point.replicate(1, run_.samples());
    }
  }
}

bool Check::check_nodes(const SnapshotExpectation::Part& wanted, const SnapshotSource::Part& found) {
  const auto n = static_cast<int>(wanted.points.cols());
  if (!found.node_ids.empty() && !wanted.node_ids.empty() && found.node_ids != wanted.node_ids) {
    const auto missing = in_first_only(wanted.node_ids, found.node_ids),
               extra = in_first_only(found.node_ids, wanted.node_ids);
    if (!missing.empty())
      problem("body '{}': {} of {} nodes of the mesh are missing from the data: {}", wanted.name,
              missing.size(), n, some_of(missing));
    if (!extra.empty())
      problem("body '{}': the data have {} nodes that the mesh does not have: {}", wanted.name, extra.size(),
              some_of(extra));
    if (missing.empty() && extra.empty())
      problem("body '{}': the nodes are in another order than in the mesh", wanted.name);
    return false;
  }
  if (found.nodes != n) {
    problem("body '{}': the data have {} nodes, the mesh has {}", wanted.name, found.nodes, n);
    return false;
  }
  return true;
}

void Check::check_distances(const SnapshotExpectation::Part& wanted, const Distances& distances,
                            const Eigen::Ref<const MatrixXd>& x, int sample, bool& told) {
  const auto at = [&](int node) { return x.col(0).segment<3>(3 * node); };
  const auto id = [&](int node) {
    return wanted.node_ids.empty() ? std::int64_t{node} + 1 : wanted.node_ids[node];
  };
  const auto stretch_of = [&](const Distances::Edge& edge) {
    return std::abs((at(edge.a) - at(edge.b)).norm() / edge.at_rest - 1);
  };
  size_t bad = 0;
  double least_ratio = INFINITY, most_ratio = 0;
  VectorXd change = VectorXd::Zero(wanted.points.cols());  // of the distances to the far nodes, in all
  for (size_t i = 0; i < distances.edges.size(); ++i) {
    const Distances::Edge& edge = distances.edges[i];
    const double d = (at(edge.a) - at(edge.b)).norm(), stretch = stretch_of(edge);
    report_.largest_stretch = std::max(report_.largest_stretch, stretch);
    if (i < distances.far_edges) {
      least_ratio = std::min(least_ratio, d / edge.at_rest);
      most_ratio = std::max(most_ratio, d / edge.at_rest);
      change[edge.a] += std::abs(d - edge.at_rest);
    }
    bad += stretch > greatest_stretch;
  }
  if (told) return;
  const std::string when = fmt::format("at {:.6g} s", run_.times()[sample]);
  if (bad > 0) {
    told = true;
    if (most_ratio - least_ratio < 0.02 * most_ratio)
      problem(
          "body '{}': {} all distances between nodes are about {:g} times those of the mesh; are the data in "
          "other units?",
          wanted.name, when, two_digits((least_ratio + most_ratio) / 2));
    else if (most_ratio < 0.5)
      problem(
          "body '{}': {} no two nodes are farther apart than {:.2g} of their distance in the mesh; are the "
          "data displacements?",
          wanted.name, when, most_ratio);
    else {
      // the node that is farthest from where it should be, and the distance that shows it best
      Index node = 0;
      change.maxCoeff(&node);
      const Distances::Edge* shown = nullptr;
      double most = -1;
      for (const Distances::Edge& edge : distances.edges) {
        const double off = std::abs((at(edge.a) - at(edge.b)).norm() - edge.at_rest);
        const bool is_there = edge.a == node || edge.b == node;
        if (off <= greatest_stretch * edge.at_rest || !is_there || off <= most) continue;
        most = off;
        shown = &edge;
      }
      // where only near nodes tell
      for (size_t i = 0; i < distances.edges.size() && !shown; ++i)
        if (stretch_of(distances.edges[i]) > greatest_stretch) shown = &distances.edges[i];
      LISSOM_ASSERT(shown);
      const int other = shown->a == node ? shown->b : shown->a, one = shown->a == node ? shown->a : shown->b;
      problem(
          "body '{}': {} node {} is {:.4g} m away from node {}, in the mesh {:.4g} m ({} of {} distances "
          "differ by more than {:.0f} %); are the nodes in another order? give node ids",
          wanted.name, when, id(one), (at(one) - at(other)).norm(), id(other), shown->at_rest, bad,
          distances.edges.size(), 100 * greatest_stretch);
    }
    return;
  }
  // all distances may be right in a mirror
  if (distances.far.size() < 4) return;
  const auto volume = [&](const auto& point) {
    const Vector3d o = point(distances.far[0]);
    return (point(distances.far[1]) - o).cross(point(distances.far[2]) - o).dot(point(distances.far[3]) - o);
  };
  const double now = volume([&](int i) { return Vector3d(at(i)); }),
               rest = volume([&](int i) { return Vector3d(wanted.points.col(i)); });
  if (std::abs(rest) > 1e-3 * std::pow(extent(wanted.points), 3) && now * rest < 0) {
    told = true;
    problem(
        "body '{}': {} the nodes are a mirror image of the mesh; are the nodes in another order, or the axes "
        "left-handed?",
        wanted.name, when);
  }
}

void Check::check_part(int e) {
  const SnapshotExpectation::Part& wanted = expected_.parts[e];
  const int index = find_part(run_.parts(), wanted.name);
  if (index < 0) return problem("{}", missing_part(wanted.name, names_of(run_.parts())));
  const SnapshotSource::Part& found = run_.parts()[index];
  const int n = found.nodes, k = run_.samples();
  if (!check_nodes(wanted, found) || k == 0 || n == 0) return;

  const Distances distances(wanted.points);
  Digits digits;
  VectorXd start;
  VectorXd moved = VectorXd::Zero(n);  // largest displacement, squared
  const int every = std::max(1, (k + samples_of_distances - 1) / samples_of_distances);
  const int looked_at = k / every + 2;
  const int node_step = std::max<int>(1, static_cast<int>(3L * n * looked_at / values_of_decimals));
  long infinite = 0;
  int infinite_sample = 0, infinite_node = 0;
  bool told = false;
  // blocks of some tens of megabytes
  const int block = std::clamp(static_cast<int>((4L << 20) / (3L * n)), 1, 64);
  MatrixXd room(3 * n, std::min(block, k));
  for (int first = 0; first < k; first += block) {
    const int count = std::min(block, k - first);
    auto X = room.leftCols(count);
    run_.read(index, first, count, X);
    if (first == 0) start = X.col(0);
    for (int j = 0; j < count; ++j) {
      const auto x = X.col(j);
      if (!x.allFinite()) {
        for (int i = 0; i < n; ++i) {
          if (x.segment<3>(3 * i).allFinite()) continue;
          if (infinite++ == 0) infinite_sample = first + j, infinite_node = i;
        }
        continue;
      }
      const Eigen::Map<const Matrix3Xd> now(x.data(), 3, n), before(start.data(), 3, n);
      moved = moved.cwiseMax((now - before).colwise().squaredNorm().transpose());
      const int sample = first + j;
      if (sample % every != 0 && sample != k - 1) continue;
      check_distances(wanted, distances, x, sample, told);
      for (Index i = sample % node_step; i < 3L * n; i += node_step)
        digits.values.emplace_back(x[i], start[i]);
    }
    for (size_t i = 0; i < tracks_.size(); ++i)
      for (PlaceTrack& track : tracks_[i])
        if (track.place->part == e) track.follow(X, first);
  }
  if (infinite > 0) {
    problem("body '{}': node {} in sample {} (at {:.6g} s) has a coordinate that is not finite{}",
            wanted.name,
            wanted.node_ids.empty() ? std::int64_t{infinite_node} + 1 : wanted.node_ids[infinite_node],
            infinite_sample + 1, run_.times()[infinite_sample],
            infinite > 1 ? fmt::format(", and so have {} more", infinite - 1) : "");
    return;
  }

  report_.motion = std::max(report_.motion, std::sqrt(moved.maxCoeff()));
  std::vector<std::int64_t> still;
  for (int i = 0; i < n; ++i)
    if (moved[i] == 0) still.push_back(wanted.node_ids.empty() ? std::int64_t{i} + 1 : wanted.node_ids[i]);
  if (k > 1 && static_cast<int>(still.size()) == n)
    warn("still." + wanted.name, fmt::format("body '{}' never moves", wanted.name));
  else if (k > 1 && !still.empty())
    warn(
        "still." + wanted.name,
        fmt::format("body '{}': {} of {} nodes never move ({}); that is right where they are held, and wrong "
                    "where data are missing",
                    wanted.name, still.size(), n, some_of(still)));

  const int decimals = digits.decimals();
  double resolution = decimals < 17 ? std::pow(10.0, -decimals) : 0;
  if (digits.single_precision()) {
    double largest = 0;
    for (const auto& value : digits.values) largest = std::max(largest, std::abs(value.first));
    const double spacing = largest * 0x1p-24;
    if (spacing > resolution) {
      resolution = spacing;
      report_.single_precision = true;
    }
  }
  if (resolution > report_.resolution) {
    report_.resolution = resolution;
    report_.decimals = std::clamp(static_cast<int>(std::floor(1e-9 - std::log10(resolution))), 0, 17);
  }
}

void Check::check_gaps() {
  for (size_t i = 0; i < tracks_.size(); ++i) {
    if (run_.samples() == 0) continue;
    const double gap = (tracks_[i][0].x - tracks_[i][1].x).colwise().norm().maxCoeff();
    if (gap <= report_.largest_gap) continue;
    report_.largest_gap = gap;
    report_.largest_gap_joint = expected_.pairs[i].joint;
  }
  if (report_.largest_gap > 1e-9 * size_)
    warn("joint-gap",
         fmt::format("joint '{}' opens by {:.3g} m in the data; is it in the place that the study "
                     "says, and of that kind?",
                     report_.largest_gap_joint, report_.largest_gap));
}

void Check::check_resolution() {
  if (report_.resolution <= std::min(1e-11, 1e-10 * size_)) return;
  if (report_.single_precision)
    warn("rounded",
         fmt::format("the data are in single precision, to about {:.1g} m; small singular values are "
                     "rounding. Write double precision",
                     report_.resolution));
  else
    warn("rounded", fmt::format("the data are rounded to {} decimals ({:.0e} m); small singular values are "
                                "rounding. Write twelve decimals or more",
                                report_.decimals, report_.resolution));
}

}  // namespace

SnapshotReport check_snapshots(SnapshotSource& run, const SnapshotExpectation& expected,
                               Diagnostics& diagnostics) {
  return Check(run, expected, diagnostics).make();
}

}  // namespace lissom

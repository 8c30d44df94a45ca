#include "lissom/io/view_thinning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXf;

namespace {

// Below these a picture loses what it is there for.
constexpr std::int64_t fewest_points = 400;
constexpr Index fewest_frames = 60;

// For each point the one that stands for it: the one nearest to the middle of its cell's points.
std::vector<std::uint32_t> representatives(const Eigen::Matrix3Xf& points, double cell,
                                           const std::vector<std::uint32_t>& kept) {
  std::map<std::array<long, 3>, std::vector<std::uint32_t>> cells;
  for (Index i = 0; i < points.cols(); ++i) {
    std::array<long, 3> key;
    for (int c = 0; c < 3; ++c) key[c] = std::lround(std::floor(points(c, i) / cell));
    cells[key].push_back(static_cast<std::uint32_t>(i));
  }
  std::vector<std::uint32_t> of(static_cast<size_t>(points.cols()));
  for (const auto& [key, members] : cells) {
    Eigen::Vector3f middle = Eigen::Vector3f::Zero();
    for (const auto i : members) middle += points.col(i);
    middle /= static_cast<float>(members.size());
    std::uint32_t best = members.front();
    for (const auto i : members)
      if ((points.col(i) - middle).squaredNorm() < (points.col(best) - middle).squaredNorm()) best = i;
    for (const auto i : members) of[i] = best;
  }
  for (const auto i : kept) of[i] = i;
  return of;
}

size_t count_of(const std::vector<std::uint32_t>& of) {
  return std::set<std::uint32_t>(of.begin(), of.end()).size();
}

// Groups of `size` points each under another numbering; those that vanish or come again are left out.
std::vector<std::uint32_t> renumbered(const std::vector<std::uint32_t>& groups, size_t size,
                                      const std::vector<std::uint32_t>& number) {
  std::vector<std::uint32_t> out;
  std::set<std::array<std::uint32_t, 3>> seen;
  for (size_t g = 0; g + size <= groups.size(); g += size) {
    std::array<std::uint32_t, 3> now = {0, 0, 0};
    for (size_t k = 0; k < size; ++k) now[k] = number[groups[g + k]];
    std::array<std::uint32_t, 3> sorted = now;
    std::sort(sorted.begin(), sorted.begin() + static_cast<long>(size));
    if (std::adjacent_find(sorted.begin(), sorted.begin() + static_cast<long>(size)) !=
        sorted.begin() + static_cast<long>(size))
      continue;
    if (seen.insert(sorted).second) out.insert(out.end(), now.begin(), now.begin() + static_cast<long>(size));
  }
  return out;
}

MatrixXf rows_of(const MatrixXf& values, int components, const std::vector<std::uint32_t>& points) {
  if (values.size() == 0) return values;
  MatrixXf out(components * static_cast<Index>(points.size()), values.cols());
  for (size_t i = 0; i < points.size(); ++i)
    out.middleRows(components * static_cast<Index>(i), components) =
        values.middleRows(components * static_cast<Index>(points[i]), components);
  return out;
}

std::int64_t bytes_of(const View& view) {
  std::int64_t bytes = 0;
  for (const ViewPart& part : view.parts)
    bytes +=
        12 * part.points.cols() + 2 * static_cast<std::int64_t>(part.triangles.size() + part.edges.size());
  if (view.motion)
    for (const ViewMotion::Part& part : view.motion->parts) {
      bytes += 28 * part.position.cols();
      for (const ViewSeries* series : {&part.displacement, &part.stress})
        bytes += 2 * series->basis.size() + 4 * series->amplitudes.size();
    }
  if (view.shapes)
    for (const ViewShapes::Part& part : view.shapes->parts)
      bytes += 2 * (part.real.size() + part.imaginary.size());
  return bytes * 4 / 3;
}

Index frames_of(const View& view) {
  return view.motion ? view.motion->time.size() : 0;
}

}  // namespace

std::int64_t encoded_bytes(const ReportView& view) {
  std::int64_t bytes = 0;
  for (const ReportView::Run& run : view.runs) bytes += bytes_of(*run.view);
  return bytes;
}

View with_fewer_points(const View& view, std::int64_t most) {
  View out = view;
  const double share =
      static_cast<double>(most) / static_cast<double>(std::max<std::int64_t>(1, view.points()));
  for (size_t p = 0; p < out.parts.size(); ++p) {
    ViewPart& part = out.parts[p];
    const Index n = part.points.cols();
    const auto limit = static_cast<size_t>(std::max(8.0, share * static_cast<double>(n)));
    if (static_cast<size_t>(n) <= limit) continue;
    std::vector<std::uint32_t> sensors;
    for (const ViewSensor& sensor : out.sensors)
      if (sensor.part == static_cast<int>(p)) sensors.push_back(sensor.point);
    // cells grow until few enough points are left
    const Eigen::Vector3f size = part.points.rowwise().maxCoeff() - part.points.rowwise().minCoeff();
    double cell = std::max(1e-9, size.cast<double>().norm() / std::sqrt(static_cast<double>(limit)) / 2);
    std::vector<std::uint32_t> of = representatives(part.points, cell, sensors);
    while (count_of(of) > limit + sensors.size()) of = representatives(part.points, cell *= 1.25, sensors);

    std::vector<std::uint32_t> kept(of.begin(), of.end());
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    std::vector<std::uint32_t> number(static_cast<size_t>(n));
    for (size_t i = 0; i < number.size(); ++i)
      number[i] =
          static_cast<std::uint32_t>(std::lower_bound(kept.begin(), kept.end(), of[i]) - kept.begin());
    part.points = Eigen::Matrix3Xf(view.parts[p].points(Eigen::all, kept));
    if (!part.node_ids.empty()) {
      std::vector<std::int64_t> ids;
      for (const auto i : kept) ids.push_back(part.node_ids[i]);
      part.node_ids = std::move(ids);
    }
    part.triangles = renumbered(part.triangles, 3, number);
    part.edges = renumbered(part.edges, 2, number);
    for (ViewSensor& sensor : out.sensors)
      if (sensor.part == static_cast<int>(p)) sensor.point = number[sensor.point];
    if (out.motion) {
      ViewMotion::Part& motion = out.motion->parts[p];
      motion.displacement.basis = rows_of(motion.displacement.basis, 3, kept);
      motion.stress.basis = rows_of(motion.stress.basis, 6, kept);
    }
    if (out.shapes) {
      ViewShapes::Part& shapes = out.shapes->parts[p];
      shapes.real = rows_of(shapes.real, 3, kept);
      shapes.imaginary = rows_of(shapes.imaginary, 3, kept);
    }
  }
  return out;
}

View with_fewer_frames(const View& view, int every) {
  View out = view;
  if (!out.motion || every <= 1) return out;
  ViewMotion& motion = *out.motion;
  std::vector<Index> kept;
  for (Index k = 0; k < motion.time.size(); k += every) kept.push_back(k);
  if (!kept.empty() && kept.back() != motion.time.size() - 1) kept.push_back(motion.time.size() - 1);
  motion.time = Eigen::VectorXd(view.motion->time(kept));
  for (size_t p = 0; p < motion.parts.size(); ++p) {
    const ViewMotion::Part& whole = view.motion->parts[p];
    ViewMotion::Part& part = motion.parts[p];
    part.position = Eigen::Matrix3Xd(whole.position(Eigen::all, kept));
    part.rotation = Eigen::Matrix4Xd(whole.rotation(Eigen::all, kept));
    if (whole.displacement.rank() > 0)
      part.displacement.amplitudes = MatrixXf(whole.displacement.amplitudes(Eigen::all, kept));
    if (whole.stress.rank() > 0) part.stress.amplitudes = MatrixXf(whole.stress.amplitudes(Eigen::all, kept));
  }
  return out;
}

bool thin_views(const std::vector<ReportView*>& views, double factor, std::vector<std::string>& notes) {
  factor = std::clamp(factor, 0.02, 0.9);
  // the largest run of all
  ReportView* largest = nullptr;
  size_t run = 0;
  std::int64_t most = 0;
  for (ReportView* view : views)
    for (size_t r = 0; r < view->runs.size(); ++r)
      if (const std::int64_t bytes = bytes_of(*view->runs[r].view); bytes > most) {
        most = bytes;
        largest = view;
        run = r;
      }
  if (!largest) return false;
  const std::int64_t points = largest->runs[run].view->points();
  const Index frames = frames_of(*largest->runs[run].view);
  std::int64_t amplitudes = 0;
  if (frames > 0)
    for (const ViewMotion::Part& part : largest->runs[run].view->motion->parts)
      amplitudes += 28 * frames + 4 * (part.displacement.amplitudes.size() + part.stress.amplitudes.size());

  // one note for all runs of a view, which are treated alike
  const auto say = [&](const std::string& note) {
    for (ReportView::Run& one : largest->runs) {
      View changed = *one.view;
      changed.notes.push_back(note);
      one.view = std::make_shared<View>(std::move(changed));
    }
    notes.push_back(fmt::format("{}: {}", largest->title, note));
  };
  if (amplitudes * 4 / 3 > most / 2 && frames > fewest_frames) {
    const int every =
        static_cast<int>(std::min(std::ceil(1 / factor), static_cast<double>(frames) / fewest_frames + 1));
    for (ReportView::Run& one : largest->runs)
      one.view = std::make_shared<View>(with_fewer_frames(*one.view, every));
    say(fmt::format("to keep the report small, only every {}. frame is here, {} in all.", every,
                    frames_of(*largest->runs[run].view)));
    return true;
  }
  if (points > 10 * fewest_points || (points > fewest_points && largest->runs.size() == 1)) {
    const std::int64_t limit =
        std::max(fewest_points, static_cast<std::int64_t>(factor * static_cast<double>(points)));
    for (ReportView::Run& one : largest->runs)
      one.view = std::make_shared<View>(with_fewer_points(*one.view, limit));
    const std::int64_t left = largest->runs[run].view->points();
    if (left < points) {
      say(fmt::format("to keep the report small, the surfaces are coarser than the mesh: {} points of {}.",
                      left, points));
      return true;
    }
  }
  if (largest->runs.size() > 1) {
    const std::string label = largest->runs.back().label;
    largest->runs.pop_back();
    say(fmt::format("to keep the report small, '{}' is not shown.", label));
    return true;
  }
  return false;
}

}  // namespace lissom

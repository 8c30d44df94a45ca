#include "lissom/io/view_thinning.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lissom/fe/surface.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXf;

namespace {

// Below these a picture loses what it is there for.
constexpr std::int64_t fewest_points = 400;
constexpr Index fewest_frames = 60;

MatrixXf rows_of(const MatrixXf& values, int components, const std::vector<int>& points) {
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
    const int limit = static_cast<int>(std::max(8.0, share * static_cast<double>(n)));
    if (n <= limit) continue;
    Surface surface;
    surface.nodes.resize(static_cast<size_t>(n));
    std::iota(surface.nodes.begin(), surface.nodes.end(), 0);
    surface.triangles = part.triangles;
    surface.edges = part.edges;
    surface = simplify(surface, part.points.cast<double>(), limit);
    const std::vector<int>& kept = surface.nodes;
    part.points = Eigen::Matrix3Xf(view.parts[p].points(Eigen::all, kept));
    part.triangles = std::move(surface.triangles);
    part.edges = std::move(surface.edges);
    if (!part.node_ids.empty()) {
      std::vector<std::int64_t> ids;
      for (const int i : kept) ids.push_back(part.node_ids[static_cast<size_t>(i)]);
      part.node_ids = std::move(ids);
    }
    for (ViewSensor& sensor : out.sensors) {
      if (sensor.part != static_cast<int>(p)) continue;
      const Eigen::Vector3f where = view.parts[p].points.col(sensor.point);
      Index nearest = 0;
      (part.points.colwise() - where).colwise().squaredNorm().minCoeff(&nearest);
      sensor.point = static_cast<std::uint32_t>(nearest);
    }
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

  // one note for all runs of a view, which are treated alike; it takes the place of one that begins alike
  const auto say = [&](const std::string& begin, const std::string& rest) {
    const auto put = [&](std::vector<std::string>& list, const std::string& start) {
      const auto old = std::find_if(list.begin(), list.end(),
                                    [&](const std::string& note) { return note.starts_with(start); });
      if (old != list.end()) list.erase(old);
      list.push_back(start + rest);
    };
    for (ReportView::Run& one : largest->runs) {
      View changed = *one.view;
      put(changed.notes, begin);
      one.view = std::make_shared<View>(std::move(changed));
    }
    put(notes, fmt::format("{}: {}", largest->title, begin));
  };
  if (amplitudes * 4 / 3 > most / 2 && frames > fewest_frames) {
    const int every =
        static_cast<int>(std::min(std::ceil(1 / factor), static_cast<double>(frames) / fewest_frames + 1));
    for (ReportView::Run& one : largest->runs)
      one.view = std::make_shared<View>(with_fewer_frames(*one.view, every));
    say("To keep the report small, frames are left out: ",
        fmt::format("{} are here.", frames_of(*largest->runs[run].view)));
    return true;
  }
  if (points > 10 * fewest_points || (points > fewest_points && largest->runs.size() <= 2)) {
    const std::int64_t limit =
        std::max(fewest_points, static_cast<std::int64_t>(factor * static_cast<double>(points)));
    for (ReportView::Run& one : largest->runs)
      one.view = std::make_shared<View>(with_fewer_points(*one.view, limit));
    const std::int64_t left = largest->runs[run].view->points();
    if (left < points) {
      say("To keep the report small, the surfaces are coarser than the mesh: ",
          fmt::format("{} points are here.", left));
      return true;
    }
  }
  if (largest->runs.size() > 1) {
    largest->left_out.push_back(largest->runs.back().label);
    largest->runs.pop_back();
    say("To keep the report small, these are not shown: ",
        fmt::format("{}.", fmt::join(largest->left_out, "; ")));
    return true;
  }
  return false;
}

}  // namespace lissom

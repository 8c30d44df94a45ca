#include "lissom/study/view.hpp"

#include <Eigen/Geometry>
#include <Eigen/QR>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "lissom/core/parallel.hpp"
#include "lissom/core/polar.hpp"
#include "lissom/core/resources.hpp"
#include "lissom/fe/stress_recovery.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/rom/low_rank_series.hpp"
#include "lissom/study/view_parts.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::Matrix3Xd;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using nlohmann::json;

namespace {

using Part = ViewParts::Part;

// The rigid motion x = p + R X that fits points best, and what is left of them in the axes of X.
struct Fit {
  Vector3d p = Vector3d::Zero();
  Matrix3d R = Matrix3d::Identity();

  // Throws Error where the points have no rotation: all on a line.
  Fit(const Matrix3Xd& X, const Eigen::Ref<const Matrix3Xd>& x) {
    const Vector3d X_mean = X.rowwise().mean(), x_mean = x.rowwise().mean();
    Matrix3d C = Matrix3d::Zero();
    for (Index i = 0; i < X.cols(); ++i) C += (x.col(i) - x_mean) * (X.col(i) - X_mean).transpose();
    R = polar(C).A;
    p = x_mean - R * X_mean;
  }
  void displacements(const Matrix3Xd& X, Eigen::Ref<Matrix3Xd> x) const {
    for (Index i = 0; i < X.cols(); ++i) x.col(i) = R.transpose() * (x.col(i) - p) - X.col(i);
  }
};

Eigen::Vector4d quaternion_of(const Matrix3d& R) {
  return Eigen::Quaterniond(R).normalized().coeffs();
}

// Of large meshes it is said what is not there.
void note_surfaces(View& view) {
  std::int64_t nodes = 0;
  for (const ViewPart& part : view.parts) nodes += part.mesh_nodes;
  if (nodes > 50000 && nodes > view.points())
    view.notes.push_back(
        fmt::format("Only surfaces are shown: {} points of {} nodes.", view.points(), nodes));
}

ViewSeries view_series(LowRankSeries series) {
  ViewSeries out;
  out.basis = std::move(series.basis);
  out.amplitudes = std::move(series.amplitudes);
  out.largest = series.largest;
  out.error = series.error;
  return out;
}

// Samples that are shown: every so many, and the last one.
std::vector<Index> frames_of(Index samples, int most) {
  most = std::max(2, most);
  const Index every = std::max<Index>(1, (samples - 1 + most - 2) / (most - 1));
  std::vector<Index> frames;
  for (Index k = 0; k < samples; k += every) frames.push_back(k);
  if (frames.back() == samples - 1) return frames;
  if (static_cast<int>(frames.size()) < most)
    frames.push_back(samples - 1);
  else
    frames.back() = samples - 1;
  return frames;
}

// The diagonal of the box around all points at a state.
double size_of(const ViewParts& parts, const VectorXd& q) {
  Vector3d lower = Vector3d::Constant(std::numeric_limits<double>::infinity()), upper = -lower;
  for (const Part& part : parts.parts()) {
    const Matrix3Xd nodes = parts.nodes(part.body, q);
    Matrix3Xd x(3, part.X.cols());
    parts.positions(part, q, nodes, part.turns() ? ViewParts::first_normal(part, nodes) : Vector3d::Zero(),
                    x);
    lower = lower.cwiseMin(x.rowwise().minCoeff());
    upper = upper.cwiseMax(x.rowwise().maxCoeff());
  }
  return (upper - lower).norm();
}

// Frames in blocks that each run over the whole time, so that the first block knows most of the motion.
class FrameBlocks {
 public:
  FrameBlocks(Index frames, Index rows) : frames_(frames) {
    constexpr Index numbers_at_once = 4000000;
    const Index at_once = std::clamp<Index>(numbers_at_once / std::max<Index>(1, rows), 4, 64);
    blocks_ = (frames + at_once - 1) / at_once;
  }
  Index blocks() const { return blocks_; }
  std::vector<Index> frames(Index block) const {
    std::vector<Index> list;
    for (Index k = block; k < frames_; k += blocks_) list.push_back(k);
    return list;
  }
  // Columns in the order of the blocks, back in that of time.
  void restore(Eigen::MatrixXf& columns) const {
    const Eigen::MatrixXf mixed = columns;
    Index at = 0;
    for (Index b = 0; b < blocks_; ++b)
      for (const Index k : frames(b)) columns.col(k) = mixed.col(at++);
  }

 private:
  Index frames_, blocks_;
};

// The motion of the parts of one body.
class BodyMotion {
 public:
  BodyMotion(const ViewParts& parts, std::vector<size_t> which, const MatrixXd& q)
      : parts_(parts), which_(std::move(which)), q_(q) {}

  void compute(const ViewOptions& options, double size, double bytes, const std::function<void(double)>& done,
               std::vector<ViewMotion::Part>& out) {
    const Index frames = q_.cols();
    Index rows = 0;
    for (const size_t p : which_) rows += part(p).shown.points.size();
    const FrameBlocks blocks(frames, rows);
    std::vector<LowRankBuilder> builders;
    for (const size_t p : which_) {
      builders.emplace_back(
          part(p).X.cols(), PointMeasure::Length, 0.1 * options.round_off * size,
          bytes * static_cast<double>(part(p).X.size()) / static_cast<double>(std::max<Index>(1, rows)));
      out[p].position.resize(3, frames);
      out[p].rotation.resize(4, frames);
    }
    find_normals();
    for (Index b = 0; b < blocks.blocks(); ++b) {
      const std::vector<Index> list = blocks.frames(b);
      std::vector<MatrixXd> u;
      for (const size_t p : which_) u.emplace_back(part(p).X.size(), static_cast<Index>(list.size()));
      const auto count = static_cast<Index>(list.size());
      // small ones are not worth the threads
      parallel_for(count, 1, rows * count > 500000 ? thread_count() : 1,
                   [&](Index k) { frame(list[static_cast<size_t>(k)], k, u, out); });
      for (size_t i = 0; i < which_.size(); ++i) builders[i].add(u[i]);
      done(static_cast<double>(b + 1) / static_cast<double>(blocks.blocks()));
    }
    for (size_t i = 0; i < which_.size(); ++i) {
      const double tolerance =
          std::max(options.displacement * builders[i].largest(), options.round_off * size);
      ViewMotion::Part& motion = out[which_[i]];
      motion.displacement = view_series(builders[i].finish(tolerance));
      blocks.restore(motion.displacement.amplitudes);
      // q and -q are the same rotation
      for (Index k = 1; k < frames; ++k)
        if (motion.rotation.col(k).dot(motion.rotation.col(k - 1)) < 0) motion.rotation.col(k) *= -1;
    }
  }

 private:
  const Part& part(size_t p) const { return parts_.parts()[p]; }

  // First normals of beams in space, each from the one before.
  void find_normals() {
    normals_.resize(which_.size());
    for (size_t i = 0; i < which_.size(); ++i) {
      const Part& of = part(which_[i]);
      normals_[i].setZero(3, q_.cols());
      if (!of.turns()) continue;
      for (Index k = 0; k < q_.cols(); ++k) {
        const Matrix3Xd nodes = parts_.nodes(of.body, q_.col(k));
        normals_[i].col(k) = k == 0 ? ViewParts::first_normal(of, nodes)
                                    : ViewParts::first_normal(of, nodes, normals_[i].col(k - 1));
      }
    }
  }

  void frame(Index k, Index column, std::vector<MatrixXd>& u, std::vector<ViewMotion::Part>& out) const {
    const Matrix3Xd nodes = parts_.nodes(part(which_.front()).body, q_.col(k));
    for (size_t i = 0; i < which_.size(); ++i) {
      const Part& of = part(which_[i]);
      Eigen::Map<Matrix3Xd> x(u[i].col(column).data(), 3, of.X.cols());
      parts_.positions(of, q_.col(k), nodes, normals_[i].col(k), x);
      const Fit fit(of.X, x);
      fit.displacements(of.X, x);
      out[which_[i]].position.col(k) = fit.p;
      out[which_[i]].rotation.col(k) = quaternion_of(fit.R);
    }
  }

  const ViewParts& parts_;
  std::vector<size_t> which_;
  const MatrixXd& q_;
  std::vector<Matrix3Xd> normals_;
};

// Stress on the points of a part. It is linear in the amplitudes of the deformation (Body::deformation), of
// which some frames span all the others: their stress is computed from the nodes' displacements.
class PartStress {
 public:
  PartStress(const ViewParts& parts, const Part& part, const MatrixXd& q)
      : part_(part),
        body_(*parts.system().bodies()[static_cast<size_t>(part.body)]),
        offset_(parts.system().offset(part.body)),
        q_(q) {}

  // Why there is none; empty where compute() will do.
  std::string missing() const {
    if (part_.kind == ViewParts::Kind::Beam) return "a beam";
    if (part_.kind == ViewParts::Kind::Rods || body_.deformation_basis(part_.group_index).size == 0)
      return "rigid";
    if (!part_.complete) return "kept without all nodes of the mesh";
    return "";
  }

  // False where the modes take too much memory. Throws Error where elements have no material.
  bool compute(const ViewOptions& options, ViewMotion::Part& out) const {
    const Index c = body_.deformation_basis(part_.group_index).size, frames = q_.cols();
    MatrixXd D(c, frames);
    for (Index k = 0; k < frames; ++k) body_.deformation(part_.group_index, own(k), D.col(k));
    // D = D(:, chosen) C
    Eigen::ColPivHouseholderQR<MatrixXd> qr(D);
    qr.setThreshold(1e-13);
    const Index rank = qr.rank();
    if (48.0 * static_cast<double>(part_.X.cols()) * static_cast<double>(rank) > options.stress_bytes)
      return false;
    MatrixXd C = qr.matrixR().topRows(rank);
    C.leftCols(rank).triangularView<Eigen::StrictlyLower>().setZero();
    qr.matrixR().topLeftCorner(rank, rank).triangularView<Eigen::Upper>().solveInPlace(C);
    C = (C * qr.colsPermutation().transpose()).eval();
    const auto& order = qr.colsPermutation().indices();

    LowRankBuilder builder(part_.X.cols(), PointMeasure::VonMises, 0, options.stress_bytes);
    const Index nodes = part_.mesh->node_count();
    const Index at_once = std::clamp<Index>(8000000 / std::max<Index>(1, 3 * nodes), 1, 64);
    for (Index first = 0; first < rank; first += at_once) {
      const Index count = std::min(at_once, rank - first);
      MatrixXd u = MatrixXd::Zero(3 * nodes, count);
      for (Index k = 0; k < count; ++k) {
        const Matrix3Xd local = body_.local_displacements(part_.group_index, own(order[first + k]));
        for (Index i = 0; i < nodes; ++i)
          if (const int at = part_.at[static_cast<size_t>(i)]; at >= 0)
            u.col(k).segment<3>(3 * i) = local.col(at);
      }
      NodalStress stress = recover_stress(*part_.mesh, u, std::span<const int>(part_.nodes), {false, true});
      builder.add(stress.stress);
    }
    // the largest of the frames chosen is not above that of all
    out.stress = view_series(builder.finish(options.stress * builder.largest(), C));
    out.has_stress = true;
    return true;
  }

 private:
  VectorXd own(Index k) const { return q_.col(k).segment(offset_, body_.coordinates()); }

  const Part& part_;
  const Body& body_;
  Index offset_;
  const MatrixXd& q_;
};

// Sensors that sit on a part, at its nearest point at the first frame.
std::vector<ViewSensor> view_sensors(const StudySystem& built, const ViewParts& parts,
                                     const std::vector<std::string>& columns, const VectorXd& q) {
  const System& system = *built.system;
  std::vector<ViewSensor> out;
  std::vector<Matrix3Xd> x(parts.parts().size());
  for (size_t p = 0; p < x.size(); ++p) {
    const Part& part = parts.parts()[p];
    const Matrix3Xd nodes = parts.nodes(part.body, q);
    x[p].resize(3, part.X.cols());
    parts.positions(part, q, nodes, part.turns() ? ViewParts::first_normal(part, nodes) : Vector3d::Zero(),
                    x[p]);
  }
  // a column belongs to the sensor with the longest name that fits
  std::vector<std::vector<std::string>> of_sensor(built.sensors.size());
  std::unordered_map<std::string_view, size_t> by_name;
  for (size_t s = 0; s < built.sensors.size(); ++s) by_name.emplace(built.sensors[s].name, s);
  for (const std::string& column : columns)
    for (size_t dot = column.rfind('.'); dot != std::string::npos;
         dot = dot > 0 ? column.rfind('.', dot - 1) : std::string::npos)
      if (const auto at = by_name.find(std::string_view(column).substr(0, dot)); at != by_name.end()) {
        of_sensor[at->second].push_back(column);
        break;
      }
  for (size_t s = 0; s < built.sensors.size(); ++s) {
    const Sensor& sensor = built.sensors[s];
    int b = -1, group = -1;
    Vector3d at = Vector3d::Zero();
    if (is_stress(sensor.kind) && sensor.stress.body >= 0) {
      b = sensor.stress.body;
      group = sensor.stress.group;
      const Body& body = *system.bodies()[static_cast<size_t>(b)];
      const NodeGroup nodes = body.node_groups()[static_cast<size_t>(group)];
      const auto first = body.node_ids().begin() + nodes.first;
      const auto found = std::find(first, first + nodes.count, sensor.stress.node_ids.front());
      if (found == first + nodes.count) continue;
      at = parts.nodes(b, q).col(found - body.node_ids().begin());
    } else if (sensor.marker.body >= 0 && sensor.index < 0) {
      b = sensor.marker.body;
      const Body& body = *system.bodies()[static_cast<size_t>(b)];
      const VectorXd own = q.segment(system.offset(b), body.coordinates());
      MarkerKinematics m;
      const auto workspace = body.workspace();
      body.marker(sensor.marker.marker, own, VectorXd::Zero(own.size()), false, *workspace, m);
      at = m.position();
    }
    if (b < 0) continue;
    ViewSensor shown;
    double nearest = std::numeric_limits<double>::infinity();
    for (size_t p = 0; p < x.size(); ++p) {
      const Part& part = parts.parts()[p];
      if (part.body != b || (group >= 0 && part.group_index != group)) continue;
      Index point = 0;
      const double distance = (x[p].colwise() - at).colwise().norm().minCoeff(&point);
      if (!(distance < nearest)) continue;
      nearest = distance;
      shown.part = static_cast<int>(p);
      shown.point = static_cast<std::uint32_t>(point);
    }
    if (!std::isfinite(nearest)) continue;
    shown.name = sensor.name;
    shown.columns = of_sensor[s];
    out.push_back(std::move(shown));
  }
  return out;
}

// Runs `work`; what it throws is a warning.
template <class Work>
std::string guarded(const std::string& file, Diagnostics& diagnostics, Work work) {
  try {
    return work();
  } catch (const std::exception& e) {
    diagnostics.warn(
        "view." + file,
        fmt::format("the view '{}' was not written, the results are not concerned: {}", file, e.what()));
    return "";
  }
}

}  // namespace

View motion_view(const SimulationRun& run, const StudyFile& study, const BodyMeshes& meshes,
                 const ViewOptions& options, const ProgressHook& progress) {
  LISSOM_ASSERT(run.built && run.samples > 0);
  View view;
  view.title = study.title;
  const ViewParts parts(*run.built, study, meshes, options.max_points, view.notes);
  const std::vector<Index> frames = frames_of(run.samples, options.max_frames);
  if (static_cast<Index>(frames.size()) < run.samples)
    view.notes.push_back(fmt::format("{} of {} samples are shown.", frames.size(), run.samples));
  const ResultFrames shown = run.frames(frames);
  const MatrixXd& q = shown.q;
  ViewMotion motion;
  motion.time = shown.time;
  motion.parts.resize(parts.parts().size());
  const double size = size_of(parts, q.col(0));
  double points = 0, done = 0;
  for (const Part& part : parts.parts()) points += static_cast<double>(part.X.cols());
  const auto tell = [&](double more) {
    if (progress) progress("view", points > 0 ? (done + more) / points : 1);
  };
  tell(0);

  // body by body, whose parts share their nodes
  for (size_t p = 0; p < parts.parts().size();) {
    std::vector<size_t> which;
    double own = 0;
    const int body = parts.parts()[p].body;
    for (; p < parts.parts().size() && parts.parts()[p].body == body; ++p) {
      which.push_back(p);
      own += static_cast<double>(parts.parts()[p].X.cols());
    }
    BodyMotion(parts, which, q)
        .compute(
            options, size, 1.2e8, [&](double fraction) { tell(0.7 * fraction * own); }, motion.parts);
    done += own;
  }
  std::map<std::string, std::vector<std::string>> without;  // stress: names by reason
  for (size_t p = 0; p < parts.parts().size(); ++p) {
    const PartStress stress(parts, parts.parts()[p], q);
    std::string missing = stress.missing();
    try {
      if (missing.empty() && !stress.compute(options, motion.parts[p]))
        missing = "too large for it in a picture";
    } catch (const InputError& e) {
      view.notes.push_back(
          fmt::format("The stress of '{}' is not shown: {}.", parts.parts()[p].shown.name, e.what()));
    }
    if (!missing.empty()) without[missing].push_back(parts.parts()[p].shown.name);
  }
  for (const auto& [why, names] : without)
    view.notes.push_back(fmt::format("Stress is not shown of '{}': {} {}.", fmt::join(names, "', '"),
                                     names.size() == 1 ? "it is" : "they are",
                                     names.size() > 1 && why == "a beam" ? "beams" : why));
  if (parts.parts().empty()) view.notes.emplace_back("No body has a shape that could be shown.");
  view.sensors = view_sensors(*run.built, parts, run.columns, q.col(0));
  for (const Part& part : parts.parts()) view.parts.push_back(part.shown);
  note_surfaces(view);
  view.motion = std::move(motion);
  return view;
}

View modes_view(const std::string& name, const Mesh& mesh, const Eigen::VectorXd& frequencies_hz,
                const std::function<MatrixXd(int mode)>& shape, const ViewOptions& options) {
  View view;
  view.title = name;
  const Surface surface = surfaces_to_show({&mesh}, options.max_points, view.notes).front();
  view.parts.push_back(view_part(name, mesh, surface));
  const auto modes = static_cast<int>(frequencies_hz.size());
  ViewShapes shapes;
  shapes.parts.resize(1);
  shapes.parts[0].real.resize(3 * surface.points(), modes);
  for (int k = 0; k < modes; ++k) {
    shapes.modes.push_back({fmt::format("mode {}", k + 1), frequencies_hz[k], 0});
    const MatrixXd u = shape(k);
    LISSOM_ASSERT(u.rows() == 3 * mesh.node_count());
    VectorXd shown(3 * surface.points());
    for (int i = 0; i < surface.points(); ++i)
      shown.segment<3>(3 * i) = u.col(0).segment<3>(3 * surface.nodes[static_cast<size_t>(i)]);
    const double largest = shown.reshaped(3, surface.points()).colwise().norm().maxCoeff();
    if (largest > 0) shown /= largest;
    shapes.parts[0].real.col(k) = shown.cast<float>();
  }
  view.shapes = std::move(shapes);
  note_surfaces(view);
  return view;
}

View system_modes_view(const StudySystem& built, const StudyFile& study, const Linearisation& model,
                       int count, const BodyMeshes& meshes, const ViewOptions& options) {
  View view;
  view.title = study.title;
  const ViewParts parts(built, study, meshes, options.max_points, view.notes);
  const auto modes = std::min<Index>(count, static_cast<Index>(model.modes.size()));
  ViewShapes shapes;
  for (Index k = 0; k < modes; ++k)
    shapes.modes.push_back({fmt::format("mode {}", k + 1), model.modes[static_cast<size_t>(k)].frequency,
                            model.modes[static_cast<size_t>(k)].damping});
  const System& system = *built.system;
  std::vector<Eigen::MatrixXcd> found;
  VectorXd largest = VectorXd::Zero(modes);
  for (const Part& part : parts.parts()) {
    const Body& body = *system.bodies()[static_cast<size_t>(part.body)];
    const Index first = system.offset(part.body), n = body.coordinates();
    const Matrix3Xd nodes = parts.nodes(part.body, model.q);
    const Vector3d normal = part.turns() ? ViewParts::first_normal(part, nodes) : Vector3d::Zero();
    Matrix3Xd x(3, part.X.cols()), less(3, part.X.cols());
    parts.positions(part, model.q, nodes, normal, x);
    const Fit fit(part.X, x);
    const double size = std::max(1e-300, (x.rowwise().maxCoeff() - x.rowwise().minCoeff()).norm());
    // nodes move linearly with dq; the skin of beams and rods is differenced
    const auto moved = [&](const VectorXd& dq) {
      Matrix3Xd u(3, part.X.cols());
      if (part.kind == ViewParts::Kind::Mesh) {
        const Matrix3Xd rates = body.node_velocities(model.q.segment(first, n), dq.segment(first, n));
        parts.positions(part, model.q, rates, normal, u);
        return u;
      }
      const double scale = dq.cwiseAbs().maxCoeff();
      if (!(scale > 0)) return Matrix3Xd(Matrix3Xd::Zero(3, part.X.cols()));
      const double step = 1e-5 * std::min(1.0, size) / scale;
      const VectorXd above = model.q + step * dq, below = model.q - step * dq;
      const Matrix3Xd nodes_above = parts.nodes(part.body, above),
                      nodes_below = parts.nodes(part.body, below);
      const auto near = [&](const Matrix3Xd& at) {
        return part.turns() ? ViewParts::first_normal(part, at, normal) : normal;
      };
      parts.positions(part, above, nodes_above, near(nodes_above), u);
      parts.positions(part, below, nodes_below, near(nodes_below), less);
      return Matrix3Xd((u - less) / (2 * step));
    };
    ViewShapes::Part out;
    out.position = fit.p;
    out.rotation = quaternion_of(fit.R);
    Eigen::MatrixXcd shape(part.X.size(), modes);
    for (Index k = 0; k < modes; ++k) {
      const Matrix3Xd real = fit.R.transpose() * moved(model.shapes.col(k).real());
      const Matrix3Xd imaginary = fit.R.transpose() * moved(model.shapes.col(k).imag());
      shape.col(k).real() = real.reshaped();
      shape.col(k).imag() = imaginary.reshaped();
      largest[k] =
          std::max(largest[k],
                   std::sqrt((real.colwise().squaredNorm() + imaginary.colwise().squaredNorm()).maxCoeff()));
    }
    // displacements are shown as if the points were where the fit has them
    found.push_back(std::move(shape));
    shapes.parts.push_back(std::move(out));
    ViewPart shown = part.shown;
    fit.displacements(part.X, x);
    shown.points = (part.X + x).cast<float>();
    view.parts.push_back(std::move(shown));
  }
  for (size_t p = 0; p < found.size(); ++p) {
    for (Index k = 0; k < modes; ++k)
      if (largest[k] > 0) found[p].col(k) /= largest[k];
    shapes.parts[p].real = found[p].real().cast<float>();
    if (!found[p].imag().isZero(0)) shapes.parts[p].imaginary = found[p].imag().cast<float>();
  }
  if (parts.parts().empty()) view.notes.emplace_back("No body has a shape that could be shown.");
  view.shapes = std::move(shapes);
  return view;
}

std::string write_motion_view(SimulationRun& run, const StudyFile& study,
                              const std::function<BodyMeshes()>& meshes, const std::filesystem::path& folder,
                              Diagnostics& diagnostics, const ProgressHook& progress) {
  const std::string name = "motion.view.h5";
  if (run.samples == 0) return "";
  return guarded(name, diagnostics, [&] {
    const Timer timer;
    if (progress) progress("view", 0);
    const View view = motion_view(run, study, meshes(), {}, progress);
    write_view_file(folder / name, view);
    run.summary["view"] = {{"file", name},
                           {"frames", view.motion->time.size()},
                           {"points", view.points()},
                           {"bytes", std::filesystem::file_size(folder / name)},
                           {"seconds", timer.seconds()},
                           {"notes", view.notes}};
    if (run.summary.contains("files")) run.summary["files"].push_back(name);
    return name;
  });
}

std::string write_body_view(FeBody& body, const std::filesystem::path& folder, Diagnostics& diagnostics,
                            const ProgressHook& progress) {
  LISSOM_ASSERT(body.vibration.has_value());
  const std::string name = body.spec.name + "_modes.view.h5";
  if (body.mesh.element_count() == 0 || body.mesh.node_count() != body.model.points.cols()) return "";
  return guarded(name, diagnostics, [&] {
    const Timer timer;
    if (progress) progress("view", -1);
    const ModeSet& modes = body.vibration->modes;
    write_view_file(folder / name, modes_view(body.spec.name, body.mesh, modes.frequencies_hz, [&](int k) {
                      return node_displacements(body.model, modes.shapes.col(k));
                    }));
    body.seconds.add("view", timer.seconds());
    return name;
  });
}

std::string write_reduction_view(FeBody& body, const ReducedBody& reduced,
                                 const std::filesystem::path& folder, Diagnostics& diagnostics,
                                 const ProgressHook& progress) {
  const std::string name = body.spec.name + "_free_modes.view.h5";
  if (body.mesh.element_count() == 0 || reduced.range == 0 ||
      reduced.node_ids.size() != static_cast<size_t>(body.mesh.node_count()))
    return "";
  return guarded(name, diagnostics, [&] {
    const Timer timer;
    if (progress) progress("view", -1);
    const MatrixXd free = reduced.free_modes();
    VectorXd frequencies(reduced.range);
    for (int k = 0; k < reduced.range; ++k)
      frequencies[k] = hertz(reduced.eigenvalues[reduced.rigid_count + k]);
    write_view_file(folder / name, modes_view(body.spec.name, body.mesh, frequencies,
                                              [&](int k) { return product(reduced.modes, free.col(k)); }));
    body.seconds.add("view", timer.seconds());
    return name;
  });
}

std::string write_system_modes_view(const StudyFile& study, const Linearisation& model, int count,
                                    const std::function<StudySystem()>& make,
                                    const std::function<BodyMeshes()>& meshes,
                                    const std::filesystem::path& folder, Diagnostics& diagnostics,
                                    const ProgressHook& progress) {
  const std::string name = "system_modes.view.h5";
  if (model.modes.empty()) return "";
  return guarded(name, diagnostics, [&] {
    if (progress) progress("view", -1);
    const StudySystem built = make();
    write_view_file(folder / name, system_modes_view(built, study, model, count, meshes()));
    return name;
  });
}

}  // namespace lissom

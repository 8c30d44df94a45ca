#include "lissom/study/view_parts.hpp"

#include <Eigen/Geometry>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lissom {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::Matrix3Xd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

// Beams thinner than this, relative to their length, are drawn thicker.
constexpr double thinnest = 0.005;
constexpr int circle_corners = 8;

// The direction of a beam at node i of m columns.
Vector3d tangent(const Eigen::Ref<const Matrix3Xd>& x, Index i) {
  const Vector3d t = x.col(std::min(i + 1, x.cols() - 1)) - x.col(std::max<Index>(i - 1, 0));
  const double length = t.norm();
  return length > 0 ? Vector3d(t / length) : Vector3d::UnitX();
}

// v turned by the smallest rotation that takes the unit vector a to b.
Vector3d turned(const Vector3d& v, const Vector3d& a, const Vector3d& b) {
  const double c = a.dot(b);
  if (c < -1 + 1e-12) return v - 2 * a.dot(v) * a;
  const Vector3d w = a.cross(b);
  return v + w.cross(v) + w.cross(w.cross(v)) / (1 + c);
}

Vector3d any_normal(const Vector3d& t) {
  Index least = 0;
  t.cwiseAbs().minCoeff(&least);
  return t.cross(Vector3d::Unit(least)).cross(t).normalized();
}

// Circle or rectangle, whichever has the area and second moment that are given; its height is along the first
// normal, in the plane of a planar beam.
Eigen::Matrix2Xd section_of(const AncfSpec& spec, double length, bool& thicker) {
  const double round = spec.area * spec.area / (4 * std::numbers::pi);
  const bool circle = spec.dimension == 3 || !(spec.area > 0 && spec.inertia > 0) ||
                      std::abs(spec.inertia - round) < 1e-6 * round;
  Eigen::Matrix2Xd corners;
  if (circle) {
    const double radius = spec.area > 0 ? std::sqrt(spec.area / std::numbers::pi) : length / 100;
    corners.resize(2, circle_corners);
    for (int k = 0; k < circle_corners; ++k) {
      const double angle = 2 * std::numbers::pi * k / circle_corners;
      corners.col(k) = radius * Eigen::Vector2d(std::cos(angle), std::sin(angle));
    }
  } else {
    const double height = std::sqrt(12 * spec.inertia / spec.area), width = spec.area / height;
    corners.resize(2, 4);
    corners << height, -height, -height, height, width, width, -width, -width;
    corners /= 2;
  }
  for (int d = 0; d < 2; ++d) {
    const double size = corners.row(d).maxCoeff() - corners.row(d).minCoeff();
    if (size >= thinnest * length) continue;
    corners.row(d) *= thinnest * length / size;
    thicker = true;
  }
  return corners;
}

// A prism of rings of s points each, closed at both ends.
void close_tube(ViewPart& part, int rings, int s, bool lengthwise) {
  const auto point = [&](int ring, int k) { return static_cast<std::uint32_t>(ring * s + k % s); };
  const auto triangle = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    part.triangles.insert(part.triangles.end(), {a, b, c});
  };
  for (int ring = 0; ring < rings; ++ring)
    for (int k = 0; k < s; ++k) {
      part.edges.insert(part.edges.end(), {point(ring, k), point(ring, k + 1)});
      if (ring + 1 == rings) continue;
      triangle(point(ring, k), point(ring, k + 1), point(ring + 1, k + 1));
      triangle(point(ring, k), point(ring + 1, k + 1), point(ring + 1, k));
      if (lengthwise) part.edges.insert(part.edges.end(), {point(ring, k), point(ring + 1, k)});
    }
  for (int k = 1; k + 1 < s; ++k) {
    triangle(point(0, 0), point(0, k + 1), point(0, k));
    triangle(point(rings - 1, 0), point(rings - 1, k), point(rings - 1, k + 1));
  }
}

// A square rod, appended to points and faces.
void append_rod(std::vector<Vector3d>& points, ViewPart& part, const Vector3d& from, const Vector3d& to,
                double thickness) {
  const Vector3d t = (to - from).normalized(), n = any_normal(t), b = t.cross(n);
  ViewPart rod;
  close_tube(rod, 2, 4, true);
  const auto first = static_cast<std::uint32_t>(points.size());
  for (const Vector3d& end : {from, to})
    for (const auto& [u, v] : {std::pair(1, 1), std::pair(-1, 1), std::pair(-1, -1), std::pair(1, -1)})
      points.push_back(end + thickness / 2 * (u * n + v * b));
  for (const std::uint32_t i : rod.triangles) part.triangles.push_back(first + i);
  for (const std::uint32_t i : rod.edges) part.edges.push_back(first + i);
}

}  // namespace

ViewPart view_part(const std::string& name, const Mesh& mesh, const Surface& surface) {
  ViewPart part;
  part.name = name;
  part.points = mesh.points(Eigen::all, surface.nodes).cast<float>();
  for (const int node : surface.nodes) part.node_ids.push_back(mesh.node_ids[static_cast<size_t>(node)]);
  part.triangles = surface.triangles;
  part.edges = surface.edges;
  part.mesh_nodes = mesh.node_count();
  return part;
}

std::vector<Surface> surfaces_to_show(const std::vector<const Mesh*>& meshes, int max_points,
                                      std::vector<std::string>& notes) {
  std::vector<Surface> surfaces;
  long total = 0;
  for (const Mesh* mesh : meshes) {
    surfaces.push_back(surface_of(*mesh));
    total += surfaces.back().points();
  }
  if (total <= max_points) return surfaces;
  const long before = total;
  total = 0;
  for (size_t i = 0; i < meshes.size(); ++i) {
    SurfaceOptions corners;
    corners.corners_only = true;
    surfaces[i] = surface_of(*meshes[i], corners);
    total += surfaces[i].points();
  }
  if (total <= max_points) {
    notes.push_back(
        fmt::format("The surfaces have {} nodes; only the {} corners of elements are shown.", before, total));
    return surfaces;
  }
  long shown = 0;
  const double share = static_cast<double>(max_points) / static_cast<double>(total);
  for (size_t i = 0; i < meshes.size(); ++i) {
    surfaces[i] =
        simplify(surfaces[i], meshes[i]->points, std::max(8, static_cast<int>(share * surfaces[i].points())));
    shown += surfaces[i].points();
  }
  notes.push_back(fmt::format(
      "The surfaces have {} nodes; {} of them are shown, and the shape is simplified.", before, shown));
  return surfaces;
}

ViewParts::ViewParts(const StudySystem& built, const StudyFile& study, const BodyMeshes& meshes,
                     int max_points, std::vector<std::string>& notes)
    : built_(&built) {
  const Scene scene(
      *built.system, meshes, {}, {},
      [&](const std::string& name, const std::string& why) {
        notes.push_back(fmt::format("'{}' is not shown: {}.", name, why));
      },
      false);
  // meshes first: their surfaces share the number of points
  std::vector<const Mesh*> found;
  std::vector<const Scene::Part*> with_mesh;
  for (const Scene::Part& of : scene.parts()) {
    if (of.beam) continue;
    if (of.mesh->element_count() == 0) {
      notes.push_back(fmt::format("'{}' is not shown: its mesh has no elements.", of.group.name));
      continue;
    }
    found.push_back(of.mesh.get());
    with_mesh.push_back(&of);
  }
  const std::vector<Surface> surfaces = surfaces_to_show(found, max_points, notes);
  for (size_t i = 0; i < with_mesh.size(); ++i) {
    const Scene::Part& of = *with_mesh[i];
    if (surfaces[i].points() == 0) {
      notes.push_back(fmt::format("'{}' is not shown: it is too small among the others.", of.group.name));
      continue;
    }
    if (std::any_of(surfaces[i].nodes.begin(), surfaces[i].nodes.end(),
                    [&](int node) { return of.at[static_cast<size_t>(node)] < 0; })) {
      notes.push_back(
          fmt::format("'{}' is not shown: not all nodes of its surface were kept.", of.group.name));
      continue;
    }
    Part part;
    part.shown = view_part(of.group.name, *of.mesh, surfaces[i]);
    part.X = of.mesh->points(Eigen::all, surfaces[i].nodes);
    part.body = of.body;
    part.group = of.group;
    part.group_index = of.group_index;
    part.mesh = of.mesh;
    part.nodes = surfaces[i].nodes;
    part.at = of.at;
    part.complete = of.complete;
    parts_.push_back(std::move(part));
  }
  for (const Scene::Part& of : scene.parts())
    if (of.beam) add_beam(of, study, notes);
  for (const BodySpec& spec : study.bodies) {
    const int body = spec.rigid ? built.system->find_body(spec.name) : -1;
    if (body >= 0 && !add_rods(body, spec))
      notes.push_back(fmt::format("'{}' is not shown: nothing is known of its shape.", spec.name));
  }
  // as the system has them
  std::stable_sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
    return std::pair(a.body, a.group_index) < std::pair(b.body, b.group_index);
  });
}

void ViewParts::add_beam(const Scene::Part& of, const StudyFile& study, std::vector<std::string>& notes) {
  Part part;
  part.kind = Kind::Beam;
  part.shown.name = of.group.name;
  part.body = of.body;
  part.group = of.group;
  part.group_index = of.group_index;
  const Matrix3Xd x = nodes(of.body, built_->q).middleCols(of.group.first, of.group.count);
  double length = 0;
  for (Index i = 0; i + 1 < x.cols(); ++i) length += (x.col(i + 1) - x.col(i)).norm();
  AncfSpec spec;
  for (const BodySpec& body : study.bodies)
    if (body.name == of.group.name && body.ancf) spec = *body.ancf;
  bool thicker = false;
  part.section = section_of(spec, length, thicker);
  part.planar = spec.dimension == 2;
  if (thicker)
    notes.push_back(
        fmt::format("'{}' is drawn thicker than it is, at {:.2g} of its length.", of.group.name, thinnest));
  const Index s = part.section.cols(), n = s * x.cols();
  close_tube(part.shown, static_cast<int>(x.cols()), static_cast<int>(s), s == 4);
  part.shown.node_ids.assign(static_cast<size_t>(n), -1);
  part.shown.mesh_nodes = x.cols();
  part.X.resize(3, n);
  const Matrix3Xd all = nodes(of.body, built_->q);
  positions(part, built_->q, all, first_normal(part, all), part.X);
  part.shown.points = part.X.cast<float>();
  parts_.push_back(std::move(part));
}

bool ViewParts::add_rods(int body, const BodySpec& spec) {
  const System& system = *built_->system;
  std::vector<int> markers;
  const auto note = [&](MarkerRef ref) {
    if (ref.body == body) markers.push_back(ref.marker);
  };
  for (const Joint& joint : system.joints()) note(joint.first), note(joint.second);
  for (const Load& load : system.loads()) note(load.first), note(load.second);
  for (const Sensor& sensor : built_->sensors) note(sensor.marker);
  if (markers.empty()) return false;
  const Body& of = *system.bodies()[static_cast<size_t>(body)];
  const auto workspace = of.workspace();
  const VectorXd q = built_->q.segment(system.offset(body), of.coordinates()), v = VectorXd::Zero(q.size());
  const Placement& placed = system.placement(body);
  Part part;
  part.kind = Kind::Rods;
  part.body = body;
  MarkerKinematics m;
  // in the body's own frame
  std::vector<Vector3d> ends;
  for (const int marker : markers) {
    of.marker(marker, q, v, false, *workspace, m);
    ends.push_back(placed.rotation.transpose() * (m.position() - placed.position));
    if (part.marker >= 0 || !m.rotates) continue;
    part.marker = marker;
    part.marker_position = ends.back();
    part.marker_axes = placed.rotation.transpose() * m.axes();
  }
  if (part.marker < 0) return false;
  for (const auto& [name, point] : spec.rigid->points) ends.push_back(point);
  double longest = 0;
  for (const Vector3d& end : ends) longest = std::max(longest, (end - spec.rigid->centre).norm());
  // a body that is held at its centre alone is a cube of the same inertia: sqrt(tr J / 2 m) is half its edge
  const double size = longest > 0 ? longest : std::sqrt(spec.rigid->inertia.trace() / (2 * spec.rigid->mass));
  if (!(size > 0)) return false;
  std::vector<Vector3d> points;
  const Vector3d& centre = spec.rigid->centre;
  const double half = longest > 0 ? 0.06 * size : size;
  append_rod(points, part.shown, centre - half * Vector3d::UnitX(), centre + half * Vector3d::UnitX(),
             2 * half);
  std::vector<Vector3d> drawn;
  for (const Vector3d& end : ends) {
    if ((end - centre).norm() < half) continue;
    if (std::any_of(drawn.begin(), drawn.end(),
                    [&](const Vector3d& other) { return (other - end).norm() < 1e-6 * size; }))
      continue;
    append_rod(points, part.shown, centre, end, 0.04 * size);
    drawn.push_back(end);
  }
  part.shown.name = spec.name;
  part.shown.node_ids.assign(points.size(), -1);
  part.X.resize(3, static_cast<Index>(points.size()));
  for (size_t i = 0; i < points.size(); ++i) part.X.col(static_cast<Index>(i)) = points[i];
  part.shown.points = part.X.cast<float>();
  parts_.push_back(std::move(part));
  return true;
}

Matrix3Xd ViewParts::nodes(int body, const Eigen::Ref<const VectorXd>& q) const {
  const Body& of = *system().bodies()[static_cast<size_t>(body)];
  return of.node_positions(q.segment(system().offset(body), of.coordinates()));
}

void ViewParts::positions(const Part& part, const Eigen::Ref<const VectorXd>& q, const Matrix3Xd& nodes,
                          const Vector3d& normal, Eigen::Ref<Matrix3Xd> x) const {
  switch (part.kind) {
    case Kind::Mesh:
      for (size_t i = 0; i < part.nodes.size(); ++i)
        x.col(static_cast<Index>(i)) =
            nodes.col(part.group.first + part.at[static_cast<size_t>(part.nodes[i])]);
      break;
    case Kind::Beam: {
      const auto line = nodes.middleCols(part.group.first, part.group.count);
      Vector3d n = normal, before = tangent(line, 0);
      const Index s = part.section.cols();
      for (Index i = 0; i < line.cols(); ++i) {
        const Vector3d t = tangent(line, i);
        n = part.planar ? Vector3d(-t.y(), t.x(), 0) : turned(n, before, t);
        const Vector3d b = part.planar ? Vector3d::UnitZ() : Vector3d(t.cross(n));
        for (Index k = 0; k < s; ++k)
          x.col(i * s + k) = line.col(i) + part.section(0, k) * n + part.section(1, k) * b;
        before = t;
      }
      break;
    }
    case Kind::Rods: {
      const Body& of = *system().bodies()[static_cast<size_t>(part.body)];
      const auto workspace = of.workspace();
      const VectorXd own = q.segment(system().offset(part.body), of.coordinates());
      MarkerKinematics m;
      of.marker(part.marker, own, VectorXd::Zero(own.size()), false, *workspace, m);
      const Matrix3d R = m.axes() * part.marker_axes.transpose();
      for (Index i = 0; i < x.cols(); ++i)
        x.col(i) = m.position() + R * (part.X.col(i) - part.marker_position);
      break;
    }
  }
}

Vector3d ViewParts::first_normal(const Part& part, const Matrix3Xd& nodes) {
  return any_normal(tangent(nodes.middleCols(part.group.first, part.group.count), 0));
}

Vector3d ViewParts::first_normal(const Part& part, const Matrix3Xd& nodes, const Vector3d& before) {
  // what is left of the normal before; a beam that turns by a right angle from frame to frame has any
  const Vector3d t = tangent(nodes.middleCols(part.group.first, part.group.count), 0);
  const Vector3d rest = before - t.dot(before) * t;
  return rest.norm() > 1e-3 ? Vector3d(rest.normalized()) : any_normal(t);
}

}  // namespace lissom

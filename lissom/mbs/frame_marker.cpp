#include "lissom/mbs/frame_marker.hpp"

#include <fmt/ranges.h>
#include <Eigen/Dense>

#include <algorithm>
#include <limits>

#include "lissom/core/rotation.hpp"
#include "lissom/core/text.hpp"
#include "lissom/linalg/blas.hpp"

namespace lissom {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;

namespace {

// Nodes lie on a line when they are off it by less than this, relative to their extent.
constexpr double line_tolerance = 1e-6;

// names in a message: all of a few, the first of many
std::string listed(const std::vector<std::string>& names) {
  if (names.empty()) return "none";
  constexpr size_t most = 20;
  if (names.size() <= most) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, .. ({} in all)", fmt::join(names.begin(), names.begin() + most, ", "),
                     names.size());
}

template <class... Args>
[[noreturn]] void refuse(const FramePlaces& places, fmt::format_string<Args...> format, Args&&... args) {
  fail_input("body '{}': {}", places.body, fmt::format(format, std::forward<Args>(args)...));
}

// By name: an interface, or a named point of a rigid body.
void at_name(const FramePlaces& places, const MarkerSpec& spec, FrameMarker& marker) {
  std::vector<std::string> names;
  for (const auto& interface : places.interfaces) {
    names.push_back(interface.name);
    if (interface.name != spec.name) continue;
    marker.origin = interface.origin;
    if (places.flexible == 0) return;
    marker.translation = interface.motion.topRows<3>();
    marker.rotation = interface.motion.bottomRows<3>();
    marker.rotates = interface.rotates;
    return;
  }
  for (const auto& [name, point] : places.points) {
    names.push_back(name);
    if (name != spec.name) continue;
    marker.origin = point - places.centre;
    return;
  }
  const char* kind = places.interfaces.empty() && !places.points.empty() ? "point" : "interface";
  refuse(places, "there is no {} '{}'{}; the {}s are: {}", kind, spec.name, did_you_mean(spec.name, names),
         kind, listed(names));
}

int node_of(const FramePlaces& places, std::int64_t id) {
  const auto& ids = places.node_ids;
  const auto found = std::find(ids.begin(), ids.end(), id);
  if (found != ids.end()) return static_cast<int>(found - ids.begin());
  if (ids.empty())
    refuse(places, "node {} is asked for, but the body has no nodes; the places it has are: {}", id, [&] {
      std::vector<std::string> names;
      for (const auto& interface : places.interfaces) names.push_back(interface.name);
      for (const auto& [name, point] : places.points) names.push_back(name);
      return listed(names);
    }());
  const auto [low, high] = std::minmax_element(ids.begin(), ids.end());
  refuse(places,
         "there is no node {} among the {} nodes kept (numbers {} to {}); keep it when the body is reduced, "
         "or take another",
         id, ids.size(), *low, *high);
}

// Mean motion of the nodes and the rotation that fits best: theta = J^-1 sum r x u, J = sum |r|^2 I - r r'.
void at_nodes(const FramePlaces& places, const MarkerSpec& spec, FrameMarker& marker) {
  if (spec.node_ids.empty()) refuse(places, "a marker at nodes has no nodes; give at least one");
  std::vector<int> nodes;
  for (const std::int64_t id : spec.node_ids) nodes.push_back(node_of(places, id));
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  const double share = 1.0 / static_cast<double>(nodes.size());
  marker.origin.setZero();
  for (const int node : nodes) marker.origin += share * places.nodes.col(node);
  if (places.flexible == 0) return;  // the whole body turns with it

  Matrix3d J = Matrix3d::Zero();
  for (const int node : nodes) {
    const Matrix3d r = skew(places.nodes.col(node) - marker.origin);
    J -= r * r;
    marker.translation += share * places.modes.middleRows<3>(3 * node);
    marker.rotation += r * places.modes.middleRows<3>(3 * node);
  }
  const Eigen::SelfAdjointEigenSolver<Matrix3d> axes(J);
  marker.rotates = axes.eigenvalues()[0] > line_tolerance * line_tolerance * axes.eigenvalues()[2];
  if (marker.rotates)
    marker.rotation = (J.inverse() * marker.rotation).eval();
  else
    marker.rotation.setZero();
}

}  // namespace

double FramePlaces::radius() const {
  double largest = 0;
  const auto reach = [&](const Vector3d& place) { largest = std::max(largest, place.norm()); };
  for (const auto& [name, point] : points) reach(point - centre);
  for (const Interface& interface : interfaces) reach(interface.origin);
  for (Eigen::Index i = 0; i < nodes.cols(); ++i) reach(nodes.col(i));
  return largest;
}

double FramePlaces::largest_displacement(int j) const {
  double largest = 0;
  for (const Interface& interface : interfaces)
    largest = std::max(largest, interface.motion.col(j).head<3>().norm());
  for (Eigen::Index i = 0; i < nodes.cols(); ++i)
    largest = std::max(largest, modes.col(j).segment<3>(3 * i).norm());
  return largest;
}

FramePlaces frame_places(const std::string& name, const ReducedBody& reduced, const Vector3d& centre,
                         const MatrixXd& modes) {
  FramePlaces places;
  places.body = name;
  places.centre = centre;
  places.flexible = static_cast<int>(modes.cols());
  for (const InterfaceFrame& frame : reduced.interfaces) {
    FramePlaces::Interface interface;
    interface.name = frame.name;
    interface.origin = frame.origin - centre;
    interface.motion = frame.motion * modes;
    interface.rotates = frame.rotates;
    places.interfaces.push_back(std::move(interface));
  }
  places.nodes = reduced.points.colwise() - centre;
  places.node_ids = reduced.node_ids;
  places.modes.resize(reduced.modes.rows(), modes.cols());
  if (places.modes.size() > 0) gemm(false, false, 1, reduced.modes, modes, 0, places.modes);
  return places;
}

FrameMarker make_frame_marker(const FramePlaces& places, const MarkerSpec& spec) {
  FrameMarker marker;
  marker.translation.setZero(3, places.flexible);
  marker.rotation.setZero(3, places.flexible);
  if (!is_rotation(spec.axes, 1e-6))
    refuse(places, "the axes of marker '{}' are not three unit vectors at right angles, right-handed",
           spec.name);
  marker.axes = spec.axes;
  switch (spec.kind) {
    case MarkerSpec::Kind::Interface:
      at_name(places, spec, marker);
      break;
    case MarkerSpec::Kind::Nodes:
      at_nodes(places, spec, marker);
      break;
    case MarkerSpec::Kind::Point:
      if (!spec.name.empty()) {
        at_name(places, spec, marker);
      } else if (places.flexible > 0) {
        refuse(
            places,
            "a point by coordinates ({}, {}, {}) is known on rigid bodies only; name an interface or nodes "
            "of this flexible one",
            spec.point[0], spec.point[1], spec.point[2]);
      } else {
        marker.origin = spec.point - places.centre;
      }
      break;
  }
  marker.by_mode.resize(places.flexible, 6);
  marker.by_mode << marker.translation.transpose(), marker.rotation.transpose();
  return marker;
}

}  // namespace lissom

#include "lissom/fe/jacobian_check.hpp"

#include <fmt/format.h>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lissom/core/parallel.hpp"
#include "lissom/fe/element.hpp"
#include "lissom/fe/quadrature.hpp"
#include "lissom/fe/shape_functions.hpp"

namespace lissom {

namespace {

constexpr size_t shown = 10;
// What is left of a Jacobian that vanishes at a node when coordinates are rounded (files have seven digits as
// a rule), relative to the largest one of the element.
constexpr double zero_at_node = 1e-6;

}  // namespace

JacobianCheck::JacobianCheck() {
  for (const ElementType type : all_element_types) {
    Points points;
    for (const Quadrature& rule : {stiffness_rule(type), mass_rule(type)})
      for (const QuadraturePoint& p : rule) points.integration.push_back(shape_gradients(type, p.xi));
    const Eigen::Matrix3Xd nodes = node_coordinates(type);
    for (int a = 0; a < node_count(type); ++a) points.nodes.push_back(shape_gradients(type, nodes.col(a)));
    points_.push_back(std::move(points));
  }
}

ElementJacobian JacobianCheck::operator()(const Mesh& mesh, int element) const {
  const auto nodes = mesh.element_nodes(element);
  // from the first node, so that bodies far from the origin lose no digits; at most 20 nodes: no allocation
  const int n = static_cast<int>(nodes.size());
  Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::ColMajor, 3, 20> x(3, n);
  for (int a = 0; a < n; ++a) x.col(a) = mesh.points.col(nodes[a]) - mesh.points.col(nodes[0]);
  const Points& points = points_[static_cast<size_t>(mesh.types[element])];
  double scaled = std::numeric_limits<double>::infinity(), at_nodes = scaled, magnitude = 0;
  for (const Eigen::Matrix3Xd& dN : points.integration) {
    const Jacobian jacobian(x * dN.transpose());
    if (!std::isfinite(jacobian.det)) return {};
    scaled = std::min(scaled, jacobian.scaled);
    magnitude = std::max(magnitude, std::abs(jacobian.det));
  }
  for (const Eigen::Matrix3Xd& dN : points.nodes) {
    const double det = Eigen::Matrix3d(x * dN.transpose()).determinant();
    if (!std::isfinite(det)) return {};
    at_nodes = std::min(at_nodes, det);
    magnitude = std::max(magnitude, std::abs(det));
  }
  ElementJacobian found;
  found.worst = at_nodes < 0 ? std::min(scaled, at_nodes / magnitude) : scaled;
  found.sound = scaled > jacobian_limit && at_nodes >= -zero_at_node * magnitude;
  return found;
}

UnsoundElements find_unsound_elements(const Mesh& mesh) {
  const JacobianCheck check;
  std::vector<ElementJacobian> jacobians(static_cast<size_t>(mesh.element_count()));
  parallel_for(mesh.element_count(), 0,
               [&](Eigen::Index e) { jacobians[static_cast<size_t>(e)] = check(mesh, static_cast<int>(e)); });

  UnsoundElements unsound;
  for (int e = 0; e < mesh.element_count(); ++e) {
    const ElementJacobian& jacobian = jacobians[e];
    if (jacobian.sound) continue;
    if (++unsound.count <= static_cast<int>(shown)) unsound.first.push_back(e);
    if (unsound.worst < 0 || jacobian.worst < unsound.jacobian) {
      unsound.worst = e;
      unsound.jacobian = jacobian.worst;
    }
  }
  return unsound;
}

std::string describe(const UnsoundElements& unsound, const Mesh& mesh) {
  std::string ids;
  for (const int e : unsound.first) ids += fmt::format("{}{}", ids.empty() ? "" : ", ", mesh.element_ids[e]);
  if (unsound.count > static_cast<int>(unsound.first.size())) ids += ", ...";
  const int worst = unsound.worst;
  const bool all = unsound.count == mesh.element_count();
  return fmt::format(
      "{} of {} elements have a zero or negative Jacobian: {}; the worst is element {} ({}) with {:.3g} "
      "(1 is a brick, 0 flat, negative inside out); {}",
      unsound.count, mesh.element_count(), ids, mesh.element_ids[worst], name_of(mesh.types[worst]),
      unsound.jacobian,
      all ? "as it is all of them, their node order is probably not the file format's"
          : "check their node order and mid-side nodes, or mesh again: finer at curved faces, or with "
            "straight edges");
}

void check_elements(const Mesh& mesh) {
  const UnsoundElements unsound = find_unsound_elements(mesh);
  if (unsound.count > 0) fail_input("{}: {}", mesh.source, describe(unsound, mesh));
}

}  // namespace lissom

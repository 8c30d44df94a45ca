#include "lissom/fe/nastran_coordinates.hpp"

#include <Eigen/Geometry>

#include <cmath>
#include <numbers>
#include <set>

namespace lissom {

namespace {

// Axes from three points in the basic system: e3 along AB, e1 in the plane ABC.
Eigen::Matrix3d axes_from_points(const Eigen::Matrix3d& points, std::int64_t id, const SourcePos& pos) {
  const Eigen::Vector3d ab = points.col(1) - points.col(0), ac = points.col(2) - points.col(0);
  const Eigen::Vector3d e3 = ab.stableNormalized();
  const Eigen::Vector3d across = ac - e3 * e3.dot(ac);
  // a millionth of the distance: files give coordinates with eight columns, some six digits
  const bool good = ab.stableNorm() > 0 && across.allFinite() && across.stableNorm() > 1e-6 * ac.stableNorm();
  if (!good)
    fail_input(pos, "coordinate system {}: its three points lie on a line or coincide; move one of them", id);
  Eigen::Matrix3d axes;
  axes.col(2) = e3;
  axes.col(0) = across.stableNormalized();
  axes.col(1) = e3.cross(axes.col(0));
  return axes;
}

}  // namespace

Eigen::Vector3d NastranSystem::to_basic(const Eigen::Vector3d& x) const {
  constexpr double degree = std::numbers::pi / 180;
  Eigen::Vector3d local = x;
  if (kind == Kind::Cylindrical) {
    local << x(0) * std::cos(x(1) * degree), x(0) * std::sin(x(1) * degree), x(2);
  } else if (kind == Kind::Spherical) {
    const double across = x(0) * std::sin(x(1) * degree);
    local << across * std::cos(x(2) * degree), across * std::sin(x(2) * degree),
        x(0) * std::cos(x(1) * degree);
  }
  return origin + axes * local;
}

void NastranSystems::add(std::int64_t id, NastranSystem system) {
  const SourcePos pos = system.pos;
  if (id <= 0) fail_input(pos, "expected a positive id for a coordinate system, found {}", id);
  if (!systems_.try_emplace(id, std::move(system)).second)
    fail_input(pos, "coordinate system {} is defined a second time", id);
}

const NastranSystem& NastranSystems::at(std::int64_t id, const std::string& user,
                                        const SourcePos& pos) const {
  if (id == 0) return basic_;
  const auto it = systems_.find(id);
  if (it == systems_.end())
    fail_input(pos, "{} refers to coordinate system {}, which is not defined", user, id);
  return it->second;
}

void NastranSystems::resolve(const NodeLookup& node) {
  // depth first with a stack of our own, since a chain of systems may be as long as the file
  std::set<std::int64_t> done, open;
  done.insert(0);
  std::vector<std::int64_t> stack;
  for (const auto& [root, unused] : systems_) {
    if (done.contains(root)) continue;
    stack.push_back(root);
    open.insert(root);
    while (!stack.empty()) {
      const std::int64_t id = stack.back();
      NastranSystem& system = systems_.at(id);
      const std::string user = fmt::format("coordinate system {}", id);

      // the three points, each in coordinates of a system
      std::array<NodePosition, 3> points;
      for (int k = 0; k < 3; ++k)
        points[k] = system.by_nodes ? node(system.nodes[k], system.pos)
                                    : NodePosition{system.points.col(k), system.reference};

      // first what this one depends on
      bool ready = true;
      for (const NodePosition& point : points) {
        if (done.contains(point.system)) continue;
        at(point.system, user, system.pos);
        if (!open.insert(point.system).second)
          fail_input(system.pos, "coordinate system {} depends on itself through system {}", id,
                     point.system);
        stack.push_back(point.system);
        ready = false;
        break;
      }
      if (!ready) continue;

      // then this one
      Eigen::Matrix3d basic;
      for (int k = 0; k < 3; ++k) basic.col(k) = at(points[k].system, user, system.pos).to_basic(points[k].x);
      system.axes = axes_from_points(basic, id, system.pos);
      system.origin = basic.col(0);
      done.insert(id);
      stack.pop_back();
    }
  }
}

}  // namespace lissom

// Systems of rigid bodies in few words, and their motion.
#pragma once

#include <Eigen/Geometry>

#include <functional>
#include <string>
#include <vector>

#include "lissom/mbs/floating_frame.hpp"
#include "lissom/mbs/system.hpp"
#include "lissom/time/initial_state.hpp"
#include "lissom/time/integrate.hpp"

namespace lissom::test {

inline Placement at(const Eigen::Vector3d& position,
                    const Eigen::Matrix3d& rotation = Eigen::Matrix3d::Identity()) {
  Placement placement;
  placement.position = position;
  placement.rotation = rotation;
  return placement;
}

inline Eigen::Matrix3d turned(double angle, const Eigen::Vector3d& axis) {
  return Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix();
}

// frame in the centre of mass
inline int add_rigid(System& system, const std::string& name, double mass, const Eigen::Vector3d& inertia,
                     const Placement& placement) {
  RigidBodySpec spec;
  spec.name = name;
  spec.mass = mass;
  spec.inertia = inertia.asDiagonal();
  return system.add_body(make_rigid_body(spec), placement);
}

// a slender bar in the plane z = 0 from `from` to `to`, its x axis along it
inline int add_bar(System& system, const std::string& name, double mass, const Eigen::Vector3d& from,
                   const Eigen::Vector3d& to) {
  const Eigen::Vector3d along = to - from;
  const double I = mass * along.squaredNorm() / 12;
  return add_rigid(system, name, mass, {0.01 * I, I, I},
                   at((from + to) / 2, turned(std::atan2(along.y(), along.x()), Eigen::Vector3d::UnitZ())));
}

inline MarkerRef point(System& system, int body, const Eigen::Vector3d& x,
                       const Eigen::Matrix3d& axes = Eigen::Matrix3d::Identity()) {
  MarkerSpec spec;
  spec.kind = MarkerSpec::Kind::Point;
  spec.point = x;
  spec.axes = axes;
  return system.add_marker(body, spec);
}

// a marker at a place and with axes in space, at the initial position
inline MarkerRef point_in_space(System& system, int body, const Eigen::Vector3d& x,
                                const Eigen::Matrix3d& axes = Eigen::Matrix3d::Identity()) {
  const Placement& placement = system.placement(body);
  return point(system, body, placement.rotation.transpose() * (x - placement.position),
               placement.rotation.transpose() * axes);
}

inline void join(System& system, const std::string& name, JointKind kind, MarkerRef first, MarkerRef second,
                 const TimeFunction& motion = 0.0) {
  Joint joint;
  joint.name = name;
  joint.kind = kind;
  joint.first = first;
  joint.second = second;
  joint.motion = motion;
  system.add_joint(joint);
}

// two bodies (-1: ground) joined where both are at x with these axes
inline void join_at(System& system, const std::string& name, JointKind kind, int first, int second,
                    const Eigen::Vector3d& x, const Eigen::Matrix3d& axes = Eigen::Matrix3d::Identity(),
                    const TimeFunction& motion = 0.0) {
  const auto marker = [&](int body) {
    return body < 0 ? system.add_ground_marker(x, axes) : point_in_space(system, body, x, axes);
  };
  const MarkerRef a = marker(first), b = marker(second);
  join(system, name, kind, a, b, motion);
}

inline SystemCheck check_of(const System& system) {
  Eigen::VectorXd q, v;
  system.initial(q, v);
  return check_system(system, 0, q);
}

inline State start(const System& system, SystemEquations& equations) {
  Eigen::VectorXd q, v;
  system.initial(q, v);
  return make_consistent(equations, 0, q, v).state;
}

// by Dormand-Prince: states at samples, the first and the last included
inline std::vector<State> run(SystemEquations& equations, const State& initial, double end, double sample,
                              double tolerance = 1e-10) {
  IntegratorOptions options;
  options.integrator = Integrator::RungeKutta;
  options.end = end;
  options.sample = sample;
  options.tolerance = tolerance;
  std::vector<State> states;
  IntegrationOutput output;
  output.sample = [&](const State& state) { states.push_back(state); };
  IntegrationSummary summary;
  Diagnostics diagnostics;
  integrate(equations, initial, options, output, summary, diagnostics);
  return states;
}

}  // namespace lissom::test

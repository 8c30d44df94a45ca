// A marker: a place on a body (or on the ground) where joints, loads and sensors are attached, and all that
// they know of the body. It is twelve numbers that depend on the body's coordinates,
//
//   m = (p, d_1, d_2, d_3),   p the position [m], d_k the marker's axes, in the global frame,
//
// so that joints are polynomials of m, and a torque T is the forces T x d_k / 2 on the axes. Of a marker
// without rotation (a node) only p is there, and the axes are zero.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <string>
#include <vector>

#include "lissom/core/error.hpp"

namespace lissom {

using Vector12d = Eigen::Matrix<double, 12, 1>;
using Matrix12Xd = Eigen::Matrix<double, 12, Eigen::Dynamic>;

// What the user asks for; every kind of body turns it into a marker of its own.
struct MarkerSpec {
  enum class Kind : std::uint8_t {
    Interface,  // by name
    Nodes,      // one node, or the mean motion of several (least squares)
    Point       // of rigid bodies: coordinates in the body's frame, or its named point
  };
  Kind kind = Kind::Interface;
  std::string name;                                    // of the interface or named point; for messages
  std::string part;                                    // of a body that has several (a reduced mechanism)
  std::vector<std::int64_t> node_ids;                  // of Nodes
  Eigen::Vector3d point = Eigen::Vector3d::Zero();     // of Point without name, in the body's frame [m]
  Eigen::Matrix3d axes = Eigen::Matrix3d::Identity();  // the marker's axes as columns, in the body's frame
};

// m and its derivatives with respect to the coordinates of the body that it depends on
// (Body::marker_coordinates: n, all of them, but for bodies of many coordinates).
struct MarkerKinematics {
  Vector12d m = Vector12d::Zero();
  Vector12d rate = Vector12d::Zero();  // dm/dt = J v
  Matrix12Xd J;                        // 12 by n: dm/dq
  Matrix12Xd V;                        // 12 by n: d(J v)/dq, so that d2m/dt2 = J a + V v
  bool rotates = false;                // whether the axes are there

  auto position() const { return m.head<3>(); }
  auto axis(int k) const { return m.segment<3>(3 + 3 * k); }  // k = 0..2
  Eigen::Matrix3d axes() const;                               // as columns
  Eigen::Vector3d angular_velocity() const;                   // sum d_k x d_k' / 2 [rad/s]
};

// The twelve generalised forces of a torque T on axes of the marker.
Vector12d torque_on_axes(const Eigen::Vector3d& T, const Vector12d& m);
// And back: the torque about the marker's position of forces f on its axes, sum d_k x f_k.
Eigen::Vector3d torque_of(const Vector12d& f, const Vector12d& m);

}  // namespace lissom

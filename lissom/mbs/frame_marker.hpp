// Places on a body in a floating frame, and markers made from them.
//
// Notation: a marker is at rest at o (from the centre of mass) with axes a_k; deformation moves it by U_t eta
// and turns it by the small angles theta = U_r eta,
//   p = x + R (o + U_t eta),   d_k = R B(theta) a_k,   B = I + [theta]x + [theta]x^2 / 2,
// B'B = I + O(theta^4), a polynomial whose derivatives are exact and simple.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lissom/cms/reduced_body.hpp"
#include "lissom/mbs/marker.hpp"

namespace lissom {

struct FrameMarker {
  Eigen::Vector3d origin = Eigen::Vector3d::Zero();    // o [m]
  Eigen::Matrix3d axes = Eigen::Matrix3d::Identity();  // a_k as columns
  Eigen::Matrix3Xd translation, rotation;              // U_t, U_r: 3 by N
  Eigen::Matrix<double, Eigen::Dynamic, 6> by_mode;    // N by 6: U_t' and U_r' side by side
  bool rotates = true;
};

// What markers can be made of. Places are measured from the centre of mass.
struct FramePlaces {
  std::string body;                                             // its name, for messages
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();             // in the body's own frame [m]
  std::vector<std::pair<std::string, Eigen::Vector3d>> points;  // named, of a rigid body
  struct Interface {
    std::string name;
    Eigen::Vector3d origin = Eigen::Vector3d::Zero();
    Eigen::MatrixXd motion;  // 6 by N
    bool rotates = false;
  };
  std::vector<Interface> interfaces;
  Eigen::Matrix3Xd nodes;              // 3 by n
  std::vector<std::int64_t> node_ids;  // n
  Eigen::MatrixXd modes;               // 3 n by N
  int flexible = 0;                    // N

  // Largest distance from the centre [m], and largest displacement of mode j.
  double radius() const;
  double largest_displacement(int j) const;
};

// Interfaces and nodes kept of a reduced body, moved by the natural modes `modes` (reduced coordinates by N).
FramePlaces frame_places(const std::string& name, const ReducedBody& reduced, const Eigen::Vector3d& centre,
                         const Eigen::MatrixXd& modes);

// Throws InputError: no such interface, named point or node (with the nearest name, and those there are); a
// point by coordinates on a flexible body; axes that are no rotation.
FrameMarker make_frame_marker(const FramePlaces& places, const MarkerSpec& spec);

}  // namespace lissom

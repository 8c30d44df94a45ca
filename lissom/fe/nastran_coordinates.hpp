// Nastran's coordinate systems (CORD1R, CORD1C, CORD1S, CORD2R, CORD2C, CORD2S) and the way from their
// coordinates to the basic system's.
#pragma once

#include <Eigen/Core>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "lissom/core/error.hpp"

namespace lissom {

// Given by three points: A, the origin; B, on the third axis; C, in the plane of the first and the third.
//   rectangular  x, y, z
//   cylindrical  r, theta [degrees], z
//   spherical    r, theta [degrees, from the third axis], phi [degrees, about it]
struct NastranSystem {
  enum class Kind : std::uint8_t { Rectangular, Cylindrical, Spherical };
  Kind kind = Kind::Rectangular;
  SourcePos pos;

  // CORD2: columns are A, B, C in coordinates of the system `reference` (0: the basic one)
  std::int64_t reference = 0;
  Eigen::Matrix3d points = Eigen::Matrix3d::Zero();
  // CORD1: A, B, C are nodes
  bool by_nodes = false;
  std::array<std::int64_t, 3> nodes = {};

  // filled by NastranSystems::resolve(), in the basic system
  Eigen::Vector3d origin = Eigen::Vector3d::Zero();
  Eigen::Matrix3d axes = Eigen::Matrix3d::Identity();  // columns, orthonormal, right-handed

  // Basic coordinates of a point.
  Eigen::Vector3d to_basic(const Eigen::Vector3d& x) const;
};

class NastranSystems {
 public:
  // A node's coordinates as its card gives them, and the system they are given in.
  struct NodePosition {
    Eigen::Vector3d x;
    std::int64_t system;
  };
  // Throws InputError, with the position given, for nodes that do not exist.
  using NodeLookup = std::function<NodePosition(std::int64_t node, const SourcePos& pos)>;

  // Throws InputError if the id is taken or not positive.
  void add(std::int64_t id, NastranSystem system);

  // Finds every system's origin and axes, each after those that it depends on. Throws InputError for systems
  // that depend on themselves or on an undefined one, and where A, B and C lie on a line.
  void resolve(const NodeLookup& node);

  // A resolved system; 0 is the basic one. Throws InputError naming `user` where it is not defined.
  const NastranSystem& at(std::int64_t id, const std::string& user, const SourcePos& pos) const;

 private:
  std::map<std::int64_t, NastranSystem> systems_;
  NastranSystem basic_;
};

}  // namespace lissom

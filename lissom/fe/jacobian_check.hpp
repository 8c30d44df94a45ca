// Elements that are turned inside out, wholly or at a corner.
//
// K and M of an element are sums over its integration points, each times det J, so det J <= 0 at one of them
// gives an energy or a mass that is not positive. At the nodes det J decides whether the element is a piece
// of the body at all: a curved tet10 whose mid-side node lies beyond the quarter point is folded over at its
// corner and overlaps its neighbours, and yet all of its integration points, which lie inside, look sound.
// The matrices are then those of another body, and stress at that node has no meaning. So both are looked at.
//
// Zero at a node is not an error: elements with mid-side nodes at quarter points (crack tips) are made so.
#pragma once

#include <Eigen/Core>

#include <string>
#include <vector>

#include "lissom/fe/mesh.hpp"

namespace lissom {

struct ElementJacobian {
  // The smallest of: det J / (|J_1| |J_2| |J_3|) at the integration points of stiffness and mass (1 for a
  // brick, 0 flat, negative inside out); det J at the nodes over the largest |det J|, where it is negative.
  double worst = 0;
  bool sound = false;  // above 0 at the integration points, not below 0 at the nodes
};

// Keeps the shape functions, so that a mesh is gone through with one of them.
class JacobianCheck {
 public:
  JacobianCheck();
  // Never throws for a bad element; one with coordinates that are no numbers is not sound.
  ElementJacobian operator()(const Mesh& mesh, int element) const;

 private:
  struct Points {
    std::vector<Eigen::Matrix3Xd> integration, nodes;  // gradients of the shape functions
  };
  std::vector<Points> points_;  // by ElementType
};

struct UnsoundElements {
  int count = 0;
  std::vector<int> first;  // ten of them, element indices
  int worst = -1;          // element index
  double jacobian = 0;     // ElementJacobian::worst of that one
};
// The result does not depend on the number of threads.
UnsoundElements find_unsound_elements(const Mesh& mesh);

// "3 of 48 elements have a zero or negative Jacobian: 3, 10, 12; the worst is element 10 (tet10) with ...",
// and what to do.
std::string describe(const UnsoundElements& unsound, const Mesh& mesh);

// Throws InputError with that text where there is one.
void check_elements(const Mesh& mesh);

}  // namespace lissom

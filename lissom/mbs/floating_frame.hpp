// Bodies in a floating frame: rigid ones, FFRF and FNCF, from one kernel.
//
// Notation: c the centre of mass at rest; a point X of the body is at
//   r = x + R (X - c + Phi eta),
// x (3) the frame's origin (the centre of mass of the deformed body too), R its rotation, eta (N) the
// deformation modes' amplitudes: the flexible natural modes of the reduced body, M_ff = I, K_ff = diag, D_ff.
// Coordinates:
//   FFRF   q = (x, p, eta), p the four Euler parameters, own constraint p'p - 1 = 0
//   FNCF   q = (x, r_1, r_2, r_3, eta), r_k the columns of R, own constraints R'R = I (6)
//   rigid  FFRF without eta.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lissom/cms/reduced_body.hpp"
#include "lissom/mbs/body.hpp"

namespace lissom {

struct RigidBodySpec {
  std::string name;
  double mass = 0;                                              // [kg]
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();             // in the body's frame [m]
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();            // about the centre, axes of the body [kg m2]
  std::vector<std::pair<std::string, Eigen::Vector3d>> points;  // by name, in the body's frame [m]
  Eigen::Matrix3Xd nodes;              // of its mesh, to be shown, in the body's frame [m]; none is fine
  std::vector<std::int64_t> node_ids;  // one per node
};
// Throws InputError: mass not positive, inertia not symmetric, not positive or breaking the triangle
// inequality of principal moments.
std::unique_ptr<Body> make_rigid_body(const RigidBodySpec& spec);
// The same from a reduced body: its mass and inertia, its interfaces and nodes as points, no deformation.
std::unique_ptr<Body> make_rigid_body(const std::string& name, const ReducedBody& reduced);

// With all flexible natural modes of the reduced body, of any basis. Throws InputError: no inertia invariants
// in the reduced body (M is not m (x) I_3), no flexible modes, not a free body.
std::unique_ptr<Body> make_ffrf_body(const std::string& name, const ReducedBody& reduced);
std::unique_ptr<Body> make_fncf_body(const std::string& name, const ReducedBody& reduced);

}  // namespace lissom

// The space in which a mechanism is trained: for every part a few scalar fields over its nodes, times the
// three directions, and of their combinations those that satisfy the linear joints.
//
// Notation: part i has s_i fields Q_i (n_i by s_i), orthonormal over the nodes (plain sums), that span {1, X,
// phi_m^k}: the generalized component modes of paper 000, Eqs. 19-21. Positions of its nodes are
// (Q_i (x) I_3) y_i; y = (y_1, .., y_b) has N = 3 sum s_i entries, number 3 a + l for field a and direction
// l. |x| = |y|, so that singular values of positions are those of y. Joints: C y = c. Z (N by z) is an
// orthonormal basis of the kernel of C.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/fe/fe_model.hpp"
#include "lissom/rom/slap/slap_model.hpp"
#include "lissom/rom/slap/snapshots.hpp"

namespace lissom {

struct SlapSpacePart {
  std::string name;
  Eigen::Matrix3Xd points;             // 3 by n, nodes with mass or stiffness at rest, own frame [m]
  std::vector<std::int64_t> node_ids;  // n
  double mass = 0;                     // [kg]
  Eigen::MatrixXd Q;                   // n by s
  Eigen::MatrixXd K;                   // 3 s by 3 s: (Q (x) I_3)' K (Q (x) I_3)
  Eigen::MatrixXd m;                   // s by s: Q' m Q [kg]
  Eigen::MatrixXd D;                   // 3 s by 3 s, damping in the part's frame; empty without
  Eigen::MatrixXd rest;                // s by 3: points = Q rest
  StressModes stress_modes;            // as of SlapPart; where they are wanted
  std::optional<SlapPose> placed;      // as of SlapPart
  int fields() const { return static_cast<int>(Q.cols()); }
};

// A place of a part for joints, loads and sensors, in terms of its fields.
struct SlapPlace {
  std::string name;                               // as after "PART."
  int part = -1;                                  // -1: a fixed point of the ground
  Eigen::VectorXd position;                       // s: the place is at sum_a position_a y_a
  Eigen::MatrixXd moment;                         // 3 by s: sum (X - mean) Q_a / nodes; empty without axes
  Eigen::Vector3d arm = Eigen::Vector3d::Zero();  // as SlapFrame
  Eigen::Matrix3d axes = Eigen::Matrix3d::Identity();
  Eigen::Vector3d rest = Eigen::Vector3d::Zero();
  std::vector<std::int64_t> node_ids;
  Eigen::Vector3d ground = Eigen::Vector3d::Zero();  // of the ground [m]
};

// Two places that stay together: three rows of C.
struct SlapPair {
  std::string joint;
  SlapPlace first, second;
};

struct SlapSpace {
  std::vector<SlapSpacePart> parts;
  std::vector<int> offsets;       // of y_i in y
  std::vector<SlapPlace> places;  // for loads and sensors
  std::vector<SlapPair> pairs;
  Eigen::MatrixXd C;    // 3 pairs by N
  Eigen::VectorXd c;    // 3 pairs
  Eigen::MatrixXd Z;    // N by z; empty (0 by 0) without joints
  bool project = true;  // data are projected on Z
  int dimension() const { return offsets.empty() ? 0 : offsets.back() + 3 * parts.back().fields(); }
  // dimension of the kernel, or of the space without joints
  int kernel_dimension() const { return Z.size() > 0 ? static_cast<int>(Z.cols()) : dimension(); }
};

// The fields {1, X, phi^k} of a body and its matrices in them. `bare` is the body without spiders, three
// degrees of freedom a node (nodes without any are left out); `modes` (3 n_all by N_m: x y z of every node of
// `bare`, in its order) are deformations in the body's frame, rigid parts in them do no harm. Fields whose
// part outside of the others is below `tolerance` of their norm are left out. `modal_damping` (N_m by N_m) is
// the damping matrix of the modes' amplitudes, modes being of unit mass; empty without. Throws InputError
// where the mass is not m (x) I_3 or nodes lie in a plane.
SlapSpacePart make_slap_part(const std::string& name, const FeModel& bare,
                             const Eigen::Ref<const Eigen::MatrixXd>& modes,
                             const Eigen::MatrixXd& modal_damping = {}, double tolerance = 1e-12);

// Where the part's nodes are (3 by n) for its coordinates y_i (3 s).
Eigen::Matrix3Xd node_positions(const SlapSpacePart& part, const Eigen::Ref<const Eigen::VectorXd>& y);

// The place of some nodes (indices into part.node_ids): their mean, with axes where they do not lie on a
// line. `origin` is the point that it stands for at rest (an interface's), with its axes.
SlapPlace make_slap_place(const SlapSpacePart& part, int part_index, const std::string& name,
                          const std::vector<int>& nodes, const Eigen::Vector3d& origin,
                          const Eigen::Matrix3d& axes = Eigen::Matrix3d::Identity());
// Weights of nodes (3 by count, at rest) whose weighted mean is at `point` in every rigid motion: the
// smallest ones. `miss` is how far off the mean is at rest where there are none (nodes of a plane, the point
// outside).
Eigen::VectorXd affine_weights(const Eigen::Ref<const Eigen::Matrix3Xd>& nodes, const Eigen::Vector3d& point,
                               double& miss);
// The position alone of a weighted mean.
SlapPlace make_weighted_place(const SlapSpacePart& part, int part_index, const std::string& name,
                              const std::vector<int>& nodes,
                              const Eigen::Ref<const Eigen::VectorXd>& weights);

// Puts the parts together, and C, c and Z where `pairs` are given. Redundant rows do no harm. Without
// `project_on_joints` models know the joints from the data alone (paper 000), and Z serves to judge them.
SlapSpace make_slap_space(std::vector<SlapSpacePart> parts, std::vector<SlapPlace> places,
                          std::vector<SlapPair> pairs, bool project_on_joints = true);

// Frequencies [Hz] of the mechanism linearised at positions y (N), joints held, ascending, `count` of them:
// the stress-free stiffness turned with each part, exactly zero where they are round-off. What SLAP
// frequencies cannot fall below with exact joints.
Eigen::VectorXd linearised_frequencies(const SlapSpace& space, const Eigen::Ref<const Eigen::VectorXd>& y,
                                       int count);

}  // namespace lissom

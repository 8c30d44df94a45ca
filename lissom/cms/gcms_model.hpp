// A body in generalized component modes, with all that a simulation needs and nothing of the mesh's size but
// the fields at the nodes kept. Made from the flexible natural modes of a reduced body and the
// finite-element matrices without spiders; written into the reduced-body file beside the other formulations'
// data.
//
// Notation as in gcms.hpp: S (n by s) scalar fields, mass-orthonormal over the whole body, columns 1 /
// sqrt(mass), (X - x_c) T, then flexible ones.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <string>
#include <vector>

#include "lissom/cms/gcms.hpp"
#include "lissom/cms/reduced_body.hpp"

namespace lissom {

// How an interface moves: the mean of its nodes, and their moment about it, whose polar factor is the
// interface's rotation. A spider's interface has the nodes that the spider ties.
struct GcmsFrame {
  std::string name;
  Eigen::Vector3d origin = Eigen::Vector3d::Zero();    // of the interface, in the body's frame [m]
  Eigen::Matrix3d axes = Eigen::Matrix3d::Identity();  // as columns
  Eigen::Vector3d mean = Eigen::Vector3d::Zero();      // of its nodes at rest [m]
  Eigen::VectorXd position;                            // s: mean of the fields over the nodes
  // 3 by s: sum over the nodes of (X - mean) S_a / (number of nodes). Empty where the nodes do not define a
  // rotation.
  Eigen::MatrixXd moment;
  bool rotates() const { return moment.size() > 0; }
};

struct GcmsModel {
  double mass = 0;                                   // [kg]
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();  // x_c [m]
  Eigen::Matrix3d T = Eigen::Matrix3d::Identity();   // S_1..3 = (X - x_c) T
  Eigen::Matrix3Xd points;                           // 3 by n, nodes kept [m]
  std::vector<std::int64_t> node_ids;                // n
  Eigen::MatrixXd S;                                 // n by s
  Eigen::MatrixXd K_hat;                             // 3s by 3s, coordinate 3 a + l
  // Amplitudes of the input modes for a deformation z (3s) in the body's axes: P z, P modes by 3s. They are
  // the reduced body's coordinates by Xi (N by modes): p = Xi P z. Empty where there is no reduced body.
  Eigen::MatrixXd P, Xi;
  Eigen::MatrixXd D_modal;  // modes by modes, damping P' D_modal P; empty without damping
  std::vector<GcmsFrame> frames;

  bool empty() const { return S.size() == 0; }
  int fields() const { return static_cast<int>(S.cols()); }
};

// The nodes with degrees of freedom, ascending. Throws InputError where a node that has any has not three, x y
// z, or they do not come in node order.
std::vector<int> nodes_that_move(const FeModel& bare);

// The frame of nodes of the model, by index: its origin is their mean, its axes are the body's. Without
// rotation where the nodes lie on a line (to 1e-6 of their distances).
GcmsFrame gcms_frame(const GcmsModel& model, const std::string& name, const std::vector<int>& nodes);

// Takes out of K_hat and P what round-off left of translations and rotations about the position at rest.
void remove_rigid_part(GcmsModel& model);

// `bare` is the body without spiders: points and node_mass of the same nodes as reduced.points, which must be
// all nodes, K over three degrees of freedom for each node that has any (as assemble() leaves them). Nodes
// without, as the reference nodes of spiders, follow as the fields' combinations of {1, X, modes}. `tied[i]`
// are the indices of the nodes that interface i's spider ties; empty for interfaces of nodes. All flexible
// natural modes of the reduced body are taken. Throws InputError where the mass is not m (x) I_3, where nodes
// are missing or where they are fewer than fields.
//
// The default truncation is finer than that of scalar_gcms_basis, so that the motions of a floating frame are
// all there: with 26 modes of a beam 1e-4 costs mode shapes 7e-4 of their largest displacement and the
// interfaces' static compliance 7e-7; at 1e-6 both are round-off, for 12 coordinates more of 195, and fields
// that depend on others (singular values below 1e-8) still go.
GcmsModel make_gcms_model(const FeModel& bare, const ReducedBody& reduced,
                          const std::vector<std::vector<int>>& tied,
                          const ScalarGcmsOptions& options = {1e-6});

}  // namespace lissom

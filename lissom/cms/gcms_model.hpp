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
  // Damping: D = P' D_modal P with P (modes by 3s) the amplitudes of the input modes; empty without damping.
  Eigen::MatrixXd P, D_modal;
  std::vector<GcmsFrame> frames;

  bool empty() const { return S.size() == 0; }
  int fields() const { return static_cast<int>(S.cols()); }
};

// `bare` is the body without spiders (K, node_mass and points of the same nodes as reduced.points, which must
// be all nodes); nodes without mass, as the reference nodes of spiders, follow the fields' combinations of
// the modes. `tied[i]` are the indices of the nodes that interface i's spider ties; empty for interfaces of
// nodes. Throws InputError where the mass is not m (x) I_3.
GcmsModel make_gcms_model(const FeModel& bare, const ReducedBody& reduced,
                          const std::vector<std::vector<int>>& tied, const ScalarGcmsOptions& options = {});

}  // namespace lissom

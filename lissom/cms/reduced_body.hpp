// A reduced elastic body: everything that simulation, system reduction and stress recovery need of it, and
// nothing that needs the finite-element matrices again.
//
// Notation: p (N) the reduced coordinates, u = U p the displacements of the nodes in the body's frame, M p''
// + D p' + K p = f. With Craig-Bampton p = (interior coordinates, interface degrees of freedom): the interior
// ones are fixed-interface modes, residual vectors and attachment modes, orthonormal in M and diagonal in K
// among themselves (craig_bampton.hpp).
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lissom/cms/damping.hpp"
#include "lissom/cms/error_table.hpp"
#include "lissom/cms/inertia_invariants.hpp"

namespace lissom {

enum class CoordinateKind : std::uint8_t {
  FixedInterface,  // natural mode of the body with all interfaces held
  Residual,        // static answer of what the modes kept leave out (the vectors B of error_estimate.hpp)
  Attachment,      // static answer to a load on interior nodes
  Constraint,      // unit displacement or rotation of one interface degree of freedom, all others held
  FreeInterface    // natural mode of the free body
};
std::string_view name_of(
    CoordinateKind kind);  // "fixed-interface", "residual", "attachment", "constraint", "free-interface"

// One reduced coordinate, as the mode table shows it.
struct ReducedCoordinate {
  CoordinateKind kind = CoordinateKind::FixedInterface;
  int interface = -1;         // index into ReducedBody::interfaces, of constraint modes
  std::int64_t node_id = -1;  // of constraint modes
  int direction = -1;         // 0..2 displacement along x, y, z, 3..5 rotation about x, y, z; likewise
  double frequency_hz = 0;    // sqrt(K_ii / M_ii) / (2 pi)
  // Of interior coordinates: what moves with the body when all interfaces move rigidly together, along x, y,
  // z [kg] and about axes through the centre of mass [kg m2]. NaN where it has no meaning.
  Eigen::Matrix<double, 6, 1> effective_mass = Eigen::Matrix<double, 6, 1>::Constant(unknown_error);
};

// Where joints and loads act. A node with three or six degrees of freedom, or a set of nodes.
struct InterfaceFrame {
  std::string name;
  std::vector<std::int64_t> node_ids;  // one, or those of the set
  Eigen::Vector3d origin =
      Eigen::Vector3d::Zero();  // the node, or the mean of the set, in the body's frame [m]
  Eigen::Matrix3d axes = Eigen::Matrix3d::Identity();  // its axes as columns
  // 6 by N: displacement and small rotation of the frame for unit coordinates, along and about the axes of
  // the body; of a set of nodes the mean motion (least squares). The rotation is zero, and `rotates` false,
  // where the nodes do not define one.
  Eigen::MatrixXd motion;
  bool rotates = false;
  std::vector<int> coordinates;  // indices of its constraint modes among the reduced coordinates
};

struct ReducedBody {
  std::string name;
  std::string source;  // file that the body came from
  // "craig-bampton"; "free-modes": only the flexible natural modes in range of such a body, p = a_F of paper
  // 001, Eq. 46; "free-interface": natural modes of the free body and residual attachment modes of the
  // interfaces
  std::string basis;
  std::string mass_kind;  // "consistent", "lumped", "calculix"; empty when it is not known

  std::vector<ReducedCoordinate> coordinates;  // N
  std::vector<InterfaceFrame> interfaces;
  Eigen::MatrixXd M, K;  // N by N
  Damping damping;
  Eigen::MatrixXd D;  // N by N; empty without damping

  // natural modes of the reduced body (paper 001, Eqs. 46-49), all N of them, ascending: Xi' M Xi = I, Xi' K
  // Xi = diag
  Eigen::VectorXd eigenvalues;
  Eigen::MatrixXd eigenvectors;  // N by N
  int rigid_count = 0;           // the first so many are rigid
  int range = 0;                 // so many flexible ones after them were asked for, with the errors below
  ErrorTable errors;

  // the nodes kept: all of them, or chosen ones
  Eigen::Matrix3Xd points;             // 3 by n [m]
  std::vector<std::int64_t> node_ids;  // n
  Eigen::MatrixXd modes;               // U: 3 n by N, x y z of node after node
  // strain (engineering shear) and stress [Pa] at the nodes kept for p_j = 1: 6 n by N, xx yy zz xy yz zx of
  // node after node; averages over the elements of a node; empty when not asked for
  Eigen::MatrixXd strain_modes, stress_modes;

  InertiaInvariants inertia;  // from all nodes; empty where the mass is not m (x) I_3

  int size() const { return static_cast<int>(coordinates.size()); }
  // N by `range`: the flexible natural modes asked for, and their frequencies.
  auto free_modes() const { return eigenvectors.middleCols(rigid_count, range); }
  Eigen::VectorXd frequencies_hz() const;
};

// The first thing that is wrong with sizes, indices or numbers that are not finite, as a sentence; empty if
// nothing is. NaN is allowed in the error table and in the mode table's frequencies and effective masses.
std::string inconsistency_of(const ReducedBody& body);

}  // namespace lissom

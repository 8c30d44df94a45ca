// A mechanism reduced as a whole by system-level affine projection (SLAP, papers 000 and 003): positions of
// all nodes of all bodies ("parts") as x = rho + Phi eta, joints included, with eta (m) the only unknowns.
// What is here suffices to run it, and its size does not depend on the meshes unless recovery is kept.
//
// Notation, per part (docs/theory/slap.md, errata of 000): e = (1, eta), so that column 0 of "by e" matrices
// belongs to the reference rho and column 1 + r to eta_r. x0 the nodes at rest, centred at their plain mean;
// the centred positions are A(e) x0 + w(e) with A = sum e_q A_q (3 by 3) and sum w_q x0' = 0; S0 = sum x0
// x0'. R (global to part) is the rotation that makes P = R A S0 symmetric and brings the nodes nearest to x0;
// the deformation in the part's axes is d = E x0 + R w, E = R A - I, so linear in
//   z = [vec E; e_0 vec R; e_1 vec R; .. ; e_m vec R]   (9 (m + 2); vec is column by column),
// and the elastic energy is V = |C z|^2 / 2 with a constant C.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "lissom/fe/stress_recovery.hpp"

namespace lissom {

// Where a part is placed before a run begins: its own frame in space.
struct SlapPose {
  Eigen::Vector3d position = Eigen::Vector3d::Zero();      // [m]
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();  // part to global
};

struct SlapPart {
  std::string name;
  double mass = 0;            // [kg]
  Eigen::Matrix3d S0;         // [m2]
  Eigen::MatrixXd A;          // 9 by m + 1: vec A_q
  Eigen::MatrixXd C;          // rank by 9 (m + 2); its first nine columns know the symmetric part of E only
  Eigen::MatrixXd C_damping;  // rows by 9 (m + 2): power |C_damping z'|^2 is taken out; empty without damping
  // As the first training run was set up, before it was assembled or came to rest: free lengths of springs,
  // angles and points of the ground are counted from there, as those of the full model are. Not known of
  // motions from other programs and of old files; there they are counted from the start.
  std::optional<SlapPose> placed;

  // Recovery, optional: x = (fields (x) I_3) coefficients e, coordinate 3 a + l of field a and direction l.
  std::vector<std::int64_t> node_ids;  // n
  Eigen::MatrixXd fields;              // n by s
  Eigen::MatrixXd coefficients;        // 3 s by m + 1
  Eigen::Matrix3Xd points;             // 3 by n, at rest in the part's own frame [m]
  StressModes stress_modes;            // 6 n by 3 s, of the fields along x y z; optional
  bool has_nodes() const { return fields.size() > 0; }
};

// A place where loads act and sensors measure: the mean of some nodes, and their moment about it, whose polar
// factor turns the place's axes.
struct SlapFrame {
  std::string name;  // "top right", "node 17": as after "PART."
  int part = 0;
  Eigen::MatrixXd position;  // 3 by m + 1: the mean is position e [m]
  Eigen::MatrixXd moment;    // 9 by m + 1: vec of sum (x - mean) (X - mean)' / nodes; empty: no axes
  Eigen::Vector3d arm = Eigen::Vector3d::Zero();  // from the mean to the origin at rest, part's frame [m]
  Eigen::Matrix3d axes = Eigen::Matrix3d::Identity();  // of the place at rest, part's frame
  Eigen::Vector3d rest = Eigen::Vector3d::Zero();      // its origin at rest, part's frame [m]
  std::vector<std::int64_t>
      node_ids;  // of the nodes, where the part keeps its own: stress is asked for there
  // 9 by m + 1: vec B_q, where B(e) = sum e_q B_q is near that polar factor (part to global). Only in a model
  // with a polynomial form; empty: the place keeps its polar factor.
  Eigen::MatrixXd linear_axes;
  bool rotates() const { return moment.size() > 0; }
};

// Where the model was trained: what says how far a state is from it.
struct SlapTraining {
  Eigen::MatrixXd samples;  // m by k: eta of training states, thinned out
  Eigen::VectorXd spread;   // m: root of the mean square of each coordinate over all of them
  // Largest distance of a training state from its nearest neighbour among the samples, coordinates divided by
  // `spread`: the unit of distance_from_training().
  double reach = 0;
};

// How well a model repeats the motions that it was trained on.
struct SlapAccuracy {
  double motion = 0;  // largest displacement of a node in the training [m]; 0: not known
  // Of the model's own runs of these motions, a node's position at most, and a coordinate of one in the mean
  // square [m]; not numbers where there were none, or where they failed.
  double largest_error = std::numeric_limits<double>::quiet_NaN();
  double rms_error = std::numeric_limits<double>::quiet_NaN();
  bool failed = false;  // a run did not come to its end
};

// The elastic energy and the damping of all parts together as a polynomial of eta (docs/theory/slap.md): rows
// that are quadratic forms of e, V = |y|^2 / 2 with y_r = sum_{q <= p} S_r,qp e_q e_p, and the power
// |y_damping'|^2. Instead of rotations it has a frame B(e) = sum e_q B_q per part, linear in e and fitted to
// the training, with R B = I + F: it is exact but for F, and does not see where a part is or how it is turned.
struct SlapPolynomial {
  Eigen::MatrixXd S;  // rows by (m + 1)(m + 2) / 2: coefficients of e_q e_p in the order of monomial()
  Eigen::MatrixXd S_damping;  // the same; empty without damping
  double cut = 0;             // rows span what the training states need to this, relative to their largest
  // Over the training states:
  Eigen::VectorXd strain;   // of each part: largest |E|
  Eigen::VectorXd misfit;   // of each part: largest |F|
  double axes_misfit = 0;   // of places: largest |B - polar factor| [rad]
  double row_error = 0;     // largest error of y, relative to the largest |y|
  double displacement = 0;  // what the error of the force moves a node by, at most [m]
  // where e_q e_p stands in a row, q <= p <= m
  static Eigen::Index monomial(Eigen::Index q, Eigen::Index p, Eigen::Index m) {
    return q * (m + 1) - q * (q - 1) / 2 + p - q;
  }
};

// Which forces a model is given: a polynomial where it is near enough to the exact kernel, or always, or never.
enum class SlapForm : std::uint8_t { Automatic, Polynomial, Exact };

struct SlapModel {
  std::string title;
  std::vector<SlapPart> parts;
  std::vector<SlapFrame> frames;
  Eigen::MatrixXd M;        // m by m [kg]
  double mass_damping = 0;  // zeta of Eq. 47 [1/s]
  Eigen::MatrixXd centre;   // 3 by m + 1: sum of mass times position is centre e [kg m]
  // 3 by (m + 1)^2: sum over all masses of phi_q x phi_p in column q (m + 1) + p, so that the angular
  // momentum about the origin is sum_qp e_q e_p' column [kg m2]
  Eigen::MatrixXd angular;
  Eigen::VectorXd start, start_rate;  // m: eta and its rate at the beginning of the first training run
  Eigen::VectorXd scale;              // m: how far eta_r = 1 moves a node, at most [m]
  double radius = 0;                  // largest distance of a node from the centre of mass at rho [m]
  SlapTraining training;
  SlapAccuracy accuracy;
  // In place of the parts' C and C_damping, which stay: they say how far off it is.
  std::optional<SlapPolynomial> polynomial;
  std::string polynomial_why;  // it is there, or is not; empty where nothing is known

  int order() const { return static_cast<int>(M.rows()); }
};

// The first thing that is wrong with sizes or numbers that are not finite, as a sentence; empty if nothing
// is.
std::string inconsistency_of(const SlapModel& model);

// A model whose error is above this part of the motion is poor.
inline constexpr double poor_model = 0.01;
// What is poor about a model, as a sentence; empty where nothing is, or nothing is known.
std::string poor(const SlapAccuracy& accuracy);

// The same model on the exact kernel.
SlapModel without_polynomial(SlapModel model);

// Of all training states eta (m by k), thinned out to a few hundred.
SlapTraining make_training(const Eigen::Ref<const Eigen::MatrixXd>& eta);

// 0 at a training state, 1 as far away as training states are from each other at most, and so on: how far
// eta (m) has left what the model was trained on. 0 where the model has no samples.
double distance_from_training(const SlapTraining& training, const Eigen::Ref<const Eigen::VectorXd>& eta);

}  // namespace lissom

// Generalized component modes (GCMS, paper 002): a basis in which a flexible body that moves through large
// rotations has a constant mass matrix, and two ways of curing the dependencies of its columns.
//
// Notation: n nodes; m (n by n) the scalar mass matrix of the nodes, M = m (x) I_3; K (3n by 3n). The shape
// vectors of Eqs. 4-6 are scalar fields times the three directions,
//   Phi = S (x) I_3,   S = { 1, X_k, phi_m^k }   (n by 4 + 3 N_m),
// phi_m^k being the displacement of mode m along k. Everything here is done on S: singular values of Phi are
// those of S, each three times, and columns of Phi with different directions l are orthogonal. A column of S
// stands for a triple l = 1..3 of Phi, which is what may be removed without losing the rotated shapes
// (the paper's text has k in the place of l). Coordinate 3 a + l belongs to column a of S and direction l.
//
// All fields lie in the span of Q (n by r), mass-orthonormal, whose first columns are 1 / sqrt(mass) and
// (X - x_c) T. Once Q, S = Q R and K_Q = (Q (x) I_3)' K (Q (x) I_3) are known, nothing depends on n any more.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/fe/fe_model.hpp"
#include "lissom/linalg/sparse.hpp"

namespace lissom {

// The model's node mass, after a check that GCMS can have the model: three degrees of freedom for each node
// in node order, and M = m (x) I_3. Throws InputError naming what is different.
const SymmetricMatrix& gcms_node_mass(const FeModel& model);

// (Q (x) I_3)' K (Q (x) I_3), 3r by 3r, of fields Q (nodes by r); K over three degrees of freedom a node.
Eigen::MatrixXd project_stiffness(const SymmetricMatrix& K, const Eigen::MatrixXd& Q);

// One column of S.
struct GcmsColumn {
  enum class Kind : std::uint8_t {
    Translation,  // constant
    Rotation,     // X_k, or a combination of X - x_c
    Flexible,     // phi_m^k
    Field         // a combination of such, in the scalar basis
  };
  Kind kind = Kind::Translation;
  int mode = 0;       // number of the mode, from 1, as the caller counts; of a Field its own number
  int direction = 0;  // k = 0..2, of Rotation and Flexible

  std::string label() const;  // "1", "X", "mode 7 y", "field 3"
};

// 1, x, y, z: the motions of a rigid and of an affinely strained body come first.
inline constexpr int rigid_columns = 4;

// The space of all columns, and what the two methods need of it.
struct GcmsSpace {
  Eigen::Matrix3Xd points;          // 3 by n [m]
  std::vector<GcmsColumn> columns;  // 4 + 3 N_m
  Eigen::MatrixXd S;                // n by 4 + 3 N_m, as Eqs. 4-6 have it; modes as they were given
  std::vector<int> mode_numbers;    // N_m
  Eigen::VectorXd eigenvalues;      // lambda_m [rad2/s2]
  Eigen::VectorXd mode_masses;      // phi_m' M phi_m

  double mass = 0;                  // [kg]
  Eigen::Vector3d centre;           // x_c [m]
  Eigen::Matrix3d T;                // symmetric, T' (X - x_c)' m (X - x_c) T = I
  Eigen::MatrixXd Q;                // n by r
  Eigen::MatrixXd R;                // r by 4 + 3 N_m, S = Q R
  Eigen::MatrixXd K;                // K_Q, 3r by 3r
  Eigen::MatrixXd R_euclid;         // of the Euclidean QR decomposition of S: its singular values and angles
  double orthogonality = 0;         // largest entry of |Q' m Q - I|
  Eigen::VectorXd singular_values;  // of S, descending; Phi has each three times
  // |cosine| of the flexible columns, Eq. 35, 3 N_m by 3 N_m; Phi_f's is cosine (x) I_3
  Eigen::MatrixXd cosine;

  int mode_count() const { return static_cast<int>(mode_numbers.size()); }
};

// `modes` is 3n by N_m (x y z of node after node), the order of its columns is that of Phi_f; `numbers` are
// their names, 1, 2, .. if empty. Throws InputError: eigenvalues that are not positive (rigid modes), fewer
// nodes than columns of S.
GcmsSpace gcms_space(const Eigen::Matrix3Xd& points, const SymmetricMatrix& node_mass,
                     const SymmetricMatrix& K, const Eigen::Ref<const Eigen::MatrixXd>& modes,
                     const Eigen::Ref<const Eigen::VectorXd>& eigenvalues,
                     const std::vector<int>& numbers = {});

// Condition numbers after one step of a method; infinite for a rank-deficient matrix.
struct GcmsStep {
  std::string name;
  int columns = 0;                // of Phi
  double condition = 0;           // of Phi (2-norm)
  double flexible_condition = 0;  // of Phi_f
  double mass_condition = 0;      // of M^(1/2) Phi
};

// A column of S (three of Phi) that Algorithm 1 took out.
struct GcmsRemoval {
  int column = 0;    // of GcmsSpace::S
  int partner = -1;  // column that it resembles; -1 in the singular-value stage
  double value = 0;  // |cosine| with it; in the singular-value stage the ratio of the drop
  std::string why;   // "cosine", "singular value" or "zero"
};

// A column so small beside the others of its mode that scaling it turns round-off into a coordinate (the
// warping of a circular section is such a one).
struct FaintColumn {
  int column = 0;
  double relative_norm = 0;  // to the largest of the mode's three
};

// How an input mode came through.
struct GcmsRitz {
  int mode = 0;           // its number
  double eigenvalue = 0;  // lambda [rad2/s2]
  double ritz = 0;        // Ritz value of the vector that resembles it most, one to one
  double mac = 0;         // (phi' M u)^2 / (phi' M phi u' M u)
  double error = 0;       // ritz / eigenvalue - 1
};

struct GcmsBasis {
  std::string method;  // "scalar" or "algorithm-1"
  std::vector<GcmsColumn> columns;
  Eigen::MatrixXd S;       // n by s, affine columns at 1..3
  Eigen::Vector3d centre;  // x_c and T of S_aff = (X - x_c) T; 0 and I after Algorithm 1, which has X itself
  Eigen::Matrix3d T;
  Eigen::MatrixXd m_hat;     // s by s, M_hat = m_hat (x) I_3; the identity (exactly) of the scalar basis
  Eigen::MatrixXd K_hat;     // 3s by 3s
  double orthogonality = 0;  // scalar: largest entry of |S' m S - I|, measured

  std::vector<GcmsStep> steps;  // the first is S as it is
  std::vector<GcmsRitz> ritz;   // one per input mode
  // scalar: of the flexible fields in the energy norm, relative to the first; `kept` of them are in the
  // basis. Algorithm 1: of S as it is here.
  Eigen::VectorXd singular_values;
  int kept = 0;            // flexible columns
  Eigen::MatrixXd cosine;  // that of the space: all flexible columns before any step

  // Algorithm 1
  std::vector<GcmsRemoval> removed;
  std::vector<FaintColumn> faint;

  int coordinates() const { return 3 * static_cast<int>(S.cols()); }
  double max_error() const;             // largest |error|
  Eigen::MatrixXd mass_matrix() const;  // M_hat, 3s by 3s
};

struct ScalarGcmsOptions {
  // Fields with a smaller singular value, relative to the largest, are left out. 1e-4 costs eigenvalues
  // about 1e-4 at most; smaller keeps nearly dependent fields, larger saves three coordinates a field.
  double truncation = 1e-4;
};

// The default: a mass-orthonormal basis of the scalar fields, rigid columns {1, X - x_c} first. The flexible
// fields, deflated by those and with modes divided by sqrt(lambda), are truncated by a singular value
// decomposition in the inner product of K_xx + K_yy + K_zz. M_hat = I, and the mass-optimal rotation of a
// state depends on the nine affine coordinates only (docs/theory/gcms.md).
GcmsBasis scalar_gcms_basis(const GcmsSpace& space, const SymmetricMatrix& node_mass,
                            const ScalarGcmsOptions& options = {});

struct Algorithm1Options {
  double threshold = 0.993;        // c_th on |cosine|
  double desired_condition = 100;  // cond(Phi) below which the remaining steps are left out
  double drop = 100;               // sigma_i > drop sigma_(i+1) is a "big drop"
  double faint = 1e-6;             // relative norm below which a column is noted
};

// Algorithm 1 of the paper, in whole triples. Warns of faint columns and of those that are zero, which are
// removed.
GcmsBasis algorithm_1(const GcmsSpace& space, const Algorithm1Options& options, Diagnostics& diagnostics);

// The cosine stage alone over the threshold (Fig. 5).
struct GcmsSweepPoint {
  double threshold = 0;
  int removed = 0;                       // columns of Phi_f
  double flexible_condition = 0;         // of Phi_f as it is (Fig. 5a)
  double scaled_flexible_condition = 0;  // after scaling
  double scaled_condition = 0;           // of Phi, after scaling
  double max_error = 0;                  // of the input modes' eigenvalues
};
std::vector<GcmsSweepPoint> sweep_threshold(const GcmsSpace& space, const std::vector<double>& thresholds);

}  // namespace lissom

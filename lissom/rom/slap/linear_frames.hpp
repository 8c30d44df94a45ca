// Frames of a SLAP model that are linear in e = (1, eta), in place of rotations that are not (docs/theory/slap.md).
//
// Notation, per part as in slap_model.hpp: A(e) its affine part, w_k(e) (3) the amplitude of its k-th field
// beyond 1 and X, linear in e. For any constant c_k (3)
//   B(e) = A(e) + sum_k w_k(e) c_k' = sum_q e_q B_q
// turns with the part, whatever the rotation: both terms do. c_k are chosen so that B is near a given rotation
// in the states of the training.
#pragma once

#include <Eigen/Core>

#include <vector>

#include "lissom/rom/slap/slap_model.hpp"

namespace lissom {

// vec sum_k w_kq c_k' of each q (9 by m + 1) with the c_k that bring B nearest to the rotations: least squares
// over the states eta (m by k) with `missing` (k of them) = rotation - A(e). w: 3 rows a field, m + 1 columns.
// Large c_k cost something: a ten thousandth of the largest amplitude.
Eigen::MatrixXd fit_frame(const Eigen::MatrixXd& w, const Eigen::MatrixXd& states,
                          const std::vector<Eigen::Matrix3d>& missing);

// w of a part that keeps its nodes and whose fields are 1, X and others orthogonal to them, as training makes
// them; without columns of any other part.
Eigen::MatrixXd deformation_amplitudes(const SlapPart& part);

// A place's axes are linear only where they are as near as this to its polar factor in all states [rad].
inline constexpr double linear_axes_limit = 1e-4;
// Fits frame.linear_axes over the states and returns how far they are off at most [rad]; left empty where that
// is above `limit`.
double fit_linear_axes(const SlapPart& part, const Eigen::MatrixXd& w, const Eigen::MatrixXd& states,
                       double limit, SlapFrame& frame);
// The same of a part that keeps its nodes, over the model's training samples.
double fit_linear_axes(const SlapModel& model, SlapFrame& frame);

}  // namespace lissom

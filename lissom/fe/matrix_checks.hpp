// What K and M say about themselves: figures by which a user sees whether the matrices are those of the body
// that was meant. Works on any FeModel, imported or assembled.
#pragma once

#include <Eigen/Core>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "lissom/fe/fe_model.hpp"

namespace lissom {

struct MatrixChecks {
  int dofs = 0;
  long K_entries = 0, M_entries = 0;  // of the lower triangles

  // Of matrices that came with both triangles, see FeModel.
  std::optional<double> K_asymmetry, M_asymmetry;

  // |K r| / | |K| |r| | for translations along x, y, z and rotations about x, y, z (about the mean of the
  // nodes), in the 2-norm: how far the terms of K r cancel. Rounding gives 1e-16 to 1e-12, nine printed
  // digits 1e-9; a held body, wrong coordinates or rows in another order give 1e-3 to 1. Needs nodes of all
  // rows and, for rotations, coordinates.
  std::array<std::optional<double>, 6> rigid_body_residual;

  // r' M r for the translations, i.e. the mass as seen along x, y, z [unit of M]; the three agree for a free
  // body. Needs nodes of all rows.
  std::optional<Eigen::Vector3d> mass;
  // Centre of mass in the model's frame, and inertia about it (a 3 by 3 tensor, axes of the frame). Needs
  // coordinates and mass in all three directions.
  std::optional<Eigen::Vector3d> centre;
  std::optional<Eigen::Matrix3d> inertia;

  // Rows (indices into FeModel::dofs) without any entry; of M they make infinite frequencies.
  std::vector<int> zero_rows_K, zero_rows_M;
  // Rows whose diagonal is negative, or zero beside entries that are not: the matrix is indefinite.
  std::vector<int> bad_diagonal_K, bad_diagonal_M;
  // Rows with an entry that is not finite.
  std::vector<int> not_finite_K, not_finite_M;

  // The largest rigid-body residual that is known; nothing when none is.
  std::optional<double> worst_residual() const;
};

// Throws nothing but LISSOM_ASSERT (sizes that do not belong together).
MatrixChecks check_matrices(const FeModel& model);

// "node 12, direction z" or, without nodes, "row 17" (1-based).
std::string describe_dof(const FeModel& model, int row);
// The first five rows of a list so, and how many more there are.
std::string describe_dofs(const FeModel& model, const std::vector<int>& rows);

// The figures as lines of text, "n/a" where something is not known.
std::string to_string(const MatrixChecks& checks);

}  // namespace lissom

#include "lissom/fe/matrix_checks.hpp"

#include <cmath>

#include "lissom/core/error.hpp"
#include "lissom/fe/matrix_entries.hpp"
#include "lissom/fe/rigid_body.hpp"

namespace lissom {

namespace {

struct RowFindings {
  std::vector<int> zero, bad_diagonal, not_finite;
};

RowFindings inspect_rows(const SparseMatrix& lower) {
  const int n = static_cast<int>(lower.rows());
  std::vector<char> filled(static_cast<size_t>(n), 0), finite(static_cast<size_t>(n), 1);
  std::vector<double> diagonal(static_cast<size_t>(n), 0.0);
  for (int j = 0; j < n; ++j) {
    for (SparseMatrix::InnerIterator it(lower, j); it; ++it) {
      const int i = static_cast<int>(it.row());
      if (!std::isfinite(it.value())) finite[i] = finite[j] = 0;
      if (it.value() != 0) filled[i] = filled[j] = 1;
      if (i == j) diagonal[i] = it.value();
    }
  }
  RowFindings findings;
  for (int i = 0; i < n; ++i) {
    if (!filled[i]) findings.zero.push_back(i);
    if (!finite[i]) findings.not_finite.push_back(i);
    if (diagonal[i] < 0 || (filled[i] && diagonal[i] == 0)) findings.bad_diagonal.push_back(i);
  }
  return findings;
}

}  // namespace

std::optional<double> MatrixChecks::worst_residual() const {
  std::optional<double> worst;
  for (const auto& residual : rigid_body_residual)
    if (residual && (!worst || *residual > *worst)) worst = residual;
  return worst;
}

MatrixChecks check_matrices(const FeModel& model) {
  LISSOM_ASSERT(model.K.size() == model.M.size());
  LISSOM_ASSERT(model.dofs.size() == static_cast<size_t>(model.dof_count()));
  MatrixChecks checks;
  checks.dofs = model.dof_count();
  checks.K_entries = model.K.lower.nonZeros();
  checks.M_entries = model.M.lower.nonZeros();
  checks.K_asymmetry = model.K_asymmetry;
  checks.M_asymmetry = model.M_asymmetry;
  RowFindings K_rows = inspect_rows(model.K.lower), M_rows = inspect_rows(model.M.lower);
  checks.zero_rows_K = std::move(K_rows.zero);
  checks.zero_rows_M = std::move(M_rows.zero);
  checks.bad_diagonal_K = std::move(K_rows.bad_diagonal);
  checks.bad_diagonal_M = std::move(M_rows.bad_diagonal);
  checks.not_finite_K = std::move(K_rows.not_finite);
  checks.not_finite_M = std::move(M_rows.not_finite);

  // what follows needs to know which way a row points
  if (!knows_rigid_motions(model) || !checks.not_finite_K.empty() || !checks.not_finite_M.empty())
    return checks;

  // residuals, measured against what the sums would be if nothing cancelled
  const bool points = model.has_points();
  const Eigen::Vector3d p = points ? Eigen::Vector3d(model.points.rowwise().mean()) : Eigen::Vector3d::Zero();
  const Eigen::MatrixXd R = rigid_body_modes(model.points, model.dofs, p);
  Eigen::MatrixXd KR(R.rows(), 6), scale(R.rows(), 6);
  multiply(model.K, R, KR);
  multiply(SymmetricMatrix{model.K.lower.cwiseAbs()}, R.cwiseAbs(), scale);
  for (int k = 0; k < (points ? 6 : 3); ++k)
    if (scale.col(k).norm() > 0) checks.rigid_body_residual[k] = KR.col(k).norm() / scale.col(k).norm();

  const RigidMass mass = *rigid_mass(model);
  checks.mass = mass.mass;
  checks.centre = mass.centre;
  checks.inertia = mass.inertia;
  return checks;
}

std::string describe_dof(const FeModel& model, int row) {
  const Dof& dof = model.dofs[static_cast<size_t>(row)];
  if (dof.node < 0) return fmt::format("row {}", row + 1);
  return fmt::format("node {}, direction {}", model.node_ids[static_cast<size_t>(dof.node)],
                     direction_name(dof.direction));
}

std::string to_string(const MatrixChecks& checks) {
  std::string text = fmt::format("degrees of freedom   {}\nentries (triangle)   K {}, M {}\n", checks.dofs,
                                 checks.K_entries, checks.M_entries);
  const auto symmetry = [](const std::optional<double>& asymmetry) {
    return asymmetry ? fmt::format("{:.1e}", *asymmetry) : std::string("one triangle stored");
  };
  text += fmt::format("asymmetry            K {}, M {}\n", symmetry(checks.K_asymmetry),
                      symmetry(checks.M_asymmetry));
  text += "rigid-body residuals ";
  for (int k = 0; k < 6; ++k) {
    const auto& residual = checks.rigid_body_residual[k];
    text += fmt::format(" {}{} {}", k < 3 ? "t" : "", direction_name(k),
                        residual ? fmt::format("{:.1e}", *residual) : "n/a");
  }
  const auto vector = [](const std::optional<Eigen::Vector3d>& v) {
    return v ? fmt::format("{:.9g} {:.9g} {:.9g}", (*v)(0), (*v)(1), (*v)(2)) : std::string("n/a");
  };
  text += fmt::format("\nmass along x y z     {}\ncentre of mass       {}\n", vector(checks.mass),
                      vector(checks.centre));
  if (checks.inertia) {
    const Eigen::Matrix3d& J = *checks.inertia;
    text += fmt::format("inertia (centre)     xx {:.6g} yy {:.6g} zz {:.6g} xy {:.6g} yz {:.6g} zx {:.6g}\n",
                        J(0, 0), J(1, 1), J(2, 2), J(0, 1), J(1, 2), J(2, 0));
  } else {
    text += "inertia (centre)     n/a\n";
  }
  text += fmt::format("zero rows            K {}, M {}\nbad diagonals        K {}, M {}\n",
                      checks.zero_rows_K.size(), checks.zero_rows_M.size(), checks.bad_diagonal_K.size(),
                      checks.bad_diagonal_M.size());
  return text;
}

std::string describe_dofs(const FeModel& model, const std::vector<int>& rows) {
  std::string text;
  for (size_t k = 0; k < rows.size() && k < 5; ++k) text += (k ? "; " : "") + describe_dof(model, rows[k]);
  if (rows.size() > 5) text += fmt::format("; and {} more", rows.size() - 5);
  return text;
}

}  // namespace lissom

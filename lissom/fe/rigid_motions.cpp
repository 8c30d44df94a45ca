#include "lissom/fe/rigid_motions.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "lissom/core/text.hpp"
#include "lissom/fe/matrix_checks.hpp"
#include "lissom/fe/rigid_body.hpp"
#include "lissom/linalg/blas.hpp"

namespace lissom {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double unit_roundoff = std::numeric_limits<double>::epsilon() / 2;
constexpr double roundoff_factor = 4;
// a rigid motion may be taken for a soft support by no accident: four times as much
constexpr double rigid_factor = 16;

// |K| |x|
VectorXd absolute_product(const SymmetricMatrix& K, const Eigen::Ref<const VectorXd>& x) {
  VectorXd y = VectorXd::Zero(x.size());
  for (int j = 0; j < K.size(); ++j)
    for (SparseMatrix::InnerIterator it(K.lower, j); it; ++it) {
      const double value = std::abs(it.value());
      y[it.row()] += value * std::abs(x[j]);
      if (it.row() != j) y[j] += value * std::abs(x[it.row()]);
    }
  return y;
}

}  // namespace

VectorXd energy_magnitude(const SymmetricMatrix& K, const Eigen::Ref<const MatrixXd>& X) {
  VectorXd result(X.cols());
  for (Eigen::Index k = 0; k < X.cols(); ++k)
    result[k] = X.col(k).cwiseAbs().dot(absolute_product(K, X.col(k)));
  return result;
}

VectorXd energy_roundoff(const SymmetricMatrix& K, const Eigen::Ref<const MatrixXd>& X) {
  return roundoff_factor * unit_roundoff * energy_magnitude(K, X);
}

MatrixXd without_energy(const SymmetricMatrix& K, const Eigen::Ref<const MatrixXd>& X, double limit) {
  if (X.cols() == 0) return X;
  MatrixXd KX(X.rows(), X.cols());
  multiply(K, X, KX);
  const MatrixXd energies = transposed_product(X, KX);
  // motions with and without energy, apart
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(0.5 * (energies + energies.transpose()));
  const MatrixXd Y = X * eigen.eigenvectors();
  std::vector<int> without;
  for (int k = 0; k < Y.cols(); ++k) {
    const double energy = std::abs(eigen.eigenvalues()[k]), all = energy_magnitude(K, Y.col(k))[0];
    if (energy <= std::max(limit, rigid_factor * unit_roundoff * all)) without.push_back(k);
  }
  // all of them: as they were, so that translations stay pure
  if (static_cast<Eigen::Index>(without.size()) == X.cols()) return X;
  return Y(Eigen::all, without);
}

ConnectedParts connected_parts(const SymmetricMatrix& K) {
  ConnectedParts parts;
  std::vector<int> root(K.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  for (int j = 0; j < K.size(); ++j)
    for (SparseMatrix::InnerIterator it(K.lower, j); it; ++it)
      if (it.value() != 0) root[find(static_cast<int>(it.row()))] = find(j);
  std::vector<int>& part = parts.of_row;
  part.assign(K.size(), -1);
  parts.count = 0;
  for (int i = 0; i < K.size(); ++i) {
    int& name = part[find(i)];
    if (name < 0) name = parts.count++;
  }
  for (int i = 0; i < K.size(); ++i) part[i] = part[find(i)];
  return parts;
}

void refuse_parts(const FeModel& model, const ConnectedParts& parts, bool allowed, const std::string& how,
                  const std::string& warning_id, Diagnostics& diagnostics) {
  if (parts.count <= 1) return;
  std::vector<int> first(parts.count, -1), size(parts.count, 0);
  for (int i = 0; i < model.dof_count(); ++i) {
    if (first[parts.of_row[i]] < 0) first[parts.of_row[i]] = i;
    ++size[parts.of_row[i]];
  }
  const std::string message = fmt::format(
      "the body falls apart into {} parts that nothing connects (degrees of freedom: {}{}; the second "
      "begins at {})",
      parts.count, fmt::join(size.begin(), size.begin() + std::min(parts.count, 5), ", "),
      parts.count > 5 ? ", ..." : "", describe_dof(model, first[1]));
  if (!allowed)
    fail_input("{}: {}; merge coincident nodes, tie the parts with a spider, or accept it with {}",
               model.source, message, how);
  diagnostics.warn(warning_id, message, {model.source, 0});
}

bool knows_nodes(const FeModel& model) {
  return model.has_points() && knows_rigid_motions(model);
}

MatrixXd rigid_motions(const FeModel& model, const SymmetricMatrix& K, const SymmetricMatrix& M,
                       const Eigen::Vector3d& centre, const std::vector<int>& keep,
                       const std::vector<int>& fixed, const ConnectedParts& parts, double limit) {
  const int n = static_cast<int>(keep.size());
  if (!knows_nodes(model)) return MatrixXd(n, 0);
  const double size =
      std::max(1e-300, (model.points.rowwise().maxCoeff() - model.points.rowwise().minCoeff()).norm());
  MatrixXd rigid = rigid_body_modes(model.points, model.dofs, centre);
  rigid.rightCols(3) /= size;

  MatrixXd motions(n, 0);
  for (int p = 0; p < parts.count; ++p) {
    // combinations of the six that leave the held rows of this part alone
    std::vector<int> held;
    for (int row : fixed)
      if (parts.of_row[row] == p) held.push_back(row);
    MatrixXd combinations = MatrixXd::Identity(6, 6);
    if (!held.empty()) {
      Eigen::Matrix<double, 6, 6> gram = Eigen::Matrix<double, 6, 6>::Zero();
      for (int row : held) gram += rigid.row(row).transpose() * rigid.row(row);
      const Eigen::SelfAdjointEigenSolver<Eigen::Matrix<double, 6, 6>> eig(gram);
      int free = 0;
      while (free < 6 && eig.eigenvalues()[free] < 1e-12 * std::max(1.0, eig.eigenvalues()[5])) ++free;
      combinations = eig.eigenvectors().leftCols(free);
    }
    if (combinations.cols() == 0) continue;
    MatrixXd R = MatrixXd::Zero(n, combinations.cols());
    for (int k = 0; k < n; ++k)
      if (parts.of_row[keep[k]] == p) R.row(k) = rigid.row(keep[k]) * combinations;
    // orthonormalise in M one after the other, twice, so that translations stay pure; a part that is a point
    // or a line has fewer than six
    const int candidates = static_cast<int>(R.cols());
    int rank = 0;
    for (int k = 0; k < candidates; ++k) {
      VectorXd x = R.col(k);
      const double before = std::sqrt(x.dot(M.full() * x));
      for (int pass = 0; pass < 2; ++pass) {
        const VectorXd Mx = M.full() * x;
        x -= R.leftCols(rank) * (R.leftCols(rank).transpose() * Mx);
      }
      const double after = std::sqrt(x.dot(M.full() * x));
      if (after > 1e-6 * before) R.col(rank++) = x / after;
    }
    R.conservativeResize(n, rank);
    // keep what has no energy: all of it, unless the matrices hold the body in a way that nobody told
    const MatrixXd rigid_part = without_energy(K, R, limit);
    motions.conservativeResize(n, motions.cols() + rigid_part.cols());
    motions.rightCols(rigid_part.cols()) = rigid_part;
  }
  return motions;
}

}  // namespace lissom

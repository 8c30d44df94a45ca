// A plain eigen-solver for small test models, independent of the one in lissom/linalg.
#pragma once

#include <Eigen/Eigenvalues>
#include <Eigen/SparseCholesky>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "lissom/core/error.hpp"
#include "lissom/fe/fe_model.hpp"

namespace lissom::test {

inline Eigen::MatrixXd dense(const SymmetricMatrix& A) {
  return Eigen::MatrixXd(A.lower).selfadjointView<Eigen::Lower>();
}

// The rows and columns of A that are kept.
inline SparseMatrix reduce(const SymmetricMatrix& A, const std::vector<int>& new_index, int count) {
  std::vector<Eigen::Triplet<double>> entries;
  for (int col = 0; col < A.size(); ++col)
    for (SparseMatrix::InnerIterator it(A.lower, col); it; ++it) {
      const int i = new_index[it.row()], j = new_index[col];
      if (i < 0 || j < 0) continue;
      entries.emplace_back(i, j, it.value());
      if (i != j) entries.emplace_back(j, i, it.value());
    }
  SparseMatrix result(count, count);
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

// The lowest eigenvalues [1/s2] of K x = lambda M x without the fixed degrees of freedom, by subspace
// iteration with K + shift M. Ascending; rigid ones come out as small numbers of either sign.
inline Eigen::VectorXd lowest_eigenvalues(const FeModel& model, int count, const std::vector<int>& fixed = {},
                                          double shift = 1e5) {
  std::vector<int> index(model.dof_count(), 0);
  for (const int dof : fixed) index[dof] = -1;
  int n = 0;
  for (int& i : index)
    if (i >= 0) i = n++;
  const SparseMatrix K = reduce(model.K, index, n), M = reduce(model.M, index, n);
  const Eigen::SimplicialLDLT<SparseMatrix> factor(K + shift * M);
  if (factor.info() != Eigen::Success) throw Error("K + shift M is singular");
  const int block = std::min(n, 2 * count + 8);
  Eigen::MatrixXd X = Eigen::MatrixXd::NullaryExpr(
      n, block, [](int i, int j) { return std::sin(1.7 * i * (j + 1) + 0.3 * j) + (i == 7 * j ? 1 : 0); });
  Eigen::VectorXd values = Eigen::VectorXd::Zero(block), previous;
  for (int iteration = 0; iteration < 200; ++iteration) {
    previous = values;
    // Rayleigh-Ritz on the inverted pencil, which also admits a singular M
    const Eigen::MatrixXd Y = M * X;
    const Eigen::MatrixXd Z = factor.solve(Y);
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(Z);
    X = qr.householderQ() * Eigen::MatrixXd::Identity(n, block);
    const Eigen::MatrixXd a = X.transpose() * (M * X), b = X.transpose() * (K * X) + shift * a;
    const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> ritz(a, b);
    X = (X * ritz.eigenvectors()).rowwise().reverse().eval();
    values = ritz.eigenvalues().reverse();
    if (((values - previous).head(count).array().abs() < 1e-10 * values.head(count).array().abs()).all())
      break;
  }
  return (values.head(count).cwiseInverse().array() - shift).matrix();
}

inline Eigen::VectorXd to_hertz(const Eigen::VectorXd& eigenvalues) {
  return eigenvalues.cwiseMax(0).cwiseSqrt() / (2 * std::numbers::pi);
}

// All degrees of freedom of the nodes of a set.
inline std::vector<int> dofs_of(const FeModel& model, const std::vector<int>& nodes) {
  std::vector<int> dofs;
  for (int i = 0; i < model.dof_count(); ++i)
    if (std::find(nodes.begin(), nodes.end(), model.dofs[i].node) != nodes.end()) dofs.push_back(i);
  return dofs;
}

}  // namespace lissom::test

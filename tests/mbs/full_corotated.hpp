// A body that is not reduced at all, as a GCMS body: the fields are a complete mass-orthonormal basis of the
// nodes, so that its motion is that of the co-rotated finite-element model itself. For meshes of some hundred
// nodes.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "lissom/cms/gcms_model.hpp"
#include "tests/fe/small_eigen.hpp"

namespace lissom::test {

// `solid` has three degrees of freedom at each node in node order; frames are nodes by name.
inline GcmsModel full_corotated(const FeModel& solid,
                                const std::vector<std::pair<std::string, std::vector<int>>>& frames = {}) {
  using Eigen::MatrixXd;
  const MatrixXd m = dense(gcms_node_mass(solid));
  const Eigen::Index n = m.rows();
  GcmsModel model;
  model.points = solid.points;
  model.node_ids = solid.node_ids;
  model.mass = m.sum();
  model.centre = solid.points * m.rowwise().sum() / model.mass;
  const MatrixXd X = (solid.points.colwise() - model.centre).transpose();
  const Eigen::Matrix3d inertia = X.transpose() * m * X;
  model.T = Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(inertia).operatorInverseSqrt();
  MatrixXd rigid(n, 4);
  rigid << Eigen::VectorXd::Constant(n, 1 / std::sqrt(model.mass)), X * model.T;
  // L' S is orthonormal in the plain sense: complete it there
  const Eigen::LLT<MatrixXd> llt(m);
  const Eigen::HouseholderQR<MatrixXd> qr(MatrixXd(llt.matrixU() * rigid));
  MatrixXd rest = MatrixXd::Zero(n, n - 4);
  rest.bottomRows(n - 4).setIdentity();
  rest = (qr.householderQ() * rest).eval();
  model.S.resize(n, n);
  model.S << rigid, llt.matrixU().solve(rest);
  MatrixXd Phi = MatrixXd::Zero(3 * n, 3 * n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index a = 0; a < n; ++a) Phi.block<3, 3>(3 * i, 3 * a).diagonal().setConstant(model.S(i, a));
  model.K_hat = Phi.transpose() * (dense(solid.K) * Phi);
  remove_rigid_part(model);
  for (const auto& frame : frames) model.frames.push_back(gcms_frame(model, frame.first, frame.second));
  return model;
}

}  // namespace lissom::test

#include "lissom/time/tangent_space.hpp"

#include <Eigen/QR>

#include <cmath>

namespace lissom {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd kernel_basis(const Equations& equations, const MatrixXd& G) {
  const Eigen::Index n = equations.coordinates(), m = G.rows();
  VectorXd inverse = equations.displacement_scale();
  for (double& s : inverse) s = 1 / (s > 0 ? s : equations.length());
  if (m == 0) return MatrixXd(inverse.asDiagonal());
  MatrixXd scaled = inverse.asDiagonal() * G.transpose();
  scaled.colwise().normalize();
  const Eigen::HouseholderQR<MatrixXd> qr(scaled);
  MatrixXd N = MatrixXd::Zero(n, n - m);
  N.bottomRows(n - m).setIdentity();
  N.applyOnTheLeft(qr.householderQ());
  return inverse.asDiagonal() * N;
}

MotionMatrices motion_matrices(Equations& equations, const State& state) {
  const int n = equations.coordinates(), m = equations.constraints();
  NewtonMatrix matrix(n + m, equations.blocks(), NewtonMatrix::Storage::Dense);
  const auto derivative = [&](double by_q, double by_v, double by_a) {
    equations.jacobian(state, 1, JacobianWeights{by_q, by_v, by_a, 1, 1}, matrix);
    return MatrixXd(matrix.dense().topLeftCorner(n, n));
  };
  return {derivative(1, 0, 0), derivative(0, 1, 0), derivative(0, 0, 1)};
}

std::string name_direction(const Equations& equations, const VectorXd& z) {
  Eigen::Index row = 0;
  z.cwiseProduct(equations.displacement_scale()).cwiseAbs().maxCoeff(&row);
  const int i = static_cast<int>(row);
  std::string name = equations.row_name(i);
  if (!name.ends_with("position")) return name;
  // three of them follow each other
  int axis = 0;
  while (axis < 2 && i - axis > 0 && equations.row_name(i - axis - 1) == name) ++axis;
  return name + " along " + "xyz"[axis];
}

}  // namespace lissom

#include "lissom/cms/inertia_invariants.hpp"

#include "lissom/core/error.hpp"
#include "lissom/linalg/blas.hpp"

namespace lissom {

using Eigen::MatrixXd;

InertiaInvariants inertia_invariants(const Eigen::Matrix3Xd& points, const SymmetricMatrix& node_mass,
                                     const Eigen::Ref<const MatrixXd>& modes) {
  const Eigen::Index n = points.cols(), N = modes.cols();
  LISSOM_ASSERT(node_mass.size() == n && modes.rows() == 3 * n);

  // Y = m [1 x y z]: all that the modes are not part of
  MatrixXd rigid(n, 4), Y(n, 4);
  rigid.col(0).setOnes();
  rigid.rightCols<3>() = points.transpose();
  multiply(node_mass, rigid, Y);
  const Eigen::Matrix4d moments = rigid.transpose() * Y;
  InertiaInvariants result;
  result.mass = moments(0, 0);
  result.first_moment = moments.block<3, 1>(1, 0);
  const Eigen::Matrix3d second = moments.bottomRightCorner<3, 3>();
  result.second_moment = (second + second.transpose()) / 2;

  // the directions apart, because gemm wants rows without gaps
  std::array<MatrixXd, 3> U;
  result.translation.resize(3, N);
  for (auto& block : result.position) block.resize(3, N);
  MatrixXd moved(4, N), mU(n, N);
  for (int b = 0; b < 3; ++b) {
    U[b].resize(n, N);
    for (Eigen::Index j = 0; j < N; ++j)
      for (Eigen::Index i = 0; i < n; ++i) U[b](i, j) = modes(3 * i + b, j);
    gemm(true, false, 1, Y, U[b], 0, moved);
    result.translation.row(b) = moved.row(0);
    for (int a = 0; a < 3; ++a) result.position[a].row(b) = moved.row(1 + a);

    // U_a' m U_b for a <= b; the others are their transposes
    multiply(node_mass, U[b], mU);
    for (int a = 0; a <= b; ++a) {
      MatrixXd& product = result.deformation[3 * a + b];
      product.resize(N, N);
      gemm(true, false, 1, U[a], mU, 0, product);
      if (a == b)
        product = ((product + product.transpose()) / 2).eval();
      else
        result.deformation[3 * b + a] = product.transpose();
    }
  }
  return result;
}

}  // namespace lissom

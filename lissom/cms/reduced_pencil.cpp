#include "lissom/cms/reduced_pencil.hpp"

#include <limits>

#include "lissom/core/error.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/fortran_blas.hpp"
#include "lissom/linalg/symmetric_eigen.hpp"

namespace lissom {

using Eigen::MatrixXd;

MatrixXd ReducedPencil::stiffness() const {
  MatrixXd K = MatrixXd::Zero(size(), size());
  K.diagonal().head(interior()) = lambda;
  K.bottomRightCorner(interface(), interface()) = K_b;
  return K;
}

MatrixXd ReducedPencil::mass() const {
  MatrixXd M = MatrixXd::Identity(size(), size());
  M.topRightCorner(interior(), interface()) = P;
  M.bottomLeftCorner(interface(), interior()) = P.transpose();
  M.bottomRightCorner(interface(), interface()) = M_b;
  return M;
}

PencilSolver::PencilSolver(const ReducedPencil& pencil)
    : interior_(pencil.interior()), interface_(pencil.interface()), P_(pencil.P) {
  const BlasThreads one_thread;
  // displacements and rotations differ in size: scale the interface to unit mass before the factorisation
  MatrixXd schur = pencil.M_b;
  gemm(true, false, -1, P_, P_, 1, schur);
  const Eigen::VectorXd scale = schur.diagonal().cwiseMax(0).cwiseSqrt();
  for (int i = 0; i < interface_; ++i)
    if (!(scale[i] * scale[i] > 1e-13 * pencil.M_b(i, i)))
      fail(
          "interface degree of freedom {} has no mass of its own besides that of the interior modes (left: "
          "{:.1e} of {:.1e}), "
          "so that the reduced mass matrix is singular; give the interface mass, or keep fewer interior "
          "modes",
          i + 1, schur(i, i), pencil.M_b(i, i));
  const Eigen::VectorXd inverse = scale.cwiseInverse();
  schur = inverse.asDiagonal() * schur * inverse.asDiagonal();
  int info = 0;
  dpotrf_("L", &interface_, schur.data(), &interface_, &info);
  if (info != 0)
    fail(
        "the mass matrix of the reduced interface is not positive definite: two interface degrees of freedom "
        "move alike");
  C_ = scale.asDiagonal() * MatrixXd(schur.triangularView<Eigen::Lower>());

  // E' = -C^-1 P' diag(lambda); G = C^-1 (K_b + P' diag(lambda) P) C^-T
  H_ = MatrixXd::Zero(interior_ + interface_, interior_ + interface_);
  H_.diagonal().head(interior_) = pencil.lambda;
  const MatrixXd scaled = pencil.lambda.asDiagonal() * P_;
  if (interior_ > 0) {
    MatrixXd E = scaled.transpose();
    const double minus = -1;
    dtrsm_("L", "L", "N", "N", &interface_, &interior_, &minus, C_.data(), &interface_, E.data(),
           &interface_);
    H_.bottomLeftCorner(interface_, interior_) = E;
  }
  MatrixXd G = pencil.K_b;
  gemm(true, false, 1, P_, scaled, 1, G);
  H_.bottomRightCorner(interface_, interface_) = transformed(G);
  roundoff_ = 8 * std::numeric_limits<double>::epsilon() * H_.norm();
}

ReducedModes PencilSolver::lowest(int count) const {
  SymmetricEigen eigen = symmetric_eigen(H_, 0, count, true);
  ReducedModes modes;
  modes.values = std::move(eigen.values);
  modes.vectors = std::move(eigen.vectors);
  // back from the coordinates of H: x_b = C^-T y_b, x_i = y_i - P x_b
  auto interface = modes.vectors.bottomRows(interface_);
  C_.transpose().triangularView<Eigen::Upper>().solveInPlace(interface);
  modes.vectors.topRows(interior_).noalias() -= P_ * interface;
  return modes;
}

MatrixXd PencilSolver::transformed(const Eigen::Ref<const MatrixXd>& X) const {
  const BlasThreads one_thread;
  const double one = 1;
  MatrixXd Y = X;
  dtrsm_("L", "L", "N", "N", &interface_, &interface_, &one, C_.data(), &interface_, Y.data(), &interface_);
  dtrsm_("R", "L", "T", "N", &interface_, &interface_, &one, C_.data(), &interface_, Y.data(), &interface_);
  return 0.5 * (Y + Y.transpose());
}

double PencilSolver::eigenvalue(int n, const Eigen::Ref<const MatrixXd>& transformed_W) const {
  MatrixXd H = H_;
  H.bottomRightCorner(interface_, interface_) -= transformed_W;
  return symmetric_eigen(std::move(H), n, 1, false).values[0];
}

}  // namespace lissom

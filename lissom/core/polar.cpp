#include "lissom/core/polar.hpp"

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <Eigen/SVD>

#include <cmath>

#include "lissom/core/error.hpp"

namespace lissom {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double smallest_gap = 1e-12;

// Newton's iteration X <- (c X + X^-T / c) / 2, which ends at the rotation of any X with det X > 0. It is
// started from C + cof(C) / |C|: the same rotation, the third singular value raised to s_1 s_2 / |C| and
// more.
bool rotation_by_newton(const Matrix3d& C, double size, Matrix3d& A) {
  Matrix3d X = C / size;
  X += cofactors(X);
  bool near = false;
  for (int step = 0; step < 30; ++step) {
    const Matrix3d Y = cofactors(X);
    const double det = X.col(0).dot(Y.col(0));
    if (!(det > 1e-30)) return false;
    const double norm_x = X.squaredNorm(), norm_y = Y.squaredNorm() / (det * det);
    // the factor that balances X and its inverse; one at the end, for quadratic convergence
    const double c = near ? 1 : std::sqrt(std::sqrt(norm_y / norm_x));
    const Matrix3d next = 0.5 * c * X + (0.5 / (c * det)) * Y;
    const double change = (next - X).squaredNorm();
    X = next;
    // the error after the step is about the square of the change
    if (near && change < 1e-18) break;
    near = change < 1e-2;
  }
  A = X;
  return true;
}

// Kabsch: C = W S V', A = W diag(1, 1, det(W V')) V'.
Matrix3d rotation_by_svd(const Matrix3d& C) {
  const Eigen::JacobiSVD<Matrix3d> svd(C, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Matrix3d W = svd.matrixU();
  if (W.determinant() * svd.matrixV().determinant() < 0) W.col(2) = -W.col(2);
  return W * svd.matrixV().transpose();
}

// One step of A towards a symmetric A' C, A kept orthogonal, and U and H^-1 there. False where H is not
// positive definite.
bool finish(const Matrix3d& C, double size, Polar& p) {
  for (int pass = 0; pass < 2; ++pass) {
    p.A = (0.5 * p.A * (3 * Matrix3d::Identity() - p.A.transpose() * p.A)).eval();
    const Matrix3d U = p.A.transpose() * C;
    p.U = 0.5 * (U + U.transpose());
    const Matrix3d H = trace_minus(p.U), K = cofactors(H);
    const double det = H.col(0).dot(K.col(0));
    // leading minors, then the second eigenvalue by the norm of the cofactors, which are round-off where two eigenvalues
    // are zero, and the smallest one by the norm of the inverse
    if (!(H(0, 0) > 0 && K(2, 2) > 0 && det > 0)) return false;
    if (!(K.norm() > smallest_gap * size * H.norm())) return false;
    p.H_inverse = K / det;
    if (!(p.H_inverse.norm() * size * smallest_gap < 1)) return false;
    if (pass > 0) break;
    const Vector3d turn = 2 * p.H_inverse * skew_vector(U);
    // far from symmetric: that was no rotation of C
    if (!(turn.norm() < 1e-3)) return false;
    p.A = (p.A + p.A * skew(turn)).eval();
  }
  return true;
}

}  // namespace

Matrix3d cofactors(const Matrix3d& X) {
  Matrix3d result;
  result.col(0) = X.col(1).cross(X.col(2));
  result.col(1) = X.col(2).cross(X.col(0));
  result.col(2) = X.col(0).cross(X.col(1));
  return result;
}

Matrix3d trace_minus(const Matrix3d& B) {
  return B.trace() * Matrix3d::Identity() - B;
}

Vector3d Polar::omega(const Matrix3d& dC) const {
  return 2 * H_inverse * skew_vector(A.transpose() * dC);
}

Vector3d Polar::omega_derivative(const Matrix3d& dC_1, const Matrix3d& dC_2) const {
  const Matrix3d B_1 = A.transpose() * dC_1, B_2 = A.transpose() * dC_2;
  const Vector3d omega_1 = 2 * H_inverse * skew_vector(B_1), omega_2 = 2 * H_inverse * skew_vector(B_2);
  return -H_inverse * (trace_minus(B_1) * omega_2 + trace_minus(B_2) * omega_1 + omega_2.cross(U * omega_1));
}

Polar::Second Polar::second(const Matrix3d& W) const {
  // d2A = A ([omega_2]x [omega_1]x + [d omega_1]x), and W : A [t]x = t . ax(N - N') with N = A' W
  const Matrix3d N = A.transpose() * W;
  Second result;
  result.y = 2 * H_inverse * skew_vector(N);
  const Matrix3d inner = N - U * skew(result.y);
  result.middle = 0.5 * (inner + inner.transpose()) - N.trace() * Matrix3d::Identity();
  return result;
}

Polar polar(const Matrix3d& C) {
  const double size = C.norm();
  Polar result;
  if (std::isfinite(size) && size > 0) {
    if (rotation_by_newton(C, size, result.A) && finish(C, size, result)) return result;
    result.A = rotation_by_svd(C);
    if (finish(C, size, result)) return result;
    const Vector3d s = Eigen::JacobiSVD<Matrix3d>(C).singularValues();
    fail(
        "no rotation is nearest to a matrix with the singular values {:.3g}, {:.3g}, {:.3g} and the "
        "determinant "
        "{:.3g}: the points that should define it have come to lie on a line or were turned inside out",
        s[0], s[1], s[2], C.determinant());
  }
  fail("no rotation is nearest to a matrix that is zero or not finite (norm {})", size);
}

}  // namespace lissom

#include "lissom/linalg/transfer_function.hpp"

#include <Eigen/Eigenvalues>

namespace lissom {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::Ref;

namespace {

// X = (s - H)^-1 X for an upper Hessenberg H: elimination with exchanges of neighbours.
void solve_hessenberg(const MatrixXd& H, Complex s, MatrixXcd& T, MatrixXcd& X) {
  const Index n = H.rows();
  T = -H.cast<Complex>();
  T.diagonal().array() += s;
  for (Index k = 0; k + 1 < n; ++k) {
    if (std::abs(T(k + 1, k)) > std::abs(T(k, k))) {
      T.row(k).tail(n - k).swap(T.row(k + 1).tail(n - k));
      X.row(k).swap(X.row(k + 1));
    }
    if (T(k + 1, k) == Complex(0)) continue;
    const Complex factor = T(k + 1, k) / T(k, k);
    T.row(k + 1).tail(n - k) -= factor * T.row(k).tail(n - k);
    X.row(k + 1) -= factor * X.row(k);
  }
  T.triangularView<Eigen::Upper>().solveInPlace(X);
}

}  // namespace

TransferFunction::TransferFunction(const Ref<const MatrixXd>& A, const Ref<const MatrixXd>& B,
                                   const Ref<const MatrixXd>& C)
    : H_(A), B_(B.cast<Complex>()), C_(C.cast<Complex>()), T_(A.rows(), A.rows()) {
  if (A.rows() <= 2) return;
  const Eigen::HessenbergDecomposition<MatrixXd> decomposition(A);
  const MatrixXd Q = decomposition.matrixQ();
  H_ = decomposition.matrixH();
  B_ = MatrixXd(Q.transpose() * B).cast<Complex>();
  C_ = MatrixXd(C * Q).cast<Complex>();
}

const MatrixXcd& TransferFunction::operator()(Complex s) {
  X_ = B_;
  if (H_.rows() > 0) solve_hessenberg(H_, s, T_, X_);
  response_ = C_ * X_;
  return response_;
}

}  // namespace lissom

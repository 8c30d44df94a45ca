// C (s - A)^-1 B for many s: what a linear system does to harmonic inputs.
#pragma once

#include <Eigen/Core>

#include <complex>

namespace lissom {

// A (n by n) is brought to Hessenberg form once; each s then costs n^2. Numbers of very different size in A are the
// caller's to scale (balance_rows_and_columns()). Evaluations share their room: one thread at a time.
class TransferFunction {
 public:
  TransferFunction(const Eigen::Ref<const Eigen::MatrixXd>& A, const Eigen::Ref<const Eigen::MatrixXd>& B,
                   const Eigen::Ref<const Eigen::MatrixXd>& C);
  // Rows of C by columns of B, until the next call. Not finite at an eigenvalue of A.
  const Eigen::MatrixXcd& operator()(std::complex<double> s);

 private:
  Eigen::MatrixXd H_;
  Eigen::MatrixXcd B_, C_, T_, X_, response_;
};

}  // namespace lissom

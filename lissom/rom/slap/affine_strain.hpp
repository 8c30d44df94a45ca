// A = sum e_q A_q of a part (slap_model.hpp) and its strain A'A - I. The strain is 1e-7 where A is a rotation
// of order one: products and sums are carried with twice the digits, so that it has all of its own.
#pragma once

#include <Eigen/Core>

#include "lissom/linalg/row_products.hpp"

namespace lissom {

using Vector6d = Eigen::Matrix<double, 6, 1>;

// The matrices A_q (9 by m + 1: vec A_q) as affine_strain wants them.
class AffineMaps {
 public:
  AffineMaps() = default;
  explicit AffineMaps(const Eigen::Ref<const Eigen::MatrixXd>& A);
  // e = (1, eta), eta (m). A is rounded to double; strain = (11, 22, 33, 12, 13, 23) of A'A - I, relative
  // error a few round-offs of its largest entry as long as that is above 1e-30.
  void strain(const double* eta, Eigen::Matrix3d& A, Vector6d& strain) const;

 private:
  Eigen::Index count_ = 0;
  AlignedArray values_;  // twelve numbers for each q, of which nine count
};

}  // namespace lissom

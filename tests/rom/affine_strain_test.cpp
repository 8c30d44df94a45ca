#include "lissom/rom/slap/affine_strain.hpp"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

namespace lissom::affine_strain_test {
namespace {

TEST(AffineStrain, HasAllItsDigitsOnALargeRotation) {
  for (const double size : {1e-2, 1e-6, 1e-9, 1e-12}) {
    const int m = 6;
    Eigen::MatrixXd A = Eigen::MatrixXd::Random(9, m + 1);
    const Eigen::VectorXd eta = Eigen::VectorXd::Random(m);
    // what is missing to a rotation goes into the first matrix; its rounding is a strain of 1e-16
    const Eigen::Matrix3d R =
        Eigen::AngleAxisd(1.1, Eigen::Vector3d(1, -2, 3).normalized()).toRotationMatrix();
    Eigen::Matrix3d U = Eigen::Matrix3d::Identity() + size * Eigen::Matrix3d::Random();
    const Eigen::Matrix3d wanted = R * U;
    A.col(0) = Eigen::Map<const Eigen::VectorXd>(wanted.data(), 9) - A.rightCols(m) * eta;

    __float128 exact[9], strain[6];
    for (int i = 0; i < 9; ++i) {
      exact[i] = A(i, 0);
      for (int r = 0; r < m; ++r) exact[i] += static_cast<__float128>(A(i, r + 1)) * eta[r];
    }
    const int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (int n = 0; n < 6; ++n) {
      strain[n] = n < 3 ? -1 : 0;
      for (int k = 0; k < 3; ++k) strain[n] += exact[3 * pairs[n][0] + k] * exact[3 * pairs[n][1] + k];
    }

    Eigen::Matrix3d found_A;
    Vector6d found;
    AffineMaps(A).strain(eta.data(), found_A, found);
    for (int i = 0; i < 9; ++i) EXPECT_EQ(found_A.data()[i], static_cast<double>(exact[i]));
    // twice the digits leave 1e-31 beside the strain's own round-off
    for (int n = 0; n < 6; ++n)
      EXPECT_NEAR(found[n], static_cast<double>(strain[n]),
                  2e-16 * std::abs(static_cast<double>(strain[n])) + 1e-29)
          << size << " " << n;
  }
}

}  // namespace
}  // namespace lissom::affine_strain_test

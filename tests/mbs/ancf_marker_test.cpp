// Markers of ANCF beams: axes that follow the slope, and their derivatives against differences.
#include "lissom/mbs/ancf_marker.hpp"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include "tests/mbs/marker_support.hpp"

namespace lissom::ancf_marker_test {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::Random;

AncfMarker marker_of(int dimension, int k, Random& random) {
  AncfMarker marker;
  marker.dimension = dimension;
  marker.r0 = random.vector(3);
  marker.R = MatrixXd::NullaryExpr(3, k, [&] { return random.number(); });
  marker.S = MatrixXd::NullaryExpr(3, k, [&] { return random.number(); });
  marker.rest_tangent = random.vector(3);
  marker.rest_axes = random.rotation(1.2);
  if (dimension == 2) {
    marker.R.row(2).setZero();
    marker.S.row(2).setZero();
    marker.rest_tangent.z() = 0;
  }
  marker.rest_tangent.normalize();
  marker.s0 = 1.3 * marker.rest_tangent;
  return marker;
}

MarkerKinematics kinematics(const AncfMarker& marker, const VectorXd& x, const VectorXd& rate) {
  MarkerKinematics out;
  evaluate_ancf_marker(marker, x, rate, true, out);
  return out;
}

class AncfMarkerOf : public testing::TestWithParam<int> {};

TEST_P(AncfMarkerOf, HasAxesThatTurnWithTheTangent) {
  Random random(1);
  const AncfMarker marker = marker_of(GetParam(), 7, random);
  const VectorXd x = 0.4 * random.vector(7), zero = VectorXd::Zero(7);
  const MarkerKinematics rest = kinematics(marker, zero, zero), now = kinematics(marker, x, zero);
  // round-off
  EXPECT_LT((rest.axes() - marker.rest_axes).norm(), 1e-14);
  const Matrix3d turn = now.axes() * marker.rest_axes.transpose();
  EXPECT_LT((turn * turn.transpose() - Matrix3d::Identity()).norm(), 1e-14);
  const Vector3d t = (marker.s0 + marker.S * x).normalized();
  EXPECT_LT((turn * marker.rest_tangent - t).norm(), 1e-14);
  // smallest: about an axis across both tangents
  const Matrix3d expected = Eigen::Quaterniond::FromTwoVectors(marker.rest_tangent, t).toRotationMatrix();
  EXPECT_LT((turn - expected).norm(), 1e-13);
  EXPECT_LT((now.position() - marker.r0 - marker.R * x).norm(), 1e-14);
}

TEST_P(AncfMarkerOf, HasExactDerivatives) {
  Random random(2);
  for (int sample = 0; sample < 5; ++sample) {
    const AncfMarker marker = marker_of(GetParam(), 7, random);
    const VectorXd x = 0.4 * random.vector(7), rate = random.vector(7);
    const MarkerKinematics here = kinematics(marker, x, rate);
    const MatrixXd J = test::differences([&](const VectorXd& y) { return kinematics(marker, y, rate).m; }, x);
    const MatrixXd V =
        test::differences([&](const VectorXd& y) { return kinematics(marker, y, rate).rate; }, x);
    const Vector12d w = random.vector(12);
    MatrixXd H = MatrixXd::Ones(7, 7);
    add_ancf_marker_hessian(marker, x, w, 0.5, H);
    const MatrixXd expected = test::differences(
        [&](const VectorXd& y) { return VectorXd(kinematics(marker, y, rate).J.transpose() * w); }, x);
    // differences of fourth order with steps of 1e-3: 1e-12 times fifth derivatives, which are some hundreds
    EXPECT_LT((here.J - J).norm(), 1e-9 * J.norm());
    EXPECT_LT((here.rate - here.J * rate).norm(), 1e-14 * here.rate.norm());
    EXPECT_LT((here.V - V).norm(), 1e-8 * V.norm());
    EXPECT_LT(((H.array() - 1).matrix() * 2 - expected).norm(), 1e-8 * expected.norm());
  }
}

INSTANTIATE_TEST_SUITE_P(Dimensions, AncfMarkerOf, testing::Values(2, 3));

TEST(AncfMarker, OfAPlanarBeamTurnsAllTheWayRound) {
  Random random(3);
  AncfMarker marker = marker_of(2, 2, random);
  marker.s0.setZero();
  marker.S = Eigen::Matrix<double, 3, 2>::Identity();
  const Eigen::Vector2d opposite = -marker.rest_tangent.head<2>(), rate(0, 0);
  const Matrix3d axes = kinematics(marker, opposite, rate).axes();
  const Matrix3d half_turn = Eigen::Vector3d(-1, -1, 1).asDiagonal();
  EXPECT_LT((axes - half_turn * marker.rest_axes).norm(), 1e-14);
}

TEST(AncfMarker, OfASpatialBeamIsNotDefinedAtHalfATurnAndSaysSo) {
  Random random(4);
  AncfMarker marker = marker_of(3, 3, random);
  marker.s0.setZero();
  marker.S = Matrix3d::Identity();
  const VectorXd opposite = -marker.rest_tangent, rate = VectorXd::Zero(3);
  MarkerKinematics out;
  try {
    evaluate_ancf_marker(marker, opposite, rate, false, out);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("half a turn"), std::string::npos) << error.what();
  }
  EXPECT_THROW(evaluate_ancf_marker(marker, rate, rate, false, out), Error);
}

}  // namespace
}  // namespace lissom::ancf_marker_test

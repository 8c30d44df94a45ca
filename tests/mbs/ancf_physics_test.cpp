// ANCF beams against beam theory: a cantilever rolled up by a moment, frequencies of slender beams.
#include <gtest/gtest.h>
#include <Eigen/Dense>
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lissom/mbs/ancf_body.hpp"
#include "tests/mbs/body_checks.hpp"

namespace lissom::ancf_physics_test {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using std::numbers::pi;
using test::jacobian_of;
using test::Motion;
using test::residual_of;

const Vector3d no_gravity = Vector3d::Zero();
const double L = 2, EA = 2e4, EI = 3, mass = 0.7;

AncfModel straight(int dimension, int elements, const Vector3d& direction, const AncfLaw& law) {
  AncfModel model;
  model.dimension = dimension;
  model.law = law;
  AncfBeam beam;
  beam.name = "beam";
  beam.elements = elements;
  beam.to = L * direction;
  beam.properties = {0, EA, EI, mass, 0};
  model.beams = {beam};
  return model;
}

// Distance of the end from the start of a clamped beam that a moment 2 pi EI/L about `axis` rolls into a
// circle, by Newton's method in steps of the load. The moment turns the slope s of the end: its generalised
// forces there are M x s / |s|^2.
double gap_of_circle(int dimension, int elements, const AncfLaw& law) {
  const Eigen::Matrix3d R = dimension == 2
                                ? Eigen::AngleAxisd(0.3, Vector3d::UnitZ()).toRotationMatrix()
                                : Eigen::AngleAxisd(0.9, Vector3d(1, 2, -1).normalized()).toRotationMatrix();
  const Vector3d axis = R.col(2);
  AncfModel model = straight(dimension, elements, R.col(0), law);
  model.supports = {{{0, 0}, true}};
  const AncfBody body("roll", model);
  const int n = body.coordinates(), D = dimension;
  Motion s{VectorXd(n), VectorXd(n), VectorXd::Zero(n)};
  body.place({}, s.q, s.v);
  const int steps = 4 * elements;
  for (int step = 1; step <= steps; ++step) {
    const Vector3d M = 2 * pi * EI / L * step / steps * axis;
    double change = 1;
    for (int iteration = 0; iteration < 60 && change > 1e-11; ++iteration) {
      VectorXd r = residual_of(body, s, 1, no_gravity);
      MatrixXd K = jacobian_of(body, s, 1, no_gravity, 1, 0, 0);
      Vector3d slope = Vector3d::Zero();
      slope.head(D) = s.q.tail(D);
      const double m = slope.squaredNorm();
      const Vector3d f = M.cross(slope) / m;
      Eigen::Matrix3d cross;
      cross << 0, -M.z(), M.y(), M.z(), 0, -M.x(), -M.y(), M.x(), 0;
      const Eigen::Matrix3d by_slope = cross / m - 2 * f * slope.transpose() / m;
      r.tail(D) -= f.head(D);
      K.bottomRightCorner(D, D) -= by_slope.topLeftCorner(D, D);
      const VectorXd dq = K.partialPivLu().solve(r);
      s.q -= dq;
      change = dq.lpNorm<Eigen::Infinity>();
    }
    EXPECT_LE(change, 1e-11) << "step " << step;
  }
  return (body.node_positions(s.q).rightCols<1>() - body.node_positions(s.q).leftCols<1>()).norm();
}

TEST(AncfPhysics, AMomentRollsACantileverIntoACircle) {
  for (const AxialStrain axial : {AxialStrain::Green, AxialStrain::Engineering})
    for (const int dimension : {2, 3}) {
      const AncfLaw law{axial, BendingStrain::MaterialCurvature};
      const double coarse = gap_of_circle(dimension, 8, law), fine = gap_of_circle(dimension, 16, law);
      // fourth order, as of the curvature's energy; with sixteen elements 1e-4 of the length
      EXPECT_LT(fine, 1.5e-4 * L);
      EXPECT_NEAR(std::log2(coarse / fine), 4, 0.3);
    }
}

// The lowest frequencies [rad/s], ascending.
VectorXd frequencies(const AncfModel& model, int count) {
  const AncfBody body("beam", model);
  const int n = body.coordinates();
  Motion s{VectorXd(n), VectorXd(n), VectorXd::Zero(n)};
  body.place({}, s.q, s.v);
  const MatrixXd K = jacobian_of(body, s, 1, no_gravity, 1, 0, 0),
                 M = jacobian_of(body, s, 1, no_gravity, 0, 0, 1);
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> solver(K, M, Eigen::EigenvaluesOnly);
  return solver.eigenvalues().head(count).cwiseMax(0).cwiseSqrt();
}

struct BeamCase {
  const char* name;
  bool start_clamped, end_held, end_clamped;
  double roots[3];  // of the frequency equation, k L
};

TEST(AncfPhysics, BendingFrequenciesAreThoseOfBeamTheory) {
  const BeamCase cases[] = {
      {"pinned-pinned", false, true, false, {pi, 2 * pi, 3 * pi}},
      {"clamped-free", true, false, false, {1.8751040687119611, 4.6940911329741746, 7.8547574382376126}},
      {"clamped-clamped", true, true, true, {4.7300407448627040, 7.8532046240958376, 10.995607838001671}}};
  const Vector3d direction = Vector3d(0.6, 0.8, 0);
  for (const BeamCase& c : cases)
    for (const int dimension : {2, 3})
      for (const auto& bending : bending_strain_names()) {
        double errors[2][3] = {};
        for (int refinement = 0; refinement < 2; ++refinement) {
          AncfModel model =
              straight(dimension, 8 << refinement, direction, {AxialStrain::Green, bending.second});
          model.supports = {{{0, 0}, c.start_clamped}};
          if (c.end_held) model.supports.push_back({{0, 8 << refinement}, c.end_clamped});
          // a pinned end leaves no rigid motion where the other is held as well; in space every bending mode
          // is there twice
          const int twice = dimension - 1;
          const VectorXd omega = frequencies(model, 3 * twice);
          for (int k = 0; k < 3; ++k) {
            const double expected = std::pow(c.roots[k] / L, 2) * std::sqrt(EI / mass);
            errors[refinement][k] = omega[k * twice] / expected - 1;
            EXPECT_NEAR(omega[k * twice], omega[k * twice + twice - 1], 1e-7 * expected);
          }
        }
        for (int k = 0; k < 3; ++k) {
          // Hermite elements: (k l)^4 / 720 / 2 of the squared frequency (Rayleigh quotient of the
          // interpolation), and fourth order
          const double kl = c.roots[k] / 16;
          EXPECT_GT(errors[1][k], 0) << c.name;
          EXPECT_LT(errors[1][k], 1.5 * std::pow(kl, 4) / 1440) << c.name;
          if (errors[1][k] > 1e-8) {
            EXPECT_NEAR(std::log2(errors[0][k] / errors[1][k]), 4, 0.15) << c.name << " " << k;
          }
        }
      }
}

TEST(AncfPhysics, LongitudinalFrequenciesAreThoseOfARodWhichBendingStiffens) {
  // ends held: sin(k x), k = pi/L, with (EA k^2 + EI k^4) / mass of the second derivative, EA k^2 / mass of
  // the material curvature
  const double k = pi / L;
  for (const auto& bending : bending_strain_names()) {
    AncfModel model = straight(2, 16, Vector3d(0.6, 0.8, 0), {AxialStrain::Engineering, bending.second});
    // soft along, so that EI k^4 counts
    model.beams[0].properties.EA = 50;
    model.supports = {{{0, 0}, false}, {{0, 16}, false}};
    const bool second = bending.second == BendingStrain::SecondDerivative;
    const double expected = std::sqrt((50 * k * k + (second ? EI * k * k * k * k : 0)) / mass);
    const VectorXd omega = frequencies(model, 10);
    // of all, the nearest; the element's error is (k l)^4 / 1440 = 1e-6
    EXPECT_LT((omega.array() - expected).abs().minCoeff(), 3e-6 * expected) << bending.first;
  }
}

}  // namespace
}  // namespace lissom::ancf_physics_test

#include "lissom/cms/inertia_invariants.hpp"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <random>

#include "lissom/fe/assembly.hpp"
#include "lissom/fe/rigid_body.hpp"
#include "lissom/fe/spider.hpp"
#include "tests/fe/test_meshes.hpp"

namespace lissom::inertia_invariants_test {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace test;

constexpr double a = 1.2, b = 0.3, c = 0.2, rho = 7850;  // the bar and its material

Mesh bar(double distortion = 0.1) {
  BoxOptions options;
  options.cells = {3, 2, 2};
  options.size = {a, b, c};
  options.distortion = distortion;
  // away from the origin, so that first moments count
  options.map = [](const Vector3d& x) { return Vector3d(x + Vector3d(0.4, -0.7, 0.5)); };
  return box_mesh(ElementType::Tet10, options);
}

FeModel assembled(const Mesh& mesh, MassKind mass) {
  Diagnostics diagnostics;
  AssemblyOptions options;
  options.mass = mass;
  return assemble(mesh, options, diagnostics);
}

MatrixXd random_matrix(Eigen::Index rows, Eigen::Index cols) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(rows, cols, [&] { return normal(random); });
}

Matrix3d inertia_of(const Matrix3d& second_moment) {
  return second_moment.trace() * Matrix3d::Identity() - second_moment;
}
Matrix3d cross(const Vector3d& v) {
  Matrix3d matrix;
  matrix << 0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0;
  return matrix;
}

// Kinetic energy of a body whose frame moves with v and turns with omega (both in its own axes) while its
// modal coordinates are q and change with w; every node moves with v + omega x (x + U q) + U w.
double kinetic_energy(const InertiaInvariants& I, const Vector3d& v, const Vector3d& omega, const VectorXd& q,
                      const VectorXd& w) {
  const Vector3d first = I.first_moment + I.translation * q;
  Matrix3d second = I.second_moment;  // of the deformed body
  Matrix3d turning;                   // [a, b]: sum of (x + U q)_a m (U w)_b
  double modal = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      second(i, j) +=
          I.position[i].row(j).dot(q) + I.position[j].row(i).dot(q) + q.dot(I.deformation[3 * i + j] * q);
      turning(i, j) = I.position[i].row(j).dot(w) + q.dot(I.deformation[3 * i + j] * w);
    }
    modal += w.dot(I.deformation[4 * i] * w);
  }
  const Vector3d moment(turning(1, 2) - turning(2, 1), turning(2, 0) - turning(0, 2),
                        turning(0, 1) - turning(1, 0));
  return 0.5 * I.mass * v.squaredNorm() + v.dot(omega.cross(first)) +
         0.5 * omega.dot(inertia_of(second) * omega) + v.dot(I.translation * w) + omega.dot(moment) +
         0.5 * modal;
}

TEST(InertiaInvariants, OfABoxAreItsMassCentreAndInertia) {
  for (const MassKind kind : {MassKind::Consistent, MassKind::Lumped}) {
    const FeModel model = assembled(bar(), kind);
    const MatrixXd none(3 * model.points.cols(), 0);
    const InertiaInvariants I = inertia_invariants(model.points, model.node_mass, none);
    const double mass = rho * a * b * c;
    // sums over some hundred nodes
    EXPECT_NEAR(I.mass, mass, 1e-13 * mass);
    if (kind == MassKind::Lumped) continue;  // a lumped mass moves the centre a little and changes inertia
    const Vector3d centre = I.first_moment / I.mass;
    EXPECT_LT((centre - Vector3d(0.4 + a / 2, -0.7 + b / 2, 0.5 + c / 2)).norm(), 1e-13);
    const Matrix3d about_centre = inertia_of(I.second_moment - I.mass * centre * centre.transpose());
    const Matrix3d expected =
        mass / 12 * Vector3d(b * b + c * c, a * a + c * c, a * a + b * b).asDiagonal().toDenseMatrix();
    // differences of numbers some ten times as large
    EXPECT_LT((about_centre - expected).norm(), 1e-12 * expected.norm());
  }
}

TEST(InertiaInvariants, OfRigidMotionsReproduceMassCentreAndInertia) {
  for (const MassKind kind : {MassKind::Consistent, MassKind::Lumped}) {
    const FeModel model = assembled(bar(), kind);
    const MatrixXd R = rigid_body_modes(model.points, model.dofs);
    const InertiaInvariants I = inertia_invariants(model.points, model.node_mass, R);
    const double mass = I.mass;
    const Matrix3d lever = cross(I.first_moment);
    // sums over some hundred nodes in another order; all numbers are of the size of the mass
    const double tolerance = 1e-12 * mass;
    EXPECT_LT((I.translation.leftCols<3>() - mass * Matrix3d::Identity()).norm(), tolerance);
    EXPECT_LT((I.translation.rightCols<3>() + lever).norm(), tolerance);
    MatrixXd modal = I.deformation[0] + I.deformation[4] + I.deformation[8];
    EXPECT_LT((modal.topLeftCorner<3, 3>() - mass * Matrix3d::Identity()).norm(), tolerance);
    EXPECT_LT((modal.bottomLeftCorner<3, 3>() - lever).norm(), tolerance);
    EXPECT_LT((modal.bottomRightCorner<3, 3>() - inertia_of(I.second_moment)).norm(), tolerance);
    // what M says
    EXPECT_LT((modal - R.transpose() * (model.M.full() * R)).norm(), tolerance);
    const RigidMass of_M = rigid_mass(model).value();
    EXPECT_NEAR(of_M.mass[0], mass, tolerance);
    EXPECT_LT((of_M.centre.value() * mass - I.first_moment).norm(), tolerance);
    // translations: x_a' m 1 in direction b only
    for (int i = 0; i < 3; ++i)
      EXPECT_LT((I.position[i].leftCols<3>() - I.first_moment[i] * Matrix3d::Identity()).norm(), tolerance);
    // rotation k moves direction b by (e_k x x)_b
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        const Vector3d expected = Vector3d::Unit(k).cross(Vector3d(I.second_moment.col(i)));
        EXPECT_LT((I.position[i].col(3 + k) - expected).norm(), tolerance) << i << ' ' << k;
      }
  }
}

TEST(InertiaInvariants, GiveTheKineticEnergyOfAnyMotionThatTheNodesHave) {
  for (const MassKind kind : {MassKind::Consistent, MassKind::Lumped}) {
    const FeModel model = assembled(bar(), kind);
    const int N = 7;
    const Eigen::Index n = model.points.cols();
    const MatrixXd U = random_matrix(3 * n, N);
    const InertiaInvariants I = inertia_invariants(model.points, model.node_mass, U);
    const MatrixXd motions = random_matrix(6 + 2 * N, 10);
    for (int k = 0; k < motions.cols(); ++k) {
      // deformation as large as the body, so that every term counts
      const Vector3d v = motions.col(k).head<3>(), omega = motions.col(k).segment<3>(3);
      const VectorXd q = motions.col(k).segment(6, N), w = motions.col(k).tail(N);
      const VectorXd u = U * q, flexible = U * w;
      VectorXd velocity(3 * n);
      for (Eigen::Index i = 0; i < n; ++i)
        velocity.segment<3>(3 * i) =
            v + omega.cross(Vector3d(model.points.col(i) + u.segment<3>(3 * i))) + flexible.segment<3>(3 * i);
      const double expected = 0.5 * velocity.dot(model.M.full() * velocity);
      // terms of both signs, each a sum of some thousand products
      EXPECT_NEAR(kinetic_energy(I, v, omega, q, w), expected, 1e-12 * expected) << k;
    }
  }
}

TEST(InertiaInvariants, AgreeWithTheMassMatrixWhereSpidersTieNodes) {
  Mesh mesh = bar();
  add_spider(mesh, "left", Spider::Kind::Rigid, mesh.node_sets.at("x0"));
  add_spider(mesh, "right", Spider::Kind::Averaging, mesh.node_sets.at("x1"));
  for (const MassKind kind : {MassKind::Consistent, MassKind::Lumped}) {
    const FeModel model = assembled(mesh, kind);
    const MatrixXd Phi = random_matrix(model.dof_count(), 5);
    const MatrixXd U = model.recovery * Phi;
    const InertiaInvariants I = inertia_invariants(model.points, model.node_mass, U);
    const MatrixXd expected = Phi.transpose() * (model.M.full() * Phi);
    const MatrixXd modal = I.deformation[0] + I.deformation[4] + I.deformation[8];
    // M and U come from the same ties in another order of sums
    EXPECT_LT((modal - expected).norm(), 1e-12 * expected.norm());
    // the reference nodes have no mass of their own
    EXPECT_NEAR(I.mass, rho * a * b * c, 1e-12 * I.mass);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        EXPECT_EQ(I.deformation[3 * i + j], MatrixXd(I.deformation[3 * j + i].transpose()));
  }
}

}  // namespace
}  // namespace lissom::inertia_invariants_test

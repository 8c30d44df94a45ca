#include "lissom/cms/reduced_pencil.hpp"

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include <random>

#include "lissom/core/error.hpp"

namespace lissom::reduced_pencil_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd random_matrix(int rows, int cols, int seed) {
  std::minstd_rand random(seed);
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(rows, cols, [&] { return normal(random); });
}

MatrixXd positive(int n, int seed) {
  const MatrixXd X = random_matrix(n, n + 2, seed);
  return X * X.transpose();
}

ReducedPencil random_pencil(int interior, int interface, int seed) {
  ReducedPencil pencil;
  pencil.lambda = VectorXd::LinSpaced(interior, 1, 2.0 * interior + 1);
  pencil.P = random_matrix(interior, interface, seed);
  pencil.K_b = positive(interface, seed + 1);
  pencil.M_b = positive(interface, seed + 2) + pencil.P.transpose() * pencil.P;
  return pencil;
}

VectorXd dense_values(const MatrixXd& K, const MatrixXd& M) {
  return Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd>(K, M).eigenvalues();
}

TEST(ReducedPencil, MatricesAreThoseOfTheHeader) {
  const ReducedPencil pencil = random_pencil(3, 2, 4);
  MatrixXd K(5, 5), M(5, 5);
  K << MatrixXd(pencil.lambda.asDiagonal()), MatrixXd::Zero(3, 2), MatrixXd::Zero(2, 3), pencil.K_b;
  M << MatrixXd::Identity(3, 3), pencil.P, pencil.P.transpose(), pencil.M_b;
  EXPECT_EQ(pencil.stiffness(), K);
  EXPECT_EQ(pencil.mass(), M);
  EXPECT_EQ(pencil.size(), 5);
}

TEST(ReducedPencil, ModesAreThoseOfTheDensePencil) {
  for (const int interior : {0, 1, 9, 30})
    for (const int interface : {1, 6, 12}) {
      const ReducedPencil pencil = random_pencil(interior, interface, 17 * interior + interface);
      const MatrixXd K = pencil.stiffness(), M = pencil.mass();
      const VectorXd expected = dense_values(K, M);
      const PencilSolver solver(pencil);
      for (const int count : {1, pencil.size() / 2 + 1, pencil.size()}) {
        const ReducedModes modes = solver.lowest(count);
        // round-off is relative to the largest eigenvalue; random mass matrices have conditions up to 1e3
        const double tolerance = 1e-11 * expected.maxCoeff();
        EXPECT_LT((modes.values - expected.head(count)).cwiseAbs().maxCoeff(), tolerance);
        EXPECT_LT((modes.vectors.transpose() * M * modes.vectors - MatrixXd::Identity(count, count)).norm(),
                  1e-11);
        EXPECT_LT((K * modes.vectors - M * modes.vectors * modes.values.asDiagonal()).norm(),
                  tolerance * M.norm());
      }
    }
}

TEST(ReducedPencil, AChangeOfTheInterfaceStiffnessMovesTheEigenvaluesAsTheDensePencilSays) {
  const ReducedPencil pencil = random_pencil(14, 6, 3);
  const PencilSolver solver(pencil);
  // small, large, and one that makes K_b indefinite
  for (const double factor : {1e-3, 0.3, 20.0}) {
    const MatrixXd W = factor * positive(6, 8);
    ReducedPencil changed = pencil;
    changed.K_b -= W;
    const VectorXd expected = dense_values(changed.stiffness(), changed.mass());
    for (int n = 0; n < pencil.size(); ++n)
      EXPECT_NEAR(solver.eigenvalue(n, solver.transformed(W)), expected[n],
                  1e-11 * expected.cwiseAbs().maxCoeff());
  }
  EXPECT_NEAR(solver.eigenvalue(5, MatrixXd::Zero(6, 6)), solver.lowest(6).values[5],
              1e-12 * pencil.K_b.norm());
}

TEST(ReducedPencil, RotationsInOtherUnitsDoNotMatter) {
  // an interface coordinate in micrometres, another in kilometres
  ReducedPencil pencil = random_pencil(8, 3, 21);
  const VectorXd expected = PencilSolver(pencil).lowest(11).values;
  const VectorXd scale = Eigen::Vector3d(1e-6, 1, 1e3);
  pencil.P = pencil.P * scale.asDiagonal();
  pencil.K_b = scale.asDiagonal() * pencil.K_b * scale.asDiagonal();
  pencil.M_b = scale.asDiagonal() * pencil.M_b * scale.asDiagonal();
  const VectorXd found = PencilSolver(pencil).lowest(11).values;
  EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-12 * expected.maxCoeff());
}

std::string message_of(const ReducedPencil& pencil) {
  try {
    PencilSolver solver(pencil);
  } catch (const Error& error) {
    return error.what();
  }
  return "no Error";
}

TEST(ReducedPencil, AnInterfaceWithoutMassOfItsOwnIsRefusedByNumber) {
  // all its mass belongs to the interior modes: M_b = P' P in the second coordinate
  ReducedPencil pencil = random_pencil(5, 3, 2);
  pencil.M_b.row(1) = (pencil.P.transpose() * pencil.P).row(1);
  pencil.M_b.col(1) = pencil.M_b.row(1).transpose();
  EXPECT_NE(message_of(pencil).find("interface degree of freedom 2 has no mass of its own"),
            std::string::npos)
      << message_of(pencil);
  EXPECT_NE(message_of(pencil).find("give the interface mass, or keep fewer interior modes"),
            std::string::npos);
  // none at all
  pencil = random_pencil(0, 2, 2);
  pencil.M_b(0, 0) = pencil.M_b(0, 1) = pencil.M_b(1, 0) = 0;
  EXPECT_NE(message_of(pencil).find("interface degree of freedom 1 has no mass"), std::string::npos);
  // two coordinates that are one
  pencil = random_pencil(0, 3, 2);
  pencil.M_b << 1, 1, 0, 1, 1, 0, 0, 0, 1;
  EXPECT_NE(message_of(pencil).find("not positive definite: two interface degrees of freedom move alike"),
            std::string::npos)
      << message_of(pencil);
}

}  // namespace
}  // namespace lissom::reduced_pencil_test

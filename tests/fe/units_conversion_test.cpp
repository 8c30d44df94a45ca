#include "lissom/fe/units_conversion.hpp"

#include <gtest/gtest.h>

namespace lissom::units_conversion_test {
namespace {

TEST(UnitsConversion, AMeshInMillimetresAndTonnesBecomesSi) {
  Mesh mesh;
  mesh.points = Eigen::Vector3d(10, 20, 30);
  mesh.materials.resize(3);
  mesh.materials[0].isotropic = Isotropic{210e3, 0.3};
  mesh.materials[0].density = 7.85e-9;
  mesh.materials[1].orthotropic = Orthotropic{1, 2, 3, 0.1, 0.2, 0.3, 4, 5, 6};
  convert_to_si(mesh, parse_unit_system("mm-t-s"));
  EXPECT_DOUBLE_EQ(mesh.points(2, 0), 0.03);
  EXPECT_DOUBLE_EQ(mesh.materials[0].isotropic->E, 210e9);
  EXPECT_EQ(mesh.materials[0].isotropic->nu, 0.3);
  EXPECT_DOUBLE_EQ(*mesh.materials[0].density, 7850);
  const Orthotropic& o = *mesh.materials[1].orthotropic;
  EXPECT_DOUBLE_EQ(o.E1 + 10 * o.E2 + 100 * o.E3 + 1e3 * o.G12 + 1e4 * o.G13 + 1e5 * o.G23, 654321e6);
  EXPECT_EQ(o.nu23, 0.3);
  EXPECT_FALSE(mesh.materials[2].density);
}

TEST(UnitsConversion, ABeamElementWithRotationsEqualsTheOneAssembledInSi) {
  // plane Euler-Bernoulli beam, degrees of freedom v1, theta1, v2, theta2 (x along the beam, bending about
  // z): K = EI/L^3 [12 6L -12 6L; . 4L2 -6L 2L2; . . 12 -6L; . . . 4L2], consistent mass of the classic form
  const auto beam = [](double EI, double rhoA, double L) {
    Eigen::Matrix4d K, M;
    K << 12, 6 * L, -12, 6 * L, 6 * L, 4 * L * L, -6 * L, 2 * L * L, -12, -6 * L, 12, -6 * L, 6 * L,
        2 * L * L, -6 * L, 4 * L * L;
    M << 156, 22 * L, 54, -13 * L, 22 * L, 4 * L * L, 13 * L, -3 * L * L, 54, 13 * L, 156, -22 * L, -13 * L,
        -3 * L * L, -22 * L, 4 * L * L;
    FeModel model;
    model.points.setZero(3, 2);
    model.points(0, 1) = L;
    model.node_ids = {1, 2};
    model.dofs = {{0, 1}, {0, 5}, {1, 1}, {1, 5}};
    model.K.lower = Eigen::MatrixXd((EI / (L * L * L) * K).triangularView<Eigen::Lower>()).sparseView();
    model.M.lower = Eigen::MatrixXd((rhoA * L / 420 * M).triangularView<Eigen::Lower>()).sparseView();
    model.node_mass.lower = Eigen::MatrixXd(rhoA * L / 6 * Eigen::Matrix2d{{2, 0}, {1, 2}}).sparseView();
    // displacement y of a node hung onto node 1 with a lever of L/2 along x
    Eigen::MatrixXd R = Eigen::MatrixXd::Zero(6, 4);
    R(1, 0) = 1, R(1, 1) = L / 2, R(4, 2) = 1;
    model.recovery = R.sparseView();
    return model;
  };
  // EI = 210e9 Pa * 1e-10 m4 = 21 N m2 = 21e6 N mm2; rho A = 0.785 kg/m = 7.85e-7 t/mm; L = 0.2 m
  FeModel mm = beam(21e6, 7.85e-7, 200);
  const FeModel si = beam(21, 0.785, 0.2);
  convert_to_si(mm, parse_unit_system("mm-t-s"));
  // a few roundings in each product
  EXPECT_TRUE(mm.K.lower.toDense().isApprox(si.K.lower.toDense(), 1e-15 * 8));
  EXPECT_TRUE(mm.M.lower.toDense().isApprox(si.M.lower.toDense(), 1e-15 * 8));
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j <= i; ++j)
      EXPECT_NEAR(mm.K.lower.coeff(i, j) / si.K.lower.coeff(i, j), 1, 1e-14) << i << ' ' << j;
  EXPECT_TRUE(mm.node_mass.lower.toDense().isApprox(si.node_mass.lower.toDense(), 1e-15 * 8));
  EXPECT_TRUE(mm.recovery.toDense().isApprox(si.recovery.toDense(), 1e-15));
  EXPECT_TRUE(mm.points.isApprox(si.points, 1e-15));
}

}  // namespace
}  // namespace lissom::units_conversion_test

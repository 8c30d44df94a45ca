#include "lissom/fe/material.hpp"

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <Eigen/LU>

#include <functional>

namespace lissom::material_test {
namespace {

using Matrix6d = Eigen::Matrix<double, 6, 6>;

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

Material wood() {
  return parse_material(
      "E1=12e9,E2=0.8e9,E3=0.5e9,nu12=0.4,nu13=0.45,nu23=0.5,G12=0.7e9,G13=0.6e9,G23=0.05e9,rho=450", "wood");
}

TEST(Material, IsotropicConstantsGiveHookesLaw) {
  const Material steel = parse_material(" E = 210e9, nu=0.3 ,rho=7850");
  EXPECT_EQ(steel.density, 7850);
  // uniaxial stress sigma gives strains sigma/E (1, -nu, -nu)
  const Matrix6d D = elasticity_matrix(steel);
  Eigen::Matrix<double, 6, 1> strain;
  strain << 1e-3, -0.3e-3, -0.3e-3, 2e-3, 0, 0;
  const Eigen::Matrix<double, 6, 1> stress = D * strain;
  EXPECT_NEAR(stress[0], 210e6, 1e-6);  // round-off of 1e8
  EXPECT_NEAR(stress[1], 0, 1e-6);
  EXPECT_NEAR(stress[3], 210e9 / 2.6 * 2e-3, 1e-6);
}

TEST(Material, OrthotropicConstantsComeBackFromTheCompliance) {
  const Matrix6d S = elasticity_matrix(wood()).inverse();
  EXPECT_NEAR(1 / S(0, 0), 12e9, 1);
  EXPECT_NEAR(1 / S(2, 2), 0.5e9, 1);
  EXPECT_NEAR(-S(1, 0) / S(0, 0), 0.4, 1e-12);
  EXPECT_NEAR(-S(2, 1) / S(1, 1), 0.5, 1e-12);
  // order xx yy zz xy yz zx
  EXPECT_NEAR(1 / S(3, 3), 0.7e9, 1);
  EXPECT_NEAR(1 / S(4, 4), 0.05e9, 1);
  EXPECT_NEAR(1 / S(5, 5), 0.6e9, 1);
}

TEST(Material, OrthotropicWithEqualConstantsIsIsotropicInAnyAxes) {
  Material same = parse_material(
      "E1=70e9,E2=70e9,E3=70e9,nu12=0.33,nu13=0.33,nu23=0.33,G12=26315789473.684210,"
      "G13=26315789473.684210,G23=26315789473.684210");
  same.orthotropic->axes =
      Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, -0.5).normalized()).toRotationMatrix();
  const Matrix6d expected = elasticity_matrix(parse_material("E=70e9,nu=0.33"));
  EXPECT_LT((elasticity_matrix(same) - expected).norm(), 1e-13 * expected.norm());
}

TEST(Material, RotatedAxesKeepTheEnergyOfTheRotatedStrain) {
  // strain tensor in mesh axes and the same one seen from the material's axes store the same energy
  Material rotated = wood();
  const Eigen::Matrix3d R =
      Eigen::AngleAxisd(1.1, Eigen::Vector3d(-1, 0.3, 0.8).normalized()).toRotationMatrix();
  rotated.orthotropic->axes = R;
  Eigen::Matrix3d strain;
  strain << 1, 0.3, -0.2, 0.3, -0.5, 0.7, -0.2, 0.7, 0.4;
  const auto voigt = [](const Eigen::Matrix3d& e) {
    return (Eigen::Matrix<double, 6, 1>() << e(0, 0), e(1, 1), e(2, 2), 2 * e(0, 1), 2 * e(1, 2), 2 * e(2, 0))
        .finished();
  };
  const auto in_mesh = voigt(strain), in_material = voigt(R.transpose() * strain * R);
  const double expected = in_material.dot(elasticity_matrix(wood()) * in_material);
  EXPECT_NEAR(in_mesh.dot(elasticity_matrix(rotated) * in_mesh), expected, 1e-13 * std::abs(expected));
}

TEST(Material, BadTextIsRefusedWithItsKey) {
  const auto parse = [](const char* text) { return message_of([&] { parse_material(text); }); };
  EXPECT_NE(parse("E=210e9,mu=0.3").find("unknown key 'mu', did you mean 'nu'?"), std::string::npos);
  EXPECT_NE(parse("E=210e9,nu").find("'nu' is not key=value"), std::string::npos);
  EXPECT_NE(parse("E=210e9,nu=0.3,E=1").find("'E' is given twice"), std::string::npos);
  EXPECT_NE(parse("E=two,nu=0.3").find("E = 'two' is not a number"), std::string::npos);
  EXPECT_NE(parse("E=210e9").find("lacks nu"), std::string::npos);
  EXPECT_NE(parse("rho=1").find("gives no elastic constant"), std::string::npos);
  EXPECT_NE(parse("").find("is not key=value"), std::string::npos);
  EXPECT_NE(parse("E=1,nu=0.3,E1=2").find("mixes"), std::string::npos);
  EXPECT_NE(parse("E1=1,E2=1").find("lacks E3"), std::string::npos);
  EXPECT_NE(parse("E=-1,nu=0.3").find("E = -1 Pa, expected a positive"), std::string::npos);
  EXPECT_NE(parse("E=1,nu=0.5").find("nu = 0.5, expected Poisson's ratio between -1 and 0.5"),
            std::string::npos);
  EXPECT_NE(parse("E=1,nu=0.3,rho=0").find("rho = 0 kg/m3"), std::string::npos);
  EXPECT_NE(parse("E1=1,E2=1,E3=1,nu12=2,nu13=0,nu23=0,G12=1,G13=1,G23=1").find("not positive definite"),
            std::string::npos);
}

TEST(Material, WhatAFileLeavesOutIsNamedWithItsPlace) {
  Material material;
  material.name = "glass";
  material.defined_at = {"a.inp", 12};
  EXPECT_EQ(
      message_of([&] { elasticity_matrix(material); }),
      "a.inp:12: material 'glass' has no elastic constants; give them with --material E=...,nu=...,rho=...");
  material.orthotropic = wood().orthotropic;
  material.orthotropic->axes.col(2) *= -1;
  EXPECT_NE(message_of([&] { elasticity_matrix(material); }).find("not orthonormal and right-handed"),
            std::string::npos);
}

}  // namespace
}  // namespace lissom::material_test

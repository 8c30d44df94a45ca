#include "lissom/fe/element.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <cmath>

#include "lissom/fe/mesh_report.hpp"
#include "lissom/fe/rigid_body.hpp"
#include "tests/fe/ccx.hpp"
#include "tests/fe/small_eigen.hpp"
#include "tests/fe/test_meshes.hpp"
#include "tests/packages.hpp"

namespace lissom::element_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using namespace test;

Material fibre() {
  Material material;
  material.name = "fibre";
  material.density = 1600;
  material.orthotropic = Orthotropic{140e9, 10e9, 9e9, 0.3, 0.28, 0.4, 5e9, 4.5e9, 3.2e9, Eigen::Matrix3d()};
  material.orthotropic->axes =
      Eigen::AngleAxisd(0.6, Eigen::Vector3d(0.3, -1, 0.5).normalized()).toRotationMatrix();
  return material;
}

// m (x) I_3
MatrixXd expanded(const MatrixXd& m) {
  MatrixXd M = MatrixXd::Zero(3 * m.rows(), 3 * m.cols());
  for (int a = 0; a < m.rows(); ++a)
    for (int b = 0; b < m.cols(); ++b) M.block<3, 3>(3 * a, 3 * b).diagonal().setConstant(m(a, b));
  return M;
}

std::vector<Dof> nodal_dofs(int nodes) {
  std::vector<Dof> dofs;
  for (int i = 0; i < nodes; ++i)
    for (int d = 0; d < 3; ++d) dofs.push_back({i, d});
  return dofs;
}

TEST(Element, HasSixZeroEnergyModesAndNoMore) {
  for (const ElementType type : all_element_types)
    for (const Material& material : {steel(), fibre()})
      for (const double amount : {0.0, 1.0}) {
        const auto x = element_points(single_element(type, 0.1 * amount, 0.05 * amount), 0);
        const MatrixXd K = element_stiffness(type, x, material);
        const VectorXd lambda = K.selfadjointView<Eigen::Lower>().eigenvalues();
        const double largest = lambda[lambda.size() - 1];
        // zero to round-off; the softest real mode is 6e-4 (steel) or 5e-5 (fibre) of the stiffest
        EXPECT_LT(lambda.head<6>().cwiseAbs().maxCoeff(), 1e-13 * largest) << name_of(type);
        EXPECT_GT(lambda[6], 1e-5 * largest) << name_of(type) << " " << material.name;
        // the six are the rigid motions
        const MatrixXd rigid = rigid_body_modes(x, nodal_dofs(static_cast<int>(x.cols())));
        EXPECT_LT((K * rigid).cwiseAbs().maxCoeff(), 1e-12 * largest) << name_of(type);
        EXPECT_LT((K - K.transpose()).cwiseAbs().maxCoeff(), 1e-15 * largest);
      }
}

TEST(Element, ScalesWithTheUnitOfLength) {
  // K grows with the length, m with its cube; also an element of a nanometre is computed
  for (const ElementType type : all_element_types)
    for (const double scale : {1e-9, 1e3}) {
      const auto x = element_points(single_element(type), 0);
      const MatrixXd K = element_stiffness(type, x, steel());
      EXPECT_LT((element_stiffness(type, scale * x, steel()) / scale - K).norm(), 1e-13 * K.norm());
      const MatrixXd m = element_mass(type, x, 2, MassKind::Consistent);
      EXPECT_LT((element_mass(type, scale * x, 2, MassKind::Consistent) / std::pow(scale, 3) - m).norm(),
                1e-13 * m.norm());
    }
}

TEST(Element, IsotropicAndGeneralKernelsAgree) {
  Material same = steel();
  const double G = same.isotropic->E / (2 * (1 + same.isotropic->nu));
  same.orthotropic = Orthotropic{210e9, 210e9, 210e9, 0.3, 0.3, 0.3, G, G, G, fibre().orthotropic->axes};
  same.isotropic.reset();
  for (const ElementType type : all_element_types) {
    const auto x = element_points(single_element(type), 0);
    const MatrixXd K = element_stiffness(type, x, steel());
    EXPECT_LT((element_stiffness(type, x, same) - K).norm(), 1e-13 * K.norm()) << name_of(type);
  }
}

TEST(Element, RotatedMaterialStoresTheAnalyticEnergyOfAConstantStrain) {
  // any displacement gradient H: energy = V/2 strain : D strain
  Eigen::Matrix3d H;
  H << 1, 0.4, -0.3, 0.2, -0.6, 0.5, 0.1, -0.7, 0.8;
  Eigen::Matrix<double, 6, 1> strain;
  strain << H(0, 0), H(1, 1), H(2, 2), H(0, 1) + H(1, 0), H(1, 2) + H(2, 1), H(2, 0) + H(0, 2);
  for (const ElementType type : all_element_types)
    for (const Material& material : {steel(), fibre()}) {
      const auto x = element_points(single_element(type, 0.1, 0), 0);
      const Eigen::Matrix3Xd u = H * x;
      const Eigen::Map<const VectorXd> q(u.data(), u.size());
      const double volume = element_mass(type, x, 1, MassKind::Consistent).sum();
      const double expected = volume / 2 * strain.dot(elasticity_matrix(material) * strain);
      EXPECT_NEAR(q.dot(element_stiffness(type, x, material) * q) / 2, expected, 1e-12 * expected)
          << name_of(type);
    }
}

TEST(Element, ConsistentMassIsExactForStraightSides) {
  // kinetic energy of rigid motions: total mass, first and second moments. A linear element's moments are
  // integrated exactly however it is distorted; a tet's have the closed form V/20 (sum x x^T + (sum x)(sum
  // x)^T).
  const auto x = element_points(single_element(ElementType::Tet4), 0);
  const Eigen::Matrix3d edges = x.rightCols(3).colwise() - x.col(0);
  const double V = edges.determinant() / 6;
  const MatrixXd m = element_mass(ElementType::Tet4, x, 3, MassKind::Consistent);
  const Eigen::Vector3d sum = x.rowwise().sum();
  const Eigen::Matrix3d expected = 3 * V / 20 * (x * x.transpose() + sum * sum.transpose());
  EXPECT_LT((x * m * x.transpose() - expected).norm(), 1e-14 * expected.norm());
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) EXPECT_NEAR(m(a, b), 3 * V / (a == b ? 10 : 20), 1e-14 * V);

  // quadratic tet with straight sides: the same body
  auto quadratic = element_points(single_element(ElementType::Tet10, 0.1, 0), 0);
  quadratic.leftCols(4) = x;
  int mid = 4;
  for (const auto& [i, j] : mid_side_edges(ElementType::Tet10))
    quadratic.col(mid++) = (x.col(i) + x.col(j)) / 2;
  const MatrixXd m10 = element_mass(ElementType::Tet10, quadratic, 3, MassKind::Consistent);
  EXPECT_LT((quadratic * m10 * quadratic.transpose() - expected).norm(), 1e-13 * expected.norm());
  // the exact integrals of the quadratic shape functions: int N_0^2 = V/70, int N_4^2 = 8V/105 (corner,
  // mid-side)
  EXPECT_NEAR(m10(0, 0), 3 * V / 70, 1e-13 * V);
  EXPECT_NEAR(m10(4, 4), 3 * V * 8 / 105, 1e-13 * V);
}

TEST(Element, MassesOfAllKindsHoldTheTotalAndArePositive) {
  for (const ElementType type : all_element_types) {
    const auto x = element_points(single_element(type, 0.1, 0), 0);
    const MatrixXd consistent = element_mass(type, x, 5, MassKind::Consistent);
    const MatrixXd lumped = element_mass(type, x, 5, MassKind::Lumped);
    const MatrixXd calculix = element_mass(type, x, 5, MassKind::Calculix);
    EXPECT_NEAR(lumped.sum(), consistent.sum(), 1e-14 * consistent.sum());
    EXPECT_NEAR(calculix.sum(), consistent.sum(), 1e-14 * consistent.sum()) << name_of(type);
    EXPECT_EQ((lumped - MatrixXd(lumped.diagonal().asDiagonal())).norm(), 0);
    EXPECT_GT(lumped.diagonal().minCoeff(), 0);
    // positive definite, well away from zero
    EXPECT_GT(consistent.selfadjointView<Eigen::Lower>().eigenvalues()[0],
              1e-3 * consistent.diagonal().maxCoeff());
  }
}

TEST(Element, LumpingIsRowSumForLinearAndDiagonalScalingForQuadratic) {
  const auto hex = element_points(single_element(ElementType::Hex8), 0);
  const MatrixXd m8 = element_mass(ElementType::Hex8, hex, 1, MassKind::Consistent);
  const VectorXd rows = m8.rowwise().sum();
  EXPECT_LT((element_mass(ElementType::Hex8, hex, 1, MassKind::Lumped).diagonal() - rows).norm(), 1e-14);
  const auto tet = element_points(single_element(ElementType::Tet10), 0);
  const MatrixXd m10 = element_mass(ElementType::Tet10, tet, 1, MassKind::Consistent);
  const VectorXd scaled = m10.diagonal() * m10.sum() / m10.trace();
  EXPECT_LT((element_mass(ElementType::Tet10, tet, 1, MassKind::Lumped).diagonal() - scaled).norm(), 1e-15);
}

TEST(Element, Tet4OfCalculixHasOnePointMass) {
  const auto x = element_points(single_element(ElementType::Tet4), 0);
  const MatrixXd m = element_mass(ElementType::Tet4, x, 7, MassKind::Calculix);
  EXPECT_LT((m - MatrixXd::Constant(4, 4, m.sum() / 16)).norm(), 1e-15);
}

TEST(Element, AnElementTurnedInsideOutOrFlatIsRefused) {
  for (const ElementType type : all_element_types) {
    Eigen::Matrix3Xd x = element_points(single_element(type), 0);
    x.row(2) *= -1;
    EXPECT_THROW(element_stiffness(type, x, steel()), Error) << name_of(type);
    EXPECT_THROW(element_mass(type, x, 1, MassKind::Consistent), Error);
    x.row(2).setZero();
    EXPECT_THROW(element_stiffness(type, x, steel()), Error);
    EXPECT_THROW(element_mass(type, x, 1, MassKind::Lumped), Error);
    for (const double bad : {std::nan(""), double(INFINITY), 1e200}) {
      x = element_points(single_element(type), 0);
      x(0, 1) = bad;
      EXPECT_THROW(element_stiffness(type, x, steel()), Error) << name_of(type) << " " << bad;
      EXPECT_THROW(element_mass(type, x, 1, MassKind::Calculix), Error);
    }
  }
}

// ---- CalculiX 2.20 as the witness ----

const char* ccx_name(ElementType type) {
  constexpr const char* names[] = {"C3D4", "C3D10", "C3D8I", "C3D20", "C3D6", "C3D15"};
  return names[static_cast<int>(type)];
}

// K without the inner nodes that ccx gives C3D8I
MatrixXd condensed(const MatrixXd& K, int n) {
  const int inner = static_cast<int>(K.rows()) - n;
  if (inner == 0) return K;
  return K.topLeftCorner(n, n) -
         K.topRightCorner(n, inner) *
             K.bottomRightCorner(inner, inner).ldlt().solve(K.bottomLeftCorner(inner, n));
}

TEST(ElementAgainstCalculix, MatricesAgreeEntryByEntryOnDistortedElements) {
  ASSERT_TRUE(has_ccx()) << "ccx" << test::install_hint;
  for (const ElementType type :
       {ElementType::Tet4, ElementType::Tet10, ElementType::Hex20, ElementType::Wedge15})
    for (const Material& material : {steel(), fibre()}) {
      Mesh mesh = single_element(type);
      mesh.materials[0] = material;
      const CcxMatrices ccx = ccx_matrices(mesh, ccx_name(type));
      const auto x = element_points(mesh, 0);
      const MatrixXd K = element_stiffness(type, x, material);
      const MatrixXd M = expanded(element_mass(type, x, *material.density, MassKind::Calculix));
      // ccx has its points to 15 digits and writes 20
      EXPECT_LT((K - ccx.K).cwiseAbs().maxCoeff(), 1e-12 * K.cwiseAbs().maxCoeff()) << name_of(type);
      EXPECT_LT((M - ccx.M).cwiseAbs().maxCoeff(), 1e-12 * M.cwiseAbs().maxCoeff()) << name_of(type);
    }
}

TEST(ElementAgainstCalculix, Hex8AgreesWithC3D8IOnAParallelepiped) {
  ASSERT_TRUE(has_ccx()) << "ccx" << test::install_hint;
  // on others C3D8I leaves out det J0 / det J, and with it the patch test
  const Mesh mesh = single_element(ElementType::Hex8, 0, 0);
  const CcxMatrices ccx = ccx_matrices(mesh, "C3D8I");
  const auto x = element_points(mesh, 0);
  const MatrixXd K = element_stiffness(ElementType::Hex8, x, steel());
  const MatrixXd M = expanded(element_mass(ElementType::Hex8, x, 7850, MassKind::Consistent));
  EXPECT_LT((K - condensed(ccx.K, 24)).cwiseAbs().maxCoeff(), 1e-12 * K.cwiseAbs().maxCoeff());
  EXPECT_LT((M - ccx.M.topLeftCorner(24, 24)).cwiseAbs().maxCoeff(), 1e-12 * M.cwiseAbs().maxCoeff());
}

TEST(ElementAgainstCalculix, C3D6HasASeventhZeroEnergyModeThatWedge6HasNot) {
  ASSERT_TRUE(has_ccx()) << "ccx" << test::install_hint;
  // why wedge6 takes six points instead of ccx' two; both agree in the energy of constant strains
  const Mesh mesh = single_element(ElementType::Wedge6);
  const MatrixXd C = ccx_matrices(mesh, "C3D6").K;
  const auto x = element_points(mesh, 0);
  const MatrixXd K = element_stiffness(ElementType::Wedge6, x, steel());
  const VectorXd ccx = C.selfadjointView<Eigen::Lower>().eigenvalues();
  EXPECT_LT(ccx[6], 1e-13 * ccx[17]);
  Eigen::Matrix3d H;
  H << 1, 0.4, -0.3, 0.2, -0.6, 0.5, 0.1, -0.7, 0.8;
  const Eigen::Matrix3Xd u = H * x;
  const Eigen::Map<const VectorXd> q(u.data(), u.size());
  EXPECT_NEAR(q.dot(K * q), q.dot(C * q), 1e-12 * q.dot(K * q));
}

}  // namespace
}  // namespace lissom::element_test

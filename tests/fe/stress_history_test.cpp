#include "lissom/fe/stress_history.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lissom/core/parallel.hpp"
#include "lissom/fe/stress_recovery.hpp"
#include "tests/fe/test_meshes.hpp"

namespace lissom::stress_history_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd pattern(Index rows, Index columns, double seed) {
  return MatrixXd::NullaryExpr(rows, columns, [seed](Index i, Index j) {
    return std::sin(12.9898 * double(i) + 78.233 * double(j) + seed * double(i * j % 1009));
  });
}

TEST(StressHistory, PeaksAreThoseOfTheWholeProduct) {
  // sizes around those of a block: 48 nodes, 128 instants
  for (const Index nodes : {1, 47, 48, 49, 1000})
    for (const Index instants : {1, 127, 128, 300}) {
      const MatrixXd S = pattern(6 * nodes, 7, 0.1), D = pattern(7, instants, 0.3);
      const StressPeaks peaks = stress_peaks(S, D);
      const MatrixXd all = von_mises_of(S * D);
      ASSERT_EQ(peaks.von_mises.size(), nodes);
      for (Index i = 0; i < nodes; ++i) {
        // sums of seven terms in another order
        EXPECT_NEAR(peaks.von_mises[i], all.row(i).maxCoeff(), 1e-13 * all.maxCoeff());
        EXPECT_NEAR(all(i, peaks.instant[i]), peaks.von_mises[i], 1e-13 * all.maxCoeff());
      }
    }
}

TEST(StressHistory, PeaksDoNotDependOnTheNumberOfThreads) {
  const MatrixXd S = pattern(6 * 700, 11, 0.1), D = pattern(11, 260, 0.7);
  const int threads = thread_count();
  set_thread_count(1);
  const StressPeaks one = stress_peaks(S, D);
  set_thread_count(3);
  const StressPeaks three = stress_peaks(S, D);
  set_thread_count(threads);
  EXPECT_EQ(one.von_mises, three.von_mises);
  EXPECT_EQ(one.instant, three.instant);
}

TEST(StressHistory, TheFirstOfEqualInstantsCounts) {
  const MatrixXd S = pattern(6 * 3, 2, 0.1);
  MatrixXd D = MatrixXd::Zero(2, 400);
  D.col(150).setOnes();
  D.col(380).setOnes();
  const StressPeaks peaks = stress_peaks(S, D);
  EXPECT_TRUE((peaks.instant.array() == 150).all());
  // without any stress it is the first instant
  EXPECT_EQ(stress_peaks(S, MatrixXd::Zero(2, 400)).instant, Eigen::VectorXi::Zero(3));
}

TEST(StressHistory, EquivalentStrainIsThatOfATensionAtConstantVolume) {
  Vector6d e;
  e << 0.3, -0.15, -0.15, 0, 0, 0;
  EXPECT_NEAR(equivalent_strain(e), 0.3, 1e-16);
  // gamma / sqrt(3) in shear, nothing of a change of volume
  EXPECT_NEAR(equivalent_strain(0.6 * Vector6d::Unit(4)), 0.6 / std::sqrt(3.0), 1e-16);
  e << 0.2, 0.2, 0.2, 0, 0, 0;
  EXPECT_EQ(equivalent_strain(e), 0);
  // von Mises' stress is 3 G times it
  const Eigen::Matrix<double, 6, 6> elasticity = elasticity_matrix(test::steel());
  e << 1, 0.4, -0.3, 0.2, -0.6, 0.5;
  EXPECT_NEAR(von_mises(elasticity * e) / (3 * 210e9 / 2.6 * equivalent_strain(e)), 1, 1e-14);
}

TEST(StressHistory, FieldsAlongTheAxesAreDisplacementsLikeOthers) {
  // hex8 has inner modes that couple the directions
  test::BoxOptions box;
  box.distortion = 0.15;
  const Mesh mesh = test::box_mesh(ElementType::Hex8, box);
  const int n = mesh.node_count(), s = 18;  // more than are done at a time
  // nodes in an order of their own
  std::vector<int> nodes;
  for (int i = 0; i < n; ++i) nodes.push_back((i * 5 + 3) % n);
  const MatrixXd fields = pattern(n, s, 0.2);
  const NodalStress found = recover_field_stress(mesh, fields, nodes);
  ASSERT_EQ(found.stress.cols(), 3 * s);
  const VectorXd d = pattern(3 * s, 1, 0);
  VectorXd u = VectorXd::Zero(3 * n);
  for (int i = 0; i < n; ++i)
    for (int a = 0; a < s; ++a) u.segment<3>(3 * nodes[i]) += fields(i, a) * d.segment<3>(3 * a);
  const NodalStress expected = recover_stress(mesh, u);
  const VectorXd stress = found.stress * d, strain = found.strain * d;
  for (int i = 0; i < n; ++i) {
    // sums of 54 terms
    EXPECT_LT((stress.segment<6>(6 * i) - expected.stress.col(0).segment<6>(6 * nodes[i])).norm(),
              1e-13 * expected.stress.norm());
    EXPECT_LT((strain.segment<6>(6 * i) - expected.strain.col(0).segment<6>(6 * nodes[i])).norm(),
              1e-13 * expected.strain.norm());
  }
}

}  // namespace
}  // namespace lissom::stress_history_test

#include "lissom/fe/rigid_motions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "lissom/fe/assembly.hpp"
#include "lissom/fe/rigid_body.hpp"
#include "lissom/fe/spider.hpp"
#include "tests/fe/small_eigen.hpp"
#include "tests/fe/test_meshes.hpp"

namespace lissom::rigid_motions_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using namespace test;

FeModel model_of(Mesh mesh) {
  for (const Spider& spider : mesh.spiders) mesh.node_sets[spider.name] = {spider.reference};
  Diagnostics diagnostics;
  return assemble(mesh, {}, diagnostics);
}

struct Shape {
  std::string name;
  Eigen::Vector3d size;
  std::array<int, 3> cells;
};

const Shape shapes[] = {
    {"cube", {1, 1, 1}, {3, 3, 3}},
    {"rod of slenderness 400", {2, 0.005, 0.005}, {60, 1, 1}},
    {"sheet", {1, 1, 0.0005}, {6, 6, 1}},
    {"leaf", {0.5, 0.04, 0.001}, {20, 2, 1}},
    {"micrometres", {2e-4, 5e-6, 5e-6}, {20, 1, 1}},
    {"millimetres taken for metres", {300, 20, 20}, {15, 2, 2}},
};

// All elements, shapes and spiders: what the six motions cost is round-off, by the measure that has no scale.
TEST(RigidMotions, CostLessThanRoundOffAllows) {
  double worst = 0;
  for (const Shape& shape : shapes)
    for (const ElementType type : all_element_types)
      for (const int variant : {1, 2, 3}) {
        BoxOptions options;
        options.size = shape.size, options.cells = shape.cells;
        if (is_quadratic(type)) options.cells[0] = (options.cells[0] + 1) / 2;
        const double L = shape.size.norm();
        if (variant == 1)  // turned, and far from the origin
          options.map = [L](const Eigen::Vector3d& x) {
            return Eigen::Vector3d(0.6 * x[0] - 0.8 * x[1] + 3 * L, 0.64 * x[0] + 0.48 * x[1] - 0.6 * x[2],
                                   0.48 * x[0] + 0.36 * x[1] + 0.8 * x[2] - 7 * L);
          };
        Mesh mesh = box_mesh(type, options);
        if (variant >= 2)
          add_spider(mesh, "end", variant == 2 ? Spider::Kind::Rigid : Spider::Kind::Averaging,
                     mesh.node_sets.at("x0"));
        const FeModel model = model_of(mesh);
        const MatrixXd R = rigid_body_modes(model.points, model.dofs, model.points.rowwise().mean());
        MatrixXd KR(R.rows(), 6);
        multiply(model.K, R, KR);
        const VectorXd energies = R.cwiseProduct(KR).colwise().sum().cwiseAbs().transpose();
        const VectorXd roundoff = energy_roundoff(model.K, R);
        for (int k = 0; k < 6; ++k)
          EXPECT_LT(energies[k], roundoff[k])
              << shape.name << ", " << name_of(type) << ", variant " << variant << ", motion " << k;
        worst = std::max(worst, energies.cwiseQuotient(roundoff).maxCoeff());
      }
  EXPECT_GT(worst, 0.05);  // and the measure is not far too generous
}

VectorXd mass_normalised(const FeModel& model, VectorXd x) {
  return x / std::sqrt(x.dot(model.M.full() * x));
}

MatrixXd six_motions(const FeModel& model) {
  std::vector<int> all(model.dof_count());
  std::iota(all.begin(), all.end(), 0);
  return rigid_motions(model, model.K, model.M, model.points.rowwise().mean(), all, {},
                       connected_parts(model.K), 0);
}

TEST(RigidMotions, ASoftSupportIsNotTakenForRoundOff) {
  BoxOptions options;
  options.size = {2, 0.005, 0.005}, options.cells = {40, 1, 1};
  FeModel model = model_of(box_mesh(ElementType::Hex8, options));
  EXPECT_EQ(six_motions(model).cols(), 6);
  // a spring of 1 N/m along the rod, beside entries of 1e8 N/m: 0.25 Hz, real
  double& entry = model.K.lower.coeffRef(0, 0);
  entry += 1;
  const MatrixXd free = six_motions(model);
  EXPECT_EQ(free.cols(), 5);
  // beside the five, the motion along x
  VectorXd x = VectorXd::Zero(model.dof_count());
  for (int i = 0; i < model.dof_count(); ++i) x[i] = model.dofs[i].direction == 0 ? 1 : 0;
  x = mass_normalised(model, x);
  // the spring is at a corner, so that it turns the rod a little, too
  EXPECT_LT((free.transpose() * (model.M.full() * x)).norm(), 0.02);
}

}  // namespace
}  // namespace lissom::rigid_motions_test

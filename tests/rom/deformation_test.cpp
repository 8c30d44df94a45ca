// The deformation that bodies give for stress recovery, of every formulation: exact for large rotations.
#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <random>

#include "lissom/cms/reduction.hpp"
#include "lissom/core/rotation.hpp"
#include "lissom/mbs/floating_frame.hpp"
#include "lissom/mbs/gcms_body.hpp"
#include "lissom/rom/slap/slap_body.hpp"
#include "tests/mbs/body_checks.hpp"
#include "tests/mbs/gcms_support.hpp"
#include "tests/rom/nodal_slap.hpp"

namespace lissom::deformation_test {
namespace {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::Matrix3Xd;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace test;

VectorXd stacked_nodes(const Matrix3Xd& u) {
  return Eigen::Map<const VectorXd>(u.data(), u.size());
}

// Relative to the largest.
double off(const MatrixXd& found, const MatrixXd& expected) {
  return (found - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
}

Placement far_away() {
  Placement placement;
  placement.position = {0.7, -0.4, 1.3};
  placement.rotation = Eigen::AngleAxisd(2.4, Vector3d(1, -2, 0.5).normalized()).toRotationMatrix();
  return placement;
}

// R' (x - x_mean) - (X - X_mean): displacements in axes that are turned by R, up to a translation.
Matrix3Xd turned_back(const Matrix3Xd& x, const Matrix3Xd& X, const Matrix3d& R) {
  return R.transpose() * (x.colwise() - x.rowwise().mean()) - (X.colwise() - X.rowwise().mean());
}

Matrix3d nearest_rotation(const Matrix3d& C) {
  const Eigen::JacobiSVD<Matrix3d> svd(C, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return svd.matrixU() * svd.matrixV().transpose();
}

TEST(Deformation, StressOfAFloatingFrameIsThatOfItsNodes) {
  const SampleBody sample = square_beam(MassKind::Lumped);
  ReductionOptions options;
  options.interfaces = sample.specs;
  options.selection.range = 6;
  Diagnostics diagnostics;
  const ReducedBody reduced = reduce(sample.model, &sample.mesh, options, diagnostics).body;
  for (const bool euler : {true, false}) {
    const auto body = euler ? make_ffrf_body("beam", reduced) : make_fncf_body("beam", reduced);
    ASSERT_EQ(body->deformation_basis(0).kind, Body::DeformationKind::Modes);
    ASSERT_EQ(body->deformation_basis(0).size, reduced.size());
    VectorXd q(body->coordinates()), v(body->coordinates());
    const Placement placement = far_away();
    body->place(placement, q, v);
    // a rigid motion has none, to the last bit
    EXPECT_TRUE((reduced.stress_modes * deformation_of(*body, q)).isZero(0));
    std::mt19937 random(3);
    const int modes = body->flexible_modes();
    const VectorXd scale = steps_of(*body, 1e-3);
    q.tail(modes) = scale.tail(modes).cwiseProduct(normal_vector(modes, random));
    const VectorXd u =
        stacked_nodes(turned_back(body->node_positions(q), sample.mesh.points, placement.rotation));
    const NodalStress expected = recover_stress(sample.mesh, u);
    // positions of a metre know displacements of a millimetre to 1e-13, strains are differences of these over
    // an element of 6 cm
    EXPECT_LT(off(reduced.stress_modes * deformation_of(*body, q), expected.stress), 1e-11);
    EXPECT_LT(off(reduced.strain_modes * deformation_of(*body, q), expected.strain), 1e-11);
    // and the displacements that the body gives itself have no such loss
    const NodalStress direct = recover_stress(sample.mesh, stacked_nodes(body->local_displacements(0, q)));
    EXPECT_LT(off(reduced.stress_modes * deformation_of(*body, q), direct.stress), 1e-12);
  }
  EXPECT_EQ(make_rigid_body("beam", reduced)->deformation_basis(0).kind, Body::DeformationKind::None);
}

TEST(Deformation, StressOfComponentModesIsThatOfTheirNodes) {
  const GcmsSample sample = gcms_sample(square_beam(MassKind::Lumped), MassKind::Lumped);
  const GcmsModel& model = sample.model;
  const auto body = make_gcms_body("beam", model);
  ASSERT_EQ(body->deformation_basis(0).kind, Body::DeformationKind::Fields);
  const MatrixXd& fields = *body->deformation_basis(0).fields;
  std::vector<int> nodes;
  for (int i = 0; i < sample.body.mesh.node_count(); ++i) nodes.push_back(i);
  const NodalStress modes = recover_field_stress(sample.body.mesh, fields, nodes);
  VectorXd q(body->coordinates()), v(body->coordinates());
  const Placement placement = far_away();
  body->place(placement, q, v);
  // round-off of a strain that is nothing
  EXPECT_LT((modes.stress * deformation_of(*body, q)).cwiseAbs().maxCoeff(), 1e-13 * 210e9);

  std::mt19937 random(5);
  const VectorXd scale = steps_of(*body, 1e-3);
  q += scale.cwiseProduct(normal_vector(q.size(), random));
  // the body's axes are those of the mean deformation, C = Q T^-1
  const Eigen::Map<const Matrix3Xd> Q(q.data(), 3, model.fields());
  const Matrix3d R = nearest_rotation(Q.middleCols<3>(1) * model.T.inverse());
  const Matrix3Xd u = turned_back(body->node_positions(q), model.points, R);
  const NodalStress expected = recover_stress(sample.body.mesh, stacked_nodes(u));
  // as above
  EXPECT_LT(off(modes.stress * deformation_of(*body, q), expected.stress), 1e-11);
  EXPECT_LT(off(modes.strain * deformation_of(*body, q), expected.strain), 1e-11);
  const NodalStress direct = recover_stress(sample.body.mesh, stacked_nodes(body->local_displacements(0, q)));
  EXPECT_LT(off(modes.stress * deformation_of(*body, q), direct.stress), 1e-12);
}

TEST(Deformation, StressOfAReducedMechanismIsThatOfItsNodes) {
  VectorXd spread, state;
  const NodalSlap slap = trained_slap(6, 0.02, spread, state);
  const SlapModel model = model_of(slap, {});
  const auto body = make_slap_body("mechanism", model);
  for (size_t p = 0; p < slap.parts.size(); ++p) {
    const int g = static_cast<int>(p);
    const Body::DeformationBasis basis = body->deformation_basis(g);
    ASSERT_EQ(basis.kind, Body::DeformationKind::Fields);
    const Mesh& mesh = slap.parts[p].mesh;
    std::vector<int> nodes;
    for (int i = 0; i < mesh.node_count(); ++i) nodes.push_back(i);
    const NodalStress modes = recover_field_stress(mesh, *basis.fields, nodes);
    // the parts have turned by up to a radian
    VectorXd d(basis.size);
    body->deformation(g, state, d);
    const VectorXd u = slap.deformation(g, state);
    const NodalStress expected = recover_stress(mesh, u);
    // displacements of some percent from positions of order one
    EXPECT_LT(off(modes.stress * d, expected.stress), 1e-11);
    EXPECT_LT(off(modes.strain * d, expected.strain), 1e-11);
    EXPECT_LT((stacked_nodes(body->local_displacements(g, state)) - u).norm(), 1e-13);
  }
}

TEST(Deformation, AMechanismThatTurnsAsAWholeHasNoStress) {
  const NodalSlap slap = turning_slap();
  const SlapModel model = model_of(slap, {});
  const auto body = make_slap_body("mechanism", model);
  for (const double angle : {0.3, 1.9, 3.1}) {
    const VectorXd eta = turned_state(angle, {0.2, -3, 1}, 0);
    for (int g = 0; g < 3; ++g) {
      VectorXd d(body->deformation_basis(g).size);
      body->deformation(g, eta, d);
      // round-off of positions of order one
      EXPECT_LT(d.cwiseAbs().maxCoeff(), 1e-14);
    }
  }
}

}  // namespace
}  // namespace lissom::deformation_test

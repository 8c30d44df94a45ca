#include "lissom/fe/spider.hpp"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include "lissom/fe/assembly.hpp"
#include "lissom/fe/mesh_report.hpp"
#include "lissom/fe/rigid_body.hpp"
#include "tests/fe/small_eigen.hpp"
#include "tests/fe/test_meshes.hpp"

namespace lissom::spider_test {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace test;

Mesh bar() {
  BoxOptions options;
  options.cells = {3, 2, 1};
  options.size = {1, 0.3, 0.2};
  options.distortion = 0.1;
  return box_mesh(ElementType::Tet10, options);
}

// a bar with a spider at each end, the second one's reference off its face
Mesh bar_with(Spider::Kind kind) {
  Mesh mesh = bar();
  add_spider(mesh, "left", kind, mesh.node_sets.at("x0"));
  add_spider(mesh, "right", kind, mesh.node_sets.at("x1"), Vector3d(1.2, 0.1, 0.3));
  return mesh;
}

FeModel assembled(const Mesh& mesh, MassKind mass = MassKind::Consistent) {
  Diagnostics diagnostics;
  AssemblyOptions options;
  options.mass = mass;
  FeModel model = assemble(mesh, options, diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  return model;
}

std::string message_of(const Mesh& mesh) {
  try {
    Diagnostics diagnostics;
    assemble(mesh, {}, diagnostics);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

TEST(Spider, DegreesOfFreedomAreLabelled) {
  const Mesh plain = bar();
  const int face = static_cast<int>(plain.node_sets.at("x0").size()), nodes = plain.node_count();
  const FeModel rigid = assembled(bar_with(Spider::Kind::Rigid));
  EXPECT_EQ(rigid.dof_count(), 3 * (nodes - 2 * face) + 12);
  const FeModel averaging = assembled(bar_with(Spider::Kind::Averaging));
  EXPECT_EQ(averaging.dof_count(), 3 * nodes);
  for (const FeModel* model : {&rigid, &averaging}) {
    ASSERT_EQ(static_cast<int>(model->dofs.size()), model->dof_count());
    EXPECT_EQ(model->recovery.rows(), 3 * (nodes + 2));
    EXPECT_EQ(model->recovery.cols(), model->dof_count());
    // the references have six each
    for (const int reference : {nodes, nodes + 1}) {
      std::vector<int> directions;
      for (const Dof& dof : model->dofs)
        if (dof.node == reference) directions.push_back(dof.direction);
      EXPECT_EQ(directions, (std::vector<int>{0, 1, 2, 3, 4, 5}));
    }
  }
  const auto nodeless = std::count_if(averaging.dofs.begin(), averaging.dofs.end(),
                                      [](const Dof& dof) { return dof.node < 0; });
  EXPECT_EQ(nodeless, 2 * (3 * face - 6));
}

TEST(Spider, RigidMotionsSurviveWithTheirInertiaAndNoOtherZeroModeAppears) {
  const Mesh plain = bar();
  const auto mass = report_mesh(plain).mass.value();
  for (const Spider::Kind kind : {Spider::Kind::Rigid, Spider::Kind::Averaging}) {
    const FeModel model = assembled(bar_with(kind));
    const MatrixXd rigid = rigid_body_modes(model.points, model.dofs, mass.centre);
    const VectorXd diagonal = model.K.diagonal();
    EXPECT_LT((model.K.full() * rigid).eval().cwiseAbs().maxCoeff(), 1e-12 * diagonal.maxCoeff());
    const MatrixXd inertia = rigid.transpose() * (model.M.full() * rigid);
    EXPECT_NEAR(inertia(0, 0), mass.mass, 1e-12 * mass.mass);
    EXPECT_LT((inertia.bottomRightCorner<3, 3>() - mass.inertia).norm(), 1e-12 * mass.inertia.norm());
    // all nodes move rigidly
    const MatrixXd moved = model.recovery * rigid;
    for (int i = 0; i < model.points.cols(); ++i)
      for (int k = 0; k < 3; ++k) {
        const Vector3d expected = Vector3d::Unit(k).cross(model.points.col(i) - mass.centre);
        EXPECT_LT((moved.col(3 + k).segment<3>(3 * i) - expected).norm(), 1e-14);
      }
    // frequencies: six at zero, the seventh far away
    const VectorXd lambda = lowest_eigenvalues(model, 8, {}, 1e6);
    EXPECT_LT(lambda.head<6>().cwiseAbs().maxCoeff(), 1e-7 * lambda[6]);
  }
}

TEST(Spider, AveragingLeavesTheFreeFrequenciesUnchangedAndRigidRaisesThem) {
  const VectorXd plain = lowest_eigenvalues(assembled(bar()), 16, {}, 1e6).tail<10>();
  Mesh weighted = bar_with(Spider::Kind::Averaging);
  for (Spider& spider : weighted.spiders)
    for (size_t i = 0; i < spider.nodes.size(); ++i) spider.weights.push_back(1 + i % 3);
  for (const Mesh& mesh : {bar_with(Spider::Kind::Averaging), weighted}) {
    const VectorXd averaging = lowest_eigenvalues(assembled(mesh), 16, {}, 1e6).tail<10>();
    // the same pencil in other coordinates; the iteration stops at 1e-10
    EXPECT_LT(((averaging - plain).array() / plain.array()).abs().maxCoeff(), 1e-8);
  }
  const VectorXd rigid = lowest_eigenvalues(assembled(bar_with(Spider::Kind::Rigid)), 16, {}, 1e6).tail<10>();
  EXPECT_GT(((rigid - plain).array() / plain.array()).minCoeff(), 1e-4);
}

TEST(Spider, MassIsTransformedLikeStiffnessAlsoWhenLumped) {
  for (const Spider::Kind kind : {Spider::Kind::Rigid, Spider::Kind::Averaging}) {
    const FeModel plain = assembled(bar(), MassKind::Lumped);
    const FeModel model = assembled(bar_with(kind), MassKind::Lumped);
    // T^T A T with T = the recovery of the nodes with elements
    const MatrixXd T = MatrixXd(model.recovery).topRows(plain.dof_count());
    const MatrixXd K = T.transpose() * dense(plain.K) * T, M = T.transpose() * dense(plain.M) * T;
    EXPECT_LT((dense(model.K) - K).cwiseAbs().maxCoeff(), 1e-13 * K.cwiseAbs().maxCoeff());
    EXPECT_LT((dense(model.M) - M).cwiseAbs().maxCoeff(), 1e-13 * M.cwiseAbs().maxCoeff());
  }
}

TEST(Spider, SpidersThatShareAnElementAreCoupled) {
  // one layer of cells between two faces: elements touch both ties and free nodes
  BoxOptions options;
  options.cells = {1, 2, 2};
  const Mesh plain = box_mesh(ElementType::Hex8, options);
  Mesh mesh = plain;
  add_spider(mesh, "a", Spider::Kind::Averaging, mesh.node_sets.at("x0"));
  // the lower six nodes of the other face; its upper three stay free
  std::vector<int> lower;
  for (const int node : mesh.node_sets.at("x1"))
    if (mesh.points(2, node) < 0.6) lower.push_back(node);
  add_spider(mesh, "b", Spider::Kind::Rigid, lower);
  const FeModel before = assembled(plain), model = assembled(mesh);
  const MatrixXd T = MatrixXd(model.recovery).topRows(before.dof_count());
  const MatrixXd K = T.transpose() * dense(before.K) * T, M = T.transpose() * dense(before.M) * T;
  EXPECT_LT((dense(model.K) - K).cwiseAbs().maxCoeff(), 1e-13 * K.cwiseAbs().maxCoeff());
  EXPECT_LT((dense(model.M) - M).cwiseAbs().maxCoeff(), 1e-13 * M.cwiseAbs().maxCoeff());
}

TEST(Spider, AveragingReferenceFollowsTheWeightedMeanMotionOfItsFace) {
  Mesh mesh = bar();
  const std::vector<int> face = mesh.node_sets.at("x1");
  std::vector<double> weights;
  for (size_t i = 0; i < face.size(); ++i) weights.push_back(0.5 + i);
  const int reference = add_spider(mesh, "s", Spider::Kind::Averaging, face, Vector3d(1.5, 0, 0.4), weights);
  const FeModel model = assembled(mesh);
  // any coordinates q; the reference's six must be the weighted least-squares fit to the face's motion
  const VectorXd q = VectorXd::NullaryExpr(model.dof_count(), [](int i) { return std::sin(3.0 * i + 1); });
  const VectorXd u = model.recovery * q;
  Eigen::Matrix<double, 6, 6> normal = Eigen::Matrix<double, 6, 6>::Zero();
  Eigen::Matrix<double, 6, 1> right = Eigen::Matrix<double, 6, 1>::Zero();
  for (size_t i = 0; i < face.size(); ++i) {
    Eigen::Matrix<double, 3, 6> D;
    const Vector3d r = mesh.points.col(face[i]) - mesh.points.col(reference);
    D.leftCols<3>().setIdentity();
    for (int k = 0; k < 3; ++k) D.col(3 + k) = Vector3d::Unit(k).cross(r);
    normal += weights[i] * D.transpose() * D;
    right += weights[i] * D.transpose() * u.segment<3>(3 * face[i]);
  }
  const Eigen::Matrix<double, 6, 1> fit = normal.ldlt().solve(right);
  for (int i = 0; i < model.dof_count(); ++i) {
    if (model.dofs[i].node == reference) {
      EXPECT_NEAR(q[i], fit[model.dofs[i].direction], 1e-11);  // round-off times the condition of the fit
    }
  }
  EXPECT_LT((u.segment<3>(3 * reference) - fit.head<3>()).norm(), 1e-11);
}

TEST(Spider, AForceAtTheReferenceArrivesAtTheClampWithItsMoment) {
  // clamp the left face, load the right reference: the reactions balance force and moment
  for (const Spider::Kind kind : {Spider::Kind::Rigid, Spider::Kind::Averaging}) {
    Mesh mesh = bar();
    const Vector3d at(1.4, -0.2, 0.5), force(100, -70, 40), moment(3, 5, -8);
    const int reference = add_spider(mesh, "load", kind, mesh.node_sets.at("x1"), at);
    const FeModel model = assembled(mesh);
    VectorXd f = VectorXd::Zero(model.dof_count());
    for (int i = 0; i < model.dof_count(); ++i)
      if (model.dofs[i].node == reference)
        f[i] = model.dofs[i].direction < 3 ? force[model.dofs[i].direction]
                                           : moment[model.dofs[i].direction - 3];
    const std::vector<int> fixed = dofs_of(model, mesh.node_sets.at("x0"));
    std::vector<int> index(model.dof_count(), 0);
    for (const int dof : fixed) index[dof] = -1;
    int n = 0;
    for (int& i : index)
      if (i >= 0) i = n++;
    VectorXd loads(n), q = VectorXd::Zero(model.dof_count());
    for (int i = 0; i < model.dof_count(); ++i)
      if (index[i] >= 0) loads[index[i]] = f[i];
    const Eigen::SimplicialLDLT<SparseMatrix> factor(reduce(model.K, index, n));
    const VectorXd solution = factor.solve(loads);
    for (int i = 0; i < model.dof_count(); ++i)
      if (index[i] >= 0) q[i] = solution[index[i]];
    const VectorXd reaction = model.K.full() * q - f;
    Vector3d total = Vector3d::Zero(), about_origin = Vector3d::Zero();
    for (const int dof : fixed) {
      const Vector3d component = reaction[dof] * Vector3d::Unit(model.dofs[dof].direction);
      total += component;
      about_origin += Vector3d(mesh.points.col(model.dofs[dof].node)).cross(component);
    }
    EXPECT_LT((total + force).norm(), 1e-8 * force.norm());
    EXPECT_LT((about_origin + moment + at.cross(force)).norm(), 1e-8 * force.norm());
  }
}

TEST(Spider, AReferenceThatIsAMeshNodeSharesItsDisplacement) {
  // tie the right face to its own first node: the same constraint as with a separate reference there
  Mesh own = bar(), separate = bar();
  std::vector<int> face = own.node_sets.at("x1");
  add_spider(separate, "s", Spider::Kind::Rigid, face, Vector3d(own.points.col(face[0])));
  own.spiders.push_back({"s", Spider::Kind::Rigid, face[0], {face.begin() + 1, face.end()}, {}, {}});
  const FeModel a = assembled(own), b = assembled(separate);
  EXPECT_EQ(a.dof_count(), b.dof_count());
  EXPECT_LT((a.K.lower - b.K.lower).norm(), 1e-13 * b.K.lower.norm());
  EXPECT_LT((a.M.lower - b.M.lower).norm(), 1e-13 * b.M.lower.norm());
}

TEST(Spider, ARigidSpidersLooseNodeFollowsWithAWarning) {
  Mesh mesh = bar_with(Spider::Kind::Rigid);
  const int loose = mesh.node_count();
  mesh.points.conservativeResize(Eigen::NoChange, loose + 1);
  mesh.points.col(loose) = Vector3d(2, 0, 0);
  mesh.node_ids.push_back(5000);
  mesh.spiders[1].nodes.push_back(loose);
  Diagnostics diagnostics;
  const FeModel model = assemble(mesh, {}, diagnostics);
  ASSERT_NE(diagnostics.find("spider.node-without-element"), nullptr);
  const MatrixXd moved = model.recovery * rigid_body_modes(model.points, model.dofs);
  EXPECT_LT((moved.col(5).segment<3>(3 * loose) - Vector3d(0, 2, 0)).norm(), 1e-14);
  mesh.spiders[1].kind = Spider::Kind::Averaging;
  EXPECT_EQ(message_of(mesh),
            "spider 'right' averages over node 5000, which belongs to no element; remove it from the spider");
}

TEST(Spider, MistakesAreNamed) {
  const auto contains = [](const std::string& message, const char* part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  const Mesh good = bar_with(Spider::Kind::Rigid);
  Mesh mesh = good;
  mesh.spiders[1].defined_at = {"a.bdf", 31};
  mesh.spiders[1].nodes.push_back(mesh.spiders[0].nodes[2]);
  contains(message_of(mesh), "a.bdf:31: spider 'right' ties node ");
  contains(message_of(mesh), "which spider 'left' ties already");
  mesh = good;
  mesh.spiders[0].nodes.push_back(mesh.spiders[0].nodes[0]);
  contains(message_of(mesh), "twice");
  mesh = good;
  mesh.spiders[0].nodes.push_back(mesh.spiders[0].reference);
  contains(message_of(mesh), "to itself");
  mesh = good;
  mesh.spiders[1].reference = mesh.spiders[0].reference;
  contains(message_of(mesh), "already that of spider 'left'");
  mesh = good;
  mesh.spiders[1].nodes.push_back(mesh.spiders[0].reference);
  contains(message_of(mesh), "chains of spiders are not supported");
  mesh = good;
  mesh.spiders[0].nodes.resize(2);
  contains(message_of(mesh), "spider 'left' ties 2 nodes with elements, expected at least three");
  // nodes on the edge y = 0, z = 0
  for (const Spider::Kind kind : {Spider::Kind::Rigid, Spider::Kind::Averaging}) {
    mesh = bar();
    std::vector<int> edge;
    for (int i = 0; i < mesh.node_count(); ++i)
      if (mesh.points(1, i) == 0 && mesh.points(2, i) == 0) edge.push_back(i);
    ASSERT_GE(edge.size(), 3);
    add_spider(mesh, "edge", kind, edge, Vector3d(0, 1, 1));
    contains(message_of(mesh), "all lie on a line");
  }
  mesh = bar_with(Spider::Kind::Averaging);
  mesh.spiders[0].weights.assign(mesh.spiders[0].nodes.size(), 1.0);
  mesh.spiders[0].weights[1] = 0;
  contains(message_of(mesh), "the weight 0, expected a positive one");
  mesh.spiders[0].weights.resize(2);
  contains(message_of(mesh), "has 2 weights for 15 nodes");
}

TEST(Spider, AFaceTooLargeToAverageIsRefused) {
  BoxOptions options;
  options.cells = {1, 26, 26};
  Mesh mesh = box_mesh(ElementType::Hex20, options);
  add_spider(mesh, "face", Spider::Kind::Averaging, mesh.node_sets.at("x0"));
  EXPECT_NE(message_of(mesh).find("spider 'face' averages over 2133 nodes, more than the 2000"),
            std::string::npos)
      << message_of(mesh);
}

TEST(Spider, AddedSpidersCreateTheirReference) {
  Mesh mesh = bar();
  const int before = mesh.node_count();
  const int reference = add_spider(mesh, "s", Spider::Kind::Rigid, mesh.node_sets.at("x0"));
  EXPECT_EQ(reference, before);
  EXPECT_EQ(mesh.node_ids[reference], before + 1);
  // the mean of the nodes, not of the area: inner corners of the face are shifted by up to a tenth of a cell
  EXPECT_NEAR(mesh.points(0, reference), 0, 1e-15);
  EXPECT_NEAR(mesh.points(1, reference), 0.15, 0.01);
  EXPECT_THROW(add_spider(mesh, "s", Spider::Kind::Rigid, mesh.node_sets.at("x1")), InputError);
  EXPECT_THROW(add_spider(mesh, "t", Spider::Kind::Rigid, {1, 2}), InputError);
}

}  // namespace
}  // namespace lissom::spider_test

// Fields, joints and places of a mechanism against dense matrices of the meshes and CalculiX.
#include "lissom/rom/slap/slap_space.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <algorithm>
#include <numbers>

#include "lissom/rom/slap/slap_training.hpp"
#include "tests/fe/ccx.hpp"
#include "tests/packages.hpp"
#include "tests/rom/trained_four_bar.hpp"

namespace lissom::slap_space_test {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

struct Box {
  Mesh mesh;
  FeModel model;
  MatrixXd K, m;   // dense
  MatrixXd modes;  // 3n by 3n - 6, free ones
};

Box box_of(ElementType type, const Vector3d& size, std::array<int, 3> cells, const Vector3d& at,
           MassKind mass = MassKind::Lumped) {
  Box box;
  test::BoxOptions options;
  options.size = size;
  options.cells = cells;
  options.map = [at](const Vector3d& x) { return Vector3d(x + at); };
  box.mesh = test::box_mesh(type, options);
  AssemblyOptions assembly;
  assembly.mass = mass;
  Diagnostics diagnostics;
  box.model = assemble(box.mesh, assembly, diagnostics);
  box.K = test::dense(box.model.K);
  box.m = test::dense(box.model.node_mass);
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> eigen(box.K, test::dense(box.model.M));
  box.modes = eigen.eigenvectors().rightCols(box.K.rows() - 6);
  return box;
}

// (Q (x) I_3)
MatrixXd three_directions(const MatrixXd& Q) {
  MatrixXd all = MatrixXd::Zero(3 * Q.rows(), 3 * Q.cols());
  for (Eigen::Index i = 0; i < Q.rows(); ++i)
    for (Eigen::Index a = 0; a < Q.cols(); ++a) all.block<3, 3>(3 * i, 3 * a).diagonal().setConstant(Q(i, a));
  return all;
}

// The part of F outside of the span of orthonormal columns.
double outside(const MatrixXd& Q, const MatrixXd& F) {
  return (F - Q * (Q.transpose() * F)).norm() / F.norm();
}

// One direction of each mode as a field.
MatrixXd fields_of(const MatrixXd& modes) {
  MatrixXd F(modes.rows() / 3, 3 * modes.cols());
  for (Eigen::Index j = 0; j < modes.cols(); ++j)
    for (int k = 0; k < 3; ++k) F.col(3 * j + k) = modes(Eigen::seqN(k, modes.rows() / 3, 3), j);
  return F;
}

TEST(SlapSpace, FieldsAreOrthonormalAndHoldModesAndRigidMotions) {
  const Box box = box_of(ElementType::Tet4, {0.2, 0.3, 1.0}, {1, 2, 5}, {0.4, -1, 3});
  const SlapSpacePart part = make_slap_part("box", box.model, box.modes.leftCols(5));
  const Eigen::Index n = box.model.points.cols();
  ASSERT_EQ(part.Q.rows(), n);
  EXPECT_EQ(part.fields(), 4 + 15);
  EXPECT_EQ(part.node_ids, box.model.node_ids);
  // round-off of sums over 36 nodes
  EXPECT_LT((part.Q.transpose() * part.Q - MatrixXd::Identity(19, 19)).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_LT(outside(part.Q, VectorXd::Ones(n)), 1e-14);
  EXPECT_LT(outside(part.Q, box.model.points.transpose()), 1e-14);
  EXPECT_LT(outside(part.Q, fields_of(box.modes.leftCols(5))), 1e-13);
  // it is the modes that are in it, not anything
  EXPECT_GT(outside(part.Q, fields_of(box.modes.middleCols(9, 1))), 1e-3);
  EXPECT_LT((part.Q * part.rest - box.model.points.transpose()).cwiseAbs().maxCoeff(), 4e-15);
}

TEST(SlapSpace, RigidPartsAndRepeatedModesAddNothing) {
  const Box box = box_of(ElementType::Hex8, {0.2, 0.3, 1.0}, {1, 2, 4}, {0, 0, 0});
  const MatrixXd modes = box.modes.leftCols(4);
  const SlapSpacePart plain = make_slap_part("box", box.model, modes);
  MatrixXd more(modes.rows(), 6);
  more.leftCols(4) = modes;
  more.col(4) = 3 * modes.col(1) - modes.col(2);
  more.col(5) = modes.col(0);
  for (Eigen::Index i = 0; i < box.model.points.cols(); ++i) {
    const Vector3d X = box.model.points.col(i);
    more.block<3, 1>(3 * i, 0) += 2 * Vector3d(0.3, 1, -2).cross(X) + Vector3d(1, 2, 3);
    more.block<3, 1>(3 * i, 3) += 5 * X;
  }
  const SlapSpacePart part = make_slap_part("box", box.model, more);
  EXPECT_EQ(part.fields(), plain.fields());
  EXPECT_LT(outside(plain.Q, part.Q), 1e-12);
}

TEST(SlapSpace, StiffnessAndMassAreThoseOfTheMesh) {
  for (const MassKind mass : {MassKind::Lumped, MassKind::Consistent}) {
    const Box box = box_of(ElementType::Hex8, {0.2, 0.3, 1.0}, {1, 2, 4}, {0.1, 0.2, 0.3}, mass);
    const SlapSpacePart part = make_slap_part("box", box.model, box.modes.leftCols(4));
    const MatrixXd Q3 = three_directions(part.Q);
    const MatrixXd K = Q3.transpose() * box.K * Q3, m = part.Q.transpose() * box.m * part.Q;
    // sums of 90 products
    EXPECT_LT((part.K - K).cwiseAbs().maxCoeff(), 1e-14 * K.cwiseAbs().maxCoeff());
    EXPECT_LT((part.m - m).cwiseAbs().maxCoeff(), 1e-14 * m.cwiseAbs().maxCoeff());
    EXPECT_NEAR(part.mass, 0.2 * 0.3 * 1.0 * 7850, 1e-12 * part.mass);
  }
}

TEST(SlapSpace, ModalDampingActsOnTheAmplitudesOfTheModes) {
  const Box box = box_of(ElementType::Hex8, {0.2, 0.3, 1.0}, {1, 2, 4}, {0, 0, 0});
  MatrixXd D(3, 3);
  D << 3, 1, 0, 1, 4, -1, 0, -1, 5;
  const SlapSpacePart part = make_slap_part("box", box.model, box.modes.leftCols(3), D);
  const MatrixXd Q3 = three_directions(part.Q);
  VectorXd amplitude(3);
  amplitude << 0.3, -1, 2;
  // a velocity of the modes, of a rigid motion, and of both
  VectorXd turn(box.K.rows());
  for (Eigen::Index i = 0; i < turn.size() / 3; ++i)
    turn.segment<3>(3 * i) = Vector3d(1, -2, 3).cross(Vector3d(box.model.points.col(i))) + Vector3d(1, 0, 2);
  for (const double share : {0.0, 1.0}) {
    const VectorXd y = Q3.transpose() * (box.modes.leftCols(3) * amplitude + share * turn);
    EXPECT_NEAR(y.dot(part.D * y), amplitude.dot(D * amplitude), 1e-10 * amplitude.dot(D * amplitude));
  }
}

TEST(SlapSpace, WhatSlapCannotReduceIsRefused) {
  Box box = box_of(ElementType::Hex8, {0.2, 0.3, 1.0}, {1, 2, 4}, {0, 0, 0});
  const auto message = [&](const FeModel& model) {
    try {
      make_slap_part("arm", model, box.modes.leftCols(2));
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  FeModel model = box.model;
  model.node_mass = {};
  EXPECT_NE(message(model).find("'arm': SLAP needs a mass matrix"), std::string::npos) << message(model);
  model = box.model;
  model.points.row(1).setConstant(0.2);
  EXPECT_NE(message(model).find("lie in a plane"), std::string::npos) << message(model);
}

TEST(SlapSpace, KernelHoldsAllThatTheJointsAllow) {
  const test::TrainedFourBar& four_bar = test::pushed_four_bar();
  const SlapSpace space = four_bar.space();
  ASSERT_EQ(space.C.rows(), 24);
  // eight spherical joints, none of them redundant for elastic bars
  EXPECT_EQ(space.kernel_dimension(), space.dimension() - 24);
  EXPECT_LT((space.C * space.Z).cwiseAbs().maxCoeff(), 2e-15);
  const MatrixXd unit = MatrixXd::Identity(space.Z.cols(), space.Z.cols());
  EXPECT_LT((space.Z.transpose() * space.Z - unit).cwiseAbs().maxCoeff(), 1e-14);
  // C y = c at rest
  VectorXd rest(space.dimension());
  const Vector3d at[3] = {
      {0, 0, 0}, {0, 0.0075, test::four_bar_height - 0.0075}, {0, test::four_bar_length, 0}};
  for (int p = 0; p < 3; ++p) {
    const SlapSpacePart& part = space.parts[p];
    MatrixXd Y = part.rest.transpose();
    Y += at[p] * (part.Q.transpose() * VectorXd::Ones(part.Q.rows())).transpose();
    rest.segment(space.offsets[p], 3 * part.fields()) =
        Eigen::Map<const VectorXd>(Y.data(), 3 * part.fields());
  }
  EXPECT_LT((space.C * rest - space.c).cwiseAbs().maxCoeff(), 1e-15);
}

TEST(SlapSpace, RedundantJointsDoNoHarm) {
  const test::TrainedFourBar& four_bar = test::pushed_four_bar();
  const SlapSpace space = four_bar.space();
  std::vector<SlapPair> pairs = space.pairs;
  // the first one again, the second one from its other side, and a hundred times as strong
  pairs.push_back(space.pairs[0]);
  pairs.push_back({"turned", space.pairs[2].second, space.pairs[2].first});
  pairs.push_back(space.pairs[5]);
  pairs.back().first.position *= 100;
  pairs.back().second.position *= 100;
  const SlapSpace redundant = make_slap_space(space.parts, {}, pairs);
  ASSERT_EQ(redundant.C.rows(), 33);
  ASSERT_EQ(redundant.Z.cols(), space.Z.cols());
  EXPECT_LT((redundant.C * redundant.Z).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_LT(outside(space.Z, redundant.Z), 1e-13);
}

// ---- places

// Nodes of a hole of radius r about the line through `centre` along z, `rings` of them over the thickness.
Eigen::Matrix3Xd hole(const Vector3d& centre, double r, double thickness, int rings, int around) {
  Eigen::Matrix3Xd nodes(3, rings * around);
  for (int k = 0; k < rings; ++k)
    for (int i = 0; i < around; ++i) {
      const double angle = 2 * std::numbers::pi * i / around + 0.1;
      nodes.col(k * around + i) = centre + Vector3d(r * std::cos(angle), r * std::sin(angle),
                                                    rings > 1 ? thickness * k / (rings - 1) : 0);
    }
  return nodes;
}

TEST(SlapSpace, PointsOfAHolesAxisFollowEveryRigidMotion) {
  const Vector3d centre(1, -2, 0.5);
  const Eigen::Matrix3Xd nodes = hole(centre, 0.02, 0.01, 3, 12);
  const Matrix3d R = Eigen::AngleAxisd(2.2, Vector3d(1, -2, 0.7).normalized()).toRotationMatrix();
  const Vector3d c(3, 4, -5);
  // within the thickness, at its end, far beyond, and beside the axis
  for (const Vector3d& off :
       {Vector3d(0, 0, 0.003), Vector3d(0, 0, 0.01), Vector3d(0, 0, 0.05), Vector3d(0.01, -0.03, 0.002)}) {
    double miss = -1;
    const VectorXd weights = affine_weights(nodes, centre + off, miss);
    EXPECT_LT(miss, 1e-16);
    EXPECT_NEAR(weights.sum(), 1, 1e-14);
    const Vector3d moved = ((R * nodes).colwise() + c) * weights;
    // metres times weights of up to ten
    EXPECT_LT((moved - (R * (centre + off) + c)).norm(), 5e-14);
    // nor does a stretch matter: any affine motion
    Matrix3d A = R;
    A.col(1) *= 1.3;
    EXPECT_LT((A * nodes * weights - A * (centre + off)).norm(), 5e-14);
  }
}

TEST(SlapSpace, WhatNodesOfAPlaneCannotReachIsReported) {
  const Vector3d centre(1, -2, 0.5);
  const Eigen::Matrix3Xd ring = hole(centre, 0.02, 0, 1, 12);
  double miss = -1;
  affine_weights(ring, centre + Vector3d(0.01, 0.001, 0), miss);
  EXPECT_LT(miss, 1e-16);
  const VectorXd weights = affine_weights(ring, centre + Vector3d(0.01, 0.001, 0.004), miss);
  EXPECT_NEAR(miss, 0.004, 1e-15);
  // the nearest point that they have
  EXPECT_LT((ring * weights - (centre + Vector3d(0.01, 0.001, 0))).norm(), 1e-15);
  // nodes of a line, and one alone
  affine_weights(ring.leftCols(2), centre, miss);
  EXPECT_NEAR(miss, 0.02 * std::cos(std::numbers::pi / 12), 1e-12);
  affine_weights(ring.leftCols(1), Vector3d(ring.col(0)), miss);
  EXPECT_LT(miss, 1e-16);
  affine_weights(ring.leftCols(1), Vector3d(ring.col(0)) + Vector3d(0, 3e-3, 0), miss);
  EXPECT_NEAR(miss, 3e-3, 1e-15);
}

TEST(SlapSpace, PlacesAreMeansAndMomentsOfTheirNodes) {
  const Box box = box_of(ElementType::Hex8, {0.2, 0.3, 1.0}, {1, 2, 4}, {0.1, 0.2, 0.3});
  const SlapSpacePart part = make_slap_part("box", box.model, box.modes.leftCols(4));
  std::vector<int> nodes = box.mesh.node_sets.at("z1");
  const Vector3d origin(0.25, 0.3, 1.3);
  const SlapPlace face = make_slap_place(part, 2, "face", nodes, origin);
  // a deformed and turned part
  const Matrix3d R = Eigen::AngleAxisd(0.8, Vector3d(1, -2, 0.7).normalized()).toRotationMatrix();
  const MatrixXd x = R * (part.points + 1e-2 * Eigen::Map<const Eigen::Matrix3Xd>(box.modes.col(1).data(), 3,
                                                                                  part.points.cols()));
  const MatrixXd Y = x * part.Q;
  const Eigen::Matrix3Xd own = x(Eigen::all, nodes), rest = part.points(Eigen::all, nodes);
  const Vector3d mean = own.rowwise().mean(), rest_mean = rest.rowwise().mean();
  EXPECT_LT((Y * face.position - mean).norm(), 1e-14);
  const Matrix3d moment =
      (own.colwise() - mean) * (rest.colwise() - rest_mean).transpose() / double(nodes.size());
  EXPECT_LT((Y * face.moment.transpose() - moment).norm(), 1e-15);
  EXPECT_LT((face.arm - (origin - rest_mean)).norm(), 1e-15);
  EXPECT_EQ(face.part, 2);
  // an edge and a node do not tell a rotation
  EXPECT_EQ(make_slap_place(part, 0, "edge", {nodes[0], nodes[1]}, origin).moment.size(), 0);
  EXPECT_EQ(make_slap_place(part, 0, "node", {nodes[0]}, origin).moment.size(), 0);
}

// ---- frequencies

// Two boxes that hang together at two nodes and on the ground at one.
struct Pair {
  Box lower, upper;
  std::vector<std::pair<int, int>> joined;  // node of the lower, node of the upper
  int grounded = 0;                         // of the lower
};

Pair two_boxes(ElementType type, MassKind mass) {
  Pair pair;
  pair.lower = box_of(type, {0.2, 0.2, 0.9}, {1, 1, 3}, {0, 0, 0}, mass);
  pair.upper = box_of(type, {0.2, 0.8, 0.3}, {1, 2, 1}, {0, 0, 0.9}, mass);
  const auto at = [](const Box& box, const Vector3d& x) {
    Eigen::Index node = 0;
    EXPECT_LT((box.mesh.points.colwise() - x).colwise().norm().minCoeff(&node), 1e-12);
    return static_cast<int>(node);
  };
  for (const double x : {0.0, 0.2})
    pair.joined.emplace_back(at(pair.lower, {x, 0.2, 0.9}), at(pair.upper, {x, 0, 0.9}));
  // they lie in the same place only where they meet: the upper one moves over
  pair.upper.model.points.row(1).array() += 0.2;
  pair.upper.mesh.points.row(1).array() += 0.2;
  pair.grounded = at(pair.lower, {0, 0, 0});
  return pair;
}

SlapSpace space_of(const Pair& pair, int modes) {
  std::vector<SlapSpacePart> parts = {
      make_slap_part("lower", pair.lower.model,
                     pair.lower.modes.leftCols(std::min<Eigen::Index>(modes, pair.lower.modes.cols()))),
      make_slap_part("upper", pair.upper.model,
                     pair.upper.modes.leftCols(std::min<Eigen::Index>(modes, pair.upper.modes.cols())))};
  std::vector<SlapPair> pairs;
  for (const auto& joined : pair.joined)
    pairs.push_back({"hinge", make_weighted_place(parts[0], 0, "", {joined.first}, VectorXd::Ones(1)),
                     make_weighted_place(parts[1], 1, "", {joined.second}, VectorXd::Ones(1))});
  SlapPlace ground;
  ground.ground = pair.lower.model.points.col(pair.grounded);
  pairs.push_back({"foot", ground, make_weighted_place(parts[0], 0, "", {pair.grounded}, VectorXd::Ones(1))});
  return make_slap_space(parts, {}, pairs);
}

// The same from the meshes: all degrees of freedom, joints by an orthonormal kernel of the constraints, parts
// turned by rotations.
VectorXd dense_frequencies(const Pair& pair, const Matrix3d& lower, const Matrix3d& upper, int count) {
  const Eigen::Index a = pair.lower.K.rows(), b = pair.upper.K.rows();
  MatrixXd K = MatrixXd::Zero(a + b, a + b), M = K;
  const auto put = [&](const Box& box, const Matrix3d& R, Eigen::Index first) {
    for (Eigen::Index i = 0; i < box.m.rows(); ++i)
      for (Eigen::Index j = 0; j < box.m.rows(); ++j) {
        K.block<3, 3>(first + 3 * i, first + 3 * j) = R * box.K.block<3, 3>(3 * i, 3 * j) * R.transpose();
        M.block<3, 3>(first + 3 * i, first + 3 * j) = box.m(i, j) * Matrix3d::Identity();
      }
  };
  put(pair.lower, lower, 0);
  put(pair.upper, upper, a);
  MatrixXd C = MatrixXd::Zero(3 * (pair.joined.size() + 1), a + b);
  int row = 0;
  for (const auto& joined : pair.joined) {
    C.block<3, 3>(row, 3 * joined.first).setIdentity();
    C.block<3, 3>(row, a + 3 * joined.second) = -Matrix3d::Identity();
    row += 3;
  }
  C.block<3, 3>(row, 3 * pair.grounded).setIdentity();
  const Eigen::FullPivLU<MatrixXd> lu(C);
  const MatrixXd T = lu.kernel();
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> eigen(
      MatrixXd(T.transpose() * K * T), MatrixXd(T.transpose() * M * T), Eigen::EigenvaluesOnly);
  return test::to_hertz(eigen.eigenvalues().head(count));
}

// The parts' rest positions turned, as coordinates of the space; joints need not meet for the linearisation.
VectorXd turned(const SlapSpace& space, const Matrix3d& lower, const Matrix3d& upper) {
  VectorXd y(space.dimension());
  for (int p = 0; p < 2; ++p) {
    const MatrixXd Y = (p == 0 ? lower : upper) * space.parts[p].rest.transpose();
    y.segment(space.offsets[p], Y.size()) = Eigen::Map<const VectorXd>(Y.data(), Y.size());
  }
  return y;
}

TEST(SlapSpace, FrequenciesOfTheMechanismAreThoseOfItsMeshes) {
  const Pair pair = two_boxes(ElementType::Hex8, MassKind::Lumped);
  const SlapSpace all = space_of(pair, 1000);
  // the space is all there is
  ASSERT_EQ(all.dimension(), pair.lower.K.rows() + pair.upper.K.rows());
  const Matrix3d one = Matrix3d::Identity();
  const Matrix3d A = Eigen::AngleAxisd(0.7, Vector3d(1, 2, -1).normalized()).toRotationMatrix();
  const Matrix3d B = Eigen::AngleAxisd(-1.1, Vector3d(0, 2, 1).normalized()).toRotationMatrix();
  for (const auto& [lower, upper] : {std::pair(one, one), std::pair(A, A), std::pair(A, B)}) {
    const VectorXd expected = dense_frequencies(pair, lower, upper, 16);
    const VectorXd found = linearised_frequencies(all, turned(all, lower, upper), 16);
    // three rotations about the foot, and one of the hinge where its axis is the same in both
    const int rigid = lower == upper ? 4 : 3;
    EXPECT_LT(expected[rigid - 1], 0.05);
    EXPECT_GT(expected[rigid], 10);
    EXPECT_EQ(found.head(rigid).norm(), 0);
    // squares of frequencies to round-off of the largest, some thousand times the square of the lowest
    for (int i = rigid; i < 16; ++i) EXPECT_NEAR(found[i], expected[i], 1e-9 * expected[i]) << i;

    // Ritz values of fewer modes lie above, and come down
    VectorXd before;
    for (const int modes : {3, 6, 12}) {
      const SlapSpace fewer = space_of(pair, modes);
      const VectorXd ritz = linearised_frequencies(fewer, turned(fewer, lower, upper), 16);
      for (int i = rigid; i < 16; ++i) {
        EXPECT_GT(ritz[i], (1 - 1e-9) * expected[i]) << modes << " " << i;
        if (before.size() > 0) {
          EXPECT_LT(ritz[i], (1 + 1e-9) * before[i]) << modes << " " << i;
        }
      }
      before = ritz;
    }
    EXPECT_LT(before[rigid], 1.05 * expected[rigid]);
  }
}

TEST(SlapSpace, FrequenciesOfTheMechanismAreThoseOfCalculix) {
  ASSERT_TRUE(test::has_ccx()) << "ccx" << test::install_hint;
  const Pair pair = two_boxes(ElementType::Hex20, MassKind::Consistent);
  // one mesh of both, joined by equations
  const std::int64_t shift = 1000;
  ASSERT_LT(pair.lower.mesh.node_count(), shift);
  MeshBuilder builder("both");
  builder.mesh().materials = pair.lower.mesh.materials;
  for (const Mesh* part : {&pair.lower.mesh, &pair.upper.mesh}) {
    const std::int64_t add = part == &pair.lower.mesh ? 0 : shift;
    for (int i = 0; i < part->node_count(); ++i)
      builder.add_node(part->node_ids[i] + add, part->points.col(i), {"both", 0});
    for (int e = 0; e < part->element_count(); ++e) {
      std::vector<std::int64_t> nodes;
      for (const int node : part->element_nodes(e)) nodes.push_back(part->node_ids[node] + add);
      builder.add_element(ElementType::Hex20, part->element_ids[e] + add, nodes, 0, {"both", 0});
    }
  }
  const Mesh both = builder.finish();
  std::string equations;
  for (const auto& joined : pair.joined)
    for (int k = 1; k <= 3; ++k)
      equations += fmt::format("*EQUATION\n2\n{}, {}, 1, {}, {}, -1\n",
                               pair.upper.mesh.node_ids[joined.second] + shift, k,
                               pair.lower.mesh.node_ids[joined.first], k);
  constexpr int count = 12;
  const VectorXd ccx = test::ccx_frequencies(
      both, "C3D20", std::to_string(pair.lower.mesh.node_ids[pair.grounded]), count, equations);
  const SlapSpace all = space_of(pair, 1000);
  const VectorXd found =
      linearised_frequencies(all, turned(all, Matrix3d::Identity(), Matrix3d::Identity()), count);
  EXPECT_EQ(found.head(4).norm(), 0);
  // ccx prints seven digits
  for (int i = 4; i < count; ++i) EXPECT_NEAR(found[i], ccx[i], 2e-6 * ccx[i]) << i;
}

}  // namespace
}  // namespace lissom::slap_space_test

// Training: basis, model and order against the nodes themselves and against the mechanism that was simulated.
#include "lissom/rom/slap/slap_training.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <filesystem>

#include "lissom/rom/slap/rigid_noise.hpp"
#include "lissom/study/train.hpp"
#include "tests/mbs/body_checks.hpp"
#include "tests/mbs/marker_support.hpp"
#include "tests/rom/quad_force.hpp"
#include "tests/rom/trained_four_bar.hpp"

namespace lissom::slap_training_test {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::NodalSlap;
using test::pushed_four_bar;
using test::Random;
using test::TrainedFourBar;

test::LongNodalEnergy exact_energy(const TrainedFourBar& four_bar, const SlapSpace& space,
                                   const SlapBasis& basis, int m) {
  return {space, {&four_bar.bars[0].model, &four_bar.bars[1].model, &four_bar.bars[2].model}, basis, m};
}

NodalSlap nodes_of(const TrainedFourBar& four_bar, const SlapSpace& space, const SlapBasis& basis, int m) {
  return test::nodal_slap(space, {&four_bar.bars[0].model, &four_bar.bars[1].model, &four_bar.bars[2].model},
                          basis, m);
}

MatrixXd nodal_data(TrainingRuns& runs) {
  Eigen::Index rows = 0;
  for (const auto& part : runs[0]->parts()) rows += 3 * part.nodes;
  MatrixXd all(rows, runs[0]->samples());
  Eigen::Index at = 0;
  for (size_t p = 0; p < runs[0]->parts().size(); ++p) {
    const Eigen::Index n = 3 * runs[0]->parts()[p].nodes;
    MatrixXd X(n, all.cols());
    runs[0]->read(static_cast<int>(p), 0, runs[0]->samples(), X);
    all.middleRows(at, n) = X;
    at += n;
  }
  return all;
}

template <class Work>
std::string message_of(Work work) {
  try {
    work();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

// ---- basis

TEST(SlapBasis, SingularValuesAreThoseOfTheNodes) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  const SlapSpace space = four_bar.space();
  const SlapBasis basis = four_bar.basis(space);
  TrainingRuns runs = four_bar.runs();
  MatrixXd data = nodal_data(runs);
  data = (data.colwise() - data.col(0).eval()).eval();
  const VectorXd expected = Eigen::BDCSVD<MatrixXd>(data).singularValues();
  VectorXd blocked;
  SlapBasisOptions options;
  options.block = 7;
  snapshot_modes(runs, options, blocked);
  const double largest = expected[0];
  for (int i = 0; i < 20; ++i) {
    EXPECT_NEAR(basis.singular_values[i], expected[i], 1e-13 * largest) << i;
    EXPECT_NEAR(blocked[i], expected[i], 1e-13 * largest) << i;
  }
  RecordProperty(
      "compressed",
      fmt::format("{:.1e}",
                  (basis.singular_values.head(20) - expected.head(20)).cwiseAbs().maxCoeff() / largest));
  // the flexible motion is far above that, so that it is seen at all
  EXPECT_GT(expected[5], 1e-11 * largest);
  // data inside the space and on the joints, to the tolerance of the simulation
  EXPECT_LT(basis.outside_space, 1e-14);
  EXPECT_LT(basis.outside_kernel, 1e-14);
}

TEST(SlapBasis, ModesAreOrthonormalHoldTheJointsAndGiveBackTheData) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  const SlapSpace space = four_bar.space();
  const SlapBasis basis = four_bar.basis(space);
  ASSERT_EQ(basis.rank(), 20);
  EXPECT_LT((basis.W.transpose() * basis.W - MatrixXd::Identity(20, 20)).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_LT((space.C * basis.W).cwiseAbs().maxCoeff(), 2e-15);
  EXPECT_LT(basis.joint_violation.maxCoeff(), 1e-29);
  const NodalSlap slap = nodes_of(four_bar, space, basis, 20);
  TrainingRuns runs = four_bar.runs();
  const MatrixXd data = nodal_data(runs);
  double left = 0;
  for (const int sample : {0, 1, 40, 100}) {
    Eigen::Index at = 0;
    for (int p = 0; p < 3; ++p) {
      const Eigen::Matrix3Xd x = slap.positions(p, basis.eta.col(sample));
      left = std::max(
          left, (Eigen::Map<const VectorXd>(x.data(), x.size()) - data.col(sample).segment(at, x.size()))
                    .cwiseAbs()
                    .maxCoeff());
      at += x.size();
    }
  }
  // what twenty modes leave out of a metre's tenth
  EXPECT_LT(left, std::max(1e-14, 10 * basis.singular_values[20]));
}

TEST(SlapBasis, SeveralRunsAreOneAfterTheOther) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  const SlapSpace space = four_bar.space();
  TrainingRuns twice = four_bar.runs();
  twice.push_back(
      make_system_snapshots("later", *four_bar.system, four_bar.times.tail(30), four_bar.q.rightCols(30)));
  Diagnostics diagnostics;
  const SlapBasis basis = slap_basis(space, twice, {}, diagnostics);
  EXPECT_EQ(basis.run_starts, (std::vector<int>{0, 101}));
  ASSERT_EQ(basis.eta.cols(), 131);
  EXPECT_LT((basis.eta.col(101) - basis.eta.col(71)).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(SlapBasis, AReferenceThatViolatesTheJointsIsRefused) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  SlapSpace space = four_bar.space();
  space.c[4] += 1e-5;
  TrainingRuns runs = four_bar.runs();
  Diagnostics diagnostics;
  const std::string message = message_of([&] { slap_basis(space, runs, {}, diagnostics); });
  EXPECT_NE(message.find("reference (sample 1 of run) violates the joint 'hinge 2' by 1e-05 m"),
            std::string::npos)
      << message;
  // a gap of the size's millionth is no such thing
  space.c[4] += 1e-8 - 1e-5;
  EXPECT_EQ(message_of([&] { slap_basis(space, runs, {}, diagnostics); }), "");
}

TEST(SlapBasis, DataThatDoNotMoveAndSingleSamplesAreRefused) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  const SlapSpace space = four_bar.space();
  Diagnostics diagnostics;
  TrainingRuns still;
  still.push_back(make_system_snapshots("still", *four_bar.system, Eigen::Vector3d(0, 1, 2),
                                        four_bar.q.col(5).replicate(1, 3)));
  EXPECT_NE(message_of([&] { slap_basis(space, still, {}, diagnostics); }).find("do not move: all 3 samples"),
            std::string::npos);
  TrainingRuns one;
  one.push_back(make_system_snapshots("one", *four_bar.system, VectorXd::Zero(1), four_bar.q.leftCols(1)));
  EXPECT_NE(message_of([&] { slap_basis(space, one, {}, diagnostics); }).find("at least two samples"),
            std::string::npos);
}

// ---- model

TEST(SlapTraining, FewerRowsOfTheStiffnessKeepForcesNearTheTraining) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  const SlapSpace space = four_bar.space();
  const SlapBasis basis = four_bar.basis(space);
  SlapModelOptions all_rows;
  all_rows.stiffness_tolerance = 0;
  Random random(4);
  for (const int m : {3, 6, 12}) {
    const SlapModel few = make_slap_model(space, basis, m), all = make_slap_model(space, basis, m, all_rows);
    for (size_t p = 0; p < few.parts.size(); ++p) EXPECT_LT(few.parts[p].C.rows(), all.parts[p].C.rows());
    for (const int sample : {0, 30, 60}) {
      // ten times as far from the way of the training as coordinates go in it, rigid ones aside
      VectorXd eta = basis.eta.col(sample).head(m);
      for (int r = 2; r < m; ++r) eta[r] += 10 * few.training.spread[r] * random.vector(1)[0];
      VectorXd g(m), g_all(m);
      MatrixXd K, K_all;
      const double V = slap_elastic(few, eta, g, &K), V_all = slap_elastic(all, eta, g_all, &K_all);
      // directions left out are 1e-6 of the others, and count by their squares
      EXPECT_NEAR(V, V_all, 1e-10 * V_all) << m << " modes, sample " << sample;
      EXPECT_LT((g - g_all).norm(), 1e-8 * g_all.norm()) << m << " modes, sample " << sample;
      EXPECT_LT((K - K_all).norm(), 1e-8 * K_all.norm()) << m << " modes, sample " << sample;
    }
  }
}

TEST(SlapTraining, AModelIsSlapOfTheNodes) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  const SlapSpace space = four_bar.space();
  const SlapBasis basis = four_bar.basis(space);
  Random random(3);
  double worst_V = 0, worst_g = 0, worst_K = 0;
  // all rows of C: the formulas themselves, far from the training as well
  SlapModelOptions all_rows;
  all_rows.stiffness_tolerance = 0;
  for (const int m : {3, 6, 12}) {
    const SlapModel model = make_slap_model(space, basis, m, all_rows);
    ASSERT_EQ(inconsistency_of(model), "");
    const NodalSlap slap = nodes_of(four_bar, space, basis, m);
    const test::LongNodalEnergy exact = exact_energy(four_bar, space, basis, m);
    // nodes moved by up to a tenth of a millimetre from the training's states: strains of a thousandth
    for (const int sample : {0, 60}) {
      const VectorXd eta =
          basis.eta.col(sample).head(m) + (1e-4 * random.vector(m).array() / model.scale.array()).matrix();
      VectorXd g(m);
      MatrixXd K;
      const double V = slap_elastic(model, eta, g, &K);
      const double expected = static_cast<double>(exact(eta.cast<long double>()));
      worst_V = std::max(worst_V, std::abs(V / expected - 1));
      // the meshes' own points are the same to 1e-17 m, and deformations are 1e-4 m
      EXPECT_NEAR(V, slap.energy(eta), 1e-10 * V);
      const VectorXd steps = 2e-5 * model.scale.cwiseInverse();
      const VectorXd found = exact.force(eta, steps);
      worst_g = std::max(worst_g, (g - found).norm() / found.norm());
      MatrixXd slopes(m, m);
      for (int r = 0; r < m; ++r)
        slopes.col(r) = test::slope(
            [&](double t) {
              VectorXd moved = eta;
              moved[r] += t;
              return MatrixXd(exact.force(moved, steps));
            },
            steps[r]);
      worst_K = std::max(worst_K, (K - slopes).norm() / slopes.norm());
    }

    // inertia by sums over the nodes
    MatrixXd M = MatrixXd::Zero(m, m), centre = MatrixXd::Zero(3, m + 1),
             angular = MatrixXd::Zero(3, (m + 1) * (m + 1));
    VectorXd scale = VectorXd::Zero(m);
    for (const test::NodalPart& part : slap.parts)
      for (int q = 0; q <= m; ++q) {
        centre.col(q) += part.columns[q] * part.mass;
        for (int r = 0; r <= m; ++r) {
          if (q > 0 && r > 0)
            M(q - 1, r - 1) += (part.columns[q].cwiseProduct(part.columns[r]) * part.mass).sum();
          for (int i = 0; i < part.nodes(); ++i)
            angular.col(q * (m + 1) + r) +=
                part.mass[i] * Vector3d(part.columns[q].col(i)).cross(Vector3d(part.columns[r].col(i)));
        }
        if (q > 0) scale[q - 1] = std::max(scale[q - 1], part.columns[q].colwise().norm().maxCoeff());
      }
    // sums over a hundred nodes
    EXPECT_LT((model.M - M).cwiseAbs().maxCoeff(), 1e-14 * M.cwiseAbs().maxCoeff());
    EXPECT_LT((model.centre - centre).cwiseAbs().maxCoeff(), 1e-13 * centre.cwiseAbs().maxCoeff());
    EXPECT_LT((model.angular - angular).cwiseAbs().maxCoeff(), 1e-13 * angular.cwiseAbs().maxCoeff());
    EXPECT_LT((model.scale - scale).cwiseAbs().maxCoeff(), 1e-13);
  }
  EXPECT_LT(worst_V, 1e-10);
  EXPECT_LT(worst_g, 1e-9);
  EXPECT_LT(worst_K, 1e-8);
  RecordProperty("energy", fmt::format("{:.1e}", worst_V));
  RecordProperty("force", fmt::format("{:.1e}", worst_g));
  RecordProperty("tangent", fmt::format("{:.1e}", worst_K));
}

TEST(SlapTraining, ForcesKeepTenDigitsAtTrainingAmplitudes) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  const SlapSpace space = four_bar.space();
  const SlapBasis basis = four_bar.basis(space);
  constexpr int m = 6;
  const SlapModel model = make_slap_model(space, basis, m);
  const NodalSlap slap = nodes_of(four_bar, space, basis, m);
  const test::LongNodalEnergy exact = exact_energy(four_bar, space, basis, m);
  double worst = 0, of_nodes = 0, deformation = 0;
  for (const int sample : {20, 60, 100}) {
    const VectorXd eta = basis.eta.col(sample).head(m);
    for (int p = 0; p < 3; ++p)
      deformation = std::max(deformation, slap.deformation(p, eta).cwiseAbs().maxCoeff());
    VectorXd g(m);
    slap_elastic(model, eta, g, nullptr);
    const VectorXd found = test::force_with_33_digits(model, eta);
    worst = std::max(worst, (g - found).norm() / found.norm());
    // steps of the deformation's own size: the energy is a square there
    const VectorXd nodal = exact.force(eta, 1e-7 * model.scale.cwiseInverse());
    of_nodes = std::max(of_nodes, (g - nodal).norm() / nodal.norm());
  }
  // bars of 0.1 m that bend by a hundredth of a micrometre
  EXPECT_LT(deformation, 1e-7);
  EXPECT_LT(worst, 1e-10);
  // numbers of a tenth of a metre are known to 1e-17 m, a strain of 1e-16 against 1e-7, and stretching is a
  // hundred times as stiff as bending: no force in double precision is closer to that of the nodes
  EXPECT_LT(of_nodes, 1e-7);
  RecordProperty("force", fmt::format("{:.1e}", worst));
  RecordProperty("force_of_nodes", fmt::format("{:.1e}", of_nodes));
  RecordProperty("deformation", fmt::format("{:.1e}", deformation));
}

TEST(SlapTraining, PlacesAndNodesOfABodyMoveAsTheNodesOfTheBasis) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  const SlapSpace space = four_bar.space();
  const SlapBasis basis = four_bar.basis(space);
  constexpr int m = 8;
  SlapModel model = make_slap_model(space, basis, m);
  const NodalSlap slap = nodes_of(four_bar, space, basis, m);
  const auto body = make_slap_body("mechanism", model);
  const auto workspace = body->workspace();
  const VectorXd eta = basis.eta.col(70).head(m), rate = basis.eta.col(30).head(m);
  Eigen::Matrix3Xd all(3, 0);
  double mass = 0;
  Vector3d momentum = Vector3d::Zero(), angular = momentum;
  double kinetic = 0, weight = 0;
  const Vector3d g(1, 2, -9.81);
  for (int p = 0; p < 3; ++p) {
    const Eigen::Matrix3Xd x = slap.positions(p, eta);
    Eigen::Matrix3Xd v = -slap.parts[p].columns[0] + slap.positions(p, rate);
    all.conservativeResize(3, all.cols() + x.cols());
    all.rightCols(x.cols()) = x;
    for (int i = 0; i < x.cols(); ++i) {
      const double one = slap.parts[p].mass[i];
      mass += one;
      momentum += one * v.col(i);
      angular += one * Vector3d(x.col(i)).cross(Vector3d(v.col(i)));
      kinetic += 0.5 * one * v.col(i).squaredNorm();
      weight -= one * g.dot(x.col(i));
    }
  }
  EXPECT_LT((body->node_positions(eta) - all).cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_NEAR(body->mass(), mass, 1e-13 * mass);
  const Body::Energy energy = body->energy(eta, rate, g, *workspace);
  EXPECT_NEAR(energy.kinetic, kinetic, 1e-13 * kinetic);
  EXPECT_NEAR(energy.gravity, weight, 1e-13 * std::abs(weight));
  EXPECT_LT((energy.momentum - momentum).norm(), 1e-13 * momentum.norm());
  EXPECT_LT((energy.angular_momentum - angular).norm(), 1e-13 * angular.norm());

  // the force of gravity, by its residual at rest without deformation's share
  VectorXd with = VectorXd::Zero(m), without = with;
  const VectorXd zero = VectorXd::Zero(m);
  body->add_residual(eta, zero, zero, 1, g, *workspace, with);
  body->add_residual(eta, zero, zero, 1, Vector3d::Zero(), *workspace, without);
  for (int r = 0; r < m; ++r) {
    double expected = 0;
    for (const test::NodalPart& part : slap.parts) expected -= g.dot(part.columns[1 + r] * part.mass);
    EXPECT_NEAR(with[r] - without[r], expected, 1e-12 * model.M.norm() * g.norm());
  }

  // the load's node, and the coupler's end: mean, polar factor, arm
  const auto marker = [&](const char* part, const char* name) {
    MarkerSpec spec;
    spec.part = part;
    spec.name = name;
    MarkerKinematics out;
    body->marker(body->add_marker(spec), eta, rate, false, *workspace, out);
    return out;
  };
  const int load = test::index_of(space.parts[0], four_bar.bars[0].hinges[3]);
  EXPECT_LT((marker("left", "load").position() - slap.positions(0, eta).col(load)).norm(), 1e-15);
  std::vector<int> end;
  for (int i = 0; i < slap.parts[1].nodes(); ++i)
    if (slap.parts[1].points(1, i) > test::four_bar_length - 1e-9) end.push_back(i);
  const Eigen::Matrix3Xd x = slap.positions(1, eta)(Eigen::all, end),
                         X = slap.parts[1].points(Eigen::all, end);
  const Vector3d mean = x.rowwise().mean(), rest = X.rowwise().mean();
  const Eigen::JacobiSVD<Matrix3d> svd(Matrix3d((x.colwise() - mean) * (X.colwise() - rest).transpose()),
                                       Eigen::ComputeFullU | Eigen::ComputeFullV);
  Matrix3d A = svd.matrixU() * svd.matrixV().transpose();
  if (A.determinant() < 0) {
    // nodes of a plane: the third direction is free
    Matrix3d U = svd.matrixU();
    U.col(2) *= -1;
    A = U * svd.matrixV().transpose();
  }
  const Vector3d expected = mean + A * (Vector3d(0.02, test::four_bar_length, 0.01) - rest);
  EXPECT_LT((marker("coupler", "end").position() - expected).norm(), 1e-15);
}

TEST(SlapTraining, OrdersThatAreNotThereAndModesWithoutMassAreRefused) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  SlapSpace space = four_bar.space();
  const SlapBasis basis = four_bar.basis(space, 9);
  EXPECT_EQ(basis.rank(), 9);
  EXPECT_EQ(message_of([&] { make_slap_model(space, basis, 9); }), "");
  for (const int m : {0, 10}) {
    const std::string message = message_of([&] { make_slap_model(space, basis, m); });
    EXPECT_NE(message.find(fmt::format("order {} is not possible: the training data have 9 modes", m)),
              std::string::npos)
        << message;
  }
  // one part of three has mass, and that for translations alone: nine modes need more
  for (SlapSpacePart& part : space.parts)
    part.m.bottomRows(part.fields() - (&part == &space.parts.front() ? 1 : 0)).setZero();
  const std::string message = message_of([&] { make_slap_model(space, basis, 9); });
  EXPECT_NE(message.find("reduced mass matrix of order 9 is singular"), std::string::npos) << message;
}

TEST(SlapTraining, AMotionOfFewModesHasTheirRank) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  const SlapSpace space = four_bar.space();
  TrainingRuns few;
  few.push_back(
      make_system_snapshots("few", *four_bar.system, four_bar.times.head(4), four_bar.q.leftCols(4)));
  Diagnostics diagnostics;
  // four samples, one of them the reference
  EXPECT_LE(slap_basis(space, few, {}, diagnostics).rank(), 4);
  EXPECT_GE(slap_basis(space, few, {}, diagnostics).rank(), 3);
}

// ---- the motion

TEST(SlapTraining, TheModelMovesAsTheMechanismThatTrainedIt) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  const SlapSpace space = four_bar.space();
  const SlapBasis basis = four_bar.basis(space);
  const auto system = four_bar.reduced(make_slap_model(space, basis, 8));
  const test::SystemMotion motion = test::move(*system, TrainedFourBar::exact(0.15, 5e-4, 100));
  const double error = test::largest_difference(motion, four_bar.motion);
  // bars bend by micrometres: the deformation is there to four digits
  EXPECT_LT(error, 1e-9);
  RecordProperty("error", fmt::format("{:.1e}", error));
}

TEST(SlapTraining, DampingOfTheBodiesIsThatOfTheModel) {
  // soft bars and a quick push: a vibration that dies out within some of its periods
  test::FourBarOptions options;
  options.E = 2e8;
  options.ramp = 0.004;
  options.force = 5;
  options.damping = 0.1;
  const TrainedFourBar four_bar(options, 0.06, 2e-4, 300);
  const SlapSpace space = four_bar.space();
  ASSERT_GT(space.parts[0].D.size(), 0);
  const SlapBasis basis = four_bar.basis(space, 80);
  const auto run = [&](const SlapSpace& of) {
    const auto system = four_bar.reduced(make_slap_model(of, basis, 50));
    return test::move(*system, TrainedFourBar::exact(0.06, 2e-4, 300));
  };
  const test::SystemMotion damped = run(space);
  SlapSpace free = space;
  for (SlapSpacePart& part : free.parts) part.D.resize(0, 0);
  const test::SystemMotion undamped = run(free);
  const double effect = test::largest_difference(undamped, four_bar.motion);
  const double error = test::largest_difference(damped, four_bar.motion);
  RecordProperty("effect", fmt::format("{:.1e}", effect));
  RecordProperty("error", fmt::format("{:.1e}", error));
  // without damping the vibration stays; with it, it is gone as in the mechanism. Fifty modes hold the motion
  // to a thousandth of that
  EXPECT_GT(effect, 1e-7);
  EXPECT_LT(error, 0.01 * effect);
}

TEST(SlapTraining, TrainingStatesAreTrusted) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  const SlapSpace space = four_bar.space();
  const SlapBasis basis = four_bar.basis(space);
  const SlapModel model = make_slap_model(space, basis, 6);
  ASSERT_GT(model.training.reach, 0);
  for (Eigen::Index i = 0; i < basis.eta.cols(); ++i)
    EXPECT_EQ(distance_from_training(model.training, basis.eta.col(i).head(6)), 0) << i;
  // other directions and larger motions are not
  EXPECT_GT(distance_from_training(model.training, -basis.eta.col(100).head(6)), 1);
  EXPECT_GT(distance_from_training(model.training, 5 * basis.eta.col(100).head(6)), 3);
  // a long run is thinned out: all its states are near all the same
  TrainingRuns many = four_bar.runs();
  for (int i = 0; i < 8; ++i) many.push_back(std::move(four_bar.runs().front()));
  Diagnostics diagnostics;
  const SlapBasis longer = slap_basis(space, many, {}, diagnostics);
  const SlapModel thinned = make_slap_model(space, longer, 6);
  EXPECT_LE(thinned.training.samples.cols(), 400);
  for (Eigen::Index i = 0; i < 101; ++i)
    EXPECT_LE(distance_from_training(thinned.training, longer.eta.col(i).head(6)), 1) << i;
}

TEST(SlapTraining, TheStartHasTheVelocityOfTheRun) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  Training training;
  training.space = four_bar.space();
  training.basis = four_bar.basis(training.space);
  VectorXd rate(6);
  rate << 1, -2, 0.5, 3, 0.2, -1;
  training.start_velocities = {training.basis.W.leftCols(6) * rate,
                               VectorXd::Zero(training.space.dimension())};
  // a velocity within the modes comes back, and one of higher modes has its momentum
  EXPECT_LT((training.model(6).start_rate - rate).norm(), 1e-12 * rate.norm());
  EXPECT_EQ(training.start_rate(training.model(6), 1).norm(), 0);
  training.start_velocities[0] = training.basis.W * VectorXd::Ones(20);
  const SlapModel small = training.model(6), large = training.model(20);
  EXPECT_LT((small.M * small.start_rate - (large.M * VectorXd::Ones(20)).head(6)).norm(), 1e-12);
}

// ---- order

TEST(SlapOrders, FrequenciesAreRitzValuesOfTheMechanism) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  const SlapSpace space = four_bar.space();
  const SlapBasis basis = four_bar.basis(space);
  const OrderChoice choice = analyse_orders(space, basis, 20, {});
  ASSERT_EQ(choice.orders.size(), 20);
  EXPECT_EQ(choice.rigid_motions, 1);
  EXPECT_EQ(choice.first_spurious, 0);
  const VectorXd& system = choice.system_frequencies_hz;
  for (const SlapOrder& order : choice.orders) {
    ASSERT_EQ(order.frequencies_hz.size(), order.m);
    EXPECT_EQ(order.spurious, 0) << order.m;
    // the k-th of the model is above the k-th of the mechanism; both are known to 1e-6
    for (int k = 1; k < order.m; ++k)
      EXPECT_GT(order.frequencies_hz[k], (1 - 1e-6) * system[k]) << order.m << " " << k;
    EXPECT_LT(std::abs(order.frequencies_hz[0]), order.m == 1 ? 1e5 : 1) << order.m;
  }
  // the sum of squares beyond m
  for (const int m : {1, 5, 9}) {
    double values = 0;
    for (const SlapSpacePart& part : space.parts) values += 3.0 * double(part.points.cols()) * 101;
    EXPECT_NEAR(
        choice.orders[m - 1].left_out,
        std::sqrt(basis.singular_values.tail(basis.singular_values.size() - m).squaredNorm() / values),
        1e-6 * choice.orders[m - 1].left_out);
  }
}

TEST(SlapOrders, NoisyJointsBringSpuriousModesAndProjectionTakesThemOut) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  const auto train = [&](bool project, double noise, SlapBasis& basis) {
    const SlapSpace space = four_bar.space(project);
    TrainingRuns runs = four_bar.runs();
    if (noise > 0) runs.front() = with_rigid_noise(std::move(runs.front()), noise);
    Diagnostics diagnostics;
    SlapBasisOptions options;
    options.max_modes = 16;
    basis = slap_basis(space, runs, options, diagnostics);
    return analyse_orders(space, basis, 16, {});
  };
  SlapBasis basis;
  // exact data need no projection
  EXPECT_EQ(train(false, 0, basis).first_spurious, 0);
  const OrderChoice noisy = train(false, 1e-11, basis);
  EXPECT_GT(noisy.first_spurious, 3);
  EXPECT_LT(noisy.first_spurious, 14);
  // the mode that brings it violates the joints
  EXPECT_GT(basis.joint_violation[noisy.first_spurious - 1], 1e-4);
  EXPECT_LT(basis.joint_violation.head(2).maxCoeff(), 1e-15);
  RecordProperty("first_spurious", noisy.first_spurious);
  const OrderChoice projected = train(true, 1e-11, basis);
  EXPECT_EQ(projected.first_spurious, 0);
  EXPECT_LT(basis.joint_violation.maxCoeff(), 1e-29);
  // it is the noise that was taken out
  EXPECT_GT(basis.outside_kernel, 1e-12);
  EXPECT_LT(basis.outside_kernel, 1e-9);
}

OrderChoice table_of(const std::vector<double>& errors, const std::vector<int>& spurious = {}) {
  OrderChoice choice;
  for (size_t i = 0; i < errors.size(); ++i) {
    SlapOrder order;
    order.m = static_cast<int>(i) + 1;
    if (errors[i] >= 0) order.rms_error = errors[i];
    order.left_out = 1e-3 * std::pow(10, -double(i));
    if (i < spurious.size()) order.spurious = spurious[i];
    if (order.spurious > 0 && choice.first_spurious == 0) choice.first_spurious = order.m;
    choice.orders.push_back(order);
  }
  return choice;
}

TEST(SlapOrders, TheSmallestThatReachesTheToleranceIsProposed) {
  OrderChoice choice = table_of({1, 1e-3, 1e-6, 1e-8, 1e-10, 1e-13});
  propose_order(choice, 2e-8);
  EXPECT_EQ(choice.proposed, 4);
  EXPECT_NE(choice.why.find("2e-08 m is the tolerance"), std::string::npos) << choice.why;
  // one that could not be run does not count
  choice = table_of({1, 1e-3, 1e-6, -1, 1e-10, 1e-13});
  propose_order(choice, 2e-8);
  EXPECT_EQ(choice.proposed, 5);
}

TEST(SlapOrders, WhereNoneCouldBeRunNoneIsGood) {
  OrderChoice choice = table_of({-1, -1, -1});
  choice.reconstructed = true;
  propose_order(choice, 1);
  EXPECT_EQ(choice.proposed, 1);
  EXPECT_NE(choice.why.find("not to be trusted"), std::string::npos) << choice.why;
}

TEST(SlapAccuracy, IsPoorAboveAHundredthOfTheMotionAndWhereARunFailed) {
  SlapAccuracy accuracy;
  EXPECT_EQ(poor(accuracy), "");
  accuracy.motion = 0.5;
  EXPECT_EQ(poor(accuracy), "");  // nothing was run
  accuracy.largest_error = 0.004;
  EXPECT_EQ(poor(accuracy), "");
  accuracy.largest_error = 0.006;
  EXPECT_NE(poor(accuracy).find("0.006 m away (1.2 %)"), std::string::npos) << poor(accuracy);
  accuracy.largest_error = std::numeric_limits<double>::quiet_NaN();
  accuracy.failed = true;
  EXPECT_NE(poor(accuracy).find("could not run"), std::string::npos);
}

TEST(SlapOrders, OnAPlateauTheFirstOfItIsProposed) {
  OrderChoice choice = table_of({1, 1e-3, 1.5e-6, 1e-6, 1.1e-6, 0.9e-6});
  propose_order(choice, 1e-9);
  EXPECT_EQ(choice.proposed, 3);
  EXPECT_NE(choice.why.find("not reached"), std::string::npos) << choice.why;
}

TEST(SlapOrders, SpuriousOnesAreNotProposed) {
  OrderChoice choice = table_of({1, 1e-3, 1e-5, 1e-8, 1e-10}, {0, 0, 0, 1, 1});
  propose_order(choice, 1e-7);
  EXPECT_EQ(choice.proposed, 3);
  EXPECT_NE(choice.why.find("from mode 4 on"), std::string::npos) << choice.why;
  choice = table_of({1, 1e-3, 1e-5}, {1, 1, 1});
  propose_order(choice, 1e-7);
  EXPECT_EQ(choice.proposed, 1);
  EXPECT_NE(choice.why.find("not to be trusted"), std::string::npos) << choice.why;
}

TEST(SlapOrders, WithoutRunsTheSingularValuesDecide) {
  OrderChoice choice = table_of({-1, -1, -1, -1, -1, -1});
  propose_order(choice, 2e-6);
  EXPECT_EQ(choice.proposed, 4);
  EXPECT_NE(choice.why.find("modes beyond hold only 1e-06 m"), std::string::npos) << choice.why;
}

}  // namespace
}  // namespace lissom::slap_training_test

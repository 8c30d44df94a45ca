#include "lissom/rom/slap/snapshots.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "lissom/core/error.hpp"
#include "lissom/mbs/floating_frame.hpp"
#include "tests/mbs/gcms_support.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::snapshots_test {
namespace {

using Eigen::Index;
using Eigen::Matrix3Xd;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

// A bar of 5 by 2 by 2 cells, 0.5 m long: 54 nodes with ids from 101.
SnapshotExpectation::Part bar(const std::string& name) {
  SnapshotExpectation::Part part;
  part.name = name;
  part.points.resize(3, 54);
  for (int i = 0; i < 54; ++i) {
    part.points.col(i) << 0.1 * (i % 6), 0.03 * (i / 6 % 3), 0.02 * (i / 18);
    part.node_ids.push_back(101 + i);
  }
  return part;
}

// The bar swings about its end and bends a little.
MatrixXd motion(const Matrix3Xd& points, const VectorXd& times) {
  MatrixXd X(points.size(), times.size());
  for (Index j = 0; j < times.size(); ++j) {
    const double angle = 1.3 * std::sin(2 * times[j]);
    const Eigen::Matrix3d R = Eigen::AngleAxisd(angle, Vector3d(0.1, 0.2, 1).normalized()).toRotationMatrix();
    Matrix3Xd x = points;
    x.row(1) += 0.01 * std::cos(5 * times[j]) * points.row(0).cwiseAbs2();
    X.col(j) = ((R * x).colwise() + Vector3d(0.1, 0.2 + 0.1 * times[j], 0.3)).reshaped();
  }
  return X;
}

VectorXd regular_times(int k) {
  return VectorXd::LinSpaced(k, 0, 1);
}

struct TwoBars {
  SnapshotExpectation expected;
  std::vector<SnapshotSource::Part> parts;
  VectorXd times;
  std::vector<MatrixXd> positions;

  explicit TwoBars(int k = 120) : times(regular_times(k)) {
    for (const char* name : {"left", "right"}) {
      expected.parts.push_back(bar(name));
      parts.push_back({name, {}, 54});
      positions.push_back(motion(expected.parts.back().points, times));
    }
  }
  std::unique_ptr<SnapshotSource> source() const { return make_snapshots("run", parts, times, positions); }
  SnapshotReport check(Diagnostics& diagnostics) const {
    const auto run = source();
    return check_snapshots(*run, expected, diagnostics);
  }
  std::string refusal() const {
    Diagnostics diagnostics;
    return message_of<InputError>([&] { check(diagnostics); });
  }
  void round(double unit) {
    for (MatrixXd& X : positions) X = (X / unit).array().round() * unit;
  }
};

void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
}

TEST(Snapshots, GoodDataPassWithoutAWord) {
  const TwoBars run;
  Diagnostics diagnostics;
  const SnapshotReport report = run.check(diagnostics);
  EXPECT_TRUE(diagnostics.empty()) << to_string(diagnostics.warnings().front());
  EXPECT_EQ(report.run, "run");
  EXPECT_EQ(report.samples, 120);
  EXPECT_EQ(report.start, 0);
  EXPECT_EQ(report.end, 1);
  EXPECT_NEAR(report.largest_step, 1.0 / 119, 1e-15);
  EXPECT_EQ(report.decimals, 17);
  EXPECT_EQ(report.resolution, 0);
  EXPECT_FALSE(report.single_precision);
  EXPECT_EQ(report.largest_gap, 0);
  // the bend shears the ends by up to 0.01 * 2 * 0.5
  EXPECT_GT(report.largest_stretch, 1e-4);
  EXPECT_LT(report.largest_stretch, 0.02);
  double motion = 0;
  const MatrixXd& X = run.positions[0];
  for (Index j = 0; j < X.cols(); ++j)
    motion = std::max(motion, (X.col(j) - X.col(0)).reshaped(3, 54).colwise().norm().maxCoeff());
  EXPECT_NEAR(report.motion, motion, 1e-15);
}

TEST(Snapshots, RoundedDecimalsAreCounted) {
  for (const int d : {3, 6, 9, 11}) {
    TwoBars run;
    for (MatrixXd& X : run.positions)
      X = X.unaryExpr([&](double x) { return std::stod(fmt::format("{:.{}f}", x, d)); });
    Diagnostics diagnostics;
    const SnapshotReport report = run.check(diagnostics);
    EXPECT_EQ(report.decimals, d);
    EXPECT_NEAR(report.resolution, std::pow(10, -d), 1e-9 * std::pow(10, -d));
    // 1e-11 m is 2e-11 of the size: just fine enough
    EXPECT_EQ(diagnostics.find("snapshots.rounded.run") != nullptr, d < 11) << d;
    if (d < 11)
      expect_words(diagnostics.find("snapshots.rounded.run")->message,
                   {fmt::format("rounded to {} decimals", d), "twelve decimals"});
  }
  TwoBars run;
  run.round(1e-12);
  Diagnostics diagnostics;
  EXPECT_EQ(run.check(diagnostics).decimals, 12);
  EXPECT_TRUE(diagnostics.empty());
}

TEST(Snapshots, RoundedDisplacementsAndMillimetresAreFoundToo) {
  // displacements with seven decimals, added to a mesh of full precision
  TwoBars run;
  for (MatrixXd& X : run.positions) {
    const VectorXd start = X.col(0);
    X.colwise() -= start;
    X = (X / 1e-7).array().round() * 1e-7;
    X.colwise() += start;
  }
  Diagnostics diagnostics;
  EXPECT_EQ(run.check(diagnostics).decimals, 7);
  // six decimals of millimetres, brought to metres
  TwoBars other;
  for (MatrixXd& X : other.positions) X = (X * 1e9).array().round() / 1e6 * 1e-3;
  EXPECT_EQ(other.check(diagnostics).decimals, 9);
}

TEST(Snapshots, SinglePrecisionIsSaid) {
  TwoBars run;
  run.positions[1] = run.positions[1].cast<float>().cast<double>();
  Diagnostics diagnostics;
  const SnapshotReport report = run.check(diagnostics);
  EXPECT_TRUE(report.single_precision);
  EXPECT_EQ(report.decimals, 7);
  ASSERT_NE(diagnostics.find("snapshots.rounded.run"), nullptr);
  expect_words(diagnostics.find("snapshots.rounded.run")->message, {"single precision"});
}

// Moves node i of the data to place[i].
void permute(MatrixXd& X, const std::vector<int>& place) {
  const MatrixXd old = X;
  for (size_t i = 0; i < place.size(); ++i)
    X.middleRows(3 * static_cast<Index>(i), 3) = old.middleRows(3 * place[i], 3);
}

TEST(Snapshots, NodesInAnotherOrderAreFound) {
  std::vector<int> same(54);
  std::iota(same.begin(), same.end(), 0);
  std::mt19937 generator(3);
  {
    TwoBars run;
    std::vector<int> place = same;
    std::shuffle(place.begin(), place.end(), generator);
    permute(run.positions[0], place);
    expect_words(run.refusal(),
                 {"run: body 'left': at 0 s node ", "in the mesh", "in another order? give node ids"});
  }
  // any two neighbours that change places, 2 to 10 cm from each other in a part of 50 cm
  for (const auto& [a, b] :
       std::vector<std::pair<int, int>>{{0, 1}, {7, 13}, {20, 38}, {30, 31}, {52, 53}, {10, 28}}) {
    TwoBars run(3);
    std::vector<int> place = same;
    std::swap(place[a], place[b]);
    permute(run.positions[1], place);
    expect_words(run.refusal(), {"body 'right'", "in another order?"});
  }
  // one node in the last sample
  TwoBars run;
  run.positions[0].col(119)[30] += 0.1;
  expect_words(run.refusal(), {"body 'left': at 1 s node 111 "});
}

TEST(Snapshots, AMirrorImageIsFound) {
  TwoBars run;
  for (Index i = 0; i < 54; ++i) run.positions[0].row(3 * i) *= -1;
  expect_words(run.refusal(), {"body 'left'", "mirror image"});
}

TEST(Snapshots, OtherUnitsAndDisplacementsAreTold) {
  TwoBars run;
  run.positions[0] *= 1000;
  expect_words(run.refusal(), {"body 'left'", "1000 times", "other units?"});
  TwoBars other;
  const VectorXd rest = other.positions[1].col(0);
  other.positions[1].colwise() -= rest;
  expect_words(other.refusal(), {"body 'right'", "displacements?"});
}

TEST(Snapshots, NumbersThatAreNotFiniteAreNamed) {
  TwoBars run;
  run.positions[1](3 * 16 + 1, 44) = std::numeric_limits<double>::quiet_NaN();
  expect_words(run.refusal(), {"body 'right': node 117 in sample 45 (at 0.369748 s)", "not finite"});
  run.positions[1](3, 60) = std::numeric_limits<double>::infinity();
  expect_words(run.refusal(), {"and so have 1 more"});
}

TEST(Snapshots, TimesMustRise) {
  TwoBars run;
  run.times[5] = run.times[4];
  expect_words(run.refusal(), {"the times do not rise: sample 5", "take repeated samples out"});
  run.times[5] = 0;
  expect_words(run.refusal(), {"the times do not rise"});
  run.times[5] = std::numeric_limits<double>::quiet_NaN();
  expect_words(run.refusal(), {"the time of sample 6 is not finite"});
  expect_words(TwoBars(1).refusal(), {"there is one sample in the data, expected two"});
  expect_words(TwoBars(0).refusal(), {"there is no sample in the data"});
}

TEST(Snapshots, AGapInTimeIsAWarning) {
  TwoBars run(20);
  run.times.tail(10).array() += 0.6;
  Diagnostics diagnostics;
  const SnapshotReport report = run.check(diagnostics);
  EXPECT_NEAR(report.largest_step, 0.6 + 1.0 / 19, 1e-14);
  ASSERT_NE(diagnostics.find("snapshots.time-gap.run"), nullptr);
  expect_words(diagnostics.find("snapshots.time-gap.run")->message, {"between 0.473684 s and 1.12632 s"});
}

TEST(Snapshots, AllProblemsAreReportedAtOnce) {
  TwoBars run;
  run.parts[0].name = "lfet";
  run.parts[1].nodes = 53;
  run.positions[1] = MatrixXd(run.positions[1].topRows(159));
  run.times[5] = run.times[4];
  expect_words(run.refusal(), {"4 problems", "no data of body 'left'", "did you mean 'lfet'?",
                               "'lfet', which is no body here",
                               "body 'right': the data have 53 nodes, the mesh has 54", "do not rise"});
}

TEST(Snapshots, NodesThatNeverMoveAreAWarning) {
  TwoBars run;
  run.positions[1] = run.positions[1].col(0).replicate(1, run.times.size()).eval();
  Diagnostics diagnostics;
  run.check(diagnostics);
  ASSERT_NE(diagnostics.find("snapshots.still.right.run"), nullptr);
  EXPECT_EQ(diagnostics.find("snapshots.still.left.run"), nullptr);
  expect_words(diagnostics.find("snapshots.still.right.run")->message, {"body 'right' never moves"});

  // coordinates that are zero and stay zero say nothing about decimals
  run.positions[1] = run.expected.parts[1].points.reshaped().replicate(1, run.times.size());
  EXPECT_EQ(run.check(diagnostics).decimals, 17);
  EXPECT_EQ(diagnostics.find("snapshots.rounded.run"), nullptr);

  // a bar that turns about an edge
  TwoBars turning(10);
  turning.expected.parts.pop_back();
  turning.parts.pop_back();
  turning.positions.pop_back();
  for (int j = 0; j < 10; ++j)
    turning.positions[0].col(j) =
        (Eigen::AngleAxisd(0.1 * j, Vector3d::UnitZ()).toRotationMatrix() * turning.expected.parts[0].points)
            .reshaped();
  turning.check(diagnostics);
  ASSERT_NE(diagnostics.find("snapshots.still.left.run"), nullptr);
  expect_words(diagnostics.find("snapshots.still.left.run")->message,
               {"3 of 54 nodes never move (101, 119, 137)"});
}

TEST(Snapshots, JointsThatOpenAreAWarning) {
  TwoBars run;
  SnapshotExpectation::Pair pair;
  pair.joint = "hinge";
  pair.first = {0, {5, 11}, {1, 1}, Vector3d::Zero()};
  pair.second = {1, {5, 11}, {0.5, 0.5}, Vector3d::Zero()};  // both bars move alike
  run.expected.pairs = {pair};
  Diagnostics diagnostics;
  EXPECT_LT(run.check(diagnostics).largest_gap, 1e-15);
  EXPECT_TRUE(diagnostics.empty());
  run.positions[1].block(3 * 5 + 2, 70, 1, 1).array() += 2e-8;
  SnapshotReport report = run.check(diagnostics);
  // half of it, in the mean of two nodes
  EXPECT_NEAR(report.largest_gap, 1e-8, 1e-15);
  EXPECT_EQ(report.largest_gap_joint, "hinge");
  ASSERT_NE(diagnostics.find("snapshots.joint-gap.run"), nullptr);

  // to the ground
  Diagnostics others;
  run.expected.pairs[0].second = {-1, {}, {}, Vector3d(0.1, 0.2, 0.3)};
  run.expected.pairs[0].first = {0, {0}, {1}, Vector3d::Zero()};
  // the end of the bar rises by 0.1 m in the second
  EXPECT_NEAR(run.check(others).largest_gap, 0.1, 1e-12);
}

TEST(Snapshots, ReorderBringsNodesAndPartsIntoTheOrderOfTheMesh) {
  TwoBars run;
  std::vector<int> place(54);
  std::iota(place.begin(), place.end(), 0);
  std::shuffle(place.begin(), place.end(), std::mt19937(4));
  const MatrixXd left = run.positions[0], right = run.positions[1];
  permute(run.positions[0], place);
  for (const int i : place) run.parts[0].node_ids.push_back(101 + i);
  // a node of a spider that the mesh does not have
  run.parts[0].node_ids.push_back(9000);
  run.parts[0].nodes = 55;
  run.positions[0].conservativeResize(165, Eigen::NoChange);
  run.positions[0].bottomRows(3).setZero();
  std::swap(run.parts[0], run.parts[1]);
  std::swap(run.positions[0], run.positions[1]);
  Diagnostics diagnostics;
  auto ordered = reorder(run.source(), run.expected, diagnostics);
  ASSERT_EQ(ordered->parts().size(), 2);
  EXPECT_EQ(ordered->parts()[0].name, "left");
  EXPECT_EQ(ordered->parts()[0].node_ids, run.expected.parts[0].node_ids);
  MatrixXd X(162, 120), Y(162, 7);
  ordered->read(0, 0, 120, X);
  EXPECT_TRUE(X == left);
  ordered->read(0, 50, 7, Y);
  EXPECT_TRUE(Y == left.middleCols(50, 7));
  ordered->read(1, 0, 120, X);
  EXPECT_TRUE(X == right);
  ASSERT_EQ(diagnostics.warnings().size(), 1);
  expect_words(diagnostics.warnings()[0].message, {"1 nodes that the mesh does not have", "9000"});
  Diagnostics none;
  check_snapshots(*ordered, run.expected, none);
  EXPECT_TRUE(none.empty());
  // without it the ids tell
  expect_words(run.refusal(), {"nodes that the mesh does not have: 9000"});
}

TEST(Snapshots, ReorderLeavesWhatIsRightAndRefusesWhatIsMissing) {
  TwoBars run;
  Diagnostics diagnostics;
  auto source = run.source();
  const SnapshotSource* before = source.get();
  EXPECT_EQ(reorder(std::move(source), run.expected, diagnostics).get(), before);
  run.parts[0].node_ids = run.expected.parts[0].node_ids;
  run.parts[0].node_ids[2] = 7;
  run.parts[0].node_ids[9] = 7;
  run.parts[1].name = "rihgt";
  expect_words(message_of<InputError>([&] { reorder(run.source(), run.expected, diagnostics); }),
               {"body 'left': nodes are given twice: 7",
                "2 of 54 nodes of the mesh are missing from the data: 103, 110",
                "no data of body 'right' (did you mean 'rihgt'?)"});
  // the same ids in another order, unnoticed by whoever did not reorder
  TwoBars other;
  other.parts[0].node_ids = other.expected.parts[0].node_ids;
  std::swap(other.parts[0].node_ids[0], other.parts[0].node_ids[1]);
  expect_words(other.refusal(), {"in another order than in the mesh"});
}

TEST(Snapshots, ASystemsPositionsAreThoseOfItsBodies) {
  const test::GcmsSample sample =
      test::gcms_sample(test::square_beam(MassKind::Consistent, 2), MassKind::Consistent);
  System system;
  RigidBodySpec plain;
  plain.name = "plain";
  plain.mass = 1;
  plain.inertia = Eigen::Matrix3d::Identity();
  system.add_body(make_rigid_body(plain));  // of numbers, without nodes
  system.add_body(make_ffrf_body("beam", sample.reduced()));
  VectorXd q, v;
  system.initial(q, v);
  MatrixXd Q = q.replicate(1, 5);
  Q.bottomRows(3) += 1e-4 * MatrixXd::Random(3, 5);  // amplitudes of modes
  const auto run = make_system_snapshots("sim", system, VectorXd::LinSpaced(5, 0, 1), Q);
  const Body& beam = *system.bodies()[1];
  ASSERT_EQ(run->parts().size(), 1);
  EXPECT_EQ(run->parts()[0].name, "beam");
  EXPECT_EQ(run->parts()[0].node_ids, beam.node_ids());
  ASSERT_GT(run->parts()[0].nodes, 10);
  MatrixXd X(3 * run->parts()[0].nodes, 2);
  run->read(0, 3, 2, X);
  for (int j = 0; j < 2; ++j)
    EXPECT_TRUE(X.col(j) ==
                beam.node_positions(Q.col(3 + j).segment(system.offset(1), beam.coordinates())).reshaped());
  EXPECT_GT((X.col(0) - X.col(1)).norm(), 0);
}

}  // namespace
}  // namespace lissom::snapshots_test

#include "lissom/rom/pod/pod.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>

#include "lissom/rom/pod/grassmann.hpp"

namespace lissom::pod_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd noise(Index rows, Index columns, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(rows, columns, [&] { return normal(generator); });
}

MatrixXd orthonormal(Index rows, Index columns, unsigned seed) {
  return Eigen::HouseholderQR<MatrixXd>(noise(rows, columns, seed)).householderQ() *
         MatrixXd::Identity(rows, columns);
}

// Tridiagonal, positive definite, of masses that differ by a factor of ten.
SymmetricMatrix chain_mass(int n) {
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < n; ++i) {
    entries.emplace_back(i, i, 4.0 + 36.0 * i / n);
    if (i > 0) entries.emplace_back(i, i - 1, 1.0);
  }
  SymmetricMatrix M;
  M.lower.resize(n, n);
  M.lower.setFromTriplets(entries.begin(), entries.end());
  return M;
}

// A motion of N coordinates within `rank` directions about a place that is not zero.
MatrixXd motion(Index N, Index k, int rank, unsigned seed) {
  VectorXd sizes(rank);
  for (int i = 0; i < rank; ++i) sizes[i] = std::pow(0.3, i);
  MatrixXd time(rank, k);
  for (int i = 0; i < rank; ++i)
    for (Index t = 0; t < k; ++t)
      time(i, t) = std::sin((i + 1) * 2.0 * static_cast<double>(t) / static_cast<double>(k) + 0.3 * i);
  return (orthonormal(N, rank, seed) * sizes.asDiagonal() * time).colwise() + VectorXd::LinSpaced(N, 1, 2);
}

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

#define EXPECT_SAYS(work, text) EXPECT_NE(message_of(work).find(text), std::string::npos) << message_of(work)

TEST(TruncationOrder, FollowsTheRuleThatIsNamed) {
  const VectorXd sigma = (VectorXd(4) << 8, 4, 2, 2).finished();
  // sums 8 12 14 16 of 16; squares 64 80 84 88 of 88
  EXPECT_EQ(truncation_order(sigma, PodRule::SingularValues, 0.5), 1);
  EXPECT_EQ(truncation_order(sigma, PodRule::SingularValues, 0.75), 2);
  EXPECT_EQ(truncation_order(sigma, PodRule::SingularValues, 0.76), 3);
  EXPECT_EQ(truncation_order(sigma, PodRule::SingularValues, 1), 4);
  EXPECT_EQ(truncation_order(sigma, PodRule::Energy, 0.72), 1);
  EXPECT_EQ(truncation_order(sigma, PodRule::Energy, 0.73), 2);
  EXPECT_EQ(truncation_order(sigma, PodRule::Energy, 0.91), 3);
  EXPECT_EQ(truncation_order(sigma, PodRule::Energy, 1), 4);
}

TEST(PodSample, HasTheSingularValuesAndDirectionsOfTheSnapshots) {
  const MatrixXd E = motion(30, 50, 6, 1);
  PodOptions options;
  options.offset = PodOffset::None;
  const PodSample sample = make_pod_sample(VectorXd::Ones(1), E, options, {});
  const Eigen::JacobiSVD<MatrixXd> svd(E, Eigen::ComputeThinU);
  // two decompositions of the same matrix
  for (Index i = 0; i < 7; ++i)
    EXPECT_NEAR(sample.singular_values[i], svd.singularValues()[i], 1e-13 * svd.singularValues()[0]);
  // six directions and the place itself; the rest is round-off and not kept
  ASSERT_EQ(sample.basis.cols(), 7);
  EXPECT_LT(principal_angles(sample.basis, svd.matrixU().leftCols(7)).maxCoeff(), 1e-10);
  EXPECT_EQ(sample.offset, VectorXd::Zero(30));
  EXPECT_EQ(sample.samples, 50);
}

TEST(PodSample, OffsetsTakeTheReferenceOut) {
  const MatrixXd E = motion(30, 50, 6, 1);
  PodOptions options;
  for (const PodOffset offset : {PodOffset::Initial, PodOffset::Mean}) {
    options.offset = offset;
    const PodSample sample = make_pod_sample(VectorXd::Ones(1), E, options, {});
    const VectorXd expected =
        offset == PodOffset::Initial ? VectorXd(E.col(0)) : VectorXd(E.rowwise().mean());
    EXPECT_LT((sample.offset - expected).norm(), 1e-14);
    // what is left are the six directions
    ASSERT_EQ(sample.basis.cols(), 6);
    const MatrixXd left = (E.colwise() - sample.offset) -
                          sample.basis * (sample.basis.transpose() * (E.colwise() - sample.offset));
    EXPECT_LT(left.norm(), 1e-13 * E.norm());
  }
}

TEST(PodSample, IsOrthonormalInTheMassWhereAsked) {
  const MatrixXd E = motion(40, 60, 8, 2);
  const SymmetricMatrix M = chain_mass(40);
  PodOptions options;
  options.mass_weighted = true;
  const PodSample sample = make_pod_sample(VectorXd::Ones(1), E, options, M);
  const MatrixXd M_basis = M.full() * sample.basis;
  const Index R = sample.basis.cols();
  EXPECT_LT((sample.basis.transpose() * M_basis - MatrixXd::Identity(R, R)).norm(), 1e-13);
  // the squares of the singular values are eigenvalues of X' M X
  const MatrixXd X = E.colwise() - sample.offset, MX = M.full() * X;
  const VectorXd squares =
      Eigen::SelfAdjointEigenSolver<MatrixXd>(X.transpose() * MX).eigenvalues().reverse();
  for (Index i = 0; i < 5; ++i)
    EXPECT_NEAR(sample.singular_values[i] * sample.singular_values[i], squares[i], 1e-12 * squares[0]);
}

TEST(PodSample, KeepsSnapshotsEvenlyWithTheFirstAndTheLast) {
  const MatrixXd E = motion(10, 101, 3, 3);
  PodOptions options;
  options.keep = 11;
  const PodSample sample = make_pod_sample(VectorXd::Ones(1), E, options, {});
  ASSERT_EQ(sample.snapshots.cols(), 11);
  for (Index i = 0; i < 11; ++i) EXPECT_EQ(sample.snapshots.col(i), E.col(10 * i));
  options.keep = 1000;
  EXPECT_EQ(make_pod_sample(VectorXd::Ones(1), E, options, {}).snapshots, E);
}

TEST(PodSample, BadSnapshotsAreRefused) {
  const MatrixXd E = motion(10, 20, 3, 3);
  EXPECT_SAYS([&] { make_pod_sample({}, E.leftCols(1), {}, {}); }, "at least two snapshots");
  MatrixXd broken = E;
  broken(3, 7) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_SAYS([&] { make_pod_sample({}, broken, {}, {}); }, "snapshot 8 of 20");
  EXPECT_SAYS([&] { make_pod_sample({}, E.col(0).replicate(1, 4), {}, {}); }, "do not move");
  PodOptions options;
  options.mass_weighted = true;
  EXPECT_SAYS([&] { make_pod_sample({}, E, options, chain_mass(9)); }, "9 rows");
  SymmetricMatrix negative = chain_mass(10);
  negative.lower.coeffRef(4, 4) = -1;
  EXPECT_SAYS([&] { make_pod_sample({}, E, options, negative); }, "not positive definite");
}

// Bases that turn with the parameter in fixed planes: angle p times a rate.
PodLibrary turning_library(const std::vector<double>& parameters, double rate, bool weighted = false) {
  PodLibrary library;
  library.parameters = {"mass"};
  library.options.mass_weighted = weighted;
  const Index N = 20, r = 3;
  const MatrixXd frame = orthonormal(N, 2 * r, 5);
  const SymmetricMatrix M = chain_mass(static_cast<int>(N));
  const MatrixXd dense = MatrixXd(M.full() * MatrixXd::Identity(N, N));
  const MatrixXd L = Eigen::LLT<MatrixXd>(dense).matrixL();
  for (const double p : parameters) {
    PodSample sample;
    sample.parameters = VectorXd::Constant(1, p);
    MatrixXd U(N, r);
    for (Index i = 0; i < r; ++i) {
      const double angle = rate * p * (1 + 0.2 * static_cast<double>(i));
      U.col(i) = std::cos(angle) * frame.col(i) + std::sin(angle) * frame.col(r + i);
    }
    sample.basis = weighted ? MatrixXd(L.transpose().triangularView<Eigen::Upper>().solve(U)) : U;
    sample.offset = VectorXd::LinSpaced(N, 0, p * p);
    sample.singular_values = (VectorXd(3) << 3, 2, 1).finished();
    sample.samples = 17;
    library.samples.push_back(sample);
  }
  return library;
}

TEST(PodBasis, GrassmannFollowsBasesThatTurnWithTheParameter) {
  for (const bool weighted : {false, true}) {
    const PodLibrary library = turning_library({0, 1, 2}, 0.3, weighted);
    const SymmetricMatrix M = chain_mass(20);
    Diagnostics diagnostics;
    const VectorXd p = VectorXd::Constant(1, 0.65);
    const PodBasis found = pod_basis(library, PodCombination::Grassmann, p, 3, M, diagnostics);
    const MatrixXd expected = turning_library({0.65}, 0.3, weighted).samples[0].basis;
    const MatrixXd gram = weighted ? MatrixXd(found.Psi.transpose() * (M.full() * found.Psi))
                                   : MatrixXd(found.Psi.transpose() * found.Psi);
    EXPECT_LT((gram - MatrixXd::Identity(3, 3)).norm(), 1e-13);
    // the geodesic through them is exact: what is left of the expected basis outside of the found one
    const MatrixXd inside = weighted ? MatrixXd(found.Psi.transpose() * (M.full() * expected))
                                     : MatrixXd(found.Psi.transpose() * expected);
    EXPECT_LT((expected - found.Psi * inside).norm(), 1e-13);
    EXPECT_EQ(found.used, PodCombination::Grassmann);
    EXPECT_EQ(found.nearest, 1);
    // the reference is the middle one, 0.3 1.4 rad from the others at most
    EXPECT_NEAR(found.largest_angle, 0.42, 1e-13);
    EXPECT_NEAR(found.weights.sum(), 1, 1e-15);
    EXPECT_TRUE(diagnostics.empty());
  }
}

TEST(PodBasis, ARightAngleFallsBackToAllSamplesWithAWarning) {
  const PodLibrary library = turning_library({0, 1}, std::numbers::pi / 2);
  Diagnostics diagnostics;
  const VectorXd p = VectorXd::Constant(1, 0.4);
  PodLibrary two = library;
  two.reference = 0;
  const PodBasis found = pod_basis(two, PodCombination::Grassmann, p, 1, {}, diagnostics);
  EXPECT_EQ(found.used, PodCombination::Global);
  EXPECT_NE(found.fallback.find("right angle"), std::string::npos);
  ASSERT_NE(diagnostics.find("pod.right-angle"), nullptr);
  const PodBasis global = pod_basis(two, PodCombination::Global, p, 1, {}, diagnostics);
  EXPECT_EQ(found.Psi, global.Psi);
}

TEST(PodBasis, OfAllSamplesIsThatOfTheirMotionsTogether) {
  const MatrixXd E1 = motion(30, 40, 5, 1), E2 = motion(30, 40, 5, 2);
  PodLibrary library;
  library.parameters = {"length"};
  library.options.offset = PodOffset::Initial;
  library.samples = {make_pod_sample(VectorXd::Constant(1, 1.0), E1, library.options, {}),
                     make_pod_sample(VectorXd::Constant(1, 2.0), E2, library.options, {})};
  Diagnostics diagnostics;
  const PodBasis found =
      pod_basis(library, PodCombination::Global, VectorXd::Constant(1, 1.2), 4, {}, diagnostics);
  MatrixXd both(30, 80);
  both << E1.colwise() - E1.col(0), E2.colwise() - E2.col(0);
  const Eigen::JacobiSVD<MatrixXd> svd(both, Eigen::ComputeThinU);
  // the same products X X'; gaps between singular values are some tenths
  EXPECT_LT(principal_angles(found.Psi, svd.matrixU().leftCols(4)).maxCoeff(), 1e-12);
}

TEST(PodBasis, OfTheNearestSampleIsItsOwn) {
  PodLibrary library = turning_library({1, 2, 4}, 0.1);
  // a second parameter with a range of its own: distances count in ranges
  library.parameters.push_back("load");
  const double loads[3] = {0, 1000, 3000};
  for (int i = 0; i < 3; ++i) {
    VectorXd p(2);
    p << library.samples[i].parameters[0], loads[i];
    library.samples[i].parameters = p;
  }
  Diagnostics diagnostics;
  const VectorXd p = (VectorXd(2) << 1.9, 400).finished();
  const PodBasis found = pod_basis(library, PodCombination::Nearest, p, 2, {}, diagnostics);
  EXPECT_EQ(found.nearest, 1);
  EXPECT_EQ(found.Psi, library.samples[1].basis.leftCols(2));
}

TEST(PodOffsetTest, IsTheStartTheInterpolatedMeanOrNothing) {
  PodLibrary library = turning_library({0, 1, 2}, 0.1);
  const VectorXd p = VectorXd::Constant(1, 1.5), E = VectorXd::Constant(20, 7.0);
  library.options.offset = PodOffset::Initial;
  EXPECT_EQ(pod_offset(library, p, E), E);
  EXPECT_SAYS([&] { pod_offset(library, p, E.head(5)); }, "5 nodal coordinates");
  library.options.offset = PodOffset::Mean;
  // offsets of the samples are quadratic in p, which three samples reproduce
  EXPECT_LT((pod_offset(library, p, E) - VectorXd::LinSpaced(20, 0, 2.25)).norm(), 1e-13);
  library.options.offset = PodOffset::None;
  EXPECT_EQ(pod_offset(library, p, E), VectorXd::Zero(20));
}

TEST(PodLibraryTest, ProposesTheLargestOrderOverTheSamples) {
  PodLibrary library = turning_library({0, 1}, 0.1);
  library.samples[0].singular_values = (VectorXd(3) << 1, 1, 1).finished();
  EXPECT_EQ(proposed_order(library, PodRule::SingularValues, 0.9), 3);
  library.samples[0].singular_values = (VectorXd(3) << 100, 1e-3, 1e-6).finished();
  library.samples[1].singular_values = (VectorXd(3) << 100, 20, 1e-6).finished();
  EXPECT_EQ(proposed_order(library, PodRule::SingularValues, 0.9), 2);
  EXPECT_EQ(library.rank(), 3);
}

TEST(PodLibraryTest, SaysHowFarOutsideOfTheTrainingAParameterIs) {
  PodLibrary library = turning_library({1, 3}, 0.1);
  int which = 7;
  EXPECT_EQ(outside_range(library, VectorXd::Constant(1, 2.0), &which), 0);
  EXPECT_EQ(which, -1);
  EXPECT_DOUBLE_EQ(outside_range(library, VectorXd::Constant(1, 3.5), &which), 0.25);
  EXPECT_EQ(which, 0);
  EXPECT_DOUBLE_EQ(outside_range(library, VectorXd::Constant(1, 0.0)), 0.5);
  library.samples.resize(1);
  EXPECT_EQ(outside_range(library, VectorXd::Constant(1, 1.1)), std::numeric_limits<double>::infinity());
  EXPECT_EQ(outside_range(library, VectorXd::Constant(1, 1.0)), 0);
}

TEST(PodLibraryTest, WhatDoesNotFitTogetherIsNamed) {
  const PodLibrary good = turning_library({0, 1}, 0.1);
  EXPECT_EQ(inconsistency_of(good), "");
  const auto says = [&](const std::function<void(PodLibrary&)>& change) {
    PodLibrary library = good;
    change(library);
    return inconsistency_of(library);
  };
  EXPECT_NE(says([](PodLibrary& l) { l.samples.clear(); }).find("no samples"), std::string::npos);
  EXPECT_NE(says([](PodLibrary& l) {
              l.samples[1].basis.conservativeResize(19, 3);
            }).find("samples of different dimensions: sample 2 has 19"),
            std::string::npos);
  EXPECT_NE(says([](PodLibrary& l) { l.samples[1].parameters = VectorXd::Zero(2); }).find("2 parameters"),
            std::string::npos);
  EXPECT_NE(says([](PodLibrary& l) { l.samples[1].parameters[0] = 0; }).find("same parameters"),
            std::string::npos);
  EXPECT_NE(says([](PodLibrary& l) { l.samples[0].basis(0, 0) = NAN; }).find("not finite"),
            std::string::npos);
  EXPECT_NE(says([](PodLibrary& l) { l.samples[0].singular_values[1] = -1; }).find("negative"),
            std::string::npos);
  EXPECT_NE(says([](PodLibrary& l) {
              l.samples[0].singular_values.conservativeResize(2);
            }).find("2 singular values"),
            std::string::npos);
  EXPECT_NE(says([](PodLibrary& l) { l.samples[0].basis.resize(20, 0); }).find("no modes"),
            std::string::npos);
  EXPECT_NE(says([](PodLibrary& l) { l.samples[0].snapshots.setZero(3, 2); }).find("snapshots of sample 1"),
            std::string::npos);
  EXPECT_NE(says([](PodLibrary& l) { l.reference = 2; }).find("sample 3 of 2"), std::string::npos);
}

TEST(PodBasis, WhatCannotBeAskedIsRefused) {
  const PodLibrary library = turning_library({0, 1}, 0.1);
  Diagnostics diagnostics;
  const VectorXd p = VectorXd::Constant(1, 0.5);
  const auto ask = [&](const VectorXd& at, int r) {
    return [&diagnostics, &library, at, r] {
      pod_basis(library, PodCombination::Global, at, r, {}, diagnostics);
    };
  };
  EXPECT_SAYS(ask(p, 4), "sample 1 has 3 of them, from 17 snapshots");
  EXPECT_SAYS(ask(p, 0), "one mode or more");
  EXPECT_SAYS(ask(VectorXd::Zero(2), 2), "has 1 parameters, and 2 are given");
  EXPECT_SAYS(ask(VectorXd::Constant(1, NAN), 2), "not a finite number");
}

TEST(PodNames, AreThoseOfTheStudyFile) {
  EXPECT_EQ(pod_offset_names().at(1).first, "mean");
  EXPECT_EQ(pod_rule_names().at(0).first, "singular-values");
  EXPECT_EQ(pod_combination_names().at(2).first, "nearest");
}

}  // namespace
}  // namespace lissom::pod_test

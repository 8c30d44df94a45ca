#include "lissom/cms/damping.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include <cmath>
#include <numbers>

#include "tests/temporary_folder.hpp"

namespace lissom::damping_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// A chain of masses and springs, free at both ends: one rigid mode, and M that is not diagonal.
struct Chain {
  MatrixXd M, K;
  VectorXd eigenvalues;
  MatrixXd eigenvectors;

  Chain() {
    const int n = 6;
    M = MatrixXd::Zero(n, n);
    K = MatrixXd::Zero(n, n);
    for (int i = 0; i + 1 < n; ++i) {
      const double k = 1e4 * (1 + i), m = 0.3 * (1 + i % 3);
      K.block<2, 2>(i, i) += k * Eigen::Matrix2d{{1, -1}, {-1, 1}};
      M.block<2, 2>(i, i) += m / 6 * Eigen::Matrix2d{{2, 1}, {1, 2}};
    }
    const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> solver(K, M);
    eigenvalues = solver.eigenvalues();
    eigenvectors = solver.eigenvectors();
  }
  VectorXd frequencies() const { return eigenvalues.tail(5).cwiseSqrt() / (2 * std::numbers::pi); }
  MatrixXd matrix(const Damping& damping) const {
    return damping_matrix(damping, M, K, eigenvalues, eigenvectors, 1);
  }
  // Damping ratios of the flexible modes as the equations of motion have them: from the eigenvalues s of
  // M s^2 + D s + K, which are -zeta omega +- i omega sqrt(1 - zeta^2), found without modes of any kind.
  VectorXd measured(const MatrixXd& D) const {
    const Eigen::Index n = M.rows();
    MatrixXd A = MatrixXd::Zero(2 * n, 2 * n);
    A.topRightCorner(n, n).setIdentity();
    A.bottomLeftCorner(n, n) = -M.llt().solve(K);
    A.bottomRightCorner(n, n) = -M.llt().solve(D);
    const Eigen::VectorXcd s = Eigen::EigenSolver<MatrixXd>(A).eigenvalues();
    std::vector<std::pair<double, double>> pairs;
    for (const std::complex<double> root : s)
      if (root.imag() > 1e-3) pairs.emplace_back(std::abs(root), -root.real() / std::abs(root));
    std::sort(pairs.begin(), pairs.end());
    VectorXd ratios(pairs.size());
    for (size_t i = 0; i < pairs.size(); ++i) ratios[i] = pairs[i].second;
    return ratios;
  }
};

const VectorXd hz = VectorXd{{5, 10, 15, 30, 100}};

TEST(Damping, RatiosFollowTheirLaw) {
  const auto ratios = [](const Damping& damping) { return damping_ratios(damping, hz); };
  EXPECT_EQ(ratios({}), VectorXd::Zero(5));
  EXPECT_EQ(ratios(UniformDamping{0.02}), VectorXd::Constant(5, 0.02));
  EXPECT_EQ(ratios(RatioPerMode{{0.01, 0.02, 0.05}}), VectorXd({{0.01, 0.02, 0.05, 0.05, 0.05}}));
  EXPECT_EQ(ratios(RatioPerMode{{0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07}}),
            VectorXd({{0.01, 0.02, 0.03, 0.04, 0.05}}));
  // between points linear, outside constant; one rounding or two
  const VectorXd table = ratios(DampingTable{{10, 20, 60}, {0.01, 0.03, 0.07}, ""});
  EXPECT_LT((table - VectorXd{{0.01, 0.01, 0.02, 0.04, 0.07}}).norm(), 1e-16);
  EXPECT_EQ(ratios(DampingTable{{10}, {0.04}, ""}), VectorXd::Constant(5, 0.04));
  const VectorXd ramp = ratios(DampingRamp{0.01, 10, 50, 0.81});
  EXPECT_LT((ramp - VectorXd{{0.01, 0.01, 0.11, 0.41, 0.81}}).norm(), 1e-15);
  const VectorXd rayleigh = ratios(RayleighDamping{3, 1e-4});
  for (int i = 0; i < 5; ++i) {
    const double omega = 2 * std::numbers::pi * hz[i];
    EXPECT_NEAR(rayleigh[i], 1.5 / omega + 0.5e-4 * omega, 1e-15);
  }
}

TEST(Damping, TheMatrixDampsEveryFlexibleModeAsAskedAndNoRigidOne) {
  const Chain chain;
  const VectorXd f = chain.frequencies();
  const DampingRamp ramp{0.01, f[1], f[3], 0.6};
  for (const Damping& damping : {Damping(UniformDamping{0.02}), Damping(RatioPerMode{{0.01, 0.3, 0.05}}),
                                 Damping(ramp), Damping(DampingTable{{f[0], f[4]}, {0.01, 0.5}, ""})}) {
    const MatrixXd D = chain.matrix(damping);
    // to the last bit
    EXPECT_EQ(D, MatrixXd(D.transpose()));
    const VectorXd expected = damping_ratios(damping, f), measured = chain.measured(D);
    ASSERT_EQ(measured.size(), 5);
    // eigenvalues of an unsymmetric 12 by 12 matrix of condition 1e3 or so
    EXPECT_LT((measured - expected).norm(), 1e-10) << describe(damping);
    // all masses moving alike
    EXPECT_LT((D * VectorXd::Ones(6)).norm(), 1e-12 * D.norm()) << describe(damping);
  }
}

TEST(Damping, RayleighIsACombinationOfMassAndStiffnessAndDampsRigidModesByAlpha) {
  const Chain chain;
  const RayleighDamping damping{0.5, 1e-5};
  const MatrixXd D = chain.matrix(damping);
  EXPECT_EQ(D, MatrixXd(0.5 * chain.M + 1e-5 * chain.K));
  EXPECT_LT((chain.measured(D) - damping_ratios(damping, chain.frequencies())).norm(), 1e-10);
  const VectorXd ones = VectorXd::Ones(6);
  EXPECT_NEAR(ones.dot(D * ones), 0.5 * ones.dot(chain.M * ones), 1e-12);
}

TEST(Damping, NoneGivesNoMatrixAndZeroGivesZero) {
  const Chain chain;
  EXPECT_EQ(chain.matrix({}).size(), 0);
  EXPECT_EQ(chain.matrix(UniformDamping{0}), MatrixXd::Zero(6, 6));
}

TEST(Damping, ModesThatAreLeftOutAreNotDamped) {
  const Chain chain;
  // the rigid one and two flexible ones only
  const MatrixXd D = damping_matrix(UniformDamping{0.02}, chain.M, chain.K, chain.eigenvalues.head(3),
                                    chain.eigenvectors.leftCols(3), 1);
  const MatrixXd modal = chain.eigenvectors.transpose() * D * chain.eigenvectors;
  VectorXd expected = VectorXd::Zero(6);
  expected.segment(1, 2) = 0.04 * chain.eigenvalues.segment(1, 2).cwiseSqrt();
  EXPECT_LT((modal - MatrixXd(expected.asDiagonal())).norm(), 1e-12 * expected.norm());
}

TEST(Damping, EveryProblemIsListed) {
  const auto text = [](const Damping& damping) {
    return fmt::format("{}", fmt::join(problems_of(damping), "|"));
  };
  const std::string expected = ", expected 0 to 1 (1 is critical damping; 2 % is 0.02)";
  EXPECT_EQ(text({}), "");
  EXPECT_EQ(text(UniformDamping{0.02}), "");
  EXPECT_EQ(text(UniformDamping{-0.1}), "the damping ratio is -0.1" + expected);
  EXPECT_EQ(text(UniformDamping{2}), "the damping ratio is 2" + expected);
  EXPECT_EQ(text(UniformDamping{NAN}), "the damping ratio is nan" + expected);
  EXPECT_EQ(text(RatioPerMode{}), "the list of damping ratios per mode is empty, expected one or more");
  EXPECT_EQ(text(RatioPerMode{{0.1, 3, -1}}),
            "the damping ratio of mode 2 is 3" + expected + "|the damping ratio of mode 3 is -1" + expected);
  EXPECT_EQ(text(RayleighDamping{-1, INFINITY}),
            "Rayleigh's alpha [1/s] is -1, expected zero or a positive number|Rayleigh's beta [s] is inf, "
            "expected zero or a positive number");
  EXPECT_EQ(text(DampingTable{}), "the damping table is empty, expected one line or more");
  EXPECT_EQ(text(DampingTable{{1, 2}, {0.1}, ""}), "the damping table has 2 frequencies and 1 ratios");
  EXPECT_EQ(text(DampingTable{{1, 1}, {0.1, 4}, ""}),
            "ratio 2 of the damping table is 4" + expected +
                "|the frequencies of the damping table must ascend, but 1 Hz comes after 1 Hz");
  EXPECT_EQ(text(DampingRamp{0.01, 10, 5, 2}),
            "the damping ratio at the ramp's end is 2" + expected +
                "|the ramp ends at 5 Hz, expected more than its beginning, 10 Hz");
  EXPECT_EQ(text(DampingRamp{0.01, 10, 50}), "");
  // and stops the computation
  EXPECT_EQ(message_of<InputError>([] { damping_ratios(UniformDamping{-1}, hz); }),
            "the damping ratio is -1" + expected);
  const Chain chain;
  EXPECT_EQ(message_of<InputError>([&] { chain.matrix(UniformDamping{-1}); }),
            "the damping ratio is -1" + expected);
}

TEST(Damping, ATableIsReadWithAnySeparatorCommentsAndHeadings) {
  const TemporaryFolder folder;
  for (const char* text : {"# measured\n\n10, 0.01\n20,0.02 # here\n40\t, 3e-2\n",
                           "frequency [Hz]; damping ratio\r\n10;0.01\r\n20;0.02\r\n40;0.03\r\n",
                           "\xEF\xBB\xBF"
                           "f zeta\n10 0.01\n20\t0.02\n   40   0.03"}) {
    const auto path = folder.write("zeta.csv", text);
    const DampingTable table = read_damping_table(path);
    EXPECT_EQ(table.frequency_hz, (std::vector<double>{10, 20, 40})) << text;
    EXPECT_EQ(table.ratio, (std::vector<double>{0.01, 0.02, 0.03})) << text;
    EXPECT_EQ(table.source, path.string());
    EXPECT_TRUE(problems_of(table).empty());
  }
}

TEST(Damping, ABadTableIsRefusedWithItsLine) {
  const TemporaryFolder folder;
  const auto refusal = [&](const char* text) {
    const auto path = folder.write("zeta.csv", text);
    const std::string message = message_of<InputError>([&] { read_damping_table(path); });
    const size_t start = message.find("zeta.csv");
    return start == std::string::npos ? message : message.substr(start);
  };
  EXPECT_EQ(refusal("10 0.01\n20\n"),
            "zeta.csv:2: expected two columns, frequency in Hz and damping ratio, found 1 in '20' (numbers "
            "have a decimal point, not a comma)");
  EXPECT_EQ(refusal("10,5;0,02\n").substr(0, 85),
            "zeta.csv:1: expected two columns, frequency in Hz and damping ratio, found 4 in '10,5");
  EXPECT_EQ(refusal("10 0.01\n20 x\n"), "zeta.csv:2: expected a damping ratio, found 'x'");
  EXPECT_EQ(refusal("f 0.01\n"), "zeta.csv:1: expected a frequency in Hz, found 'f'");
  EXPECT_EQ(refusal("f zeta\nHz 1\n10 0.01\n"), "zeta.csv:2: expected a frequency in Hz, found 'Hz'");
  EXPECT_EQ(refusal("f zeta\nHz -\n10 0.01\n"), "zeta.csv:2: expected a frequency in Hz, found 'Hz'");
  EXPECT_EQ(refusal("10 0.01\n5 0.02\n"), "zeta.csv:2: frequencies must ascend, but 5 Hz comes after 10 Hz");
  EXPECT_EQ(refusal("-1 0.01\n"), "zeta.csv:1: the frequency -1 Hz is negative");
  EXPECT_EQ(refusal("1 2\n"),
            "zeta.csv:1: the damping ratio is 2, expected 0 to 1 (1 is critical damping; 2 % is 0.02)");
  EXPECT_EQ(refusal("1 nan\n"), "zeta.csv:1: expected a damping ratio, found 'nan'");
  EXPECT_EQ(refusal("# nothing\nf, zeta\n"),
            "zeta.csv: the file has no line of frequency in Hz and damping ratio");
  EXPECT_EQ(message_of<InputError>([&] { read_damping_table(folder / "none.csv"); }),
            (folder / "none.csv").string() + ": no such file");
}

TEST(Damping, IsDescribedForPeople) {
  EXPECT_EQ(describe({}), "none");
  EXPECT_EQ(describe(UniformDamping{0.02}), "2 % on every mode");
  EXPECT_EQ(describe(RatioPerMode{{0.01, 0.025}}), "1, 2.5 % on modes 1 to 2, 2.5 % above");
  EXPECT_EQ(describe(RayleighDamping{0.5, 1e-6}), "Rayleigh: alpha 0.5 1/s, beta 1e-06 s");
  EXPECT_EQ(describe(DampingTable{{10, 20}, {0.02, 0.01}, "z.csv"}),
            "table z.csv of 2 points, 10 to 20 Hz, 1 % to 2 %");
  EXPECT_EQ(describe(DampingRamp{0.01, 1000, 5000}),
            "1 % up to 1000 Hz, then growing to 100 % at 5000 Hz and above");
}

}  // namespace
}  // namespace lissom::damping_test

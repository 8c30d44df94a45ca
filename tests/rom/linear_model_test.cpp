// Truncation and exact solution of linear models, against dense algebra written out here and formulas.
#include "lissom/rom/linear/linear_model.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <unsupported/Eigen/KroneckerProduct>

#include <algorithm>
#include <cmath>
#include <complex>

#include "lissom/linalg/schur.hpp"
#include "lissom/rom/linear/linear_rom.hpp"
#include "tests/allocation_counter.hpp"

namespace lissom::linear_model_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

// M z'' + C z' + K z = F u with the positions `seen` as outputs.
LinearModel mechanical(const MatrixXd& M, const MatrixXd& damping, const MatrixXd& K, const MatrixXd& F,
                       const std::vector<int>& seen) {
  const Index d = M.rows();
  LinearModel model;
  model.A = MatrixXd::Zero(2 * d, 2 * d);
  model.A.topRightCorner(d, d).setIdentity();
  model.A.bottomLeftCorner(d, d) = -M.inverse() * K;
  model.A.bottomRightCorner(d, d) = -M.inverse() * damping;
  model.B = MatrixXd::Zero(2 * d, F.cols());
  model.B.bottomRows(d) = M.inverse() * F;
  const auto k = static_cast<Index>(seen.size());
  model.C = MatrixXd::Zero(k, 2 * d);
  for (Index i = 0; i < k; ++i) {
    model.C(i, seen[static_cast<size_t>(i)]) = 1;
    model.outputs.push_back({fmt::format("mass {}.x", i), 1, 0, 0});
  }
  model.D = MatrixXd::Zero(k, F.cols());
  model.x0 = VectorXd::Zero(2 * d);
  model.u0 = VectorXd::Zero(F.cols());
  model.y0 = VectorXd::Zero(k);
  for (Index i = 0; i < F.cols(); ++i)
    model.inputs.push_back({fmt::format("force {}", i), "N", true, {1, 0, 0}});
  for (Index i = 0; i < 2 * d; ++i) model.states.push_back(fmt::format("state {}", i));
  model.range = MatrixXd::Zero(d, 2 * d);
  model.range.leftCols(d).setIdentity();
  model.range_inputs = MatrixXd::Zero(d, F.cols());
  for (Index i = 0; i < d; ++i) model.range_names.push_back(fmt::format("mass {}", i));
  model.reduction.source_order = static_cast<int>(2 * d);
  model.reduction.input_scale = VectorXd::Ones(F.cols());
  model.reduction.output_scale = VectorXd::Ones(k);
  return model;
}

// `count` masses in a row, springs with dampers between them; the first one held unless `free`.
LinearModel chain(int count, bool free = false, double damping = 0.002) {
  MatrixXd K = MatrixXd::Zero(count, count), M = MatrixXd::Identity(count, count);
  for (int i = 0; i < count; ++i) {
    M(i, i) = 1 + 0.1 * i;
    const double stiffness = 1000 + 50 * i;
    if (i == 0 && free) continue;
    K(i, i) += stiffness;
    if (i == 0) continue;
    K(i - 1, i - 1) += stiffness;
    K(i - 1, i) -= stiffness;
    K(i, i - 1) -= stiffness;
  }
  MatrixXd F = MatrixXd::Zero(count, 2);
  F(count - 1, 0) = 1;
  F(1, 1) = 1;
  return mechanical(M, damping * K, K, F, {0, count - 1});
}

// C (s - A)^-1 B + D, by LU of the whole matrix.
MatrixXcd transfer(const LinearModel& model, std::complex<double> s) {
  const Index n = model.order();
  const MatrixXcd shifted = s * MatrixXcd::Identity(n, n) - model.A.cast<std::complex<double>>();
  const MatrixXcd x = Eigen::PartialPivLU<MatrixXcd>(shifted).solve(model.B.cast<std::complex<double>>());
  return model.C.cast<std::complex<double>>() * x + model.D.cast<std::complex<double>>();
}

double largest(const MatrixXcd& H) {
  return Eigen::JacobiSVD<MatrixXcd>(H).singularValues()[0];
}

// Everything in units of the largest gains, as the bound is.
MatrixXcd scaled(const LinearModel& model, const MatrixXcd& H) {
  const LinearReduction& made = model.reduction;
  return made.output_scale.asDiagonal() * H * made.input_scale.asDiagonal();
}

LinearOptions balanced(int order, bool statics) {
  LinearOptions options;
  options.order = order;
  options.statics = statics;
  return options;
}

std::string refusal(const LinearModel& model, const LinearOptions& options) {
  try {
    truncate(model, options);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Schur, ReordersEigenvaluesAndKeepsTheMatrix) {
  const MatrixXd A = chain(4).A;
  RealSchur schur = real_schur(A);
  std::vector<bool> chosen;
  for (const auto& value : schur.eigenvalues) chosen.push_back(std::abs(value) < 40);
  const int count = bring_to_top(schur, chosen);
  ASSERT_EQ(count, std::count(chosen.begin(), chosen.end(), true));
  ASSERT_GT(count, 0);
  ASSERT_LT(count, 8);
  for (Index i = 0; i < 8; ++i) EXPECT_EQ(std::abs(schur.eigenvalues[i]) < 40, i < count);
  // round-off of a matrix of this norm
  EXPECT_LT((schur.Q * schur.T * schur.Q.transpose() - A).norm(), 1e-12 * A.norm());
}

TEST(Schur, EquationsWithoutSolutionAreAnError) {
  // A and -A share the eigenvalue zero
  const MatrixXd A = MatrixXd::Zero(2, 2);
  EXPECT_THROW(solve_lyapunov(A, false, MatrixXd::Identity(2, 2)), Error);
}

TEST(LinearModel, HankelValuesAreTheRootsOfTheProductOfBothGramians) {
  const LinearModel whole = chain(3);
  const LinearModel model = truncate(whole, balanced(4, false));
  // both Lyapunov equations as one system of n^2 equations
  const Index n = whole.order();
  const MatrixXd one = MatrixXd::Identity(n, n);
  const MatrixXd B = whole.B * model.reduction.input_scale.asDiagonal(),
                 C = model.reduction.output_scale.asDiagonal() * whole.C;
  const auto gramian = [&](const MatrixXd& A, const MatrixXd& R) {
    const MatrixXd equations =
        Eigen::kroneckerProduct(one, A).eval() + Eigen::kroneckerProduct(A, one).eval();
    const VectorXd x = Eigen::PartialPivLU<MatrixXd>(equations).solve(-R.reshaped());
    return MatrixXd(x.reshaped(n, n));
  };
  const MatrixXd P = gramian(whole.A, B * B.transpose()), Q = gramian(whole.A.transpose(), C.transpose() * C);
  VectorXd expected = Eigen::EigenSolver<MatrixXd>(P * Q).eigenvalues().real().cwiseMax(0).cwiseSqrt();
  std::sort(expected.begin(), expected.end(), std::greater<>());
  // relative to the largest gain in the same units, looked for far more finely than the resonances are wide
  double gain = 0;
  for (double omega = 0.01; omega < 200; omega *= 1.0002)
    gain = std::max(gain, largest(scaled(model, transfer(whole, {0, omega}))));
  ASSERT_EQ(model.reduction.hankel.size(), n);
  // the peak of a resonance is found to its square over the grid: 1e-4 and better
  for (Index i = 0; i < n; ++i)
    EXPECT_NEAR(model.reduction.hankel[i], expected[i] / gain, 1e-4 * expected[0] / gain);
}

TEST(LinearModel, BalancedTruncationStaysBelowItsBound) {
  const LinearModel whole = chain(8);
  double before = 1e9;
  for (const bool statics : {true, false})
    for (const int order : {2, 4, 8, 12}) {
      const LinearModel model = truncate(whole, balanced(order, statics));
      ASSERT_EQ(model.order(), order);
      double gain = 0, error = 0;
      for (double omega = 0.1; omega < 1000; omega *= 1.002) {
        const MatrixXcd H = transfer(whole, {0, omega});
        gain = std::max(gain, largest(scaled(model, H)));
        error = std::max(error, largest(scaled(model, H - transfer(model, {0, omega}))));
      }
      const LinearReduction& made = model.reduction;
      // the theorem, and the grid that it is compared with may miss a thousandth of the largest gain
      EXPECT_LE(error / gain, made.bound * 1.001) << order;
      // a bound far above would be of no use: sums of a few values, twice
      EXPECT_GE(error / gain, made.bound / 50) << order;
      // what is reported is the error on a grid that knows the resonances
      EXPECT_NEAR(made.error, error / gain, 0.05 * made.error) << order;
      EXPECT_LE(made.error, made.bound * (1 + 1e-9)) << order;
      if (!statics) EXPECT_LE(made.bound, before);
      if (!statics) before = made.bound;
    }
}

TEST(LinearModel, StaticsAreExactWhereTheyAreAskedFor) {
  const LinearModel whole = chain(6);
  const MatrixXd expected = *static_gains(whole);
  // a force at the end pulls the first spring alone by 1/k
  EXPECT_NEAR(expected(0, 0), 1.0 / 1000, 1e-15);
  LinearOptions by_frequency;
  by_frequency.truncation = LinearTruncation::Frequency;
  by_frequency.order = 4;
  const LinearModel modes = truncate(whole, by_frequency), states = truncate(whole, balanced(4, true));
  // solutions with matrices of condition 1e5
  EXPECT_LT((*static_gains(modes) - expected).norm(), 1e-9 * expected.norm());
  EXPECT_LT((*static_gains(states) - expected).norm(), 1e-9 * expected.norm());
  const LinearModel cut = truncate(whole, balanced(4, false));
  EXPECT_GT((*static_gains(cut) - expected).norm(), 1e-6 * expected.norm());
  // D is that of infinite frequency otherwise
  EXPECT_EQ(cut.D, whole.D);
}

TEST(LinearModel, AnOrderByToleranceIsTheSmallestOneWithThatBound) {
  const LinearModel whole = chain(8);
  LinearOptions options;
  options.tolerance = 0.01;
  const LinearModel model = truncate(whole, options);
  EXPECT_LE(model.reduction.bound, 0.01);
  EXPECT_GT(truncate(whole, balanced(model.order() - 1, true)).reduction.bound, 0.01);
}

TEST(LinearModel, RigidMotionsAreKeptExactly) {
  const LinearModel whole = chain(5, true);
  const LinearModel model = truncate(whole, balanced(6, false));
  EXPECT_EQ(model.reduction.kept_exactly, 2);
  EXPECT_FALSE(static_gains(model));
  // the double integrator 1 / (mass s^2) is what remains at low frequency: sums of masses 1, 1.1, .. 1.4
  const double omega = 1e-3;
  const std::complex<double> low = transfer(model, {0, omega})(0, 0) * std::complex<double>(-omega * omega);
  EXPECT_NEAR(low.real(), 1 / 6.0, 1e-6);
  // and the error is bounded although both systems have infinite gains; these are of what decays
  const VectorXcd values = Eigen::EigenSolver<MatrixXd>(model.A).eigenvalues();
  EXPECT_EQ((values.cwiseAbs().array() < 1e-3).count(), 2);
  double error = 0;
  for (double at = 0.1; at < 1000; at *= 1.01)
    error = std::max(error, largest(scaled(model, transfer(whole, {0, at}) - transfer(model, {0, at}))));
  EXPECT_GT(error, 0);
  EXPECT_LT(model.reduction.bound, 1);
  EXPECT_NE(refusal(whole, balanced(1, true)).find("2 states are kept exactly"), std::string::npos);
}

TEST(LinearModel, UnitsDoNotChangeWhatIsKept) {
  // a thousandth of a state's, an input's and an output's unit
  const LinearModel whole = chain(6);
  LinearModel other = whole;
  other.A.row(3) *= 1000;
  other.A.col(3) /= 1000;
  other.B.row(3) *= 1000;
  other.C.col(3) /= 1000;
  other.B.col(1) *= 1e-3;
  other.C.row(0) *= 1e6;
  const LinearReduction a = truncate(whole, balanced(5, true)).reduction,
                        b = truncate(other, balanced(5, true)).reduction;
  // Gramians are known to round-off of their largest entries
  for (Index i = 0; i < 8; ++i) EXPECT_NEAR(a.hankel[i], b.hankel[i], 1e-7 * a.hankel[0]);
  EXPECT_NEAR(a.error, b.error, 1e-5 * a.error);
}

TEST(LinearModel, ModesUpToAFrequencyHaveTheirEigenvalues) {
  const LinearModel whole = chain(6, false, 0.0);
  VectorXd all = frequencies_hz(whole);
  ASSERT_EQ(all.size(), 6);
  LinearOptions options;
  options.truncation = LinearTruncation::Frequency;
  options.highest = (all[2] + all[3]) / 2;
  const LinearModel model = truncate(whole, options);
  ASSERT_EQ(model.order(), 6);
  const VectorXd kept = frequencies_hz(model);
  for (Index i = 0; i < 3; ++i) EXPECT_NEAR(kept[i], all[i], 1e-10 * all[i]);
  // the residues too: far below the fourth frequency only its static part is missing, which is there
  const std::complex<double> s(0, 0.01 * 2 * M_PI * all[0]);
  EXPECT_LT((transfer(model, s) - transfer(whole, s)).norm(), 1e-7 * transfer(whole, s).norm());
  // an undamped mechanism leaves nothing to balanced truncation
  EXPECT_NE(refusal(whole, balanced(4, true)).find("no motion of the mechanism decays"), std::string::npos);
  // a pair is not cut
  options.highest.reset();
  options.order = 3;
  EXPECT_EQ(truncate(whole, options).order(), 4);
}

TEST(LinearModel, RigidMotionsDoNotHideTheErrorOfModesThatAreLeftOut) {
  const LinearModel whole = chain(6, true);
  LinearOptions options;
  options.truncation = LinearTruncation::Frequency;
  options.order = 6;
  options.statics = false;
  const LinearModel model = truncate(whole, options);
  // against the same numbers by LU, up to the highest frequency kept and from a tenth of the lowest on
  std::vector<double> hz;
  for (const double f : frequencies_hz(model))
    if (f > 0) hz.push_back(f);
  // rigid motion and two modes
  ASSERT_EQ(hz.size(), 2u);
  double gain = 0, error = 0;
  for (double at = hz[0] / 10; at <= hz[1]; at *= 1.0005) {
    const std::complex<double> s(0, 2 * M_PI * at);
    gain = std::max(gain, largest(scaled(model, transfer(whole, s))));
    error = std::max(error, largest(scaled(model, transfer(whole, s) - transfer(model, s))));
  }
  EXPECT_GT(error / gain, 1e-4);
  // the grid of the truncation is coarser: resonances are in it, edges almost
  EXPECT_NEAR(model.reduction.error, error / gain, 0.05 * error / gain);
}

TEST(LinearModel, WhatMakesNoSenseIsRefused) {
  const LinearModel whole = chain(3);
  EXPECT_NE(refusal(whole, balanced(7, true)).find("has 6 states"), std::string::npos);
  EXPECT_NE(refusal(whole, balanced(0, true)).find("order is 0"), std::string::npos);
  LinearOptions options;
  options.truncation = LinearTruncation::Frequency;
  EXPECT_NE(refusal(whole, options).find("needs highest"), std::string::npos);
  options.highest = 1e-9;
  EXPECT_NE(refusal(whole, options).find("no state is left"), std::string::npos);
  LinearModel without = whole;
  without.inputs.clear();
  without.B.resize(6, 0);
  without.D.resize(2, 0);
  without.u0.resize(0);
  without.range_inputs.resize(3, 0);
  without.reduction.input_scale.resize(0);
  EXPECT_NE(refusal(without, balanced(2, true)).find("has no input"), std::string::npos);
  options.highest = 100;
  EXPECT_EQ(truncate(without, options).order(), 6);
  // two equal masses on equal springs, moved apart: what one sees the other does not reach
  LinearModel apart = mechanical(MatrixXd::Identity(2, 2), 0.1 * MatrixXd::Identity(2, 2),
                                 MatrixXd::Identity(2, 2), Eigen::Vector2d(1, 0), {1});
  EXPECT_NE(refusal(apart, balanced(2, true)).find("no input reaches any output"), std::string::npos);
}

TEST(LinearModel, ABlockThatCannotBeDiagonalisedIsKeptAsItIs) {
  // critically damped: a double eigenvalue with one eigenvector
  const MatrixXd one = MatrixXd::Ones(1, 1);
  const LinearModel whole = mechanical(one, 2 * one, one, one, {0});
  const LinearModel model = truncate(whole, balanced(2, true));
  const std::complex<double> s(0, 0.7), exact = 1.0 / ((s + 1.0) * (s + 1.0));
  EXPECT_NEAR(std::abs(transfer(model, s)(0, 0) - exact), 0, 1e-12);
}

// ------------------------------------------------------------------------------------------- in time

// x'' + 2 D w x' + w^2 x = u.
LinearModel oscillator(double w, double D) {
  const MatrixXd one = MatrixXd::Ones(1, 1);
  return mechanical(one, 2 * D * w * one, w * w * one, one, {0});
}

TEST(LinearStepper, HeldAndQuadraticInputsAreSolvedExactly) {
  const double w = 40, D = 0.1, h = 0.05;
  const LinearModel model = oscillator(w, D);
  LinearStepper stepper(model, h);
  // particular solution of u = a + b t + c t^2 is p + q t + r t^2, the rest decays
  const double a = 3, b = -70, c = 900;
  const double r = c / (w * w), q = (b - 4 * D * w * r) / (w * w), p = (a - 2 * D * w * q - 2 * r) / (w * w);
  const double x0 = 0.02, v0 = -1, wd = w * std::sqrt(1 - D * D);
  const auto exact = [&](double t) {
    const double A = x0 - p, B = (v0 - q + D * w * A) / wd;
    return std::exp(-D * w * t) * (A * std::cos(wd * t) + B * std::sin(wd * t)) + p + q * t + r * t * t;
  };
  VectorXd x = Eigen::Vector2d(x0, v0), u(1), middle(1), end(1);
  for (int k = 0; k < 20; ++k) {
    const auto at = [&](double t) { return a + b * t + c * t * t; };
    u[0] = at(k * h);
    middle[0] = at((k + 0.5) * h);
    end[0] = at((k + 1) * h);
    stepper.quadratic(u, middle, end, x);
    // round-off of twenty steps of numbers up to 2
    EXPECT_NEAR(x[0], exact((k + 1) * h), 1e-13) << k;
  }
  // held: the same with b = c = 0 is a decaying oscillation about a / w^2
  x = Eigen::Vector2d(a / (w * w), 0);
  u[0] = a;
  for (int k = 0; k < 20; ++k) stepper.held(u, x);
  EXPECT_NEAR(x[0], a / (w * w), 1e-15);
  EXPECT_NEAR(x[1], 0, 1e-14);
}

TEST(LinearStepper, StiffAndSlowPartsStandBesideEachOther) {
  // eigenvalues from 1 to 1e6 1/s, one step of a second: the fast one is at rest after it
  LinearModel model = oscillator(1, 0.2);
  const LinearModel fast = oscillator(1e6, 0.7);
  LinearModel both = mechanical(MatrixXd::Identity(2, 2), Eigen::Vector2d(0.4, 1.4e6).asDiagonal(),
                                Eigen::Vector2d(1, 1e12).asDiagonal(), Eigen::Vector2d(1, 1e12), {0, 1});
  LinearStepper slow(model, 1), stepper(both, 1);
  const VectorXd u = VectorXd::Ones(1);
  VectorXd x = VectorXd::Zero(4), expected = VectorXd::Zero(2);
  stepper.held(u, x);
  slow.held(u, expected);
  // twenty squarings of a matrix that decays
  EXPECT_NEAR(x[0], expected[0], 1e-9);
  EXPECT_NEAR(x[1], 1, 1e-9);
}

#if LISSOM_COUNTS_MALLOC
TEST(LinearRom, EvaluationsAndStepsAllocateNothing) {
  LinearRom rom(chain(10));
  LinearStepper stepper(rom.model(), 0.01);
  VectorXd x = VectorXd::Zero(20), u = VectorXd::Ones(2), none, f(20), y(2);
  MatrixXd J(20, 20);
  const long before = test::allocations;
  for (int i = 0; i < 10; ++i) {
    stepper.quadratic(u, u, u, x);
    rom.rhs(0, x, u, f);
    rom.rhs(0, x, none, f);
    rom.output(0, x, u, y);
    rom.jacobian(0, x, u, J);
    rom.range(0, x, u);
  }
  EXPECT_EQ(test::allocations - before, 0);
}
#endif

TEST(LinearRom, StepsEndAtKinksAndJumps) {
  // a force that jumps to 2 N at 0.0317 s, which no multiple of the step is, and an oscillator at rest
  const double w = 30, D = 0.05, at = 0.0317;
  std::vector<LinearDrive> drives = {{{TimeFunction::table({0, at, at + 0.01, 1}, {0, 0, 1, 1})}, {2}}};
  LinearRom rom(oscillator(w, D), drives);
  LinearRunOptions options;
  options.end = 0.2;
  options.step = 0.01;
  options.sample = 0.05;
  std::vector<double> times, values;
  options.output = [&](double t, const VectorXd&, const VectorXd&, const VectorXd& y) {
    times.push_back(t);
    values.push_back(y[0]);
  };
  const LinearRunSummary summary = run_linear(rom, options);
  ASSERT_EQ(times.size(), 5u);
  EXPECT_EQ(times.back(), 0.2);
  EXPECT_EQ(summary.samples, 5);
  // the answer to a ramp from zero of slope one, of which there are two
  const double wd = w * std::sqrt(1 - D * D);
  const auto ramp = [&](double t) {
    if (t <= 0) return 0.0;
    const double p = -2 * D / (w * w * w), A = -p, B = (-1 / (w * w) + D * w * A) / wd;
    return std::exp(-D * w * t) * (A * std::cos(wd * t) + B * std::sin(wd * t)) + p + t / (w * w);
  };
  for (size_t i = 0; i < times.size(); ++i)
    // exact but for round-off: loads are straight lines within steps
    EXPECT_NEAR(values[i], 200 * (ramp(times[i] - at) - ramp(times[i] - at - 0.01)), 1e-14) << times[i];
  EXPECT_LT(summary.propagators, 12);
}

TEST(LinearRom, InputsAreCountedFromTheOperatingPoint) {
  LinearModel model = oscillator(10, 0.1);
  model.u0[0] = 5;
  model.y0[0] = 0.25;
  LinearRom rom(model);
  VectorXd u(1), f(2), y(1), none;
  rom.inputs_at(0.3, u);
  EXPECT_EQ(u[0], 5);
  // without numbers and with those of the operating point nothing moves
  rom.rhs(0, rom.start(), none, f);
  EXPECT_EQ(f.norm(), 0);
  u[0] = 7;
  rom.rhs(0, rom.start(), u, f);
  EXPECT_EQ(f[1], 2);
  rom.output(0, rom.start(), u, y);
  EXPECT_EQ(y[0], 0.25);
}

}  // namespace
}  // namespace lissom::linear_model_test

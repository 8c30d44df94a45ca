// The polynomial form of SLAP: its kernel against differences and plain sums, its fit against the exact kernel.
#include "lissom/rom/slap/polynomial_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "lissom/rom/slap/polynomial_fit.hpp"
#include "lissom/rom/slap/polynomial_watch.hpp"
#include "lissom/rom/slap/slap_body.hpp"
#include "lissom/rom/slap/slap_kernel.hpp"
#include "lissom/time/initial_state.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/mbs/body_checks.hpp"
#include "tests/mbs/marker_support.hpp"
#include "tests/rom/nodal_slap.hpp"
#include "tests/rom/trained_four_bar.hpp"
#include "tests/time/run.hpp"

namespace lissom::slap_polynomial_test {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::model_of;
using test::pushed_four_bar;
using test::Random;
using test::TrainedFourBar;
using test::turned_state;
using test::turning_slap;

const Vector3d no_gravity = Vector3d::Zero();

double relative(const MatrixXd& found, const MatrixXd& expected) {
  return (found - expected).norm() / expected.norm();
}

// y_r of packed rows by plain sums.
VectorXd rows_at(const MatrixXd& S, const VectorXd& eta) {
  const Eigen::Index m = eta.size();
  VectorXd e(m + 1), y = VectorXd::Zero(S.rows());
  e << 1, eta;
  for (Eigen::Index q = 0; q <= m; ++q)
    for (Eigen::Index p = q; p <= m; ++p) y += S.col(SlapPolynomial::monomial(q, p, m)) * e[q] * e[p];
  return y;
}

struct RandomForm {
  RandomForm(int unknowns, int rows, int damping_rows) : m(unknowns), random(unsigned(unknowns + rows)) {
    const int monomials = (m + 1) * (m + 2) / 2;
    form.S = matrix(rows, monomials);
    if (damping_rows > 0) form.S_damping = matrix(damping_rows, monomials);
    eta = random.vector(m);
    v = random.vector(m);
  }
  MatrixXd matrix(int rows, int cols) { return random.vector(rows * cols).reshaped(rows, cols); }
  int m;
  Random random;
  SlapPolynomial form;
  VectorXd eta, v;
};

TEST(SlapPolynomial, MonomialsStandRowByRow) {
  Eigen::Index at = 0;
  for (int q = 0; q <= 4; ++q)
    for (int p = q; p <= 4; ++p) EXPECT_EQ(SlapPolynomial::monomial(q, p, 4), at++);
}

// Of rows that fill a vector, some, or several, and unknowns that do or do not fill groups of four.
TEST(SlapPolynomial, EnergyForceAndTangentAreThoseOfThePlainSums) {
  for (const auto& sizes : {std::array{1, 1, 0}, std::array{2, 8, 3}, std::array{3, 9, 0},
                            std::array{6, 17, 0}, std::array{10, 30, 22}}) {
    const int m = sizes[0], rows = sizes[1], damping_rows = sizes[2];
    RandomForm sample(m, rows, damping_rows);
    const PolynomialKernel kernel(sample.form, m);
    PolynomialKernel::Room room(kernel);
    const auto force = [&](const VectorXd& eta, const VectorXd& v) {
      VectorXd g = VectorXd::Zero(m);
      kernel.update(eta, v, room);
      kernel.add_force(room, g);
      return g;
    };
    const VectorXd y = rows_at(sample.form.S, sample.eta);
    VectorXd expected(m);
    // differences of fourth order are exact for these polynomials, but for round-off over the steps of 1e-2
    for (int r = 0; r < m; ++r)
      expected[r] = test::slope(
          [&](double t) {
            VectorXd moved = sample.eta;
            moved[r] += t;
            return MatrixXd::Constant(1, 1, 0.5 * rows_at(sample.form.S, moved).squaredNorm());
          },
          1e-2)(0, 0);
    double power = 0;
    if (damping_rows > 0) {
      const MatrixXd rate = test::slope(
          [&](double t) { return MatrixXd(rows_at(sample.form.S_damping, sample.eta + t * sample.v)); },
          1e-2);
      power = rate.squaredNorm();
      // half the gradient of the power in v
      for (int r = 0; r < m; ++r)
        expected[r] +=
            0.5 * test::slope(
                      [&](double t) {
                        VectorXd moved = sample.v;
                        moved[r] += t;
                        const MatrixXd of = test::slope(
                            [&](double s) {
                              return MatrixXd(rows_at(sample.form.S_damping, sample.eta + s * moved));
                            },
                            1e-2);
                        return MatrixXd::Constant(1, 1, of.squaredNorm());
                      },
                      1e-2)(0, 0);
    }
    EXPECT_LT(relative(force(sample.eta, sample.v), expected), 1e-11) << m;
    EXPECT_NEAR(kernel.energy(room), 0.5 * y.squaredNorm(), 1e-14 * y.squaredNorm()) << m;
    EXPECT_NEAR(kernel.damping_power(room), power, 1e-11 * power) << m;

    // tangents, with weights, added to what is there
    MatrixXd found(m, m), slopes(m, m);
    for (int r = 0; r < m; ++r)
      slopes.col(r) = test::slope(
          [&](double t) {
            VectorXd eta = sample.eta, v = sample.v;
            eta[r] += 0.7 * t;
            v[r] += 0.3 * t;
            return MatrixXd(force(eta, v));
          },
          1e-2);
    kernel.update(sample.eta, sample.v, room);
    found = MatrixXd::Constant(m, m, 2);
    kernel.add_tangent(0.7, 0.3, room, found);
    found.array() -= 2;
    EXPECT_LT(relative(found, slopes), 1e-11) << m;
    if (damping_rows == 0) EXPECT_EQ(found, MatrixXd(found.transpose()));
  }
}

#if LISSOM_COUNTS_MALLOC
TEST(SlapPolynomial, AllocatesNothingOnceItHasRoom) {
  RandomForm sample(10, 30, 22);
  const PolynomialKernel kernel(sample.form, 10);
  PolynomialKernel::Room room(kernel);
  VectorXd g = VectorXd::Zero(10);
  MatrixXd J = MatrixXd::Zero(10, 10);
  const long before = test::allocations;
  for (int i = 0; i < 10; ++i) {
    sample.eta[0] += 0.1;
    kernel.update(sample.eta, sample.v, room);
    kernel.add_force(room, g);
    kernel.add_tangent(1, 1, room, J);
  }
  EXPECT_EQ(test::allocations - before, 0);
}
#endif

// ---- bodies that turn by any angle

// Polynomial of the turning boxes, trained on deformations of `a` at angles all around.
SlapModel turning_model(double a, const test::NodalModelOptions& options = {}) {
  PolynomialOptions fit;
  fit.tolerance = 1e-3;  // of places with arms of some tenths of a metre
  SlapModel model = model_of(turning_slap(), options);
  constexpr int count = 24;
  MatrixXd states(8, count);
  for (int i = 0; i < count; ++i)
    states.col(i) = turned_state(2 * std::numbers::pi * i / count, Vector3d::Zero(), a * std::sin(3.0 * i));
  model.training = make_training(states);
  std::vector<MatrixXd> w(3, MatrixXd::Zero(0, 9));
  add_polynomial(model, w, states, fit);
  return model;
}

VectorXd polynomial_force(const SlapModel& model, const VectorXd& eta, double* energy = nullptr) {
  const PolynomialKernel kernel(*model.polynomial, model.order());
  PolynomialKernel::Room room(kernel);
  VectorXd g = VectorXd::Zero(eta.size());
  kernel.update(eta, VectorXd::Zero(eta.size()), room);
  kernel.add_force(room, g);
  if (energy) *energy = kernel.energy(room);
  return g;
}

TEST(SlapPolynomial, RigidTurnsByAnyAngleCostNothing) {
  const SlapModel model = turning_model(1e-5);
  const double stiff = 1e7;  // stiffness times volume and length
  for (const double angle : {0.3, 1.5, 3.1, -2.0, 40.0}) {
    double V = 0;
    const VectorXd g = polynomial_force(model, turned_state(angle, {0.5, -3, 2}, 0), &V);
    // the rounding of coordinates: 1e-16 of strain; of ten revolutions a few more
    EXPECT_LT(V, 1e-29 * stiff) << angle;
    EXPECT_LT(g.norm(), 1e-13 * stiff) << angle;
    // deformed, energy does not depend on the angle: strains of 1e-5 carry noise of 1e-16
    double V_0 = 0;
    polynomial_force(model, turned_state(0, Vector3d::Zero(), 1e-5), &V_0);
    polynomial_force(model, turned_state(angle, {0.5, -3, 2}, 1e-5), &V);
    EXPECT_NEAR(V, V_0, 1e-10 * V_0) << angle;
  }
}

TEST(SlapPolynomial, ErrorIsOfTheOrderOfTheStrain) {
  for (const double a : {1e-6, 1e-5, 1e-4, 1e-3}) {
    const SlapModel model = turning_model(a);
    // deformations of these boxes strain them by some a
    EXPECT_LT(model.polynomial->row_error, 10 * a);
    EXPECT_GT(model.polynomial->row_error, 0.01 * a);
    const VectorXd eta = turned_state(0.7, Vector3d::Zero(), a);
    VectorXd exact(8);
    slap_elastic(model, eta, exact, nullptr);
    EXPECT_LT(relative(polynomial_force(model, eta), exact), 20 * a);
  }
}

TEST(SlapPolynomial, BodiesHaveExactDerivativesAndLinearMarkers) {
  test::NodalModelOptions options;
  options.damping_ratio = 0.05;
  options.mass_damping = 0.7;
  const SlapModel model = turning_model(1e-5, options);
  ASSERT_EQ(inconsistency_of(model), "");
  ASSERT_GT(model.polynomial->S_damping.rows(), 0);
  const auto body = make_slap_body("mechanism", model);
  Random random(5);
  const test::Motion motion = {turned_state(0.4, {0.1, 0, 0}, 1e-5) + 1e-4 * random.vector(8),
                               random.vector(8), random.vector(8)};
  // as of the exact kernel (slap_body_test): fourth order differences, exact for polynomials but for round-off
  const test::DerivativeErrors errors = test::derivative_errors(*body, motion, 5e-4);
  EXPECT_LT(errors.q, 1e-8);
  EXPECT_LT(errors.v, 1e-9);
  EXPECT_LT(errors.a, 1e-7);
  EXPECT_LT(errors.combined, 1e-13);

  MarkerSpec spec;
  spec.part = "top";
  spec.name = "end";
  spec.axes = test::about_x(0.3);
  const int marker = body->add_marker(spec);
  const Matrix12Xd* L = body->linear_marker(marker);
  ASSERT_NE(L, nullptr);
  MarkerKinematics k;
  const auto room = body->workspace();
  body->marker(marker, motion.q, motion.v, true, *room, k);
  EXPECT_TRUE(k.rotates);
  VectorXd e(9), rate(9);
  e << 1, motion.q;
  rate << 0, motion.v;
  EXPECT_LT((k.m - *L * e).norm(), 1e-15);
  EXPECT_LT((k.rate - *L * rate).norm(), 1e-14);
  EXPECT_EQ(k.V.norm(), 0);
  // a rigid turn: the axes and the arm turn with the part
  const VectorXd eta = turned_state(1.2, {0.1, 0.2, 0.3}, 0);
  body->marker(marker, eta, eta, true, *room, k);
  EXPECT_LT((k.axes() - test::about_x(1.5)).norm(), 1e-12);
  // the exact one has a polar factor, and no such map
  SlapModel without = model;
  without.polynomial.reset();
  for (SlapFrame& frame : without.frames) frame.linear_axes.resize(0, 0);
  const auto exact = make_slap_body("mechanism", without);
  EXPECT_EQ(exact->linear_marker(exact->add_marker(spec)), nullptr);
}

// ---- a trained mechanism

struct Trained {
  explicit Trained(int m) {
    const TrainedFourBar& four_bar = pushed_four_bar();
    space = four_bar.space();
    basis = four_bar.basis(space);
    exact = make_slap_model(space, basis, m);
    model = exact;
    add_polynomial(model, space, basis);
  }
  SlapSpace space;
  SlapBasis basis;
  SlapModel exact, model;
};

TEST(SlapPolynomial, ForcesOfATrainedMechanismAreThoseOfTheExactKernel) {
  const Trained trained(6);
  const SlapPolynomial& form = *trained.model.polynomial;
  EXPECT_EQ(inconsistency_of(trained.model), "");
  Eigen::Index rows = 0;
  for (const SlapPart& part : trained.model.parts) rows += part.C.rows();
  // 28 monomials
  EXPECT_LE(form.S.rows(), 28);
  EXPECT_LT(form.S.rows(), rows);
  // bars that bend by a hundredth of a micrometre
  EXPECT_LT(form.displacement, 1e-14);
  EXPECT_LT(form.misfit.maxCoeff(), 0.3 * form.strain.maxCoeff());
  double worst = 0;
  for (const int sample : {20, 60, 100}) {
    const VectorXd eta = trained.basis.eta.col(sample).head(6);
    VectorXd g(6);
    slap_elastic(trained.exact, eta, g, nullptr);
    worst = std::max(worst, relative(polynomial_force(trained.model, eta), g));
  }
  EXPECT_LT(worst, 1e-6);
  RecordProperty("rows", int(form.S.rows()));
  RecordProperty("of", int(rows));
  RecordProperty("strain", fmt::format("{:.1e}", form.strain.maxCoeff()));
  RecordProperty("misfit", fmt::format("{:.1e}", form.misfit.maxCoeff()));
  RecordProperty("row_error", fmt::format("{:.1e}", form.row_error));
  RecordProperty("displacement", fmt::format("{:.1e}", form.displacement));
  RecordProperty("force", fmt::format("{:.1e}", worst));
}

TEST(SlapPolynomial, TrajectoriesOfTheFourBarAreThoseOfTheExactKernel) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  const Trained trained(6);
  const IntegratorOptions options = TrainedFourBar::exact(0.15, 5e-4, 100);
  const auto exact = test::move(*four_bar.reduced(trained.exact), options),
             polynomial = test::move(*four_bar.reduced(trained.model), options);
  ASSERT_EQ(exact.states.size(), polynomial.states.size());
  double worst = 0;
  for (size_t i = 0; i < exact.states.size(); ++i)
    worst = std::max(worst,
                     (exact.states[i].q - polynomial.states[i].q).cwiseProduct(trained.model.scale).norm());
  EXPECT_LT(worst, 1e-13);
  RecordProperty("difference", fmt::format("{:.1e}", worst));
}

// Loads 100 and 10,000 times as large, in a tenth and a hundredth of the time: the bars come as far.
TEST(SlapPolynomial, ErrorGrowsWithTheLoadAndIsKnown) {
  struct Case {
    double factor, largest;
  };
  // design figures of another mesh: 1.2e-10 and 2.4e-7 m; what is measured beforehand is in its size
  for (const Case& c : {Case{100, 1e-9}, Case{10000, 5e-6}}) {
    test::FourBarOptions given;
    given.force = 5 * c.factor;
    const double shorter = std::sqrt(c.factor);
    given.ramp = 0.01 / shorter;
    const double end = 0.1 / shorter, step = 5e-4 / shorter;
    const TrainedFourBar four_bar(given, end, step, 50);
    const SlapSpace space = four_bar.space();
    const SlapBasis basis = four_bar.basis(space);
    const SlapModel exact = make_slap_model(space, basis, 6);
    SlapModel model = exact;
    add_polynomial(model, space, basis);
    const IntegratorOptions options = TrainedFourBar::exact(end, step, 50);
    const auto of_exact = test::move(*four_bar.reduced(exact), options),
               of_polynomial = test::move(*four_bar.reduced(model), options);
    double worst = 0;
    for (size_t i = 0; i < of_exact.states.size(); ++i)
      worst = std::max(worst,
                       (of_exact.states[i].q - of_polynomial.states[i].q).cwiseProduct(model.scale).norm());
    EXPECT_LT(worst, c.largest) << c.factor;
    EXPECT_LT(worst, 30 * model.polynomial->displacement) << c.factor;
    RecordProperty(fmt::format("strain_{:g}", c.factor),
                   fmt::format("{:.1e}", model.polynomial->strain.maxCoeff()));
    RecordProperty(fmt::format("misfit_{:g}", c.factor),
                   fmt::format("{:.1e}", model.polynomial->misfit.maxCoeff()));
    RecordProperty(fmt::format("measured_{:g}", c.factor),
                   fmt::format("{:.1e}", model.polynomial->displacement));
    RecordProperty(fmt::format("difference_{:g}", c.factor), fmt::format("{:.1e}", worst));
  }
}

// ---- whether it is taken

TEST(SlapPolynomial, IsTakenWhereItIsNearEnoughAndSaysSo) {
  const TrainedFourBar& four_bar = pushed_four_bar();
  const SlapSpace space = four_bar.space();
  const SlapBasis basis = four_bar.basis(space);
  SlapModel model = make_slap_model(space, basis, 4);
  choose_form(model, space, basis, SlapForm::Automatic, 1e-12);
  ASSERT_TRUE(model.polynomial);
  EXPECT_EQ(model.polynomial_why.substr(0, 16), "a polynomial of ") << model.polynomial_why;
  // nothing is as near as that
  choose_form(model, space, basis, SlapForm::Automatic, 1e-25);
  EXPECT_FALSE(model.polynomial);
  EXPECT_NE(model.polynomial_why.find(
                "the exact kernel: a polynomial is not near enough to it, as it would move nodes by"),
            std::string::npos)
      << model.polynomial_why;
  choose_form(model, space, basis, SlapForm::Polynomial, 1e-25);
  EXPECT_TRUE(model.polynomial);
  EXPECT_NE(model.polynomial_why.find(", as asked for, though it would move nodes by"), std::string::npos);
  model = make_slap_model(space, basis, 4);
  choose_form(model, space, basis, SlapForm::Exact, 1);
  EXPECT_FALSE(model.polynomial);
}

TEST(SlapPolynomial, BodiesThatAreTooStrainedAreNamed) {
  EXPECT_EQ(too_far_for_polynomial(turning_model(1e-5), 1), "");
  const std::string against = too_far_for_polynomial(turning_model(0.05), 1);
  EXPECT_NE(against.find("is strained by up to"), std::string::npos) << against;
  EXPECT_NE(against.find("body '"), std::string::npos) << against;
}

State state_of(const VectorXd& eta, double t = 0) {
  State state;
  state.t = t;
  state.q = eta;
  return state;
}

TEST(SlapPolynomial, AWatchComparesItWithTheExactKernelAndWarns) {
  SlapModel model = turning_model(1e-5);
  model.accuracy.largest_error = 1e-6;
  PolynomialWatch watch(&model);
  ASSERT_TRUE(watch.known());
  EXPECT_EQ(watch.limit(), 1e-6);
  Diagnostics diagnostics;
  watch.at(state_of(turned_state(0.3, Vector3d::Zero(), 1e-5), 0.1));
  watch.warn(diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_GT(watch.largest(), 0);
  EXPECT_LT(watch.largest(), 1e-9);
  watch.at(state_of(turned_state(0.3, Vector3d::Zero(), 0.02), 0.2));
  watch.at(state_of(turned_state(0.3, Vector3d::Zero(), 0.01), 0.3));
  EXPECT_EQ(watch.largest_at(), 0.2);
  EXPECT_EQ(watch.outside_since(), 0.2);
  watch.warn(diagnostics);
  ASSERT_EQ(diagnostics.warnings().size(), 1);
  EXPECT_EQ(diagnostics.warnings()[0].key, "simulate.polynomial");
  EXPECT_NE(diagnostics.warnings()[0].message.find("from t = 0.2 s on bodies are too strained"),
            std::string::npos);
  // what it is, by hand: u = (J'J + w0^2 M)^-1 dg with J by differences of plain sums
  const VectorXd eta = turned_state(0.3, Vector3d::Zero(), 0.02);
  VectorXd exact(8);
  slap_elastic(model, eta, exact, nullptr);
  MatrixXd J(model.polynomial->S.rows(), 8);
  for (int r = 0; r < 8; ++r)
    J.col(r) = test::slope(
        [&](double t) { return MatrixXd(rows_at(model.polynomial->S, eta + t * VectorXd::Unit(8, r))); },
        1e-3);
  const double w0 = 20 * std::numbers::pi;
  const MatrixXd stiffness = J.transpose() * J + w0 * w0 * model.M;
  const VectorXd u = stiffness.fullPivLu().solve(polynomial_force(model, eta) - exact);
  EXPECT_NEAR(watch.largest(), u.cwiseProduct(model.scale).norm(), 1e-6 * watch.largest());
  // a state without a rotation is as far as can be
  VectorXd inside_out = VectorXd::Zero(8);
  inside_out[0] = -1;
  watch.at(state_of(inside_out, 0.4));
  EXPECT_TRUE(std::isinf(watch.largest()));
  // of the exact kernel there is nothing to watch
  const SlapModel without = without_polynomial(model);
  EXPECT_FALSE(PolynomialWatch(&without).known());
  EXPECT_FALSE(PolynomialWatch(nullptr).known());
}

// ---- ten revolutions

// The boxes turn about x at half a radian a second and wind up a torsion spring.
System wound_up(SlapModel model, MarkerRef& turning) {
  model.start = turned_state(0, Vector3d::Zero(), 0);
  model.start_rate = VectorXd::Zero(8);
  model.start_rate[1] = 0.5;
  System system;
  const int body = system.add_body(make_slap_body("mechanism", model));
  // axis 3 along x
  Matrix3d axes;
  axes << 0, 0, 1, 1, 0, 0, 0, 1, 0;
  MarkerSpec spec;
  spec.part = "left";
  spec.name = "end";
  spec.axes = axes;
  Load spring;
  spring.name = "spring";
  spring.kind = LoadKind::TorsionSpring;
  spring.first = system.add_ground_marker(Vector3d::Zero(), axes);
  spring.second = turning = system.add_marker(body, spec);
  spring.has_second = true;
  spring.stiffness = 1e-4;
  system.add_load(spring);
  return system;
}

TEST(SlapPolynomial, ACrankThatTurnsTenTimesWindsUpItsSpring) {
  const SlapModel model = turning_model(1e-5);
  IntegratorOptions options;
  options.integrator = Integrator::GeneralizedAlpha;
  options.end = 20 * std::numbers::pi / 0.5;
  options.step = options.end / 12000;
  options.sample = options.end / 240;
  options.newton.tolerance = 1e-14;
  options.newton.reuse_rate = 0;
  MarkerRef turning;
  const auto angle_of = [](const std::vector<State>& states) {
    double angle = 0, before = 0;
    for (const State& state : states) {
      const double now = std::atan2(state.q[1], 1 + state.q[0]);
      angle += std::remainder(now - before, 2 * std::numbers::pi);
      before = now;
    }
    return angle;
  };
  const auto polynomial = test::move(wound_up(model, turning), options);
  const auto exact = test::move(wound_up(without_polynomial(model), turning), options);
  const double angle = angle_of(polynomial.states);
  // the spring takes a part of the speed away
  EXPECT_GT(angle, 18 * std::numbers::pi);
  // counted on: half k angle^2; the axes of the place are a rotation to 1e-5 and turn with the boxes
  EXPECT_NEAR(polynomial.energies.back().springs, 0.5 * 1e-4 * angle * angle,
              1e-5 * polynomial.energies.back().springs);
  EXPECT_LT(polynomial.energy_drift(), 1e-4);
  // both make the same error of time integration
  EXPECT_NEAR(angle, angle_of(exact.states), 1e-6);
  RecordProperty("turns", fmt::format("{:.3f}", angle / (2 * std::numbers::pi)));
  RecordProperty("difference", fmt::format("{:.1e}", angle - angle_of(exact.states)));
  RecordProperty("drift", fmt::format("{:.1e}", polynomial.energy_drift()));
}

}  // namespace
}  // namespace lissom::slap_polynomial_test

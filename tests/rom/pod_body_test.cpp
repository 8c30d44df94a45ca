// The reduced mechanism against the beams it was made of.
#include "lissom/rom/pod/pod_body.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <cmath>
#include <functional>
#include <random>

#include "lissom/rom/pod/pod.hpp"
#include "lissom/rom/pod/pod_force.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/mbs/body_checks.hpp"
#include "tests/rom/ancf_runs.hpp"

namespace lissom::pod_body_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::BodyRun;
using test::double_pendulum;
using test::PendulumOptions;

const Vector3d fall(0, -9.81, 0);

// A pendulum of few elements that has fallen for a while, and a basis of it.
struct Fallen {
  explicit Fallen(const PendulumOptions& given = few(), int order = 7, double end = 0.4)
      : options(given), body("pendulum", double_pendulum(given)), r(order) {
    const BodyRun run = test::run_body(body, gravity(), 2e-3, end);
    E = test::nodal_states(body, run);
    q = run.q;
    PodOptions pod;
    pod.keep = 40;
    sample = make_pod_sample({}, E, pod, {});
  }
  static PendulumOptions few() {
    PendulumOptions options;
    options.elements = 6;
    return options;
  }
  // out of the plane where there is one
  Vector3d gravity() const { return options.dimension == 2 ? fall : Vector3d(0, -9.81, 3); }
  PodBody reduced(PodForce force, double tolerance = 1e-6) {
    PodBodyOptions with;
    with.force = force;
    with.ecsw_tolerance = tolerance;
    return PodBody("reduced", {&body}, E.col(0), sample.basis.leftCols(r), sample.snapshots, with,
                   diagnostics);
  }

  PendulumOptions options;
  AncfBody body;
  int r;
  MatrixXd E, q;
  PodSample sample;
  Diagnostics diagnostics;
};

// xi beside the motion, by parts of what the motion spans.
VectorXd beside(const PodBody& pod, double part, unsigned seed) {
  std::mt19937 random(seed);
  const SlapTraining& training = pod.training();
  const VectorXd at = training.samples.col(training.samples.cols() * 2 / 3);
  return at + part * training.spread.cwiseProduct(test::normal_vector(at.size(), random));
}

PendulumOptions damped(int dimension, double beta, const AncfLaw& law = {}) {
  PendulumOptions options = Fallen::few();
  options.dimension = dimension;
  options.damping = beta;
  options.law = law;
  return options;
}

const AncfLaw exudyn{AxialStrain::Engineering, BendingStrain::MaterialCurvature};

TEST(PodBody, TensorForceIsTheProjectedForceOfAllElements) {
  for (const int dimension : {2, 3}) {
    Fallen fallen(damped(dimension, 0));
    const PodBody tensor = fallen.reduced(PodForce::Tensor), direct = fallen.reduced(PodForce::Direct);
    EXPECT_EQ(tensor.report().force, PodForce::Tensor);
    const int r = tensor.coordinates();
    // what cancels in the force: its linear part, by the tangent at the reference
    MatrixXd K, expected_K;
    VectorXd f(r), expected(r), rest = VectorXd::Zero(r);
    tensor.elastic(rest, f, &K);
    for (const double part : {0.0, 0.05, 0.5}) {
      const VectorXd xi = beside(tensor, part, 3);
      const double size = (K * xi).norm();
      const double U = tensor.elastic(xi, f, &K), V = direct.elastic(xi, expected, &expected_K);
      EXPECT_LT((f - expected).norm(), 1e-13 * size) << dimension << " " << part;
      EXPECT_LT((K - expected_K).norm(), 1e-13 * expected_K.norm()) << dimension << " " << part;
      // energies of size EA l / 8 cancel in the polynomial
      EXPECT_NEAR(U, V, 1e-13 * (xi.dot(K * xi) + 80e6 * 9e-4 / 8)) << dimension << " " << part;
    }
  }
}

TEST(PodBody, ForceIsTheProjectionOfTheBeamsOwn) {
  Fallen fallen;
  const PodBody direct = fallen.reduced(PodForce::Direct);
  // states of the motion itself as the basis has them, pins and support included
  for (const Index k : {40, 120, 200}) {
    const VectorXd xi = direct.from_nodal(fallen.E.col(k));
    const VectorXd q = fallen.body.from_nodal(direct.nodal(xi));
    ASSERT_LT((fallen.body.nodal(q) - direct.nodal(xi)).norm(), 1e-12);
    const VectorXd zero = VectorXd::Zero(q.size());
    VectorXd full = VectorXd::Zero(q.size()), f(direct.coordinates());
    const auto room = fallen.body.workspace();
    fallen.body.add_residual(q, zero, zero, 1, Vector3d::Zero(), *room, full);
    direct.elastic(xi, f, nullptr);
    // work in each direction of the basis
    for (int j = 0; j < direct.coordinates(); ++j) {
      const VectorXd along = direct.nodal(xi + VectorXd::Unit(xi.size(), j)) - direct.nodal(xi);
      const VectorXd dq = fallen.body.from_nodal(direct.nodal(xi + VectorXd::Unit(xi.size(), j))) - q;
      ASSERT_LT((fallen.body.nodal(q + dq) - fallen.body.nodal(q) - along).norm(), 1e-11 * along.norm());
      // differences of states of size one: round-off times the axial stiffness
      EXPECT_NEAR(f[j], full.dot(dq), 1e-10 * full.norm() * dq.norm()) << k << " " << j;
    }
  }
}

TEST(PodBody, EcswReachesItsToleranceWithFewPointsAndHasAnEnergy) {
  for (const AncfLaw& law : {AncfLaw{}, exudyn})
    for (const int dimension : {2, 3}) {
      PendulumOptions options = damped(dimension, 0, law);
      options.elements = 20;
      Fallen fallen(options, 7, 0.3);
      const PodBody ecsw = fallen.reduced(PodForce::Ecsw, 1e-4), direct = fallen.reduced(PodForce::Direct);
      EXPECT_TRUE(fallen.diagnostics.empty());
      EXPECT_LE(ecsw.report().ecsw_error, 1e-4);
      const int most = law.polynomial() ? 30 : 60;
      EXPECT_LT(ecsw.report().points, most);
      EXPECT_EQ(ecsw.report().all_points, 40 * (law.polynomial() ? 5 : 8));
      EXPECT_TRUE(ecsw.symmetric());
      // forces at the training states are those of all elements, to the tolerance of all of them together
      double error = 0, size = 0;
      const int r = ecsw.coordinates();
      VectorXd f(r), g(r);
      MatrixXd K;
      for (Index s = 0; s < ecsw.training().samples.cols(); ++s) {
        const VectorXd xi = ecsw.training().samples.col(s);
        ecsw.elastic(xi, f, nullptr);
        direct.elastic(xi, g, nullptr);
        error += (f - g).squaredNorm();
        size += g.squaredNorm();
      }
      // a law whose axial and bending forces cancel in part loses some of it
      EXPECT_LT(std::sqrt(error / size), 1e-3) << dimension;
      // whatever the weights, an energy: its differences are the force, and those of the force the tangent
      const VectorXd xi = beside(ecsw, 0.1, 8);
      ecsw.elastic(xi, f, &K);
      EXPECT_LT((K - K.transpose()).norm(), 1e-14 * K.norm());
      const VectorXd steps = 1e-3 * ecsw.training().spread;
      const auto energy = [&](const VectorXd& x) {
        VectorXd dummy(r);
        return VectorXd::Constant(1, ecsw.elastic(x, dummy, nullptr));
      };
      const auto force = [&](const VectorXd& x) {
        VectorXd out(r);
        ecsw.elastic(x, out, nullptr);
        return out;
      };
      // differences of fourth order over a thousandth of the motion: round-off over the step remains
      EXPECT_LT(test::slope_error(energy, xi, steps, f.transpose()), 1e-6) << dimension;
      EXPECT_LT(test::slope_error(force, xi, steps, K), 1e-7) << dimension;
    }
}

TEST(PodBody, JacobianIsTheDerivativeOfTheResidualWithDampingInEveryForm) {
  for (const int dimension : {2, 3})
    for (const AncfLaw& law : {AncfLaw{}, exudyn})
      for (const PodForce force : {PodForce::Tensor, PodForce::Ecsw, PodForce::Direct}) {
        if (force == PodForce::Tensor && !law.polynomial()) continue;
        Fallen fallen(damped(dimension, 2e-3, law), 5, 0.2);
        const PodBody pod = fallen.reduced(force);
        EXPECT_FALSE(pod.symmetric());
        const int r = pod.coordinates();
        std::mt19937 random(4);
        test::Motion s{beside(pod, 0.1, 5),
                       5 * pod.training().spread.cwiseProduct(test::normal_vector(r, random)),
                       test::normal_vector(r, random)};
        const Vector3d gravity = fallen.gravity();
        const double cq = 0.7, cv = 1.3, ca = 2.1, w = 0.9;
        const MatrixXd J = test::jacobian_of(pod, s, w, gravity, cq, cv, ca);
        const VectorXd steps = 1e-3 * pod.training().spread;
        const auto residual = [&](const VectorXd& t) {
          test::Motion moved{s.q + cq * t, s.v + cv * t, s.a + ca * t};
          return test::residual_of(pod, moved, w, gravity);
        };
        // fourth order over a thousandth of the motion
        EXPECT_LT(test::slope_error(residual, VectorXd::Zero(r), steps, J), 1e-7)
            << dimension << " " << static_cast<int>(force) << " " << law.polynomial();
      }
}

TEST(PodBody, DampingOfEveryFormIsThatOfTheElements) {
  for (const int dimension : {2, 3})
    for (const AncfLaw& law : {AncfLaw{}, exudyn}) {
      Fallen fallen(damped(dimension, 2e-3, law), 5, 0.2);
      const PodBody direct = fallen.reduced(PodForce::Direct);
      const PodBody other = fallen.reduced(law.polynomial() ? PodForce::Tensor : PodForce::Ecsw, 1e-10);
      std::mt19937 random(4);
      const VectorXd q = beside(direct, 0, 5),
                     v = 5 * direct.training().spread.cwiseProduct(test::normal_vector(5, random));
      const auto room = direct.workspace(), other_room = other.workspace();
      const Body::Energy expected = direct.energy(q, v, fall, *room),
                         found = other.energy(q, v, fall, *other_room);
      EXPECT_GT(expected.damping_power, 0);
      // directions that no motion of the training had: what rates at the snapshots have taught ecsw
      const double tolerance = law.polynomial() ? 1e-11 : 0.2;
      EXPECT_NEAR(found.damping_power, expected.damping_power, tolerance * expected.damping_power);
      // the power is force times velocity
      VectorXd with = VectorXd::Zero(5), without = with, zero = with;
      direct.add_residual(q, v, zero, 1, Vector3d::Zero(), *room, with);
      direct.add_residual(q, zero, zero, 1, Vector3d::Zero(), *room, without);
      EXPECT_NEAR((with - without).dot(v), expected.damping_power, 1e-9 * expected.damping_power);
    }
}

// Elements, basis and all states of a fallen pendulum, for the forces alone.
struct Sampled {
  explicit Sampled(Fallen& fallen) {
    model.dimension = fallen.options.dimension;
    model.law = fallen.options.law;
    model.elements = fallen.body.elements();
    model.E_ref = fallen.E.col(0);
    model.Psi = fallen.sample.basis.leftCols(fallen.r);
    const Index every = 3, count = (fallen.E.cols() + every - 1) / every;
    const MatrixXd some = fallen.E(Eigen::all, Eigen::seqN(0, count, every));
    xi = model.Psi.transpose() * (some.colwise() - fallen.E.col(0));
  }
  // Largest error over all states of forces at velocities v, over the largest of the forces themselves.
  double error(const PodForceModel& found, const MatrixXd& v) const {
    const auto direct = make_direct_force(model);
    const auto room = found.room(), direct_room = direct->room();
    double worst = 0, size = 0;
    for (Index s = 0; s < xi.cols(); ++s) {
      VectorXd f = VectorXd::Zero(xi.rows()), g = f, still = f, f_still = f, g_still = f;
      found.add_force(xi.col(s), v.col(s), *room, f);
      direct->add_force(xi.col(s), v.col(s), *direct_room, g);
      if (!v.isZero(0)) {
        // the damping force alone
        found.add_force(xi.col(s), still, *room, f_still);
        direct->add_force(xi.col(s), still, *direct_room, g_still);
      }
      worst = std::max(worst, (f - f_still - g + g_still).norm());
      size = std::max(size, (g - g_still).norm());
    }
    return worst / size;
  }
  PodElements model;
  MatrixXd xi;
};

TEST(PodBody, EcswIsJudgedByAllStatesAndNotByThoseThatItSaw) {
  PendulumOptions options = damped(2, 0);
  options.elements = 12;
  Fallen fallen(options, 6, 0.4);
  Sampled of(fallen);
  // an instant that no evenly spaced choice of twenty states has
  std::mt19937 random(11);
  for (const Index s : {11, 29, 30, 47})
    of.xi.col(s) += 0.3 * of.xi.rowwise().norm().cwiseProduct(test::normal_vector(6, random)) / 14;
  EcswTraining training;
  const double tolerance = 1e-4;
  const auto force = make_ecsw_force(of.model, of.xi, tolerance, training, 1);
  EXPECT_TRUE(training.reached);
  EXPECT_LE(training.error, tolerance);
  EXPECT_GT(training.error, 0);
  // by a sum of its own: each state was scaled by its own force, so that the largest errs by little more
  EXPECT_LT(of.error(*force, MatrixXd::Zero(6, of.xi.cols())), 30 * tolerance);
}

TEST(PodBody, EcswSamplesDampingAsWellAsElasticForces) {
  for (const AncfLaw& law : {AncfLaw{}, exudyn}) {
    PendulumOptions options = damped(2, 2e-3, law);
    options.elements = 12;
    Fallen fallen(options, 6, 0.4);
    Sampled of(fallen);
    EcswTraining training;
    const double tolerance = 1e-5;
    const auto force = make_ecsw_force(of.model, of.xi, tolerance, training);
    EXPECT_TRUE(training.reached);
    EXPECT_LE(training.error, tolerance);
    EXPECT_LE(training.damping_error, tolerance);
    EXPECT_GT(training.damping_error, 0);
    // along the motion itself, from state to state; each state was scaled by its own force
    const Index k = of.xi.cols();
    MatrixXd v = MatrixXd::Zero(6, k);
    v.middleCols(1, k - 2) = (of.xi.rightCols(k - 2) - of.xi.leftCols(k - 2)) / 12e-3;
    EXPECT_LT(of.error(*force, v), 30 * tolerance);
  }
}

TEST(PodBody, EnergiesAndMomentaAreThoseOfTheBeams) {
  for (const int dimension : {2, 3}) {
    PendulumOptions options = damped(dimension, 0);
    options.z = 0.7;
    Fallen fallen(options);
    const PodBody pod = fallen.reduced(PodForce::Tensor);
    const Index k = 150;
    const VectorXd xi = pod.from_nodal(fallen.E.col(k));
    const VectorXd q = fallen.body.from_nodal(pod.nodal(xi));
    std::mt19937 random(6);
    const VectorXd rate = 3 * pod.training().spread.cwiseProduct(test::normal_vector(xi.size(), random));
    const VectorXd v = fallen.body.from_nodal(pod.nodal(xi + rate)) - q;
    const Vector3d gravity(1, -9.81, 2);
    const auto room = pod.workspace(), full_room = fallen.body.workspace();
    const Body::Energy found = pod.energy(xi, rate, gravity, *room),
                       expected = fallen.body.energy(q, v, gravity, *full_room);
    // sums over nodes against small matrices; the elastic one loses the digits of EA l / 8
    EXPECT_NEAR(found.kinetic, expected.kinetic, 1e-11 * expected.kinetic);
    EXPECT_NEAR(found.elastic, expected.elastic, 1e-8 * expected.elastic + 1e-9);
    EXPECT_NEAR(found.gravity, expected.gravity, 1e-11);
    EXPECT_LT((found.momentum - expected.momentum).norm(), 1e-11 * (1 + expected.momentum.norm()));
    EXPECT_LT((found.angular_momentum - expected.angular_momentum).norm(),
              1e-11 * (1 + expected.angular_momentum.norm()));
    EXPECT_NEAR(pod.mass(), fallen.body.mass(), 1e-12);
    EXPECT_LT((pod.node_positions(xi) - fallen.body.node_positions(q)).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT((pod.node_velocities(xi, rate) - fallen.body.node_velocities(q, v)).cwiseAbs().maxCoeff(),
              1e-11);
    EXPECT_NEAR(pod.radius(), fallen.body.radius(), 1e-3 * fallen.body.radius());
    // and the residual of gravity is the derivative of its energy
    VectorXd with = VectorXd::Zero(xi.size()), without = with, zero = with;
    pod.add_residual(xi, zero, zero, 1, gravity, *room, with);
    pod.add_residual(xi, zero, zero, 1, Vector3d::Zero(), *room, without);
    const VectorXd other = xi + rate;
    EXPECT_NEAR((with - without).dot(rate), pod.energy(other, zero, gravity, *room).gravity - found.gravity,
                1e-11);
  }
}

TEST(PodBody, CoordinatesAreOrthonormalInTheMassAndFindTheirWayBack) {
  Fallen fallen;
  const PodBody pod = fallen.reduced(PodForce::Tensor);
  const int r = pod.coordinates();
  MatrixXd Psi(fallen.E.rows(), r), M(r, r);
  for (int j = 0; j < r; ++j) Psi.col(j) = pod.nodal(VectorXd::Unit(r, j)) - pod.nodal(VectorXd::Zero(r));
  const auto room = pod.workspace();
  pod.mass(VectorXd::Zero(r), *room, M);
  const SymmetricMatrix nodal_mass = fallen.body.nodal_mass();
  const MatrixXd M_Psi = nodal_mass.full() * Psi;
  EXPECT_LT((Psi.transpose() * M_Psi - M).norm(), 1e-12);
  const VectorXd xi = beside(pod, 0.3, 1);
  EXPECT_LT((pod.from_nodal(pod.nodal(xi)) - xi).norm(), 1e-11 * xi.norm());
  // the start is that of the beams, at rest
  VectorXd q(r), v(r);
  pod.place({}, q, v);
  EXPECT_LT((pod.nodal(q) - fallen.E.col(0)).norm(), 1e-12);
  EXPECT_EQ(v.norm(), 0);
  EXPECT_EQ(distance_from_training(pod.training(), q), 0);
  EXPECT_GT(distance_from_training(pod.training(), 10 * beside(pod, 0, 1)), 1);
}

TEST(PodBody, FollowsTheBeamsItWasTrainedOn) {
  PendulumOptions options = Fallen::few();
  options.elements = 10;
  Fallen fallen(options, 12, 0.6);
  const int tip = fallen.body.node_offset({1, 10}) + 1;
  const auto error = [&](PodForce force, double tolerance) {
    const PodBody pod = fallen.reduced(force, tolerance);
    const BodyRun run = test::run_body(pod, fall, 2e-3, 0.6);
    double difference = 0, size = 0;
    for (Index k = 0; k < run.q.cols(); ++k) {
      difference += std::pow(pod.nodal(run.q.col(k))[tip] - fallen.E(tip, k), 2);
      size += std::pow(fallen.E(tip, k), 2);
    }
    return std::sqrt(difference / size);
  };
  const double exact = error(PodForce::Tensor, 1e-4);
  // twelve modes of a motion of 0.6 s
  EXPECT_LT(exact, 1e-3);
  // the demand on hyper-reduction
  EXPECT_NEAR(error(PodForce::Ecsw, PodBodyOptions{}.ecsw_tolerance), exact, 0.2 * exact);
  RecordProperty("exact", fmt::format("{:.2e}", exact));
}

TEST(PodBody, DeimMeetsTheForcesBetterWithMorePointsAndIsNotSymmetric) {
  Fallen fallen;
  const PodBody direct = fallen.reduced(PodForce::Direct);
  // with eight points the size of the force is met, at least
  double before = 10;
  for (const int points : {8, 16, 32}) {
    PodBodyOptions options;
    options.force = PodForce::Deim;
    options.deim_points = points;
    const PodBody deim("reduced", {&fallen.body}, fallen.E.col(0), fallen.sample.basis.leftCols(7),
                       fallen.sample.snapshots, options, fallen.diagnostics);
    EXPECT_FALSE(deim.symmetric());
    VectorXd f(7), g(7);
    MatrixXd K;
    double error = 0, size = 0;
    for (Index s = 1; s < 40; ++s) {
      const VectorXd xi = deim.training().samples.col(s);
      EXPECT_TRUE(std::isnan(deim.elastic(xi, f, &K)));
      direct.elastic(xi, g, nullptr);
      error = std::max(error, (f - g).norm());
      size = std::max(size, g.norm());
    }
    // singular values of smooth motions fall fast: each doubling leaves a tenth at most
    EXPECT_LT(error, 0.1 * before * size) << points;
    before = error / size;
    const auto force = [&](const VectorXd& x) {
      VectorXd out(7);
      deim.elastic(x, out, nullptr);
      return out;
    };
    const VectorXd xi = deim.training().samples.col(30);
    deim.elastic(xi, f, &K);
    // fourth order over a thousandth of the motion
    EXPECT_LT(test::slope_error(force, xi, 1e-3 * deim.training().spread, K), 1e-7);
  }
  RecordProperty("error", fmt::format("{:.1e}", before));
}

TEST(PodBody, MarkersMoveAsThoseOfTheBeams) {
  for (const int dimension : {2, 3}) {
    Fallen fallen(damped(dimension, 0));
    PodBody pod = fallen.reduced(PodForce::Tensor);
    MarkerSpec spec;
    spec.part = "lower";
    spec.name = "node 3";
    spec.axes = Eigen::AngleAxisd(0.3, Vector3d::UnitZ()).toRotationMatrix();
    const int full = fallen.body.add_marker(spec), own = pod.add_marker(spec);
    const VectorXd xi = pod.from_nodal(fallen.E.col(120)), q = fallen.body.from_nodal(pod.nodal(xi));
    const VectorXd rate = pod.training().spread, v = fallen.body.from_nodal(pod.nodal(xi + rate)) - q;
    MarkerKinematics expected, found;
    const auto room = pod.workspace(), full_room = fallen.body.workspace();
    fallen.body.marker(full, q, v, true, *full_room, expected);
    pod.marker(own, xi, rate, true, *room, found);
    EXPECT_TRUE(pod.marker_rotates(own));
    EXPECT_LT((found.m - expected.m).norm(), 1e-12);
    EXPECT_LT((found.rate - expected.rate).norm(), 1e-11 * (1 + expected.rate.norm()));
    EXPECT_LT((found.J * rate - found.rate).norm(), 1e-12 * (1 + found.rate.norm()));
    // the Hessian is the derivative of J' w
    std::mt19937 random(1);
    const Vector12d w = test::normal_vector(12, random);
    MatrixXd H = MatrixXd::Zero(7, 7);
    pod.add_marker_hessian(own, xi, w, 2, *room, H);
    const auto gradient = [&](const VectorXd& x) {
      MarkerKinematics m;
      pod.marker(own, x, rate, false, *room, m);
      return VectorXd(2 * m.J.transpose() * w);
    };
    EXPECT_LT(test::slope_error(gradient, xi, 1e-3 * pod.training().spread, H), 1e-7) << dimension;
  }
}

TEST(PodBody, AutomaticTakesTheCheapestAndSaysWhy) {
  Fallen fallen(Fallen::few(), 4);
  const PodBody small = fallen.reduced(PodForce::Automatic);
  EXPECT_EQ(small.report().force, PodForce::Tensor) << small.report().why;
  EXPECT_NE(small.report().why.find("ecsw"), std::string::npos);
  EXPECT_LT(small.report().tensor_cost, small.report().direct_cost);
  PendulumOptions options = Fallen::few();
  options.elements = 40;
  Fallen large(options, 20, 0.3);
  const PodBody sampled = large.reduced(PodForce::Automatic, 1e-3);
  EXPECT_EQ(sampled.report().force, PodForce::Ecsw) << sampled.report().why;
  EXPECT_LT(sampled.report().ecsw_cost, sampled.report().tensor_cost);
  EXPECT_NE(sampled.report().why.find("of 400 points"), std::string::npos) << sampled.report().why;
  // a law without tensor, and no snapshots to train with: all elements
  Fallen other(damped(2, 0, exudyn), 4);
  Diagnostics diagnostics;
  const PodBody direct("reduced", {&other.body}, other.E.col(0), other.sample.basis.leftCols(4),
                       MatrixXd(other.E.rows(), 0), {}, diagnostics);
  EXPECT_EQ(direct.report().force, PodForce::Direct) << direct.report().why;
  EXPECT_EQ(distance_from_training(direct.training(), VectorXd::Zero(4)), 0);
}

TEST(PodBody, SeveralBodiesStandOneAfterTheOther) {
  // the two beams as bodies of their own: the same nodal coordinates, so the same basis and forces
  Fallen fallen;
  AncfModel first = fallen.body.model(), second = first;
  first.beams = {first.beams[0]};
  first.pins.clear();
  second.beams = {second.beams[1]};
  second.pins.clear();
  second.supports.clear();
  AncfBody upper("crank", first), lower("rod", second);
  const PodBody together = fallen.reduced(PodForce::Tensor);
  Diagnostics diagnostics;
  PodBodyOptions options;
  options.force = PodForce::Tensor;
  PodBody apart("reduced", {&upper, &lower}, fallen.E.col(0), fallen.sample.basis.leftCols(7),
                fallen.sample.snapshots, options, diagnostics);
  const VectorXd xi = beside(together, 0.1, 2);
  VectorXd f(7), g(7);
  together.elastic(xi, f, nullptr);
  apart.elastic(xi, g, nullptr);
  EXPECT_LT((f - g).norm(), 1e-13 * f.norm());
  EXPECT_EQ(apart.part_names(), (std::vector<std::string>{"upper", "lower"}));
  ASSERT_EQ(apart.node_groups().size(), 2u);
  EXPECT_EQ(apart.node_groups()[1].first, 7);
  // a beam by the name of its body
  MarkerSpec spec;
  spec.part = "rod";
  spec.name = "end";
  MarkerKinematics found;
  const auto room = apart.workspace();
  apart.marker(apart.add_marker(spec), xi, xi, false, *room, found);
  EXPECT_LT((found.position() - apart.node_positions(xi).rightCols(1)).norm(), 1e-14);
}

TEST(PodBody, EvaluatesWithoutAllocating) {
#if LISSOM_COUNTS_MALLOC
  for (const double beta : {0.0, 1e-3})
    for (const PodForce force : {PodForce::Tensor, PodForce::Ecsw, PodForce::Direct, PodForce::Deim}) {
      if (force == PodForce::Deim && beta > 0) continue;
      Fallen fallen(damped(2, beta), 5, 0.2);
      PodBody pod = fallen.reduced(force);
      MarkerSpec spec;
      spec.part = "lower";
      spec.name = "end";
      const int tip = pod.add_marker(spec);
      const auto room = pod.workspace();
      const int r = pod.coordinates();
      VectorXd q = beside(pod, 0.1, 1), v = q, a = q, f = VectorXd::Zero(r);
      MatrixXd J(r, r);
      MarkerKinematics marker;
      pod.marker(tip, q, v, true, *room, marker);
      const long before = test::allocations;
      for (int i = 0; i < 3; ++i) {
        q[0] += 1e-3;
        pod.add_residual(q, v, a, 1, fall, *room, f);
        pod.jacobian(q, v, a, 1, fall, 1, 1, 1, *room, J);
        pod.energy(q, v, fall, *room);
        pod.marker(tip, q, v, true, *room, marker);
      }
      EXPECT_EQ(test::allocations - before, 0) << static_cast<int>(force) << " " << beta;
    }
#endif
}

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

TEST(PodBody, WhatDoesNotFitIsRefused) {
  Fallen fallen;
  const MatrixXd Psi = fallen.sample.basis.leftCols(4);
  const VectorXd E = fallen.E.col(0);
  const auto says = [&](const std::vector<const AncfBody*>& bodies, const VectorXd& E_ref,
                        const MatrixXd& basis, const MatrixXd& snapshots, const PodBodyOptions& options) {
    return message_of(
        [&] { PodBody("reduced", bodies, E_ref, basis, snapshots, options, fallen.diagnostics); });
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const std::vector<const AncfBody*> one = {&fallen.body};
  const MatrixXd& snapshots = fallen.sample.snapshots;
  has(says({}, E, Psi, snapshots, {}), "no ANCF beams");
  has(says(one, E.head(5), Psi, snapshots, {}),
      "56 nodal coordinates, its basis has 56 rows and its offset 5");
  has(says(one, E, Psi, snapshots.topRows(5), {}), "its snapshots 5");
  has(says(one, E, Psi.leftCols(0), snapshots, {}), "basis has 0 columns");
  MatrixXd broken = Psi;
  broken(2, 1) = NAN;
  has(says(one, E, broken, snapshots, {}), "not finite");
  broken = Psi;
  broken.col(3) = broken.col(0) + broken.col(1);
  has(says(one, E, broken, snapshots, {}), "mass matrix is singular");
  PodBodyOptions options;
  options.ecsw_tolerance = 0;
  has(says(one, E, Psi, snapshots, options), "tolerance of ecsw is 0");
  options = {};
  options.force = PodForce::Ecsw;
  has(says(one, E, Psi, MatrixXd(E.size(), 0), options), "ecsw is trained with snapshots");
  options.force = PodForce::Deim;
  has(says(one, E, Psi, MatrixXd(E.size(), 0), options), "deim is trained with snapshots");
  options.deim_points = 50;
  has(says(one, E, Psi, snapshots, options), "deim with 50 points is not possible");
  const AncfBody braked("braked", double_pendulum(damped(2, 1e-3)));
  has(says({&braked}, E, Psi, snapshots, options), "deim has no damping");
  options = {};
  options.force = PodForce::Tensor;
  const AncfBody other("other", double_pendulum(damped(2, 0, exudyn)));
  has(says({&other}, E, Psi, snapshots, options),
      "the tensor form of the reduced force needs Green's strain");
  has(says({&fallen.body, &other}, E, Psi, snapshots, {}), "different strain measures");
  const AncfBody spatial("spatial", double_pendulum(damped(3, 0)));
  has(says({&fallen.body, &spatial}, E, Psi, snapshots, {}), "beams of one dimension");

  PodBody pod = fallen.reduced(PodForce::Tensor);
  const auto marker = [&](MarkerSpec::Kind kind, const std::string& part, const std::string& name,
                          std::vector<std::int64_t> nodes = {}) {
    MarkerSpec spec;
    spec.kind = kind;
    spec.part = part;
    spec.name = name;
    spec.node_ids = std::move(nodes);
    return message_of([&] { pod.add_marker(spec); });
  };
  using Kind = MarkerSpec::Kind;
  has(marker(Kind::Interface, "", "end"), "'reduced' is a reduced mechanism: say which");
  has(marker(Kind::Interface, "uper", "end"), "no beam 'uper'");
  has(marker(Kind::Interface, "upper", "ende"), "no place 'ende'");
  has(marker(Kind::Interface, "upper", "node 8"), "no node 8; it has nodes 1 to 7");
  has(marker(Kind::Nodes, "upper", "", {1, 2}), "at one node, and 2 are named");
  has(marker(Kind::Nodes, "upper", "", {0}), "no node 0");
  has(marker(Kind::Point, "upper", ""), "not at a point");
}

}  // namespace
}  // namespace lissom::pod_body_test

#include "lissom/mbs/floating_frame.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lissom/cms/reduction.hpp"
#include "lissom/core/rotation.hpp"
#include "lissom/mbs/frame_inertia.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/cms/reduction_support.hpp"
#include "tests/mbs/body_checks.hpp"

namespace lissom::floating_frame_test {
namespace {

using Eigen::Matrix3d;
using Eigen::Matrix3Xd;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace test;

const Vector3d gravity(0.3, -0.7, -9.81);

// A reduced body and the finite elements that it came from.
struct Sample {
  std::string name;
  FeModel model;
  ReducedBody reduced;
};

// Rubber of the weight of steel, so that forces of inertia are not lost beside elastic ones: the modes are
// those of steel, the eigenvalues a millionth.
void soften(ReducedBody& body) {
  body.eigenvalues *= 1e-6;
  body.K *= 1e-6;
  body.D *= 1e-3;
}

Sample sample(const SampleBody& body, ReductionBasis basis, bool damped) {
  ReductionOptions options;
  options.basis = basis;
  options.interfaces = body.specs;
  options.selection.range = 8;
  options.selection.tolerance = 1e-2;
  if (damped) options.damping = UniformDamping{0.02};
  Diagnostics diagnostics;
  ReducedBody reduced = reduce(body.model, &body.mesh, options, diagnostics).body;
  reduced.name = body.name;
  soften(reduced);
  return {body.name + ", " + reduced.basis, body.model, std::move(reduced)};
}

// All bases, lumped and consistent masses, with and without spiders and damping.
const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = [] {
    std::vector<Sample> list;
    list.push_back(sample(plate(MassKind::Lumped), ReductionBasis::CraigBampton, true));
    list.push_back(sample(block(MassKind::Consistent), ReductionBasis::FreeModes, false));
    list.push_back(sample(square_beam(MassKind::Consistent), ReductionBasis::FreeInterface, true));
    // damping that couples the modes
    std::mt19937 random(8);
    ReducedBody& body = list[1].reduced;
    const Eigen::Index N = body.size();
    const MatrixXd B = MatrixXd::NullaryExpr(N, N, [&] { return normal_vector(1, random)[0]; });
    body.D = 10 * B * B.transpose();
    return list;
  }();
  return all;
}

RigidBodySpec rigid_spec() {
  RigidBodySpec spec;
  spec.name = "stone";
  spec.mass = 3;
  spec.centre = {0.2, -0.1, 0.4};
  spec.inertia << 0.20, 0.01, -0.02, 0.01, 0.25, 0.03, -0.02, 0.03, 0.18;
  spec.points = {{"tip", Vector3d(1, 0.2, 0.1)}, {"tail", Vector3d(-0.3, 0.1, 0)}};
  return spec;
}

std::vector<std::unique_ptr<Body>> bodies_of(const Sample& sample) {
  std::vector<std::unique_ptr<Body>> list;
  list.push_back(make_rigid_body(sample.name, sample.reduced));
  list.push_back(make_ffrf_body(sample.name, sample.reduced));
  list.push_back(make_fncf_body(sample.name, sample.reduced));
  return list;
}

// Deformed by some hundredths of its size, with points moving at about 2 m/s. The same seed gives FFRF and
// FNCF the same motion.
Motion random_motion(const Body& body, unsigned seed) {
  std::mt19937 random(seed);
  Placement placement;
  placement.position = normal_vector(3, random);
  placement.rotation = rotation_from_vector(normal_vector(3, random));
  placement.velocity = normal_vector(3, random);
  placement.angular_velocity = normal_vector(3, random) / body.radius();
  const int n = body.coordinates(), N = body.flexible_modes();
  Motion s{VectorXd(n), VectorXd(n), VectorXd(n)};
  body.place(placement, s.q, s.v);
  VectorXd scale(n);
  body.displacement_scale(scale);
  s.q.tail(N) = normal_vector(N, random).cwiseQuotient(scale.tail(N)) * (0.03 * body.radius());
  s.v.tail(N) = normal_vector(N, random).cwiseQuotient(scale.tail(N)) * 0.3;
  s.a = normal_vector(n, random).cwiseQuotient(scale) * (3 / body.radius());
  return s;
}

// Off the constraints in place and velocity.
Motion spoilt(const Body& body, Motion s, unsigned seed) {
  std::mt19937 random(seed);
  const int K = body.coordinates() - 3 - body.flexible_modes();
  s.q.segment(3, K) += 0.1 * normal_vector(K, random);
  s.v.segment(3, K) += normal_vector(K, random) / body.radius();
  return s;
}

// Takes out of the accelerations what the constraints do not allow.
void respect_constraints(const Body& body, Motion& s) {
  const int n = body.coordinates(), k = body.own_constraints();
  MatrixXd G(k, n);
  body.own_gradient(s.q, G);
  VectorXd excess = G * s.a;
  for (int i = 0; i < k; ++i) {
    MatrixXd H = MatrixXd::Zero(n, n);
    body.add_own_hessian(VectorXd::Unit(k, i), 1, H);
    excess[i] += s.v.dot(H * s.v);
  }
  s.a -= G.transpose() * (G * G.transpose()).ldlt().solve(excess);
}

std::string label(const Body& body) {
  return body.name() + ", " + body.formulation();
}

// Differences of polynomials are exact: what is left is rounding, of forces that cancel to a thousandth.
constexpr double slope_tolerance = 1e-10;

TEST(FloatingFrame, JacobianIsTheDerivativeOfTheResidualOnAndOffTheConstraints) {
  const auto check = [](const Body& body) {
    for (const bool off : {false, true}) {
      Motion s = random_motion(body, 5);
      if (off) s = spoilt(body, s, 6);
      const DerivativeErrors errors = derivative_errors(body, s, 0.05 * body.radius());
      EXPECT_LT(errors.q, slope_tolerance) << label(body);
      EXPECT_LT(errors.v, slope_tolerance) << label(body);
      EXPECT_LT(errors.a, slope_tolerance) << label(body);
      EXPECT_LT(errors.mass, 1e-14) << label(body);
      EXPECT_LT(errors.combined, 1e-14) << label(body);
    }
  };
  check(*make_rigid_body(rigid_spec()));
  for (const Sample& sample : samples())
    for (const auto& body : bodies_of(sample)) check(*body);
}

TEST(FloatingFrame, MassIsSymmetricAndNotNegative) {
  for (const Sample& sample : samples())
    for (const auto& body : bodies_of(sample)) {
      const Motion s = random_motion(*body, 5);
      VectorXd scale(body->coordinates());
      body->displacement_scale(scale);
      // in metres
      const MatrixXd M =
          scale.cwiseInverse().asDiagonal() * mass_of(*body, s.q) * scale.cwiseInverse().asDiagonal();
      EXPECT_LT((M - M.transpose()).cwiseAbs().maxCoeff(), 1e-14 * M.cwiseAbs().maxCoeff());
      const VectorXd values = Eigen::SelfAdjointEigenSolver<MatrixXd>(M).eigenvalues();
      EXPECT_GT(values.minCoeff(), -1e-12 * values.maxCoeff()) << label(*body);
    }
}

TEST(FloatingFrame, OwnConstraintsAndTheirDerivativesBelongTogether) {
  for (const auto& body : bodies_of(samples()[0])) {
    const int n = body->coordinates(), k = body->own_constraints();
    EXPECT_EQ(k, body->formulation() == "fncf" ? 6 : 1);
    const Motion s = random_motion(*body, 5);
    const auto value = [&](const VectorXd& q) {
      VectorXd g(k);
      body->own_constraint(q, g);
      return g;
    };
    EXPECT_LT(value(s.q).norm(), 1e-14);  // placed on them
    const VectorXd q = spoilt(*body, s, 6).q;
    MatrixXd G(k, n);
    body->own_gradient(q, G);
    const VectorXd steps = steps_of(*body, 0.05 * body->radius());
    EXPECT_LT(slope_error(value, q, steps, G), slope_tolerance) << label(*body);
    MatrixXd G0(k, n);
    body->own_gradient(s.q, G0);
    EXPECT_LT((G0 * s.v).norm(), 1e-13 * s.v.norm());  // and with velocities along them
    std::mt19937 random(2);
    const VectorXd lambda = normal_vector(k, random);
    MatrixXd H = MatrixXd::Zero(n, n);
    body->add_own_hessian(lambda, 1, H);
    const auto force = [&](const VectorXd& x) -> VectorXd {
      MatrixXd Gx(k, n);
      body->own_gradient(x, Gx);
      return Gx.transpose() * lambda;
    };
    EXPECT_LT(slope_error(force, q, steps, H), slope_tolerance) << label(*body);
  }
}

// Velocities of all nodes: their places are polynomials in time along q + v t.
Matrix3Xd node_velocities(const Body& body, const Motion& s, double step) {
  return slope([&](double t) -> MatrixXd { return body.node_positions(s.q + t * s.v); }, step);
}

TEST(FloatingFrame, VelocitiesOfNodesAreTheSlopesOfTheirPlaces) {
  for (const Sample& sample : samples())
    for (const auto& body : bodies_of(sample)) {
      const Motion s = random_motion(*body, 11);
      const Matrix3Xd slopes = node_velocities(*body, s, 0.01 * body->radius());
      // as the other slopes here: the step's rounding
      EXPECT_LT((body->node_velocities(s.q, s.v) - slopes).norm(), slope_tolerance * slopes.norm())
          << label(*body);
      // linear in v
      const Matrix3Xd doubled = body->node_velocities(s.q, 2 * s.v);
      EXPECT_LT((doubled - 2 * body->node_velocities(s.q, s.v)).norm(), 1e-13 * doubled.norm());
    }
}

TEST(FloatingFrame, EnergyAndMomentaAreThoseOfTheNodes) {
  for (const Sample& sample : samples()) {
    const MatrixXd m = dense(sample.model.node_mass);
    for (const auto& body : bodies_of(sample)) {
      const Motion s = random_motion(*body, 7);
      const Matrix3Xd x = body->node_positions(s.q);
      const Matrix3Xd v = node_velocities(*body, s, 0.01 * body->radius());
      ASSERT_EQ(x.cols(), sample.model.points.cols());
      EXPECT_EQ(body->node_ids(), sample.reduced.node_ids);
      const Body::Energy energy = body->energy(s.q, s.v, gravity, *body->workspace());
      // the modes' rigid parts, which are taken as zero, are about 1e-10 of them
      constexpr double tolerance = 1e-8;
      const double kinetic = (v * m).cwiseProduct(v).sum() / 2;
      EXPECT_NEAR(energy.kinetic / kinetic, 1, tolerance) << label(*body);
      EXPECT_NEAR(s.v.dot(mass_of(*body, s.q) * s.v) / 2 / kinetic, 1, tolerance) << label(*body);
      const Vector3d momentum = (v * m).rowwise().sum();
      EXPECT_LT((energy.momentum - momentum).norm(), tolerance * momentum.norm()) << label(*body);
      const Vector3d angular = 2 * skew_vector(v * m * x.transpose());
      EXPECT_LT((energy.angular_momentum - angular).norm(), tolerance * angular.norm()) << label(*body);
      EXPECT_NEAR(energy.gravity / -gravity.dot((x * m).rowwise().sum()), 1, tolerance) << label(*body);
      EXPECT_NEAR(body->mass(), m.sum(), 1e-12 * m.sum());
      // elastic energy and power of damping from the reduced matrices
      if (body->flexible_modes() == 0) {
        EXPECT_EQ(energy.elastic, 0);
        EXPECT_EQ(body->deformation_basis(0).size, 0);
        continue;
      }
      const VectorXd p = deformation_of(*body, s.q), p_v = deformation_of(*body, s.v);
      EXPECT_NEAR(energy.elastic / (p.dot(sample.reduced.K * p) / 2), 1, tolerance) << label(*body);
      if (sample.reduced.D.size() > 0)
        EXPECT_NEAR(energy.damping_power / p_v.dot(sample.reduced.D * p_v), 1, tolerance) << label(*body);
      else
        EXPECT_EQ(energy.damping_power, 0);
    }
  }
}

TEST(FloatingFrame, PowerOfTheForcesIsTheRateOfEnergy) {
  for (const Sample& sample : samples())
    for (const auto& body : bodies_of(sample)) {
      Motion s = random_motion(*body, 9);
      respect_constraints(*body, s);
      const auto workspace = body->workspace();
      const auto total = [&](double t) -> MatrixXd {
        const Body::Energy e =
            body->energy(s.q + t * s.v + t * t / 2 * s.a, s.v + t * s.a, gravity, *workspace);
        return MatrixXd::Constant(1, 1, e.kinetic + e.elastic + e.gravity);
      };
      // errors of the difference fall with the fourth power of the step: 1e-3 of the time that the motion
      // takes leaves 1e-11
      const double rate = slope(total, 1e-3 * body->radius())(0, 0);
      const double lost = body->energy(s.q, s.v, gravity, *workspace).damping_power;
      const double power = s.v.dot(residual_of(*body, s, 1, gravity));
      const double size = s.v.cwiseProduct(residual_of(*body, s, 1, gravity)).cwiseAbs().maxCoeff();
      EXPECT_NEAR(power, rate + lost, 1e-8 * size) << label(*body);
    }
}

TEST(FloatingFrame, FfrfAndFncfMoveAlike) {
  for (const Sample& sample : samples()) {
    const auto ffrf = make_ffrf_body("a", sample.reduced), fncf = make_fncf_body("b", sample.reduced);
    const Motion s = random_motion(*ffrf, 11), t = random_motion(*fncf, 11);
    const VectorXd a = free_acceleration(*ffrf, s, gravity), b = free_acceleration(*fncf, t, gravity);
    ASSERT_LT((ffrf->node_positions(s.q) - fncf->node_positions(t.q)).norm(), 1e-12);
    double largest = 0, difference = 0;
    for (size_t i = 0; i < sample.reduced.node_ids.size(); i += 7) {
      MarkerSpec spec;
      spec.kind = MarkerSpec::Kind::Nodes;
      spec.node_ids = {sample.reduced.node_ids[i]};
      const int first = ffrf->add_marker(spec), second = fncf->add_marker(spec);
      MarkerKinematics x, y;
      ffrf->marker(first, s.q, s.v, true, *ffrf->workspace(), x);
      fncf->marker(second, t.q, t.v, true, *fncf->workspace(), y);
      const Vector12d xa = x.J * a + x.V * s.v, ya = y.J * b + y.V * t.v;
      largest = std::max(largest, xa.norm());
      difference = std::max(difference, (xa - ya).norm());
    }
    // condition of the two systems of equations times rounding
    EXPECT_LT(difference, 1e-9 * largest) << sample.name;
    EXPECT_GT(largest, 1);
  }
}

TEST(FloatingFrame, NodesOfAFreeBodyAccelerateAsPrincipleOfVirtualPowerAsks) {
  // the finite elements' own forces of inertia, against every motion of the body that the frame allows
  for (const Sample& sample : samples()) {
    const MatrixXd m = dense(sample.model.node_mass);
    const auto body = make_ffrf_body(sample.name, sample.reduced);
    Motion s = random_motion(*body, 13);
    respect_constraints(*body, s);
    const int n = body->coordinates();
    // second derivative along q + v t + a t^2/2 from five points, the step small beside the motion's time
    const double h = 1e-3 * body->radius();
    const auto at = [&](double t) { return body->node_positions(s.q + t * s.v + t * t / 2 * s.a); };
    const Matrix3Xd acceleration =
        (16 * (at(h) + at(-h)) - (at(2 * h) + at(-2 * h)) - 30 * at(0)) / (12 * h * h);
    const VectorXd r = residual_of(*body, s, 1, gravity);
    const VectorXd p = deformation_of(*body, s.q), p_v = deformation_of(*body, s.v);
    VectorXd steps = steps_of(*body, 0.05 * body->radius());
    MatrixXd G(1, n);
    body->own_gradient(s.q, G);
    std::mt19937 random(4);
    for (int repeat = 0; repeat < 5; ++repeat) {
      VectorXd d = steps.cwiseProduct(normal_vector(n, random));
      d -= G.transpose() * (G * d) / G.squaredNorm();  // allowed by the constraint
      const Matrix3Xd moved =
          slope([&](double t) -> MatrixXd { return body->node_positions(s.q + t * d); }, 1);
      const VectorXd e = deformation_of(*body, d);
      double power = ((acceleration.colwise() - gravity) * m).cwiseProduct(moved).sum();
      const double size = (acceleration * m).cwiseAbs().cwiseProduct(moved.cwiseAbs()).sum();
      power += e.dot(sample.reduced.K * p);
      if (sample.reduced.D.size() > 0) power += e.dot(sample.reduced.D * p_v);
      // the second difference is good to 1e-9
      EXPECT_NEAR(r.dot(d), power, 1e-7 * size) << sample.name;
    }
  }
}

TEST(RigidBody, TurnsAsEulersEquationsSay) {
  const RigidBodySpec spec = rigid_spec();
  const auto body = make_rigid_body(spec);
  EXPECT_EQ(body->formulation(), "rigid");
  EXPECT_EQ(body->coordinates(), 7);
  EXPECT_EQ(body->flexible_modes(), 0);
  const Motion s = random_motion(*body, 3);
  const VectorXd a = free_acceleration(*body, s, gravity);
  MarkerSpec at;
  at.kind = MarkerSpec::Kind::Point;
  at.point = spec.centre;
  MarkerKinematics k;
  body->marker(body->add_marker(at), s.q, s.v, true, *body->workspace(), k);
  const Vector12d second = k.J * a + k.V * s.v;
  EXPECT_LT((second.head<3>() - gravity).norm(), 1e-13 * gravity.norm());
  // d(I w)/dt = 0 in space: I alpha + w x I w = 0 in the axes of the body
  const auto square = [](const Vector12d& x) -> Matrix3d { return Eigen::Map<const Matrix3d>(x.data() + 3); };
  const Matrix3d R = square(k.m), R_v = square(k.rate), R_a = square(second);
  const Vector3d omega = R.transpose() * skew_vector(R_v * R.transpose());
  const Vector3d alpha = R.transpose() * skew_vector(R_a * R.transpose());
  const Vector3d moment = spec.inertia * omega;
  EXPECT_LT((spec.inertia * alpha + omega.cross(moment)).norm(), 1e-13 * moment.norm() * omega.norm());
  // and its energy
  const Body::Energy energy = body->energy(s.q, s.v, gravity, *body->workspace());
  EXPECT_NEAR(energy.kinetic, spec.mass * s.v.head<3>().squaredNorm() / 2 + omega.dot(moment) / 2, 1e-13);
  EXPECT_LT((energy.angular_momentum - R * moment - s.q.head<3>().cross(spec.mass * s.v.head<3>())).norm(),
            1e-13);
}

TEST(RigidBody, ReducedBoxHasTheInertiaOfABox) {
  // beam of 0.5 x 0.05 x 0.05 m; a consistent mass of bricks integrates the square of a place exactly
  const Sample& beam = samples()[2];
  const FrameInertia inertia = frame_inertia(beam.reduced, MatrixXd(beam.reduced.size(), 0));
  const double m = 7850 * 0.5 * 0.05 * 0.05;
  EXPECT_NEAR(inertia.mass, m, 1e-12 * m);
  EXPECT_LT((inertia.centre - Vector3d(0.25, 0.025, 0.025)).norm(), 1e-13);
  const Vector3d size(0.5, 0.05, 0.05);
  const Matrix3d expected = (m / 12 * size.cwiseAbs2()).asDiagonal();
  EXPECT_LT((inertia.second_moment - expected).cwiseAbs().maxCoeff(), 1e-12 * expected(0, 0));
}

TEST(FloatingFrame, ModesAreThoseOfTheMeanAxes) {
  for (const Sample& sample : samples()) {
    const MatrixXd Xi = flexible_natural_modes(sample.reduced);
    const FrameInertia inertia = frame_inertia(sample.reduced, Xi);
    const MatrixXd m = dense(sample.model.node_mass);
    const auto N = Xi.cols();
    EXPECT_EQ(N, sample.reduced.size() - sample.reduced.rigid_count);
    const MatrixXd Phi = sample.reduced.modes * Xi;
    double moved = 0, turned = 0;
    for (Eigen::Index j = 0; j < N; ++j) {
      const Eigen::Map<const Matrix3Xd> u(Phi.col(j).data(), 3, m.rows());
      const Matrix3Xd X = sample.model.points.colwise() - inertia.centre;
      moved = std::max(moved, (u * m).rowwise().sum().norm());
      turned = std::max(turned, 2 * skew_vector(u * m * X.transpose()).norm());
    }
    // eigenvectors of the reduced body are good to about 1e-10
    EXPECT_LT(moved, 1e-8 * std::sqrt(inertia.mass)) << sample.name;
    EXPECT_LT(turned, 1e-8 * std::sqrt(inertia.second_moment.trace())) << sample.name;
    // trace of the nine matrices is the mass of the modes
    const MatrixXd unit = inertia.matrix(0) + inertia.matrix(1) + inertia.matrix(2);
    EXPECT_LT((unit - MatrixXd::Identity(N, N)).cwiseAbs().maxCoeff(), 1e-9) << sample.name;
  }
}

std::vector<MarkerSpec> marker_specs(const Sample& sample) {
  std::vector<MarkerSpec> specs;
  const Matrix3d axes = rotation_from_vector(Vector3d(0.3, -0.5, 0.2));
  for (const InterfaceFrame& frame : sample.reduced.interfaces) {
    MarkerSpec spec;
    spec.name = frame.name;
    spec.axes = axes;
    specs.push_back(spec);
  }
  MarkerSpec nodes;
  nodes.kind = MarkerSpec::Kind::Nodes;
  nodes.axes = axes;
  const auto& ids = sample.reduced.node_ids;
  nodes.node_ids = {ids[3]};
  specs.push_back(nodes);
  nodes.node_ids = {ids[0], ids[7], ids[ids.size() / 2], ids[ids.size() - 3]};
  specs.push_back(nodes);
  return specs;
}

TEST(FloatingFrame, DerivativesOfMarkersAreExact) {
  std::mt19937 random(21);
  for (const Sample& sample : samples())
    for (const auto& body : bodies_of(sample)) {
      for (const MarkerSpec& spec : marker_specs(sample)) {
        const int marker = body->add_marker(spec);
        const Motion s = spoilt(*body, random_motion(*body, 15), 16);
        const MarkerErrors errors = marker_errors(*body, marker, s, 0.05 * body->radius(), random);
        EXPECT_LT(errors.J, slope_tolerance) << label(*body) << ' ' << spec.name;
        EXPECT_LT(errors.rate, 1e-13) << label(*body) << ' ' << spec.name;
        EXPECT_LT(errors.V, slope_tolerance) << label(*body) << ' ' << spec.name;
        EXPECT_LT(errors.hessian, slope_tolerance) << label(*body) << ' ' << spec.name;
        // without gradients the rest is the same
        MarkerKinematics full, brief;
        body->marker(marker, s.q, s.v, true, *body->workspace(), full);
        body->marker(marker, s.q, s.v, false, *body->workspace(), brief);
        EXPECT_EQ(full.m, brief.m);
        EXPECT_EQ(full.J, brief.J);
        EXPECT_EQ(brief.V.size(), 0);
        EXPECT_EQ(full.rotates, body->marker_rotates(marker));
      }
    }
}

TEST(FloatingFrame, ForcesOnMarkersAreProjectedAsTheirGradientsSay) {
  for (const Sample& sample : samples())
    for (const auto& body : bodies_of(sample)) {
      ASSERT_TRUE(body->projects_forces());
      for (const MarkerSpec& spec : marker_specs(sample)) {
        const int marker = body->add_marker(spec);
        const Motion s = spoilt(*body, random_motion(*body, 15), 16);
        const auto workspace = body->workspace();
        MarkerKinematics full, brief;
        body->marker(marker, s.q, s.v, false, *workspace, full);
        body->marker_motion(marker, s.q, s.v, true, *workspace, brief);
        // round-off of sums in another order
        const double size = 1 + full.rate.norm();
        EXPECT_LT((brief.m - full.m).norm(), 1e-13 * size) << label(*body) << ' ' << spec.name;
        EXPECT_LT((brief.rate - full.rate).norm(), 1e-13 * size) << label(*body) << ' ' << spec.name;
        Vector12d f;
        for (int i = 0; i < 12; ++i) f[i] = std::cos(3.0 * i + 1);
        if (!full.rotates) f.tail<9>().setZero();
        VectorXd r = VectorXd::Ones(body->coordinates());
        body->add_marker_force(marker, s.q, s.v, f, *workspace, r);
        const VectorXd expected = VectorXd::Ones(r.size()) + full.J.transpose() * f;
        EXPECT_LT((r - expected).norm(), 1e-13 * (1 + expected.norm())) << label(*body) << ' ' << spec.name;
      }
    }
}

TEST(FloatingFrame, MarkersAtNodesFollowTheNodes) {
  for (const Sample& sample : samples()) {
    const auto body = make_ffrf_body(sample.name, sample.reduced);
    const Motion s = random_motion(*body, 15);
    const Matrix3Xd x = body->node_positions(s.q);
    MarkerSpec spec;
    spec.kind = MarkerSpec::Kind::Nodes;
    spec.node_ids = {sample.reduced.node_ids[5]};
    const int one = body->add_marker(spec);
    EXPECT_FALSE(body->marker_rotates(one));
    spec.node_ids = {sample.reduced.node_ids[5], sample.reduced.node_ids[9]};
    const int two = body->add_marker(spec);
    EXPECT_FALSE(body->marker_rotates(two));  // a line
    MarkerKinematics k;
    body->marker(one, s.q, s.v, false, *body->workspace(), k);
    EXPECT_LT((k.m.head<3>() - x.col(5)).norm(), 1e-14 * x.norm());
    EXPECT_TRUE(k.m.tail<9>().isZero(0));
    body->marker(two, s.q, s.v, false, *body->workspace(), k);
    EXPECT_LT((k.m.head<3>() - (x.col(5) + x.col(9)) / 2).norm(), 1e-14 * x.norm());
    // an interface of several nodes and the same nodes by number are one marker
    for (const InterfaceFrame& frame : sample.reduced.interfaces) {
      if (frame.node_ids.size() < 2) continue;
      MarkerSpec interface;
      interface.name = frame.name;
      spec.node_ids = frame.node_ids;
      const int a = body->add_marker(interface), b = body->add_marker(spec);
      EXPECT_EQ(body->marker_rotates(a), body->marker_rotates(b));
      MarkerKinematics other;
      body->marker(a, s.q, s.v, false, *body->workspace(), k);
      body->marker(b, s.q, s.v, false, *body->workspace(), other);
      // least squares by two ways
      EXPECT_LT((k.J - other.J).norm(), 1e-9 * k.J.norm()) << sample.name;
    }
  }
}

TEST(FloatingFrame, AxesOfAMarkerTurnWithItsFaceByLeastSquares) {
  // the spider of a face and the nodes of the face, whose best rotation it has: to second order of the angle
  const Sample& beam = samples()[2];
  const auto body = make_ffrf_body("beam", beam.reduced);
  MarkerSpec spec;
  spec.name = "right";
  const int marker = body->add_marker(spec);
  ASSERT_TRUE(body->marker_rotates(marker));
  Motion s = random_motion(*body, 17);
  s.q.tail(body->flexible_modes()) *= 0.1;
  MarkerKinematics k;
  body->marker(marker, s.q, s.v, false, *body->workspace(), k);
  std::vector<int> face;
  for (int i = 0; i < beam.reduced.points.cols(); ++i)
    if (std::abs(beam.reduced.points(0, i) - 0.5) < 1e-9 &&
        (beam.reduced.points.col(i) - beam.reduced.interfaces[1].origin).norm() > 1e-9)
      face.push_back(i);
  const Matrix3Xd x = body->node_positions(s.q)(Eigen::all, face);
  const Matrix3Xd X = beam.reduced.points(Eigen::all, face);
  const Matrix3d product =
      (x.colwise() - x.rowwise().mean()) * (X.colwise() - X.rowwise().mean()).transpose();
  // orthogonal Procrustes; the face is flat, hence the sign
  const Eigen::JacobiSVD<Matrix3d> svd(product, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Matrix3d best = svd.matrixU() * svd.matrixV().transpose();
  if (best.determinant() < 0)
    best = svd.matrixU() * Vector3d(1, 1, -1).asDiagonal() * svd.matrixV().transpose();
  const Matrix3d axes = Eigen::Map<const Matrix3d>(k.m.data() + 3);
  const Matrix3d undeformed = rotation_from_parameters(s.q.segment<4>(3));
  const double angle = vector_from_rotation(undeformed.transpose() * best).norm();
  EXPECT_GT(angle, 0.01);
  EXPECT_LT((axes - best).norm(), angle * angle);
  EXPECT_LT((axes.transpose() * axes - Matrix3d::Identity()).norm(), std::pow(angle, 4));
}

TEST(FloatingFrame, BodiesAreWhereTheyArePlaced) {
  Placement placement;
  placement.position = {1, 2, 3};
  placement.rotation = rotation_from_vector(Vector3d(3, 0.1, -0.2));  // nearly half a turn
  placement.velocity = {0.1, 0.2, -0.3};
  placement.angular_velocity = {2, -1, 0.5};
  const Sample& sample = samples()[0];
  for (const auto& body : bodies_of(sample)) {
    VectorXd q(body->coordinates()), v(body->coordinates());
    body->place(placement, q, v);
    const Matrix3Xd expected = (placement.rotation * sample.reduced.points).colwise() + placement.position;
    EXPECT_LT((body->node_positions(q) - expected).cwiseAbs().maxCoeff(), 1e-14) << label(*body);
    const Matrix3Xd rates = node_velocities(*body, {q, v, v}, 0.01);
    for (Eigen::Index i = 0; i < rates.cols(); ++i) {
      const Vector3d arm = expected.col(i) - placement.position;
      EXPECT_LT((rates.col(i) - placement.velocity - placement.angular_velocity.cross(arm)).norm(), 1e-12);
    }
  }
  placement.rotation(0, 0) += 0.1;
  const auto body = make_rigid_body(rigid_spec());
  VectorXd q(7), v(7);
  EXPECT_THROW(body->place(placement, q, v), InputError);
}

TEST(FloatingFrame, UnitsOfCoordinatesMovePointsAsFarAsTheScaleSays) {
  const Sample& sample = samples()[0];
  for (const auto& body : bodies_of(sample)) {
    const int n = body->coordinates(), N = body->flexible_modes();
    VectorXd q(n), v(n), scale(n);
    body->place({}, q, v);
    body->displacement_scale(scale);
    EXPECT_EQ(body->coordinate_name(0), "position");
    EXPECT_EQ(body->coordinate_name(n - N - 1), "rotation");
    if (N > 0) {
      EXPECT_EQ(body->coordinate_name(n - 1), "mode " + std::to_string(N));
    }
    for (int i = 0; i < n; ++i) {
      const Matrix3Xd moved = slope(
          [&](double t) -> MatrixXd { return body->node_positions(q + t * VectorXd::Unit(n, i)); }, 1e-3);
      const double largest = moved.colwise().norm().maxCoeff();
      EXPECT_LE(largest, scale[i] * (1 + 1e-9)) << body->coordinate_name(i);
      // the plate is thin: some rotations move less than the farthest point could
      if (i < 3 || i >= n - N) {
        EXPECT_GT(largest, 0.99 * scale[i]) << body->coordinate_name(i);
      }
    }
  }
}

#if LISSOM_COUNTS_MALLOC
TEST(FloatingFrame, ResidualAndJacobianDoNotAllocate) {
  for (const Sample& sample : samples())
    for (const auto& body : bodies_of(sample)) {
      const Motion s = random_motion(*body, 5);
      const int n = body->coordinates();
      VectorXd r = VectorXd::Zero(n), g(body->own_constraints());
      MatrixXd J(n, n), G(body->own_constraints(), n);
      const int marker = body->add_marker(marker_specs(sample)[0]);
      const auto workspace = body->workspace();
      MarkerKinematics k;
      body->marker(marker, s.q, s.v, true, *workspace, k);  // sizes of k
      const long before = allocations;
      body->add_residual(s.q, s.v, s.a, 1, gravity, *workspace, r);
      body->jacobian(s.q, s.v, s.a, 1, gravity, 1, 2, 3, *workspace, J);
      body->mass(s.q, *workspace, J);
      body->own_constraint(s.q, g);
      body->own_gradient(s.q, G);
      body->marker(marker, s.q, s.v, true, *workspace, k);
      body->add_marker_hessian(marker, s.q, Vector12d::Ones(), 1, *workspace, J);
      body->marker_motion(marker, s.q, s.v, true, *workspace, k);
      body->add_marker_force(marker, s.q, s.v, Vector12d::Ones(), *workspace, r);
      body->energy(s.q, s.v, gravity, *workspace);
      EXPECT_EQ(allocations - before, 0) << label(*body);
    }
}
#endif

// The message of the InputError that the call throws.
template <class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was thrown";
}
#define EXPECT_REFUSED(call, part)                                                  \
  {                                                                                 \
    const std::string message = refusal([&] { call; });                             \
    EXPECT_NE(message.find(part), std::string::npos) << "message was: " << message; \
  }

TEST(FloatingFrame, WrongMarkersAreNamedWithTheNearestRightOne) {
  const Sample& sample = samples()[0];
  const auto body = make_ffrf_body("plate", sample.reduced);
  MarkerSpec spec;
  spec.name = "lefd";
  EXPECT_REFUSED(body->add_marker(spec), "body 'plate': there is no interface 'lefd' (did you mean 'left'?)");
  EXPECT_REFUSED(body->add_marker(spec), "the interfaces are: left, right, edge");
  spec = {};
  spec.kind = MarkerSpec::Kind::Nodes;
  EXPECT_REFUSED(body->add_marker(spec), "no nodes");
  spec.node_ids = {99999};
  EXPECT_REFUSED(body->add_marker(spec), "body 'plate': there is no node 99999");
  spec = {};
  spec.kind = MarkerSpec::Kind::Point;
  EXPECT_REFUSED(body->add_marker(spec), "rigid bodies only");
  spec = {};
  spec.name = "left";
  spec.axes(0, 0) = -1;
  EXPECT_REFUSED(body->add_marker(spec), "right-handed");

  const auto stone = make_rigid_body(rigid_spec());
  spec = {};
  spec.kind = MarkerSpec::Kind::Point;
  spec.name = "tipp";
  EXPECT_REFUSED(stone->add_marker(spec),
                 "there is no point 'tipp' (did you mean 'tip'?); the points are: tip, tail");
  spec.kind = MarkerSpec::Kind::Nodes;
  spec.node_ids = {1};
  EXPECT_REFUSED(stone->add_marker(spec), "the body has no nodes; the places it has are: tip, tail");
}

TEST(RigidBody, ImpossibleInertiaIsRefused) {
  RigidBodySpec spec = rigid_spec();
  spec.mass = 0;
  EXPECT_REFUSED(make_rigid_body(spec), "rigid body 'stone': mass is 0 kg, expected a positive number");
  spec = rigid_spec();
  spec.inertia(0, 1) = 0.1;
  EXPECT_REFUSED(make_rigid_body(spec), "not symmetric");
  spec = rigid_spec();
  spec.inertia = Vector3d(1, 1, 0).asDiagonal();
  EXPECT_REFUSED(make_rigid_body(spec), "expected all positive");
  spec.inertia = Vector3d(1, 1, 2.1).asDiagonal();
  EXPECT_REFUSED(make_rigid_body(spec), "the largest is more than the sum of the others");
  spec.inertia = Vector3d(1, 1, 2).asDiagonal();  // a thin plate
  EXPECT_NO_THROW(make_rigid_body(spec));
  spec.inertia(1, 1) = std::nan("");
  EXPECT_REFUSED(make_rigid_body(spec), "finite");
}

TEST(FloatingFrame, BodiesThatCannotFloatAreRefused) {
  ReducedBody body = samples()[0].reduced;
  body.rigid_count = 3;
  EXPECT_REFUSED(make_ffrf_body("b", body), "has 3 rigid modes, expected six");
  // rigid modes among the flexible ones
  body.basis = "free-modes";
  body.rigid_count = 0;
  EXPECT_REFUSED(make_ffrf_body("b", body), "moves the body as a whole");
  body = samples()[0].reduced;
  body.inertia = {};
  EXPECT_REFUSED(make_fncf_body("b", body), "has no inertia invariants");
  EXPECT_REFUSED(make_rigid_body("b", body), "has no inertia invariants");
  body = samples()[0].reduced;
  body.eigenvectors = MatrixXd(body.eigenvectors.leftCols(6));
  EXPECT_REFUSED(make_ffrf_body("b", body), "has no flexible modes");
}

}  // namespace
}  // namespace lissom::floating_frame_test

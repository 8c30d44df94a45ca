#include "lissom/mbs/gcms_body.hpp"

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include <functional>
#include <random>

#include "lissom/core/polar.hpp"
#include "tests/mbs/full_corotated.hpp"
#include "tests/mbs/gcms_support.hpp"

namespace lissom::gcms_body_test {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace test;

const Vector3d no_gravity = Vector3d::Zero();

// Rigid and averaging spiders, plain nodes, none.
const std::vector<GcmsSample>& samples() {
  static const std::vector<GcmsSample> all = [] {
    GcmsSampleOptions options;
    options.damping = RayleighDamping{3.0, 2e-6};
    GcmsSampleOptions craig_bampton = options;
    craig_bampton.basis = ReductionBasis::CraigBampton;
    craig_bampton.range = 3;
    craig_bampton.tolerance = 1e-2;
    std::vector<GcmsSample> result;
    result.push_back(gcms_sample(cylinder(MassKind::Consistent, 12), MassKind::Consistent, craig_bampton));
    result.push_back(gcms_sample(square_beam(MassKind::Lumped), MassKind::Lumped, options));
    result.push_back(gcms_sample(plate(MassKind::Consistent), MassKind::Consistent, options));
    result.push_back(gcms_sample(block(MassKind::Lumped), MassKind::Lumped, GcmsSampleOptions{}));
    return result;
  }();
  return all;
}

class Motion {
 public:
  explicit Motion(const GcmsModel& model) : body(make_gcms_body("body", model)), room(body->workspace()) {}

  VectorXd vector() {
    return VectorXd::NullaryExpr(body->coordinates(), [&] { return uniform(random); });
  }
  Vector3d three() {
    return Vector3d::NullaryExpr([&] { return uniform(random); });
  }
  Matrix3d rotation() {
    const Eigen::Vector4d p = Eigen::Vector4d::NullaryExpr([&] { return uniform(random); });
    return Eigen::Quaterniond(p.normalized()).toRotationMatrix();
  }
  // Anywhere, with strains of about `deformation` and a velocity of everything.
  void anywhere(const GcmsModel& model, double deformation) {
    placement = {three(), rotation(), three(), three()};
    q.resize(body->coordinates());
    v.resize(q.size());
    body->place(placement, q, v);
    size = model.T.inverse().norm();
    q.tail(q.size() - 3) += deformation * size * vector().tail(q.size() - 3);
    v += size * vector();
    a = size * vector();
  }
  VectorXd residual(const VectorXd& at, const VectorXd& rate, const VectorXd& acceleration, double w,
                    const Vector3d& gravity = Vector3d::Zero()) {
    VectorXd r = VectorXd::Zero(at.size());
    body->add_residual(at, rate, acceleration, w, gravity, *room, r);
    return r;
  }
  VectorXd force(const VectorXd& at) {
    const VectorXd zero = VectorXd::Zero(at.size());
    return residual(at, zero, zero, 0);
  }

  std::unique_ptr<Body> body;
  std::unique_ptr<Body::Workspace> room;
  std::mt19937 random{5};
  std::uniform_real_distribution<double> uniform{-1, 1};
  Placement placement;
  VectorXd q, v, a;
  double size = 1;
};

// Derivative along d by differences of fourth order.
template <class Function>
auto slope(const Function& f, const VectorXd& x, const VectorXd& d, double h) {
  return ((8 * (f(x + h * d) - f(x - h * d)) - (f(x + 2 * h * d) - f(x - 2 * h * d))) / (12 * h)).eval();
}
double slope(const std::function<double(const VectorXd&)>& f, const VectorXd& x, const VectorXd& d,
             double h) {
  return (8 * (f(x + h * d) - f(x - h * d)) - (f(x + 2 * h * d) - f(x - 2 * h * d))) / (12 * h);
}

double relative(const VectorXd& found, const VectorXd& expected) {
  return (found - expected).norm() / expected.norm();
}

TEST(GcmsBody, ForceIsTheGradientOfTheEnergy) {
  double worst = 0;
  for (const GcmsSample& sample : samples())
    for (const double deformation : {0.1, 1e-3}) {
      Motion m(sample.model);
      m.anywhere(sample.model, deformation);
      const std::function<double(const VectorXd&)> V = [&](const VectorXd& q) {
        return m.body->energy(q, m.v, no_gravity, *m.room).elastic;
      };
      const VectorXd g = m.force(m.q);
      for (int repeat = 0; repeat < 5; ++repeat) {
        const VectorXd d = m.vector();
        // steps of 2e-3 of the deformation: fourth order leaves about 1e-11, round-off 1e-12
        const double found = slope(V, m.q, d, 2e-3 * deformation * m.size);
        EXPECT_NEAR(g.dot(d), found, 1e-9 * g.norm() * d.norm()) << sample.body.name << " " << deformation;
        worst = std::max(worst, std::abs(g.dot(d) - found) / (g.norm() * d.norm()));
      }
    }
  RecordProperty("largest_difference", fmt::format("{:.1e}", worst));
}

TEST(GcmsBody, JacobianAgreesWithDifferences) {
  double worst = 0;
  for (const GcmsSample& sample : samples())
    for (const double deformation : {0.1, 1e-3}) {
      Motion m(sample.model);
      m.anywhere(sample.model, deformation);
      // a velocity that makes damping as large as the elastic force
      if (sample.model.D_modal.size() > 0) m.v *= 1e4;
      const double w = 0.7, cq = 1.3, cv = 2e-4, ca = 1e3;
      const int n = m.body->coordinates();
      MatrixXd J(n, n);
      m.body->jacobian(m.q, m.v, m.a, w, Vector3d(1, 2, 3), cq, cv, ca, *m.room, J);
      for (int repeat = 0; repeat < 10; ++repeat) {
        const VectorXd d = m.vector();
        const VectorXd by_q = slope([&](const VectorXd& q) { return m.residual(q, m.v, m.a, w); }, m.q, d,
                                    1e-3 * deformation * m.size);
        const VectorXd by_v =
            slope([&](const VectorXd& v) { return m.residual(m.q, v, m.a, w); }, m.v, d, m.v.norm());
        const VectorXd expected = cq * by_q + cv * by_v + ca * w * d;
        worst = std::max(worst, relative(J * d, expected));
        // round-off of the residual over the step; truncation of fourth order is below
        EXPECT_LT(relative(J * d, expected), deformation > 0.01 ? 1e-10 : 1e-8) << sample.body.name;
        // the velocity enters linearly: each part by itself
        MatrixXd J_v(n, n);
        m.body->jacobian(m.q, m.v, m.a, w, no_gravity, 0, 1, 0, *m.room, J_v);
        if (sample.model.D_modal.size() > 0) {
          EXPECT_LT(relative(J_v * d, by_v), 1e-9);
        }
      }
      // without damping it is symmetric
      MatrixXd K(n, n);
      m.body->jacobian(m.q, VectorXd::Zero(n), m.a, w, no_gravity, 1, 0, 0, *m.room, K);
      EXPECT_LT((K - K.transpose()).norm(), 1e-13 * K.norm());
    }
  RecordProperty("largest_difference", fmt::format("{:.1e}", worst));
}

TEST(GcmsBody, ResidualHasInertiaAndGravity) {
  const GcmsSample& sample = samples()[2];
  Motion m(sample.model);
  m.anywhere(sample.model, 0.01);
  const Vector3d gravity(1, -2, 9);
  const VectorXd zero = VectorXd::Zero(m.q.size());
  // M = I and the weight of every node: S' m 1 (x) g
  const std::vector<int> nodes = moving_nodes(sample.bare);
  const MatrixXd mass = dense(sample.bare.node_mass)(nodes, nodes);
  const VectorXd weights = sample.model.S(nodes, Eigen::all).transpose() * mass.rowwise().sum();
  VectorXd expected = 0.3 * m.a;
  for (int a = 0; a < weights.size(); ++a) expected.segment<3>(3 * a) -= weights[a] * gravity;
  const VectorXd found = m.residual(m.q, zero, m.a, 0.3, gravity) - m.force(m.q);
  // round-off beside elastic forces of this size
  EXPECT_LT((found - expected).norm(), 1e-12 * (expected.norm() + m.force(m.q).norm()));
  MatrixXd M(m.q.size(), m.q.size());
  m.body->mass(m.q, *m.room, M);
  EXPECT_EQ(M, MatrixXd::Identity(m.q.size(), m.q.size()));
  EXPECT_NEAR(m.body->mass(), mass.sum(), 1e-12 * mass.sum());
}

TEST(GcmsBody, EnergyIsInvariantUnderRigidMotion) {
  for (const GcmsSample& sample : samples()) {
    Motion m(sample.model);
    m.anywhere(sample.model, 0.05);
    const double V = m.body->energy(m.q, m.v, no_gravity, *m.room).elastic;
    const VectorXd g = m.residual(m.q, m.v, m.a, 1);
    for (int repeat = 0; repeat < 5; ++repeat) {
      const Matrix3d R = m.rotation();
      const auto turned = [&](const VectorXd& x) {
        VectorXd y(x.size());
        for (int a = 0; a < x.size(); a += 3) y.segment<3>(a) = R * x.segment<3>(a);
        return y;
      };
      VectorXd q = turned(m.q);
      q.head<3>() += m.three();
      // round-off over a sum of some hundred terms
      EXPECT_NEAR(m.body->energy(q, m.v, no_gravity, *m.room).elastic, V, 1e-13 * V);
      EXPECT_LT(relative(m.residual(q, turned(m.v), turned(m.a), 1), turned(g)), 1e-12);
    }
  }
}

TEST(GcmsBody, RigidMotionCausesNoForce) {
  for (const GcmsSample& sample : samples()) {
    Motion m(sample.model);
    m.anywhere(sample.model, 0);
    VectorXd q = m.q, v = m.v;
    m.body->place(m.placement, q, v);
    // coordinates have errors of 1e-16, which are strains of that size
    const double scale = sample.model.K_hat.middleCols<9>(3).norm() * m.size;
    EXPECT_LT(m.force(q).norm(), 1e-14 * scale);
    EXPECT_LT((m.residual(q, v, v, 0) - m.force(q)).norm(), 1e-13 * sample.model.P.norm() * v.norm());
    const Body::Energy energy = m.body->energy(q, v, no_gravity, *m.room);
    EXPECT_LT(energy.elastic, 1e-28 * scale * m.size);
  }
}

TEST(GcmsBody, InternalForcesHaveNoResultant) {
  for (const GcmsSample& sample : samples()) {
    Motion m(sample.model);
    m.anywhere(sample.model, 0.02);
    const VectorXd r = m.residual(m.q, m.v, m.a, 0);
    Vector3d torque = Vector3d::Zero();
    double size = 0;
    for (int a = 0; a < r.size(); a += 3) {
      torque += m.q.segment<3>(a).cross(r.segment<3>(a));
      size += m.q.segment<3>(a).norm() * r.segment<3>(a).norm();
    }
    EXPECT_LT(r.head<3>().norm(), 1e-14 * r.norm());
    EXPECT_LT(torque.norm(), 1e-13 * size);
  }
}

TEST(GcmsBody, MomentaAndKineticEnergyAreThoseOfTheNodes) {
  for (const GcmsSample& sample : samples()) {
    Motion m(sample.model);
    m.anywhere(sample.model, 0.02);
    const std::vector<int> nodes = moving_nodes(sample.bare);
    const MatrixXd mass = dense(sample.bare.node_mass)(nodes, nodes);
    const MatrixXd x = m.body->node_positions(m.q)(Eigen::all, nodes);
    const MatrixXd u = m.body->node_positions(m.v)(Eigen::all, nodes), mu = u * mass;
    Vector3d L = Vector3d::Zero();
    for (int i = 0; i < x.cols(); ++i) L += Vector3d(x.col(i)).cross(Vector3d(mu.col(i)));
    const Vector3d gravity(3, 1, -9);
    const Body::Energy energy = m.body->energy(m.q, m.v, gravity, *m.room);
    // S is orthonormal to 1e-13
    EXPECT_NEAR(energy.kinetic, 0.5 * u.cwiseProduct(mu).sum(), 1e-12 * energy.kinetic);
    EXPECT_LT((energy.momentum - mu.rowwise().sum()).norm(), 1e-12 * mu.norm());
    EXPECT_LT((energy.angular_momentum - L).norm(), 1e-11 * L.norm());
    EXPECT_NEAR(energy.gravity, -gravity.dot(x * mass.rowwise().sum()), 1e-11 * gravity.norm() * mass.sum());
  }
}

TEST(GcmsBody, VibrationsAtRestLieBetweenTheBodysOwnAndTheReducedOnes) {
  for (const GcmsSample& sample : samples()) {
    Motion m(sample.model);
    m.anywhere(sample.model, 0);
    VectorXd q = m.q, v = m.v;
    m.body->place(m.placement, q, v);
    const int n = m.body->coordinates();
    MatrixXd K(n, n);
    m.body->jacobian(q, VectorXd::Zero(n), v, 1, no_gravity, 1, 0, 0, *m.room, K);
    const VectorXd found = Eigen::SelfAdjointEigenSolver<MatrixXd>(K, Eigen::EigenvaluesOnly).eigenvalues();
    const ReducedBody& reduced = sample.reduced();
    EXPECT_LT(found.head<6>().cwiseAbs().maxCoeff(), 1e-12 * found[n - 1]);
    // a rigid spider stiffens the body that the modes come from; others leave it as it is
    bool rigid = false;
    for (const Spider& spider : sample.body.mesh.spiders) rigid |= spider.kind == Spider::Kind::Rigid;
    for (int k = 0; k < reduced.range; ++k) {
      // the space holds the modes, but for the truncation
      EXPECT_LT(found[6 + k], reduced.eigenvalues[reduced.rigid_count + k] * (1 + 1e-6)) << sample.body.name;
      if (!rigid) {
        EXPECT_GT(found[6 + k], sample.reduction.exact[k] * (1 - 1e-8)) << sample.body.name;
      }
    }
  }
}

TEST(GcmsBody, DampingTakesTheModalPower) {
  for (const GcmsSample& sample : samples()) {
    if (sample.model.D_modal.size() == 0) continue;
    Motion m(sample.model);
    m.anywhere(sample.model, 0);
    VectorXd q = m.q, v = m.v;
    m.body->place(m.placement, q, v);
    // amplitudes of the lower modes, each rate one
    VectorXd eta = VectorXd::Zero(sample.model.P.rows());
    eta.head(sample.reduced().range).setOnes();
    const VectorXd z = sample.model.P.transpose() * eta;
    for (int a = 0; a < z.size(); a += 3) v.segment<3>(a) += m.placement.rotation * z.segment<3>(a);
    const double expected = eta.dot(sample.model.D_modal * eta);
    // P P' = I but for the truncation
    EXPECT_NEAR(m.body->energy(q, v, no_gravity, *m.room).damping_power, expected, 1e-6 * expected);
    // and it is what the residual takes out of the motion, rigid motion included
    const double power = v.dot(m.residual(q, v, v, 0) - m.force(q));
    EXPECT_NEAR(power, m.body->energy(q, v, no_gravity, *m.room).damping_power, 1e-10 * expected);
    // in any state
    m.anywhere(sample.model, 0.05);
    EXPECT_NEAR(m.v.dot(m.residual(m.q, m.v, m.a, 0) - m.force(m.q)),
                m.body->energy(m.q, m.v, no_gravity, *m.room).damping_power,
                1e-10 * m.v.norm() * m.residual(m.q, m.v, m.a, 0).norm());
  }
}

std::vector<MarkerSpec> marker_specs(const GcmsSample& sample) {
  std::vector<MarkerSpec> specs;
  const Matrix3d axes = Eigen::AngleAxisd(0.7, Vector3d(1, 2, -1).normalized()).toRotationMatrix();
  for (const GcmsFrame& frame : sample.model.frames) {
    MarkerSpec spec;
    spec.name = frame.name;
    spec.axes = axes;
    specs.push_back(spec);
  }
  const auto& ids = sample.model.node_ids;
  for (const std::vector<std::int64_t>& nodes : std::vector<std::vector<std::int64_t>>{
           {ids[3]}, {ids[1], ids[5]}, {ids[0], ids[4], ids[9], ids[17]}}) {
    MarkerSpec spec;
    spec.kind = MarkerSpec::Kind::Nodes;
    spec.name = "nodes";
    spec.node_ids = nodes;
    spec.axes = axes;
    specs.push_back(spec);
  }
  return specs;
}

TEST(GcmsBody, MarkersFollowRigidMotionExactly) {
  for (const GcmsSample& sample : samples()) {
    Motion m(sample.model);
    m.anywhere(sample.model, 0);
    VectorXd q = m.q, v = m.v;
    m.body->place(m.placement, q, v);
    const Placement& p = m.placement;
    const auto at = [&](const Vector3d& X) { return Vector3d(p.position + p.rotation * X); };
    const auto moving = [&](const Vector3d& X) {
      return Vector3d(p.velocity + p.angular_velocity.cross(p.rotation * X));
    };
    const Eigen::Matrix3Xd x = m.body->node_positions(q), x_v = m.body->node_velocities(q, v);
    for (int i = 0; i < x.cols(); ++i) {
      EXPECT_LT((x_v.col(i) - moving(sample.model.points.col(i))).norm(), 1e-12) << "velocity of node " << i;
      EXPECT_LT((x.col(i) - at(sample.model.points.col(i))).norm(), 1e-13)
          << sample.body.name << " node " << i;
    }
    int number = 0;
    for (const MarkerSpec& spec : marker_specs(sample)) {
      const int marker = m.body->add_marker(spec);
      EXPECT_EQ(marker, number);
      MarkerKinematics k;
      m.body->marker(marker, q, v, true, *m.room, k);
      EXPECT_EQ(k.rotates, m.body->marker_rotates(marker));
      Vector3d X = Vector3d::Zero();
      if (spec.kind == MarkerSpec::Kind::Interface) {
        X = sample.reduced().interfaces[number].origin;
      } else {
        for (const auto id : spec.node_ids)
          for (size_t i = 0; i < sample.model.node_ids.size(); ++i)
            if (sample.model.node_ids[i] == id) X += sample.model.points.col(i) / spec.node_ids.size();
        EXPECT_EQ(k.rotates, spec.node_ids.size() > 2);
      }
      // round-off over the size of a face and the distance to the origin
      EXPECT_LT((k.position() - at(X)).norm(), 1e-12) << sample.body.name << " " << spec.name;
      EXPECT_LT((k.rate.head<3>() - moving(X)).norm(), 1e-11);
      for (int d = 0; d < 3; ++d) {
        const Vector3d axis =
            k.rotates ? Vector3d(p.rotation * spec.axes.col(d)) : Vector3d(Vector3d::Zero());
        EXPECT_LT((k.axis(d) - axis).norm(), 1e-12) << sample.body.name << " " << spec.name;
        EXPECT_LT((k.rate.segment<3>(3 + 3 * d) - p.angular_velocity.cross(axis)).norm(), 1e-11);
      }
      ++number;
    }
  }
}

TEST(GcmsBody, MarkersMoveWithTheModesAsTheReducedBodysInterfaces) {
  for (const GcmsSample& sample : samples()) {
    const ReducedBody& reduced = sample.reduced();
    Motion m(sample.model);
    VectorXd q(m.body->coordinates()), v = q;
    m.body->place({}, q, v);
    for (size_t i = 0; i < reduced.interfaces.size(); ++i) {
      MarkerSpec spec;
      spec.name = reduced.interfaces[i].name;
      const int marker = m.body->add_marker(spec);
      EXPECT_EQ(m.body->marker_rotates(marker), reduced.interfaces[i].rotates) << sample.body.name;
      const MatrixXd expected = reduced.interfaces[i].motion * sample.model.Xi;
      for (int k = 0; k < expected.cols(); ++k) {
        // unit amplitude, as a velocity at rest
        v = sample.model.P.row(k);
        MarkerKinematics out;
        m.body->marker(marker, q, v, false, *m.room, out);
        // what the truncation leaves out of the mode
        const double scale = expected.col(k).head<3>().norm() + 0.1 * expected.col(k).tail<3>().norm();
        EXPECT_LT((out.rate.head<3>() - expected.col(k).head<3>()).norm(), 1e-5 * scale)
            << sample.body.name << " " << spec.name << " mode " << k;
        if (!out.rotates) continue;
        Vector3d omega = Vector3d::Zero();
        for (int d = 0; d < 3; ++d) omega += out.axis(d).cross(Vector3d(out.rate.segment<3>(3 + 3 * d))) / 2;
        EXPECT_LT((omega - expected.col(k).tail<3>()).norm(), 1e-5 * scale / 0.01)
            << sample.body.name << " " << spec.name << " mode " << k;
      }
    }
  }
}

TEST(GcmsBody, MarkerDerivativesAgreeWithDifferences) {
  for (const GcmsSample& sample : samples()) {
    Motion m(sample.model);
    m.anywhere(sample.model, 0.03);
    for (const MarkerSpec& spec : marker_specs(sample)) {
      const int marker = m.body->add_marker(spec);
      MarkerKinematics at, k;
      m.body->marker(marker, m.q, m.v, true, *m.room, at);
      const auto moved = [&](const VectorXd& q) {
        m.body->marker(marker, q, m.v, false, *m.room, k);
        return k;
      };
      const Vector12d w = Vector12d::NullaryExpr([&] { return m.uniform(m.random); });
      MatrixXd H = MatrixXd::Zero(m.q.size(), m.q.size());
      m.body->add_marker_hessian(marker, m.q, w, -0.5, *m.room, H);
      EXPECT_LT((H - H.transpose()).norm(), 1e-13 * H.norm() + 1e-300);
      EXPECT_LT((at.rate - at.J * m.v).norm(), 1e-12 * (at.J * m.v).norm());
      for (int repeat = 0; repeat < 4; ++repeat) {
        const VectorXd d = m.vector();
        const double h = 1e-5 * m.size;
        // fourth-order differences: round-off 1e-16 / 1e-5 over derivatives that grow towards small faces
        const Vector12d by_m = slope([&](const VectorXd& q) { return Vector12d(moved(q).m); }, m.q, d, h);
        EXPECT_LT((at.J * d - by_m).norm(), 1e-9 * (at.J * d).norm()) << sample.body.name << " " << spec.name;
        const Vector12d by_rate =
            slope([&](const VectorXd& q) { return Vector12d(moved(q).rate); }, m.q, d, h);
        EXPECT_LT((at.V * d - by_rate).norm(), 1e-8 * (at.V * d).norm() + 1e-300);
        const VectorXd by_J =
            slope([&](const VectorXd& q) { return VectorXd(moved(q).J.transpose() * w); }, m.q, d, h);
        EXPECT_LT((H * d + 0.5 * by_J).norm(), 1e-8 * (H * d).norm() + 1e-300);
      }
    }
  }
}

TEST(GcmsBody, DeformationHasTheModesAmplitudes) {
  for (const GcmsSample& sample : samples()) {
    Motion m(sample.model);
    m.anywhere(sample.model, 0);
    VectorXd q = m.q, v = m.v;
    m.body->place(m.placement, q, v);
    const auto amplitudes = [&](const VectorXd& at) {
      VectorXd z(m.body->deformation_basis(0).size);
      m.body->deformation(0, at, z);
      return VectorXd(sample.model.Xi * (sample.model.P * z));
    };
    EXPECT_LT(amplitudes(q).norm(), 1e-12 * m.size * sample.model.Xi.norm());
    // a small deformation by the modes in range, turned with the body
    VectorXd eta = VectorXd::Zero(sample.model.P.rows());
    eta.head(sample.reduced().range).setConstant(1e-6);
    const VectorXd z = sample.model.P.transpose() * eta;
    for (int a = 0; a < z.size(); a += 3) q.segment<3>(a) += m.placement.rotation * z.segment<3>(a);
    const VectorXd p = amplitudes(q), expected = sample.model.Xi * eta;
    // truncation, and round-off of 1e-16 beside 1e-6
    EXPECT_LT((p - expected).norm(), 1e-6 * expected.norm()) << sample.body.name;
  }
}

TEST(GcmsBody, FullBasisIsTheCorotatedFiniteElementModel) {
  for (const MassKind mass : {MassKind::Lumped, MassKind::Consistent}) {
    BoxOptions box;
    box.cells = {3, 1, 1};
    box.size = {0.3, 0.1, 0.05};
    box.distortion = 0.1;
    AssemblyOptions options;
    options.mass = mass;
    Diagnostics diagnostics;
    const Mesh mesh = box_mesh(ElementType::Hex8, box);
    const FeModel solid = assemble(mesh, options, diagnostics);
    const GcmsModel model = full_corotated(solid, {{"end", mesh.node_sets.at("x1")}});
    Motion m(model);
    m.anywhere(model, 0.05);
    const MatrixXd m_nodes = dense(solid.node_mass);
    // straight from the nodes
    const auto energy = [&](const Eigen::Matrix3Xd& x) {
      const Vector3d centre = x * m_nodes.rowwise().sum() / model.mass;
      const Eigen::Matrix3Xd X = model.points.colwise() - model.centre;
      const Matrix3d A = polar(Matrix3d((x.colwise() - centre) * m_nodes * X.transpose())).A;
      const MatrixXd u = A.transpose() * (x.colwise() - centre) - X;
      const VectorXd stacked = Eigen::Map<const VectorXd>(u.data(), u.size());
      return 0.5 * stacked.dot(dense(solid.K) * stacked);
    };
    const double V = energy(m.body->node_positions(m.q));
    EXPECT_NEAR(m.body->energy(m.q, m.v, no_gravity, *m.room).elastic, V, 1e-12 * V);
    // the force is that on the nodes: J' of a node carries it
    const VectorXd g = m.force(m.q);
    const std::function<double(const VectorXd&)> nodal = [&](const VectorXd& q) {
      return energy(m.body->node_positions(q));
    };
    const VectorXd d = m.vector();
    EXPECT_NEAR(g.dot(d), slope(nodal, m.q, d, 1e-3 * m.size), 1e-8 * g.norm() * d.norm());
  }
}

TEST(GcmsBody, SaysWhatIsWrong) {
  const GcmsSample& sample = samples()[2];
  const auto body = make_gcms_body("plate", sample.model);
  const auto message = [](const std::function<void()>& act) -> std::string {
    try {
      act();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no InputError";
  };
  MarkerSpec spec;
  spec.name = "rihgt";
  EXPECT_EQ(message([&] { body->add_marker(spec); }),
            "body 'plate' has no interface 'rihgt' (did you mean 'right'?); it has left, "
            "right, edge");
  spec.kind = MarkerSpec::Kind::Nodes;
  spec.node_ids = {4711};
  EXPECT_NE(message([&] { body->add_marker(spec); }).find("no node 4711"), std::string::npos);
  spec.kind = MarkerSpec::Kind::Point;
  EXPECT_NE(message([&] { body->add_marker(spec); }).find("not at a point"), std::string::npos);
  GcmsModel other = sample.model;
  other.S.col(2) *= 2;
  EXPECT_NE(message([&] { make_gcms_body("plate", other); }).find("scalar basis"), std::string::npos);
  other = sample.model;
  other.K_hat.conservativeResize(30, 30);
  EXPECT_NE(message([&] { make_gcms_body("plate", other); }).find("K_hat is 30 by 30"), std::string::npos);
  // a face pressed to a line has no rotation any more
  Motion m(sample.model);
  VectorXd q = VectorXd::Zero(m.body->coordinates()), r = q;
  q[3] = 1;
  EXPECT_THROW(m.body->add_residual(q, q, q, 1, no_gravity, *m.room, r), Error);
}

}  // namespace
}  // namespace lissom::gcms_body_test

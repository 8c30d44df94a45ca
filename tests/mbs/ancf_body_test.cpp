// ANCF beams as a body: sharing and supports, vectorised loops against single elements, derivatives against
// differences, energies, messages.
#include "lissom/mbs/ancf_body.hpp"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <cmath>
#include <numeric>

#include "tests/allocation_counter.hpp"
#include "tests/mbs/body_checks.hpp"
#include "tests/mbs/marker_support.hpp"

namespace lissom::ancf_body_test {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::derivative_errors;
using test::DerivativeErrors;
using test::jacobian_of;
using test::mass_of;
using test::Motion;
using test::Random;
using test::residual_of;

const Vector3d no_gravity = Vector3d::Zero();

AncfBeam beam_of(const std::string& name, int elements, const Vector3d& from, const Vector3d& to,
                 double damping = 0) {
  AncfBeam beam;
  beam.name = name;
  beam.elements = elements;
  beam.from = from;
  beam.to = to;
  beam.properties = {0, 50, 0.2, 0.3, damping};
  return beam;
}

std::vector<AncfLaw> every_law() {
  std::vector<AncfLaw> laws;
  for (const auto& axial : axial_strain_names())
    for (const auto& bending : bending_strain_names()) laws.push_back({axial.second, bending.second});
  return laws;
}

// a frame of three beams: pinned to the ground, to each other (all three meet in one node), and clamped
AncfModel frame(int dimension, double damping, const AncfLaw& law = {}) {
  AncfModel model;
  model.dimension = dimension;
  model.law = law;
  const double z = dimension == 2 ? 0.2 : 0.5;
  model.beams = {beam_of("left", 6, {0, 0, 0.2}, {1, 0.5, z}, damping),
                 beam_of("right", 5, {1.7, -0.4, 0.2}, {1, 0.5, z}, damping),
                 beam_of("arm", 3, {1, 0.5, z}, {1.2, 1.4, z}, damping)};
  model.pins = {{{0, 6}, {1, 5}}, {{2, 0}, {1, 5}}};
  model.supports = {{{0, 0}, false}, {{1, 0}, true}};
  return model;
}

// a state beside the start, by displacements of `size` [m] in every coordinate
Motion stirred(const AncfBody& body, double size, unsigned seed) {
  Random random(seed);
  const int n = body.coordinates();
  Motion s{VectorXd(n), VectorXd(n), random.vector(n)};
  body.place({}, s.q, s.v);
  VectorXd scale(n);
  body.displacement_scale(scale);
  // slopes by as much as the size is of an element's length
  for (int i = 0; i < n; ++i) s.q[i] += size * random.number() * (scale[i] < 1 ? 0.15 / scale[i] : 1);
  s.v = random.vector(n);
  return s;
}

TEST(AncfBody, CountsTheCoordinatesThatAreLeft) {
  // the double pendulum of paper 004: 648 nodal coordinates, 4 constraints
  AncfModel pendulum;
  pendulum.beams = {beam_of("upper", 80, {0, 0, 0}, {1, 0, 0}), beam_of("lower", 80, {1, 0, 0}, {2, 0, 0})};
  pendulum.pins = {{{0, 80}, {1, 0}}};
  pendulum.supports = {{{0, 0}, false}};
  const AncfBody body("pendulum", pendulum);
  EXPECT_EQ(body.nodal_coordinates(), 648);
  EXPECT_EQ(body.coordinates(), 644);
  EXPECT_EQ(body.flexible_modes(), 644);
  EXPECT_EQ(body.cells().size(), 160u);
  EXPECT_TRUE(body.symmetric());
  EXPECT_TRUE(body.planar());
  EXPECT_EQ(body.part_names(), (std::vector<std::string>{"upper", "lower"}));
  // half-bandwidth of the errata
  int width = 0;
  for (const std::vector<int>& cell : body.cells())
    width = std::max(
        width, *std::max_element(cell.begin(), cell.end()) - *std::min_element(cell.begin(), cell.end()));
  EXPECT_EQ(width, 9);

  // 3 held in space, 3 held and 2 directions, twice 3 shared
  const AncfBody spatial("frame", frame(3, 0.01));
  EXPECT_EQ(spatial.nodal_coordinates(), 6 * 17);
  EXPECT_EQ(spatial.coordinates(), 6 * 17 - 3 - 5 - 6);
  EXPECT_FALSE(spatial.symmetric());
  EXPECT_FALSE(spatial.planar());

  AncfModel single;
  single.beams = {beam_of("rod", 2, {0, 0, 0}, {1, 0, 0})};
  const AncfBody rod("rod", single);
  EXPECT_TRUE(rod.part_names().empty());
  EXPECT_EQ(rod.flexible_modes(), 9);
}

class AncfBodyOf : public testing::TestWithParam<int> {};

TEST_P(AncfBodyOf, SharesPositionsAndHoldsSupports) {
  const int D = GetParam();
  const AncfBody body("frame", frame(D, 0));
  const Motion s = stirred(body, 0.1, 1);
  const int n = body.coordinates(), N = body.nodal_coordinates();
  const VectorXd E = body.nodal(s.q), V = body.nodal_rate(s.v);
  const auto at = [&](const VectorXd& x, int beam, int node, int part) {
    return VectorXd(x.segment(body.node_offset({beam, node}) + part * D, D));
  };
  EXPECT_EQ(at(E, 0, 6, 0), at(E, 1, 5, 0));
  EXPECT_EQ(at(E, 0, 6, 0), at(E, 2, 0, 0));
  EXPECT_EQ(at(V, 0, 6, 0), at(V, 2, 0, 0));
  EXPECT_EQ(at(E, 0, 0, 0), frame(D, 0).beams[0].from.head(D));
  EXPECT_EQ(at(V, 1, 0, 0), VectorXd::Zero(D));
  // the clamped slope keeps its direction, not its length
  const Vector3d t = (frame(D, 0).beams[1].to - frame(D, 0).beams[1].from).normalized();
  const VectorXd slope = at(E, 1, 0, 1);
  EXPECT_LT((slope.normalized() - t.head(D)).norm(), 1e-15);
  EXPECT_GT(std::abs(slope.norm() - 1), 1e-3);
  // and there and back, exactly
  EXPECT_LT((body.from_nodal(E) - s.q).lpNorm<Eigen::Infinity>(), 1e-15);

  // E = E0 + T q with one T for values and rates
  MatrixXd T(N, n);
  for (int j = 0; j < n; ++j) T.col(j) = body.nodal_rate(VectorXd::Unit(n, j));
  EXPECT_LT((body.nodal(s.q) - body.nodal(VectorXd::Zero(n)) - T * s.q).norm(), 1e-14 * E.norm());
  EXPECT_LT((V - T * s.v).norm(), 1e-14 * V.norm());
  // the mass of all is that of the nodes
  const MatrixXd M = body.nodal_mass().full() * MatrixXd::Identity(N, N);
  const MatrixXd reduced = T.transpose() * M * T;
  EXPECT_LT((mass_of(body, s.q) - reduced).norm(), 1e-14 * reduced.norm());
  VectorXd diagonal(n);
  body.mass_diagonal(s.q, *body.workspace(), diagonal);
  EXPECT_LT((diagonal - reduced.diagonal()).norm(), 1e-14 * diagonal.norm());
}

TEST_P(AncfBodyOf, ForcesAndTangentsAreThoseOfTheSingleElements) {
  const int D = GetParam();
  for (const AncfLaw& law : every_law())
    for (const double damping : {0.0, 0.02}) {
      const AncfBody body("frame", frame(D, damping, law));
      const Motion s = stirred(body, 0.02, 2);
      const int n = body.coordinates(), N = body.nodal_coordinates();
      const VectorXd E = body.nodal(s.q), V = body.nodal_rate(s.v), A = body.nodal_rate(s.a);
      const double w = 0.8, cq = 1.3, cv = 0.4, ca = 5;
      const Vector3d gravity(1, -9.81, 2);
      const MatrixXd M = body.nodal_mass().full() * MatrixXd::Identity(N, N);
      VectorXd acceleration = w * A, f = VectorXd::Zero(N);
      MatrixXd K = ca * w * M;
      for (int i = 0; i < N; i += 2 * D) acceleration.segment(i, D) -= gravity.head(D);
      double elastic = 0, power = 0;
      const auto add = [&]<int d>(std::integral_constant<int, d>) {
        for (const AncfElementPlace& place : body.elements()) {
          ASSERT_EQ(place.second, place.first + 2 * d);
          Eigen::Matrix<double, 4 * d, 1> fe;
          Eigen::Matrix<double, 4 * d, 4 * d> Ke, De;
          const Eigen::Matrix<double, 4 * d, 1> e = E.segment<4 * d>(place.first),
                                                v = V.segment<4 * d>(place.first);
          elastic += ancf_elastic<d>(law, place.properties, e, fe, &Ke);
          f.segment<4 * d>(place.first) += fe;
          K.block<4 * d, 4 * d>(place.first, place.first) += cq * Ke;
          power += ancf_damping<d>(law, place.properties, e, v, fe, &Ke, &De);
          f.segment<4 * d>(place.first) += fe;
          K.block<4 * d, 4 * d>(place.first, place.first) += cq * Ke + cv * De;
        }
      };
      if (D == 2)
        add(std::integral_constant<int, 2>());
      else
        add(std::integral_constant<int, 3>());
      MatrixXd T(N, n);
      for (int j = 0; j < n; ++j) T.col(j) = body.nodal_rate(VectorXd::Unit(n, j));
      const VectorXd expected = T.transpose() * (f + M * acceleration);
      const MatrixXd expected_K = T.transpose() * K * T;
      // round-off, fused or not
      EXPECT_LT((residual_of(body, s, w, gravity) - expected).norm(), 1e-13 * f.norm());
      const MatrixXd J = jacobian_of(body, s, w, gravity, cq, cv, ca);
      EXPECT_LT((J - expected_K).norm(), 1e-13 * K.norm());
      if (body.symmetric()) {
        EXPECT_LT((J - J.transpose()).norm(), 1e-15 * J.norm());
      }
      const Body::Energy energy = body.energy(s.q, s.v, gravity, *body.workspace());
      EXPECT_NEAR(energy.elastic, elastic, 1e-13 * elastic);
      EXPECT_NEAR(energy.damping_power, power, 1e-13 * power);
      EXPECT_NEAR(energy.kinetic, V.dot(M * V) / 2, 1e-13 * energy.kinetic);
    }
}

TEST_P(AncfBodyOf, WritesTheLowerEntriesOfItsCellsOnly) {
  const AncfBody body("frame", frame(GetParam(), 0));
  const Motion s = stirred(body, 0.02, 3);
  const int n = body.coordinates();
  MatrixXd lower = MatrixXd::Zero(n, n);
  std::vector<std::vector<int>> places;
  std::vector<const int*> at;
  const std::vector<std::vector<int>> cells = body.cells();
  for (const std::vector<int>& cell : cells) {
    std::vector<int>& place = places.emplace_back(cell.size() * cell.size(), -1);
    // what is above the diagonal leads nowhere: an index out of range would be noticed
    for (size_t j = 0; j < cell.size(); ++j)
      for (size_t i = j; i < cell.size(); ++i)
        place[i + j * cell.size()] = std::max(cell[i], cell[j]) + n * std::min(cell[i], cell[j]);
  }
  for (const std::vector<int>& place : places) at.push_back(place.data());
  std::vector<double> guarded(1 + static_cast<size_t>(n) * n, 0.0);
  body.add_cells(s.q, s.v, s.a, 1, no_gravity, 1, 0, 3, *body.workspace(),
                 {guarded.data() + 1, at.data(), true});
  EXPECT_EQ(guarded[0], 0);
  lower = Eigen::Map<const MatrixXd>(guarded.data() + 1, n, n);
  const MatrixXd J = jacobian_of(body, s, 1, no_gravity, 1, 0, 3);
  const MatrixXd expected = J.triangularView<Eigen::Lower>();
  EXPECT_LT((lower - expected).norm(), 1e-14 * J.norm());
}

TEST_P(AncfBodyOf, HasTheDerivativesOfItsResidual) {
  for (const AncfLaw& law : every_law())
    for (const double damping : {0.0, 0.02}) {
      const AncfBody body("frame", frame(GetParam(), damping, law));
      const Motion s = stirred(body, 0.01, 4);
      const DerivativeErrors by_place = derivative_errors(body, s, 1e-4);
      // differences of fourth order: what is left of the fifth derivative, and round-off over the step
      EXPECT_LT(by_place.q, 1e-7);
      EXPECT_LT(by_place.combined, 1e-14);
      // linear in velocities and accelerations: large steps, of which round-off is all that is left
      const DerivativeErrors by_rate = derivative_errors(body, s, 10);
      if (damping > 0) {
        EXPECT_LT(by_rate.v, 1e-10);
      }
      EXPECT_LT(by_rate.a, 1e-10);
      EXPECT_LT(by_rate.mass, 1e-14);
    }
}

TEST_P(AncfBodyOf, BalancesEnergyAndMomentum) {
  const int D = GetParam();
  for (const AncfLaw& law : every_law()) {
    AncfModel model = frame(D, 0.02, law);
    const Vector3d gravity(1, -9.81, D == 2 ? 0 : 2);
    // power of all forces is the change of energy, with supports
    const AncfBody held("frame", model);
    const Motion s = stirred(held, 0.01, 5);
    const auto workspace = held.workspace();
    const int n = held.coordinates();
    const VectorXd h = residual_of(held, {s.q, s.v, VectorXd::Zero(n)}, 1, gravity);
    const auto potential = [&](double t) {
      const Body::Energy e = held.energy(s.q + t * s.v, s.v, gravity, *workspace);
      return MatrixXd::Constant(1, 1, e.elastic + e.gravity);
    };
    const double power = held.energy(s.q, s.v, gravity, *workspace).damping_power;
    // differences over 1e-5 s of what changes by a percent
    EXPECT_NEAR(h.dot(s.v), test::slope(potential, 1e-5)(0, 0) + power, 1e-8 * std::abs(h.dot(s.v)));

    // free: forces add to the weight, moments to its moment
    model.supports.clear();
    const AncfBody body("free", model);
    const Motion f = stirred(body, 0.01, 6);
    const VectorXd internal = residual_of(
        body, {f.q, VectorXd::Zero(body.coordinates()), VectorXd::Zero(body.coordinates())}, 1, no_gravity);
    const VectorXd E = body.nodal(f.q);
    for (int k = 0; k < D; ++k) {
      VectorXd shift = VectorXd::Zero(E.size());
      for (int i = 0; i < E.size(); i += 2 * D) shift[i + k] = 1;
      // round-off of forces that cancel
      EXPECT_LT(std::abs(body.from_nodal(shift).dot(internal)), 1e-13 * internal.norm());
    }
    for (int k = D == 2 ? 2 : 0; k < 3; ++k) {
      VectorXd turn(E.size());
      for (int i = 0; i < E.size(); i += D) {
        Vector3d r = Vector3d::Zero();
        r.head(D) = E.segment(i, D);
        turn.segment(i, D) = Vector3d::Unit(k).cross(r).head(D);
      }
      EXPECT_LT(std::abs(body.from_nodal(turn).dot(internal)), 1e-13 * internal.norm());
    }

    // the momenta of a rigid motion: m v_c and those of rods
    VectorXd q(body.coordinates()), v(body.coordinates());
    Placement turning;
    turning.velocity = Vector3d(0.3, -0.2, 0);
    turning.angular_velocity = Vector3d(0, 0, 2);
    body.place(turning, q, v);
    const Body::Energy moving = body.energy(q, v, gravity, *body.workspace());
    Vector3d momentum = Vector3d::Zero(), angular = Vector3d::Zero();
    double kinetic = 0, height = 0;
    for (const AncfBeam& beam : model.beams) {
      const Vector3d c = (beam.from + beam.to) / 2, d = beam.to - beam.from;
      const double m = beam.properties.mass * d.norm();
      const Vector3d u = turning.velocity + turning.angular_velocity.cross(c);
      const Vector3d spin = turning.angular_velocity.cross(d);
      momentum += m * u;
      angular += m * (c.cross(u) + d.cross(spin) / 12);
      kinetic += m * (u.squaredNorm() + spin.squaredNorm() / 12) / 2;
      height -= m * gravity.dot(c);
    }
    EXPECT_LT((moving.momentum - momentum).norm(), 1e-13);
    EXPECT_LT((moving.angular_momentum - angular).norm(), 1e-13);
    EXPECT_NEAR(moving.kinetic, kinetic, 1e-13);
    EXPECT_NEAR(moving.gravity, height, 1e-12);
    EXPECT_LT(moving.elastic, 1e-25);
  }
}

TEST_P(AncfBodyOf, MarkersFollowTheirNodes) {
  const int D = GetParam();
  AncfBody body("frame", frame(D, 0));
  Random random(7);
  std::vector<int> markers;
  for (const auto& [part, place] : std::vector<std::pair<std::string, std::string>>{
           {"left", "start"}, {"right", "start"}, {"right", "end"}, {"arm", "start"}, {"arm", "node 3"}}) {
    MarkerSpec spec;
    spec.part = part;
    spec.name = place;
    spec.axes = random.rotation(1);
    markers.push_back(body.add_marker(spec));
  }
  MarkerSpec node;
  node.kind = MarkerSpec::Kind::Nodes;
  node.part = "arm";
  node.node_ids = {4};
  markers.push_back(body.add_marker(node));

  const Motion s = stirred(body, 0.05, 8);
  const auto workspace = body.workspace();
  const Eigen::Matrix3Xd positions = body.node_positions(s.q), velocities = body.node_velocities(s.q, s.v);
  const int columns[] = {0, 7, 12, 13, 15, 16};
  const int n = body.coordinates();
  for (size_t i = 0; i < markers.size(); ++i) {
    const int m = markers[i];
    const auto kinematics = [&](const VectorXd& q) {
      MarkerKinematics out;
      body.marker(m, q, s.v, true, *workspace, out);
      return out;
    };
    const MarkerKinematics here = kinematics(s.q);
    EXPECT_TRUE(body.marker_rotates(m));
    EXPECT_LT((here.position() - positions.col(columns[i])).norm(), 1e-15);
    EXPECT_LT((here.rate.head<3>() - velocities.col(columns[i])).norm(), 1e-15);
    // J and V at their coordinates, zero at others
    const std::vector<int> coordinates = body.marker_coordinates(m);
    EXPECT_LE(coordinates.size(), 2u * D);
    EXPECT_TRUE(std::is_sorted(coordinates.begin(), coordinates.end()));
    MatrixXd J = MatrixXd::Zero(12, n), V = J, H = MatrixXd::Zero(n, n);
    J(Eigen::all, coordinates) = here.J;
    V(Eigen::all, coordinates) = here.V;
    const Vector12d w = random.vector(12);
    const auto k = static_cast<Eigen::Index>(coordinates.size());
    MatrixXd own = MatrixXd::Zero(k, k);
    body.add_marker_hessian(m, s.q, w, 1, *workspace, own);
    H(coordinates, coordinates) = own;
    // differences of fourth order with steps of 1e-3, as in marker_support.hpp
    EXPECT_LT((J - test::differences([&](const VectorXd& q) { return kinematics(q).m; }, s.q)).norm(), 1e-9);
    EXPECT_LT((V - test::differences([&](const VectorXd& q) { return kinematics(q).rate; }, s.q)).norm(),
              1e-9);
    const auto weighted = [&](const VectorXd& q) {
      VectorXd sum = VectorXd::Zero(n);
      sum(coordinates) = kinematics(q).J.transpose() * w;
      return sum;
    };
    EXPECT_LT((H - test::differences(weighted, s.q)).norm(), 1e-8);
  }
  // a clamped node: only the length of its slope, which turns nothing
  EXPECT_EQ(body.marker_coordinates(markers[1]).size(), 1u);
}

TEST_P(AncfBodyOf, DoesNotAllocateWhileItRuns) {
#if LISSOM_COUNTS_MALLOC
  for (const AncfLaw& law : every_law()) {
    AncfBody body("frame", frame(GetParam(), 0.01, law));
    MarkerSpec spec;
    spec.part = "arm";
    spec.name = "end";
    const int end = body.add_marker(spec);
    const Motion s = stirred(body, 0.01, 9);
    const auto workspace = body.workspace();
    const int n = body.coordinates();
    VectorXd r = VectorXd::Zero(n);
    std::vector<std::vector<int>> places;
    std::vector<const int*> at;
    for (const std::vector<int>& cell : body.cells()) places.emplace_back(cell.size() * cell.size(), 0);
    for (const std::vector<int>& place : places) at.push_back(place.data());
    double value = 0;
    MarkerKinematics out;
    MatrixXd H = MatrixXd::Zero(2 * GetParam(), 2 * GetParam());
    body.marker(end, s.q, s.v, true, *workspace, out);
    const long before = test::allocations;
    for (int i = 0; i < 3; ++i) {
      body.add_residual(s.q, s.v, s.a, 1, no_gravity, *workspace, r);
      body.add_cells(s.q, s.v, s.a, 1, no_gravity, 1, 2, 3, *workspace, {&value, at.data(), false});
      body.marker(end, s.q, s.v, true, *workspace, out);
      body.add_marker_hessian(end, s.q, out.m, 1, *workspace, H);
    }
    EXPECT_EQ(test::allocations - before, 0);
  }
#endif
}

INSTANTIATE_TEST_SUITE_P(Dimensions, AncfBodyOf, testing::Values(2, 3));

TEST(AncfBody, OfThousandsOfElementsKeepsNothingOfThatSizeSquared) {
  AncfModel model;
  model.beams = {beam_of("cable", 8000, {0, 0, 0}, {10, 0, 0})};
  model.supports = {{{0, 0}, true}};
  const AncfBody body("cable", model);
  // full matrices of it would take 8 GB
  const int n = body.coordinates();
  EXPECT_EQ(n, 4 * 8001 - 3);
  Motion s{VectorXd(n), VectorXd(n), VectorXd::Zero(n)};
  body.place({}, s.q, s.v);
  const Vector3d gravity(0, -9.81, 0);
  const VectorXd r = residual_of(body, s, 1, gravity);
  // the weight hangs on what is not held, half an element's less
  double weight = 0;
  for (int i = 2; i < n; i += 4) weight += r[i];
  const double l = 10.0 / 8000;
  EXPECT_NEAR(weight, 9.81 * 0.3 * (10 - l / 2), 1e-9);
}

TEST(AncfBody, StartsWhereAndAsItsBeamsSay) {
  AncfModel model;
  model.dimension = 3;
  model.beams = {beam_of("rod", 4, {1, 2, 3}, {1, 2, 5})};
  model.beams[0].velocity = {1, 0, 0};
  model.beams[0].angular_velocity = {0, 2, 0};
  // stretched by a tenth at the start
  model.beams[0].properties.length = 0.5 / 1.1;
  const AncfBody body("rod", model);
  VectorXd q(30), v(30);
  body.place({}, q, v);
  const Eigen::Matrix3Xd positions = body.node_positions(q), velocities = body.node_velocities(q, v);
  EXPECT_LT((positions.col(4) - Vector3d(1, 2, 5)).norm(), 1e-15);
  EXPECT_LT((velocities.col(4) - Vector3d(1 + 2 * 2, 0, 0)).norm(), 1e-15);
  EXPECT_NEAR(body.nodal(q)[5], 1.1, 1e-15);
  EXPECT_NEAR(body.mass(), 0.3 * 2 / 1.1, 1e-15);
  EXPECT_NEAR(body.radius(), 1, 1e-15);
  const double strain = (1.1 * 1.1 - 1) / 2;
  EXPECT_NEAR(body.energy(q, v, no_gravity, *body.workspace()).elastic, 50 * strain * strain / 2 * 2 / 1.1,
              1e-13);

  // and moved as a whole
  Placement placement;
  placement.rotation = Eigen::AngleAxisd(0.5, Vector3d::UnitX()).toRotationMatrix();
  placement.position = {4, 5, 6};
  placement.angular_velocity = {0, 0, 1};
  body.place(placement, q, v);
  const Vector3d end = placement.rotation * Vector3d(1, 2, 5);
  EXPECT_LT((body.node_positions(q).col(4) - placement.position - end).norm(), 1e-14);
  const Vector3d rate = placement.angular_velocity.cross(end) + placement.rotation * Vector3d(5, 0, 0);
  EXPECT_LT((body.node_velocities(q, v).col(4) - rate).norm(), 1e-14);
}

TEST(AncfBody, NamesNodesBeamsAndCoordinates) {
  const AncfBody body("frame", frame(2, 0));
  const std::vector<NodeGroup> groups = body.node_groups();
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[1].name, "right");
  EXPECT_EQ(groups[1].first, 7);
  EXPECT_EQ(groups[1].count, 6);
  EXPECT_EQ(body.node_ids()[6], 7);
  EXPECT_EQ(body.node_ids()[7], 1);
  // the first node is held, its slope is not
  EXPECT_EQ(body.coordinate_name(0), "beam 'left', node 1, slope x");
  EXPECT_EQ(body.coordinate_name(3), "beam 'left', node 2, position y");
  EXPECT_EQ(body.coordinate_name(26), "beam 'right', node 1, length of the slope");
  VectorXd scale(body.coordinates());
  body.displacement_scale(scale);
  EXPECT_EQ(scale[2], 1);
  EXPECT_NEAR(scale[0], 4.0 / 27 * std::hypot(1, 0.5) / 6, 1e-16);
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(AncfBody, SaysWhatIsWrongWithItsBeams) {
  const auto expect = [](const std::function<void(AncfModel&)>& change, const std::string& part) {
    AncfModel model = frame(2, 0);
    change(model);
    const std::string message = message_of([&] { AncfBody("frame", model); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect([](AncfModel& m) { m.beams.clear(); }, "no ANCF beam");
  expect([](AncfModel& m) { m.dimension = 4; }, "not 4");
  expect([](AncfModel& m) { m.beams[1].elements = 0; }, "'right': it has 0 elements");
  expect([](AncfModel& m) { m.beams[2].to = m.beams[2].from; }, "'arm': its elements have zero length");
  expect([](AncfModel& m) { m.beams[2].properties.length = -1; }, "length of an element is -1 m");
  expect([](AncfModel& m) { m.beams[0].properties.EA = 0; }, "axial stiffness EA is 0 N");
  expect([](AncfModel& m) { m.beams[0].properties.EI = -2; }, "bending stiffness EI is -2 N m2");
  expect([](AncfModel& m) { m.beams[0].properties.mass = NAN; }, "mass per length is nan kg/m");
  expect([](AncfModel& m) { m.beams[0].properties.damping = -0.1; }, "damping is -0.1 s");
  expect([](AncfModel& m) { m.beams[0].from.x() = INFINITY; }, "finite");
  expect([](AncfModel& m) { m.beams[2].to.z() = 1; }, "plane of constant z, but z goes from 0.2 to 1 m");
  expect([](AncfModel& m) { m.beams[2].velocity.z() = 1; }, "out of its plane");
  expect([](AncfModel& m) { m.beams[2].from.x() += 0.1; }, "do not meet: 0.1 m are between them");
  expect([](AncfModel& m) { m.pins[0].first.node = 9; }, "'left': a pin is at node 10; its nodes are 1 to 7");
  expect([](AncfModel& m) { m.supports[0].at.beam = 3; }, "beam number 4, but there are 3");
  expect([](AncfModel& m) { m.beams[0].velocity.x() = 2; }, "'left': node 1 is pinned or held");
  expect([](AncfModel& m) { m.beams[1].angular_velocity.z() = 2; }, "velocity at the start does not fit");
}

TEST(AncfBody, SaysWhatIsWrongWithMarkersAndPlacements) {
  AncfBody body("frame", frame(2, 0));
  const auto expect = [&](const std::function<void(MarkerSpec&)>& change, const std::string& part) {
    MarkerSpec spec;
    spec.part = "arm";
    spec.name = "end";
    change(spec);
    const std::string message = message_of([&] { body.add_marker(spec); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect([](MarkerSpec& s) { s.part = ""; }, "several beams: say of which");
  expect([](MarkerSpec& s) { s.part = "lift"; }, "no beam 'lift' (did you mean 'left'?)");
  expect([](MarkerSpec& s) { s.name = "ende"; }, "no interface 'ende' (did you mean 'end'?)");
  expect([](MarkerSpec& s) { s.name = "node 5"; }, "'arm' has no node 5; its nodes are 1 to 4");
  expect([](MarkerSpec& s) { s.kind = MarkerSpec::Kind::Point; }, "at its nodes only");
  expect(
      [](MarkerSpec& s) {
        s.kind = MarkerSpec::Kind::Nodes;
        s.node_ids = {1, 2};
      },
      "at one node, not at 2");
  VectorXd q(body.coordinates()), v(body.coordinates());
  Placement moved;
  moved.position.x() = 1;
  EXPECT_NE(message_of([&] { body.place(moved, q, v); }).find("has supports in space"), std::string::npos);
  Placement tilted;
  tilted.rotation = Eigen::AngleAxisd(0.5, Vector3d::UnitX()).toRotationMatrix();
  EXPECT_NE(message_of([&] { body.place(tilted, q, v); }).find("out of their plane"), std::string::npos);
}

}  // namespace
}  // namespace lissom::ancf_body_test

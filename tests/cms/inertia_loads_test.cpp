// Inertia and gravity: the loads themselves, the answers of reduced bodies, and CalculiX.
#include "lissom/cms/inertia_loads.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <Eigen/Geometry>

#include <fstream>
#include <iostream>
#include <random>

#include "lissom/cms/reduction.hpp"
#include "lissom/fe/rigid_body.hpp"
#include "tests/cms/reduction_support.hpp"
#include "tests/fe/ccx.hpp"
#include "tests/packages.hpp"

namespace lissom::inertia_loads_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace test;

TEST(InertiaLoads, HaveTheForcesAndMomentsOfARigidBodyThatTurns) {
  for (const SampleBody& body : sample_bodies()) {
    const MatrixXd F = inertia_loads(body.model);
    ASSERT_EQ(F.cols(), inertia_load_count);
    const auto mass = rigid_mass(body.model);
    const double m = mass->mass[0];
    const MatrixXd R = rigid_body_modes(body.model.points, body.model.dofs, *mass->centre);
    // resultants: R' F = [m 1, 0, 0; 0, J, moments of the products]
    const MatrixXd resultant = R.transpose() * F;
    const double size = std::sqrt(mass->inertia->trace() / m);
    EXPECT_LT(difference(resultant.topLeftCorner(3, 3), m * Eigen::Matrix3d::Identity()), 1e-9) << body.name;
    EXPECT_LT(difference(resultant.block<3, 3>(3, 3), *mass->inertia), 1e-9) << body.name;
    EXPECT_LT(resultant.topRightCorner(3, 9).cwiseAbs().maxCoeff(), 1e-9 * m * size) << body.name;
    // Euler: w x (w x X) has the moment w x (J w)
    const Vector3d w(0.3, -1.1, 0.7);
    const Eigen::Matrix3d S = w * w.transpose() - w.squaredNorm() * Eigen::Matrix3d::Identity();
    VectorXd c(6);
    c << S(0, 0), S(1, 1), S(2, 2), S(0, 1), S(1, 2), S(2, 0);
    const Vector3d moment = resultant.bottomRightCorner(3, 6) * c;
    EXPECT_LT((moment - w.cross(*mass->inertia * w)).norm(), 1e-9 * mass->inertia->trace()) << body.name;
  }
}

TEST(InertiaLoads, AReducedBodyAnswersThemToWhatItSays) {
  for (const SampleBody& body : sample_bodies()) {
    const DenseBody d = dense_body(body.model, body.interfaces);
    const MatrixXd F = inertia_loads(body.model);
    const MatrixXd f = F(d.s, Eigen::all);
    const auto held = d.K_s.llt();
    const MatrixXd exact = held.solve(f);
    for (const bool with : {false, true}) {
      ReductionOptions options;
      options.interfaces = body.specs;
      options.selection.range = 6;
      options.inertia_loads = with;
      Diagnostics diagnostics;
      const Reduction result = reduce(body.model, &body.mesh, options, diagnostics);
      const ReducedBody& r = result.body;
      const int interior = r.size() - static_cast<int>(d.b.size());
      // loads on the reduced coordinates, by way of all nodes
      const MatrixXd nodes = r.modes.leftCols(interior);
      const Index n = body.model.points.cols();
      const MatrixXd m = dense(body.model.node_mass);
      const Vector3d centre = *rigid_mass(body.model)->centre;
      MatrixXd fields = MatrixXd::Zero(3 * n, 12);
      const int first[] = {0, 1, 2, 0, 1, 2}, second[] = {0, 1, 2, 1, 2, 0};
      for (Index i = 0; i < n; ++i) {
        const Vector3d X = body.model.points.col(i) - centre;
        for (int k = 0; k < 3; ++k) {
          fields(3 * i + k, k) = 1;
          fields.block<3, 1>(3 * i, 3 + k) = Vector3d::Unit(k).cross(X);
        }
        for (int k = 0; k < 6; ++k) {
          fields(3 * i + first[k], 6 + k) = X[second[k]];
          fields(3 * i + second[k], 6 + k) = X[first[k]];
        }
      }
      MatrixXd forces(3 * n, 12);
      for (int k = 0; k < 3; ++k)
        forces(Eigen::seqN(k, n, 3), Eigen::all) = m * MatrixXd(fields(Eigen::seqN(k, n, 3), Eigen::all));
      const MatrixXd load = nodes.transpose() * forces;
      const MatrixXd p = r.K.topLeftCorner(interior, interior).llt().solve(load);
      const MatrixXd energy = f.transpose() * exact, left = energy - load.transpose() * p;
      // the worst of many combinations of loads that cost energy, by differences of energies, which lose half
      // of the digits
      std::mt19937 random(3);
      std::normal_distribution<double> normal;
      const VectorXd scale = energy.diagonal().cwiseSqrt().cwiseInverse();
      double worst = 0;
      for (int t = 0; t < 2000; ++t) {
        VectorXd c(12);
        for (int i = 0; i < 12; ++i) c[i] = scale[i] * normal(random);
        worst = std::max(worst, c.dot(left * c) / c.dot(energy * c));
      }
      worst = std::sqrt(std::max(0.0, worst));
      const double said = result.inertia.error;
      EXPECT_LE(worst, said + 3e-6) << body.name << (with ? " with" : " without");
      if (with) {
        EXPECT_LE(said, 1e-3) << body.name;
        EXPECT_LE(result.inertia.vectors, 12) << body.name;
        EXPECT_GE(result.inertia.without, said) << body.name;
        // bounds and eigenvalues of the table hold for the body as it is: its own are no higher
        const VectorXd chi = exact_eigenvalues(d);
        for (int k = 0; k < 6; ++k) {
          const ModeError& error = r.errors.modes[static_cast<size_t>(k)];
          const double own = r.eigenvalues[r.rigid_count + k], table = error.eigenvalue;
          EXPECT_LE(own, table * (1 + 1e-9)) << body.name;
          EXPECT_GE(own, chi[r.rigid_count + k] * (1 - 1e-8)) << body.name;
          EXPECT_LE(own / chi[r.rigid_count + k] - 1, error.bound + 1e-9) << body.name;
        }
      }
      std::cout << body.name << (with ? ", with " : ", without ") << result.inertia.vectors
                << " answers: off by at most " << said << ", worst of 2000 " << worst << "\n";
    }
  }
}

TEST(InertiaLoads, AFreeInterfaceBodyAnswersThemWhileItsRigidMotionBalancesThem) {
  const SampleBody body = block(MassKind::Lumped);
  const DenseBody d = dense_body(body.model, body.interfaces);
  const MatrixXd F = inertia_loads(body.model);
  // answers over all flexible modes of the whole body
  const auto eigen = inverted(d.K, d.M, 0.1 * d.kappa[0]);
  const MatrixXd X = eigen.eigenvectors().rowwise().reverse();
  const VectorXd chi = exact_eigenvalues(d);
  MatrixXd exact = MatrixXd::Zero(d.K.rows(), 12);
  for (Index j = 6; j < chi.size(); ++j) {
    const double mass = X.col(j).dot(d.M * X.col(j));
    exact += X.col(j) * (X.col(j).transpose() * F) / (mass * chi[j]);
  }
  for (const bool with : {false, true}) {
    ReductionOptions options;
    options.basis = ReductionBasis::FreeInterface;
    options.interfaces = body.specs;
    options.selection.range = 6;
    options.inertia_loads = with;
    Diagnostics diagnostics;
    const Reduction result = reduce(body.model, &body.mesh, options, diagnostics);
    const ReducedBody& r = result.body;
    // no spider: rows are nodes' displacements
    const MatrixXd T = r.modes;
    const int flexible = r.size() - 6;
    const MatrixXd load = T.rightCols(flexible).transpose() * F;
    const MatrixXd found =
        T.rightCols(flexible) * r.eigenvalues.tail(flexible).cwiseInverse().asDiagonal() * load;
    double worst = 0;
    for (int k = 6; k < 12; ++k) {
      const VectorXd off = found.col(k) - exact.col(k);
      worst = std::max(worst, std::sqrt(off.dot(d.K * off) / exact.col(k).dot(d.K * exact.col(k))));
    }
    std::cout << "free interface" << (with ? ", with " : ", without ") << result.inertia.vectors
              << " answers: off by at most " << result.inertia.error << ", single loads " << worst << "\n";
    EXPECT_LE(worst, result.inertia.error * (1 + 1e-3) + 1e-6);
    if (with)
      EXPECT_LT(result.inertia.error, 1e-3);
    else
      EXPECT_GT(result.inertia.error, 1e-2);
  }
}

// --- CalculiX: linear statics of centrifugal load, acceleration, gravity

// Averages at the nodes as ccx writes them to job.frd: xx yy zz xy yz zx of each node, n by 6
MatrixXd frd_stress(const std::filesystem::path& folder, const Mesh& mesh) {
  std::ifstream in(folder / "job.frd");
  MatrixXd stress = MatrixXd::Zero(mesh.node_count(), 6);
  bool inside = false;
  int found = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(" -4")) inside = line.find("STRESS") != std::string::npos;
    if (!inside || !line.starts_with(" -1")) continue;
    const long id = std::stol(line.substr(3, 10));
    for (int i = 0; i < mesh.node_count(); ++i) {
      if (mesh.node_ids[i] != id) continue;
      for (int k = 0; k < 6; ++k) stress(i, k) = std::stod(line.substr(static_cast<size_t>(13 + 12 * k), 12));
      ++found;
      break;
    }
  }
  EXPECT_EQ(found, mesh.node_count());
  return stress;
}

double mises(const Eigen::Matrix<double, 6, 1>& s) {
  return std::sqrt(0.5 * (std::pow(s[0] - s[1], 2) + std::pow(s[1] - s[2], 2) + std::pow(s[2] - s[0], 2)) +
                   3 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
}

// A fan of two tapered, twisted blades along x, its hub in the middle (|x| up to 64 mm): what rotation pulls
// at one blade it pulls at the other, so that no acceleration and no rotation of the frame is like it.
Mesh fan() {
  BoxOptions options;
  options.cells = {12, 2, 1};
  options.size = {1, 1, 1};
  options.map = [](const Vector3d& x) {
    const double s = 2 * x[0] - 1, turn = 0.6 * s, taper = 1 - 0.4 * std::abs(s);
    const double y = 0.08 * taper * (x[1] - 0.5), z = 0.012 * taper * (x[2] - 0.5);
    // ccx reads twenty characters of a number: binary fractions of few digits
    const Vector3d place(0.38 * s, y * std::cos(turn) - z * std::sin(turn),
                         y * std::sin(turn) + z * std::cos(turn));
    return Vector3d((place * 16384).array().round() / 16384);
  };
  Mesh mesh = box_mesh(ElementType::Tet10, options);
  std::vector<int>& root = mesh.node_sets["x0"];
  root.clear();
  for (int i = 0; i < mesh.node_count(); ++i)
    if (std::abs(mesh.points(0, i)) < 0.064) root.push_back(i);
  return mesh;
}

using Field = std::function<Vector3d(const Vector3d&)>;

struct StressAtDefault {
  double peak = 0, ccx_peak = 0, off = 0;  // off: largest difference of a component over the largest one
};

// The static stress of a body held at `root`, reduced by default settings or without the answers to inertia,
// under the acceleration field a(X) = Translation + S X of every node, against ccx.
StressAtDefault compare(const Mesh& mesh, bool answers, const Field& acceleration, const std::string& dload) {
  Diagnostics diagnostics;
  AssemblyOptions assembly;
  // a rigid spider, whose reference is the last node: held, it holds the face
  Mesh joined = mesh;
  add_spider(joined, "hub", Spider::Kind::Rigid, joined.node_sets.at("x0"));
  joined.node_sets["hub"] = {joined.spiders.back().reference};
  const FeModel model = assemble(joined, assembly, diagnostics);
  ReductionOptions options;
  options.interfaces = {spec_of("root", {"hub"})};
  options.inertia_loads = answers;
  const ReducedBody body = reduce(model, &joined, options, diagnostics).body;
  // forces of the nodes; the reference is the last of them and has no mass
  const Index n = mesh.node_count();
  MatrixXd field = MatrixXd::Zero(n + 1, 3), force(n + 1, 3);
  for (Index i = 0; i < n; ++i) field.row(i) = acceleration(mesh.points.col(i)).transpose();
  multiply(model.node_mass, field, force);
  VectorXd f(3 * n + 3);
  for (Index i = 0; i <= n; ++i) f.segment<3>(3 * i) = -force.row(i).transpose();
  const auto free = static_cast<Index>(
      std::count_if(body.coordinates.begin(), body.coordinates.end(),
                    [](const ReducedCoordinate& c) { return c.kind != CoordinateKind::Constraint; }));
  const VectorXd load = body.modes.leftCols(free).transpose() * f;
  const VectorXd p = body.K.topLeftCorner(free, free).llt().solve(load);
  const VectorXd stress = body.stress_modes.leftCols(free) * p;

  const auto folder =
      run_ccx(mesh, "C3D10", "*STATIC\n*BOUNDARY\nx0, 1, 3\n*DLOAD\n" + dload + "*EL FILE\nS\n");
  const MatrixXd ccx = frd_stress(folder, mesh);
  std::filesystem::remove_all(folder);
  StressAtDefault result;
  double largest = 0;
  for (Index i = 0; i < n; ++i) {
    Eigen::Matrix<double, 6, 1> mine = stress.segment<6>(6 * i), theirs = ccx.row(i).transpose();
    largest = std::max(largest, theirs.cwiseAbs().maxCoeff());
    // ccx's order is that of here: xx yy zz xy yz zx
    result.off = std::max(result.off, (mine - theirs).cwiseAbs().maxCoeff());
    result.peak = std::max(result.peak, mises(mine));
    result.ccx_peak = std::max(result.ccx_peak, mises(theirs));
  }
  result.off /= largest;
  return result;
}

// Returns what the stress is off by without the answers.
double expect_right(const char* what, const Mesh& mesh, const Field& acceleration, const std::string& dload) {
  const StressAtDefault with = compare(mesh, true, acceleration, dload),
                        without = compare(mesh, false, acceleration, dload);
  std::cout << what << ": peak " << with.peak / 1e6 << " MPa, ccx " << with.ccx_peak / 1e6 << ", off by "
            << with.off << " of the largest; without the answers " << without.peak / 1e6 << " MPa, off by "
            << without.off << "\n";
  EXPECT_LT(std::abs(with.peak / with.ccx_peak - 1), 0.05) << what;
  EXPECT_LT(with.off, 0.05) << what;
  EXPECT_LE(with.off, without.off * (1 + 1e-6)) << what;
  return without.off;
}

TEST(InertiaLoadsAgainstCalculix, ASpinningFanHasItsStressAtDefaultSettings) {
  ASSERT_TRUE(has_ccx()) << "ccx" << test::install_hint;
  // about z through the origin, 320 rad/s: w x (w x X) = -w^2 (x, y, 0)
  const double w = 320;
  const double without = expect_right(
      "spinning fan", fan(), [&](const Vector3d& X) { return Vector3d(-w * w * X[0], -w * w * X[1], 0); },
      fmt::format("EALL, CENTRIF, {:.17g}, 0, 0, 0, 0, 0, 1\n", w * w));
  // which is what they are there for
  EXPECT_GT(without, 0.2);
}

TEST(InertiaLoadsAgainstCalculix, AnAcceleratedArmHasItsStressAtDefaultSettings) {
  ASSERT_TRUE(has_ccx()) << "ccx" << test::install_hint;
  BoxOptions options;
  options.cells = {10, 2, 2};
  options.size = {0.8, 0.06, 0.05};
  // 25 m/s2 across: the frame goes up, inertia pulls down
  const double a = std::hypot(3, 25);
  expect_right(
      "accelerated arm", box_mesh(ElementType::Tet10, options),
      [](const Vector3d&) { return Vector3d(3, 0, 25); },
      fmt::format("EALL, GRAV, {:.17g}, {:.17g}, 0, {:.17g}\n", a, -3 / a, -25 / a));
}

TEST(InertiaLoadsAgainstCalculix, ABodyUnderGravityHasItsStressAtDefaultSettings) {
  ASSERT_TRUE(has_ccx()) << "ccx" << test::install_hint;
  expect_right(
      "fan under gravity", fan(), [](const Vector3d&) { return Vector3d(0, 9.81, 0); },
      "EALL, GRAV, 9.81, 0, -1, 0\n");
}

}  // namespace
}  // namespace lissom::inertia_loads_test

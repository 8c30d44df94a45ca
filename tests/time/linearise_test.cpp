#include "lissom/time/linearise.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include <cmath>

#include "lissom/time/initial_state.hpp"
#include "tests/mbs/four_bar.hpp"
#include "tests/mbs/system_support.hpp"

namespace lissom::linearise_test {
namespace {

using namespace lissom::test;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Sensor sensor_of(const std::string& name, SensorKind kind, MarkerRef marker, int index = -1) {
  Sensor sensor;
  sensor.name = name;
  sensor.kind = kind;
  sensor.marker = marker;
  sensor.index = index;
  return sensor;
}

std::pair<VectorXd, VectorXd> start_of(const System& system) {
  std::pair<VectorXd, VectorXd> start;
  system.initial(start.first, start.second);
  return start;
}

// The four-bar mechanism with flexible bars and sensors, in motion.
struct MovingFourBar {
  std::unique_ptr<System> owned;
  std::vector<Sensor> sensors;
  std::unique_ptr<SystemEquations> equations;
  State state;

  explicit MovingFourBar(const std::string& formulation) {
    FourBarOptions options;
    options.formulation = formulation;
    options.modes = 2;
    options.ramp = 0;
    options.gravity = 9.81;
    options.damping = 0.02;
    owned = four_bar(options);
    System& system = *owned;
    const MarkerRef place = system.loads()[0].first;
    sensors = {sensor_of("top", SensorKind::Position, place), sensor_of("speed", SensorKind::Velocity, place),
               sensor_of("acceleration", SensorKind::Acceleration, place),
               sensor_of("foot", SensorKind::Reaction, {}, 0)};
    VectorXd q, v;
    system.initial(q, v);
    const SystemCheck check = check_system(system, 0, q);
    equations = std::make_unique<SystemEquations>(system, check.kept);
    // some way into its motion, so that nothing is special
    IntegratorOptions integrator;
    integrator.end = 0.01;
    integrator.step = 1e-4;
    IntegrationOutput output;
    output.sample = [&](const State& sample) { state = sample; };
    IntegrationSummary summary;
    Diagnostics diagnostics;
    integrate(*equations, make_consistent(*equations, 0, q, v).state, integrator, output, summary,
              diagnostics);
    state = make_consistent(*equations, state.t, state.q, state.v).state;
  }
};

class NonlinearModel {
 public:
  NonlinearModel(MovingFourBar& model, std::vector<int> independent)
      : model_(model), independent_(std::move(independent)), solver_(*model.equations) {}

  // z'' and sensors at independent coordinates changed by dz and dz', and with the load changed by du.
  VectorXd at(const VectorXd& dz, const VectorXd& rate) {
    SystemEquations& equations = *model_.equations;
    const Index n = equations.coordinates(), m = equations.constraints(), d = dz.size();
    State there = model_.state;
    MatrixXd T(n, n);
    VectorXd g(m), x(n);
    const auto matrix = [&] {
      MatrixXd G(m, n);
      equations.constraint_gradient(there.t, there.q, G);
      T.setZero();
      T.topRows(m) = G;
      for (Index i = 0; i < d; ++i) T(m + i, independent_[i]) = 1;
    };
    for (int k = 0; k < 4; ++k) {
      matrix();
      equations.constraint(there.t, there.q, g);
      x.head(m) = -g;
      for (Index i = 0; i < d; ++i)
        x[m + i] = model_.state.q[independent_[i]] + dz[i] - there.q[independent_[i]];
      there.q += T.partialPivLu().solve(x);
    }
    matrix();
    equations.constraint_rate(there.t, there.q, there.v, g);
    x.head(m) = -g;
    for (Index i = 0; i < d; ++i) x[m + i] = rate[i];
    there.v += T.partialPivLu().solve(x);
    // the rows for z' ask for their change against the state
    for (Index i = 0; i < d; ++i)
      EXPECT_NEAR(there.v[independent_[i]], model_.state.v[independent_[i]] + rate[i], 1e-8);
    solver_.solve(there);
    SensorBank bank(*model_.owned, model_.sensors);
    bank.start(equations, model_.state);
    VectorXd sensors(static_cast<Index>(bank.columns().size()));
    bank.evaluate(equations, there, sensors);
    VectorXd out(d + sensors.size());
    for (Index i = 0; i < d; ++i) out[i] = there.a[independent_[i]];
    out.tail(sensors.size()) = sensors;
    return out;
  }

 private:
  MovingFourBar& model_;
  std::vector<int> independent_;
  AccelerationSolver solver_;
};

class LinearisedFourBar : public testing::TestWithParam<const char*> {};

TEST_P(LinearisedFourBar, IsTheDerivativeOfTheNonlinearModelInMotion) {
  MovingFourBar model(GetParam());
  const Linearisation linear = linearise(*model.equations, model.sensors, model.state);
  const Index d = linear.N.cols(), y = linear.C.rows();
  EXPECT_TRUE(linear.moving);
  ASSERT_EQ(d, model.equations->coordinates() - model.equations->constraints());
  // independent coordinates: rows of N that are rows of the identity
  std::vector<int> independent;
  for (Index i = 0; i < d; ++i)
    for (Index row = 0; row < linear.N.rows(); ++row) {
      VectorXd unit = VectorXd::Zero(d);
      unit[i] = 1;
      if ((linear.N.row(row).transpose() - unit).cwiseAbs().maxCoeff() < 1e-9) {
        independent.push_back(static_cast<int>(row));
        break;
      }
    }
  ASSERT_EQ(static_cast<Index>(independent.size()), d);
  NonlinearModel nonlinear(model, independent);
  MatrixXd found(d + y, 2 * d), expected(d + y, 2 * d);
  expected.topRows(d) = linear.A.bottomRows(d);
  expected.bottomRows(y) = linear.C;
  const VectorXd& scale = model.equations->displacement_scale();
  VectorXd row_size = VectorXd::Zero(d + y);
  for (Index i = 0; i < 2 * d; ++i) {
    const double h = (i < d ? 1e-6 : 1e-3) * 0.1 / scale[independent[i % d]];
    VectorXd dz = VectorXd::Zero(d), rate = VectorXd::Zero(d);
    (i < d ? dz : rate)[i % d] = h;
    found.col(i) = (nonlinear.at(dz, rate) - nonlinear.at(-dz, -rate)) / (2 * h);
  }
  // each entry against the largest of its row in its half: differences have seven digits or so
  for (const Index half : {Index(0), d})
    for (Index row = 0; row < d + y; ++row) {
      const double size = expected.row(row).segment(half, d).cwiseAbs().maxCoeff();
      EXPECT_LE((found - expected).row(row).segment(half, d).cwiseAbs().maxCoeff(), 2e-6 * size + 1e-9)
          << GetParam() << " row " << row << " half " << half;
    }
}

TEST_P(LinearisedFourBar, HasTheInputsOfItsLoads) {
  MovingFourBar model(GetParam());
  const Linearisation linear = linearise(*model.equations, model.sensors, model.state);
  ASSERT_EQ(linear.inputs.size(), 1u);
  // the same mechanism with a newton more: accelerations and sensors are linear in it
  FourBarOptions options;
  options.formulation = GetParam();
  options.modes = 2;
  options.ramp = 0;
  options.gravity = 9.81;
  options.damping = 0.02;
  options.force = 6;
  const std::unique_ptr<System> stronger = four_bar(options);
  SystemEquations equations(*stronger, model.equations->kept_rows());
  State more = model.state;
  AccelerationSolver(equations).solve(more);
  const VectorXd change = more.a - model.state.a;
  SensorBank bank(*model.owned, model.sensors);
  bank.start(*model.equations, model.state);
  VectorXd after(linear.D.rows()), before(linear.D.rows());
  bank.evaluate(*model.equations, model.state, before);
  bank.evaluate(*model.equations, more, after);
  const VectorXd direct = after - before, predicted = linear.N * linear.B.bottomRows(linear.N.cols()).col(0);
  // G da = 0, so that da = N dz'': round-off of large accelerations
  EXPECT_LE((change - predicted).cwiseAbs().maxCoeff(), 1e-7 * change.cwiseAbs().maxCoeff());
  EXPECT_LE((direct - linear.D.col(0)).cwiseAbs().maxCoeff(), 1e-7 * direct.cwiseAbs().maxCoeff());
}

INSTANTIATE_TEST_SUITE_P(Formulations, LinearisedFourBar, testing::Values("ffrf", "fncf", "gcms"));

// A wheel in two gimbals: outer about x, inner about y, wheel about z, all axes through one point.
TEST(Linearise, AGyroscopeNutatesAsItsMomentsOfInertiaSay) {
  constexpr double spin = 40, axial = 0.02, across = 0.013;
  System system;
  const int outer = add_rigid(system, "outer", 0.5, {2e-3, 3e-3, 4e-3}, at({0, 0, 0}));
  const int inner = add_rigid(system, "inner", 0.4, {1e-3, 1.5e-3, 2e-3}, at({0, 0, 0}));
  Placement turning = at({0, 0, 0});
  turning.angular_velocity = {0, 0, spin};
  RigidBodySpec wheel_spec;
  wheel_spec.name = "wheel";
  wheel_spec.mass = 2;
  wheel_spec.inertia = Eigen::Vector3d(across, across, axial).asDiagonal();
  const int wheel = system.add_body(make_rigid_body(wheel_spec), turning);
  const double quarter = std::acos(-1.0) / 2;
  join_at(system, "outer bearing", JointKind::Revolute, -1, outer, {0, 0, 0},
          turned(quarter, Eigen::Vector3d::UnitY()));
  join_at(system, "inner bearing", JointKind::Revolute, outer, inner, {0, 0, 0},
          turned(-quarter, Eigen::Vector3d::UnitX()));
  join_at(system, "wheel bearing", JointKind::Revolute, inner, wheel, {0, 0, 0});
  VectorXd q, v;
  system.initial(q, v);
  const SystemCheck check = check_system(system, 0, q);
  SystemEquations equations(system, check.kept);
  const State state = make_consistent(equations, 0, q, v).state;
  const Linearisation linear = linearise(equations, {}, state);
  ASSERT_EQ(linear.N.cols(), 3);
  EXPECT_NE(linear.states[0].find("joint"), std::string::npos);
  // tilts a about x and b about y: (Jx) a'' + h b' = 0, (Jy) b'' - h a' = 0 with h = axial spin
  const double Jx = across + 2e-3 + 1e-3, Jy = across + 1.5e-3, h = axial * spin;
  const double nutation = h / std::sqrt(Jx * Jy);
  const LinearMode& highest = linear.modes.back();
  // derivatives along the motion are differences: eight digits
  EXPECT_NEAR(std::abs(highest.eigenvalue.imag()), nutation, 1e-6 * nutation);
  EXPECT_NEAR(highest.eigenvalue.real(), 0, 1e-6 * nutation);
  // nothing else turns: tilts and spin stay where they are put
  for (size_t i = 0; i + 1 < linear.modes.size(); ++i)
    EXPECT_LT(std::abs(linear.modes[i].eigenvalue), 1e-3 * nutation);
}

// A wheel whose centre of mass is beside its axis goes on as it does, whatever its position.
TEST(Linearise, AFreelyTurningWheelHasNoFrequency) {
  System system;
  Placement turning = at({0.3, 0, 0});
  turning.angular_velocity = {0, 0, 20};
  turning.velocity = {0, 6, 0};
  RigidBodySpec spec;
  spec.name = "wheel";
  spec.mass = 2;
  spec.inertia = Eigen::Vector3d(0.1, 0.1, 0.2).asDiagonal();
  const int wheel = system.add_body(make_rigid_body(spec), turning);
  join_at(system, "bearing", JointKind::Revolute, -1, wheel, {0, 0, 0});
  VectorXd q, v;
  system.initial(q, v);
  SystemEquations equations(system, check_system(system, 0, q).kept);
  const Linearisation linear = linearise(equations, {}, make_consistent(equations, 0, q, v).state);
  ASSERT_EQ(linear.N.cols(), 1);
  // differences of second order along the motion: 1e-6 of the square of the speed
  EXPECT_NEAR(linear.A(1, 0), 0, 4e-4);
  EXPECT_NEAR(linear.A(1, 1), 0, 4e-5);
}

// A mass on a stiff spring that is a billionth of its length away from rest accelerates by a metre per second squared,
// and gets nowhere; one that nothing holds does.
TEST(Linearise, AStateOfRestIsOneFromWhichNothingGetsAnywhere) {
  for (const double stiffness : {2e9, 0.0}) {
    System system;
    const int mass = add_rigid(system, "mass", 2, {1, 1, 1}, at({1e-9, 0, 0}));
    join_at(system, "rails", JointKind::Prismatic, -1, mass, {1e-9, 0, 0},
            turned(std::acos(0.0), Eigen::Vector3d::UnitY()));
    Load load;
    load.name = "load";
    load.first = point(system, mass, {0, 0, 0});
    load.kind = stiffness > 0 ? LoadKind::Spring : LoadKind::Force;
    load.components = {-2.0, 0.0, 0.0};
    load.stiffness = stiffness;
    load.length = 1;
    if (stiffness > 0) {
      load.second = system.add_ground_marker({-1, 0, 0});
      load.has_second = true;
    }
    system.add_load(load);
    const auto [q, v] = start_of(system);
    SystemEquations equations(system, check_system(system, 0, q).kept);
    const State state = make_consistent(equations, 0, q, v).state;
    ASSERT_NEAR(state.a[0], -1, 1e-6);
    EXPECT_EQ(linearise(equations, {}, state).moving, stiffness == 0);
  }
}

// Inputs of the system come behind the loads: their columns are the derivatives of the motion and of the sensors,
// which are linear in them.
TEST(Linearise, InputsOfTheSystemAreInputsAsWell) {
  System system;
  const int mass = add_rigid(system, "mass", 2, {1, 1, 1}, at({0, 0, 0}));
  join_at(system, "rails", JointKind::Prismatic, -1, mass, {0, 0, 0},
          turned(std::acos(0.0), Eigen::Vector3d::UnitY()));
  const MarkerRef hub = point(system, mass, {0, 0, 0});
  Load push;
  push.name = "motor";
  push.kind = LoadKind::Force;
  push.first = hub;
  push.components = {3.0, 0.0, 0.0};
  push.input = "u";
  system.add_load(push);
  Load line;
  line.name = "cylinder";
  line.kind = LoadKind::LineForce;
  line.first = hub;
  line.second = system.add_ground_marker({5, 0, 0});
  line.has_second = true;
  line.magnitude = -4.0;
  line.input = "w";
  system.add_load(line);
  const auto [q, v] = start_of(system);
  SystemEquations equations(system, check_system(system, 0, q).kept);
  equations.hold_inputs(Eigen::Vector2d(0.5, -2));
  const State state = make_consistent(equations, 0, q, v).state;
  const std::vector<Sensor> sensors = {sensor_of("x", SensorKind::Acceleration, hub),
                                       sensor_of("force", SensorKind::LoadValue, {}, 0),
                                       sensor_of("pressure", SensorKind::LoadValue, {}, 1)};
  const Linearisation linear = linearise(equations, sensors, state);
  ASSERT_EQ(linear.inputs, (std::vector<std::string>{"motor", "cylinder", "u", "w"}));
  EXPECT_EQ(linear.input_units, (std::vector<std::string>{"N", "N", "1", "1"}));
  EXPECT_EQ(input_names(system), linear.inputs);
  // of 2 kg; a positive line force pushes the two apart, here to the left
  const Eigen::RowVector4d a(1 / 2.0, -1 / 2.0, 3 / 2.0, 4 / 2.0);
  EXPECT_LT((linear.B.row(1) - a).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((linear.D.row(0) - a).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((linear.D.row(3) - Eigen::RowVector4d(1, 0, 3, 0)).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((linear.D.row(4) - Eigen::RowVector4d(0, 1, 0, -4)).cwiseAbs().maxCoeff(), 1e-9);
}

}  // namespace
}  // namespace lissom::linearise_test

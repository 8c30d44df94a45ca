// Sensors: what is written down at every sample.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lissom/mbs/system.hpp"
#include "lissom/mbs/turns.hpp"

namespace lissom {

class Archive;

enum class SensorKind : std::uint8_t {
  Position,             // of a marker [m]: x, y, z
  Displacement,         // since the start [m]: x, y, z
  Velocity,             // [m/s]
  Acceleration,         // [m/s2]
  Rotation,             // rotation vector of the marker's axes since the start [rad], turns counted on from
                        // step to step: rx, ry, rz
  AngularVelocity,      // [rad/s]: wx, wy, wz
  AngularAcceleration,  // [rad/s2]: ax, ay, az
  Reaction,             // of a joint on its second body [N, N m]: fx, fy, fz, tx, ty, tz
  JointAngle,           // of D_1 against d_1 about axis 3, continuous over turns [rad]: angle
  JointDisplacement,    // along axis 3 [m]: distance
  Drive,                // torque about axis 3, or force along it, that a driven joint exerts on its second
                        // body [N m, N]: value
  LoadValue,            // spring force and the like [N, N m]: value
  Energy,               // of the system [J]: kinetic, elastic, gravity, springs, total
  Stress,               // at a node of a flexible body, axes of its mesh [Pa]: stress_components()
  Strain                // the same [1], engineering shear
};
// xx yy zz xy yz zx, von_mises (of strain: equivalent_strain()), and the principal values p1 >= p2 >= p3.
const std::vector<std::string>& stress_components();
// Units of a column, as powers, so that they can be converted.
struct SensorColumn {
  std::string name;  // "tip.x"
  int length = 0, mass = 0, time = 0;
};
std::string si_unit(const SensorColumn& column);  // "m/s", "N"

// What is known of a kind, in one table (sensor.cpp).
struct SensorTraits {
  std::string_view name;
  enum class Of : std::uint8_t { System, Place, Nodes, Joint, Load } of = Of::Place;
  bool needs_axes = false;  // of its place
  bool is_force = false;    // needs the multipliers of a joint
  bool at_once = false;     // depends on accelerations or forces, and so on the inputs of the same time
  std::vector<SensorColumn> columns;
};
const SensorTraits& traits(SensorKind kind);
const std::vector<std::pair<std::string, SensorKind>>& sensor_names();
inline bool is_stress(SensorKind kind) {
  return traits(kind).of == SensorTraits::Of::Nodes;
}  // or strain
inline bool is_of_joint(SensorKind kind) {
  return traits(kind).of == SensorTraits::Of::Joint;
}
inline bool needs_axes(SensorKind kind) {
  return traits(kind).needs_axes;
}
inline bool depends_on_inputs(SensorKind kind) {
  return traits(kind).at_once;
}

// What a sensor of stress or strain knows of its nodes. Of several the one counts that has the largest von
// Mises stress (equivalent strain) at the time; its number is a further column, "node".
struct StressPlace {
  int body = -1, group = 0;            // of System::bodies(), of its node_groups()
  std::vector<std::int64_t> node_ids;  // k
  Eigen::MatrixXd modes;               // 6 k by c, for unit amplitudes of Body::deformation()
  std::vector<int> components;         // places in stress_components()
};

struct Sensor {
  std::string name;
  SensorKind kind = SensorKind::Position;
  MarkerRef marker;  // of kinematic ones
  int index = -1;    // of a joint or load
  StressPlace stress;
};

// Evaluates all sensors of a run; keeps what continuous angles need, by the rule of turns.hpp.
class SensorBank {
 public:
  // Throws InputError where a sensor needs the axes of a marker that has none.
  SensorBank(const System& system, std::vector<Sensor> sensors);
  const std::vector<SensorColumn>& columns() const { return columns_; }
  const Sensor& sensor_of(int column) const;
  // `initial` sets what displacements and rotations count from.
  void start(SystemEquations& equations, const State& initial);
  // With every accepted step, in the order of time: turns are counted here.
  void step(SystemEquations& equations, const State& state);
  // Values in the order of columns(), SI, of a state at or near the last step; remembers nothing.
  void evaluate(SystemEquations& equations, const State& state, Eigen::Ref<Eigen::VectorXd> values);
  // Of angles whose turns may have been missed.
  void warn(Diagnostics& diagnostics) const;
  // What later samples depend on.
  void archive(Archive& archive);

 private:
  CountedAngle joint_angle(const Sensor& sensor, SystemEquations& equations, const State& state);
  struct CountedRotation {
    Eigen::Vector3d vector = Eigen::Vector3d::Zero(), rate = Eigen::Vector3d::Zero();  // [rad, rad/s]
    void archive(Archive& archive);
  };
  CountedRotation rotation(size_t sensor, double t) const;
  void measure_stress(const Sensor& sensor, const State& state, Eigen::Ref<Eigen::VectorXd> out);

  const System* system_;
  std::vector<Sensor> sensors_;
  std::vector<SensorColumn> columns_;
  std::vector<int> sizes_;  // columns of each sensor
  std::vector<Eigen::Matrix3d> initial_axes_;
  std::vector<Eigen::Vector3d> initial_positions_;
  // Of rotations and angles of joints: when they were counted last, and what they were.
  double counted_at_ = 0;
  std::vector<CountedAngle> last_angles_;
  std::vector<CountedRotation> last_rotations_;
  TurnDoubt doubt_;                  // of joint angles
  MarkerKinematics first_, second_;  // room
  Eigen::VectorXd amplitudes_, components_;
};

}  // namespace lissom

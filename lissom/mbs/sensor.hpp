// Sensors: what is written down at every sample.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lissom/mbs/system.hpp"

namespace lissom {

enum class SensorKind : std::uint8_t {
  Position,             // of a marker [m]: x, y, z
  Displacement,         // since the start [m]: x, y, z
  Velocity,             // [m/s]
  Acceleration,         // [m/s2]
  Rotation,             // rotation vector of the marker's axes since the start [rad], turns counted on from
                        // sample to sample: rx, ry, rz
  AngularVelocity,      // [rad/s]: wx, wy, wz
  AngularAcceleration,  // [rad/s2]: ax, ay, az
  Reaction,             // of a joint on its second body [N, N m]: fx, fy, fz, tx, ty, tz
  JointAngle,           // of D_1 against d_1 about axis 3, continuous over turns [rad]: angle
  JointDisplacement,    // along axis 3 [m]: distance
  LoadValue,            // spring force and the like [N, N m]: value
  Energy,               // of the system [J]: kinetic, elastic, gravity, springs, total
  Stress,               // at a node of a flexible body, axes of its mesh [Pa]: stress_components()
  Strain                // the same [1], engineering shear
};
bool is_stress(SensorKind kind);  // or strain
// xx yy zz xy yz zx, von_mises (of strain: equivalent_strain()), and the principal values p1 >= p2 >= p3.
const std::vector<std::string>& stress_components();
const std::vector<std::pair<std::string, SensorKind>>& sensor_names();

// Units of a column, as powers, so that they can be converted.
struct SensorColumn {
  std::string name;  // "tip.x"
  int length = 0, mass = 0, time = 0;
};
std::string si_unit(const SensorColumn& column);  // "m/s", "N"

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
  SourcePos where;
};

// Evaluates all sensors of a run; keeps what continuous angles need.
class SensorBank {
 public:
  // Throws InputError where a sensor needs the axes of a marker that has none.
  SensorBank(const System& system, std::vector<Sensor> sensors);
  const std::vector<SensorColumn>& columns() const { return columns_; }
  // `initial` sets what displacements and rotations count from.
  void start(SystemEquations& equations, const State& initial);
  // Values in the order of columns(), SI. Samples come in the order of time, less than half a turn apart.
  void evaluate(SystemEquations& equations, const State& state, Eigen::Ref<Eigen::VectorXd> values);

 private:
  void measure_stress(const Sensor& sensor, const State& state, Eigen::Ref<Eigen::VectorXd> out);

  const System* system_;
  std::vector<Sensor> sensors_;
  std::vector<SensorColumn> columns_;
  std::vector<int> sizes_;  // columns of each sensor
  std::vector<Eigen::Matrix3d> initial_axes_;
  std::vector<Eigen::Vector3d> initial_positions_;
  std::vector<double> last_angles_;
  std::vector<Eigen::Vector3d> last_rotations_;
  MarkerKinematics first_, second_;  // room
  Eigen::VectorXd amplitudes_, components_;
};

}  // namespace lissom

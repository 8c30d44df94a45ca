#include "lissom/mbs/sensor.hpp"

#include <Eigen/Geometry>

#include <array>
#include <cmath>
#include <limits>

#include "lissom/fe/stress_recovery.hpp"
#include "lissom/mbs/archive_state.hpp"

namespace lissom {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

std::vector<SensorColumn> stress_columns(int length, int mass, int time) {
  std::vector<SensorColumn> columns;
  for (const std::string& name : stress_components()) columns.push_back({name, length, mass, time});
  return columns;
}

// In the order of SensorKind; columns with their powers of length, mass and time.
const std::array<SensorTraits, 15>& sensor_kinds() {
  using Of = SensorTraits::Of;
  static const std::array<SensorTraits, 15> list = {{
      {.name = "position", .columns = {{"x", 1, 0, 0}, {"y", 1, 0, 0}, {"z", 1, 0, 0}}},
      {.name = "displacement", .columns = {{"x", 1, 0, 0}, {"y", 1, 0, 0}, {"z", 1, 0, 0}}},
      {.name = "velocity", .columns = {{"x", 1, 0, -1}, {"y", 1, 0, -1}, {"z", 1, 0, -1}}},
      {.name = "acceleration",
       .at_once = true,
       .columns = {{"x", 1, 0, -2}, {"y", 1, 0, -2}, {"z", 1, 0, -2}}},
      {.name = "rotation",
       .needs_axes = true,
       .columns = {{"rx", 0, 0, 0}, {"ry", 0, 0, 0}, {"rz", 0, 0, 0}}},
      {.name = "angular-velocity",
       .needs_axes = true,
       .columns = {{"wx", 0, 0, -1}, {"wy", 0, 0, -1}, {"wz", 0, 0, -1}}},
      {.name = "angular-acceleration",
       .needs_axes = true,
       .at_once = true,
       .columns = {{"ax", 0, 0, -2}, {"ay", 0, 0, -2}, {"az", 0, 0, -2}}},
      {.name = "reaction",
       .of = Of::Joint,
       .is_force = true,
       .at_once = true,
       .columns = {{"fx", 1, 1, -2},
                   {"fy", 1, 1, -2},
                   {"fz", 1, 1, -2},
                   {"tx", 2, 1, -2},
                   {"ty", 2, 1, -2},
                   {"tz", 2, 1, -2}}},
      {.name = "joint-angle", .of = Of::Joint, .columns = {{"angle", 0, 0, 0}}},
      {.name = "joint-displacement", .of = Of::Joint, .columns = {{"distance", 1, 0, 0}}},
      {.name = "drive", .of = Of::Joint, .is_force = true, .at_once = true, .columns = {{"value", 1, 1, -2}}},
      {.name = "load", .of = Of::Load, .at_once = true, .columns = {{"value", 1, 1, -2}}},
      {.name = "energy",
       .of = Of::System,
       .columns = {{"kinetic", 2, 1, -2},
                   {"elastic", 2, 1, -2},
                   {"gravity", 2, 1, -2},
                   {"springs", 2, 1, -2},
                   {"total", 2, 1, -2}}},
      {.name = "stress", .of = Of::Nodes, .columns = stress_columns(-1, 1, -2)},
      {.name = "strain", .of = Of::Nodes, .columns = stress_columns(0, 0, 0)},
  }};
  return list;
}

// Without the sensor's name.
std::vector<SensorColumn> columns_of(const Sensor& sensor) {
  if (!is_stress(sensor.kind)) return traits(sensor.kind).columns;
  std::vector<SensorColumn> columns;
  for (const int component : sensor.stress.components)
    columns.push_back(traits(sensor.kind).columns.at(static_cast<size_t>(component)));
  if (sensor.stress.node_ids.size() > 1) columns.push_back({"node", 0, 0, 0});
  return columns;
}

// The rotation vector of R at the turn nearest to the one expected.
Vector3d rotation_vector(const Matrix3d& R, const Vector3d& expected) {
  const Eigen::AngleAxisd rotation(R);
  double angle = rotation.angle();
  Vector3d axis = rotation.axis();
  // after whole turns the axis is that of before
  if (angle < 1e-6 && expected.norm() > 1) {
    angle *= axis.dot(expected.normalized());
    axis = expected.normalized();
  }
  return at_nearest_turn(angle, expected.dot(axis)) * axis;
}

// d2m/dt2
Vector12d second_rate(const SystemEquations& equations, MarkerRef ref, const State& state,
                      const MarkerKinematics& marker) {
  Vector12d second = Vector12d::Zero();
  Eigen::Index k = 0;
  for (const int i : equations.marker_columns(ref)) {
    second += marker.J.col(k) * state.a[i] + marker.V.col(k) * state.v[i];
    ++k;
  }
  return second;
}

}  // namespace

const std::vector<std::pair<std::string, SensorKind>>& sensor_names() {
  static const auto names = [] {
    std::vector<std::pair<std::string, SensorKind>> list;
    for (size_t i = 0; i < sensor_kinds().size(); ++i)
      list.emplace_back(std::string(sensor_kinds()[i].name), static_cast<SensorKind>(i));
    return list;
  }();
  return names;
}

const SensorTraits& traits(SensorKind kind) {
  return sensor_kinds()[static_cast<size_t>(kind)];
}

const std::vector<std::string>& stress_components() {
  static const std::vector<std::string> names = {"xx", "yy",        "zz", "xy", "yz",
                                                 "zx", "von_mises", "p1", "p2", "p3"};
  return names;
}

SensorBank::SensorBank(const System& system, std::vector<Sensor> sensors)
    : system_(&system), sensors_(std::move(sensors)) {
  for (const Sensor& sensor : sensors_) {
    const std::string label = fmt::format("sensor '{}' ({})", sensor.name, traits(sensor.kind).name);
    const auto count =
        static_cast<int>(is_of_joint(sensor.kind) ? system.joints().size() : system.loads().size());
    if (is_of_joint(sensor.kind) || sensor.kind == SensorKind::LoadValue)
      LISSOM_ASSERT(sensor.index >= 0 && sensor.index < count);
    if (needs_axes(sensor.kind) && !system.marker_rotates(sensor.marker))
      fail_input(
          "{} needs axes, but its marker is a single node, which has a position only; use an interface "
          "or several nodes",
          label);
    if (sensor.kind == SensorKind::JointAngle || sensor.kind == SensorKind::JointDisplacement) {
      const Joint& joint = system.joints()[sensor.index];
      const bool both = sensor.kind == SensorKind::JointAngle;
      if (!system.marker_rotates(joint.first) || (both && !system.marker_rotates(joint.second)))
        fail_input(
            "{} needs the axes of joint '{}', which is at a single node; use an interface or several nodes",
            label, joint.name);
    }
    if (sensor.kind == SensorKind::Drive && !is_driven(system.joints()[sensor.index].kind))
      fail_input("{} is of the motion of a joint, and '{}' has none", label,
                 system.joints()[sensor.index].name);
    if (is_stress(sensor.kind))
      LISSOM_ASSERT(sensor.stress.modes.rows() == 6 * Eigen::Index(sensor.stress.node_ids.size()) &&
                    !sensor.stress.node_ids.empty());
    const size_t before = columns_.size();
    for (SensorColumn column : columns_of(sensor)) {
      column.name = sensor.name + "." + column.name;
      if (sensor.kind == SensorKind::LoadValue) {
        const LoadKind load = system.loads()[sensor.index].kind;
        if (load == LoadKind::Torque || load == LoadKind::TorsionSpring) column.length = 2;
      }
      if (sensor.kind == SensorKind::Drive && system.joints()[sensor.index].kind == JointKind::Angle)
        column.length = 2;
      columns_.push_back(std::move(column));
    }
    sizes_.push_back(static_cast<int>(columns_.size() - before));
  }
}

const Sensor& SensorBank::sensor_of(int column) const {
  size_t s = 0;
  while (column >= sizes_[s]) column -= sizes_[s++];
  return sensors_[s];
}

void SensorBank::start(SystemEquations& equations, const State& initial) {
  const size_t count = sensors_.size();
  initial_axes_.assign(count, Matrix3d::Identity());
  initial_positions_.assign(count, Vector3d::Zero());
  last_angles_.assign(count, {});
  last_rotations_.assign(count, {});
  counted_at_ = initial.t;
  doubt_ = {};
  for (size_t s = 0; s < count; ++s) {
    const Sensor& sensor = sensors_[s];
    if (sensor.kind == SensorKind::JointAngle) {
      last_angles_[s] = joint_angle(sensor, equations, initial);
    } else if (!is_of_joint(sensor.kind) && sensor.kind != SensorKind::LoadValue &&
               sensor.kind != SensorKind::Energy && !is_stress(sensor.kind)) {
      equations.marker(sensor.marker, initial.q, initial.v, false, first_);
      initial_positions_[s] = first_.position();
      initial_axes_[s] = first_.axes();
      last_rotations_[s].rate = first_.angular_velocity();
    }
  }
}

// of D_1 against d_1 about d_3, in any turn
CountedAngle SensorBank::joint_angle(const Sensor& sensor, SystemEquations& equations, const State& state) {
  const Joint& joint = system_->joints()[sensor.index];
  equations.marker(joint.first, state.q, state.v, false, first_);
  equations.marker(joint.second, state.q, state.v, false, second_);
  const Vector3d D = second_.axis(0), D_rate = second_.rate.segment<3>(3);
  const double c = D.dot(first_.axis(0)), s = D.dot(first_.axis(1));
  const double c_rate = D_rate.dot(first_.axis(0)) + D.dot(first_.rate.segment<3>(3));
  const double s_rate = D_rate.dot(first_.axis(1)) + D.dot(first_.rate.segment<3>(6));
  const double square = s * s + c * c;
  return {state.t, std::atan2(s, c), square > 0 ? (c * s_rate - s * c_rate) / square : 0};
}

void SensorBank::step(SystemEquations& equations, const State& state) {
  for (size_t s = 0; s < sensors_.size(); ++s) {
    if (sensors_[s].kind == SensorKind::JointAngle) {
      CountedAngle now = joint_angle(sensors_[s], equations, state);
      now.angle = at_nearest_turn(now.angle, last_angles_[s].expected(state.t, now.rate));
      doubt_.see(static_cast<int>(s), last_angles_[s], now);
      last_angles_[s] = now;
    } else if (sensors_[s].kind == SensorKind::Rotation) {
      equations.marker(sensors_[s].marker, state.q, state.v, false, first_);
      last_rotations_[s] = rotation(s, state.t);
    }
  }
  counted_at_ = state.t;
}

// of the marker in first_
SensorBank::CountedRotation SensorBank::rotation(size_t s, double t) const {
  const CountedRotation& last = last_rotations_[s];
  CountedRotation now;
  now.rate = first_.angular_velocity();
  now.vector = rotation_vector(first_.axes() * initial_axes_[s].transpose(),
                               last.vector + (last.rate + now.rate) / 2 * (t - counted_at_));
  return now;
}

void SensorBank::evaluate(SystemEquations& equations, const State& state,
                          Eigen::Ref<Eigen::VectorXd> values) {
  LISSOM_ASSERT(last_angles_.size() == sensors_.size());  // start() was called
  VectorXd multipliers;                                   // of all rows, once somebody asks
  int column = 0;
  for (size_t s = 0; s < sensors_.size(); ++s) {
    const Sensor& sensor = sensors_[s];
    const int size = sizes_[s];
    auto out = values.segment(column, size);
    column += size;
    switch (sensor.kind) {
      case SensorKind::Position:
      case SensorKind::Displacement:
        equations.marker(sensor.marker, state.q, state.v, false, first_);
        out = first_.position();
        if (sensor.kind == SensorKind::Displacement) out -= initial_positions_[s];
        break;
      case SensorKind::Velocity:
        equations.marker(sensor.marker, state.q, state.v, false, first_);
        out = first_.rate.head<3>();
        break;
      case SensorKind::Acceleration:
        equations.marker(sensor.marker, state.q, state.v, true, first_);
        out = second_rate(equations, sensor.marker, state, first_).head<3>();
        break;
      case SensorKind::Rotation:
        equations.marker(sensor.marker, state.q, state.v, false, first_);
        out = rotation(s, state.t).vector;
        break;
      case SensorKind::AngularVelocity:
        equations.marker(sensor.marker, state.q, state.v, false, first_);
        out = first_.angular_velocity();
        break;
      case SensorKind::AngularAcceleration: {
        // the derivative of sum d_k x d_k' / 2
        equations.marker(sensor.marker, state.q, state.v, true, first_);
        const Vector12d second = second_rate(equations, sensor.marker, state, first_);
        out = torque_of(second, first_.m) / 2;
        break;
      }
      case SensorKind::Reaction: {
        if (multipliers.size() == 0) multipliers = equations.all_multipliers(state);
        Vector3d force, torque;
        equations.reaction(sensor.index, state, multipliers, force, torque);
        out << force, torque;
        break;
      }
      case SensorKind::JointAngle: {
        const CountedAngle now = joint_angle(sensor, equations, state);
        out[0] = at_nearest_turn(now.angle, last_angles_[s].expected(state.t, now.rate));
        break;
      }
      case SensorKind::JointDisplacement: {
        const Joint& joint = system_->joints()[sensor.index];
        equations.marker(joint.first, state.q, state.v, false, first_);
        equations.marker(joint.second, state.q, state.v, false, second_);
        out[0] = first_.axis(2).dot(second_.position() - first_.position());
        break;
      }
      case SensorKind::Drive: {
        if (multipliers.size() == 0) multipliers = equations.all_multipliers(state);
        const Joint& joint = system_->joints()[sensor.index];
        Vector3d force, torque;
        equations.reaction(sensor.index, state, multipliers, force, torque);
        equations.marker(joint.first, state.q, state.v, false, first_);
        equations.marker(joint.second, state.q, state.v, false, second_);
        if (joint.kind == JointKind::Angle)
          out[0] = torque.dot(first_.axis(2));
        else if (joint.kind == JointKind::Displacement)
          out[0] = force.dot(first_.axis(2));
        else
          out[0] = force.dot((second_.position() - first_.position()).normalized());
        break;
      }
      case SensorKind::LoadValue:
        out[0] = equations.load_magnitude(sensor.index, state);
        break;
      case SensorKind::Energy: {
        const SystemEnergy energy = equations.energy(state);
        out << energy.kinetic, energy.elastic, energy.gravity, energy.springs, energy.total();
        break;
      }
      case SensorKind::Stress:
      case SensorKind::Strain:
        measure_stress(sensor, state, out);
        break;
    }
  }
}

void SensorBank::measure_stress(const Sensor& sensor, const State& state, Eigen::Ref<VectorXd> out) {
  const StressPlace& place = sensor.stress;
  const Body& body = *system_->bodies()[place.body];
  amplitudes_.resize(place.modes.cols());
  body.deformation(place.group, state.q.segment(system_->offset(place.body), body.coordinates()),
                   amplitudes_);
  components_.resize(place.modes.rows());
  components_.noalias() = place.modes * amplitudes_;
  const bool strain = sensor.kind == SensorKind::Strain;
  const auto equivalent = [&](const Vector6d& s) { return strain ? equivalent_strain(s) : von_mises(s); };
  size_t worst = 0;
  Vector6d s = components_.head<6>();
  double largest = equivalent(s);
  for (size_t i = 1; i < place.node_ids.size(); ++i) {
    const Vector6d other = components_.segment<6>(6 * static_cast<Eigen::Index>(i));
    if (const double value = equivalent(other); value > largest) {
      largest = value;
      s = other;
      worst = i;
    }
  }
  Vector6d tensor = s;
  if (strain) tensor.tail<3>() /= 2;
  const Vector3d values = principal(tensor);
  for (size_t c = 0; c < place.components.size(); ++c) {
    const int component = place.components[c];
    out[static_cast<Eigen::Index>(c)] = component < 6    ? s[component]
                                        : component == 6 ? largest
                                                         : values[component - 7];
  }
  if (place.node_ids.size() > 1) out[out.size() - 1] = static_cast<double>(place.node_ids[worst]);
}

void SensorBank::warn(Diagnostics& diagnostics) const {
  if (doubt_.which < 0) return;
  doubt_.warn("sensor.turns", fmt::format("sensor '{}'", sensors_[static_cast<size_t>(doubt_.which)].name),
              diagnostics);
}

void SensorBank::CountedRotation::archive(Archive& archive) {
  archive(vector, rate);
}

void SensorBank::archive(Archive& archive) {
  archive(initial_axes_, initial_positions_, counted_at_, last_angles_, last_rotations_, doubt_);
}

std::string si_unit(const SensorColumn& column) {
  struct Known {
    int length, mass, time;
    const char* name;
  };
  constexpr Known known[] = {{1, 0, 0, "m"},  {1, 0, -1, "m/s"}, {1, 0, -2, "m/s2"},
                             {0, 0, 0, "1"},  {0, 0, -1, "1/s"}, {0, 0, -2, "1/s2"},
                             {1, 1, -2, "N"}, {2, 1, -2, "N m"}, {-1, 1, -2, "Pa"}};
  for (const Known& k : known)
    if (k.length == column.length && k.mass == column.mass && k.time == column.time) return k.name;
  return fmt::format("m^{} kg^{} s^{}", column.length, column.mass, column.time);
}

}  // namespace lissom

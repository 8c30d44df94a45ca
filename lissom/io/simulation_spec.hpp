// What a study asks of a simulation: [[joints]], [[loads]], [[sensors]], [simulate] and gravity. Read from
// TOML, all numbers turned into SI units; names of bodies are checked here, and of interfaces and points as
// far as the study knows them. Keys: docs/reference/study-file.md.
#pragma once

#include <Eigen/Core>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lissom/core/units.hpp"
#include "lissom/fe/stress_recovery.hpp"
#include "lissom/io/body_spec.hpp"
#include "lissom/mbs/joint.hpp"
#include "lissom/mbs/load.hpp"
#include "lissom/mbs/marker.hpp"
#include "lissom/mbs/sensor.hpp"
#include "lissom/time/integrate.hpp"

namespace lissom {

class TomlTable;

// "BODY.INTERFACE", "BODY.POINT", "BODY.node 17", "BODY.nodes 17 18 19" or "ground".
struct PlaceSpec {
  std::string text;   // as written
  std::string part;   // name of the body; empty: the ground
  int body = -1;      // its index among the study's bodies; -1: the ground, or a part of a reduced mechanism
  MarkerSpec marker;  // without axes
  SourcePos where;
  bool is_ground() const { return part.empty(); }
};

// Takes "PART.PLACE" apart by the names that there are, as these may have dots: the longest one counts.
// -1 where none begins the text; otherwise `rest` is what follows the dot.
int split_place(const std::string& text, const std::vector<std::string>& parts, std::string& rest);
// The numbers of "node 17" and "nodes 17 18 19"; none where the text is no such place. Throws InputError
// where one of them is no number.
std::vector<std::int64_t> node_numbers(const std::string& text);

// How the frames of a joint or load stand at the start, global axes.
struct FrameSpec {
  std::optional<Eigen::Vector3d> at;         // of the ground's marker [m]
  std::optional<Eigen::Vector3d> axis;       // of axis 3
  std::optional<Eigen::Vector3d> reference;  // of axis 1
};

struct JointSpec {
  std::string name;
  JointKind kind = JointKind::Spherical;
  PlaceSpec first, second;
  // with these the joint is two spherical ones, NAME.1 and NAME.2
  std::optional<std::pair<PlaceSpec, PlaceSpec>> and_between;
  FrameSpec frame;
  std::optional<TimeFunction> motion;  // [rad, m]
  std::optional<bool> share;           // whether beams may share coordinates here; [simulate] says it for all
  SourcePos where;
};

struct LoadSpec {
  Load load;  // without its markers
  PlaceSpec first;
  std::optional<PlaceSpec> second;
  FrameSpec frame;
  bool has_length = false;  // otherwise that of the start
  SourcePos where;
};

struct SensorSpec {
  std::string name;
  SensorKind kind = SensorKind::Position;
  std::optional<PlaceSpec> place;  // of kinematic ones
  std::string of;                  // name of a joint or load
  std::vector<int> components;     // of stress and strain: places in stress_components()
  SourcePos where;
};

// [simulate.stress]: what is written to stress.h5.
struct StressSpec {
  bool all = true;                  // bodies = true
  std::vector<std::string> bodies;  // otherwise
  std::vector<double> at;           // [s] instants
  bool maximum = true;              // over time, node by node
  bool unaveraged = false;          // values of each element at its nodes, at the instants
  bool strain = false;              // strain at the instants, too
  SourcePos where;
};

// paraview = true, or a table: the motion on the meshes, for ParaView.
struct ParaviewSpec {
  int every = 1;  // samples
  bool velocity = true;
  bool stress = false;
  std::vector<std::string> bodies;  // or parts of a reduced mechanism; all, where empty
  SourcePos where;
};

// What is simulated: the bodies themselves, or the mechanism reduced as a whole.
enum class MechanismModel : std::uint8_t { Full, Slap, Pod, Linear };
const std::vector<std::pair<std::string, MechanismModel>>& mechanism_model_names();  // "full", ..

// An input of loads as a function of time.
struct InputSpec {
  std::string name;
  TimeFunction value;
};

struct SimulateSpec {
  IntegratorOptions integrator;
  std::vector<InputSpec> inputs;
  MechanismModel model = MechanismModel::Full;
  bool is_reduced() const { return model != MechanismModel::Full; }
  bool exact_kernel = false;  // kernel = "exact": of a reduced mechanism, in place of its polynomial
  bool assemble = false;
  bool share = true;          // joints of beams share coordinates where they can
  bool start_static = false;  // start = "static": from the equilibrium at the beginning
  double begin = 0;  // [s] of integrator static only, for one equilibrium at any time; not in studies
  std::vector<double>
      check_at;  // [s] instants at which a reduced mechanism is checked against the full model
  std::optional<ParaviewSpec> paraview;
  bool all_nodes = false;          // nodes = true
  std::vector<std::string> nodes;  // bodies (of a reduced mechanism: parts) whose nodes are written
  std::optional<StressSpec> stress;
  SourcePos where;
};

struct SimulationSpec {
  UnitSystem units;  // of the study, for sensors.csv
  Eigen::Vector3d gravity = Eigen::Vector3d::Zero();
  std::vector<JointSpec> joints;
  std::vector<LoadSpec> loads;
  std::vector<SensorSpec> sensors;
  std::optional<SimulateSpec> simulate;
};

// Inputs of loads that [simulate.inputs] does not have, in the order of the loads.
std::vector<std::string> inputs_without_value(const SimulationSpec& simulation);
std::string missing_input(const std::string& name);  // what is to be said of one

// What a simulation needs of stress and strain: of its sensors and of [simulate.stress].
StressOptions stress_needs(const SimulationSpec& simulation);

// Reads the tables from the root of a study whose bodies have been read; notes every problem. Nothing where
// the study has none of these tables. `folder` is that of the study file, for tables of motions and loads.
// With `rom` the bodies are parts of a reduced mechanism, whose names are not known here.
std::optional<SimulationSpec> read_simulation_spec(TomlTable& root, const std::vector<BodySpec>& bodies,
                                                   const UnitSystem& units,
                                                   const std::filesystem::path& folder, bool rom = false);

// The keys of [bodies.NAME] that say what a body is in a simulation: formulation, position, rotation,
// velocity, angular_velocity, rigid, points. The body's units are known.
void read_moving_body(TomlTable& table, BodySpec& body);

// Names of the places where a body can be joined, as far as the study says: named points, or interfaces of
// its reduction (node sets of its mesh are places, too). Nothing where only a file knows them.
std::optional<std::vector<std::string>> known_places(const BodySpec& body);

}  // namespace lissom

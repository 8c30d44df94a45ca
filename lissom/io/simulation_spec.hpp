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
  int body = -1;      // index into the study's bodies; -1: the ground
  MarkerSpec marker;  // without axes
  bool is_ground() const { return body < 0; }
};

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
  SourcePos where;
};

struct LoadSpec {
  Load load;  // without its markers
  PlaceSpec first;
  std::optional<PlaceSpec> second;
  FrameSpec frame;
  bool has_length = false;  // otherwise that of the start
};

struct SensorSpec {
  std::string name;
  SensorKind kind = SensorKind::Position;
  std::optional<PlaceSpec> place;  // of kinematic ones
  std::string of;                  // name of a joint or load
  SourcePos where;
};

struct SimulateSpec {
  IntegratorOptions integrator;
  bool assemble = false;
  std::vector<std::string> nodes;  // bodies whose nodes are written
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

// Reads the tables from the root of a study whose bodies have been read; notes every problem. Nothing where
// the study has none of these tables. `folder` is that of the study file, for tables of motions and loads.
std::optional<SimulationSpec> read_simulation_spec(TomlTable& root, const std::vector<BodySpec>& bodies,
                                                   const UnitSystem& units,
                                                   const std::filesystem::path& folder);

// The keys of [bodies.NAME] that say what a body is in a simulation: formulation, position, rotation,
// velocity, angular_velocity, rigid, points. The body's units are known.
void read_moving_body(TomlTable& table, BodySpec& body);

// Names of the places where a body can be joined, as far as the study says: named points, or interfaces of
// its reduction (node sets of its mesh are places, too). Nothing where only a file knows them.
std::optional<std::vector<std::string>> known_places(const BodySpec& body);

}  // namespace lissom

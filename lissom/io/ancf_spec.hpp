// What a study says of a beam: [bodies.NAME] with formulation = "ancf". All numbers in SI units.
#pragma once

#include <Eigen/Core>

#include "lissom/core/error.hpp"
#include "lissom/core/units.hpp"
#include "lissom/mbs/ancf_body.hpp"

namespace lissom {

class TomlTable;

struct AncfSpec {
  int dimension = 2;  // 2: in a plane of constant z; 3: a cable in space
  AncfLaw law;
  AncfBeam beam;  // of the body's name, with its velocities
  // what EA, EI and the mass came from
  double area = 0;     // [m2]
  double inertia = 0;  // second moment of area [m4]
  double young = 0;    // [Pa]
  SourcePos where;

  double length() const { return (beam.to - beam.from).norm(); }  // [m]
  int nodes() const { return beam.elements + 1; }
  // Number of the node (from 0) that a place names: "start", "end", "node 7"; -1: there is none.
  int node_of(const std::string& place) const;
};

// Reads the keys of a beam and notes every problem: from, to, elements, dimension, section, young and density
// or material, mass, axial, bending, damping. Velocities are those of the body. Keys that nobody knows are
// left to the caller.
AncfSpec read_ancf_spec(TomlTable& table, const std::string& name, const UnitSystem& units,
                        const Eigen::Vector3d& velocity, const Eigen::Vector3d& angular_velocity);

// The keys that only beams have.
const std::vector<std::string>& ancf_keys();

}  // namespace lissom

// Which beams of a study share coordinates at their joints, and so become one body.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/io/study_file.hpp"
#include "lissom/mbs/ancf_body.hpp"

namespace lissom {

struct BeamGroup {
  std::string name;         // of the beam, or "a+b+c"
  std::vector<int> bodies;  // of the study, in its order
  AncfModel model;
};

struct BeamPlan {
  std::vector<BeamGroup> groups;  // in the order of their first beams
  std::vector<bool> shared;       // of each joint of the study: nothing is left of it
};

// A joint is shared where it is spherical, or revolute about z in the plane, between nodes of two beams of
// the same dimension and law that are at the same place, or between a node and the ground where the node is
// (also fixed: a clamp). It is not where it is driven, has share = false ([simulate] says it for all), or is
// measured, which is a warning: shared joints have no reactions.
BeamPlan plan_beams(const StudyFile& study, Diagnostics& diagnostics);

// Throws InputError where beams cannot be joined in this way: of different dimensions, or a beam in space
// fixed to what moves.
void check_beam_joint(const StudyFile& study, const JointSpec& joint);

// What a beam is made of, for people and for programs.
std::string describe_beam(const AncfSpec& spec);
nlohmann::json beam_json(const AncfSpec& spec);

}  // namespace lissom

#include "lissom/study/beam_groups.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

namespace lissom {

using Eigen::Vector3d;

namespace {

// Nodes this far apart, relative to the beams, are at one place.
constexpr double meeting_tolerance = 1e-6;

const AncfSpec* beam_at(const StudyFile& study, const PlaceSpec& place) {
  return place.body < 0 || !study.bodies[place.body].ancf ? nullptr : &*study.bodies[place.body].ancf;
}

int node_at(const AncfSpec& beam, const PlaceSpec& place) {
  const int node = beam.node_of(place.marker.name);
  LISSOM_ASSERT(node >= 0);  // places are checked as they are read
  return node;
}

Vector3d position(const AncfSpec& spec, int node) {
  return spec.beam.from + (spec.beam.to - spec.beam.from) * node / spec.beam.elements;
}

// Ends that meet within the tolerance are put at one place, that of the beam which comes first: coordinates
// are written down with a few digits, and bodies with other joints are moved as little without a word, too.
void bring_together(AncfModel& model) {
  const auto at = [&](const AncfNode& node) {
    const AncfBeam& beam = model.beams[node.beam];
    return Vector3d(beam.from + (beam.to - beam.from) * node.node / beam.elements);
  };
  // where several meet, one after the other
  for (size_t repeat = 0; repeat < model.beams.size(); ++repeat)
    for (const auto& [first, second] : model.pins) {
      const AncfNode& fixed = first.beam <= second.beam ? first : second;
      const AncfNode& moved = first.beam <= second.beam ? second : first;
      AncfBeam& beam = model.beams[moved.beam];
      if (moved.node == 0) beam.from = at(fixed);
      if (moved.node == beam.elements) beam.to = at(fixed);
    }
}

bool same_law(const AncfSpec& a, const AncfSpec& b) {
  return a.dimension == b.dimension && a.law.axial == b.law.axial && a.law.bending == b.law.bending;
}

// Whether the kind of joint is one that sharing coordinates makes.
bool can_share(const JointSpec& joint, const AncfSpec& beam, bool ground) {
  if (joint.motion || joint.and_between) return false;
  switch (joint.kind) {
    case JointKind::Spherical:
      return true;
    case JointKind::Revolute:
      // in the plane, about z
      return beam.dimension == 2 &&
             (!joint.frame.axis || joint.frame.axis->head<2>().norm() <= 1e-12 * joint.frame.axis->norm());
    case JointKind::Fixed:
      return ground;
    default:
      return false;
  }
}

// Sensors that need the joint to be there.
std::vector<std::string> sensors_of(const StudyFile& study, const JointSpec& joint) {
  std::vector<std::string> names;
  for (const SensorSpec& sensor : study.simulation->sensors) {
    if (is_of_joint(sensor.kind) && sensor.of == joint.name) names.push_back(sensor.name);
  }
  return names;
}

// What remains is whether they meet, and whether anybody wants the joint for itself.
bool is_shared(const StudyFile& study, const JointSpec& joint, Diagnostics& diagnostics) {
  const AncfSpec* first = beam_at(study, joint.first);
  const AncfSpec* second = beam_at(study, joint.second);
  const bool ground = joint.first.is_ground() || joint.second.is_ground();
  const AncfSpec* one = first ? first : second;
  if (!one || (!ground && !(first && second && same_law(*first, *second)))) return false;
  if (!can_share(joint, *one, ground)) return false;
  const auto& simulate = study.simulation->simulate;
  if (!joint.share.value_or(!simulate || simulate->share)) return false;

  const Vector3d x = position(*one, node_at(*one, first ? joint.first : joint.second));
  const Vector3d other =
      ground ? joint.frame.at.value_or(x) : position(*second, node_at(*second, joint.second));
  // frames that do not meet are the matter of the check before a run
  if ((x - other).norm() > meeting_tolerance * one->length()) return false;
  if (const auto names = sensors_of(study, joint); !names.empty()) {
    if (joint.share.value_or(false))
      diagnostics.warn(
          "simulate.shared-joint." + joint.name,
          fmt::format("joint '{}' is measured by '{}', so that it keeps its constraints although "
                      "it says share = true: a shared joint has no reactions",
                      joint.name, fmt::join(names, "', '")),
          joint.where);
    return false;
  }
  return true;
}

}  // namespace

BeamPlan plan_beams(const StudyFile& study, Diagnostics& diagnostics) {
  BeamPlan plan;
  const std::vector<JointSpec>& joints = study.simulation->joints;
  plan.shared.assign(joints.size(), false);
  // every beam points to the first of its group
  std::vector<int> group(study.bodies.size());
  std::iota(group.begin(), group.end(), 0);
  for (size_t j = 0; j < joints.size(); ++j) {
    plan.shared[j] = is_shared(study, joints[j], diagnostics);
    if (!plan.shared[j]) continue;
    if (joints[j].first.is_ground() || joints[j].second.is_ground()) continue;
    const int a = group[joints[j].first.body], b = group[joints[j].second.body];
    std::replace(group.begin(), group.end(), std::max(a, b), std::min(a, b));
  }

  std::vector<int> at(study.bodies.size(), -1);      // place of a body's group in the plan
  std::vector<int> number(study.bodies.size(), -1);  // of the beam in its group
  for (size_t i = 0; i < study.bodies.size(); ++i) {
    const BodySpec& body = study.bodies[i];
    if (!body.ancf) continue;
    if (group[i] == static_cast<int>(i)) {
      at[i] = static_cast<int>(plan.groups.size());
      plan.groups.emplace_back();
      plan.groups.back().model.dimension = body.ancf->dimension;
      plan.groups.back().model.law = body.ancf->law;
    }
    at[i] = at[group[i]];
    BeamGroup& own = plan.groups[at[i]];
    number[i] = static_cast<int>(own.model.beams.size());
    own.name += (own.name.empty() ? "" : "+") + body.name;
    own.bodies.push_back(static_cast<int>(i));
    own.model.beams.push_back(body.ancf->beam);
  }
  const auto node = [&](const PlaceSpec& place) {
    return AncfNode{number[place.body], node_at(*beam_at(study, place), place)};
  };
  for (size_t j = 0; j < joints.size(); ++j) {
    if (!plan.shared[j]) continue;
    const JointSpec& joint = joints[j];
    const bool ground = joint.first.is_ground() || joint.second.is_ground();
    const PlaceSpec& one = joint.first.is_ground() ? joint.second : joint.first;
    AncfModel& model = plan.groups[at[one.body]].model;
    if (ground)
      model.supports.push_back({node(one), joint.kind == JointKind::Fixed});
    else
      model.pins.emplace_back(node(joint.first), node(joint.second));
  }
  for (BeamGroup& one : plan.groups) bring_together(one.model);
  return plan;
}

void check_beam_joint(const StudyFile& study, const JointSpec& joint) {
  const AncfSpec* first = beam_at(study, joint.first);
  const AncfSpec* second = beam_at(study, joint.second);
  if (first && second && first->dimension != second->dimension)
    fail_input(
        "'{}' is a beam in {} and '{}' one in {}: beams that are joined have the same dimension, 2 or 3",
        first->beam.name, first->dimension == 2 ? "the plane" : "space", second->beam.name,
        second->dimension == 2 ? "the plane" : "space");
  const bool ground = joint.first.is_ground() || joint.second.is_ground();
  const AncfSpec* spatial = first && first->dimension == 3     ? first
                            : second && second->dimension == 3 ? second
                                                               : nullptr;
  if (spatial && !ground && joint.kind == JointKind::Fixed)
    fail_input(
        "a beam in space knows no twist and cannot be fixed to what moves; make it kind = \"revolute\" with "
        "'{}' as the first place and the axis along the beam, which leaves the turning about its own axis",
        spatial == first ? joint.first.text : joint.second.text);
}

std::string describe_beam(const AncfSpec& spec) {
  const AncfProperties& p = spec.beam.properties;
  return fmt::format(
      "{}\nbeam in {}, {} element{}, {:.6g} m long, {:.6g} kg, EA = {:.6g} N, EI = {:.6g} N m2\n",
      spec.beam.name, spec.dimension == 2 ? "the plane" : "space", spec.beam.elements,
      spec.beam.elements == 1 ? "" : "s", spec.length(), p.mass * spec.length(), p.EA, p.EI);
}

nlohmann::json beam_json(const AncfSpec& spec) {
  const AncfProperties& p = spec.beam.properties;
  return {{"formulation", "ancf"},   {"dimension", spec.dimension}, {"elements", spec.beam.elements},
          {"nodes", spec.nodes()},   {"length", spec.length()},     {"mass", p.mass * spec.length()},
          {"axial_stiffness", p.EA}, {"bending_stiffness", p.EI},   {"damping_beta", p.damping}};
}

}  // namespace lissom

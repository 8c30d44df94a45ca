#include "lissom/rom/slap/slap_system.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "lissom/rom/slap/slap_body.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::Vector3d;

namespace {

// A marker's place as the model will know it.
SlapSite site_of(const System& system, MarkerRef ref) {
  if (ref.body < 0) return {};
  const MarkerSpec& spec = system.marker_spec(ref);
  switch (spec.kind) {
    case MarkerSpec::Kind::Interface:
      return {ref.body, spec.name, {}};
    case MarkerSpec::Kind::Nodes:
      return {ref.body,
              fmt::format("node{} {}", spec.node_ids.size() == 1 ? "" : "s", fmt::join(spec.node_ids, " ")),
              spec.node_ids};
    case MarkerSpec::Kind::Point:
      break;
  }
  fail_input("a marker of body '{}' is at a point that is no node; a training needs an interface or nodes",
             system.bodies()[static_cast<size_t>(ref.body)]->name());
}

// Axis 3 of a marker as its body was placed.
Vector3d axis_of(const System& system, MarkerRef ref) {
  if (ref.body < 0) return system.ground_marker(ref.marker).segment<3>(9);
  return system.placement(ref.body).rotation * system.marker_spec(ref).axes.col(2);
}

void add_wish(const System& system, const std::string& label, MarkerRef ref, SlapMechanism& mechanism) {
  if (ref.body < 0) return;
  about({Subject::Kind::Place, static_cast<int>(mechanism.places.size())}, label, [&] {
    mechanism.places.push_back({label, site_of(system, ref)});
  });
}

}  // namespace

SlapMechanism slap_mechanism(const System& system, std::vector<SlapSource> bodies,
                             const std::vector<Sensor>& sensors) {
  if (bodies.size() != system.bodies().size())
    fail_input("the system has {} bodies, and finite elements of {} were given", system.bodies().size(),
               bodies.size());
  SlapMechanism mechanism;
  for (size_t b = 0; b < bodies.size(); ++b) {
    bodies[b].name = system.bodies()[b]->name();
    bodies[b].placement = system.placement(static_cast<int>(b));
  }
  mechanism.bodies = std::move(bodies);
  for (size_t j = 0; j < system.joints().size(); ++j) {
    const Joint& of = system.joints()[j];
    about({Subject::Kind::Joint, static_cast<int>(j)}, fmt::format("joint '{}'", of.name), [&] {
      SlapJoint joint;
      joint.name = of.name;
      joint.kind = of.kind;
      joint.first = site_of(system, of.first);
      joint.second = site_of(system, of.second);
      for (const MarkerRef ref : {of.first, of.second})
        if (ref.body < 0) joint.at = system.ground_marker(ref.marker).head<3>();
      joint.axis = axis_of(system, of.first);
      mechanism.joints.push_back(std::move(joint));
    });
  }
  for (const Load& load : system.loads()) {
    add_wish(system, fmt::format("load '{}'", load.name), load.first, mechanism);
    add_wish(system, fmt::format("load '{}'", load.name), load.second, mechanism);
  }
  for (const Sensor& sensor : sensors)
    add_wish(system, fmt::format("sensor '{}'", sensor.name), sensor.marker, mechanism);
  for (SlapWish& interface : all_interfaces(mechanism)) mechanism.places.push_back(std::move(interface));
  return mechanism;
}

SlapSystem slap_system(const SlapModel& model, const System& system, const std::vector<Sensor>& sensors,
                       Diagnostics& diagnostics) {
  SlapSystem out;
  out.system = std::make_unique<System>();
  const int body = out.system->add_body(make_slap_body("mechanism", model));
  out.system->set_gravity(system.gravity());
  // the same place of the same part, with the same axes in it
  const auto marker = [&](MarkerRef of) {
    if (of.body < 0) {
      const Vector12d m = system.ground_marker(of.marker);
      Eigen::Matrix3d axes;
      axes << m.segment<3>(3), m.segment<3>(6), m.segment<3>(9);
      return out.system->add_ground_marker(m.head<3>(), axes);
    }
    MarkerSpec spec;
    spec.part = system.bodies()[static_cast<size_t>(of.body)]->name();
    spec.name = site_of(system, of).name;
    spec.axes = system.marker_spec(of).axes;
    return out.system->add_marker(body, spec);
  };
  for (const Load& of : system.loads()) {
    Load load = of;
    about({Subject::Kind::Load, static_cast<int>(out.system->loads().size())},
          fmt::format("load '{}'", of.name), [&] {
            load.first = marker(of.first);
            load.second = marker(of.second);
          });
    out.system->add_load(std::move(load));
  }
  for (const Input& input : system.inputs())
    if (input.value) out.system->set_input(input.name, *input.value);
  std::vector<std::string> left_out;
  for (const Sensor& of : sensors) {
    const SensorTraits::Of what = traits(of.kind).of;
    if (what == SensorTraits::Of::Joint || what == SensorTraits::Of::Nodes) {
      left_out.push_back(of.name);
      continue;
    }
    Sensor sensor = of;
    if (what == SensorTraits::Of::Place)
      about({}, fmt::format("sensor '{}'", of.name), [&] { sensor.marker = marker(of.marker); });
    out.sensors.push_back(std::move(sensor));
  }
  if (!left_out.empty())
    diagnostics.warn("slap.sensors",
                     fmt::format("joints are part of the reduced model and are not measured, nor is stress: "
                                 "left out {} '{}'",
                                 left_out.size() == 1 ? "is" : "are", fmt::join(left_out, "', '")));
  return out;
}

SlapReduction train_slap(std::span<const SlapMotion> motions, std::vector<SlapSource> bodies,
                         const SlapOptions& options, Diagnostics& diagnostics, const ProgressHook& progress,
                         const std::function<bool()>& stop) {
  if (motions.empty()) fail_input("there is no motion to train on");
  const SlapMotion& first = motions.front();
  const SlapMechanism mechanism = slap_mechanism(*first.system, std::move(bodies), first.options.sensors);
  std::vector<SlapRun> runs;
  for (const SlapMotion& motion : motions) {
    SlapRun& run = runs.emplace_back();
    run.name = fmt::format("motion {}", runs.size());
    if (motion.run->samples < 2 || motion.run->q.cols() != motion.run->samples)
      throw SubjectError({Subject::Kind::Run, static_cast<int>(runs.size()) - 1}, run.name,
                         "its states were not kept, or it has one sample: run it with keep = States");
    run.system = motion.system;
    run.t = motion.run->t;
    run.q = motion.run->q;
    run.v = motion.run->v.col(0);
    for (int b = 0; b < static_cast<int>(mechanism.bodies.size()); ++b)
      run.placed.emplace_back(
          SlapPose{motion.system->placement(b).position, motion.system->placement(b).rotation});
    run.repeat = [&motion, &stop](const SlapModel& model) {
      Diagnostics notes;  // of orders that are only tried
      SlapSystem reduced = slap_system(model, *motion.system, motion.options.sensors, notes);
      if (motion.options.controller.act && reduced.sensors.size() != motion.options.sensors.size())
        fail_input(
            "the controller of a training run sees joints or stress, which a reduced model does not measure; "
            "set reconstruct = false, or give it other outputs");
      RunOptions again = motion.options;
      again.sensors = std::move(reduced.sensors);
      again.keep = RunOptions::Keep::States;
      again.integrator.newton = to_round_off(again.integrator.newton);
      again.stop = stop;
      Trajectory repeated = lissom::run(*reduced.system, again, notes);
      return SlapRepeat{std::move(repeated.t), std::move(repeated.q)};
    };
  }
  return train_slap(mechanism, std::move(runs), options, diagnostics, progress, stop);
}

}  // namespace lissom

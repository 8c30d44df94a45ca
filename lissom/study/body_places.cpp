#include "lissom/study/body_places.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "lissom/core/text.hpp"

namespace lissom {

void BodyPlaces::add(const BodySpec& spec, const FeModel& labels) {
  Names& names = bodies_[spec.reduction_key];
  names = {};
  for (const auto& [name, nodes] : labels.node_sets) names.sets.push_back(name);
  names.ids = {labels.node_ids.begin(), labels.node_ids.end()};
}

std::vector<BodyPlaces::Problem> BodyPlaces::missing(const StudyFile& study) const {
  std::vector<Problem> problems;
  if (!study.simulation) return problems;
  const auto look_at = [&](const PlaceSpec& place, const std::string& key) {
    if (place.body < 0) return;
    const BodySpec& body = study.bodies[static_cast<size_t>(place.body)];
    const auto found = bodies_.find(body.reduction_key);
    if (found == bodies_.end()) return;
    const Names& names = found->second;
    if (!place.marker.node_ids.empty()) {
      for (const std::int64_t id : place.marker.node_ids)
        if (!names.ids.contains(id))
          problems.push_back(
              {place.where, key, fmt::format("'{}': the mesh has no node {}", place.text, id)});
      return;
    }
    std::vector<std::string> all = known_places(body).value_or(std::vector<std::string>{});
    all.insert(all.end(), names.sets.begin(), names.sets.end());
    if (std::find(all.begin(), all.end(), place.marker.name) != all.end()) return;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    problems.push_back({place.where, key,
                        fmt::format("'{}': body '{}' has no interface or node set '{}'{}; there are: {}",
                                    place.text, body.name, place.marker.name,
                                    did_you_mean(place.marker.name, all), fmt::join(all, ", "))});
  };
  const SimulationSpec& simulation = *study.simulation;
  for (const JointSpec& joint : simulation.joints) {
    const std::string key = fmt::format("joints.{}.between", joint.name);
    look_at(joint.first, key);
    look_at(joint.second, key);
    if (!joint.and_between) continue;
    look_at(joint.and_between->first, key);
    look_at(joint.and_between->second, key);
  }
  for (const LoadSpec& load : simulation.loads) {
    look_at(load.first, fmt::format("loads.{}", load.load.name));
    if (load.second) look_at(*load.second, fmt::format("loads.{}", load.load.name));
  }
  for (const SensorSpec& sensor : simulation.sensors)
    if (sensor.place) look_at(*sensor.place, fmt::format("sensors.{}.of", sensor.name));
  return problems;
}

}  // namespace lissom

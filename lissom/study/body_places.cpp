#include "lissom/study/body_places.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "lissom/core/text.hpp"

namespace lissom {

FeModel nodes_by_name(const BodySpec& spec, const FeBody& body) {
  FeModel named;
  named.node_ids = body.mesh.node_count() > 0 ? body.mesh.node_ids : body.model.node_ids;
  named.node_sets = body.mesh.node_sets;
  for (const auto& [name, nodes] : body.model.node_sets) named.node_sets[name] = nodes;
  for (const SpiderSpec& spider : spec.spiders)
    if (!named.node_sets.contains(spider.name)) named.node_sets[spider.name] = {0};
  return named;
}

void BodyPlaces::add(const BodySpec& spec, const FeBody& body) {
  const FeModel named = nodes_by_name(spec, body);
  Names& names = bodies_[spec.name];
  names = {};
  for (const auto& [name, nodes] : named.node_sets) names.sets.push_back(name);
  names.ids = {named.node_ids.begin(), named.node_ids.end()};
}

std::vector<BodyPlaces::Problem> BodyPlaces::missing(const StudyFile& study) const {
  std::vector<Problem> problems;
  if (!study.simulation) return problems;
  const auto look_at = [&](const PlaceSpec& place, const std::string& key) {
    if (place.body < 0) return;
    const BodySpec& body = study.bodies[static_cast<size_t>(place.body)];
    const auto found = bodies_.find(body.name);
    if (found == bodies_.end()) return;
    const Names& names = found->second;
    if (!place.marker.node_ids.empty()) {
      for (const std::int64_t id : place.marker.node_ids)
        if (!names.ids.contains(id))
          problems.push_back(
              {place.marker.where, key, fmt::format("'{}': the mesh has no node {}", place.text, id)});
      return;
    }
    std::vector<std::string> all = known_places(body).value_or(std::vector<std::string>{});
    all.insert(all.end(), names.sets.begin(), names.sets.end());
    if (std::find(all.begin(), all.end(), place.marker.name) != all.end()) return;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    problems.push_back({place.marker.where, key,
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

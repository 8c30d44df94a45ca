#include "lissom/study/inspect_result.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace lissom {

using nlohmann::json;

namespace {

double end_of(const ResultFile& result) {
  return result.samples() > 0 ? result.time[result.samples() - 1] : 0;
}

std::string how_it_went(const ResultFile& result) {
  switch (result.end.status) {
    case RunStatus::Complete:
      return "complete";
    case RunStatus::Stopped:
      return "stopped by the user";
    case RunStatus::Failed:
      return "failed: " + result.end.failure;
    case RunStatus::Running:
      break;
  }
  return "not at its end: it still runs, or was killed";
}

}  // namespace

std::string describe_result(const ResultFile& result) {
  const ResultHeader& header = result.header;
  std::string text;
  const auto line = [&](std::string_view what, const std::string& value) {
    text += fmt::format("{:<18}{}\n", what, value);
  };
  line("title", header.title);
  if (!header.case_name.empty()) line("case", header.case_name);
  line("written by", "Lissom " + result.lissom_version);
  line("integrator", header.integrator);
  std::vector<std::string> bodies;
  for (const auto& body : header.bodies)
    bodies.push_back(fmt::format("{} ({}, {} coordinates)", body.name, body.formulation, body.coordinates));
  line("bodies", fmt::format("{}", fmt::join(bodies, ", ")));
  line("sensors", fmt::format("{} columns", header.sensors.size()));
  for (const auto& entry : header.nodes) line("nodes", fmt::format("{}: {}", entry.body, entry.ids.size()));
  line("samples", fmt::format("{}, until t = {:.6g} s", result.samples(), end_of(result)));
  line("run", how_it_went(result));
  return text;
}

json result_json(const ResultFile& result) {
  const ResultHeader& header = result.header;
  json j = {{"title", header.title},
            {"case", header.case_name},
            {"lissom_version", result.lissom_version},
            {"integrator", header.integrator},
            {"sensors", header.sensors},
            {"samples", result.samples()},
            {"until", end_of(result)},
            {"status", name_of(result.end.status)},
            {"failure", result.end.failure}};
  for (const auto& body : header.bodies)
    j["bodies"].push_back(
        {{"name", body.name}, {"formulation", body.formulation}, {"coordinates", body.coordinates}});
  for (const auto& entry : header.nodes) j["nodes"][entry.body] = entry.ids.size();
  return j;
}

}  // namespace lissom

#include "lissom/study/inspect_job.hpp"

#include <nlohmann/json.hpp>

#include "lissom/fe/jacobian_check.hpp"
#include "lissom/study/beam_groups.hpp"
#include "lissom/study/inspect_result.hpp"
#include "lissom/study/inspect_rom.hpp"
#include "lissom/study/linear_training.hpp"
#include "lissom/study/simulate.hpp"

namespace lissom {

JobResult inspect_study(const StudyInput& input, JobContext& context) {
  const StudyFile study = input.read();
  JobResult result;
  result.json["title"] = study.title;
  for (const BodySpec& spec : study.bodies) {
    if (spec.ancf) {
      result.text += describe_beam(*spec.ancf) + "\n";
      result.json["bodies"][spec.name] = beam_json(*spec.ancf);
      continue;
    }
    if (spec.without_mesh()) {
      result.json["bodies"][spec.name] = {{"formulation", std::string(name_of(spec.formulation))}};
      continue;
    }
    JobResult body = inspect_body(spec, context);
    if (body.json.contains("error") && !result.json.contains("error"))
      result.json["error"] = body.json["error"];
    result.text += fmt::format("{}\n{}\n", spec.name, body.text);
    result.json["bodies"][spec.name] = std::move(body.json);
  }
  if (!study.simulation || result.json.contains("error")) return result;
  // what will be solved
  BodyStore store(false, false, stress_needs(study));
  SimulationRun system = inspect_simulation(study, store, context.diagnostics, context.progress);
  result.text += system.text;
  // beside what their meshes hold, bodies have their part in the system
  for (nlohmann::json& body : system.summary["bodies"])
    result.json["bodies"][body["name"].get<std::string>()].update(body);
  system.summary.erase("bodies");
  result.json.update(system.summary);
  for (const StudyCase& variant : study.cases) result.json["cases"].push_back(variant.study.case_name);
  return result;
}

JobResult inspect_rom(const std::string& file, JobContext& context) {
  if (is_pod_file(file)) {
    const PodFile model = read_pod_file(file, context.diagnostics);
    return {rom_json(model), describe_rom(model)};
  }
  if (is_linear_file(file)) {
    const LinearFile model = read_linear_file(file, context.diagnostics);
    return {rom_json(model), describe_rom(model)};
  }
  const RomFile model = read_rom_file(file, context.diagnostics);
  return {rom_json(model), describe_rom(model)};
}

JobResult inspect_result(const std::string& file, JobContext& context) {
  const ResultFile result = read_result_file(file, context.diagnostics);
  return {result_json(result), describe_result(result)};
}

JobResult inspect_body(const BodySpec& spec, JobContext& context) {
  // what can be told of a mesh that nothing computes with is told all the same
  const FeBody body = load_body_as_it_is(spec, context.diagnostics, context.progress);
  JobResult result{mesh_json(body), describe_mesh(body)};
  if (body.report && body.report->negative_elements > 0 && spec.stiffness.empty())
    result.json["error"] =
        fmt::format("{}: {}", body.mesh.source, describe(find_unsound_elements(body.mesh), body.mesh));
  return result;
}

}  // namespace lissom

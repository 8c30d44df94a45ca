// lissom inspect: what is in a file, and is it fit for computing?
#include "apps/lissom/command.hpp"
#include "lissom/io/study_file.hpp"
#include "lissom/study/beam_groups.hpp"
#include "lissom/study/body.hpp"
#include "lissom/study/inspect_result.hpp"
#include "lissom/study/inspect_rom.hpp"
#include "lissom/study/simulate.hpp"

namespace lissom::app {

namespace {

void inspect(const BodyFlags& flags, const CLI::App& verb, Command& command) {
  const bool rom = is_rom(flags.file);
  const bool result =
      !is_study(flags.file) && std::filesystem::is_regular_file(flags.file) && is_result_file(flags.file);
  if (!is_study(flags.file) && !rom && !result) {
    const FeBody body = load_body(body_spec(flags), command.diagnostics, command.progress());
    command.text = describe_mesh(body);
    command.json = mesh_json(body);
    return;
  }
  // a study says itself what its bodies are, as does a model
  for (const CLI::Option* option : verb.get_options([](const CLI::Option* o) { return o->count() > 0; }))
    if (const std::string name = option->get_name(); name != "FILE" && name != "--json" && name != "--quiet")
      fail_input("{} goes with a mesh or matrix file, and {} is {}", name, flags.file,
                 rom      ? "a reduced mechanism"
                 : result ? "the result of a simulation"
                          : "a study; write it there");
  if (rom && is_pod_file(flags.file)) {
    const PodFile file = read_pod_file(flags.file, command.diagnostics);
    command.text = describe_rom(file);
    command.json = rom_json(file);
    return;
  }
  if (rom) {
    const RomFile file = read_rom_file(flags.file, command.diagnostics);
    command.text = describe_rom(file);
    command.json = rom_json(file);
    return;
  }
  if (result) {
    const ResultFile file = read_result_file(flags.file, command.diagnostics);
    command.text = describe_result(file);
    command.json = result_json(file);
    return;
  }
  const StudyFile study = read_study_file(flags.file);
  command.json["title"] = study.title;
  for (const BodySpec& spec : study.bodies) {
    if (spec.ancf) {
      command.text += describe_beam(*spec.ancf) + "\n";
      command.json["bodies"][spec.name] = beam_json(*spec.ancf);
      continue;
    }
    if (spec.without_mesh()) {
      command.json["bodies"][spec.name] = {{"formulation", std::string(name_of(spec.formulation))}};
      continue;
    }
    const FeBody body = load_body(spec, command.diagnostics, command.progress());
    command.text += fmt::format("{}\n{}\n", spec.name, describe_mesh(body));
    command.json["bodies"][spec.name] = mesh_json(body);
  }
  if (!study.simulation) return;
  // what will be solved; takes the reductions that the bodies need
  BodyStore store(false, false, stress_needs(study));
  SimulationRun system = inspect_simulation(study, store, command.diagnostics, command.progress());
  command.text += system.text;
  // beside what their meshes hold, bodies have their part in the system
  for (nlohmann::json& body : system.summary["bodies"])
    command.json["bodies"][body["name"].get<std::string>()].update(body);
  system.summary.erase("bodies");
  command.json.update(system.summary);
  for (const StudyCase& variant : study.cases) command.json["cases"].push_back(variant.study.case_name);
}

}  // namespace

void add_inspect(CLI::App& program, Command& command) {
  CLI::App* verb = program.add_subcommand("inspect", "What is in a mesh, matrix, study, ROM or result file");
  auto flags = std::make_shared<BodyFlags>();
  add_body_flags(*verb, *flags);
  add_common_flags(*verb, command);
  verb->footer(
      "Examples:\n"
      "  lissom inspect part.bdf\n"
      "  lissom inspect part.inp --units mm-t-s --json\n"
      "  lissom inspect part.step --units mm-t-s --material E=70e3,nu=0.33,rho=2.71e-9\n"
      "  lissom inspect job.sti --mesh job.inp        K and M that CalculiX wrote\n"
      "  lissom inspect study.toml                    bodies, joints, constraints, degrees of freedom\n"
      "  lissom inspect four-bar.rom.h5               order, parts, places, frequencies, training\n"
      "  lissom inspect results/result.h5             samples, until when, complete or not");
  verb->callback([flags, verb, &command] { inspect(*flags, *verb, command); });
}

}  // namespace lissom::app

// lissom modes: natural frequencies and mode shapes of one body.
#include <optional>

#include "apps/lissom/command.hpp"
#include "apps/lissom/shared_flags.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/core/folder_lock.hpp"
#include "lissom/core/own_file.hpp"
#include "lissom/study/body.hpp"
#include "lissom/study/job.hpp"
#include "lissom/study/view.hpp"

namespace lissom::app {

namespace {

struct ModesFlags {
  BodyFlags body;
  VibrationOptions options;
  std::filesystem::path out;
  bool no_files = false, no_paraview = false;
};

void modes(ModesFlags flags, Command& command) {
  if (is_study(flags.body.file))
    fail_input("{}: is a study; 'lissom run {}' carries it out", flags.body.file, flags.body.file);
  if (flags.options.count < 1) fail_input("--count is {}, expected 1 or more", flags.options.count);
  if (flags.options.from_hz > 0 && !(flags.options.from_hz < flags.options.up_to_hz))
    fail_input("--from-hz is {:g}, expected less than --up-to-hz{}", flags.options.from_hz,
               flags.options.up_to_hz > 0 ? fmt::format(", which is {:g}", flags.options.up_to_hz)
                                          : std::string(", which is missing"));
  BodySpec spec = body_spec(flags.body);
  spec.modes = flags.options;
  spec.paraview = !flags.no_paraview;
  const std::filesystem::path folder =
      flags.out.empty() ? std::filesystem::path(spec.name + ".modes") : flags.out;
  const InputGuard inputs({spec.mesh, spec.body_file, spec.stiffness, spec.mass_matrix, spec.dofs});
  std::optional<FolderLock> lock;
  if (!flags.no_files) {
    check_output_folder(folder);
    for (const char* end : {".body.h5", "_modes.csv", "_modes.exo", "_modes.view.h5"})
      expect_replaceable(folder / (spec.name + end));
    lock.emplace(folder);
  }
  FeBody body = load_body(spec, command.diagnostics, command.progress());
  build_model(body, command.diagnostics, command.progress());
  solve_modes(body, command.diagnostics, command.progress());
  std::vector<std::string> files;
  if (!flags.no_files) {
    files = write_body_results(body, folder, body.seconds, command.diagnostics, command.progress());
    const std::string view = write_body_view(body, folder, command.diagnostics, command.progress());
    if (!view.empty()) files.push_back(view);
  }

  command.json = modes_json(body);
  command.json["nodes"] = body.model.points.cols();
  command.json["seconds"] = to_json(body.seconds);
  command.json["peak_memory_bytes"] = peak_memory_bytes();
  if (!files.empty()) {
    command.json["out"] = folder.string();
    command.json["files"] = files;
  }
  std::string times;
  for (const auto& [phase, seconds] : body.seconds.phases())
    times += fmt::format("{}{} {}", times.empty() ? "" : ", ", phase, format_seconds(seconds));
  command.text = describe_modes(body) +
                 fmt::format("\n{} degrees of freedom, {} at the peak; {}\n", body.model.dof_count(),
                             format_bytes(static_cast<double>(peak_memory_bytes())), times);
  if (body.checks) command.text = to_string(*body.checks) + "\n" + command.text;
  for (const std::string& file : files) command.text += fmt::format("wrote {}\n", (folder / file).string());
}

}  // namespace

Verb modes_verb() {
  const auto flags = std::make_shared<ModesFlags>();
  return {
      "modes",
      "Natural frequencies and mode shapes of a body",
      "Examples:\n"
      "  lissom modes part.bdf --count 20\n"
      "  lissom modes part.step --units mm-t-s --material E=70e3,nu=0.33,rho=2.71e-9 --mesh-size 4\n"
      "  lissom modes part.msh --material E=210e9,nu=0.288,rho=7829 --mass lumped --fix bore --json\n"
      "  lissom modes K.mtx --mass-matrix M.mtx --dofs rows.dof --mesh part.inp",
      {body_flags(flags->body),
       choice(
           "--mass", flags->body.mass, {"consistent", "lumped", "calculix"},
           "consistent, lumped, or calculix (the few points that CalculiX integrates with; for comparisons)"),
       whole_number("--count", flags->options.count, "Number of modes, rigid ones included (default 12)", 1),
       number("--from-hz", flags->options.from_hz,
              "With --up-to-hz: modes from this frequency on (default 0); those below are counted only",
              {.from = 0, .to = 1e15}),
       number("--up-to-hz", flags->options.up_to_hz,
              "Instead of --count: all modes up to this frequency, counted beforehand",
              {.from = 0, .to = 1e15}),
       texts("--fix", flags->options.fix, "SET", "Node set to hold, or \"node 17\"; may be repeated"),
       number("--tolerance", flags->options.tolerance, "Of the eigen-solver (default 1e-9)",
              {.from = 1e-15, .to = 0.1}),
       flag("--allow-parts", flags->options.allow_parts, "Accept a body in several unconnected parts"),
       out_folder(flags->out, "Folder for the body file and the file for ParaView (default: NAME.modes)"),
       flag("--no-paraview", flags->no_paraview, "Write no file for ParaView"),
       flag("--no-files", flags->no_files, "Write nothing at all")},
      [flags](Command& command) { modes(*flags, command); }};
}

}  // namespace lissom::app

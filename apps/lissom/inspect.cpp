// lissom inspect: what is in a file, and is it fit for computing?
#include "apps/lissom/command.hpp"
#include "apps/lissom/shared_flags.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/io/result_file.hpp"
#include "lissom/study/inspect_job.hpp"

namespace lissom::app {

namespace {

void inspect(const BodyFlags& flags, Command& command) {
  const bool rom = is_rom(flags.file);
  const bool result =
      !is_study(flags.file) && std::filesystem::is_regular_file(flags.file) && is_result_file(flags.file);
  JobContext context = command.context();
  if (!is_study(flags.file) && !rom && !result) return command.take(inspect_body(body_spec(flags), context));
  // a study says itself what its bodies are, as does a model
  for (const std::string& name : command.given)
    if (name != "FILE" && name != "--json" && name != "--quiet" && name != "--trust-geometry")
      fail_input("{} goes with a mesh or matrix file, and {} is {}", name, flags.file,
                 rom      ? "a reduced mechanism"
                 : result ? "the result of a simulation"
                          : "a study; write it there");
  if (rom) return command.take(inspect_rom(flags.file, context));
  if (result) return command.take(inspect_result(flags.file, context));
  StudyInput study;
  study.file = flags.file;
  command.take(inspect_study(study, context));
}

}  // namespace

Verb inspect_verb() {
  const auto flags = std::make_shared<BodyFlags>();
  return {"inspect", "What is in a mesh, matrix, study, ROM or result file",
          "Examples:\n"
          "  lissom inspect part.bdf\n"
          "  lissom inspect part.inp --units mm-t-s --json\n"
          "  lissom inspect part.step --units mm-t-s --material E=70e3,nu=0.33,rho=2.71e-9\n"
          "  lissom inspect job.sti --mesh job.inp        K and M that CalculiX wrote\n"
          "  lissom inspect study.toml                    bodies, joints, constraints, degrees of freedom\n"
          "  lissom inspect four-bar.rom.h5               order, parts, places, frequencies, training\n"
          "  lissom inspect results/result.h5             samples, until when, complete or not",
          body_flags(*flags), [flags](Command& command) { inspect(*flags, command); }};
}

}  // namespace lissom::app

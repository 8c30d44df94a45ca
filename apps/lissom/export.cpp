// lissom export: a reduced mechanism as a program that runs without Lissom.
#include "apps/lissom/command.hpp"
#include "apps/lissom/shared_flags.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/study/export_job.hpp"

namespace lissom::app {

Verb export_verb() {
  const auto job = std::make_shared<ExportJob>();
  return {
      "export",
      "Write a reduced mechanism as C99 or as a functional mock-up unit (FMU)",
      "The model runs with the loads, sensors and settings of its study, and needs nothing of Lissom.\n"
      "Examples:\n"
      "  lissom export results/model.rom.h5 --c model\n"
      "  lissom export results/model.rom.h5 --fmu model.fmu\n"
      "  lissom export results/model.rom.h5 --fmu model.fmu --fmi 2",
      {mechanism_flags(job->mechanism),
       text("--c", job->c, "Folder for a C99 header, a source, and a program that checks them",
            ArgumentKind::Folder),
       text("--fmu", job->fmu, "FMU with model exchange and co-simulation", ArgumentKind::File),
       whole_number("--fmi", job->fmi, "Version of the FMI standard of the FMU, 2 or 3 (default 3)", 2, 3),
       text("--name", job->name, "Name of the model in the program (default: made from its title)"),
       flag("--float", job->single_precision, "C in single precision")},
      [job](Command& command) {
        JobContext context = command.context();
        command.take(run_export_job(*job, context));
      }};
}

}  // namespace lissom::app

// The simulation of a study, of one of its cases, or of a reduced mechanism, and nothing else.
#pragma once

#include "lissom/study/mechanism.hpp"
#include "lissom/study/simulate.hpp"

namespace lissom {

struct SimulateJob {
  MechanismInput mechanism;
  std::filesystem::path out;  // empty: by default_folder(), and a folder of the case's name in it
  bool write_files = true;    // otherwise nothing is written, whatever `out`
  bool view = true;           // leave motion.view.h5 with the files
  bool balance = false;       // keep the balance of every sample (SimulationRun::balance)
  bool keep = true;           // keep the samples in memory (SimulationRun::sensors, q), not in files alone
  ResumeOptions resume;
  Controller controller;
};

struct SimulateResult : JobResult {
  SimulationRun run;          // its summary and text are in json and text
  std::filesystem::path out;  // empty: no files
};

// Throws InputError: no such file or case, no [simulate], and what simulate() and train() throw.
SimulateResult run_simulate_job(const SimulateJob& job, JobContext& context);

}  // namespace lissom

// A reduced mechanism written as a program: C99, a functional mock-up unit.
#pragma once

#include "lissom/study/mechanism.hpp"

namespace lissom {

struct ExportJob {
  MechanismInput mechanism;
  std::string name;               // of the model in identifiers; empty: from its title
  std::filesystem::path c;        // folder for C sources; empty: none
  std::filesystem::path fmu;      // file; empty: none
  int fmi = 3;                    // version of the standard, 2 or 3
  bool single_precision = false;  // of C sources
};
struct ExportResult : JobResult {};

// Throws InputError: no reduced mechanism, nothing to write, what export_model() throws, a file that is not
// Lissom's in the place of an output. Files are there completely or not at all.
ExportResult run_export_job(const ExportJob& job, JobContext& context);

}  // namespace lissom

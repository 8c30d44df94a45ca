// A model as a functional mock-up unit (FMU): one file that other simulation programs import, for model
// exchange (they integrate) and co-simulation (it does, with the same steps as the library).
// https://fmi-standard.org, versions 2.0 and 3.0. What an input is that nobody sets is said by the study, so
// that the unit by itself repeats the study's run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/export/export_model.hpp"

namespace lissom {

struct FmuOptions {
  int version = 3;      // 2 or 3
  std::string summary;  // for its documentation page
};

struct FmuReport {
  std::vector<std::string> platforms;  // with a binary: "x86_64-linux"
  std::vector<std::string> left_out;   // and why: "x86_64-windows (x86_64-w64-mingw32-gcc is not installed)"
};

// Parts of a unit as texts: its description, the source that is the interface of the standard.
std::string model_description(const ExportModel& model, int version);
std::string fmu_source(const ExportModel& model, int version);

// Compiles with the C compilers that are installed; without any the unit has sources only, which is a
// warning. Written to a temporary name and renamed. Throws Error where a compiler refuses the source, with
// its words.
FmuReport write_fmu(const std::filesystem::path& path, const ExportModel& model, const FmuOptions& options,
                    Diagnostics& diagnostics);

}  // namespace lissom

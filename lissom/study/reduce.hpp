// The reduction that a study asks of a body, carried out: files, tables, JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "lissom/cms/gcms_model.hpp"
#include "lissom/cms/reduction.hpp"
#include "lissom/study/body.hpp"

namespace lissom {

// Carries out body.spec.reduce (K and M are assembled if they are not there). Throws InputError with the
// place of the table.
Reduction reduce_body(FeBody& body, Diagnostics& diagnostics, const ProgressHook& progress = {});

// Writes NAME.reduced.h5, NAME_coordinates.csv (the mode table), NAME_errors.csv, NAME_sweep.csv where there
// is a sweep, and NAME_free_modes.exo with the natural modes in range. Creates the
// folder; returns the paths written, relative to it. `gcms` goes into the reduced-body file, if it is given.
std::vector<std::string> write_reduction(const FeBody& body, const Reduction& reduction,
                                         const std::filesystem::path& folder, PhaseTimes& seconds,
                                         Diagnostics& diagnostics, const ProgressHook& progress = {},
                                         const GcmsModel* gcms = nullptr);

// For people: what was kept, the mode table, the errors, the comparison.
std::string describe_reduction(const Reduction& reduction);
nlohmann::json reduction_json(const Reduction& reduction);

}  // namespace lissom

// The GCMS basis that a study asks for: free modes of the body without its spiders -> basis -> file and
// tables.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>

#include "lissom/io/gcms_file.hpp"
#include "lissom/study/body.hpp"

namespace lissom {

struct GcmsResult {
  GcmsFile file;      // bases, sweep, nodes
  GcmsStep at_first;  // condition numbers of all columns as they are
  bool spiders_left_out = false;
  int nodes_left_out = 0;  // those without elements
  int pairs_turned = 0;    // of modes of equal frequency
  // what the study asked for; 0: not known (a file that was read)
  double truncation = 0;  // of the scalar basis
  double threshold = 0;   // on the cosine, of Algorithm 1
  PhaseTimes seconds;
};

// Carries out body.spec.gcms. The body's own modes are used where it has no spiders and they are those of the
// free body and enough; otherwise the body is assembled without its spiders and its modes are computed.
// Throws InputError with the place of the table: mass that is not m (x) I_3, more modes than there are.
GcmsResult compute_gcms(FeBody& body, Diagnostics& diagnostics, const ProgressHook& progress = {});

// Writes NAME.gcms.h5 into the folder, which is made; returns the file's name.
std::string write_gcms_results(const GcmsResult& result, const std::filesystem::path& folder);

std::string describe_gcms(const GcmsResult& result);
nlohmann::json gcms_json(const GcmsResult& result);

}  // namespace lissom

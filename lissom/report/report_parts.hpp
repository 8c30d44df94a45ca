// The parts of a report (report.hpp), one for each stage: each reads what the stage left and appends
// sections. Nothing is appended where there is nothing of the kind.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/report/report_page.hpp"

namespace lissom {

// A report in the making.
struct ReportDraft {
  std::filesystem::path folder;  // of the run
  nlohmann::json summary;        // summary.json, or what stands for it
  Diagnostics* diagnostics = nullptr;
  ProgressHook progress;
  ReportPage page;
  // A section with this id, made at the end of the page where there is none.
  ReportSection& section(const std::string& id, const std::string& title);
  // Warnings of the page, each once.
  void warn(const std::string& text);
};

// --- bodies: report_bodies.cpp, report_reduction.cpp, report_gcms.cpp ---
// What was modelled: bodies, materials, meshes, interfaces; modes of each body with a view of them
// (NAME*.view.h5); reductions with their error bounds, orders against tolerance, cost; GCMS: similarity of
// modes, singular values, what was removed. `bodies` are those of the study; those of the cases are taken
// from draft.summary. Entries that are missing or of another type are passed over; files that cannot be read
// are warned of.
void report_bodies(ReportDraft& draft, const nlohmann::json& bodies);
// Of a file alone: NAME.reduced.h5, NAME.gcms.h5, NAME.body.h5. Sets title and summary of the page where they
// are empty. Throws InputError like their readers.
void report_body_file(ReportDraft& draft, const std::filesystem::path& file);

// --- mechanisms: report_simulation.cpp, report_training.cpp, report_comparison.cpp ---
// Simulations of the study and its cases are read once (report_runs.hpp): the view with all of them, joints,
// loads and formulations as they were modelled, sensors, energies, drifts, steps, stress, trust, timing;
// cases against their reference, models with unknowns, error, times faster.
// SLAP: singular values, joint violation, frequencies and error against m, the order proposed and why. POD:
// samples, singular values, principal angles, errors of the tests against r.
void report_training(ReportDraft& draft, const nlohmann::json& training);
void report_rom_file(ReportDraft& draft, const std::filesystem::path& file);
// A folder of `lissom compare`.
void report_compared(ReportDraft& draft, const nlohmann::json& comparison);

// --- analyses: report_analyses.cpp ---
// Statics, linearisation (frequencies, damping, the modes in a view), frequency response, sweeps; of the
// study and of its cases.
void report_analyses(ReportDraft& draft, const nlohmann::json& summary);

}  // namespace lissom

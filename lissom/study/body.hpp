// One body of a study, carried out: file -> mesh in SI -> K and M -> modes -> files.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <string>

#include "lissom/core/diagnostics.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/core/resources.hpp"
#include "lissom/fe/matrix_checks.hpp"
#include "lissom/fe/mesh_report.hpp"
#include "lissom/fe/vibration.hpp"
#include "lissom/io/body_spec.hpp"

namespace lissom {

// What has been computed of a body so far; everything in SI units.
struct FeBody {
  BodySpec spec;
  Mesh mesh;                           // without nodes when only matrices were given
  std::optional<MeshReport> report;    // of the mesh, if there is one
  FeModel model;                       // K and M; empty until build_model()
  std::optional<MatrixChecks> checks;  // of imported matrices
  std::optional<Vibration> vibration;
  PhaseTimes seconds;
};

// Reads the mesh or the matrices, gives the material, adds the spiders, converts to SI, and reports on the
// mesh. A spider's reference node also becomes a node set of the spider's name, so that it can be fixed.
// Throws InputError for elements turned inside out (jacobian_check.hpp), with which nothing shall be
// computed. Where matrices are given the mesh tells coordinates alone, and they are a warning.
FeBody load_body(const BodySpec& spec, Diagnostics& diagnostics, const ProgressHook& progress = {});
// The same for telling what is there: such elements are in the report, and no error.
FeBody load_body_as_it_is(const BodySpec& spec, Diagnostics& diagnostics, const ProgressHook& progress = {});

// The same of a mesh in memory, in the spec's units; files of the spec are not read.
FeBody body_of_mesh(const BodySpec& spec, Mesh mesh);

// K and M of a body loaded from a mesh; nothing is left to do for matrices.
void build_model(FeBody& body, Diagnostics& diagnostics, const ProgressHook& progress = {});

// The modes that the body's spec asks for (twelve if it does not say).
void solve_modes(FeBody& body, Diagnostics& diagnostics, const ProgressHook& progress = {});

// Throws InputError where results cannot be written to the folder: it, or the first folder above it that
// exists, is a file or read-only. For asking before a long computation; makes nothing.
void check_output_folder(const std::filesystem::path& folder);

// Writes NAME.body.h5, NAME_modes.csv and, if asked for, NAME_modes.exo for ParaView. Creates the
// folder. Returns the paths written, relative to it.
std::vector<std::string> write_body_results(const FeBody& body, const std::filesystem::path& folder,
                                            PhaseTimes& seconds, Diagnostics& diagnostics,
                                            const ProgressHook& progress = {});

// For people: a table or a few lines; for programs: the same as JSON.
std::string describe_mesh(const FeBody& body);
std::string describe_modes(const FeBody& body);
nlohmann::json mesh_json(const FeBody& body);
nlohmann::json modes_json(const FeBody& body);
nlohmann::json to_json(const Diagnostics& diagnostics);
nlohmann::json to_json(const PhaseTimes& seconds);

}  // namespace lissom

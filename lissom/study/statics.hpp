// Positions of a mechanism for people: where its bodies are, how far they are deformed, static equilibria and
// what an assembly has moved.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "lissom/study/simulate.hpp"

namespace lissom {

// The placement whose coordinates are nearest to q (those of the body), and the largest distance of a node
// from where it puts it [m]: the deformation.
struct BodyPosition {
  Placement placement;
  double deformation = 0;
};
BodyPosition body_position(const Body& body, const Eigen::VectorXd& q, const Placement& guess);

// Iterations, residual [N], stability and free directions.
nlohmann::json equilibrium_json(const Equilibrium& equilibrium);

// The equilibrium at time t of a study: bodies, sensors, reactions; sensors.csv and result.h5 with one sample
// in `folder` unless it is empty. Throws like simulate() and find_equilibrium().
SimulationRun static_analysis(const StudyFile& study, double t, const std::filesystem::path& folder,
                              StudySystem built, Diagnostics& diagnostics, const ProgressHook& progress = {});

// The mechanism assembled from rough positions: what was moved, and position and rotation of every body as
// lines of a study. Throws Error naming the joint that stays open.
SimulationRun assembly_analysis(const StudyFile& study, StudySystem built, Diagnostics& diagnostics);

}  // namespace lissom

// Natural modes of a body: shift, factorisation, eigen-solver, and what the modes mean.
#pragma once

#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/core/resources.hpp"
#include "lissom/fe/fe_model.hpp"
#include "lissom/fe/modes.hpp"
#include "lissom/linalg/cholesky.hpp"
#include "lissom/linalg/mode_count.hpp"

namespace lissom {

struct VibrationOptions {
  int count = 12;                // modes, rigid-body modes included
  std::vector<std::string> fix;  // node sets (or "node 17") whose degrees of freedom are held
  double tolerance = 1e-9;       // of the eigen-solver, see EigenSolverOptions
  int block = 0;                 // of the eigen-solver; 0 chooses
  double shift = 0;              // sigma < 0 [rad2/s2]; 0 estimates one from the body
  Eigen::MatrixXd forces;    // dofs by k, may be empty: static answers are wanted too, see Vibration::answers
  bool allow_parts = false;  // accept a body that falls apart into unconnected parts
  // Instead of `count`: all modes from the one frequency (0: from the lowest) up to the other [Hz], if that
  // is positive. How many they are is counted beforehand, so that the modes below need not be computed.
  double from_hz = 0, up_to_hz = 0;
  bool count_modes = true;    // check by the inertia of K - sigma M that no mode is missing (mode_count.hpp)
  bool look_for_lost = true;  // of the eigen-solver (EigenSolverOptions); off in tests of the count only
};

inline constexpr int answer_terms = 5;

struct Vibration {
  ModeSet modes;  // shapes over all degrees of freedom of the model, zero where they are held
  // Answers to the forces, zero where rows are held: of a mode phi they have phi (phi' f) / lambda times
  // 1 - r^5, r = -sigma / (lambda - sigma) (answer_terms), and of a rigid motion any amount. So they are
  // static answers but for what the lowest modes have of them, which can be told.
  Eigen::MatrixXd answers;
  int parts = 1;  // unconnected parts
  int solves = 0, restarts = 0, recovered = 0;
  ModeCount counted;  // below the highest mode found, rigid ones included
  int below = 0;      // modes below from_hz
  double orthogonality = 0;
  CholeskyStats factor;
  PhaseTimes seconds;
};

// The lowest modes of K phi = lambda M phi. K - sigma M is factorised with sigma < 0, so that a free body is
// no special case; by default sigma is a tenth of the lowest eigenvalue that quadratic displacement fields
// can reach.
//
// Throws InputError: a set to fix that is not there or whose nodes a spider ties, more modes than degrees of
// freedom, unconnected parts (unless allowed), degrees of freedom without mass. Throws Error
// (NotPositiveDefinite naming the nodes, OutOfMemory naming the need) where the computation fails. Warns of
// zero-energy modes that are no rigid motion.
Vibration compute_modes(const FeModel& model, const VibrationOptions& options, Diagnostics& diagnostics,
                        const ProgressHook& progress = {});

// Rows of the model that are held by `fix`, ascending.
std::vector<int> fixed_rows(const FeModel& model, const std::vector<std::string>& fix);

// Node (or, where there is none, a number of its own) of each of the rows `keep`, for ordering them
// (nested_dissection).
std::vector<int> ordering_groups(const FeModel& model, const std::vector<int>& keep);

// Displacements of all nodes (3 nodes by columns) from coordinates (dofs by columns).
Eigen::MatrixXd node_displacements(const FeModel& model, const Eigen::Ref<const Eigen::MatrixXd>& q);

}  // namespace lissom

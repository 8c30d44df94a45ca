// From an elastic body to a reduced one, end to end.
#pragma once

#include <Eigen/Core>

#include <optional>
#include <string>
#include <vector>

#include "lissom/cms/damping.hpp"
#include "lissom/cms/inertia_loads.hpp"
#include "lissom/cms/interface.hpp"
#include "lissom/cms/mode_selection.hpp"
#include "lissom/cms/reduced_body.hpp"
#include "lissom/core/diagnostics.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/core/resources.hpp"
#include "lissom/fe/fe_model.hpp"
#include "lissom/fe/mesh.hpp"
#include "lissom/linalg/mode_count.hpp"

namespace lissom {

enum class ReductionBasis : std::uint8_t {
  CraigBampton,  // fixed-interface modes, residual vectors, constraint modes
  FreeModes,     // from it, only the flexible natural modes in range (paper 001, Eqs. 46-49)
  FreeInterface  // natural modes of the free body, residual attachment modes for the interfaces (Rubin,
                 // MacNeal)
};
std::string_view name_of(ReductionBasis basis);  // "craig-bampton", "free-modes", "free-interface"

struct ReductionOptions {
  ReductionBasis basis = ReductionBasis::CraigBampton;
  std::vector<InterfaceSpec> interfaces;
  SelectionOptions selection;
  // Loads on interior nodes, whose static answers join the basis: for each direction a unit force or moment,
  // shared evenly by the nodes.
  std::vector<InterfaceSpec> loads;
  // Static answers to inertia and gravity (inertia_loads.hpp) join the basis too, as far as it does not have
  // them to `inertia_tolerance` in the energy norm. Not with FreeModes, which are the natural modes alone.
  // What is missing without them is told in any case (Reduction::inertia).
  bool inertia_loads = false;
  double inertia_tolerance = 1e-3;
  Damping damping;
  bool exact_errors = false;       // also solve the eigenproblem of the whole body, for comparison
  bool stress = true;              // strain and stress modes, where there is a mesh
  bool allow_parts = false;        // accept a body that falls apart into unconnected parts
  std::vector<std::string> nodes;  // sets, spiders or "node 17" at which modes are kept; empty: all nodes

  // tables for verification
  std::vector<double>
      compare;  // tolerances for which the ways of choosing modes stand side by side; empty: no table
  int compare_max_modes = 600;  // beyond, a way counts as not having reached the tolerance
  std::vector<int> sweep;  // {first, last} number of modes for errors over the number of modes; empty: none
};

struct Reduction {
  ReducedBody body;
  Selection selection;
  int full_size = 0, interior_size = 0, interface_size = 0;
  int modes_computed = 0;        // fixed-interface modes that the search had a look at
  double worst_residual = 0;     // of their eigenpairs
  double estimator_seconds = 0;  // of the total: residual terms and the evaluation of estimates and bounds
  double cpu_seconds = 0;        // processor time of it all
  InertiaAnswers inertia;        // how well the body answers inertia and gravity statically
  ModeCount counted;             // fixed-interface modes below the lowest one left out, or free ones
  Eigen::VectorXd exact;         // flexible eigenvalues of the whole body, with exact_errors
  std::vector<SweepPoint> sweep;
  std::vector<ComparedMethod> comparison;
  std::vector<double> compared_tolerances;  // of its columns
  CholeskyStats factor;
  PhaseTimes seconds;
};

// Whether the answers to inertia join.
bool wants_inertia_answers(const ReductionOptions& options);

// `mesh` is what the model was assembled from, for stress; may be null. Throws InputError for what the user
// asked wrongly (interfaces, ranges, tolerances) and for a body in several unconnected parts, unless they are
// allowed; Error where the computation fails.
Reduction reduce(const FeModel& model, const Mesh* mesh, const ReductionOptions& options,
                 Diagnostics& diagnostics, const ProgressHook& progress = {});

}  // namespace lissom

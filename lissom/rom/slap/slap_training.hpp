// Training of a SLAP model: reference, basis by singular values, order.
#pragma once

#include <Eigen/Core>

#include <optional>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/rom/slap/polynomial_fit.hpp"
#include "lissom/rom/slap/slap_model.hpp"
#include "lissom/rom/slap/slap_space.hpp"
#include "lissom/rom/slap/snapshots.hpp"

namespace lissom {

// The data in the space's coordinates, and their decomposition.
struct SlapBasis {
  Eigen::VectorXd rho;  // N: the reference
  Eigen::MatrixXd W;    // N by r, orthonormal: the modes, in the kernel of the joints if projected
  Eigen::VectorXd singular_values;  // r, descending [m]
  Eigen::MatrixXd eta;              // r by k: all training states, run after run
  std::vector<int> run_starts;      // first sample of each run
  Eigen::VectorXd joint_violation;  // r: e_joint of Eq. 72, |C w|^2; empty without joints
  double reference_gap = 0;         // largest |C rho - c| [m]
  // Of the data: largest distance of a node position from the space, and from the joints' kernel [m].
  double outside_space = 0, outside_kernel = 0;
  double beyond = 0;  // sum of squares over all samples that the modes do not hold (within the space) [m2]
  int rank() const { return static_cast<int>(W.cols()); }
};

struct SlapBasisOptions {
  int max_modes = 40;        // at most so many are computed and kept
  int reference_sample = 0;  // of the first run
  int block = 64;            // snapshots read at a time
};

// Compresses the runs into the space (Eqs. 22-23), block by block, and decomposes them (Eqs. 24-26). Samples
// equal to the reference add nothing. Throws InputError: data that do not move, a reference that violates the
// joints by more than 1e-6 of the size.
SlapBasis slap_basis(const SlapSpace& space, TrainingRuns& runs, const SlapBasisOptions& options,
                     Diagnostics& diagnostics, const ProgressHook& progress = {});

// Without component modes: the decomposition of the nodal positions themselves (linalg/tall_svd), whose modes
// (3 n_i rows of part i) are returned for make_slap_part. `reference_sample` as above.
std::vector<Eigen::MatrixXd> snapshot_modes(TrainingRuns& runs, const SlapBasisOptions& options,
                                            Eigen::VectorXd& singular_values,
                                            const ProgressHook& progress = {});

struct SlapModelOptions {
  double mass_damping = 0;  // zeta of Eq. 47 [1/s]
  bool recovery = true;     // keep the nodes
  // Deformations that the training, its rotations continued backwards, and uniform strains need C for: its
  // rows span them to this, relative to each one's largest. Forces are products of two of them and err by the
  // square of it. Smaller costs more rows; 0 keeps all.
  double stiffness_tolerance = 1e-6;
};

// The model of the first m modes. Throws InputError: m larger than the rank, a reduced mass matrix that is
// singular.
SlapModel make_slap_model(const SlapSpace& space, const SlapBasis& basis, int m,
                          const SlapModelOptions& options = {});

// The polynomial form of a model that make_slap_model made of the two, over its training samples.
void add_polynomial(SlapModel& model, const SlapSpace& space, const SlapBasis& basis,
                    const PolynomialOptions& options = {});

// The same where `form` wants it: Automatic keeps it where it moves nodes by less than `limit` [m] in the
// training states. Says in polynomial_why what was done.
void choose_form(SlapModel& model, const SlapSpace& space, const SlapBasis& basis, SlapForm form,
                 double limit);

// The mechanism in all motions that the joints allow within the space, as a model of kernel_dimension()
// coordinates about the same reference: what a model of few modes approximates. `full` (kernel by m) takes
// eta of the basis' first m modes to its coordinates.
SlapModel make_full_model(const SlapSpace& space, const SlapBasis& basis, const SlapModelOptions& options,
                          int m, Eigen::MatrixXd& full);

// What is known about every order, for the choice and for Figs. 3, 4, 8 and 9.
struct SlapOrder {
  int m = 0;
  double singular_value = 0;            // sigma_m
  double left_out = 0;                  // root of the mean square of nodal positions beyond m modes [m]
  double joint_violation = 0;           // of mode m
  Eigen::VectorXd frequencies_hz;       // m, at the reference
  int spurious = 0;                     // frequencies below what the mechanism can have
  std::optional<double> epsilon;        // Eq. 70 of the reconstruction run [m2]
  std::optional<double> rms_error;      // of a nodal coordinate in it, over nodes and samples [m]
  std::optional<double> largest_error;  // of a node in it [m]
  double simulation_seconds = 0;        // of the reconstruction run
};

struct OrderChoice {
  std::vector<SlapOrder> orders;          // m = 1 .. max
  Eigen::VectorXd system_frequencies_hz;  // of the mechanism itself
  int rigid_motions = 0;                  // of these, so many are zero: degrees of freedom of the mechanism
  int first_spurious = 0;                 // smallest m with a spurious mode; 0: none
  bool reconstructed = false;             // every order was run; those without an error failed
  int proposed = 0;
  std::string why;  // a sentence or two
};

// Everything but the reconstruction runs.
OrderChoice analyse_orders(const SlapSpace& space, const SlapBasis& basis, int max_order,
                           const SlapModelOptions& options, const ProgressHook& progress = {});

// Fills `proposed` and `why` from what is known: the smallest order without spurious modes whose
// reconstruction error is below `tolerance` [m] (root of the mean square over nodal coordinates and samples),
// or within a factor of two of the best one where none is; without runs the left-out part takes its place.
void propose_order(OrderChoice& choice, double tolerance);

}  // namespace lissom

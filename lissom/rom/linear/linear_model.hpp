// A mechanism linearised at an equilibrium, and truncated: the third way to reduce one, `linear`.
//
//   x' = A x + B (u - u0),     y = y0 + C x + D (u - u0),
//
// x (n) deviations from the operating point, where x = 0, u = u0 and y = y0 is at rest; u (p) the loads, each by its
// size along its own direction, then the named inputs of the system; y (k) the columns of the sensors. Formulas:
// docs/theory/linear.md.
#pragma once

#include <Eigen/Core>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "lissom/core/progress.hpp"
#include "lissom/mbs/sensor.hpp"
#include "lissom/rom/linear/linear_options.hpp"
#include "lissom/time/linearise.hpp"

namespace lissom {

struct LinearInput {
  std::string name, unit;
  bool is_load = true;
  // Of forces and torques, in their own components: the size of a load f is direction . f.
  Eigen::Vector3d direction = Eigen::Vector3d::Zero();
};

// How a model was made. Gains are |H(j omega)|, every input and output in units of its own largest gain
// (`input_scale`, `output_scale`), so that newtons and radians may be compared; "relative" means to the largest of them.
struct LinearReduction {
  LinearTruncation truncation = LinearTruncation::None;
  bool statics = false;
  int source_order = 0;  // states of the mechanism
  double zero_below =
      0;                 // [rad/s] eigenvalues of this size are zeros: the root of round-off of its stiffness
  int kept_exactly = 0;  // of balanced: states of rigid motions, integrators, undamped and unstable ones
  Eigen::VectorXd hankel;  // of balanced: singular values of the rest, descending, relative
  // 2 (sum of those left out): no harmonic input is answered with a larger error. Not a number where no
  // theory bounds it (frequency).
  double bound = std::numeric_limits<double>::quiet_NaN();
  double error = 0;                   // the largest that was found on a grid of frequencies, relative
  double error_frequency = 0;         // [Hz] and where
  double grid_from = 0, grid_to = 0;  // [Hz]
  Eigen::VectorXd input_scale, output_scale;
};

struct LinearModel {
  std::string title;
  double t = 0;  // [s] of the operating point
  Eigen::MatrixXd A, B, C, D;
  Eigen::VectorXd x0, u0, y0;  // x0: the start as a deviation
  std::vector<LinearInput> inputs;
  std::vector<SensorColumn> outputs;  // with powers of the units
  std::vector<std::string> states;
  // How far points are moved, over the size of the mechanism: range x + range_inputs (u - u0). Errors of the
  // linearisation grow with its square.
  Eigen::MatrixXd range, range_inputs;
  std::vector<std::string> range_names;
  LinearReduction reduction;

  int order() const { return static_cast<int>(A.rows()); }
};

// LinearReduction::zero_below of a model that was not truncated.
double size_of_zeros(const LinearModel& model);

// The first thing that is wrong with the sizes or numbers of a model, as a sentence; empty if nothing is.
std::string inconsistency_of(const LinearModel& model);

// The mechanism at an equilibrium `at`, consistent with its loads; displacements are counted from `reference`, and
// x0 is the state `start`. Sensors of energy have no linear part and must not be among these. Throws InputError where
// `at` moves or is not in equilibrium, and what linearise() throws.
LinearModel make_linear_model(SystemEquations& equations, const std::vector<Sensor>& sensors, const State& at,
                              const State& reference, const State& start);

// A smaller model of one that was not truncated. Throws InputError: options that make no sense, an order beyond
// that of the model or below what must be kept, no input or output, nothing that decays (balanced); Error where
// parts of the mechanism cannot be separated.
LinearModel truncate(const LinearModel& model, const LinearOptions& options,
                     const ProgressHook& progress = {});

// Static gains D - C A^-1 B (k by p); nothing where a motion is not held by any stiffness.
std::optional<Eigen::MatrixXd> static_gains(const LinearModel& model);
// |eigenvalue| / 2 pi [Hz], ascending, one of each conjugate pair; zeros are zeros.
Eigen::VectorXd frequencies_hz(const LinearModel& model);
// The same system for the analyses of time/response.hpp. Without shapes: bodies are not known any more.
Linearisation as_linearisation(const LinearModel& model);

}  // namespace lissom

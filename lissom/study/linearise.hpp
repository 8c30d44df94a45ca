// A mechanism linearised about a state, for vibrations, control and estimation:
//   x' = A x + B u,   y = C x + D u,   x = (change of the independent coordinates z, change of z'),
// u the change of each load, y that of each sensor, all in SI units. A, B, C, D are the derivatives of the
// nonlinear model in z, as far as differences let them be: A and B of a state at rest are made of exact
// tangents; of a moving state that has constraints, the change of the constraints' curvature and of the chart
// z along the motion are central differences (A has six to eight digits, against the square of the speed); C
// is a central difference always (nine digits or so), D is exact to round-off. z are, as far as they are
// independent, angles and distances of joints (so that a mechanism that turns about its joints has the
// frequencies that one expects of it), then coordinates of the bodies; of a mechanism without constraints all
// of its coordinates. Formulas: docs/theory/multibody.md.
#pragma once

#include <Eigen/Core>

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lissom/study/simulate.hpp"
#include "lissom/study/start.hpp"

namespace lissom {

// One eigenvalue with what moves; of a conjugate pair the one with the positive imaginary part.
struct LinearMode {
  std::complex<double> eigenvalue;             // [1/s]
  double frequency = 0;                        // |eigenvalue| / 2 pi [Hz]
  double damping = 0;                          // ratio, -real part / |eigenvalue|; 0 of a zero eigenvalue
  std::vector<std::pair<int, double>> bodies;  // share of kinetic energy, by body, the largest first
};

struct Linearisation {
  double t = 0;                // [s]
  Eigen::VectorXd q, v;        // the state, n each
  Eigen::MatrixXd N;           // n by d: change of q = N (change of z)
  Eigen::MatrixXd A, B, C, D;  // 2d by 2d, 2d by loads, sensors by 2d, sensors by loads
  std::vector<std::string> states, inputs, input_units, outputs, output_units;
  std::vector<std::string> bodies;
  Eigen::VectorXcd eigenvalues;   // of A [1/s], ascending by size
  std::vector<LinearMode> modes;  // ascending by frequency
  Eigen::MatrixXcd shapes;        // n by modes: changes of q, the largest displacement 1 m
  double growth = 0;              // largest real part that is not round-off [1/s]; positive: unstable
  bool moving = false;            // v or a is not zero: the matrices are those of the moment
  bool stable() const { return growth <= 0; }
};

// At a consistent state (with a and lambda). An input is what acts along the load's own
// direction: N of a force or line force, N m of a torque; springs are no inputs.
Linearisation linearise(const StudySystem& built, SystemEquations& equations, const State& state);

// A study about the state that `spec` names. `make` builds the study's system; called once or twice.
Linearisation linearise_study(const StudyFile& study, const LineariseSpec& spec,
                              const std::function<StudySystem()>& make, Diagnostics& diagnostics,
                              const ProgressHook& progress = {}, const std::function<bool()>& stop = {});

nlohmann::json linearisation_json(const Linearisation& model);
// With the first `modes` of them.
std::string describe_linearisation(const Linearisation& model, int modes = 20);
// A, B, C, D, N, shapes and the names as variables of a MATLAB file (version 5), which SciPy reads as well.
void write_linearisation(const Linearisation& model, const std::filesystem::path& path);

}  // namespace lissom

// A mechanism linearised about a state, for vibrations, control and estimation:
//   x' = A x + B u,   y = C x + D u,   x = (change of the independent coordinates z, change of z'),
// u the change of each load or input, y that of each sensor, all in SI units. A, B, C, D are the derivatives of the
// nonlinear model in z, as far as differences let them be: A and B of a state at rest are made of exact
// tangents; of a moving state that has constraints, the change of the constraints' curvature and of the chart
// z along the motion are central differences (A has six to eight digits, against the square of the speed); C
// is a central difference always (nine digits or so), D is exact to round-off. z are, as far as they are
// independent, angles and distances of joints (so that a mechanism that turns about its joints has the
// frequencies that one expects of it), then coordinates of the bodies; of a mechanism without constraints all
// of its coordinates. Formulas: docs/theory/multibody.md.
#pragma once

#include <Eigen/Core>

#include <complex>
#include <string>
#include <utility>
#include <vector>

#include "lissom/mbs/sensor.hpp"
#include "lissom/mbs/system.hpp"

namespace lissom {

// One eigenvalue with what moves; of a conjugate pair the one with the positive imaginary part.
struct LinearMode {
  std::complex<double> eigenvalue;             // [1/s]
  double frequency = 0;                        // |eigenvalue| / 2 pi [Hz]
  double damping = 0;                          // ratio, -real part / |eigenvalue|; 0 of a zero eigenvalue
  std::vector<std::pair<int, double>> bodies;  // share of kinetic energy, by body, the largest first
};

// A column of B: one of the loads a unit larger along its own direction, or an input of the system a unit larger;
// the others as they are.
struct InputChannel {
  int load = -1;
  Eigen::Vector3d direction = Eigen::Vector3d::Zero();  // of forces and torques, in their own components
  int input = -1;
};

struct Linearisation {
  double t = 0;                // [s]
  Eigen::VectorXd q, v;        // the state, n each
  Eigen::MatrixXd N;           // n by d: change of q = N (change of z)
  Eigen::MatrixXd A, B, C, D;  // 2d by 2d, 2d by loads, sensors by 2d, sensors by loads
  std::vector<std::string> states, inputs, input_units, outputs, output_units;
  std::vector<InputChannel> channels;  // of B
  std::vector<std::string> bodies;
  Eigen::VectorXcd eigenvalues;   // of A [1/s], ascending by size
  std::vector<LinearMode> modes;  // ascending by frequency
  Eigen::MatrixXcd shapes;        // n by modes: changes of q, the largest displacement 1 m
  double growth = 0;              // largest real part that is not round-off [1/s]; positive: unstable
  bool moving = false;            // v or a is not zero: the matrices are those of the moment
  bool stable() const { return growth <= 0; }
};

// At a consistent state (with a and lambda). Inputs are first the loads, each along its own direction: N of a force
// or line force, N m of a torque, springs are none; then the system's own inputs, which have no unit ("1").
// Throws InputError for more than 2000 coordinates, Error where something has no mass.
Linearisation linearise(SystemEquations& equations, const std::vector<Sensor>& sensors, const State& state);

// The inputs that a linearised system has at this time.
std::vector<std::string> input_names(const System& system, double t = 0);

}  // namespace lissom

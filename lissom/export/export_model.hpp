// A reduced mechanism as it is written in another language: numbers and functions of time, nothing that needs
// Lissom.
//
//   x' = f(t, x, u),   y = h(t, x, u),   x (n), u (p), y (k), in SI units
//
// Of a linear model f = A x + B (u - u0), y = y0 + C x + D (u - u0). Of a mechanism x = (q, v), m numbers
// each, and
//
//   M q'' + h(t, q, v, u) = 0,   e = (1, q),   w = (0, v),
//   h = sum_r 2 y_r (S_r e) + sum_r 2 z_r (D_r e) + zeta M v - G' g - loads,   y_r = e' S_r e,   z_r = 2 w' D_r e,
//
// with symmetric S_r (elastic energy sum y_r^2 / 2) and D_r (damping power sum z_r^2), of which rows and
// columns 1..m are forces; gravity g; loads are functions of places, whose positions and axes (12 numbers,
// marker.hpp) are linear in e.
#pragma once

#include <Eigen/Core>

#include <optional>
#include <string>
#include <vector>

#include "lissom/mbs/load.hpp"
#include "lissom/mbs/sensor.hpp"
#include "lissom/rom/rom.hpp"

namespace lissom {

// What is set once and holds for a run.
struct ExportParameter {
  std::string name, unit, meaning;
  double value = 0;
};

// A sum of functions with weights.
struct ExportDrive {
  std::vector<TimeFunction> functions;
  std::vector<double> weights;
};

struct ExportLinear {
  Eigen::MatrixXd A, B, C, D;
  Eigen::VectorXd u0, y0;
  Eigen::VectorXd scale;  // n: states divided by it have an A whose rows and columns are of like size
};

// A place where loads act and sensors measure.
struct ExportPlace {
  Eigen::MatrixXd form;  // 12 by m + 1: position and axes are form e; of the ground constant
  bool rotates = false;
};

struct ExportLoad {
  Load load;
  int first = -1, second = -1;  // places
  int input = -1;               // that it is multiplied with; -1: none
  int factor = -1;              // the parameter that it is multiplied with; -1: none
  bool counts = false;          // has an angle whose turns a run counts
};

struct ExportSensor {
  Sensor sensor;
  int place = -1, load = -1;
  Eigen::Vector3d reference = Eigen::Vector3d::Zero();  // what displacements are counted from
};

struct ExportMechanism {
  Eigen::MatrixXd M;
  std::vector<Eigen::MatrixXd> rows, damping_rows;  // m + 1 by m + 1, symmetric
  double mass_damping = 0;                          // zeta [1/s]
  Eigen::MatrixXd centre;                           // 3 by m + 1 [kg m]; gravity's potential is -g' centre e
  int gravity = -1;                                 // the first of three parameters
  Eigen::VectorXd scale;                            // m: how far a unit of a coordinate moves points [m]
  double length = 1;                                // size of it all [m]
  std::vector<ExportPlace> places;
  std::vector<ExportLoad> loads;
  std::vector<ExportSensor> sensors;
};

// What the library computed, to be compared with.
struct ExportTestPoint {
  double t = 0;
  Eigen::VectorXd x, u, f, y;
  Eigen::MatrixXd J, B;
};
struct ExportTestRun {
  double step = 0;  // [s] from the start on, under the study's inputs
  Eigen::VectorXd t;
  Eigen::MatrixXd x;  // n by times
};

struct ExportModel {
  std::string name;  // in identifiers: letters, digits and underscores
  std::string title, method, made;
  std::vector<RomChannel> inputs, outputs;
  std::vector<ExportDrive> drives;  // of each input: what the study says that it is
  std::vector<ExportParameter> parameters;
  std::vector<double> breaks;  // [s] kinks and jumps of functions of time, ascending
  Eigen::VectorXd start;
  Eigen::VectorXd state_scale;           // n: sizes of the states, for nominal values
  double end = 0, step = 0, sample = 0;  // [s] of the study's run
  // of generalized-alpha and its iterations, which have a new matrix each
  double rho_inf = 0.8, newton_tolerance = 1e-11;
  int newton_iterations = 12;
  std::optional<ExportLinear> linear;  // one of the two
  std::optional<ExportMechanism> mechanism;
  std::vector<ExportTestPoint> points;
  std::optional<ExportTestRun> run;

  int states() const { return static_cast<int>(start.size()); }
};

// A text as a name in programs: "four-bar slap" is four_bar_slap, "2nd" is m2nd; "model" where nothing is
// left.
std::string identifier(const std::string& text);

}  // namespace lissom

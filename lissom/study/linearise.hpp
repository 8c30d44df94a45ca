// A reduced mechanism linearised about a state, for control and estimation:
//   x' = A x + B u,   y = C x + D u,   x = (change of eta, change of eta'),
// u the change of each load, y that of each sensor, all in SI units.
#pragma once

#include <Eigen/Core>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "lissom/study/simulate.hpp"

namespace lissom {

struct Linearisation {
  double t = 0;                // [s]
  Eigen::VectorXd q, v;        // the state, m each
  Eigen::MatrixXd A, B, C, D;  // 2m by 2m, 2m by loads, sensors by 2m, sensors by loads
  std::vector<std::string> inputs, input_units, outputs, output_units;
  Eigen::VectorXcd eigenvalues;  // of A [1/s]
};

// Of a system without constraints, at a state. A and B come from exact derivatives; C and D from central
// differences of the sensors, whose accelerations follow the equations. An input is what acts along the
// load's own direction: N of a force or line force, N m of a torque; springs are no inputs. Throws InputError
// where the system has constraints.
Linearisation linearise(const StudySystem& built, double t, const Eigen::VectorXd& q,
                        const Eigen::VectorXd& v);

nlohmann::json linearisation_json(const Linearisation& model);
std::string describe_linearisation(const Linearisation& model);
// A, B, C, D and the names as variables of a MATLAB file (version 5), which SciPy reads as well.
void write_linearisation(const Linearisation& model, const std::filesystem::path& path);

}  // namespace lissom

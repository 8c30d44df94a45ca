// Where in a box of parameters a model is trained.
#pragma once

#include <Eigen/Core>

#include <vector>

namespace lissom {

// All combinations of the values of each parameter, p by k, the last one fastest.
Eigen::MatrixXd full_factorial(const std::vector<std::vector<double>>& values);

// n points in lower .. upper (p each), p by n: every parameter has one point in each of n equal parts of its
// range, at a random place in it (McKay, Beckman and Conover 1979). The same seed gives the same points on
// every machine.
Eigen::MatrixXd latin_hypercube(const Eigen::VectorXd& lower, const Eigen::VectorXd& upper, int n, int seed);

// The corners of the box and its middle, p by 2^p + 1.
Eigen::MatrixXd corners_and_centre(const Eigen::VectorXd& lower, const Eigen::VectorXd& upper);

}  // namespace lissom

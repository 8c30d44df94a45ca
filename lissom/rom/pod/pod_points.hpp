// r' and r'' at the quadrature points of projected beams, as matrices on x = (1, xi); for the forms of
// pod_force.
#pragma once

#include <Eigen/Core>

#include <span>
#include <vector>

#include "lissom/rom/pod/pod_force.hpp"

namespace lissom {

// Z = [E_ref Psi], N by r + 1.
Eigen::MatrixXd pod_columns(const PodElements& model);

// Points of some elements: point g has rows D g .. D g + D - 1 of `slope` and of `curvature`.
struct PodPoints {
  Eigen::MatrixXd slope;      // D points by r + 1: P_g
  Eigen::MatrixXd curvature;  // B_g; empty unless asked for
  Eigen::VectorXd weight;     // l w_g
  std::vector<int> element;   // of each point
};
PodPoints pod_points(const PodElements& model, const Eigen::MatrixXd& Z, std::span<const GaussPoint> rule,
                     int first_element, int elements, bool curvature);

// sum EI l w B' B (r + 1 square): bending of the second-derivative law; with `damping` each element's times
// its beta.
Eigen::MatrixXd pod_bending(const PodElements& model, const Eigen::MatrixXd& Z, bool damping);

}  // namespace lissom

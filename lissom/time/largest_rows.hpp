// What messages name where a step fails: the body and the joint that stand out.
#pragma once

#include <string>

#include "lissom/mbs/equations.hpp"

namespace lissom {

// Row of the largest entry of r (n), residuals of the equations of motion, each as a force whatever its
// coordinate; the first that is not finite, if any.
int largest_motion_row(const Equations& equations, const Eigen::Ref<const Eigen::VectorXd>& r);

// Row (n .. n+m-1) of the largest entry of x (m) among those of joints, or among all where there is no joint;
// the first that is not finite, if any. -1 without constraints.
int largest_joint_row(const Equations& equations, const Eigen::Ref<const Eigen::VectorXd>& x);

// "largest acceleration: body 'arm', rotation; largest reaction: joint 'hinge'" of a state.
std::string name_largest(const Equations& equations, const State& state);

}  // namespace lissom

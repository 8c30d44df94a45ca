// The reduced mechanism as one body of a System: m coordinates eta, constant mass matrix, no constraints.
// Loads, sensors, gravity, energy balance and integrators are those of any System; its equations are an
// ordinary differential equation,
//
//   M eta'' + zeta M eta' + g_damping(eta, eta') + dV/deta = forces.
//
// Markers are the model's frames (MarkerSpec::part and name), and nodes where the model keeps recovery. Forces
// come from the model's polynomial where it has one, and markers are linear in eta then, as far as their axes
// are near enough to such a map; otherwise from the exact kernel.
#pragma once

#include <memory>
#include <string>

#include "lissom/mbs/body.hpp"
#include "lissom/rom/slap/slap_model.hpp"

namespace lissom {

// Throws Error where the model is inconsistent or its mass matrix is not positive definite.
std::unique_ptr<Body> make_slap_body(const std::string& name, const SlapModel& model);

// Elastic energy, forces and tangent alone, for training and for tests. V = sum over parts, force = dV/deta
// (m), tangent = d2V/deta2 (m by m). `tangent` may be null.
double slap_elastic(const SlapModel& model, const Eigen::Ref<const Eigen::VectorXd>& eta,
                    Eigen::Ref<Eigen::VectorXd> force, Eigen::MatrixXd* tangent);

// Undamped frequencies of the model linearised at eta [Hz], ascending; negative where the tangent is
// indefinite (-sqrt(-lambda) / 2 pi).
Eigen::VectorXd slap_frequencies(const SlapModel& model, const Eigen::Ref<const Eigen::VectorXd>& eta);

}  // namespace lissom

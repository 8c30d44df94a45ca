// Readers leave numbers as the file has them; these bring a mesh or matrices from the user's unit system to
// SI, which everything behind them expects.
#pragma once

#include "lissom/core/units.hpp"
#include "lissom/fe/fe_model.hpp"
#include "lissom/fe/mesh.hpp"

namespace lissom {

// Points, moduli and densities. Poisson's ratios, material axes and spiders' weights have no unit.
void convert_to_si(Mesh& mesh, const UnitSystem& units);

// K, M, the mass between nodes, and points; rotational degrees of freedom (direction 3..5) bring one more
// length each, also in the columns of the recovery, which then hold displacement per angle. Needs one Dof per
// row of K.
void convert_to_si(FeModel& model, const UnitSystem& units);

}  // namespace lissom

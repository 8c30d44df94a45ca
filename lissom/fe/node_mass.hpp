// The scalar mass matrix of a body's nodes, from M over degrees of freedom.
#pragma once

#include "lissom/fe/fe_model.hpp"

namespace lissom {

// m (nodes by nodes) with M = m (x) I_3, in the order of the nodes; rows are zero for nodes without degrees
// of freedom. Empty (0 by 0) where M has no such form: a row without node or a rotation, a node without all
// of x, y, z, or entries that couple directions or differ between them by more than 1e-10 of sqrt(m_ii m_jj).
SymmetricMatrix scalar_node_mass(const FeModel& model);

}  // namespace lissom

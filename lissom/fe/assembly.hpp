// From a mesh to K and M.
#pragma once

#include <optional>

#include "lissom/core/diagnostics.hpp"
#include "lissom/fe/element.hpp"
#include "lissom/fe/fe_model.hpp"
#include "lissom/fe/mesh.hpp"

namespace lissom {

struct AssemblyOptions {
  MassKind mass = MassKind::Consistent;
  // For all elements, in place of the mesh's own materials (--material).
  std::optional<Material> material;
};

// Assembles K and M (lower triangles) and applies the mesh's spiders (spider.hpp).
//
// Degrees of freedom: three for each node of an element, in node order, except for the nodes that spiders
// tie; after them those of the spiders, spider by spider. A node that no element and no spider uses has none,
// with a warning. M = m (x) I_3 has a third of the entries of K, so it is stored with its own pattern; a
// lumped mass is diagonal (as long as no averaging spider mixes its face). m over all mesh nodes becomes
// FeModel::node_mass.
//
// The result does not depend on the number of threads: each entry is summed in the order of the elements.
//
// Throws InputError: no element at all; elements without a material, elastic constants or density; constants
// out of range; elements whose Jacobian is not positive (jacobian_check.hpp); bad spiders.
// Throws Error where K would have more than 2^31 - 1 entries.
FeModel assemble(const Mesh& mesh, const AssemblyOptions& options, Diagnostics& diagnostics);

}  // namespace lissom

// The elements of a mesh alone: what methods need that want three degrees of freedom at every node.
#pragma once

#include "lissom/fe/mesh.hpp"

namespace lissom {

// Whether spiders or nodes without elements are there, so that solid_mesh() would change something.
bool is_solid_mesh(const Mesh& mesh);

// The mesh without its spiders and without the nodes that belong to no element (reference nodes among them).
// The order of nodes and elements stays; node sets lose what is gone, and those that become empty go too.
Mesh solid_mesh(const Mesh& mesh);

}  // namespace lissom

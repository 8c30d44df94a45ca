// Whether this process trusts the geometry that it meshes. It is a decision of whoever starts the program,
// for everything that this start reads: a flag of the command line sets it and no file can, so it stands beside
// the data and not in it. Unset, gmsh runs confined (mesh_with_gmsh.cpp).
#pragma once

namespace lissom {

void trust_geometry(bool trusted);
bool geometry_is_trusted();

}  // namespace lissom

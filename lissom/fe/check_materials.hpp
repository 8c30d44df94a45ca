// The materials of a mesh, looked at before anything is assembled.
#pragma once

#include "lissom/fe/assembly.hpp"

namespace lissom {

// Throws InputError as assemble() does: elements without a material, materials without constants or density.
void check_materials(const Mesh& mesh, const AssemblyOptions& options);

}  // namespace lissom

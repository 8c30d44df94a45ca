// libFuzzer target of the Gmsh reader: any bytes give a mesh or an InputError, and a mesh that comes back is
// whole.
#include <cstdint>
#include <string_view>

#include "lissom/fe/mesh_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lissom;
  Diagnostics diagnostics;
  try {
    const Mesh mesh = read_gmsh({reinterpret_cast<const char*>(data), size}, "fuzz.msh", diagnostics);
    LISSOM_ASSERT(mesh.element_count() > 0);
    LISSOM_ASSERT(mesh.offsets.size() == mesh.types.size() + 1);
    for (int node : mesh.connectivity) LISSOM_ASSERT(node >= 0 && node < mesh.node_count());
    for (const auto& [name, set] : mesh.node_sets)
      for (int node : set) LISSOM_ASSERT(node >= 0 && node < mesh.node_count());
    for (const auto& [name, set] : mesh.element_sets)
      for (int element : set) LISSOM_ASSERT(element >= 0 && element < mesh.element_count());
  } catch (const InputError&) {
    // what a user would be told
  }
  return 0;
}

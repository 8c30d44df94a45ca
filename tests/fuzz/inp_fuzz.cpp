// libFuzzer target of the Abaqus and CalculiX reader: any bytes give a mesh or an InputError.
#include <cstddef>
#include <cstdint>

#include "lissom/fe/mesh_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // every include is there, and includes another one now and then
  const lissom::FileLoader load = [](const std::filesystem::path& path) -> std::string {
    const std::string name = path.string();
    if (name.ends_with("d")) return "*INCLUDE, INPUT=x" + name.substr(0, 8) + "\n1, 2, 3, 4\n";
    return "5, 1, 2, 3\n6, 1, 2, 3, 4,\n";
  };
  lissom::Diagnostics diagnostics;
  try {
    lissom::read_inp(bytes, "fuzz.inp", load, diagnostics);
  } catch (const lissom::InputError&) {
  }
  return 0;
}

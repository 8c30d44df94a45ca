// Feeds any bytes to the Nastran reader: it must read them or throw InputError, and nothing else. What stands
// behind a line of "%%%" is the content of every file that is included.
#include <cstddef>
#include <cstdint>
#include <string>

#include "lissom/fe/mesh_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t end = bytes.find("%%%\n");
  const std::string included(end == std::string_view::npos ? "" : bytes.substr(end + 4));
  lissom::Diagnostics diagnostics;
  try {
    lissom::read_nastran(
        bytes.substr(0, end), "fuzz.bdf", [&](const std::filesystem::path&) { return included; },
        diagnostics);
  } catch (const lissom::InputError&) {
  }
  return 0;
}

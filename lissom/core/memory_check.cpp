#include "lissom/core/memory_check.hpp"

#include "lissom/core/error.hpp"
#include "lissom/core/resources.hpp"

namespace lissom {

void check_memory(const std::string& where, double bytes) {
  const auto available = static_cast<double>(available_memory_bytes());
  if (bytes > available)
    fail_input(
        "{}: is {} when it is unpacked, more than the {} of memory that can be had; a damaged file, or one "
        "made to fill the memory? Where it is sound, use a machine with more memory",
        where, format_bytes(bytes), format_bytes(available));
}

}  // namespace lissom

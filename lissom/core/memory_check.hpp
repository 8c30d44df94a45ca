// Files that are small when packed and large when not.
#pragma once

#include <string>

namespace lissom {

// Throws InputError "WHERE: is 80.0 GB when it is unpacked, ..." where the bytes that a file claims are more
// than the memory that can be had (resources.hpp): a packed file may claim a thousand times its size.
void check_memory(const std::string& where, double bytes);

}  // namespace lissom

// What a path is before it is opened: pipes, sockets and devices may never come to an end.
#pragma once

#include <filesystem>

namespace lissom {

// Whether there is anything of this name; what cannot be looked at (a name too long, a folder without
// permission, links in circles) is not. Does not throw.
bool is_there(const std::filesystem::path& path);

// Throws InputError: missing, not to be looked at, a folder, or a pipe, socket or device.
void check_is_file(const std::filesystem::path& path);

}  // namespace lissom

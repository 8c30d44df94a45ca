// What a path is before it is opened: pipes, sockets and devices may never come to an end.
#pragma once

#include <filesystem>

namespace lissom {

// Throws InputError: missing, not to be looked at, a folder, or a pipe, socket or device.
void check_is_file(const std::filesystem::path& path);

}  // namespace lissom

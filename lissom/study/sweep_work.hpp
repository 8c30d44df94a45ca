// The folder in which a sweep keeps what it needs while it runs.
#pragma once

#include <filesystem>

namespace lissom {

// Throws InputError where out/sweep-work is not that of a sweep, which would remove it at its end.
void expect_own_sweep_work(const std::filesystem::path& out);

}  // namespace lissom

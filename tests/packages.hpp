// What a test says that does not find a program or a Python module: it fails, as `make test` installs them all.
#pragma once

namespace lissom::test {

inline constexpr const char* install_hint =
    " is missing: scripts/install-packages test (part of make test) installs it\n";

}  // namespace lissom::test

// Versions of Lissom and of the libraries that this process has loaded.
#pragma once

#include <string>

namespace lissom {

// A line each: lissom, the BLAS in use with its file and threads, Eigen, CHOLMOD, METIS, HDF5, ...
std::string versions_text();

}  // namespace lissom

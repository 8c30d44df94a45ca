// Versions of Lissom and of the libraries that this process has loaded.
#pragma once

#include <string>

namespace lissom {

// Of Lissom: "0.1.0".
std::string version();

// A line each: lissom, the BLAS in use with its file and threads, METIS, Eigen, HDF5, ...
std::string versions_text();

// The processor by name and the threads in use: "AMD EPYC 7B13, 2 threads".
std::string machine_name();
// "2026-11-16 04:31 UTC".
std::string time_stamp();

}  // namespace lissom

#include "lissom/study/versions.hpp"

#include <fmt/chrono.h>
#include <hdf5.h>
#include <matio.h>
#include <metis.h>
#include <zlib.h>
#include <Eigen/Core>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "lissom/core/parallel.hpp"
#include "lissom/linalg/blas.hpp"

namespace lissom {

std::string version() {
  return LISSOM_VERSION;
}

std::string versions_text() {
  const BlasInfo blas = blas_info();
  int matio[3] = {};
  Mat_GetLibraryVersion(&matio[0], &matio[1], &matio[2]);
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  std::string text = fmt::format("lissom {}\n", LISSOM_VERSION);
  text += fmt::format("BLAS       {} ({})\n", blas.file,
                      blas.is_openblas ? blas.config : "not OpenBLAS: expect it to be slow");
  const char* waiting = std::getenv("OMP_WAIT_POLICY");
  text +=
      fmt::format("threads    {} (one in BLAS), waiting {}\n", thread_count(), waiting ? waiting : "active");
  text += fmt::format("METIS      {}.{}.{}\n", METIS_VER_MAJOR, METIS_VER_MINOR, METIS_VER_SUBMINOR);
  text += fmt::format("Eigen      {}.{}.{}\n", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
  text += fmt::format("HDF5       {}.{}.{}\n", major, minor, release);
  text += fmt::format("matio      {}.{}.{}\n", matio[0], matio[1], matio[2]);
  text += fmt::format("zlib       {}", zlibVersion());
  return text;
}

std::string machine_name() {
  std::string name = "a processor without a name", line;
  std::ifstream file("/proc/cpuinfo");
  while (std::getline(file, line)) {
    const size_t colon = line.find(": ");
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    name = line.substr(colon + 2);
    break;
  }
  const int threads = thread_count();
  return fmt::format("{}, {} thread{}", name, threads, threads == 1 ? "" : "s");
}

std::string time_stamp() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(now));
}

}  // namespace lissom

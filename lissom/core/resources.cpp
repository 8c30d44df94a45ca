#include "lissom/core/resources.hpp"

#include <malloc.h>

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <limits>

namespace lissom {

namespace {

// A number from a one-line file such as a cgroup limit, or nothing ("max", no file).
size_t read_limit(const char* path) {
  size_t value = std::numeric_limits<size_t>::max();
  if (FILE* file = std::fopen(path, "r")) {
    unsigned long long number = 0;
    if (std::fscanf(file, "%llu", &number) == 1) value = number;
    std::fclose(file);
  }
  return value;
}

}  // namespace

size_t peak_memory_bytes() {
  // what getrusage() says includes the memory of the program that started this one
  if (FILE* file = std::fopen("/proc/self/status", "r")) {
    char line[256];
    unsigned long long kib = 0;
    while (std::fgets(line, sizeof line, file))
      if (std::sscanf(line, "VmHWM: %llu kB", &kib) == 1) break;
    std::fclose(file);
    if (kib > 0) return kib * 1024;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) * 1024;
}

size_t available_memory_bytes() {
  size_t available = std::numeric_limits<size_t>::max();
  if (FILE* file = std::fopen("/proc/meminfo", "r")) {
    char line[256];
    unsigned long long kib = 0;
    while (std::fgets(line, sizeof line, file))
      if (std::sscanf(line, "MemAvailable: %llu kB", &kib) == 1) available = kib * 1024;
    std::fclose(file);
  }
  const size_t limit = read_limit("/sys/fs/cgroup/memory.max");
  if (limit != std::numeric_limits<size_t>::max()) {
    const size_t used = read_limit("/sys/fs/cgroup/memory.current");
    if (used != std::numeric_limits<size_t>::max())
      available = std::min(available, limit > used ? limit - used : 0);
  }
  // a limit on the address space (ulimit -v) counts as well; what is mapped already is a good part of what is
  // used
  rlimit address_space{};
  if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY) {
    unsigned long long pages = 0;
    if (FILE* file = std::fopen("/proc/self/statm", "r")) {
      if (std::fscanf(file, "%llu", &pages) != 1) pages = 0;
      std::fclose(file);
    }
    const size_t used = pages * 4096;
    available =
        std::min<size_t>(available, address_space.rlim_cur > used ? address_space.rlim_cur - used : 0);
  }
  return available;
}

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void return_freed_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

std::string format_bytes(double bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  int unit = 0;
  while (bytes >= 999.5 && unit < 4) bytes /= 1000, ++unit;
  return fmt::format("{:.{}f} {}", bytes, unit >= 3 ? 1 : 0, units[unit]);
}

std::string format_seconds(double seconds) {
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const long whole = static_cast<long>(seconds + 0.5);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace lissom

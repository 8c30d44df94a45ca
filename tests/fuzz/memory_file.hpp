// A file without a place on the disk, for readers that want a path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>
#include <cstdlib>

#include <filesystem>
#include <string>
#include <string_view>

namespace lissom::fuzz {

class MemoryFile {
 public:
  MemoryFile() : handle_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (handle_ < 0) std::abort();
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(handle_); }

  void set(std::string_view bytes) {
    const auto size = static_cast<ssize_t>(bytes.size());
    if (ftruncate(handle_, 0) != 0 || pwrite(handle_, bytes.data(), bytes.size(), 0) != size) std::abort();
  }
  int handle() const { return handle_; }
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(handle_); }

 private:
  int handle_;
};

}  // namespace lissom::fuzz

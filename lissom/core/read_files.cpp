#include "lissom/core/read_files.hpp"

namespace lissom {

namespace {
thread_local ReadFiles* innermost = nullptr;
}

ReadFiles::ReadFiles() : outer_(innermost) {
  innermost = this;
}

ReadFiles::~ReadFiles() {
  innermost = outer_;
}

void ReadFiles::note(const std::filesystem::path& path) {
  if (innermost) innermost->paths_.push_back(path);
}

}  // namespace lissom

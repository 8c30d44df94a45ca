// A folder among the machine's temporary ones that nobody else can look into.
#pragma once

#include <filesystem>

namespace lissom {

// Made in TMPDIR, gone with everything in it when the object is. A process that is killed leaves its own; the
// next one that makes such a folder takes away those of processes that are gone.
class PrivateFolder {
 public:
  // Throws Error where there is no place for one.
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  long pid_ = 0;         // of the process that made it: one that was forked from it does not remove it
  int descriptor_ = -1;  // locked while it lives, for processes in other containers, which cannot see us
};

}  // namespace lissom

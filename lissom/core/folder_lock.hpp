// One writer for a folder.
#pragma once

#include <filesystem>

namespace lissom {

// Held while it lives, or until the process ends, however that happens. Readers are not kept out.
class FolderLock {
 public:
  // Throws InputError where another process holds it. A file system without locks is no error.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace lissom

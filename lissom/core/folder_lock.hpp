// One writer for a folder.
#pragma once

#include <filesystem>
#include <memory>

namespace lissom {

// Held while it lives, or until the process ends, however that happens. Readers are not kept out. One process
// may take the same folder several times, as a whole run and the simulations in it do: it is free again when
// the last of them is gone.
//
// The lock is the kernel's (flock) on a file ".lissom.lock" in the folder, which says who holds it; the file
// alone, as a killed process leaves it, means nothing. Who takes the lock also removes what killed processes
// have left there (core/temporary_name.hpp).
class FolderLock {
 public:
  // Makes the folder where there is none; if it is still empty at the end, it goes again. Throws InputError
  // where another process holds it. A file system without locks is no error, nor is a folder that cannot be
  // written to: whoever writes there says so.
  explicit FolderLock(const std::filesystem::path& folder);

 private:
  struct Held;
  std::shared_ptr<Held> held_;
};

}  // namespace lissom

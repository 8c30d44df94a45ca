#include "lissom/core/private_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "lissom/core/error.hpp"
#include "lissom/core/temporary_name.hpp"

namespace lissom {

namespace {

namespace fs = std::filesystem;

// Opens and locks a folder; -1 where another one has it or it cannot be opened.
int lock_folder(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0 || ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
    return descriptor;
  ::close(descriptor);
  return -1;
}

// Those of processes that are gone; only this user's.
void remove_old_ones(const fs::path& parent) {
  std::vector<fs::path> found;
  std::error_code ec;
  for (fs::directory_iterator it(parent, ec), end; !ec && it != end; it.increment(ec)) {
    const std::string name = it->path().filename().string();
    TemporaryOwner owner;
    struct stat status {};
    if (name.starts_with(".private.") && parse_temporary_name(name, owner) &&
        ::lstat(it->path().c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
        status.st_uid == ::geteuid() && is_left_behind(it->path(), owner))
      found.push_back(it->path());
  }
  for (const fs::path& path : found) {
    const int descriptor = lock_folder(path);
    if (descriptor < 0) continue;
    fs::remove_all(path, ec);
    ::close(descriptor);
  }
}

}  // namespace

PrivateFolder::PrivateFolder() : pid_(::getpid()) {
  std::error_code ec;
  const fs::path parent = fs::temp_directory_path(ec);
  if (ec) fail("there is no folder for temporary files ({}); set TMPDIR to one", ec.message());
  remove_old_ones(parent);
  int made = -1;
  do {
    path_ = parent / temporary_name("private");
    made = ::mkdir(path_.c_str(), 0700);
  } while (made != 0 && errno == EEXIST);
  if (made != 0) fail("cannot make a temporary folder {}: {}", path_.string(), std::strerror(errno));
  descriptor_ = lock_folder(path_);
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;  // nothing to be done about it in a destructor
  if (pid_ == ::getpid()) fs::remove_all(path_, ignored);
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace lissom

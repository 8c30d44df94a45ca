#include "lissom/core/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

#include "lissom/core/error.hpp"
#include "lissom/core/process_identity.hpp"
#include "lissom/core/temporary_name.hpp"

namespace lissom {

namespace {

namespace fs = std::filesystem;

// A process that was killed may take a moment to end.
constexpr auto patience = std::chrono::seconds(2);
constexpr auto pause = std::chrono::milliseconds(20);

// The folders that were made for it, from the outermost on.
std::vector<fs::path> make_folders(const fs::path& folder) {
  std::vector<fs::path> missing, made;
  std::error_code ec;
  for (fs::path at = fs::absolute(folder, ec).lexically_normal(); !ec && !fs::exists(at, ec) && !ec;
       at = at.parent_path()) {
    if (at.has_filename()) missing.push_back(at);
    if (at == at.parent_path()) break;
  }
  for (auto it = missing.rbegin(); it != missing.rend(); ++it)
    if (::mkdir(it->c_str(), 0777) == 0) made.push_back(*it);
  return made;
}

bool same_file(int descriptor, const fs::path& path) {
  struct stat open {
  }, named{};
  return ::fstat(descriptor, &open) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

// What the file says of its holder.
std::string holder_of(int descriptor) {
  std::array<char, 400> text{};
  const ssize_t count = ::pread(descriptor, text.data(), text.size(), 0);
  const std::string all(text.data(), count > 0 ? static_cast<size_t>(count) : 0);
  const size_t end = all.find('\n');
  return end == std::string::npos || end == 0 ? "another process" : all.substr(0, end);
}

}  // namespace

struct FolderLock::Held {
  fs::path file;
  std::vector<fs::path> made;
  int descriptor = -1;
  pid_t pid = ::getpid();

  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    // a process that was forked from this one has no part in it
    if (pid == ::getpid()) {
      // before others can get the lock: they see that the file is not the one they have opened
      if (descriptor >= 0) ::unlink(file.c_str());
      for (auto it = made.rbegin(); it != made.rend(); ++it) ::rmdir(it->c_str());
    }
    if (descriptor >= 0) ::close(descriptor);
  }
};

FolderLock::FolderLock(const fs::path& folder) {
  // by device and number of the folder: paths to the same one differ
  static std::mutex mutex;
  static std::map<std::tuple<pid_t, dev_t, ino_t>, std::weak_ptr<Held>> all;
  const std::lock_guard guard(mutex);

  auto held = std::make_shared<Held>();
  held->file = fs::absolute(folder) / ".lissom.lock";
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    for (fs::path& made : make_folders(folder)) held->made.push_back(std::move(made));
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0) return;
    std::weak_ptr<Held>& known = all[{::getpid(), status.st_dev, status.st_ino}];
    held_ = known.lock();
    if (held_) return;

    int descriptor = ::open(held->file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    // that of another user
    if (descriptor < 0 && errno == EACCES)
      descriptor = ::open(held->file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) {
      // its holder has removed the folder just now
      if (errno == ENOENT && std::chrono::steady_clock::now() - start < patience) continue;
      return;
    }
    const bool taken = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    const bool busy = !taken && errno == EWOULDBLOCK;
    if (taken && !same_file(descriptor, held->file)) {
      ::close(descriptor);
      continue;
    }
    if (busy) {
      const std::string holder = holder_of(descriptor);
      ::close(descriptor);
      if (std::chrono::steady_clock::now() - start < patience) {
        std::this_thread::sleep_for(pause);
        continue;
      }
      held.reset();
      fail_input("{}: {} is writing there; wait for its end, or give another folder with --out",
                 folder.string(), holder);
    }
    held->descriptor = descriptor;
    const ProcessIdentity own = own_process();
    const std::string text = fmt::format("process {} on {}\n", own.pid, own.host);
    // without it others are told of "another process"
    if (::ftruncate(descriptor, 0) != 0 || ::pwrite(descriptor, text.data(), text.size(), 0) < 0) errno = 0;
    held_ = held;
    known = held;
    remove_left_behind(folder);
    return;
  }
}

}  // namespace lissom

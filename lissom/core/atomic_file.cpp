#include "lissom/core/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "lissom/core/error.hpp"
#include "lissom/core/own_file.hpp"
#include "lissom/core/temporary_name.hpp"

namespace lissom {

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)), stream_(nullptr, &std::fclose) {
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  std::error_code ec;
  if (!path_.has_filename() || std::filesystem::is_directory(path_, ec))
    fail("{}: is a folder, expected the name of a file to write", path_.string());
  // renaming would put a file in its place
  if (const auto status = std::filesystem::status(path_, ec);
      std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    fail("{}: is a pipe, a socket or a device, expected the name of a file to write", path_.string());
  if (!std::filesystem::exists(folder, ec))
    fail("{}: the folder '{}' does not exist; create it first", path_.string(), folder.string());
  if (!std::filesystem::is_directory(folder, ec))
    fail("{}: '{}' is not a folder", path_.string(), folder.string());
  expect_replaceable(path_);

  // the temporary name is short: a name that cannot be would show only at the end
  struct stat status {};
  if (::lstat(path_.c_str(), &status) != 0 && errno == ENAMETOOLONG)
    fail("{}: cannot be written in folder '{}': {}", path_.string(), folder.string(), std::strerror(errno));

  // a name that no other process and no other file of this process uses
  int descriptor = -1;
  do {
    temporary_ = folder / temporary_name(path_.filename().string());
    descriptor = ::open(temporary_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EEXIST);
  if (descriptor < 0)
    fail("{}: cannot be written in folder '{}': {}", path_.string(), folder.string(), std::strerror(errno));
  stream_.reset(::fdopen(descriptor, "wb"));
  LISSOM_ASSERT(stream_ != nullptr);
}

AtomicFile::~AtomicFile() {
  stream_.reset();
  if (committed_) return;
  // a library that failed may still hold the file open, and a full disk needs its room back now
  std::error_code ec;
  std::filesystem::resize_file(temporary_, 0, ec);
  std::filesystem::remove(temporary_, ec);
}

void AtomicFile::write(std::string_view bytes) {
  LISSOM_ASSERT(stream_ != nullptr);
  if (std::fwrite(bytes.data(), 1, bytes.size(), stream_.get()) != bytes.size())
    fail("{}: cannot be written: {}", path_.string(), std::strerror(errno));
}

void AtomicFile::commit() {
  LISSOM_ASSERT(stream_ != nullptr && !committed_);
  // a full disk may show only when the last buffer goes out; fsync also carries what a library wrote through
  // a descriptor of its own, since it acts on the file, not on the descriptor
  if (std::fflush(stream_.get()) != 0 || ::fsync(::fileno(stream_.get())) != 0 ||
      std::fclose(stream_.release()) != 0)
    fail("{}: cannot be written: {}", path_.string(), std::strerror(errno));
  std::error_code ec;
  std::filesystem::rename(temporary_, path_, ec);
  if (ec)
    fail("{}: the finished file '{}' cannot be renamed to it: {}", path_.string(), temporary_.string(),
         ec.message());
  committed_ = true;
}

}  // namespace lissom

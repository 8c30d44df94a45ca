#include "lissom/io/byte_source.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lissom/core/error.hpp"
#include "lissom/core/file_kind.hpp"

namespace lissom {

namespace {

class FileBytes final : public ByteSource {
 public:
  explicit FileBytes(const std::filesystem::path& path) : path_(path.string()) {
    check_is_file(path);
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) fail_input("{}: cannot be opened: {}", path_, std::strerror(errno));
    std::error_code ec;
    size_ = std::filesystem::file_size(path, ec);
    if (ec) {
      ::close(file_);
      fail_input("{}: cannot be read: {}", path_, ec.message());
    }
  }
  ~FileBytes() override { ::close(file_); }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  void read(std::uint64_t offset, std::uint64_t count, char* out) const override {
    while (count > 0) {
      const ssize_t got = ::pread(file_, out, count, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_input("{}: cannot be read: {}", path_, std::strerror(errno));
      if (got == 0) fail_input("{}: has become shorter while it was read", path_);
      offset += static_cast<std::uint64_t>(got);
      count -= static_cast<std::uint64_t>(got);
      out += got;
    }
  }

 private:
  std::string path_;
  int file_ = -1;
};

class PartBytes final : public ByteSource {
 public:
  PartBytes(std::shared_ptr<ByteSource> source, std::uint64_t first, std::uint64_t count)
      : source_(std::move(source)), first_(first) {
    LISSOM_ASSERT(first <= source_->size() && count <= source_->size() - first);
    size_ = count;
  }
  void read(std::uint64_t offset, std::uint64_t count, char* out) const override {
    LISSOM_ASSERT(offset <= size_ && count <= size_ - offset);
    source_->read(first_ + offset, count, out);
  }

 private:
  std::shared_ptr<ByteSource> source_;
  std::uint64_t first_;
};

class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(std::string bytes) : bytes_(std::move(bytes)) { size_ = bytes_.size(); }
  void read(std::uint64_t offset, std::uint64_t count, char* out) const override {
    LISSOM_ASSERT(offset <= size_ && count <= size_ - offset);
    std::copy_n(bytes_.data() + offset, count, out);
  }

 private:
  std::string bytes_;
};

}  // namespace

std::shared_ptr<ByteSource> open_bytes(const std::filesystem::path& path) {
  return std::make_shared<FileBytes>(path);
}

std::shared_ptr<ByteSource> part_of(std::shared_ptr<ByteSource> source, std::uint64_t first,
                                    std::uint64_t count) {
  return std::make_shared<PartBytes>(std::move(source), first, count);
}

std::shared_ptr<ByteSource> bytes_in_memory(std::string bytes) {
  return std::make_shared<MemoryBytes>(std::move(bytes));
}

}  // namespace lissom

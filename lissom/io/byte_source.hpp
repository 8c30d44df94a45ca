// Bytes of a file, or of a part of it, read where they are wanted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace lissom {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  std::uint64_t size() const { return size_; }
  // Copies bytes offset .. offset + count - 1. Throws InputError where the file has changed since it was
  // opened, or cannot be read.
  virtual void read(std::uint64_t offset, std::uint64_t count, char* out) const = 0;

 protected:
  std::uint64_t size_ = 0;
};

// Throws InputError: no such file, a folder, not readable.
std::shared_ptr<ByteSource> open_bytes(const std::filesystem::path& path);
// So many bytes of another source.
std::shared_ptr<ByteSource> part_of(std::shared_ptr<ByteSource> source, std::uint64_t first,
                                    std::uint64_t count);
std::shared_ptr<ByteSource> bytes_in_memory(std::string bytes);

}  // namespace lissom

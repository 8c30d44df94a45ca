// Members of a zip archive (PKWARE's APPNOTE 6.3, with the 64-bit sizes), stored or deflated; what NumPy's
// .npz needs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lissom/io/byte_source.hpp"

namespace lissom {

class ZipArchive {
 public:
  struct Member {
    std::string name;
    int method = 0;  // 0 stored, 8 deflated
    std::uint32_t crc = 0;
    std::uint64_t packed = 0, size = 0, header = 0;  // bytes, and where the member begins
  };
  // Reads the directory. Throws InputError: no zip archive, truncated, damaged, encrypted, in several files.
  // `file` is for messages.
  ZipArchive(std::shared_ptr<ByteSource> bytes, std::string file);
  const std::vector<Member>& members() const { return members_; }
  // The bytes of a member, compared with its checksum: those of the file where it is stored, in memory where
  // it is deflated. Throws InputError.
  std::shared_ptr<ByteSource> open(const Member& member) const;

 private:
  std::shared_ptr<ByteSource> bytes_;
  std::string file_;
  std::vector<Member> members_;
};

}  // namespace lissom
